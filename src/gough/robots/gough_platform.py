"""The Gough platform: six legs between a base and a platform, each with a length sensor."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.core.rotations import from_quaternion
from gough.kernels import Kernel
from gough.robots._candidates import Candidates
from gough.robots._soma import all_poses, as_motion, count_distinct
from gough.robots.hexapod import strut_mechanism
from gough.robots.kinematics import (
    Columns,
    PlatformPoses,
    PoseFinder,
    as_guess,
    checked,
    checked_pose,
    checked_readings,
    rod_trace,
)
from gough.robots.mechanism.description import Mechanism

_TABLE_1 = (
    (-223.1792, -151.9573, 0.0, -19.9938, -193.9723, 0.0, 345.0),
    (223.1792, -151.9573, 0.0, 19.9938, -193.9723, 0.0, 345.0),
    (243.1885, -117.3002, 0.0, 177.9818, 79.6710, 0.0, 345.0),
    (20.0093, 269.2575, 0.0, 157.9880, 114.3013, 0.0, 345.0),
    (-20.0093, 269.2575, 0.0, -157.9880, 114.3013, 0.0, 345.0),
    (-243.1885, -117.3002, 0.0, -177.9818, 79.6710, 0.0, 345.0),
)
"""The DeltaLab platform's blueprint in mm [DACP06, Table 1]: a, b, l of each leg."""

_NEARLY_REAL = 1e-5
"""Imaginary parts, relative to the largest coordinate, below which Newton's method decides whether a pose is real."""


