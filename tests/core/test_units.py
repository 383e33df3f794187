"""Units: known, converted, told apart, refused by name."""

from fractions import Fraction
from math import pi

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gough.core.errors import InputError
from gough.core.units import _ALSO, _TABLE, factor_between, in_si, same_kind

KNOWN = sorted({*_TABLE, *_ALSO})


@pytest.mark.parametrize(
    ("unit", "factor", "si"),
    [
        ("rad", 1.0, "rad"),
        ("deg", pi / 180, "rad"),
        ("rev", 2 * pi, "rad"),
        ("rev/20000", 2 * pi / 20000, "rad"),
        ("mm", 1e-3, "m"),
        ("in", 0.0254, "m"),
        ("ms", 1e-3, "s"),
        ("rpm", pi / 30, "rad/s"),
        ("deg/s", pi / 180, "rad/s"),
        ("deg/s^2", pi / 180, "rad/s²"),
        ("kN", 1e3, "N"),
        ("%", 1e-2, ""),
        ("", 1.0, ""),
        ("counts", 1.0, "count"),
        ("kg*cm^2", 1e-4, "kg·m²"),
        ("mm·s⁻¹", 1e-3, "m/s"),
        ("1/s", 1.0, "1/s"),
        ("N·m·s/rad", 1.0, "N·m·s/rad"),
        ("Nm s/rad", 1.0, "N·m·s/rad"),
        ("9.80665 m/s^2", 9.80665, "m/s²"),
    ],
)
def test_units_in_si(unit, factor, si):
    assert in_si(unit) == (pytest.approx(factor, rel=4e-16), si)


@pytest.mark.parametrize("torque", ["N·m", "Nm", "N*m", "N m", "N.m", "N⋅m", " N · m "])
def test_a_torque_in_many_spellings(torque):
    assert in_si(torque) == (1.0, "N·m")


@pytest.mark.parametrize(("one", "other"), [("µm", "μm"), ("µs", "us"), ("Ω", "\u2126"), ("Ω", "Ohm"), ("°", "º")])
def test_variants_of_unicode_mean_the_same(one, other):
    assert in_si(one) == in_si(other)


@pytest.mark.parametrize("unit", KNOWN)
def test_si_units_are_their_own_si(unit):
    _, si = in_si(unit)
    assert in_si(si) == (1.0, si)
    assert same_kind(unit, si)


@given(st.sampled_from(KNOWN), st.floats(-1e6, 1e6, allow_subnormal=False))
def test_values_convert_and_back(unit, value):
    factor, si = in_si(unit)
    there, back = factor_between(unit, si), factor_between(si, unit)
    assert there == factor
    assert value * there * back == pytest.approx(value, rel=1e-15)


@given(st.sampled_from(KNOWN), st.sampled_from(KNOWN), st.integers(1, 3))
def test_products_multiply(one, other, power):
    product = float(Fraction(in_si(one)[0]) ** power * Fraction(in_si(other)[0]))
    assert in_si(f"{one}^{power}*{other}")[0] == pytest.approx(product, rel=1e-15)
    assert in_si(f"{other}*{one}^{power}/{other}")[0] == pytest.approx(in_si(one)[0] ** power, rel=1e-15)
    assert same_kind(f"{other}*{one}^{power}/{other}", f"{one}^{power}")


def test_kinds():
    assert same_kind("N·m", "J")
    assert same_kind("V", "W/A")
    assert same_kind("V·s/A", "Ω*s")
    assert not same_kind("rad", "")
    assert not same_kind("count", "rad")
    assert not same_kind("mm", "rad")
    assert not same_kind("nm", "Nm")


@pytest.mark.parametrize(
    ("unit", "words"),
    [
        ("dge", "'dge' is not a unit that gough knows; did you mean 'deg'?"),
        ("NM", "did you mean 'Nm'?"),
        ("Deg", "did you mean 'deg'?"),
        ("mm/sec2/q", "'mm/sec2/q' is not a unit"),
        ("g", "write 'kg/1000' for a gram"),
        ("°C", "do not become kelvins by a factor"),
        ("W/m·K", "may mean two things: divide by one unit at a time, as in 'W/m/K'"),
        ("m/", "nothing beside a '/'"),
        ("/s", "nothing beside a '/'"),
        ("0 m", "factor 0, which measures nothing"),
        ("1e999 m", "measures nothing"),
        ("☃", "'☃' is not a unit"),
        ("m^", "'m^' is not a unit"),
        ("(m)", "is not a unit"),
    ],
)
def test_what_is_no_unit_is_refused(unit, words):
    with pytest.raises(InputError) as error:
        in_si(unit)
    assert words in str(error.value)


@given(st.text(max_size=12))
def test_any_text_is_a_unit_or_refused(text):
    try:
        factor, si = in_si(text)
    except InputError:
        return
    assert factor > 0
    assert in_si(si) == (1.0, si)


def test_other_kinds_do_not_convert():
    with pytest.raises(InputError, match="'%' cannot become 'rad': one measures pure numbers, the other rad"):
        factor_between("%", "rad")
