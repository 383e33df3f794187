"""Section V of [AHG]: models judged on an inclined circle and its mirror image, with drives 3 and 4 that cog."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from gough.core.arrays import Array
from gough.dynamics import BenchmarkVerdict, Bias, all_parameters, benchmark, errors_in_variables
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.estimates import Estimate
from gough.methods import MaximumLikelihood
from gough.papers.palida.printed import CIRCLE, COGGING
from gough.papers.palida.robot import Repetition, base_model
from gough.robots import Palida
from gough.robots.mechanism import Cogging
from gough.simulate import PeriodicExperiment, benchmark_circle

PITCH = 0.036
"""m: of the magnets, a usual one for such drives."""
RADIUS = 0.10
"""m: of the circle; the paper prints its speed, 1 m/s, and its inclination, 30°."""
RATE = 1000.0
WITHOUT, WITH = "without cogging", "with cogging"
MODELS = (WITHOUT, WITH)
MOTIONS = ("circle", "mirrored")
WORDS = {Bias.LARGE: "biased", Bias.SMALL: "small error", Bias.INVISIBLE: "no error visible"}
"""Verdicts in few words."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Both models, identified from the same recording, on both circles."""

    answers: dict[str, Estimate]
    """By model."""
    verdicts: dict[tuple[str, str], BenchmarkVerdict]
    """By model and motion."""
    motions: dict[str, RepeatedMotion]
    """The recorded circles."""


@cache
def cogging_robot() -> Palida:
    """The base model with two more columns for each drive."""
    base = base_model()
    robot = replace(base.full, cogging=Cogging(PITCH), variant="cogging")
    waves = tuple(name for name in robot.names if name not in base.full.names)
    return robot.with_only((*base.robot.names, *waves))


def cogging_truth() -> Array:
    """Base parameters as ever; drives 3 and 4 cog so much that the mean square is the printed model error."""
    robot, base = cogging_robot(), base_model()
    truth = np.concatenate([base.truth, np.zeros(len(robot.names) - len(base.truth))])
    for actuator in COGGING:
        # along a stroke of many pitches the mean square of A sin is A²/2
        truth[robot.names.index(f"sin1_q{actuator}")] = np.sqrt(2 * CIRCLE[actuator - 1])
    return truth


def judged(excitation: Repetition, *, order: int, turns: int, seed: int) -> Judged:
    """Identify a robot whose drives 3 and 4 cog by models that know it and do not, then judge both on circles.

    Args:
        excitation: What both are identified from.
        order: Of the path, for maximum likelihood.
        turns: How often each circle is run through; readings are averaged.
        seed: Of the noise.
    """
    rng = np.random.default_rng([seed, 5])
    robots = {WITHOUT: base_model().robot, WITH: cogging_robot()}
    experiment = replace(excitation.experiment, robot=cogging_robot(), parameters=cogging_truth())
    recorded = experiment.run(rng)
    motions = {name: _circled(experiment, turns, mirrored=name == "mirrored").run(rng) for name in MOTIONS}
    answers: dict[str, Estimate] = {}
    verdicts: dict[tuple[str, str], BenchmarkVerdict] = {}
    for model, robot in robots.items():
        problem = errors_in_variables(robot, recorded, order=order)
        answers[model] = MaximumLikelihood().estimate(problem)
        parameters, covariance = all_parameters(problem, answers[model])
        for name, motion in motions.items():
            verdicts[model, name] = benchmark(robot, parameters, motion, order=1, covariance=covariance)
    return Judged(answers, verdicts, motions)


def _circled(experiment: PeriodicExperiment, turns: int, *, mirrored: bool) -> PeriodicExperiment:
    circle = benchmark_circle(experiment.robot.home, RADIUS, rate=RATE, mirrored=mirrored)  # type: ignore[attr-defined]
    return replace(experiment, series=circle, rate=RATE, periods=turns)
