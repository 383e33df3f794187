"""A proven enclosure of the pose of a target, if no centroid is off by more than a bound.

The pose is t = t₀ + τ and R = C(σ) R₀, with Cayley's rational form C(σ) of a rotation about σ by 2 arctan |σ|. With
x = (τ, σ), the expected centroids f(x), and B an approximate inverse of their slopes, the mean value theorem gives for
every x in a box X about 0

    x = B (f(x) − f(0)) + (I − B f′(ξ)) x ∈ B ([seen ± bound] − f(0)) + (I − B f′(X)) X.

All is evaluated in intervals, and X is replaced by what it has in common with the right side until it stays [KRA69].
Every pose in the first box that puts all centroids within the bound is in the last one.
"""

from typing import Any, NamedTuple

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.intervals import Interval
from gough.core.rotations import enclosed_rotation, nearest_rotation, to_quaternion
from gough.vision.lens import Camera

TURNS = 8
"""Nodes on each of two circles, as in `gough.vision.optics.discs`."""
_STEPS = 60
_SETTLED = 0.99
"""The iteration ends where no side shrinks by more than this factor in a step."""
_REACHES = (3000.0, 1000.0, 300.0, 100.0, 50.0, 30.0, 20.0, 10.0, 5.0, 3.0, 2.0, 1.5)
"""Sizes of the box that is searched, in half-widths to first order: the first that contracts counts."""
_WIDEST = 0.1
"""Half-widths (m, and tangents of half angles) beyond which no box is searched."""
_BROWN, _RATIONAL, _PRISM = 9, 12, 16
"""Numbers of parameters of the models of a lens."""
_ROTATION = 2.0**-44
"""Rounding of a rotation that becomes a quaternion and a matrix again, rad."""


class _Jet(NamedTuple):
    """Values over a box, values at 0, and slopes S with f(x) − f(0) = S x, by the unknowns along the last axis."""

    value: Interval
    center: Interval
    slope: Interval

    def plus(self, other: "_Jet") -> "_Jet":
        return _Jet(self.value + other.value, self.center + other.center, self.slope + other.slope)

    def minus(self, other: "_Jet") -> "_Jet":
        return _Jet(self.value - other.value, self.center - other.center, self.slope - other.slope)

    def times(self, other: "_Jet") -> "_Jet":
        slope = self.slope * _last(other.value) + other.slope * _last(self.center)
        return _Jet(self.value * other.value, self.center * other.center, slope)

    def scaled(self, factor: Any) -> "_Jet":
        exact = factor if isinstance(factor, Interval) else Interval(factor)
        return _Jet(self.value * exact, self.center * exact, self.slope * _last(exact))

    def over(self, other: "_Jet") -> "_Jet":
        center = self.center / other.center
        slope = (self.slope - other.slope * _last(center)) / _last(other.value)
        return _Jet(self.value / other.value, center, slope)

    def shifted(self, constant: Any) -> "_Jet":
        return _Jet(self.value + constant, self.center + constant, self.slope)

    def at(self, *place: Any) -> "_Jet":
        return _Jet(self.value[place], self.center[place], self.slope[place])

    def summed(self) -> "_Jet":
        """The sum over the nodes of each dot."""
        return _Jet(iv.sum(self.value), iv.sum(self.center), iv.sum(self.slope, axis=1))


def _last(x: Interval) -> Interval:
    return x.reshape(*x.shape, 1)


def _square(x: _Jet) -> _Jet:
    return _Jet(iv.sqr(x.value), iv.sqr(x.center), x.slope * _last(x.value + x.center))


class _TooWide(Exception):  # noqa: N818 - it says what the box is
    """A box holds poses at which the equations are not defined."""


class PoseBounds(NamedTuple):
    """Bounds of a pose's errors, proven under the assumptions."""

    position: Array
    """(3,): half-widths about the measured position, m; also about the decimals of it in a file."""
    rotation: Array
    """(3,): half-widths of the left rotation vector about the measured rotation, rad."""
    searched_position: Array
    """(3,): the half-widths within which all poses were considered, m."""
    searched_rotation: Array
    """(3,): the same of the rotation vector, rad."""


class Assumed(NamedTuple):
    """What the enclosure rests on."""

    error: float
    """Largest error of a coordinate of a centroid, pixels."""
    camera: Array
    """Largest errors of the camera's parameters."""
    points: float
    """Largest error of a coordinate of a dot, m."""


