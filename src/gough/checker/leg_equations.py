"""Legs of a Gough platform: poses and readings with intervals, and in exact arithmetic what they imply about a leg.

A leg (a, b, l) is consistent if for every pose some |δ| ≤ position, |ω| ≤ rotation and |η| ≤ reading tolerance have
|exp(ω) R b + p + δ − a| = l + reading + η, R being the rotation of a quaternion q. With v = R b, d = v + p − a and
m = v × (p − a), the squared distance lies within 2 Σ |d_i| δ_i + 2 Σ |m_i| ω_i + 2 |d| e of |d|², and above it by at
most (|δ| + |ω| |b| + e)² more, where e = |ω|² |b| / 2 bounds what exp(ω) adds to 1 + ω×. |d_i| and |m_i| are replaced
by chords over the box. All is multiplied by |q|², so that no division is left and every denominator is a power of two.

Several legs share the errors of a pose. There δ and ω stay as columns, with the d and m of the box's center; what d and
m differ from those in the box, times the tolerances, is left as a constant.

`proofs/Legs.v` has the same functions in Coq, and proves that every leg that fits a pose satisfies its rows.
"""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gough.checker.box_rows import BoxRows, Numbers, Row, chord, row_of
from gough.checker.chain_proofs import double, doubles
from gough.checker.dyadic import HALF, ZERO, Dyadic, root_above, total
from gough.checker.limits import spend
from gough.checker.linear import NotProven
from gough.core.arrays import Array, ArrayValue, array, first_not_finite
from gough.core.errors import InputError, require
from gough.core.rational import rational
from gough.core.units import LARGEST, SMALLEST

STEMS = ("a{}x", "a{}y", "a{}z", "b{}x", "b{}y", "b{}z", "l{}")
PRODUCTS = (*((i, 3 + j) for i in range(3) for j in range(3)), *((j, j) for j in range(7)))
"""Pairs of unknowns whose products are columns 7 to 22, after the seven unknowns."""
_AFTER = ((1, 2), (2, 0), (0, 1))


