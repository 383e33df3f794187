"""`[physical]` in a study: possible bodies by `gough identify`, and every way in which it can be wrong."""

import json
import shutil
import sys

import pytest

from gough.cli.app import run
from gough.data import write_recording
from gough.dynamics import PossibleBodies
from gough.papers.demonstration import simulate

pytest.importorskip("cvxpy", reason="possible bodies need the extra `physical`")


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    folder = tmp_path_factory.mktemp("example") / "robot"
    assert run(["new", str(folder), "--robot", "five-bar"]) == 0
    _, recorded, _ = simulate("five-bar", seed=1, periods=1)
    write_recording(folder / "recording.csv", recorded.recording)
    text = (folder / "study.toml").read_text()
    start = text.index("[[data.validation]]")
    text = text[:start] + text[text.index("[data.columns]") :]
    (folder / "study.toml").write_text(text.replace("[methods]", '[methods]\nuse = ["weighted"]'))
    return folder


def study(example, tmp_path, physical, noise=""):
    shutil.copytree(example, tmp_path / "robot")
    path = tmp_path / "robot" / "study.toml"
    path.write_text(path.read_text().replace("[noise]", f"{physical}\n\n[noise]\n{noise}"))
    return path


def test_a_study_asks_for_possible_bodies(example, tmp_path, capsys):
    text = '[physical]\nmargin = 0.01\nranges = false\n[physical.inside."link 1"]\nradii = "500 mm"'
    path = study(example, tmp_path, text)
    assert run(["identify", str(path)]) in {0, 1}
    assert "Possible bodies" in capsys.readouterr().out
    saved = (path.parent / "results" / "possible-bodies.json").read_text(encoding="utf-8")
    answer = PossibleBodies.from_json(saved)
    assert answer.margin == 0.01
    assert min(body.margin for body in answer.bodies) >= 0.01
    assert not (path.parent / "results" / "physical-certificate.json").exists()


def test_stated_bounds_make_certificates(example, tmp_path, capsys):
    path = study(example, tmp_path, '[physical]\nheaviest = "20 kg"', noise='bound = "0.3 N*m"')
    code = run(["identify", str(path)])
    said = " ".join(capsys.readouterr().out.split())
    results = path.parent / "results"
    assert "No body is heavier than 20" in said
    files = [str(results / name) for name in ("physical-certificate.json", "physical-problem.json")]
    assert run(["check", *files]) == 0
    stated = json.loads((results / "report.json").read_text(encoding="utf-8"))["certified"]
    assert stated["is_empty"] <= (code == 1)


@pytest.mark.parametrize(
    ("physical", "words"),
    [
        ("[physical]\nmargin = -0.1", "[physical] margin: margin is the share of its blueprint"),
        ('[physical]\nnearest = "euclid"', "[physical] nearest: nearest must be one of log-det, frobenius"),
        ('[physical]\nequal = [["link 1", "link 11"]]', "[physical] equal: the robot has no body 'link 11'"),
        ('[physical]\nequal = [["link 1", "link 2"], ["link 2", "link 3"]]', "in group 1 and in group 2"),
        ('[physical.inside.plate]\nradii = "1 m"', "the robot has no body 'plate'"),
        ('[physical.inside."link 1"]\nradii = "-1 m"', "greater than 0"),
        ('[physical.inside."link 1"]\nradii = ["1 m", "2 m"]', "three numbers"),
        ('[physical]\nheaviest = "0 kg"', "greater than 0"),
        ("[physical]\nmargins = 1", "did you mean 'margin'"),
    ],
)
def test_bad_tables_are_refused(physical, words, example, tmp_path, capsys):
    path = study(example, tmp_path, physical)
    assert run(["identify", str(path)]) == 2
    shown = capsys.readouterr()
    assert words in " ".join(shown.err.split())
    assert "Traceback" not in shown.err
    assert not (path.parent / "results").exists()


def test_a_missing_extra_is_named(example, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "cvxpy", None)
    assert run(["identify", str(study(example, tmp_path, "[physical]"))]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "pip install '.[physical]'" in said
    assert "study.toml, line" in said
