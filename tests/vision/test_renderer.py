"""Rendered images against integrals made otherwise: polygons with many corners, fine grids of rays, and OpenCV."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.vision import Camera, CircleGrid, Conditions, coverage, design_target, optics, render

cv2 = pytest.importorskip("cv2")
CAMERA = Camera((320, 240), [260.0, 255.0], [161.3, 118.4], [-0.2, 0.05, 1e-3, -5e-4, 0.01])
TARGET = design_target(0.2, 0.2)
FACING = np.diag([1.0, -1.0, -1.0])
POSE = exp([0.4, 0.3, 0.5]) @ FACING, np.array([0.01, -0.01, 0.36])


def polygon(points):
    """Area and centroid of a polygon (n, 2)."""
    middle = points.mean(axis=0)
    x, y = (points - middle).T
    cross = x * np.roll(y, -1) - np.roll(x, -1) * y
    area = cross.sum() / 2
    return abs(area), middle + [((v + np.roll(v, -1)) * cross).sum() / (6 * area) for v in (x, y)]


def outlines(camera, n=2000):
    turn = np.linspace(0, 2 * np.pi, n, endpoint=False)
    circle = TARGET.radius * np.column_stack([np.cos(turn), np.sin(turn), 0 * turn])
    return [camera.project(*POSE, point + circle) for point in TARGET.points]


def test_projection_is_opencvs():
    K = np.array([[260.0, 0, 161.3], [0, 255.0, 118.4], [0, 0, 1]])
    theirs = cv2.projectPoints(TARGET.points, cv2.Rodrigues(POSE[0])[0], POSE[1], K, CAMERA.distortion)[0][:, 0]
    ours = CAMERA.project(*POSE, TARGET.points)
    assert abs(ours - theirs).max() < 1e-10
    ahead = TARGET.points @ POSE[0].T + POSE[1]
    assert abs(CAMERA.rays(ours) - ahead[:, :2] / ahead[:, 2:]).max() < 1e-12


def test_slopes_are_those_of_differences():
    parameters, h = CAMERA.parameters, 1e-6
    pixels, by_pose, by_camera, by_point = optics.slopes(parameters, *POSE, TARGET.points)
    assert np.array_equal(pixels, CAMERA.project(*POSE, TARGET.points))
    for k in range(6):
        step = np.eye(6)[k] * h
        ends = [
            optics.project(parameters, exp(s * step[3:]) @ POSE[0], POSE[1] + s * step[:3], TARGET.points)
            for s in (1, -1)
        ]
        assert abs((ends[0] - ends[1]) / (2 * h) - by_pose[:, :, k]).max() < 2e-5
    for k in range(9):
        step = np.eye(9)[k] * h
        ends = [optics.project(parameters + s * step, *POSE, TARGET.points) for s in (1, -1)]
        assert abs((ends[0] - ends[1]) / (2 * h) - by_camera[:, :, k]).max() < 1e-6
    for k in range(3):
        step = np.eye(3)[k] * h
        ends = [optics.project(parameters, *POSE, TARGET.points + s * step) for s in (1, -1)]
        assert abs((ends[0] - ends[1]) / (2 * h) - by_point[:, :, k]).max() < 2e-5


def test_centroids_of_discs_are_those_of_polygons():
    images = optics.discs(CAMERA.parameters, *POSE, TARGET.points, TARGET.radius)
    for image, outline in zip(images, outlines(CAMERA), strict=True):
        area, centroid = polygon(outline)
        assert abs(image[:2] - centroid).max() < 1e-6
        assert image[2] == pytest.approx(area, rel=1e-5)
    shift = images[:, :2] - CAMERA.project(*POSE, TARGET.points)
    assert 0.003 < np.linalg.norm(shift, axis=1).max() < 0.1  # what is corrected later is not nothing


def covered(point, blur):
    image = optics.discs(CAMERA.parameters, *POSE, point[None], TARGET.radius)
    canvas = np.zeros((240, 320))
    cells, weights = coverage.blur_weights(blur)
    nothing = np.empty((0, 4))
    pose = CAMERA.parameters, *POSE, point[None], TARGET.radius
    even = np.array([0.0, 0.0, 0.0, 320.0, 240.0])
    coverage.cover(canvas, *pose, image, cells, weights, nothing, even)
    return canvas, image[0]


@pytest.mark.parametrize("blur", [0.5, 0.7, 1.5])
def test_pixels_hold_the_exact_centroid(blur):
    """Each dot's image on the grid of pixels has the centroid of its outline to 0.0005 px, and its area."""
    for point, outline in zip(TARGET.points, outlines(CAMERA), strict=True):
        canvas, _ = covered(point, blur)
        area, centroid = polygon(outline)
        v, u = np.indices(canvas.shape)
        assert canvas.sum() == pytest.approx(area, rel=3e-4)
        assert abs((canvas * u).sum() / canvas.sum() - centroid[0]) < 5e-4
        assert abs((canvas * v).sum() / canvas.sum() - centroid[1]) < 5e-4