@dataclass(frozen=True, eq=False)
class LegMeasurements(ArrayValue):
    """N poses of a platform and the readings of one leg, each within stated tolerances.

    A leg from a on the base to b on the platform, with length l at reading zero, is consistent with them if for every
    pose k there are errors δ, ω, η within the tolerances of position, rotation and reading such that

        |exp(ω) R_k b + p_k + δ − a| = l + reading_k + η.

    R_k is exactly the rotation of the quaternion, which need not have unit length, so that nothing is lost by rounding.

    Examples:
        >>> leg = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [0.1], 1e-4, 1e-4, 1e-5)
        >>> len(leg), leg.position_tolerance
        (1, array([[0.0001, 0.0001, 0.0001]]))
    """

    quaternion: Array
    """(N, 4), scalar first."""
    position: Array
    """(N, 3), m."""
    reading: Array
    """(N,), m."""
    position_tolerance: Array
    """(N, 3), or what broadcasts to it: |δ| is at most this, axis by axis."""
    rotation_tolerance: Array
    """(N, 3): of the left rotation vector ω, rad."""
    reading_tolerance: Array
    """(N,): of the reading, m."""

    def __post_init__(self) -> None:
        n = array(self.reading, "reading", ndim=(0, 1, 2), copy=False).size
        _take(self, n, {"reading": (n,), "reading_tolerance": (n,)})

    word: ClassVar[str] = "leg"
    """What statements call such a chain."""
    products: ClassVar[tuple[tuple[int, int], ...]] = PRODUCTS
    conditions: ClassVar[tuple[Any, ...]] = ()
    reading_unit: ClassVar[str] = "m"
    n_unknowns: ClassVar[int] = 7

    def __len__(self) -> int:
        return len(self.reading)

    @property
    def n_poses(self) -> int:
        """Number of poses."""
        return len(self.reading)

    @property
    def n_equations(self) -> int:
        """One for each pose."""
        return len(self.reading)

    @property
    def shared_tolerance(self) -> Array:
        """(N, 6): of δ and ω, the errors that all legs of a platform share."""
        return np.hstack([self.position_tolerance, self.rotation_tolerance])

    def names_of(self, chain: int) -> tuple[str, ...]:
        """The unknowns a, b and l of the leg with this number."""
        return tuple(stem.format(chain) for stem in STEMS)

    def rows(self, center: Numbers, radius: Numbers, more: Dyadic = ZERO, *, shared: bool = False) -> "LegRows":
        """The rows in a box."""
        return LegRows(self, center, radius, more, shared=shared)

    def scale(self, k: int) -> float:
        """What rows of pose k are multiplied by: |q|²."""
        return float(np.square(self.quaternion[k]).sum())

    def require_fits(self, values: Sequence[Fraction], k: int, more: Dyadic, errors: Sequence[Fraction]) -> None:
        """Raise NotProven unless the leg fits pose k with these errors δ and v, see `ChainWitness.errors`.

        A reading is a real number: if the distance d at this pose has s − T ≤ d ≤ s + T with s = l + reading, some
        error of the reading within its tolerance T makes the equation hold. A distance is not negative, so squares are
        compared: with that of s + T if it is not negative either (else nothing fits), with that of s − T if it is
        positive (else every distance is long enough).
        """
        spend(300_000)
        squared, size = self._distance(values, k, errors)
        s = Dyadic.of(double(values[6], "a length")) + Dyadic.of(float(self.reading[k]))
        T = max(Dyadic.of(float(self.reading_tolerance[k])) + more, ZERO)
        most, least = size * (s + T), size * (s - T)
        if most < ZERO or most * most < squared:
            raise NotProven(f"pose {k}: the leg is too short there, by more than the reading's tolerance")
        if least > ZERO and squared < least * least:
            raise NotProven(f"pose {k}: the leg is too long there, by more than the reading's tolerance")

    def exhibited_square(self, values: Sequence[Fraction], k: int, errors: Sequence[Fraction]) -> Fraction:
        """|exp(ω) R b + p + δ − a|² at pose k with exhibited errors, which must be within their tolerances."""
        squared, size = self._distance(values, k, errors)
        return squared.fraction / size.fraction**2

    def _distance(self, values: Sequence[Fraction], k: int, errors: Sequence[Fraction]) -> tuple[Dyadic, Dyadic]:
        """|q|⁴ |R b + p − a|² and |q|² of the measured pose with its exhibited error.

        The quaternion (1, v) turns by 2 atan |v| about v: no component of its rotation vector exceeds 2 |v_i|.
        """
        # longer numbers than doubles would take longer than what was spent for them
        x, move, turn = (_numbers(doubles(each, "a number of a leg")) for each in (values, errors[:3], errors[3:]))
        limits = [_numbers(t[k].tolist()) for t in (self.position_tolerance, self.rotation_tolerance)]
        if any(limit < abs(e) for e, limit in zip(move, limits[0], strict=True)):
            raise NotProven(f"pose {k}: the exhibited error of its position is beyond the tolerance")
        if any(limit < 2 * abs(e) for e, limit in zip(turn, limits[1], strict=True)):
            raise NotProven(f"pose {k}: the exhibited error of its orientation is beyond the tolerance")
        w, *v = _numbers(self.quaternion[k].tolist())
        scalar = w - total(a * b for a, b in zip(turn, v, strict=True))
        vector = [v[i] + turn[i] * w + turn[m] * v[n] - turn[n] * v[m] for i, (m, n) in enumerate(_AFTER)]
        R, size = rotation([scalar, *vector])
        p = [e + d for e, d in zip(_numbers(self.position[k].tolist()), move, strict=True)]
        d = [total(r * y for r, y in zip(R[n], x[3:6], strict=True)) + size * (p[n] - x[n]) for n in range(3)]
        return total(each * each for each in d), size

    def select(self, poses: Any) -> "LegMeasurements":
        """Some of the poses: a mask, a slice, or numbers."""
        rows = np.arange(len(self))[poses if isinstance(poses, slice) else np.asarray(poses)]
        return LegMeasurements(*(getattr(self, field.name)[rows] for field in fields(self)))

    def widened(self, by: Any) -> "LegMeasurements":
        """The same with every reading uncertain by so much more, one number or one for each; sums are rounded up.

        Examples:
            >>> leg = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [0.1], 0, 0, 0.5)
            >>> leg.widened(0.25).reading_tolerance
            array([0.75])
        """
        total = self.reading_tolerance + by
        exact = (total - self.reading_tolerance == by) & (total - by == self.reading_tolerance)
        return replace(self, reading_tolerance=np.maximum(np.where(exact, total, np.nextafter(total, np.inf)), 0.0))


