"""Sets of matrices as midpoint and radius, and the error model under which their radii are bounds.

The model: each operation returns its exact result times 1 + δ, |δ| <= 2^-52, which holds whether the processor rounds
to nearest or in any other direction, and with fused multiply-add [HIG02, §2.2]; below 2^-1022 operands and results may
be replaced by zero. A sum may be taken in any order, by any number of threads. Nothing else is assumed of BLAS than
that a product takes n multiplications and additions per entry, which excludes Strassen's.
"""

import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.intervals import Interval

UNIT = math.ldexp(1.0, -52)  # exact in every rounding mode, as ** is not
TINY = math.ldexp(1.0, -1022)
LIMIT = math.ldexp(1.0, 1000)
"""Magnitudes up to here cannot overflow in a few more operations. Beyond, a result is the whole line: a processor
that rounds toward zero does not signal overflow but saturates."""


@dataclass(frozen=True, eq=False)
class MidRad:
    """The matrices X with |X - mid| <= rad, entry by entry; an infinite radius means that nothing is known.

    Examples:
        >>> x = MidRad([1.0, 2.0], [0.5, 0.0])
        >>> x.interval()
        Interval([0.49999999999999956, 1.9999999999999982], [1.5000000000000013, 2.0000000000000018])
    """

    mid: Array
    rad: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "mid", exact(self.mid))
        object.__setattr__(self, "rad", exact(self.rad))
        require(
            self.mid.shape == self.rad.shape, f"midpoint {self.mid.shape} and radius {self.rad.shape} differ in shape"
        )
        require(
            bool(np.isfinite(self.mid).all()), "a midpoint must be finite; say infinite radius where nothing is known"
        )
        require(bool((self.rad >= 0).all()), "a radius must be zero or greater")

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the matrix."""
        return self.mid.shape

    @property
    def lower(self) -> Array:
        """A lower bound, at most 6 ulp from the best one: it holds under flush-to-zero too."""
        return -upward(self.rad - self.mid)

    @property
    def upper(self) -> Array:
        """An upper bound, at most 6 ulp from the best one: it holds under flush-to-zero too."""
        return upward(self.rad + self.mid)

    @property
    def mag(self) -> Array:
        """An upper bound on |X|."""
        return upward(self.rad + np.abs(self.mid))

    @property
    def is_bounded(self) -> bool:
        """Whether all radii are finite."""
        return bool(np.isfinite(self.rad).all())

    def interval(self) -> Interval:
        """The set as intervals."""
        return Interval(self.lower, self.upper)


MatrixLike: TypeAlias = MidRad | Interval | ArrayLike


def exact(x: ArrayLike) -> Array:
    """X as float64; InputError where that would round, since a bound for other numbers than the user's is none."""
    values = np.asarray(x)
    if values.dtype == np.float64:
        return values
    if values.dtype.kind in "iu":
        small = values.size == 0 or (int(values.max()) <= 2**53 and int(values.min()) >= -(2**53))
        require(small, "integers beyond 2^53 are no float64; use Interval to enclose them")
    elif not (values.dtype.kind == "f" and values.dtype.itemsize <= 8):
        raise InputError(f"verified arithmetic takes float64 matrices, not {values.dtype}; use Interval to enclose")
    return values.astype(np.float64)


def parts(x: MatrixLike) -> tuple[Array, Array | None]:
    """Midpoint and radius of x; no radius for a matrix of numbers."""
    if isinstance(x, MidRad):
        return x.mid, x.rad
    if isinstance(x, Interval):
        ball = enclosing(x)
        return ball.mid, ball.rad
    return exact(x), None


def enclosing(x: Interval) -> MidRad:
    """The MidRad around intervals; InputError if one is empty.

    Examples:
        >>> enclosing(Interval(1.0, 2.0)).mid
        array(1.5)
    """
    lower, upper = x.lower, x.upper
    require(bool((lower <= upper).all()), "an empty interval has no midpoint and radius")
    with np.errstate(all="ignore"):
        mid = 0.5 * lower + 0.5 * upper  # any number would do
        known = np.maximum(np.abs(lower), np.abs(upper)) <= LIMIT
        rad = upward(np.maximum(upper - mid, mid - lower))
    return MidRad(np.where(known, mid, 0.0), np.where(known, np.maximum(rad, 0.0), np.inf))


def gamma(n: int) -> float:
    """An upper bound on n u / (1 - n u), u = 2^-52: the relative error of n operations in a row [HIG02, §3.1]."""
    require(n <= 2**44, f"error bounds need fewer than 2^44 operations per entry, not {n}")
    return 1.01 * n * UNIT  # n u <= 2^-8, so that 1/(1 - n u) <= 1.004: the rest covers the rounding of this line


def underflow(n: int, a: Array, b: Array) -> Array:
    """An upper bound on what flushing to zero changes in Σ x y over n terms with |x| <= a, |y| <= b.

    Of each of at most 2n + 2 operations the operands and the result may be flushed, 3 TINY; a flushed factor loses
    TINY times the other one; later roundings at most double all this. The factor 16 covers 12, and the rounding here.
    """
    return 16.0 * (n + 2) * TINY * (1.0 + a + b)


def inflation(n: int) -> float:
    """A factor that makes a sum of non-negative terms, computed with at most n roundings in a row, an upper bound.

    (1 + 2γ)(1 - u)² >= 1 / (1 - γ), γ = gamma(n + 2): it covers the rounding of its own product and of one more sum,
    but not flushing to zero.
    """
    return 1.0 + 2.0 * gamma(n + 4)


def inflated(value: Array, n: int) -> Array:
    """Value times inflation(n)."""
    return value * inflation(n)


def upward(t: Array) -> Array:
    """An upper bound on a number that one rounded operation computed as t."""
    with np.errstate(all="ignore"):
        # The exact number is at most t + u|t|/(1 - u) + 3 TINY; the two roundings here cost another 2 u|t| + 6 TINY.
        raised = t + (4.0 * UNIT * np.abs(t) + 16.0 * TINY)
    return np.where(t <= LIMIT, np.where(t < -LIMIT, -LIMIT, raised), np.inf)
