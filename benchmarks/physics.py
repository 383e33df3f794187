"""How often impossible parameters are found and the mistake is named, for wrong signs and units in several robots.

    python -m benchmarks.physics [seeds] [clean seeds]

Each robot moves smoothly about its home; efforts are those of its own equations with low-pass filtered noise of 2 % of
their rms, so that only the stated mistake is wrong. Clean data have friction of zero in every joint: half of the
coefficients are estimated below zero, and a tenth of a percent of the runs may be refuted.
"""

import sys
from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np

from gough import estimate
from gough.core.errors import InputError
from gough.data import MeasuredMotion
from gough.data.filters import low_passed
from gough.dynamics import physics_of, recorded, reduced
from gough.dynamics.signs import LEVEL
from gough.methods import LeastSquares, identifiability
from gough.robots import ROBOTS
from gough.robots.mechanism import MechanismModel
from gough.simulate.multibody.experiment import seven_axes

RATE, N_SAMPLES, NOISE = 100.0, 1000, 0.02
_OTHER = {
    "five-bar, mechanism file": lambda: MechanismModel(ROBOTS["five-bar"]().mechanism),
    "seven-axis arm, file": lambda: MechanismModel(seven_axes()),
}
ROBOT_NAMES = ("delta", "h4", "par4", "palida", "6-ups", "3-rrr", *_OTHER)
CASES = ("clean, no friction", "all efforts negated", "one motor negated", "efforts × 1000", "degrees as radians")


def motion(robot, rng):
    """Positions, velocities and accelerations of the actuators while the pose follows a sum of sines about home."""
    size = float(np.ptp(robot.skeleton(robot.home).reshape(-1, 3), axis=0).max())
    amplitude = np.where(np.array(robot.pose_units) == "m", 0.1 * size, 0.3)
    t = np.arange(N_SAMPLES)[:, None, None] / RATE
    n = len(robot.home)
    frequency, phase = rng.uniform(0.1, 2.0, (n, 5)), rng.uniform(0, 2 * np.pi, (n, 5))
    w = 2 * np.pi * frequency
    for k in range(10):
        part = amplitude[:, None] / 5 / 2**k
        terms = part * np.sin(w * t + phase), part * w * np.cos(w * t + phase), -part * w**2 * np.sin(w * t + phase)
        x, dx, ddx = (term.sum(axis=2) for term in terms)
        try:
            return robot.joint_motion(robot.home + x, dx, ddx)
        except InputError:
            continue
    raise InputError(f"no motion of {robot.name} about its home was found")


def measured(robot, moved, efforts):
    names = {name: getattr(robot, name) for name in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    return MeasuredMotion(RATE, *moved, efforts, np.ones(efforts.shape, dtype=bool), **names)


def without_friction(robot):
    """The nominal parameters, friction set to zero."""
    friction = {limit.name for limit in robot.physical.nonnegative if limit.what == "friction"}
    return np.where([name in friction for name in robot.names], 0.0, robot.nominal)


def noisy(efforts, rng):
    noise = low_passed(rng.normal(size=efforts.shape), 15.0, 4, RATE)
    return efforts + NOISE * efforts.std(axis=0) / noise.std(axis=0) * noise


def outcome(robot, seen, efforts, with_motion):
    """Name of the mistake, "impossible", or "possible"."""
    now = measured(robot, seen, efforts)
    try:
        free = recorded(robot, now)
    except InputError:
        return "refused by the kinematics"
    analysis = identifiability(free)
    problem = free if analysis.is_full_rank else reduced(free, analysis)
    answer = estimate(problem, LeastSquares())
    found = physics_of(robot, analysis, problem, answer, method="least squares", motion=now if with_motion else None)
    if not found.sign.against:
        return "possible"
    if "negated" in found.mistake:
        return "all negated" if "all efforts" in found.mistake else "one negated"
    return "degrees" if "degrees" in found.mistake else "× 1000" if "1000" in found.mistake else "impossible"


def clean_rate(robot, moved, seeds):
    """Outcomes of clean data without friction; the equations are assembled once."""
    theta = without_friction(robot)
    exact = np.asarray(robot.regressor(*moved) @ theta)
    free = recorded(robot, measured(robot, moved, exact))
    analysis = identifiability(free)
    problem = free if analysis.is_full_rank else reduced(free, analysis)
    counts = Counter()
    for seed in range(seeds):
        y = noisy(exact, np.random.default_rng([seed, 1])).reshape(-1)
        again = replace(problem, y=y)
        found = physics_of(robot, analysis, again, estimate(again, LeastSquares()), method="least squares")
        counts["impossible" if found.sign.against else "possible"] += 1
    return counts


def mistaken(case, robot, moved, seed):
    rng = np.random.default_rng([seed, 2])
    efforts = noisy(np.asarray(robot.regressor(*moved) @ robot.nominal), rng)
    one = np.where(np.arange(efforts.shape[1]) == seed % efforts.shape[1], -1.0, 1.0)
    degrees = np.where(np.array(robot.coordinate_units) == "rad", 180 / np.pi, 1.0)
    match case:
        case "all efforts negated":
            return outcome(robot, moved, -efforts, with_motion=False)
        case "one motor negated":
            return outcome(robot, moved, one * efforts, with_motion=False)
        case "efforts × 1000":
            return outcome(robot, moved, 1000 * efforts, with_motion=False)
    return outcome(robot, tuple(degrees * each for each in moved), efforts, with_motion=True)


def main() -> None:
    seeds, clean = (int(text) for text in (*sys.argv[1:3], "10", "100")[:2]) if __name__ == "__main__" else (5, 50)
    print(f"Outcomes for {seeds} seeds, {clean} of clean data (level {LEVEL:g} of a false alarm)")
    for name in ROBOT_NAMES:
        robot = (_OTHER.get(name) or ROBOTS[name])()
        moved = motion(robot, np.random.default_rng(5))
        print(f"  {name}")
        for case in CASES:
            if case == CASES[0]:
                counts = clean_rate(robot, moved, clean)
            elif case == CASES[-1] and "rad" not in robot.coordinate_units:
                continue
            else:
                counts = Counter(map(partial(mistaken, case, robot, moved), range(seeds)))
            print(f"    {case:22s} {', '.join(f'{word} {count}' for word, count in counts.most_common())}")


if __name__ == "__main__":
    main()
