"""Intervals over float64 arrays: tightest results, in the sense of IEEE Std 1788.1 [IEEE1788].

    from gough.core import intervals as iv
    x = iv.Interval([1.0, 2.0], [1.5, 4.0])      # two intervals
    iv.sqrt(x) * x + 1                           # every end rounded outward
    iv.Interval.from_text("[0.1, 0.2]")          # decimal ends, rounded outward and not to nearest

An `Interval` holds one closed interval or an array of them, broadcast like NumPy. It may be unbounded, and it may be
empty: then `lower` is +inf and `upper` is -inf. A function is evaluated on the part of its domain inside the
interval. A plain number stands for itself, exactly; text is read by `Interval.from_text`.

The work is done by crival (`ival`), imported nowhere else in gough. Results are right in every rounding mode. They
are not under flush-to-zero, which any library compiled with -ffast-math may switch on: see `gough.core.floating`.
"""

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, final

import ival
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gough.core.arrays import Array, Mask, is_masked_array
from gough.core.errors import InputError, require

Number: TypeAlias = ArrayLike | Fraction | Decimal
IntervalLike: TypeAlias = "Interval | ArrayLike | Fraction | Decimal"


@final
class Interval:
    """The smallest interval holding [lower, upper], elementwise; one argument is a point.

    An end that is no float64 (Fraction, Decimal, large int) is rounded outward.

    Raises:
        InputError: NaN, lower > upper, +inf as a lower or -inf as an upper end: such ends enclose nothing.

    Examples:
        >>> from fractions import Fraction
        >>> Interval(1, 2) / 3
        Interval(0.3333333333333333, 0.6666666666666667)
        >>> Interval(Fraction(1, 3)).wid > 0
        np.True_
    """

    __slots__ = ("_of",)
    __hash__ = None  # type: ignore[assignment] # equal by value
    __array_ufunc__ = None  # so that array * interval comes here
    _of: Any

    def __init__(self, lower: Number, upper: Number | None = None) -> None:
        masked = any(is_masked_array(end) and np.ma.is_masked(end) for end in (lower, upper))
        require(not masked, "an interval has masked ends: leave them out, or fill them with a number")
        try:
            self._of = ival.Interval(lower, upper)
        except (TypeError, ValueError) as error:
            raise InputError(f"an interval needs real numbers as ends, in shapes that broadcast: {error}") from error
        require(
            not np.any(self._of.is_empty()),
            "an interval needs lower <= upper without NaN; +inf is no lower end and -inf no upper end. "
            "Interval.empty() makes the empty set",
        )
        _freeze(self._of)

    @classmethod
    def centered(cls, mid: Number, rad: Number) -> "Interval":
        """The smallest interval holding {x : |x - mid| <= rad}, elementwise.

        Examples:
            >>> Interval.centered(1.0, 0.25)
            Interval(0.75, 1.25)
        """
        radius = cls(0.0, rad)
        return cls(mid) + (radius | -radius)

    @classmethod
    def from_text(cls, text: str | list[str] | NDArray[np.str_]) -> "Interval":
        """The smallest interval holding what an IEEE 1788 interval literal denotes.

        Examples:
            >>> Interval.from_text("[0.1, 2/3]")
            Interval(0.09999999999999999, 0.6666666666666667)
            >>> Interval.from_text("3.56?1")  # 3.56, uncertain by 1 in the last digit
            Interval(3.55, 3.5700000000000003)
        """
        of = ival.Interval.from_text(text)
        words = np.asarray(text, dtype=object)
        meant = np.array([_denotes_empty(word) for word in words.ravel()], dtype=bool).reshape(words.shape)
        bad = words[np.asarray(of.is_empty()) & ~meant]
        require(
            bad.size == 0,
            f"{bad.ravel()[:1]} is no interval literal; write [0.1, 0.2], [0.1], 3.56?1, [empty] or [entire]",
        )
        return wrap(of)

    @classmethod
    def empty(cls, shape: tuple[int, ...] = ()) -> "Interval":
        """The empty set, or an array of them."""
        return wrap(ival.Interval.empty(shape))

    @classmethod
    def entire(cls, shape: tuple[int, ...] = ()) -> "Interval":
        """The whole real line, or an array of them."""
        return wrap(ival.Interval.entire(shape))

    @property
    def lower(self) -> Array:
        """Greatest lower bound; +inf where empty."""
        return np.where(np.isnan(self._of.lo), np.inf, self._of.lo)

    @property
    def upper(self) -> Array:
        """Least upper bound; -inf where empty."""
        return np.where(np.isnan(self._of.hi), -np.inf, self._of.hi)

    @property
    def mid(self) -> Array:
        """Midpoint, rounded to nearest, always finite; NaN where empty."""
        return np.asarray(self._of.mid)

    @property
    def rad(self) -> Array:
        """Smallest r such that [mid - r, mid + r] holds the interval; NaN where empty."""
        return np.asarray(self._of.rad)

    @property
    def wid(self) -> Array:
        """Width, upper - lower rounded up; NaN where empty."""
        return np.asarray(self._of.wid)

    @property
    def mag(self) -> Array:
        """Magnitude: the greatest |x|; NaN where empty."""
        return np.asarray(self._of.mag)

    @property
    def mig(self) -> Array:
        """Mignitude: the least |x|; NaN where empty."""
        return np.asarray(self._of.mig)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array of intervals; () for one."""
        return np.shape(self._of.lo)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return np.ndim(self._of.lo)

    @property
    def size(self) -> int:
        """Number of intervals."""
        return int(np.size(self._of.lo))

    def __len__(self) -> int:
        return len(np.asarray(self._of.lo))

    def __iter__(self) -> Iterator["Interval"]:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> "Interval":
        return rearrange(lambda end: end[key], self)

    def reshape(self, *shape: int) -> "Interval":
        """The same intervals in another shape."""
        return rearrange(lambda end: end.reshape(shape), self)

    def __repr__(self) -> str:
        if self.ndim == 0:
            return (
                "Interval.empty()" if self._of.is_empty() else f"Interval({float(self._of.lo)}, {float(self._of.hi)})"
            )
        return f"Interval({self.lower.tolist()}, {self.upper.tolist()})"

    def __contains__(self, value: Number) -> bool:
        return bool(np.all(ival.contains(self._of, value)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Interval) and self.shape == other.shape and bool(np.all(self._of.equal(other._of)))

    def __pos__(self) -> "Interval":
        return self

    def __neg__(self) -> "Interval":
        return wrap(-self._of)

    def __abs__(self) -> "Interval":
        return wrap(abs(self._of))

    def __add__(self, other: IntervalLike) -> "Interval":
        return wrap(self._of + raw(other))

    def __radd__(self, other: Number) -> "Interval":
        return wrap(raw(other) + self._of)

    def __sub__(self, other: IntervalLike) -> "Interval":
        return wrap(self._of - raw(other))

    def __rsub__(self, other: Number) -> "Interval":
        return wrap(raw(other) - self._of)

    def __mul__(self, other: IntervalLike) -> "Interval":
        return wrap(self._of * raw(other))

    def __rmul__(self, other: Number) -> "Interval":
        return wrap(raw(other) * self._of)

    def __truediv__(self, other: IntervalLike) -> "Interval":
        return wrap(self._of / raw(other))

    def __rtruediv__(self, other: Number) -> "Interval":
        return wrap(raw(other) / self._of)

    def __pow__(self, power: IntervalLike) -> "Interval":
        return wrap(self._of ** (power if _is_integer(power) else raw(power)))

    def __and__(self, other: IntervalLike) -> "Interval":
        """The intersection."""
        return wrap(self._of & raw(other))

    def __or__(self, other: IntervalLike) -> "Interval":
        """The convex hull of the union."""
        return wrap(self._of | raw(other))


def raw(x: IntervalLike) -> Any:
    """The crival interval of x. A NaN must not pass for the empty set, hence the constructor's checks."""
    return (x if isinstance(x, Interval) else Interval(x))._of  # noqa: SLF001 - this module's own class


