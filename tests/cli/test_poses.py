"""`gough poses`: selections that run, and studies that are refused with the line that is wrong."""

import json
import re

import numpy as np
import pytest

from gough.cli.app import run
from gough.data import read_poses, write_poses
from gough.studies.calibration import CalibrationStudy
from gough.studies.pose_selection import PoseSelectionStudy
from tests.geometry.simulated import EXTREMAL, ROBOT, measured, truth

STUDY = """
[robot]
family = "gough"
blueprint = "deltalab"

[poses]
file = "poses.csv"

[noise]
position = "0.05 mm"
orientation = "0.01 deg"
readings = "0.01 mm"

[selection]
draws = 30
starts = 1

[selection.limits]
readings = ["0 mm", "140 mm"]
pose.tilt = ["0 deg", "60 deg"]
"""
PRINTER = """
[robot]
family = "linear-delta"

[noise]
position = "0.02 mm"

[calibration]
fixed = ["arm_a", "arm_b", "arm_c"]

[selection]
candidates = ["grid"]
criterion = "A"
limits.pose = { x = ["-80 mm", "80 mm"], y = ["-80 mm", "80 mm"], z = [0, 0.1] }
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_a_selection_runs_before_there_are_any_poses(study, capsys):
    assert run(["poses", str(study), "--count", "12"]) == 0
    printed = capsys.readouterr().out
    assert "12 configurations of the DeltaLab platform are chosen by D" in printed
    assert "σ of the shape" in printed
    folder = study.parent / "poses"
    chosen = read_poses(folder / "configurations.csv")
    assert len(chosen) == 12
    assert chosen.configuration.tolist() == list(range(1, 13))
    again = ROBOT.inverse(ROBOT.nominal, chosen.position, chosen.rotation)
    assert abs(again - chosen.readings).max() < 1e-8
    data = json.loads((folder / "selection.json").read_text(encoding="utf-8"))
    assert data["needed"] == 7
    assert set(data["sets"]) >= {"chosen", "extremal, all"}
    assert data["sets"]["chosen"]["position"] < data["sets"]["random, median of 100"]["position"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Readings to command" in page
    assert not re.search(r'(?:src|href)="https?:', page)
    assert (folder / "figures" / "accuracy.svg").is_file()


def test_the_long_way_says_the_same(study, capsys, monkeypatch):
    monkeypatch.setattr("gough.studies.pose_selection.selection_documents", lambda *_: {})
    said = []
    for way in (["poses"], ["poses", "select"]):
        assert run([*way, str(study), "--count", "8", "--json"]) == 0  # into the same folder
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1]


def test_processes_choose_the_same_poses(study, capsys, monkeypatch):
    monkeypatch.setattr("gough.studies.pose_selection.selection_documents", lambda *_: {})
    study.write_text(STUDY.replace("starts = 1", "starts = 3"))
    said = []
    for folder, more in (("one", []), ("two", ["--workers", "2"])):
        assert run(["poses", str(study), "--count", "8", "--json", "--out", str(study.parent / folder), *more]) == 0
        said.append(json.loads(capsys.readouterr().out))
    assert said[0] == said[1]


def test_how_many_for_a_target(study, capsys, monkeypatch):
    monkeypatch.setattr("gough.studies.pose_selection.selection_documents", lambda *_: {})
    assert run(["poses", "--target", "0.1 mm", str(study), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["criterion"] == "pose"
    assert data["how_many"]["at_least"] <= data["how_many"]["count"] == data["count"] == len(data["readings"])
    assert data["sets"]["chosen"]["position"] <= 0.1e-3
    study.write_text(STUDY.replace("starts = 1", "starts = 1\nmost = 7"))
    assert run(["poses", str(study), "--target", "0.001 mm", "--out", str(study.parent / "other")]) == 1
    assert "not the target of 0.00100 mm" in capsys.readouterr().out


def test_another_robot_within_a_box(study, capsys, monkeypatch):
    monkeypatch.setattr("gough.studies.pose_selection.selection_documents", lambda *_: {})
    study.write_text(PRINTER)
    assert run(["poses", str(study)]) == 0
    printed = capsys.readouterr().out
    assert "6 configurations of the linear delta" in printed
    assert "σ orientation" not in printed
    assert "arm_a" not in printed


def test_what_was_measured_is_completed(study, rng):
    write_poses(study.parent / "before.csv", measured(truth(rng), EXTREMAL[:20], rng)[1])
    study.write_text(STUDY.replace("starts = 1", 'starts = 1\ncomplete = "before.csv"\ncount = 2'))
    chosen = PoseSelectionStudy.read(study).choose()
    alone = PoseSelectionStudy.read(study).problem.workspace.accuracy(
        chosen.selection.problem.information, chosen.selection.problem.information.known
    )
    assert len(chosen.selection.rows) == 2
    assert chosen.selection.accuracy.position < alone.position


def test_a_camera_and_cones(study):
    camera = """
