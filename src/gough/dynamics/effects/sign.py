"""The effort of one actuator is recorded with the wrong sign."""

from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth


@dataclass(frozen=True)
class Sign(Effect):
    """−effort_i.

    The wrong sign of all efforts negates all parameters: it leaves no residuals, and is found by negative masses. With
    two actuators it is not visible which one has the wrong sign, except by the signs of the masses.
    """

    actuator: int = 0
    """Number of the actuator, counted from 0."""
    title: str = "the wrong sign of an effort"

    name = "sign"
    advice = (
        "Check the positive directions of effort and position of that actuator: a positive effort accelerates it "
        "towards positive positions. Negate that column, or its gain in [efforts]."
    )
    needs = "It has no parameters: negate the column of the effort, or its gain in [efforts]."
    sizes = (1.0,)
    size_unit = "actuator"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """One for each actuator; one for both where there are two."""
        names = excitation.robot.actuators
        if len(names) == 2:
            return (replace(self, title=f"opposite signs of the efforts of {names[0]} and {names[1]}"),)
        return tuple(
            replace(self, actuator=i, title=f"the wrong sign of the effort of {name}")
            for i, name in enumerate(names)
            if len(names) > 1
        )

    def columns(self, excitation: Excitation) -> Columns:
        """No parameter."""
        return Columns((), (), np.zeros((*excitation.efforts.shape, 0)))

    def signs(self, excitation: Excitation) -> Array:
        """−1 for the actuator."""
        factors = np.ones(excitation.n)
        factors[self.actuator] = -1.0
        return factors

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:
        """Some actuators, one by default, have the wrong sign."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        if efforts.shape[1] < 2:
            return None
        factor = np.ones(efforts.shape[1])
        factor[rng.permutation(len(factor))[: int(size)]] = -1.0
        return Planted(truth.q, factor * efforts)


EFFECT = Sign()
