"""Certificates whose readings are off by less than stated, or whose equations state little: what a forger may try."""

import numpy as np
import pytest

from gough import Box
from gough.checker import (
    ChainCertificate,
    ChainCut,
    ChainEmpty,
    ChainOutliers,
    ChainQuestion,
    ChainStage,
    ChainWitness,
    LegMeasurements,
    check_chains,
)
from gough.checker.chain_files import render_chains, render_question
from gough.checker.manifest import Given, SourceFile, render_manifest, summary_of
from gough.checker.rod_equations import RodEquations
from gough.cli.app import run
from gough.core.errors import InputError

STUDY = b"""[robot]
family = "gough"
[robot.geometry]
base = [["0 m", "0 m", "0 m"]]
platform = [["0 m", "0 m", "0 m"]]
length = "0 m"
[poses]
file = "poses.csv"
[certify]
position = "0 m"
orientation = "0 rad"
readings = "1 mm"
around = "1 um"
"""
POSES = b"x [mm],y [mm],z [mm],qw,qx,qy,qz,l1 [mm]\n0,0,500,1,0,0,0,500\n"
REACH = 2e-6


def question_of(reading, tolerance):
    data = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.5]], [reading], 0, 0, tolerance)
    return ChainQuestion((1,), (data,), Box([-REACH] * 7, [REACH] * 7))


def run_folder(folder, question, proofs, more):
    """A folder as `gough certify` writes it, sealed, with sources that the question contains."""
    (folder / "sources").mkdir()
    certificates = {name: ChainCertificate(question.digest(), (1,), proof, more) for name, proof in proofs.items()}
    contents = {"measurements.json": render_question(question).encode()}
    contents |= {name: render_chains(certificate).encode() for name, certificate in certificates.items()}
    sources = (
        SourceFile("study", "sources/study.toml", "study.toml", STUDY),
        SourceFile("poses", "sources/poses.csv", "poses.csv", POSES),
    )
    for name, content in (*contents.items(), *((source.name, source.content) for source in sources)):
        (folder / name).write_bytes(content)
    manifest = render_manifest("gough", contents, {"measurements.json": question}, sources, Given())
    (folder / "manifest.json").write_text(manifest, encoding="utf-8")
    return run(["check", str(folder)])


@pytest.mark.parametrize("more", [-0.0021, -0.003])
def test_an_interval_narrowed_to_a_point_stays_in_that_of_the_question(tmp_path, capsys, more):
    """a = b = l = 0 fits the data without any error; the question's reading is 1 mm off, within its tolerance."""
    question = question_of(0.501, 0.0021)
    stage = ChainStage((0.0,) * 7, (REACH,) * 7, (ChainCut("a1x", "empty", 0.0, ((1, 1.0),)),))
    proofs = {"empty.json": ChainEmpty((stage,)), "wrong.json": ChainOutliers(1, 0, (), ((stage,),))}
    assert check_chains(ChainCertificate(question.digest(), (1,), proofs["empty.json"], more), question).holds
    assert run_folder(tmp_path, question, proofs, more) == 1
    shown = capsys.readouterr().out
    assert shown.count("narrowed, is not within that of the question") == 2
    assert "0 of 2 certificates hold" in shown


def test_a_leg_that_fits_without_errors_is_shown_with_narrowed_readings(tmp_path, capsys):
    witness = ChainWitness((0,) * 7, ((0,) * 6,))
    assert run_folder(tmp_path, question_of(0.5, 0.00100001), {"fits.json": witness}, -0.003) == 0
    assert "1 of 1 certificates hold" in capsys.readouterr().out


def rod(tolerance, bend):
    A, B = np.zeros((1, 3, 2)), np.zeros((1, len(tolerance), 3, 2))
    A[0, 0, 0] = B[0, 0, 1, 0] = 1.0
    D, blur = np.zeros((1, len(tolerance), 3)), np.zeros(1)
    arrays = (np.zeros((1, 3)), A, D, B, np.array([tolerance]), np.array([[bend, 0.0]]), blur)
    return RodEquations(("arm_1", "rod_1"), *arrays, ((0, 0), (1, 1)), (), 0, "rad")


def test_what_a_turn_leaves_out_does_not_shrink_below_what_the_equations_state():
    """The rod is 0.0625 m longer than the arm: |ρ| ≤ 0.1 allows that even if the reading is exact."""
    question = ChainQuestion((1,), (rod([0.5], 0.1),), Box([1.0, 1.0625], [1.0, 1.0625]))
    for row in range(10):
        stage = ChainStage((1.0, 1.0625), (0.0, 0.0), (ChainCut("arm_1", "empty", 0.0, ((row, 1.0),)),))
        assert not check_chains(ChainCertificate(question.digest(), (1,), ChainEmpty((stage,)), -0.5), question).holds


def test_every_tolerance_of_a_question_is_in_its_summary():
    for tolerance, name in (([0.5, 5.0], "heading"), ([0.5, 0.0, 5.0], "rotation")):
        question = ChainQuestion((1,), (rod(tolerance, 0.5),), Box([1.0, 1.0], [1.0, 1.0]))
        stated = {"reading": [0.5, 0.5], name: [min(tolerance[1:]), 5.0]}
        assert summary_of(question)["tolerances"] == stated


def test_a_pose_that_is_left_out_is_not_counted_as_examined():
    data = LegMeasurements([[1, 0, 0, 0]] * 2, [[0, 0, 0.5], [0, 0, 9.0]], [0.25, 0.25], 0, 0, 0)
    question = ChainQuestion((1,), (data,), Box([0] * 6 + [0.25], [0] * 6 + [0.5]))
    witness = ChainWitness((0, 0, 0, 0, 0, 0, 0.25), ((0,) * 6,) * 2, (1,))
    verdict = check_chains(ChainCertificate(question.digest(), (1,), witness), question)
    assert verdict.holds
    assert verdict.checked == "1 of 2 poses, and the prior"
    assert "that is not left out" in verdict.reason


def test_whole_numbers_of_a_proof_have_a_limit():
    with pytest.raises(InputError, match="whole number"):
        ChainOutliers(10**5000, 0, (), ())


def test_equations_that_were_altered_after_construction_are_refused():
    equations = rod([0.0], 0.0)
    question = ChainQuestion((1,), (equations,), Box([0.4, 0.5], [0.4, 0.5]))
    equations.blur.flags.writeable = True
    equations.blur[0] = -0.25
    with pytest.raises(InputError, match="blur must not be negative"):
        check_chains(ChainCertificate(question.digest(), (1,), ChainWitness((0.4, 0.5))), question)
