"""Zero-phase Butterworth filters and central differences: together the band-pass of [PRV03i, §4.1]."""

from functools import cache
from math import ceil, log

import numpy as np

from gough.core.arrays import Array
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
