"""Boxes, ellipsoids and beliefs: geometry, outward rounding, refusals."""

from fractions import Fraction
from math import inf, log, pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gough import Box, ConfidenceEllipsoid, Ellipsoid, InputError, Intersection

finite = st.floats(allow_nan=False, allow_infinity=False)


def test_box_set_operations():
    a, b = Box([0, 0], [2, 2]), Box([1, -1], [3, 1])
    assert a & b == Box([1, 0], [2, 1])
    assert a | b == Box([0, -1], [3, 2])
    assert a & b <= a
    assert not a <= b
    assert (a & Box([5, 0], [6, 1])).is_empty
    assert Box.empty(2) <= a
    assert a | Box.empty(2) == a


@given(st.lists(st.tuples(finite, finite, finite), min_size=1, max_size=4))
def test_moving_a_box_loses_no_point(triples):
    lower, upper = np.array([sorted(t[:2]) for t in triples]).T
    shift = np.array([t[2] for t in triples])
    with np.errstate(over="ignore"):
        moved = Box(lower, upper) + shift
    for a, b, s, low, high in zip(lower, upper, shift, moved.lower, moved.upper, strict=True):
        assert low == -inf or Fraction(low) <= Fraction(a) + Fraction(s)
        assert high == inf or Fraction(high) >= Fraction(b) + Fraction(s)


@given(st.lists(st.tuples(finite, st.floats(0, 1e300)), min_size=1, max_size=4))
def test_box_around_holds_center_and_radius_exactly(pairs):
    center, radius = np.array(pairs).T
    with np.errstate(over="ignore"):
        box = Box.around(center, radius)
    for c, r, low, high in zip(center, radius, box.lower, box.upper, strict=True):
        assert low == -inf or Fraction(low) <= Fraction(c) - Fraction(r)
        assert high == inf or Fraction(high) >= Fraction(c) + Fraction(r)


@given(st.lists(st.tuples(finite, finite), min_size=1, max_size=4))
def test_center_lies_in_its_box(pairs):
    lower, upper = np.sort(np.array(pairs), axis=1).T
    box = Box(lower, upper)
    assert box.center in box


def test_center_of_unbounded_boxes():
    box = Box([-inf, -inf, 2], [inf, 3, inf])
    assert box.center.tolist() == [0, 3, 2]
    assert not box.is_bounded


@pytest.mark.parametrize(
    ("lower", "upper", "why"),
    [
        ([1], [0], "upside down on axis"),
        ([0, 1], [1], "as many"),
        ([np.nan], [1], "NaN"),
        ([inf], [inf], "upside down"),
        ([[0]], [[1]], "dimension"),
        (["a"], [1], "real numbers"),
    ],
)
def test_bad_boxes_are_refused(lower, upper, why):
    with pytest.raises(InputError, match=why):
        Box(lower, upper)


