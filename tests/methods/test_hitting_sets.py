"""Hitting sets compiled against those of the checker, step by step."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gough.core.covers import TooManyCases, cover
from gough.methods.bounded.hitting_sets import unmet

element = st.integers(0, 90)
families = st.lists(st.frozensets(element, max_size=5), max_size=40)


def as_the_checker(sets, q, cases):
    try:
        found = cover(sets, q, limit=cases)
    except TooManyCases:
        return None
    return sorted(found.used) if found.elements is None else None


@given(families, st.integers(0, 6), st.sampled_from([1, 10, 1000]))
def test_rests_on_the_same_sets(sets, q, cases):
    assert unmet(sets, q, cases) == as_the_checker(sets, q, cases)


@pytest.mark.parametrize("n_elements", [12, 63, 64, 65, 300])
def test_rests_on_the_same_of_many_sets(n_elements):
    rng = np.random.default_rng(n_elements)
    sets = [frozenset(rng.choice(n_elements, 6, replace=False).tolist()) for _ in range(150)]
    for q in range(5):
        assert unmet(sets, q, 20_000) == as_the_checker(sets, q, 20_000)


def test_the_sets_it_rests_on_suffice_in_as_many_cases():
    rng = np.random.default_rng(5)
    sets = [frozenset(rng.choice(25, 4, replace=False).tolist()) for _ in range(300)]
    used = unmet(sets, 4, 100_000)
    assert used is not None
    assert len(used) < len(sets)
    few = [sets[i] for i in used]
    assert cover(few, 4).elements is None
    assert cover(few, 4).looks <= cover(sets, 4).looks


def test_sets_that_nothing_and_that_everything_meets():
    assert unmet([], 3, 10) is None
    assert unmet([frozenset[int]()], 3, 10) == [0]
    assert unmet([frozenset({1})], 10**6, 10) is None
    assert unmet([frozenset({1})], 0, 10) == [0]


def test_many_cases_are_given_up():
    pairs = [frozenset(pair) for pair in combinations(range(12), 2)]
    assert unmet(pairs, 8, 3) is None
    assert unmet(pairs, 10, 100_000) is not None
    singles = [frozenset({i}) for i in range(300)]
    assert unmet(singles, 299, 10) == list(range(300))
