"""Sine, cosine and angle: their errors, against balls of 200 bits, and the same bits from every evaluator."""

import ctypes
import math
import subprocess
from fractions import Fraction

import flint
import numpy as np
import pytest

from gough.kernels import CompilationError, csource, elementary, trace
from gough.kernels import expression as ex
from gough.kernels.compiler import find_compiler
from gough.kernels.elementary import ANGLE, SINE_COSINE, of_arrays
from gough.kernels.native import load

_STRANGE = [0.0, 1.0, 5e-324, 1e-310, 1e-200, 1e-9, 0.4375, 6433.0, 6433.1, 1e22, 1e300, math.inf, math.nan]


@pytest.fixture(scope="module")
def kernel():
    """All three, a sine alone, and a cosine ahead of its sine."""

    def both(x, y):
        return {
            "angle": ex.atan2(y, x),
            "pair": ex.vector(ex.cos(x), ex.sin(x)),
            "alone": ex.sin(x + y),
            "other": ex.cos(x - y),
        }

    return trace(both, name="both", inputs={"x": (), "y": ()})


@pytest.fixture(scope="module")
def points():
    rng = np.random.default_rng(1)
    strange = [sign * x for x in _STRANGE for sign in (1, -1)]
    x, y = (grid.ravel() for grid in np.meshgrid(strange, strange))
    wide = 10.0 ** rng.uniform(-12, 4, (2, 3000)) * rng.choice([-1, 1], (2, 3000))
    return np.r_[x, rng.normal(size=2000), wide[0]], np.r_[y, rng.normal(size=2000), wide[1]]


def test_every_evaluator_has_the_same_bits(kernel, points, tmp_path):
    x, y = points
    compiled, replayed = kernel.compiled(x, y), kernel.replay(x, y)
    try:
        alone = load(csource.batch(kernel.name, kernel.tape, kernel.inputs, kernel.outputs), 1)
    except CompilationError as error:
        pytest.skip(str(error))
    one_by_one = alone([x[:, None].copy(), y[:, None].copy()], [port.size for port in kernel.outputs], len(x))
    exported = _exported(kernel, tmp_path)
    clean = ~(np.isnan(x) | np.isnan(y))  # the evaluators of a kernel make a sample with NaN all NaN
    for port, values in zip(kernel.outputs, one_by_one, strict=True):
        expected = compiled[port.name].reshape(len(x), -1)
        for found in (replayed[port.name].reshape(len(x), -1), values, exported(x, y)[port.name]):
            np.testing.assert_array_equal(found[clean].view(np.int64) + 0, _bits(expected[clean], found[clean]))


def _bits(expected, found):
    """The bits of what is expected, with any NaN for any other."""
    return np.where(np.isnan(expected) & np.isnan(found), found.view(np.int64), expected.view(np.int64))


def _exported(kernel, folder):
    """The exported C, called for each sample."""
    source, _ = kernel.export_c(folder)
    library = folder / "exported.so"
    flags = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-ffp-contract=off", "-fPIC", "-shared"]
    subprocess.run([find_compiler().path, *flags, str(source), "-o", str(library), "-lm"], check=True)
    function = getattr(ctypes.CDLL(str(library)), kernel.name)

    def call(x, y):
        results = {port.name: np.empty((len(x), port.size)) for port in kernel.outputs}
        for k in range(len(x)):
            arguments = [np.array([x[k]]), np.array([y[k]]), *(result[k] for result in results.values())]
            function(*(ctypes.c_void_p(argument.ctypes.data) for argument in arguments))
        return results

    return call


def test_strange_arguments_mean_what_the_library_says(kernel):
    grid = [sign * x for x in _STRANGE for sign in (1, -1)]
    x, y = (each.ravel() for each in np.meshgrid(grid, grid))
    found = kernel.compiled(x, y)
    for k in range(len(x)):
        if math.isnan(x[k]) or math.isnan(y[k]):
            assert math.isnan(found["angle"][k])
            continue
        turns = [math.cos(x[k]), math.sin(x[k])] if math.isfinite(x[k]) else [math.nan] * 2
        for value, wanted in zip([found["angle"][k], *found["pair"][k]], [math.atan2(y[k], x[k]), *turns], strict=True):
            assert math.isnan(value) == math.isnan(wanted)
            assert math.isnan(value) or abs(value - wanted) <= math.ulp(wanted)
            assert math.copysign(1.0, value) == math.copysign(1.0, wanted) or math.isnan(wanted)


