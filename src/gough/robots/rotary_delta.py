"""The rotary delta: three motors swing arms whose rods carry a platform that keeps its orientation."""

from dataclasses import dataclass
from functools import lru_cache
from math import pi
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.robots.kinematics import (
    Columns,
    PlatformPoses,
    PoseFinder,
    all_derivatives,
    as_guess,
    chain_trace,
    checked,
    checked_pose,
    checked_readings,
)

_STEMS = ("radius", "height", "angle", "zero", "arm", "rod")


@dataclass(frozen=True, eq=False)
class RotaryDelta(ArrayValue):
    """Three arms on motors at `radius` (that of the base less that of the platform), `height` and `angle`.

    Six parameters a chain. A reading is the motor's angle: zero (with the parameter `zero`) where the arm is
    horizontal, positive where it hangs below. The platform works below the motors.

    Examples:
        >>> robot = RotaryDelta()
        >>> readings = robot.inverse(robot.nominal, [0.05, 0.0, -0.7])
        >>> robot.forward(robot.nominal, readings).position.round(6) + 0.0
        array([[ 0.05,  0.  , -0.7 ]])
    """

    radius: Array | float = 0.1
    arm: Array | float = 0.26
    rod: Array | float = 0.7
    angle: Array | tuple[float, ...] = (0.0, 2 * pi / 3, 4 * pi / 3)
    height: Array | float = 0.0
    zero: Array | float = 0.0
    name: str = "rotary delta"

    def __post_init__(self) -> None:
        for field in _STEMS:
            values = array(getattr(self, field), field, ndim=(0, 1))
            require(values.size in (1, 3), f"{field} must be one number, or one for each of 3 arms")
            object.__setattr__(self, field, np.broadcast_to(values, (3,)))
        lengths = np.concatenate([np.asarray(self.arm), np.asarray(self.rod)])
        require(bool((lengths > 0).all()), "arms and rods must have positive lengths, in m")
        reach = np.asarray(self.radius) - np.asarray(self.arm)
        require(
            bool((np.asarray(self.rod) > abs(reach)).all()),
            "the rods are too short to meet below the motors: the robot cannot be assembled; check that arm is the "
            "link on the motor and rod the link on the platform",
        )

    @property
    def chains(self) -> tuple[str, ...]:
        """The arms."""
        return ("arm 1", "arm 2", "arm 3")

    @property
    def names(self) -> tuple[str, ...]:
        """Chain by chain."""
        return tuple(f"{stem}_{i + 1}" for i in range(3) for stem in _STEMS)

    @property
    def units(self) -> tuple[str, ...]:
        """Metres and radians."""
        return ("m", "m", "rad", "rad", "m", "m") * 3

    @property
    def zeros(self) -> tuple[str, ...]:
        """The motors' zeros."""
        return tuple(f"zero_{i + 1}" for i in range(3))

    @property
    def nominal(self) -> Array:
        """The blueprint."""
        return np.stack([np.asarray(getattr(self, stem)) for stem in _STEMS], axis=1).reshape(-1)

    @property
    def columns(self) -> Columns:
        """Each chain has parameters of its own."""
        return np.arange(18).reshape(3, 6)

    @property
    def has_orientation(self) -> bool:
        """It never turns."""
        return False

    @property
    def reading_unit(self) -> str:
        """Radians."""
        return "rad"

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|p − elbow|² − rod², or the difference of the lengths where form is "length"."""
        return _arm(form)

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, 3) at positions: the elbows are outside."""
        radius, height, angle, zero, arm, rod = checked(self, parameters).reshape(3, 6).T
        p = checked_pose(position, rotation).position[:, None]
        out = p[..., 0] * np.cos(angle) + p[..., 1] * np.sin(angle) - radius
        down = height - p[..., 2]
        square = out**2 + down**2 + (p[..., 1] * np.cos(angle) - p[..., 0] * np.sin(angle)) ** 2
        wanted = (square + arm**2 - rod**2) / (2 * arm)
        length = np.hypot(out, down)
        bad = (abs(wanted) > length).any(axis=1)
        if bad.any():
            raise InputError(
                f"pose {int(bad.argmax())} cannot be reached ({int(bad.sum())} of {len(p)} poses): are positions "
                "in m, in the robot's frame, and below the motors (z < 0)?"
            )
        return np.asarray(np.arctan2(down, out) - np.arccos(wanted / length) - zero)

    def forward(self, parameters: Any, readings: Any, guess: PlatformPoses | None = None) -> PlatformPoses:
        """Positions at readings (N, 3), by Newton's method from a guess: by default below the motors."""
        theta, values = checked(self, parameters), checked_readings(self, readings)
        start = as_guess(self.home(theta) if guess is None else guess, len(values))
        at_start = self.inverse(theta, start.position)
        finder = PoseFinder(all_derivatives(_arm("length")), self.columns, turns=False, largest=0.1)
        return finder.find(theta, values, start, at_start)

    def home(self, parameters: Any) -> PlatformPoses:
        """Below the middle, with arms that hang by about half a radian."""
        radius, height, _, _, arm, rod = checked(self, parameters).reshape(3, 6).mean(axis=0)
        across = radius + arm * np.cos(0.5)
        drop = height - arm * np.sin(0.5) - np.sqrt(max(rod**2 - across**2, 0.01 * rod**2))
        return PlatformPoses(np.array([[0.0, 0.0, drop]]), np.eye(3)[None])


@lru_cache(maxsize=4)
def _arm(form: str) -> Kernel:
    require(form in ("squared", "length"), f"the form of an equation is 'squared' or 'length', not '{form}'")

    def residual(x: Any, position: Any, _rotation: Any, reading: Any) -> Any:
        radius, height, angle, zero, arm, rod = ex.components(x)
        out = radius + arm * ex.cos(reading + zero)
        elbow = ex.vector(out * ex.cos(angle), out * ex.sin(angle), height - arm * ex.sin(reading + zero))
        d = position - elbow
        return ex.dot(d, d) - rod**2 if form == "squared" else ex.norm(d) - rod

    return chain_trace(residual, f"arm_{form}", 6)
