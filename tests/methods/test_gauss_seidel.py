"""Gauss–Seidel: its closed form in exact rationals, the paper's dense system, containment at zero tolerance, memory."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat, ctx, fmpq, fmpq_mat

from gough import Bounded, Box, Claim, LinearProblem, Status, Unknowns, estimate
from gough.methods import Fixpoint, GaussSeidel, RowContractor, Then


def rational(x):
    x = np.atleast_2d(x)
    return fmpq_mat(*x.shape, [fmpq(*value.as_integer_ratio()) for value in x.ravel().tolist()])


def posed(W, y, e, D=None, prior=None):
    return LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(np.shape(W)[1])], prior=prior), Bounded(e, D))


def contracted(problem, contractor=None):
    return (contractor or GaussSeidel()).contract(problem, problem.unknowns.bounds)


def closed_form(W, y, e):
    """W⁺ y − |W⁺| e and W⁺ y + |W⁺| e as fractions."""
    A = rational(W)
    inverse = (A.transpose() * A).inv() * A.transpose()
    center = inverse * rational(y[:, None])
    ends = []
    for i in range(inverse.nrows()):
        reach = sum((abs(inverse[i, k]) * fmpq(*e[k].item().as_integer_ratio()) for k in range(len(e))), fmpq(0))
        ends.append([Fraction(int(x.p), int(x.q)) for x in (center[i, 0] - reach, center[i, 0] + reach)])
    return ends


def test_the_box_is_the_closed_form_in_exact_rationals(rng):
    for _ in range(60):
        p = int(rng.integers(1, 5))
        n = int(rng.integers(p, 15))
        W = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-3, 3, p)
        if np.linalg.cond(W / np.linalg.norm(W, axis=0)) > 100:
            continue
        e = rng.uniform(0.1, 1, n)
        y = W @ (rng.normal(size=p) / np.linalg.norm(W, axis=0)) + 0.5 * e * rng.uniform(-1, 1, n)
        box = contracted(posed(W, y, e))
        for low, high, (exact_low, exact_high) in zip(box.lower, box.upper, closed_form(W, y, e), strict=True):
            assert Fraction(low) <= exact_low
            assert exact_high <= Fraction(high)
            assert Fraction(high) - Fraction(low) <= (exact_high - exact_low) * (1 + Fraction(1, 10**12))


def satisfied(W, y, e, theta):
    """Whether |y − W θ| ≤ e, exactly."""
    x = [Fraction(v) for v in theta.tolist()]
    rows = zip(W.tolist(), y.tolist(), e.tolist(), strict=True)
    return all(
        abs(Fraction(b) - sum(Fraction(w) * v for w, v in zip(row, x, strict=True))) <= Fraction(r)
        for row, b, r in rows
    )


def hostile_case(rng):
    """Any scale of columns and of y, sparse, tall, square or flat, W exact or not, prior open, closed or a point."""
    p = int(rng.integers(1, 5))
    n = int(rng.integers(1, 4 * p))
    W = rng.normal(size=(n, p)) * (rng.random((n, p)) < rng.choice([0.5, 1.0]))
    theta = rng.normal(size=p)
    D = rng.choice([0, 0.001, 0.1, 1]) * rng.random((n, p)) * (rng.random((n, p)) < 0.8)
    columns, side = rng.integers(-1, 2, p) * rng.integers(0, 480, p), int(rng.integers(-1, 2) * rng.integers(0, 480))
    W, D, theta = np.ldexp(W, columns), np.ldexp(D, columns), np.ldexp(theta, side - columns)
    true = W + 0.99 * D * rng.uniform(-1, 1, D.shape)
    e = np.ldexp(10.0 ** rng.uniform(-6, 1, n), side) * (rng.random(n) < 0.95)
    y = true @ theta + 0.999 * e * rng.uniform(-1, 1, n)
    reach = abs(theta) * 10 ** rng.uniform(-1, 3, p)
    lower, upper = theta - reach * rng.random(p), theta + reach * rng.random(p)
    kind = rng.integers(0, 6, p)
    prior = Box(
        np.where(kind < 3, -np.inf, np.where(kind == 5, theta, lower)),
        np.where(kind < 2, np.inf, np.where(kind == 5, theta, upper)),
    )
    return W, y, e, (None if not D.any() else D), prior, true, theta


EVERY = [GaussSeidel(), GaussSeidel(normalize=True), GaussSeidel(precondition=False)]


@pytest.mark.parametrize("contractor", EVERY, ids=repr)
def test_no_consistent_value_is_lost_at_any_scale(contractor, rng):
    tried = finite = 0
    for _ in range(200):  # a million trials are in benchmarks/containment.py
        W, y, e, D, prior, true, theta = hostile_case(rng)
        if not satisfied(true, y, e, theta):
            continue
        tried += 1
        problem = posed(W, y, e, D, prior)
        box = contracted(problem, contractor)
        assert theta in box
        assert box <= prior
        assert theta in contractor.contract(problem, box)
        finite += box.is_bounded > prior.is_bounded
    assert tried > 130
    assert finite > 15


def test_rows_divided_by_their_bounds_make_a_smaller_box(rng):
    W, e = rng.normal(size=(500, 3)), np.ldexp(1.0, rng.integers(-8, 3, 500))
    y = W @ np.ones(3) + e * rng.uniform(-1, 1, 500)
    box, small = contracted(posed(W, y, e)), contracted(posed(W, y, e), GaussSeidel(normalize=True))
    by_hand = contracted(posed(W / e[:, None], y / e, 1.0))
    assert (small.width < 0.2 * box.width).all()
    assert np.allclose(small.lower, by_hand.lower, rtol=1e-9)
    assert np.ones(3) in small


def test_units_do_not_matter(rng):
    W, y, e = rng.normal(size=(20, 3)), rng.normal(size=20), np.full(20, 3.0)
    box = contracted(posed(W, y, e))
    columns, side = np.array([-400, 0, 450]), -300
    scaled = contracted(posed(np.ldexp(W, columns), np.ldexp(y, side), np.ldexp(e, side)))
    assert (np.ldexp(scaled.lower, columns - side) == box.lower).all()
    assert (np.ldexp(scaled.upper, columns - side) == box.upper).all()


def balls(mid, rad):
    return arb_mat(
        [[arb(m, r) for m, r in zip(*row, strict=True)] for row in zip(mid.tolist(), rad.tolist(), strict=True)]
    )


def dense(W, y, e, D):
    """The box that the paper's dense square system gives, solved by ball arithmetic [PRV03i, eqs. (28)-(30)]."""
    n, p = W.shape
    mid = np.block([[W, -np.eye(n)], [np.zeros((p, p)), W.T]])
    rad = np.block([[D, np.zeros((n, n))], [np.zeros((p, p)), D.T]])
    side = np.concatenate([y, np.zeros(p)]), np.concatenate([e, np.zeros(p)])
    with ctx.workprec(128):
        x = balls(mid, rad).solve(balls(side[0][:, None], side[1][:, None]), algorithm="precond")
        return Box([float(x[i, 0].lower()) for i in range(p)], [float(x[i, 0].upper()) for i in range(p)])


