"""Properties of a mechanism that need no data: degrees of freedom, assembly, singularities, limits."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.tables import Table, table
from gough.core.text import number
from gough.robots.mechanism.assembly import SMALL, assembled, closures_at, scales
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.description import Mechanism

_STEPS = 50
_RANGE = {"m": 1.0, "rad": np.pi / 2}
"""The extent of the search for the end of the workspace: one size of the mechanism, and a quarter of a turn."""


@dataclass(frozen=True)
class PoseRange:
    """The range of one coordinate of the pose around home, the others fixed."""

    coordinate: str
    unit: str
    lower: float
    upper: float
    ends: tuple[str, str]
    """The reason why the range ends: out of reach, a singularity, or a limit, by the name of its coordinate."""


@dataclass(frozen=True)
class Examination:
    """A mechanism that closes and whose freedoms fit its actuators, in numbers; `str()` of it is the report."""

    name: str
    n_bodies: int
    groups: tuple[str, ...]
    n_coordinates: int
    n_equations: int
    n_independent: int
    mobility: int
    redundant: tuple[str, ...]
    gap: float
    """The widest gap at home, in m or rad."""
    positions: dict[str, float]
    """Positions of the actuators at home."""
    units: tuple[str, ...]
    margin: float
    """Distance from singularity at home; see `MechanismModel.margin`."""
    weakest: float
    """The smallest margin among the poses that were looked at."""
    reaches: tuple[PoseRange, ...]
    beyond: tuple[str, ...]
    """Coordinates that home puts outside of their limits."""
    impossible: tuple[str, ...]
    """Bodies whose moments of inertia no rigid body has."""
    frictionless: tuple[str, ...] = ()
    """Actuated coordinates for which no friction is stated."""

    @property
    def grubler(self) -> int:
        """Freedoms by Grübler's count: coordinates less closure equations, as if all were independent."""
        return self.n_coordinates - self.n_equations

    @property
    def warnings(self) -> tuple[str, ...]:
        """Properties that are not errors but should be checked."""
        notes = [f"home is beyond the limits of {name}" for name in self.beyond]
        odd = "no rigid body has the moments of inertia of '{}': one exceeds the sum of the others"
        notes += [odd.format(name) for name in self.impossible]
        if self.redundant:
            notes.append(f"closures repeat one another ({', '.join(self.redundant)}): parts must fit exactly")
        if self.frictionless:
            notes.append(
                f"no friction is stated for the drives {', '.join(self.frictionless)}, so the model has no parameters "
                "for it: state some above zero to have it identified"
            )
        if self.margin < 0.01:
            notes.append(f"home is close to a singularity (margin {self.margin:.2g})")
        return tuple(notes)

    def __str__(self) -> str:
        tied = f" in {len(self.groups)} groups" if len(self.groups) < self.n_bodies else ""
        parts = f"{self.n_bodies} bodies{tied}, {self.n_coordinates} coordinates"
        equations = f"{self.n_equations} closure equations, {self.n_independent} of them independent"
        at_home = zip(self.positions.items(), self.units, strict=True)
        positions = ", ".join(f"{name} = {number(value)} {unit}" for (name, value), unit in at_home)
        margins = f"margin {number(self.margin, digits=3)} at home, {number(self.weakest, digits=3)} at the weakest"
        lines = [
            f"{self.name}: {parts}, {equations}.",
            f"Mobility: {self.mobility}, as many as actuators (Grübler's count: {self.grubler}).",
            f"Assembly: closed at home to {self.gap:.1e}; {positions}.",
            f"Singularity: {margins} pose below.",
            "",
            str(self._table()),
        ]
        lines += [f"Note: {warning}." for warning in self.warnings]
        return "\n".join(lines)

    def _table(self) -> Table:
        rows = [
            [r.coordinate, r.unit, number(r.lower, digits=3), number(r.upper, digits=3), *r.ends] for r in self.reaches
        ]
        return table(["pose", "unit", "from", "to", "ends below at", "ends above at"], rows, "lurrll")


