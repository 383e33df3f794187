"""Labels, numbers and sentences."""

import numpy as np
import pytest

import gough
from gough.core.errors import InputError
from gough.core.text import plus_minus, power_of_thousand, short_labels, spelled_out
from gough.methods import LeastSquares, identifiability
from gough.report.base.regions import correlation_figure
from gough.report.base.words import against_truth, determined, listed, near_zero

from .conftest import make_report


def test_combinations_are_cut_and_told_apart():
    names = ["I_1 + 0.25·m_3", "0.5·I_1 − m_4", "−2e-05·a + b", "fv_1", "x-y"]
    assert short_labels(names) == ("I_1*", "I_1*(2)", "a*", "fv_1", "x-y")
    assert spelled_out(names)["I_1*(2)"] == "0.5·I_1 − m_4"


@pytest.mark.parametrize(
    ("value", "half", "text"),
    [
        (0.0503, 0.00052, ("0.05030", "0.00052")),
        (-3.0, 0.0996, ("-3.00", "0.10")),
        (1e-12, 2e-13, ("1.000e-12", "2.0e-13")),
        (np.nan, 1.0, ("—", "1.0")),
        (5.0, np.inf, ("5.000", "∞")),
    ],
)
def test_value_and_half_width_end_at_the_same_decimal(value, half, text):
    assert plus_minus(value, half) == text


@pytest.mark.parametrize(("size", "power"), [(999.0, 0), (1000.0, 3), (0.001, -3), (9.9e-4, -6), (np.inf, 0)])
def test_powers_of_a_thousand(size, power):
    assert power_of_thousand(size) == power


def test_a_full_rank_problem_is_said_to_be_one(rng):
    problem = gough.LinearProblem(rng.standard_normal((9, 2)), np.zeros(9), gough.Unknowns(["a", "b"]))
    assert determined(identifiability(problem))[0] == "The data determine all 2 parameters."


def test_lists():
    assert [listed(w) for w in ([], ["a"], ["a", "b"])] == ["", "a", "a and b"]


def test_verdicts_name_the_worst_and_the_hidden():
    report = make_report()
    assert near_zero(report.chosen).endswith("different from zero: fv.")
    far = report.truth + np.array([0.0, 1.0, 0.0])
    assert "2 of 3 true values" in against_truth("plain", report.chosen, far)
    assert "(I_1)" in against_truth("plain", report.chosen, far)
    assert (
        against_truth("hull", report.estimates["hull"], far) == "Hull: 2 of 3 true values in their interval, not I_1."
    )
    assert against_truth("failed", report.estimates["failed"], far) == ""


def test_a_set_has_no_confidence_region_to_draw():
    problem = gough.LinearProblem([[1.0]], [1.0], gough.Unknowns(["a"]))
    answer = gough.estimate(problem, LeastSquares(), strict=False)
    from dataclasses import replace

    boxed = replace(answer, region=gough.Box([0.0], [1.0]))
    with pytest.raises(InputError, match="no confidence region"):
        correlation_figure(boxed)
