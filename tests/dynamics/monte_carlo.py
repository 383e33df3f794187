"""Repeated experiments on an H4: filtered noise for σ, bounded noise for sets. Tests and benchmarks share them."""

from dataclasses import dataclass, replace

import numpy as np

from gough import Bounded, Box, LinearProblem, Unknowns, estimate
from gough.data import Decimate, Differentiate, LowPass, MaskReversals, Trim
from gough.data.filters import low_passed
from gough.dynamics import METHODS, recorded
from gough.dynamics.regressors import measured_regressor
from gough.methods import BoundingEllipsoid, LinearHull
from tests.dynamics.h4_data import efforts_of, exact, measured


@dataclass(frozen=True, eq=False)
class Repetitions:
    """What one method answered in each of many experiments: (runs, unknowns)."""

    values: np.ndarray
    sigmas: np.ndarray

    @property
    def ratio(self):
        """Printed over empirical σ of each unknown."""
        return np.sqrt((self.sigmas**2).mean(axis=0)) / self.values.std(axis=0, ddof=1)

    def bias(self, truth):
        """Mean error over the truth."""
        return self.values.mean(axis=0) / truth - 1


def repeated_experiments(robot, methods, *, runs, sigma=0.1, every=20, seed=5) -> dict[str, Repetitions]:
    """Experiments that differ in the noise of the torques alone: 20 000 encoder steps, 20 Hz, reversals masked."""
    steps = (LowPass(20.0), Differentiate(), Trim(0.3), MaskReversals(), Decimate(every))
    clean = measured(robot, efforts_of(robot, robot.nominal), np.random.default_rng(0), sigma=0.0, steps=steps)
    problem = recorded(robot, clean)
    rng = np.random.default_rng(seed)

    def noise():
        """As a recording's torques would have it: filtered at the full rate, cut and thinned like the rest."""
        parts = [low_passed(rng.normal(0, sigma, (10000, 4)), 20.0, 4, 1000.0) for _ in range(2)]
        return np.concatenate([part[1:-1][300:-300:every] for part in parts])[clean.kept]

    answers = {name: [] for name in methods}
    for _ in range(runs):
        again = replace(problem, y=problem.y + noise())
        for name in methods:
            answers[name].append(estimate(again, METHODS[name]))
    return {
        name: Repetitions(np.array([a.value for a in all_of]), np.array([a.region.sigma for a in all_of]))
        for name, all_of in answers.items()
    }


def exact_rows(robot, every=100):
    """A regressor without errors: some rows of the two trajectories."""
    ideal = exact(robot, efforts_of(robot, robot.nominal), None, every=every, noise=np.zeros)
    return measured_regressor(robot, ideal).reshape(-1, len(robot.names))


def bounded_problem(robot, W, rng, *, bound=0.3):
    """Torques that err by no more than `bound`, and a problem that states it."""
    y = W @ robot.nominal + rng.uniform(-bound, bound, len(W))
    prior = Box(robot.nominal - 50, robot.nominal + 50)
    unknowns = Unknowns(robot.names, robot.units, robot.nominal, prior)
    return LinearProblem(W, y, unknowns, Bounded(bound), robot.actuators)


def containment(robot, *, runs, seed=7):
    """For each run: does the hull hold the truth, does the ellipsoid? (runs, 2)."""
    W, rng, held = exact_rows(robot), np.random.default_rng(seed), []
    for _ in range(runs):
        problem = bounded_problem(robot, W, rng)
        methods = (LinearHull(), BoundingEllipsoid(rounds=3))
        held.append([robot.nominal in estimate(problem, method).region for method in methods])
    return np.array(held)
