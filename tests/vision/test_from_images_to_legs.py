"""The commands of docs/vision.md from images to calibrated legs: their intervals hold the truth."""

import itertools

import numpy as np
import pytest

import gough
from gough.cli.app import run
from gough.core.rotations import exp
from gough.robots import GoughPlatform
from gough.vision import Camera, Conditions, design_target, render, write_target
from gough.vision.target_drawing import png_file

pytest.importorskip("cv2")
FACING, ABOVE = np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 1.0])
CAMERA = Camera((1024, 768), [900.0, 900.0], [513.0, 381.0], [-0.12, 0.03])
TARGET = design_target(0.2, 0.2)
LIGHT = Conditions(gamma=2.2, vignetting=0.2)
STUDY = """
[robot]
family = "gough"
blueprint = "deltalab"

[poses]
file = "measured/poses.csv"

[calibration]
frames = "instrument"
"""


def test_intervals_of_legs_hold_the_truth(tmp_path, monkeypatch, capsys):
    """Errors of lens, response, light and readings are not stated, but estimated from images and residuals."""
    rng = np.random.default_rng(16)
    monkeypatch.chdir(tmp_path)
    write_target("target.toml", TARGET)
    for folder in ("calibration", "images"):
        (tmp_path / folder).mkdir()
    count = 0
    while count < 12:
        R, t = exp(rng.normal(0, 0.35, 3)) @ FACING, rng.uniform([-0.08, -0.06, 0.32], [0.08, 0.06, 0.45])
        pixels = CAMERA.project(R, t, TARGET.points)
        if (pixels > 20).all() and (pixels < np.array(CAMERA.size) - 20).all():
            file = tmp_path / "calibration" / f"{count}.png"
            file.write_bytes(png_file(render(CAMERA, TARGET, R, t, LIGHT, rng).image))
            count += 1
    robot = GoughPlatform.deltalab()
    real = robot.nominal + rng.normal(0, 1e-3, 42)
    readings = rng.permutation(np.array(list(itertools.product([0.0, 0.14], repeat=6))))[:30]
    there = robot.forward(real, readings)
    noisy = 1e3 * (readings + rng.normal(0, 1e-5, readings.shape))
    rows = ["image,leg1 [mm],leg2 [mm],leg3 [mm],leg4 [mm],leg5 [mm],leg6 [mm]"]
    for k, (p, R) in enumerate(zip(there.position, there.rotation, strict=True)):
        image = render(CAMERA, TARGET, FACING @ R, FACING @ p + ABOVE, LIGHT, rng).image
        (tmp_path / "images" / f"c{k:03d}.png").write_bytes(png_file(image))
        rows.append(f"c{k:03d}.png," + ",".join(f"{v:.4f}" for v in noisy[k]))
    (tmp_path / "readings.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "study.toml").write_text(STUDY)

    assert run(["camera", "calibrate", "calibration", "--lens", "k2"]) == 0
    assert "it is used" in capsys.readouterr().out
    measure = ["poses", "measure", "images", "--camera", "camera/camera.toml", "--table", "readings.csv"]
    assert run([*measure, "--workers", "1"]) == 0
    assert run(["calibrate", "study.toml"]) == 0
    assert "The noise of the readings is not stated" in capsys.readouterr().out

    found = gough.Study.read("study.toml").calibrate()
    truth = robot.rows(real).copy()
    truth[:, :3] = truth[:, :3] @ FACING.T + ABOVE  # joints of the base, in the frame of the camera
    held = [v in found.interval(n) for n, v in zip(found.model.names, robot.parameters(truth), strict=True)]
    assert sum(held) >= 36  # fewer of 42 have a probability of 0.5 % if errors are independent
    assert found.estimate.stats.chi_squared is None or 0.7 < found.estimate.stats.chi_squared < 1.4
