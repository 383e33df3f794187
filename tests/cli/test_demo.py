"""`gough demo` from end to end."""

import json
from functools import partial

import numpy as np
import pytest

from gough import Estimate, Status
from gough.cli import demo
from gough.cli.app import run
from gough.estimates import Claim
from gough.papers.demonstration import demonstrate
from gough.report.base.words import in_sigma


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "out"


@pytest.fixture
def short(monkeypatch):
    """The same command in a fraction of the time."""
    monkeypatch.setattr(demo, "demonstrate", partial(demonstrate, methods=["weighted", "hull"], periods=2))


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.usefixtures("short")
def test_the_demo_tells_and_writes_and_may_be_repeated(folder, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    assert run(["demo", "five-bar", "--out", str(folder)]) == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    told = " ".join(shown.out.split())
    for words in (
        "The methods do not use the true values",
        "15 of 21 parameters",
        "mx_1* = mx_1",
        "ε*",
        "Hull: 15 of 15 true values",
    ):
        assert words in told
    first = contents(folder)
    assert {"report.html", "report.json", "estimate.json", "figures/fit.png"} <= set(first)
    assert run(["demo", "five-bar", "--out", str(folder)]) == 0
    assert contents(folder) == first


@pytest.mark.usefixtures("short")
def test_json_is_all_that_stdout_gets(folder, capsys):
    assert run(["demo", "five-bar", "--json", "--seed", "2", "--out", str(folder)]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data == json.loads((folder / "report.json").read_text())
    estimates = json.loads((folder / "estimate.json").read_text())
    assert Estimate.from_dict(estimates["hull"]).claim is Claim.PROOF


@pytest.mark.parametrize("seed", [1, 2])
def test_the_h4_is_found_from_its_recording(seed):
    done = demonstrate("h4", seed=seed, methods=["weighted", "hull"], seconds=(6.0, 6.0), candidates=8)
    assert done.identified.identifiability.is_full_rank
    assert abs(in_sigma(done.identified["weighted"], done.truth)).max() < 5
    assert done.identified["hull"].status is Status.OK
    assert done.truth in done.identified["hull"].region
    assert done.identified.adequacy.recommended == "rods"


def test_the_paper_s_model_is_called_inadequate():
    short = {"seconds": (6.0, 6.0), "candidates": 8}
    done = demonstrate("h4", seed=1, variant="paper", methods=["weighted"], **short)
    assert len(done.truth) == 14
    assert done.identified.adequacy.finding.name == "INADEQUATE"
    assert "the weight of the arms" in done.identified.adequacy.verdict


def test_the_gains_of_the_par4_are_measured_first():
    done = demonstrate("par4", seed=1, methods=["weighted"], seconds=(4.0, 4.0), candidates=4)
    found = np.array([gain.gain for gain in done.gains])
    assert abs(found / done.campaign.gain - 1).max() < 0.02
    assert abs(in_sigma(done.identified["weighted"], done.truth)).max() < 20  # gains err by more than torques


def test_an_unknown_robot_is_told_the_nearest(folder, capsys):
    assert run(["demo", "fivebar", "--out", str(folder)]) == 2
    assert "did you mean 'five-bar'?" in capsys.readouterr().err
    assert not folder.exists()


def test_a_variant_that_is_not_there(folder, capsys):
    assert run(["demo", "five-bar", "--variant", "paper", "--out", str(folder)]) == 2
    assert "one model only" in " ".join(capsys.readouterr().err.split())


def test_a_foreign_folder_is_left_alone(folder, capsys):
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    assert run(["demo", "--out", str(folder)]) == 2
    assert "thesis.tex" in capsys.readouterr().err.replace("\n", "")
    assert contents(folder) == {"thesis.tex": b"years of work"}


@pytest.mark.parametrize("arguments", [["--seed", "-1"], ["--nonsense"]])
def test_wrong_options_are_refused(arguments, folder, capsys):
    assert run(["demo", *arguments, "--out", str(folder)]) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert not folder.exists()