def test_values_are_frozen_and_own_their_arrays():
    lower = np.zeros(2)
    box = Box(lower, [1, 1])
    lower[0] = 9
    assert box.lower[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        box.lower[0] = 5


def random_shape(rng, p):
    A = rng.normal(size=(p, p)) * 10.0 ** rng.uniform(-4, 4, p)[:, None]
    return A @ A.T


def test_ellipsoid_hull_touches_and_holds_its_points(rng):
    ellipsoid = Ellipsoid(rng.normal(size=4), random_shape(rng, 4))
    hull = ellipsoid.hull()
    directions = rng.normal(size=(1000, 4))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    points = ellipsoid.center + directions @ np.linalg.cholesky(ellipsoid.shape).T * (1 - 1e-12)
    assert all(point in hull for point in points)
    assert all(point in ellipsoid for point in points[:50])
    assert np.allclose(hull.width / 2, np.sqrt(ellipsoid.shape.diagonal()), rtol=1e-12)


def test_ellipsoid_volume_and_projection():
    ellipsoid = Ellipsoid([0, 0, 0], np.diag([4.0, 9.0, 25.0]))
    assert ellipsoid.log_volume() == pytest.approx(log(4 / 3 * pi * 2 * 3 * 5))
    assert ellipsoid.project([2, 0]) == Ellipsoid([0, 0], np.diag([25.0, 4.0]))
    outline = ellipsoid.outline((0, 1))
    assert np.allclose((outline**2 / [4, 9]).sum(axis=1), 1)
    assert np.allclose(outline[0], outline[-1])


def test_flat_ellipsoid():
    flat = Ellipsoid([1, 1], [[1, 1], [1, 1]])
    assert flat.log_volume() == -inf
    assert [1.5, 1.5] in flat
    assert [1.5, 1.4] not in flat


@pytest.mark.parametrize(
    ("shape", "why"),
    [
        ([[1, 2], [2, 1]], "semidefinite"),
        ([[1, 0], [0.5, 1]], "symmetric"),
        ([[-1, 0], [0, 1]], "negative"),
        ([[1]], "2 × 2"),
    ],
)
def test_bad_shapes_are_refused(shape, why):
    with pytest.raises(InputError, match=why):
        Ellipsoid([0, 0], shape)


@pytest.mark.parametrize("dof", [5.0, inf])
def test_confidence_region_holds_its_level(rng, dof):
    p, n = 3, 20000
    root = np.linalg.cholesky(random_shape(rng, p))
    scale = np.ones(n) if dof == inf else np.sqrt(rng.chisquare(dof, n) / dof)
    errors = rng.normal(size=(n, p)) @ root.T / scale[:, None]
    belief = ConfidenceEllipsoid(np.zeros(p), root @ root.T, level=0.9, dof=dof)
    ellipsoid, interval = belief.ellipsoid, belief.interval()
    inverse = np.linalg.inv(ellipsoid.shape)
    joint = (np.einsum("ni,ij,nj->n", errors, inverse, errors) <= 1).mean()
    single = (abs(errors) <= interval.upper).mean(axis=0)
    assert joint == pytest.approx(0.9, abs=0.01)
    assert single == pytest.approx(0.9, abs=0.01)


def test_belief_refuses_nonsense():
    with pytest.raises(InputError, match="level"):
        ConfidenceEllipsoid([0], [[1]], level=95)
    with pytest.raises(InputError, match="dof"):
        ConfidenceEllipsoid([0], [[1]], dof=0)


def test_wrong_number_of_entries_is_named():
    with pytest.raises(InputError, match="2 entries"):
        assert [1, 2] in Box([0], [1])
    with pytest.raises(InputError, match="2 entries"):
        assert [1, 2] in Ellipsoid([0], [[1]])


def random_intersection(rng, p):
    A = rng.normal(size=(p, p))
    center = rng.normal(size=p)
    side = rng.normal(size=(2, p)) + center
    box = Box(side.min(axis=0) - 0.5, side.max(axis=0) + 0.5)
    return Intersection(box, Ellipsoid(center, A @ A.T + 0.01 * np.eye(p)))


def test_an_intersection_is_what_is_in_both(rng):
    inside = 0
    for _ in range(50):
        p = int(rng.integers(1, 5))
        both = random_intersection(rng, p)
        hull = both.hull()
        assert hull <= both.box
        assert hull <= both.ellipsoid.hull()
        for point in both.center + rng.normal(size=(40, p)):
            assert (point in both) == (point in both.box and point in both.ellipsoid)
            if point in both:
                inside += 1
                assert point in hull
                assert all(point[[j]] in both.project([j]) for j in range(p))
        assert both.center in both.box
        assert both.log_volume() <= min(both.box.log_volume(), both.ellipsoid.log_volume())
    assert inside > 100


def test_the_outline_of_an_intersection_is_inside_both(rng):
    for _ in range(50):
        both = random_intersection(rng, 3)
        shadow = both.project([0, 2])
        outline = both.outline((0, 2))
        if len(outline) > 1:
            assert (outline[0] == outline[-1]).all()
        for point in outline:
            assert shadow.ellipsoid.distance(point) <= 1 + 1e-9
            assert (point >= shadow.box.lower - 1e-9).all()
            assert (point <= shadow.box.upper + 1e-9).all()


def test_intersections_that_are_cut_whole_or_not_at_all():
    disc = Ellipsoid([0, 0], np.eye(2))
    around = Intersection(Box([-9, -9], [9, 9]), disc)
    assert around.hull() <= disc.hull()
    np.testing.assert_allclose(abs(around.outline((0, 1))).max(axis=0), 1, atol=1e-3)
    beside = Intersection(Box([2, 2], [3, 3]), disc)
    assert beside.hull().is_empty
    assert beside.center.tolist() == [2, 2]
    assert len(beside.outline((0, 1))) == 0
    assert np.isnan(Intersection(Box.empty(2), disc).center).all()
    with pytest.raises(InputError, match="no intersection"):
        Intersection(Box([0], [1]), disc)


def test_a_flat_ellipsoid_has_a_flat_hull():
    hull = Ellipsoid([0.1, 2.0], [[0, 0], [0, 4]]).hull()
    assert hull.lower[0] == hull.upper[0] == 0.1
