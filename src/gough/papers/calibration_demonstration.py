"""A simulated hexapod, measured by a camera and calibrated as a real one would be: by least squares and by proofs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from gough.closure import Certification, ChainFinding, Finding, JointFinding, Tolerances, certify
from gough.closure.findings import bracket_words
from gough.core.arrays import Array
from gough.core.codec import finite_or_none
from gough.core.progress import Phase
from gough.core.tables import Table, table
from gough.core.text import number
from gough.data import Poses, averaged
from gough.data.poses import Repeatability
from gough.estimates import Estimate, estimate
from gough.geometry import Calibrated, HeldOut, calibrate, held_out
from gough.geometry.geometric import geometric
from gough.methods import GaussNewton, LeastSquares
from gough.report.base.words import against_truth
from gough.report.calibration.page import calibration_documents, headline
from gough.report.calibration.tables import certified_table
from gough.robots import GoughPlatform
from gough.simulate import CalibrationCampaign, Faults, MeasuredCampaign

COVERAGE = 4.0
"""Tolerances are so many standard deviations of a mean: of 768 of them, one is exceeded once in twenty campaigns."""
AROUND = 0.1
"""m: legs are sought within so much of the least-squares solution [DACP06, §5.1.2]."""
_TRIAL_HEADS = ("with …", "χ²/dof", "legs refuted", "together", "ε, mm", "ε of", "heaviest pose", "position after, mm")
_FRAMES = ", parameters in the instrument's frames"
_EPSILON = (
    "ε: the least by which the tolerance of every reading must grow for some leg to fit; ≤ 0: the stated ones suffice."
)
FAULTS = (Faults(backlash=5e-4), Faults(backlash=1e-4), Faults(scale=1e-3), Faults(bad_pose=21))
"""Faults of the demonstration."""


def certified_platform(
    robot: GoughPlatform, poses: Poses, parameters: Array, tolerances: Tolerances, *, joint: bool = True
) -> Certification:
    """What is proven about each leg within `AROUND` of the parameters, and about all legs together."""
    return certify(robot, poses, tolerances, around=AROUND, center=parameters, calibrated=parameters, joint=joint)


def squared_least_squares(robot: GoughPlatform, poses: Poses, start: Array) -> Estimate:
    """x_c of [DACP06, §3.2]: least squares of the squared equations, every pose and leg counted alike."""
    plain = replace(poses, covariance=None, common=None, reading_sigma=None)
    return estimate(geometric(robot, plain, start=start, form="squared"), GaussNewton(LeastSquares()))


@dataclass(frozen=True)
class FaultTrial:
    """The same campaign with a fault, and whether it is detected."""

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
    """Name of the leg that `epsilon` belongs to, or all legs together."""
    pose: int | None
    """Heaviest in the proof of the worst leg."""
    position_after: float
    """m: mean error of predicted positions."""


@dataclass(frozen=True, eq=False)
class CalibrationDemonstration:
    """A simulated campaign, and the calibration from its images alone."""

    campaign: CalibrationCampaign
    measured: MeasuredCampaign
    repeatability: Repeatability
    plain: Estimate
    """By least squares as in [DACP06]."""
    plain_check: HeldOut
    calibrated: Calibrated
    """Weighted, with verdicts."""
    certified: Certification
    trials: tuple[FaultTrial, ...]

    title = "Calibration of a simulated Gough platform"

    @property
    def legs(self) -> tuple[ChainFinding, ...]:
        """What is proven about each leg."""
        return self.certified.chains

    @property
    def joint(self) -> JointFinding:
        """What is proven about all legs together."""
        assert self.certified.joint is not None
        return self.certified.joint

    @property
    def lead(self) -> tuple[str, ...]:
        """A paragraph on the robot and what was measured of it."""
        campaign = self.campaign
        off = 1e3 * float(np.std(campaign.geometry - campaign.robot.nominal))
        return (
            (
                f"A simulated {campaign.robot.name} differs from its blueprint by {off:.1f} mm (rms) in each of "
                f"{len(campaign.robot.names)} parameters. A camera sees a target on it in {len(self.calibrated.poses)} "
                f"extremal configurations, visited {campaign.runs} times, with {campaign.images} images each: "
                f"{len(self.measured.poses)} images with the noise of the paper. Where the camera stands, and how the "
                "target is mounted, is not known. The methods do not use the true values."
            ),
        )

    @property
    def held(self) -> int:
        """Legs whose true parameters are in their certified box, at zero tolerance."""
        truth = self.measured.truth.reshape(len(self.legs), -1)[:, :7]
        return sum(leg.box is not None and x in leg.box for x, leg in zip(truth, self.legs, strict=True))

    @property
    def sentences(self) -> tuple[str, ...]:
        """How the answers compare with the truth."""
        truth, n = self.measured.truth, len(self.legs)
        return (
            against_truth(f"least squares{_FRAMES}", self.plain, truth),
            against_truth(f"weighted{_FRAMES}", self.calibrated.estimate, truth),
            f"Certified boxes: {self.held} of {n} hold the true leg, at zero tolerance.{self._together}",
        )

    @property
    def _together(self) -> str:
        return " All legs together fit, with measurements exhibited." if self.joint.finding is Finding.FITS else ""

    @property
    def account(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Lines to print, under their headings."""
        return (
            ("Verdicts", (headline(self.calibrated).text, *self.calibrated.verdicts)),
            ("Against the truth", self.sentences),
            ("Poses that were not used", self._predicted()),
            (
                f"Proven for errors within {COVERAGE:g} σ of a mean and legs within {1e3 * AROUND:g} mm of the answer",
                (*str(certified_table(self.legs)).splitlines(), _EPSILON),
            ),
            *((("The same campaign with faults", tuple(str(self.trial_table()).splitlines())),) if self.trials else ()),
        )

    def _predicted(self) -> tuple[str, ...]:
        check = self.calibrated.validation
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
        heads = [f"mean error of {len(check.position_after)}", "position, mm", "orientation, °"]
        return tuple(str(table(heads, rows, "lrr")).splitlines())

    def trial_table(self) -> Table:
        """Verdicts on the same campaign with each fault."""
        rows = [
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
        return table(_TRIAL_HEADS, rows, "lrrrrrrr", "Verdicts on faults")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units."""
        names = self.calibrated.model.names
        return {
            **self.calibrated.to_dict(),
            "truth": dict(zip(names, self.measured.truth.tolist(), strict=True)),
            "least_squares": self.plain.to_dict(),
            "tolerance": {"sigmas_of_a_mean": COVERAGE, "around": AROUND},
            "legs": [
                {
                    "leg": leg.chain,
                    "finding": leg.finding.value,
                    "lower": None if leg.box is None else leg.box.lower.tolist(),
                    "upper": None if leg.box is None else leg.box.upper.tolist(),
                    "epsilon": [finite_or_none(leg.epsilon.lower), finite_or_none(leg.epsilon.upper)],
                    "poses_fitted": leg.fitted,
                }
                for leg in self.legs
            ],
            "together": {
                "epsilon_upper": finite_or_none(self.joint.epsilon.upper),
                "fits": self.joint.finding is Finding.FITS,
            },
            "faults": [
                {
                    **t.__dict__,
                    "faults": t.faults._asdict(),
                    "epsilon": list(map(finite_or_none, t.epsilon)),
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
            self.calibrated,
            truth=self.measured.truth,
            against=self.sentences,
            legs=self.legs,
            faults=self.trial_table() if self.trials else None,
            data=self.to_json(),
        )


def demonstrate_calibration(
    seed: int = 1,
    on_step: Callable[[Phase], object] = lambda _: None,
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
    on_step(Phase(1, of, "simulating images"))
    campaign = CalibrationCampaign.deltalab(np.random.default_rng(seed))
    measured = measure(campaign, np.random.default_rng([seed, 1]))
    (poses, repeatability), (others, _) = averaged(measured.poses), averaged(measured.validation)
    on_step(Phase(2, of, "calibrating"))
    calibrated = calibrate(campaign.robot, poses, frames="instrument", validation=others)
    plain = squared_least_squares(campaign.robot, poses, calibrated.start)
    check = held_out(campaign.robot, others, calibrated.start, plain.value)
    on_step(Phase(3, of, "proving"))
    certified = _certified_means(campaign, poses, calibrated)
    trials = []
    for i, fault in enumerate(faults):
        on_step(Phase(4 + i, of, f"the same with {fault.words}"))
        trials.append(_trial(replace(campaign, faults=fault), np.random.default_rng([seed, 2 + i])))
    on_step(Phase(of, of, "drawing"))
    return CalibrationDemonstration(
        campaign, measured, repeatability, plain, check, calibrated, certified, tuple(trials)
    )


def mean_tolerances(campaign: CalibrationCampaign) -> Tolerances:
    """Half-widths of poses and readings, where every configuration is the mean of its runs."""
    noise = campaign.noise
    share = COVERAGE / np.sqrt(campaign.runs)
    pose = share * np.sqrt(noise.run**2 + noise.image**2 / campaign.images)
    return Tolerances(pose[:3], share * noise.reading, pose[3:])


def _certified_means(campaign: CalibrationCampaign, poses: Poses, calibrated: Calibrated) -> Certification:
    return certified_platform(campaign.robot, poses, calibrated.parameters, mean_tolerances(campaign))


def _trial(campaign: CalibrationCampaign, rng: np.random.Generator) -> FaultTrial:
    measured = campaign.run(rng)
    poses, others = averaged(measured.poses)[0], averaged(measured.validation)[0]
    calibrated = calibrate(campaign.robot, poses, frames="instrument", validation=others)
    certified = _certified_means(campaign, poses, calibrated)
    worst = max(certified.chains, key=lambda leg: leg.epsilon.lower)
    refuted = sum(leg.finding is Finding.REFUTED for leg in certified.chains)
    assert certified.joint is not None
    judged = worst if refuted else certified.joint
    assert calibrated.validation is not None
    return FaultTrial(
        campaign.faults,
        float(calibrated.estimate.stats.chi_squared),  # type: ignore[attr-defined]
        calibrated.refuted,
        refuted,
        {Finding.REFUTED: True, Finding.FITS: False, Finding.OPEN: None}[judged.finding],
        (judged.epsilon.lower, judged.epsilon.upper),
        f"leg {worst.chain}" if refuted else "all together",
        worst.blame[0] if worst.blame else None,
        float(calibrated.validation.position_after.mean()),
    )


CALIBRATIONS: Mapping[str, Callable[..., CalibrationDemonstration]] = MappingProxyType(
    {"gough": demonstrate_calibration}
)
"""Demonstrations of geometric calibration by the name of their robot."""
