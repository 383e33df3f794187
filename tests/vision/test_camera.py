"""Cameras from sightings: the truth within the stated deviations, and refusals."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.vision import (
    Camera,
    CircleGrid,
    Sighting,
    anchored,
    calibrate_camera,
    camera_text,
    design_target,
    read_camera,
)
from gough.vision.camera import expected

TRUTH = Camera((1024, 768), [672.0, 671.0], [515.0, 380.0], [-0.12, 0.03, 1e-3, -5e-4])
TARGET = design_target(0.2, 0.2)
FACING = np.diag([1.0, -1.0, -1.0])
NOISE = 0.012


def sightings(rng, target, n=12, tilt=0.35):
    seen = []
    for _ in range(n):
        R = exp(rng.normal(0, tilt, 3)) @ FACING
        t = rng.uniform([-0.06, -0.04, 0.3], [0.06, 0.04, 0.5])
        pixels = expected(TRUTH, target, R, t)
        seen.append(
            Sighting(np.arange(len(pixels)), pixels + rng.normal(0, NOISE, pixels.shape), np.full(len(pixels), 0.01))
        )
    return seen


@pytest.fixture(scope="module")
def printed():
    """A sheet whose dots are 0.1 mm beside their places, and that is not quite flat."""
    rng = np.random.default_rng(3)
    return replace(TARGET, points=TARGET.points + rng.normal(0, 1e-4, TARGET.points.shape) * [1, 1, 0.5])


@pytest.fixture(scope="module")
def found(printed):
    return calibrate_camera(sightings(np.random.default_rng(4), printed), TARGET, TRUTH.size)


def test_truth_lies_within_the_stated_deviations(found):
    z = (found.camera.parameters - TRUTH.parameters)[:8] / found.camera.sigma[:8]
    assert abs(z).max() < 3.5
    assert found.camera.sigma[0] < 0.1
    assert found.noise == pytest.approx(NOISE, rel=0.08)


def test_the_target_is_found_as_it_was_printed(found, printed):
    """Up to a similarity, which the images cannot tell: its size is the described one."""
    size = [np.linalg.norm(points - points.mean(axis=0)) for points in (found.target.points, TARGET.points)]
    assert size[0] == pytest.approx(size[1], rel=1e-5)  # a deformation adds the square of itself
    a, b = (points - points.mean(axis=0) for points in (found.target.points, printed.points))
    U, S, V = np.linalg.svd(a.T @ b)
    aligned = (S.sum() / (a**2).sum()) * a @ U @ V
    assert np.sqrt(((aligned - b) ** 2).mean()) < 2e-5


def test_a_rigid_target_leaves_larger_residuals(found, printed):
    rigid = calibrate_camera(sightings(np.random.default_rng(4), printed), TARGET, TRUTH.size, release=False)
    assert rigid.rms > 8 * found.rms
    assert rigid.released == 0


def test_the_slopes_of_the_adjustment_lead_to_the_minimum(found):
    """No small change of the camera makes the residuals smaller: its gradient vanishes, by differences."""

    def cost(parameters):
        camera = Camera(TRUTH.size, parameters[:2], parameters[2:4], parameters[4:])
        return sum(
            (((view.pixels - expected(camera, found.target, view.rotation, view.position)) / 0.01) ** 2).sum()
            for view in found.views
        )

    p = found.camera.parameters
    for k in range(4):
        h = np.eye(9)[k] * 0.05
        middle, ends = cost(p), (cost(p + h), cost(p - h))
        assert abs(ends[0] - ends[1]) < 0.02 * (sum(ends) - 2 * middle)


def test_one_bad_view_is_left_out(printed):
    seen = sightings(np.random.default_rng(5), printed)
    seen[3] = Sighting(seen[3].which, seen[3].pixels + np.random.default_rng(1).normal(0, 1, (45, 2)), seen[3].sigma)
    names = [f"{k}.png" for k in range(len(seen))]
    found = calibrate_camera(seen, TARGET, TRUTH.size, names=names)
    assert [name for name, _ in found.rejected] == ["3.png"]
    assert found.noise == pytest.approx(NOISE, rel=0.1)
    assert "3.png: left out" in str(found)


def test_too_few_or_too_similar_views_are_refused(rng):
    with pytest.raises(InputError, match="3 usable images"):
        calibrate_camera(sightings(rng, TARGET, n=3), TARGET, TRUTH.size)
    with pytest.raises(InputError, match="too much alike"):
        calibrate_camera(sightings(rng, TARGET, n=8, tilt=0.01), TARGET, TRUTH.size)
    with pytest.raises(InputError, match="did you mean 'k3'"):
        calibrate_camera(sightings(rng, TARGET), TARGET, TRUTH.size, estimated=["k33"])


def test_grids_calibrate_too(rng):
    grid = CircleGrid(7, 6, 0.03, 0.008)
    found = calibrate_camera(sightings(rng, grid), grid, TRUTH.size)
    assert abs((found.camera.parameters - TRUTH.parameters)[:4] / found.camera.sigma[:4]).max() < 4


def test_files_give_back_camera_and_target(found, tmp_path):
    path = tmp_path / "camera.toml"
    path.write_text(camera_text(found))
    camera, target = read_camera(path)
    assert camera == found.camera
    assert target == found.target


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("focal = [1.0, 1.0]\ncenter = [0.0, 0.0]", "states no size"),
        ("size = [640, 480]\nfocal = [1.0]\ncenter = [0.0, 0.0]", "focal of a camera must be two numbers"),
        ("size = [640, 480]\nfocals = [1.0]", "did you mean 'focal'"),
        ("size = [640, 480]\nfocal = [1.0, 1.0]\ncenter = [0.0, 0.0]\n[target]\nkind = 'dot'", "did you mean 'dots'"),
    ],
)
def test_files_that_are_no_cameras(text, message, tmp_path):
    path = tmp_path / "camera.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_camera(path)


def test_an_anchor_sets_the_size():
    stretched = anchored(TARGET, 0, 6, 1.002 * np.linalg.norm(TARGET.points[6] - TARGET.points[0]))
    assert stretched.points == pytest.approx(1.002 * TARGET.points)
    with pytest.raises(InputError, match="wrong dots, or unit"):
        anchored(TARGET, 0, 6, 254.0)
