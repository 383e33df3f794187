"""Covers against enumeration."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gough.core.covers import TooManyCases, cover

element = st.integers(0, 6)
families = st.lists(st.frozensets(element, max_size=3), max_size=7)


@given(families, st.integers(0, 4), st.frozensets(element, max_size=2))
def test_equals_enumeration(sets, q, spared):
    ways = (frozenset(way) for size in range(q + 1) for way in combinations(set(range(7)) - spared, size))
    expected = any(all(way & each for each in sets) for way in ways)
    found = cover(sets, q, spared)
    assert (found.elements is not None) == expected
    if found.elements is None:
        assert cover([sets[i] for i in sorted(found.used)], q, spared).elements is None
    else:
        assert len(found.elements) <= q
        assert not found.elements & spared
        assert all(found.elements & each for each in sets)


def test_a_limit_is_kept():
    pairs = [frozenset(pair) for pair in combinations(range(12), 2)]
    with pytest.raises(TooManyCases):
        cover(pairs, 8, limit=3)
    assert cover(pairs, 10).elements is None
    assert len(cover(pairs, 11).elements) == 11


def test_disjoint_sets_need_no_search():
    sets = [frozenset(range(100 * i, 100 * i + 100)) for i in range(50)]
    assert cover(sets, 49, limit=1).elements is None
