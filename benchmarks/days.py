"""What changed since a calibration: how often the right cause is named, over causes and numbers of poses.

    python -m benchmarks.days --runs 12 --clean 6 --seed 7

A platform is calibrated from 40 simulated poses with noise; on another day one thing has changed. Each cell counts how
often each cause is named in days with their own change, poses and noise; each run has its own calibration.
"""

import argparse
import sys
from collections import Counter

import numpy as np

from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry import calibrate, machine_geometry, recalibrate
from gough.geometry.days import day_of
from gough.robots import GoughPlatform

CAUSES = ("nothing", "one zero", "one gain", "zeros", "instrument frame", "target frame", "both frames")
COUNTS = (6, 8, 12)
RUNS = 40
POSITION, ORIENTATION, READINGS = 5e-5, 2e-4, 1e-5
"""Standard deviations of the noise: m, rad, m."""


def measured(robot: GoughPlatform, theta, count: int, rng: np.random.Generator) -> Poses:
    """Poses at random readings, with noise."""
    readings = rng.uniform(0, 0.14, (count, 6))
    true = robot.forward(theta, readings)
    position = true.position + rng.normal(0, POSITION, (count, 3))
    rotation = exp(rng.normal(0, ORIENTATION, (count, 3))) @ true.rotation
    return Poses(position, rotation, readings + rng.normal(0, READINGS, (count, 6)))


def change(cause: str, rng: np.random.Generator) -> dict:
    """What changes on the day: zeros by 1 mm, a gain by 2 %, frames by 1 mm and 2 mrad (standard deviations)."""
    shift = np.repeat([1e-3, 2e-3], 3)
    one = np.arange(6) == rng.integers(6)
    sign = rng.choice([-1, 1])
    return {
        "nothing": {},
        "one zero": {"zeros": 1e-3 * sign * one},
        "one gain": {"gains": 2e-2 * sign * one},
        "zeros": {"zeros": rng.normal(0, 1e-3, 6)},
        "instrument frame": {"base": rng.normal(0, shift)},
        "target frame": {"platform": rng.normal(0, shift)},
        "both frames": {"base": rng.normal(0, shift), "platform": rng.normal(0, shift)},
    }[cause]


def named(name: str) -> str:
    """The cause of a hypothesis, whichever chain it is about."""
    return {"zero": "one zero", "gain": "one gain"}.get(name.split(maxsplit=1)[0], name) if " of " in name else name


def confusion(counts=COUNTS, runs=RUNS, seed=1, clean=1) -> dict[tuple[int, str], Counter]:
    """How often each cause is named, by number of poses and true cause; with so many days a run without a change."""
    result = {(count, cause): Counter() for count in counts for cause in CAUSES}
    robot = GoughPlatform.deltalab()
    for run in range(runs):
        print(f"day {run + 1} of {runs}", file=sys.stderr, flush=True)
        rng = np.random.default_rng((seed, run))
        theta = robot.nominal + rng.normal(0, 1e-3, 42)
        geometry = machine_geometry(calibrate(robot, measured(robot, theta, 40, rng)))
        for count in counts:
            for cause in (*("nothing",) * (clean - 1), *CAUSES):
                day = day_of(robot, measured(robot, theta, count, rng), change(cause, rng))
                answer = recalibrate(geometry, day)
                result[count, cause][named(answer.chosen.name) if answer.is_explained else "none"] += 1
    return result


def main() -> None:
    """Print the confusion tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="calibrations, each with a day for every cause")
    parser.add_argument("--clean", type=int, default=1, help="days without a change in each run and number of poses")
    parser.add_argument("--seed", type=int, default=1, help="random seed")
    given = parser.parse_args()
    found = confusion(runs=given.runs, seed=given.seed, clean=given.clean)
    right = sum(found[count, cause][cause] for count in COUNTS for cause in CAUSES[1:])
    days = sum(sum(found[count, cause].values()) for count in COUNTS for cause in CAUSES[1:])
    accused = sum(sum(found[count, "nothing"].values()) - found[count, "nothing"]["nothing"] for count in COUNTS)
    clean = sum(sum(found[count, "nothing"].values()) for count in COUNTS)
    print(f"right: {right} of {days} days with a change; accused: {accused} of {clean} days without")
    for count in COUNTS:
        print(f"\n{count} poses: how often each cause is named\n")
        print("| what changed | days | " + " | ".join((*CAUSES, "none")) + " |")
        print("|---|---|" + "---|" * (len(CAUSES) + 1))
        for cause in CAUSES:
            counts = [found[count, cause][each] for each in (*CAUSES, "none")]
            print(f"| {cause} | {sum(counts)} | " + " | ".join(map(str, counts)) + " |")


if __name__ == "__main__":
    main()
