"""Butterworth low-passes as cascades of second-order sections.

`scipy.signal` has the same filters, but importing it loads statistics, splines and more, and takes longer than all the
filtering of an identification; signals side by side, as the columns of a regressor, take it several times as long.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array


class StateSpace(NamedTuple):
    """s' = A s + B u, y = C s + D u; the states are those of the sections, one after the other."""

    A: Array
    B: Array
    C: Array
    D: float

    def settled(self) -> Array:
        """The states (k,) under a constant input of 1."""
        return np.asarray(np.linalg.solve(np.eye(len(self.B)) - self.A, self.B))


@cache
def sections(order: int, cutoff: float, rate: float) -> Array:
    """(sections, 6): b₀ b₁ b₂ 1 a₁ a₂ of each, each with a gain of 1 for constants; the bilinear transform.

    Examples:
        >>> sections(2, 100.0, 1000.0).round(4)
        array([[ 0.0675,  0.1349,  0.0675,  1.    , -1.143 ,  0.4128]])
    """
    result = np.zeros((-(-order // 2), 6))
    for row, z in zip(result, poles(order, cutoff, rate), strict=True):
        if z.imag == 0:
            row[:] = 1.0, 1.0, 0.0, 1.0, -z.real, 0.0
        else:
            row[:] = 1.0, 2.0, 1.0, 1.0, -2 * z.real, abs(z) ** 2
        row[:3] *= row[3:].sum() / row[:3].sum()
    return result


def poles(order: int, cutoff: float, rate: float) -> list[complex]:
    """One pole of each section, at or above the real axis; the other of a pair is its conjugate.

    Examples:
        >>> [round(abs(z), 6) for z in poles(3, 100.0, 1000.0)]
        [0.738731, 0.509525]
    """
    warped = np.tan(np.pi * cutoff / rate)  # half of the pulsation that the bilinear transform maps to the cutoff
    result = []
    for k in range(order // 2):
        s = warped * np.exp(0.5j * np.pi * (1 + (2 * k + 1) / order))
        result.append(complex((1 + s) / (1 - s)))
    if order % 2:
        result.append(complex((1 - warped) / (1 + warped)))
    return result


@cache
def state_space(order: int, cutoff: float, rate: float) -> StateSpace:
    """The sections in their transposed direct form, as one system."""
    A, B, C, D = np.zeros((0, 0)), np.zeros(0), np.zeros(0), 1.0
    for b0, b1, b2, _, a1, a2 in sections(order, cutoff, rate):
        own, into = np.array([[-a1, 1.0], [-a2, 0.0]]), np.array([b1 - a1 * b0, b2 - a2 * b0])
        A = np.block([[A, np.zeros((len(B), 2))], [np.outer(into, C), own]])
        B, C, D = np.append(B, into * D), np.append(b0 * C, [1.0, 0.0]), b0 * D
    return StateSpace(A, B, C, float(D))


def filtered(x: Array, order: int, cutoff: float, rate: float, state: Array) -> Array:
    """`x` (N, n) through the filter, from the states (k, n) on."""
    from gough.data import filter_passes  # noqa: PLC0415 - numba

    result = np.array(x, dtype=np.float64, order="C")
    filter_passes.pass_through(sections(order, cutoff, rate), result, np.array(state, np.float64, order="C"), 1)
    return result


def forth_and_back(x: Array, order: int, cutoff: float, rate: float, padding: int = 0) -> Array:
    """`x` (N, n) through the filter, then its reverse: no delay.

    Before its first and after its last sample the signal is continued by its reflection in these, over `padding`
    samples; each pass begins settled at its first value.

    Examples:
        >>> x = np.sin(np.arange(400) / 40)[:, None]
        >>> bool(abs(forth_and_back(x, 4, 100.0, 1000.0, 50) - x).max() < 1e-3)
        True
    """
    from gough.data import filter_passes  # noqa: PLC0415 - numba

    end = padding + len(x)
    whole = np.empty((end + padding, x.shape[1]))
    whole[:padding], whole[padding:end] = 2 * x[:1] - x[padding:0:-1], x
    whole[end:] = 2 * x[-1:] - x[-2 : -padding - 2 : -1]
    of, settled = sections(order, cutoff, rate), state_space(order, cutoff, rate).settled()
    filter_passes.pass_through(of, whole, np.outer(settled, whole[0]), 1)
    filter_passes.pass_through(of, whole, np.outer(settled, whole[-1]), -1)
    return whole[padding:end]


def gain(frequency: Array, order: int, cutoff: float, rate: float) -> Array:
    """|H| of one pass at each frequency, Hz.

    Examples:
        >>> gain(np.array([0.0, 20.0]), 4, 20.0, 1000.0).round(6)
        array([1.      , 0.707107])
    """
    z = np.exp(-2j * np.pi * np.asarray(frequency) / rate)
    result = np.ones(z.shape)
    for b0, b1, b2, a0, a1, a2 in sections(order, cutoff, rate):
        result = result * abs(b0 + b1 * z + b2 * z * z) / abs(a0 + a1 * z + a2 * z * z)
    return result
