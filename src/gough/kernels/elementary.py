"""Sine, cosine and the angle of a point in sums, products and quotients: the same bits from every evaluator.

A library's functions differ from system to system, and take one number at a time. These are written once, for arrays
of NumPy, for a number in C and for a vector in C; what is written is carried out, without fused operations. Each has a
domain, far beyond what machines do; outside of it, and for NaN, the library of C is called. Polynomials are those of
[NG93].

Errors are below 0.91 units of the last place for the sine, 0.82 for the cosine, 0.9 for the angle, to first order in
the unit roundoff. For the sine, r + t with |t| < 2^-53 |r| stands for x - n π/2 to 2^-61 of it, since |r| > 2^-60.6 for
every double of the domain. Polynomials are exact to 2^-57. What is subtracted from r, at most 0.115 of the sine, has
four rounded factors and one rounded difference. For the cosine, half of the rounded r² is subtracted from 1 without an
error of its own, and at most 0.016 is added. For the angle, the quotient carries its remainder, and what the polynomial
takes away is at most 0.06 of it, with six roundings. The largest errors of 10^7 points were 0.79, 0.76 and 0.71.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gough.core.arrays import Array

TURNS = 6433.0
"""Sines and cosines up to this are computed here: 4095 quarters of a turn."""
LARGE, SMALL = 2.0**450, 2.0**-450
"""Coordinates of a point whose angle is computed here: none above the first, none but zeros below the second."""
_SINE = (
    8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
_SIXTH = -1.66666666666666324348e-01
_COSINE = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
    -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip
_ANGLE = (
    3.33333333333329318027e-01, -1.99999999998764832476e-01, 1.42857142725034663711e-01, -1.11111104054623557880e-01,
    9.09088713343650656196e-02, -7.69187620504482999495e-02, 6.66107313738753120669e-02, -5.83357013379057348645e-02,
    4.97687799461593236017e-02, -3.65315727442169155270e-02, 1.62858201153657823623e-02,
)  # fmt: skip
_QUARTER = (1.5707963267941523, 7.443547480484391e-13, 2.232414100745812e-25)
"""π/2 as a sum; the first two have 41 bits, so that their multiples up to 4096 are exact."""
_EIGHTH = (0.7853981633974483, 3.061616997868383e-17)
"""π/4 as a sum; multiples of the first up to 4 are exact."""


def _sum(z: Any, coefficients: Sequence[float]) -> Any:
    """A polynomial in z, pair by pair: half as many operations wait for one another as in Horner's rule."""
    terms: list[Any] = list(coefficients)
    while len(terms) > 1:
        pairs = [a + b * z for a, b in zip(terms[::2], terms[1::2], strict=False)]
        terms = pairs if len(terms) % 2 == 0 else [*pairs, terms[-1]]
        z = z * z if len(terms) > 1 else z
    return terms[0]


def _sine_cosine(of: Any, x: Any) -> tuple[Any, Any, Any]:
    """Sine, cosine, and where they hold."""
    n = of.floor(x * (2 / math.pi) + 0.5)
    first = x - n * _QUARTER[0]  # exact
    second = n * _QUARTER[1]
    big = first - second
    away = big - first
    lost = (first - (big - away)) - (second + away)  # the error of `big` [HIG02, §4.3]
    low = n * _QUARTER[2] - lost
    r = big - low
    t = (big - r) - low
    z = r * r
    v = z * r
    sine = r - ((z * (0.5 * t - v * _sum(z, _SINE)) - t) - v * _SIXTH)
    half = 0.5 * z
    most = 1.0 - half
    cosine = most + (((1.0 - most) - half) + (z * (z * _sum(z, _COSINE)) - r * t))
    pairs = of.floor(n * 0.5)
    odd = n - 2.0 * pairs
    turned = pairs - 2.0 * of.floor(pairs * 0.5)
    sign = 1.0 - 2.0 * turned
    swapped = odd > 0.5
    return (
        sign * of.pick(swapped, cosine, sine),
        (sign - 2.0 * (sign * odd)) * of.pick(swapped, sine, cosine),
        of.fabs(x) <= TURNS,
    )


