"""Enclosures of the solutions of square linear systems, many small ones at once."""

import math

import numpy as np

from gough.core.errors import require
from gough.core.midrad import TINY, Floats, MatrixLike, MidRad, inflated, parts
from gough.core.products import accurate_residual, bound_matmul, matmul, power_above

_INFLATION = 1.0 + math.ldexp(1.0, -20)


def solve(A: MatrixLike, b: MatrixLike) -> MidRad:
    """All solutions x of A x = b, for all matrices in A and right-hand sides in b, enclosed.

    A has shape (..., n, n), and b (..., n) or (..., n, m). A finite radius proves every matrix in A regular. Where
    that cannot be proved, all unknowns of the system get infinite radii; its neighbors are not affected.

    With X about the inverse of mid A, and x₀ about the solution, x - x₀ = X (b - A x₀) + (I - X A)(x - x₀)
    [RUM10]. If z >= |X (b - A x₀)|, z > 0, C >= |I - X A|, and some e > 0 has z + C e <= e, then the spectral
    radius of C is below 1 and |x - x₀| <= z + C e <= e: no norm is taken, so that units do not matter.

    Examples:
        >>> x = solve([[3.0, 1.0], [1.0, 2.0]], [1.0, 1.0])
        >>> bool((x.rad < 1e-15).all()), 0.4 in x.interval()[1]
        (True, True)
        >>> solve([[1.0, 2.0], [2.0, 4.0]], [1.0, 1.0]).is_bounded
        False
    """
    (a, a_rad), (c, c_rad) = parts(A), parts(b)
    require(a.ndim >= 2 and a.shape[-1] == a.shape[-2], f"a square system needs a square matrix, not {a.shape}")
    if c.ndim == a.ndim - 1:
        column = MidRad(c[..., None], np.zeros((*c.shape, 1)) if c_rad is None else c_rad[..., None])
        x = solve(A, column)
        return MidRad(x.mid[..., 0], x.rad[..., 0])
    require(
        c.ndim == a.ndim and c.shape[:-1] == a.shape[:-1],
        f"a right-hand side of shape {c.shape} does not fit a matrix of shape {a.shape}",
    )
    system = a if a_rad is None else MidRad(a, a_rad)
    side = MidRad(c, np.zeros(c.shape) if c_rad is None else c_rad)
    with np.errstate(all="ignore"):
        X = _about_inverse(a)
        start = _finite(X @ c)
        start = _finite(start + X @ accurate_residual(system, start, side).mid)
        error = matmul(X, accurate_residual(system, start, side)).mag + 16.0 * TINY
        contraction = _distance_to_identity(matmul(X, system))
        return MidRad(start, _fixed_point(contraction, error))


def _fixed_point(C: Floats, z: Floats) -> Floats:
    """Z + C e for some e that it does not exceed, column by column; infinite where no such e is found."""
    identity = np.eye(C.shape[-1])
    e = np.abs(_about_inverse(identity - C) @ z) * _INFLATION + 64.0 * TINY
    image = inflated(z + bound_matmul(C, e), 2) + 16.0 * TINY
    proved = (image <= e).all(axis=-2, keepdims=True)
    return np.where(proved, image, np.inf)


def _distance_to_identity(M: MidRad) -> Floats:
    """An upper bound on |I - M|."""
    distance: Floats = np.abs(np.eye(M.shape[-1]) - M.mid)
    return inflated(distance + M.rad, 2) + 16.0 * TINY


def _about_inverse(a: Floats) -> Floats:
    """About the inverse of each matrix; zero where there is none, which proves nothing.

    Rows and columns are first scaled to their greatest entries, lest pivots be chosen by units.
    """
    rows = power_above(_finite(a), -1)
    columns = power_above(_finite(a / rows), -2)
    scaled = a / rows / columns
    finite = np.isfinite(scaled).all(axis=(-2, -1), keepdims=True)
    scaled = np.where(finite, scaled, 0.0)
    regular = np.linalg.slogdet(scaled)[0][..., None, None] != 0
    try:
        inverse = np.linalg.inv(np.where(regular, scaled, np.eye(a.shape[-1])))
    except np.linalg.LinAlgError:
        return np.zeros(a.shape)
    inverse = inverse / np.swapaxes(columns, -1, -2) / np.swapaxes(rows, -1, -2)
    return np.where(regular & np.isfinite(inverse).all(axis=(-2, -1), keepdims=True), inverse, 0.0)


def _finite(x: Floats) -> Floats:
    return np.where(np.isfinite(x), x, 0.0)
