"""Every answer that claims a proof gets a certificate of its very region, and the checker agrees."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gough import AssumptionError, Bounded, Box, Estimate, InputError, LinearProblem, Status, Unknowns, estimate
from gough.checker import Bound, Empty, Inside, NotProven, RelaxedBound, Step, certificate_of, check, load, save
from gough.methods import (
    BoundingEllipsoid,
    Fixpoint,
    GaussSeidel,
    HullAndEllipsoid,
    LinearHull,
    RelaxedHull,
    TightEllipsoid,
    minimal_bound,
    outliers,
    prediction_bounds,
    predictions,
)
from tests.laws.problems import bounded_problem
from tests.methods.test_bounding_ellipsoid import robot_like
from tests.methods.test_outliers import spoilt_problem

SEEDED_AS = "tests/certify/test_of_answer.py"

ELLIPSOIDS = [
    TightEllipsoid(),
    TightEllipsoid(criterion=1.0),
    BoundingEllipsoid(),
    BoundingEllipsoid(rounds=1, criterion=0.5),
    BoundingEllipsoid(rounds=0, cut=False),
]
METHODS = [LinearHull(), RelaxedHull(1), HullAndEllipsoid(), HullAndEllipsoid(BoundingEllipsoid()), *ELLIPSOIDS]


def require_region(proof, region):
    """The statement is about these very floating-point numbers."""
    ellipsoid = getattr(region, "ellipsoid", region)
    assert [x for _, x in proof.ellipsoid.center] == [Fraction(x) for x in ellipsoid.center]
    assert [list(row) for row in proof.ellipsoid.shape] == [
        [Fraction(x) for x in ellipsoid.shape[i, : i + 1]] for i in range(len(ellipsoid.shape))
    ]


def require_box(problem, steps, box):
    """The strongest of the steps are the sides of the box, as far as they are not the prior's."""
    best = {}
    for step in (link for link in steps if not hasattr(link, "at")):
        if hasattr(step, "value"):
            best[step.direction] = max(step.value, best.get(step.direction, step.value))
    prior = problem.unknowns.bounds
    for j, name in enumerate(problem.unknowns.names):
        for sign, side, known in ((1, box.lower, prior.lower), (-1, box.upper, prior.upper)):
            if np.isfinite(side[j]) and side[j] != known[j]:
                assert best[(name, Fraction(sign)),] >= sign * Fraction(side[j])


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_certificates_hold_and_survive_their_file(method, rng, tmp_path):
    for number in range(4):
        problem, _ = robot_like(rng, n=150, p=int(rng.integers(1, 6)))
        answer = Estimate.from_json(estimate(problem, method).to_json())
        certificate = certificate_of(problem, answer)
        save(certificate, tmp_path / f"{number}.json")
        assert load(tmp_path / f"{number}.json") == certificate
        verdict = check(load(tmp_path / f"{number}.json"), problem)
        assert verdict, verdict.reason
        if isinstance(certificate.proof, Inside):
            require_region(certificate.proof, answer.region)
        if hasattr(answer.region, "box"):
            require_box(problem, certificate.proof.steps, answer.region.box)
        if isinstance(certificate.proof, Bound | RelaxedBound):
            require_box(problem, certificate.proof.steps, answer.region)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_hostile_problems(method, rng):
    """Scales, zeros, fixed unknowns, uncertain regressors, contradictions: what is answered is certified."""
    certified = 0
    for _ in range(25):
        problem, theta = bounded_problem(rng, spread=rng.choice([0, 3]))
        prior, y, D = problem.unknowns.bounds, problem.y.copy(), None
        lower, upper = prior.lower.copy(), prior.upper.copy()
        if rng.random() < 0.3 and len(theta) > 1:
            lower[0] = upper[0] = theta[0]
        if rng.random() < 0.4:
            D = 0.05 * rng.uniform(size=problem.W.shape) * abs(problem.W)
        if rng.random() < 0.2:
            y[0] += 100 * problem.noise.radius[0]
        lower = np.where(np.isfinite(lower), lower, -1e6)
        problem = replace(problem, y=y, unknowns=Unknowns(problem.unknowns.names, prior=Box(lower, upper)),
                          noise=Bounded(problem.noise.radius, D))  # fmt: skip
        try:
            answer = estimate(problem, method, strict=False)
        except InputError:  # squares of widths beyond floating point
            continue
        nothing_new = isinstance(answer.region, Box) and answer.region == problem.unknowns.bounds
        if nothing_new or answer.claim.name != "PROOF":
            continue
        verdict = check(certificate_of(problem, answer), problem)
        assert verdict, verdict.reason
        certified += 1
    assert certified > 7


