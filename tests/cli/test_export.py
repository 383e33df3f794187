"""`gough export`: results to files for other programs; every refusal is one line, exit code 2, and writes nothing."""

import json
from errno import EFBIG, ENOSPC
from pathlib import Path

import numpy as np
import pytest

from gough.cli.app import run
from gough.data import write_recording
from gough.export import RobotModel
from gough.papers.demonstration import simulate
from tests.compiler import needs_compiler


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The results of `gough identify` about a five-bar."""
    folder = tmp_path_factory.mktemp("example") / "robot"
    assert run(["new", str(folder), "--robot", "five-bar"]) == 0
    _, recorded, other = simulate("five-bar", seed=1, periods=2)
    write_recording(folder / "recording.csv", recorded.recording)
    write_recording(folder / "validation.csv", other.recording)
    study = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(study.replace("[methods]", '[methods]\nuse = ["weighted", "hull"]'))
    run(["identify", str(folder / "study.toml"), "--out", str(folder / "results")])
    return folder / "results"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys, *arguments) -> str:
    assert run(["export", *map(str, arguments)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    return shown.err


@needs_compiler
def test_c_is_written_after_it_was_compiled_and_compared(results, here, capsys):
    assert run(["export", str(results)]) == 0
    shown = capsys.readouterr().out
    assert "compiled C, double precision: largest relative difference" in shown
    assert "compiled C, single precision" in shown
    names = {path.name for path in (here / "five_bar-c").iterdir()}
    assert {"five_bar.c", "five_bar.h", "five_bar_test.c", "CMakeLists.txt", "model.json"} <= names
    assert RobotModel.read(here / "five_bar-c").name == "five-bar"
    (here / "five_bar-c" / "build").mkdir()
    (here / "five_bar-c" / "build" / "CMakeCache.txt").write_text("made by cmake")
    assert run(["export", str(results), "--method", "hull", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["verified"]["compiled C, double precision"]["error"] < 1e-9
    assert "guaranteed set by hull" in (here / "five_bar-c" / "five_bar.h").read_text()


def test_the_help_shows_names_of_tables(capsys):
    assert run(["export", "--help"]) == 0
    assert "[physical]" in capsys.readouterr().out


def test_without_a_compiler_nothing_is_written(results, here, capsys, monkeypatch):
    monkeypatch.setenv("GOUGH_NO_COMPILER", "1")
    assert "cannot be verified" in refused(capsys, results)
    assert not list(here.iterdir())
    assert run(["export", str(results), "--no-verify", "--name", "bar"]) == 0
    assert "Nothing was verified" in capsys.readouterr().out
    assert (here / "bar-c" / "bar.c").is_file()


def test_bad_input_is_refused_in_one_line(results, here, capsys):
    assert "nowhere does not exist" in refused(capsys, "nowhere")
    (here / "empty").mkdir()
    assert "empty contains no results" in refused(capsys, "empty")
    (here / "empty" / "estimate.json").write_text("{}")
    assert "results without model.json" in refused(capsys, "empty")
    assert "no export to 'matlab'" in refused(capsys, results, "--to", "matlab")
    assert "no estimate is by 'magic'" in refused(capsys, results, "--method", "magic")
    assert "is the folder of the results" in refused(capsys, results, "--out", results)
    assert "these are of the same kind" in refused(capsys, results, results)
    assert "cannot name a kernel" in refused(capsys, results, "--name", "1bar")
    (here / "mine").mkdir()
    (here / "mine" / "thesis.tex").write_text("years of work")
    assert "which gough did not write" in refused(capsys, results, "--out", "mine")
    assert (here / "mine" / "thesis.tex").read_text() == "years of work"
    data = json.loads((results / "model.json").read_text())
    data["dynamics"]["robot"]["base"] = "wide"
    (here / "damaged").mkdir()
    (here / "damaged" / "model.json").write_text(json.dumps(data))
    assert "model.json" in refused(capsys, "damaged")
    assert sorted(path.name for path in here.iterdir()) == ["damaged", "empty", "mine"]


@pytest.fixture
def earlier(results, here):
    """A folder of an earlier export, and what is in it."""
    assert run(["export", str(results), "--no-verify", "--out", "old"]) == 0
    return {path.name: path.read_bytes() for path in (here / "old").iterdir() if path.is_file()}


def kept(folder, before):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in before} == before


@needs_compiler
def test_stopped_by_ctrl_c_nothing_is_lost(results, here, earlier, capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("gough.export.compiling.subprocess.run", stopped)
    capsys.readouterr()
    for form in ("c", "fmu"):
        assert run(["export", str(results), "--to", form, "--out", "old"]) == 130
        assert capsys.readouterr().err == "Stopped. Files are complete or were not written.\n"
        assert kept(here / "old", earlier)
    assert not [path for path in here.iterdir() if path.name != "old"]


def test_a_full_disk_loses_nothing(results, here, earlier, capsys, monkeypatch):
    real = Path.write_bytes

    def full(self, content):
        if "unfinished" in self.name and len(content) > 50_000:
            raise OSError(ENOSPC, "No space left on device", str(self))
        return real(self, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    capsys.readouterr()
    assert "free some space" in refused(capsys, results, "--no-verify", "--out", "old", "--name", "other")
    assert kept(here / "old", earlier)
    assert {path.name for path in (here / "old").iterdir()} == {*earlier}


@needs_compiler
def test_a_temporary_file_that_cannot_be_written_is_named(results, here, capsys, monkeypatch):
    def full(self, *_, **__):
        raise OSError(EFBIG, "File too large")

    monkeypatch.setattr(Path, "write_text", full)
    assert "five_bar.h cannot be written: File too large; free some space" in refused(capsys, results)
    assert not list(here.iterdir())


def test_a_command_that_is_no_compiler_is_named(results, here, capsys, monkeypatch):
    monkeypatch.setenv("CC", "false")
    assert "false --version ends with exit code 1: no C compiler. Install" in refused(capsys, results)


def test_json_is_compared_as_a_text(results, here, capsys):
    assert run(["export", str(results), "--to", "json"]) == 0
    assert "JSON, read again by gough: the same\n" in capsys.readouterr().out


def test_a_folder_that_cannot_be_made_is_refused(results, here, capsys):
    (here / "file").write_text("not a folder")
    assert "file" in refused(capsys, results, "--no-verify", "--out", "file/c")


def test_identifications_write_a_model(results):
    model = RobotModel.read(results)
    report = json.loads((results / "report.json").read_text())
    assert model.dynamics.robot.name == report["robot"]
    assert np.isfinite(model.dynamics.parameters()).all()
