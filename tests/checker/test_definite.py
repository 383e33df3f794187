"""Semidefiniteness without rounding: against eigenvalues, products and matrices on the very edge."""

from fractions import Fraction

import numpy as np
import pytest

from gough.checker.quadratic import is_semidefinite


def whole(rows):
    return np.array(rows, dtype=object)


def test_products_are_semidefinite_whatever_their_rank_and_size(rng):
    for _ in range(300):
        n, rank = int(rng.integers(1, 7)), int(rng.integers(0, 7))
        G = rng.integers(-9, 10, (n, rank)).astype(object) * 10 ** int(rng.integers(0, 80))
        assert is_semidefinite(G @ G.T if rank else whole(np.zeros((n, n), dtype=int).tolist()))


def test_one_less_is_not_enough_for_a_singular_matrix(rng):
    """A singular Gram matrix minus the unit matrix has a negative eigenvalue, however large its entries are."""
    for _ in range(100):
        n = int(rng.integers(2, 7))
        G = rng.integers(-9, 10, (n, n - 1)).astype(object) * 10**60
        assert not is_semidefinite(G @ G.T - np.eye(n, dtype=int).astype(object))


def test_agrees_with_eigenvalues(rng):
    decided = 0
    for _ in range(500):
        M = rng.integers(-9, 10, (4, 4))
        M = M + M.T + 16 * np.eye(4, dtype=int)
        least = np.linalg.eigvalsh(M)[0]
        if abs(least) > 1e-9:
            decided += 1
            assert is_semidefinite(M.astype(object)) == (least > 0)
    assert decided > 400


def test_rows_of_very_different_scale():
    tiny, huge = 1, 10**300
    assert is_semidefinite(whole([[tiny, 0], [0, huge]]))
    assert is_semidefinite(whole([[tiny, 10**150], [10**150, huge]]))
    assert not is_semidefinite(whole([[tiny, 10**150 + 1], [10**150 + 1, huge]]))


@pytest.mark.parametrize(("M", "expected"), [([[0]], True), ([[0, 1], [1, 5]], False), ([[0, 0], [0, -1]], False)])
def test_zero_pivots(M, expected):
    assert is_semidefinite(whole(M)) is expected


def test_a_margin_far_below_double_precision():
    """[1, x; x, x² ± ε] with ε = 10⁻⁶⁰."""
    x, unit = Fraction(1, 3), 10**121 * 9
    for sign in (1, -1):
        corner = x * x + sign * Fraction(1, 10**60)
        M = whole([[unit, int(x * unit)], [int(x * unit), int(corner * unit)]])
        assert is_semidefinite(M) == (sign > 0)
