"""Fourier series: derivatives by finite differences, fast sums against plain ones."""

import numpy as np
import pytest

from gough import InputError
from gough.methods.nonlinear.harmonics import Harmonics


@pytest.mark.parametrize(("n_samples", "order", "m"), [(40, 5, 3), (41, 12, 2), (12, 5, 2), (11, 5, 2), (3, 1, 1)])
def test_sums_of_products_equal_those_of_the_jacobian(n_samples, order, m, rng):
    """Also where the sum of two harmonics is beyond what the samples can show, and folds back."""
    harmonics = Harmonics(n_samples, order, pulsation=1.7)
    K = rng.normal(size=(n_samples, 5, 3, m))
    J = harmonics.chain(K).reshape(n_samples * 5, -1)
    flat = K.reshape(n_samples, 5, -1)
    H = harmonics.products(np.einsum("kri,krj->ijk", flat, flat)[np.tril_indices(3 * m)])
    assert H == pytest.approx(J.T @ J, abs=1e-13 * abs(H).max())
    assert harmonics.project(K) == pytest.approx(harmonics.chain(K).sum(axis=0), abs=1e-12 * abs(J).sum())


def test_velocities_and_accelerations_are_derivatives(rng):
    h, c = 1e-5, rng.normal(size=(2, 7))
    period, n = 3.0, 30
    harmonics = Harmonics(n, 3, 2 * np.pi / period)
    terms = np.arange(1, 4) * 2 * np.pi / period

    def x(t):
        angle = np.outer(t, terms)
        return c[:, 0] + np.cos(angle) @ c[:, 1::2].T + np.sin(angle) @ c[:, 2::2].T

    t = np.arange(n) * period / n
    path = harmonics.path(c)
    assert path.x == pytest.approx(x(t), abs=1e-12)
    assert path.dx == pytest.approx((x(t + h) - x(t - h)) / (2 * h), abs=1e-7)
    assert path.ddx == pytest.approx((x(t + h) - 2 * x(t) + x(t - h)) / h**2, abs=1e-4)


def test_a_fit_gives_the_coefficients_back_even_with_samples_missing(rng):
    harmonics, c = Harmonics(30, 4, 1.0), rng.normal(size=(3, 9))
    kept = rng.random(30) < 0.7
    assert harmonics.fit(harmonics.path(c).x, kept) == pytest.approx(c, abs=1e-10)


def test_too_many_harmonics_are_refused():
    with pytest.raises(InputError, match="10 samples a period cannot show harmonic 5"):
        Harmonics(10, 5, 1.0)
