"""Hysteresis of friction: after a reversal, dry friction builds up over a distance (presliding; Dahl, LuGre)."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from gough.core.arrays import Array
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth, multiplied

DISTANCES = (0.003, 0.0055, 0.01, 0.017, 0.03, 0.055, 0.1)
"""Presliding distances to choose from, as parts of each actuator's range of positions."""

_FINE = 1.02
"""Ratio of distances at which they are not refined further."""


@dataclass(frozen=True)
class Hysteresis(Effect):
    """effort_i + f_i · (u_i − sign(q̇_i)) with Dahl's friction, du/dt = q̇/d · (1 − sign(q̇) u), instead of dry friction.

    The bristles u go from −1 to 1 over a few presliding distances d; u = 0 at the begin of each recording.
    """

    distances: tuple[float, ...] = ()
    """d of each actuator, rad or m; empty: a hundredth of its range."""
    step: float = 1.8
    """Ratio of the distances that are tried."""

    name = "hysteresis"
    title = "hysteresis of the friction after reversals (presliding)"
    advice = (
        "Leave longer pieces around reversals out (within in [preparation.reversals]), or reverse less often. "
        'use = ["hysteresis"] in [effects] estimates the friction that builds up with the distance.'
    )
    nonnegative = ("hysteresis_",)
    has_memory = True
    controller = (
        "Efforts contain the whole dry friction right after a reversal, but it builds up over the presliding distance: "
        "leave friction out there, or use a friction model with a state."
    )
    sizes = (0.005, 0.02, 0.08)
    size_unit = "of the rms effort"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """One for each presliding distance."""
        span = np.ptp(excitation.q, axis=0)
        return tuple(replace(self, distances=tuple((part * span).tolist())) for part in DISTANCES)

    def nearer(self) -> tuple[Effect, ...]:
        """Distances below and above, of each actuator."""
        if not self.distances or self.step < _FINE:
            return ()
        half = float(np.sqrt(self.step))
        near = (replace(self, distances=distances) for distances in multiplied(self.distances, half))
        return (replace(self, step=half), *near)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The presliding distances."""
        return self.distances

    def with_numbers(self, values: tuple[float, ...]) -> Effect:
        """The same with other distances."""
        return replace(self, distances=values)

    def number_range(self, excitation: Excitation, i: int) -> tuple[float, float]:
        """The distances that are scanned, and those up to the next step."""
        span = float(np.ptp(excitation.q[:, i]))
        return DISTANCES[0] / EFFECT.step * span, DISTANCES[-1] * EFFECT.step * span

    def of_actuator(self, excitation: Excitation, i: int, value: float) -> Array:
        """Dahl's friction less dry friction, for a presliding distance."""
        column = np.zeros((len(excitation.q), 1))
        for part in excitation.pieces if value > 0 else ():
            column[part, 0] = bristles(excitation.q[part, i] / value) - np.sign(excitation.dq[part, i])
        return column

    def columns(self, excitation: Excitation) -> Columns:
        """One friction for each actuator."""
        distances = self.distances or (0.01 * np.ptp(excitation.q, axis=0)).tolist()
        values = np.hstack([self.of_actuator(excitation, i, d) for i, d in enumerate(distances)])
        return excitation.per_actuator("hysteresis_", excitation.robot.effort_units, values)

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:  # noqa: ARG002
        """All actuators, with a presliding distance between those that are tried, by the implicit trapezoidal rule."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        rms = np.sqrt((efforts**2).mean(axis=0))
        x = truth.q / (0.0185 * np.ptp(truth.q, axis=0))
        added = np.zeros_like(efforts)
        for i in range(x.shape[1]):
            u = 0.0
            steps = np.diff(x[:, i], prepend=x[0, i])
            steps[np.flatnonzero(np.diff(truth.recording)) + 1] = np.inf
            for k, h in enumerate(steps.tolist()):
                a = abs(h) / 2
                u = 0.0 if a == np.inf else (u * (1 - a) + h) / (1 + a)
                added[k, i] = u
        return Planted(truth.q, efforts + size * rms * (added - np.sign(truth.dq)))


def bristles(x: Array) -> Array:
    """Dahl's u for positions x (samples,) in presliding distances, exactly, from one reversal to the next.

    Between reversals u = s + (u_0 − s) exp(−|x − x_0|) with the direction s.

    Examples:
        >>> bristles(np.array([0.0, 9.0, 8.0])).round(2)
        array([ 0.  ,  1.  , -0.26])
    """
    u = np.zeros_like(x)
    direction = np.sign(np.diff(x))
    turns = np.flatnonzero(np.diff(direction)) + 1
    for a, b in pairwise([0, *turns.tolist(), len(x) - 1]):
        s = direction[a] if b > a else 0.0
        u[a + 1 : b + 1] = s + (u[a] - s) * np.exp(-abs(x[a + 1 : b + 1] - x[a])) if s else u[a]
    return u


EFFECT = Hysteresis()
