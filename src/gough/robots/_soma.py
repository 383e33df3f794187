"""All poses of a Gough platform at given leg lengths, complex ones included: 40 paths of a homotopy.

A pose is a point (e, g) of projective space: e a quaternion of its rotation, g = p e for its position p, so that
e·g = 0. Leg by leg, |R b + p − a|² = L² is the quadric [WAM96]

    |g|² + 2 g·(e b − a e) − 2 (e b)·(a e) + (|a|² + |b|² − L²) |e|² = 0.

Six such quadrics and e·g = 0 have at most 40 isolated solutions with e ≠ 0 [MOU93]. For one robot with complex
dimensions they are found by monodromy [DHJ19]; from there they are followed to the robot that is asked for, along a
path of robots that meets no singular one, with probability one [MS89].
"""

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.threads import one_blas_thread

Complex = npt.NDArray[np.complex128]
SOLUTIONS = 40
"""Number of assembly modes of a general robot, complex ones included [MOU93]."""
_FIRST, _LONGEST, _SHORTEST, _MOST = 0.02, 0.1, 1e-7, 1500
"""Steps along the path, which has length 1, and how many at most."""
_NEAR = 1e-9
"""A corrector's step relative to the point that ends it."""
_AT_INFINITY = 0.02
"""Where the path is lost, |e| of a unit point below which it leads to infinity."""
_SAME = 1e-8
"""1 − |cos| of the angle between points below which they are one."""


class Dimensions(NamedTuple):
    """Dimensions of robots (S): a and b (S, 6, 3), and |a|² + |b|² − L² (S, 6)."""

    a: Complex
    b: Complex
    c: Complex


class Followed(NamedTuple):
    """Ends of paths: unit points (S, K, 8), and which of them arrived and which lead to infinity."""

    x: Complex
    arrived: npt.NDArray[np.bool_]
    infinite: npt.NDArray[np.bool_]


def all_poses(a: Array, b: Array, lengths: Array) -> Followed:
    """The ends of 40 paths for each of the leg lengths (S, 6); a and b are (6, 3)."""
    size = float(np.sqrt((a.var(axis=0) + b.var(axis=0)).sum()))
    shift = [points - points.mean(axis=0) for points in (a, b)]  # frames in the middle of the joints
    A, B = (np.broadcast_to(points / size, (len(lengths), 6, 3)).astype(complex) for points in shift)
    c = (A**2).sum(axis=2) + (B**2).sum(axis=2) - (lengths / size) ** 2
    start, x = _start()
    many = Dimensions(*(np.broadcast_to(v, (len(lengths), *v.shape[1:])) for v in start))
    return _follow(np.broadcast_to(x, (len(lengths), *x.shape)).copy(), many, Dimensions(A, B, c))


