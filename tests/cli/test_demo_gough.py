"""`gough demo gough`: a calibration campaign from images to proofs, against the truth."""

import json
from functools import partial

import pytest

from gough.cli import demo
from gough.cli.app import run
from gough.papers import calibration_demonstration
from gough.papers.calibration_demonstration import FAULTS, demonstrate_calibration


@pytest.fixture
def one_fault(monkeypatch):
    """The demonstration with one fault instead of four, which take their time."""
    short = partial(demonstrate_calibration, faults=FAULTS[1:2])
    assert tuple(calibration_demonstration.CALIBRATIONS) == demo.CALIBRATIONS
    monkeypatch.setattr(calibration_demonstration, "CALIBRATIONS", {"gough": short})


def test_what_is_printed_and_written(one_fault, tmp_path, capsys):
    folder = tmp_path / "demo"
    assert run(["demo", "gough", "--out", str(folder), "--seed", "3"]) == 0
    told = capsys.readouterr().out
    for words in (
        "Not refuted",
        "6 of 6 hold the true leg",
        "backlash of 0.1 mm",
        "fit, with measurements exhibited",
        "weighted",
        "in the instrument's frames",
        "≤ 0: the stated ones suffice",
        "all together",
        "Report:",
    ):
        assert words in told
    data = json.loads((folder / "calibration.json").read_text(encoding="utf-8"))
    assert len(data["truth"]) == len(data["parameters"]) == 42
    assert data["refuted"] is False
    for leg, lower in enumerate(row["lower"] for row in data["legs"]):
        names = [
            f"a{leg + 1}x",
            f"a{leg + 1}y",
            f"a{leg + 1}z",
            f"b{leg + 1}x",
            f"b{leg + 1}y",
            f"b{leg + 1}z",
            f"l{leg + 1}",
        ]
        upper = data["legs"][leg]["upper"]
        assert all(low <= data["truth"][n] <= high for n, low, high in zip(names, lower, upper, strict=True))
    (fault,) = data["faults"]
    assert fault["legs_refuted"] == 0  # what no leg by itself shows, all legs together do
    assert fault["refuted"] is fault["together"] is True
    assert 0 < fault["epsilon"][0] < fault["epsilon"][1] < 5e-5  # half of the play
    position = {row["what"]: (row["before"], row["after"]) for row in data["validation"]}
    before, after = position["mean position error [mm]"]
    assert before > 0.5
    assert after < 0.03
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "The same campaign with a fault" in page
    assert "0 of 6 legs refuted" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["goug"], "did you mean 'gough'"),
        (["gough", "--full"], "no --full"),
        (["gough", "--variant", "x"], "no --variant"),
    ],
)
def test_refusals(arguments, message, tmp_path, capsys):
    assert run(["demo", *arguments, "--out", str(tmp_path / "new")]) == 2
    assert message in capsys.readouterr().err
