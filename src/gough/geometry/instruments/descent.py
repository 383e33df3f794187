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
_FOLLOWING = 3
"""Steps of the poses alone after a step that is not better."""
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
def descend(elimination: Elimination, state: State, now: Linearized | None = None, *, max_steps: int = 200) -> Arrived:
    """The state with the least sum of squares near a start, whose linearization may be given.

    A step that does not lower the sum of squares is tried again with more damping [BJO96, §9.2].
    """
    equations = elimination.equations
    now = equations.linearized(state) if now is None else now
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
            trial, then = _stepped(elimination, state, now, svd.step(reduced.rest, damping))
            if then.cost < now.cost:
                better = True
                ratio = (now.cost - then.cost) / expected
                state, now = trial, then
                damping = damping / 10 if ratio > 0.25 else damping * 2
                damping = 0.0 if damping < 1e-9 else damping
                break
            damping = max(4 * damping, 1e-8)
        if not better:
            settled = expected <= 1e-6 + 1e-9 * now.cost
            break
    return Arrived(state, now, reduced, steps, settled)


def _stepped(elimination: Elimination, state: State, now: Linearized, step: Array) -> tuple[State, Linearized]:
    """The state after a step of the free unknowns; if it is not better, poses alone follow by some steps more.

    Exact relations, such as one reading for two rods, make narrow curved valleys: the poses must stay in them.
    """
    equations = elimination.equations
    whole = np.zeros(len(equations.layout.names))
    whole[equations.layout.free] = step
    trial = equations.moved(state, whole, elimination.pose_steps(now, step))
    then = equations.linearized(trial)
    for _ in range(_FOLLOWING):
        if then.cost < now.cost or not np.isfinite(then.cost):
            break
        trial = equations.moved(trial, np.zeros_like(whole), elimination.pose_steps(then, np.zeros_like(step)))
        then = equations.linearized(trial)
    return trial, then