def test_a_pixel_is_covered_as_a_fine_grid_says():
    point = TARGET.points[20]
    canvas, image = covered(point, 0.0)
    u0, v0 = image[:2].astype(int) - 6
    fine = (np.arange(12 * 40) + 0.5) / 40 - 0.5
    u, v = np.meshgrid(u0 + fine, v0 + fine)
    rays = CAMERA.rays(np.column_stack([u.ravel(), v.ravel()]))
    H = np.column_stack([POSE[0][:, :2], POSE[1]])
    on_sheet = np.linalg.solve(H, np.column_stack([rays, np.ones(len(rays))]).T)
    inside = np.hypot(on_sheet[0] / on_sheet[2] - point[0], on_sheet[1] / on_sheet[2] - point[1]) < TARGET.radius
    exact = inside.reshape(12, 40, 12, 40).mean(axis=(1, 3))
    assert abs(canvas[v0 : v0 + 12, u0 : u0 + 12] - exact).max() < 4e-3  # a grid of 40 × 40 is no better


def test_blur_and_uneven_light_do_what_they_say():
    flat = render(CAMERA, TARGET, *POSE, Conditions(blur=0.0)).image.astype(float)
    soft = render(CAMERA, TARGET, *POSE, Conditions(blur=1.5)).image.astype(float)
    assert soft.sum() == pytest.approx(flat.sum(), rel=2e-3)
    assert abs(np.diff(soft, axis=1)).max() < 0.6 * abs(np.diff(flat, axis=1)).max()
    dim = render(CAMERA, TARGET, *POSE, Conditions(black=100.0, vignetting=0.4, gradient=(0.2, 0.0))).image
    assert dim[0, 0] == pytest.approx(100 * 0.6 * 0.9, abs=2)
    assert dim[-1, -1] == pytest.approx(100 * 0.6 * 1.1, abs=2)


def test_disturbances_are_drawn():
    made = Conditions(
        around=80.0, occluders=((160.0, 120.0, 30.0, 20.0, 10.0),), other_dots=((20.0, 200.0, 5.0, 220.0),)
    )
    image = render(CAMERA, TARGET, *POSE, made).image
    assert (image[0, 0], image[120, 160], image[200, 20]) == (80, 10, 220)


def test_the_same_generator_gives_the_same_noise():
    first, again = (render(CAMERA, TARGET, *POSE, rng=np.random.default_rng(3)).image for _ in range(2))
    clean = render(CAMERA, TARGET, *POSE).image
    assert np.array_equal(first, again)
    assert (first.astype(float) - clean).std() == pytest.approx(2.0, rel=0.03)


def test_grids_and_dark_dots():
    grid = CircleGrid(4, 5, 0.03, 0.008)
    image = render(CAMERA, grid, *POSE).image
    assert image[0, 0] == 200
    assert image.min() == 25


def test_a_target_behind_the_camera_is_refused():
    with pytest.raises(InputError, match="z must be positive"):
        render(CAMERA, TARGET, POSE[0], [0.0, 0.0, -0.3])
