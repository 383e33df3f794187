"""Bounding ellipsoids: nothing is lost at zero tolerance, both forms agree, batch beats recursion, streams resume."""

import copy
import json
import subprocess
import sys

import numpy as np
import pytest
from flint import fmpq, fmpq_mat

from gough import (
    AssumptionError,
    Bounded,
    Box,
    Claim,
    Ellipsoid,
    Gaussian,
    InputError,
    LinearProblem,
    Status,
    Unknowns,
    estimate,
)
from gough.methods import BoundingEllipsoid, EllipsoidStream, Form, ellipsoid_of_strips, predict
from gough.methods.ellipsoids.batch import DETERMINANT, TRACE
from tests.laws.test_contractors import is_consistent

PROVING = [
    BoundingEllipsoid(),
    BoundingEllipsoid(criterion=TRACE, rounds=4),
    BoundingEllipsoid(criterion=0.3, rounds=2),
    BoundingEllipsoid(cut=False, form=Form.STANDARD),
    BoundingEllipsoid(cut=False, rounds=0, passes=2),
    BoundingEllipsoid(passes=3, rounds=1),
]


def rational(value):
    return fmpq(*float(value).as_integer_ratio())


def holds(ellipsoid, theta):
    """(θ − c)ᵀ P⁻¹ (θ − c) ≤ 1 in rational arithmetic."""
    p = len(theta)
    P = fmpq_mat(p, p, [rational(v) for v in ellipsoid.shape.ravel()])
    x = fmpq_mat(p, 1, [rational(t) - rational(c) for t, c in zip(theta, ellipsoid.center, strict=True)])
    return (x.transpose() * P.solve(x))[0, 0] <= 1


def named(p, prior=None, nominal=None):
    return Unknowns([f"p_{i}" for i in range(p)], prior=prior, nominal=nominal)


