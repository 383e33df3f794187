"""Zero-phase Butterworth filters and central differences: together the band-pass of [PRV03i, §4.1]."""

from functools import cache
from math import ceil, log

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import require
from gough.data import butterworth

NEGLIGIBLE = 1e-3
"""Share to which the impulse response of a filter decays within its memory."""
CLEARANCE = 5
"""Advised cutoff of a low-pass over the highest frequency of the motion."""


def advised_cutoff(highest: float) -> float:
    """The cutoff, Hz, for positions that are filtered and differentiated: five times the motion's highest frequency.

    A higher cutoff lets more noise into the derivatives: the standard deviation of the acceleration's noise grows with
    the power 5/2 of the cutoff if the noise of the positions is white, and least squares takes that noise for motion.
    A lower one distorts the motion, and the efforts, which have higher harmonics than the positions.

    Examples:
        >>> advised_cutoff(2.5)
        12.5
    """
    require(highest > 0, f"the highest frequency of a motion is a positive number of Hz, not {highest}")
    return CLEARANCE * highest


@cache
def memory(cutoff: float, order: int, rate: float) -> int:
    """Samples until the response to one sample has decayed to `NEGLIGIBLE`, forwards and backwards alike.

    Both passes together answer an impulse by a sum of powers of the filter's poles on either side.

    Examples:
        >>> memory(20.0, 4, rate=1000.0)
        144
    """
    return ceil(log(NEGLIGIBLE) / log(max(map(abs, butterworth.poles(order, cutoff, rate)))))


def low_passed(x: Array, cutoff: float, order: int, rate: float) -> Array:
    """`x` (N, n) through a Butterworth low-pass, forth and back: no delay, and |H|² of the filter of one direction.

    At the cutoff half of the amplitude passes (−6 dB). Beyond its ends the signal is continued by its reflection in
    the end point, over the filter's memory.
    """
    padding = memory(cutoff, order, rate)
    require(
        len(x) > padding,
        f"{len(x)} samples ({len(x) / rate:.3g} s) are too short for a low-pass at {cutoff:g} Hz, which needs more "
        f"than {padding} ({padding / rate:.3g} s): record longer, or raise the cutoff",
    )
    return butterworth.forth_and_back(x, order, cutoff, rate, padding)


MEMORIES = 4
"""Memories of the filter after which its response is below 1e-12."""
_TOGETHER = 32
"""Samples that are computed by one product of matrices."""


def low_passed_at(x: Array, samples: Integers, cutoff: float, order: int, rate: float) -> Array:
    """Some rising samples of `low_passed(x)`, up to 1e-12 of the largest |x|.

    Where few are left of many samples, each is a sum over the impulse response of both passes, which takes less time
    than the recursion over all samples.

    Examples:
        >>> x, at = np.random.default_rng(0).normal(size=(9000, 2)), np.arange(5, 9000, 10)
        >>> bool(abs(low_passed_at(x, at, 20.0, 4, 1000.0) - low_passed(x, 20.0, 4, 1000.0)[at]).max() < 1e-12)
        True
    """
    reach, n = MEMORIES * memory(cutoff, order, rate), len(x)
    stride = int(np.gcd.reduce(np.diff(samples))) if len(samples) > 1 else n
    if n < 8 * reach or not 4 <= stride <= reach:
        return low_passed(x, cutoff, order, rate)[samples]
    span = _TOGETHER * stride
    phase = int(samples[0]) % stride
    # pieces of so many strides begin at the same samples whichever of them are wanted: so do their roundings
    piece = (samples - phase) // span
    begin, end = np.searchsorted(piece, [-(-reach // span), (n - reach - phase) // span]).tolist()
    first, last = min(n, 2 * reach + span + reach), max(0, n - 3 * reach - span)
    result = np.empty((len(samples), x.shape[1]))
    if begin:
        result[:begin] = low_passed(x[:first], cutoff, order, rate)[samples[:begin]]
    if end < len(samples):
        result[end:] = low_passed(x[last:], cutoff, order, rate)[samples[end:] - last]
    sums = _sums(stride, cutoff, order, rate)
    for k in np.unique(piece[begin:end]).tolist():
        start = k * span + phase
        own = slice(*np.searchsorted(piece, [k, k + 1]).tolist())
        window = x[start - reach : start - reach + sums.shape[1]]
        result[own] = (sums @ window)[(samples[own] - start) // stride]
    return result


@cache
def _sums(stride: int, cutoff: float, order: int, rate: float) -> Array:
    """Weights of the samples around each of some samples, one every `stride`."""
    h = _response(cutoff, order, rate)
    weights = np.zeros((_TOGETHER, (_TOGETHER - 1) * stride + len(h)))
    for k, row in enumerate(weights):
        row[k * stride : k * stride + len(h)] = h
    return weights


@cache
def _response(cutoff: float, order: int, rate: float) -> Array:
    """The response of `low_passed` to an impulse, so long as it is not negligible, on both sides."""
    reach = MEMORIES * memory(cutoff, order, rate)
    impulse = np.zeros((4 * reach + 1, 1))
    impulse[2 * reach] = 1.0
    return low_passed(impulse, cutoff, order, rate)[reach : 3 * reach + 1, 0]


def response(frequency: Array, cutoff: float, order: int, rate: float) -> Array:
    """What both passes of the low-pass leave of the amplitude of a sine of each frequency, Hz.

    Examples:
        >>> response(np.array([0.0, 20.0, 100.0]), 20.0, 4, 1000.0).round(6)
        array([1.e+00, 5.e-01, 2.e-06])
    """
    return np.asarray(butterworth.gain(frequency, order, cutoff, rate) ** 2)


def differences(x: Array, rate: float) -> tuple[Array, Array]:
    """First and second central differences of `x` (N, n), both at samples 1 … N − 2.

    Of a sine of pulsation ω sampled each Δ they are its derivatives times sin(ωΔ)/(ωΔ) and (sin(ωΔ/2)/(ωΔ/2))².
    """
    return of_neighbors(x[:-2], x[1:-1], x[2:], rate)


def of_neighbors(before: Array, here: Array, after: Array, rate: float) -> tuple[Array, Array]:
    """First and second central differences of samples, from those one before and one after each."""
    first = after - before
    first *= rate / 2
    second = (after - here) - (here - before)
    second *= rate * rate
    return first, second


def shortfall(frequency: float, rate: float) -> tuple[float, float]:
    """Shares by which first and second central differences of a sine fall short of its derivatives.

    Examples:
        >>> [round(share, 5) for share in shortfall(20.0, rate=1000.0)]
        [0.00263, 0.00132]
    """
    turn = frequency / rate
    return float(1 - np.sinc(2 * turn)), float(1 - np.sinc(turn) ** 2)
