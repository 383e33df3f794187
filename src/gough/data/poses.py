"""Measured poses of a platform with the readings of its sensors: what geometric calibration is made of."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arguments import texts
from gough.core.arrays import Array, ArrayValue, array, first_not_finite
from gough.core.errors import require
from gough.core.rotations import exp, is_rotation, log
from gough.core.tables import table
from gough.core.text import number, pose_label
from gough.core.units import SMALLEST

Labels = npt.NDArray[np.int64]
_ASYMMETRY = 1e-6
"""Tolerance of a matrix of correlations: files have at least six digits."""
_FAR = 8.0
"""Times the usual deviation, over all axes of a pose; normal errors of thousands of measurements reach three."""


@dataclass(frozen=True, eq=False)
class Poses(ArrayValue):
    """N poses of a platform as some instrument saw them, and what the robot's own sensors read there.

    Examples:
        >>> poses = Poses([[0.0, 0.0, 0.3], [0.01, 0.0, 0.3]], None, [[0.1, 0.2, 0.3], [0.1, 0.2, 0.4]])
        >>> len(poses), poses.n_chains, poses.select([1]).position
        (2, 3, array([[0.01, 0.  , 0.3 ]]))
    """

    position: Array
    """(N, 3), m."""
    rotation: Array | None
    """(N, 3, 3); None where the platform does not turn, or its orientation was not measured."""
    readings: Array
    """(N, chains), in the unit of the robot's sensors."""
    covariance: Array | None = None
    """Covariance of the errors of a pose, (6, 6) or (N, 6, 6): position in m, and left rotation vector in rad; (3, 3)
    or (N, 3, 3) where there is no rotation; None where it is not known."""
    reading_sigma: Array | None = None
    """Standard deviation of the readings: one, one for each chain, or (N, chains); None where it is not known."""
    common: Array | None = None
    """Errors that all poses share, such as those of a camera: (N, 6, k), or (N, 3, k) without rotation. Pose i has the
    error common[i] z besides the one that `covariance` describes, with z of k independent standard normal numbers, the
    same for all poses; None where there are none."""
    half_width: Array | None = None
    """Bounds of the errors, for certification: (N, 6) of position in m and left rotation vector in rad, or (N, 3)
    without rotation; None where no bounds are known."""
    configuration: Labels | None = None
    """(N,): poses with the same number are repeats of the same configuration."""
    run: Labels | None = None
    """(N,): repeats with the same number were measured without moving the robot in between."""
    notes: tuple[str, ...] = ()
    """Remarks on these poses, in sentences."""
    places: tuple[str, ...] = field(default=(), compare=False)
    """Where each pose was found, such as "line 9" of a file; messages give it beside the number. Empty: not known."""

    def __post_init__(self) -> None:
        position = array(self.position, "position", ndim=2)
        n = len(position)
        require(n > 0 and position.shape[1] == 3, f"positions must be (N, 3), but their shape is {position.shape}")
        readings = array(self.readings, "readings", ndim=2)
        require(len(readings) == n, f"there are {n} positions, but readings of {len(readings)} poses")
        object.__setattr__(self, "position", position)
        object.__setattr__(self, "readings", readings)
        if self.rotation is not None:
            rotation = array(self.rotation, "rotation", ndim=3)
            require(rotation.shape == (n, 3, 3), f"rotations must be ({n}, 3, 3), but their shape is {rotation.shape}")
            object.__setattr__(self, "rotation", rotation)
        for what, values in (("position", position), ("readings", readings), ("rotation", self.rotation)):
            bad = None if values is None else first_not_finite(values)
            require(
                bad is None,
                f"{what} of pose {self.label(bad[0]) if bad else 0} is NaN or infinite: leave that pose out",
            )
        self._check_rotations()
        self._check_noise()
        object.__setattr__(self, "places", texts(self.places, "places"))
        require(len(self.places) in {0, n}, f"there are {n} poses, but places of {len(self.places)}")
        for name in ("configuration", "run"):
            labels = getattr(self, name)
            if labels is not None:
                try:
                    labels = np.asarray(labels)
                except ValueError:  # lists of several lengths
                    labels = np.empty(0)
                fits = labels.shape == (n,) and labels.dtype.kind in "iu"
                require(fits, f"{name} must be a whole number for each pose")
                object.__setattr__(self, name, labels.astype(np.int64))
        object.__setattr__(self, "notes", texts(self.notes, "notes"))

    def _check_rotations(self) -> None:
        if self.rotation is None:
            return
        good = is_rotation(self.rotation)
        if good.all():
            return
        k = int(np.argmin(good))
        mirrored = np.linalg.det(self.rotation[k]) < 0
        cause = "it is a reflection: a frame is mirrored" if mirrored else "its columns are not orthogonal unit vectors"
        require(
            condition=False,
            message=f"the matrix of pose {self.label(k)} is not a rotation ({(~good).sum()} are not): {cause}",
        )

    def _check_noise(self) -> None:
        n, m, size = len(self.position), self.n_chains, 3 if self.rotation is None else 6
        if self.covariance is not None:
            C = array(self.covariance, "covariance", ndim=(2, 3))
            fits = C.shape in {(size, size), (n, size, size)}
            require(fits, f"a pose's covariance must be ({size}, {size}), or one for each of {n} poses, not {C.shape}")
            self._require_covariance(C)
            object.__setattr__(self, "covariance", C)
        if self.common is not None:
            shared = array(self.common, "common", ndim=3)
            fits = shared.shape[:2] == (n, size) and shared.shape[2] > 0
            require(fits, f"errors common to the poses must be ({n}, {size}, k) with k > 0, not {shared.shape}")
            bad = first_not_finite(shared)
            require(bad is None, f"the common errors of pose {self.label(bad[0]) if bad else 0} are NaN or infinite")
            message = "errors common to the poses need the covariance of each pose's own errors too"
            require(self.covariance is not None, message)
            object.__setattr__(self, "common", shared)
        if self.half_width is not None:
            h = array(self.half_width, "half_width", ndim=2)
            fits = h.shape == (n, size) and bool(((h >= 0) & (h < np.inf)).all())
            require(fits, f"half-widths of the poses must be ({n}, {size}), not negative and finite")
            object.__setattr__(self, "half_width", h)
        if self.reading_sigma is not None:
            s = array(self.reading_sigma, "reading_sigma", ndim=(0, 1, 2))
            fits = s.shape in {(), (1,), (m,), (n, m)} and bool((s > 0).all())
            require(fits, f"reading_sigma must be positive: one, one for each of {m} readings, or ({n}, {m})")
            object.__setattr__(self, "reading_sigma", s if s.ndim == 2 else np.broadcast_to(s, (m,)))

    def _require_covariance(self, C: Array) -> None:
        """Refuse what cannot be a covariance: not symmetric, or with a negative eigenvalue."""
        each = C.reshape(-1, *C.shape[-2:])
        root = np.sqrt(np.maximum(np.diagonal(each, axis1=1, axis2=2), 0.0))
        scale = root[:, :, None] * root[:, None, :]
        scale = np.where(scale > 0, scale, np.maximum(abs(each).max(axis=(1, 2)), 1e-300)[:, None, None])
        with np.errstate(all="ignore"):
            correlation = each / scale
        finite = np.isfinite(correlation).all(axis=(1, 2))
        skew = abs(correlation - np.swapaxes(correlation, 1, 2)).max(axis=(1, 2)) > _ASYMMETRY
        least = np.full(len(each), -1.0)
        least[finite] = np.linalg.eigvalsh(correlation[finite])[:, 0]
        bad = ~finite | skew | (least < -_ASYMMETRY)
        if not bad.any():
            return
        k = int(bad.argmax())
        cause = (
            "is not finite" if not finite[k] else "is not symmetric" if skew[k] else
            f"has a negative eigenvalue ({least[k]:.2g} of the matrix of correlations)"
        )  # fmt: skip
        which = f"the covariance of pose {self.label(k)}" if C.ndim == 3 else "the covariance of the poses"
        many = f"; {int(bad.sum())} are no covariances" if bad.sum() > 1 else ""
        require(
            condition=False,
            message=f"{which} {cause}{many}: check the order and units of its columns (m and rad)",
        )

    def __len__(self) -> int:
        return len(self.position)

    @property
    def n_chains(self) -> int:
        """Readings at each pose."""
        return self.readings.shape[1]

    @property
    def total_covariance(self) -> Array | None:
        """Covariance of all errors of a pose, common ones too: as `covariance`, or (N, size, size).

        Examples:
            >>> own, common = 1e-12 * np.eye(3), np.full((2, 3, 1), 3e-6)
            >>> poses = Poses([[0.0, 0.0, 0.3]] * 2, None, [[0.1], [0.2]], own, common=common)
            >>> np.sqrt(poses.total_covariance[0].diagonal()).round(9)
            array([3.162e-06, 3.162e-06, 3.162e-06])
        """
        if self.common is None or self.covariance is None:
            return self.covariance
        return np.asarray(self.covariance + self.common @ np.swapaxes(self.common, 1, 2))

    def without_rotation(self) -> "Poses":
        """The positions alone, with their covariances.

        Examples:
            >>> poses = Poses([[0.0, 0.0, 0.3]], [np.eye(3)], [[0.1, 0.2, 0.3]]).with_noise(1e-4, 1e-3)
            >>> poses.without_rotation().covariance.shape
            (3, 3)
        """
        C, common = self.covariance, self.common
        return replace(
            self,
            rotation=None,
            covariance=None if C is None else C[..., :3, :3],
            common=None if common is None else common[:, :3],
            half_width=None if self.half_width is None else self.half_width[:, :3],
        )

    def label(self, pose: int) -> str:
        """The number of a pose, from 0, and where it was found.

        Examples:
            >>> Poses([[0.0, 0.0, 0.3]], None, [[0.1, 0.2, 0.3]], places=["line 2"]).label(0)
            '0 (line 2)'
        """
        return pose_label(pose, self.places)

    def select(self, rows: Any) -> "Poses":
        """Some of the poses: a mask, or numbers."""
        rows = np.arange(len(self))[np.asarray(rows)]

        def of(values: Any, whole: int) -> Any:
            return values if values is None or values.ndim < whole else values[rows]

        return replace(
            self,
            position=self.position[rows],
            rotation=of(self.rotation, 3),
            readings=self.readings[rows],
            covariance=of(self.covariance, 3),
            reading_sigma=of(self.reading_sigma, 2),
            common=of(self.common, 3),
            half_width=of(self.half_width, 2),
            configuration=of(self.configuration, 1),
            run=of(self.run, 1),
            places=tuple(self.places[k] for k in rows.tolist()) if self.places else (),
        )

    def with_noise(self, position: Any = None, orientation: Any = None, readings: Any = None) -> "Poses":
        """The same poses with standard deviations stated: of positions (m), orientations (rad) and readings.

        Examples:
            >>> poses = Poses([[0.0, 0.0, 0.3]], [np.eye(3)], [[0.1, 0.2, 0.3]])
            >>> poses.with_noise(1e-4, 1e-3, 1e-5).covariance.diagonal().tolist()
            [1e-08, 1e-08, 1e-08, 1e-06, 1e-06, 1e-06]
        """
        covariance, common, half_width = self.covariance, self.common, self.half_width
        if position is not None:
            stated = [_for_axes(position, "positions")]
            if self.rotation is not None:
                require(orientation is not None, "state the standard deviation of orientations too, in rad")
                stated.append(_for_axes(orientation, "orientations"))
            deviations = np.concatenate(stated)
            fine = bool((deviations >= SMALLEST).all())
            require(fine, f"standard deviations must be positive, at least {SMALLEST:g} m or rad")
            covariance, common, half_width = np.diag(deviations**2), None, None
        sigma = self.reading_sigma if readings is None else readings
        return replace(self, covariance=covariance, reading_sigma=sigma, common=common, half_width=half_width)

    def without_copies(self) -> "Poses":
        """Without poses that equal another one in double precision: copies of a line, since repeats never do.

        Covariances of each pose count too: the same numbers with another covariance are another measurement.

        Examples:
            >>> poses = Poses([[0.0, 0.0, 0.3]] * 2, None, [[0.1, 0.2, 0.3]] * 2).without_copies()
            >>> print(len(poses), *poses.notes)
            1 Pose 1 is a copy of pose 0 in double precision, and is left out; later poses are counted without it.
        """
        parts = [self.position, self.readings]
        if self.rotation is not None:
            parts.append(self.rotation.reshape(len(self), 9))
        if self.covariance is not None and self.covariance.ndim == 3:
            parts.append(self.covariance.reshape(len(self), -1))
        parts += [each.reshape(len(self), -1) for each in (self.common, self.half_width) if each is not None]
        if self.reading_sigma is not None and self.reading_sigma.ndim == 2:
            parts.append(self.reading_sigma)
        _, first, where = np.unique(np.hstack(parts), axis=0, return_index=True, return_inverse=True)
        if len(first) == len(self):
            return self
        first_of = first[where.reshape(-1)]
        copies = np.flatnonzero(first_of != np.arange(len(self)))
        copy, original = (
            self.places[k].capitalize() if self.places else f"Pose {k}" for k in (copies[0], first_of[copies[0]])
        )
        which = f"{copy} is a copy of {original[0].lower()}{original[1:]} in double precision, and is left out"
        many = f", as are {len(copies) - 1} other copies" if len(copies) > 1 else ""
        note = f"{which}{many}; later poses are counted without {'them' if many else 'it'}."
        kept = self.select(np.sort(first))
        return replace(kept, notes=(*self.notes, note))


