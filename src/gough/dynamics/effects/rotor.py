"""Inertia of the drives' rotors behind their gears, which a model has no parameters for, such as arms from URDF."""

import numpy as np

from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth, is_absorbed
from gough.kernels import expression as ex
from gough.kernels.expression import Expression

_INERTIAS = {("N·m", "rad"): "kg·m²", ("N", "m"): "kg"}


class Rotor(Effect):
    """effort_i + J_i · q̈_i. Models that have these parameters absorb the effect.

    J = r² J_rotor, with the gear ratio r. The rotor's gyroscopic torques, which are r times smaller, are left out.
    """

    name = "rotor"
    title = "inertia of the drives' rotors and gears, for which the model has no parameters"
    advice = (
        "Multiply each rotor's inertia with the square of its gear ratio, and compare. State rotors of the actuated "
        "joints in the mechanism, with any value above zero: rotor in TOML (gough mechanism FILE --write NAME.toml "
        "makes TOML of other files), armature in MJCF; their values are then estimated. "
        'use = ["rotor"] in [effects] does the same without changing the file.'
    )
    nonnegative = ("rotor_",)
    is_in_mass = True
    sizes = (0.01, 0.03, 0.1)
    size_unit = "of the rms effort"

    def columns(self, excitation: Excitation) -> Columns:
        """The acceleration of each actuator."""
        robot = excitation.robot
        pairs = zip(robot.effort_units, robot.coordinate_units, strict=True)
        units = [_INERTIAS.get((e, q), f"{e}·s²/{q}") for e, q in pairs]
        return excitation.per_actuator("rotor_", units, excitation.ddq)

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """The acceleration of each actuator."""
        return instant.per_actuator("rotor_", ex.components(instant.ddq))

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted | None:  # noqa: ARG002
        """Rotors of all drives; None for a robot whose model has the inertia of its drives."""
        if is_absorbed(truth, truth.ddq):
            return None
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        rms, fast = (np.sqrt((x**2).mean(axis=0)) for x in (efforts, truth.ddq))
        return Planted(truth.q, efforts + size * rms / fast * truth.ddq)


EFFECT = Rotor()
