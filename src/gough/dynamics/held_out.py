"""Fits on one part of the data, residuals on the rest. Judgments of models rest on nothing else."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.problem import LinearProblem

BLOCKS = 10
"""Blocks of time whose scatter shows how far a comparison may be trusted."""


@dataclass(frozen=True, eq=False)
class BlockedRows:
    """Rows of equations, each divided by its actuator's scale, and the block of time each one is in."""

    W: Array
    y: Array
    group: Integers
    block: Integers

    @classmethod
    def of(cls, problem: LinearProblem, scale: Array, n_blocks: int = BLOCKS) -> "BlockedRows":
        """Blocks have about as many rows each and stand one after the other; no sample is split."""
        n = len(problem.groups)
        place = problem.groups.positions(slice(0, problem.n_rows))
        group, sample = place % n, place // n
        order = np.cumsum(np.append(0, np.diff(sample) > 0))
        block = order * n_blocks // (int(order[-1]) + 1)
        weight = 1 / scale[group]
        return cls(problem.W * weight[:, None], problem.y * weight, group, block)

    def in_block(self, k: int) -> "BlockedRows":
        chosen = self.block == k
        return BlockedRows(self.W[chosen], self.y[chosen], self.group[chosen], self.block[chosen])

    @property
    def n_blocks(self) -> int:
        return int(self.block.max()) + 1


def triangles(rows: BlockedRows) -> Array:
    """The triangle R of [W y] of each block: (blocks, p + 1, p + 1), with RᵀR = [W y]ᵀ [W y]."""
    k = rows.W.shape[1] + 1
    result = np.zeros((rows.n_blocks, k, k))
    for b in range(rows.n_blocks):
        part = rows.in_block(b)
        R = np.linalg.qr(np.column_stack([part.W, part.y]), mode="r")
        result[b, : len(R)] = R
    return result


def joined(parts: Array) -> Array:
    """The triangle of the rows of several blocks, from the triangles of each."""
    return np.asarray(np.linalg.qr(parts.reshape(-1, parts.shape[2]), mode="r"))


def solved(R: Array, n_right: int = 1) -> Array:
    """Least squares of the last columns on the others, by a triangle; the shortest solution where there are many."""
    A, right = R[:, :-n_right], R[:, -n_right:]
    size = np.linalg.norm(A, axis=0)
    size = np.where(size > 0, size, 1.0)
    theta = np.linalg.lstsq(A / size, right, rcond=1e-10)[0] / size[:, None]
    return theta[:, 0] if n_right == 1 else theta


@one_blas_thread()
def residuals(fitted: BlockedRows, judged: BlockedRows | None) -> tuple[Array, Array]:
    """Residuals of held-out rows in units of their scale, and those of the fitted rows.

    With other rows to judge, the fit uses all `fitted` rows; else each block is predicted from the others.
    """
    parts = triangles(fitted)
    theta = solved(joined(parts))
    seen = fitted.y - fitted.W @ theta
    if judged is not None:
        return judged.y - judged.W @ theta, seen
    unseen = np.empty_like(fitted.y)
    for b in range(fitted.n_blocks):
        here = fitted.block == b
        unseen[here] = fitted.y[here] - fitted.W[here] @ solved(joined(np.delete(parts, b, axis=0)))
    return unseen, seen


def gain(before: Array, after: Array, block: Integers) -> tuple[float, float]:
    """1 − Σ after² / Σ before² for the residuals of two models on the same held-out rows, and its standard error.

    With δ = before − after, the difference of their predictions, and before = c δ + noise, the gain is
    (2c − 1) Σδ² / Σ before². So it exceeds zero if c does exceed ½, and its error is that of the slope c: from the
    scatter between blocks of time of Σ δ · noise, each block's over one minus its share of Σδ², as if c were found
    without it [CM15, §VI.B]. An effect that the motion shows unevenly does no harm.

    Examples:
        >>> before = np.array([2.0, -2.0, 2.0, -2.0])
        >>> gain(before, before / 2, np.array([0, 0, 1, 1]))
        (0.75, 0.0)
    """
    total, n = float((before**2).sum()), int(block.max()) + 1
    difference = before - after
    size = float((difference**2).sum())
    if total == 0 or size == 0 or n < 2:
        return 0.0, 0.0 if size == 0 and n > 1 else np.inf
    slope = float(difference @ before) / size
    scatter = np.bincount(block, difference * (before - slope * difference))
    others = np.maximum(1 - np.bincount(block, difference**2) / size, 1e-12)
    error = 2 * float(np.sqrt(((scatter / others) ** 2).sum())) / total
    return (2 * slope - 1) * size / total, error


_PIECES = 60
"""Pieces of time that are dealt to the folds in turn, so that every fold has seen every kind of motion."""
_DAMPING = 0.1
"""Added to the triangle of the terms, whose columns have unit length: what a trajectory hardly shows is not fitted."""


def _terms(motion: MeasuredMotion) -> Array:
    """(samples, terms): constant, positions and their products, velocities, their products, squares and signs,
    accelerations.
    """
    q = motion.q - motion.q.mean(axis=0)
    q, v, a = (x / np.maximum(np.sqrt((x**2).mean(axis=0)), 1e-300) for x in (q, motion.dq, motion.ddq))
    i, j = np.triu_indices(q.shape[1])
    columns = [np.ones((len(q), 1)), q, q[:, i] * q[:, j], v, v[:, i] * v[:, j], v * abs(v), np.sign(v), a]
    return np.hstack(columns)


@one_blas_thread()
def gain_of_general_terms(problem: LinearProblem, motion: MeasuredMotion, scale: Array) -> tuple[float, float]:
    """Part of the held-out mean square that general terms remove, and its standard error.

    Each actuator's residuals are fitted by the terms after the model's own parameters are, so that terms only explain
    what the model cannot. Held out are pieces of time between others: terms without a model behind them can
    interpolate, and nothing more.
    """
    rows = BlockedRows.of(problem, scale, _PIECES)
    rows = BlockedRows(rows.W, rows.y, rows.group, rows.block % BLOCKS)
    sample = np.nonzero(motion.kept)[0]  # rows stand sample by sample, as the mask does
    terms = _terms(motion)[sample]
    model = triangles(rows)
    thetas = [solved(joined(np.delete(model, b, axis=0))) for b in range(len(model))]
    left = rows.y[:, None] - rows.W @ np.column_stack(thetas)
    plain, mended = np.empty_like(rows.y), np.empty_like(rows.y)
    for g in range(len(problem.groups)):
        own = [np.flatnonzero((rows.group == g) & (rows.block == b)) for b in range(len(model))]
        squares = np.stack([terms[here].T @ terms[here] for here in own])
        sides = np.stack([terms[here].T @ left[here] for here in own])
        for b, here in enumerate(own):
            others = np.arange(len(own)) != b
            beta = _damped(squares[others].sum(axis=0), sides[others, :, b].sum(axis=0))
            plain[here] = left[here, b]
            mended[here] = plain[here] - terms[here] @ beta
    return gain(plain, mended, rows.block)


def _damped(squares: Array, right: Array) -> Array:
    """Least squares with a little of the identity below A, once its columns have unit length, from AᵀA and Aᵀ right.

    The identity bounds the condition, so that products lose nothing that counts.
    """
    size = np.sqrt(squares.diagonal())
    size = np.where(size > 0, size, 1.0)
    damped = squares / size / size[:, None] + _DAMPING**2 * np.eye(len(size))
    theta: Array = np.linalg.solve(damped, right / size) / size
    return theta
