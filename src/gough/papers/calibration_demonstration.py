"""A simulated hexapod, measured by a camera and calibrated as a real one would be: by least squares and by proofs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.checker.leg_equations import PlatformMeasurements
from gough.closure.certified_leg import LegProblem, certified_leg
from gough.closure.findings import bracket_words
from gough.closure.joint_legs import JointProblem
from gough.closure.joint_tolerance import JointTolerance, joint_tolerance
from gough.closure.leg_tolerance import LegTolerance, minimal_tolerance, needed
from gough.core.arrays import Array
from gough.core.text import number, table
from gough.data import Poses, averaged
from gough.data.poses import Repeatability
from gough.dynamics import Step
from gough.estimates import Estimate, Status, estimate
from gough.geometry import Calibrated, HeldOut, calibrate, held_out
from gough.geometry.geometric import geometric
from gough.methods import LeastSquares, Repeated
from gough.methods.nonlinear.lifted import LiftedHull
from gough.region import Box
from gough.report.base.words import against_truth
from gough.report.calibration.page import CertifiedLeg, calibration_documents, headline
from gough.robots import GoughPlatform
from gough.simulate import CalibrationCampaign, Faults, MeasuredCampaign

COVERAGE = 4.0
"""Tolerances are so many standard deviations of a mean: of 768 of them, one is exceeded once in twenty campaigns."""
AROUND = 0.1
"""m: legs are sought within so much of the least-squares solution [DACP06, §5.1.2]."""
_TRIAL_HEADS = (
    "with …",
    "χ²/dof",
    "legs refuted",
    "together",
    "ε [mm]",
    "ε of",
    "heaviest pose",
    "position after [mm]",
)
_FRAMES = ", parameters in the instrument's frames"
_EPSILON = (
    "ε: the least by which the tolerance of every reading must grow for some leg to fit; ≤ 0: the stated ones suffice."
)
FAULTS = (Faults(backlash=5e-4), Faults(backlash=1e-4), Faults(scale=1e-3), Faults(bad_pose=21))
"""What the demonstration lets go wrong."""


@dataclass(frozen=True, eq=False)
class LegVerdict:
    """What is proven of one leg, for all measurements within their tolerances."""

    problem: LegProblem
    hull: Estimate
    """A box that holds every consistent leg; its status says if none is."""
    tolerance: LegTolerance
    """The bracket of the smallest extra tolerance of the readings."""
    fitted: int
    """Poses at which the calibrated leg fits with measurements that are exhibited."""

    @property
    def row(self) -> CertifiedLeg:
        """For a table."""
        empty = self.hull.status is Status.INCONSISTENT
        widths = None if empty else tuple(np.nextafter(self.hull.region.hull().width, np.inf).tolist())
        heaviest = self.tolerance.poses[0][0] if self.tolerance.poses else None
        bracket = (self.tolerance.lower, self.tolerance.upper)
        return CertifiedLeg(f"leg {self.problem.leg}", widths, bracket, self.fitted, self.problem.n_rows, heaviest)


def leg_verdicts(
    poses: Poses, parameters: Array, *, pose_tolerance: Array, reading_tolerance: Array, around: float = AROUND
) -> tuple[LegVerdict, ...]:
    """Each leg of a Gough platform within `around` of the parameters: hull, bracket of ε, and fit as exhibited.

    Tolerances are of the position and the left rotation vector (6), and of each leg's reading.
    """
    found = []
    for leg, x in enumerate(parameters.reshape(poses.n_chains, -1)[:, :7], start=1):
        problem = certified_leg(
            poses,
            leg,
            Box.around(x, around),
            position_tolerance=pose_tolerance[:3],
            rotation_tolerance=pose_tolerance[3:],
            reading_tolerance=float(reading_tolerance[leg - 1]),
        )
        fits = needed(problem, x).reshape(2, -1).max(axis=0) <= 0
        found.append(LegVerdict(problem, LiftedHull().estimate(problem), minimal_tolerance(problem), int(fits.sum())))
    return tuple(found)


def joint_verdict(legs: Sequence[LegVerdict]) -> JointTolerance:
    """The bracket of ε for all legs together, whose equations share the errors of poses: tighter than leg by leg."""
    parts = [leg.problem.data for leg in legs]
    first = parts[0]
    data = PlatformMeasurements(
        first.quaternion,
        first.position,
        np.stack([part.reading for part in parts], axis=1),
        first.position_tolerance,
        first.rotation_tolerance,
        np.stack([part.reading_tolerance for part in parts], axis=1),
    )
    lower, upper = (np.concatenate([getattr(leg.problem.prior, side) for leg in legs]) for side in ("lower", "upper"))
    problem = JointProblem(data, Box(lower, upper), tuple(leg.problem.leg for leg in legs))
    return joint_tolerance(problem, np.array([leg.tolerance.point for leg in legs]))


def squared_least_squares(robot: GoughPlatform, poses: Poses, start: Array) -> Estimate:
    """x_c of [DACP06, §3.2]: least squares of the squared equations, every pose and leg counted alike."""
    plain = replace(poses, covariance=None, reading_sigma=None)
    return estimate(geometric(robot, plain, start=start, form="squared"), Repeated(LeastSquares()))


@dataclass(frozen=True)
class FaultTrial:
    """The same campaign with something wrong: what is noticed."""

    faults: Faults
    chi_squared: float
    refuted: bool
    """By χ²."""
    legs_refuted: int
    """Legs that are refuted: no values within `AROUND` fit."""
    together: bool | None
    """Are all legs together refuted? False if they fit, None if neither is proven."""
    epsilon: tuple[float, float]
    """m: the largest of the legs' brackets; of all legs together where each leg fits by itself."""
    epsilon_of: str
    """What `epsilon` is about: a leg, or all legs together."""
    pose: int | None
    """Heaviest in the proof of the worst leg."""
    position_after: float
    """m: mean error of predicted positions."""