def enclose_pose(  # noqa: PLR0917 - a pose, a camera, a target
    rotation: Array, position: Array, pixels: Array, points: Array, radius: float, camera: Camera, assumed: Assumed
) -> PoseBounds:
    """Half-widths that hold every pose that is consistent with the assumptions, within the region that was searched.

    Raises:
        InputError: the bounds are too wide for the iteration to contract, or no pose is consistent with them.
    """
    models = (_BROWN, _RATIONAL, _PRISM)
    require(
        len(camera.parameters) in models, "poses are bounded for Brown's lenses and their extensions, not a fisheye"
    )
    base = enclosed_rotation(to_quaternion(nearest_rotation(rotation[None])))[0]
    lens = Interval(camera.parameters) + Interval(-assumed.camera, assumed.camera)
    sheet = Interval(points) + Interval(-assumed.points, assumed.points)
    model = _Model(base, Interval(position), lens, sheet, radius)
    at_zero, start = model.centroids(Interval(np.zeros(6)))
    gap = (Interval(pixels) + Interval(-assumed.error, assumed.error) - at_zero).reshape(-1)
    upper, lower, first = _rows(start.mid.reshape(-1, 6), gap)
    for factor in _REACHES:
        reach = np.minimum(factor * np.maximum(first, 1e-12), _WIDEST)
        try:
            X = _contracted(model, gap, upper, lower, Interval(-reach, reach))
        except _TooWide:
            continue
        if X is not None:
            turned, searched = ((2 * Interval(each) + _ROTATION).upper for each in (X.mag[3:], reach[3:]))
            return PoseBounds(for_decimals(X.mag[:3], position), turned, reach[:3], searched / 1.01)
    raise InputError(
        "these bounds do not determine the pose: the enclosure does not contract. State smaller errors, or use an "
        "image in which the target is larger and more tilted"
    )


def for_decimals(half: Array, middle: Array) -> Array:
    """Half-widths that hold the same intervals where both numbers are written as decimals that read as these doubles.

    Examples:
        >>> float(for_decimals(np.array([1e-6]), np.array([0.1]))[0])
        1.000000000013878e-06
    """
    return np.asarray((Interval(half) + np.spacing(half) + np.spacing(np.abs(middle))).upper)


def _rows(J: Array, gap: Interval) -> tuple[Array, Array, Array]:
    """Combinations of equations (6, m) that bound each unknown from above and from below best, and the bounds' sizes.

    They are dual solutions of the linear programs "largest and smallest x_j with J x in the gap". Any rows are valid:
    rounding errors of the programs make bounds wider, not wrong.
    """
    from scipy.optimize import linprog  # noqa: PLC0415 - start-up time

    size = np.linalg.norm(J, axis=0)
    A = J / size
    both = np.vstack([A, -A])
    limits = np.concatenate([gap.upper, -gap.lower])
    result, first = [], np.zeros(6)
    for sign in (-1.0, 1.0):
        rows = np.zeros((6, len(A)))
        for j in range(6):
            answer = linprog(sign * np.eye(6)[j], A_ub=both, b_ub=limits, bounds=(None, None), method="highs")
            if answer.status == 2:
                raise InputError(
                    "no pose near the measured one puts all centroids within the bound: the bound of the centroids' "
                    "errors is too small, or the camera is another one"
                )
            require(answer.status == 0, f"the bounds of the pose cannot be computed: {answer.message}")
            dual = answer.ineqlin.marginals
            rows[j] = sign * (dual[: len(A)] - dual[len(A) :]) / size[j]
            first[j] = max(first[j], abs(answer.fun) / size[j])
        result.append(rows)
    return result[0], result[1], first


def _contracted(model: "_Model", gap: Interval, upper: Array, lower: Array, X: Interval) -> Interval | None:
    """What the equations leave of a box; None where they leave it as wide on some side."""
    begun = X
    for _ in range(_STEPS):
        _, slopes = model.centroids(X)
        slopes = slopes.reshape(-1, 6)
        above = _bounded(upper, slopes, gap, X)
        below = _bounded(lower, slopes, gap, X)
        ends = np.maximum(below.lower, X.lower), np.minimum(above.upper, X.upper)
        require(bool((ends[0] <= ends[1]).all()), "no pose puts all centroids within the bound: it is too small")
        new = Interval(*ends)
        shrunk = bool((new.wid < _SETTLED * X.wid).any())
        X = new
        if not shrunk:
            break
    return X if bool((X.mag < begun.mag).all()) else None


