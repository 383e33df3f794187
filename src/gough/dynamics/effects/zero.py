"""Zeros of positions that are off: homing switches, absolute encoders that were mounted again."""

import numpy as np

from gough.core.errors import InputError
from gough.dynamics.effect import Columns, Effect, Excitation, Planted, Truth
from gough.dynamics.rigid_efforts import displaced


class Zero(Effect):
    """effort(q + z) where the model has effort(q): the true positions are q + z."""

    name = "zero"
    title = "zeros of the positions that are off"
    advice = (
        "Move each axis to its mark or against its gauge and compare the position that is shown; home the robot again, "
        'and record again. use = ["zero"] in [effects] estimates what must be added to each position.'
    )
    correction = (
        "Correct the zeros of the drives, or add these values to the recorded positions, and identify again without "
        "this effect: efforts at the positions that were recorded are not those that were identified."
    )
    sizes = (0.01, 0.03, 0.1)
    size_unit = "of the rms displacement"

    def columns(self, excitation: Excitation) -> Columns | None:
        """One angle or length for each actuator."""
        n, rest = excitation.n, np.zeros((len(excitation.coarse), excitation.n))
        names = tuple(f"zero_{k + 1}" for k in range(n))
        values = np.array([excitation.at.get(name, 0.0) for name in names])
        moves = [(np.broadcast_to(unit, rest.shape), rest, rest) for unit in np.eye(n)]
        try:
            found = displaced(excitation, moves, values)
        except InputError:
            return None
        return Columns(names, tuple(excitation.robot.coordinate_units), excitation.interpolated(found))

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:
        """All positions are off by this part of their rms displacement, with random signs."""
        swing = np.sqrt(((truth.q - truth.q.mean(axis=0)) ** 2).mean(axis=0))
        off = size * swing * rng.choice([-1.0, 1.0], truth.q.shape[1])
        return Planted(truth.q - off, truth.efforts(truth.q, truth.dq, truth.ddq))


EFFECT = Zero()
