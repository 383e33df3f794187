"""Rows of a leg hold for every consistent leg, exactly; bad data are refused."""

from fractions import Fraction

import numpy as np
import pytest

from gough import Box
from gough.checker.leg_equations import LegMeasurements
from gough.closure.certified_leg import LegProblem, certified_leg
from gough.core.errors import InputError
from gough.core.rotations import exp, to_quaternion
from gough.data.poses import Poses
from gough.methods.nonlinear.lifted_program import envelopes, product_box

INSIDE = 1 - 1e-9
"""Simulated errors stay this far inside their tolerances: room for the rounding of the simulation itself."""


def hostile_leg(rng, size, n=30):
    """A leg whose errors sit at the corners of their tolerances, which may be large."""
    a, b = rng.normal(size=(2, 3))
    p = rng.normal(size=(n, 3))
    R = exp(rng.normal(size=(n, 3)))
    tp, tw, tl = size * rng.random(3), min(size, 1.0) * rng.random(3), size * rng.random()
    corner = rng.choice([-1.0, 1.0], size=(n, 7)) * np.where(rng.random((n, 7)) < 0.8, INSIDE, rng.random((n, 7)))
    seen = np.einsum("nij,j->ni", exp(corner[:, :3] * tw) @ R, b) + p + corner[:, 3:6] * tp - a
    length = np.linalg.norm(seen, axis=1)
    l0 = rng.choice([0.3, length.min(), 3.0])
    reading = length - corner[:, 6] * tl - l0
    return LegMeasurements(to_quaternion(R), p, reading, tp, tw, tl), np.array([*a, *b, l0])


def lifted(products, h):
    return [*h, *(h[i] * h[j] for i, j in products)]


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.1, 1.0])
def test_rows_hold_for_consistent_legs_in_exact_arithmetic(rng, size):
    for _ in range(6):
        data, truth = hostile_leg(rng, size)
        radius = 10.0 ** rng.uniform(-4, 1) * rng.random(7)
        center = truth + rng.uniform(-1, 1, 7) * radius
        radius = np.maximum(radius, abs(truth - center) * (1 + 1e-15))
        problem = LegProblem(data, Box.around(center, radius))
        h = [Fraction(t) - Fraction(c) for t, c in zip(truth, center, strict=True)]
        y = lifted(problem.products, h)
        side = product_box(problem.products, radius)
        assert all(Fraction(low) <= v <= Fraction(high) for low, v, high in zip(side.lower, y, side.upper, strict=True))
        for A, b in (problem.relaxation(center, radius), envelopes(problem.products, radius)):
            for row, bound in zip(A.tolist(), b.tolist(), strict=True):
                assert sum(Fraction(x) * v for x, v in zip(row, y, strict=True)) <= Fraction(bound)


def test_rows_exclude_legs_that_are_off_by_more_than_tolerances(rng):
    data, truth = hostile_leg(rng, 1e-5)
    problem = LegProblem(data, Box.around(truth, 1e-3))
    wrong = truth.copy()
    wrong[6] += 1e-3
    A, b = problem.relaxation(wrong, np.full(7, 1e-9))
    assert (b[:30] < 0).all() or (b[30:] < 0).all()
    assert A.shape == (60, 23)


def test_rotation_is_enclosed_and_exact(rng):
    data, truth = hostile_leg(rng, 1e-5, n=5)
    R = LegProblem(data, Box.around(truth, 1.0)).rotation
    for q, lower, upper in zip(data.quaternion, R.lower, R.upper, strict=True):
        w, x, y, z = map(Fraction, q)
        exact = 2 * (x * y - w * z) / (w * w + x * x + y * y + z * z)
        assert Fraction(lower[0, 1]) <= exact <= Fraction(upper[0, 1])
        assert upper[0, 1] - lower[0, 1] < 1e-15


def test_from_poses(rng):
    poses = Poses(rng.normal(size=(4, 3)), exp(rng.normal(size=(4, 3))), rng.normal(size=(4, 6)))
    tolerances = {"position_tolerance": 1e-4, "rotation_tolerance": [1e-4, 2e-4, 3e-4], "reading_tolerance": 1e-5}
    problem = certified_leg(poses, 3, Box.around(np.zeros(7), 1.0), **tolerances)
    assert problem.n_rows == 4
    assert problem.unknowns.names[-1] == "l3"
    np.testing.assert_allclose(problem.rotation.mid, poses.rotation, atol=1e-14)
    with pytest.raises(InputError, match="no leg 7"):
        certified_leg(poses, 7, Box.around(np.zeros(7), 1.0), **tolerances)
    with pytest.raises(InputError, match="7 unknowns"):
        certified_leg(poses, 1, Box.around(np.zeros(6), 1.0), **tolerances)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"quaternion": np.zeros((2, 4))}, "zeros"),
        ({"quaternion": [[1.0, 0, 0, 0], [0, 1e-160, 0, 0]]}, "quaternion of pose 1 .* 1e-160, which .*: give unit"),
        ({"quaternion": [[1.0, 0, 0, -1e200], [0, 1, 0, 0]]}, "quaternion of pose 0 .* 1e\\+200, which .*: give unit"),
        ({"position": np.full((2, 3), np.nan)}, "position of pose 0 is NaN"),
        ({"reading_tolerance": -1.0}, "must not be negative"),
        ({"position": np.zeros((3, 3))}, "shape"),
    ],
)
def test_bad_measurements_are_refused(change, words):
    good = {
        "quaternion": np.tile([1.0, 0, 0, 0], (2, 1)),
        "position": np.zeros((2, 3)),
        "reading": np.zeros(2),
        "position_tolerance": 0.1,
        "rotation_tolerance": 0.1,
        "reading_tolerance": 0.1,
    }
    with pytest.raises(InputError, match=words):
        LegMeasurements(**(good | change))


def test_widening_never_rounds_down(rng):
    data, _ = hostile_leg(rng, 1e-3)
    for by in rng.random(20) * 1e-3:
        wider = data.widened(float(by)).reading_tolerance
        assert all(
            Fraction(new) >= Fraction(old) + Fraction(by)
            for new, old in zip(wider, data.reading_tolerance, strict=True)
        )
