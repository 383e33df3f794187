"""The linear delta rod by rod: leaning towers, unequal rods, and an effector that tilts because of them."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import pi
from types import MappingProxyType
from typing import Any, ClassVar, NoReturn

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates
from gough.robots.kinematics import (
    Columns,
    PlatformPoses,
    PoseFinder,
    all_derivatives,
    as_guess,
    checked,
    checked_pose,
    checked_readings,
    evaluate_chains,
    rod_trace,
)
from gough.robots.linear_delta import LinearDelta

_TOWERS = ("a", "b", "c")
_NEWTON = 30


@dataclass(frozen=True, eq=False)
class RodDelta(ArrayValue):
    """A linear delta with six rods: each tower's carriage holds two, side by side, and its reading counts for both.

    Parameters as of `LinearDelta`, and for each tower its lean (slopes along x and y) and half of the difference of its
    two rods. Unequal rods tilt the effector by an amount that depends on its place, so that a probe beside the nozzle
    errs. `effector`, `side_1` and `side_2`, where the rods are on the effector, are parameters too; they are usually
    fixed. With no lean and equal rods it is a `LinearDelta`.

    Examples:
        >>> printer = RodDelta()
        >>> printer.inverse(printer.nominal, [0.03, 0.01, 0.1]).round(4)[:, ::2]
        array([[0.3184, 0.2908, 0.2964]])
        >>> LinearDelta().inverse(LinearDelta().nominal, [0.03, 0.01, 0.1]).round(4)
        array([[0.3184, 0.2908, 0.2964]])
    """

    radius: float = 0.16
    """Radius of the towers less that of the effector, m."""
    arm: Array | float = 0.345
    endstop: Array | float = 0.4
    angle: Array | tuple[float, ...] = (7 * pi / 6, 11 * pi / 6, pi / 2)
    effector: float = 0.03
    """Radius of the effector's joints, m."""
    spacing: float = 0.05
    """Distance between the two rods of a tower, m."""
    lean: Array | float = 0.0
    """(3, 2): slopes of the towers along x and y, or one number for all."""
    mismatch: Array | float = 0.0
    """(3,): half of the difference of the two rods of each tower, m, or one number for all."""
    side: Array | None = None
    """(2,): where the two rods are beside the middle of the effector's joints, m; default: half the spacing."""
    name: str = "rod delta"

    NESTED: ClassVar[MappingProxyType[str, tuple[str, ...]]] = MappingProxyType(
        {"arms": ("arm_*",), "lean of the towers": ("lean_*",), "unequal rods": ("mismatch_*",)}
    )
    """Groups of parameters that a printer may need beyond endstops, radius and angles, simplest first."""

    def __post_init__(self) -> None:
        for field in ("arm", "endstop", "angle"):
            values = array(getattr(self, field), field, ndim=(0, 1))
            require(values.size in (1, 3), f"{field} must be one number, or one for each of 3 towers")
            object.__setattr__(self, field, np.broadcast_to(values, (3,)))
        for field, shape in (("lean", (3, 2)), ("mismatch", (3,))):
            values = array(getattr(self, field), field, ndim=(0, len(shape)))
            fits = values.shape in ((), shape) and bool(np.isfinite(values).all())
            require(fits, f"{field} must be one number, or {' × '.join(map(str, shape))} finite numbers")
            object.__setattr__(self, field, np.broadcast_to(values, shape))
        require(self.spacing > 0 and self.effector > 0, "effector and spacing must be positive lengths, in m")
        half = self.spacing / 2
        side = array([-half, half] if self.side is None else self.side, "side", ndim=1)
        apart = side.shape == (2,) and bool(side[0] < 0 < side[1])
        require(apart, "side must be two numbers: the first rod is left of the middle (< 0), the second right of it")
        object.__setattr__(self, "side", side)
        LinearDelta(self.radius, self.arm, self.endstop, self.angle)  # refuses what cannot be assembled

    @property
    def chains(self) -> tuple[str, ...]:
        """The rods, two for each tower."""
        return tuple(f"rod {t}{k}" for t in _TOWERS for k in (1, 2))

    @property
    def reading_of_chain(self) -> tuple[int, ...]:
        """Number of the reading that counts for each rod: that of its carriage."""
        return (0, 0, 1, 1, 2, 2)

    @property
    def names(self) -> tuple[str, ...]:
        """Endstops, radius, angles, arms, leans, mismatches, and where the rods are on the effector."""
        each = ("lean_x", "lean_y", "mismatch")
        first = (*self.zeros, "radius", *(f"angle_{t}" for t in _TOWERS), *(f"arm_{t}" for t in _TOWERS))
        return (*first, *(f"{stem}_{t}" for stem in each for t in _TOWERS), "effector", "side_1", "side_2")

    @property
    def units(self) -> tuple[str, ...]:
        """Metres, radians and slopes."""
        return ("m",) * 4 + ("rad",) * 3 + ("m",) * 3 + ("rad",) * 6 + ("m",) * 6

    @property
    def zeros(self) -> tuple[str, ...]:
        """The endstops."""
        return tuple(f"endstop_{t}" for t in _TOWERS)

    @property
    def nominal(self) -> Array:
        """The blueprint."""
        lean, mismatch = np.asarray(self.lean).T.reshape(-1), np.asarray(self.mismatch)
        own = (self.endstop, self.radius, self.angle, self.arm, lean, mismatch, self.effector, self.side)
        return np.concatenate([np.atleast_1d(np.asarray(each, dtype=np.float64)) for each in own])

    def with_values(self, parameters: Any) -> "RodDelta":
        """The delta whose blueprint these parameters are.

        Examples:
            >>> values = RodDelta().nominal + 1e-4
            >>> bool((RodDelta().with_values(values).nominal == values).all())
            True
        """
        endstop, (radius,), angle, arm, lean, mismatch, (effector,), side = np.split(
            checked(self, parameters), [3, 4, 7, 10, 16, 19, 20]
        )
        return replace(
            self,
            radius=float(radius),
            endstop=endstop,
            angle=angle,
            arm=arm,
            lean=lean.reshape(2, 3).T,
            mismatch=mismatch,
            effector=float(effector),
            spacing=float(side[1] - side[0]),
            side=side,
        )

    @property
    def columns(self) -> Columns:
        """Endstop, radius, angle, arm, lean, mismatch of a tower, effector and side of a rod."""
        return np.array([[t, 3, 4 + t, 7 + t, 10 + t, 13 + t, 16 + t, 19, 20 + k] for t in range(3) for k in range(2)])

    @property
    def freedoms(self) -> tuple[int, ...]:
        """All six: the effector tilts if its rods are not equal."""
        return (0, 1, 2, 3, 4, 5)

    @property
    def has_orientation(self) -> bool:
        """It turns, a little."""
        return True

    @property
    def reading_unit(self) -> str:
        """Metres."""
        return "m"

    @property
    def mechanism(self) -> NoReturn:
        """Refused: a `LinearDelta` has one."""
        raise InputError("a rod delta is for calibration by instruments; the mechanism is that of a LinearDelta")

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|R b + p − carriage|² − rod², or the difference of the lengths where form is "length"."""
        return _rod(form)

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, 6) of each rod by itself; those of a tower are equal where the pose is possible."""
        theta, poses = checked(self, parameters), checked_pose(position, rotation)
        derivatives = all_derivatives(self.chain_kernel("length"))
        start = LinearDelta(self.radius, self.arm, self.endstop, self.angle)
        readings = np.repeat(start.inverse(theta[:10], poses.position), 2, axis=1)
        with np.errstate(all="ignore"):
            for _ in range(_NEWTON):
                f = evaluate_chains(derivatives, self.columns, theta, poses, readings)
                step = f["residual"] / f["by_reading"]
                readings = readings - step
                if abs(step).max() < 1e-14:
                    break
        bad = np.asarray(~np.isfinite(readings).all(axis=1))
        require(not bad.any(), f"pose {int(bad.argmax())} cannot be reached ({int(bad.sum())} of {len(bad)} poses)")
        return np.asarray(readings)

    def forward(self, parameters: Any, readings: Any, guess: PlatformPoses | None = None) -> PlatformPoses:
        """Poses at readings (N, 6), by Newton's method from a guess: by default that of a linear delta."""
        theta, values = checked(self, parameters), checked_readings(self, readings)
        if guess is None:
            guess = LinearDelta(self.radius, self.arm, self.endstop, self.angle).forward(theta[:10], values[:, ::2])
        start = as_guess(guess, len(values))
        finder = PoseFinder.of(self, largest=0.05)
        return finder.find(theta, values, start, self.inverse(theta, *start))

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """Refused: a `LinearDelta` has two."""
        del parameters, readings
        raise InputError("assembly modes of a rod delta are not computed: those of a LinearDelta are near them")


@lru_cache(maxsize=4)
def _rod(form: str) -> Kernel:
    def ends(x: Any, position: Any, rotation: Any, reading: Any) -> tuple[Any, Any]:
        endstop, radius, angle, arm, lean_x, lean_y, mismatch, effector, side = ex.components(x)
        out = ex.vector(ex.cos(angle), ex.sin(angle), 0.0)
        across = ex.vector(-ex.sin(angle), ex.cos(angle), 0.0)
        up = ex.vector(lean_x, lean_y, 1.0)
        height = endstop + ex.sqrt(arm**2 - radius**2) - reading
        carriage = (radius + effector) * out + side * across + height * up / ex.norm(up)
        d = position + rotation @ (effector * out + side * across) - carriage
        rod = arm + mismatch * side / ex.absolute(side)
        return d, rod

    return rod_trace(ends, form, "rod", 9)
