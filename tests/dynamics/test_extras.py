"""Methods that nobody asked for are left out of large problems, and the answer says so."""

import json

import numpy as np
import pytest

from gough.core.text import written
from gough.dynamics import extras, identify
from gough.dynamics.extras import affordable
from gough.dynamics.named import DEFAULT_METHODS, chosen_methods
from gough.methods import TightEllipsoid

DEFAULT = chosen_methods(DEFAULT_METHODS)
SETS = ("hull", "ellipsoid", "tight ellipsoid")


@pytest.mark.parametrize(("n_rows", "p"), [(1000, 8), (4000, 16), (30_000, 20), (200_000, 14)])
def test_small_problems_and_long_ones_of_few_parameters_are_complete(n_rows, p):
    found = affordable(DEFAULT, n_rows, p)
    assert list(found.chosen) == list(DEFAULT_METHODS)
    assert (found.left_out, found.note) == ((), "")


def test_an_arm_of_seven_axes_is_identified_without_what_takes_longest():
    found = affordable(DEFAULT, 70_000, 62)
    assert "tight ellipsoid" in found.left_out
    assert {"least squares", "weighted", "Gauss–Markov", "robust"} <= set(found.chosen)
    assert "70000 rows with 62 parameters" in found.note
    assert "--complete" in found.note
    assert "[methods]" in found.note


def test_extras_stay_within_their_budget_at_every_size():
    for n_rows in (1_000, 30_000, 1_000_000):
        for p in (5, 20, 40, 60, 100):
            always = extras.statistical_work(n_rows, p)
            spent = sum(extras.work_of(method, n_rows, p) for method in affordable(DEFAULT, n_rows, p).chosen.values())
            assert spent <= max(extras.ALWAYS, 3 * always)


def test_exact_bounds_of_predictions_take_what_the_budget_leaves():
    assert affordable(DEFAULT, 5000, 16, predicted=4).samples == extras.EXACT_SAMPLES
    for n_rows, p in ((9000, 57), (20_000, 62)):
        found = affordable(DEFAULT, n_rows, p, predicted=7)
        assert extras.LEAST_SAMPLES <= found.samples < extras.EXACT_SAMPLES
        assert f"at 40 samples of the validation instead of {found.samples}" in found.note
        named = affordable(DEFAULT, n_rows, p, predicted=7, are_asked_for=True)
        assert list(named.chosen) == list(DEFAULT_METHODS)
        assert found.samples <= named.samples
    without_hull = affordable(DEFAULT, 9000, 100, predicted=7)  # which the bounds need
    assert "hull" in without_hull.left_out
    assert without_hull.samples == 0
    assert "exact bounds of efforts at 40 samples of the validation." in without_hull.note


@pytest.fixture
def tiny_budget(monkeypatch):
    monkeypatch.setattr(extras, "ALWAYS", 0)
    monkeypatch.setattr(extras, "TIMES", 0)


def test_what_is_left_out_is_said_and_what_is_asked_for_is_done(five_bar, random_motion, tiny_budget):
    motion = random_motion(n_samples=60)
    found = identify(five_bar, motion, compare=False)
    assert list(found.estimates) == [name for name in DEFAULT_METHODS if name not in SETS]
    assert found.left_out == SETS
    (note,) = found.notes
    assert "hull, ellipsoid and tight ellipsoid" in note
    assert note in " ".join(found.verdicts)
    assert json.loads(found.to_json())
    other = random_motion(seed=2, n_samples=60)
    assert identify(five_bar, motion, validation=other, compare=False).validation.exact is None
    asked = identify(five_bar, motion, methods=["weighted", "tight ellipsoid"], compare=False)
    assert list(asked.estimates) == ["weighted", "tight ellipsoid"]
    assert asked.left_out == ()
    whole = identify(five_bar, motion, compare=False, complete=True)
    assert list(whole.estimates) == list(DEFAULT_METHODS)
    assert (whole.left_out, whole.notes) == ((), ())


def test_a_tight_ellipsoid_from_a_hull_that_is_known_is_the_same(five_bar, random_motion):
    found = identify(five_bar, random_motion(n_samples=80), methods=["hull", "tight ellipsoid"], compare=False)
    alone = TightEllipsoid().estimate(found.bounded)
    shared = found["tight ellipsoid"]
    assert shared.method == written(TightEllipsoid())
    assert shared.claim is alone.claim
    np.testing.assert_array_equal(shared.region.center, alone.region.center)
    np.testing.assert_array_equal(shared.region.shape, alone.region.shape)
    assert shared.stats.evidence == alone.stats.evidence


def test_a_contradiction_is_told_once_by_both(five_bar, random_motion):
    found = identify(
        five_bar, random_motion(n_samples=80), methods=["hull", "tight ellipsoid"], bound=1e-4, compare=False
    )
    hull, ellipsoid = found["hull"], found["tight ellipsoid"]
    assert hull.status is ellipsoid.status
    assert hull.notes == ellipsoid.notes
