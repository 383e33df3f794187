"""The papers' machines, rebuilt: true parameters as printed, a complete model, recorded and prepared as described."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gough.core.arrays import Array
from gough.data import MeasuredMotion
from gough.estimate import Estimate
from gough.experiments.demos import DEMOS, Campaign
from gough.experiments.machine import Machine
from gough.identification import GainEstimate, Step
from gough.region import ConfidenceEllipsoid
from gough.robots import DynamicModel
from gough.studies.demonstration import measured_gains, prepared


@dataclass(frozen=True, eq=False)
class Rebuilt:
    """A paper's robot with its recordings."""

    robot: DynamicModel
    """With its most detailed model."""
    truth: dict[str, float]
    motion: MeasuredMotion
    other: MeasuredMotion
    """Another trajectory."""
    gains: tuple[GainEstimate, ...]
    noise: Array
    """Standard deviation of each measured torque."""

    def variant(self, name: str) -> DynamicModel:
        """The robot with another of its models."""
        return replace(self.robot, variant=name)  # type: ignore[type-var]


def rebuilt(name: str, *, seed: int, on_step: Callable[[Step], object]) -> Rebuilt:
    """The robot `name` with its nominal parameters, which are those that its paper printed, recorded twice."""
    rng = np.random.default_rng(seed)
    on_step(Step(1, 4, "looking for a motion that shows everything"))
    campaign: Campaign = DEMOS[name].campaign(rng)
    robot = campaign.robot
    machine = Machine(robot, robot.nominal)
    on_step(Step(2, 4, "simulating the machine"))
    recorded, other = (
        replace(experiment, machine=machine).run(rng) for experiment in (campaign.experiment, campaign.validation)
    )
    gains = measured_gains(campaign)
    return Rebuilt(
        robot,
        dict(zip(robot.names, robot.nominal.tolist(), strict=True)),
        prepared(robot, recorded, gains),
        prepared(robot, other, gains),
        gains,
        recorded.errors.std(axis=0),
    )


def values(estimate: Estimate) -> dict[str, float]:
    """Values by name."""
    return dict(zip(estimate.unknowns.names, estimate.value.tolist(), strict=True))


def percents(estimate: Estimate) -> dict[str, float]:
    """Relative standard deviations by name, in percent."""
    assert isinstance(estimate.region, ConfidenceEllipsoid)
    relative = 100 * estimate.region.sigma / np.abs(estimate.value)
    return dict(zip(estimate.unknowns.names, relative.tolist(), strict=True))


def boxes(estimate: Estimate) -> dict[str, tuple[float, float]]:
    """Intervals by name."""
    box = estimate.region.hull()
    return dict(zip(estimate.unknowns.names, zip(box.lower.tolist(), box.upper.tolist(), strict=True), strict=True))
