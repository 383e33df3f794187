"""Viscous friction that differs by direction."""

import numpy as np

from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth
from gough.kernels import expression as ex
from gough.kernels.expression import Expression


class Asymmetry(Effect):
    """effort_i + a_i · |q̇_i|: the viscous coefficients are f_v + a and f_v − a in the two directions.

    Dry friction that differs by direction adds a · sign(q̇)² = a, a constant: it is the effect `offset`.
    """

    name = "asymmetry"
    title = "viscous friction that differs by direction"
    advice = (
        "Compare the efforts at the same speed in both directions; gears, seals and amplifiers differ. "
        'use = ["asymmetry"] in [effects] estimates the difference.'
    )
    sizes = (0.001, 0.004, 0.02)
    size_unit = "of the rms effort"

    def columns(self, excitation: Excitation) -> Columns:
        """The speed of each actuator."""
        robot = excitation.robot
        units = [f"{e}·s/{q}" for e, q in zip(robot.effort_units, robot.coordinate_units, strict=True)]
        return excitation.per_actuator("asymmetry_", units, abs(excitation.dq))

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """The speed of each actuator."""
        return instant.per_actuator("asymmetry_", [ex.absolute(v) for v in ex.components(instant.dq)])

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:
        """All actuators: one direction takes more, the other less; at rms speed by this part of the rms effort."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        rms = np.sqrt((efforts**2).mean(axis=0))
        speed = np.sqrt((truth.dq**2).mean(axis=0))
        difference = size * rms * rng.choice([-1.0, 1.0], efforts.shape[1]) / speed
        forwards = np.where(truth.dq > 0, truth.dq, 0.0)
        backwards = np.where(truth.dq < 0, truth.dq, 0.0)
        return Planted(truth.q, efforts + difference * forwards - difference * backwards)


EFFECT = Asymmetry()
