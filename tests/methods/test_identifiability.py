"""Rank, base parameters, regrouping names, weakest direction."""

import numpy as np
import pytest

from gough import Gaussian, LinearProblem, Status, Unknowns, estimate
from gough.methods import LeastSquares, identifiability


def problem_with(W, names):
    return LinearProblem(W, np.ones(len(W)), Unknowns(names), Gaussian(1.0))


def test_regrouping_is_named_and_holds(rng):
    B = rng.normal(size=(50, 3)) * [1e-6, 1.0, 1e6]
    W = np.column_stack([B[:, 0], B[:, 1], 0.3 * B[:, 0] - 2 * B[:, 1], B[:, 2], np.zeros(50)])
    found = identifiability(problem_with(W, ["I_1", "I_2", "m_4", "f", "unused"]))
    assert found.rank == 3
    assert [b.name for b in found.base] == ["I_1 + 0.3·m_4", "I_2 − 2·m_4", "f"]
    assert found.not_identifiable == ("I_1", "I_2", "m_4", "unused")
    assert found.without_effect == ("unused",)
    theta = rng.normal(size=5)
    base = np.array([b.coefficients @ theta for b in found.base])
    assert W[:, list(found.kept)] @ base == pytest.approx(W @ theta, rel=1e-9)
    assert "I_1 + 0.3·m_4" in str(found)
    assert "Without effect on the data: unused" in str(found)


def test_random_rank_deficient_problems_are_seen_through(rng):
    for _ in range(100):
        p = int(rng.integers(2, 12))
        rank = int(rng.integers(1, p + 1))
        W = rng.normal(size=(60, rank)) @ rng.normal(size=(rank, p)) * 10.0 ** rng.uniform(-6, 6, p)
        found = identifiability(problem_with(W, [f"p_{i}" for i in range(p)]))
        assert found.rank == rank == len(found.base)
        assert found.is_full_rank == (rank == p)
        theta = rng.normal(size=p) / np.linalg.norm(W, axis=0)
        base = np.array([b.coefficients @ theta for b in found.base])
        assert W[:, list(found.kept)] @ base == pytest.approx(W @ theta, rel=1e-6, abs=1e-8)


def test_condition_ignores_units(rng):
    W = rng.normal(size=(50, 4))
    names = list("abcd")
    a = identifiability(problem_with(W, names)).condition
    b = identifiability(problem_with(W * [1e-9, 1, 1e9, 1e3], names)).condition
    assert a == pytest.approx(b, rel=1e-6)
    assert a == pytest.approx(np.linalg.cond(W / np.linalg.norm(W, axis=0)), rel=1e-9)


def test_the_weakest_direction_is_told_in_words(rng):
    a, b, c = rng.normal(size=(3, 500))
    W = np.column_stack([a, a + 1e-3 * b, c])
    found = identifiability(problem_with(W, ["p_1", "p_2", "p_3"]))
    assert found.is_full_rank
    assert found.weakest.startswith("p_1 − 1·p_2") or found.weakest.startswith("p_1 − p_2")
    assert found.condition == pytest.approx(2000, rel=0.2)


def test_singular_answers_give_no_number_to_what_is_not_identifiable(rng):
    a, b = rng.normal(size=(2, 300))
    W = np.column_stack([a, b, a])
    problem = LinearProblem(
        W, 2 * a + 3 * b + 0.01 * rng.normal(size=300), Unknowns(["m_1", "f", "m_2"], ["kg", "N", "kg"])
    )
    answer = estimate(problem, LeastSquares(), strict=False)
    assert answer.status is Status.SINGULAR
    assert answer.unknowns.names == ("m_1 + m_2", "f")
    assert answer.unknowns.units == ("kg", "N")
    assert answer.value == pytest.approx([2, 3], abs=0.01)
    assert answer.stats.not_identifiable == ("m_1", "m_2")
    assert "Not identifiable by itself: m_1, m_2." in answer.notes


def test_a_tolerance_can_be_asked_for(rng):
    a, b = rng.normal(size=(2, 100))
    problem = problem_with(np.column_stack([a, a + 1e-6 * b]), ["p", "q"])
    assert identifiability(problem).rank == 2
    assert identifiability(problem, rtol=1e-4).rank == 1
    assert estimate(problem, LeastSquares(rank_tolerance=1e-4), strict=False).status is Status.SINGULAR