@dataclass(frozen=True, eq=False)
class Repeatability(ArrayValue):
    """Standard deviations of repeats: of the instrument, within a run, and of the robot, between runs.

    Columns: x, y, z in m, the rotation vector's components in rad where there are any, then each reading.
    """

    names: tuple[str, ...]
    within: Array | None
    """Standard deviations of one measurement about the mean of its run; None where no run has two."""
    between: Array | None
    """Standard deviations of a run's mean about its configuration's; None where no configuration has two runs."""
    n_configurations: int
    n_measurements: int

    @property
    def words(self) -> str:
        """How well measurements repeat, in a sentence: root mean squares over the axes."""
        parts = [
            f"{_size(values[:3], 1e3)} mm{self._turned(values)} {when}"
            for values, when in ((self.within, "within a run"), (self.between, "from run to run"))
            if values is not None
        ]
        many = f"{self.n_measurements} measurements are averaged to {self.n_configurations} configurations"
        return f"{many}; they repeat to {' and '.join(parts)}." if parts else f"{many}."

    def _turned(self, values: Array) -> str:
        return f", {_size(values[3:6], 180 / np.pi)}°" if "rx" in self.names else ""

    def __str__(self) -> str:
        columns = [
            (head, v) for head, v in (("within runs", self.within), ("between runs", self.between)) if v is not None
        ]
        rows = [[name, *(number(v[i], digits=3) for _, v in columns)] for i, name in enumerate(self.names)]
        return str(table(["", *(head for head, _ in columns)], rows, "l" + "r" * len(columns)))