def wrap(of: Any) -> Interval:
    """The Interval of a crival interval, which must not be used elsewhere."""
    new = object.__new__(Interval)
    _freeze(of)
    new._of = of
    return new


def _freeze(of: Any) -> None:
    for end in (of.lo, of.hi):
        if isinstance(end, np.ndarray):
            end.flags.writeable = False


def _is_integer(power: object) -> bool:
    return isinstance(power, int | np.integer) or (isinstance(power, np.ndarray) and power.dtype.kind in "iu")


def _denotes_empty(word: object) -> bool:
    return "".join(str(word).split()).lower() in {"[]", "[empty]"}


def rearrange(function: Callable[..., Any], *of: Interval) -> Interval:
    """Apply to both ends a function that only moves, repeats, joins or drops entries.

    Examples:
        >>> rearrange(lambda x, y: np.concatenate([x, y]), Interval([1.0], [2.0]), Interval([3.0], [4.0]))
        Interval([1.0, 3.0], [2.0, 4.0])
    """
    lower = function(*(np.asarray(raw(x).lo) for x in of))
    upper = function(*(np.asarray(raw(x).hi) for x in of))
    ends = ival.Interval.empty()
    ends.lo, ends.hi = (np.array(e) if np.ndim(e) else float(e) for e in (lower, upper))
    return wrap(ends)


