"""A mechanism put together at home: does it close, how many freedoms it has, which equations are independent."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.kernels.expression import Expression
from gough.robots.mechanism._closing import closures, turned_away
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.structure import Structure, structure

SMALL = 1e-7
"""Singular values below this share of the largest count as zero: at home the loops are closed to 1e-12."""
CLOSED = 1e-10
"""Gaps below this share of the mechanism's size are rounding."""
_INTERPRETED = 50
"""Samples for which the interpreter takes less time than a replay in NumPy, or compiling."""
_STEPS = 100
_TRIES = 30
_FEWER = 8


@dataclass(frozen=True, eq=False)
class Assembly:
    """A mechanism at home."""

    at: Structure
    s: Array
    """All coordinates."""
    size: float
    """The greatest length in the mechanism, in m: what makes lengths and angles comparable."""
    rows: tuple[int, ...]
    """Independent closure equations."""
    mobility: int
    """Freedoms of the mechanism at home: coordinates less independent equations."""

    @property
    def redundant(self) -> tuple[str, ...]:
        """The closure equations that follow from the others."""
        return tuple(name for k, name in enumerate(self.at.rows) if k not in self.rows)


@lru_cache(maxsize=16)
def _search_kernel(mechanism: Mechanism) -> Kernel:
    """The closure equations `gaps` and their Jacobian `C`, of all coordinates s.

    Below them are rows that tell an attitude from the one half a turn away.
    """
    at = structure(mechanism)

    def equations(s: Expression) -> dict[str, Expression]:
        gaps = ex.vector(closures(at, s), turned_away(at, s))
        return {"gaps": gaps, "C": ex.derivative(gaps, s)}

    return trace(equations, name="search", inputs={"s": at.n})


def closures_at(mechanism: Mechanism, s: Array) -> tuple[Array, Array]:
    """The closure equations (N, rows) and their Jacobians (N, rows, n) at coordinates (N, n); 0 = 0 without any."""
    at = structure(mechanism)
    kernel, n_rows = _search_kernel(mechanism), max(len(at.rows), 1)
    values = kernel.interpreted(s) if len(s) <= _INTERPRETED else kernel.replay(s)
    return values["gaps"].reshape(len(s), -1)[:, :n_rows], values["C"].reshape(len(s), -1, at.n)[:, :n_rows]


@lru_cache(maxsize=8)
def moving_closures(mechanism: Mechanism) -> Kernel:
    """From s and ds: closure equations `gaps`, their Jacobian `C`, their second derivative `bias` at dds = 0."""
    at = structure(mechanism)

    def equations(s: Expression, ds: Expression) -> dict[str, Expression]:
        gaps = closures(at, s)
        bias = ex.directional(ex.directional(gaps, s, ds), s, ds)
        return {"gaps": gaps, "C": ex.derivative(gaps, s), "bias": bias}

    return trace(equations, name="moving_closures", inputs={"s": at.n, "ds": at.n})


def scales(at: Structure, size: float) -> tuple[Array, Array]:
    """The units by which closure equations and coordinates are divided."""
    turned = [direction.startswith("r") for c, _, _ in at.closures for direction in c.directions] or [False]
    return np.where(turned, 1.0, size), np.where([motion == "slide" for motion in at.motions], size, 1.0)


def size_of(mechanism: Mechanism) -> float:
    """The greatest length that the description mentions, in m; 1 if there is none."""
    at = structure(mechanism)
    places = [joint.placement.position for joint in mechanism.joints]
    places += [place.position for closure, _, _ in at.closures for place in closure.placements]
    lengths = [float(np.linalg.norm(place)) for place in places]
    starts = zip(at.motions, starting(mechanism).tolist(), strict=True)
    lengths += [abs(value) for motion, value in starts if motion == "slide"]
    return max(lengths) or 1.0


