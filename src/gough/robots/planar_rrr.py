"""The planar 3-RRR: three motors, three arms, three rods, a platform that moves in the x-y plane."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from math import cos, pi, sin
from typing import Any, ClassVar

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import InputError, require
from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates, of_headings
from gough.robots._geometry import length
from gough.robots._own_chains import OwnChains
from gough.robots.kinematics import HEADING, PlatformPoses, checked_pose, rod_trace
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, HELD, Body, Closure, Freedom, Friction, Joint, Limits, Platform
from gough.robots.mechanism.placement import Placement, turned

_ANGLES = (pi / 2, 7 * pi / 6, 11 * pi / 6)
_ANY_TURN = Limits(-pi, 2 * pi)


def _circle(radius: float, angles: Sequence[float]) -> Array:
    return radius * np.column_stack([np.cos(angles), np.sin(angles)])


@dataclass(frozen=True)
class PlanarGeometry:
    """The dimensions of a 3-RRR, in m; motors and joints of the platform are at 90°, 210° and 330°.

    Examples:
        >>> PlanarGeometry().proximal
        0.3
    """

    base: float = length(0.45, "from the middle to the motors' axes")
    platform: float = length(0.12, "from the middle of the platform to its joints")
    proximal: float = length(0.3, "of the links on the motors")
    distal: float = length(0.3, "of the links on the platform")


_BLUEPRINT = PlanarGeometry()


@dataclass(frozen=True, eq=False)
class PlanarRRR(OwnChains):
    """The geometry of a 3-RRR: in each of three chains a motor at `base` swings an arm, a rod leads on to `platform`.

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

    base: Array = field(default_factory=lambda: _circle(_BLUEPRINT.base, _ANGLES))
    """Motors (3, 2), m."""
    platform: Array = field(default_factory=lambda: _circle(_BLUEPRINT.platform, _ANGLES))
    """Joints of the platform (3, 2), m."""
    arm: Array | float = _BLUEPRINT.proximal
    rod: Array | float = _BLUEPRINT.distal
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

    @property
    def mechanism(self) -> Mechanism:
        """The robot of the blueprint as bodies, joints and closures."""
        return _mechanism(self, self.name, gravity=9.81)

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


def _mechanism(robot: PlanarRRR, name: str, gravity: float) -> Mechanism:
    """Motors, proximal and distal links and a platform, in a vertical plane: x is level, y is up."""
    home = robot.home(robot.nominal)
    q = robot.inverse(robot.nominal, *home)[0]
    x, y, _ = (home.position[0].round(12) + 0.0).tolist()
    joints, closures = [Joint("platform", "planar", BASE, "platform")], []
    bodies: dict[str, list[Body]] = {"proximal": [], "distal": []}
    tied = {"proximal": np.ptp(robot.arm) == 0, "distal": np.ptp(robot.rod) == 0}
    for i, row in enumerate(robot.blueprint.tolist()):
        k, (motor_x, motor_y, zero, arm, rod, joint_x, joint_y) = str(i + 1), row
        turn = q[i] + zero
        end = np.array([x + joint_x - motor_x - arm * cos(turn), y + joint_y - motor_y - arm * sin(turn)])
        bend = float(np.arctan2(end[1], end[0]) - turn)
        drive = Freedom(float(q[i]), _ANY_TURN, Friction(k, dry=0.3, viscous=0.08))
        frame = Placement((motor_x, motor_y, 0.0), turned("z", zero))
        elbow = Placement((arm, 0.0, 0.0))
        joints += [
            Joint(f"q{k}", "revolute", BASE, f"proximal{k}", frame, freedoms=(drive,)),
            Joint(f"elbow{k}", "revolute", f"proximal{k}", f"distal{k}", elbow, freedoms=(Freedom(bend),)),
        ]
        ends = (Placement((rod, 0.0, 0.0)), Placement((joint_x, joint_y, 0.0)))
        closures.append(Closure(f"pin{k}", (f"distal{k}", "platform"), ends, HELD["planar point"]))
        for link, mass, span, rotor in (("proximal", 0.4, arm, 4e-3), ("distal", 0.25, rod, 0.0)):
            solid = Inertia.in_plane(mass, (mass * span / 2, 0.0), mass * span**2 / 3 + rotor)
            bodies[link].append(Body(f"{link}{k}", solid, link if tied[link] else ""))
    size = float((robot.platform**2).sum(axis=1).mean())
    plate = Body("platform", Inertia.in_plane(0.8, (0.0, 0.0), 0.8 * size / 2))
    return Mechanism(
        name,
        (*bodies["proximal"], plate, *bodies["distal"]),
        tuple(joints),
        tuple(closures),
        actuated=("q1", "q2", "q3"),
        platform=Platform("platform", ("x", "y", "yaw"), (x, y, 0.0)),
        gravity=(0.0, -gravity, 0.0),
        actuators=("motor 1", "motor 2", "motor 3"),
    )


@dataclass(frozen=True)
class ThreeRRR(ClosedChain):
    """A 3-RRR for identification: pose (x, y, yaw), three motors, in a vertical plane.

    Examples:
        >>> robot = ThreeRRR()
        >>> robot.forward(robot.inverse([0.02, 0.01, 0.1])).round(12)
        array([0.02, 0.01, 0.1 ])
    """

    geometry: PlanarGeometry = PlanarGeometry()
    variant: str = ""
    """There is only "bodies and drives"."""
    gravity: float = 9.81
    """Acceleration of gravity, along -y."""
    only: tuple[str, ...] = ()
    """Names of the parameters to keep; all by default."""
    least_margin: float = 1e-4
    """Poses with a smaller singularity margin are refused."""

    def __post_init__(self) -> None:
        self._check()

    @cached_property
    def mechanism(self) -> Mechanism:
        """The 7 bodies."""
        of = self.geometry
        blueprint = PlanarRRR.of_circles(of.base, of.platform, arm=of.proximal, rod=of.distal)
        return _mechanism(blueprint, "3-RRR", self.gravity)


@lru_cache(maxsize=4)
def _chain(form: str) -> Kernel:
    def ends(x: Any, position: Any, rotation: Any, reading: Any) -> tuple[Any, Any]:
        zero, arm, rod = ex.components(x[2:5])
        turn = reading + zero
        elbow = x[0:2] + arm * ex.vector(ex.cos(turn), ex.sin(turn))
        d = position[0:2] + rotation[0:2, 0:2] @ x[5:7] - elbow
        return d, rod

    return rod_trace(ends, form, "planar_chain", 7)
