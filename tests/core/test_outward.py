"""Printed sets contain the given ones, as read back in exact fractions, and are hardly wider."""

import re
from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gough import InputError
from gough.core import outward

DOUBLES = st.floats(allow_nan=False, allow_infinity=False)
"""All of them: subnormal and huge ones, both zeros."""
FRACTIONS = st.builds(Fraction, st.integers(-(10**40), 10**40), st.integers(1, 10**40))
NUMBERS = st.one_of(DOUBLES, FRACTIONS, st.integers(-(10**400), 10**400))
NARROW = st.builds(lambda x, n: (x, x + n * np.spacing(x)), st.floats(-1e300, 1e300), st.integers(0, 4))
PAIRS = st.one_of(st.tuples(NUMBERS, NUMBERS).map(sorted), NARROW.map(sorted))
TIMES = st.one_of(st.just(1), st.just(1000), st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9)))
PLAIN = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-][0-9]{2,})?")


def read(text: str) -> Fraction:
    assert PLAIN.fullmatch(text), text
    return Fraction(text)


def allowed(lower: Fraction, upper: Fraction, *more: Fraction) -> Fraction:
    """2 % of the width; or two units of the 16th significant digit, 1e-15 of the largest number each at most."""
    return max((upper - lower) / 50, 2 * max(abs(lower), abs(upper), *map(abs, more)) / 10**15)


@given(PAIRS, TIMES)
@example([5e-324, 5e-324], 1)
@example([-0.0, 0.0], 1)
@example([0.1, 0.1], 1000)
@example([np.nextafter(1.0, 0.0), 1.0], 1)
@example([5e-324, 1.7976931348623157e308], 1)
@example([999999.9999, 1000000.0001], 1)
@example([9.99999, 9.999999], 1)
def test_printed_ends_contain_the_interval_and_hardly_more(pair, times):
    lower, upper = (Fraction(end) * times for end in pair)
    texts = outward.sides(*pair, times=times)
    a, b = map(read, texts)
    assert a <= lower <= upper <= b
    assert (lower - a) + (b - upper) <= allowed(lower, upper)
    assert (a <= 0 <= b) == (lower <= 0 <= upper)
    step = max(abs(a), abs(b)) / 50
    written = [text.partition("e") for text, end in zip(texts, (a, b), strict=True) if text != "0" and abs(end) > step]
    assert len({len(digits.partition(".")[2]) for digits, _, _ in written}) <= 1, "the same decimals"
    assert len({exponent for _, _, exponent in written}) <= 1, "the same exponent"
    assert outward.between(*pair, times=times) == " … ".join(texts)


@given(PAIRS, TIMES)
@example([0.1, 0.1], 1)
@example([5e-324, 5e-324], 1)
def test_center_and_radius_contain_the_interval_and_hardly_more(pair, times):
    lower, upper = (Fraction(end) * times for end in pair)
    center, radius = map(read, outward.plus_minus(*pair, times=times))
    assert center - radius <= lower <= upper <= center + radius
    assert 2 * radius - (upper - lower) <= 2 * allowed(lower, upper)


@given(PAIRS, NUMBERS)
def test_a_radius_reaches_from_a_given_center_to_the_farther_end(pair, center):
    lower, upper, center = *map(Fraction, pair), Fraction(center)
    c, radius = map(read, outward.plus_minus(*pair, center))
    assert c - radius <= lower <= upper <= c + radius
    reach = max(upper - center, center - lower)
    assert radius - reach <= allowed(lower, upper, center)
    assert abs(c - center) <= allowed(lower, upper, center)


@given(NUMBERS, TIMES, st.integers(1, 17))
def test_one_sided_numbers_are_rounded_to_their_side(value, times, digits):
    exact = Fraction(value) * times
    below, above = (read(f(value, times=times, digits=digits)) for f in (outward.at_least, outward.at_most))
    assert below <= exact <= above
    assert above - below <= abs(exact) / 10 ** (digits - 1)


def pi() -> tuple[Fraction, Fraction]:
    """Machin's formula, 16 arctan 1/5 − 4 arctan 1/239: partial sums of alternating series enclose it."""

    def arctan(n: int) -> tuple[Fraction, Fraction]:
        terms = [Fraction((-1) ** k, (2 * k + 1) * n ** (2 * k + 1)) for k in range(60)]
        return sum(terms), sum(terms[:-1])

    (a, b), (c, d) = arctan(5), arctan(239)
    return 16 * a - 4 * d, 16 * b - 4 * c


@given(DOUBLES, DOUBLES)
@example(-np.pi, np.pi)
def test_degrees_contain_what_the_radians_enclose(one, other):
    lower, upper = sorted((one, other))
    a, b = map(read, outward.sides(lower, upper, times=outward.DEGREES))
    small, large = pi()
    left = Fraction(lower) * 180 / (large if lower > 0 else small)
    right = Fraction(upper) * 180 / (small if upper > 0 else large)
    assert a <= left
    assert right <= b
    assert (left - a) + (b - right) <= allowed(left, right)


def test_infinite_ends_stay_infinite_and_empty_intervals_have_none():
    assert outward.sides(-inf, inf) == ("−∞", "∞")
    assert outward.sides(-inf, 0.1) == ("−∞", "0.1001")
    assert outward.between(-inf, 0.1) == "≤ 0.1001"
    assert outward.between(0.1, inf) == "≥ 0.1000"
    assert outward.plus_minus(-inf, 0.1) == ("0.1000", "∞")
    assert outward.plus_minus(-inf, inf) == ("0", "∞")
    for empty in ((inf, -inf), (2.0, 1.0), (nan, 1.0), (0.0, nan), (inf, inf), (-inf, -inf)):
        assert outward.sides(*empty) == outward.plus_minus(*empty) == ("—", "—"), empty
    assert outward.plus_minus(0.0, 1.0, nan) == ("—", "—")
    assert (outward.at_most(inf), outward.at_least(-inf), outward.at_most(nan)) == ("∞", "−∞", "—")


def test_short_decimals_are_short_and_the_zero_has_no_sign():
    assert outward.sides(-9.0, 9.0) == ("-9", "9")
    assert outward.sides(-0.0, -0.0) == ("0", "0")
    assert outward.sides(Fraction(1, 8), 1) == ("0.125", "1.000")
    assert outward.at_most(0.25) == outward.at_least(0.25) == "0.25"
    assert outward.at_most(2.0**-1074 * 0) == "0"


@pytest.mark.parametrize("times", [0.001, 0, -1, Fraction(-1, 2), nan])
def test_factors_that_are_not_exact_or_not_positive_are_refused(times):
    with pytest.raises(InputError, match="exact factors"):
        outward.sides(0.0, 1.0, times=times)


def test_a_factor_is_enclosed_the_right_way_round():
    with pytest.raises(InputError, match="0 < lower"):
        outward.Factor(Fraction(2), Fraction(1))
