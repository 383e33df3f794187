"""The papers' robots, rebuilt: true parameters as printed, a complete model, recorded and prepared as described."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.progress import Phase
from gough.data import MeasuredMotion
from gough.dynamics import GainEstimate, Identified, recorded
from gough.estimates import Estimate
from gough.methods import minimal_bound
from gough.noise import Bounded
from gough.papers.demonstration import measured_gains, prepared
from gough.papers.printed import PRV03I_START
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.report import Drawing
from gough.report.identification.efforts import Comparison, effort_figure
from gough.robots import DynamicModel
from gough.simulate.demos import DEMOS, Campaign
from gough.simulate.simulated_robot import SimulatedRobot
from gough.unknowns import Unknowns


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


def rebuild(name: str, *, seed: int, on_step: Callable[[Phase], object], of: int = 4) -> Rebuilt:
    """The robot `name` with its nominal parameters, which are those that its paper printed, recorded twice.

    These are the first two of `of` steps.
    """
    rng = np.random.default_rng(seed)
    on_step(Phase(1, of, "looking for a motion that shows everything"))
    campaign: Campaign = DEMOS[name].campaign(rng)
    robot = campaign.robot
    simulated = SimulatedRobot(robot, robot.nominal)
    on_step(Phase(2, of, "simulating the robot"))
    recorded, other = (
        replace(experiment, simulated=simulated).run(rng) for experiment in (campaign.experiment, campaign.validation)
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


def start_box(n: int) -> Box:
    """The initial box of n parameters of the H4 [PRV03i, §4.2]."""
    return Box(np.full(n, PRV03I_START[0]), np.full(n, PRV03I_START[1]))


@dataclass(frozen=True, eq=False)
class Rows:
    """The recording of an H4 as rows of one of its models."""

    names: tuple[str, ...]
    W: Array
    y: Array
    truth: Array

    @classmethod
    def of(cls, rebuilt: Rebuilt, variant: str, *, masked: bool = True) -> "Rows":
        """Rows of a variant; with `masked` false also those near velocity reversals."""
        motion = rebuilt.motion
        if not masked:
            motion = replace(motion, kept=np.ones_like(motion.kept))
        problem = recorded(rebuilt.variant(variant), motion)
        names = problem.unknowns.names
        truth = np.array([rebuilt.truth[name] for name in names])
        return cls(names, np.asarray(problem.W), np.asarray(problem.y), truth)

    @property
    def start(self) -> Box:
        """The initial box."""
        return start_box(len(self.names))

    def problem(self, bound: float, order: Any = slice(None)) -> LinearProblem:
        """Some rows, in some order, with the same error bound (N·m) and the initial box."""
        return LinearProblem(
            self.W[order], self.y[order], Unknowns(self.names, prior=self.start), Bounded(np.array(bound))
        )

    @cached_property
    def smallest_bound(self) -> float:
        """N·m: with one bound for all rows and no initial box."""
        return minimal_bound(LinearProblem(self.W, self.y, Unknowns(self.names), Bounded(np.array(1.0)))).upper

    def beyond(self, bound: float) -> int:
        """Rows that the true parameters miss by more than the bound."""
        return int((abs(self.y - self.W @ self.truth) > bound).sum())


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


def cross_validation_figure(name: str, identified: Identified, method: str, caption: str) -> Drawing:
    """Efforts of another trajectory as measured and as predicted, with the interval of one method."""
    validation = identified.validation
    assert validation is not None
    comparison = Comparison(validation.motion, method, validation.predictions, identified.bound)
    return replace(effort_figure(name, comparison, where="the validation trajectory"), caption=caption)
