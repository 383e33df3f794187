"""Images against the calibration: each case is found with its cause, clean images pass."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.rotations import exp
from gough.vision import Camera, ImageRefused, Sighting, calibrate_camera, design_target
from gough.vision.camera import expected
from gough.vision.image_tests import check_images
from gough.vision.pose import pose_of

FACING = np.diag([1.0, -1.0, -1.0])
TRUTH = Camera((1024, 768), [672.0, 671.0], [515.0, 380.0], [-0.12, 0.03, 1e-3, -5e-4])
TARGET = design_target(0.2, 0.2)


def sighting(rng, truth=TRUTH, change=None, moving=0.0):
    pixels = expected(
        truth, TARGET, exp(rng.normal(0, 0.3, 3)) @ FACING, rng.uniform([-0.05, -0.04, 0.32], [0.05, 0.04, 0.5])
    )
    if moving:
        toward = exp([0, 0, rng.uniform(0, 2 * np.pi)])[:2, :2] @ [moving, 0.0]
        pixels = pixels + ((pixels[:, 1:] - 384) / 768) * toward
    pixels = pixels if change is None else change(pixels)
    return Sighting(np.arange(45), pixels + rng.normal(0, 0.012, pixels.shape), np.full(45, 0.01))


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(11)
    return calibrate_camera([sighting(rng) for _ in range(12)], TARGET, TRUTH.size, lens="tangential")


def checked(found, rng, count, camera=None, **case):
    camera, measured, refused = camera or found.camera, [], []
    for _ in range(count):
        seen = sighting(rng, **case)
        try:
            measured.append(pose_of(seen, found.target, camera))
        except ImageRefused:
            refused.append(seen)
    return check_images(measured, found.target, camera, refused)


def test_clean_images_pass(found, rng):
    check = checked(found, rng, 40)
    assert not check.contradiction
    assert check.rejected == ()
    assert {test.name for test in check.together} == {"focal", "center", "distortion", "motion"}
    assert 0.8 < np.median([image.noise for image in check.images]) < 1.2
    assert "of the focal length by" in str(check)


CASES = {
    "focal length is changed by": {"truth": replace(TRUTH, focal=1.005 * TRUTH.focal)},
    "turned by 180°": {"change": lambda pixels: np.array([1023.0, 767.0]) - pixels},
    "center is shifted by +30.": {"change": lambda pixels: pixels + np.array([30.0, 0.0])},
    "rolling shutter": {"moving": 3.0},
}


@pytest.mark.parametrize("cause", CASES)
def test_wrong_images_are_found_and_the_cause_is_named(found, rng, cause):
    check = checked(found, rng, 6, **CASES[cause])
    assert cause in check.contradiction
    assert check.rejected == ()
    assert str(check).startswith("The images contradict the calibration of the camera")


def test_a_camera_file_without_distortion_is_found(found, rng):
    check = checked(found, rng, 6, camera=replace(found.camera, distortion=np.zeros(5)))
    assert "distortion is another one (k1 = -0.1" in check.contradiction


def test_one_wrong_image_among_good_ones_is_rejected_by_itself(found, rng):
    good = [pose_of(sighting(rng), found.target, found.camera) for _ in range(7)]
    moved = pose_of(sighting(rng, moving=3.0), found.target, found.camera)
    check = check_images([*good, moved], found.target, found.camera)
    assert check.rejected == (7,)
    assert "rolling shutter" in check.images[7].cause
    assert not check.contradiction


def test_noise_is_compared_with_that_of_the_calibration(found, rng):
    seen = sighting(rng)
    noisy = Sighting(seen.which, seen.pixels + rng.normal(0, 0.04, (45, 2)), seen.sigma)
    check = check_images(
        [pose_of(s, found.target, found.camera) for s in (*(sighting(rng) for _ in range(3)), noisy)],
        found.target,
        found.camera,
    )
    assert check.rejected == (3,)
    assert "times farther from their predicted places" in check.images[3].cause
    unknown = replace(found.camera, noise=None)
    again = check_images([pose_of(noisy, found.target, unknown)], found.target, unknown)
    assert again.rejected == ()
    assert "states no noise" in str(again)


def test_a_wrong_calibration_of_known_uncertainty_is_not_accused(found, rng):
    """An error within the camera's stated covariance is no contradiction: the test knows it."""
    loose = replace(found.camera, covariance=np.diag([4.0, 4.0, 9.0, 9.0, *[1e-4] * 4, 0.0]))
    check = checked(found, rng, 6, camera=loose, truth=replace(TRUTH, focal=1.002 * TRUTH.focal))
    assert not check.contradiction
    assert next(t for t in check.together if t.name == "focal").detectable > 0.005


def test_images_of_frontal_targets_do_not_show_the_focal_length(found, rng):
    poses = []
    for _ in range(2):
        pixels = expected(TRUTH, TARGET, exp([0, 0, rng.normal()]) @ FACING, np.array([0.0, 0.0, 0.45]))
        seen = Sighting(np.arange(45), pixels + rng.normal(0, 0.012, pixels.shape), np.full(45, 0.01))
        poses.append(pose_of(seen, found.target, found.camera))
    limits = [
        next(t for t in c.together if t.name == "focal").detectable
        for c in (check_images(poses, found.target, found.camera), checked(found, rng, 2))
    ]
    assert limits[0] > 2 * limits[1]
