"""The recommended method predicts held-out efforts best, and held-out data reject a model that fails on them."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.data import MeasuredMotion
from gough.dynamics import identify
from gough.dynamics.effect import Planted
from gough.dynamics.recommended import coverage_sign, held_out_sign
from gough.dynamics.results import Identified
from gough.simulate.multibody import experiment
from tests.dynamics.moving_robots import filtered, moving
from tests.simulate.multibody.motions import NEEDS

STATISTICAL = ["robust", "Gauss–Markov", "weighted", "least squares"]


def identified(
    robot, methods=STATISTICAL, *, other=None, plant=lambda motion: 0.0, noise=0.1, validation=True, **options
):
    """Fitted to one motion and, unless blocks are held out, validated on another; `other`: parameters there."""
    model, first, W = moving(robot, 4.0, 1)
    _, second, V = moving(robot, 4.0, 2)
    rng = np.random.default_rng(1)
    values = model.nominal if other is None else other(model)
    motions = [
        replace(motion, efforts=A @ theta + plant(motion) + noise * filtered(rng, *motion.q.shape))
        for motion, A, theta in ((first, W, model.nominal), (second, V, values))
    ]
    return identify(model, motions[0], methods=methods, validation=motions[1] if validation else None, **options)


@pytest.fixture(scope="module")
def clean():
    return identified("five-bar", [*STATISTICAL, "hull"], compare=False)


def test_among_equals_the_simplest_is_recommended_and_never_a_set(clean):
    assert clean.recommended == "least squares"
    assert "hull" not in clean.recommendation.scores
    assert "Prefer the values of least squares" in " ".join(clean.verdicts)
    assert "the model identified by least squares predicts" in clean.validation.verdict
    assert not clean.recommendation.worse


def test_values_without_a_method_are_those_of_the_recommended_one(clean):
    name = clean.problem.unknowns.names[0]
    assert clean[name] == clean["least squares"][name] != clean["robust"][name]
    assert clean.interval(name) == clean["least squares"].interval(name)
    saved = Identified.from_json(clean.to_json())
    assert saved[name] == clean[name]


def test_scores_are_by_hand_what_they_are_by_program(clean):
    score, motion = clean.recommendation.scores["weighted"], clean.validation.motion
    error = motion.efforts - clean.validation.predictions["weighted"].efforts
    size = np.sqrt((motion.efforts**2).mean(axis=0))
    assert score.relative_rms == pytest.approx(np.sqrt((error**2).mean(axis=0)) / size)
    assert score.overall == pytest.approx(np.sqrt(((error / size) ** 2).mean()))
    assert score.covered == pytest.approx(clean.validation.predictions["weighted"].covered.mean(), abs=0.01)


def test_clean_data_raise_no_alarm(clean):
    for sign in (held_out_sign(clean), coverage_sign(clean)):
        assert not sign.against
        assert sign.p > 0.01


def with_load(model):
    return np.where([name == "m_load" for name in model.names], model.nominal + 0.3, model.nominal)


def with_friction(model):
    return np.where([name.startswith("fc_") for name in model.names], 1.5 * model.nominal, model.nominal)


@pytest.mark.parametrize("other", [with_load, with_friction])
def test_another_robot_in_the_validation_is_seen(other):
    answer = identified("five-bar", ["least squares"], other=other, compare=False)
    assert held_out_sign(answer).against
    assert coverage_sign(answer).against
    assert "the two recordings differ" in " ".join(answer.verdicts)


def test_a_noisier_validation_does_not_refute_a_true_model_and_hides_no_payload():
    pytest.importorskip("pinocchio", reason=NEEDS)
    truth = experiment("five-bar", seconds=10.0, rate=500.0)
    rng = np.random.default_rng(4)
    first, _ = truth.measured(None, rng, effort_noise=0.003)
    _, noisier = truth.measured(None, rng, effort_noise=0.0045)
    found = identify(truth.robot, first, methods=["weighted"], validation=noisier, compare=False)
    assert found.recommendation.score.noisier == pytest.approx(1.5, rel=0.1)
    assert not held_out_sign(found).against
    assert not coverage_sign(found).against
    assert "for noise 1." in held_out_sign(found).statistic
    loaded = truth.with_payload(0.05)
    planted = Planted(truth.q, loaded.efforts(truth.q, truth.dq, truth.ddq))
    _, other = truth.measured(planted, rng, effort_noise=0.0045)
    wrong = identify(truth.robot, first, methods=["weighted"], validation=other, compare=False)
    assert held_out_sign(wrong).against


def test_a_recording_counts_once():
    pytest.importorskip("pinocchio", reason=NEEDS)
    truth = experiment("five-bar", seconds=5.0, rate=250.0)
    first, second = truth.measured(None, np.random.default_rng(4))
    both = MeasuredMotion.concatenate(first, second)
    with pytest.raises(InputError, match="the same positions as the motion"):
        identify(truth.robot, both, methods=["weighted"], validation=second, compare=False)
    twice = MeasuredMotion.concatenate(first, second, first)
    with pytest.raises(InputError, match="recordings 1 and 3 have the same samples"):
        identify(truth.robot, twice, methods=["weighted"], compare=False)


def test_blocks_are_held_out_where_there_is_no_validation():
    answer = identified("five-bar", STATISTICAL, validation=False)
    assert answer.recommended == "least squares"
    assert "each of 10 blocks of 0.4 s in turn" in answer.recommendation.sentences[0]
    assert not held_out_sign(answer).against
    assert not coverage_sign(answer).against


def test_nothing_held_out_recommends_nothing():
    answer = identified("five-bar", ["hull", "weighted"], validation=False, compare=False)
    assert answer.recommendation is None
    assert held_out_sign(answer) is coverage_sign(answer) is None
    assert answer.recommended == "hull"


def test_methods_that_predict_worse_than_least_squares_are_named_with_numbers():
    def smooth(motion):
        return 3 * motion.q * np.sin(2 * motion.q) + 2 * np.cos(3 * motion.q[:, :1])

    answer = identified("H4", ["weighted", "least squares"], plant=smooth, noise=1e-3, compare=False)
    scores = answer.recommendation.scores
    assert scores["weighted"].overall > 1.02 * scores["least squares"].overall
    assert answer.recommended == "least squares"
    assert answer.recommendation.worse == ("weighted",)
    assert "predicts held-out efforts worse than least squares (35.8 %)" in " ".join(answer.verdicts)
