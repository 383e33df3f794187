"""A regressor like those of robot dynamics: Fourier motion of four joints, columns over six decades, bounded errors."""

from pathlib import Path

import numpy as np

from gough import Bounded, Box, LinearProblem, Unknowns

SECONDS = 20.0
_BLOCK = 1 << 16


def dynamics_problem(n_rows: int, p: int = 14, *, seed: int = 7, e: float = 0.05) -> tuple[LinearProblem, np.ndarray]:
    rng = np.random.default_rng(seed)
    W = regressor(fourier(rng), np.linspace(0, SECONDS, n_rows), p)
    W += 0.02 * rng.normal(size=W.shape) * np.maximum(W.std(axis=0), 0.1)
    scale, theta = parameters(rng, p)
    W *= scale
    y = W @ theta + rng.uniform(-e, e, n_rows)
    return LinearProblem(W, y, unknowns(scale, theta), Bounded(e)), theta


def mapped_problem(path: Path, n_rows: int, p: int = 14, *, seed: int = 7, e: float = 0.05):
    """The like with W in a file, written and read by blocks."""
    rng = np.random.default_rng(seed)
    motion, (scale, theta) = fourier(rng), parameters(rng, p)
    W = np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=(n_rows, p))
    y = np.empty(n_rows)
    for first in range(0, n_rows, _BLOCK):
        rows = slice(first, min(first + _BLOCK, n_rows))
        block = regressor(motion, SECONDS * np.arange(rows.start, rows.stop) / n_rows, p)
        block += 0.02 * rng.normal(size=block.shape)
        W[rows] = block * scale
        y[rows] = W[rows] @ theta + rng.uniform(-e, e, len(block))
    W.flush()
    W = np.load(path, mmap_mode="r")
    return LinearProblem(W, y, unknowns(scale, theta), Bounded(e)), theta


def fourier(rng: np.random.Generator) -> np.ndarray:
    """Coefficients of sine and cosine, for four joints and five harmonics."""
    return np.array([rng.normal(size=(2, 5, 1)) / np.arange(1, 6)[:, None] for _ in range(4)])


def regressor(motion: np.ndarray, t: np.ndarray, p: int) -> np.ndarray:
    order = np.arange(1, 6)[:, None]
    q, dq, ddq = np.zeros((3, 4, len(t)))
    for j in range(4):
        w = 2 * np.pi * 0.05 * (1 + 0.1 * j) * order
        a, b = motion[j]
        s, c = np.sin(w * t), np.cos(w * t)
        q[j] = (a * s + b * c).sum(axis=0)
        dq[j] = (w * (a * c - b * s)).sum(axis=0)
        ddq[j] = -(w * w * (a * s + b * c)).sum(axis=0)
    columns = [
        ddq[0], ddq[1] * np.cos(q[1]), ddq[2] * np.sin(q[2]), dq[0] ** 2 * np.sin(q[1]), dq[1] ** 2 * np.cos(q[2]),
        dq[2] * dq[0], np.cos(q[0]), np.sin(q[1]), np.cos(q[1] + q[2]), np.sign(dq[0]), dq[0], np.sign(dq[1]), dq[1],
        np.ones(len(t)),
    ]  # fmt: skip
    columns += [np.sin((k + 2) * q[k % 4]) * ddq[(k + 1) % 4] for k in range(p - len(columns))]
    return np.column_stack(columns[:p])


def parameters(rng: np.random.Generator, p: int) -> tuple[np.ndarray, np.ndarray]:
    """Units of the columns and true parameters."""
    scale = 10.0 ** rng.uniform(-3, 3, p)
    return scale, rng.uniform(0.5, 3, p) * rng.choice([-1, 1], p) / scale


def unknowns(scale: np.ndarray, theta: np.ndarray) -> Unknowns:
    reach = 10 * abs(theta) + 1 / scale
    return Unknowns([f"p_{i}" for i in range(len(theta))], prior=Box(theta - reach, theta + 1.2 * reach))
