"""Regions of parameter space.

A region has a center, an axis-aligned hull and a membership test. Axes are numbered here; names belong to `Unknowns`.
Hulls are rounded outward, so that a hull of a guaranteed region is itself guaranteed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, lgamma, log, pi
from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import require
from gough.core.outward import between


@runtime_checkable
class Region(Protocol):
    """A set of parameter vectors θ. `θ in region` asks for membership."""

    @property
    def center(self) -> Array: ...

    def hull(self) -> "Box": ...

    def __contains__(self, theta: Any) -> bool: ...

    def project(self, axes: Sequence[int]) -> "Region":
        """The shadow of the region on some of the axes."""
        ...

    def outline(self, axes: tuple[int, int], n_points: int = 200) -> Array:
        """A closed polygon (n, 2) around the shadow on two axes, for drawing."""
        ...

    def log_volume(self) -> float: ...


class Interval(NamedTuple):
    """The numbers from `lower` to `upper`, both included; a side may be infinite. `x in interval` is lower ≤ x ≤ upper.

    The empty interval has lower = ∞ and upper = −∞. `str()` rounds the sides outward.

    Examples:
        >>> lower, upper = interval = Interval(0.5, 1.5)
        >>> 1.0 in interval, 2.0 in interval, upper - lower, Interval(np.inf, -np.inf).is_empty
        (True, False, 1.0, True)
    """

    lower: float
    upper: float

    @property
    def is_empty(self) -> bool:
        """Whether it contains no number."""
        return self.lower > self.upper

    def __contains__(self, value: object) -> bool:
        return bool(self.lower <= value <= self.upper)  # type: ignore[operator]

    def __str__(self) -> str:
        return "empty" if self.is_empty else between(self.lower, self.upper)


@np.errstate(all="ignore")
def _down(x: Array) -> Array:
    return np.nextafter(x, -inf)


@np.errstate(all="ignore")
def _up(x: Array) -> Array:
    return np.nextafter(x, inf)


def _digits(values: Array) -> str:
    """All digits, so that the numbers read back are the same: eight, as numpy prints, round sets to nearest."""
    return np.array2string(values, separator=", ", floatmode="unique", threshold=values.size + 1)


@dataclass(frozen=True, eq=False)
class Box(ArrayValue):
    """The axis-aligned box lower ≤ θ ≤ upper; sides may be infinite. `&` intersects, `|` encloses both, `<=` is ⊆.

    Adding or subtracting a vector moves the box and rounds outward, so that no point is lost.

    Examples:
        >>> box = Box([0, 0], [1, 2])
        >>> [0.5, 2] in box, [0.5, 3] in box
        (True, False)
        >>> (box & Box([2, 0], [3, 1])).is_empty
        True
    """

    lower: Array
    upper: Array

    def __post_init__(self) -> None:
        lower, upper = (array(getattr(self, side), f"Box.{side}", ndim=1) for side in ("lower", "upper"))
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        require(
            lower.shape == upper.shape,
            f"a Box has {len(lower)} lower and {len(upper)} upper sides; give as many",
        )
        holds_points = (lower <= upper) & (lower < inf) & (upper > -inf)
        if not holds_points.all():
            require(not (np.isnan(lower).any() or np.isnan(upper).any()), "a Box has NaN among its sides")
            axis = np.flatnonzero(~holds_points)[:1]
            text = f"a Box is upside down on axis {axis}: lower must not exceed upper (the empty one is Box.empty)"
            require(self.is_empty, text)

    @classmethod
    def unbounded(cls, n: int) -> "Box":
        """All of ℝⁿ.

        Examples:
            >>> [1e300] in Box.unbounded(1)
            True
        """
        return cls(np.full(n, -inf), np.full(n, inf))

    @classmethod
    def empty(cls, n: int) -> "Box":
        """The empty set in ℝⁿ."""
        return cls(np.full(n, inf), np.full(n, -inf))

    @classmethod
    @np.errstate(all="ignore")
    def around(cls, center: Any, radius: Any) -> "Box":
        """Center ± radius, rounded outward.

        Examples:
            >>> Box.around([1.0], 0.5).width
            array([1.])
        """
        c, r = array(center, "center", ndim=1), array(radius, "radius", ndim=(0, 1))
        require(bool((r >= 0).all()), "Box.around needs radii that are numbers and not negative")
        return cls(np.where(r == 0, c, _down(c - r)), np.where(r == 0, c, _up(c + r)))

    def __len__(self) -> int:
        return len(self.lower)

    @property
    def is_empty(self) -> bool:
        """Whether it contains no point."""
        return len(self) > 0 and bool((self.lower == inf).all() and (self.upper == -inf).all())

    @property
    def is_bounded(self) -> bool:
        return bool(np.isfinite(self.lower).all() and np.isfinite(self.upper).all())

    @property
    @np.errstate(all="ignore")
    def center(self) -> Array:
        """The midpoint; on half-infinite axes the finite side, on infinite axes 0, NaN if empty."""
        if self.is_empty:
            return np.full(len(self), np.nan)
        low, high = np.isfinite(self.lower), np.isfinite(self.upper)
        a, b = np.where(low, self.lower, 0.0), np.where(high, self.upper, 0.0)
        middle = np.clip(a / 2 + b / 2, a, np.where(high, b, inf))
        return np.where(low & high, middle, np.where(low, a, b))

    @property
    @np.errstate(all="ignore")
    def width(self) -> Array:
        """Upper minus lower, rounded to nearest; negative infinity if empty."""
        return self.upper - self.lower

    def hull(self) -> "Box":
        return self

    def __repr__(self) -> str:
        return f"Box({_digits(self.lower)}, {_digits(self.upper)})"

    def __contains__(self, theta: Any) -> bool:
        point = array(theta, "θ", ndim=1)
        require(len(point) == len(self), f"θ has {len(point)} entries, but the box has {len(self)} axes")
        return bool(((self.lower <= point) & (point <= self.upper)).all())

    def __and__(self, other: "Box") -> "Box":
        lower, upper = np.maximum(self.lower, other.lower), np.minimum(self.upper, other.upper)
        return Box.empty(len(self)) if (lower > upper).any() else Box(lower, upper)

    def __or__(self, other: "Box") -> "Box":
        return Box(np.minimum(self.lower, other.lower), np.maximum(self.upper, other.upper))

    def __le__(self, other: "Box") -> bool:
        inside = (other.lower <= self.lower) & (self.upper <= other.upper)
        return self.is_empty or bool(inside.all())

    @np.errstate(all="ignore")
    def __add__(self, shift: Any) -> "Box":
        if self.is_empty:
            return self
        s = array(shift, "shift", ndim=(0, 1))
        return Box(
            np.where(s == 0, self.lower, _down(self.lower + s)),
            np.where(s == 0, self.upper, _up(self.upper + s)),
        )

    def __radd__(self, shift: Any) -> "Box":
        return self + shift

    def __sub__(self, shift: Any) -> "Box":
        return self + -array(shift, "shift", ndim=(0, 1))

    # numpy must leave `vector + box` to __radd__ instead of trying entry by entry
    __array_ufunc__ = None

    def project(self, axes: Sequence[int]) -> "Box":
        return Box(self.lower[list(axes)], self.upper[list(axes)])

    def outline(self, axes: tuple[int, int], n_points: int = 200) -> Array:  # noqa: ARG002 - a box has four corners
        (x0, y0), (x1, y1) = self.lower[list(axes)], self.upper[list(axes)]
        return np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1], [x0, y0]])

    def log_volume(self) -> float:
        """Natural logarithm of the volume; −∞ if empty or flat."""
        if self.is_empty:
            return -inf
        with np.errstate(all="ignore"):
            return float(np.log(self.width).sum())


@dataclass(frozen=True, eq=False)
class Ellipsoid(ArrayValue):
    """The ellipsoid (θ − center)ᵀ shape⁻¹ (θ − center) ≤ 1; a singular shape makes it flat.

    Examples:
        >>> disc = Ellipsoid(center=[1, 1], shape=[[4, 0], [0, 1]])
        >>> [3, 1] in disc, [1, 2.1] in disc
        (True, False)
        >>> round(disc.log_volume(), 4)  # log of π·2·1
        1.8379
    """

    center: Array
    shape: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", array(self.center, "Ellipsoid.center", ndim=1))
        object.__setattr__(self, "shape", _symmetric(self.shape, "Ellipsoid.shape", len(self.center)))

    def __repr__(self) -> str:
        return f"Ellipsoid({_digits(self.center)}, {_digits(self.shape)})"

    @np.errstate(all="ignore")
    def hull(self) -> Box:
        # sqrt and the two sums err by less than one ulp each in any rounding mode
        square = self.shape.diagonal()
        return Box.around(self.center, np.where(square > 0, _up(np.sqrt(square)), 0.0))

    @np.errstate(all="ignore")
    def distance(self, theta: Any) -> float:
        """√((θ − center)ᵀ shape⁻¹ (θ − center)): 1 on the surface, ∞ off the plane of a flat ellipsoid."""
        point = array(theta, "θ", ndim=1)
        require(
            len(point) == len(self.center),
            f"θ has {len(point)} entries, but the ellipsoid has {len(self.center)} axes",
        )
        scale = np.sqrt(self.shape.diagonal())
        scale = np.where(scale > 0, scale, 1.0)
        eigenvalues, vectors = np.linalg.eigh(self.shape / np.outer(scale, scale))
        along = vectors.T @ ((point - self.center) / scale)
        flat = eigenvalues <= len(scale) * np.finfo(float).eps * max(eigenvalues[-1], 0.0)
        if (abs(along[flat]) > 8 * np.finfo(float).eps * np.linalg.norm(point / scale)).any():
            return inf
        return float(np.sqrt((along[~flat] ** 2 / eigenvalues[~flat]).sum()))

    def __contains__(self, theta: Any) -> bool:
        return self.distance(theta) <= 1

    def project(self, axes: Sequence[int]) -> "Ellipsoid":
        keep = list(axes)
        return Ellipsoid(self.center[keep], self.shape[np.ix_(keep, keep)])

    @np.errstate(all="ignore")
    def outline(self, axes: tuple[int, int], n_points: int = 200) -> Array:
        shadow = self.project(axes)
        eigenvalues, vectors = np.linalg.eigh(shadow.shape)
        angle = np.linspace(0, 2 * pi, n_points)
        circle = np.stack([np.cos(angle), np.sin(angle)])
        return shadow.center + (vectors @ (np.sqrt(np.maximum(eigenvalues, 0))[:, None] * circle)).T

    @np.errstate(all="ignore")
    def log_volume(self) -> float:
        """Natural logarithm of the volume; −∞ if flat."""
        p = len(self.center)
        sign, logdet = np.linalg.slogdet(self.shape)
        unit_ball = p / 2 * log(pi) - lgamma(p / 2 + 1)
        return float(unit_ball + logdet / 2) if sign > 0 else -inf


@dataclass(frozen=True, eq=False)
class Intersection(ArrayValue):
    """The intersection of a box and an ellipsoid.

    Examples:
        >>> lens = Intersection(Box([0, 0], [2, 2]), Ellipsoid([0, 0], [[1, 0], [0, 9]]))
        >>> [0.5, 1] in lens, [1.5, 1] in lens, [-0.5, 0] in lens
        (True, False, False)
        >>> lens.hull().upper.round(6)
        array([1., 2.])
    """

    box: Box
    ellipsoid: Ellipsoid

    def __post_init__(self) -> None:
        axes = (len(self.box), len(self.ellipsoid.center))
        require(axes[0] == axes[1], f"a box with {axes[0]} axes and an ellipsoid with {axes[1]} have no intersection")

    @property
    def center(self) -> Array:
        """The ellipsoid's center, moved into the box if it is outside; NaN if the box is empty."""
        if self.box.is_empty:
            return self.box.center
        return np.clip(self.ellipsoid.center, self.box.lower, self.box.upper)

    def hull(self) -> Box:
        """The box, cut to the ellipsoid's: around the intersection, and not always the smallest."""
        return self.box & self.ellipsoid.hull()

    def __contains__(self, theta: Any) -> bool:
        return theta in self.box and theta in self.ellipsoid

    def project(self, axes: Sequence[int]) -> "Intersection":
        """The intersection of both shadows, which holds the shadow of the intersection."""
        return Intersection(self.box.project(axes), self.ellipsoid.project(axes))

    def outline(self, axes: tuple[int, int], n_points: int = 200) -> Array:
        """The ellipse, cut along each side of the box in turn."""
        polygon, shadow = self.ellipsoid.outline(axes, n_points), self.box.project(axes)
        for axis in (0, 1):
            polygon = cut(polygon, axis, 1.0, float(shadow.lower[axis]))
            polygon = cut(polygon, axis, -1.0, -float(shadow.upper[axis]))
        return np.vstack([polygon, polygon[:1]])

    def log_volume(self) -> float:
        """Natural logarithm of the smaller volume of the two, which the intersection does not exceed."""
        return min(self.box.log_volume(), self.ellipsoid.log_volume())


