"""Terms that no robot model has a name for: if they explain what a model leaves, an effect is missing."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.threads import one_blas_thread
from gough.data import MeasuredMotion
from gough.identification.held_out import Rows, joined, solved, triangles


@dataclass(frozen=True, eq=False)
class _Units:
    """Middle and size of each coordinate and its derivatives in the fitted data."""

    middle: Array
    q: Array
    dq: Array
    ddq: Array

    @classmethod
    def of(cls, motion: MeasuredMotion) -> "_Units":
        sizes = [np.sqrt((x**2).mean(axis=0)) for x in (motion.q - motion.q.mean(axis=0), motion.dq, motion.ddq)]
        return cls(motion.q.mean(axis=0), *(np.where(size > 0, size, 1.0) for size in sizes))


def _terms(motion: MeasuredMotion, units: _Units) -> Array:
    """(samples, terms): constant, positions and their products, velocities, their products, squares and signs,
    accelerations.
    """
    q, v, a = (motion.q - units.middle) / units.q, motion.dq / units.dq, motion.ddq / units.ddq
    i, j = np.triu_indices(q.shape[1])
    columns = [np.ones((len(q), 1)), q, q[:, i] * q[:, j], v, v[:, i] * v[:, j], v * abs(v), np.sign(v), a]
    return np.hstack(columns)


def _with_terms(rows: Rows, motion: MeasuredMotion, units: _Units) -> Rows:
    """The rows with the terms of their samples in front of the model's columns."""
    sample = np.nonzero(motion.kept)[0]  # rows stand sample by sample, as the mask does
    return Rows(np.hstack([_terms(motion, units)[sample], rows.W]), rows.y, rows.group, rows.block)


@one_blas_thread()
def mended(fitted: Rows, motion: MeasuredMotion, judged: Rows | None, other: MeasuredMotion | None) -> Array:
    """Residuals of held-out rows after general terms, fitted to what the model leaves of each actuator, are taken off.

    The model's own parameters are fitted first, so that terms only explain what it cannot.
    """
    units = _Units.of(motion)
    model = triangles(fitted)
    seen = _with_terms(fitted, motion, units)
    unseen = seen if judged is None or other is None else _with_terms(judged, other, units)
    p = fitted.W.shape[1]
    result = np.empty_like(unseen.y)
    for g in range(int(fitted.group.max()) + 1):
        own = triangles(seen.of_group(g))
        for b in range(unseen.n_blocks):
            without = (slice(None),) if judged is not None else (np.arange(len(model)) != b,)
            theta = solved(joined(model[without]))
            R = joined(own[without])
            terms = R.shape[1] - p - 1
            left = R[:, -1] - R[:, terms:-1] @ theta
            beta = solved(np.column_stack([R[:, :terms], left]))
            here = (unseen.group == g) & (unseen.block == b)
            result[here] = unseen.y[here] - unseen.W[here] @ np.concatenate([beta, theta])
    return result