def _worst(values, exact):
    """The largest error in units of the last place."""
    errors = [
        abs(flint.arb(float(v)) - e) / math.ulp(float(e.mid())) for v, e in zip(values, exact, strict=True) if e != 0
    ]
    return max(float(error.upper()) for error in errors)


def test_errors_are_below_one_unit_of_the_last_place(rng):
    turns = np.arange(1, 4096) * (math.pi / 2)
    x = np.concatenate(
        [rng.uniform(-0.8, 0.8, 10_000), rng.uniform(-7, 7, 10_000), rng.uniform(-6433, 6433, 10_000),
         turns, np.nextafter(turns, 0), np.nextafter(turns, 1e9), -turns]
    )  # fmt: skip
    sine, cosine = of_arrays(SINE_COSINE, x)
    b = rng.normal(size=20_000) * 10.0 ** rng.integers(-30, 30, 20_000)
    a = b * np.where(rng.random(20_000) < 0.5, rng.uniform(-0.6, 0.6, 20_000), rng.standard_cauchy(20_000))
    (angle,) = of_arrays(ANGLE, a, b)
    with flint.ctx.workprec(200):
        assert _worst(sine, [flint.arb(float(v)).sin() for v in x]) < 0.91
        assert _worst(cosine, [flint.arb(float(v)).cos() for v in x]) < 0.82
        exact = [flint.arb.atan2(flint.arb(float(v)), flint.arb(float(w))) for v, w in zip(a, b, strict=True)]
        assert _worst(angle, exact) < 0.9


def test_no_double_of_the_domain_comes_nearer_to_a_quarter_of_a_turn():
    """What the reduction relies on: |x - n π/2| > 2^-60.6, and its parts of π/2 lack less than 2^-133."""
    with flint.ctx.workprec(500):
        mantissa, exponent = (flint.arb.pi() / 2).mid().man_exp()
    quarter = Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
    parts = [Fraction(part) for part in elementary._QUARTER]
    assert abs(quarter - sum(parts)) < Fraction(1, 2**133)
    for n in (1, 2047, 4095, 4096):
        assert all(Fraction(n * float(part)) == n * part for part in parts[:2])
    assert elementary.TURNS < 4095.5 * quarter
    nearest = min(abs(n * quarter - Fraction(float(n * quarter))) for n in range(1, 4097))
    assert nearest > Fraction(2.0**-60.6)
    eighth = [Fraction(part) for part in elementary._EIGHTH]
    assert abs(quarter / 2 - sum(eighth)) < Fraction(1, 2**105)
    assert all(Fraction(m * float(eighth[0])) == m * eighth[0] for m in range(5))


def _gap(coefficients, series, power, end):
    """A bound of |z^power Σ (coefficients - series) z^k| over 0 <= z <= end: Taylor's formula about 2000 places."""
    wanted = [*coefficients, *[0.0] * (len(series) - len(coefficients))]
    gaps = [flint.arb(c) - s for c, s in zip(wanted, series, strict=True)]
    derivatives = [flint.arb_poly([*[0] * power, *gaps])]
    for _ in range(4):
        derivatives.append(derivatives[-1].derivative())
    last = sum(abs(c) * flint.arb(end) ** k for k, c in enumerate(derivatives.pop().coeffs()))
    half = flint.arb(end) / 4000
    bounds = []
    for place in range(2000):
        terms = [*(abs(each(half * (2 * place + 1))) for each in derivatives), last]
        bounds.append(sum(term * half**k / math.factorial(k) for k, term in enumerate(terms)))
    return max(float(bound.upper()) for bound in bounds)


def test_polynomials_are_exact_to_2_to_the_minus_57():
    """Over the whole range, with rigorous bounds; what they stand for are series cut off below 2^-80."""
    with flint.ctx.workprec(200):
        one = flint.arb(1)
        factorial = [flint.arb(math.factorial(k)) for k in range(40)]
        square = (math.pi / 4 + 1e-9) ** 2
        sine = [one * (-1) ** (k + 1) / factorial[2 * k + 3] for k in range(13)]
        # what is missing of sin r / r, which is at least 0.9
        assert _gap([elementary._SIXTH, *elementary._SINE], sine, 1, square) / 0.9 < 2.0**-57
        cosine = [one * (-1) ** k / factorial[2 * k + 4] for k in range(13)]
        assert _gap(elementary._COSINE, cosine, 2, square) < 2.0**-57
        angle = [one * (-1) ** k / (2 * k + 3) for k in range(36)]
        assert _gap(elementary._ANGLE, angle, 1, 0.4376**2) < 2.0**-57
