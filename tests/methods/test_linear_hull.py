"""The exact hull: against linear programs of another library, exact rationals, certificates, and hostile inputs."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize

from gough import Bounded, Box, Claim, InputError, LinearProblem, Status, Unknowns, estimate
from gough.checker import certificate_of, check
from gough.methods import Fixpoint, GaussSeidel, LinearHull, RowContractor, minimal_bound, prediction_bounds, sweep
from gough.methods.bounded import constraint_generation, linear_hull
from gough.methods.bounded.exact_bound import Prover
from tests.laws.problems import bounded_problem


def dense_problem(rng, n_rows, p, *, spread=0.0, e=0.1, prior=None):
    W = rng.normal(size=(n_rows, p)) * 10.0 ** rng.uniform(-spread, spread, p)
    theta = rng.normal(size=p) / np.linalg.norm(W, axis=0) * np.sqrt(n_rows)
    y = W @ theta + e * rng.uniform(-1, 1, n_rows)
    return LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(p)], prior=prior), Bounded(e)), theta


def scipy_hull(problem):
    """2p linear programs by scipy, columns scaled."""
    p = len(problem.unknowns)
    scale = np.linalg.norm(problem.W, axis=0)
    A = np.vstack([problem.W / scale, -problem.W / scale])
    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    b = np.concatenate([problem.y + e, e - problem.y])
    bounds = list(zip(problem.unknowns.bounds.lower * scale, problem.unknowns.bounds.upper * scale, strict=True))
    ends = [
        [scipy.optimize.linprog(s * np.eye(p)[i], A, b, bounds=bounds).fun * s / scale[i] for s in (1, -1)]
        for i in range(p)
    ]
    return np.array(ends).T


@pytest.mark.parametrize(("n_rows", "p", "spread"), [(1, 1, 0), (30, 3, 0), (300, 6, 4), (2000, 8, 9), (400, 24, 2)])
def test_agrees_with_another_library_and_never_lies_inside(n_rows, p, spread, rng):
    problem, theta = dense_problem(rng, n_rows, p, spread=spread)
    answer = estimate(problem, LinearHull())
    lower, upper = scipy_hull(problem)
    width = upper - lower
    assert answer.claim is Claim.PROOF
    assert theta in answer.region
    assert abs((answer.region.lower - lower) / width).max() < 1e-6
    assert abs((answer.region.upper - upper) / width).max() < 1e-6


def test_many_rows_and_few_that_matter(rng):
    problem, theta = dense_problem(rng, 100_000, 5)
    answer = estimate(problem, LinearHull())
    assert theta in answer.region
    assert answer.stats.pool < 1000
    assert len(answer.stats.active_rows) <= 2 * 5 * 5
    part = problem.select(np.array(answer.stats.active_rows))
    again = estimate(part, LinearHull())
    assert answer.region.width == pytest.approx(again.region.width, rel=1e-6)


@pytest.mark.parametrize("period", [1, 2, 7, 10, 40, 400])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_that_matter_may_stand_anywhere(period, order, rng):
    """All but one row in so many are silent; more rows than are solved at once, so that some are looked at first."""
    problem, theta = dense_problem(rng, 12_000, 3, spread=2)
    silent = np.arange(12_000) % period != period - 1
    W = np.asarray(np.where(silent[:, None], 0.0, problem.W), order=order)
    y = np.where(silent, 0.05, problem.y)
    thinned = LinearProblem(W, y, problem.unknowns, problem.noise)
    answer = estimate(thinned, LinearHull())
    lower, upper = scipy_hull(LinearProblem(W[~silent], y[~silent], problem.unknowns, problem.noise))
    assert theta in answer.region
    assert abs(answer.region.lower - lower).max() <= 1e-6 * (upper - lower).max()
    assert abs((answer.region.upper - upper) / (upper - lower)).max() < 1e-6
    assert check(certificate_of(thinned, answer), thinned).holds


@pytest.mark.parametrize("e", [0.1, 1.0, 30.0])
def test_a_thin_and_a_wide_set_of_many_rows(e, rng):
    """Errors that reach their bounds leave few rows near the set; with wider bounds all rows are near it."""
    problem, theta = dense_problem(rng, 8000, 3, e=0.1)
    wider = LinearProblem(problem.W, problem.y, problem.unknowns, Bounded(e))
    answer = estimate(wider, LinearHull())
    lower, upper = scipy_hull(wider)
    assert theta in answer.region
    assert abs((answer.region.lower - lower) / (upper - lower)).max() < 1e-6
    assert abs((answer.region.upper - upper) / (upper - lower)).max() < 1e-6


def test_one_wrong_row_of_many_is_found(rng):
    """It is not among the rows that are looked at first."""
    problem, _ = dense_problem(rng, 50_000, 4)
    for row in (7, 31_415, 49_999):
        y = problem.y.copy()
        y[row] += 1.0
        wrong = LinearProblem(problem.W, y, problem.unknowns, problem.noise)
        answer = estimate(wrong, LinearHull(), strict=False)
        assert answer.status is Status.INCONSISTENT
        assert row in answer.stats.active_rows
        assert check(certificate_of(wrong, answer), wrong).holds


def test_exact_on_a_problem_solved_by_hand():
    """|a + b − 3| ≤ 1/2, |a − b − 1| ≤ 1/2: a in [3/2, 5/2], b in [1/2, 3/2], to the last bit."""
    problem = LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], Unknowns(["a", "b"]), Bounded(0.5))
    assert estimate(problem, LinearHull()).region == Box([1.5, 0.5], [2.5, 1.5])


@pytest.mark.parametrize("prior", [None, Box([-1e3] * 4, [1e3] * 4)])
def test_every_hull_has_a_certificate_that_proves_the_very_floats(prior, rng):
    for _ in range(10):
        problem, _ = dense_problem(rng, 200, 4, spread=2, prior=prior)
        answer = estimate(problem, LinearHull())
        certificate = certificate_of(problem, answer)
        assert check(certificate, problem).holds
        for i, name in enumerate(problem.unknowns.names):
            low, high = (
                max(s.value for s in certificate.proof.steps if s.direction == ((name, Fraction(sign)),))
                for sign in (1, -1)
            )
            assert Fraction(float(answer.region.lower[i])) == low
            assert Fraction(float(answer.region.upper[i])) == -high


def test_a_contradiction_names_its_culprits_and_is_certified(rng):
    problem, _ = dense_problem(rng, 5000, 6)
    y = problem.y.copy()
    y[1234] += 5.0
    wrong = LinearProblem(problem.W, y, problem.unknowns, problem.noise)
    answer = estimate(wrong, LinearHull(), strict=False)
    assert answer.status is Status.INCONSISTENT
    assert 1234 in answer.stats.active_rows
    assert len(answer.stats.active_rows) <= 7
    assert check(certificate_of(wrong, answer), wrong).holds
    assert check(certificate_of(wrong, answer), problem).holds is False


def test_hull_lies_in_every_other_enclosure(rng):
    for _ in range(30):
        problem, _ = bounded_problem(rng, n_rows=12, p=3, spread=0)
        hull = estimate(problem, LinearHull(), strict=False).region
        for contractor in (RowContractor(), GaussSeidel()):
            other = estimate(problem, Fixpoint(contractor), strict=False).region
            assert hull <= Box(other.lower - 1e-9 * abs(other.lower), other.upper + 1e-9 * abs(other.upper))


@pytest.mark.parametrize("spread", [0, 6])
def test_without_a_prior_many_unknowns_lose_nothing_by_rounded_weights(spread, rng, monkeypatch):
    """A bounded box is proven first, in which no equations need be solved exactly; exact weights give the same ends."""
    problem, theta = dense_problem(rng, 400, 14, spread=spread)
    corrected, correct = [], Prover._without_remainder
    monkeypatch.setattr(Prover, "_without_remainder", lambda *args: (corrected.append(1), correct(*args))[1])
    answer = estimate(problem, LinearHull())
    assert not corrected
    assert theta in answer.region
    assert check(certificate_of(problem, answer), problem).holds
    monkeypatch.setattr(linear_hull, "_FEW", 14)
    exact = estimate(problem, LinearHull()).region
    assert corrected
    assert abs((answer.region.lower - exact.lower) / exact.width).max() < 1e-12
    assert abs((answer.region.upper - exact.upper) / exact.width).max() < 1e-12


def test_what_two_rows_determine_exactly_stays_exact_among_many_unknowns(rng):
    """1/8 is a double, and rounded weights would leave some width."""
    W, theta = rng.integers(-9, 10, (60, 12)).astype(float), rng.integers(-9, 10, 12) / 8
    e = np.where(np.arange(60) < 20, 0.0, 0.1)
    problem = LinearProblem(W, W @ theta, Unknowns([f"t{j}" for j in range(12)]), Bounded(e))
    answer = estimate(problem, LinearHull())
    assert (answer.region.lower.tolist(), answer.region.upper.tolist()) == (theta.tolist(), theta.tolist())
    assert check(certificate_of(problem, answer), problem).holds


def test_unbounded_directions_are_named():
    problem = LinearProblem([[1.0, 1.0, 0.0]], [1.0], Unknowns(["a", "b", "c"]), Bounded(0.1))
    answer = estimate(problem, LinearHull(), strict=False)
    assert answer.status is Status.UNBOUNDED
    assert answer.notes[0] == "Without a finite bound: a, b, c."


def test_a_half_open_prior_with_one_row():
    prior = Box([0, 0], [np.inf, np.inf])
    problem = LinearProblem([[1.0, 1.0]], [1.0], Unknowns(["a", "b"], prior=prior), Bounded(0.25))
    answer = estimate(problem, LinearHull())
    assert answer.region == Box([0, 0], [1.25, 1.25])
    assert answer.stats.prior_limited == ("a", "b")


def test_duplicate_zero_and_equality_rows(rng):
    problem, theta = dense_problem(rng, 50, 3)
    W = np.vstack([problem.W, problem.W, np.zeros((5, 3)), [[1.0, 0.0, 0.0]]])
    y = np.concatenate([problem.y, problem.y, np.zeros(5), theta[:1]])
    e = np.concatenate([np.full(105, 0.1), [0.0]])
    answer = estimate(LinearProblem(W, y, problem.unknowns, Bounded(e)), LinearHull())
    assert answer.region.lower[0] <= theta[0] <= answer.region.upper[0]
    assert answer.region.width[0] < 1e-9
    assert theta in Box(answer.region.lower - 1e-12, answer.region.upper + 1e-12)
    impossible = LinearProblem(W, np.where(np.arange(len(y)) == 102, 1.0, y), problem.unknowns, Bounded(e))
    assert estimate(impossible, LinearHull(), strict=False).status is Status.INCONSISTENT


def test_fixed_unknowns(rng):
    problem, theta = dense_problem(rng, 100, 3)
    prior = Box(np.where([1, 0, 0], theta, -np.inf), np.where([1, 0, 0], theta, np.inf))
    fixed = LinearProblem(problem.W, problem.y, Unknowns(problem.unknowns.names, prior=prior), problem.noise)
    answer = estimate(fixed, LinearHull())
    assert answer.region.lower[0] == answer.region.upper[0] == theta[0]
    assert (answer.region.width[1:] < estimate(problem, LinearHull()).region.width[1:]).all()


def test_an_interrupt_returns_what_is_proven(rng, monkeypatch):
    from gough.methods.bounded import constraint_generation

    problem, theta = dense_problem(rng, 3000, 5, prior=Box([-1e3] * 5, [1e3] * 5))
    calls = iter(range(100))

    def interrupted(self, directions, tolerance):
        self.solve(directions)
        if next(calls) == 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(constraint_generation._Generation, "run", interrupted)
    answer = estimate(problem, LinearHull())
    assert theta in answer.region
    assert "Stopped early" in answer.notes[0]
    assert (answer.region.width < 1e3).all()


@pytest.mark.parametrize("prior", [None, Box([-9] * 3, [9] * 3)], ids=["open", "bounded"])
@pytest.mark.parametrize("e", [0.0, 1e-300, 1e-18, 1e-12])
def test_bounds_below_rounding_keep_the_truth_and_stay_thin(e, prior, rng):
    """y = W θ exactly, and errors that floating point cannot resolve: thin, never a false contradiction."""
    W, theta = rng.integers(-9, 10, (200, 3)).astype(float), np.array([1.0, -2.0, 0.5])
    problem = LinearProblem(W, W @ theta, Unknowns(["a", "b", "c"], prior=prior), Bounded(e))
    answer = estimate(problem, LinearHull())
    assert theta in answer.region
    assert (answer.region.width < 1e-9).all()
    bounds = prediction_bounds(problem, W[:5])
    assert W[:5] @ theta in bounds
    assert (bounds.width < 1e-7).all()


def oettli_prager_hull(problem):
    """The exact hull for W known to ± D: the union over all orthants, 2p linear programs in each."""
    p, D = len(problem.unknowns), problem.noise.regressor
    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    low, high = np.full(p, np.inf), np.full(p, -np.inf)
    for signs in itertools.product((-1.0, 1.0), repeat=p):
        A = np.vstack([problem.W - D * signs, -problem.W - D * signs])
        b = np.concatenate([problem.y + e, e - problem.y])
        sides = [
            (max(a, 0) if s > 0 else a, b_ if s > 0 else min(b_, 0))
            for a, b_, s in zip(problem.unknowns.bounds.lower, problem.unknowns.bounds.upper, signs, strict=True)
        ]
        if any(a > b_ for a, b_ in sides):
            continue
        for i, s in itertools.product(range(p), (1, -1)):
            found = scipy.optimize.linprog(s * np.eye(p)[i], A, b, bounds=sides)
            if found.status == 0:
                (low if s > 0 else high)[i] = min(low[i], found.fun) if s > 0 else max(high[i], -found.fun)
    return low, high


@pytest.mark.parametrize("center", [5.0, 0.0], ids=["signs known", "signs open"])
def test_an_uncertain_regressor_gives_the_hull_of_oettli_and_prager(center, rng):
    for _ in range(8):
        p = 3
        W, theta = rng.normal(size=(60, p)), center + rng.normal(size=p)
        D = np.where(rng.random(W.shape) < 0.7, rng.uniform(0, 0.05, W.shape), 0.0)
        y = W @ theta + (0.1 + D @ abs(theta)) * rng.uniform(-0.9, 0.9, 60)
        prior = Box(np.full(p, -20.0), np.full(p, 20.0))
        problem = LinearProblem(W, y, Unknowns(["a", "b", "c"], prior=prior), Bounded(0.1, D))
        answer = estimate(problem, LinearHull())
        low, high = oettli_prager_hull(problem)
        assert theta in answer.region
        assert answer.region.lower == pytest.approx(low, abs=1e-7)
        assert answer.region.upper == pytest.approx(high, abs=1e-7)
        assert check(certificate_of(problem, answer), problem).holds
        everywhere = LinearProblem(W, y, Unknowns(["a", "b", "c"]), problem.noise)
        free = estimate(everywhere, LinearHull())
        assert theta in free.region
        assert free.region.width == pytest.approx(answer.region.width, rel=0.05)


def test_predictions_are_the_extremes_of_the_polytope(rng):
    problem, theta = dense_problem(rng, 500, 4)
    D = rng.normal(size=(20, 4))
    bounds = prediction_bounds(problem, D)
    assert D @ theta in bounds
    A = np.vstack([problem.W, -problem.W])
    b = np.concatenate([problem.y + 0.1, 0.1 - problem.y])
    for d, low, high in zip(D, bounds.lower, bounds.upper, strict=True):
        expected = [s * scipy.optimize.linprog(s * d, A, b, bounds=(None, None)).fun for s in (1, -1)]
        assert [low, high] == pytest.approx(expected, abs=1e-9)
    hull = estimate(problem, LinearHull()).region
    assert (bounds.width <= abs(D) @ hull.width * (1 + 1e-9)).all()
    again = prediction_bounds(problem, D, within=hull)
    np.testing.assert_allclose(again.lower, bounds.lower, rtol=1e-12)
    np.testing.assert_allclose(again.upper, bounds.upper, rtol=1e-12)


def test_a_set_that_looks_small_in_any_coordinates_ends(monkeypatch, rng):
    problem, theta = dense_problem(rng, 300, 4)
    usual = estimate(problem, LinearHull()).region
    monkeypatch.setattr(constraint_generation._Generation, "is_small", lambda *_: True)
    again = estimate(problem, LinearHull()).region
    assert theta in again
    np.testing.assert_allclose(again.lower, usual.lower, atol=1e-9 * usual.width.max())
    np.testing.assert_allclose(again.upper, usual.upper, atol=1e-9 * usual.width.max())


def test_predictions_refuse_wrong_shapes(rng):
    problem, _ = dense_problem(rng, 20, 2)
    with pytest.raises(InputError, match="column per unknown"):
        prediction_bounds(problem, [[1.0, 2.0, 3.0]])
    with pytest.raises(InputError, match="finite"):
        prediction_bounds(problem, [[1.0, np.nan]])
    with pytest.raises(InputError, match="3 axes"):
        prediction_bounds(problem, np.eye(len(problem.unknowns)), within=Box([0.0] * 3, [1.0] * 3))


@pytest.mark.parametrize(("n_rows", "p"), [(1, 1), (40, 3), (3000, 5), (30_000, 4)])
def test_minimal_bound_encloses_the_chebyshev_value(n_rows, p, rng):
    problem, theta = dense_problem(rng, n_rows, p, spread=2)
    found = minimal_bound(problem)
    assert found.is_consistent
    assert found.lower <= found.upper <= abs(problem.residuals(theta)).max() / 0.1 + 1e-12
    assert found.upper - found.lower < 1e-9
    scaled = problem.W / np.linalg.norm(problem.W, axis=0)
    ones = -0.1 * np.ones((n_rows, 1))
    A = np.vstack([np.hstack([scaled, ones]), np.hstack([-scaled, ones])])
    expected = scipy.optimize.linprog(
        np.eye(p + 1)[p], A, np.concatenate([problem.y, -problem.y]), bounds=(None, None)
    ).fun
    assert found.upper == pytest.approx(max(expected, 0), abs=1e-7)


def test_minimal_bound_proves_both_verdicts_exactly(rng):
    for _ in range(100):
        problem, _ = bounded_problem(rng, spread=0)
        found = minimal_bound(problem)
        x = [Fraction(v) for v in found.point.tolist()]
        assert found.point in problem.unknowns.bounds
        for row, y, e in zip(problem.W.tolist(), problem.y.tolist(), problem.noise.radius.tolist(), strict=True):
            misfit = abs(Fraction(y) - sum(Fraction(w) * v for w, v in zip(row, x, strict=True)))
            assert misfit <= Fraction(found.upper) * Fraction(e)
        smaller = LinearProblem(
            problem.W, problem.y, problem.unknowns, Bounded(problem.noise.radius * found.lower * 0.999)
        )
        if found.lower > 1e-6:
            assert minimal_bound(smaller).is_inconsistent
            assert estimate(smaller, LinearHull(), strict=False).status is Status.INCONSISTENT


def test_minimal_bound_of_equations():
    """Bounds of zero: no factor enlarges them, and the answer says what is the matter."""
    W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])

    def of(y, e=0.0, scale=1.0):
        return minimal_bound(LinearProblem(scale * W, y, Unknowns(["a", "b"]), Bounded(e)))

    exact = of([1.0, 2.0, 3.0])
    assert (exact.lower, exact.upper, exact.is_consistent) == (0, 0, True)
    assert str(exact) == "No error bounds are needed: the point exhibited satisfies all rows exactly."
    wrong = of([1.0, 2.0, 3.5])
    assert (wrong.lower, wrong.is_inconsistent, wrong.rows) == (np.inf, True, (0, 1, 2))
    assert str(wrong).startswith("No factor helps: rows 0, 1, 2 have error bounds of zero and contradict each other")
    between = of(0.1 * (W @ [1.1, 2.3]), [0.0, 0.0, 1e-3], 0.1)
    assert not between.is_consistent
    assert not between.is_inconsistent
    assert "give them bounds of the size of rounding" in str(between)
    mixed = of([1.0, 2.0, 3.5], [0.0, 0.0, 0.25])
    assert mixed.lower == pytest.approx(2)
    assert mixed.upper == pytest.approx(2)


def test_equations_that_contradict_each_other_without_a_prior(rng):
    """The culprits are at most p + 1, whatever the size of the disagreement."""
    for size in (1e-6, 1.0, 1e6):
        W = rng.integers(-9, 10, (40, 3)).astype(float)
        y = W @ [1.0, 2.0, 3.0]
        y[5] += size
        answer = estimate(LinearProblem(W, y, Unknowns(["a", "b", "c"]), Bounded(0.0)), LinearHull(), strict=False)
        assert answer.status is Status.INCONSISTENT
        assert len(answer.stats.active_rows) <= 4
        assert 5 in answer.stats.active_rows


def test_an_open_prior_and_an_uncertain_regressor_are_bounded_with_evidence(rng):
    """The same box as from a wide prior, from few rows and from many."""
    for n_rows in (3, 30, 3000):
        W = rng.normal(size=(n_rows, 3)) + 3 * np.eye(3)[rng.integers(0, 3, n_rows) if n_rows > 3 else range(3)]
        y = W @ [1.0, -2.0, 0.5] + rng.uniform(-0.1, 0.1, n_rows)
        noise = Bounded(0.1, 0.01 * abs(W))
        free = estimate(LinearProblem(W, y, Unknowns(["a", "b", "c"]), noise), LinearHull())
        wide = Unknowns(["a", "b", "c"], prior=Box([-1e6] * 3, [1e6] * 3))
        bounded = estimate(LinearProblem(W, y, wide, noise), LinearHull())
        np.testing.assert_allclose(free.region.lower, bounded.region.lower, rtol=1e-6)
        assert free.stats.evidence


def test_minimal_bound_in_words():
    wrong = LinearProblem([[1.0], [1.0]], [0.0, 3.0], Unknowns(["a"]), Bounded(1.0))
    assert "inconsistent: rows 0, 1 contradict" in str(minimal_bound(wrong))
    right = LinearProblem([[1.0], [1.0]], [0.0, 3.0], Unknowns(["a"]), Bounded(2.0))
    assert "by the point exhibited" in str(minimal_bound(right))


def test_sweep_shrinks_with_the_factor_and_ends_in_a_contradiction(rng):
    problem, theta = dense_problem(rng, 400, 3)
    smallest = minimal_bound(problem)
    table = sweep(problem, [0.5 * smallest.lower, 1, 1.5, 2, 3])
    assert table.factors.tolist()[:4] == [3, 2, 1.5, 1]
    assert table.status == (Status.OK,) * 4 + (Status.INCONSISTENT,)
    assert (np.diff(table.width[:4], axis=0) < 0).all()
    assert (np.diff(table.log_volume[:4]) < 0).all()
    assert (table.lower[3] <= theta).all()
    assert (theta <= table.upper[3]).all()
    alone = estimate(problem, LinearHull()).region
    assert table.width[3] == pytest.approx(alone.width, rel=1e-6)
    with pytest.raises(InputError, match="positive"):
        sweep(problem, [0.0])


@pytest.mark.parametrize("uncertain", [False, True])
def test_sweep_equals_hulls_one_by_one_on_one_program(uncertain, rng, monkeypatch):
    from gough.methods.bounded import constraint_generation

    problem, _ = dense_problem(rng, 300, 4, prior=None if uncertain else Box([-1e3] * 4, [1e3] * 4))
    D = 0.001 * abs(problem.W) if uncertain else None
    problem = LinearProblem(problem.W, problem.y, problem.unknowns, Bounded(0.1, D))
    begun, begin = [], constraint_generation.Warm._begin
    monkeypatch.setattr(
        constraint_generation.Warm, "_begin", lambda self, *args: (begun.append(1), begin(self, *args))[1]
    )
    factors = [1.0, 1.01, 1.1, 2.0, 50.0]
    table = sweep(problem, factors)
    assert uncertain or len(begun) == 1
    for factor, low, high in zip(table.factors, table.lower, table.upper, strict=True):
        alone = estimate(LinearProblem(problem.W, problem.y, problem.unknowns, Bounded(0.1 * factor, D)), LinearHull())
        assert low == pytest.approx(alone.region.lower, rel=1e-6, abs=1e-6 * alone.region.width.max())
        assert high == pytest.approx(alone.region.upper, rel=1e-6, abs=1e-6 * alone.region.width.max())


def test_sweep_in_words():
    unknowns = Unknowns(["mass", "inertia"], units=["kg", "kg·m²"], prior=Box([-9, -9], [9, 9]))
    problem = LinearProblem([[1.0, 0.0], [1.0, 0.0]], [0.0, 3.0], unknowns, Bounded(1.0))
    lines = str(sweep(problem, [1, 2])).splitlines()
    assert lines[0].split() == ["factor", "2", "1"]
    assert lines[2].endswith("not refuted  refuted")
    assert lines[3].split() == ["width", "of", "mass", "kg", "1", "—"]
    assert lines[4].split() == ["width", "of", "inertia", "kg·m²", "18", "—"]


@pytest.mark.slow
def test_a_million_rows_in_a_file(tmp_path):
    """W is a memory map of 112 MB: the hull keeps the truth and has a twentieth of that in memory."""
    import tracemalloc

    from benchmarks._dynamics import mapped_problem

    problem, theta = mapped_problem(tmp_path / "W.npy", 1_000_000)
    assert not problem.W.flags.owndata  # no copy of the file
    estimate(problem.select(np.arange(100)), LinearHull())  # what is loaded and compiled at the first call
    tracemalloc.start()
    answer = estimate(problem, LinearHull())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert answer.claim is Claim.PROOF
    assert theta in answer.region
    assert answer.stats.pool < 2000
    assert peak < 0.05 * problem.W.nbytes
    part = problem.select(np.array(answer.stats.active_rows))
    assert estimate(part, LinearHull()).region.width == pytest.approx(answer.region.width, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_rows", [40, 4000])
def test_equations_of_rounded_data_contradict_each_other(n_rows, seed):
    """By as little as rounding, which no linear program sees, whichever rows it begins with; the proof is exact."""
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n_rows, 3))
    theta = rng.normal(size=3)
    e = np.where(np.arange(n_rows) % 2 == 0, 0.0, 0.1)
    problem = LinearProblem(W, W @ theta, Unknowns(["a", "b", "c"]), Bounded(e))
    answer = estimate(problem, LinearHull(), strict=False)
    assert answer.status is Status.INCONSISTENT
    assert check(certificate_of(problem, answer), problem).holds


def test_equations_that_agree_do_not_contradict_each_other(rng):
    W = rng.integers(-9, 10, size=(3000, 3)).astype(float)
    theta = np.array([0.5, -3.25, 7.0])
    problem = LinearProblem(W, W @ theta, Unknowns(["a", "b", "c"]), Bounded(0.0))
    answer = estimate(problem, LinearHull())
    assert theta in answer.region


def test_strips_that_only_touch_leave_the_smallest_box():
    """b ≤ 1 and b ≥ 1 by different rows: prices on b are next to nothing in its own unit."""
    W, y, e = [[0, 1], [0, 1], [-2, -1]], [0, 2, -2], [1, 1, 2]
    hull = estimate(LinearProblem(W, y, Unknowns(["a", "b"]), Bounded(e)), LinearHull()).region
    assert (hull.lower.tolist(), hull.upper.tolist()) == ([-0.5, 1.0], [1.5, 1.0])


def test_touching_combinations_against_other_programs(rng):
    """Sums of unknowns that two rows leave no room, against HiGHS, on small whole numbers."""
    compared = 0
    for _ in range(60):
        p, k = int(rng.integers(2, 5)), int(rng.integers(1, 3))
        theta = rng.integers(-3, 4, p).astype(float)
        W = np.vstack([np.eye(p), rng.integers(-2, 3, (2 * p, p))])
        e = rng.integers(1, 4, len(W)).astype(float)
        y = W @ theta + rng.integers(-1, 2, len(W))
        flat, below, above = rng.integers(-2, 3, (k, p)), *rng.integers(1, 4, (2, k))
        W = np.vstack([W, flat, flat])
        y = np.concatenate([y, flat @ theta - below, flat @ theta + above])
        e = np.concatenate([e, below, above])
        A, b = np.vstack([W, -W]), np.concatenate([y + e, e - y])
        ends = [scipy.optimize.linprog(c, A, b, bounds=(None, None)).fun for c in np.vstack([np.eye(p), -np.eye(p)])]
        lower, upper = np.array(ends[:p]), -np.array(ends[p:])
        if (upper - lower).min() < 1e-6:
            continue  # a width that the other library does not resolve
        compared += 1
        box = estimate(LinearProblem(W, y, Unknowns([f"t{j}" for j in range(p)]), Bounded(e)), LinearHull()).region
        assert box.lower == pytest.approx(lower, abs=1e-6)
        assert box.upper == pytest.approx(upper, abs=1e-6)
        assert theta in box
    assert compared > 30
