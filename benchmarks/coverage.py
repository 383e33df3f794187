"""Coverage of the 95 % intervals over simulated recordings of several robots: white, filtered, drifting noise, walks.

python -m benchmarks.coverage five-bar delta --seeds 200 --first 20000 --noise white filtered
"""

import argparse
from functools import cache

import numpy as np

from benchmarks._campaign import add_options, results_of
from gough import Gaussian, LinearProblem, Unknowns, estimate
from gough.campaigns import Campaign
from gough.dynamics import METHODS, base_values, reduced
from gough.methods import identifiability
from tests.dynamics.moving_robots import ROBOTS, drifting, filtered, moving, walking, white

NAMES = ("least squares", "weighted", "Gauss–Markov", "robust")
NOISE = {"white": white, "filtered": filtered} | {f"drift, {t:g} s": drifting(t) for t in (0.05, 0.2, 0.5, 1, 2, 5)}
NOISE |= {f"walk, {size}": walking(size) for size in (1, 5)}
SIGMA = 0.1


@cache
def experiment(robot_name: str):
    """The problem without noise, the true values, and the number of samples and actuators."""
    robot, _, W = moving(robot_name)
    n_samples, n, p = W.shape
    free = LinearProblem(
        W.reshape(-1, p), np.zeros(n_samples * n), Unknowns(robot.names, robot.units), Gaussian(), robot.actuators
    )
    analysis = identifiability(free)
    problem = free if analysis.is_full_rank else reduced(free, analysis)
    return problem, base_values(analysis, robot.nominal), n_samples, n


def errors(robot_name: str, noise_name: str, name: str, seed: int) -> list[list[float]]:
    """Whether each interval holds the truth, the errors, and the printed σ, in one simulated recording."""
    problem, truth, n_samples, n = experiment(robot_name)
    clean = problem.W @ truth
    y = clean + SIGMA * NOISE[noise_name](np.random.default_rng(seed), n_samples, n).reshape(-1)
    again = LinearProblem(problem.W, y, problem.unknowns, Gaussian(), problem.groups)
    answer = estimate(again, METHODS[name], strict=False)
    box = answer.intervals()
    inside = (box.lower <= truth) & (truth <= box.upper)
    return [inside.astype(float).tolist(), (answer.value - truth).tolist(), answer.region.sigma.tolist()]


def coverage(rows) -> tuple[float, float, float]:
    """Part of all intervals that hold the truth, least of any unknown, rms of printed over true σ."""
    inside, error, sigma = (np.array(part) for part in zip(*rows, strict=True))
    ratio = np.sqrt((sigma**2).mean(axis=0) / (error**2).mean(axis=0))
    return inside.mean(), inside.mean(axis=0).min(), np.median(ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the 95 %% intervals of all statistical methods.")
    parser.add_argument("robots", nargs="*", default=ROBOTS, metavar="robot", help=f"of {', '.join(ROBOTS)}")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--noise", nargs="+", default=list(NOISE), choices=list(NOISE), metavar="noise")
    parser.add_argument("--methods", nargs="+", default=list(NAMES), choices=list(NAMES), metavar="method")
    add_options(parser, "coverage.jsonl")
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.seeds)
    cells = [(robot, noise, name) for robot in given.robots for noise in given.noise for name in given.methods]
    tasks = {f"{', '.join(cell)}, {seed}": (*cell, seed) for cell in cells for seed in seeds}
    results = results_of(Campaign(errors, tasks), given)
    for robot in given.robots:
        print(f"{robot}, seeds {seeds.start} to {seeds.stop - 1}")
        print("  coverage of 95 % intervals, least of any unknown, printed over empirical σ")
        print(f"  {'noise':14s} {'   '.join(f'{name:15s}' for name in given.methods)}")
        for noise in given.noise:
            found = [
                coverage([results[f"{robot}, {noise}, {name}, {seed}"] for seed in seeds]) for name in given.methods
            ]
            parts = [f"{100 * a:5.1f} {100 * b:5.1f} {c:4.2f}" for a, b, c in found]
            print(f"  {noise:14s} {'  '.join(parts)}", flush=True)


if __name__ == "__main__":
    main()
