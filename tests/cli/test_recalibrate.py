"""`gough recalibrate`, `gough new --calibration` and `gough certify printer.cfg`: what a person types and reads."""

import json

import numpy as np
import pytest

from gough.cli.app import run
from gough.data import Poses, write_poses
from gough.geometry import MachineGeometry, geometry_text
from gough.robots import KINEMATICS, LinearDelta
from gough.studies import CalibrationStudy
from gough.studies.calibration_scaffold import calibration_model, calibration_study_text
from gough.studies.geometry_file import read_geometry

PRINTER = LinearDelta()


@pytest.fixture
def folder(tmp_path, rng):
    known = MachineGeometry(PRINTER, closure=np.full(3, 1e-5), spare=100)
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "geometry.toml").write_text(geometry_text(known))

    def measure(name, shift, count=8):
        p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (count, 3))
        readings = PRINTER.inverse(PRINTER.nominal, p) + shift + rng.normal(0, 1e-5, p.shape)
        write_poses(tmp_path / name, Poses(p, None, readings))

    measure("today.csv", [1e-3, -2e-3, 5e-4])
    measure("more.csv", [1e-3, -2e-3, 5e-4])
    measure("broken.csv", rng.normal(0, 3e-3, (8, 3)))
    return tmp_path


def test_zeros_that_were_lost_are_found_and_written(folder, capsys):
    options = ["--poses", str(folder / "today.csv"), "--validation", str(folder / "more.csv")]
    assert run(["recalibrate", str(folder / "results"), *options]) == 0
    told = capsys.readouterr().out
    assert "The zeros of all chains changed: 3 unknowns explain 8 poses of the day" in told
    written = folder / "results-recalibrated"
    assert {
        "geometry.toml",
        "marlin.gcode",
        "reprapfirmware.g",
        "klipper.cfg",
        "recalibration.json",
        "report.html",
    } <= {each.name for each in written.iterdir()}
    now = read_geometry(written / "geometry.toml").model
    assert np.asarray(now.endstop) == pytest.approx(0.4 + np.array([1e-3, -2e-3, 5e-4]), abs=5e-5)
    assert "zeros" in (written / "report.html").read_text()
    more = ["recalibrate", str(written / "geometry.toml"), "--poses", str(folder / "more.csv"), "--json"]
    assert run([*more, "--out", str(folder / "again")]) == 0
    assert json.loads(capsys.readouterr().out)["chosen"] == "nothing"


def test_what_nothing_explains_exits_with_1_and_writes_no_geometry(folder, capsys):
    out = folder / "out"
    code = run(["recalibrate", str(folder / "results"), "--poses", str(folder / "broken.csv"), "--out", str(out)])
    assert code == 1
    assert "Calibrate again" in capsys.readouterr().out
    assert not (out / "geometry.toml").exists()


def test_what_is_missing_is_named(folder, capsys):
    assert run(["recalibrate", str(folder), "--poses", str(folder / "today.csv")]) == 2
    assert "give the folder of gough calibrate" in capsys.readouterr().err
    assert run(["recalibrate", str(folder / "results"), "--poses", str(folder / "none.csv")]) == 2
    assert not (folder / "results-recalibrated" / "report.html").exists()


def test_a_study_of_instruments_is_refused(tmp_path, capsys):
    study = tmp_path / "study.toml"
    study.write_text('[robot]\nfamily = "gough"\n[measurements]\nfile = "readings.csv"\n')
    assert run(["recalibrate", str(study), "--poses", "today.csv"]) == 2
    assert "has [measurements], but recalibration takes complete poses" in " ".join(capsys.readouterr().err.split())


def test_a_new_calibration_study_runs(tmp_path, capsys):
    assert run(["new", str(tmp_path / "printer"), "--calibration", "linear-delta", "--example"]) == 0
    answer = CalibrationStudy.read(tmp_path / "printer" / "study.toml").calibrate()
    assert not answer.refuted
    assert answer.validation.position_after.mean() < 0.2 * answer.validation.position_before.mean()
    assert run(["new", str(tmp_path / "other"), "--calibration", "delta"]) == 2
    assert "no robot for calibration is called 'delta'" in capsys.readouterr().err
    assert run(["new", str(tmp_path / "other"), "--calibration", "h4", "--robot", "par4"]) == 2


@pytest.mark.parametrize("family", list(KINEMATICS))
def test_every_family_has_a_study_whose_robot_is_that_of_the_library(tmp_path, family):
    (tmp_path / "study.toml").write_text(calibration_study_text(family))
    study = CalibrationStudy.read(tmp_path / "study.toml")
    assert study.premises == ()
    assert study.model.nominal == pytest.approx(calibration_model(family).nominal, abs=1e-9)


def test_probed_heights_are_certified(tmp_path, capsys):
    ring = np.arange(6) * np.pi / 3
    p = np.vstack([0.09 * np.column_stack([np.cos(ring), np.sin(ring), np.zeros(6)]), np.zeros(3)])
    steps = PRINTER.inverse(PRINTER.nominal, p) * 1e3 * 3200 / 40
    lines = ["[printer]", "kinematics: delta", "delta_radius: 160"]
    for tower in "abc":
        lines += [f"[stepper_{tower}]", "microsteps: 16", "rotation_distance: 40"]
        lines += ["position_endstop: 400", "arm_length: 345"]
    lines += ["#*# [delta_calibrate]"]
    for i, each in enumerate(steps):
        lines += [
            f"#*# height{i} = {1e-2 * (-1) ** i:.4f}",
            f"#*# height{i}_pos = {','.join(f'{s:.3f}' for s in each)}",
        ]
    (tmp_path / "printer.cfg").write_text("\n".join(lines) + "\n")
    study = '[printer]\nfile = "printer.cfg"\n[certify]\nposition = "1 mm"\nwidth = "4 um"\n'
    (tmp_path / "study.toml").write_text(study)
    assert run(["certify", str(tmp_path / "study.toml")]) == 0
    told = capsys.readouterr().out
    assert "Fits: ± 1 mm suffices." in told
    assert "gough check" in told
    assert run(["check", str(tmp_path / "results-certified")]) == 0
    assert "2 of 2 certificates hold" in capsys.readouterr().out
    epsilon = json.loads((tmp_path / "results-certified" / "certification.json").read_text())["epsilon"]
    assert 0 <= epsilon["lower"] <= epsilon["upper"] < 1.1e-5
    (tmp_path / "study.toml").write_text(f"{study}joint = true\n")
    assert run(["certify", str(tmp_path / "study.toml")]) == 2
    assert "'joint' is not for probed heights" in capsys.readouterr().err
