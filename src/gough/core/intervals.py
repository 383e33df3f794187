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

from collections.abc import Callable
from typing import Any

import ival
import numpy as np
from numpy.typing import ArrayLike

from gough.core._interval import Bools, Number, raw, wrap
from gough.core._interval import Interval as Interval  # noqa: PLC0414 - re-exported
from gough.core._interval import IntervalLike as IntervalLike  # noqa: PLC0414
from gough.core._interval import rearrange as rearrange  # noqa: PLC0414


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


def _choose(condition: Bools, x: Interval, y: Interval) -> Interval:
    return rearrange(lambda first, second: np.where(condition, first, second), x, y)


def contains(x: IntervalLike, value: Number) -> Bools:
    """Whether the real number lies in x, compared exactly, elementwise; an infinity or NaN never does."""
    return np.asarray(ival.contains(raw(x), value))


def is_empty(x: IntervalLike) -> Bools:
    """Whether x is the empty set, elementwise."""
    return np.asarray(raw(x).is_empty())


def is_entire(x: IntervalLike) -> Bools:
    """Whether x is the whole line, elementwise."""
    return np.asarray(raw(x).is_entire())


def is_singleton(x: IntervalLike) -> Bools:
    """Whether x is one number, elementwise."""
    return np.asarray(raw(x).is_singleton())


def is_bounded(x: IntervalLike) -> Bools:
    """Whether x is non-empty with two finite ends (IEEE 1788: a common interval), elementwise."""
    of = raw(x)
    return np.asarray(np.isfinite(of.lo) & np.isfinite(of.hi))


def is_subset(x: IntervalLike, y: IntervalLike) -> Bools:
    """Whether x lies in y, elementwise."""
    return np.asarray(raw(x).subset(raw(y)))


def is_interior(x: IntervalLike, y: IntervalLike) -> Bools:
    """Whether x lies in the interior of y, elementwise."""
    return np.asarray(raw(x).interior(raw(y)))


def is_disjoint(x: IntervalLike, y: IntervalLike) -> Bools:
    """Whether x and y have no point in common, elementwise."""
    return np.asarray(raw(x).disjoint(raw(y)))


def is_equal(x: IntervalLike, y: IntervalLike) -> Bools:
    """Whether x and y are the same set, elementwise."""
    return np.asarray(raw(x).equal(raw(y)))


def is_less(x: IntervalLike, y: IntervalLike) -> Bools:
    """Whether each of x and y has a partner at least, and at most, as great: both ends of x are <= those of y."""
    a, b = raw(x), raw(y)
    both_empty = np.isnan(a.lo) & np.isnan(b.lo)
    return np.asarray(both_empty | (np.less_equal(a.lo, b.lo) & np.less_equal(a.hi, b.hi)))


def is_strictly_less(x: IntervalLike, y: IntervalLike) -> Bools:
    """As `is_less` with <, where two equal infinities count as less."""
    a, b = raw(x), raw(y)
    lower = np.less(a.lo, b.lo) | (np.isneginf(a.lo) & np.isneginf(b.lo))
    upper = np.less(a.hi, b.hi) | (np.isposinf(a.hi) & np.isposinf(b.hi))
    return np.asarray((np.isnan(a.lo) & np.isnan(b.lo)) | (lower & upper))


def precedes(x: IntervalLike, y: IntervalLike) -> Bools:
    """Whether every number of x is <= every number of y, elementwise."""
    return np.asarray(~np.greater(raw(x).hi, raw(y).lo))  # an empty set has NaN ends and precedes everything


def strictly_precedes(x: IntervalLike, y: IntervalLike) -> Bools:
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
