"""`gough certify` for deltas, H4, Par4 and planar 3-RRR, and `gough check` of what it writes."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.certified_chain import measured
from gough.checker.chain_files import load_question, save_question
from gough.cli.app import run
from gough.closure.certified_chain import quadratic_unknowns
from gough.core.errors import InputError
from gough.data import write_poses
from gough.region import Box
from gough.robots import LinearDelta, RotaryDelta
from gough.studies.calibration import CalibrationStudy

STUDY = """
[robot]
family = "{family}"

[poses]
file = "poses.csv"

[certify]
position = "0.1 mm"
readings = "0.03 {unit}"
around = "50 mm"
"""


def write(folder, model, family, more="", *, bad=None, n=20):
    poses = measured(model, np.random.default_rng(3), n)
    if bad is not None:
        off = poses.position.copy()
        off[bad] += 0.005
        poses = replace(poses, position=off)
    write_poses(folder / "poses.csv", poses if model.has_orientation else replace(poses, rotation=None))
    unit = "mm" if model.reading_unit == "m" else "mrad"
    (folder / "study.toml").write_text(STUDY.format(family=family, unit=unit) + more)
    return folder / "study.toml"


@pytest.fixture(scope="module")
def printer(tmp_path_factory):
    """A delta with a wrong pose."""
    path = write(tmp_path_factory.mktemp("printer"), LinearDelta(), "linear-delta", "outliers = 1\n", bad=7)
    return path.parent / "results-certified", run(["certify", str(path)])


def test_a_delta_with_a_wrong_pose_is_refuted(printer, capsys):
    folder, code = printer
    assert code == 1
    data = json.loads((folder / "certification.json").read_text(encoding="utf-8"))
    assert data["refuted"]
    assert [each["finding"] for each in data["chains"]] == ["refuted"] * 3
    for each in data["chains"]:
        assert 0 < each["epsilon"]["lower"] < each["epsilon"]["upper"] < each["epsilon"]["lower"] + 1e-4
        assert 7 in each["poses_to_blame"]
        assert each["without_poses"]["at_least"] == 1
        assert each["without_poses"]["epsilon"]["upper"] == 0
        assert all(file["holds"] for file in each["certificates"])
    assert [each["without_poses"]["named"] for each in data["chains"]] == [[], [7], [7]]
    assert data["joint"]["finding"] == "refuted"
    assert data["joint"]["left_out"] == [7]
    assert data["joint"]["epsilon_without"] == 0
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "Boxes of the chains" in page
    capsys.readouterr()
    assert run(["check", str(folder / "certificates")]) == 0
    out = capsys.readouterr().out
    count = sum(len(each["certificates"]) for each in (*data["chains"], data["joint"]))
    assert f"{count} of {count} certificates hold" in out
    assert count == 3 * 5 + 3
    assert "Derived from the sources in exact arithmetic" in out
    assert "readings: chain 1 ± 0.03 mm, chain 2 ± 0.03 mm, chain 3 ± 0.03 mm" in out
    assert "Chains fit together if in each pose the same errors of p serve all of them." in " ".join(out.split())


def test_certificates_find_their_equations(printer, tmp_path, capsys):
    folder = printer[0] / "certificates"
    assert run(["check", str(folder / "chain-2-epsilon-upper.json"), "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["kind"] == "ChainWitness"
    assert verdict["problem"].endswith("equations.json")
    question = load_question(folder / "equations.json")
    wider = replace(question, prior=Box(question.prior.lower, question.prior.upper + 1e-3))
    save_question(wider, tmp_path / "wider.json")
    assert run(["check", str(folder / "chain-2-empty.json"), str(tmp_path / "wider.json")]) == 1
    assert "other measurements or equations" in capsys.readouterr().out
    (tmp_path / "wider.json").unlink()
    for name in ("chain-2-empty.json", "equations.json"):
        text = (folder / name).read_text()
        at = text.index(".", len(text) // 3) + 1
        (tmp_path / name).write_text(text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :])
        assert run(["check", str(tmp_path / name)]) == 2
    capsys.readouterr()
    assert run(["check", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert told.count("seal is broken") == 2
    assert "0 of 1 certificates hold." in told


def test_chains_that_fit(tmp_path):
    model = RotaryDelta()  # its chains satisfy conditions exactly
    path = write(tmp_path, model, "rotary-delta", "chains = [2]\n", n=14)
    found = CalibrationStudy.read(path).certify()
    (chain,) = found.chains
    assert chain.finding.value == "fits"
    assert not found.refuted
    assert all(file.holds for file in chain.files)
    assert chain.epsilon.upper == 0  # as its certificate proves, and no less
    assert quadratic_unknowns(model, model.nominal, 2) in chain.box
    columns = model.columns[1]
    for own, k in zip(chain.parameters, columns, strict=True):
        assert (own.name, own.unit) == (model.names[k], model.units[k])
        assert own.lower <= model.nominal[k] <= own.upper


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("chains = [4]\n", "line 12.*there is no chain 4: the robot has 3"),
        ('orientation = "1 deg"\n', "does not turn"),
        ('[certify.model_error]\nconstant = "1 mrad"\n', "line 13.*measures rad"),
        ("[certify.model_error]\nposition = -1e-3\n", "line 13.*must not be negative"),
        ('[calibration]\nframes = "instrument"\n', r"line 13.*state where the base is.*\[frames.base\]"),
    ],
)
def test_refusals_name_the_line(tmp_path, more, message):
    path = write(tmp_path, LinearDelta(), "linear-delta", more, n=8)
    with pytest.raises(InputError, match=f"(?s){message}"):
        CalibrationStudy.read(path).certify()


def test_one_length_and_one_half_width_for_each_chain(tmp_path):
    path = write(tmp_path, LinearDelta(), "linear-delta", n=8)
    text = path.read_text()
    path.write_text(text.replace('"50 mm"', '["1 mm", "1 mm", "1 mm"]'))
    with pytest.raises(InputError, match="one length"):
        CalibrationStudy.read(path).certify()
    path.write_text(text.replace('"0.03 mm"', '["1 mm", "1 mm"]'))
    with pytest.raises(InputError, match="each of 3 chains"):
        CalibrationStudy.read(path).certify()
