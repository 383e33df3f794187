"""Light that is not even: shifts of all dots together are removed, and the rest is in the covariance."""

import numpy as np
import pytest

from gough.core.rotations import exp, log
from gough.vision import Camera, Conditions, design_target, find_target, measure_pose, render

pytest.importorskip("cv2")
CAMERA = Camera((640, 480), [560.0, 560.0], [321.0, 238.0], [-0.15, 0.04])
TARGET = design_target(0.2, 0.2)
R, T = exp([0.35, -0.25, 0.3]) @ np.diag([1.0, -1.0, -1.0]), np.array([0.005, 0.0, 0.37])
LIGHTS = {
    "gloss": Conditions(white=150.0, gradient=(0.6, 0.2), gloss=(450.0, 200.0, 130.0, 60.0)),
    "gamma": Conditions(gamma=2.2, vignetting=0.3),
    "uneven": Conditions(vignetting=0.4, gradient=(0.4, 0.2)),
    "glare": Conditions(glare=0.08),
    "glare of bright surroundings": Conditions(glare=0.08, around=180.0),
}


@pytest.mark.parametrize("name", LIGHTS)
def test_errors_are_within_the_covariance(name, rng):
    """Noise of half a level: what light shifts is not hidden by it."""
    picture = render(CAMERA, TARGET, R, T, Conditions(**{**LIGHTS[name].__dict__, "noise": 0.5}), rng)
    pose = measure_pose(picture.image, TARGET, CAMERA)
    error = np.concatenate([pose.position - T, log(pose.rotation @ R.T)])
    assert error @ np.linalg.solve(pose.covariance, error) < 22.5  # χ² of 6 at 0.1 %
    assert pose.sigma[2] < 2e-5
    assert (np.linalg.eigvalsh(pose.covariance - pose.light) > 0).all()


def test_light_that_is_even_adds_little():
    pose = measure_pose(render(CAMERA, TARGET, R, T, rng=np.random.default_rng(3)).image, TARGET, CAMERA)
    assert (np.sqrt(pose.light.diagonal()) < 0.35 * pose.sigma).all()


@pytest.mark.parametrize("turned", [[0.35, -0.25, 0.3], [0.1, 0.4, -0.6], [-0.4, 0.1, 1.0]])
def test_ground_beyond_the_sheet_is_not_that_of_the_dots(turned, rng):
    """A highlight ends at the edge of the sheet, and rings around the outermost dots reach beyond it."""
    there, t = exp(turned) @ np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 0.75])
    made = Conditions(white=150.0, noise=0.5, gloss=(330.0, 200.0, 130.0, 60.0))
    seen = find_target(render(CAMERA, TARGET, there, t, made, rng).image, TARGET, CAMERA)
    spots = seen.spots
    u, v = spots.around.T
    true = made.black + 60 * np.exp(-((u - 330) ** 2 + (v - 200) ** 2) / 2 / 130**2)
    kept = spots.stray == 0  # the others are left out
    assert kept.sum() > 25
    assert abs(spots.ground - true)[kept].max() < 0.8