def examine(robot: ClosedChain) -> Examination:
    """Examine a mechanism around home.

    Examples:
        >>> from gough.robots import FiveBar
        >>> from gough.robots.mechanism import MechanismModel
        >>> examined = examine(MechanismModel(FiveBar().mechanism))
        >>> examined.mobility, examined.grubler, examined.redundant
        (2, 2, ())
    """
    mechanism = robot.mechanism
    home = assembled(mechanism)
    gaps, _ = closures_at(mechanism, home.s[None])
    _check_around(mechanism, robot)
    reaches, weakest = _reaches(robot)
    actuated = list(home.at.actuated)
    return Examination(
        name=robot.name,
        n_bodies=len(mechanism.bodies),
        groups=tuple(dict.fromkeys(body.tied for body in mechanism.bodies)),
        n_coordinates=home.at.n,
        n_equations=len(home.at.rows),
        n_independent=len(home.rows),
        mobility=home.mobility,
        redundant=home.redundant,
        gap=float(np.abs(gaps).max(initial=0.0)),
        positions=dict(zip(robot.coordinates, home.s[actuated].tolist(), strict=True)),
        units=robot.coordinate_units,
        margin=float(robot.margin(robot.home)),
        weakest=weakest,
        reaches=reaches,
        beyond=tuple(_outside(robot, home.s[None])[0]),
        impossible=tuple(dict.fromkeys(b.tied for b in mechanism.bodies if not b.inertia.is_possible)),
        frictionless=tuple(name for name in mechanism.actuated if mechanism.freedoms[name].friction is None),
    )


def _check_around(mechanism: Mechanism, robot: ClosedChain) -> None:
    """Refuse a mechanism whose freedoms change as soon as it leaves home.

    At home some equations may coincide by symmetry, or hold only there.
    """
    home = assembled(mechanism)
    rng = np.random.default_rng(0)
    scale = np.where(np.array(robot.pose_units) == "m", home.size, 1.0)
    x = robot.home + 0.01 * scale * rng.uniform(-1, 1, (8, len(robot.home)))
    try:
        s = robot.all_coordinates(x)
    except InputError as error:
        raise InputError(
            f"{mechanism.name} closes at home but not around it ({error}): home is singular, or closures hold too much"
        ) from error
    by_row, by_column = scales(home.at, home.size)
    C = closures_at(mechanism, s)[1]
    values = np.linalg.svd(C / by_row[:, None] * by_column, compute_uv=False)
    ranks = (values > SMALL * values[:, :1]).sum(axis=1)
    if (ranks != len(home.rows)).any():
        beside = home.at.n - int(ranks.max())
        raise InputError(
            f"{mechanism.name} has {home.mobility} freedoms at home, but {beside} beside it: home is a singular "
            "position. Choose another home pose"
        )


def _reaches(robot: ClosedChain) -> tuple[tuple[PoseRange, ...], float]:
    """The range of each coordinate of the pose, and the smallest margin within these ranges."""
    m, size = len(robot.home), assembled(robot.mechanism).size
    far = np.array([_RANGE[unit] * (size if unit == "m" else 1.0) for unit in robot.pose_units])
    shares = np.arange(1, _STEPS + 1) / _STEPS
    ways = np.concatenate([-np.diag(far), np.diag(far)])[:, None, :] * shares[:, None]
    s = robot.along(robot.home + ways)
    ends = [_end(robot, way) for way in s]
    reaches = []
    for k, (name, unit) in enumerate(zip(robot.pose_names, robot.pose_units, strict=True)):
        (low, below, _), (high, above, _) = ends[k], ends[m + k]
        step = far[k] / _STEPS
        lower, upper = robot.home[k] - low * step, robot.home[k] + high * step
        reaches.append(PoseRange(name, unit, float(lower), float(upper), (below, above)))
    return tuple(reaches), min(float(robot.margin(robot.home)), *(margin for _, _, margin in ends))


def _end(robot: ClosedChain, s: Array) -> tuple[int, str, float]:
    """The number of steps along a path before it ends, the reason why it ends, and the smallest margin on it."""
    margins, outside, worst = robot.margin_at(s), _outside(robot, s), np.inf
    for n, margin in enumerate(margins.tolist()):
        if margin != margin:  # noqa: PLR0124 - NaN
            return n, "out of reach", worst
        if margin < robot.least_margin:
            return n, "singularity", worst
        if outside[n]:
            return n, f"limit of {outside[n][0]}", worst
        worst = min(worst, margin)
    return len(s), "not met", worst


def _outside(robot: ClosedChain, s: Array) -> list[list[str]]:
    """For each sample, the coordinates beyond their limits, actuators first."""
    at = assembled(robot.mechanism).at
    order = [*at.actuated, *at.others(at.actuated)]
    limited = [(k, limits) for k in order if (limits := at.freedoms[k].limits) is not None]
    names = [at.coordinates[k] for k, _ in limited]
    values = s[:, [k for k, _ in limited]]
    lower, upper = (np.array([getattr(limits, end) for _, limits in limited]) for end in ("lower", "upper"))
    with np.errstate(invalid="ignore"):
        beyond = (values < lower) | (values > upper)
    return [[name for name, bad in zip(names, row, strict=True) if bad] for row in beyond]
