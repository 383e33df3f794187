"""Butterworth filters against those of scipy.signal."""

import numpy as np
import pytest
from scipy.signal import butter, sosfilt, sosfilt_zi, sosfiltfilt, sosfreqz

from gough.data import butterworth

FILTERS = [
    (order, cutoff, 1000.0) for order in (1, 2, 3, 4, 5, 8) for cutoff in (5.0, 20.0, 333.0, 499.0)
]  # at 499 Hz of 500, poles are near −1


@pytest.mark.parametrize("of", FILTERS, ids=str)
def test_poles_and_gain(of):
    order, cutoff, rate = of
    ours = butterworth.poles(*of)
    both = np.array([*ours, *(z.conjugate() for z in ours if z.imag)])
    theirs = butter(order, cutoff, fs=rate, output="zpk")[1]
    np.testing.assert_allclose(np.sort_complex(both), np.sort_complex(theirs), rtol=0, atol=1e-13)
    frequency = np.linspace(0, 0.49 * rate, 99)
    H = sosfreqz(butter(order, cutoff, fs=rate, output="sos"), frequency, fs=rate)[1]
    np.testing.assert_allclose(butterworth.gain(frequency, *of), abs(H), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("of", FILTERS, ids=str)
@pytest.mark.parametrize("n_samples", [65, 128, 1000])
def test_what_passes(rng, of, n_samples):
    order, cutoff, rate = of
    x = rng.normal(size=(n_samples, 3)) + 10.0
    sos = butter(order, cutoff, fs=rate, output="sos")
    for padding, padtype in ((0, None), (40, "odd")):
        wanted = sosfiltfilt(sos, x, axis=0, padtype=padtype, padlen=padding or None)
        np.testing.assert_allclose(butterworth.forth_and_back(x, *of, padding), wanted, rtol=0, atol=1e-9)
    settled = np.outer(butterworth.state_space(*of).settled(), x[0])
    causal = sosfilt(sos, x, axis=0, zi=sosfilt_zi(sos)[:, :, None] * x[0])[0]
    np.testing.assert_allclose(butterworth.filtered(x, *of, settled), causal, rtol=0, atol=1e-9)


@pytest.mark.parametrize("shape", [(20_000, 5), (700, 1500), (129, 40), (1, 3), (30, 0)], ids=str)
def test_signals_together_are_as_each_alone(rng, shape):
    x, of = rng.normal(size=shape), (4, 12.0, 1000.0)
    given = x.copy()
    together = butterworth.forth_and_back(x, *of, min(100, len(x) - 1))
    for k in range(0, shape[1], 97):
        alone = butterworth.forth_and_back(x[:, [k]], *of, min(100, len(x) - 1))
        np.testing.assert_allclose(together[:, [k]], alone, rtol=0, atol=1e-13)
    assert together.shape == shape
    np.testing.assert_array_equal(x, given)


def test_a_constant_passes_unchanged():
    x = np.full((300, 2), 7.0)
    np.testing.assert_allclose(butterworth.forth_and_back(x, 4, 20.0, 1000.0, 100), x, rtol=1e-12)
