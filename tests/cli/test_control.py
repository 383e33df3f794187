"""`gough control`: the table, the page and exit codes; every refusal is one line, exit code 2, and writes nothing."""

import json
import shutil

import numpy as np
import pytest

from gough.cli.app import run
from gough.robots import H4Kinematics
from tests.compiler import needs_compiler
from tests.export.models import geometric_model, named_model

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Results about a Delta with a guaranteed set."""
    folder = tmp_path_factory.mktemp("results")
    model = named_model("delta", kind="box")
    (folder / "model.json").write_text(model.to_json())
    truth = model.dynamics.parameters().tolist()
    (folder / "report.json").write_text(json.dumps({"truth": truth}))
    return folder


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


SHORT = ("--seconds", "0.3", "--controllers", "pd,feedforward")


@needs_compiler
def test_the_table_and_the_page(results, here, capsys):
    assert run(["control", str(results), *SHORT, "--limit", "100"]) == 0
    shown = capsys.readouterr().out
    assert "Proven: this motion stays within ± 100 N·m for every model that the data allow" in shown
    assert "The simulated robot has the true parameters" in shown
    page = (here / "delta-control" / "report.html").read_text()
    assert "Errors are magnified" in page
    assert (here / "delta-control" / "figures" / "robot.svg").exists()
    assert "Worst feedforward error" in page or "worst feedforward error" in page
    data = json.loads((here / "delta-control" / "control.json").read_text())
    assert [each["parameters"] for each in data["runs"]] == [None, "blueprint", "identified", "true"]
    assert data["enclosure"]["claim"] == "PROOF"
    assert data["enclosure"]["is_within"] is True


@needs_compiler
def test_a_limit_that_is_not_shown_to_suffice_exits_with_one(results, here, capsys):
    assert run(["control", str(results), *SHORT, "--controllers", "pd", "--limit", "3,100,100", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert "motor 1" in data["enclosure"]["statement"]
    assert data["enclosure"]["is_within"] is False
    assert (here / "delta-control" / "report.html").exists()


@needs_compiler
def test_stopped_by_ctrl_c_nothing_is_lost(results, here, capsys, monkeypatch):
    folder = here / "delta-control"
    folder.mkdir()

    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gough.control.study.track", stopped)
    assert run(["control", str(results), *SHORT]) == 130
    assert capsys.readouterr().err.endswith("Stopped. Files are complete or were not written.\n")
    assert not [path for path in folder.iterdir() if not path.name.startswith(".")]


def refused(capsys, *arguments) -> str:
    assert run(["control", *map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


@needs_compiler
def test_bad_input_is_refused_in_one_line(results, here, capsys):
    lacking = here / "motion.csv"
    rows = np.column_stack([np.arange(50) / 100, np.zeros((50, 2))])
    np.savetxt(lacking, rows, delimiter=",", header="time,q1,q2", comments="")
    away = here / "away.csv"
    rows = np.column_stack([np.arange(50) / 100, np.full((50, 3), 2.0)])
    np.savetxt(away, rows, delimiter=",", header="time,x,y,z", comments="")
    for arguments, words in (
        (("--controllers", "pid"), "there is no controller 'pid'; did you mean 'pd'?"),
        (("--controllers", ","), "name at least one controller"),
        (("--motion", "h4-fast"), "results are of another robot, Delta"),
        (("--motion", "cirle"), "there is no motion 'cirle'; did you mean 'circle'?"),
        (("--motion", lacking), "motion.csv has no column 'q3'"),
        (("--motion", away), "out of reach of the Delta"),
        (("--motion", here / "absent.csv"), "absent.csv"),
        (("--limit", "much"), "--limit must be numbers"),
        (("--limit", "1,2"), "there are 3 actuators, but 2 limits"),
        (("--limit", "-1"), "limit must not be negative"),
        (("--rate", "0"), "rate must be"),
        (("--engine", "adams"), "engine must be one of mujoco, pinocchio"),
        (("--seconds", "0"), "--seconds must be positive"),
        (("--method", "magic"), "no estimate is by 'magic'"),
        (("--out", results), "is the folder of the results"),
    ):
        assert words in refused(capsys, results, *arguments)
        assert not (here / "delta-control").exists()
    assert "contains no results" in refused(capsys, here)


@needs_compiler
def test_results_of_another_robot_or_kind_are_refused(results, here, capsys):
    other = here / "other"
    other.mkdir()
    (other / "model.json").write_text(named_model("h4").to_json())
    shutil.copy(results / "report.json", other)
    assert "the truth is that of another robot" in refused(capsys, other)
    calibrated = geometric_model(H4Kinematics(), np.array([[0.2] * 4, [0.8] * 4]))
    (other / "model.json").write_text(calibrated.to_json())
    assert "a calibration has no dynamics" in refused(capsys, other)


def test_without_a_compiler_nothing_is_simulated(results, here, monkeypatch, capsys):
    monkeypatch.setenv("PATH", str(here))
    monkeypatch.delenv("CC", raising=False)
    assert "the controller is the exported C, which cannot be compiled here" in refused(capsys, results)