@dataclass(frozen=True, eq=False)
class PlatformMeasurements(ArrayValue):
    """N poses of a platform and the readings of several legs at each, all within stated tolerances.

    The errors δ, ω of a pose are the same for all legs; each leg's reading has an error of its own.

    Examples:
        >>> data = PlatformMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [[0.1, 0.2]], 1e-4, 1e-4, 1e-5)
        >>> len(data), data.n_legs, data.leg(1).reading
        (1, 2, array([0.2]))
    """

    quaternion: Array
    """(N, 4), scalar first."""
    position: Array
    """(N, 3), m."""
    readings: Array
    """(N, legs), m."""
    position_tolerance: Array
    """(N, 3), or what broadcasts to it."""
    rotation_tolerance: Array
    """(N, 3): of the left rotation vector ω, rad."""
    reading_tolerance: Array
    """(N, legs), m."""

    def __post_init__(self) -> None:
        shape = array(self.readings, "readings", ndim=(0, 1, 2, 3), copy=False).shape
        require(len(shape) == 2 and shape[1] > 0, f"readings must be (N, legs), but their shape is {shape}")
        _take(self, shape[0], {"readings": shape, "reading_tolerance": shape})

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def n_legs(self) -> int:
        """Number of legs with readings."""
        return self.readings.shape[1]

    @property
    def legs(self) -> tuple[LegMeasurements, ...]:
        """What was measured of each leg."""
        return tuple(map(self.leg, range(self.n_legs)))

    def leg(self, column: int) -> LegMeasurements:
        """What was measured of one leg, by its column of the readings."""
        return LegMeasurements(
            self.quaternion,
            self.position,
            self.readings[:, column],
            self.position_tolerance,
            self.rotation_tolerance,
            self.reading_tolerance[:, column],
        )

    def columns(self, columns: Any) -> "PlatformMeasurements":
        """The same poses with the readings of some legs."""
        chosen = list(columns)
        return replace(self, readings=self.readings[:, chosen], reading_tolerance=self.reading_tolerance[:, chosen])


def _take(data: Any, n: int, own: dict[str, tuple[int, ...]]) -> None:
    """Arrays of a shape each, finite, tolerances not negative; they cannot be written to afterwards."""
    shapes: dict[str, tuple[int, ...]] = {"quaternion": (n, 4), "position": (n, 3)}
    shapes |= {"position_tolerance": (n, 3), "rotation_tolerance": (n, 3), **own}
    for name, shape in shapes.items():
        values = array(getattr(data, name), name, ndim=(0, 1, 2))
        if "tolerance" in name:
            with suppress(ValueError):  # the shape is looked at below
                values = np.broadcast_to(values, shape).copy()
        require(values.shape == shape, f"{name} must have shape {shape}, but it is {values.shape}")
        bad = first_not_finite(values)
        require(bad is None, f"{name} of pose {bad and bad[0]} is NaN or infinite: leave that pose out")
        require("tolerance" not in name or bool((values >= 0).all()), f"{name} must not be negative")
        values.flags.writeable = False
        object.__setattr__(data, name, values)
    require(n > 0, "a leg needs at least one pose")
    largest = abs(data.quaternion).max(axis=1)
    require(bool((largest > 0).all()), "a quaternion of zeros is no rotation")
    off = np.flatnonzero((largest < SMALLEST) | (largest > LARGEST))  # their squares would over- or underflow
    if off.size:
        size = f"the quaternion of pose {off[0]} has the largest component {largest[off[0]]:.3g}"
        raise InputError(f"{size}, which is not between {SMALLEST:g} and {LARGEST:g}: give unit quaternions")


class LegRows(BoxRows):
    """The rows of a leg's measurements in a box. If shared, rows of poses have six columns more: errors of the pose."""

    def __init__(
        self, data: LegMeasurements, center: Numbers, radius: Numbers, more: Dyadic = ZERO, *, shared: bool = False
    ) -> None:
        super().__init__(PRODUCTS, len(data), center, radius)
        self._data, self._more, self._shared = data, more, shared
        self._b_most = root_above(total(_square(abs(x) + r) for x, r in zip(center[3:6], radius[3:6], strict=True)))

    def _both_sides(self, k: int) -> tuple[Row, Row]:
        spend(800_000)
        pose = _Pose(self._data, k, self.center, self.radius)
        F, f = pose.equation()
        G, g = pose.remainder() if self._shared else pose.spread()
        slopes = pose.slopes() if self._shared else []
        e = HALF * pose.turn * self._b_most
        # (l + reading + η)² ≤ (l + reading + T)², since 0 ≤ l + reading + η: it is a distance
        T, L, n = max(pose.reading + self._more, ZERO), pose.length, pose.n
        g += 2 * T * L * n + 2 * root_above(total(x * x for x in pose.farthest)) * e
        G[6] += 2 * T * n
        above = [a - b for a, b in zip(F, G, strict=True)] + slopes
        below = [-a - b for a, b in zip(F, G, strict=True)] + [-x for x in slopes]
        square = _square(pose.move + root_above(pose.turn) * self._b_most + e)
        # l + reading + η ≥ 0: its square is at least (l + reading − T)², or that minus 4 T² if l + reading may be < T:
        # with s = l + reading, s² − 2 s T − 3 T² = (s + T)(s − 3 T) ≤ 0 for −T ≤ s ≤ 3 T, and s < −T is no distance
        shorter = -(T * T) if L - self.radius[6] >= T else 3 * T * T
        return row_of(above, g - f + n * T * T), row_of(below, g + f + n * (square + shorter))