def _unary(name: str, formula: str, of: str = "") -> Callable[[IntervalLike], Interval]:
    operation = getattr(ival, of or name)

    def function(x: IntervalLike) -> Interval:
        return wrap(operation(raw(x)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The smallest interval holding {formula} for all x in it, elementwise."
    return function


def _binary(name: str, of: str, formula: str) -> Callable[[IntervalLike, IntervalLike], Interval]:
    operation = getattr(ival, of)

    def function(x: IntervalLike, y: IntervalLike) -> Interval:
        return wrap(operation(raw(x), raw(y)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The smallest interval holding {formula}, elementwise."
    return function


def _reverse(name: str, of: str, formula: str) -> Callable[..., Interval]:
    operation = getattr(ival, of)

    def function(c: IntervalLike, x: "IntervalLike | None" = None) -> Interval:
        return wrap(operation(raw(c), _raw_or_entire(x)))

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The smallest interval holding {{x : {formula} in c}}, within `x` if given."
    return function


def _raw_or_entire(x: "IntervalLike | None") -> Any:
    return ival.Interval.entire() if x is None else raw(x)


sqr = _unary("sqr", "x²")
recip = _unary("recip", "1/x")
sqrt = _unary("sqrt", "√x")
rsqrt = _unary("rsqrt", "1/√x")
cbrt = _unary("cbrt", "∛x")
exp = _unary("exp", "eˣ")
exp2 = _unary("exp2", "2ˣ")
exp10 = _unary("exp10", "10ˣ")
expm1 = _unary("expm1", "eˣ - 1")
log = _unary("log", "ln x")
log2 = _unary("log2", "log₂ x")
log10 = _unary("log10", "log₁₀ x")
log1p = _unary("log1p", "ln(1 + x)")
sin = _unary("sin", "sin x")
cos = _unary("cos", "cos x")
tan = _unary("tan", "tan x")
asin = _unary("asin", "arcsin x")
acos = _unary("acos", "arccos x")
atan = _unary("atan", "arctan x")
sinh = _unary("sinh", "sinh x")
cosh = _unary("cosh", "cosh x")
tanh = _unary("tanh", "tanh x")
asinh = _unary("asinh", "arsinh x")
acosh = _unary("acosh", "arcosh x")
atanh = _unary("atanh", "artanh x")
sign = _unary("sign", "the sign of x")
ceil = _unary("ceil", "x rounded to an integer upward")
floor = _unary("floor", "x rounded to an integer downward")
trunc = _unary("trunc", "x rounded to an integer toward zero")
round_ties_to_away = _unary("round_ties_to_away", "the integer nearest to x, ties away from zero,", "round")
round_ties_to_even = _unary("round_ties_to_even", "the integer nearest to x, ties to even,", "roundeven")

atan2 = _binary("atan2", "atan2", "the angle of the point (y, x), called atan2(y, x),")
hypot = _binary("hypot", "hypot", "√(x² + y²)")
pow = _binary("pow", "pow", "x^y, defined for x > 0, and for x = 0 with y > 0")  # noqa: A001 - the function's name
minimum = _binary("minimum", "min", "the lesser of x and y")
maximum = _binary("maximum", "max", "the greater of x and y")
cancel_minus = _binary("cancel_minus", "cancelminus", "the z for which y + z = x")
cancel_plus = _binary("cancel_plus", "cancelplus", "the z for which z - y = x")

sqr_rev = _reverse("sqr_rev", "sqrrev", "x²")
abs_rev = _reverse("abs_rev", "absrev", "|x|")
sin_rev = _reverse("sin_rev", "sinrev", "sin x")
cos_rev = _reverse("cos_rev", "cosrev", "cos x")
tan_rev = _reverse("tan_rev", "tanrev", "tan x")
cosh_rev = _reverse("cosh_rev", "coshrev", "cosh x")


def pown(x: IntervalLike, n: ArrayLike) -> Interval:
    """The smallest interval holding xⁿ for an integer n, elementwise.

    Examples:
        >>> pown(Interval(-1, 2), 2)
        Interval(0.0, 4.0)
    """
    return wrap(ival.pown(raw(x), n))


def rootn(x: IntervalLike, n: ArrayLike) -> Interval:
    """The smallest interval holding the real n-th roots, elementwise."""
    return wrap(ival.rootn(raw(x), n))


def fma(x: IntervalLike, y: IntervalLike, z: IntervalLike) -> Interval:
    """The smallest interval holding x y + z, each end rounded once, elementwise."""
    return wrap(ival.fma(raw(x), raw(y), raw(z)))


def pown_rev(c: IntervalLike, n: ArrayLike, x: "IntervalLike | None" = None) -> Interval:
    """The smallest interval holding {x : xⁿ in c}, within `x` if given."""
    return wrap(ival.pownrev(raw(c), n, _raw_or_entire(x)))


def mul_rev(b: IntervalLike, c: IntervalLike, x: "IntervalLike | None" = None) -> Interval:
    """The smallest interval holding {x : x b in c for some b}, within `x` if given: c / b, and all x where 0 = 0 x."""
    return wrap(ival.mulrev(raw(b), raw(c), _raw_or_entire(x)))


def mul_rev_pair(b: IntervalLike, c: IntervalLike) -> tuple[Interval, Interval]:
    """{x : x b in c for some b} as two disjoint intervals, the lower one first; the second may be empty.

    They are two where b has zero strictly inside and c does not hold it: the step of interval Gauss-Seidel.

    Examples:
        >>> mul_rev_pair(Interval(-1, 2), Interval(4, 4))
        (Interval(-inf, -4.0), Interval(2.0, inf))
    """
    b, c = wrap(raw(b)), wrap(raw(c))
    whole, none = mul_rev(b, c), Interval.empty()
    split = np.asarray(contains(b, 0.0) & ~contains(c, 0.0) & (b.lower < 0) & (b.upper > 0))
    one = c / (b & Interval(-np.inf, 0.0))
    two = c / (b & Interval(0.0, np.inf))
    low, high = _choose(c.lower > 0, one, two), _choose(c.lower > 0, two, one)
    return _choose(split, low, whole), _choose(split, high, none)


def pow_rev1(b: IntervalLike, c: IntervalLike, x: "IntervalLike | None" = None) -> Interval:
    """The smallest interval holding {x : x^y in c for some y in b}, within `x` if given."""
    return wrap(ival.powrev1(raw(b), raw(c), _raw_or_entire(x)))


def pow_rev2(a: IntervalLike, c: IntervalLike, y: "IntervalLike | None" = None) -> Interval:
    """The smallest interval holding {y : x^y in c for some x in a}, within `y` if given."""
    return wrap(ival.powrev2(raw(a), raw(c), _raw_or_entire(y)))


def _choose(condition: Mask, x: Interval, y: Interval) -> Interval:
    return rearrange(lambda first, second: np.where(condition, first, second), x, y)


def contains(x: IntervalLike, value: Number) -> Mask:
    """Whether the real number lies in x, compared exactly, elementwise; an infinity or NaN never does."""
    return np.asarray(ival.contains(raw(x), value))


def is_empty(x: IntervalLike) -> Mask:
    """Whether x is the empty set, elementwise."""
    return np.asarray(raw(x).is_empty())


def is_entire(x: IntervalLike) -> Mask:
    """Whether x is the whole line, elementwise."""
    return np.asarray(raw(x).is_entire())


def is_singleton(x: IntervalLike) -> Mask:
    """Whether x is one number, elementwise."""
    return np.asarray(raw(x).is_singleton())


def is_bounded(x: IntervalLike) -> Mask:
    """Whether x is non-empty with two finite ends (IEEE 1788: a common interval), elementwise."""
    of = raw(x)
    return np.asarray(np.isfinite(of.lo) & np.isfinite(of.hi))


def is_subset(x: IntervalLike, y: IntervalLike) -> Mask:
    """Whether x lies in y, elementwise."""
    return np.asarray(raw(x).subset(raw(y)))


def is_interior(x: IntervalLike, y: IntervalLike) -> Mask:
    """Whether x lies in the interior of y, elementwise."""
    return np.asarray(raw(x).interior(raw(y)))


def is_disjoint(x: IntervalLike, y: IntervalLike) -> Mask:
    """Whether x and y have no point in common, elementwise."""
    return np.asarray(raw(x).disjoint(raw(y)))


def is_equal(x: IntervalLike, y: IntervalLike) -> Mask:
    """Whether x and y are the same set, elementwise."""
    return np.asarray(raw(x).equal(raw(y)))


def is_less(x: IntervalLike, y: IntervalLike) -> Mask:
    """Whether each of x and y has a partner at least, and at most, as great: both ends of x are <= those of y."""
    a, b = raw(x), raw(y)
    both_empty = np.isnan(a.lo) & np.isnan(b.lo)
    return np.asarray(both_empty | (np.less_equal(a.lo, b.lo) & np.less_equal(a.hi, b.hi)))


def is_strictly_less(x: IntervalLike, y: IntervalLike) -> Mask:
    """As `is_less` with <, where two equal infinities count as less."""
    a, b = raw(x), raw(y)
    lower = np.less(a.lo, b.lo) | (np.isneginf(a.lo) & np.isneginf(b.lo))
    upper = np.less(a.hi, b.hi) | (np.isposinf(a.hi) & np.isposinf(b.hi))
    return np.asarray((np.isnan(a.lo) & np.isnan(b.lo)) | (lower & upper))


def precedes(x: IntervalLike, y: IntervalLike) -> Mask:
    """Whether every number of x is <= every number of y, elementwise."""
    return np.asarray(~np.greater(raw(x).hi, raw(y).lo))  # an empty set has NaN ends and precedes everything


def strictly_precedes(x: IntervalLike, y: IntervalLike) -> Mask:
    """Whether every number of x is < every number of y, elementwise."""
    return np.asarray(~np.greater_equal(raw(x).hi, raw(y).lo))


def sum(x: Interval, axis: int = -1) -> Interval:  # noqa: A001 - the function's name
    """An interval holding the sum of the entries along `axis`; an empty entry makes the sum empty.

    Adds by halves, so that ends are rounded log2(n) times and not n times.

    Examples:
        >>> sum(Interval([0.1, 0.2, 0.3]))
        Interval(0.6, 0.6000000000000001)
    """
    x = rearrange(lambda end: np.moveaxis(end, axis, 0), x)
    if len(x) == 0:
        return Interval(np.zeros(x.shape[1:]))
    while (n := len(x)) > 1:
        half = n // 2
        folded = x[:half] + x[half : 2 * half]
        x = rearrange(lambda a, b: np.concatenate([a, b]), folded, x[2 * half :])
    return x[0]


def dot(a: IntervalLike, x: IntervalLike) -> Interval:
    """An interval holding Σ a x along the last axis, such as a row of numbers times a box.

    Examples:
        >>> dot([1.0, -2.0], Interval([0.0, 0.0], [1.0, 1.0]))
        Interval(-2.0, 1.0)
    """
    return sum(wrap(raw(a)) * x)
