"""The tight ellipsoid: proved, and within three times the hull at any number of rows."""

import numpy as np
import pytest

from gough import Bounded, Box, Claim, Ellipsoid, LinearProblem, Status, Unknowns, estimate
from gough.methods import BoundingEllipsoid, HullAndEllipsoid, LinearHull, TightEllipsoid
from gough.methods.bounded.constraint_generation import extremes
from gough.methods.bounded.exact_bound import Prover
from gough.methods.bounded.predictions import prediction_bounds, proven_row_ranges
from tests.methods.test_linear_hull import dense_problem


@pytest.mark.parametrize("n_rows", [300, 30_000])
def test_box_within_three_times_the_hull(n_rows, rng):
    problem, theta = dense_problem(rng, n_rows, 8, spread=3, prior=Box([-1e6] * 8, [1e6] * 8))
    answer = estimate(problem, TightEllipsoid())
    hull = estimate(problem, LinearHull()).region
    assert isinstance(answer.region, Ellipsoid)
    assert answer.claim is Claim.PROOF
    assert theta in answer.region
    assert hull <= answer.region.hull()
    assert (answer.region.hull().width < 3 * hull.width).all()
    other = estimate(problem, BoundingEllipsoid()).region
    assert answer.region.log_volume() < other.log_volume()


def test_every_vertex_of_the_set_is_inside(rng):
    """Vertices of a polygon in the plane, computed pair by pair of sides."""
    problem, _ = dense_problem(rng, 12, 2)
    region = estimate(problem, TightEllipsoid()).region
    sides = [(w, y + s * 0.1) for w, y in zip(problem.W, problem.y, strict=True) for s in (-1, 1)]
    vertices = 0
    for i, (a, x) in enumerate(sides):
        for b, z in sides[:i]:
            if abs(np.linalg.det([a, b])) < 1e-9:
                continue
            point = np.linalg.solve([a, b], [x, z])
            if (abs(problem.residuals(point)) <= 0.1 + 1e-12).all():
                vertices += 1
                assert region.distance(point) <= 1 + 1e-9
    assert vertices >= 3


def test_what_is_not_ok_for_the_hull_is_not_ok_here():
    wrong = LinearProblem([[1.0], [1.0]], [0.0, 3.0], Unknowns(["a"]), Bounded(1.0))
    assert estimate(wrong, TightEllipsoid(), strict=False).status is Status.INCONSISTENT
    unbounded = LinearProblem([[1.0, 0.0]], [0.0], Unknowns(["a", "b"]), Bounded(1.0))
    assert estimate(unbounded, TightEllipsoid(), strict=False).status is Status.UNBOUNDED


def test_fixed_unknowns(rng):
    problem, theta = dense_problem(rng, 100, 3)
    prior = Box(np.where([1, 0, 0], theta, -9.0), np.where([1, 0, 0], theta, 9.0))
    fixed = LinearProblem(problem.W, problem.y, Unknowns(problem.unknowns.names, prior=prior), problem.noise)
    region = estimate(fixed, TightEllipsoid()).region
    assert theta in region.hull()
    assert region.hull().width[0] < 1e-6


def test_exact_data_leave_a_point():
    """No error and no prior: the ellipsoid is a point, where its coordinates are doubles, and says so."""
    W = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    problem = LinearProblem(W, W @ [1.0, 2.0], Unknowns(["a", "b"]), Bounded(0.0))
    answer = estimate(problem, TightEllipsoid())
    assert answer.claim is Claim.PROOF
    assert answer.value.tolist() == [1.0, 2.0]
    assert not answer.region.shape.any()
    assert answer.region.hull() == Box([1, 2], [1, 2])
    assert [1.0, 2.0] in answer.region
    assert [1.0, 2.0000001] not in answer.region
    assert "a single point" in answer.notes[0]


def test_data_that_are_exact_but_for_rounding():
    W = np.array([[0.1, 0.0], [0.0, 0.1], [0.1, 0.1]])
    problem = LinearProblem(W, W @ [1.1, 2.3], Unknowns(["a", "b"]), Bounded([0.0, 0.0, 1e-3]))
    answer = estimate(problem, TightEllipsoid())
    assert answer.claim is Claim.PROOF
    assert (answer.region.hull().width < 1e-14).all()


