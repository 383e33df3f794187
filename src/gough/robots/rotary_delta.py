"""The rotary delta: three motors swing arms whose rods carry a platform that keeps its orientation."""

from dataclasses import dataclass
from functools import lru_cache
from math import pi
from typing import Any, ClassVar

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates, of_spheres
from gough.robots._own_chains import OwnChains
from gough.robots.arm_chain import arm_readings, elbows
from gough.robots.delta import Delta, plate
from gough.robots.delta_family.description import arm_mechanism
from gough.robots.kinematics import PlatformPoses, checked_pose, rod_trace
from gough.robots.mechanism.description import Mechanism


@dataclass(frozen=True, eq=False)
class RotaryDelta(OwnChains):
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

    STEMS: ClassVar[tuple[str, ...]] = ("radius", "height", "angle", "zero", "arm", "rod")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "rad", "rad", "m", "m")
    FREEDOMS: ClassVar[tuple[int, ...]] = (0, 1, 2)

    def __post_init__(self) -> None:
        for field in self.STEMS:
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
    def blueprint(self) -> Array:
        """The parameters, chain by chain: (3, 6)."""
        return np.stack([np.asarray(getattr(self, stem)) for stem in self.STEMS], axis=1)

    @property
    def mechanism(self) -> Mechanism:
        """The robot of the blueprint as bodies, joints and closures: with the platform and the masses of a `Delta`."""
        radius, height, angle, zero, arm, rod = self.blueprint.T
        out = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        delta = Delta()
        attachments = delta.geometry.platform * out
        motors = np.column_stack([radius[:, None] * out + attachments, height])
        top = plate(delta.parts.platform_mass, attachments, self.home(self.nominal).position[0])
        chains = np.column_stack([motors, angle, zero, arm, rod])
        return arm_mechanism(self.name, chains, delta.parts, top, friction=delta.friction, gravity=delta.gravity)

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|p − elbow|² − rod², or the difference of the lengths where form is "length"."""
        return _arm(form)

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, 3) at positions: the elbows are outside."""
        radius, height, angle, zero, arm, rod = self.rows(parameters).T
        motor = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
        PA = checked_pose(position, rotation).position[:, None] - motor
        hint = "are positions in m, in the robot's frame, and below the motors (z < 0)?"
        return arm_readings(PA, angle, zero, arm, rod, hint=hint)

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """The two points where three spheres about the elbows meet, below and above."""
        radius, height, angle, zero, arm, rod = self.rows(parameters).T
        motor = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=1)
        return of_spheres(elbows(motor, angle, readings + zero, arm), rod)

    def home(self, parameters: Any) -> PlatformPoses:
        """Below the middle, with arms that hang by about half a radian."""
        radius, height, _, _, arm, rod = self.rows(parameters).mean(axis=0)
        across = radius + arm * np.cos(0.5)
        drop = height - arm * np.sin(0.5) - np.sqrt(max(rod**2 - across**2, 0.01 * rod**2))
        return PlatformPoses(np.array([[0.0, 0.0, drop]]), np.eye(3)[None])


@lru_cache(maxsize=4)
def _arm(form: str) -> Kernel:
    def ends(x: Any, position: Any, _rotation: Any, reading: Any) -> tuple[Any, Any]:
        radius, height, angle, zero, arm, rod = ex.components(x)
        out = radius + arm * ex.cos(reading + zero)
        elbow = ex.vector(out * ex.cos(angle), out * ex.sin(angle), height - arm * ex.sin(reading + zero))
        d = position - elbow
        return d, rod

    return rod_trace(ends, form, "arm", 6)
