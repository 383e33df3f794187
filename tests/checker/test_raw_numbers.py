"""The checker's own reading of decimals, units, angles and rotations, against exact rationals."""

from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest

from gough.checker.linear import NotProven
from gough.checker.raw_containment import between
from gough.checker.raw_data import RawTable, of_vector, split_head
from gough.checker.raw_numbers import PI, Span, converted, cosine, decimal, quantity, sinc, unit
from gough.core.rotations import exp, from_quaternion, log
from gough.core.units import factor_between

TINY = Fraction(1, 10**60)


def arctangent(x, terms):
    """Σ (−1)^k x^(2k+1) / (2k+1), and a bound of the rest."""
    total = sum((-1) ** k * x ** (2 * k + 1) / (2 * k + 1) for k in range(terms))
    return total, x ** (2 * terms + 1)


def test_pi_by_machin():
    (a, da), (b, db) = arctangent(Fraction(1, 5), 70), arctangent(Fraction(1, 239), 20)
    middle, rest = 16 * a - 4 * b, 16 * da + 4 * db
    assert rest < Fraction(1, 10**80)
    assert PI.low < middle - rest
    assert middle + rest < PI.high
    assert PI.high - PI.low == Fraction(1, 10**80)


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 3), Fraction(-7, 5), Fraction(25, 4), Fraction(59)])
def test_cosine_and_sine_contain_taylor_s_sums(x):
    n = 220
    cos = sum((-1) ** k * x ** (2 * k) / factorial(2 * k) for k in range(n))
    sin = sum((-1) ** k * x ** (2 * k) / factorial(2 * k + 1) for k in range(n))
    for found, truth in ((cosine(Span.at(x * x)), cos), (sinc(Span.at(x * x)), sin)):
        assert found.low - TINY < truth < found.high + TINY
        assert found.high - found.low < Fraction(1, 10**40)


def test_an_angle_beyond_all_turns_is_refused():
    with pytest.raises(NotProven, match="60 rad"):
        cosine(Span.at(61 * 61))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("+1.5", Fraction(3, 2)),
        ("-.5", Fraction(-1, 2)),
        ("7.", Fraction(7)),
        ("1e3", Fraction(1000)),
        ("1E-400", Fraction(1, 10**400)),
        ("0." + "3" * 400, Fraction(int("3" * 400), 10**400)),
        ("00012", Fraction(12)),
    ],
)
def test_decimals(text, value):
    assert decimal(text) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "1_0", "1,5", "0x10", "nan", "inf", "-", "1e", "1e5000000", "1" * 6000, "１", "1 2", "--1", "1e+-3", "½"],
)
def test_what_is_no_decimal(text):
    with pytest.raises(NotProven):
        decimal(text)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [("mm", "m"), ("deg", "rad"), ("rev/20000", "rad"), ("µm", "m"), ("um", "m"), ("°", "rad"), ("mm²", "m^2"),
     ("deg", "rev"), ("in", "mm"), ("arcsec", "deg"), ("count", "count"), ("mV", "V"), ("uA", "A"),
     ("m/rad", "mm/rad"), ("%", "1")],
)  # fmt: skip
def test_units_are_those_of_the_readers(given, wanted):
    span = converted(Fraction(1), given, wanted).span
    near = factor_between(given, wanted)
    assert span.low * (1 - Fraction(1, 10**14)) <= Fraction(near) <= span.high * (1 + Fraction(1, 10**14))


@pytest.mark.parametrize(
    ("value", "wanted"), [("1 mm", "rad"), ("1 parsec", "m"), (True, "m"), ("mm", "m"), (None, "m"), ("1 m/", "m")]
)
def test_what_is_no_quantity(value, wanted):
    with pytest.raises(NotProven):
        quantity(value, wanted)


def test_heads():
    assert split_head("x [mm]") == ("x", "mm")
    assert split_head("l1 (left)") == ("l1 (left)", None)
    assert unit("")[0].number == 1


