"""Poses that may be assembly modes, from closed forms: spheres that meet, and rods that hold a body with a heading."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.rotations import exp

Which = npt.NDArray[np.bool_]
_ANGLES = 16
"""Headings at which the equation of the heading, of fourth order or less, is sampled."""
_ORDER = 4
_NONE = 1e-10
"""Coefficients relative to the largest that count as zero: robots that are alike on all sides have them."""
_ON_CIRCLE = 1e-3
"""Roots this near to the unit circle may be real."""


class Candidates(NamedTuple):
    """K possible modes of N samples."""

    position: Array
    """(N, K, 3)."""
    rotation: Array
    """(N, K, 3, 3)."""
    may_be: Which
    """(N, K): which of them are worth a look."""
    complete: Which
    """(N,): does no other mode exist?"""


def of_spheres(centers: Array, radii: Array) -> Candidates:
    """The two points where three spheres meet: centers (N, 3, 3), radii (3)."""
    w = centers[:, 1:] - centers[:, :1]
    normal = np.cross(w[:, 0], w[:, 1])
    square = (normal**2).sum(axis=1)
    with np.errstate(all="ignore"):
        side = ((w**2).sum(axis=2) - radii[1:] ** 2 + radii[0] ** 2) / 2
        rows = np.concatenate([w, normal[:, None]], axis=1)
        flat = square > 1e-20
        rows[~flat] = np.eye(3)
        foot = np.linalg.solve(rows, np.pad(side, ((0, 0), (0, 1)))[..., None])[..., 0]
        rest = radii[0] ** 2 - (foot**2).sum(axis=1)
        height = np.sqrt(np.maximum(rest, 0.0) / square)[:, None] * normal
    position = centers[:, :1] + foot[:, None] + np.stack([-height, height], axis=1)
    touching = abs(rest) < 1e-12 * radii[0] ** 2
    may_be = np.repeat((flat & (rest >= 0))[:, None], 2, axis=1)
    return Candidates(position, np.tile(np.eye(3), (len(centers), 2, 1, 1)), may_be, flat & ~touching)


def of_headings(begin: Array, ends: Array, lengths: Array) -> Candidates:
    """Rods of given lengths from points `begin` (N, d + 1, d) to points `ends` (d + 1, d) of a body with a heading θ.

    d is 2 or 3. Differences of |p + R(θ) c_i − b_i|² = L_i² are linear in p; by Cramer's rule p = N(θ)/D(θ), and
    |N − …|² = L_0² D² is a trigonometric polynomial in θ, whose roots are eigenvalues: at most 6 modes in the plane
    [GSR92], at most 8 in space.
    """
    angles = 2 * np.pi * np.arange(_ANGLES) / _ANGLES
    D, N = _cramer(begin, ends, lengths, angles)
    size = lengths.mean() ** (2 * begin.shape[2])
    g = ((N**2).sum(axis=2) - lengths[0] ** 2 * D**2) / size**2
    z, on_circle = _roots(np.fft.fft(g, axis=1) / _ANGLES)
    theta = np.angle(z)
    D, N = _cramer(begin, ends, lengths, theta)
    with np.errstate(all="ignore"):
        u = N / D[..., None]
    may_be = on_circle & np.isfinite(u).all(axis=2)
    u = np.where(may_be[..., None], u, 0.0)
    c, s = np.cos(theta)[..., None], np.sin(theta)[..., None]
    first = np.concatenate([c * ends[0, 0] - s * ends[0, 1], s * ends[0, 0] + c * ends[0, 1]], axis=2)
    position = np.zeros((*theta.shape, 3))
    d = begin.shape[2]
    position[..., :d] = begin[:, None, 0] + u
    position[..., :2] -= first
    rotation = exp(theta[..., None] * np.array([0.0, 0.0, 1.0]))
    return Candidates(position, rotation, may_be, np.asarray(~(on_circle & ~may_be).any(axis=1)))


def _cramer(begin: Array, ends: Array, lengths: Array, angles: Array) -> tuple[Array, Array]:
    """D and N with p = b_0 − R c_0 + N/D at headings: angles (K) or (N, K); D is (N, K), N is (N, K, d)."""
    angles = np.broadcast_to(angles, (len(begin), angles.shape[-1]))
    c, s = np.cos(angles)[..., None, None], np.sin(angles)[..., None, None]
    d = begin.shape[2]
    delta, across = begin[:, 1:] - begin[:, :1], (ends[1:, :2] - ends[0, :2])
    w = np.repeat(delta[:, None], angles.shape[1], axis=1)
    turned = np.concatenate([c * across[:, :1] - s * across[:, 1:], s * across[:, :1] + c * across[:, 1:]], axis=3)
    w[..., :2] -= turned
    side = ((w**2).sum(axis=3) - lengths[1:] ** 2 + lengths[0] ** 2) / 2
    numerators = []
    for k in range(d):
        replaced = w.copy()
        replaced[..., k] = side
        numerators.append(np.linalg.det(replaced))
    return np.linalg.det(w), np.stack(numerators, axis=-1)


def _roots(coefficients: npt.NDArray[np.complex128]) -> tuple[npt.NDArray[np.complex128], Which]:
    """Roots z (N, 8) of Σ c_k z^k, −4 ≤ k ≤ 4, and which lie near the unit circle; c_k in the order of the FFT."""
    N = len(coefficients)
    roots, near = np.ones((N, 2 * _ORDER), dtype=complex), np.zeros((N, 2 * _ORDER), dtype=bool)
    size = abs(coefficients[:, : _ORDER + 1])
    present = size > _NONE * size.max(axis=1, keepdims=True)
    order = np.where(present.any(axis=1), _ORDER - present[:, ::-1].argmax(axis=1), 0)
    for m in range(1, _ORDER + 1):
        rows = np.flatnonzero(order == m)
        if rows.size == 0:
            continue
        down = [coefficients[rows, k % _ANGLES] for k in range(m, -m - 1, -1)]
        companion = np.zeros((rows.size, 2 * m, 2 * m), dtype=complex)
        companion[:, range(1, 2 * m), range(2 * m - 1)] = 1.0
        companion[:, 0] = -np.stack(down[1:], axis=1) / down[0][:, None]
        z = np.linalg.eigvals(companion)
        roots[rows, : 2 * m] = z
        near[rows, : 2 * m] = abs(abs(z) - 1) < _ON_CIRCLE
    return roots, near
