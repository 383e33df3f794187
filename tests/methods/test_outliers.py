"""At most q rows violated: the relaxed hull against enumeration, and outliers that are proven."""

from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest

from gough import AssumptionError, Bounded, Box, Claim, Gaussian, InputError, LinearProblem, Status, Unknowns, estimate
from gough.checker import Certificate, Empty, certificate_of, check, prove
from gough.methods import LinearHull, RelaxedHull, outliers
from tests.laws.problems import bounded_problem

NAMES = [f"p_{i}" for i in range(14)]


def violated(problem, theta):
    """Rows that θ violates, in rational arithmetic."""
    x = [Fraction(v) for v in theta.tolist()]
    D = problem.noise.regressor
    found = []
    for k, (row, y) in enumerate(zip(problem.W.tolist(), problem.y.tolist(), strict=True)):
        allowed = Fraction(float(np.broadcast_to(problem.noise.radius, problem.y.shape)[k]))
        if D is not None:
            allowed += sum(Fraction(d) * abs(v) for d, v in zip(D[k].tolist(), x, strict=True))
        if abs(Fraction(y) - sum(Fraction(w) * v for w, v in zip(row, x, strict=True))) > allowed:
            found.append(k)
    return found


def spoilt_problem(rng, n_rows, p, n_outliers, *, gross=(2.0, 20.0), prior=100.0):
    """Random rows of which some are off by more than their bound."""
    W, theta, e = rng.normal(size=(n_rows, p)), rng.normal(size=p), rng.uniform(0.1, 1, n_rows)
    y = W @ theta + 0.999 * e * rng.uniform(-1, 1, n_rows)
    planted = rng.permutation(n_rows)[:n_outliers]
    y[planted] += rng.choice([-1, 1], len(planted)) * rng.uniform(*gross, len(planted))
    box = Box(np.full(p, -prior), np.full(p, prior))
    return LinearProblem(W, y, Unknowns(NAMES[:p], prior=box), Bounded(e)), theta, sorted(planted.tolist())


def enumerated(problem, q):
    """The hull of the union over all sets of q dropped rows; None if each of them is refuted."""
    union = None
    for dropped in combinations(range(problem.n_rows), q):
        kept = np.setdiff1d(np.arange(problem.n_rows), dropped)
        box = (
            estimate(problem.select(kept), LinearHull(), strict=False).region if kept.size else problem.unknowns.bounds
        )
        if not box.is_empty:
            union = box if union is None else union | box
    return union


