"""Guidance of a shooting, and stills of videos."""

import numpy as np
import pytest

from gough.cli.app import run
from gough.core.rotations import exp
from gough.vision import Camera, Conditions, Sighting, design_target, render, write_target
from gough.vision.camera import expected
from gough.vision.frames import frames, stills
from gough.vision.guidance import FACING, Guide, View, motion
from gough.vision.target_drawing import png_file

cv2 = pytest.importorskip("cv2")
CAMERA = Camera((320, 240), [300.0, 300.0], [160.0, 119.0], [-0.1])
TARGET = design_target(0.2, 0.2)
TILTS = [(0.5, 0.0, 0.0), (-0.5, 0.1, 0.2), (0.0, 0.5, -0.2), (0.1, -0.5, 0.1), (0.4, 0.4, 0.0), (-0.35, 0.4, 0.3)]


def seen_at(R, t, rng, noise=0.02):
    pixels = expected(CAMERA, TARGET, R, t)
    return Sighting(np.arange(45), pixels + rng.normal(0, noise, pixels.shape), np.full(45, noise), edge=0.8)


@pytest.fixture(scope="module")
def guide():
    rng = np.random.default_rng(2)
    guide = Guide(TARGET, CAMERA.size)
    for tilt in TILTS[:4]:
        guide = guide.add(seen_at(exp(tilt) @ FACING, np.array([*rng.normal(0, 0.01, 2), 0.4]), rng))
    return guide


def test_the_error_that_is_predicted_is_the_error(guide):
    """Pixels of rays by the calibrated camera beside the true one: of the predicted size."""
    u, v = np.meshgrid(np.linspace(16, 304, 7), np.linspace(12, 228, 7))
    pixels = np.column_stack([u.ravel(), v.ravel()])
    rays = np.column_stack([CAMERA.rays(pixels), np.zeros(49)])
    found = guide.camera.project(np.eye(3), [0.0, 0.0, 1.0], rays)
    assert 0.2 < np.sqrt(((found - pixels) ** 2).mean()) / guide.error < 3


def test_the_next_view_is_better_than_a_repeat_and_than_most(guide):
    rng = np.random.default_rng(3)
    wanted = guide.next_view()
    gain = guide.gain(seen_at(wanted.rotation, wanted.position, rng))
    repeat = guide.gain(seen_at(guide.views[0].rotation, guide.views[0].position, rng))
    facing = guide.gain(seen_at(FACING, np.array([0.0, 0.0, 0.5]), rng))
    assert gain > 1.5 * repeat
    assert gain > facing
    assert wanted.words.startswith("hold it")


def test_frames_that_are_not_kept_have_a_reason(guide):
    rng = np.random.default_rng(4)
    R, t = exp([0.3, -0.3, 0.4]) @ FACING, np.array([0.02, 0.0, 0.45])
    seen = seen_at(R, t, rng)
    assert guide.fault(seen, None) == ""
    assert guide.fault(seen, seen_at(R, t + np.array([0.002, 0, 0]), rng)).startswith("moving by 1.")
    assert guide.fault(guide.sightings[1], None) == "like an earlier view"
    blurred = Sighting(seen.which, seen.pixels, seen.sigma, edge=3.0)
    assert "blurred" in guide.fault(blurred, None)
    assert motion(seen, seen.select(slice(0, 0))) == np.inf


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    """Three poses of which each stands still for three frames, with blurred ones between."""
    folder = tmp_path_factory.mktemp("video")
    rng = np.random.default_rng(6)
    writer = cv2.VideoWriter(str(folder / "clip.avi"), cv2.VideoWriter_fourcc(*"FFV1"), 10, CAMERA.size)
    for tilt in TILTS[:3]:
        for blur in (2.0, 0.7, 0.7, 0.7):
            made = Conditions(blur=blur, around=120.0)
            image = render(CAMERA, TARGET, exp(tilt) @ FACING, [0.0, 0.0, 0.42], made, rng).image
            writer.write(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR))
    writer.release()
    write_target(folder / "target.toml", TARGET)
    return folder


def test_the_sharpest_frame_of_each_scene_is_taken(video):
    numbers = [number for number, _ in stills(video / "clip.avi")]
    assert len(numbers) == 3
    assert all(number % 4 > 0 for number in numbers)


def test_a_video_is_shot_live_with_words(video, tmp_path, capsys):
    out = tmp_path / "shots"
    arguments = ["camera", "live", str(video / "clip.avi"), "--target", str(video / "target.toml"), "--out", str(out)]
    assert run(arguments) == 1  # three views do not reach the goal
    printed = capsys.readouterr().out
    assert printed.count("saved view-") == 3
    assert printed.count("Next: hold it") == 4  # before the first view, and once after each
    assert "is not reached" in printed
    assert sorted(p.name for p in out.iterdir()) == ["view-001.png", "view-002.png", "view-003.png"]
    assert run(arguments) == 2
    assert "not empty" in capsys.readouterr().err


def test_a_folder_that_grows(tmp_path):
    (tmp_path / "half.png").write_bytes(b"\x89PNG of which only the beginning is there")
    (tmp_path / "a.png").write_bytes(png_file(np.zeros((40, 40), np.uint8)))
    names = [frame.name for frame in frames(str(tmp_path), seconds=0)]
    assert names == ["a.png"]


def test_a_source_that_is_none(video, tmp_path, capsys):
    out = ["--target", str(video / "target.toml"), "--out", str(tmp_path / "out")]
    assert run(["camera", "live", str(tmp_path / "nothing.mp4"), *out]) == 2
    assert "cannot be opened" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_the_view_of_a_sighting(guide):
    R, t = exp([0.3, 0.2, 0.0]) @ FACING, np.array([0.0, 0.01, 0.4])
    view = guide.view_of(seen_at(R, t, np.random.default_rng(1)))
    assert isinstance(view, View)
    assert abs(view.position - t).max() < 0.01
