"""The Stribeck effect: dry friction that is larger at low speeds, where the lubricant does not carry yet."""

from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array
from gough.dynamics.effect import Columns, Effect, Excitation, Instant, Planted, Truth, multiplied
from gough.kernels import expression as ex
from gough.kernels.expression import Expression

SPEEDS = (0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4)
"""Stribeck speeds to choose from, as parts of each actuator's rms speed."""

_FINE = 1.02
"""Ratio of speeds at which they are not refined further."""


@dataclass(frozen=True)
class Stribeck(Effect):
    """effort_i + f_i · sign(q̇_i) · exp(−(q̇_i / v_i)²), with the Stribeck speed v_i as a part of the rms speed.

    Rows near reversals of the motion are usually masked: a Stribeck speed below the limit of the mask is not seen.
    """

    speeds: tuple[float, ...] = ()
    """v_i of each actuator, rad/s or m/s; empty: a tenth of its rms speed."""
    step: float = 1.4
    """Ratio of the speeds that are tried."""

    name = "stribeck"
    title = "the Stribeck effect: larger friction at low speeds"
    advice = (
        "Record slow motions too, or leave rows at low speeds out (speed in [preparation.reversals]). "
        'use = ["stribeck"] in [effects] estimates the additional friction.'
    )
    nonnegative = ("stribeck_",)
    sizes = (0.01, 0.04, 0.15)
    size_unit = "of the rms effort, at speed zero"

    def alternatives(self, excitation: Excitation) -> tuple[Effect, ...]:
        """One for each Stribeck speed."""
        rms = np.sqrt((excitation.dq**2).mean(axis=0))
        return tuple(replace(self, speeds=tuple((part * rms).tolist())) for part in SPEEDS)

    def nearer(self) -> tuple[Effect, ...]:
        """Speeds below and above, of each actuator."""
        if not self.speeds or self.step < _FINE:
            return ()
        half = float(np.sqrt(self.step))
        near = (replace(self, speeds=speeds) for speeds in multiplied(self.speeds, half))
        return (replace(self, step=half), *near)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The Stribeck speeds."""
        return self.speeds

    def with_numbers(self, values: tuple[float, ...]) -> Effect:
        """The same with other speeds."""
        return replace(self, speeds=values)

    def number_range(self, excitation: Excitation, i: int) -> tuple[float, float]:
        """The speeds that are scanned, and those up to the next step."""
        rms = float(np.sqrt((excitation.dq[:, i] ** 2).mean()))
        return SPEEDS[0] / EFFECT.step * rms, SPEEDS[-1] * EFFECT.step * rms

    def of_actuator(self, excitation: Excitation, i: int, value: float) -> Array:
        """The additional friction for a Stribeck speed."""
        u = excitation.dq[:, i, None] / (value if value > 0 else 1.0)
        return np.asarray(np.sign(u) * np.exp(-(u**2)))

    def columns(self, excitation: Excitation) -> Columns:
        """One additional friction for each actuator."""
        speeds = self.speeds or (0.1 * np.sqrt((excitation.dq**2).mean(axis=0))).tolist()
        values = np.hstack([self.of_actuator(excitation, i, v) for i, v in enumerate(speeds)])
        return excitation.per_actuator("stribeck_", excitation.robot.effort_units, values)

    def at_instant(self, instant: Instant) -> dict[str, Expression]:
        """One additional friction for each actuator."""
        ratios = [u / (v or 1.0) for u, v in zip(ex.components(instant.dq), self.speeds, strict=True)]
        return instant.per_actuator("stribeck_", [ex.sign(u) * ex.exp(-u * u) for u in ratios])

    def plant(self, truth: Truth, size: float, rng: np.random.Generator) -> Planted:  # noqa: ARG002
        """All actuators, with a Stribeck speed between those that are tried."""
        efforts = truth.efforts(truth.q, truth.dq, truth.ddq)
        rms, speed = (np.sqrt((x**2).mean(axis=0)) for x in (efforts, truth.dq))
        u = truth.dq / (0.145 * speed)
        return Planted(truth.q, efforts + size * rms * np.sign(truth.dq) * np.exp(-u * u))


EFFECT = Stribeck()
