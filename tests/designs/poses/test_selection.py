"""Whole selections: predictions against calibrations, honesty about what is not identified, interruption."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import Poses
from gough.designs.poses import PoseLimits, PoseProblem, candidates, how_many, rivals, select
from gough.designs.poses import selection as module
from gough.geometry import calibrate
from gough.geometry.geometric import geometric
from gough.report.poses.page import accuracy_figure
from gough.report.poses.words import how_many_words, sentences, unidentified
from gough.robots import GoughPlatform, LinearDelta, PlatformPoses
from tests.designs.poses.sets import information, platform
from tests.geometry.simulated import ANGLE, POSITION, READING, ROBOT


def test_predictions_are_what_the_calibration_states():
    """σ of the parameters and of predicted poses, against a calibration from the chosen poses."""
    chosen = select(platform(), 14, starts=1)
    found = calibrate(ROBOT, chosen.poses)
    np.testing.assert_allclose(chosen.sigma, found.estimate.region.sigma, rtol=1e-5)
    where = chosen.problem.workspace.poses
    position, orientation = found.predicted_sigma(where)
    assert chosen.accuracy.position == pytest.approx(np.sqrt((position**2).mean()), rel=1e-5)
    assert chosen.accuracy.orientation_worst == pytest.approx(orientation.max(), rel=1e-5)
    assert (chosen.shape_sigma < 0.9 * chosen.sigma).any()


def test_the_indices_are_those_of_the_scaled_jacobian():
    chosen = select(platform(), 10, starts=1)
    told = chosen.problem.information
    A = (told.Z @ told.R).reshape(-1, 42)
    alone = np.sqrt((A**2).sum(axis=0) / len(told.Z))
    s = np.linalg.svd((told.Z[list(chosen.rows)] @ told.R).reshape(-1, 42) / alone, compute_uv=False)
    assert chosen.indices.O3 == pytest.approx(s[-1])
    assert chosen.indices.O2 == pytest.approx(s[-1] / s[0])
    assert chosen.indices.log_det == pytest.approx(2 * np.log(s).sum())


def test_chosen_poses_beat_random_ones_and_are_nearly_optimal():
    chosen = select(platform(), 16, seed=3)
    assert chosen.rows == select(platform(), 16, seed=3).rows
    assert chosen.excess < 0.03
    random, *others = rivals(chosen)
    assert random.accuracy.position > 1.3 * chosen.accuracy.position
    assert all(each.indices.O1 < chosen.indices.O1 * 1.001 for each in (random, *others))
    assert others[-1].count == 64


def test_the_first_poses_are_a_good_set_too():
    chosen = select(platform(), 12, starts=1)
    told = chosen.problem.information
    first = -platform().criterion.value(told.of(chosen.rows[:8]))
    last = -platform().criterion.value(told.of(chosen.rows[-8:]))
    assert first > last
    assert not told.is_singular(told.of(chosen.rows[: chosen.problem.needed]))


def test_criteria_serve_what_they_are_named_for():
    by = {name: select(platform(name, count=30), 10, starts=2) for name in ("D", "A", "E", "pose")}
    assert by["D"].indices.O1 == max(s.indices.O1 for s in by.values())
    assert by["E"].indices.O3 == max(s.indices.O3 for s in by.values())
    assert by["A"].indices.A == min(s.indices.A for s in by.values())
    assert by["pose"].accuracy.position < 1.02 * min(s.accuracy.position for s in by.values())
    assert by["E"].excess is None


def test_what_no_pose_tells_apart_is_said_and_does_no_harm():
    """A platform that is never turned: a joint of the base cannot be told from its joint of the platform."""
    box = {"x": (-0.05, 0.05), "y": (-0.05, 0.05), "z": (0.3, 0.4), "tilt": (0.0, 0.0), "heading": (0.0, 0.0)}
    found = candidates(ROBOT, PoseLimits(pose=box, margin=1e-6), sources=["random"], count=60)
    problem = PoseProblem.of(ROBOT, found.with_noise(POSITION, ANGLE, READING))
    told = problem.information
    assert told.n_parameters == 24
    assert "a1x − b1x" in str(told.identifiability)
    assert problem.needed == 4
    chosen = select(problem, 6, starts=1)
    assert np.isfinite(chosen.sigma).all()
    assert chosen.shape_sigma is None
    words = " ".join(sentences(chosen))
    assert "the poses determine 24 of 42 unknowns, whichever are measured" in words
    assert "a1x − b1x" in words
    assert problem.workspace.unseen < 1e-9  # a platform that is never turned does not ask for more


def test_a_scale_that_is_not_seen_is_said():
    """Gains and the scale of positions unknown at once: no pose tells the size of the whole."""
    robot = GoughPlatform(ROBOT.base, ROBOT.platform, ROBOT.length, gains=True)
    found = candidates(robot, PoseLimits(readings=(0.0, 0.14)), count=60).with_noise(POSITION, ANGLE, READING)
    problem = PoseProblem.of(robot, found, scale=True)
    assert problem.information.n_parameters == 48
    assert problem.workspace.unseen > 0.01
    assert any(
        "holds only if these are known otherwise" in said for said in unidentified(select(problem, 10, starts=1))
    )
    known = PoseProblem.of(robot, found)
    assert known.information.n_parameters == 48
    assert known.workspace.unseen < 1e-6


def test_poses_that_were_measured_already_are_completed():
    problem = platform()
    before = problem.candidates.poses.select(range(70, 100))
    more = PoseProblem.of(ROBOT, problem.candidates, measured=before)
    assert more.needed == 1
    chosen = select(more, 3, starts=1)
    both = Poses(
        np.vstack([before.position, chosen.poses.position]),
        np.vstack([before.rotation, chosen.poses.rotation]),
        np.vstack([before.readings, chosen.poses.readings]),
    ).with_noise(POSITION, ANGLE, READING)
    tangent = geometric(ROBOT, both).linearize(ROBOT.nominal)
    weights = np.linalg.inv(tangent.noise.covariance)
    W = tangent.W.reshape(-1, 6, 42)
    F = np.einsum("nip,nij,njq->pq", W, weights, W)
    np.testing.assert_allclose(chosen.sigma, np.sqrt(np.linalg.inv(F).diagonal()), rtol=1e-7)
    few = problem.candidates.poses.select([70, 71])
    assert 1 < PoseProblem.of(ROBOT, problem.candidates, measured=few).needed < 7


def test_repeats_and_fixed_parameters():
    printer = LinearDelta()
    limits = PoseLimits(pose={"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)})
    found = candidates(printer, limits, sources=["grid"], levels=3).with_noise(5e-5, readings=1e-5)
    fixed = [name for name in printer.names if name.startswith("arm")]
    once = PoseProblem.of(printer, found, fixed=fixed)
    often = PoseProblem.of(printer, found, fixed=fixed, repeats=True)
    assert once.information.n_parameters == 7
    assert "arm_a" not in once.information.names
    a, b = select(once, 20), select(often, 20)
    assert len(set(a.rows)) == 20
    assert len(set(b.rows)) < 20
    assert b.value < a.value
    assert b.excess < 0.02
    select(often, 40)
    with pytest.raises(InputError, match="only 27 candidates"):
        select(once, 28)


def test_how_many_poses_a_target_takes():
    box = PoseLimits(pose={"x": (-0.08, 0.08), "y": (-0.08, 0.08), "z": (0.0, 0.1)})
    found = candidates(LinearDelta(), box, sources=["low-discrepancy"], count=100).with_noise(1e-4)
    problem = PoseProblem.of(LinearDelta(), found, criterion="pose")
    curve = how_many(problem, 8e-5, most=24)
    counts = [p.count for p in curve.points]
    assert counts == sorted(counts)
    assert counts[0] == problem.needed == 4
    errors = [p.accuracy.position for p in curve.points]
    assert errors == sorted(errors, reverse=True)
    n = len(curve.selection.rows)
    assert curve.selection.accuracy.position <= 8e-5
    assert all(p.accuracy.position > 8e-5 for p in curve.points if p.count < n)
    assert 4 < curve.at_least <= n <= curve.at_least + 2
    assert f"{n} poses meet the target of 0.0800 mm. No fewer than {curve.at_least}" in how_many_words(curve)
    assert b"target" in accuracy_figure(curve.selection, (), curve).svg()
    beyond = how_many(problem, 1e-6, most=7)
    assert beyond.selection is None
    assert "7 poses reach" in how_many_words(beyond)
    with pytest.raises(InputError, match="must be positive"):
        how_many(problem, 0.0)


@pytest.mark.parametrize("at", ["greedy", "exchange"])
def test_an_interrupted_search_returns_the_best_so_far(at, monkeypatch):
    problem, calls = platform(), []
    plain = getattr(module, at)

    def interrupted(*arguments, **options):
        calls.append(at)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return plain(*arguments, **options)

    assert problem.needed == 7
    monkeypatch.setattr(module, at, interrupted)
    chosen = select(problem, 10, starts=3)
    assert chosen.is_stopped
    assert len(set(chosen.rows)) == 10
    calls[:] = [at]
    if at == "greedy":
        with pytest.raises(KeyboardInterrupt):  # nothing is there to return
            select(problem, 10)
    else:
        assert len(select(problem, 10).rows) == 10


def test_progress_is_told():
    seen = []
    select(platform(), 9, starts=2, on_progress=seen.append)
    stages = [step.stage for step in seen]
    assert stages[:2] == ["start 1: greedy choice", "start 1: exchange 1"]
    assert (seen[-1].done, seen[-1].of, stages[-1]) == (2, 2, "start 2: done")


def test_the_same_poses_in_any_executor_and_after_an_interruption(tmp_path):
    """Starts do not depend on each other: each is found again from the ledger, or elsewhere, with the same rows."""
    problem, told = platform(), []

    def stop(step):
        told.append(step)
        if step.stage == "start 3: greedy choice":
            raise KeyboardInterrupt

    alone = select(problem, 10, starts=4, seed=5)
    stopped = select(problem, 10, starts=4, seed=5, path=tmp_path, on_progress=stop)
    assert stopped.is_stopped
    assert told[-1].done == 2
    with ThreadPoolExecutor(2) as executor:
        again = select(problem, 10, starts=4, seed=5, executor=executor, path=tmp_path, on_progress=told.append)
    assert again.rows == alone.rows
    assert not again.is_stopped
    (ledger,) = tmp_path.iterdir()
    recorded = [json.loads(line)["key"] for line in ledger.read_text(encoding="utf-8").splitlines()[1:]]
    assert sorted(recorded) == [f"start {k}" for k in (1, 2, 3, 4)]
    select(problem, 10, starts=4, seed=6, path=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2  # another search has a ledger of its own


def test_refusals():
    problem = platform()
    with pytest.raises(InputError, match=r"6 poses do not identify 42 unknowns.*7 poses are needed"):
        select(problem, 6)
    bare = candidates(ROBOT, PoseLimits(readings=(0.0, 0.14)), count=20)
    with pytest.raises(InputError, match="state the noise"):
        PoseProblem.of(ROBOT, bare)
    with pytest.raises(InputError, match="did you mean 'a1x'"):
        PoseProblem.of(ROBOT, problem.candidates, fixed=["a1xx"])
    with pytest.raises(InputError, match="every parameter is fixed"):
        PoseProblem.of(ROBOT, problem.candidates, fixed=ROBOT.names)
    alike = candidates(ROBOT, PoseLimits(readings=(0.06999, 0.07001)), sources=["extremal"])
    assert len(alike) == 64
    assert information(problem.information.Z, [0, 1]).shape == (42, 42)
    assert PlatformPoses._fields == ("position", "rotation")
