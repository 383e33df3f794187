"""A gain of one actuator's effort against the others': torque constants, amplifiers, scaling of channels."""

from collections.abc import Mapping

import numpy as np

from gough.core.text import listed
from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth
from gough.kernels.expression import Expression

_LARGEST = 0.7


class Gain(Effect):
    """(1 + g_i) · effort_i. A gain that all actuators share multiplies all parameters and cannot be seen."""

    name = "gain"
    title = "different gains of the actuators"
    advice = (
        "Measure each motor's torque constant, e.g. by static tests (gough.dynamics.gain_from_static_tests). "
        'use = ["gain"] in [effects] estimates gains relative to each other; a common gain cannot be determined.'
    )
    invisible = (
        "A gain that all actuators share multiplies all parameters and leaves no residual: check torque constants by "
        "static tests with known weights."
    )
    is_in_mass = True
    sizes = (0.01, 0.03, 0.1)
    size_unit = "of the effort"

    def columns(self, excitation: Excitation) -> Columns:
        """The model's efforts, actuator by actuator."""
        return excitation.per_actuator("gain_", ("1",) * excitation.n, excitation.efforts)

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """The model's efforts."""
        return instant.per_actuator("gain_", [instant.efforts[i] for i in range(len(instant.q))])

    def is_possible(self, values: Mapping[str, float], sigma: Mapping[str, float]) -> bool:  # noqa: ARG002
        """Gains that differ by more than these are mistakes of signs or units."""
        return max((abs(value) for value in values.values()), default=0.0) < _LARGEST

    def caveat(self, excitation: Excitation, values: Mapping[str, float]) -> str:
        """What the gains are relative to."""
        every = {f"gain_{i + 1}": name for i, name in enumerate(excitation.robot.actuators)}
        kept = [name for key, name in every.items() if key not in values]
        to = f"{listed(kept)}, taken as exact" if kept else "their mean"
        return (
            f"Gains are relative to {to}: which actuators are right is not determined by the data. If that reference "
            "is off, so are all parameters, by the same factor."
        )

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:
        """One actuator's effort is larger than it is."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        factor = np.ones(efforts.shape[1])
        factor[rng.integers(len(factor))] += size
        return Planted(truth.q, factor * efforts)


EFFECT = Gain()
