"""Printed over empirical σ for each method, beside the textbook's σ²(WᵀW)⁻¹, on white and on filtered noise.

Then the coverage of the 95 % intervals of robots whose encoders have steps. One robot, with so many seeds:
`python -m benchmarks.honest_sigma delta 200`.
"""

import sys
from time import perf_counter

import numpy as np

from gough import Gaussian, LinearProblem, Unknowns, estimate
from gough.dynamics import base_values, identify
from gough.methods import GaussMarkov, LeastSquares, RobustLeastSquares, WeightedLeastSquares
from tests.dynamics.rounded_positions import experiment
from tests.methods.filtered_noise import GROUPS, THETA, noise, regressor

N_SETS, N_SAMPLES = 200, 2000
METHODS = [LeastSquares(), WeightedLeastSquares(), GaussMarkov(), RobustLeastSquares()]


def textbook_sigma(W, y):
    _, rss, *_ = np.linalg.lstsq(W, y, rcond=None)
    return np.sqrt(rss[0] / (len(y) - W.shape[1]) * np.linalg.inv(W.T @ W).diagonal())


def ratio(printed, values) -> float:
    empirical = np.sqrt(((np.array(values) - THETA) ** 2).mean(axis=0))
    return float(np.sqrt(((np.array(printed) / empirical) ** 2).mean()))


ROBOTS = {"five-bar": 0.05, "delta": 0.05, "hexapod": 2.0}
"""Standard deviation of one reading of an effort."""
NAMED = ("least squares", "weighted", "gauss-markov", "robust")


def coverage(name: str, seeds: int, counts: int) -> None:
    """Print how many of the 95 % intervals hold the truth, by method, and how often the noise sign is against."""
    of, errors, alarms, begin = experiment(name), {method: [] for method in NAMED}, 0, perf_counter()
    for seed in range(seeds):
        motion = of.measured(np.random.default_rng(seed), counts=counts, sigma=ROBOTS[name])
        answer = identify(of.robot, motion, methods=NAMED, compare=False)
        truth = base_values(answer.identifiability, of.robot.nominal)
        for method in NAMED:
            errors[method].append((answer[method].value - truth) / answer[method].region.sigma)
        alarms += answer.noise_sign is not None and answer.noise_sign.against
    each = (perf_counter() - begin) / seeds
    steps = f"{counts} steps in a turn" if counts else "exact positions"
    print(f"  {name}, {steps}, {seeds} seeds ({each:.2g} s each), noise sign against {alarms} times")
    for method, z in errors.items():
        inside = abs(np.array(z)) < 1.96
        rms = np.sqrt((np.array(z) ** 2).mean())
        lowest = inside.mean(axis=0).min()
        print(f"    {method:16s} {inside.mean():.1%} covered, {lowest:.1%} of the worst parameter, rms z {rms:.2f}")


def main() -> None:
    if len(sys.argv) > 2 and sys.argv[-2] in ROBOTS:
        for counts in (0, 4096):
            coverage(sys.argv[-2], int(sys.argv[-1]), counts)
        return
    W = regressor(N_SAMPLES)
    unknowns = Unknowns([f"p_{i}" for i in range(W.shape[1])])
    print(
        f"Printed over empirical σ, {N_SETS} data sets of {N_SAMPLES} samples × 2 motors, 8 unknowns (target 0.9 … 1.1)"
    )
    for label, cutoff in (("white", None), ("low-pass at 0.1 of Nyquist", 0.1)):
        sets = [W @ THETA + noise(np.random.default_rng(seed), N_SAMPLES, cutoff) for seed in range(N_SETS)]
        print(f"  {label}")
        for method in METHODS:
            answers = [estimate(LinearProblem(W, y, unknowns, Gaussian(), GROUPS), method) for y in sets]
            printed, values = [a.region.sigma for a in answers], [a.value for a in answers]
            print(f"    {type(method).__name__:22s} {ratio(printed, values):.2f}")
            if isinstance(method, LeastSquares):
                print(f"    {'its textbook formula':22s} {ratio([textbook_sigma(W, y) for y in sets], values):.2f}")
    print("Coverage of 95 % intervals on filtered data (target at least 93 %)")
    for name in ROBOTS:
        for counts in (0, 4096):
            coverage(name, 10, counts)


if __name__ == "__main__":
    main()
