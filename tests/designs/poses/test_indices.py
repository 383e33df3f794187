"""Indices: their definitions, and the relations between them that hold for all singular values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gough.core.errors import InputError
from gough.designs.poses import ObservabilityIndices

VALUES = st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=12)


@given(VALUES, st.integers(1, 50))
def test_relations_of_the_indices(values, n):
    """O4 = O2·O3; σ_m/m ≤ O5 ≤ σ_m; harmonic ≤ geometric mean; all equal σ make all of them one number."""
    found, m = ObservabilityIndices.of(values, n), len(values)
    near = 1 + 1e-12 * m
    assert found.O4 == pytest.approx(found.O2 * found.O3)
    assert found.O3 / m / near <= found.O5 <= found.O3 * near
    assert m * found.O5 <= np.sqrt(n) * found.O1 * near
    assert found.O3 <= np.sqrt(n) * found.O1 * near
    assert found.O2 <= 1
    assert np.exp(found.log_det / m) == pytest.approx(n * found.O1**2)
    assert found.E == pytest.approx(found.O3**2)
    assert 1 / found.E / near <= found.A <= m / found.E * near
    same = ObservabilityIndices.of([values[0]] * m, 1)
    assert same.O1 == pytest.approx(values[0])
    assert same.O5 == pytest.approx(values[0] / m)
    assert same.O2 == 1


@given(VALUES, st.floats(0.1, 10))
def test_how_the_indices_scale(values, factor):
    before, after = (ObservabilityIndices.of(np.multiply(f, values), 3) for f in (1.0, factor))
    for name in ("O1", "O3", "O4", "O5"):
        assert getattr(after, name) == pytest.approx(factor * getattr(before, name))
    assert after.O2 == pytest.approx(before.O2)


def test_a_direction_that_nothing_tells_of():
    found = ObservabilityIndices.of([1.0, 0.0], 2)
    assert (found.O1, found.O5, found.A, found.D) == (0.0, 0.0, np.inf, 0.0)


@pytest.mark.parametrize(("values", "n"), [([], 1), ([-1.0], 1), ([1.0], 0)])
def test_refusals(values, n):
    with pytest.raises(InputError):
        ObservabilityIndices.of(values, n)
