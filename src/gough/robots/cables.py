"""Cable and belt machines: any number of anchors, in space or in a plane, more cables than freedoms allowed."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.core.rotations import exp
from gough.kernels import Kernel
from gough.kernels import expression as ex
from gough.robots._candidates import Candidates
from gough.robots.kinematics import (
    HEADING,
    Columns,
    PlatformPoses,
    all_derivatives,
    as_guess,
    checked,
    checked_pose,
    checked_readings,
    evaluate_chains,
    rod_trace,
)

_STEPS = 80
_STILL = 1e-11
_ROUGH = 1e-3
_FLAT = 0.05
"""Anchors are taken as lying in one plane if their smallest extent is below this share of their largest."""


@dataclass(frozen=True, eq=False)
class CableRobot(ArrayValue):
    """Cables or belts from anchors a_i to points b_i of a platform, with |R b_i + p − a_i| = l_i + g_i·reading.

    A Hangprinter has four anchors in space, a Maslow two or four in a plane. Without `points` all cables meet in one
    point, and the machine does not turn. With more cables than freedoms the readings alone show the anchors
    (`calibrate_by_instruments`).

    Examples:
        >>> machine = CableRobot.hangprinter()
        >>> readings = machine.inverse(machine.nominal, [0.3, -0.2, 0.5])
        >>> machine.forward(machine.nominal, readings).position.round(9)
        array([[ 0.3, -0.2,  0.5]])
    """

    anchors: Array
    """a_i (cables, 3), or (cables, 2) in a plane, m."""
    points: Array | None = None
    """b_i, likewise, in the platform's frame; None: all cables meet in its origin, and it does not turn."""
    length: Array | float = 0.0
    """l_i: length of each cable at reading zero, or one for all, m."""
    gain: Array | float = 1.0
    """g_i: m of cable per unit of reading, or one for all."""
    gains: bool = False
    """Whether gains are among the parameters."""
    buildup: float | None = None
    """c: line that is wound on a spool makes it thicker, so that a cable is l + g·reading + c·reading² long; a
    parameter if stated, common to all cables, m per unit squared."""
    elongation: float | None = None
    """e: strain per newton of tension, common to all cables: a cable is 1 + e·load times as long; a parameter if
    stated."""
    reading_unit: str = "m"
    home: Array | None = None
    """A position inside the workspace, where searches begin; default: the middle of the anchors, or half their
    distance below two."""
    name: str = "cable robot"

    def __post_init__(self) -> None:
        anchors = array(self.anchors, "anchors", ndim=2)
        n, dim = anchors.shape
        require(dim in (2, 3), f"anchors must hold a point (x, y, z) or (x, y) for each cable, not {anchors.shape}")
        require(bool(np.isfinite(anchors).all()), "anchors must be finite")
        object.__setattr__(self, "anchors", anchors)
        if self.points is not None:
            points = array(self.points, "points", ndim=2)
            fits = points.shape == anchors.shape and bool(np.isfinite(points).all())
            require(fits, f"points must be finite, one for each of {n} anchors: ({n}, {dim}), not {points.shape}")
            object.__setattr__(self, "points", points)
        need = len(self.freedoms)
        require(n >= need, f"{need} freedoms need at least {need} cables, but there are {n} anchors")
        for name in ("length", "gain"):
            values = array(getattr(self, name), name, ndim=(0, 1))
            require(values.size in (1, n), f"{name} must be one number, or one for each of {n} cables")
            require(bool(np.isfinite(values).all()), f"{name} must be finite")
            object.__setattr__(self, name, np.broadcast_to(values, (n,)))
        require(bool((np.asarray(self.gain) != 0).all()), "a gain of zero: the reading would not tell the length")
        for name in ("buildup", "elongation"):
            value = getattr(self, name)
            require(value is None or bool(np.isfinite(value)), f"{name} must be a finite number, or None")
        if self.home is not None:
            home = array(self.home, "home", ndim=1)
            require(home.shape == (dim,) and bool(np.isfinite(home).all()), f"home must be {dim} finite numbers")
            object.__setattr__(self, "home", home)

    @classmethod
    def hangprinter(cls, radius: float = 1.5, height: float = 2.4, below: float = 0.1, **options: Any) -> "CableRobot":
        """Three anchors on a circle below the nozzle's plane and one above its middle; readings are lengths of line.

        Reading zero is at the origin, as a Hangprinter counts.

        Examples:
            >>> CableRobot.hangprinter().inverse(CableRobot.hangprinter().nominal, [0.0, 0.0, 0.0]).round(9) + 0.0
            array([[0., 0., 0., 0.]])
        """
        angles = np.radians([270.0, 30.0, 150.0])
        low = np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.full(3, -below)])
        anchors = np.vstack([low, [0.0, 0.0, height]])
        options = {
            "length": np.linalg.norm(anchors, axis=1),
            "home": [0.0, 0.0, height / 4],
            "name": "Hangprinter",
        } | options
        return cls(anchors, **options)

    @classmethod
    def maslow(cls, width: float = 3.0, height: float = 2.0, belts: int = 4, **options: Any) -> "CableRobot":
        """Belts from the corners of a rectangle to a sled in its plane: the upper two, or all four.

        Examples:
            >>> CableRobot.maslow(belts=2).freedoms
            (0, 1)
        """
        require(belts in (2, 4), f"a Maslow has two or four belts, not {belts}")
        x, y = width / 2, height / 2
        corners = np.array([[-x, y], [x, y], [x, -y], [-x, -y]])[:belts]
        return cls(corners, **({"name": "Maslow", "home": [0.0, 0.0]} | options))

    @property
    def dimensions(self) -> int:
        """3 in space, 2 in a plane."""
        return int(self.anchors.shape[1])

    @property
    def chains(self) -> tuple[str, ...]:
        """The cables."""
        return tuple(f"cable {i + 1}" for i in range(len(self.anchors)))

    @cached_property
    def _stems(self) -> tuple[str, ...]:
        axes = "xyz"[: self.dimensions]
        points = tuple(f"b{{}}{axis}" for axis in axes) if self.points is not None else ()
        return (*(f"a{{}}{axis}" for axis in axes), *points, "l{}", *(("g{}",) if self.gains else ()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Cable by cable: a, perhaps b, l and perhaps g; then what all cables share."""
        own = tuple(stem.format(i + 1) for i in range(len(self.anchors)) for stem in self._stems)
        return (*own, *self._common)

    @property
    def _common(self) -> tuple[str, ...]:
        return tuple(name for name in ("buildup", "elongation") if getattr(self, name) is not None)

    @property
    def units(self) -> tuple[str, ...]:
        """Metres, metres per unit of reading, and 1/N."""
        per = {"g": f"m/{self.reading_unit}"}
        own = tuple(per.get(name[0], "m") for name in self.names[: len(self.names) - len(self._common)])
        common = {"buildup": f"m/{self.reading_unit}²", "elongation": "1/N"}
        return (*own, *(common[name] for name in self._common))

    @property
    def zeros(self) -> tuple[str, ...]:
        """The lengths l_i."""
        return tuple(f"l{i + 1}" for i in range(len(self.anchors)))

    @property
    def nominal(self) -> Array:
        """The blueprint."""
        parts = [self.anchors, *([] if self.points is None else [self.points]), np.asarray(self.length)[:, None]]
        parts += [np.asarray(self.gain)[:, None]] if self.gains else []
        return np.concatenate([np.hstack(parts).reshape(-1), [getattr(self, name) for name in self._common]])

    def with_values(self, parameters: Any) -> "CableRobot":
        """The machine whose blueprint these parameters are.

        Examples:
            >>> machine = CableRobot.maslow(gains=True, buildup=0.0)
            >>> bool((machine.with_values(machine.nominal + 1e-3).nominal == machine.nominal + 1e-3).all())
            True
        """
        theta = checked(self, parameters)
        n, k, dim = len(self.anchors), len(self._stems), self.dimensions
        rows, common = theta[: n * k].reshape(n, k), dict(zip(self._common, theta[n * k :].tolist(), strict=True))
        return replace(
            self,
            anchors=rows[:, :dim],
            points=None if self.points is None else rows[:, dim : 2 * dim],
            length=rows[:, k - (2 if self.gains else 1)],
            gain=rows[:, -1] if self.gains else self.gain,
            **common,
        )

    @cached_property
    def columns(self) -> Columns:
        """Each cable has parameters of its own, and the common ones."""
        n, k = len(self.anchors), len(self._stems)
        common = np.arange(n * k, n * k + len(self._common))
        return np.hstack([np.arange(n * k).reshape(n, k), np.tile(common, (n, 1))])

    @property
    def freedoms(self) -> tuple[int, ...]:
        """It moves along x, y and z, or in the plane; a platform with several points turns too."""
        if self.points is None:
            return tuple(range(self.dimensions))
        return (0, 1, 2, 3, 4, 5) if self.dimensions == 3 else (0, 1, HEADING)

    @property
    def has_orientation(self) -> bool:
        """Whether it turns."""
        return self.points is not None

    @property
    def mechanism(self) -> NoReturn:
        """Refused: cables are no rigid links."""
        raise InputError(f"a {self.name} has no mechanism of rigid bodies and joints: it is calibrated, not identified")

    def chain_kernel(self, form: str = "squared") -> Kernel:
        """|R b + p − a|² − L², or the difference of the lengths where form is "length"; without load."""
        return _cable(form, self._options, loaded=False)

    def loaded_kernel(self) -> Kernel:
        """The difference of the lengths, with one more entry of x: the tension of the cable, N."""
        require(self.elongation is not None, "a cable robot whose cables do not stretch has no use for their loads")
        return _cable("length", self._options, loaded=True)

    @property
    def _options(self) -> "_Options":
        same = None
        if not self.gains:
            gain = np.asarray(self.gain)
            same = float(gain[0])
            require(
                bool((gain == same).all()),
                "cables with different known gains: multiply their readings by them, or release them (gains=True)",
            )
        return _Options(
            self.dimensions, self.has_orientation, same, self.buildup is not None, self.elongation is not None
        )

    def inverse(self, parameters: Any, position: Any, rotation: Any = None) -> Array:
        """Readings (N, cables) at poses, without load."""
        theta, poses = checked(self, parameters), checked_pose(position, rotation)
        n, k, dim = len(self.anchors), len(self._stems), self.dimensions
        rows = theta[: n * k].reshape(n, k)
        ends = np.broadcast_to(poses.position[:, None, :dim], (len(poses.position), n, dim))
        if self.points is not None:
            ends = ends + np.einsum("nij,cj->nci", poses.rotation[:, :dim, :dim], rows[:, dim : 2 * dim])
        rest = np.linalg.norm(ends - rows[:, :dim], axis=2) - rows[:, k - (2 if self.gains else 1)]
        gain = rows[:, -1] if self.gains else np.asarray(self.gain)
        if self.buildup is None:
            return np.asarray(rest / gain)
        c = theta[n * k]
        root = gain**2 + 4 * c * rest
        bad = (root <= 0).any(axis=1)
        require(
            not bad.any(),
            f"pose {int(bad.argmax())}: a spool has not as much line: check buildup ({int(bad.sum())} poses)",
        )
        return np.asarray(2 * rest / (gain + np.sign(gain) * np.sqrt(root)))

    def forward(self, parameters: Any, readings: Any, guess: PlatformPoses | None = None) -> PlatformPoses:
        """Poses at readings (N, cables): those at which the lengths fit best, by least squares from a guess."""
        return self._fitted(parameters, readings, guess, _STILL)

    def rough_poses(self, parameters: Any, readings: Any) -> PlatformPoses:
        """Poses near those of `forward`, where a search begins: to about 1e-3 of the distances between anchors."""
        return self._fitted(parameters, readings, None, _ROUGH * float(np.ptp(self.anchors, axis=0).max()))

    def _fitted(self, parameters: Any, readings: Any, guess: PlatformPoses | None, still: float) -> PlatformPoses:
        """Poses by Gauss–Newton, until a step is smaller than `still` (m and rad)."""
        theta, values = checked(self, parameters), checked_readings(self, readings)
        start = as_guess(self._first_guess(theta, values) if guess is None else guess, len(values))
        p, R = start.position.copy(), start.rotation.copy()
        free, derivatives = list(self.freedoms), all_derivatives(self.chain_kernel("length"))
        largest = 0.2 * float(np.ptp(self.anchors, axis=0).max())
        todo = np.arange(len(values))
        for _ in range(_STEPS):
            f = evaluate_chains(derivatives, self.columns, theta, PlatformPoses(p[todo], R[todo]), values[todo])
            J, r = f["by_pose"][..., free], f["residual"]
            good = np.isfinite(J).all(axis=(1, 2)) & np.isfinite(r).all(axis=1)
            step = np.zeros((len(todo), 6))
            H = np.swapaxes(J[good], 1, 2) @ J[good]
            H += 1e-14 * np.trace(H, axis1=1, axis2=2)[:, None, None] * np.eye(len(free))
            g = np.swapaxes(J[good], 1, 2) @ r[good][..., None]
            step[np.flatnonzero(good)[:, None], free] = -np.linalg.solve(H, g)[..., 0]
            size = np.linalg.norm(step[:, :3], axis=1) / largest
            size = np.maximum(size, np.linalg.norm(step[:, 3:], axis=1) / 0.3)
            step /= np.maximum(size, 1.0)[:, None]
            p[todo] += step[:, :3]
            if self.has_orientation:
                R[todo] = exp(step[:, 3:]) @ R[todo]
            moving = ~good | (abs(step).max(axis=1) > still)
            todo = todo[moving]
            if not todo.size:
                return PlatformPoses(p, R)
        raise InputError(
            f"sample {todo[0]}: no pose is found at the readings {np.array2string(values[todo[0]], precision=5)} "
            f"({todo.size} of {len(values)} samples): check the readings' unit, sign and order of the cables, the "
            "anchors, or state home, a position inside the workspace"
        )

    def _first_guess(self, theta: Array, readings: Array) -> PlatformPoses:
        """Where differences of squared lengths, which are linear in the position, put a point; else home.

        One cable more than coordinates is needed, and anchors that do not lie in one plane, or on a line.
        """
        n, k, dim = len(self.anchors), len(self._stems), self.dimensions
        if self.points is not None or n <= dim or not self.reading_is_linear:
            return self._home()
        rows = theta[: n * k].reshape(n, k)
        lengths = rows[:, -1] + np.asarray(self.gain) * readings
        a = rows[:, :dim] - rows[:, :dim].mean(axis=0)
        U, s, Vt = np.linalg.svd(2 * a, full_matrices=False)
        if not s[-1] > _FLAT * s[0]:
            return self._home()
        squares = (rows[:, :dim] ** 2).sum(axis=1) - lengths**2
        place = (squares - squares.mean(axis=1, keepdims=True)) @ U / s @ Vt
        found = np.zeros((len(readings), 3))
        found[:, :dim] = place
        good = np.isfinite(place).all(axis=1)
        found[~good] = self._home().position
        return PlatformPoses(found, np.repeat(np.eye(3)[None], len(readings), axis=0))

    @property
    def reading_is_linear(self) -> bool:
        """Whether derivatives of the cables' equations as lengths do not depend on the readings."""
        return not self.gains and self.buildup is None and self.elongation is None

    def _home(self) -> PlatformPoses:
        middle = np.zeros(3)
        if self.home is not None:
            middle[: self.dimensions] = self.home
        else:
            middle[: self.dimensions] = self.anchors.mean(axis=0)
            if len(self.anchors) == self.dimensions:  # on their line or plane the position is not determined
                middle[self.dimensions - 1] -= float(np.ptp(self.anchors, axis=0).max()) / 2
        return PlatformPoses(middle[None], np.eye(3)[None])

    def mode_candidates(self, parameters: Array, readings: Array) -> Candidates:
        """Refused: with more cables than freedoms, poses are fitted, not solved for."""
        del parameters, readings
        raise InputError(f"assembly modes of a {self.name} are not computed: its poses are fitted to all cables")


class _Options(NamedTuple):
    """What the equation of a cable contains."""

    dim: int
    turns: bool
    gain: float | None
    """None: it is a parameter."""
    buildup: bool
    elongation: bool


@lru_cache(maxsize=32)
def _cable(form: str, options: _Options, *, loaded: bool) -> Kernel:
    """The residual of a cable; with its gain among the parameters where none is given."""
    dim, turns, gain, buildup, elongation = options
    k = dim * (2 if turns else 1) + 1 + (gain is None) + buildup + elongation

    def ends(x: Any, position: Any, rotation: Any, reading: Any) -> tuple[Any, Any]:
        rest = ex.components(x[dim * (2 if turns else 1) :])
        end = position[0:dim] + rotation[0:dim, 0:dim] @ x[dim : 2 * dim] if turns else position[0:dim]
        d = end - x[0:dim]
        length = rest.pop(0) + (rest.pop(0) if gain is None else gain) * reading
        if buildup:
            length = length + rest.pop(0) * reading**2
        if loaded:
            length = length * (1 + rest[0] * rest[1])
        return d, length

    return rod_trace(ends, form, "loaded_cable" if loaded else "cable", k + loaded)