def _product_error(a: Any, b: Any, product: Any) -> Any:
    """What a rounded product lacks of the product, by halves of the factors [HIG02, §4.3]."""
    c, d = 134217729.0 * a, 134217729.0 * b
    a_high, b_high = c - (c - a), d - (d - b)
    a_low, b_low = a - a_high, b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _angle(of: Any, y: Any, x: Any) -> tuple[Any, Any]:
    """The angle of the point (x, y), and where it holds: m π/4 ± arctan(t), |t| < 0.44."""
    across, along = of.fabs(x), of.fabs(y)
    steep, back = along > across, x < 0.0
    less, more = of.pick(steep, across, along), of.pick(steep, along, across)
    middle = less > 0.4375 * more
    k = of.pick(middle, 1.0, 0.0)
    turned, added = k * more, k * less
    u, v = less - turned, more + added
    u_low, v_low = less - (u + turned), added - (v - more)
    t = u / v
    product = t * v
    remainder = (u - product) - _product_error(t, v, product)
    t_low = ((remainder + u_low) - t * v_low) * (1.0 / v)
    z = t * t
    w = z * z
    even, odd = _sum(w, _ANGLE[::2]), _sum(w, _ANGLE[1::2])
    missing = t * (z * even + w * odd) - t_low * (1.0 - z * (1.0 - z))
    sign = of.pick(steep ^ back, -1.0, 1.0)
    m = of.pick(steep, 2.0, of.pick(back, 4.0, 0.0)) + sign * k
    high, signed = m * _EIGHTH[0], sign * t
    total = high + signed
    rest = (signed - (total - high)) + (m * _EIGHTH[1] - sign * missing)
    holds = (more <= LARGE) & (more >= SMALL) & ((less >= SMALL) | (less <= 0.0))
    return of.copysign(total + rest, y), holds


@dataclass(frozen=True)
class Elementary:
    """A function, or several of the same arguments, with the operations of a trace that they are."""

    name: str
    """In C."""
    arguments: tuple[str, ...]
    operations: tuple[str, ...]
    """The operations of a trace, one for each result; also the names of C's library."""
    formula: Callable[..., tuple[Any, ...]]


SINE_COSINE = Elementary("sine_cosine", ("x",), ("sin", "cos"), _sine_cosine)
ANGLE = Elementary("angle", ("y", "x"), ("atan2",), _angle)
ELEMENTARY = {operation: each for each in (SINE_COSINE, ANGLE) for operation in each.operations}
"""What computes an operation of a trace."""
NEEDED = ("floor", "fabs", "copysign")
"""The operations that they call."""


class _Arrays:
    """The functions that a formula needs, of arrays."""

    floor, fabs, copysign, pick = np.floor, np.fabs, np.copysign, staticmethod(np.where)


def of_arrays(each: Elementary, *arguments: Array) -> list[Array]:
    """The results for arrays of one shape."""
    *results, holds = each.formula(_Arrays, *arguments)
    for k in zip(*np.nonzero(~np.asarray(holds)), strict=True):
        for operation, result in zip(each.operations, results, strict=True):
            result[k] = _of_library(operation, [argument[k] for argument in arguments])
    return results


def _of_library(operation: str, arguments: Sequence[float]) -> float:
    try:
        return getattr(math, operation)(*arguments)
    except ValueError:  # of infinity
        return math.nan


@dataclass
class _Written:
    """The functions that a formula needs, which write statements in C."""

    vector: bool
    statements: list[str] = field(default_factory=list)

    def value(self, text: str, *, is_mask: bool = False) -> "_Value":
        kind = ("I" if is_mask else "V") if self.vector else ("int" if is_mask else "double")
        name = f"_{len(self.statements)}"
        self.statements.append(f"const {kind} {name} = {text};")
        return _Value(self, name)

    def of(self, x: "_Value | float") -> str:
        """An operand of a function: constants become vectors."""
        if isinstance(x, _Value):
            return x.name
        return f"all({x!r})" if self.vector else repr(x)

    def _call(self, name: str, *arguments: "_Value | float") -> "_Value":
        words = ", ".join(map(self.of, arguments))
        return self.value(f"v_{name}({words})" if self.vector else f"{name}({words})")

    def floor(self, x: "_Value") -> "_Value":
        return self._call("floor", x)

    def fabs(self, x: "_Value") -> "_Value":
        return self._call("fabs", x)

    def copysign(self, x: "_Value", y: "_Value") -> "_Value":
        return self._call("copysign", x, y)

    def pick(self, mask: "_Value", a: "_Value | float", b: "_Value | float") -> "_Value":
        if self.vector:
            return self.value(f"pick({mask.name}, {self.of(a)}, {self.of(b)})")
        return self.value(f"{mask.name} ? {self.of(a)} : {self.of(b)}")


