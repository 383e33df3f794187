"""A constant offset of each actuator's effort: an amplifier's zero, or dry friction that differs by direction."""

import numpy as np

from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth
from gough.kernels.expression import Expression


class Offset(Effect):
    """effort_i + c_i."""

    name = "offset"
    title = "a constant offset of the efforts"
    advice = (
        "Check the zero of the current or torque measurement with the drives off; dry friction that differs by "
        'direction looks the same. use = ["offset"] in [effects] estimates it.'
    )
    sizes = (0.01, 0.03, 0.1)
    size_unit = "of the rms effort"

    def columns(self, excitation: Excitation) -> Columns:
        """One constant for each actuator."""
        ones = np.ones_like(excitation.efforts)
        return excitation.per_actuator("offset_", excitation.robot.effort_units, ones)

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """Constants."""
        return instant.per_actuator("offset_", [1.0] * len(instant.q))

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:
        """Every actuator has an offset of this size and random sign."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        rms = np.sqrt((efforts**2).mean(axis=0))
        return Planted(truth.q, efforts + size * rms * rng.choice([-1.0, 1.0], efforts.shape[1]))


EFFECT = Offset()
