"""Efforts that drift in time: the zero of a measurement, or friction that changes with temperature."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from gough.core.arrays import Array
from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth
from gough.kernels.expression import Expression


@dataclass(frozen=True)
class Drift(Effect):
    """effort_i + (t/T) o_i, or effort_i + (t/T) (v_i q̇_i + c_i sign(q̇_i)), with T the duration of the experiment.

    Parameters are changes from the first to the last sample. An offset that drifts may not be zero at the begin.
    """

    form: Literal["offset", "offset and its drift", "friction"] = "offset"

    name = "drift"
    title = "a drift of the efforts in time"
    advice = (
        "Warm the robot up before recording, record the zero of the efforts before and after, or record less at a "
        'time. use = ["drift"] in [effects] estimates a drift that is linear in time.'
    )
    has_memory = True
    controller = (
        "Efforts are those at the begin of the recording. Warm the robot up, and measure the zero of the efforts again "
        "before it runs."
    )
    sizes = (0.005, 0.02, 0.08)
    size_unit = "of the rms effort, from begin to end"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:  # noqa: ARG002
        """The zero, with an offset or without one, and friction."""
        return (self, replace(self, form="offset and its drift"), replace(self, form="friction"))

    def columns(self, excitation: Excitation) -> Columns:
        """Parameters for each actuator."""
        robot = excitation.robot
        t = _share(excitation.time)[:, None]
        zero = excitation.per_actuator("offset_drift_", robot.effort_units, t + 0.0 * excitation.dq)
        if self.form == "offset":
            return zero
        if self.form == "offset and its drift":
            more = excitation.per_actuator("offset_", robot.effort_units, np.ones_like(excitation.dq))
            return zero.and_also(more)
        units = [f"{e}·s/{q}" for e, q in zip(robot.effort_units, robot.coordinate_units, strict=True)]
        viscous = excitation.per_actuator("viscous_drift_", units, t * excitation.dq)
        dry = excitation.per_actuator("dry_drift_", robot.effort_units, t * np.sign(excitation.dq))
        return viscous.and_also(dry)

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """The zero at the begin, where the form has one."""
        if self.form != "offset and its drift":
            return {}
        return instant.per_actuator("offset_", [1.0] * len(instant.q))

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:
        """The zeros or the friction of all actuators change by this part of the rms effort."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        rms = np.sqrt((efforts**2).mean(axis=0))
        change = size * rms * _share(truth.time)[:, None]
        if rng.random() < 0.5:
            return Planted(truth.q, efforts + change * rng.choice([-1.0, 1.0], efforts.shape[1]))
        speed = np.sqrt((truth.dq**2).mean(axis=0))
        return Planted(truth.q, efforts - change * (truth.dq / speed + np.sign(truth.dq)) / 2)


def _share(time: Array) -> Array:
    """Time from 0 at the first sample to 1 at the last."""
    return np.asarray((time - time[0]) / max(float(time[-1] - time[0]), 1e-300))


EFFECT = Drift()
