"""The H4, the Par4 and the planar 3-RRR: calibrated where the truth is known, in any frame, and from a study."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses, write_poses
from gough.geometry import calibrate, cross_validate, rezero, robot_frame
from gough.robots import H4Geometry, H4Kinematics, Par4Kinematics, PlanarRRR, PlatformPoses
from gough.studies.calibration import CalibrationStudy

SEEDED_AS = "tests/calibration/test_machines.py"

ROBOTS = [H4Kinematics(), Par4Kinematics(), PlanarRRR()]
POSITION, ANGLE, READING = 2e-5, 1e-4, 1e-5
each_robot = pytest.mark.parametrize("model", ROBOTS, ids=lambda m: m.name)


def seen(model, rng, n=150):
    """A robot about half a millimetre and half a milliradian from its blueprint, and its measured poses."""
    theta = model.nominal + 5e-4 * rng.normal(size=len(model.names))
    home = model.home(model.nominal).position[0]
    spread = np.where(np.isin([0, 1, 2], model.freedoms), [0.1, 0.1, 0.08], 0.0)
    p = home + rng.uniform(-1, 1, (n, 3)) * spread * (1.0 if home.any() else 0.8)
    R = exp(np.outer(rng.uniform(-0.6, 0.6, n), [0, 0, 1]))
    readings = model.inverse(theta, p, R) + READING * rng.normal(size=(n, len(model.chains)))
    noisy = Poses(p + POSITION * rng.normal(size=p.shape), exp(ANGLE * rng.normal(size=p.shape)) @ R, readings)
    return theta, noisy.with_noise(POSITION, ANGLE, READING)


@each_robot
def test_the_truth_is_found_within_the_predicted_deviation(model, rng):
    scaled, chi = [], []
    for _ in range(4):
        theta, poses = seen(model, rng)
        found = calibrate(model, poses)
        assert found.identifiability.is_full_rank
        assert not found.refuted
        assert found.suspects == ()
        scaled.append((found.parameters - theta) / found.estimate.region.sigma)
        chi.append(found.estimate.stats.chi_squared)
    assert 0.75 < np.sqrt(np.mean(np.square(scaled))) < 1.25
    assert 0.85 < np.mean(chi) < 1.15
    assert cross_validate(model, poses, folds=3).position_after.mean() < 5 * POSITION
    sigma, turned = found.predicted_sigma(PlatformPoses(poses.position[:5], poses.rotation[:5]))
    assert (sigma < POSITION).all()
    assert (turned > 0).all()


@each_robot
def test_any_frame_tracked_point_and_mark(model, rng):
    _, poses = seen(model, rng)
    R, offset, mark = exp(np.array([0.4, -1.0, 0.3])), np.array([0.03, -0.02, 0.0]), exp(np.array([0.0, 0.0, 0.5]))
    elsewhere = replace(
        poses,
        position=(poses.position + poses.rotation @ offset) @ R.T + [1.0, 2.0, 3.0],
        rotation=R @ poses.rotation @ mark,
    )
    if 2 in model.freedoms:
        with pytest.raises(InputError, match=r"is tilted by .* robot_frame"):
            calibrate(model, elsewhere)
    found = calibrate(model, robot_frame(model, elsewhere))
    assert found.rms[0] < 5e-3
    assert found.rms[1] < 3 * POSITION


@each_robot
def test_zeros_are_found_anew(model, rng):
    theta, poses = seen(model, rng, 12)
    shift = rng.normal(0, 0.02, len(model.chains))
    zeroed = rezero(model, theta, replace(poses, readings=poses.readings + shift))
    places = [model.names.index(name) for name in model.zeros]
    assert abs(zeroed[places] - theta[places] + shift).max() < 2e-3
    assert (np.delete(zeroed, places) == np.delete(theta, places)).all()


STUDY = """
[robot]
family = "{family}"
[robot.geometry]
{geometry}
[poses]
file = "poses.csv"
[noise]
position = "0.02 mm"
orientation = "0.1 mrad"
readings = "0.01 mrad"
"""


@pytest.mark.parametrize(
    ("family", "geometry", "model"),
    [
        ("h4", 'arm = "250 mm"', H4Kinematics(H4Geometry(arm=0.25))),
        ("par4", "", Par4Kinematics()),
        ("3-rrr", 'base_radius = "450 mm"\nplatform_radius = "120 mm"', PlanarRRR()),
    ],
)
def test_studies_of_all_families(family, geometry, model, tmp_path, rng):
    theta, poses = seen(model, rng)
    write_poses(tmp_path / "poses.csv", poses)
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(family=family, geometry=geometry))
    study = CalibrationStudy.read(path)
    assert abs(study.model.nominal - model.nominal).max() < 1e-15
    assert abs(study.calibrate().parameters - theta).max() < 0.01
    path.write_text(STUDY.format(family=family, geometry='arms = "1 m"'))
    with pytest.raises(InputError, match=r"line 5.*did you mean 'arm'"):
        assert CalibrationStudy.read(path).model