[selection.camera]
position = [0, 0, "1.5 m"]
direction = [0, 0, -1]
half_angle = "12 deg"
target = [0, 0, "20 mm"]
incidence = "20 deg"
radius = "30 mm"
distance = ["0.5 m", "2 m"]
"""
    cones = 'base_cone = "25 deg"\nplatform_cone = "30 deg"\nmargin = 0.2\n'
    study.write_text(STUDY.replace("60 deg", "22 deg") + cones + camera)
    assert CalibrationStudy.read(study).table.selection is not None  # a calibration does not mind
    problem = PoseSelectionStudy.read(study).problem
    assert problem.candidates.rejected["camera's view"] > 0
    R = problem.candidates.poses.rotation
    assert np.degrees(np.arccos(R[:, 2, 2])).max() < 22.1


def test_both_ways_are_shown_in_the_help(capsys):
    assert run(["poses", "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "gough poses study.toml --count 16" in shown
    assert "select" in shown


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.replace("draws", "drawn"), r"line 15, \[selection\] drawn.*did you mean 'draws'"),
        (
            lambda t: t.replace("pose.tilt", "pose.tild"),
            r"line 20, \[selection.limits.pose\] tild.*did you mean 'tilt'",
        ),
        (lambda t: t.replace("140 mm", "140 deg"), "line 19.*measures rad"),
        (lambda t: t.replace("60 deg", "60 mm"), "line 20.*measures m"),
        (lambda t: t.replace('["0 mm", "140 mm"]', '["140 mm", "0 mm"]'), "line 19.*lower < upper"),
        (lambda t: t.replace('["0 deg", "60 deg"]', '["80 deg", "85 deg"]'), "line 18.*94 break the range of tilt"),
        (lambda t: t.replace('readings = ["0 mm", "140 mm"]\n', ""), "line 18.*state the ranges of its readings"),
        (lambda t: t.replace("starts = 1", "starts = 1\ncount = 6"), "line 17.*7 poses are needed at least"),
        (lambda t: t.replace("starts = 1", "starts = 1\ncount = 500"), "line 17.*only 9. candidates keep"),
        (lambda t: t.replace("starts = 1", 'criterion = "F"'), "line 16.*must be 'D', 'A', 'E' or 'pose'"),
        (lambda t: t.replace("starts = 1", 'target = "5 deg"'), "line 16.*measures rad"),
        (lambda t: t.replace("starts = 1", 'complete = "none.csv"'), "line 16.*no such file"),
        (lambda t: re.sub(r"\[noise\].*?\n\n", "", t, flags=re.DOTALL), "state the noise of the candidates"),
        (lambda t: t.replace('orientation = "0.01 deg"\n', ""), "line 9.*orientations too"),
        (lambda t: t.replace("[robot]", "[printer]"), "no such key"),
        (lambda t: t.replace('"deltalab"', '"deltalap"'), "did you mean 'deltalab'"),
        (lambda t: t + "\n[calibration]\nfixed = ['a9x']\n", "line 23.*no parameter is called 'a9x'"),
        (lambda t: t[t.index("[poses]") :], r"needs a table \[robot\]"),
    ],
)
def test_refusals_name_the_line(change, message, study, capsys):
    study.write_text(change(STUDY))
    assert run(["poses", str(study)]) == 2
    error = capsys.readouterr().err
    assert re.search(message, error, re.DOTALL), error
    assert not (study.parent / "poses").exists()


def test_a_count_and_a_target_exclude_each_other(study, capsys):
    assert run(["poses", str(study), "--count", "9", "--target", "1 mm"]) == 2
    assert "count) or a target, not both" in capsys.readouterr().err


def test_the_answer_of_a_study_has_the_interface_of_all_answers(study, tmp_path):
    chosen = PoseSelectionStudy.read(study).choose()
    name = chosen.names[0]
    assert chosen[name] in chosen.interval(name)
    assert str(chosen) == str(chosen.selection)
    assert json.loads(chosen.to_json()) == chosen.selection.to_dict()
    assert chosen.report(tmp_path / "report").is_file()


def test_other_files_are_not_touched(study, capsys):
    folder = study.parent / "poses"
    folder.mkdir()
    (folder / "configurations.csv").write_text("mine")
    assert run(["poses", str(study)]) == 2
    assert "nothing was touched" in capsys.readouterr().err
    assert (folder / "configurations.csv").read_text() == "mine"
    assert run(["poses", "missing.toml"]) == 2
    assert "missing.toml cannot be read" in capsys.readouterr().err
    assert run(["poses", str(study), "--counts", "3"]) == 2
    assert run(["poses", str(study), "--criterion", "F", "--out", str(study.parent / "new")]) == 2
    assert "criterion must be 'D' or" in capsys.readouterr().err