@dataclass(frozen=True, eq=False)
class ConfidenceEllipsoid(ArrayValue):
    """A Gaussian belief about θ: mean `center`, `covariance`, and the ellipsoid that holds `level` of it.

    With finite `dof` the scale of the covariance was itself estimated from data with that many degrees of freedom, and
    Fisher's and Student's distributions replace the Gaussian's. Where correlations were estimated too, the joint region
    is wider than by one common scale: it has fewer degrees of freedom, `joint_dof`.

    Examples:
        >>> belief = ConfidenceEllipsoid([1.0], [[0.04]])
        >>> belief.sigma
        array([0.2])
        >>> belief.interval().upper.round(3)
        array([1.392])
    """

    center: Array
    covariance: Array
    level: float = 0.95
    dof: float = inf
    joint_dof: float | None = None
    """Degrees of freedom of the joint region; None: those of single unknowns."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", array(self.center, "ConfidenceEllipsoid.center", ndim=1))
        covariance = _symmetric(self.covariance, "ConfidenceEllipsoid.covariance", len(self.center))
        object.__setattr__(self, "covariance", covariance)
        require(0 < self.level < 1, f"a confidence level lies between 0 and 1, but level = {self.level}")
        require(self.dof > 0, f"degrees of freedom must be positive, but dof = {self.dof}")
        fits = self.joint_dof is None or self.joint_dof > 0
        require(fits, f"degrees of freedom must be positive, but joint_dof = {self.joint_dof}")

    def __len__(self) -> int:
        return len(self.center)

    @property
    def sigma(self) -> Array:
        """Standard deviation of each unknown."""
        return np.sqrt(self.covariance.diagonal())

    @property
    @np.errstate(all="ignore")
    def correlation(self) -> Array:
        """The covariance scaled to a unit diagonal."""
        sigma = np.where(self.sigma > 0, self.sigma, 1.0)
        return self.covariance / np.outer(sigma, sigma)

    @property
    @np.errstate(all="ignore")
    def ellipsoid(self) -> Ellipsoid:
        """The joint confidence region at `level`."""
        return Ellipsoid(self.center, self._radius_squared * self.covariance)

    @property
    def half_widths(self) -> Array:
        """Half of each side of `hull`, but for rounding."""
        return np.asarray(np.sqrt(self._radius_squared) * self.sigma)

    @property
    def _radius_squared(self) -> float:
        from scipy import special  # noqa: PLC0415 - start-up time

        p = len(self.center)
        dof = self.dof if self.joint_dof is None or p == 1 else self.joint_dof
        return float(special.chdtri(p, 1 - self.level) if dof == inf else p * special.fdtri(p, dof, self.level))

    @np.errstate(all="ignore")
    def interval(self, level: float | None = None) -> Box:
        """Each unknown by itself: center ± the quantile of Student's (or the Gaussian) distribution times σ."""
        from scipy import special  # noqa: PLC0415 - start-up time

        probability = 0.5 + (self.level if level is None else level) / 2
        quantile = special.ndtri(probability) if self.dof == inf else special.stdtrit(self.dof, probability)
        return Box.around(self.center, quantile * self.sigma)

    def hull(self) -> Box:
        """The hull of the joint region: wider than `interval`, which looks at one unknown at a time."""
        return self.ellipsoid.hull()

    def __contains__(self, theta: Any) -> bool:
        return theta in self.ellipsoid

    def project(self, axes: Sequence[int]) -> Self:
        keep = list(axes)
        return type(self)(self.center[keep], self.covariance[np.ix_(keep, keep)], self.level, self.dof, self.joint_dof)

    def outline(self, axes: tuple[int, int], n_points: int = 200) -> Array:
        return self.project(axes).ellipsoid.outline((0, 1), n_points)

    def log_volume(self) -> float:
        return self.ellipsoid.log_volume()


