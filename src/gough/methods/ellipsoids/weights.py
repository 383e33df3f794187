"""Multipliers of strips that make their ellipsoid smallest, over all strips at once."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.methods.ellipsoids.strips import Integers, Strips

_SWEEPS = 100
_ROUNDS = 60
_THIN = 1e-8
_ROUNDING = 2.0**-44


@dataclass(frozen=True, eq=False)
class View:
    """Coordinates for the optimizer: z = center + scale · x, the axes of x of equal worth to the trace."""

    center: Array
    scale: Array

    def normalize(self, D: Array, mid: Array, half: Array) -> tuple[Array, Array, Array]:
        """Strips |b − aᵀx| ≤ 1, and their halves; a strip too thin for floating point is taken a little wider."""
        reach = np.abs(D) @ self.scale
        size = np.abs(mid) + np.abs(D) @ np.abs(self.center)
        h = np.maximum(half, np.maximum(_THIN * reach, _ROUNDING * size) + 1e-300)
        return D * self.scale / h[:, None], (mid - D @ self.center) / h, h


@dataclass(frozen=True, eq=False)
class Shape:
    """(x − c)ᵀ (X Xᵀ)⁻¹ (x − c) ≤ s of strips |b − aᵀx| ≤ 1 with multipliers: Σ λ (b − aᵀx)² ≤ Σ λ."""

    X: Array
    c: Array
    s: float

    @classmethod
    def of(cls, A: Array, b: Array, weights: Array) -> "Shape | None":
        """None where the strips leave a direction open."""
        root = np.sqrt(weights)[:, None]
        R = np.asarray(np.linalg.qr(root * np.column_stack([A, b]), mode="r"))
        p = A.shape[1]
        diagonal = np.abs(R.diagonal()[:p])
        if len(R) < p or not diagonal.min(initial=np.inf) > 1e-14 * diagonal.max(initial=0.0):
            return None
        X = np.linalg.inv(R[:p, :p])
        c = X @ R[:p, p]
        return cls(X, c, float((weights * (1 - (b - A @ c) ** 2)).sum()))

    def slope(self, A: Array, b: Array, w: float) -> Array:
        """Of the criterion by each multiplier, from zero, times s: negative where the strip would shrink it."""
        T = A @ self.X
        g, e = self.s * np.einsum("ij,ij->i", T, T), b - A @ self.c
        result = 1 - e * e - (1 - w) * g / A.shape[1]
        if w > 0:
            gain = self.s * np.einsum("ij,ij->i", T @ self.X.T, T @ self.X.T)
            result -= w * gain / np.square(self.X).sum()
        return np.asarray(result)


def optimize(strips: Strips, weights: Array, view: View, criterion: float, rtol: float) -> Array:
    """Better multipliers than `weights`; s < 0 with them shows that no θ satisfies all strips, and is worth a proof.

    Coordinate descent on the strips in use [TOD16] with the most promising of all strips joining them, until no
    strip promises more than `rtol`. Any result is valid: this decides on size, never on truth.
    """
    criterion = criterion if strips.n_axes > 1 else 0.0  # one unknown: all criteria are one
    pool = np.flatnonzero(weights > 0)
    weights = weights[pool]
    for _ in range(_ROUNDS):
        A, b, h = view.normalize(strips.take(pool), strips.mid[pool], strips.half[pool])
        multipliers, contradiction = _descended(A, b, weights * h * h, criterion, rtol)
        weights, shape = multipliers / (h * h), Shape.of(A, b, multipliers)
        if contradiction or shape is None or not shape.s > 0:
            return _spread(strips, pool, weights)
        keep = multipliers > 1e-12 * multipliers.max()
        pool, weights = pool[keep], weights[keep]
        promising = _promising(strips, shape, view, criterion, rtol, pool=pool)
        if not promising.size:
            break
        pool, weights = np.append(pool, promising), np.append(weights, np.zeros(len(promising)))
    return _spread(strips, pool, weights)


def _descended(A: Array, b: Array, weights: Array, criterion: float, rtol: float) -> tuple[Array, bool]:
    from gough.methods.ellipsoids.recursion import descend  # noqa: PLC0415 - numba

    weights = weights / weights.max()
    shape = Shape.of(A, b, weights)
    if shape is None or not shape.s > 0:
        return weights, shape is not None
    P, c, A, better = shape.X @ shape.X.T, shape.c.copy(), np.ascontiguousarray(A), weights.copy()
    _, contradiction = descend(A, b, better, P, c, shape.s, criterion, _SWEEPS, rtol)
    usable = bool(np.isfinite(better).all()) and better.max() > 0
    return (better, contradiction) if usable else (weights, False)


def _promising(strips: Strips, shape: Shape, view: View, criterion: float, rtol: float, *, pool: Integers) -> Integers:
    """Numbers of the strips outside the pool that would shrink the ellipsoid most, at most 20 per unknown."""
    slopes = np.empty(len(strips))
    for rows in strips.blocks():
        A, b, _ = view.normalize(strips.take(rows), strips.mid[rows], strips.half[rows])
        slopes[rows] = shape.slope(A, b, criterion)
    slopes[pool] = 0.0
    found = np.flatnonzero(slopes < -rtol)
    most = 20 * strips.n_axes
    return found if len(found) <= most else found[np.argpartition(slopes[found], most)[:most]]


def _spread(strips: Strips, pool: Integers, weights: Array) -> Array:
    result = np.zeros(len(strips))
    result[pool] = weights
    return result
