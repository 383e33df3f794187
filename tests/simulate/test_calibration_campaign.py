"""The simulated calibration campaign: the paper's numbers and noise, faults where they were put."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rigid import RigidMotion
from gough.core.rotations import angle_between
from gough.data import averaged
from gough.robots import PlatformPoses
from gough.simulate import CalibrationCampaign, Faults, PoseNoise, extremal_readings

SILENT = PoseNoise(np.zeros(6), np.zeros(6), np.zeros(6))


@pytest.fixture(scope="module")
def campaign():
    return CalibrationCampaign.deltalab(np.random.default_rng(1))


def quiet(campaign, **changes):
    return replace(campaign, noise=SILENT, runs=2, images=1, **changes).run(np.random.default_rng(2))


def closure(campaign, measured, poses, factor=1.0):
    """Of the true geometry in the camera's frames, at what was measured: nothing of the simulation but its result."""
    read = campaign.robot.inverse(measured.truth, poses.position / factor, poses.rotation)
    return read - poses.readings


def test_the_paper_s_numbers_of_configurations_runs_and_images(campaign):
    measured = campaign.run(np.random.default_rng(2))
    poses = measured.poses
    assert len(extremal_readings()) == len(set(map(tuple, extremal_readings().tolist()))) == 64
    assert len(poses) == 64 * 11 * 10
    assert len(measured.validation) == 64 * 10 * 10
    assert set(np.unique(poses.configuration)) == set(range(64))
    # readings belong to a run, images do not change them
    some = (poses.configuration == 5) & (poses.run == 3)
    assert np.ptp(poses.readings[some], axis=0).max() == 0
    assert np.ptp(poses.position[some], axis=0).min() > 0


def test_noise_has_the_size_and_the_parts_of_tables_2_and_3(campaign):
    noise = campaign.noise
    found = averaged(campaign.run(np.random.default_rng(2)).poses)[1]
    assert found.within[:6] / noise.image == pytest.approx(np.ones(6), abs=0.04)  # 6336 degrees of freedom
    between = np.sqrt(noise.run**2 + noise.image**2 / 10)
    assert found.between[:6] / between == pytest.approx(np.ones(6), abs=0.1)  # 640
    assert found.between[6:] / noise.reading == pytest.approx(np.ones(6), abs=0.1)
    assert noise.total[0] == pytest.approx(6.33e-5)
    assert np.degrees(noise.total[4]) == pytest.approx(1.19e-2)


def test_repeats_are_told_and_a_bad_image_is_named(campaign):
    poses = replace(campaign, runs=3).run(np.random.default_rng(2)).poses
    (words,) = averaged(poses)[0].notes
    assert words.startswith("1920 measurements are averaged to 64 configurations; they repeat to 0.03")
    moved = poses.position.copy()
    moved[777, 0] += 2e-3
    _, odd = averaged(replace(poses, position=moved))[0].notes
    assert odd.startswith(f"Measurement 777, of configuration {poses.configuration[777]}, is 1.8")


def test_without_noise_the_true_geometry_closes_in_the_camera_s_frames(campaign):
    measured = quiet(campaign)
    for poses in (measured.poses, measured.validation):
        assert abs(closure(campaign, measured, poses)).max() < 1e-12
    exact = measured.exact
    assert isinstance(exact, PlatformPoses)
    assert measured.poses.position[:64] == pytest.approx(exact.position, abs=1e-12)
    assert angle_between(measured.poses.rotation[:64], exact.rotation).max() < 1e-7
    assert measured.truth is not campaign.geometry
    still = replace(campaign, camera=RigidMotion(np.eye(3), np.zeros(3)), target=RigidMotion(np.eye(3), np.zeros(3)))
    assert still.truth == pytest.approx(campaign.geometry, abs=0)


def test_backlash_is_a_length_error_of_either_sign_that_returns_with_its_configuration(campaign):
    measured = quiet(campaign, faults=Faults(backlash=5e-4))
    errors = closure(campaign, measured, measured.poses)
    assert abs(errors) == pytest.approx(np.full(errors.shape, 2.5e-4), abs=1e-12)
    assert 0.4 < (errors > 0).mean() < 0.6
    assert errors[:64] == pytest.approx(errors[64:], abs=1e-12)


def test_a_scale_error_and_a_bad_pose(campaign):
    scaled = quiet(campaign, faults=Faults(scale=5e-3))
    assert abs(closure(campaign, scaled, scaled.poses, 1.005)).max() < 1e-12
    bad = quiet(campaign, faults=Faults(bad_pose=21))
    errors = abs(closure(campaign, bad, bad.poses)).max(axis=1)
    assert set(bad.poses.configuration[errors > 1e-12]) == {21}
    assert bad.poses.position[21] - bad.exact.position[21] == pytest.approx([0, 0, 5e-3], abs=1e-12)


def test_faults_in_words():
    assert Faults(5e-4, 5e-3, 21).words == "backlash of 0.5 mm and a scale error of 0.5 % and pose 21 off by 5 mm"


def test_refusals(campaign):
    with pytest.raises(InputError, match="no pose 64"):
        replace(campaign, faults=Faults(bad_pose=64))
    with pytest.raises(InputError, match="two runs"):
        replace(campaign, runs=1)
    with pytest.raises(InputError, match="each leg"):
        replace(campaign, noise=PoseNoise(np.zeros(6), np.zeros(6), np.zeros(5)))
    with pytest.raises(InputError, match="six errors"):
        PoseNoise(np.zeros(3), np.zeros(3), np.zeros(6))
    with pytest.raises(InputError, match="negative"):
        PoseNoise(-np.ones(6), np.zeros(6), np.zeros(6))
