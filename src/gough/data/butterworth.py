"""Butterworth low-passes as cascades of second-order sections, evaluated by products of matrices.

`scipy.signal` has the same filters, but importing it loads statistics, splines and more, and takes longer than all the
filtering of an identification.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array

_TOGETHER = 64
"""Samples that are computed by one product of matrices."""
_AT_ONCE = 1024
"""Blocks of samples, times signals, in one product: half a megabyte of inputs stays in the cache."""


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


@cache
def _by_blocks(order: int, cutoff: float, rate: float) -> tuple[Array, Array, Array, Array]:
    """Matrices of a block of samples: its outputs by its state and inputs, and the next state by these."""
    A, B, C, D = state_space(order, cutoff, rate)
    powers = [np.eye(len(B))]
    for _ in range(_TOGETHER):
        powers.append(A @ powers[-1])
    by_state = np.array([C @ power for power in powers[:-1]])
    impulse = np.array([D, *(C @ power @ B for power in powers[: _TOGETHER - 1])])
    lag = np.arange(_TOGETHER)[:, None] - np.arange(_TOGETHER)
    by_input = np.where(lag >= 0, impulse[np.maximum(lag, 0)], 0.0)
    state_by_input = np.array([power @ B for power in powers[_TOGETHER - 1 :: -1]]).T
    return by_state, by_input, powers[-1], state_by_input


def filtered(x: Array, order: int, cutoff: float, rate: float, state: Array) -> Array:
    """`x` (N, n) through the filter, from the states (k, n) on."""
    result = np.array(x, dtype=np.float64)
    _filter(result, order, cutoff, rate, state)
    return result


def _filter(x: Array, order: int, cutoff: float, rate: float, state: Array) -> None:
    """Put `x` (N, n) through the filter where it is, from the states (k, n) on."""
    by_state, by_input, next_by_state, next_by_input = _by_blocks(order, cutoff, rate)
    n_samples, n = x.shape
    blocks = -(-n_samples // _TOGETHER)
    for chosen in np.array_split(np.arange(blocks), max(1, min(-(-blocks * n // _AT_ONCE), blocks // 2))):
        n_blocks, first = len(chosen), int(chosen[0]) * _TOGETHER
        given = place = x[first : first + n_blocks * _TOGETHER]
        if len(given) < n_blocks * _TOGETHER:
            given = np.concatenate([given, np.zeros((n_blocks * _TOGETHER - len(given), n))])
        # (samples of a block, blocks and signals): several blocks in one product
        inputs = given.reshape(n_blocks, _TOGETHER, n).transpose(1, 0, 2).reshape(_TOGETHER, n_blocks * n)
        driven = (next_by_input @ inputs).reshape(len(state), n_blocks, n)
        states = np.empty((n_blocks + 1, *state.shape))
        states[0] = state
        each = list(states)  # and not an index for each: as many steps as blocks are most of the time of few signals
        for before, after, more in zip(each, each[1:], np.ascontiguousarray(driven.transpose(1, 0, 2)), strict=False):
            np.dot(next_by_state, before, out=after)
            np.add(after, more, out=after)
        state = each[-1]
        outputs = by_input @ inputs
        outputs += by_state @ states[:n_blocks].transpose(1, 0, 2).reshape(len(state), n_blocks * n)
        in_order = outputs.reshape(_TOGETHER, n_blocks, n).transpose(1, 0, 2)
        if len(place) == len(given):
            place.reshape(in_order.shape)[:] = in_order
        else:
            place[:] = in_order.reshape(given.shape)[: len(place)]


def forth_and_back(x: Array, order: int, cutoff: float, rate: float, padding: int = 0) -> Array:
    """`x` (N, n) through the filter, then its reverse: no delay.

    Before its first and after its last sample the signal is continued by its reflection in these, over `padding`
    samples; each pass begins settled at its first value.

    Examples:
        >>> x = np.sin(np.arange(400) / 40)[:, None]
        >>> bool(abs(forth_and_back(x, 4, 100.0, 1000.0, 50) - x).max() < 1e-3)
        True
    """
    before, after = 2 * x[:1] - x[padding:0:-1], 2 * x[-1:] - x[-2 : -padding - 2 : -1]
    whole = np.concatenate([before, x, after] if padding else [x])
    settled = state_space(order, cutoff, rate).settled()
    for each in (whole, whole[::-1]):
        _filter(each, order, cutoff, rate, np.outer(settled, each[0]))
    return np.ascontiguousarray(whole[padding : len(whole) - padding])


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
