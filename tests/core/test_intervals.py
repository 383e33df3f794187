"""Intervals against exact rationals and against arb at 2600 bits, at zero tolerance."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given, settings
from hypothesis import strategies as st

from gough.core import intervals as iv
from gough.core.errors import InputError
from gough.core.intervals import Interval

FINITE = st.floats(allow_nan=False, allow_infinity=False)
ENDS = st.tuples(FINITE, FINITE).map(sorted)


def rounded(exact, up):
    """The nearest float at or beyond an exact rational, by comparison."""
    try:
        near = float(exact)
    except OverflowError:
        near = math.inf if exact > 0 else -math.inf
    if math.isinf(near):
        beyond = (near > 0) == up
        return near if beyond else math.copysign(math.nextafter(math.inf, 0), near)
    if up:
        return near if Fraction(near) >= exact else math.nextafter(near, math.inf)
    return near if Fraction(near) <= exact else math.nextafter(near, -math.inf)


def is_tightest(got, corners):
    return float(got.lower) == rounded(min(corners), up=False) and float(got.upper) == rounded(max(corners), up=True)


RATIONAL = {
    "add": (lambda x, y: x + y),
    "sub": (lambda x, y: x - y),
    "mul": (lambda x, y: x * y),
    "div": (lambda x, y: x / y),
}


@pytest.mark.parametrize("name", RATIONAL)
@settings(max_examples=300, deadline=None)
@given(x=ENDS, y=ENDS)
def test_arithmetic_is_the_tightest_rounding_of_exact_rationals(name, x, y):
    operation = RATIONAL[name]
    if name == "div" and y[0] <= 0 <= y[1]:
        return
    corners = [operation(Fraction(a), Fraction(b)) for a in x for b in y]
    assert is_tightest(operation(Interval(*x), Interval(*y)), corners)


@settings(max_examples=300, deadline=None)
@given(x=ENDS, y=ENDS, z=ENDS)
def test_fma_rounds_once(x, y, z):
    corners = [Fraction(a) * Fraction(b) + Fraction(c) for a in x for b in y for c in z]
    assert is_tightest(iv.fma(Interval(*x), Interval(*y), Interval(*z)), corners)


@settings(max_examples=200, deadline=None)
@given(x=ENDS, n=st.integers(1, 9))
def test_integer_powers_and_square_are_tightest(x, n):
    corners = [Fraction(a) ** n for a in x] + ([Fraction(0)] if n % 2 == 0 and x[0] <= 0 <= x[1] else [])
    assert is_tightest(iv.pown(Interval(*x), n), corners)
    assert is_tightest(Interval(*x) ** n, corners)
    if n == 2:
        assert is_tightest(iv.sqr(Interval(*x)), corners)


@settings(max_examples=200, deadline=None)
@given(x=ENDS, y=ENDS)
def test_selection_is_exact(x, y):
    a, b = Interval(*x), Interval(*y)
    assert iv.minimum(a, b) == Interval(min(x[0], y[0]), min(x[1], y[1]))
    assert iv.maximum(a, b) == Interval(max(x[0], y[0]), max(x[1], y[1]))
    assert (a | b) == Interval(min(x[0], y[0]), max(x[1], y[1]))
    low, high = max(x[0], y[0]), min(x[1], y[1])
    assert (a & b) == (Interval(low, high) if low <= high else Interval.empty())
    assert bool(iv.is_disjoint(a, b)) == (low > high)


@settings(max_examples=200, deadline=None)
@given(st.lists(ENDS, min_size=1, max_size=9), st.data())
def test_sum_and_dot_hold_the_exact_value(boxes, data):
    x = Interval([b[0] for b in boxes], [b[1] for b in boxes])
    a = data.draw(st.lists(FINITE, min_size=len(boxes), max_size=len(boxes)))
    for end in range(2):
        total = sum(Fraction(b[end]) for b in boxes)
        assert total in iv.sum(x)
        assert sum(Fraction(k) * Fraction(b[end]) for k, b in zip(a, boxes, strict=True)) in iv.dot(a, x)


UNARY = {
    name: getattr(arb, other)
    for name, other in {
        "sqrt": "sqrt",
        "rsqrt": "rsqrt",
        "exp": "exp",
        "expm1": "expm1",
        "log": "log",
        "log1p": "log1p",
        "sin": "sin",
        "cos": "cos",
        "tan": "tan",
        "asin": "asin",
        "acos": "acos",
        "atan": "atan",
        "sinh": "sinh",
        "cosh": "cosh",
        "tanh": "tanh",
        "asinh": "asinh",
        "acosh": "acosh",
        "atanh": "atanh",
    }.items()
}
DOMAIN = {"sqrt": (0, 1e308), "rsqrt": (0, 1e308), "log": (0, 1e308), "log1p": (-1, 1e308), "asin": (-1, 1)}
DOMAIN |= {"acos": (-1, 1), "atanh": (-1, 1), "acosh": (1, 1e308), "exp": (-740, 709), "expm1": (-740, 709)}
DOMAIN |= {"sinh": (-700, 700), "cosh": (-700, 700), "tanh": (-700, 700)}


def hostile(rng, low, high, count):
    """Numbers of all magnitudes in an open range, subnormal ones and the neighbors of its ends among them."""
    scale = np.exp2(rng.uniform(-1070, 1023, count)) * rng.choice([-1.0, 1.0], count)
    near = np.concatenate([low + np.exp2(rng.uniform(-60, 0, count)), high - np.exp2(rng.uniform(-60, 0, count))])
    plain = rng.uniform(max(low, -20), min(high, 20), count)
    everything = np.concatenate([scale, near, plain])
    return everything[(everything > low) & (everything < high)]


@pytest.mark.parametrize("name", UNARY)
def test_transcendental_points_are_the_tightest_rounding(name, rng):
    x = hostile(rng, *DOMAIN.get(name, (-1e308, 1e308)), count=100)
    got = getattr(iv, name)(Interval(x))
    with ctx.workprec(2600):  # sin of 1e308 needs 1024 bits more than its result, expm1 of 1e-320 as many
        for value, lower, upper in zip(x.tolist(), got.lower.tolist(), got.upper.tolist(), strict=True):
            exact = UNARY[name](arb(value))
            assert arb(lower) <= exact <= arb(upper)
            assert lower == upper or math.nextafter(lower, math.inf) == upper


@pytest.mark.parametrize("name", UNARY)
def test_transcendental_boxes_hold_the_image_of_their_points(name, rng):
    low, high = DOMAIN.get(name, (-1e308, 1e308))
    x = hostile(rng, low, high, count=60)
    inside = np.sort(rng.choice(x, (3, 60)), axis=0)
    got = getattr(iv, name)(Interval(inside[0], inside[2]))
    with ctx.workprec(2600):
        for value, lower, upper in zip(inside[1].tolist(), got.lower.tolist(), got.upper.tolist(), strict=True):
            exact = UNARY[name](arb(value))
            assert lower == -math.inf or arb(lower) <= exact
            assert upper == math.inf or exact <= arb(upper)


def test_numbers_that_are_no_float64_are_enclosed():
    third = Fraction(1, 3)
    assert third in Interval(third)
    assert iv.is_singleton(Interval(0.5))
    assert not iv.is_singleton(Interval(third))
    assert Fraction("0.1") in Interval(Decimal("0.1"))
    assert 2**53 + 1 in Interval(2**53 + 1)
    assert third in Interval(1) / 3
    assert Fraction("0.1") in Interval.from_text("[0.1]")
    assert Fraction("0.1") not in Interval(0.1)
    centered = Interval.centered(Fraction("0.1"), Fraction("0.02"))
    assert Fraction("0.08") in centered
    assert Fraction("0.12") in centered


@pytest.mark.parametrize(
    "bad",
    [
        lambda: Interval(math.nan),
        lambda: Interval([1.0, math.nan]),
        lambda: Interval(2, 1),
        lambda: Interval(math.inf),
        lambda: Interval(1.0) + math.nan,
        lambda: [1.0, math.inf] * Interval([1.0, 2.0]),
        lambda: Interval("0.1"),
        lambda: Interval([1.0, 2.0], [3.0, 4.0, 5.0]),
        lambda: Interval.centered(0.0, -1.0),
        lambda: Interval.from_text("one"),
        lambda: Interval.from_text(["[1]", "[2, 1]"]),
    ],
)
def test_what_is_no_interval_is_refused(bad):
    with pytest.raises(InputError):
        bad()


def test_the_empty_set_follows_ieee_1788():
    empty = Interval.empty()
    assert (float(empty.lower), float(empty.upper)) == (math.inf, -math.inf)
    assert all(math.isnan(x) for x in (empty.mid, empty.rad, empty.wid, empty.mag, empty.mig))
    assert iv.is_empty(empty + 1)
    assert iv.is_empty(iv.sqrt(Interval(-2, -1)))
    assert iv.is_empty(Interval(0, 1) & Interval(2, 3))
    assert repr(empty) == "Interval.empty()"
    assert iv.is_subset(empty, Interval(1, 2))
    assert 0.0 not in empty
    assert Interval.empty((2, 3)).shape == (2, 3)


def test_unbounded_intervals_stay_right():
    assert 1 / Interval(-1, 1) == Interval.entire()
    assert iv.log(Interval(0, 1)) == Interval(-math.inf, 0)
    assert 1 / Interval(0, 2) == Interval(0.5, math.inf)
    assert not iv.is_bounded(Interval.entire())
    largest = math.nextafter(math.inf, 0)
    assert Interval(largest) * 2 == Interval(largest, math.inf)


def test_arrays_broadcast_index_and_freeze():
    x = Interval(np.arange(3.0), np.arange(3.0) + 1)
    table = x * np.ones((2, 1))
    assert table.shape == (2, 3)
    assert table[1] == x
    assert len(x) == x.size == 3
    assert x.reshape(3, 1).ndim == 2
    assert [float(part.upper) for part in x] == [1.0, 2.0, 3.0]
    assert (np.ones(3) + x) == (x + 1)
    assert x != 3
    given = np.zeros(2)
    Interval(given)
    given[0] = 1.0  # the caller's array stays the caller's
    with pytest.raises(ValueError, match="read-only"):
        x._of.lo[0] = 7.0


def test_sum_of_nothing_is_zero():
    assert iv.sum(Interval.entire((0, 2)), axis=0) == Interval([0.0, 0.0])


@settings(max_examples=200, deadline=None)
@given(b=ENDS, c=ENDS, x=FINITE)
def test_extended_division_loses_no_solution(b, c, x):
    low, high = iv.mul_rev_pair(Interval(*b), Interval(*c))
    products = sorted(Fraction(x) * Fraction(end) for end in b)
    solves = products[0] <= Fraction(c[1]) and Fraction(c[0]) <= products[1]
    assert not solves or x in low or x in high
