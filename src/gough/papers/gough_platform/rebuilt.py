"""The paper's platform rebuilt: its least-squares solution is the truth, measured as described, sound or with play."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from gough.closure import Certification, ChainFinding, JointFinding, LegProblem, Tolerances, certified_leg
from gough.core.arrays import Array
from gough.core.rotations import exp
from gough.data import Poses, averaged
from gough.data.poses import Repeatability
from gough.estimates import Estimate
from gough.geometry import Calibrated, HeldOut, calibrate, held_out
from gough.geometry.chain_equations import ChainEquations
from gough.geometry.geometric import geometric
from gough.geometry.held_out import closure
from gough.papers.calibration_demonstration import (
    AROUND,
    certified_platform,
    mean_tolerances,
    squared_least_squares,
)
from gough.papers.gough_platform.printed import LEAST_SQUARES
from gough.region import Box
from gough.robots import PlatformPoses
from gough.simulate import CalibrationCampaign, Faults, MeasuredCampaign

Measure = Callable[[CalibrationCampaign, np.random.Generator], MeasuredCampaign]
"""How a campaign is measured."""
Weights = Literal["right", "printed"]
"""Weights of an equation in x_cσ: see `leg_by_leg`."""
WIDE = 3.0
"""Tolerances of the paper: so many standard deviations of one measurement, around the mean [DACP06, §5.1.1]."""
_STEPS, _SETTLED = 100, 1e-11
"""Gauss–Newton steps at most, and the size of a step (m) below which the iteration has converged."""


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
    """x_cσ of all legs jointly: the full covariance of a pose's six equations, which share its errors."""

    @cached_property
    def certified(self) -> Certification:
        """What is proven with the paper's tolerances."""
        return certified_platform(self.campaign.robot, self.poses, self.plain.value, wide_tolerances(self.campaign))

    @property
    def legs(self) -> tuple[ChainFinding, ...]:
        """What is proven about each leg with the paper's tolerances."""
        return self.certified.chains

    @cached_property
    def tight(self) -> tuple[ChainFinding, ...]:
        """Findings with the tolerances of means."""
        half = mean_tolerances(self.campaign)
        return certified_platform(self.campaign.robot, self.poses, self.plain.value, half, joint=False).chains

    @property
    def first_leg(self) -> LegProblem:
        """The problem of leg 1 with the paper's tolerances."""
        half = wide_tolerances(self.campaign)
        return certified_leg(
            self.poses,
            1,
            Box.around(self.plain.value[:7], AROUND),
            position_tolerance=half.position,
            rotation_tolerance=half.orientation,
            reading_tolerance=float(half.reading[0]),
        )

    @property
    def check(self) -> HeldOut:
        """Errors of poses predicted by the weighted solution."""
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
    def by_leg(self) -> Mapping[Weights, Array]:
        """x_cσ leg by leg, as in the paper, by each kind of weights."""
        return {kind: leg_by_leg(self, kind) for kind in ("right", "printed")}

    @cached_property
    def by_leg_check(self) -> Mapping[Weights, HeldOut]:
        """Predictions of the validation poses by these."""
        robot, start = self.campaign.robot, self.weighted.start
        return {kind: held_out(robot, self.others, start, values) for kind, values in self.by_leg.items()}

    @cached_property
    def each_run(self) -> tuple[ChainFinding, ...]:
        """With the paper's tolerances around every run by itself: as many equations as runs and configurations."""
        poses = self.measured.poses
        assert poses.configuration is not None
        assert poses.run is not None
        single = poses.configuration + len(self.poses) * poses.run
        runs, _ = averaged(replace(poses, configuration=single, run=None))
        half = wide_tolerances(self.campaign)
        return certified_platform(self.campaign.robot, runs, self.plain.value, half, joint=False).chains

    @property
    def together(self) -> JointFinding:
        """All legs at once, with the paper's tolerances."""
        assert self.certified.joint is not None
        return self.certified.joint

    def deviations(self) -> tuple[Array, Array]:
        """Deviations of every position from its configuration's mean (N, 3), and of every reading (N, legs), m."""
        poses, label = self.measured.poses, self.measured.poses.configuration
        return poses.position - self.poses.position[label], poses.readings - self.poses.readings[label]


def wide_tolerances(campaign: CalibrationCampaign) -> Tolerances:
    """The paper's half-widths."""
    noise = campaign.noise
    return Tolerances(WIDE * noise.total[:3], WIDE * noise.reading, WIDE * noise.total[3:])


def leg_by_leg(case: RebuiltPlatform, weights: Weights, measured: Poses | None = None) -> Array:
    """x_cσ of [DACP06, §3.2]: each leg's equations F by themselves, with the σ of Tables 2 and 3 of single images.

    Right weights are the inverse variances of the equations, 1 / Σ_j (∂f/∂m_j)² σ_j². The printed ones,
    Σ_F⁻¹ = (∂F/∂M) Σ_M⁻¹, are no square matrix; FᵀΣ_F⁻¹Σ_F⁻¹F is read as FᵀAAᵀF with A = (∂F/∂M) Σ_M⁻¹, which weighs an
    equation by Σ_j (∂f/∂m_j)² / σ_j². Both are evaluated anew at each Gauss–Newton step. Orientations are
    measured as rotation vectors.
    """
    poses = case.poses if measured is None else measured
    plain = replace(poses, covariance=None, common=None, reading_sigma=None)
    problem = geometric(case.campaign.robot, plain, start=case.plain.value, form="squared")
    equations = problem.equations
    assert isinstance(equations, ChainEquations)
    sigma = np.concatenate([case.campaign.noise.total, case.campaign.noise.reading])
    theta = np.array(case.plain.value)
    for _ in range(_STEPS):
        f, X, J_m = equations.by_chain(theta, problem.measured)
        weight = 1 / (J_m**2 @ sigma**2) if weights == "right" else J_m**2 @ sigma**-2.0
        root = np.sqrt(weight)
        step = np.zeros_like(theta)
        for leg, places in enumerate(equations.unknown_columns):
            step[places] = np.linalg.lstsq(root[:, leg, None] * X[:, leg], -root[:, leg] * f[:, leg])[0]
        theta += step
        if abs(step).max() < _SETTLED:
            return theta
    raise AssertionError(f"weighted least squares leg by leg did not converge in {_STEPS} steps")


def never_solved(case: RebuiltPlatform, rng: np.random.Generator, *, draws: int) -> tuple[int, float]:
    """Legs fitted to measurements drawn uniformly from the paper's intervals: how many, and the best fit among them.

    The fit is the largest error of a leg's length (m) over all poses; zero would be a solution.
    """
    poses, noise = case.poses, case.campaign.noise
    assert poses.rotation is not None
    best = np.inf
    for _ in range(draws):
        errors = WIDE * noise.total * rng.uniform(-1, 1, (len(poses), 6))
        rotation = exp(errors[:, 3:]) @ poses.rotation
        drawn = replace(
            poses,
            position=poses.position + errors[:, :3],
            rotation=rotation,
            readings=poses.readings + WIDE * noise.reading * rng.uniform(-1, 1, poses.readings.shape),
        )
        theta = leg_by_leg(case, "right", drawn)
        seen = PlatformPoses(drawn.position, rotation)
        left = closure(case.campaign.robot, theta, seen, drawn.readings)
        best = min(best, float(abs(left).max(axis=0).min()))
    return draws * poses.n_chains, best


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
    return RebuiltPlatform(campaign, measured, poses, others, repeatability, plain, check, weighted)