@pytest.mark.parametrize("uncertainty", [0.0, 1e-4])
def test_the_dense_square_system_of_the_paper_is_not_tighter(uncertainty, rng):
    for _ in range(20):
        W, e = rng.normal(size=(12, 3)), rng.uniform(0.1, 1, 12)
        D = uncertainty * abs(W)
        y = W @ rng.normal(size=3) + 0.5 * e * rng.uniform(-1, 1, 12)
        ours, theirs = contracted(posed(W, y, e, D if uncertainty else None)), dense(W, y, e, D)
        assert (ours.width <= theirs.width * (1 + 1e-5)).all()
        if not uncertainty:
            assert (theirs.width <= ours.width * (1 + 1e-5)).all()


def test_width_does_not_shrink_as_rows_are_added(rng):
    """Of |W⁺| e ~ √(2/π) √N |(WᵀW)⁻¹ᐟ²| e, the √N cancels: more data, same box. The exact hull shrinks like 1/N."""
    widths = []
    for n in (200, 2000, 20000):
        W = rng.normal(size=(n, 3))
        widths.append(contracted(posed(W, W @ np.ones(3) + 0.1 * rng.uniform(-1, 1, n), 0.1)).width)
    assert np.allclose(widths, widths[0], rtol=0.2)


@pytest.mark.parametrize("n", [50, 20000])
def test_a_gross_blunder_is_inconsistent(n, rng):
    W = rng.normal(size=(n, 3))
    y = W @ np.ones(3) + 0.1 * rng.uniform(-1, 1, n)
    assert not contracted(posed(W, y, 0.1)).is_empty
    y[n // 2] += 1.0
    answer = estimate(posed(W, y, 0.1), Fixpoint(GaussSeidel()), strict=False)
    assert answer.status is Status.INCONSISTENT


def test_an_impossible_prior_is_inconsistent(rng):
    W = rng.normal(size=(50, 2))
    problem = posed(W, W @ np.ones(2), 0.1, prior=Box([3, 0], [4, 9]))
    assert estimate(problem, Fixpoint(GaussSeidel()), strict=False).status is Status.INCONSISTENT


@pytest.mark.parametrize("D", [0.0, 1e-6])
def test_unbounded_priors_become_bounded_even_with_an_uncertain_regressor(D, rng):
    W = rng.normal(size=(40, 3))
    box = contracted(posed(W, W @ np.ones(3), 0.01, D))
    assert box.is_bounded
    assert np.ones(3) in box
    assert (box.width < 0.1).all()


def test_singular_regressors_are_left_alone_where_nothing_bounds_them():
    W = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])
    free = posed(W, W @ [1, 2], 0.25)
    assert contracted(free) == free.unknowns.bounds
    narrow = contracted(posed(W, W @ [1, 2], 0.25, prior=Box([-1000, 1], [1000, 1.5])))
    assert narrow.width[0] < 1.3
    flat = posed(W[:1], [5.0], 0.25)
    assert contracted(flat) == flat.unknowns.bounds
    nothing = posed(np.zeros((3, 2)), np.zeros(3), 0.25)
    assert contracted(nothing) == nothing.unknowns.bounds


