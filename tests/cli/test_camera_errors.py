"""Columns of the errors of a camera in one file: proven half-widths h1 … h6, and errors s1_1 … that all poses share."""

import json

import numpy as np

from gough.cli.app import run
from gough.core.rotations import exp
from gough.data import Poses, write_poses
from gough.studies.calibration import CalibrationStudy
from tests.methods.legs import EDGE, POSITION, READING, ROTATION, extremal_poses

STUDY = """
[robot]
family = "gough"
blueprint = "deltalab"

[poses]
file = "poses.csv"

[noise]
readings = "0.01 mm"

[certify]
readings = "0.04 mm"
chains = [2]
around = "2 mm"
width = "0.2 mm"
"""


def test_calibrate_certify_and_check_read_them(tmp_path, capsys):
    rng = np.random.default_rng(3)
    robot, poses = extremal_poses()
    some = rng.permutation(64)[:20]
    p, R = poses.position[some], poses.rotation[some]
    readings = robot.inverse(robot.nominal, p, R)
    bounds = np.concatenate([np.broadcast_to(POSITION, 3), np.broadcast_to(ROTATION, 3)])
    half = bounds * rng.uniform(1.0, 1.2, (20, 6))
    common = bounds[None, :, None] * 0.1 * np.ones((20, 1, 1))
    shared = common[..., 0] * rng.normal()
    p = p + shared[:, :3] + 0.5 * EDGE * rng.uniform(-1, 1, p.shape) * POSITION
    R = exp(shared[:, 3:] + 0.5 * EDGE * rng.uniform(-1, 1, p.shape) * ROTATION) @ R
    own = np.diag((bounds / 4) ** 2)
    readings = readings + 0.5 * np.broadcast_to(READING, 6) * rng.uniform(-1, 1, readings.shape)
    seen = Poses(p, R, readings, np.tile(own, (20, 1, 1)), common=common, half_width=half)
    write_poses(tmp_path / "poses.csv", seen)
    heads = (tmp_path / "poses.csv").read_text().splitlines()[0]
    assert "h1" in heads
    assert "s1_1" in heads
    (tmp_path / "study.toml").write_text(STUDY)
    study = str(tmp_path / "study.toml")

    read = CalibrationStudy.read(study).poses()
    assert np.allclose(read.common, common, rtol=1e-6)
    assert np.allclose(read.half_width, half, rtol=1e-6)
    assert run(["calibrate", study]) == 0
    assert run(["certify", study]) == 0
    capsys.readouterr()
    folder = tmp_path / "results-certified" / "certificates"
    question = json.loads((folder / "measurements.json").read_text())
    stated = np.array(question["position_tolerance"])
    assert (stated >= half[:, :3]).all()
    assert np.allclose(stated, half[:, :3], rtol=1e-12)
    assert np.allclose(question["rotation_tolerance"], half[:, 3:], rtol=1e-6)

    assert run(["check", str(folder), "--study", study]) == 0
    assert "certificates hold" in capsys.readouterr().out
    lines = (tmp_path / "poses.csv").read_text().splitlines()
    place = lines[0].split(",").index("h1")
    cells = lines[1].split(",")
    cells[place] = str(2 * float(cells[place]))  # the user now states more than the proof assumed
    (tmp_path / "poses.csv").write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    assert run(["check", str(folder), "--study", study]) == 1