@pytest.mark.parametrize("prior", [100.0, np.inf])
def test_equals_enumeration(prior, rng):
    refuted = 0
    for _ in range(30):
        p, n_rows, q = int(rng.integers(1, 4)), int(rng.integers(2, 11)), int(rng.integers(1, 3))
        problem, _, _ = spoilt_problem(rng, n_rows, p, int(rng.integers(0, q + 2)), prior=prior)
        union = enumerated(problem, q)
        answer = estimate(problem, RelaxedHull(q), strict=False)
        assert not any("early" in note for note in answer.notes)
        refuted += union is None
        if union is None:
            assert answer.status is Status.INCONSISTENT
            continue
        # both are rounded outward from the same exact set, so they agree up to the rounding of their proofs
        np.testing.assert_allclose(answer.region.lower, union.lower, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(answer.region.upper, union.upper, rtol=1e-6, atol=1e-6)
        assert (answer.region.lower <= np.nan_to_num(union.lower) + 1e-11 * np.nan_to_num(abs(union.lower))).all()
        assert (answer.region.upper >= np.nan_to_num(union.upper) - 1e-11 * np.nan_to_num(abs(union.upper))).all()
    assert refuted > 0


@pytest.mark.parametrize("node_limit", [0, 1, 100])
def test_never_loses_a_theta_that_violates_at_most_q_rows(node_limit, rng):
    for _ in range(70):
        p, q = int(rng.integers(1, 4)), int(rng.integers(1, 4))
        problem, theta, _ = spoilt_problem(rng, int(rng.integers(1, 25)), p, q, gross=(0.0, 5.0))
        if len(violated(problem, theta)) > q:
            continue
        answer = estimate(problem, RelaxedHull(q, node_limit=node_limit), strict=False)
        assert theta in answer.region
        assert answer.claim is Claim.PROOF


def test_truth_on_the_very_edge_is_kept(rng):
    """All errors equal their bounds exactly but q, which exceed it: one ulp of inward rounding would lose θ."""
    for _ in range(150):
        p, q = int(rng.integers(1, 4)), int(rng.integers(1, 3))
        W = rng.integers(-9, 10, (9, p)).astype(float)
        theta = rng.integers(-(2**20), 2**20, p) / 2.0 ** rng.integers(0, 20)
        e = rng.integers(1, 2**20, 9) / 2.0**17
        y = W @ theta + rng.choice([-1, 1], 9) * e
        y[:q] += rng.choice([-64.0, 64.0, 1024.0], q)
        problem = LinearProblem(W, y, Unknowns(NAMES[:p], prior=Box.around(theta, 1e3)), Bounded(e))
        assert len(violated(problem, theta)) <= q
        assert theta in estimate(problem, RelaxedHull(q), strict=False).region


def test_an_uncertain_regressor_keeps_every_regressor(rng):
    for _ in range(60):
        exact, theta, _ = spoilt_problem(rng, 15, 2, 2)
        D = rng.uniform(0, 0.2, exact.W.shape)
        W = exact.W + 0.99 * D * rng.uniform(-1, 1, D.shape)
        problem = LinearProblem(W, exact.y, exact.unknowns, Bounded(exact.noise.radius, D))
        if len(violated(problem, theta)) <= 2:
            assert theta in estimate(problem, RelaxedHull(2), strict=False).region


def test_badly_scaled_unknowns(rng):
    for _ in range(30):
        scale = 10.0 ** rng.uniform(-12, 12, 3)
        plain, theta, _ = spoilt_problem(rng, 30, 3, 2)
        box = Box(-100 / scale, 100 / scale)
        problem = LinearProblem(plain.W * scale, plain.y, Unknowns(NAMES[:3], prior=box), plain.noise)
        a, b = (estimate(x, RelaxedHull(2), strict=False).region for x in (plain, problem))
        np.testing.assert_allclose(b.lower * scale, a.lower, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(b.upper * scale, a.upper, rtol=1e-6, atol=1e-6)
        if len(violated(problem, theta / scale)) <= 2:
            assert theta / scale in b


def test_hostile_scales_and_priors(rng):
    """Columns from 1e-150 to 1e150, zeros, half-open priors, outliers from a tenth of the bound to 1e8 of it."""
    tried = 0
    for _ in range(80):
        clean, theta = bounded_problem(rng)
        planted = rng.permutation(clean.n_rows)[: int(rng.integers(0, 4))]
        y = clean.y.copy()
        y[planted] += clean.noise.radius[planted] * 10.0 ** rng.uniform(-1, 8, len(planted))
        problem = LinearProblem(clean.W, y, clean.unknowns, clean.noise)
        truly = violated(problem, theta)
        if theta in problem.unknowns.bounds:
            tried += 1
            assert theta in estimate(problem, RelaxedHull(len(truly)), strict=False).region
            found = outliers(problem, len(truly))
            assert found.at_least <= len(truly)
            assert set(found.proven) <= set(truly)
    assert tried > 60


def test_grows_with_q_and_shrinks_with_effort(rng):
    problem, _, _ = spoilt_problem(rng, 60, 4, 0)
    boxes = [estimate(problem, RelaxedHull(q)).region for q in range(4)]
    assert all(smaller <= larger for smaller, larger in pairwise(boxes))
    hasty = estimate(problem, RelaxedHull(3, node_limit=0))
    assert boxes[3] <= hasty.region
    assert any("may not be the smallest" in note for note in hasty.notes)


def test_without_violations_it_is_the_linear_hull(rng):
    problem, _, _ = spoilt_problem(rng, 40, 3, 0)
    assert estimate(problem, RelaxedHull(0)).region == estimate(problem, LinearHull()).region


@pytest.mark.parametrize("q", [1, 5, 6, 50])
def test_as_many_violations_as_rows_leave_the_prior(q, rng):
    problem, _, _ = spoilt_problem(rng, 1 if q == 1 else 5, 2, 0)
    answer = estimate(problem, RelaxedHull(q))
    assert answer.region == problem.unknowns.bounds
    assert answer.stats.prior_limited == ("p_0", "p_1")


def test_unbounded_unknowns_are_named():
    W = [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    problem = LinearProblem(W, [0.0, 0.5, 9.0, 0.0], Unknowns(["a", "b"]), Bounded(1.0))
    answer = estimate(problem, RelaxedHull(2), strict=False)
    assert answer.status is Status.UNBOUNDED
    assert "b" in answer.notes[0]
    assert "a" not in answer.notes[0].split(":")[1]


def test_too_many_outliers_are_inconsistent_with_evidence(rng):
    problem, _, planted = spoilt_problem(rng, 100, 3, 3, gross=(50.0, 90.0))
    answer = estimate(problem, RelaxedHull(2), strict=False)
    assert answer.status is Status.INCONSISTENT
    assert answer.region.is_empty
    assert len(answer.stats.evidence) == 3
    assert set(planted) <= set(answer.stats.active_rows)
    assert estimate(problem, RelaxedHull(3)).status is Status.OK


@pytest.mark.parametrize("wrong", [{"q": -1}, {"q": 1.5}, {"q": True}, {"q": 1, "node_limit": -1}])
def test_options_are_checked(wrong):
    with pytest.raises(InputError, match="whole number"):
        RelaxedHull(**wrong)


def test_needs_bounds():
    problem = LinearProblem(np.eye(2), [1, 2], Unknowns(["a", "b"]), Gaussian(1.0))
    with pytest.raises(AssumptionError, match="Bounded"):
        estimate(problem, RelaxedHull(1))
    with pytest.raises(AssumptionError, match="Bounded"):
        outliers(problem)
    with pytest.raises(InputError, match="number of rows"):
        outliers(LinearProblem(np.eye(2), [1, 2], Unknowns(["a", "b"]), Bounded(1.0)), -1)


def require_contradiction(problem, evidence):
    """The checker, which imports no method, confirms the evidence."""
    weights = dict(zip(evidence.rows, map(Fraction, evidence.weights), strict=True))
    assert check(Certificate.of(problem, Empty(prove(problem, [({}, weights)]))), problem)


def require_honest(problem, found):
    """Everything that the outliers rest on is checked again, and nothing is counted twice."""
    rows = [row for evidence in found.evidence for row in evidence.rows]
    assert len(rows) == len(set(rows))
    for evidence in found.evidence:
        require_contradiction(problem, evidence)
    for row, proofs in zip(found.proven, found.proofs, strict=True):
        alone = any(evidence.rows == (row,) for evidence in found.evidence)
        assert alone or len(found.evidence) + len(proofs) > found.q
        others = rows + [other for evidence in proofs for other in evidence.rows if other != row]
        assert len(others) == len(set(others))
        for evidence in proofs:
            assert row in evidence.rows
            require_contradiction(problem, evidence)


@pytest.mark.parametrize("prior", [100.0, np.inf])
@pytest.mark.parametrize("size", [20.0, 1e9])
def test_gross_outliers_are_all_proven(prior, size, rng):
    for n_outliers in (1, 3, 6):
        problem, theta, planted = spoilt_problem(rng, 500, 6, n_outliers, gross=(size, 3 * size), prior=prior)
        found = outliers(problem)
        assert found.at_least == n_outliers
        assert list(found.proven) == planted
        assert set(planted) <= set(found.suspects[: 2 * n_outliers])
        require_honest(problem, found)
        assert theta in estimate(problem, RelaxedHull(n_outliers)).region


def test_what_is_said_of_outliers_is_true(rng):
    """Outliers of every size: the truth violates at least so many rows, and the proven ones among them."""
    counted = proven = 0
    for _ in range(150):
        p = int(rng.integers(1, 4))
        problem, theta, _ = spoilt_problem(rng, int(rng.integers(1, 40)), p, int(rng.integers(0, 5)), gross=(0.0, 6.0))
        truly = violated(problem, theta)
        found = outliers(problem, len(truly))
        assert found.at_least <= len(truly)
        assert set(found.proven) <= set(truly)
        require_honest(problem, found)
        counted, proven = counted + found.at_least, proven + len(found.proven)
    assert counted > 100
    assert proven > 50


def test_a_row_that_contradicts_the_prior_alone_is_proven_whatever_q():
    problem = LinearProblem([[0.0], [1.0]], [5.0, 0.0], Unknowns(["a"]), Bounded(1.0))
    found = outliers(problem, 2)
    assert (found.at_least, found.proven) == (1, (0,))
    assert estimate(problem, RelaxedHull(1)).region == Box([-1], [1])


def test_words_claim_no_more_than_is_proven():
    def two(y, q=None):
        return str(outliers(LinearProblem([[1.0]] * len(y), y, Unknowns(["a"]), Bounded(1.0)), q))

    assert two([0.0, 1.0]) == "Nothing proves that any of the 2 rows violates its bound."
    assert two([0.0, 9.0]) == "At least 1 of 2 rows violates its bound.\nWhich ones is not proven."
    assert two([0.0, 9.0], 0) == "At least 1 of 2 rows violates its bound.\nThat is more than the 0 allowed."
    many = [0.0, 0.1, 0.2, 0.3, 0.4, 9.0, -9.0]
    assert two(many).endswith("If no more than 2 do, rows 5, 6 do for certain.")


def hostile_problem(rng, n_rows, p, q):
    """Whole numbers, rows twice, rows of zeros, equations, q rows that are off; each row and column in its own unit.

    The truth is a whole number, so that nothing is rounded where its rows are made.
    """
    W = rng.integers(-4, 5, (n_rows, p)).astype(float)
    W[rng.random(n_rows) < 0.2] = 0.0
    W[rng.integers(0, n_rows, 2)] = W[rng.integers(0, n_rows)]
    theta, e = rng.integers(-8, 9, p).astype(float), rng.choice([0.0, 0.25, 1.0, 64.0], n_rows)
    y = W @ theta + e * rng.choice([-1.0, -0.5, 0.0, 1.0], n_rows)
    off = rng.permutation(n_rows)[: rng.integers(0, q + 1)]
    y[off] += rng.choice([-1, 1], len(off)) * rng.choice([0.5, 32.0, 4096.0], len(off))
    rows, columns = (np.ldexp(1.0, rng.integers(-250, 250, size)) for size in (n_rows, p))
    theta /= columns
    prior = Box(theta - 16 / columns, theta + 8 / columns) if rng.random() < 0.7 else None
    y, e, W = y * rows, e * rows, W * columns * rows[:, None]
    return LinearProblem(W, y, Unknowns(NAMES[:p], prior=prior), Bounded(e)), theta


def test_hostile_rows_lose_nothing_and_every_proof_is_checked(rng):
    """Containment at zero tolerance, in rational arithmetic; certificates of both kinds are checked exactly."""
    checked = 0
    for _ in range(150):
        q = int(rng.integers(1, 4))
        problem, theta = hostile_problem(rng, int(rng.integers(2, 12)), int(rng.integers(1, 4)), q)
        assert len(violated(problem, theta)) <= q
        answer = estimate(problem, RelaxedHull(q), strict=False)
        assert answer.status is not Status.INCONSISTENT
        assert theta in answer.region
        if answer.stats.sides:
            certificate = certificate_of(problem, answer)
            assert check(certificate, problem).holds
            checked += 1
        found = outliers(problem, q)
        assert set(found.proven) <= set(violated(problem, theta))
        assert found.at_least <= len(violated(problem, theta))
    assert checked > 40


@pytest.mark.parametrize("q", [1, 2, 3, 4])
def test_the_compiled_search_equals_branching_best_first(q, rng, monkeypatch):
    """Two searches that share no line of their logic find the same sides; the compiled one's are certified."""
    from gough.methods.bounded import relaxed_hull

    for wrong in (0, 1, q):
        problem, _, _ = spoilt_problem(rng, 60, 3, wrong)
        quick = estimate(problem, RelaxedHull(q), strict=False)
        with monkeypatch.context() as without:
            without.setattr(relaxed_hull, "least", lambda *_: None)
            slow = estimate(problem, RelaxedHull(q, node_limit=5000), strict=False)
        assert quick.status is slow.status
        assert quick.region.lower == pytest.approx(slow.region.lower, abs=1e-8 * slow.region.width.max())
        assert quick.region.upper == pytest.approx(slow.region.upper, abs=1e-8 * slow.region.width.max())
        assert check(certificate_of(problem, quick), problem).holds


def test_programs_solved_together_change_nothing(rng, monkeypatch):
    """The programs of a node are solved and proven at once; one by one the answer is the same."""
    from gough.methods.bounded import relaxed_hull
    from gough.methods.bounded.relaxed_programs import Programs

    problem, _, _ = spoilt_problem(rng, 300, 4, 1)
    together = estimate(problem, RelaxedHull(3)).region

    def one_by_one(self, direction, withouts, near):
        return [self.cut(direction, without, one) for without, one in zip(withouts, near, strict=True)]

    monkeypatch.setattr(relaxed_hull, "least", lambda *_: None)
    monkeypatch.setattr(Programs, "cuts", one_by_one)
    alone = estimate(problem, RelaxedHull(3)).region
    np.testing.assert_allclose(together.lower, alone.lower, rtol=0, atol=1e-9 * alone.width.max())
    np.testing.assert_allclose(together.upper, alone.upper, rtol=0, atol=1e-9 * alone.width.max())