def _bounded(rows: Array, slopes: Interval, gap: Interval, X: Interval) -> Interval:
    """B gap + (I − B S) X, row by row."""
    B = Interval(rows)
    products = [iv.dot(B, slopes[:, k]) for k in range(6)]
    left = Interval(np.eye(6)) - iv.rearrange(lambda *ends: np.stack(ends, axis=-1), *products)
    return iv.dot(B, gap) + iv.dot(left, X)


class _Model:
    """Expected centroids of all dots, in intervals."""

    def __init__(self, base: Interval, position: Interval, lens: Interval, points: Interval, radius: float) -> None:
        self.base, self.position, self.lens = base, position, lens
        require(float(abs(points.mid[:, 2]).max()) <= 1e3, "points of a target are in m")
        if radius > 0:
            X, Y = _nodes(points, radius)
        else:
            X, Y = (_column(points[:, k]) for k in (0, 1))
        self.X, self.Y, self.Z = X, Y, _column(points[:, 2])
        self.nodes = X.shape[1]

    def centroids(self, box: Interval) -> tuple[Interval, Interval]:
        """Pixels (n, 2) at 0, and slopes (n, 2, 6) for all x in a box."""
        u, v, w = self._projected(box)
        every, nodes = slice(None), slice(1, None)
        if self.nodes == 1:
            at = [u.at(every, 0), v.at(every, 0)]
        else:
            weight = w.at(every, nodes)
            total = weight.summed()
            at = []
            for pixel in (u, v):  # about the image of the center, so that intervals stay narrow
                about = pixel.at(every, nodes).minus(pixel.at(every, slice(1)))
                at.append(pixel.at(every, 0).plus(about.times(weight).summed().over(total)))
        return _joined(at[0].center, at[1].center), _joined(at[0].slope, at[1].slope)

    def _projected(self, box: Interval) -> tuple[_Jet, _Jet, _Jet]:
        """Pixels u, v of all nodes, and how much larger the image of the plane is there, each (n, nodes)."""
        unknowns = [_Jet(box[k], Interval(0.0), Interval(np.eye(6)[k])) for k in range(6)]
        R = _cayley(unknowns[3:], self.base)
        shape = (*self.X.shape, 1)
        P = []
        for i in range(3):
            parts = [_spread(R[i][k], shape).scaled(each) for k, each in enumerate((self.X, self.Y, self.Z))]
            moved = _spread(unknowns[i].shifted(self.position[i]), shape)
            P.append(parts[0].plus(parts[1]).plus(parts[2]).plus(moved))
        if not (P[2].value.lower > 0).all():
            raise _TooWide("the target may be behind the camera")
        x, y = P[0].over(P[2]), P[1].over(P[2])
        (u, v), ((xx, xy), (yx, yy)) = _distorted(self.lens, x, y)
        fx, fy = self.lens[0], self.lens[1]
        columns = [[_spread(R[i][k], shape) for i in range(3)] for k in (0, 1)]
        (ax, ay), (bx, by) = (
            (column[0].minus(x.times(column[2])).over(P[2]), column[1].minus(y.times(column[2])).over(P[2]))
            for column in columns
        )
        stretch = ax.times(by).minus(ay.times(bx)).times(xx.times(yy).minus(xy.times(yx)))
        signs = (stretch.value.lower > 0).all() or (stretch.value.upper < 0).all()
        if not signs:
            raise _TooWide("the target may be seen edge-on, or the distortion fold over")
        return u.scaled(fx).shifted(self.lens[2]), v.scaled(fy).shifted(self.lens[3]), stretch


