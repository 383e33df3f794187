"""The type of `gough.core.intervals`: an array of intervals around crival's."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, final

import ival
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gough.core.errors import InputError, require

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
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
        masked = any(isinstance(end, np.ma.MaskedArray) and np.ma.is_masked(end) for end in (lower, upper))
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
    def lower(self) -> Floats:
        """Greatest lower bound; +inf where empty."""
        return np.where(np.isnan(self._of.lo), np.inf, self._of.lo)

    @property
    def upper(self) -> Floats:
        """Least upper bound; -inf where empty."""
        return np.where(np.isnan(self._of.hi), -np.inf, self._of.hi)

    @property
    def mid(self) -> Floats:
        """Midpoint, rounded to nearest, always finite; NaN where empty."""
        return np.asarray(self._of.mid)

    @property
    def rad(self) -> Floats:
        """Smallest r such that [mid - r, mid + r] holds the interval; NaN where empty."""
        return np.asarray(self._of.rad)

    @property
    def wid(self) -> Floats:
        """Width, upper - lower rounded up; NaN where empty."""
        return np.asarray(self._of.wid)

    @property
    def mag(self) -> Floats:
        """Magnitude: the greatest |x|; NaN where empty."""
        return np.asarray(self._of.mag)

    @property
    def mig(self) -> Floats:
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
