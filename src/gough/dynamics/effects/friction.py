"""Dry and viscous friction of the drives that a model has no parameters for, such as mechanisms from CAD."""

import numpy as np

from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth, is_absorbed
from gough.kernels import expression as ex
from gough.kernels.expression import Expression


class Friction(Effect):
    """effort_i + c_i · sign(q̇_i) + v_i · q̇_i. Models that have these parameters absorb the effect."""

    name = "friction"
    title = "friction of the drives, for which the model has no parameters"
    advice = (
        "State friction of the actuated joints in the mechanism, with any value above zero: friction in TOML, "
        "<dynamics damping friction> in URDF, damping and frictionloss in MJCF; their values are then estimated. "
        'use = ["friction"] in [effects] does the same without changing the file.'
    )
    nonnegative = ("dry_", "viscous_")
    sizes = (0.01, 0.03, 0.1)
    size_unit = "of the rms effort"

    def columns(self, excitation: Excitation) -> Columns:
        """Dry and viscous friction of each actuator."""
        robot = excitation.robot
        rates = tuple(f"{e}·s/{q}" for e, q in zip(robot.effort_units, robot.coordinate_units, strict=True))
        dry = excitation.per_actuator("dry_", robot.effort_units, np.sign(excitation.dq))
        return dry.and_also(excitation.per_actuator("viscous_", rates, excitation.dq))

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """Dry and viscous friction of each actuator."""
        speeds = ex.components(instant.dq)
        dry = instant.per_actuator("dry_", [ex.sign(v) for v in speeds])
        return {**dry, **instant.per_actuator("viscous_", speeds)}

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:  # noqa: ARG002
        """Dry friction of all drives; None for a robot whose model has friction of its drives."""
        if is_absorbed(truth, np.sign(truth.dq)):
            return None
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        return Planted(truth.q, efforts + size * np.sqrt((efforts**2).mean(axis=0)) * np.sign(truth.dq))


EFFECT = Friction()
