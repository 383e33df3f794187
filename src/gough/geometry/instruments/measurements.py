"""What instruments measured at the poses of a robot, and what is known of the instruments."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core.arguments import instance, refused, texts
from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, require
from gough.core.rotations import is_rotation
from gough.core.text import pose_label
from gough.core.units import SMALLEST
from gough.geometry.frames import Placement
from gough.geometry.instruments.kinds import CAMERA, Kind, Part, kind_called

Numbers = npt.NDArray[np.int64]
_EQUAL = 1e-3
"""Chains that share a sensor have the same error up to this share of it, so that their covariance has an inverse."""


@dataclass(frozen=True, eq=False)
class Sought(ArrayValue):
    """A part of an instrument that is estimated with the robot's parameters, such as its frame.

    Examples:
        >>> Sought(each_session=True)
        Sought(guess=None, each_session=True)
    """

    guess: Any = None
    """Start of the search, as a known part is stated; None: found from the blueprint's poses."""
    each_session: bool = False
    """Whether it differs from session to session, such as the frame of a tracker that is set up each day."""


@dataclass(frozen=True, eq=False)
class Instrument(ArrayValue):
    """One instrument: its kind, what it measured, the noise, and where it and its target are.

    Each part of an instrument is stated by its value, by `Sought()` if it is to be estimated, or by the name of
    another instrument whose part it shares. Only some kinds have each part:

    ===========  ===============================================  =====================================================
    kind         measured, SI units                               parts
    ===========  ===============================================  =====================================================
    "pose"       x, y, z, and `rotation`                          frame, target
    "point"      x, y, z                                          frame, point
    "tilts"      angles of two axes above the horizontal          up, mount
    "heading"    angle about z                                    offset
    "distance"   distance                                         anchor, point
    "apart"      distance between the places of two poses         point
    "plane"      height above a plane; 0 for a contact            plane, point
    "sphere"     height above a sphere; 0 for a contact           sphere, point
    "image"      pixels u, v of each of `points`                  camera, frame, target
    ===========  ===============================================  =====================================================

    Examples:
        >>> tracker = Instrument("tracker", "point", [[0.0, 0.0, 1.0], [0.1, np.nan, 1.0]], 2e-5, frame=Sought())
        >>> tracker.n_measured
        5
    """

    name: str
    kind: str
    values: Array
    """(N, channels), NaN where nothing was measured; for "apart" a row for each of `pairs`."""
    sigma: Array | None
    """Standard deviation of all channels or of each channel, or their covariance, also (N, channels, channels) of each
    row; None: it is estimated, one for all channels of a unit."""
    rotation: Array | None = None
    """(N, 3, 3): measured orientations, for "pose"; NaN where none was measured."""
    pairs: Numbers | None = None
    """(K, 2): numbers of the poses, from 0, for "apart"."""
    frame: Placement | Sought | str = field(default_factory=Placement)
    """The robot's base in the instrument's frame."""
    target: Placement | Sought | str = field(default_factory=Placement)
    """The target in the platform's frame."""
    point: Any = (0.0, 0.0, 0.0)
    """(3,): the point in the platform's frame."""
    mount: Any = (1.0, 0.0, 0.0, 0.0)
    """(4,): orientation of the sensor in the platform's frame, a quaternion with its scalar first."""
    up: Any = (0.0, 0.0, 1.0)
    """(3,): direction of the vertical in the robot's frame."""
    offset: Any = 0.0
    """Heading that is read where the platform is not turned, rad."""
    anchor: Any = None
    """(3,): the fixed point in the robot's frame."""
    plane: Any = None
    """(4,): normal of the plane in the robot's frame, and its distance from the origin along it."""
    sphere: Any = None
    """(4,): center of the sphere in the robot's frame, and its radius."""
    camera: Any = None
    """(4,) to (9,): fx, fy, cx, cy in pixels and k1, k2, p1, p2, k3 of a camera, as OpenCV has them; what is left out
    is zero. Its frame has z forward, x to the right and y down."""
    points: Array | None = None
    """(K, 3): the points of an "image" in the target's frame; `values` are (N, 2 K): u, v of the first point, …"""

    def __post_init__(self) -> None:
        require(isinstance(self.name, str) and bool(self.name.strip()), "an instrument needs a name")
        require(isinstance(self.kind, str), f"the kind of an instrument is a text, not {self.kind!r}")
        kind = self.of_kind
        values = array(self.values, f"values of {self.name}", ndim=(1, 2))
        self._check_points(kind)
        channels = self.channels
        m = 3 if kind.has_rotation else len(channels)
        values = values[:, None] if values.ndim == 1 and m == 1 else values
        require(
            values.ndim == 2 and values.shape[1] == m,
            f"{kind.words} has {m} channel{'s' * (m > 1)} ({', '.join(channels[:m])}), but the values of "
            f"{self.name} have the shape {values.shape}",
        )
        require(not np.isinf(values).any(), f"values of {self.name} must be finite, or NaN where nothing was measured")
        object.__setattr__(self, "values", values)
        self._check_rotation(kind)
        self._check_pairs(kind)
        self._check_sigma(kind)
        for part in kind.parts:
            require(
                getattr(self, part.name) is not None,
                f"{self.name}: state the {part.name} of {kind.words}, or {part.name} = Sought() to estimate it",
            )
            stated = getattr(self, part.name)
            blind = part is CAMERA and isinstance(stated, Sought) and stated.guess is None
            require(not blind, f"{self.name}: a camera is estimated from a guess: state it, Sought([fx, fy, cx, cy])")
            if not isinstance(stated, Sought | str):
                object.__setattr__(self, part.name, checked_part(part, getattr(self, part.name), self.name))
        given = [
            name
            for name, default in _DEFAULTS.items()
            if name not in {part.name for part in kind.parts} and not _is_default(getattr(self, name), default)
        ]
        require(not given, f"{self.name}: {kind.words} has no {' and no '.join(given)}: leave it out")

    def _check_points(self, kind: Kind) -> None:
        require(
            (self.points is not None) == kind.is_image,
            f"{self.name}: points are for kind='image', which needs them"
            + ("" if kind.is_image else ": leave them out"),
        )
        if self.points is None:
            return
        points = array(self.points, f"points of {self.name}", ndim=2)
        good = points.shape[1:] == (3,) and len(points) > 0 and bool(np.isfinite(points).all())
        require(good, f"points of {self.name} must be finite, (K, 3), but their shape is {points.shape}")
        object.__setattr__(self, "points", points)

    def _check_rotation(self, kind: Kind) -> None:
        require(
            (self.rotation is not None) == kind.has_rotation,
            f"{self.name}: rotation is for kind='pose', which needs it"
            + ("" if kind.has_rotation else ": leave it out"),
        )
        if self.rotation is None:
            return
        R = array(self.rotation, f"rotation of {self.name}", ndim=3)
        n = len(self.values)
        require(R.shape == (n, 3, 3), f"rotations of {self.name} must be ({n}, 3, 3), but their shape is {R.shape}")
        there = np.asarray(np.isfinite(R).all(axis=(1, 2)))
        bad = np.flatnonzero(there & ~is_rotation(np.where(there[:, None, None], R, np.eye(3))))
        require(bad.size == 0, f"{self.name}: the matrix of pose {bad[0] if bad.size else 0} is not a rotation")
        object.__setattr__(self, "rotation", R)

    def _check_pairs(self, kind: Kind) -> None:
        require(
            (self.pairs is not None) == kind.is_pair,
            f"{self.name}: pairs are for kind='apart', which needs them" + ("" if kind.is_pair else ": leave them out"),
        )
        if self.pairs is None:
            return
        pairs = np.asarray(self.pairs)
        fits = pairs.shape == (len(self.values), 2) and pairs.dtype.kind in "iu"
        require(fits, f"{self.name}: pairs must be two numbers of poses for each distance")
        require(bool((pairs[:, 0] != pairs[:, 1]).all()), f"{self.name}: a pair holds the same pose twice")
        object.__setattr__(self, "pairs", pairs.astype(np.int64))

    def _check_sigma(self, kind: Kind) -> None:
        if self.sigma is None:
            return
        m = len(self.channels)
        s = array(self.sigma, f"sigma of {self.name}", ndim=(0, 1, 2, 3))
        if s.ndim == 3:
            self._check_covariances(s)
            return
        if kind.has_rotation and s.shape == (2,):
            s = np.repeat(s, 3)
        if kind.is_image and s.shape == (2,):
            s = np.tile(s, m // 2)
        if kind.is_image and s.shape == (2, 2):
            s = np.asarray(np.kron(np.eye(m // 2), s), dtype=np.float64)
        uniform = len(set(kind.units)) == 1
        fits = s.shape in {(m,), (m, m)} or (uniform and s.size == 1)
        two = " (or of position and orientation)" if kind.has_rotation else " (or of u and v)" if kind.is_image else ""
        require(
            fits,
            f"sigma of {self.name} must be {'one number, ' if uniform else ''}one for each of {m} channels{two}, or "
            f"their covariance, not an array of shape {s.shape}",
        )
        if s.ndim == 2:
            symmetric = bool(np.isfinite(s).all()) and np.allclose(s, s.T, rtol=1e-9)
            good = symmetric and float(np.linalg.eigvalsh(s)[0]) > 0
            require(good, f"the covariance of {self.name} must be symmetric and positive definite")
        else:
            good = bool(np.isfinite(s).all() and (s >= SMALLEST).all())
            require(good, f"sigma of {self.name} must be positive, at least {SMALLEST:g}")
        object.__setattr__(self, "sigma", s)

    def _check_covariances(self, s: Array) -> None:
        """Covariances of each row; what was not measured gets ones, which nothing reads."""
        m, there = len(self.channels), self.is_measured
        fits = s.shape == (len(self.values), m, m)
        require(fits, f"covariances of {self.name} must be ({len(self.values)}, {m}, {m}), not {s.shape}")
        pairs = there[:, :, None] & there[:, None, :]
        s = np.where(pairs, s, np.eye(m))
        finite = np.isfinite(s).all(axis=(1, 2))
        bad = np.flatnonzero(~finite)
        require(bad.size == 0, f"the covariance of {self.name} in row {bad[0] if bad.size else 0} is not finite")
        symmetric = np.isclose(s, np.swapaxes(s, 1, 2), rtol=1e-9, atol=0.0).all(axis=(1, 2))
        bad = np.flatnonzero(~(symmetric & (np.linalg.eigvalsh((s + np.swapaxes(s, 1, 2)) / 2)[:, 0] > 0)))
        require(
            bad.size == 0,
            f"the covariance of {self.name} in row {bad[0] if bad.size else 0} must be symmetric and positive definite",
        )
        object.__setattr__(self, "sigma", s)

    def covariances(self, rows: Numbers) -> Array:
        """(len(rows), channels, channels): covariance of the errors of these rows; (1, …) where it is the same in all.

        Examples:
            >>> Instrument("tracker", "point", np.zeros((4, 3)), [1.0, 2.0, 3.0]).covariances(np.arange(2)).shape
            (1, 3, 3)
        """
        C = self.covariance
        return C[rows] if C.ndim == 3 else C[None]

    @property
    def covariance(self) -> Array:
        """(channels, channels): covariance of the errors of one measurement; (N, …) if each row has its own."""
        require(self.sigma is not None, f"the noise of {self.name} is not stated: state sigma")
        assert self.sigma is not None
        m = len(self.channels)
        return np.asarray(self.sigma) if self.sigma.ndim > 1 else np.diag(np.broadcast_to(self.sigma**2, (m,)))

    @property
    def of_kind(self) -> Kind:
        """Its kind."""
        return kind_called(self.kind)

    @property
    def n_points(self) -> int:
        """Number of points that have all channels of the kind: more than 1 only in images."""
        return 1 if self.points is None else len(self.points)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of its columns: those of its kind; u1, v1, u2, v2, … of several points."""
        return self.of_kind.channels_of(self.n_points)

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of its channels, or pixels."""
        return self.of_kind.units * self.n_points

    @property
    def is_measured(self) -> npt.NDArray[np.bool_]:
        """(rows, channels): which channels were measured."""
        there = np.isfinite(self.values)
        if self.rotation is not None:
            turned = np.asarray(np.isfinite(self.rotation).all(axis=(1, 2)))
            there = np.hstack([there, np.repeat(turned[:, None], 3, axis=1)])
        return there

    @property
    def n_measured(self) -> int:
        """Numbers that were measured."""
        return int(self.is_measured.sum())


_DEFAULTS = {name: Instrument.__dataclass_fields__[name] for name in (
    "frame", "target", "point", "mount", "up", "offset", "anchor", "plane", "sphere", "camera"
)}  # fmt: skip


def _is_default(value: Any, default: Any) -> bool:
    usual = default.default_factory() if callable(default.default_factory) else default.default
    if isinstance(value, Sought | str) or value is None or usual is None:
        return value is usual
    return (
        bool(value == usual) if isinstance(value, Placement) else np.array_equal(np.asarray(value), np.asarray(usual))
    )


def checked_part(part: Part, value: Any, name: str) -> Any:
    """A stated part: a placement, or an array of its size; directions become unit vectors."""
    words = f"{part.name} of {name}"
    if part.name in {"frame", "target"}:
        return instance(value, words, Placement, "a Placement, Sought() or the name of another instrument")
    if part is CAMERA:
        return _checked_camera(value, words)
    size = {"point": 3, "mount": 4, "up": 3, "offset": 0, "anchor": 3, "plane": 4, "sphere": 4}[part.name]
    try:
        values = array(value, words, ndim=1 if size else 0)
    except InputError as error:
        raise refused(words, value, f"{size or 'one'} number{'s' * (size > 1)}, or Sought()") from error
    fits = values.shape == ((size,) if size else ()) and bool(np.isfinite(values).all())
    require(fits, f"{words} must be {size or 'one'} finite number{'s' * (size > 1)}, but is {values.tolist()}")
    if part.name in {"mount", "up", "plane"}:
        n = 3 if part.name == "plane" else size
        length = float(np.linalg.norm(values[:n]))
        what = {"mount": "the quaternion", "up": "the direction", "plane": "the normal"}[part.name]
        require(abs(length - 1) < 1e-3, f"{words}: {what} must have the length 1, but has {length:.4g}")
        values = values.copy()
        values[:n] /= length
    if part.name == "up":
        require(values[2] > 0.1, f"{words} must point upward in the robot's frame: its third component is the largest")
    if part.name == "sphere":
        require(values[3] >= 0, f"{words}: the radius must not be negative")
    return values


def _checked_camera(value: Any, words: str) -> Array:
    values = array(value, words, ndim=1)
    fits = 4 <= len(values) <= 9 and bool(np.isfinite(values).all()) and bool((values[:2] > 0).all())
    require(fits, f"{words} must be fx, fy > 0, cx, cy in pixels and at most k1, k2, p1, p2, k3: {values.tolist()}")
    return np.pad(values, (0, 9 - len(values)))


@dataclass(frozen=True, eq=False)
class Measurements(ArrayValue):
    """The readings of a robot's sensors at N poses, and what instruments measured there.

    Examples:
        >>> tracker = Instrument("tracker", "point", [[0.0, 0.0, 1.0], [0.1, 0.0, 1.0]], 2e-5)
        >>> len(Measurements([[0.1, 0.2, 0.3], [0.1, 0.2, 0.4]], 1e-5, [tracker]))
        2
    """

    readings: Array
    """(N, chains), in the unit of the robot's sensors; NaN where one is missing."""
    reading_sigma: Array | None
    """Standard deviation of the readings: one, or one for each chain; or their covariance (chains, chains); None: one
    for all is estimated."""
    instruments: tuple[Instrument, ...] = ()
    sessions: tuple[str, ...] = ()
    """Name of the session of each pose, such as its day; empty: one session."""
    loads: Array | None = None
    """(N, chains): tension of each cable, N, for cable robots whose cables stretch."""
    places: tuple[str, ...] = field(default=(), compare=False)
    """Where each pose was found, such as "line 9" of a file."""

    def __post_init__(self) -> None:
        readings = array(self.readings, "readings", ndim=2)
        n, chains = readings.shape
        require(n > 0 and chains > 0, f"readings must be (N, chains), but their shape is {readings.shape}")
        require(not np.isinf(readings).any(), "readings must be finite, or NaN where one is missing")
        object.__setattr__(self, "readings", readings)
        if self.reading_sigma is not None:
            self._check_sigma(array(self.reading_sigma, "reading_sigma", ndim=(0, 1, 2)))
        if self.loads is not None:
            loads = array(self.loads, "loads", ndim=2)
            fits = loads.shape == readings.shape and bool(np.isfinite(loads).all())
            require(fits, f"loads must be finite, one for each reading: {readings.shape}, not {loads.shape}")
            object.__setattr__(self, "loads", loads)
        if not isinstance(self.instruments, list | tuple):
            raise refused("instruments", self.instruments, "a list of instruments", "[Instrument(…)]")
        for one in self.instruments:
            instance(one, "each of instruments", Instrument, "an Instrument", "Instrument(name, kind, values, sigma)")
        object.__setattr__(self, "instruments", tuple(self.instruments))
        object.__setattr__(self, "sessions", texts(self.sessions, "sessions"))
        object.__setattr__(self, "places", texts(self.places, "places"))
        require(len(self.sessions) in {0, n}, f"there are {n} poses, but sessions of {len(self.sessions)}")
        require(len(self.places) in {0, n}, f"there are {n} poses, but places of {len(self.places)}")
        names = [one.name for one in self.instruments]
        twice = sorted({name for name in names if names.count(name) > 1})
        require(not twice, f"instruments need different names, but {', '.join(twice)} stands more than once")
        for one in self.instruments:
            self._check_rows(one)
            for part in one.of_kind.parts:
                self._check_shared(one, part)
                stated = getattr(one, part.name)
                require(
                    bool(self.sessions) or not (isinstance(stated, Sought) and stated.each_session),
                    f"{one.name}: its {part.name} differs from session to session, but no sessions are stated: state "
                    'sessions=[…] (in a study, [measurements] session = "day"), or that it is unknown',
                )

    def _check_sigma(self, sigma: Array) -> None:
        chains = self.readings.shape[1]
        if sigma.ndim == 2:
            fits = sigma.shape == (chains, chains) and np.allclose(sigma, sigma.T, rtol=1e-9)
            fits = fits and float(np.linalg.eigvalsh(sigma)[0]) > 0
            require(fits, f"the covariance of {chains} readings must be symmetric and positive definite")
            require(bool(np.isfinite(self.readings).all()), "readings with a covariance must all be there")
        else:
            fits = sigma.size in {1, chains} and bool(np.isfinite(sigma).all()) and bool((sigma >= SMALLEST).all())
            require(fits, f"reading_sigma must be positive: one, or one for each of {chains} readings")
            sigma = np.broadcast_to(sigma.reshape(-1), (chains,))
        object.__setattr__(self, "reading_sigma", sigma)

    def _check_rows(self, one: Instrument) -> None:
        n = len(self.readings)
        if one.pairs is not None:
            inside = bool(((one.pairs >= 0) & (one.pairs < n)).all())
            require(inside, f"{one.name}: numbers of poses in pairs are 0 to {n - 1}")
            return
        rows = len(one.values)
        require(rows == n, f"there are readings of {n} poses, but {one.name} has {rows}: use NaN where it has none")

    def _check_shared(self, one: Instrument, part: Part) -> None:
        shared = getattr(one, part.name)
        if not isinstance(shared, str):
            return
        other = next((each for each in self.instruments if each.name == shared), None)
        words = f"{one.name}: {part.name} = '{shared}'"
        require(other is not None, f"{words}, but no instrument is called so")
        assert other is not None
        own = any(each.name == part.name for each in other.of_kind.parts)
        require(own, f"{words}, but a {other.kind} has no {part.name}")
        chained = isinstance(getattr(other, part.name), str)
        require(not chained, f"{words}, which itself takes that of another: name that one")

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def reading_deviations(self) -> Array:
        """(chains,): standard deviations of the readings."""
        sigma = self.reading_sigma
        require(sigma is not None, "the noise of the readings is not stated: state reading_sigma")
        assert sigma is not None
        return np.sqrt(sigma.diagonal()) if sigma.ndim == 2 else sigma

    @property
    def session_names(self) -> tuple[str, ...]:
        """The sessions, in the order of their first poses."""
        return tuple(dict.fromkeys(self.sessions)) or ("",)

    @property
    def session_numbers(self) -> Numbers:
        """(N,): number of the session of each pose."""
        if not self.sessions:
            return np.zeros(len(self), dtype=np.int64)
        number = {name: k for k, name in enumerate(self.session_names)}
        return np.array([number[name] for name in self.sessions])

    @property
    def n_measured(self) -> int:
        """Numbers that were measured: readings, and channels of instruments."""
        return int(np.isfinite(self.readings).sum()) + sum(one.n_measured for one in self.instruments)

    def label(self, pose: int) -> str:
        """The number of a pose, from 0, and where it was found."""
        return pose_label(pose, self.places)

    def select(self, rows: Any) -> "Measurements":
        """Some of the poses; distances between two poses stay where both are selected."""
        chosen = np.arange(len(self))[np.asarray(rows)]
        to = np.full(len(self), -1)
        to[chosen] = np.arange(len(chosen))
        return replace(
            self,
            readings=self.readings[chosen],
            loads=None if self.loads is None else self.loads[chosen],
            instruments=tuple(_selected(one, chosen, to) for one in self.instruments),
            sessions=_of(self.sessions, chosen),
            places=_of(self.places, chosen),
        )


def _of(names: Sequence[str], rows: Numbers) -> tuple[str, ...]:
    return tuple(names[k] for k in rows.tolist()) if names else ()


def _selected(one: Instrument, chosen: Numbers, to: Numbers) -> Instrument:
    pairs = None if one.pairs is None else to[one.pairs]
    kept = chosen if pairs is None else np.flatnonzero((pairs >= 0).all(axis=1))
    return replace(
        one,
        values=one.values[kept],
        rotation=None if one.rotation is None else one.rotation[kept],
        sigma=one.sigma[kept] if one.sigma is not None and one.sigma.ndim == 3 else one.sigma,
        pairs=None if pairs is None else pairs[kept],
    )


def shared_readings(readings: Any, sigma: Any, of_chain: Sequence[int]) -> tuple[Array, Array]:
    """Readings of each chain (N, chains) where some chains share a sensor, and the covariance of their errors.

    Args:
        readings: (N, sensors).
        sigma: Standard deviation of the sensors: one, or one each.
        of_chain: Number of the sensor of each chain, such as `RodDelta().reading_of_chain`.

    Examples:
        >>> readings, covariance = shared_readings([[0.1, 0.2]], 1e-5, (0, 0, 1))
        >>> readings, covariance.round(12)[0]
        (array([[0.1, 0.1, 0.2]]), array([1.e-10, 1.e-10, 0.e+00]))
    """
    values = array(readings, "readings", ndim=2)
    which = list(of_chain)
    sensors = max(which) + 1
    require(values.shape[1] == sensors, f"there are {sensors} sensors, but the readings have {values.shape[1]} columns")
    s = array(sigma, "sigma", ndim=(0, 1))
    fits = s.size in {1, sensors} and bool((s >= SMALLEST).all())
    require(fits, f"sigma must be positive: one, or one for each of {sensors} sensors")
    deviations = np.broadcast_to(s.reshape(-1), (sensors,))[which]
    same = np.equal.outer(which, which)
    return values[:, which], np.outer(deviations, deviations) * (same + _EQUAL**2 * np.eye(len(which)))