def test_open_priors_need_no_long_weights(rng):
    """Where W is uncertain and no prior given, all weights are doubles."""
    W = rng.normal(size=(40, 3))
    y = W @ [1.0, -0.02, 3.0] + rng.uniform(-0.1, 0.1, 40)
    problem = LinearProblem(W, y, Unknowns(["a", "b", "c"]), Bounded(0.1, 0.01))
    proof = certificate_of(problem, estimate(problem, LinearHull())).proof
    weights = [w for link in proof.steps if isinstance(link, Step) for _, w in link.weights]
    assert weights
    assert all(Fraction(float(w)) == w for w in weights)


def test_few_strips_whatever_the_number_of_rows(rng):
    """The recursion weighs thousands of rows; (p + 1)(p + 2)/2 of them suffice."""
    problem, _ = robot_like(rng, n=20_000, p=5)
    answer = estimate(problem, BoundingEllipsoid(rounds=0, cut=False))
    assert len(answer.stats.rounds[0].rows) > 200
    certificate = certificate_of(problem, answer)
    assert check(certificate, problem)
    assert len(certificate.proof.ellipsoid.strips) <= 22
    require_region(certificate.proof, answer.region)


def test_memory_maps(tmp_path, rng):
    problem, _ = robot_like(rng, n=30_000, p=4)
    np.save(tmp_path / "W.npy", problem.W)
    mapped = replace(problem, W=np.load(tmp_path / "W.npy", mmap_mode="r"))
    for method in (LinearHull(), TightEllipsoid(), BoundingEllipsoid(), RelaxedHull(1)):
        assert check(certificate_of(mapped, estimate(mapped, method)), mapped)
        assert check(certificate_of(problem, estimate(problem, method)), mapped)


@pytest.mark.parametrize("method", METHODS, ids=repr)
def test_contradictions(method):
    unknowns = Unknowns(["a"], prior=Box([-9], [9]))
    problem = LinearProblem([[1.0]] * 4, [0.0, 3.0, 0.1, 3.1], unknowns, Bounded(1.0))
    answer = estimate(problem, method, strict=False)
    assert answer.status is Status.INCONSISTENT
    certificate = certificate_of(problem, answer)
    assert certificate.kind in {"Empty", "RelaxedEmpty"}
    assert check(certificate, problem)


def test_equations_that_disagree(rng):
    """No prior and no error bound: the culprits are named, where the linear program's box is too small to tell."""
    W = rng.integers(-9, 10, (30, 3)).astype(float)
    y = W @ [1.0, 2.0, 3.0]
    exact = LinearProblem(W, y, Unknowns(["a", "b", "c"]), Bounded(0.0))
    assert check(certificate_of(exact, estimate(exact, TightEllipsoid())), exact)
    y[17] += 2.0**-20
    wrong = LinearProblem(W, y, Unknowns(["a", "b", "c"]), Bounded(0.0))
    answer = estimate(wrong, LinearHull(), strict=False)
    assert answer.status is Status.INCONSISTENT
    certificate = certificate_of(wrong, answer)
    assert isinstance(certificate.proof, Empty)
    assert check(certificate, wrong)
    assert len(certificate.proof.rows) <= 4
    assert 17 in certificate.proof.rows


def test_outliers_and_the_minimal_bound(rng):
    problem, _, planted = spoilt_problem(rng, 200, 4, 2, gross=(20.0, 30.0))
    certificate = certificate_of(problem, outliers(problem))
    assert check(certificate, problem)
    assert (certificate.proof.at_least, list(certificate.proof.outliers)) == (2, planted)
    assert certificate_of(problem, minimal_bound(problem)).kind == "Empty"
    assert check(certificate_of(problem, minimal_bound(problem)), problem)
    clean, _, _ = spoilt_problem(rng, 200, 4, 0)
    witness = certificate_of(clean, minimal_bound(clean))
    assert witness.kind == "Witness"
    assert check(witness, clean)
    with pytest.raises(AssumptionError, match="nothing is proven about outliers"):
        certificate_of(clean, outliers(clean))