def hostile_problem(rng):
    """Zero rows, duplicates, parallel rows, scales from 1e-60 to 1e60, bounds down to 1e-14 of the terms."""
    p, n = int(rng.integers(1, 6)), int(rng.choice([1, 2, 5, 20, 60]))
    spread = rng.choice([0, 3, 20, 60])
    W = (
        rng.normal(size=(n, p))
        * (rng.random((n, p)) < rng.choice([0.5, 1.0]))
        * 10.0 ** rng.uniform(-spread, spread, p)
    )
    if rng.random() < 0.2:
        W[rng.integers(n)] = 0
    if rng.random() < 0.3:
        W[: n // 2] = W[:1] * rng.choice([1.0, -2.0, 0.5], (n // 2, 1))
    theta = rng.normal(size=p) / np.maximum(abs(W).max(axis=0), 10.0**-spread)
    scale = 10.0 ** rng.uniform(-1, 1, n) ** rng.choice([1, 30])
    W *= scale[:, None]
    e = rng.uniform(0.001, 1, n) * 10.0 ** rng.uniform(-rng.choice([0, 2, 8, 14]), 0, n) * scale
    y = W @ theta + 0.999 * e * rng.uniform(-1, 1, n)
    reach = abs(theta) * 10 ** rng.uniform(0, rng.choice([1, 3, 8]), p)
    prior = Box(theta - reach * rng.random(p), theta + reach * rng.random(p))
    return LinearProblem(W, y, named(p, prior), Bounded(e)), theta


def robot_like(rng, n=2000, p=14, outliers=0):
    """Columns of very different scale, a prior ten times as wide as the parameters, uniform errors."""
    t = np.linspace(0, 20, n)[:, None]
    phase, rate = rng.uniform(0, 6, p), rng.uniform(0.3, 3, p)
    W = (np.sin(rate * t + phase) + 0.05 * rng.normal(size=(n, p))) * 10.0 ** rng.uniform(-3, 3, p)
    theta = rng.uniform(0.5, 3, p) / abs(W).max(axis=0)
    y = W @ theta + rng.uniform(-0.05, 0.05, n)
    y[rng.choice(n, outliers, replace=False)] += 5.0
    prior = Box(theta - 10 * abs(theta), theta + 12 * abs(theta))
    return LinearProblem(W, y, named(p, prior), Bounded(0.05)), theta


def reference(problem):
    """[PRV03e, eq. (30)] with its δ corrected, the determinant optimum by its quadratic; plain NumPy, no scaling."""
    prior, p = problem.unknowns.bounds, len(problem.unknowns)
    c, M, log_dets, updates = prior.center, np.diag(1 / (p * (prior.width / 2) ** 2)), [], 0
    h = np.broadcast_to(problem.noise.radius, problem.y.shape)
    for d, y in zip(problem.W / h[:, None], problem.y / h, strict=True):
        g, e = d @ np.linalg.solve(M, d), y - d @ c
        log_dets.append(-np.linalg.slogdet(M)[1])
        if p * (1 - e**2) >= g:
            continue
        rho = max(np.roots([(p - 1) * g**2, g * (2 * p - 1 - g + e**2), p * (1 - e**2) - g]).real)
        alpha, updates = 1 / (1 + rho), updates + 1
        N = alpha * M + (1 - alpha) * np.outer(d, d)
        new = np.linalg.solve(N, alpha * M @ c + (1 - alpha) * d * y)
        delta = alpha * (1 - alpha) * e**2 / (alpha + (1 - alpha) * g)
        c, M = new, N / (1 - delta)
    return Ellipsoid(c, np.linalg.inv(M)), np.array(log_dets), updates


def relative_difference(a, b):
    width = np.sqrt(a.shape.diagonal())
    shape = abs((a.shape - b.shape) / np.outer(width, width)).max()
    return max(shape, abs((a.center - b.center) / width).max())


@pytest.mark.parametrize("method", PROVING, ids=repr)
def test_no_truth_is_ever_lost(method, rng):
    tried = proved = 0
    for _ in range(50):  # a million trials are in benchmarks/containment.py
        problem, theta = hostile_problem(rng)
        if not is_consistent(problem, theta):
            continue
        answer = estimate(problem, method, strict=False)
        assert answer.status is Status.OK
        tried += 1
        if answer.claim is Claim.PROOF:
            proved += 1
            assert holds(answer.region, theta)
            assert theta in answer.region.hull()
    assert tried > 30
    assert proved >= 0.99 * tried


def test_truth_on_the_very_edge_is_kept(rng):
    """Every error equals its bound exactly, with W square or taller: one ulp inward would lose θ."""
    for _ in range(60):  # a million trials are in benchmarks/containment.py
        p = int(rng.integers(1, 4))
        W = rng.integers(-9, 10, (int(rng.integers(1, 7)), p)).astype(float)
        theta = rng.integers(-(2**20), 2**20, p) / 2.0 ** rng.integers(0, 20)
        e = rng.integers(1, 2**20, len(W)) / 2.0**17
        y = W @ theta + rng.choice([-1, 1], len(W)) * e
        side = rng.choice([0.0, 1.0], p)  # θ on the prior's corner too
        problem = LinearProblem(W, y, named(p, Box(theta - 1024 * side, theta + 1024 * (1 - side))), Bounded(e))
        assert is_consistent(problem, theta)
        answer = estimate(problem, BoundingEllipsoid())
        assert answer.claim is Claim.PROOF
        assert holds(answer.region, theta)


def test_equations_are_strips_of_no_width():
    problem = LinearProblem(np.eye(2), [0.1, 0.2], named(2, Box([-1, -1], [1, 1])), Bounded(0.0))
    answer = estimate(problem, BoundingEllipsoid())
    assert answer.claim is Claim.PROOF
    assert holds(answer.region, [0.1, 0.2])
    assert (answer.region.hull().width < 1e-6).all()


def test_one_unknown_is_an_intersection_of_intervals(rng):
    for form in Form:
        lower, upper = rng.uniform(-3, -1, 9), rng.uniform(1, 3, 9)
        problem = LinearProblem(
            np.ones((9, 1)), (lower + upper) / 2, named(1, Box([-100], [100])), Bounded((upper - lower) / 2)
        )
        for method in (BoundingEllipsoid(form=form), BoundingEllipsoid(form=form, passes=5, rounds=0)):
            hull = estimate(problem, method).region.hull()
            assert hull.lower == pytest.approx(max(lower), rel=1e-6)
            assert hull.upper == pytest.approx(min(upper), rel=1e-6)


def test_an_uncertain_regressor_keeps_every_regressor(rng):
    for _ in range(60):
        problem, theta = robot_like(rng, n=40, p=3)
        D = rng.uniform(0, 0.01, problem.W.shape) * abs(problem.W)
        inside = problem.W + 0.99 * D * rng.uniform(-1, 1, D.shape)
        if is_consistent(LinearProblem(inside, problem.y, problem.unknowns, problem.noise), theta):
            uncertain = LinearProblem(problem.W, problem.y, problem.unknowns, Bounded(problem.noise.radius, D))
            assert holds(estimate(uncertain, BoundingEllipsoid()).region, theta)


def test_fixed_unknowns_stay_where_they_were_put(rng):
    problem, theta = robot_like(rng, n=200, p=4)
    lower, upper = problem.unknowns.bounds.lower.copy(), problem.unknowns.bounds.upper.copy()
    lower[1] = upper[1] = theta[1]
    answer = estimate(
        LinearProblem(problem.W, problem.y, named(4, Box(lower, upper)), problem.noise), BoundingEllipsoid()
    )
    assert answer.value[1] == theta[1]
    assert not answer.region.shape[1].any()
    assert holds(answer.region.project([0, 2, 3]), theta[[0, 2, 3]])
    all_fixed = LinearProblem(problem.W, problem.y, named(4, Box(theta, theta)), problem.noise)
    assert (estimate(all_fixed, BoundingEllipsoid()).value == theta).all()


@pytest.mark.parametrize("criterion", [DETERMINANT, 0.5, TRACE])
@pytest.mark.parametrize("cut", [False, True])
def test_both_forms_agree(criterion, cut, rng):
    problem, _ = robot_like(rng)
    options = {"criterion": criterion, "cut": cut, "rounds": 0, "passes": 2}
    a, b = (estimate(problem, BoundingEllipsoid(form=form, **options)) for form in Form)
    assert relative_difference(a.region, b.region) < 1e-10


@pytest.mark.parametrize("form", Form)
def test_agrees_with_plain_numpy(form, rng):
    problem, _ = robot_like(rng, n=400, p=6)
    expected, log_dets, updates = reference(problem)
    answer = estimate(problem, BoundingEllipsoid(form=form, cut=False, rounds=0))
    assert relative_difference(expected, answer.region) < 1e-10
    stream = EllipsoidStream(problem.unknowns, cut=False)
    stream.update_many(problem.W, problem.y, 0.05)
    assert stream.n_updates == updates > 20
    assert (np.diff(log_dets) <= 1e-9).all()


@pytest.mark.parametrize("cut", [False, True])
def test_volume_never_grows(cut, rng):
    problem, _ = robot_like(rng, n=300, p=5)
    stream = EllipsoidStream(problem.unknowns, cut=cut)
    last = stream.estimate().region.log_volume()
    for d, y in zip(problem.W, problem.y, strict=True):
        shrank = stream.update(d, y, 0.05)
        volume = stream.estimate().region.log_volume()
        assert volume <= last + 1e-9
        assert shrank or volume == last
        last = volume


def test_the_trace_criterion_has_the_smaller_trace(rng):
    problem, _ = robot_like(rng, n=500, p=6)
    width = problem.unknowns.bounds.width
    traces = [
        (
            estimate(problem, BoundingEllipsoid(criterion=w, rounds=1, cut=False)).region.shape.diagonal() / width**2
        ).sum()
        for w in (DETERMINANT, TRACE)
    ]
    volumes = [
        estimate(problem, BoundingEllipsoid(criterion=w, rounds=1, cut=False)).region.log_volume()
        for w in (DETERMINANT, TRACE)
    ]
    assert traces[1] < traces[0]
    assert volumes[0] < volumes[1]


def test_more_work_makes_it_smaller(rng):
    problem, theta = robot_like(rng)
    methods = [
        BoundingEllipsoid(rounds=0, cut=False),
        BoundingEllipsoid(rounds=0, passes=10, cut=False),
        BoundingEllipsoid(rounds=1, cut=False),
        BoundingEllipsoid(),
    ]
    answers = [estimate(problem, m) for m in methods]
    volumes = [a.region.log_volume() for a in answers]
    assert volumes == sorted(volumes, reverse=True)
    assert all(a.claim is Claim.PROOF and holds(a.region, theta) for a in answers)
    cut_only = estimate(problem, BoundingEllipsoid(rounds=0, passes=10))
    assert cut_only.claim is Claim.ENCLOSURE
    assert cut_only.region.log_volume() < volumes[1]


def test_the_proof_inflates_by_next_to_nothing(rng):
    """The proved ellipsoid against the recursion's own, from the same multipliers."""
    problem, _ = robot_like(rng, n=5000)
    method = BoundingEllipsoid(rounds=0, cut=False)
    proved = estimate(problem, method).region
    stream = EllipsoidStream(problem.unknowns, cut=False)
    stream.update_many(problem.W, problem.y, 0.05)
    plain = stream.estimate().region
    inflation = np.sqrt(proved.shape.diagonal() / plain.shape.diagonal()) - 1
    assert abs(inflation).max() < 1e-9


def test_a_zero_row_is_consistent_or_not():
    unknowns = named(2, Box([-1, -1], [1, 1]))
    for y, status in ((0.5, Status.OK), (0.6, Status.INCONSISTENT)):
        answer = estimate(
            LinearProblem(np.zeros((1, 2)), [y], unknowns, Bounded(0.5)), BoundingEllipsoid(), strict=False
        )
        assert answer.status is status
        assert answer.claim is Claim.PROOF


@pytest.mark.parametrize("form", Form)
def test_contradictions_are_proved(form, rng):
    """A gross error in a determined problem, and strips that meet pairwise but not all three."""
    for _ in range(20):
        problem, _ = robot_like(rng, n=200, p=4, outliers=1)
        answer = estimate(problem, BoundingEllipsoid(form=form), strict=False)
        assert (answer.status, answer.claim) == (Status.INCONSISTENT, Claim.PROOF)
        assert answer.region.is_empty
    W = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    problem = LinearProblem(W, [1.0, 1.0, -2.0], named(2, Box([-9, -9], [9, 9])), Bounded(0.5))
    answer = estimate(problem, BoundingEllipsoid(form=form), strict=False)
    assert (answer.status, answer.claim) == (Status.INCONSISTENT, Claim.PROOF)


def test_a_gross_outlier_cannot_collapse_it(rng):
    problem, _ = robot_like(rng, n=1000, p=5, outliers=3)
    clean, _ = robot_like(rng, n=1000, p=5)
    answer = estimate(problem, BoundingEllipsoid(misses=5), strict=False)
    if answer.status is Status.OK:
        assert answer.claim is Claim.VALUE
        assert "left out" in answer.notes[0]
        assert answer.region.log_volume() > -np.inf
    else:
        assert answer.region.is_empty
    refused = estimate(problem, BoundingEllipsoid(misses=1), strict=False)
    assert refused.status is Status.INCONSISTENT
    allowed = estimate(clean, BoundingEllipsoid(misses=5))
    assert allowed.claim is Claim.PROOF
    assert "No row missed" in allowed.notes[0]


def test_late_outliers_are_left_out_and_the_claim_is_lowered(rng):
    problem, theta = robot_like(rng, n=1000, p=4)
    y = problem.y.copy()
    y[[900, 950]] += 10.0
    answer = estimate(LinearProblem(problem.W, y, problem.unknowns, problem.noise), BoundingEllipsoid(misses=2))
    assert answer.claim is Claim.VALUE
    assert "900, 950" in answer.notes[0]
    assert holds(answer.region, theta)


@pytest.mark.parametrize("rounds", [0, 2])
def test_rows_that_miss_leave_no_trace(rounds, rng):
    """The answer is that of the problem without them, even if they were used before they missed."""
    left_out = 0
    for _ in range(60):
        problem, _ = robot_like(rng, n=60, p=3)
        wrong = LinearProblem(problem.W, problem.y, problem.unknowns, Bounded(0.046))
        method = BoundingEllipsoid(misses=9, passes=4, rounds=rounds)
        answer = estimate(wrong, method, strict=False)
        if answer.status is Status.OK and answer.claim is Claim.VALUE:
            left_out += 1
            missed = [int(k) for k in answer.notes[0].split("left out: ")[1].split(".")[0].split(", ")]
            rest = np.delete(np.arange(60), missed)
            clean = estimate(wrong.select(rest), method)
            assert "No row missed" in clean.notes[0]
            assert relative_difference(clean.region, answer.region) < 1e-9
    assert left_out > 5


def test_the_start_must_be_bounded():
    unknowns = Unknowns(["mass", "fv", "fc"], prior=Box([0, 0, 0], [1, np.inf, 1]))
    problem = LinearProblem(np.eye(3), [0.5, 2.0, 0.5], unknowns, Bounded(0.1))
    with pytest.raises(AssumptionError, match=r"fv.*prior"):
        estimate(problem, BoundingEllipsoid())
    assert holds(estimate(problem, BoundingEllipsoid(radius=100.0)).region, [0.5, 2.0, 0.5])
    far = Unknowns(["a"], prior=Box([5], [np.inf]))
    with pytest.raises(InputError, match="beyond the radius"):
        estimate(LinearProblem([[1.0]], [6.0], far, Bounded(1.0)), BoundingEllipsoid(radius=1.0))


def test_bad_input_is_refused():
    problem = LinearProblem(np.eye(2), [0.0, 0.0], named(2, Box([-1, -1], [1, 1])), Gaussian(1.0))
    with pytest.raises(AssumptionError, match="Bounded"):
        estimate(problem, BoundingEllipsoid())
    for wrong in ({"criterion": 2.0}, {"passes": 0}, {"rounds": -1}, {"misses": -1}, {"rtol": 0.0}, {"form": "square"}):
        with pytest.raises(InputError):
            BoundingEllipsoid(**wrong)
    tiny = LinearProblem([[1e200]], [1.0], named(1, Box([-1e-199], [1e-199])), Bounded(1.0))
    with pytest.raises(InputError, match="units"):
        estimate(tiny, BoundingEllipsoid())


def test_ellipsoid_of_strips(rng):
    for _ in range(50):
        p = int(rng.integers(1, 6))
        D = rng.normal(size=(int(rng.integers(p, 80)), p)) * 10.0 ** rng.uniform(-5, 5, p)
        theta = rng.normal(size=p) / abs(D).max(axis=0)
        middle = D @ theta
        lower, upper = middle - rng.uniform(0.01, 1, len(D)), middle + rng.uniform(0.01, 1, len(D))
        upper[p:][rng.random(len(D) - p) < 0.1] = np.inf
        once, multipliers = ellipsoid_of_strips(D, lower, upper)
        often, _ = ellipsoid_of_strips(D, lower, upper, rounds=10)
        assert holds(once, theta)
        assert holds(often, theta)
        assert multipliers.min() >= 0
        assert multipliers.sum() == pytest.approx(1)
        assert often.log_volume() <= once.log_volume() + 1e-6
    with pytest.raises(InputError, match="open"):
        ellipsoid_of_strips([[1.0, 1.0], [2.0, 2.0]], [-1, -1], [1, 1])
    with pytest.raises(InputError, match="contradict"):
        ellipsoid_of_strips([[1.0], [1.0]], [0, 5], [1, 6])
    with pytest.raises(InputError, match="at least as many"):
        ellipsoid_of_strips([[1.0, 1.0]], [0], [1])


def test_batch_multipliers_are_optimal(rng):
    """John's condition: no strip, and no strip in use, promises a smaller determinant."""
    D = rng.normal(size=(300, 4))
    region, multipliers = ellipsoid_of_strips(D, D @ np.ones(4) - 1, D @ np.ones(4) + 1, rtol=1e-6)
    e = D @ (np.ones(4) - region.center)
    slope = 4 * (1 - e**2) - np.einsum("ij,jk,ik->i", D, region.shape, D)
    assert slope.min() > -1e-4
    assert abs(slope[multipliers > 1e-6]).max() < 1e-3


def test_predicted_bounds_hold_every_point(rng):
    A = rng.normal(size=(4, 4))
    region = Ellipsoid(rng.normal(size=4), A @ A.T)
    D = rng.normal(size=(50, 4)) * 10.0 ** rng.uniform(-3, 3, 4)
    torque = predict(region, D)
    for _ in range(200):
        u = rng.normal(size=4)
        theta = region.center + 0.999999 * A @ (u / np.linalg.norm(u))
        assert D @ theta in torque
    for d, low, high in zip(D, torque.lower, torque.upper, strict=True):
        x = region.shape @ d
        attained = d @ (region.center + x / np.sqrt(d @ x))
        assert low < attained == pytest.approx(high, rel=1e-9)
        exact = [rational(v) for v in d]
        square = sum(a * b * rational(region.shape[i, j]) for i, a in enumerate(exact) for j, b in enumerate(exact))
        middle = sum(a * rational(c) for a, c in zip(exact, region.center, strict=True))
        assert (rational(high) - middle) ** 2 >= square
        assert (middle - rational(low)) ** 2 >= square
    with pytest.raises(InputError, match="columns"):
        predict(region, np.ones((2, 3)))


def test_a_stream_is_the_recursion(rng):
    problem, _ = robot_like(rng, n=500, p=6)
    one, many = EllipsoidStream(problem.unknowns), EllipsoidStream(problem.unknowns)
    for d, y in zip(problem.W, problem.y, strict=True):
        one.update(d, y, 0.05)
    assert many.update_many(problem.W, problem.y, 0.05) == many.n_updates
    a, b = one.estimate(), many.estimate()
    assert a == b
    assert a.claim is Claim.ENCLOSURE
    assert (one.n_rows, one.n_updates + one.n_skipped) == (500, 500)
    batch = estimate(problem, BoundingEllipsoid(rounds=0))
    assert relative_difference(batch.region, a.region) < 1e-10


def test_rows_of_any_layout_and_copies_of_a_stream_have_the_same_bits(rng):
    problem, _ = robot_like(rng, n=60, p=5)
    streams = [EllipsoidStream(problem.unknowns) for _ in range(4)]
    layouts = (np.ascontiguousarray(problem.W), np.asfortranarray(problem.W), problem.W[:, ::-1].copy()[:, ::-1])
    for k, y in enumerate(problem.y):
        for stream, W in zip(streams, layouts, strict=False):
            stream.update(W[k], y, 0.05)
        streams[3].update(problem.W[k].tolist(), float(y), np.float64(0.05))
        streams[3] = copy.deepcopy(streams[3]) if k % 20 == 0 else streams[3]
    assert streams[0].n_updates > 5
    assert all(stream.estimate() == streams[0].estimate() for stream in streams[1:])


def test_a_stream_resumes_bit_for_bit(rng, tmp_path):
    problem, _ = robot_like(rng, n=400, p=5)
    stream = EllipsoidStream(problem.unknowns, criterion=0.5, misses=3)
    stream.update_many(problem.W[:200], problem.y[:200], 0.05)
    stream.update(problem.W[0], problem.y[0] + 100, 0.05)
    stream.save(tmp_path / "a.json")
    resumed = EllipsoidStream.load(tmp_path / "a.json")
    assert resumed.estimate() == stream.estimate()
    for s in (stream, resumed):
        s.update_many(problem.W[200:], problem.y[200:], 0.05)
    assert resumed.estimate() == stream.estimate()
    assert (resumed.n_rows, resumed.n_updates, resumed.n_missed) == (stream.n_rows, stream.n_updates, 1)
    assert resumed.estimate().claim is Claim.VALUE
    stream.save(tmp_path / "a.json", overwrite=True)
    with pytest.raises(InputError, match="exists"):
        stream.save(tmp_path / "a.json")


def test_damaged_streams_are_refused(rng, tmp_path):
    path = tmp_path / "stream.json"
    EllipsoidStream(named(2, Box([0, 0], [1, 1]))).save(path)
    text = path.read_text()
    document = json.loads(text)
    document["state"]["counts"]["n_missed"] = 7
    for damaged in (text[: len(text) // 2], text.replace("0.0", "0.5", 1), json.dumps(document), "[]", "{}", "\x00"):
        path.write_text(damaged)
        with pytest.raises(InputError):
            EllipsoidStream.load(path)
    with pytest.raises(InputError, match="cannot be read"):
        EllipsoidStream.load(tmp_path / "nothing.json")


def test_a_stream_stops_before_it_collapses():
    stream = EllipsoidStream(named(1, Box([-1], [1])), misses=1)
    assert stream.update([1.0], 0.0, 0.1)
    assert not stream.update([1.0], 5.0, 0.1)
    assert stream.estimate().status is Status.OK
    assert not stream.update([1.0], 5.0, 0.1)
    answer = stream.estimate()
    assert (answer.status, answer.claim) == (Status.INCONSISTENT, Claim.VALUE)  # seen in floating point, not proven
    assert not stream.update([1.0], 0.0, 0.01)
    assert (stream.n_rows, stream.n_updates, stream.n_missed) == (4, 1, 2)


@pytest.mark.parametrize("exponent", [-1010, -660, -515, -490, 0, 490, 515, 660, 1000])
def test_the_estimate_of_a_stream_has_no_scale(exponent, rng):
    """Unknowns times a power of two: the same box times that power, though squares of its sides may be no doubles."""
    p, unit = 3, float(np.ldexp(1.0, exponent))
    D, theta = rng.normal(size=(200, p)), rng.uniform(-0.5, 0.5, p)
    y = D @ theta + 0.01 * rng.uniform(-1, 1, 200)
    plain = EllipsoidStream(Unknowns(["a", "b", "c"], prior=Box([-1.0] * p, [1.0] * p)))
    scaled = EllipsoidStream(Unknowns(["a", "b", "c"], prior=Box([-unit] * p, [unit] * p)))
    plain.update_many(D, y, 0.01)
    scaled.update_many(D, unit * y, 0.01 * unit)
    answer = scaled.estimate()
    box, expected = answer.region.hull(), plain.estimate().region.hull()
    assert answer.claim is Claim.ENCLOSURE
    assert (box.width > 0).all()
    assert unit * theta in answer.region
    assert np.ldexp(box.lower, -exponent) == pytest.approx(expected.lower, rel=1e-9)
    assert np.ldexp(box.upper, -exponent) == pytest.approx(expected.upper, rel=1e-9)


def test_streams_refuse_bad_rows():
    stream = EllipsoidStream(named(2, Box([0, 0], [1, 1])))
    for d, y, e in (
        ([1.0], 0, 1),
        ([np.nan, 1.0], 0, 1),
        ([1.0, 1.0], np.inf, 1),
        ([1.0, 1.0], 0, -1),
        ([1.0, 1.0], 0, np.nan),
    ):
        with pytest.raises(InputError):
            stream.update(d, y, e)
        with pytest.raises(InputError):
            stream.update_many([d], [y], [e])
    assert stream.n_rows == 0
    with pytest.raises(InputError, match="fixed"):
        EllipsoidStream(named(2, Box([0, 1], [1, 1])))
    with pytest.raises(AssumptionError, match="p_0, p_1"):
        EllipsoidStream(named(2))


def test_numba_is_imported_where_it_is_used():
    code = "import sys, gough, gough.methods; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