def averaged(poses: Poses) -> tuple[Poses, Repeatability]:
    """One pose per configuration, the mean of its runs, with the covariance that the repeats show.

    First the measurements of each run are averaged, then the runs of each configuration, as in [DACP06, §2.3.2]: ten
    images of a platform that stands still do not show how well it returns.

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> z = 0.3 + rng.normal(0, 1e-4, 40)
        >>> poses = Poses(np.outer(z, [0, 0, 1]), None, np.ones((40, 3)), configuration=np.arange(40) // 20)
        >>> mean, repeatability = averaged(poses)
        >>> len(mean), round(float(repeatability.between[2]), 4)
        (2, 0.0001)
    """
    require(poses.configuration is not None, "averaging needs the column configuration, which numbers repeats")
    assert poses.configuration is not None
    run = np.arange(len(poses)) if poses.run is None else poses.run
    _, run_of, counts = np.unique(np.stack([poses.configuration, run]), axis=1, return_inverse=True, return_counts=True)
    run_of = run_of.reshape(-1)
    center, deviations = _mean(poses, run_of, len(counts))
    within, single = _pooled(deviations, len(poses) - len(counts)), deviations
    first = np.unique(run_of, return_index=True)[1]
    means = replace(center, configuration=poses.configuration[first], run=None)
    labels, of, runs = np.unique(poses.configuration[first], return_inverse=True, return_counts=True)
    result, deviations = _mean(means, of.reshape(-1), len(labels))
    between = _pooled(deviations, len(means) - len(labels))
    odd = _odd(single if within is not None else deviations, poses)
    size, spread = 3 if poses.rotation is None else 6, None
    if between is not None:
        spread = between / runs[:, None, None]
    elif within is not None:
        spread = within / np.bincount(of.reshape(-1), weights=counts)[:, None, None]
    if spread is not None:
        sigma = np.sqrt(np.maximum(np.diagonal(spread, axis1=1, axis2=2)[:, size:], 0))
        known = bool((np.linalg.eigvalsh(spread[:, :size, :size])[:, 0] > 0).all())
        result = replace(
            result,
            covariance=spread[:, :size, :size] if known else None,
            common=_mean_common(poses, run_of, of.reshape(-1)) if known else None,
            reading_sigma=sigma if bool((sigma > 0).all()) else None,
        )
    names = ("x", "y", "z", *(("rx", "ry", "rz") if size == 6 else ()))
    names = (*names, *(f"reading {i + 1}" for i in range(poses.n_chains)))
    repeatability = Repeatability(names, _sigma(within), _sigma(between), len(labels), len(poses))
    places = tuple(f"configuration {label}" for label in labels.tolist())
    return replace(
        result, configuration=labels, notes=(*result.notes, repeatability.words, *odd), places=places
    ), repeatability