class _Pose:
    """One pose around a center, everything times n = |q|²."""

    def __init__(self, data: LegMeasurements, k: int, c: Numbers, r: Numbers) -> None:
        def exactly(name: str) -> Numbers:
            return [Dyadic.of(x) for x in getattr(data, name)[k].reshape(-1).tolist()]

        self.c, self.r = c, r
        self.R, self.n = rotation(exactly("quaternion"))
        self.p = [x - a for x, a in zip(exactly("position"), c[:3], strict=True)]
        self.v = [total(x * y for x, y in zip(row, c[3:6], strict=True)) for row in self.R]
        self.d = [v + self.n * p for v, p in zip(self.v, self.p, strict=True)]
        self.turned = [total(abs(x) * y for x, y in zip(row, r[3:6], strict=True)) for row in self.R]
        self.reach = [self.n * r[i] + self.turned[i] for i in range(3)]
        self.farthest = [abs(d) + reach for d, reach in zip(self.d, self.reach, strict=True)]
        self.length = exactly("reading")[0] + c[6]
        self.reading = exactly("reading_tolerance")[0]
        self._tp, self._tw = exactly("position_tolerance"), exactly("rotation_tolerance")
        self.turn = total(x * x for x in self._tw)
        self.move = root_above(total(x * x for x in self._tp))

    def equation(self) -> tuple[Numbers, Dyadic]:
        """|d|² − (l + reading)² as coefficients of h and its products, and its value at the center."""
        n, R, p, cb = self.n, self.R, self.p, self.c[3:6]
        along = [n * cb[j] + total(R[i][j] * p[i] for i in range(3)) for j in range(3)]
        F = [-2 * d for d in self.d] + [2 * x for x in along] + [-2 * n * self.length]
        F += [-2 * R[i][j] for i in range(3) for j in range(3)] + [n] * 6 + [-n]
        squares = total(x * x for x in (*cb, *p)) - self.length * self.length
        return F, n * squares + 2 * total(v * x for v, x in zip(self.v, p, strict=True))

    def spread(self) -> tuple[Numbers, Dyadic]:
        """2 Σ |d_i| δ_i + 2 Σ |m_i| ω_i from above, likewise."""
        G, g = [ZERO] * 23, ZERO
        for i in range(3):
            form = {i: -self.n} | {3 + c: self.R[i][c] for c in range(3)}
            for columns, value, reach, t in ((form, self.d[i], self.reach[i], self._tp[i]), self._moment(i)):
                slope, height = chord(value - reach, value + reach)
                for column, x in columns.items():
                    G[column] += 2 * t * slope * x
                g += 2 * t * (slope * value + height)
        return G, g

    def slopes(self) -> Numbers:
        """2 d and 2 m at the center: what an error δ, ω adds to the squared distance, to first order."""
        return [2 * x for x in (*self.d, *(self._moment(i)[1] for i in range(3)))]

    def remainder(self) -> tuple[Numbers, Dyadic]:
        """2 Σ |d_i − d_i(center)| δ_i + 2 Σ |m_i − m_i(center)| ω_i from above: a constant."""
        moments = [self._moment(i) for i in range(3)]
        rest = total(2 * t * reach for t, reach in zip(self._tp, self.reach, strict=True))
        return [ZERO] * 23, rest + total(2 * t * reach for _, _, reach, t in moments)

    def _moment(self, i: int) -> tuple[dict[int, Dyadic], Dyadic, Dyadic, Dyadic]:
        """m_i = v_j p_k − v_k p_j: columns, value, how far it reaches in the box, and its tolerance."""
        j, k = _AFTER[i]
        R, v, p, r = self.R, self.v, self.p, self.r
        along = [R[j][c] * p[k] - R[k][c] * p[j] for c in range(3)]
        form = {3 + c: along[c] for c in range(3)} | {k: -v[j], j: v[k]}
        form |= {7 + 3 * k + c: -R[j][c] for c in range(3)} | {7 + 3 * j + c: R[k][c] for c in range(3)}
        reach = total(abs(x) * y for x, y in zip(along, r[3:6], strict=True))
        reach += (abs(v[j]) + self.turned[j]) * r[k] + (abs(v[k]) + self.turned[k]) * r[j]
        return form, v[j] * p[k] - v[k] * p[j], reach, self._tw[i]


def rotation(q: Numbers) -> tuple[list[Numbers], Dyadic]:
    """|q|² R and |q|²."""
    w, x, y, z = q
    return [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ], w * w + x * x + y * y + z * z


def _square(x: Dyadic) -> Dyadic:
    return x * x


def _numbers(values: Iterable[float | Fraction]) -> Numbers:
    return [Dyadic.of(rational(x, "a number")) for x in values]
