"""The linear delta: three carriages on vertical towers carry a platform that never turns, as in 3-D printers."""

from dataclasses import dataclass
from functools import lru_cache
from math import pi
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.kernels import Kernel, trace
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates, of_spheres
from gough.robots.delta import DeltaParts, plate
from gough.robots.delta_family.description import RodPairs
from gough.robots.kinematics import Columns, PlatformPoses, checked, checked_pose, checked_readings, rod_trace
from gough.robots.mechanism.description import Mechanism
from gough.robots.mechanism.inertia import Inertia
from gough.robots.mechanism.parts import BASE, Body, Freedom, Friction, Joint, Limits
from gough.robots.mechanism.placement import Placement, turned

_TOWERS = ("a", "b", "c")


@dataclass(frozen=True, eq=False)
class LinearDelta(ArrayValue):
    """Three towers at `radius` and `angle`, whose carriages hang arms of length `arm` to the nozzle.

    Ten parameters, as Klipper counts them: `endstop` is the height of the nozzle, at x = y = 0, when that tower's
    carriage is at its endstop; a reading is how far the carriage is below its endstop. The radius is that of the
    towers less that of the platform.

    Examples:
        >>> printer = LinearDelta()
        >>> readings = printer.inverse(printer.nominal, [0.0, 0.0, 0.1])
        >>> readings.round(4)
        array([[0.3, 0.3, 0.3]])
        >>> printer.forward(printer.nominal, readings + [[0.0, 0.01, 0.0]]).position.round(4)
        array([[-0.011 ,  0.0063,  0.097 ]])
    """

    radius: float = 0.16
    arm: Array | float = 0.345
    """m, one for all or one each."""
    endstop: Array | float = 0.4
    """m, one for all or one each."""
    angle: Array | tuple[float, ...] = (7 * pi / 6, 11 * pi / 6, pi / 2)
    """rad, of each tower."""
    name: str = "linear delta"

    def __post_init__(self) -> None:
        for field in ("arm", "endstop", "angle"):
            values = array(getattr(self, field), field, ndim=(0, 1))
            require(values.size in (1, 3), f"{field} must be one number, or one for each of 3 towers")
            object.__setattr__(self, field, np.broadcast_to(values, (3,)))
        array(self.radius, "radius", ndim=0)
        short = bool((np.asarray(self.arm) <= self.radius).any())
        require(
            self.radius > 0 and not short,
            f"arms of {np.min(self.arm):g} m cannot reach the middle from a radius of {self.radius:g} m: the printer "
            "cannot be assembled; check the blueprint's units (m)",
        )

    @property
    def chains(self) -> tuple[str, ...]:
        """The towers."""
        return tuple(f"tower {name}" for name in _TOWERS)

    @property
    def names(self) -> tuple[str, ...]:
        """Endstops, radius, angles, arms."""
        return (*self.zeros, "radius", *(f"angle_{t}" for t in _TOWERS), *(f"arm_{t}" for t in _TOWERS))

    @property
    def units(self) -> tuple[str, ...]:
        """Metres and radians."""
        return ("m",) * 4 + ("rad",) * 3 + ("m",) * 3

    @property
    def zeros(self) -> tuple[str, ...]:
        """The endstops."""
        return tuple(f"endstop_{t}" for t in _TOWERS)

    @property
    def nominal(self) -> Array:
        """The blueprint."""
        return np.concatenate([np.asarray(self.endstop), [self.radius], np.asarray(self.angle), np.asarray(self.arm)])

    @property
    def columns(self) -> Columns:
        """Endstop, radius, angle and arm of each tower: the radius is common."""
        return np.array([[i, 3, 4 + i, 7 + i] for i in range(3)])

    @property
    def freedoms(self) -> tuple[int, ...]:
        """It moves along x, y and z."""
        return (0, 1, 2)

    @property
    def has_orientation(self) -> bool:
        """It never turns."""
        return False

    @property
    def reading_unit(self) -> str:
        """Metres."""
        return "m"

    @property
    def mechanism(self) -> Mechanism:
        """The printer of the blueprint as bodies, joints and closures: carriages, pairs of arms and a platform.

        It stands in the middle, as high as half its endstops. Masses are those of a small printer.
        """
        endstop, radius, angle, arm = np.split(self.nominal, [3, 4, 7])
        home = np.array([0.0, 0.0, endstop.mean() / 2])
        out = np.column_stack([np.cos(angle), np.sin(angle)])
        parts = DeltaParts(rod_mass=0.02, rod_radius=0.003, spacing=0.06, platform_mass=0.15)
        attachments = 0.03 * out  # the platform's radius is part of the towers'
        top = plate(parts.platform_mass, attachments, home)
        towers = radius * out + attachments
        tops = endstop + np.sqrt(arm**2 - radius**2)
        q = self.inverse(self.nominal, home)[0]
        joints, names = list(top.joints), [f"carriage{t}" for t in _TOWERS]
        for k, name in enumerate(names):
            at = Placement((towers[k, 0], towers[k, 1], tops[k]), turned("z", angle[k]))
            free = Freedom(float(q[k]), Limits(0.0, float(endstop[k])), Friction(_TOWERS[k], dry=1.0, viscous=5.0))
            joints.append(Joint(f"q_{_TOWERS[k]}", "prismatic", BASE, name, at, (0.0, 0.0, -1.0), freedoms=(free,)))
        starts = ((0.0, 0.0, 0.0),) * 3
        pairs = RodPairs(tuple(names), starts, tuple(arm.tolist()), tuple(angle.tolist()), top.carriers, parts)
        ends = np.array([carrier.at_home for carrier in top.carriers])
        hooks, rods, balls = pairs.parts(ends - np.column_stack([towers, tops - q]), np.zeros(3))
        carriages = (Body(name, Inertia(0.1, moments=(1e-4,) * 3, symmetry="center"), "carriage") for name in names)
        return Mechanism(
            self.name,
            (*carriages, *top.bodies, *rods),
            (*joints, *hooks),
            tuple(balls),
            actuated=tuple(f"q_{t}" for t in _TOWERS),
            platform=top.platform,
            actuators=self.chains,
        )

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|p − carriage|² − arm², or the difference of the lengths where form is "length"."""
        return _tower(form)

    def position_kernel(self) -> Kernel:
        """From (x (10), readings (3)): the nozzle's `position`, below the carriages."""
        return _position()

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, 3) at positions."""
        endstop, radius, angle, arm = np.split(checked(self, parameters), [3, 4, 7])
        p = checked_pose(position, rotation).position
        tower = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        square = arm**2 - ((p[:, None, :2] - tower) ** 2).sum(axis=2)
        bad = (square < 0).any(axis=1)
        if bad.any():
            raise InputError(
                f"pose {int(bad.argmax())} cannot be reached, arms are too short ({int(bad.sum())} of {len(p)} poses): "
                "check that positions are in m and in the printer's frame"
            )
        return np.asarray(endstop + np.sqrt(arm**2 - radius**2) - p[:, 2:] - np.sqrt(square))

    def forward(self, parameters: Any, readings: Any, guess: PlatformPoses | None = None) -> PlatformPoses:
        """Positions at readings (N, 3), in closed form: the guess only makes all robots alike."""
        assert guess is None or len(guess) == 2
        values = checked_readings(self, readings)
        p = self.position_kernel()(checked(self, parameters), values)
        bad = ~np.isfinite(p).all(axis=1)
        if bad.any():
            raise InputError(
                f"sample {int(bad.argmax())}: the arms do not meet at these readings ({int(bad.sum())} of {len(p)} "
                "samples); check the readings' unit (m) and the order of the towers"
            )
        return PlatformPoses(p, np.repeat(np.eye(3)[None], len(p), axis=0))

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """The two points where three spheres about the carriages meet, below and above."""
        endstop, radius, angle, arm = np.split(checked(self, parameters), [3, 4, 7])
        height = endstop + np.sqrt(arm**2 - radius**2) - readings
        across = np.broadcast_to(radius * np.stack([np.cos(angle), np.sin(angle)], axis=1), (len(readings), 3, 2))
        return of_spheres(np.concatenate([across, height[..., None]], axis=2), arm)


def _carriage(x: Any, reading: Any) -> Any:
    endstop, radius, angle, arm = ex.components(x)
    height = endstop + ex.sqrt(arm**2 - radius**2) - reading
    return ex.vector(radius * ex.cos(angle), radius * ex.sin(angle), height)


@lru_cache(maxsize=4)
def _tower(form: str) -> Kernel:
    def ends(x: Any, position: Any, _rotation: Any, reading: Any) -> tuple[Any, Any]:
        d = position - _carriage(x, reading)
        return d, x[3]

    return rod_trace(ends, form, "tower", 4)


@lru_cache(maxsize=1)
def _position() -> Kernel:
    """Where three spheres meet, on the lower side."""

    def position(x: Any, readings: Any) -> Any:
        chains = [ex.vector(x[i], x[3], x[4 + i], x[7 + i]) for i in range(3)]
        A, B, C = (_carriage(chain, readings[i]) for i, chain in enumerate(chains))
        r = [chain[3] for chain in chains]
        across = B - A
        d = ex.norm(across)
        e_x = across / d
        i = ex.dot(e_x, C - A)
        rest = C - A - i * e_x
        j = ex.norm(rest)
        e_y = rest / j
        e_z = ex.cross(e_x, e_y)
        u = (r[0] ** 2 - r[1] ** 2 + d**2) / (2 * d)
        v = (r[0] ** 2 - r[2] ** 2 + i**2 + j**2 - 2 * i * u) / (2 * j)
        w = ex.sqrt(r[0] ** 2 - u**2 - v**2)
        return {"position": A + u * e_x + v * e_y - ex.copysign(w, e_z[2]) * e_z}

    return trace(position, name="linear_delta_position", inputs={"x": 10, "readings": 3})
