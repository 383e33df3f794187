"""Criteria, greedy choice, exchange and bounds, against brute force and the plain way."""

from itertools import combinations_with_replacement

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.designs.poses.bounds import fewest, least_value
from gough.designs.poses.criteria import DCriterion, VarianceCriterion, criterion_named
from gough.designs.poses.search import RIDGE, exchange, greedy
from tests.designs.poses.sets import (
    all_criteria,
    brute_force,
    information,
    plain_greedy,
    platform,
    random_rows,
)


def test_gains_are_differences_of_values(rng):
    Z = random_rows(rng, n=20, chains=3, r=5)
    M = information(Z, [0, 1, 2])
    for criterion in all_criteria(rng, 5):
        direct = [criterion.value(M) - criterion.value(M + z.T @ z) for z in Z]
        np.testing.assert_allclose(criterion.gains(M, Z), direct, rtol=1e-8, atol=1e-12)
        k, gain = criterion.best(M, Z, np.arange(20) != 3)
        assert gain == pytest.approx(max(d for i, d in enumerate(direct) if i != 3))
        assert k == int(np.argmax(np.where(np.arange(20) != 3, direct, -np.inf)))


def test_bounds_leave_out_nothing_that_could_win(rng):
    """More candidates than the first look takes: the best one is found all the same."""
    Z = random_rows(rng, n=1500, chains=2, r=6)
    M = information(Z, range(4)) + 0.1 * np.eye(6)
    for criterion in all_criteria(rng, 6):
        gains = criterion.gains(M, Z)
        k, gain = criterion.best(M, Z, np.ones(1500, dtype=bool))
        assert (k, gain) == (int(gains.argmax()), pytest.approx(gains.max()))


def test_values_are_the_formulas(rng):
    M = information(random_rows(rng), range(5))
    D, A, E = all_criteria(rng)
    assert np.exp(-D.value(M)) == pytest.approx(np.prod(np.linalg.eigvalsh(M)))
    assert np.exp(2 * A.value(M)) == pytest.approx(np.trace(A.H @ np.linalg.inv(M) @ A.H.T))
    assert np.exp(E.value(M)) == pytest.approx(1 / np.linalg.eigvalsh(E.T.T @ M @ E.T)[0])
    singular = information(random_rows(rng), [0])
    assert D.value(0 * M) == A.value(0 * M) == E.value(-singular) == np.inf


def test_the_greedy_choice_is_the_plain_one(rng):
    for n in (12, 700):
        Z = random_rows(rng, n=n, chains=2, r=6)
        assert greedy(Z, 7, DCriterion(), np.zeros((6, 6))) == plain_greedy(Z, 7, RIDGE)


def test_no_exchange_improves_what_exchange_found(rng):
    Z = random_rows(rng, n=800, chains=2, r=4)  # more than the short list
    for criterion in all_criteria(rng):
        chosen = greedy(Z, 5, criterion, np.zeros((4, 4)))
        before = criterion.value(information(Z, chosen))
        exchange(Z, chosen, criterion, np.zeros((4, 4)))
        value = criterion.value(information(Z, chosen))
        assert value <= before + 1e-9
        assert len(set(chosen)) == 5
        for place in range(5):
            rest = information(Z, [row for i, row in enumerate(chosen) if i != place])
            allowed = np.ones(800, dtype=bool)
            allowed[chosen] = False
            k, _ = criterion.best(rest + 1e-12 * np.eye(4), Z, allowed)
            assert criterion.value(rest + Z[k].T @ Z[k]) > value - 1e-6


def test_brute_force_is_met_and_bounded(rng):
    """On small sets: never better than the best of all sets, mostly equal to it; and no bound is above that."""
    met = 0
    for _ in range(8):
        Z = random_rows(rng, n=10)
        known = np.zeros((4, 4))
        for criterion in all_criteria(rng):
            best = brute_force(Z, 4, criterion)
            chosen = greedy(Z, 4, criterion, known)
            exchange(Z, chosen, criterion, known)
            value = criterion.value(information(Z, chosen))
            assert value >= best - 1e-9
            met += value < best + 1e-6
            for given in ((), chosen):
                least = least_value(Z, 4, criterion, known, chosen=given)
                assert least is None or least <= best + 1e-9
    assert met >= 18  # of 24, from a single start


def test_bounds_with_repeats_and_with_what_is_known(rng):
    """With repeats the best set is looked for among multisets; what is known before is added to each."""
    Z = random_rows(rng, n=7)
    extra = rng.normal(size=(3, 4))
    for known in (np.zeros((4, 4)), extra.T @ extra):
        for criterion in all_criteria(rng)[:2]:
            values = [
                criterion.value(known + information(Z, rows)) for rows in combinations_with_replacement(range(7), 4)
            ]
            assert least_value(Z, 4, criterion, known, repeats=True) <= min(values) + 1e-9


def test_the_bound_is_attained_where_all_poses_tell_alike():
    """Orthogonal rows of one length: the weights are even, and any full set is optimal."""
    Z = np.eye(4)[:, None, :] * 2.0
    for criterion in (DCriterion(), VarianceCriterion(np.eye(4), "A", "")):
        value = criterion.value(information(Z, range(4)))
        assert least_value(Z, 4, criterion, np.zeros((4, 4))) == pytest.approx(value)


def test_the_fewest_poses_of_a_target(rng):
    """n equal shares of an orthogonal design: the sum of variances is exactly 4·4/(4n)."""
    Z = np.eye(4)[:, None, :] * 2.0
    criterion = VarianceCriterion(np.eye(4), "pose", "")
    assert fewest(Z, criterion, np.zeros((4, 4)), 1.0) == 4
    assert fewest(Z, criterion, np.zeros((4, 4)), 1e-9) == 2**20 + 1  # more are not examined, and none is claimed
    assert fewest(Z, criterion, np.zeros((4, 4)), 0.5) == 16
    assert fewest(Z, criterion, np.eye(4), 2.1) == 1
    assert fewest(Z, criterion, np.zeros((4, 4)), 1e-9) > 1 << 19


def test_units_and_regrouping_change_nothing(rng):
    """The parameters in other units, or other combinations of them: the same poses by D; other units by A, E, pose."""
    from gough.designs.poses.information import whitened_information

    A = rng.normal(size=(60, 3, 5))
    names, units = tuple("abcde"), ("m",) * 5
    S = rng.normal(size=(10, 3, 5))
    stretch = np.diag(rng.uniform(0.01, 100.0, 5))
    mixed = rng.normal(size=(5, 5)) + 3 * np.eye(5)
    for name in ("D", "A", "E", "pose"):
        sets = []
        for T in (np.eye(5), stretch, *([mixed] if name == "D" else [])):
            told = whitened_information(A @ T, names, units, names)
            criterion = criterion_named(name, told, S @ T)
            chosen = greedy(told.Z, 6, criterion, told.known)
            exchange(told.Z, chosen, criterion, told.known)
            sets.append(sorted(chosen))
        assert all(each == sets[0] for each in sets)


def test_refusals():
    with pytest.raises(InputError, match="did you mean 'pose'"):
        criterion_named("poses", platform().information)