def test_what_the_data_determine_exactly_is_flat(rng):
    """A parameter known exactly, another to ± 0.1."""
    W = np.column_stack([np.repeat([1.0, 0.0], 20), rng.normal(size=40) * np.repeat([0.0, 1.0], 20)])
    problem = LinearProblem(W, W @ [0.5, 1.0], Unknowns(["a", "b"]), Bounded(np.repeat([0.0, 0.1], 20)))
    region = estimate(problem, TightEllipsoid()).region
    assert not region.shape[0].any()
    assert region.center[0] == 0.5
    assert 0 < region.hull().width[1] < 0.3


def test_the_hull_and_the_ellipsoid_together(rng):
    problem, theta = dense_problem(rng, 300, 4, prior=Box([-99] * 4, [99] * 4))
    hull, tight = estimate(problem, LinearHull()).region, estimate(problem, TightEllipsoid()).region
    answer = estimate(problem, HullAndEllipsoid())
    assert answer.claim is Claim.PROOF
    assert theta in answer.region
    assert answer.region.box == hull
    assert answer.region.ellipsoid == tight
    assert answer.region.hull() <= hull
    assert hull.upper in hull
    assert hull.upper not in answer.region
    other = estimate(problem, HullAndEllipsoid(BoundingEllipsoid()))
    assert theta in other.region
    assert other.region.box == hull
    assert estimate(problem, HullAndEllipsoid(BoundingEllipsoid(rounds=0))).claim is Claim.ENCLOSURE


def test_rows_that_say_nothing_leave_the_ellipsoid_of_the_prior():
    problem = LinearProblem([[1.0, 0.0]], [0.0], Unknowns(["a", "b"], prior=Box([-1, -2], [1, 2])), Bounded(99.0))
    region = estimate(problem, TightEllipsoid()).region
    np.testing.assert_allclose(region.shape, np.diag([2.0, 8.0]), rtol=1e-9)


@pytest.mark.parametrize("points", ["none", "vertices", "wrong"])
def test_ranges_of_rows_are_those_of_predictions(points):
    """Also where points are given that are not consistent: ranges may be wider then, and hold all the same."""
    rng = np.random.default_rng(4)
    W = rng.normal(size=(300, 4)) * [1.0, 1e-3, 1e4, 1.0]
    theta = rng.normal(size=4) / [1.0, 1e-3, 1e4, 1.0]
    e = rng.uniform(0.5, 1.5, 300)
    problem = LinearProblem(W, W @ theta + e * rng.uniform(-1, 1, 300), Unknowns(list("abcd")), Bounded(e))
    hull = estimate(problem, LinearHull()).region.hull()
    rows = np.arange(0, 300, 7)
    known = np.zeros((0, 4))
    if points == "vertices":
        axes = np.vstack([np.eye(4), -np.eye(4)])
        known = np.array([vertex.theta for vertex in extremes(problem, hull, axes, 1e-9).vertices])
    if points == "wrong":
        known = theta + 1e6 * np.array([[1.0, 0, 0, 0], [-1.0, 0, 0, 0]])
    expected = prediction_bounds(problem, W[rows])
    found = proven_row_ranges(problem, hull, rows, known, 1e-9)
    lower, upper = np.array([value for value, _ in found]).reshape(2, -1) * [[1.0], [-1.0]]
    room = 1e-7 * expected.width
    assert (lower <= expected.lower + room).all()
    assert (upper >= expected.upper - room).all()
    if points != "wrong":
        assert (lower >= expected.lower - room).all()
        assert (upper <= expected.upper + room).all()
        assert any(len(used.rows) == 1 for _, used in found)  # a row's own bound, and nothing else
    prover, directions = Prover(problem), np.vstack([W[rows], -W[rows]])
    for d, (value, used) in zip(directions, found, strict=True):
        again, _ = prover.floor(hull, d, np.array(used.rows), np.array(list(map(float, used.weights))))
        assert value == again
        assert value <= d @ theta