@pytest.mark.parametrize("uncertain", [False, True])
def test_predictions(uncertain, rng):
    for prior in (Box([-50] * 3, [50] * 3), None):
        W = rng.normal(size=(300, 3))
        y = W @ [1.0, -2.0, 0.03] + rng.uniform(-0.1, 0.1, 300)
        noise = Bounded(0.1, 0.01 * abs(W) if uncertain else None)
        problem = LinearProblem(W, y, Unknowns(["a", "b", "c"], prior=prior), noise)
        D = rng.normal(size=(5, 3))
        found = predictions(problem, D)
        quick = prediction_bounds(problem, D)
        np.testing.assert_allclose(found.bounds.lower, quick.lower, rtol=1e-9)
        np.testing.assert_allclose(found.bounds.upper, quick.upper, rtol=1e-9)
        certificate = certificate_of(problem, found)
        assert check(certificate, problem)
        stated = {step.direction: step.value for step in certificate.proof.steps if isinstance(step, Step)}
        for d, low, high in zip(D, found.bounds.lower, found.bounds.upper, strict=True):
            for sign, side in ((1, low), (-1, high)):
                named = tuple(zip("abc", (sign * Fraction(x) for x in d), strict=True))
                assert stated[named] == sign * Fraction(side)


def test_predictions_of_nothing():
    wrong = LinearProblem([[1.0], [1.0]], [0.0, 3.0], Unknowns(["a"]), Bounded(1.0))
    with pytest.raises(AssumptionError, match="nothing can be predicted"):
        predictions(wrong, [[1.0]])
    with pytest.raises(InputError, match="column per unknown"):
        predictions(wrong, [[1.0, 2.0]])


def test_hard_cases_of_the_relaxed_hull(rng):
    """No row stands out: the search branches, and its cuts become the certificate."""
    problem, _, _ = spoilt_problem(rng, 300, 4, 0)
    answer = estimate(problem, RelaxedHull(2))
    certificate = certificate_of(problem, answer)
    verdict = check(certificate, problem)
    assert verdict, verdict.reason
    assert max(len(step.cuts) for step in certificate.proof.steps) > 3
    step = max(certificate.proof.steps, key=lambda one: len(one.cuts))
    position = certificate.proof.steps.index(step)
    needed = 0
    for i in range(len(step.cuts)):
        fewer = replace(step, cuts=step.cuts[:i] + step.cuts[i + 1 :])
        steps = (*certificate.proof.steps[:position], fewer, *certificate.proof.steps[position + 1 :])
        needed += not check(replace(certificate, proof=replace(certificate.proof, steps=steps)), problem)
    assert needed == len(step.cuts)


def test_answers_without_evidence_are_refused_with_the_reason(rng):
    problem, _ = robot_like(rng, n=100, p=2)
    with pytest.raises(AssumptionError, match="keeps no evidence"):
        certificate_of(problem, estimate(problem, Fixpoint(GaussSeidel())))
    unbounded = replace(problem, unknowns=Unknowns(problem.unknowns.names))
    with pytest.raises(AssumptionError, match="prior alone bounds where they start"):
        certificate_of(unbounded, estimate(unbounded, BoundingEllipsoid(radius=1e6)))
    with pytest.raises(AssumptionError, match="keeps no evidence"):
        certificate_of(problem, estimate(problem, BoundingEllipsoid(rounds=0)))


def test_an_estimate_that_was_tampered_with_gets_none(rng):
    problem, _ = robot_like(rng, n=100, p=2)
    hull = estimate(problem, LinearHull())
    narrower = replace(hull, region=Box(hull.region.lower, np.nextafter(hull.region.upper, -np.inf)))
    with pytest.raises(NotProven, match="but the estimate says"):
        certificate_of(problem, narrower)
    tight = estimate(problem, TightEllipsoid())
    smaller = replace(tight, region=replace(tight.region, shape=tight.region.shape * (1 - 1e-9)))
    with pytest.raises(NotProven, match="would have to be larger"):
        certificate_of(problem, smaller)