def starting(mechanism: Mechanism) -> Array:
    """The start of the search for home (coordinates,): the home pose, starts, and middles of ranges."""
    at = structure(mechanism)
    s = np.zeros(at.n)
    for k, freedom in enumerate(at.freedoms):
        if freedom.start is not None:
            s[k] = freedom.start
        elif freedom.limits is not None:
            s[k] = freedom.limits.middle
    s[list(at.pose)] = mechanism.platform.home
    return s


@lru_cache(maxsize=64)
def assembled(mechanism: Mechanism) -> Assembly:
    """The mechanism at home.

    Raises:
        InputError: it does not close there, it has more or fewer freedoms than actuators, its closures repeat one
            another, or home is singular.
    """
    at, size = structure(mechanism), size_of(mechanism)
    s = _closed(mechanism, starting(mechanism), size)
    scaled, rank = _scaled(mechanism, s, size)
    _check_mobility(mechanism, scaled, rank)
    assembly = Assembly(at, s, size, _independent(scaled, rank), at.n - rank)
    if assembly.redundant and not mechanism.redundant:
        raise InputError(
            f"{mechanism.name} is over-constrained: {', '.join(assembly.redundant)} of its closures follow from the "
            "others. Leave those directions out, or state redundant = true if this is intended"
        )
    _check_home(mechanism, assembly, scaled)
    return assembly


def _scaled(mechanism: Mechanism, s: Array, size: float) -> tuple[Array, int]:
    """The Jacobian of the closure equations without units, and its rank."""
    at = structure(mechanism)
    by_row, by_column = scales(at, size)
    C = closures_at(mechanism, s[None])[1][0] / by_row[:, None] * by_column
    values = np.linalg.svd(C, compute_uv=False)
    rank = int((values > SMALL * values[0]).sum()) if values[0] > 0 else 0
    return C[: len(at.rows)], rank


def _closed(mechanism: Mechanism, start: Array, size: float) -> Array:
    """The coordinates at home, near `start`.

    Raises:
        InputError: the loops stay open; the message names them and the width of their gaps.
    """
    at = structure(mechanism)
    s, left = close(mechanism, start[None], size, at.pose)
    gaps = left[0]
    if np.abs(gaps).max(initial=0.0) <= CLOSED:
        return s[0]
    hint = "Check lengths, placements and the home pose."
    far = np.where([motion == "turn" for motion in at.motions], np.pi / 2, size / 2)
    others = start + np.random.default_rng(0).uniform(-1, 1, (_TRIES, at.n)) * far
    others[:, list(at.pose)] = mechanism.platform.home
    positions, left = close(mechanism, others, size, at.pose)
    closed = positions[np.abs(left).max(axis=1) <= CLOSED]
    if len(closed):
        nearest = closed[np.abs((closed - start) / far).max(axis=1).argmin()]
        away = sorted(set(at.others(at.pose)), key=lambda k: -abs(nearest[k] - start[k]))[:4]
        starts = ", ".join(f"{at.coordinates[k]} = {nearest[k]:.3g}" for k in away)
        hint = f"It would close with other values to start from, such as {starts}: state a start for these."
    else:
        elsewhere, left = close(mechanism, start[None], size, ())
        if np.abs(left).max() <= CLOSED:
            _check_mobility(mechanism, *_scaled(mechanism, elsewhere[0], size))
            words = zip(mechanism.platform.pose, elsewhere[0, list(at.pose)].tolist(), strict=True)
            pose = ", ".join(f"{word} = {value:.3g}" for word, value in words)
            hint = f"It does close at the pose {pose}. {hint}"
    by_row = scales(at, size)[0]
    gaps = gaps[: len(by_row)]
    worst = np.argsort(-np.abs(gaps))[:3]
    units = [
        "rad" if by == 1.0 and name.split()[-1].startswith("r") else "m"
        for by, name in zip(by_row, at.rows, strict=True)
    ]
    gaps_text = ", ".join(
        f"{at.rows[k]} by {abs(gaps[k]) * by_row[k]:.3g} {units[k]}" for k in worst if abs(gaps[k]) > CLOSED
    )
    gaps_text = f"the gaps are {gaps_text}" if gaps_text else "a hinge or frame is turned by half a turn"
    raise InputError(f"{mechanism.name} does not close at home: {gaps_text}. {hint}{_sizes(mechanism)}")


