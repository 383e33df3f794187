"""Configurations to choose from: drawn within limits, on a grid, or with every chain at one of its ends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, Mask
from gough.core.errors import InputError, nearest, require
from gough.core.rotations import exp
from gough.data import Poses
from gough.designs.poses.limits import PoseLimits, Posture
from gough.geometry.predicted_pose import readings_where_reached
from gough.robots.kinematics import KinematicModel, PlatformPoses, PoseFinder, all_derivatives, checked

SOURCES = ("extremal", "low-discrepancy", "random", "grid")
_HALVINGS = 12
_SINGULAR = 1e7
"""Condition number of ∂f/∂pose at home from which on home counts as singular."""
_STEP = 0.06
"""Longest step of the search for a pose, m."""
_PIECES = 5


@dataclass(frozen=True, eq=False)
class Candidates(ArrayValue):
    """Configurations that keep all limits, and the numbers of those that do not."""

    poses: Poses
    """Pose and readings of each, as the parameters predict them; without noise."""
    is_extremal: Mask
    """(N,): has every chain, or every coordinate of the pose, at one of its ends, as near to it as limits allow?"""
    tried: int
    rejected: Mapping[str, int] = field(default_factory=dict)
    """How many were left out by each limit; some by several."""

    def __len__(self) -> int:
        return len(self.poses)

    def with_noise(self, position: Any = None, orientation: Any = None, readings: Any = None) -> "Candidates":
        """The candidates with the standard deviations that their measurements will have."""
        poses = self.poses.with_noise(position, orientation, readings)
        return Candidates(poses, self.is_extremal, self.tried, self.rejected)

    def __str__(self) -> str:
        left = ", ".join(f"{n} by {name}" for name, n in self.rejected.items() if n)
        return f"{len(self)} of {self.tried} configurations keep all limits{f' (left out: {left})' if left else ''}."


def candidates(
    model: KinematicModel,
    limits: PoseLimits,
    *,
    sources: Sequence[str] = ("extremal", "low-discrepancy"),
    count: int = 2000,
    levels: int = 3,
    seed: int = 1,
    parameters: Any = None,
) -> Candidates:
    """Configurations of a robot within limits, at the blueprint's parameters unless others are given.

    Args:
        model: The robot.
        limits: What each configuration keeps.
        sources: Any of "extremal", all 2ⁿ ways to put the n chains at their ends [DACP06, §2.3.2], drawn back towards
            home where another limit forbids them (without ranges of readings: the corners of the pose's ranges);
            "low-discrepancy", Sobol's sequence, scrambled; "random"; "grid".
        count: Number of draws, random or from the sequence, before limits reject some.
        levels: Levels of the grid for each chain (or coordinate of the pose).
        seed: Random seed.
        parameters: Parameters of the robot.

    Raises:
        InputError: no configuration keeps all limits; the message counts those that each limit leaves out.

    Examples:
        >>> from gough.robots import GoughPlatform
        >>> drawn = candidates(GoughPlatform.deltalab(), PoseLimits(readings=(0.0, 0.14)), count=100)
        >>> int(drawn.is_extremal.sum()), drawn.tried
        (64, 164)
    """
    for name in sources:
        require(name in SOURCES, f"no source of candidates is called '{name}'{nearest(name, SOURCES)}")
    require(len(sources) > 0, f"name a source of candidates: {', '.join(SOURCES)}")
    require(count > 0 and levels > 1, "draw at least one candidate, and give a grid at least two levels")
    theta = checked(model, model.nominal if parameters is None else parameters)
    ends = limits.ends(model)
    home = home_of(model, theta, limits)
    drawn = [(name, _unit_points(name, len(model.chains), count, levels, seed)) for name in sources]
    parts = []
    for name, u in drawn:
        if ends is not None:
            readings = ends[0] + u * (ends[1] - ends[0])
            if name == "extremal":
                readings = _drawn_back(model, theta, limits, home, readings)
            poses, reached = _assembled(model, theta, readings, home.poses)
        else:
            poses = _poses_between(model, limits, _corners(model, u) if name == "extremal" else u)
            readings, reached = readings_where_reached(model, theta, poses)
        parts.append((poses, readings, reached, np.full(len(u), name == "extremal")))
    return _kept(model, theta, limits, home, parts)


def home_of(model: KinematicModel, parameters: Array, limits: PoseLimits) -> Posture:
    """The configuration in the middle of the readings' ranges, or of the pose's where no readings are limited."""
    ends = limits.ends(model)
    if ends is not None:
        readings = ((ends[0] + ends[1]) / 2)[None]
        try:
            poses = model.forward(parameters, readings)
        except InputError as error:
            raise InputError(f"with all readings in the middle of their ranges, {error}") from error
    else:
        poses = _poses_between(model, limits, np.full((1, len(model.chains)), 0.5), middle=True)
        readings = model.inverse(parameters, poses.position, poses.rotation)
    home = Posture.of(model, parameters, poses, readings)
    scaled = home.J[0][:, list(model.freedoms)]
    regular = np.linalg.cond(scaled) < _SINGULAR and abs(home.by_reading).min() * _SINGULAR > abs(home.by_reading).max()
    require(bool(regular), "the middle of the ranges is a singular configuration: state ranges about one that is not")
    return home


def _unit_points(source: str, n: int, count: int, levels: int, seed: int) -> Array:
    """Points of the unit cube (N, n)."""
    match source:
        case "extremal":
            return np.array(list(product((0.0, 1.0), repeat=n)))
        case "grid":
            return np.array(list(product(np.linspace(0, 1, levels), repeat=n)))
        case "random":
            return np.random.default_rng(seed).random((count, n))
    from scipy.stats.qmc import Sobol  # noqa: PLC0415 - start-up time

    doublings = int(np.ceil(np.log2(max(count, 2))))
    return np.asarray(Sobol(n, rng=np.random.default_rng(seed)).random_base2(doublings)[:count])


def _poses_between(model: KinematicModel, limits: PoseLimits, u: Array, *, middle: bool = False) -> PlatformPoses:
    """Poses in the ranges of the limits, by one number between 0 and 1 for each freedom."""
    free = model.freedoms
    needed = [*(name for i, name in enumerate("xyz") if i in free), *(["tilt"] if {3, 4} & set(free) else [])]
    needed += ["heading"] if 5 in free else []
    missing = [name for name in needed if name not in limits.pose]
    if missing:
        raise InputError(
            f"to draw configurations of the {model.name}, state the ranges of its readings, or those of the pose: "
            f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing"
        )
    position, part = np.zeros((len(u), 3)), dict(zip(free, u.T, strict=True))
    for i, name in enumerate("xyz"):
        if i in free:
            low, high = limits.pose[name]
            position[:, i] = low + part[i] * (high - low)
    zero = np.zeros(len(u))
    heading, leaning = zero, np.zeros((len(u), 3))
    if "heading" in needed:
        low, high = limits.pose["heading"]
        heading = low + part[5] * (high - low)
    if "tilt" in needed and not middle:
        low, high = limits.pose["tilt"]
        size = np.sqrt(low**2 + part.get(3, zero) * (high**2 - low**2))  # all directions of the axis alike
        toward = 2 * np.pi * part.get(4, zero)
        leaning[:, :2] = size[:, None] * np.column_stack([np.cos(toward), np.sin(toward)])
    return PlatformPoses(position, exp(leaning) @ exp(heading[:, None] * np.array([0.0, 0.0, 1.0])))


def _corners(model: KinematicModel, u: Array) -> Array:
    """Corners of the unit cube, with opposite directions of a tilt, which is periodic, at 0 and a half."""
    return np.asarray(u * np.where(np.array(model.freedoms) == 4, 0.5, 1.0))


def _drawn_back(model: KinematicModel, theta: Array, limits: PoseLimits, home: Posture, readings: Array) -> Array:
    """Each configuration as far from home, on the straight line of readings towards it, as the limits allow."""
    start = home.readings
    good = _keeps(model, theta, limits, home, readings)
    low, high = np.where(good, 1.0, 0.0), np.ones(len(readings))
    far = np.flatnonzero(~good)
    if far.size == 0 or not _keeps(model, theta, limits, home, start)[0]:
        return readings
    for _ in range(_HALVINGS):
        share = (low[far] + high[far]) / 2
        ok = _keeps(model, theta, limits, home, start + share[:, None] * (readings[far] - start))
        low[far], high[far] = np.where(ok, share, low[far]), np.where(ok, high[far], share)
    return np.asarray(start + low[:, None] * (readings - start))


def _assembled(
    model: KinematicModel, parameters: Array, readings: Array, home: PlatformPoses
) -> tuple[PlatformPoses, Mask]:
    """Poses at readings (N, chains), and which of them are reached from home on the straight line of readings.

    The way is cut in pieces, each followed by Newton's method. Where that fails, or where the Jacobian's determinant
    has another sign than at home, a singularity is on the way: no robot that comes from home gets there so.
    """
    kernel = all_derivatives(model.chain_kernel("length"))
    finder = PoseFinder(kernel, model.columns, model.freedoms, largest=_STEP)
    start = model.inverse(parameters, home.position, home.rotation)
    side = finder.side(parameters, start, home)[0]
    p, R = (np.repeat(each, len(readings), axis=0) for each in home)
    alive = np.arange(len(readings))
    for piece in range(1, _PIECES + 1):
        want = start + (readings[alive] - start) * (piece / _PIECES)
        p[alive], R[alive], arrived = finder.newton(parameters, want, p[alive], R[alive])
        with np.errstate(all="ignore"):
            arrived &= finder.side(parameters, want, PlatformPoses(p[alive], R[alive])) == side
        alive = alive[arrived]
    return PlatformPoses(p, R), np.isin(np.arange(len(readings)), alive)


def _keeps(model: KinematicModel, theta: Array, limits: PoseLimits, home: Posture, readings: Array) -> Mask:
    poses, good = _assembled(model, theta, readings, home.poses)
    if good.any():
        some = PlatformPoses(poses.position[good], poses.rotation[good])
        posture = Posture.of(model, theta, some, readings[good])
        good[good] = ~np.any(list(limits.broken(model, posture, home).values()), axis=0)
    return good


def _kept(model: KinematicModel, theta: Array, limits: PoseLimits, home: Posture, parts: list[Any]) -> Candidates:
    """Those that keep all limits, each once."""
    position, rotation = (np.concatenate([getattr(part[0], name) for part in parts]) for name in PlatformPoses._fields)
    readings, reached, extremal = (np.concatenate([part[i] for part in parts]) for i in (1, 2, 3))
    tried = len(readings)
    rejected = {"reach": int((~reached).sum())}
    some = PlatformPoses(position[reached], rotation[reached])
    posture = Posture.of(model, theta, some, readings[reached])
    broken = limits.broken(model, posture, home)
    rejected |= {name: int(mask.sum()) for name, mask in broken.items()}
    good = np.flatnonzero(reached)[~np.any(list(broken.values()), axis=0)]
    if good.size == 0:
        counts = ", ".join(f"{n} break the {name}" for name, n in rejected.items() if n)
        raise InputError(
            f"none of {tried} configurations of the {model.name} keeps all limits: {counts} (one may break several). "
            "Widen the limit that leaves out most, or check its unit"
        )
    _, first = np.unique(readings[good].round(12), axis=0, return_index=True)
    good = good[np.sort(first)]
    poses = Poses(position[good], rotation[good] if model.has_orientation else None, readings[good])
    return Candidates(poses, extremal[good], tried, rejected)
