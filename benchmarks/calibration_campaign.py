"""The simulated DeltaLab platform with the paper's noise [DACP06]: errors against predicted σ, coverage, validation.

Every run has a robot of its own, measured in 64 extremal configurations, 11 runs of 10 images, by a camera in an
unknown place; 64 other configurations validate. Faults are put in afterwards: what is noticed of them.
"""

import sys
from dataclasses import replace
from time import process_time

import numpy as np

from gough import Status
from gough.core import outward
from gough.data import averaged
from gough.geometry import calibrate, held_out
from gough.papers.calibration_demonstration import (
    joint_verdict,
    leg_verdicts,
    mean_tolerance,
    squared_least_squares,
)
from gough.simulate import CalibrationCampaign, Faults

RUNS = 200
CASES = (
    Faults(),
    Faults(backlash=5e-4),
    Faults(backlash=2e-4),
    Faults(backlash=1e-4),
    Faults(scale=5e-3),
    Faults(scale=1e-3),
    Faults(bad_pose=21),
)


class Tally:
    """Errors of one method over all runs, in standard deviations."""

    def __init__(self) -> None:
        self.errors, self.sigma, self.inside, self.position, self.orientation = [], [], [], [], []

    def add(self, estimate, truth, check) -> None:
        region = estimate.region
        self.errors.append(estimate.value - truth)
        self.sigma.append(region.sigma)
        self.inside.append(abs(estimate.value - truth) <= region.interval().width / 2)
        self.position.append(check.position_after.mean())
        self.orientation.append(check.orientation_after.mean())

    def tell(self, name: str) -> None:
        errors, sigma = np.array(self.errors), np.array(self.sigma)
        each = np.sqrt((errors**2).mean(axis=0) / (sigma**2).mean(axis=0))
        whole = np.sqrt(((errors / sigma) ** 2).mean())
        print(
            f"  {name:<14} error/σ {whole:.3f} (target 0.9–1.1; single parameters {each.min():.2f}–{each.max():.2f}); "
            f"rms {1e3 * np.sqrt((errors**2).mean()):.4f} mm; 95 % intervals hold {100 * np.mean(self.inside):.1f} %; "
            f"predicted poses {1e3 * np.mean(self.position):.4f} mm, {np.degrees(np.mean(self.orientation)):.5f}°"
        )


def honesty(runs: int) -> None:
    tallies = {"least squares": Tally(), "weighted": Tally()}
    before, chi, refuted, began = [], [], 0, process_time()
    for seed in range(runs):
        campaign = CalibrationCampaign.deltalab(np.random.default_rng(seed))
        measured = campaign.run(np.random.default_rng([seed, 1]))
        poses, others = averaged(measured.poses)[0], averaged(measured.validation)[0]
        found = calibrate(campaign.robot, poses, frames="instrument", validation=others)
        plain = squared_least_squares(campaign.robot, poses, found.start)
        check = held_out(campaign.robot, others, found.start, plain.value)
        tallies["least squares"].add(plain, measured.truth, check)
        tallies["weighted"].add(found.estimate, measured.truth, found.validation)
        before.append((found.validation.position_before.mean(), found.validation.orientation_before.mean()))
        chi.append(found.estimate.stats.chi_squared)
        refuted += found.refuted
    each = (process_time() - began) / runs
    print(f"{runs} campaigns of 7040 + 6400 images, {each:.2f} s each")
    far, turned = np.mean(before, axis=0)
    print(f"  the blueprint predicts poses to {1e3 * far:.3f} mm and {np.degrees(turned):.3f}° on average")
    for name, tally in tallies.items():
        tally.tell(name)
    print(f"  χ²/dof {np.mean(chi):.3f}; {refuted} of {runs} sound robots refuted (expected: {runs / 1000:.1f})")


def faults() -> None:
    print("What is noticed, tolerances of 4 σ of a mean: legs within ± 100 mm of the answer, 64 poses")
    for fault in CASES:
        began = process_time()
        campaign = replace(CalibrationCampaign.deltalab(np.random.default_rng(1)), faults=fault)
        measured = campaign.run(np.random.default_rng(2))
        poses = averaged(measured.poses)[0]
        found = calibrate(campaign.robot, poses, frames="instrument")
        pose, readings = mean_tolerance(campaign)
        legs = leg_verdicts(poses, found.parameters, pose_tolerance=pose, reading_tolerance=readings)
        empty = sum(leg.hull.status is Status.INCONSISTENT for leg in legs)
        held = sum(x in leg.hull.region for x, leg in zip(measured.truth.reshape(6, 7), legs, strict=True))
        low, high = (1e3 * max(getattr(leg.tolerance, end) for leg in legs) for end in ("lower", "upper"))
        separate, together = process_time() - began, joint_verdict(legs)
        verdict = "refuted" if found.refuted else "not refuted"
        print(
            f"  {fault.words:24s} χ²/dof {found.estimate.stats.chi_squared:7.2f}, {verdict:11s}; "
            f"{empty} of 6 legs proven empty, {held} boxes hold the truth; largest ε in [{low:.4f}, {high:.4f}] mm, "
            f"{separate:.1f} s; together {outward.between(together.lower, together.upper, times=1000)} mm, "
            f"{process_time() - began - separate:.1f} s"
        )


def main(runs: int = RUNS) -> None:
    print(__doc__.splitlines()[0])
    faults()
    honesty(runs)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