def _sizes(mechanism: Mechanism) -> str:
    """A hint where lengths differ as meters and millimeters do."""
    places = {joint.name: np.linalg.norm(joint.placement.position) for joint in mechanism.joints}
    for closure in mechanism.closures:
        places[closure.name] = max(np.linalg.norm(place.position) for place in closure.placements)
    known = {name: float(length) for name, length in places.items() if length > 0}
    if not known:
        return ""
    small, large = min(known, key=lambda n: known[n]), max(known, key=lambda n: known[n])
    if known[large] < 300 * known[small]:
        return ""
    return (
        f" Lengths reach from {known[small]:.3g} m ('{small}') to {known[large]:.3g} m ('{large}'): are units mixed? "
        'Write them out, as in "140 mm".'
    )


def is_closed_at_pose(mechanism: Mechanism) -> bool:
    """Whether the loops close at the home pose, from the starts of the other coordinates."""
    at = structure(mechanism)
    _, left = close(mechanism, starting(mechanism)[None], size_of(mechanism), at.pose)
    return bool(np.abs(left).max(initial=0.0) <= CLOSED)


def nearest_closed(mechanism: Mechanism, start: Array) -> Array:
    """Coordinates at which all loops are closed, near `start`; `start` where none were found."""
    at, size = structure(mechanism), size_of(mechanism)
    s, left = close(mechanism, start[None], size, ())
    if np.abs(left).max(initial=0.0) <= CLOSED:
        return s[0]
    far = np.where([motion == "turn" for motion in at.motions], np.pi / 2, size / 2)
    rng = np.random.default_rng(0)
    for share in (0.1, 1.0):
        s, left = close(mechanism, start + share * far * rng.uniform(-1, 1, (_FEWER, at.n)), size, ())
        closed = s[np.abs(left).max(axis=1) <= CLOSED]
        if len(closed):
            return closed[np.abs((closed - start) / far).max(axis=1).argmin()]
    return start


def close(mechanism: Mechanism, starts: Array, size: float, held: tuple[int, ...]) -> tuple[Array, Array]:
    """Coordinates (K, n) near starts (K, n), those `held` unchanged, and what is left of the closures, without units.

    The last columns of what is left are those of `turned_away`. Levenberg's method: steps that do not bring the loops
    closer are shortened towards the gradient [NW06, §10.3].
    """
    at, kernel = structure(mechanism), _search_kernel(mechanism)
    lengths, by_column = scales(at, size)
    by_row = np.ones(next(port.size for port in kernel.outputs if port.name == "gaps"))
    by_row[: len(lengths)] = lengths
    unknown = list(at.others(held))
    if not unknown:
        return starts, np.zeros((len(starts), len(by_row)))

    def look(s: Array) -> tuple[Array, Array]:
        values = kernel.interpreted(s)
        C = values["C"].reshape(len(s), -1, at.n) / by_row[:, None] * by_column
        return values["gaps"].reshape(len(s), -1) / by_row, C[:, :, unknown]

    s, damping = starts.copy(), np.full(len(starts), 1e-3)
    gaps, C = look(s)
    for _ in range(_STEPS):
        todo = np.flatnonzero((np.abs(gaps).max(axis=1) > 1e-15) & (damping < 1e6))
        if todo.size == 0:
            break
        slope, normal = np.swapaxes(C[todo], 1, 2), np.einsum("kri,krj->kij", C[todo], C[todo])
        normal += damping[todo, None, None] * np.eye(len(unknown))
        step = -np.linalg.solve(normal, slope @ gaps[todo, :, None])[..., 0]
        trial = s[todo]
        trial[:, unknown] += step * by_column[unknown]
        new_gaps, new_C = look(trial)
        closer = (new_gaps**2).sum(axis=1) < (gaps[todo] ** 2).sum(axis=1)
        better = todo[closer]
        s[better], gaps[better], C[better] = trial[closer], new_gaps[closer], new_C[closer]
        damping[todo] = np.where(closer, np.maximum(damping[todo] / 10, 1e-14), damping[todo] * 10)
    return s, gaps


