"""The paper's platform rebuilt: its least-squares solution is the truth, measured as described, sound or with play."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from gough.assemble.joint_tolerance import JointTolerance
from gough.calibration import Calibrated, HeldOut, calibrate, held_out
from gough.core.arrays import Array
from gough.data import Poses, averaged
from gough.data.poses import Repeatability
from gough.estimate import Estimate
from gough.experiments import CalibrationCampaign, Faults, MeasuredCampaign
from gough.studies.calibration_demonstration import (
    LegVerdict,
    joint_verdict,
    leg_verdicts,
    mean_tolerance,
    squared_least_squares,
)
from gough.studies.papers.gough_printed import LEAST_SQUARES

Measure = Callable[[CalibrationCampaign, np.random.Generator], MeasuredCampaign]
"""How a campaign is measured."""
WIDE = 3.0
"""Tolerances of the paper: so many standard deviations of one measurement, around the mean [DACP06, §5.1.1]."""


@dataclass(frozen=True, eq=False)
class RebuiltPlatform:
    """A campaign, and all that the paper makes of it."""

    campaign: CalibrationCampaign
    measured: MeasuredCampaign
    poses: Poses
    """Means of the configurations to calibrate by."""
    others: Poses
    """Means of those to validate by."""
    repeatability: Repeatability
    plain: Estimate
    """x_c."""
    plain_check: HeldOut
    weighted: Calibrated
    """x_cσ, with weights that are right."""
    legs: tuple[LegVerdict, ...]
    """With the paper's tolerances."""
    tight: tuple[LegVerdict, ...]
    """With those of means."""

    @property
    def check(self) -> HeldOut:
        """Of the weighted solution."""
        assert self.weighted.validation is not None
        return self.weighted.validation

    @property
    def sigma(self) -> Array:
        """Standard deviations of one image's pose about its configuration (6), within and between runs together."""
        within, between = self.repeatability.within, self.repeatability.between
        assert within is not None
        assert between is not None
        return np.asarray(np.sqrt(between[:6] ** 2 + within[:6] ** 2 * (1 - 1 / self.campaign.images)))

    @cached_property
    def each_run(self) -> tuple[LegVerdict, ...]:
        """With the paper's tolerances around every run by itself: as many equations as runs and configurations."""
        poses = self.measured.poses
        assert poses.configuration is not None
        assert poses.run is not None
        single = poses.configuration + len(self.poses) * poses.run
        runs, _ = averaged(replace(poses, configuration=single, run=None))
        noise = self.campaign.noise
        return leg_verdicts(
            runs, self.plain.value, pose_tolerance=WIDE * noise.total, reading_tolerance=WIDE * noise.reading
        )

    @cached_property
    def together(self) -> JointTolerance:
        """All legs at once, with the paper's tolerances."""
        return joint_verdict(self.legs)

    def deviations(self) -> tuple[Array, Array]:
        """Of every image's position from its configuration's mean (N, 3), and of every reading (N, legs), m."""
        poses, label = self.measured.poses, self.measured.poses.configuration
        return poses.position - self.poses.position[label], poses.readings - self.poses.readings[label]


def rebuilt_platform(
    seed: int, faults: Faults, measure: Measure, *, runs: int = 11, images: int = 10
) -> RebuiltPlatform:
    """The DeltaLab platform with the geometry of [DACP06, Table 4] and some fault, measured and calibrated."""
    rng = np.random.default_rng([seed, round(1e6 * faults.backlash)])
    campaign = CalibrationCampaign.deltalab(np.random.default_rng(seed), faults=faults, runs=runs, images=images)
    campaign = replace(campaign, geometry=LEAST_SQUARES)
    measured = measure(campaign, rng)
    (poses, repeatability), (others, _) = averaged(measured.poses), averaged(measured.validation)
    weighted = calibrate(campaign.robot, poses, frames="instrument", validation=others)
    plain = squared_least_squares(campaign.robot, poses, weighted.start)
    check = held_out(campaign.robot, others, weighted.start, plain.value)
    noise = campaign.noise
    legs, tight = (
        leg_verdicts(poses, plain.value, pose_tolerance=pose, reading_tolerance=readings)
        for pose, readings in ((WIDE * noise.total, WIDE * noise.reading), mean_tolerance(campaign))
    )
    return RebuiltPlatform(campaign, measured, poses, others, repeatability, plain, check, weighted, legs, tight)