def as_motion(x: Complex, a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Quaternions (…, 4) and positions (…, 3) of points, and how far from real they are (relative)."""
    size = float(np.sqrt((a.var(axis=0) + b.var(axis=0)).sum()))
    largest = np.take_along_axis(x, abs(x).argmax(axis=-1)[..., None], axis=-1)
    y = x / largest
    imaginary = abs(y.imag).max(axis=-1)
    e, g = y.real[..., :4], y.real[..., 4:]
    square = np.maximum((e**2).sum(axis=-1, keepdims=True), 1e-300)
    p = size * np.einsum("...ij,...j->...i", _times_conjugate(e), g)[..., 1:] / square
    e = e / np.sqrt(square)
    turned = np.einsum("...ij,j->...i", _rotation(e), b.mean(axis=0))
    return e, p + a.mean(axis=0) - turned, imaginary


def count_distinct(x: Complex) -> int:
    """How many different points there are among unit points (K, 8)."""
    return len(_distinct(x))


@lru_cache(maxsize=1)
def _start() -> tuple[Dimensions, Complex]:
    """A robot with complex dimensions, and its 40 solutions: from one that is put in, round many loops."""
    rng = np.random.default_rng(2006)

    def random(*shape: int) -> Complex:
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)) / np.sqrt(2)

    a, b, e, g = random(1, 6, 3), random(1, 6, 3), random(4), random(4)
    g -= e * (g @ e) / (e @ e)
    ends = _right(b[0]) - _left(a[0])
    quadratic = g @ g + 2 * (ends @ e) @ g + 2 * np.einsum("i,nij,j->n", e, _right(b[0]) @ _left(a[0]), e)
    home = Dimensions(a, b, (-quadratic / (e @ e))[None])
    solutions = np.concatenate([e, g])[None]
    solutions /= np.linalg.norm(solutions)
    while len(solutions) < SOLUTIONS:
        corners = [home, *(Dimensions(random(1, 6, 3), random(1, 6, 3), random(1, 6)) for _ in range(2)), home]
        x, arrived = solutions[None], np.ones((1, len(solutions)), dtype=bool)
        for begin, end in pairwise(corners):
            x, there, _ = _follow(x, begin, end)
            arrived &= there
        solutions = np.concatenate([solutions, x[0][arrived[0]]])
        solutions = solutions[_distinct(solutions)]
    return home, solutions


def _distinct(x: Complex) -> list[int]:
    same = abs(x.conj() @ x.T)
    kept: list[int] = []
    for i in range(len(x)):
        if all(1 - same[i, j] > _SAME for j in kept):
            kept.append(i)
    return kept


def _left(v: Any) -> Any:
    """Matrices of e ↦ v e for vectors v (…, 3)."""
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    return _rows([[o, -x, -y, -z], [x, o, -z, y], [y, z, o, -x], [z, -y, x, o]])


def _right(v: Any) -> Any:
    """Matrices of e ↦ e v for vectors v (…, 3)."""
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    return _rows([[o, -x, -y, -z], [x, o, z, -y], [y, -z, o, x], [z, y, -x, o]])


def _times_conjugate(e: Any) -> Any:
    """Matrices of g ↦ g ē for quaternions e (…, 4)."""
    w, x, y, z = np.moveaxis(e, -1, 0)
    return _rows([[w, x, y, z], [-x, w, -z, y], [-y, z, w, -x], [-z, -y, x, w]])


def _rotation(e: Any) -> Any:
    """Matrices (…, 3, 3) of unit quaternions."""
    w, x, y, z = np.moveaxis(e, -1, 0)
    return _rows(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    )


def _rows(rows: list[list[Any]]) -> Any:
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _blocks(ee: Any, ge: Any, gg: Any) -> Any:
    upper = np.concatenate([ee, np.swapaxes(ge, -1, -2)], axis=-1)
    return np.concatenate([upper, np.concatenate([ge, np.broadcast_to(gg, ge.shape)], axis=-1)], axis=-2)


class _Path:
    """The seven quadrics xᵀ (Q0 + t Q1 + t² Q2) x along robots whose dimensions change at constant rates."""

    def __init__(self, begin: Dimensions, end: Dimensions) -> None:
        one, zero = np.eye(4), np.zeros((4, 4))
        L, R = _left(begin.a), _right(begin.b)
        dL, dR, dc = _left(end.a - begin.a), _right(end.b - begin.b), end.c - begin.c
        first = _blocks(begin.c[..., None, None] * one + 2 * R @ L, R - L, one)
        second = _blocks(dc[..., None, None] * one + 2 * (R @ dL + dR @ L), dR - dL, zero)
        third = _blocks(2 * dR @ dL, np.zeros_like(dR), zero)
        study = np.block([[zero, one / 2], [one / 2, zero]])
        self._Q = [
            np.concatenate([Q, np.broadcast_to(last, (len(Q), 1, 8, 8))], axis=1).reshape(len(Q), 56, 8)
            for Q, last in ((first, study), (second, 0 * study), (third, 0 * study))
        ]

    def at(self, x: Complex, t: Array, patch: Complex) -> tuple[Complex, Complex, Complex]:
        """Values (…, 7), derivatives by x with the patch below (…, 8, 8), derivatives by t (…, 7)."""
        across = np.swapaxes(x, -1, -2)
        h0, h1, h2 = (np.swapaxes(Q @ across, -1, -2).reshape(*x.shape[:-1], 7, 8) for Q in self._Q)
        at = t[..., None, None]
        H = h0 + at * (h1 + at * h2)
        f, by_t = (np.einsum("...ij,...j->...i", each, x) for each in (H, h1 + 2 * at * h2))
        return f, np.concatenate([2 * H, patch[..., None, :]], axis=-2), by_t

    def tangent(self, x: Complex, t: Array, patch: Complex) -> Complex:
        """dx/dt along the path."""
        _, J, by_t = self.at(x, t, patch)
        return _solved(J, -by_t)

    def step(self, x: Complex, t: Array, patch: Complex) -> Complex:
        """Newton's step."""
        f, J, _ = self.at(x, t, patch)
        return _solved(J, -f)


def _solved(J: Complex, f: Complex) -> Complex:
    rest = np.concatenate([f, np.zeros((*f.shape[:-1], 1))], axis=-1)
    try:
        solved = np.linalg.solve(J, rest[..., None])
    except np.linalg.LinAlgError:  # some path of the batch meets a singular matrix exactly
        solved = np.linalg.pinv(J) @ rest[..., None]
    return np.asarray(solved[..., 0])


@one_blas_thread()
def _follow(x: Complex, begin: Dimensions, end: Dimensions) -> Followed:
    """Follow points (S, K, 8) from one robot to another: predictor of fourth order, Newton's corrector."""
    path, shape = _Path(begin, end), x.shape[:-1]
    t, h = np.zeros(shape), np.full(shape, _FIRST)
    in_a_row, lost = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=bool)
    for _ in range(_MOST):
        active = (t < 1) & ~lost
        if not active.any():
            break
        d = np.where(active, np.minimum(h, 1 - t), 0.0)
        there = np.where(d >= 1 - t, 1.0, t + d)
        y, good = _moved(path, x, t, d, there)
        good &= active
        x, t = np.where(good[..., None], y, x), np.where(good, there, t)
        in_a_row = np.where(good, in_a_row + 1, 0)
        grown = np.where(in_a_row >= 3, np.minimum(2 * h, _LONGEST), h)
        h = np.where(active, np.where(good, grown, h / 2), _FIRST)
        in_a_row = np.where(in_a_row >= 3, 0, in_a_row)
        lost |= active & (h < _SHORTEST)
    arrived = t >= 1
    near = np.linalg.norm(x[..., :4], axis=-1) < _AT_INFINITY
    return Followed(x, arrived & ~near, near)


def _moved(path: _Path, x: Complex, t: Array, d: Array, there: Array) -> tuple[Complex, npt.NDArray[np.bool_]]:
    """One step of each path, and whether it succeeded; points have unit length, the patch is each one's own."""
    patch, D = x.conj(), d[..., None]
    with np.errstate(all="ignore"):
        k1 = path.tangent(x, t, patch)
        k2 = path.tangent(x + D / 2 * k1, t + d / 2, patch)
        k3 = path.tangent(x + D / 2 * k2, t + d / 2, patch)
        k4 = path.tangent(x + D * k3, there, patch)
        y = x + D / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        for _ in range(3):
            step = path.step(y, there, patch)
            y = y + step
            good = np.linalg.norm(step, axis=-1) < _NEAR * np.linalg.norm(y, axis=-1)
            if good.all():
                break
        y /= np.linalg.norm(y, axis=-1, keepdims=True)
    return y, np.asarray(good & np.isfinite(y).all(axis=-1))
