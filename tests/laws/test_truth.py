"""Nothing false is claimed: every method against enumeration in exact rationals, without tolerance.

On edges that several rows share, priors an ulp wide, intervals of no width, numbers from 1e-322 to 1e300, and with a
linear program that lies about everything it may be asked.
"""

from contextlib import suppress
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from gough import Bounded, Box, Claim, LinearProblem, Status, Unknowns, estimate
from gough.checker import certificate_of, check
from gough.checker.leg_equations import LegMeasurements, PlatformMeasurements
from gough.closure.certified_leg import LegProblem
from gough.closure.joint_hull import JointHull
from gough.core.errors import GoughError
from gough.methods import (
    BoundingEllipsoid,
    EllipsoidStream,
    Fixpoint,
    Form,
    HullStream,
    IntervalNewton,
    LiftedHull,
    RelaxedHull,
    minimal_bound,
    outliers,
    prediction_bounds,
    predictions,
    sweep,
)
from gough.methods.programs.simplex import Optimum, Outcome, Simplex
from gough.methods.programs.sparse_program import SparseProgram
from tests.laws.oracle import exact, holds, inequalities, is_consistent, relaxed_vertices, vertices
from tests.laws.problems import SET_METHODS
from tests.methods.legs import joint_legs

ELLIPSOIDS = [
    BoundingEllipsoid(),
    BoundingEllipsoid(form=Form.STANDARD),
    BoundingEllipsoid(rounds=0),
    BoundingEllipsoid(rounds=0, cut=False),
    BoundingEllipsoid(criterion=1.0),
    BoundingEllipsoid(misses=1),
    BoundingEllipsoid(radius=0.25),
]


def judge_estimate(method):
    def judge(problem):
        answer = estimate(problem, method, strict=False)
        judge_region(problem, answer)

    return judge


def judge_region(problem, answer, points=None):
    points = vertices(problem) if points is None else points
    if answer.claim is Claim.VALUE:
        return
    if answer.status is Status.INCONSISTENT:
        assert not points
    elif answer.claim is Claim.PROOF:
        assert all(holds(answer.region, point) for point in points)


def judge_relaxed(problem):
    if problem.noise.regressor is None and problem.n_rows > 1:
        judge_region(problem, estimate(problem, RelaxedHull(1), strict=False), relaxed_vertices(problem, 1))


def judge_stream(problem):
    if problem.noise.regressor is not None:
        return
    for block in (1, 400):
        stream = HullStream(problem.unknowns, block=block)
        stream.update_many(problem.W, problem.y, problem.noise.radius)
        judge_region(problem, stream.estimate())
    try:
        recursion = EllipsoidStream(problem.unknowns)
    except GoughError:
        return  # fixed unknowns
    recursion.update_many(problem.W, problem.y, problem.noise.radius)
    judge_region(problem, recursion.estimate())


def judge_sweep(problem):
    factors = [0.7, 1.0, 1.1]
    found = sweep(problem, factors)
    assert found.claim is Claim.PROOF
    for factor, lower, upper, status in zip(found.factors, found.lower, found.upper, found.status, strict=True):
        points = vertices(problem, factor=Fraction(float(factor)))
        if status is Status.INCONSISTENT:
            assert not points
        else:
            assert all(holds(Box(lower, upper), point) for point in points)


def judge_predictions(problem):
    D = np.vstack([problem.W, np.eye(len(problem.unknowns))])
    ranges = [prediction_bounds(problem, D)]
    with suppress(GoughError):
        ranges.append(predictions(problem, D).bounds)
    for point in vertices(problem):
        reached = [sum(d * x for d, x in zip(exact(row), point, strict=True)) for row in D]
        assert all(holds(box, reached) for box in ranges)


def judge_minimal_bound(problem):
    if problem.noise.regressor is not None:
        return
    found = minimal_bound(problem)
    assert found.claim is Claim.PROOF
    assert found.lower <= found.upper
    point = exact(found.point)
    if found.upper < np.inf:
        assert is_consistent(problem, point, Fraction(found.upper))
    if found.lower < np.inf and found.lower > 0:
        assert not vertices(problem, factor=Fraction(found.lower) * (1 - Fraction(1, 2**60)))
    if found.lower == np.inf:
        assert not vertices(problem, factor=Fraction(2) ** 3000)


