"""Poses of many images: intervals, the camera's share, files, and a campaign that goes on."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.png import png_file
from gough.core.rotations import exp, log
from gough.papers.gough_platform.vision import CampaignByCamera
from gough.simulate import CalibrationCampaign
from gough.studies.vision import read_table, table_of
from gough.vision import (
    Camera,
    MeasuredImages,
    camera_share,
    design_target,
    measure_images,
    measure_pose,
    pose_intervals,
    render,
)
from gough.vision.camera import expected
from gough.vision.detector import Sighting
from gough.vision.pose import pose_of

pytest.importorskip("cv2")
CAMERA = Camera((480, 360), [400.0, 400.0], [239.5, 179.5], [-0.15, 0.04])
TARGET = design_target(0.2, 0.2)
R, T = exp([0.3, -0.2, 0.4]) @ np.diag([1.0, -1.0, -1.0]), np.array([0.01, 0.0, 0.4])


def pose_from(pixels, camera=CAMERA):
    return pose_of(Sighting(np.arange(45), pixels, np.full(45, 0.01)), TARGET, camera)


def test_intervals_are_multiples_of_sigma(rng):
    pose = measure_pose(render(CAMERA, TARGET, R, T, rng=rng).image, TARGET, CAMERA)
    position, rotation = pose_intervals([pose], k=2.0)
    assert np.concatenate([position[0], rotation[0]]) == pytest.approx(2 * pose.sigma)
    with pytest.raises(InputError, match="positive number"):
        pose_intervals([pose], k=0)


def test_poses_state_what_all_images_share(rng):
    """Factors of camera and size; `budget` adds up."""
    known = replace(CAMERA, covariance=np.diag([0.5, 0.5, 0.3, 0.3, 1e-3, 1e-3, 0.0, 0.0, 0.0]) ** 2)
    exact = expected(CAMERA, TARGET, R, T)
    poses = tuple(pose_from(exact + rng.normal(0, 0.01, exact.shape), known) for _ in range(2))
    images = MeasuredImages(("a", "b"), poses, (), size_sigma=1e-4)
    made, budget = images.to_poses(), images.budget()
    assert made.common.shape == (2, 6, 7)
    assert made.total_covariance == pytest.approx(budget["total"])
    assert made.common[0] @ made.common[0].T == pytest.approx(camera_share(poses[0], TARGET, known) + budget["size"][0])
    assert np.sqrt(budget["size"][0].diagonal()[:3]) == pytest.approx(1e-4 * abs(poses[0].position))
    wide = pose_intervals(poses)[0]
    assert (wide > 3 * np.array([pose.sigma[:3] for pose in poses])).all()


def test_the_cameras_share_is_what_another_camera_does():
    sigma = np.array([0.5, 0.5, 0.3, 0.3, 1e-3, 1e-3, 1e-4, 1e-4, 0.0])
    known = replace(CAMERA, covariance=np.diag(sigma**2))
    exact = expected(CAMERA, TARGET, R, T)
    share = camera_share(pose_from(exact), TARGET, known)
    moved = np.zeros((6, 6))
    for k in range(8):
        p = CAMERA.parameters + 0.1 * sigma[k] * np.eye(9)[k]
        pose = pose_from(exact, Camera(CAMERA.size, p[:2], p[2:4], p[4:]))
        d = np.concatenate([pose.position - T, log(pose.rotation @ R.T)]) / 0.1
        moved += np.outer(d, d)
    assert np.sqrt(share.diagonal()) == pytest.approx(np.sqrt(moved.diagonal()), rel=0.02)
    with pytest.raises(InputError, match="covariance is not known"):
        camera_share(pose_from(exact), TARGET, CAMERA)


def test_images_are_measured_in_order_by_several_workers(rng, tmp_path):
    files = []
    for k in range(10):
        path = tmp_path / f"{k}.png"
        path.write_bytes(
            b"" if k == 4 else png_file(render(CAMERA, TARGET, R, T + 0.001 * k * np.eye(3)[0], rng=rng).image)
        )
        files.append(path)
    told = []
    with ThreadPoolExecutor(2) as executor:
        found = measure_images(files, TARGET, CAMERA, executor=executor, on_image=told.append)
    assert found.rejected == (("4.png", "the file is empty"),)
    poses = found.to_poses(configuration=np.arange(9))
    assert np.diff(poses.position[:, 0]).min() > 5e-4
    assert told == list(range(1, 11))


def test_names_and_tables_tell_configurations(tmp_path):
    assert table_of(["c017-r03-i05.png"]).run == {"c017-r03-i05.png": 3}
    assert table_of(["picture.png"]).configuration == {}
    path = tmp_path / "t.csv"
    path.write_text("image,configuration,l2,l1\na.png,3,0.2,0.1\n")
    assert read_table(path, ["a.png"]).of(["a.png"])[2].tolist() == [[0.1, 0.2]]
    with pytest.raises(InputError, match="does not name 1 of the images"):
        read_table(path, ["a.png", "b.png"])
    path.write_text("image,configuration\na.png,third\n")
    with pytest.raises(InputError, match="line 2"):
        read_table(path, ["a.png"])


def test_a_campaign_goes_on_where_it_was_interrupted(tmp_path):
    """Two configurations, two runs of two images; the second time all of them are read from the file."""
    whole = CalibrationCampaign.deltalab(np.random.default_rng(1), runs=2, images=2)
    campaign = replace(whole, configurations=whole.configurations[[0, 21]], others=whole.others[:1])

    def stop(done, _):
        if done == 3:
            raise KeyboardInterrupt

    first = CampaignByCamera(1, tmp_path, on_visit=stop)
    with pytest.raises(KeyboardInterrupt):
        first(campaign, np.random.default_rng(2))
    visits = []
    second = CampaignByCamera(1, tmp_path, on_visit=lambda done, of: visits.append((done, of)), tool=first.tool)
    measured = second(campaign, np.random.default_rng(2))
    assert visits == [(4, 4), (1, 1)]
    assert second.refused == []
    assert second.wrong == 0
    assert len(measured.poses) == 8
    away = measured.poses.position - measured.exact.position[measured.poses.configuration]
    assert np.linalg.norm(away, axis=1).max() < 1e-3
    assert 1 < np.mean(second.squares) < 20
