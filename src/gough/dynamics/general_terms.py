"""Terms that no robot model has a name for: if they explain what a model leaves, an effect is missing."""

import numpy as np

from gough.core.arrays import Array
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.dynamics.held_out import BLOCKS, Rows, gain, joined, solved, triangles
from gough.problem import LinearProblem

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
    rows = Rows.of(problem, scale, _PIECES)
    rows = Rows(rows.W, rows.y, rows.group, rows.block % BLOCKS)
    sample = np.nonzero(motion.kept)[0]  # rows stand sample by sample, as the mask does
    terms = _terms(motion)[sample]
    both = Rows(np.hstack([terms, rows.W]), rows.y, rows.group, rows.block)
    model, k = triangles(rows), terms.shape[1]
    theta = [solved(joined(np.delete(model, b, axis=0))) for b in range(len(model))]
    plain, mended = np.empty_like(rows.y), np.empty_like(rows.y)
    for g in range(len(problem.groups)):
        own = triangles(both.of_group(g))
        for b in range(len(model)):
            R = joined(np.delete(own, b, axis=0))
            beta = _damped(R[:, :k], R[:, -1] - R[:, k:-1] @ theta[b])
            here = (rows.group == g) & (rows.block == b)
            plain[here] = rows.y[here] - rows.W[here] @ theta[b]
            mended[here] = plain[here] - terms[here] @ beta
    return gain(plain, mended, rows.block)


def _damped(A: Array, right: Array) -> Array:
    """Least squares with a little of the identity below A, once its columns have unit length."""
    size = np.linalg.norm(A, axis=0)
    size = np.where(size > 0, size, 1.0)
    k = A.shape[1]
    stacked = np.vstack([A / size, _DAMPING * np.eye(k)])
    found: Array = np.linalg.lstsq(stacked, np.append(right, np.zeros(k)), rcond=None)[0] / size
    return found
