"""A delay of each actuator's effort behind its motion: clocks, filters in the drive, the bus."""

from collections.abc import Mapping

import numpy as np

from gough.core.arrays import Array, Integers
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth


class Delay(Effect):
    """effort_i(t − d_i): the effort is recorded d_i later than the motion."""

    name = "delay"
    title = "a delay of the efforts behind the positions"
    advice = (
        "Record efforts and positions with one clock, or state the same filter for both. "
        'use = ["delay"] in [effects] estimates the delay of each channel and accounts for it.'
    )
    has_memory = True
    controller = (
        "Efforts are those of the motion without the delay. Where drives delay efforts as the recording did, compute "
        "efforts for the desired motion later by this time."
    )
    sizes = (0.0005, 0.002, 0.01)
    size_unit = "s"

    def columns(self, excitation: Excitation) -> Columns:
        """−d/dt of the model's efforts; at a delay that is known, the secant."""
        values = np.empty_like(excitation.efforts)
        slope = excitation.derivative(excitation.efforts)
        for i in range(excitation.n):
            d = excitation.at.get(f"delay_{i + 1}", 0.0)
            late = shifted(excitation.efforts[:, i], d * excitation.rate, excitation.recording)
            values[:, i] = (late - excitation.efforts[:, i]) / d if d else -slope[:, i]
        return excitation.per_actuator("delay_", ("s",) * excitation.n, values)

    def caveat(self, excitation: Excitation, values: Mapping[str, float]) -> str:  # noqa: ARG002
        """That the positions are late, where delays are negative."""
        late = [value for name, value in values.items() if name.startswith("delay_")]
        if not late or max(late) > 0:
            return ""
        return "The delays are negative: the positions are recorded later than the efforts."

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:  # noqa: ARG002
        """All efforts come late."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        late = np.stack([shifted(x, size * truth.rate, truth.recording) for x in efforts.T], axis=1)
        return Planted(truth.q, late)


def shifted(x: Array, samples: float, recording: Integers) -> Array:
    """x(k − samples) by linear interpolation, within each recording."""
    result = np.empty_like(x)
    for part in np.split(np.arange(len(x)), np.flatnonzero(np.diff(recording)) + 1):
        result[part] = np.interp(part - samples, part, x[part])
    return result


EFFECT = Delay()
