from fractions import Fraction

import numpy as np
import pytest

from gough import InputError
from gough.core.rational import as_double, integers, over_common_denominator, rational, round_down, whole_numbers


def test_integers_are_exact_for_every_kind_of_double(rng):
    bits = rng.integers(0, 2**64, size=4000, dtype=np.uint64)
    values = bits.view(np.float64)
    hostile = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1e300, 1e-300, 1.0, 0.1]
    values = np.concatenate([values[np.isfinite(values)], hostile])
    n, q = integers(values)
    assert all(k * Fraction(2) ** q == Fraction(x) for k, x in zip(n.tolist(), values.tolist(), strict=True))
    few, exponent = whole_numbers(values.tolist())
    assert all(k * Fraction(2) ** exponent == Fraction(x) for k, x in zip(few, values.tolist(), strict=True))
    assert whole_numbers([]) == ([], 0)


def test_integers_keep_the_shape_and_stand_zeros():
    n, q = integers(np.zeros((2, 3)))
    assert n.shape == (2, 3)
    assert q == 0
    assert not n.any()


def test_rational_takes_numbers_only():
    assert rational(np.float64(0.1), "x") == Fraction(0.1)
    assert rational(np.int32(3), "x") == 3
    assert rational(5e-324, "x") == Fraction(1, 2**1074)
    for wrong in (float("nan"), float("inf"), True, "1", None, 1j):
        with pytest.raises(InputError, match="x"):
            rational(wrong, "x")


def test_round_down_is_the_nearest_double_below():
    for x in (Fraction(1, 3), Fraction(-1, 3), Fraction(1, 10**400), Fraction(-1, 10**400), Fraction(0.1)):
        below = round_down(x)
        assert Fraction(below) <= x < Fraction(float(np.nextafter(below, np.inf)))
    assert round_down(Fraction(10**400)) == np.finfo(float).max
    assert round_down(Fraction(-(10**400))) is None


def test_as_double_only_where_one_is_equal():
    assert as_double(Fraction(0.1)) == 0.1
    assert as_double(Fraction(1, 10)) is None
    assert as_double(Fraction(10**400)) is None
    assert as_double(Fraction(1, 2**1075)) is None


def test_common_denominator_of_nothing_is_one():
    numerators, d = over_common_denominator([])
    assert numerators.shape == (0,)
    assert d == 1
