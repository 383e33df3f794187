"""A position whose scale is wrong: the ratio of a gear, the pitch of a screw, the steps of an encoder."""

from dataclasses import dataclass, replace

import numpy as np

from gough.core.errors import InputError
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth
from gough.dynamics.rigid_efforts import coarse_motion, displaced


@dataclass(frozen=True)
class Ratio(Effect):
    """effort((1 + s) q, (1 + s) q̇, (1 + s) q̈) where the model has effort(q, q̇, q̈), of one actuator."""

    actuator: int = 0
    title: str = "a position with a wrong scale"

    name = "ratio"
    advice = (
        "Compare the ratio of that gear and the counts of its encoder with the drawing: turn the motor by whole turns "
        'and measure the axis. Correct the unit of the position in [data.units], such as "rev/20000", and the unit in '
        "the head of its column if there is one. "
        'use = ["ratio"] in [effects] estimates scale: the position must be multiplied by 1 + scale.'
    )
    correction = (
        "Correct the unit of that position in [data.units], and identify again without this effect: efforts at the "
        "positions that were recorded are not those that were identified."
    )
    sizes = (0.01, 0.03, 0.1)
    size_unit = "of one position"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """One for each actuator."""
        names = excitation.robot.coordinates
        return tuple(
            replace(self, actuator=k, title=f"a wrong scale of the position {names[k]}") for k in range(excitation.n)
        )

    def columns(self, excitation: Excitation) -> Columns | None:
        """The part by which the position is too small."""
        name = f"scale_{self.actuator + 1}"
        own = np.arange(excitation.n) == self.actuator
        q, dq, ddq = (np.where(own, x, 0.0) for x in coarse_motion(excitation))
        try:
            found = displaced(excitation, [(q, dq, ddq)], np.array([excitation.at.get(name, 0.0)]))
        except InputError:
            return None
        return Columns((name,), ("1",), excitation.interpolated(found))

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:
        """One position, any, is shown too small by this part."""
        wrong = np.ones(truth.q.shape[1])
        wrong[rng.integers(len(wrong))] = 1 / (1 + size)
        return Planted(truth.q * wrong, truth.efforts(truth.q, truth.dq, truth.ddq))


EFFECT = Ratio()
