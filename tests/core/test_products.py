"""Verified products and residuals hold the exact rational ones, at zero tolerance."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.intervals import Interval
from gough.core.midrad import MidRad, enclosing, gamma
from gough.core.products import accurate_residual, bound_matmul, matmul, residual

_spec = importlib.util.spec_from_file_location("exact", Path(__file__).with_name("exact.py"))
exact = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(exact)

NAMES = list(exact.pairs(np.random.default_rng(0)))
SEEDS = range(10)


@pytest.mark.parametrize("name", NAMES)
def test_product_of_numbers_holds_the_exact_one(name):
    for seed in SEEDS:
        A, B = exact.pairs(np.random.default_rng(seed))[name]
        C = matmul(A, B)
        assert exact.is_within(exact.rational(A) * exact.rational(B), C.mid, C.rad)


def vertices(mid, rad, rng):
    """A member of the set at a random vertex, or just a random one, exactly inside."""
    x = mid + rad * rng.choice([-1.0, 1.0, 0.0, 0.37], mid.shape)
    outside = exact_outside(x, mid, rad)
    return np.where(outside, mid, x)


def exact_outside(x, mid, rad):
    inside = [
        exact.is_within(exact.rational([[a]]), [[m]], [[r]])
        for a, m, r in zip(x.ravel(), mid.ravel(), rad.ravel(), strict=True)
    ]
    return ~np.array(inside).reshape(x.shape)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("all magnitudes", "subnormal times huge")])
def test_products_of_sets_hold_the_products_of_their_members(name):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        A, B = exact.pairs(rng)[name]
        P, Q = (MidRad(x, np.abs(x) * rng.choice([0.0, 1e-16, 1e-3, 2.0], x.shape)) for x in (A, B))
        a, b = vertices(P.mid, P.rad, rng), vertices(Q.mid, Q.rad, rng)
        for left, right, x, y in ((P, Q, a, b), (A, Q, A, b), (P, B, a, B)):
            C = matmul(left, right)
            assert exact.is_within(exact.rational(x) * exact.rational(y), C.mid, C.rad)


def test_radius_is_close_to_what_rounding_does(rng):
    A, B = rng.standard_normal((2, 50, 50))
    C = matmul(A, B)
    assert (C.rad <= 2 * gamma(52) * (np.abs(A) @ np.abs(B))).all()


def test_batches_and_vectors_agree_with_single_products(rng):
    A, B = rng.standard_normal((3, 4, 5)), rng.standard_normal((3, 5, 2))
    batch = matmul(A, B)
    for k in range(3):
        assert exact.is_within(exact.rational(A[k]) * exact.rational(B[k]), batch.mid[k], batch.rad[k])
    vector = matmul(A[0], B[0, :, 0])
    assert vector.shape == (4,)
    assert exact.is_within(exact.rational(A[0]) * exact.rational(B[0, :, :1]), vector.mid[:, None], vector.rad[:, None])
    assert matmul(A, B[0]).shape == (3, 4, 2)


def test_what_may_overflow_is_unknown_and_its_neighbors_are_not(rng):
    A, B = rng.standard_normal((3, 3)), rng.standard_normal((3, 3))
    A[1, 2], B[2, 0] = 1e300, 1e300
    C = matmul(A, B)
    assert math.isinf(C.rad[1, 0])
    assert np.isfinite(np.delete(C.rad, 1, axis=0)).all()
    assert exact.is_within(exact.rational(A) * exact.rational(B), C.mid, C.rad)
    unknown = matmul(MidRad(A, np.where(np.eye(3) > 0, np.inf, 0.0)), B)
    assert np.isinf(unknown.rad).all()


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_what_is_not_finite_is_refused(bad):
    good, spoilt = np.ones((2, 2)), np.array([[1.0, bad], [0.0, 1.0]])
    for call in (
        lambda: matmul(good, spoilt),
        lambda: matmul(spoilt, good),
        lambda: residual(good, good, spoilt),
        lambda: accurate_residual(good, spoilt, good),
        lambda: accurate_residual(good, good, spoilt),
        lambda: MidRad(spoilt, np.zeros((2, 2))),
    ):
        with pytest.raises(InputError):
            call()


@pytest.mark.parametrize(
    "bad",
    [
        lambda: matmul(np.ones((2, 3)), np.ones((2, 3))),
        lambda: matmul(np.ones(3), np.ones((3, 3))),
        lambda: matmul([[2**60 + 1]], [[1.0]]),
        lambda: matmul([["a"]], [[1.0]]),
        lambda: residual(np.ones((2, 2)), np.ones(2), np.ones(3)),
        lambda: accurate_residual(np.ones((2, 2)), np.ones(2), np.ones(3)),
        lambda: MidRad(np.ones(2), np.ones(3)),
        lambda: MidRad(np.ones(2), -np.ones(2)),
        lambda: MidRad(np.ones(2), np.full(2, np.nan)),
        lambda: enclosing(Interval.empty()),
        lambda: gamma(2**50),
    ],
)
def test_what_does_not_fit_is_refused(bad):
    with pytest.raises(InputError):
        bad()


@pytest.mark.parametrize("compute", [residual, accurate_residual])
@pytest.mark.parametrize("name", NAMES)
def test_residual_holds_the_exact_one(name, compute):
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        A, x = exact.pairs(rng)[name]
        with np.errstate(all="ignore"):
            b = A @ x
        b = np.where(np.isfinite(b), b, 1.0)
        r = compute(A, x, b)
        truth = exact.rational(b) - exact.rational(A) * exact.rational(x)
        assert exact.is_within(truth, r.mid, r.rad)


@pytest.mark.parametrize("compute", [residual, accurate_residual])
def test_residual_that_does_not_cancel_holds_the_exact_one(compute, rng):
    for scale in (1e-9, 1e-3, 1.0, 1e3, 1e30):
        A, x, b = rng.standard_normal((20, 6)), rng.standard_normal((6, 5)), scale * rng.standard_normal((20, 5))
        r = compute(A, x, b)
        assert exact.is_within(exact.rational(b) - exact.rational(A) * exact.rational(x), r.mid, r.rad)


@pytest.mark.parametrize("compute", [residual, accurate_residual])
def test_residual_of_sets_holds_those_of_members(compute, rng):
    for _ in SEEDS:
        mid, x = rng.standard_normal((5, 6)), rng.standard_normal((6, 2))
        A, b = MidRad(mid, 1e-3 * np.abs(mid)), MidRad(mid @ x, np.full((5, 2), 1e-4))
        a, c = vertices(A.mid, A.rad, rng), vertices(b.mid, b.rad, rng)
        r = compute(A, x, b)
        assert exact.is_within(exact.rational(c) - exact.rational(a) * exact.rational(x), r.mid, r.rad)
        assert compute(A, x[:, 0], MidRad(b.mid[:, 0], b.rad[:, 0])).shape == (5,)


def test_accurate_residual_is_tight_where_plain_is_not(rng):
    W, theta = rng.standard_normal((100, 14)) * np.logspace(-6, 6, 14), rng.standard_normal(14) * np.logspace(6, -6, 14)
    y = W @ theta
    plain, accurate = residual(W, theta, y), accurate_residual(W, theta, y)
    assert np.max(accurate.rad / plain.rad) < 1e-6
    truth = exact.rational(y[:, None]) - exact.rational(W) * exact.rational(theta[:, None])
    assert exact.is_within(truth, accurate.mid[:, None], accurate.rad[:, None])


def test_accurate_residual_of_many_rows_and_batches(rng):
    W, theta = rng.standard_normal((70_000, 3)), rng.standard_normal(3)
    r = accurate_residual(W, theta, W @ theta)
    rows = rng.choice(len(W), 30)
    truth = exact.rational((W @ theta)[rows, None]) - exact.rational(W[rows]) * exact.rational(theta[:, None])
    assert exact.is_within(truth, r.mid[rows, None], r.rad[rows, None])
    A, x = rng.standard_normal((4, 5, 5)), rng.standard_normal((4, 5, 2))
    batch = accurate_residual(A, x, A @ x)
    for k in range(4):
        truth = exact.rational((A @ x)[k]) - exact.rational(A[k]) * exact.rational(x[k])
        assert exact.is_within(truth, batch.mid[k], batch.rad[k])


def test_bound_is_above(rng):
    for seed in SEEDS:
        A, B = exact.pairs(np.random.default_rng(seed))["half of all magnitudes"]
        bound = bound_matmul(np.abs(A), np.abs(B))
        half = bound / 2
        assert exact.is_within(exact.rational(np.abs(A)) * exact.rational(np.abs(B)), half, half)
    assert np.isinf(bound_matmul(np.array([[math.inf]]), np.array([[0.0]]))).all()


def test_midrad_and_intervals_convert_outward(rng):
    for scale in (1.0, 1e300, 1e-300, 1e-310, 1e308):
        ends = np.sort(rng.uniform(-1, 1, (2, 200)), axis=0) * scale
        x = Interval(ends[0], ends[1])
        ball = enclosing(x)
        assert exact.is_within(exact.rational(ends[0]), ball.mid, ball.rad)
        assert exact.is_within(exact.rational(ends[1]), ball.mid, ball.rad)
        back = ball.interval()
        assert (back.lower <= ends[0]).all()
        assert (back.upper >= ends[1]).all()
        assert (ball.mag >= np.abs(ends)).all()
    entire = enclosing(Interval([-math.inf, 0.0], [math.inf, math.inf]))
    assert np.isinf(entire.rad).all()
    assert not entire.is_bounded
    assert entire.interval() == Interval.entire((2,))
    assert matmul(Interval([[1.0, 2.0]], [[1.5, 2.5]]), [1.0, 1.0]).interval().lower <= 3.0


def test_empty_shapes_are_products_too():
    C = matmul(np.ones((2, 0)), np.ones((0, 3)))
    assert C.shape == (2, 3)
    assert (C.mid == 0).all()