def test_a_column_of_zeros_or_a_fixed_unknown_does_not_spoil_the_others():
    W = np.array([[1.0, 0.0, 1.0], [2.0, 0.0, 2.0], [3.0, 0.0, 3.0]])
    prior = Box([-np.inf, -np.inf, 5], [np.inf, np.inf, 5])
    box = contracted(posed(W, W @ [1, 0, 5], 0.25, prior=prior))
    assert 0.2 < box.width[0] < 0.3
    assert box.lower[0] < 1 < box.upper[0]
    assert np.isinf(box.width[1])


def test_one_row_one_unknown():
    box = contracted(posed([[2.0]], [4.0], 1.0))
    assert (box.lower, box.upper) == (1.5, 2.5)


def test_zero_rows_and_zero_bounds(rng):
    W = np.vstack([rng.normal(size=(5, 2)), np.zeros((2, 2))])
    box = contracted(posed(W, np.zeros(7), 0.0))
    assert np.zeros(2) in box
    assert (box.width < 1e-12).all()
    assert contracted(posed(W, np.append(np.zeros(5), [1.0, 1.0]), 0.0)).is_empty


def test_without_preconditioning_the_diagonal_decides():
    dominant = posed([[4.0, 1.0], [1.0, 4.0]], [5.0, 5.0], 0.1, prior=Box([-9, -9], [9, 9]))
    box = estimate(dominant, Fixpoint(GaussSeidel(precondition=False))).region
    assert (box.width < 0.1).all()
    swapped = posed([[0.0, 1.0], [1.0, 0.0]], [5.0, 5.0], 0.1, prior=Box([-9, -9], [9, 9]))
    assert contracted(swapped, GaussSeidel(precondition=False)) == swapped.unknowns.bounds
    assert (contracted(swapped).width < 0.21).all()


def test_then_is_both_and_claims_the_lesser(rng):
    class Modest:
        claim = Claim.ENCLOSURE

        def contract(self, problem, box):
            return box

    assert Then(GaussSeidel(), Modest()).claim is Claim.ENCLOSURE
    assert Then(Modest(), GaussSeidel()).claim is Claim.ENCLOSURE
    W = rng.normal(size=(50, 3))
    problem = posed(W, W @ np.ones(3) + 0.1 * rng.uniform(-1, 1, 50), 0.1)
    both = contracted(problem, Then(GaussSeidel(), RowContractor()))
    assert both <= contracted(problem)
    assert np.ones(3) in both


def test_a_million_rows_take_the_memory_of_a_few_blocks(rng):
    n, p = 1_000_000, 6
    W = rng.normal(size=(n, p))
    problem = posed(W, W @ np.ones(p), 0.1)
    contracted(posed(W[:100], problem.y[:100], 0.1))  # what is loaded once does not count
    tracemalloc.start()
    box = contracted(problem)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.ones(p) in box
    assert peak < 0.25 * W.nbytes