@np.errstate(all="ignore")
def _symmetric(value: Any, what: str, n: int) -> Array:
    """`value` as an n × n matrix, checked to be symmetric and not indefinite beyond rounding."""
    matrix = array(value, what, ndim=2)
    require(
        matrix.shape == (n, n),
        f"{what} must be {n} × {n} to match the center, but its shape is {matrix.shape}",
    )
    require(bool(np.isfinite(matrix).all()), f"{what} has NaN or infinite entries")
    diagonal = matrix.diagonal()
    require(bool((diagonal >= 0).all()), f"{what} has a negative diagonal entry")
    scale = np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    unit = matrix / np.outer(scale, scale)
    require(bool((abs(unit - unit.T) <= 1e-9).all()), f"{what} is not symmetric")
    unit = (unit + unit.T) / 2
    try:
        np.linalg.cholesky(unit)
    except np.linalg.LinAlgError:  # a zero eigenvalue is allowed, and rounding
        smallest = np.linalg.eigvalsh(unit)[0]
        require(
            smallest >= -1e-9,
            f"{what} is not positive semidefinite: an eigenvalue of its correlation is {smallest:.2g}",
        )
    result: Array = (matrix + matrix.T) / 2
    result.flags.writeable = False
    return result


def cut(polygon: Array, axis: int, sign: float, side: float) -> Array:
    """The part of a convex polygon (n, 2) where sign · x[axis] ≥ side; (0, 2) where nothing is left.

    Examples:
        >>> cut(np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]), axis=0, sign=1.0, side=1.0)
        array([[1., 0.],
               [2., 0.],
               [2., 2.],
               [1., 2.]])
    """
    inside = sign * polygon[:, axis] - side
    kept = []
    for i, (a, b) in enumerate(zip(inside, np.roll(inside, -1), strict=True)):
        if a >= 0:
            kept.append(polygon[i])
        if (a < 0 < b) or (b < 0 < a):
            kept.append(polygon[i] + a / (a - b) * (polygon[(i + 1) % len(polygon)] - polygon[i]))
    return np.array(kept).reshape(-1, 2)