def _mean(poses: Poses, of: Any, n: int) -> tuple[Poses, Array]:
    """The mean of each group, and each pose's deviation from it: position, left rotation vector, readings."""
    count = np.bincount(of, minlength=n)[:, None]

    def mean(values: Array) -> Array:
        total = np.zeros((n, values.shape[1]))
        np.add.at(total, of, values)
        return total / count

    position, readings = mean(poses.position), mean(poses.readings)
    parts, rotation = [poses.position - position[of]], None
    if poses.rotation is not None:
        rotation = poses.rotation[np.unique(of, return_index=True)[1]]
        for _ in range(3):  # deviations are small: the mean of their vectors settles at once
            w = log(poses.rotation @ np.swapaxes(rotation[of], 1, 2))
            rotation = exp(mean(w)) @ rotation
        parts.append(log(poses.rotation @ np.swapaxes(rotation[of], 1, 2)))
    parts.append(poses.readings - readings[of])
    return Poses(position, rotation, readings, notes=poses.notes), np.hstack(parts)


def _mean_common(poses: Poses, *groups: Any) -> Array | None:
    """Common errors of means: the mean of the poses of each run, then of the runs of each configuration."""
    shared = poses.common
    if shared is None:
        return None
    for of in groups:
        total = np.zeros((int(of.max()) + 1, *shared.shape[1:]))
        np.add.at(total, of, shared)
        shared = total / np.bincount(of)[:, None, None]
    return shared


