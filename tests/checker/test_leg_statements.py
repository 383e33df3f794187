"""Witnesses, trees, outliers and joint statements: true ones hold, and tampering proves nothing false."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gough import Box, InputError, Status, estimate
from gough.checker import (
    LegBound,
    LegEmpty,
    LegOutliers,
    LegSplit,
    LegWitness,
    NotProven,
    PlatformQuestion,
    check_leg,
    leg_certificate,
    load_leg,
    load_question,
    save_leg,
    save_question,
)
from gough.checker.files import sealed
from gough.checker.leg_files import render_leg, render_question
from gough.checker.limits import DEPTH, BeyondLimit
from gough.checker.of_leg import empty_certificate, outlier_certificate, witness_certificate
from gough.closure.joint_exhibit import best_together, exhibited, exhibited_together
from gough.closure.joint_hull import JointHull
from gough.closure.joint_legs import JointProblem
from gough.closure.leg_outliers import wrong_poses
from gough.closure.leg_tolerance import minimal_tolerance, refuted
from gough.core.rotations import exp
from gough.evidence import LiftedTree
from gough.methods import LiftedHull
from tests.methods.legs import leg_problem, measured_platform


def random():
    return np.random.default_rng(11)


@pytest.fixture(scope="module")
def fits():
    problem, _ = leg_problem(random(), n=12, around=0.02)
    point = minimal_tolerance(problem).point
    shown = exhibited(problem, point)
    return problem, witness_certificate(problem, point, shown.move, shown.turn)


@pytest.fixture(scope="module")
def wrong():
    problem, _ = leg_problem(random(), bad=21)
    found = wrong_poses(problem, 1, (21,))
    return problem, outlier_certificate(
        problem, found.contradictions, at_least=found.at_least, q=1, outliers=found.named
    )


@pytest.fixture(scope="module")
def together():
    """Legs with so little backlash that only all together show it."""
    data, truth = measured_platform(random(), backlash=2e-4)
    problem = JointProblem(data, Box.around(truth, 3e-3), (1, 2, 3, 4, 5, 6))
    answer = estimate(problem, JointHull(bounds=False, legs=LiftedHull(rtol=0.3)), strict=False)
    return problem, answer, leg_certificate(problem, answer)


def test_a_witness_holds_and_solves_the_equations(fits):
    problem, certificate = fits
    verdict = check_leg(certificate, problem)
    assert verdict, verdict.reason
    assert "some leg 1 of the prior fits all poses" in verdict.statement[0]
    data, proof = problem.data, certificate.proof
    a, b, length = (np.array(proof.values[i]) for i in (slice(0, 3), slice(3, 6), 6))
    for k in range(len(data)):
        turn = 2 * np.arctan(np.linalg.norm(proof.turn[k])) * np.array(proof.turn[k]) / np.linalg.norm(proof.turn[k])
        assert (abs(turn) <= data.rotation_tolerance[k]).all()
        assert (abs(np.array(proof.move[k])) <= data.position_tolerance[k]).all()
        R = exp(turn) @ problem.rotation.mid[k]
        d = R @ b + data.position[k] + proof.move[k] - a
        assert abs(np.linalg.norm(d) - length - data.reading[k]) <= data.reading_tolerance[k] + 1e-15


def moved(rows, k, j, by):
    row = rows[k]
    return (*rows[:k], (*row[:j], row[j] + by, *row[j + 1 :]), *rows[k + 1 :])


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda p: replace(p, move=moved(p.move, 3, 0, 1e-3)), "pose 3: the exhibited error of its position"),
        (lambda p: replace(p, turn=moved(p.turn, 5, 1, 1e-3)), "pose 5: the exhibited error of its orientation"),
        (lambda p: replace(p, turn=((0.0, 0.0, 1e9), *p.turn[1:])), "pose 0: the exhibited error of its orient"),
        (lambda p: replace(p, values=(*p.values[:6], p.values[6] + 1e-3)), "too long"),
        (lambda p: replace(p, values=(*p.values[:6], p.values[6] - 1e-3)), "too short"),
        (lambda p: replace(p, values=(9.0, *p.values[1:])), "not within the prior"),
        (lambda p: replace(p, move=p.move[1:], turn=p.turn[1:]), "as many values"),
    ],
)
def test_a_spoilt_witness_does_not_hold(fits, spoil, reason):
    problem, certificate = fits
    verdict = check_leg(replace(certificate, proof=spoil(certificate.proof)), problem)
    assert not verdict
    assert reason in verdict.reason


def test_a_pose_that_is_left_out_is_said(fits):
    problem, certificate = fits
    proof = replace(certificate.proof, move=moved(certificate.proof.move, 3, 0, 1.0), left_out=(3,))
    verdict = check_leg(replace(certificate, proof=proof), problem)
    assert verdict
    assert "all poses but pose 3" in verdict.statement[0]


def test_some_axes_may_be_exact(rng):
    """No rounding leaks into an axis without tolerance."""
    problem, truth = leg_problem(rng, n=12, around=0.02)
    exact = problem.data.rotation_tolerance * [1.0, 0.0, 1.0]
    data = replace(problem.data, rotation_tolerance=exact, reading_tolerance=1e-3)
    problem = replace(problem, data=data)
    shown = exhibited(problem, truth)
    assert check_leg(witness_certificate(problem, truth, shown.move, shown.turn), problem)


def test_no_witness_where_none_fits(rng):
    problem, truth = leg_problem(rng, bad=7, n=12)
    shown = exhibited(problem, truth)
    with pytest.raises(NotProven, match="pose 7"):
        witness_certificate(problem, truth, shown.move, shown.turn)


def test_a_tree_proves_what_both_halves_do(rng):
    problem, truth = leg_problem(rng, bad=7, n=24)
    whole = refuted(problem)
    tree = LiftedTree((), 0, float(truth[0]), (whole, whole))
    certificate = empty_certificate(problem, tree)
    assert isinstance(certificate.proof.links[0], LegSplit)
    assert check_leg(certificate, problem)
    split = certificate.proof.links[0]
    for spoilt in (replace(split, below=()), replace(split, above=()), replace(split, unknown="a2x")):
        assert not check_leg(replace(certificate, proof=LegEmpty((spoilt,))), problem)
    links = empty_certificate(problem, whole).proof.links
    beyond = LegSplit("a1x", float(problem.prior.lower[0]) - 1.0, (), links)  # nothing is below
    assert check_leg(replace(certificate, proof=LegEmpty((beyond,))), problem)


def test_a_tree_too_deep_is_refused(fits):
    problem, certificate = fits
    link = LegSplit("a1x", 0.0, (), ())
    for _ in range(DEPTH - 1):
        link = LegSplit("a1x", 0.0, (link,), ())
    assert check_leg(replace(certificate, proof=LegBound((link,))), problem)
    with pytest.raises(BeyondLimit, match="halved 151 times in a row"):
        LegSplit("a1x", 0.0, (link,), ())


def test_the_lower_end_of_a_tolerance_is_certified_and_no_more_is(rng):
    problem, _ = leg_problem(rng, bad=7, n=24)
    found = minimal_tolerance(problem)
    certificate = empty_certificate(problem, found.tree, more=found.lower)
    assert check_leg(certificate, problem)
    assert "mm more than stated" in check_leg(certificate, problem).statement[0]
    shown = exhibited(problem, found.point)
    enough = witness_certificate(problem, found.point, shown.move, shown.turn, more=shown.needed)
    assert found.lower < enough.more <= found.upper + 1e-9
    assert not check_leg(replace(certificate, more=enough.more), problem)
    assert not check_leg(replace(enough, more=found.lower), problem)


def test_the_wrong_pose_is_proven(wrong):
    problem, certificate = wrong
    verdict = check_leg(certificate, problem)
    assert verdict, verdict.reason
    assert verdict.statement[1] == "every leg 1 of the prior that misses at most 1 of the poses misses pose 21"


def test_outliers_need_all_their_contradictions(wrong):
    problem, certificate = wrong
    proof = certificate.proof
    for spoilt, reason in (
        (replace(proof, contradictions=proof.contradictions[:1]), "escapes"),
        (replace(proof, outliers=(20,)), "escapes"),
        (replace(proof, outliers=(99,)), "no pose 99"),
        (replace(proof, q=2), "escapes"),
        (replace(proof, at_least=2), "escapes"),
    ):
        verdict = check_leg(replace(certificate, proof=spoilt), problem)
        assert not verdict
        assert reason in verdict.reason
    with pytest.raises(InputError, match="states nothing"):
        LegOutliers(0, 1, (), proof.contradictions)
    with pytest.raises(InputError, match="at least one box"):
        replace(proof, contradictions=(*proof.contradictions, ()))


def test_legs_are_refuted_together_though_none_is_alone(together):
    problem, answer, certificate = together
    assert answer.status is Status.INCONSISTENT
    assert certificate.kind == "LegEmpty"
    verdict = check_leg(certificate, problem)
    assert verdict, verdict.reason
    assert "choice of legs 1, 2, 3, 4, 5, 6 together" in verdict.statement[0]
    assert verdict.statement[0].endswith(", the errors of each pose being the same for all of them")
    alone = tuple(link for link in certificate.proof.links if link.leg is not None)
    assert not check_leg(replace(certificate, proof=LegEmpty(alone)), problem)


def test_joint_evidence_serves_no_other_legs(together):
    problem, _, certificate = together
    assert not check_leg(replace(certificate, legs=(1,)), problem)
    assert not check_leg(replace(certificate, legs=(7,)), problem)
    last = certificate.proof.links[-1]
    assert last.leg is None
    cut = last.cuts[0]
    lighter = replace(cut, weights=tuple((row, w * (2.0 if row % 3 else 0.5)) for row, w in cut.weights))
    beyond = replace(cut, weights=((10**9, 1.0),))
    for spoilt in (lighter, beyond):
        links = (*certificate.proof.links[:-1], replace(last, cuts=(spoilt,)))
        assert not check_leg(replace(certificate, proof=LegEmpty(links)), problem)


def test_a_joint_witness(rng):
    data, truth = measured_platform(rng, n=10, legs=(2, 5))
    problem = JointProblem(data, Box.around(truth, 0.01), (2, 5))
    fitted = best_together(problem, truth.reshape(2, 7))
    shown = exhibited_together(problem, fitted.points, fitted.errors)
    certificate = witness_certificate(problem, fitted.points.reshape(-1), shown.move, shown.turn)
    verdict = check_leg(certificate, problem)
    assert verdict
    assert "choice of legs 2, 5 together" in verdict.statement[0]
    assert verdict.statement[0].endswith(", the errors of each pose being the same for all of them")


def test_files_of_all_kinds(fits, wrong, together, tmp_path):
    for number, (problem, certificate) in enumerate((fits, wrong, (together[0], together[2]))):
        path = tmp_path / f"{number}.json"
        save_leg(certificate, path)
        assert load_leg(path) == certificate
        question = PlatformQuestion(*_question(problem))
        save_question(question, tmp_path / f"{number}-measurements.json")
        again = load_question(tmp_path / f"{number}-measurements.json")
        assert again == question
        assert again.digest() == certificate.problem


def _question(problem):
    from gough.checker.leg_questions import question_of

    question = question_of(problem)
    return question.data, question.prior, question.legs


def test_one_digit_changed_is_noticed(fits, tmp_path, rng):
    text = render_leg(fits[1])
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    path = tmp_path / "c.json"
    for i in rng.choice(digits, 30):
        spoilt = text[:i] + str((int(text[i]) + 5) % 10) + text[i + 1 :]
        path.write_text(spoilt)
        with pytest.raises(InputError):
            load_leg(path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.update(legs=[1, 2]),
        lambda d: d.update(legs=["1"]),
        lambda d: d.update(lower=d["lower"][1:]),
        lambda d: d.update(upper=[-1e9] * len(d["upper"])),
        lambda d: d["readings"].pop(),
        lambda d: d["quaternion"].__setitem__(0, [0.0] * 4),
        lambda d: d["position"][0].pop(),
        lambda d: d["reading_tolerance"][0].__setitem__(0, -1.0),
        lambda d: d.update(position={}),
        lambda d: d.update(version=1),
        lambda d: d.pop("lower"),
        lambda d: d.update(more=0),
    ],
)
def test_malformed_measurements_are_refused(fits, tmp_path, spoil):
    from gough.checker.leg_questions import question_of

    data = json.loads(render_question(question_of(fits[0])))
    data.pop("seal")
    spoil(data)
    path = tmp_path / "measurements.json"
    path.write_text(sealed(json.dumps(data)[:-1]))
    with pytest.raises(InputError):
        load_question(path)


@pytest.mark.parametrize("depth", [150, 151, 400, 480, 5000])
def test_files_nested_too_deeply(fits, tmp_path, depth):
    """No traceback, however often a box is halved."""
    problem, certificate = fits
    text = render_leg(replace(certificate, proof=LegBound(())))
    nested = '{"split":"a1x","at":0.0,"above":[],"below":[' * depth + "]}" * depth
    body = text[: text.index(',\n "seal"')].replace('"links": []', f'"links": [{nested}]')
    path = tmp_path / "deep.json"
    path.write_text(sealed(body))
    if depth == 150:
        assert check_leg(load_leg(path), problem)
    else:
        with pytest.raises(BeyondLimit, match=r"too deep|151 times"):
            load_leg(path)


def test_malformed_statements_are_refused(fits):
    proof = fits[1].proof
    for make in (
        lambda: LegWitness(proof.values, proof.move[1:], proof.turn),
        lambda: LegWitness((float("nan"),), (), ()),
        lambda: LegWitness(proof.values, proof.move, proof.turn, (-1,)),
        lambda: LegOutliers(-1, 0, (), ()),
        lambda: LegOutliers(1, 0, (True,), ()),
        lambda: replace(fits[1], more=float("inf")),
        lambda: replace(fits[1], proof=replace(proof, values=(*proof.values, *proof.values))),
        lambda: LegSplit("a1x", float("inf"), (), ()),
    ):
        with pytest.raises(InputError):
            make()
