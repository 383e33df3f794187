"""Estimates, certificates, problems and studies that earlier versions wrote are still read, and mean the same.

A folder of tests/samples has the name of a version and holds what it wrote. Samples are never changed; new versions add
folders. Older certificates about legs and chains, without a manifest, are in tests/checker/data.
"""

import json
from pathlib import Path

import pytest

from gough import Claim, Estimate, Status, read_study
from gough.checker import check, check_folder, load
from gough.data import read_problem
from gough.studies import CalibrationStudy, DesignStudy, IdentificationStudy, PoseSelectionStudy

SAMPLES = Path(__file__).parent / "samples"
TRUTH = {"mass": 2.0, "friction": 1.0}
KINDS = {
    "identify": IdentificationStudy,
    "repeats": IdentificationStudy,
    "design": DesignStudy,
    "calibrate": CalibrationStudy,
    "select": PoseSelectionStudy,
}


def files(pattern):
    found = sorted(SAMPLES.glob(f"*/{pattern}"))
    assert found
    return pytest.mark.parametrize("file", found, ids=lambda file: f"{file.parent.name}/{file.name}")


def same(old, new):
    """Every value that was written is still there; keys may have been added."""
    if isinstance(old, dict):
        return all(key in new and same(value, new[key]) for key, value in old.items())
    if isinstance(old, list):
        return len(old) == len(new) and all(map(same, old, new))
    return old == new


@files("estimate-*.json")
def test_estimates_are_read_bit_for_bit(file):
    text = file.read_text(encoding="utf-8")
    answer = Estimate.from_json(text)
    assert same(json.loads(text), json.loads(answer.to_json()))
    if answer.status is Status.INCONSISTENT:
        assert answer.interval("mass").is_empty
    elif answer.claim > Claim.VALUE:
        assert all(true in answer.interval(name) for name, true in TRUTH.items())


def problems(certificate):
    """The problem that a certificate is about, and the other one, in which one row is wrong or right."""
    spoilt = any(word in certificate.name for word in ("relaxed", "contradiction", "outliers"))
    names = ("spoilt.npz", "problem.npz") if spoilt else ("problem.npz", "spoilt.npz")
    return [read_problem(certificate.with_name(name)) for name in names]


@files("certificate-*.json")
def test_certificates_still_hold_of_their_problem_only(file):
    own, other = problems(file)
    verdict = check(load(file), own)
    assert verdict.holds, verdict.reason
    assert not check(load(file), other).holds


@files("study-*.toml")
def test_studies_are_read(file):
    assert type(read_study(file)) is KINDS[file.stem.removeprefix("study-")]


def test_old_names_in_studies_are_read_with_a_note(tmp_path):
    old = SAMPLES / "0.1" / "study-calibrate.toml"
    study = CalibrationStudy.read(old)
    assert study.table.calibration.frames == "robot"
    assert study.notes == (
        f"{old}, line 1, machine: the name is [robot] now.",
        f"{old}, line 18, [certify] legs: the name is 'chains' now.",
        f'{old}, line 15, [calibration] frames: "machine" is written "robot" now.',
    )
    new = tmp_path / "study.toml"
    text = (
        old.read_text(encoding="utf-8")
        .replace("[machine]", "[robot]")
        .replace('"machine"', '"robot"')
        .replace("legs = ", "chains = ")
    )
    new.write_text(text, encoding="utf-8")
    assert CalibrationStudy.read(new).table == study.table
    assert CalibrationStudy.read(new).notes == ()


@pytest.mark.parametrize(
    "folder", [path for path in SAMPLES.glob("*/certificates/*") if path.is_dir()], ids=lambda p: p.name
)
def test_certificates_of_chains_hold_as_before(folder):
    """About the same questions, by the same poses, from the decimals of the user's files on."""
    expected = json.loads((folder.parent / "verdicts.json").read_text(encoding="utf-8"))[folder.name]
    found = check_folder(folder)
    assert found, found.faults
    assert found.from_sources
    assert {
        name: {"about": found.about[name], "rows": list(each.rows)} for name, each in found.verdicts.items()
    } == expected