def judge_outliers(problem):
    found = outliers(problem)
    if found.at_least:
        for some in combinations(range(problem.n_rows), found.at_least - 1):
            assert not vertices(problem, some)
    for row in found.proven if found.at_least <= found.q else ():
        others = [k for k in range(problem.n_rows) if k != row]
        assert all(not vertices(problem, some) for some in combinations(others, min(found.q, len(others))))


TOOLS = {
    **{repr(method): judge_estimate(method) for method in [*SET_METHODS, *ELLIPSOIDS]},
    "RelaxedHull(1)": judge_relaxed,
    "streams": judge_stream,
    "sweep": judge_sweep,
    "predictions": judge_predictions,
    "minimal_bound": judge_minimal_bound,
    "outliers": judge_outliers,
}
every_tool = pytest.mark.parametrize("judge", TOOLS.values(), ids=TOOLS)


def judged(judge, problem):
    """Whether there was an answer: a refusal that says why is none, and every other exception is a failure."""
    try:
        judge(problem)
    except GoughError:
        return False
    return True


def named(p):
    return [f"p_{j}" for j in range(p)]


def on_the_edge(rng, *, uncertain=False):
    """θ lies on the edge of most rows, and often of the prior, exactly: all numbers are small multiples of 1/16."""
    p, n = (2, int(rng.integers(2, 6))) if rng.random() < 0.8 else (1, 3)
    W = rng.integers(-4, 5, (n, p)).astype(float)
    theta = rng.integers(-32, 33, p) / 16
    e = rng.integers(0, 4, n) / 4 if rng.random() < 0.7 else np.zeros(n)
    D = rng.integers(0, 3, (n, p)) / 16 if uncertain else None
    total = e if D is None else e + D @ abs(theta)
    y = W @ theta + rng.choice([-1.0, 1.0, 1.0, 0.5], n) * total
    if rng.random() < 0.25:
        y[0] += rng.choice([-1, 1]) * rng.choice([1 / 16, 8])  # perhaps a contradiction, perhaps an outlier
    kind = rng.integers(0, 3, p)
    lower = np.where(kind == 0, theta, theta - rng.integers(1, 40, p) / 16)
    upper = np.where(kind == 1, theta, theta + rng.integers(1, 40, p) / 16)
    return LinearProblem(W, y, Unknowns(named(p), prior=Box(lower, upper)), Bounded(e, D))


def in_units(problem, rows, columns):
    """The same problem with rows and unknowns counted in other powers of two; None if that rounds or overflows."""
    with np.errstate(all="ignore"):
        by = rows[:, None] + columns
        prior = problem.unknowns.bounds
        parts = [
            (problem.W, by),
            (problem.y, rows),
            (np.broadcast_to(problem.noise.radius, problem.y.shape), rows),
            (prior.lower, -columns),
            (prior.upper, -columns),
        ]
        scaled = [np.ldexp(values, exponent) for values, exponent in parts]
        back = [np.ldexp(values, -exponent) for values, (_, exponent) in zip(scaled, parts, strict=True)]
    if not all(np.array_equal(a, b) for a, (b, _) in zip(back, parts, strict=True)):
        return None
    W, y, e, lower, upper = scaled
    return LinearProblem(W, y, Unknowns(problem.unknowns.names, prior=Box(lower, upper)), Bounded(e))


def an_ulp_wide(rng):
    """A prior of one or two ulp around θ, rows that miss it by rounding alone, and bounds of just that size."""
    p, n = int(rng.integers(1, 3)), int(rng.integers(1, 6))
    theta = rng.normal(size=p) * 10.0 ** rng.integers(-3, 4)
    W = rng.normal(size=(n, p)) if rng.random() < 0.5 else rng.integers(-4, 5, (n, p)).astype(float)
    y = W @ theta
    missed = [
        abs(b - sum(a * x for a, x in zip(exact(w), exact(theta), strict=True)))
        for w, b in zip(W, exact(y), strict=True)
    ]
    e = np.array([float(x) for x in missed])
    e = np.where([Fraction(a) < b for a, b in zip(e.tolist(), missed, strict=True)], np.nextafter(e, np.inf), e)
    e = np.where(rng.random(n) < 0.5, e, e + abs(y) * 10.0 ** rng.integers(-17, -8))
    kind = rng.integers(0, 4, p)
    lower = np.where(kind == 0, theta, np.where(kind == 3, theta - 1, np.nextafter(theta, -np.inf)))
    upper = np.where(kind == 1, theta, np.where(kind == 3, theta + 1, np.nextafter(theta, np.inf)))
    problem = LinearProblem(W, y, Unknowns(named(p), prior=Box(lower, upper)), Bounded(e))
    assert is_consistent(problem, exact(theta))
    return problem


