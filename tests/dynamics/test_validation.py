"""Predictions on another trajectory, and how their coverage is counted."""

from dataclasses import replace

import numpy as np
import pytest

from gough import Box, InputError
from gough.dynamics import base_values, identify, validated
from gough.region import ConfidenceEllipsoid


@pytest.fixture(scope="module")
def masked(random_motion):
    return random_motion(7, kept=lambda rng, torque: rng.random(torque.shape) < 0.7)


@pytest.fixture(scope="module")
def found(five_bar, random_motion, masked):
    methods = ["weighted", "hull", "ellipsoid", "tight ellipsoid", "hull and ellipsoid", "Gauss–Seidel", "rows"]
    return identify(five_bar, random_motion(), methods=methods, bound=0.1, validation=masked, compare=False)


def test_sets_hold_every_measurement_when_the_bound_holds(found):
    assert (found.validation.exact.covered == 1).all()
    for name in ("hull", "ellipsoid", "tight ellipsoid", "hull and ellipsoid", "Gauss–Seidel"):
        assert (found.validation.predictions[name].covered == 1).all(), name
        assert found.validation.predictions[name].expected == 1.0


def test_methods_without_a_bounded_answer_predict_nothing(found):
    assert "rows" not in found.validation.predictions


def test_exact_bounds_are_within_all_others_and_hold_the_true_effort(five_bar, masked, found):
    exact = found.validation.exact
    truth = (five_bar.regressor(masked.q, masked.dq, masked.ddq) @ five_bar.nominal)[exact.samples]
    assert (exact.lower <= truth + 1e-9).all()
    assert (truth <= exact.upper + 1e-9).all()
    for name in ("hull", "ellipsoid", "tight ellipsoid", "hull and ellipsoid", "Gauss–Seidel"):
        one = found.validation.predictions[name]
        assert (one.lower[exact.samples] <= exact.lower + 1e-9).all(), name
        assert (exact.upper <= one.upper[exact.samples] + 1e-9).all(), name


def test_samples_of_exact_bounds_are_evenly_chosen_and_counted(masked, found):
    exact = found.validation.exact
    assert len(exact.samples) == 40
    assert np.diff(exact.samples).max() <= 3 * np.diff(exact.samples).min() + 3
    assert exact.n_rows.tolist() == masked.kept[exact.samples].sum(axis=0).tolist()
    assert len(validated(found, masked, samples=7).exact.samples) == 7


def test_counting_is_by_hand_what_it_is_by_program(five_bar, masked, found):
    one, value = found.validation.predictions["weighted"], found["weighted"].value
    W = five_bar.regressor(masked.q, masked.dq, masked.ddq)[:, :, list(found.identifiability.kept)]
    region, noise = found["weighted"].region, found["weighted"].stats.residual_rms
    assert isinstance(region, ConfidenceEllipsoid)
    for i in range(2):
        rows = masked.kept[:, i]
        error = masked.efforts[rows, i] - W[rows, i] @ value
        assert one.rms[i] == pytest.approx(np.sqrt((error**2).mean()))
        peak = abs(masked.efforts[rows, i]).max()
        assert one.relative_rms[i] == pytest.approx(np.sqrt((error**2).mean()) / peak)
        sigma = [np.sqrt(w @ region.covariance @ w + noise[i] ** 2) for w in W[rows, i]]
        share = np.mean(abs(error) <= 1.96 * np.array(sigma))
        assert one.covered[i] == pytest.approx(share, abs=0.02)
        assert found.validation.n_rows[i] == rows.sum()


def test_coverage_falls_when_the_other_motion_has_larger_errors(five_bar, random_motion, found):
    wrong = validated(found, random_motion(8, error=0.5))
    assert (wrong.exact.covered < 0.9).all()
    assert (wrong.predictions["weighted"].covered < 0.6).all()
    assert "does not explain this one" in wrong.verdict
    assert "do not lie within the exact bounds" in wrong.verdict


def test_a_motion_that_shows_more_is_warned_of(five_bar, random_motion):
    """Identified at rest, where only weights are seen, and asked to predict a motion."""
    still = random_motion()
    zeros = np.zeros_like(still.dq)
    W = five_bar.regressor(still.q, zeros, zeros)
    rng = np.random.default_rng(1)
    at_rest = replace(
        still, dq=zeros, ddq=zeros, efforts=W @ five_bar.nominal + 0.1 * rng.uniform(-1, 1, size=still.efforts.shape)
    )
    found = identify(five_bar, at_rest, methods=["weighted"], bound=0.1, validation=random_motion(1), compare=False)
    assert "excites at least as much as this one" in found.validation.verdict


def test_fixed_parameters_take_part_in_predictions(five_bar, random_motion):
    n = len(five_bar.names)
    every = Box(five_bar.nominal - 1e-3, five_bar.nominal + 1e-3)
    lower, upper = every.lower.copy(), every.upper.copy()
    lower[: n // 2] = upper[: n // 2] = five_bar.nominal[: n // 2]
    data = identify(
        five_bar, random_motion(), methods=["hull", "ellipsoid"], bound=0.1, prior=Box(lower, upper),
        validation=random_motion(1), compare=False,
    )  # fmt: skip
    assert len(data.fixed) == n // 2
    assert (data.validation.exact.covered == 1).all()
    assert base_values(data.identifiability, five_bar.nominal[n // 2 :]) in data["hull"].region


def test_it_prints(found):
    text = str(found.validation)
    assert "exact, at 40 samples" in text
    assert "all lie within the exact bounds" in text


def test_a_motion_without_rows_is_refused(random_motion, found):
    nothing = random_motion(7, kept=lambda rng, torque: np.zeros_like(torque, dtype=bool))
    with pytest.raises(InputError, match="nothing is left to compare"):
        validated(found, nothing)


def test_an_actuator_without_rows_has_no_numbers(random_motion, found):
    """The others do; nothing divides by zero."""
    half = random_motion(7, kept=lambda rng, torque: np.arange(2) == np.zeros_like(torque))
    other = validated(found, half)
    assert np.isnan(other.predictions["weighted"].rms[1])
    assert np.isfinite(other.predictions["weighted"].rms[0])
    assert "predicts efforts to" in other.verdict
