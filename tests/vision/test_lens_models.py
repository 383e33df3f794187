"""Lenses: projections and slopes against OpenCV and differences, the choice by held-out images, and its verdict."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.vision import Camera, CircleGrid, Sighting, calibrate_camera, optics
from gough.vision.adjustment import adjust
from gough.vision.camera import expected
from gough.vision.lens_models import LENSES, LensFinding, compare, fit_lenses, lens_named

FACING = np.diag([1.0, -1.0, -1.0])
GRID = CircleGrid(8, 6, 0.03, 0.006)
SIZE, NOISE = (1024, 768), 0.012


def camera(*distortion, lens="brown"):
    return Camera(SIZE, [672.0, 671.0], [515.0, 380.0], distortion, lens=lens)


LENS = {
    "brown": camera(-0.2, 0.05, 1e-3, -2e-3, 0.03),
    "rational": camera(0.1, 0.05, 1e-3, -2e-3, 0.03, 0.3, 0.1, 0.02),
    "prism": camera(0.1, 0.05, 1e-3, -2e-3, 0.03, 0.3, 0.1, 0.02, 1e-3, 2e-3, -1e-3, 3e-3),
    "fisheye": camera(0.05, -0.01, 0.02, -0.003, lens="fisheye"),
}
K3 = camera(-0.30, 0.15, 1e-3, -5e-4, -0.06)


@pytest.mark.parametrize("name", LENS)
def test_opencv_projects_to_the_same_pixels(name, rng):
    cv2 = pytest.importorskip("cv2")
    lens = LENS[name]
    R, t = exp([0.3, -0.2, 0.4]), np.array([0.02, 0.01, 0.4])
    points = rng.uniform(-0.15, 0.15, (30, 3)) * [1, 1, 0.2]
    K = np.array([[672.0, 0, 515], [0, 671, 380], [0, 0, 1]])
    turn = cv2.Rodrigues(R)[0]
    if lens.lens == "fisheye":
        theirs = cv2.fisheye.projectPoints(points.reshape(-1, 1, 3), turn, t, K, lens.distortion)[0]
    else:
        theirs = cv2.projectPoints(points, turn, t, K, lens.distortion)[0]
    pixels = lens.project(R, t, points)
    assert abs(pixels - theirs.reshape(-1, 2)).max() < 1e-11
    before = points @ R.T + t
    assert abs(lens.rays(pixels) - before[:, :2] / before[:, 2:]).max() < 1e-14


@pytest.mark.parametrize("name", LENS)
def test_slopes_are_those_of_differences(name, rng):
    p = LENS[name].parameters
    R, t = exp([0.3, -0.2, 0.4]), np.array([0.02, 0.01, 0.4])
    points = np.vstack([rng.uniform(-0.15, 0.15, (20, 3)), -R.T @ t + R.T @ [0.0, 0.0, 0.3]])  # the last on the axis
    _, by_pose, by_camera, _ = optics.slopes(p, R, t, points)
    h = 1e-6
    for k, e in enumerate(np.eye(len(p)) * h):
        slope = (optics.project(p + e, R, t, points) - optics.project(p - e, R, t, points)) / (2 * h)
        assert slope == pytest.approx(by_camera[:, :, k], abs=1e-5)
    for k, e in enumerate(np.eye(3) * h):
        slope = (optics.project(p, R, t + e, points) - optics.project(p, R, t - e, points)) / (2 * h)
        assert slope == pytest.approx(by_pose[:, :, k], abs=1e-4)


def test_a_fisheye_sees_nothing_behind_its_side():
    rays = LENS["fisheye"].rays([[515.0, 380.0], [515.0 + 672.0 * 3, 380.0]])
    assert rays[0] == pytest.approx([0, 0])
    assert np.isnan(rays[1]).all()


def sightings(rng, truth, n=12):
    seen = []
    while len(seen) < n:
        R, t = exp(rng.normal(0, 0.35, 3)) @ FACING, rng.uniform([-0.06, -0.04, 0.25], [0.06, 0.04, 0.4])
        pixels = expected(truth, GRID, R, t)
        which = np.flatnonzero(((pixels > 8) & (pixels < np.array(SIZE) - 9)).all(axis=1))
        if len(which) > 30:
            noisy = pixels[which] + rng.normal(0, NOISE, (len(which), 2))
            seen.append(Sighting(which, noisy, np.full(len(which), 0.01)))
    return seen


@pytest.fixture(scope="module")
def third_order():
    return sightings(np.random.default_rng(5), K3)


def test_a_lens_of_third_order_is_recognized(third_order):
    found = calibrate_camera(third_order, GRID, SIZE)
    assert found.choice.used is LENSES["k3"]
    assert found.choice.finding is LensFinding.ADEQUATE
    assert abs((found.camera.parameters - K3.parameters) / found.camera.sigma).max() < 4


def test_a_lens_that_is_too_simple_is_called_inadequate(third_order):
    found = calibrate_camera(third_order, GRID, SIZE, lens="tangential")
    assert found.choice.finding is LensFinding.INADEQUATE
    assert "Use --lens k3" in str(found)
    assert found.choice.pattern < 1e-6
    z = (found.camera.parameters - K3.parameters)[:4] / found.camera.sigma[:4]
    assert abs(z).max() > 4, "which is what the verdict warns of"


@pytest.mark.parametrize(("name", "truth"), [("k1", camera(-0.12)), ("fisheye", camera(-0.02, 0.01, lens="fisheye"))])
def test_other_lenses_are_recognized(name, truth):
    found = calibrate_camera(sightings(np.random.default_rng(3), truth), GRID, SIZE)
    assert found.choice.used.name == name
    assert found.choice.finding is LensFinding.ADEQUATE
    assert abs((found.camera.parameters - truth.parameters) / np.maximum(found.camera.sigma, 1e-12))[:5].max() < 4


def test_a_lens_that_is_too_rich_is_larger_than_needed():
    found = calibrate_camera(sightings(np.random.default_rng(3), camera(-0.12)), GRID, SIZE, lens="prism")
    assert found.choice.finding is LensFinding.LARGER_THAN_NEEDED
    assert len(found.camera.names) == 16
    rows = found.choice.table().texts
    assert [row[0] for row in rows if "(used)" in row[0]] == ["prism (used)"]


def test_held_out_costs_are_those_of_fits_without_the_view(third_order):
    """Each view left out in turn and the camera fitted again: the sum agrees with that to second order."""
    whole = calibrate_camera(third_order, GRID, SIZE, lens="k3")
    fit = fit_lenses(whole.camera, GRID.points, GRID.radius, whole.views, None, start=GRID.points)["k3"]
    lens, again = LENSES["k3"], []
    for k in range(3):
        others = [view for j, view in enumerate(whole.views) if j != k]
        camera_without = _adjusted(whole.camera, others, lens.free)
        again.append(_adjusted(camera_without.camera, [whole.views[k]], np.zeros(9, bool)).cost)
    assert fit.held_out[:3] == pytest.approx(again, rel=1e-3)
    assert fit.held_out.sum() > fit.cost
    assert max(compare({"k3": fit}), key=lambda each: each.score).lens is lens


def _adjusted(start, views, free):
    return adjust(start, GRID.points, GRID.radius, views, free, None)


def test_lenses_by_name():
    with pytest.raises(InputError, match="did you mean 'fisheye'"):
        lens_named("fishey")
    with pytest.raises(InputError, match="not both"):
        calibrate_camera([], GRID, SIZE, lens="k1", estimated=["k1"])
    with pytest.raises(InputError, match="brown or fisheye"):
        Camera(SIZE, [1.0, 1.0], [0.0, 0.0], lens="pinhole")
    with pytest.raises(InputError, match="at most 4 numbers"):
        Camera(SIZE, [1.0, 1.0], [0.0, 0.0], [0.0] * 5, lens="fisheye")
