"""The planar 3-RRR for calibration: three motors, three arms, three rods, a platform that moves in the x-y plane."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import pi
from typing import Any, ClassVar

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates, of_headings
from gough.robots._own_chains import OwnChains
from gough.robots.kinematics import HEADING, PlatformPoses, chain_trace, checked_pose

_ANGLES = (pi / 2, 7 * pi / 6, 11 * pi / 6)


def _circle(radius: float, angles: Sequence[float]) -> Array:
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


@dataclass(frozen=True, eq=False)
class PlanarRRR(OwnChains):
    """Three chains in the plane: a motor at `base` swings an arm, a rod leads on to a joint at `platform`.

    Seven parameters a chain: base (2), zero, arm, rod, joint (2), all found from measured poses. A reading is the
    motor's angle from the x axis, counterclockwise, with the parameter `zero`. A pose is x, y and the heading; what is
    measured of z and of tilts counts for nothing. Where the tracked point and the mark of the heading sit on the
    platform is in `joint`.

    Examples:
        >>> robot = PlanarRRR()
        >>> len(robot.names), robot.names[:7]
        (21, ('base_x_1', 'base_y_1', 'zero_1', 'arm_1', 'rod_1', 'joint_x_1', 'joint_y_1'))
        >>> readings = robot.inverse(robot.nominal, [0.02, 0.01, 0.0])
        >>> robot.forward(robot.nominal, readings).position.round(6)
        array([[0.02, 0.01, 0.  ]])
    """

    base: Array = field(default_factory=lambda: _circle(0.45, _ANGLES))
    """Motors (3, 2), m."""
    platform: Array = field(default_factory=lambda: _circle(0.12, _ANGLES))
    """Joints of the platform (3, 2), m."""
    arm: Array | float = 0.3
    rod: Array | float = 0.3
    zero: Array | float = 0.0
    elbow: Array | float = 1.0
    """1 where the arm, seen from its motor, is to the right of the platform's joint, −1 where it is to the left."""
    name: str = "planar 3-RRR"

    STEMS: ClassVar[tuple[str, ...]] = ("base_x", "base_y", "zero", "arm", "rod", "joint_x", "joint_y")
    UNITS: ClassVar[tuple[str, ...]] = ("m", "m", "rad", "m", "m", "m", "m")
    FREEDOMS: ClassVar[tuple[int, ...]] = (0, 1, HEADING)

    def __post_init__(self) -> None:
        for name in ("base", "platform"):
            points = array(getattr(self, name), name, ndim=2)
            require(points.shape == (3, 2), f"{name} must hold a point (x, y) for each of 3 chains, not {points.shape}")
            object.__setattr__(self, name, points)
        for name in ("arm", "rod", "zero", "elbow"):
            values = array(getattr(self, name), name, ndim=(0, 1))
            require(values.size in (1, 3), f"{name} must be one number, or one for each of 3 chains")
            object.__setattr__(self, name, np.broadcast_to(values, (3,)))
        require(bool((abs(np.asarray(self.elbow)) == 1).all()), "elbow must be 1 or −1 for each chain")
        lengths = np.concatenate([np.asarray(self.arm), np.asarray(self.rod)])
        require(bool((lengths > 0).all()), "arms and rods must have positive lengths, in m")
        try:
            self.inverse(self.nominal, *self.home(self.nominal))
        except InputError as error:
            raise InputError(
                "the arms and rods do not reach from the motors to the platform in their middle: the robot cannot be "
                "assembled; check the blueprint's dimensions and units (m)"
            ) from error

    @classmethod
    def of_circles(
        cls,
        base_radius: float,
        platform_radius: float,
        base_angles: Sequence[float] = _ANGLES,
        platform_angles: Sequence[float] = _ANGLES,
        **options: Any,
    ) -> "PlanarRRR":
        """A robot with motors and joints on two circles, at angles in rad.

        Examples:
            >>> PlanarRRR.of_circles(0.5, 0.1, arm=0.35, rod=0.35).base[0].round(3).tolist()
            [0.0, 0.5]
        """
        return cls(_circle(base_radius, base_angles), _circle(platform_radius, platform_angles), **options)

    @property
    def blueprint(self) -> Array:
        """The parameters, chain by chain: (3, 7)."""
        return np.column_stack([self.base, *(np.asarray(v) for v in (self.zero, self.arm, self.rod)), self.platform])

    def home(self, parameters: Any) -> PlatformPoses:
        """The platform in the middle of its motors, not turned."""
        rows = self.rows(parameters)
        middle = rows[:, :2].mean(axis=0) - rows[:, 5:].mean(axis=0)
        return PlatformPoses(np.append(middle, 0.0)[None], np.eye(3)[None])

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|p + R(θ) c − elbow|² − rod² in the plane, or the difference of the lengths where form is "length"."""
        return _chain(form)

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, 3) at poses, with the elbows on their sides."""
        base, zero, arm, rod, joint = np.split(self.rows(parameters), [2, 3, 4, 5], axis=1)
        pose = checked_pose(position, rotation)
        v = pose.position[:, None, :2] + np.einsum("nij,cj->nci", pose.rotation[:, :2, :2], joint) - base
        far = np.hypot(v[..., 0], v[..., 1])
        cosine = (far**2 + arm[:, 0] ** 2 - rod[:, 0] ** 2) / (2 * arm[:, 0] * np.maximum(far, 1e-300))
        bad = (abs(cosine) > 1).any(axis=1)
        if bad.any():
            raise InputError(
                f"pose {int(bad.argmax())} cannot be reached ({int(bad.sum())} of {len(v)} poses): are positions in m "
                "and in the robot's frame, and headings in its range?"
            )
        lead = np.asarray(self.elbow) * np.arccos(cosine)
        return np.asarray(np.arctan2(v[..., 1], v[..., 0]) - lead - zero[:, 0])

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """Up to six headings."""
        base, zero, arm, rod, joint = np.split(self.rows(parameters), [2, 3, 4, 5], axis=1)
        turn = readings + zero[:, 0]
        return of_headings(base + arm * np.stack([np.cos(turn), np.sin(turn)], axis=-1), joint, rod[:, 0])


@lru_cache(maxsize=4)
def _chain(form: str) -> Kernel:
    require(form in ("squared", "length"), f"the form of an equation is 'squared' or 'length', not '{form}'")

    def residual(x: Any, position: Any, rotation: Any, reading: Any) -> Any:
        zero, arm, rod = ex.components(x[2:5])
        turn = reading + zero
        elbow = x[0:2] + arm * ex.vector(ex.cos(turn), ex.sin(turn))
        d = position[0:2] + rotation[0:2, 0:2] @ x[5:7] - elbow
        return ex.dot(d, d) - rod**2 if form == "squared" else ex.norm(d) - rod

    return chain_trace(residual, f"planar_chain_{form}", 7)