@dataclass(frozen=True, eq=False)
class CalibrationDemonstration:
    """What was simulated, and what was found from its images alone."""

    campaign: CalibrationCampaign
    measured: MeasuredCampaign
    repeatability: Repeatability
    plain: Estimate
    """By least squares as in [DACP06]."""
    plain_check: HeldOut
    found: Calibrated
    """Weighted, with verdicts."""
    legs: tuple[LegVerdict, ...]
    joint: JointTolerance
    """Of all legs together."""
    trials: tuple[FaultTrial, ...]

    title = "Calibration of a simulated Gough platform"

    @property
    def lead(self) -> tuple[str, ...]:
        """A paragraph on the robot and what was measured of it."""
        campaign = self.campaign
        off = 1e3 * float(np.std(campaign.geometry - campaign.robot.nominal))
        return (
            (
                f"A simulated {campaign.robot.name} differs from its blueprint by {off:.1f} mm (rms) in each of "
                f"{len(campaign.robot.names)} parameters. A camera sees a target on it in {len(self.found.poses)} "
                f"extremal configurations, visited {campaign.runs} times, with {campaign.images} images each: "
                f"{len(self.measured.poses)} images with the noise of the paper. Where the camera stands, and how the "
                "target is mounted, is not known. No method sees the truth."
            ),
        )

    @property
    def held(self) -> int:
        """Legs whose true parameters are in their certified box, at zero tolerance."""
        truth = self.measured.truth.reshape(len(self.legs), -1)[:, :7]
        return sum(x in leg.hull.region for x, leg in zip(truth, self.legs, strict=True))

    @property
    def sentences(self) -> tuple[str, ...]:
        """How the answers compare with the truth."""
        truth, n = self.measured.truth, len(self.legs)
        return (
            against_truth(f"least squares{_FRAMES}", self.plain, truth),
            against_truth(f"weighted{_FRAMES}", self.found.estimate, truth),
            f"Certified boxes: {self.held} of {n} hold the true leg, at zero tolerance.{self._together}",
        )

    @property
    def _together(self) -> str:
        return " All legs together fit, with measurements exhibited." if self.joint.is_consistent else ""

    @property
    def account(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """What to print: lines under their heads."""
        return (
            ("Verdicts", (headline(self.found)[0], *self.found.verdicts)),
            ("Against the truth", self.sentences),
            ("Poses that took no part", self._predicted()),
            (
                f"Proven for errors within {COVERAGE:g} σ of a mean and legs within {1e3 * AROUND:g} mm of the answer",
                (*_lines(["", *CertifiedLeg.heads()], [leg.row.texts() for leg in self.legs]), _EPSILON),
            ),
            *((("The same with something wrong", _lines(_TRIAL_HEADS, self.trial_rows())),) if self.trials else ()),
        )

    def _predicted(self) -> tuple[str, ...]:
        check = self.found.validation
        assert check is not None
        errors = {
            "blueprint": (check.position_before, check.orientation_before),
            "least squares": (self.plain_check.position_after, self.plain_check.orientation_after),
            "weighted": (check.position_after, check.orientation_after),
        }
        rows = [
            [name, number(1e3 * float(far.mean()), digits=3), number(float(np.degrees(turned.mean())), digits=3)]
            for name, (far, turned) in errors.items()
            if far is not None and turned is not None
        ]
        return _lines([f"mean error of {len(check.position_after)}", "position [mm]", "orientation [°]"], rows)

    def trial_rows(self) -> list[list[str]]:
        """What is noticed of each fault, as text."""
        return [
            [
                t.faults.words,
                f"{t.chi_squared:.3g}",
                f"{t.legs_refuted} of {len(self.legs)}",
                {True: "refuted", False: "they fit", None: "open"}[t.together],
                bracket_words(*t.epsilon),
                t.epsilon_of,
                "—" if t.pose is None else str(t.pose),
                number(1e3 * t.position_after, digits=3),
            ]
            for t in self.trials
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        names = self.found.model.names
        return {
            **self.found.to_dict(),
            "truth": dict(zip(names, self.measured.truth.tolist(), strict=True)),
            "least_squares": self.plain.to_dict(),
            "tolerance": {"sigmas_of_a_mean": COVERAGE, "around": AROUND},
            "legs": [
                {
                    "leg": leg.problem.leg,
                    "status": leg.hull.status.name,
                    "claim": leg.hull.claim.name,
                    "lower": leg.hull.region.hull().lower.tolist(),
                    "upper": leg.hull.region.hull().upper.tolist(),
                    "epsilon": [leg.tolerance.lower, leg.tolerance.upper],
                    "poses_fitted": leg.fitted,
                }
                for leg in self.legs
            ],
            "together": {"epsilon_upper": self.joint.upper, "fits": self.joint.is_consistent},
            "faults": [
                {
                    **t.__dict__,
                    "faults": t.faults._asdict(),
                    "epsilon": [e if np.isfinite(e) else None for e in t.epsilon],
                }
                for t in self.trials
            ],
        }

    def to_json(self) -> str:
        """`to_dict` as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)

    def documents(self) -> dict[str, bytes]:
        """The files of the report by name."""
        return calibration_documents(
            self.title,
            self.lead,
            self.found,
            truth=self.measured.truth,
            against=self.sentences,
            legs=tuple(leg.row for leg in self.legs),
            faults=self.trial_rows(),
            data=self.to_json(),
        )


def _lines(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> tuple[str, ...]:
    return tuple(table(heads, rows, "l" + "r" * (len(heads) - 1)).splitlines())


def demonstrate_calibration(
    seed: int = 1,
    on_step: Callable[[Step], object] = lambda _: None,
    *,
    faults: Sequence[Faults] = FAULTS,
    measure: Callable[[CalibrationCampaign, np.random.Generator], MeasuredCampaign] = CalibrationCampaign.run,
) -> CalibrationDemonstration:
    """Simulate the paper's campaign, calibrate from it, prove what can be proven, and let things go wrong.

    Args:
        seed: Another seed, another robot and noise.
        on_step: Told of each step as it begins.
        faults: What to let go wrong, each in a campaign of its own.
        measure: How the campaign is measured.
    """
    of = 4 + len(faults)
    on_step(Step(1, of, "simulating images"))
    campaign = CalibrationCampaign.deltalab(np.random.default_rng(seed))
    measured = measure(campaign, np.random.default_rng([seed, 1]))
    (poses, repeatability), (others, _) = averaged(measured.poses), averaged(measured.validation)
    on_step(Step(2, of, "calibrating"))
    found = calibrate(campaign.robot, poses, frames="instrument", validation=others)
    plain = squared_least_squares(campaign.robot, poses, found.start)
    check = held_out(campaign.robot, others, found.start, plain.value)
    on_step(Step(3, of, "proving"))
    legs = _mean_verdicts(campaign, poses, found)
    joint = joint_verdict(legs)
    trials = []
    for i, fault in enumerate(faults):
        on_step(Step(4 + i, of, f"the same with {fault.words}"))
        trials.append(_trial(replace(campaign, faults=fault), np.random.default_rng([seed, 2 + i])))
    on_step(Step(of, of, "drawing"))
    return CalibrationDemonstration(campaign, measured, repeatability, plain, check, found, legs, joint, tuple(trials))


def mean_tolerance(campaign: CalibrationCampaign) -> tuple[Array, Array]:
    """Of a pose (6) and of the readings, where every configuration is the mean of its runs."""
    noise = campaign.noise
    share = COVERAGE / np.sqrt(campaign.runs)
    return share * np.sqrt(noise.run**2 + noise.image**2 / campaign.images), share * noise.reading


def _mean_verdicts(campaign: CalibrationCampaign, poses: Poses, found: Calibrated) -> tuple[LegVerdict, ...]:
    pose, readings = mean_tolerance(campaign)
    return leg_verdicts(poses, found.parameters, pose_tolerance=pose, reading_tolerance=readings)


def _trial(campaign: CalibrationCampaign, rng: np.random.Generator) -> FaultTrial:
    measured = campaign.run(rng)
    poses, others = averaged(measured.poses)[0], averaged(measured.validation)[0]
    found = calibrate(campaign.robot, poses, frames="instrument", validation=others)
    legs = _mean_verdicts(campaign, poses, found)
    worst = max(legs, key=lambda leg: leg.tolerance.lower)
    refuted = sum(leg.hull.status is Status.INCONSISTENT for leg in legs)
    bracket: LegTolerance | JointTolerance = worst.tolerance if refuted else joint_verdict(legs)
    assert found.validation is not None
    return FaultTrial(
        campaign.faults,
        float(found.estimate.stats.chi_squared),  # type: ignore[attr-defined]
        found.refuted,
        refuted,
        True if bracket.is_inconsistent else False if bracket.is_consistent else None,
        (bracket.lower, bracket.upper),
        f"leg {worst.problem.leg}" if refuted else "all together",
        worst.tolerance.poses[0][0] if worst.tolerance.poses else None,
        float(found.validation.position_after.mean()),
    )


CALIBRATIONS: Mapping[str, Callable[..., CalibrationDemonstration]] = MappingProxyType(
    {"gough": demonstrate_calibration}
)
"""Demonstrations of geometric calibration by the name of their robot."""