def made(seed, count, make, **options):
    rng = np.random.default_rng(seed)
    return [make(rng, **options) for _ in range(count)]


def scaled(exponent, seed=4, count=3):
    """Problems whose rows, but for some, and unknowns are counted in other powers of two."""
    rng, found = np.random.default_rng(seed), []
    for problem in made(seed, count, on_the_edge):
        rows = np.full(problem.n_rows, exponent[0])
        rows[rng.random(len(rows)) < 0.3] = 0
        found.append(in_units(problem, rows, np.full(len(problem.unknowns), exponent[1])))
    return [problem for problem in found if problem is not None]


SCALES = [(664, 0), (-664, 0), (0, 664), (0, -664), (990, 0), (-1060, 0), (0, -1000), (500, 500)]
EDGES, UNCERTAIN, NARROW = made(1, 25, on_the_edge), made(2, 6, on_the_edge, uncertain=True), made(3, 25, an_ulp_wide)
SCALED = [problem for exponent in SCALES for problem in scaled(exponent)]


@every_tool
def test_truths_on_the_edge_of_several_rows(judge):
    assert sum(judged(judge, problem) for problem in EDGES) >= 15


@every_tool
def test_truths_on_the_edge_where_the_regressor_is_uncertain(judge):
    for problem in UNCERTAIN:
        judged(judge, problem)


@every_tool
def test_priors_an_ulp_wide(judge):
    assert sum(judged(judge, problem) for problem in NARROW) >= 10


@every_tool
def test_numbers_that_are_huge_or_tiny(judge):
    assert len(SCALED) >= 15
    for problem in SCALED:
        judged(judge, problem)


def answered(problem):
    """Answers that carry evidence."""
    yield from (estimate(problem, method, strict=False) for method in (*SET_METHODS, *ELLIPSOIDS, RelaxedHull(1)))
    yield minimal_bound(problem)
    yield outliers(problem)


def certified(problem, answer):
    """The certificate, or None and why there is none."""
    try:
        return certificate_of(problem, answer), ""
    except GoughError as refused:
        return None, str(refused)


def test_certificates_do_not_contradict_claims():
    """Whatever answer has a certificate, it holds; whatever has none says so without a word of contradiction."""
    held = 0
    for problem in EDGES[:8]:
        for answer in answered(problem):
            certificate, reason = certified(problem, answer)
            assert "contradict" not in reason
            if certificate is not None:
                assert check(certificate, problem).holds
                held += 1
    assert held > 40


@pytest.mark.parametrize("method", [BoundingEllipsoid(), BoundingEllipsoid(rounds=1)], ids=repr)
def test_bounds_of_zero_have_certificates(method):
    """Strips of no width leave a point, which the center of the ellipsoid misses by rounding."""
    rng = np.random.default_rng(6)
    for _ in range(10):
        W, theta = rng.integers(-3, 4, (5, 2)).astype(float), rng.integers(-5, 6, 2).astype(float)
        W[:2] += 5 * np.eye(2)
        problem = LinearProblem(W, W @ theta, Unknowns(["a", "b"], prior=Box([-9, -9], [9, 9])), Bounded(0.0))
        answer = estimate(problem, method)
        assert answer.claim is Claim.PROOF
        assert check(certificate_of(problem, answer), problem).holds


def test_a_radius_is_no_knowledge():
    """The finding: y = 5000 ± 1 and a radius of 1000, and the case where the radius cuts the set in two."""
    for y, e in ((5000.0, 1.0), (1000.0, 10.0)):
        problem = LinearProblem([[1.0]], [y], Unknowns(["a"]), Bounded(e))
        answer = estimate(problem, BoundingEllipsoid(radius=1e3))
        assert answer.claim is Claim.PROOF
        assert not any("prior" in note for note in answer.notes)  # there is none
        assert holds(answer.region, [Fraction(y - e)])
        assert holds(answer.region, [Fraction(y + e)])
    inside = LinearProblem([[1.0, 0.0]], [0.0], Unknowns(["a", "b"]), Bounded(1.0))
    answer = estimate(inside, BoundingEllipsoid(radius=10.0))
    assert answer.claim is Claim.VALUE
    assert any("b" in note for note in answer.notes)
    far = LinearProblem([[1.0, 0.0]], [50.0], Unknowns(["a", "b"]), Bounded(1.0))
    with pytest.raises(GoughError, match="radius"):
        estimate(far, BoundingEllipsoid(radius=10.0), strict=False)
    stream = EllipsoidStream(Unknowns(["a"]), radius=1e3)
    stream.update([1.0], 5000.0, 1.0)
    assert stream.estimate().claim is Claim.VALUE


