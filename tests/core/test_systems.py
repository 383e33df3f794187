"""Enclosures of solutions hold the exact rational ones, at zero tolerance."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.intervals import Interval
from gough.core.midrad import MidRad
from gough.core.systems import solve

_spec = importlib.util.spec_from_file_location("exact", Path(__file__).with_name("exact.py"))
exact = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(exact)


def holds_exact_solution(x, A, b):
    return exact.is_within(exact.rational(A).solve(exact.rational(b)), x.mid, x.rad)


@pytest.mark.parametrize("n", [1, 2, 6, 20])
def test_solution_holds_the_exact_one(n, rng):
    for _ in range(10):
        A, b = rng.standard_normal((n, n)), rng.standard_normal((n, 3))
        x = solve(A, b)
        assert x.is_bounded
        assert holds_exact_solution(x, A, b)
        assert (x.rad <= 1e-9 * np.abs(x.mid).max()).all()


def test_units_do_not_matter(rng):
    for _ in range(10):
        A, b = rng.standard_normal((6, 6)), rng.standard_normal((6, 1))
        left, right = np.ldexp(1.0, rng.integers(-60, 60, (2, 6)))
        scaled = A * left[:, None] * right
        x = solve(scaled, b * left[:, None])
        assert holds_exact_solution(x, scaled, b * left[:, None])
        assert np.allclose(x.rad * right[:, None], solve(A, b).rad, rtol=1)


def test_ill_conditioned_systems_are_enclosed_or_left_open():
    for n in range(2, 14):
        common = math.lcm(*range(1, 2 * n))
        A = np.array([[common // (i + j + 1) for j in range(n)] for i in range(n)], dtype=float)
        x = solve(A, np.ones((n, 1)))
        assert holds_exact_solution(x, A, np.ones((n, 1)))
        assert x.is_bounded or n > 10


@pytest.mark.parametrize("n", [2, 3, 6])
def test_singular_systems_are_never_enclosed(n, rng):
    for _ in range(30):
        B, C = rng.integers(-99, 99, (n, n - 1)), rng.integers(-99, 99, (n - 1, n))
        A = (B @ C).astype(float)
        assert np.isinf(solve(A, np.ones(n)).rad).all()
        assert np.isinf(solve(A, A @ np.ones(n)).rad).all()
        near = A.copy()
        near[0, 0] += 2.0**-20
        assert np.isinf(solve(MidRad(near, np.full((n, n), 2.0**-20)), np.ones(n)).rad).all()


def test_sets_of_systems_hold_the_solutions_of_their_members(rng):
    for _ in range(10):
        A, b = rng.standard_normal((5, 5)) + 5 * np.eye(5), rng.standard_normal((5, 2))
        P, q = MidRad(A, np.full((5, 5), 2.0**-5)), MidRad(b, np.full((5, 2), 2.0**-6))
        x = solve(P, q)
        assert x.is_bounded
        for _ in range(10):
            member = A + rng.choice([-1, 1], A.shape) * P.rad * 0.999
            side = b + rng.choice([-1, 1], b.shape) * q.rad * 0.999
            assert holds_exact_solution(x, member, side)


def test_many_small_systems_at_once(rng):
    A, b = rng.standard_normal((10_000, 6, 6)), rng.standard_normal((10_000, 6))
    A[17], A[4711, 3] = 0.0, A[4711, 2]
    x = solve(A, b)
    assert x.shape == (10_000, 6)
    open_ones = np.flatnonzero(np.isinf(x.rad).any(axis=1))
    assert {17, 4711} <= set(open_ones.tolist())
    assert len(open_ones) < 10
    for k in rng.choice(np.setdiff1d(np.arange(10_000), open_ones), 20):
        whole = MidRad(x.mid[k, :, None], x.rad[k, :, None])
        assert holds_exact_solution(whole, A[k], b[k, :, None])


def test_hostile_magnitudes_give_no_false_enclosure(rng):
    for _ in range(50):
        A, b = exact.hostile(rng, 3, 3), exact.hostile(rng, 3, 1)
        x = solve(A, b)
        if exact.rational(A).det() == 0:
            assert np.isinf(x.rad).all()
        else:
            assert holds_exact_solution(x, A, b)


def test_interval_matrices_are_taken_too():
    x = solve(Interval([[1.9, 0.0], [0.0, 3.9]], [[2.1, 0.1], [0.1, 4.1]]), Interval([1.0, 1.0], [1.1, 1.1])).interval()
    assert x[0].lower <= 1 / 2.1 - 0.01
    assert x[0].upper >= 1.1 / 1.9


@pytest.mark.parametrize(
    "bad",
    [
        lambda: solve(np.ones((2, 3)), np.ones(2)),
        lambda: solve(np.eye(2), np.ones(3)),
        lambda: solve(np.eye(2), np.ones((2, 2, 2))),
        lambda: solve(np.full((2, 2), math.nan), np.ones(2)),
        lambda: solve(np.eye(2), np.array([1.0, math.inf])),
    ],
)
def test_what_is_no_square_system_is_refused(bad):
    with pytest.raises(InputError):
        bad()