def _odd(deviations: Array, poses: Poses) -> tuple[str, ...]:
    """A sentence on the measurement that is farthest from its mean, if it is far beyond the usual."""
    if len(deviations) != len(poses):
        return ()
    usual = np.median(abs(deviations), axis=0) / 0.6744897501960817
    pose = usual[: 3 if poses.rotation is None else 6]
    if not (pose > 0).all():
        return ()
    sizes = np.sqrt(((deviations[:, : len(pose)] / pose) ** 2).mean(axis=1))
    k = int(sizes.argmax())
    if sizes[k] <= _FAR:
        return ()
    assert poses.configuration is not None
    far = number(1e3 * float(np.linalg.norm(deviations[k, :3])), digits=3)
    words = (
        f"Measurement {poses.label(k)}, of configuration {poses.configuration[k]}, is {far} mm off the mean of its "
        f"repeats, {sizes[k]:.0f} times the usual: probably a bad one. Leave it out."
    )
    return (words,)


def _pooled(deviations: Array, dof: int) -> Array | None:
    return deviations.T @ deviations / dof if dof > 0 else None


def _size(values: Array, factor: float) -> str:
    return number(factor * float(np.sqrt((values**2).mean())), digits=3)


def _sigma(C: Array | None) -> Array | None:
    return None if C is None else np.sqrt(C.diagonal())


def _for_axes(deviation: Any, what: str) -> Array:
    """One number for all axes, or one for each."""
    values = array(deviation, f"the standard deviation of {what}", ndim=(0, 1))
    require(values.shape in ((), (1,), (3,)), f"{what} need one standard deviation, or three, not {values.size}")
    return np.broadcast_to(values, (3,))