def test_an_outlier_may_miss_where_the_prior_is_open():
    problem = LinearProblem([[1.0], [1.0], [1.0]], [0.0, 0.5, 50.0], Unknowns(["a"]), Bounded(1.0))
    answer = estimate(problem, BoundingEllipsoid(radius=1e3, misses=1))
    assert answer.claim is Claim.VALUE
    assert abs(answer.value[0]) < 2
    answer = estimate(problem, BoundingEllipsoid(radius=1e3), strict=False)
    assert (answer.status, answer.claim) == (Status.INCONSISTENT, Claim.PROOF)


def test_a_contradiction_needs_no_radius():
    problem = LinearProblem([[1.0], [1.0]], [0.0, 5.0], Unknowns(["a"]), Bounded(1.0))
    for radius in (1e-3, 1.0, 1e6):
        answer = estimate(problem, BoundingEllipsoid(radius=radius), strict=False)
        assert (answer.status, answer.claim) == (Status.INCONSISTENT, Claim.PROOF)


def test_a_sweep_keeps_the_edge_of_the_exact_product():
    rng = np.random.default_rng(7)
    for _ in range(200):
        e, factor = float(rng.uniform(0.1, 1)), float(rng.uniform(0.5, 2))
        found = sweep(LinearProblem([[1.0]], [0.0], Unknowns(["a"]), Bounded(e)), [factor])
        assert found.upper[0, 0] >= Fraction(e) * Fraction(factor)
        assert found.lower[0, 0] <= -Fraction(e) * Fraction(factor)


# A linear program that lies


def lie(optimum, how, rng, n_rows):
    """What the solver found, spoilt in one respect."""
    rows, weights, n = optimum.rows, optimum.weights, len(optimum.weights)
    every = np.arange(n_rows)
    changes = {
        "wrong": {"weights": weights * rng.normal(size=n)},
        "negated": {"weights": -weights},
        "NaN": {"weights": np.full(n, np.nan)},
        "infinite": {"weights": np.full(n, np.inf)},
        "none": {"rows": rows[:0], "weights": weights[:0]},
        "too few": {"weights": weights[:-1]},
        "next rows": {"rows": rows + 1},
        "rows beyond": {"rows": rows + 10**6},
        "rows before": {"rows": -1 - rows},
        "rows twice": {"rows": np.append(rows, rows), "weights": np.append(weights, weights)},
        "every row": {"rows": every, "weights": rng.normal(size=n_rows)},
        "every row, optimal": {"rows": every, "weights": rng.normal(size=n_rows), "outcome": Outcome.OPTIMAL},
        "every row, infeasible": {"rows": every, "weights": rng.normal(size=n_rows), "outcome": Outcome.INFEASIBLE},
        "infeasible": {"outcome": Outcome.INFEASIBLE},
        "optimal": {"outcome": Outcome.OPTIMAL},
        "failed": {"outcome": Outcome.FAILED},
        "elsewhere": {"point": rng.normal(size=len(optimum.point)) * 1e3},
        "nowhere": {"point": np.full(len(optimum.point), np.nan)},
    }
    given = {"outcome": optimum.outcome, "point": optimum.point, "rows": rows, "weights": weights}
    return Optimum(**(given | changes[how]), start=optimum.start)


LIES = [
    "wrong", "negated", "NaN", "infinite", "none", "too few", "next rows", "rows beyond", "rows before", "rows twice",
    "every row", "every row, optimal", "every row, infeasible", "infeasible", "optimal", "failed", "elsewhere",
    "nowhere",
]  # fmt: skip


