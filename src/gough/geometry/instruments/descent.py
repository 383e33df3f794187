"""Levenberg–Marquardt's method on the common unknowns, with all poses eliminated in each step."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.threads import one_blas_thread
from gough.geometry.instruments.elimination import Elimination, Reduced
from gough.geometry.instruments.equations import Linearized, State

_SETTLED = 1e-8
"""The descent ends where a full step would lower the sum of squares by less: unknowns move by 1e-4 σ then."""
_ROUNDING = 1e-13
"""… or by less than this share of it."""
_FREE = 1e-10
"""Directions with a smaller singular value, relative to the largest of the scaled columns, are not determined."""


@dataclass(frozen=True, eq=False)
class Arrived(ArrayValue):
    """Where the descent ended."""

    state: State
    linearized: Linearized
    reduced: Reduced
    steps: int
    has_converged: bool


@dataclass(frozen=True, eq=False)
class Decomposed(ArrayValue):
    """The singular values of a triangle with columns of unit length: which directions the measurements determine."""

    scale: Array
    """(P,): lengths of the columns."""
    values: Array
    """Singular values, largest first."""
    left: Array
    right: Array
    """Rows are directions of scaled unknowns."""
    rank: int

    @classmethod
    def of(cls, triangle: Array) -> "Decomposed":
        """The decomposition of a triangle."""
        scale = np.linalg.norm(triangle, axis=0)
        scale = np.where(scale > 0, scale, 1.0)
        U, s, V = np.linalg.svd(triangle / scale)
        rank = int((s > _FREE * max(s[0], 1e-300)).sum()) if len(s) else 0
        return cls(scale, s, U, V, rank)

    def step(self, rest: Array, damping: float) -> Array:
        """The step that minimizes ‖R δ + rest‖² + damping ‖δ‖² in scaled unknowns, none along free directions."""
        s = self.values[: self.rank]
        along = -(self.left.T[: self.rank] @ rest) * s / (s**2 + damping)
        return np.asarray((self.right[: self.rank].T @ along) / self.scale)

    @property
    def covariance(self) -> Array:
        """(P, P): of the unknowns along determined directions."""
        T = self.right[: self.rank].T / self.values[: self.rank] / self.scale[:, None]
        return np.asarray(T @ T.T)

    @property
    def free(self) -> Array:
        """(P, P − rank): directions that change no measurement to first order."""
        return np.asarray(self.right[self.rank :].T / self.scale[:, None])


@one_blas_thread()
def descend(elimination: Elimination, state: State, *, max_steps: int = 200) -> Arrived:
    """The state with the least sum of squares near a start.

    A step that does not lower the sum of squares is tried again with more damping [BJO96, §9.2].
    """
    equations = elimination.equations
    free = equations.layout.free
    now = equations.linearized(state)
    damping, settled, steps = 1e-4, False, 0
    while True:
        reduced = elimination.reduced(now)
        if not (np.isfinite(reduced.triangle).all() and np.isfinite(now.cost)):
            break
        svd = Decomposed.of(reduced.triangle)
        along = svd.left.T[: svd.rank] @ reduced.rest
        expected = reduced.pose_part + float(along @ along)
        settled = expected <= max(_SETTLED, _ROUNDING * now.cost)
        if settled or steps >= max_steps:
            break
        better = False
        while damping < 1e12 and steps < max_steps:
            steps += 1
            step = svd.step(reduced.rest, damping)
            whole = np.zeros(len(equations.layout.names))
            whole[free] = step
            moves = elimination.pose_steps(now, step)
            trial = equations.moved(state, whole, moves)
            then = equations.linearized(trial)
            if then.cost < now.cost:
                better = True
                ratio = (now.cost - then.cost) / expected
                state, now = trial, then
                damping = damping / 10 if ratio > 0.25 else damping * 2
                damping = 0.0 if damping < 1e-9 else damping
                break
            damping = max(4 * damping, 1e-8)
        if not better:
            settled = expected <= 1e-6 * max(1.0, now.cost)
            break
    return Arrived(state, now, elimination.reduced(now), steps, settled)
