"""Witnesses, trees, outliers and joint statements: true ones hold, and tampering proves nothing false."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gough import Box, InputError, Status, estimate
from gough.checker import (
    ChainBound,
    ChainEmpty,
    ChainOutliers,
    ChainSplit,
    ChainWitness,
    NotProven,
    chain_certificate,
    check_chains,
    load_chains,
    load_question,
    question_of,
    save_chains,
    save_question,
)
from gough.checker.chain_files import render_chains, render_question
from gough.checker.limits import DEPTH
from gough.checker.of_chain import empty_certificate, outlier_certificate, witness_certificate
from gough.closure.fits import best_together, exhibited
from gough.closure.joint_hull import JointHull
from gough.closure.outliers import wrong_poses
from gough.closure.tolerance import minimal_tolerance, refuted
from gough.core.errors import BeyondLimit
from gough.core.rotations import exp
from gough.core.sealed import sealed
from gough.evidence import LiftedTree
from gough.methods import LiftedHull
from tests.methods.legs import joint_legs, leg_problem, measured_platform


def errors_of(shown):
    return shown.errors.tolist()


def random():
    return np.random.default_rng(11)


@pytest.fixture(scope="module")
def fits():
    problem, _ = leg_problem(random(), n=12, around=0.02)
    point = minimal_tolerance(problem).point
    shown = exhibited(problem, point)
    return problem, witness_certificate(problem, point, errors_of(shown))


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
    problem = joint_legs(data, Box.around(truth, 3e-3), (1, 2, 3, 4, 5, 6))
    answer = estimate(problem, JointHull(bounds=False, chains=LiftedHull(rtol=0.3)), strict=False)
    return problem, answer, chain_certificate(problem, answer)


def test_a_witness_holds_and_solves_the_equations(fits):
    problem, certificate = fits
    verdict = check_chains(certificate, problem)
    assert verdict, verdict.reason
    assert "some geometry of leg 1 within the prior fits all poses" in verdict.statement[0]
    data, proof = problem.data, certificate.proof
    values, errors = (np.array(x, dtype=float) for x in (proof.values, proof.errors))
    a, b, length = (values[i] for i in (slice(0, 3), slice(3, 6), 6))
    for k in range(len(data)):
        move, v = errors[k, :3], errors[k, 3:]
        turn = 2 * np.arctan(np.linalg.norm(v)) * v / np.linalg.norm(v)
        assert (abs(turn) <= data.rotation_tolerance[k]).all()
        assert (abs(move) <= data.position_tolerance[k]).all()
        R = exp(turn) @ problem.rotation.mid[k]
        d = R @ b + data.position[k] + move - a
        assert abs(np.linalg.norm(d) - length - data.reading[k]) <= data.reading_tolerance[k] + 1e-15


def moved(rows, k, j, by):
    row = rows[k]
    return (*rows[:k], (*row[:j], float(row[j]) + by, *row[j + 1 :]), *rows[k + 1 :])


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda p: replace(p, errors=moved(p.errors, 3, 0, 1e-3)), "pose 3: the exhibited error of its position"),
        (lambda p: replace(p, errors=moved(p.errors, 5, 4, 1e-3)), "pose 5: the exhibited error of its orientation"),
        (lambda p: replace(p, errors=moved(p.errors, 0, 5, 1e9)), "pose 0: the exhibited error of its orient"),
        (lambda p: replace(p, values=(*p.values[:6], float(p.values[6]) + 1e-3)), "too long"),
        (lambda p: replace(p, values=(*p.values[:6], float(p.values[6]) - 1e-3)), "too short"),
        (lambda p: replace(p, values=(9.0, *p.values[1:])), "not within the prior"),
        (lambda p: replace(p, errors=p.errors[1:]), "errors of every pose"),
    ],
)
def test_a_spoilt_witness_does_not_hold(fits, spoil, reason):
    problem, certificate = fits
    verdict = check_chains(replace(certificate, proof=spoil(certificate.proof)), problem)
    assert not verdict
    assert reason in verdict.reason


def test_a_pose_that_is_left_out_is_said(fits):
    problem, certificate = fits
    proof = replace(certificate.proof, errors=moved(certificate.proof.errors, 3, 0, 1.0), left_out=(3,))
    verdict = check_chains(replace(certificate, proof=proof), problem)
    assert verdict
    assert "all poses but pose 3" in verdict.statement[0]


def test_some_axes_may_be_exact(rng):
    """No rounding leaks into an axis without tolerance."""
    problem, truth = leg_problem(rng, n=12, around=0.02)
    exact = problem.data.rotation_tolerance * [1.0, 0.0, 1.0]
    data = replace(problem.data, rotation_tolerance=exact, reading_tolerance=1e-3)
    problem = replace(problem, data=data)
    shown = exhibited(problem, truth)
    assert check_chains(witness_certificate(problem, truth, errors_of(shown)), problem)


def test_no_witness_where_none_fits(rng):
    problem, truth = leg_problem(rng, bad=7, n=12)
    shown = exhibited(problem, truth)
    with pytest.raises(NotProven, match="pose 7"):
        witness_certificate(problem, truth, errors_of(shown))


def test_a_tree_proves_what_both_halves_do(rng):
    problem, truth = leg_problem(rng, bad=7, n=24)
    whole = refuted(problem)
    tree = LiftedTree((), 0, float(truth[0]), (whole, whole))
    certificate = empty_certificate(problem, tree)
    assert isinstance(certificate.proof.links[0], ChainSplit)
    assert check_chains(certificate, problem)
    split = certificate.proof.links[0]
    for spoilt in (replace(split, below=()), replace(split, above=()), replace(split, unknown="a2x")):
        assert not check_chains(replace(certificate, proof=ChainEmpty((spoilt,))), problem)
    links = empty_certificate(problem, whole).proof.links
    beyond = ChainSplit("a1x", float(problem.prior.lower[0]) - 1.0, (), links)  # nothing is below
    assert check_chains(replace(certificate, proof=ChainEmpty((beyond,))), problem)


def test_a_tree_too_deep_is_refused(fits):
    problem, certificate = fits
    link = ChainSplit("a1x", 0.0, (), ())
    for _ in range(DEPTH - 1):
        link = ChainSplit("a1x", 0.0, (link,), ())
    assert check_chains(replace(certificate, proof=ChainBound((link,))), problem)
    with pytest.raises(BeyondLimit, match="halved 151 times in a row"):
        ChainSplit("a1x", 0.0, (link,), ())


def test_the_lower_end_of_a_tolerance_is_certified_and_no_more_is(rng):
    problem, _ = leg_problem(rng, bad=7, n=24)
    found = minimal_tolerance(problem)
    certificate = empty_certificate(problem, found.tree, more=found.lower)
    assert check_chains(certificate, problem)
    assert "mm more than stated" in check_chains(certificate, problem).statement[0]
    shown = exhibited(problem, found.point)
    enough = witness_certificate(problem, found.point, errors_of(shown), more=shown.needed)
    assert found.lower < enough.more <= found.upper + 1e-9
    assert not check_chains(replace(certificate, more=enough.more), problem)
    assert not check_chains(replace(enough, more=found.lower), problem)


def test_the_wrong_pose_is_proven(wrong):
    problem, certificate = wrong
    verdict = check_chains(certificate, problem)
    assert verdict, verdict.reason
    assert (
        verdict.statement[1]
        == "every geometry of leg 1 within the prior that misses at most 1 of the poses misses pose 21"
    )


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
        verdict = check_chains(replace(certificate, proof=spoilt), problem)
        assert not verdict
        assert reason in verdict.reason
    with pytest.raises(InputError, match="states nothing"):
        ChainOutliers(0, 1, (), proof.contradictions)
    with pytest.raises(InputError, match="at least one box"):
        replace(proof, contradictions=(*proof.contradictions, ()))


def test_legs_are_refuted_together_though_none_is_alone(together):
    problem, answer, certificate = together
    assert answer.status is Status.INCONSISTENT
    assert certificate.kind == "ChainEmpty"
    verdict = check_chains(certificate, problem)
    assert verdict, verdict.reason
    assert "no geometry of legs 1, 2, 3, 4, 5, 6 within the prior" in verdict.statement[0]
    assert verdict.statement[0].endswith(", with the same errors of each pose for all legs")
    alone = tuple(link for link in certificate.proof.links if link.chain is not None)
    assert not check_chains(replace(certificate, proof=ChainEmpty(alone)), problem)


def test_joint_evidence_serves_no_other_legs(together):
    problem, _, certificate = together
    assert not check_chains(replace(certificate, chains=(1,)), problem)
    assert not check_chains(replace(certificate, chains=(7,)), problem)
    last = certificate.proof.links[-1]
    assert last.chain is None
    cut = last.cuts[0]
    lighter = replace(cut, weights=tuple((row, w * (2.0 if row % 3 else 0.5)) for row, w in cut.weights))
    beyond = replace(cut, weights=((10**9, 1.0),))
    for spoilt in (lighter, beyond):
        links = (*certificate.proof.links[:-1], replace(last, cuts=(spoilt,)))
        assert not check_chains(replace(certificate, proof=ChainEmpty(links)), problem)


def test_a_joint_witness(rng):
    data, truth = measured_platform(rng, n=10, legs=(2, 5))
    problem = joint_legs(data, Box.around(truth, 0.01), (2, 5))
    points, shown = best_together(problem, truth.reshape(2, 7), enough=-np.inf)
    certificate = witness_certificate(problem, points, errors_of(shown))
    verdict = check_chains(certificate, problem)
    assert verdict
    assert "some geometry of legs 2, 5 within the prior" in verdict.statement[0]
    assert verdict.statement[0].endswith(", with the same errors of each pose for all legs")


def test_files_of_all_kinds(fits, wrong, together, tmp_path):
    for number, (problem, certificate) in enumerate((fits, wrong, (together[0], together[2]))):
        path = tmp_path / f"{number}.json"
        save_chains(certificate, path)
        assert load_chains(path) == certificate
        question = question_of(problem)
        save_question(question, tmp_path / f"{number}-measurements.json")
        again = load_question(tmp_path / f"{number}-measurements.json")
        assert again == question
        assert again.digest() == certificate.problem


def test_one_digit_changed_is_noticed(fits, tmp_path, rng):
    text = render_chains(fits[1])
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    path = tmp_path / "c.json"
    for i in rng.choice(digits, 30):
        spoilt = text[:i] + str((int(text[i]) + 5) % 10) + text[i + 1 :]
        path.write_text(spoilt)
        with pytest.raises(InputError):
            load_chains(path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.update(chains=[1, 2]),
        lambda d: d.update(chains=["1"]),
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
    text = render_chains(replace(certificate, proof=ChainBound(())))
    nested = '{"split":"a1x","at":0.0,"above":[],"below":[' * depth + "]}" * depth
    body = text[: text.index(',\n "seal"')].replace('"links": []', f'"links": [{nested}]')
    path = tmp_path / "deep.json"
    path.write_text(sealed(body))
    if depth == 150:
        assert check_chains(load_chains(path), problem)
    else:
        with pytest.raises(BeyondLimit, match=r"too deep|151 times"):
            load_chains(path)


def test_malformed_statements_are_refused(fits):
    proof = fits[1].proof
    for make in (
        lambda: ChainWitness(proof.values, (proof.errors[0][1:], *proof.errors[1:])),
        lambda: ChainWitness((float("nan"),)),
        lambda: ChainWitness(proof.values, proof.errors, (-1,)),
        lambda: ChainOutliers(-1, 0, (), ()),
        lambda: ChainOutliers(1, 0, (True,), ()),
        lambda: replace(fits[1], more=float("inf")),
        lambda: replace(proof, values=()),
        lambda: ChainSplit("a1x", float("inf"), (), ()),
    ):
        with pytest.raises(InputError):
            make()