@pytest.mark.parametrize(
    ("content", "numbers"),
    [
        (b"x,y\n1.5,2\n", [Fraction(3, 2)]),
        (b"\xef\xbb\xbfx;y\r\n1,5;2\r\n\r\n# end\r\n", [Fraction(3, 2)]),
        (b'"x"\ty\n"1.5"\t2\n', [Fraction(3, 2)]),
        (b"% made by hand\nx,y\n1,5\n2,6\n", [Fraction(1), Fraction(2)]),
    ],
)
def test_tables(content, numbers):
    assert RawTable.of_csv(content).numbers(0) == numbers


@pytest.mark.parametrize("content", [b"x,y\n", b"x,y\n1\n", b"x,y\n1,2,3\n", b"\xff\xfex", b"", b'x,y\n"1,2\n'])
def test_what_is_no_table(content):
    with pytest.raises(NotProven):
        RawTable.of_csv(content).numbers(1)


def exactly(*numbers):
    return [Fraction(x) for x in numbers]


def test_a_quarter_turn_in_degrees_is_a_quaternion():
    vector = [Span.at(0), Span.at(0), quantity("90 deg", "rad").span]
    assert between(of_vector(vector), exactly(1, 0, 0, 1)) < TINY
    assert between(of_vector(vector), exactly(1, 0, 0, 0)) > Fraction(157, 100)
    third = [quantity("120 deg", "rad").span * Span.at(Fraction(1, 3)).root()] * 3
    assert between(of_vector(third), exactly(-2, -2, -2, -2)) < TINY


def test_matrices_whose_decimals_are_a_rotation():
    """|q|² = 10 gives a matrix of tenths."""
    for q in product((-3, -1, 0, 1, 3), repeat=4):
        if sum(x * x for x in q) != 10:
            continue
        w, x, y, z = exactly(*q)
        matrix = [1 - (y * y + z * z) / 5, (x * y - w * z) / 5, (x * z + w * y) / 5, (x * y + w * z) / 5,
                  1 - (x * x + z * z) / 5, (y * z - w * x) / 5, (x * z - w * y) / 5, (y * z + w * x) / 5,
                  1 - (x * x + y * y) / 5]  # fmt: skip
        assert between([Span.at(entry) for entry in matrix], exactly(*q)) == 0
        off = [Span.at(entry * Fraction(101, 100)) for entry in matrix]
        assert between(off, exactly(*q)) == 0  # the nearest rotation of a scaled matrix
        mirrored = [Span.at(-entry) for entry in matrix]
        with pytest.raises(NotProven):
            between(mirrored, exactly(*q))


def test_the_bound_of_an_angle_is_one():
    rng = np.random.default_rng(5)
    for size in 10.0 ** rng.uniform(-12, -0.3, 100):
        axis = rng.normal(size=3)
        w = size * axis / np.linalg.norm(axis)
        q = rng.normal(size=4)
        turned = exp(w) @ from_quaternion(q)
        stretched = turned @ (np.eye(3) + np.diag(rng.uniform(-0.015, 0.015, 3)))
        for stated in (turned, stretched):
            found = between([Span.at(Fraction(x)) for x in stated.reshape(-1)], exactly(*q))
            assert float(found) >= size * (1 - 1e-6) - 1e-15
        s = exactly(*q)
        v = [Fraction(x) / 2 for x in w]
        product_ = (
            s[0] - sum(a * b for a, b in zip(v, s[1:], strict=True)),
            s[1] + v[0] * s[0] + v[1] * s[3] - v[2] * s[2],
            s[2] + v[1] * s[0] + v[2] * s[1] - v[0] * s[3],
            s[3] + v[2] * s[0] + v[0] * s[2] - v[1] * s[1],
        )
        assert float(between([Span.at(x) for x in product_], s)) >= 2 * np.arctan(size / 2)


def test_a_small_turn_changes_a_rotation_vector_by_less_than_twice_itself():
    """The inequality on which containment of orientations rests, at its limits."""
    rng = np.random.default_rng(6)
    w, f = (rng.normal(size=(20000, 3)) for _ in range(2))
    w *= (rng.uniform(0, 1, 20000) ** 0.2 / np.linalg.norm(w, axis=1))[:, None]
    f *= (0.25 * rng.uniform(0, 1, 20000) ** 0.2 / np.linalg.norm(f, axis=1))[:, None]
    change = np.linalg.norm(log(exp(w) @ exp(f)) - w, axis=1) / np.linalg.norm(f, axis=1)
    assert 1.0 < change.max() < 1.1
