"""`gough design`: from a study to a trajectory, in this process or in several."""

import json

import pytest
import typer
from typer.testing import CliRunner

from gough.cli.design import design

STUDY = """\
[robot]
family = "five-bar"

[design]
harmonics = 1
starts = 1
rate = "200 Hz"
frequency = 0.5
sigma = 0.1
home = [2.05, 1.09]

[design.limits]
speeds = 6
efforts = 5
"""


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study.toml"
    path.write_text(STUDY, encoding="utf-8")
    return path


def run(*arguments):
    app = typer.Typer()
    app.command()(design)
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_a_trajectory_and_a_report(study):
    shown = run(study)
    assert shown.exit_code == 0, shown.output
    for words in (
        "five-bar: −ln det F",
        "σ predicted",
        "room left",
        "trajectory.csv",
        "effort errors of 0.1000 N·m",
        'period = "2 s"',
    ):
        assert words in shown.stdout
    folder = study.parent / "design"
    assert {"trajectory.csv", "design.json", "design.txt", "report.html"} <= {path.name for path in folder.iterdir()}
    assert json.loads((folder / "design.json").read_text())["robot"] == "five-bar"


def test_json_from_several_processes(study):
    shown = run(study, "--json", "--workers", "2")
    assert shown.exit_code == 0, shown.output
    assert json.loads(shown.stdout) == json.loads((study.parent / "design" / "design.json").read_text())


def test_a_trajectory_is_checked_for_tracking_errors(study, tmp_path):
    """At the last sample the distal links are nearly one line."""
    path = tmp_path / "mine.csv"
    path.write_text("time,q1 [deg],q2 [deg]\n0.0,117.5,62.5\n0.1,118,62\n0.2,118.5,61.5\n")
    shown = run(study, "--check", path)
    assert shown.exit_code == 0, shown.output
    assert "With tracking errors up to 20 mrad" in shown.stdout
    path.write_text("time,q1 [deg],q2 [deg]\n0.0,117.5,62.5\n0.1,140,40\n0.2,176,4\n")
    shown = run(study, "--check", path, "--json")
    assert shown.exit_code == 1, shown.output
    assert json.loads(shown.stdout)["limits_exceeded"] == ["distance to singularity"]
    path.write_text("time,a,b\n0.0,1,1\n0.1,1,1\n0.2,1,1\n")
    shown = run(study, "--check", path)
    assert "has the columns q1, q2" in str(shown.exception)


def test_a_folder_of_others_is_not_touched(study, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    shown = run(study, "--out", tmp_path / "mine")
    assert shown.exit_code != 0
    assert "gough did not write" in str(shown.exception)