class _Value:
    """A number, vector or mask in C, by its name; an operation writes a statement."""

    def __init__(self, into: _Written, name: str) -> None:
        self.into, self.name = into, name

    def _with(self, sign: str, other: "_Value | float", *, is_mask: bool = False, turned: bool = False) -> "_Value":
        a, b = self.name, other.name if isinstance(other, _Value) else repr(float(other))
        return self.into.value(f"{b} {sign} {a}" if turned else f"{a} {sign} {b}", is_mask=is_mask)

    def __add__(self, other: "_Value | float") -> "_Value":
        return self._with("+", other)

    def __sub__(self, other: "_Value | float") -> "_Value":
        return self._with("-", other)

    def __mul__(self, other: "_Value | float") -> "_Value":
        return self._with("*", other)

    def __truediv__(self, other: "_Value") -> "_Value":
        return self._with("/", other)

    def __rtruediv__(self, other: float) -> "_Value":
        return self._with("/", other, turned=True)

    def __radd__(self, other: float) -> "_Value":
        return self._with("+", other, turned=True)

    def __rsub__(self, other: float) -> "_Value":
        return self._with("-", other, turned=True)

    def __rmul__(self, other: float) -> "_Value":
        return self._with("*", other, turned=True)

    def __lt__(self, other: "_Value | float") -> "_Value":
        return self._with("<", other, is_mask=True)

    def __le__(self, other: "_Value | float") -> "_Value":
        return self._with("<=", other, is_mask=True)

    def __gt__(self, other: "_Value | float") -> "_Value":
        return self._with(">", other, is_mask=True)

    def __ge__(self, other: "_Value | float") -> "_Value":
        return self._with(">=", other, is_mask=True)

    def __and__(self, other: "_Value") -> "_Value":
        return self._with("&", other, is_mask=True)

    def __or__(self, other: "_Value") -> "_Value":
        return self._with("|", other, is_mask=True)

    def __xor__(self, other: "_Value") -> "_Value":
        return self._with("^", other, is_mask=True)


def definition(each: Elementary, lanes: int = 0) -> str:
    """The C function that returns the first result and writes the others; of vectors, if they have lanes.

    Examples:
        >>> definition(ANGLE).splitlines()[0]
        'static double gough_angle(const double y, const double x)'
    """
    real = "V" if lanes else "double"
    rest = [f"result_{k}" for k in range(1, len(each.operations))]
    into = _Written(vector=bool(lanes))
    *results, holds = each.formula(into, *(_Value(into, name) for name in each.arguments))
    arguments = ", ".join([*(f"const {real} {x}" for x in each.arguments), *(f"{real} *{y}" for y in rest)])
    others = [f"*{y} = {value.name};" for y, value in zip(rest, results[1:], strict=True)]
    targets = ["result_0", *(f"(*{y})" for y in rest)]
    if lanes:
        words = ", ".join(f"{x}[lane]" for x in each.arguments)
        library = " ".join(f"{y}[lane] = {name}({words});" for y, name in zip(targets, each.operations, strict=True))
        last = [
            f"V result_0 = {results[0].name};", *others, f"if (!every({holds.name}))",
            f"    for (int lane = 0; lane < {lanes}; ++lane)", f"        if (!{holds.name}[lane]) {{ {library} }}",
            "return result_0;",
        ]  # fmt: skip
    else:
        words = ", ".join(each.arguments)
        library = " ".join(f"*{y} = {name}({words});" for y, name in zip(rest, each.operations[1:], strict=True))
        last = [
            f"if (!{holds.name}) {{ {library} return {each.operations[0]}({words}); }}", *others,
            f"return {results[0].name};",
        ]  # fmt: skip
    lines = "\n".join(f"    {line}" for line in [*into.statements, *last])
    attribute = "__attribute__((noinline)) " if lanes else ""
    return f"static {attribute}{real} {function_name(each)}({arguments})\n{{\n{lines}\n}}\n"


def function_name(each: Elementary) -> str:
    """What C calls it."""
    return f"gough_{each.name}"