@dataclass(frozen=True, eq=False)
class GoughPlatform(ArrayValue):
    """Legs from a_i on the base to b_i on the platform, with |R b_i + p − a_i| = l_i + g_i·reading [DACP06, eq. (1)].

    Seven parameters a leg: a_i in the base's frame, b_i in the platform's, and the length l_i at reading zero; an
    eighth one, the gain g_i, where `gains` is true and the sensors do not count in known lengths.

    Examples:
        >>> robot = GoughPlatform.deltalab()
        >>> len(robot.names), robot.names[:7]
        (42, ('a1x', 'a1y', 'a1z', 'b1x', 'b1y', 'b1z', 'l1'))
        >>> readings = robot.inverse(robot.nominal, [0.0, 0.0, 0.33])
        >>> readings.round(4)
        array([[0.0448, 0.0448, 0.0448, 0.0448, 0.0448, 0.0448]])
        >>> robot.forward(robot.nominal, readings).position.round(6) + 0.0
        array([[0.  , 0.  , 0.33]])
    """

    base: Array
    """a_i (legs, 3), m."""
    platform: Array
    """b_i (legs, 3), m."""
    length: Array
    """l_i (legs), m, or one for all."""
    gain: Array = field(default_factory=lambda: np.ones(1))
    """g_i (legs): m of length per unit of reading, or one for all."""
    gains: bool = False
    """Whether gains are among the parameters."""
    reading_unit: str = "m"
    name: str = "Gough platform"

    def __post_init__(self) -> None:
        for name in ("base", "platform"):
            points = array(getattr(self, name), name, ndim=2)
            require(points.shape[1:] == (3,), f"{name} must hold a point (x, y, z) for each leg, not {points.shape}")
            require(bool(np.isfinite(points).all()), f"the points of the {name} must be finite")
            object.__setattr__(self, name, points)
        n = len(self.base)
        require(len(self.platform) == n, f"the base has {n} joints, but the platform has {len(self.platform)}")
        for name in ("length", "gain"):
            values = array(getattr(self, name), name, ndim=(0, 1))
            require(values.size in (1, n), f"{name} must be one number, or one for each of {n} legs")
            object.__setattr__(self, name, np.broadcast_to(values, (n,)))
        require(bool((self.gain != 0).all()), "a gain of zero: the reading would not tell the length")

    @classmethod
    def deltalab(cls) -> "GoughPlatform":
        """The platform of [DACP06, Table 1]; its legs read 0 to 0.14 m."""
        rows = np.array(_TABLE_1) / 1000
        return cls(rows[:, :3], rows[:, 3:6], rows[:, 6], name="DeltaLab platform")

    @cached_property
    def chains(self) -> tuple[str, ...]:
        """The legs."""
        return tuple(f"leg {i + 1}" for i in range(len(self.base)))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Leg by leg: a, b, l and perhaps g."""
        stems = ("a{}x", "a{}y", "a{}z", "b{}x", "b{}y", "b{}z", "l{}", *(("g{}",) if self.gains else ()))
        return tuple(stem.format(i + 1) for i in range(len(self.base)) for stem in stems)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """Metres, and metres per unit of reading."""
        return tuple(f"m/{self.reading_unit}" if name[0] == "g" else "m" for name in self.names)

    @property
    def zeros(self) -> tuple[str, ...]:
        """The lengths l_i."""
        return tuple(f"l{i + 1}" for i in range(len(self.base)))

    @property
    def nominal(self) -> Array:
        """The blueprint, leg by leg."""
        parts = [self.base, self.platform, self.length[:, None], *([self.gain[:, None]] if self.gains else [])]
        return np.hstack(parts).reshape(-1)

    @property
    def columns(self) -> Columns:
        """Each leg has parameters of its own."""
        return np.arange(len(self.names)).reshape(len(self.base), -1)

    @property
    def freedoms(self) -> tuple[int, ...]:
        """All six."""
        return (0, 1, 2, 3, 4, 5)

    @property
    def has_orientation(self) -> bool:
        """It turns."""
        return True

    @property
    def mechanism(self) -> Mechanism:
        """The robot of the blueprint as bodies, joints and closures; its coordinates are gain · reading, in m.

        It stands as if every leg were a fifth longer than at reading zero. Masses are those of a small motion platform.
        """
        home = self.home(self.nominal, 0.2 * self.length / self.gain)
        x, y, z = (home.position[0].round(12) + 0.0).tolist()
        joints = (self.base, self.platform)
        return strut_mechanism(self.name, joints, (x, y, z, 0.0, 0.0, 0.0), zero=np.asarray(self.length))

    def rows(self, parameters: Any) -> Array:
        """Parameters leg by leg (legs, 8): a, b, l, g."""
        table = checked(self, parameters).reshape(len(self.base), -1)
        return table if self.gains else np.column_stack([table, self.gain])

    def parameters(self, rows: Array) -> Array:
        """The parameters of a table (legs, 8)."""
        return np.asarray(rows[:, : 8 if self.gains else 7]).reshape(-1)

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|R b + p − a|² − (l + g·reading)², or the difference of the lengths where form is "length"."""
        if self.gains:
            return _leg(form, None)
        same = bool((self.gain == self.gain[0]).all())
        require(same, "legs with different known gains: multiply their readings by them, or release them (gains=True)")
        return _leg(form, float(self.gain[0]))

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, legs) at poses."""
        rows = self.rows(parameters)
        poses = checked_pose(position, rotation)
        d = poses.position[:, None] + np.einsum("nij,lj->nli", poses.rotation, rows[:, 3:6]) - rows[:, :3]
        return np.asarray((np.linalg.norm(d, axis=2) - rows[:, 6]) / rows[:, 7])

    def forward(self, parameters: Any, readings: Any, guess: PlatformPoses | None = None) -> PlatformPoses:
        """Poses at readings (N, legs), by Newton's method from a guess; six legs.

        Without a guess the search begins with the platform over the base, not turned, as high as the legs reach.
        """
        require(len(self.base) == 6, f"six legs hold a platform; with {len(self.base)} its pose is another problem")
        theta, values = checked(self, parameters), checked_readings(self, readings)
        start = as_guess(self.home(theta, values) if guess is None else guess, len(values))
        at_start = self.inverse(theta, start.position, start.rotation)
        finder = PoseFinder.of(self, largest=0.06)
        return finder.find(theta, values, start, at_start, same_side=guess is None)

    def home(self, parameters: Any, readings: Any) -> PlatformPoses:
        """Poses (N) not turned, centered over the base, as high as the mean leg reaches at the readings."""
        rows = self.rows(parameters)
        lengths = (rows[:, 6] + rows[:, 7] * checked_readings(self, readings)).mean(axis=1)
        offset = rows[:, :3].mean(axis=0) - rows[:, 3:6].mean(axis=0)
        across = np.linalg.norm((rows[:, 3:5] + offset[:2] - rows[:, :2]), axis=1)
        short = lengths <= across.mean()
        if short.any():
            raise InputError(
                f"sample {int(short.argmax())}: legs of {lengths[short][0]:.3g} m do not bridge the "
                f"{across.mean():.3g} m between the joints of base and platform: the robot cannot be assembled. "
                "Check the blueprint, and the unit of lengths and readings (m)"
            )
        position = np.repeat(offset[None], len(lengths), axis=0)
        position[:, 2] += np.sqrt(lengths**2 - across.mean() ** 2)
        return PlatformPoses(position, np.repeat(np.eye(3)[None], len(lengths), axis=0))

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """The ends of 40 complex paths, those near a real pose marked."""
        require(len(self.base) == 6, f"assembly modes are known for six legs, not for {len(self.base)}")
        rows = self.rows(parameters)
        a, b = rows[:, :3], rows[:, 3:6]
        paths = all_poses(a, b, rows[:, 6] + rows[:, 7] * readings)
        quaternion, position, imaginary = as_motion(paths.x, a, b)
        ended = np.asarray((paths.arrived | paths.infinite).all(axis=1))
        for k in np.flatnonzero(ended):
            finite = paths.x[k][paths.arrived[k]]
            ended[k] = count_distinct(finite) == len(finite)
        return Candidates(position, from_quaternion(quaternion), paths.arrived & (imaginary < _NEARLY_REAL), ended)

    @classmethod
    def of_circles(
        cls,
        base_radius: float,
        platform_radius: float,
        base_angles: Sequence[float],
        platform_angles: Sequence[float],
        length: Any,
        **options: Any,
    ) -> "GoughPlatform":
        """A platform with joints on two circles, at angles in rad.

        Examples:
            >>> angles = np.radians([0, 60, 120, 180, 240, 300])
            >>> GoughPlatform.of_circles(0.4, 0.2, angles, angles, 0.5).base[0].tolist()
            [0.4, 0.0, 0.0]
        """
        points = [
            radius * np.column_stack([np.cos(angles), np.sin(angles), np.zeros(len(angles))])
            for radius, angles in ((base_radius, base_angles), (platform_radius, platform_angles))
        ]
        return cls(points[0], points[1], length, **options)


@lru_cache(maxsize=16)
def _leg(form: str, gain: float | None) -> Kernel:
    """The residual of a leg; with its gain among the unknowns where none is given."""

    def ends(x: Any, position: Any, rotation: Any, reading: Any) -> tuple[Any, Any]:
        d = position + rotation @ x[3:6] - x[0:3]
        length = x[6] + (x[7] if gain is None else gain) * reading
        return d, length

    return rod_trace(ends, form, "leg", 8 if gain is None else 7)