def _cayley(sigma: list[_Jet], base: Interval) -> list[list[_Jet]]:
    """C(σ) R₀ with C(σ) = ((1 − |σ|²) I + 2 [σ]× + 2 σ σᵀ) / (1 + |σ|²)."""
    squares = [_square(each) for each in sigma]
    total = squares[0].plus(squares[1]).plus(squares[2])
    below = total.shifted(1.0)
    C: list[list[_Jet]] = [[sigma[0]] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            if i == j:  # 1 − |σ|² + 2 σ_i² = 1 + |σ|² − 2 Σ of the other two squares
                others = [squares[k] for k in range(3) if k != i]
                C[i][j] = others[0].plus(others[1]).over(below).scaled(-2.0).shifted(1.0)
                continue
            k = 3 - i - j
            sign = 1.0 if (j - i) % 3 == 2 else -1.0  # [σ]×: entry (1, 0) is +σ₂, entry (0, 1) is −σ₂
            C[i][j] = sigma[i].times(sigma[j]).plus(sigma[k].scaled(sign)).over(below).scaled(2.0)
    return [
        [C[i][0].scaled(base[0, j]).plus(C[i][1].scaled(base[1, j])).plus(C[i][2].scaled(base[2, j])) for j in range(3)]
        for i in range(3)
    ]


def _distorted(lens: Interval, x: _Jet, y: _Jet) -> tuple[tuple[_Jet, _Jet], tuple[tuple[_Jet, _Jet], ...]]:
    """Brown's model [BRO71] and its extensions as in `gough.vision.optics.distorted`, and its slopes by x and y."""
    k1, k2, p1, p2, k3 = (lens[k] for k in range(4, 9))
    xx, yy, xy = _square(x), _square(y), x.times(y)
    s = xx.plus(yy)
    radial = s.times(s.times(s.scaled(k3).shifted(k2)).shifted(k1)).shifted(1.0)
    slope = s.times(s.scaled(3 * k3).shifted(2 * k2)).shifted(k1)
    if len(lens) >= _RATIONAL:
        k4, k5, k6 = (lens[k] for k in range(9, 12))
        below = s.times(s.times(s.scaled(k6).shifted(k5)).shifted(k4)).shifted(1.0)
        radial = radial.over(below)
        slope = slope.minus(radial.times(s.times(s.scaled(3 * k6).shifted(2 * k5)).shifted(k4))).over(below)
    u = x.times(radial).plus(xy.scaled(2 * p1)).plus(s.plus(xx.scaled(2.0)).scaled(p2))
    v = y.times(radial).plus(s.plus(yy.scaled(2.0)).scaled(p1)).plus(xy.scaled(2 * p2))
    across = xy.times(slope).scaled(2.0).plus(x.scaled(2 * p1)).plus(y.scaled(2 * p2))
    along = radial.plus(xx.times(slope).scaled(2.0)).plus(y.scaled(2 * p1)).plus(x.scaled(6 * p2))
    up = radial.plus(yy.times(slope).scaled(2.0)).plus(y.scaled(6 * p1)).plus(x.scaled(2 * p2))
    if len(lens) < _PRISM:
        return (u, v), ((along, across), (across, up))
    s1, s2, s3, s4 = (lens[k] for k in range(12, 16))
    u, v = u.plus(s.times(s.scaled(s2).shifted(s1))), v.plus(s.times(s.scaled(s4).shifted(s3)))
    first, second = (s.scaled(2 * b).shifted(a).scaled(2.0) for a, b in ((s1, s2), (s3, s4)))
    return (u, v), (
        (along.plus(x.times(first)), across.plus(y.times(first))),
        (across.plus(x.times(second)), up.plus(y.times(second))),
    )


def _nodes(points: Interval, radius: float) -> tuple[Interval, Interval]:
    """X and Y (n, 17) of the center and the nodes of the rule that `gough.vision.optics.discs` uses."""
    half = np.arange(2 * TURNS)  # angles are multiples of π / TURNS
    angle = np.pi * half / TURNS
    tiny = Interval(-1e-15, 1e-15)  # of the angle's rounding, and of cosine and sine
    cosine, sine = Interval(np.cos(angle)) + tiny, Interval(np.sin(angle)) + tiny
    inner, outer = (iv.sqrt((1 + sign / iv.sqrt(Interval(3.0))) / 2) * radius for sign in (-1.0, 1.0))
    even = half % 2 == 0
    offsets = []
    for part in (cosine, sine):
        ring = [Interval(np.zeros(1)), part[even] * inner, part[~even] * outer]
        offsets.append(iv.rearrange(lambda *ends: np.concatenate(ends), *ring))
    return _column(points[:, 0]) + offsets[0], _column(points[:, 1]) + offsets[1]


def _column(x: Interval) -> Interval:
    return x.reshape(len(x), 1)


def _spread(jet: _Jet, shape: tuple[int, ...]) -> _Jet:
    """A jet of one number, for all nodes."""
    n = (1,) * (len(shape) - 1)
    return _Jet(jet.value.reshape(*n), jet.center.reshape(*n), jet.slope.reshape(*n, 6))


def _joined(u: Interval, v: Interval) -> Interval:
    return iv.rearrange(lambda *ends: np.stack(ends, axis=1), u, v)