@pytest.fixture(params=LIES)
def liar(request, monkeypatch):
    """Every linear program of gough lies in this way."""
    rng, how = np.random.default_rng(8), request.param
    honest, each, sparse = Simplex.minimize, Simplex.minimize_each, SparseProgram.minimize

    def minimize(self, cost, start=None):
        found = honest(self, cost, start)
        return lie(found, how, rng, self.tableau[1] - self._n)

    def minimize_each(self, cost, dropped, starts):
        runs, n = each(self, cost, dropped, starts), self._n
        if "row" in how:
            runs.basis[:] = rng.integers(0, self.tableau[1], runs.basis.shape) + (10**6 if how == "rows beyond" else 0)
        runs.price[:] = {"NaN": np.nan, "infinite": np.inf, "none": 0.0}.get(how, rng.normal(size=(len(starts), n)))
        runs.outcome[:] = 1 if "infeasible" in how else 0
        return runs

    def minimize_sparse(self, cost):
        found = sparse(self, cost)
        rows = np.arange(len(found.weights))
        spoilt = lie(Optimum(found.outcome, found.point, rows, found.weights), how, rng, len(rows))
        return found._replace(outcome=spoilt.outcome, point=spoilt.point, weights=spoilt.weights)

    monkeypatch.setattr(Simplex, "minimize", minimize)
    monkeypatch.setattr(Simplex, "minimize_each", minimize_each)
    monkeypatch.setattr(SparseProgram, "minimize", minimize_sparse)
    return how


def lied_about():
    rng = np.random.default_rng(9)
    unknowns = Unknowns(["a", "b"], prior=Box([-4, -4], [4, 4]))
    W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, -1.0], [2.0, 1.0]])
    y, e = W @ [1.0, 2.0], np.full(5, 0.5)
    outlier = y + np.array([0, 0, 6.0, 0, 0])
    D = rng.integers(0, 3, W.shape) / 16
    problems = [LinearProblem(W, y + e, unknowns, Bounded(e)), LinearProblem(W, outlier, unknowns, Bounded(e))]
    return [
        *problems,
        LinearProblem(W, y, unknowns, Bounded(e, D)),
        LinearProblem(W[:2], y[:2], unknowns, Bounded(e[:2])),
    ]


PROBLEMS = lied_about()
SOLVING = [
    name
    for name in TOOLS
    if any(word in name for word in ("Hull", "Tight", "radius", "stream", "_", "sweep", "pred", "out"))
]


def test_lies_of_a_linear_program_make_nothing_false(liar):
    for name in SOLVING:
        for problem in PROBLEMS:
            judged(TOOLS[name], problem)


def leg():
    p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
    return np.tile([1.0, 0, 0, 0], (8, 1)), p, np.linalg.norm(p, axis=1) - 0.2


def test_lies_of_a_linear_program_make_nothing_false_about_legs(liar):
    quaternions, p, readings = leg()
    data = LegMeasurements(quaternions, p, readings, 1e-5, 0.0, 1e-5)
    wide = Box([-0.1, -0.1, -0.1, 0, 0, 0, 0.1], [0.1, 0.1, 0.1, 0, 0, 0, 0.3])
    near = Box([-2e-3] * 3 + [0] * 3 + [0.198], [2e-3] * 3 + [0] * 3 + [0.202])
    truth = [0, 0, 0, 0, 0, 0, 0.2]
    assert truth in estimate(LegProblem(data, wide), LiftedHull(max_steps=1), strict=False).region
    assert truth in IntervalNewton().contract(LegProblem(data, near), near)
    both = PlatformMeasurements(quaternions, p, np.column_stack([readings, readings]), 1e-5, 0.0, 1e-5)
    prior = Box(np.tile(near.lower, 2), np.tile(near.upper, 2))
    joint = estimate(
        joint_legs(both, prior, (1, 2)), JointHull(max_steps=1, chains=LiftedHull(max_steps=1)), strict=False
    )
    assert truth * 2 in joint.region


def test_the_oracle_knows_a_square():
    square = LinearProblem(np.eye(2), [0.0, 0.0], Unknowns(["a", "b"], prior=Box([-9, -9], [9, 9])), Bounded(1.0))
    assert vertices(square) == {(x, y) for x in (-1, 1) for y in (-1, 1)}
    assert relaxed_vertices(square, 1) >= {(9, 1), (-1, -9)}
    assert not is_consistent(square, [Fraction(1), Fraction(1) + Fraction(1, 10**30)])
    assert len(inequalities(square, (1, 1))[0]) == 4


def test_every_method_that_finds_sets_is_judged():
    assert {type(m).__name__ for m in SET_METHODS} <= {name.partition("(")[0] for name in TOOLS}
    assert Fixpoint().__class__.__name__ in {name.partition("(")[0] for name in TOOLS}
