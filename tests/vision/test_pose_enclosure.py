"""Bounds of poses hold the truth, at zero tolerance: projections in balls of 200 bits, errors at the bound."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from gough.core.errors import InputError
from gough.core.intervals import Interval
from gough.core.rotations import enclosed_rotation, exp, from_quaternion, nearest_rotation, to_quaternion
from gough.vision import Camera, Chessboard, CircleGrid, bounded_pose, design_target
from gough.vision.camera import expected
from gough.vision.detector import Sighting
from gough.vision.pose import pose_of
from gough.vision.pose_enclosure import _Model, for_decimals

flint = pytest.importorskip("flint")
arb = flint.arb
TARGET = design_target(0.2, 0.2)
FACING = np.diag([1.0, -1.0, -1.0])


def exact_rotation(quaternion):
    """The rotation of a quaternion of doubles, of any length."""
    w, x, y, z = (arb(float(each)) for each in quaternion)
    n = w * w + x * x + y * y + z * z
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return [[entry / n for entry in row] for row in rows]


def exact_pixel(camera, R, t, X):
    """Pixel and stretch of a point of the target."""
    fx, fy, cx, cy, k1, k2, p1, p2, k3 = camera
    P = [sum((R[i][k] * X[k] for k in range(3)), t[i]) for i in range(3)]
    x, y = P[0] / P[2], P[1] / P[2]
    s = x * x + y * y
    radial, slope = 1 + s * (k1 + s * (k2 + s * k3)), k1 + s * (2 * k2 + 3 * s * k3)
    u = x * radial + 2 * p1 * x * y + p2 * (s + 2 * x * x)
    v = y * radial + p1 * (s + 2 * y * y) + 2 * p2 * x * y
    across = 2 * x * y * slope + 2 * p1 * x + 2 * p2 * y
    along, up = (
        radial + 2 * x * x * slope + 2 * p1 * y + 6 * p2 * x,
        radial + 2 * y * y * slope + 6 * p1 * y + 2 * p2 * x,
    )
    (a, b), (c, d) = (((R[i][0] - e * R[2][0]) / P[2], (R[i][1] - e * R[2][1]) / P[2]) for i, e in enumerate((x, y)))
    return fx * u + cx, fy * v + cy, (a * d - b * c) * (along * up - across * across)


def exact_centroids(camera, target, R, t, offset, every=3):  # noqa: PLR0917 - a pose before a camera
    """Expected centroids of every third dot, shifted by `offset`."""
    out = []
    for point in target.points[::every]:
        X, Y, Z = (arb(float(each)) + offset for each in point)
        if target.radius == 0:
            out.append(exact_pixel(camera, R, t, [X, Y, Z])[:2])
            continue
        sums = [arb(0)] * 3
        for a, sign in enumerate((-1, 1)):
            node = ((1 + sign / arb(3).sqrt()) / 2).sqrt() * arb(float(target.radius))
            for b in range(8):
                angle = arb.pi() * (2 * b + a) / 8
                u, v, w = exact_pixel(camera, R, t, [X + node * angle.cos(), Y + node * angle.sin(), Z])
                sums = [sums[0] + w * u, sums[1] + w * v, sums[2] + w]
        out.append((sums[0] / sums[2], sums[1] / sums[2]))
    return out


def at_bound(exact, bound, sign):
    """The double farthest from `exact` to one side that is certainly not beyond the bound."""
    value = float(exact + sign * arb(bound))
    while not abs(arb(value) - exact) <= arb(bound):
        value = float(np.nextafter(value, float(exact)))
    return value


def rotation_vector(R, about):
    """Of R aboutᵀ, which turns by less than a quarter turn."""
    D = [[sum((R[i][k] * about[j][k] for k in range(3)), arb(0)) for j in range(3)] for i in range(3)]
    v = [(D[2][1] - D[1][2]) / 2, (D[0][2] - D[2][0]) / 2, (D[1][0] - D[0][1]) / 2]
    sine = sum((each * each for each in v), arb(0)).sqrt()
    return [each * (sine.asin() / sine) for each in v]


@pytest.mark.parametrize("case", range(4))
def test_the_truth_is_inside_at_zero_tolerance(case, rng):
    """Errors at the bound that all push one axis of the pose to one side; camera and dots at their own bounds."""
    target = TARGET if case < 3 else CircleGrid(6, 5, 0.03, 1e-9, staggered=True)
    camera = Camera((640, 480), [560.0, 555.0], [321.0, 238.0], [-0.15, 0.04, 1e-3, -5e-4, 0.01])
    camera_error = np.array([0.02, 0.02, 0.02, 0.02, 1e-5, 1e-5, 1e-6, 1e-6, 0.0]) * (case == 2)
    point_error = 1e-6 * (case == 2)
    q = to_quaternion((exp(rng.normal(0, 0.3, 3)) @ FACING)[None])[0]
    t = rng.normal([0.0, 0.0, 0.42], 0.01)
    bound, axis = (0.05, 0.3, 0.02, 0.01)[case], (2, 3, 0, 2)[case]
    slope = expected(camera, target, *moved(q, t, axis, 1e-5)) - expected(camera, target, *moved(q, t, axis, -1e-5))
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        lens = [arb(float(p)) + arb(float(e)) for p, e in zip(camera.parameters, camera_error, strict=True)]
        R = exact_rotation(q)
        exact = exact_centroids(lens, target, R, [arb(float(x)) for x in t], arb(point_error))
        seen = np.array(
            [
                [at_bound(x, bound, int(s)) for x, s in zip(pair, signs, strict=True)]
                for pair, signs in zip(exact, np.where(slope < 0, -1, 1)[::3], strict=True)
            ]
        )
        which = np.arange(0, len(target.points), 3)
        pose = pose_of(Sighting(which, seen, np.full(len(which), 0.01)), target, camera)
        found = bounded_pose(pose, target, camera, bound, camera_error=camera_error, point_error=point_error)
        for k in range(3):
            assert abs(Fraction(float(t[k])) - Fraction(float(pose.position[k]))) <= Fraction(float(found.position[k]))
        about = exact_rotation(to_quaternion(nearest_rotation(pose.rotation[None]))[0])
        turn = rotation_vector(R, about)
        assert all(bool(abs(turn[k]) <= arb(float(found.rotation[k]))) for k in range(3))
    finally:
        flint.ctx.prec = before
    assert (abs(t - pose.position) <= found.searched_position).all()
    assert (found.position < found.searched_position).all()
    assert abs(t - pose.position)[axis % 3] > 0.05 * found.position[axis % 3] or axis > 2  # the errors were hostile


def moved(q, t, axis, by):
    step = by * np.eye(6)[axis]
    return exp(step[3:]) @ from_quaternion(q[None])[0], t + step[:3]


def test_a_pose_beyond_the_bound_shows_in_the_centroids():
    """Half-widths are not wide for nothing, nor too narrow to move a dot."""
    camera = Camera((640, 480), [560.0, 560.0], [321.0, 238.0], [-0.15, 0.04])
    R, t = exp([0.3, -0.2, 0.4]) @ FACING, np.array([0.01, 0.0, 0.4])
    exact = expected(camera, TARGET, R, t)
    pose = pose_of(Sighting(np.arange(45), exact, np.full(45, 0.01)), TARGET, camera)
    found = bounded_pose(pose, TARGET, camera, 0.05)
    for k in range(3):
        off = abs(expected(camera, TARGET, R, t + np.eye(3)[k] * found.position[k]) - exact).max()
        assert 0.05 / 8 < off


CORNERS = Chessboard(6, 5, 0.03)


def attained(camera, target, exact, R, t, axis, sign, bound):  # noqa: PLR0917 - a pose before a camera
    """A pose as far along an axis as the bound allows, by a linear program and a search along its answer."""
    about = np.array(
        [expected(camera, target, *turned(R, t, 1e-6 * side)) for side in np.vstack([np.eye(6), -np.eye(6)])]
    )
    J = ((about[:6] - about[6:]) / 2e-6).reshape(6, -1).T
    size = np.linalg.norm(J, axis=0)
    limits = np.full(2 * len(J), 1.0)
    best = linprog(-sign * np.eye(6)[axis], A_ub=np.vstack([J, -J]) / size, b_ub=limits, bounds=(None, None)).x / size
    low, high = 0.0, bound
    for _ in range(50):
        middle = (low + high) / 2
        inside = abs(expected(camera, target, *turned(R, t, middle * best)) - exact).max() <= bound - 1e-11
        low, high = (middle, high) if inside else (low, middle)
    return low * best


def turned(R, t, step):
    return exp(step[3:]) @ R, t + step[:3]


@pytest.mark.parametrize(("bound", "slack"), [(1e-4, 5e-4), (0.05, 4e-2)])
def test_half_widths_are_attained(bound, slack):
    """Balls of 200 bits confirm poses within the bound that are as far off as the half-width, but for `slack` of it.

    A half-width that is smaller by this part does not hold the truth. The slack is the term (I − B S) X of the
    iteration: of second order in the box, so that it shrinks in proportion to the bound; rounding is far below it.
    """
    camera = Camera((640, 480), [560.0, 555.0], [321.0, 238.0], [-0.15, 0.04, 1e-3, -5e-4, 0.01])
    q = to_quaternion((exp([0.3, -0.2, 0.4]) @ FACING)[None])[0]
    R, t = from_quaternion(q[None])[0], np.array([0.01, 0.0, 0.4])
    exact = expected(camera, CORNERS, R, t)
    pose = pose_of(Sighting(np.arange(len(exact)), exact, np.full(len(exact), 0.01)), CORNERS, camera)
    found = bounded_pose(pose, CORNERS, camera, bound)
    half, reached = np.concatenate([found.position, found.rotation]), np.zeros(6)
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        lens = [arb(float(p)) for p in camera.parameters]
        about = exact_rotation(to_quaternion(nearest_rotation(pose.rotation[None]))[0])
        for axis, sign in itertools.product(range(6), (-1, 1)):
            step = attained(camera, CORNERS, exact, R, t, axis, sign, bound)
            there = to_quaternion(turned(R, t, step)[0][None])[0]
            place = t + step[:3]
            seen = exact_centroids(
                lens, CORNERS, exact_rotation(there), [arb(float(x)) for x in place], arb(0), every=1
            )
            gaps = [
                abs(x - arb(float(p)))
                for pair, row in zip(seen, pose.pixels, strict=True)
                for x, p in zip(pair, row, strict=True)
            ]
            assert all(bool(gap <= arb(bound)) for gap in gaps), "the witness satisfies all assumptions"
            turn = rotation_vector(exact_rotation(there), about)
            off = [arb(float(a)) - arb(float(b)) for a, b in zip(place, pose.position, strict=True)] + turn
            assert all(bool(abs(off[k]) <= arb(float(half[k]))) for k in range(6)), "so it is inside"
            reached[axis] = max(reached[axis], float(abs(off[axis]).lower()))
    finally:
        flint.ctx.prec = before
    assert (reached > half * (1 - slack)).all(), "and outside of half-widths that are smaller"


def test_projections_are_enclosed_to_a_few_units_in_the_last_place():
    """The balls of 200 bits are inside the intervals of the first step; moved inwards by these units, some are not."""
    camera = Camera((640, 480), [560.0, 555.0], [321.0, 238.0], [-0.15, 0.04, 1e-3, -5e-4, 0.01])
    q = to_quaternion((exp([0.3, -0.2, 0.4]) @ FACING)[None])[0]
    t = np.array([0.01, 0.0, 0.4])
    base = enclosed_rotation(to_quaternion(nearest_rotation(from_quaternion(q[None]))))[0]
    q = to_quaternion(nearest_rotation(from_quaternion(q[None])))[0]
    model = _Model(base, Interval(t), Interval(camera.parameters), Interval(CORNERS.points), 0.0)
    pixels, _ = model.centroids(Interval(np.zeros(6)))
    before, flint.ctx.prec = flint.ctx.prec, 200
    try:
        lens = [arb(float(p)) for p in camera.parameters]
        exact = exact_centroids(lens, CORNERS, exact_rotation(q), [arb(float(x)) for x in t], arb(0), every=1)

        def all_inside(lower, upper):
            return all(
                bool(arb(float(a)) <= x) and bool(x <= arb(float(b)))
                for pair, lows, highs in zip(exact, lower, upper, strict=True)
                for x, a, b in zip(pair, lows, highs, strict=True)
            )

        ulp = np.spacing(pixels.mag)
        assert all_inside(pixels.lower, pixels.upper)
        assert (pixels.wid <= 64 * ulp).all()
        assert not all_inside(pixels.lower + 32 * ulp, pixels.upper)
        assert not all_inside(pixels.lower, pixels.upper - 32 * ulp)
    finally:
        flint.ctx.prec = before


def test_slopes_hold_those_of_every_pose_in_the_box(rng):
    camera = Camera((640, 480), [560.0, 555.0], [321.0, 238.0], [-0.15, 0.04, 1e-3, -5e-4, 0.01])
    R, t = exp([0.3, -0.2, 0.4]) @ FACING, np.array([0.01, 0.0, 0.4])
    base = enclosed_rotation(to_quaternion(R[None]))[0]
    model = _Model(base, Interval(t), Interval(camera.parameters), Interval(TARGET.points), TARGET.radius)
    reach = np.repeat([1e-3, 2e-3], 3)
    at_zero, slopes = model.centroids(Interval(-reach, reach))
    for _ in range(20):
        x = rng.uniform(-reach, reach)
        angle = 2 * np.arctan(np.linalg.norm(x[3:]))
        there = expected(camera, TARGET, exp(x[3:] / np.linalg.norm(x[3:]) * angle) @ R, t + x[:3])
        held = at_zero
        for k in range(6):
            held = held + slopes[..., k] * Interval(float(x[k]))
        assert (held.lower <= there + 1e-9).all()
        assert (there - 1e-9 <= held.upper).all()


def test_bounds_that_are_wrong_or_too_wide_are_refused(rng):
    camera = Camera((640, 480), [560.0, 560.0], [321.0, 238.0])
    exact = expected(camera, TARGET, exp([0.3, -0.2, 0.4]) @ FACING, np.array([0.01, 0.0, 0.4]))
    noisy = pose_of(
        Sighting(np.arange(45), exact + rng.normal(0, 0.05, exact.shape), np.full(45, 0.05)), TARGET, camera
    )
    with pytest.raises(InputError, match="bound of the centroids' errors is too small"):
        bounded_pose(noisy, TARGET, camera, 0.01)
    with pytest.raises(InputError, match="do not determine the pose"):
        bounded_pose(noisy, TARGET, camera, 20.0)
    with pytest.raises(InputError, match="must be positive"):
        bounded_pose(noisy, TARGET, camera, 0.0)
    with pytest.raises(InputError, match="9 numbers"):
        bounded_pose(noisy, TARGET, camera, 1.0, camera_error=[1.0])


def test_half_widths_hold_where_both_numbers_are_decimals(rng):
    """`gough check` takes the decimals of poses.csv as they are, and they are not the doubles of the proof."""
    middle, half = rng.normal(size=300) * 10.0 ** rng.integers(-9, 3, 300), 10.0 ** rng.uniform(-9, -2, 300)
    written = for_decimals(half, middle)
    for x, h, w in zip(middle.tolist(), half.tolist(), written.tolist(), strict=True):
        x_read, w_read = Fraction(repr(x)), Fraction(repr(w))
        assert x_read - w_read <= Fraction(x) - Fraction(h)
        assert Fraction(x) + Fraction(h) <= x_read + w_read
        assert w <= h * (1 + 1e-15) + 1e-15 * abs(x)