def _independent(scaled: Array, rank: int) -> tuple[int, ...]:
    """The rows of an independent set, found by reflections with exchange of columns [GVL13, §5.4.2]."""
    rest = scaled.T.copy()
    chosen: list[int] = []
    for _ in range(rank):
        lengths = (rest**2).sum(axis=0)
        lengths[chosen] = -1.0
        best = int(np.argmax(lengths > 0.5 * lengths.max()))  # the first of those that stand well apart
        chosen.append(best)
        direction = rest[:, best] / np.linalg.norm(rest[:, best])
        rest -= np.outer(direction, direction @ rest)
    return tuple(sorted(chosen))


def _check_mobility(mechanism: Mechanism, scaled: Array, rank: int) -> None:
    """Refuse a mechanism that its actuators do not determine; the message names the free motion."""
    at = structure(mechanism)
    mobility, n = at.n - rank, len(at.actuated)
    counted = at.n - len(scaled)
    count = f"{at.n} coordinates, {len(scaled)} closure equations of which {rank} are independent"
    if mobility > n:
        free = _free_motion(at, scaled, at.actuated)
        idle = _idle(at, scaled, mobility - n)
        listed = ", ".join(f'"{name}"' for name in idle)
        raise InputError(
            f"{mechanism.name} has {mobility} freedoms but {n} actuators ({count}): with the actuators held still, "
            f"{free} can move. Hold it by a closure direction, take a freedom from a joint, or actuate it. If it is "
            f"idle, as the spin of a rod between two ball joints, hold it: --fixed {','.join(idle)} (in a study, "
            f"fixed = [{listed}] in [robot])"
        )
    require(
        mobility == n,
        f"{mechanism.name} has {mobility} freedoms but {n} actuators ({count}; Grübler's count gives {counted}): the "
        "actuators work against each other, or closures hold too much. Take away directions of closures, or actuators",
    )


def _free_motion(at: Structure, scaled: Array, known: tuple[int, ...]) -> str:
    """The coordinates that move most in a motion that leaves the known ones and the closures alone, in words."""
    unknown = list(at.others(known))
    direction = np.linalg.svd(scaled[:, unknown])[2][-1]
    share = np.abs(direction) / np.abs(direction).max()
    moving = [at.coordinates[unknown[k]] for k in np.argsort(-share, kind="stable") if share[k] > 0.2][:4]
    return ", ".join(moving)


def _idle(at: Structure, scaled: Array, n: int) -> list[str]:
    """N coordinates that, held with the actuators, leave nothing free: those that move most, one after the other."""
    unknown = list(at.others(at.actuated))
    free = np.linalg.svd(scaled[:, unknown])[2][-n:]
    names = []
    for _ in range(n):
        size = np.linalg.norm(free, axis=0)
        best = int(np.argmax(size > 0.99 * size.max()))
        names.append(at.coordinates[unknown[best]])
        along = free[:, best] / size[best]
        free = free - np.outer(along, along @ free)
    return names


def _check_home(mechanism: Mechanism, assembly: Assembly, scaled: Array) -> None:
    """Refuse a home where actuators or pose do not determine the rest."""
    at = assembly.at
    for known, what, advice in (
        (at.actuated, "the actuators do not hold", "Choose another home pose, or drive other joints"),
        (at.pose, "the pose does not determine", "Choose another home pose, or other coordinates for the pose"),
    ):
        unknown = list(at.others(known))
        if not unknown:
            continue
        values = np.linalg.svd(scaled[np.ix_(assembly.rows, unknown)], compute_uv=False)
        require(
            bool(values[-1] > SMALL * values[0]),
            f"{mechanism.name} is singular at home: {what} {_free_motion(at, scaled, known)}. {advice}",
        )
