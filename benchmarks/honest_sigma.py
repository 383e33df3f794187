"""Printed over empirical σ for each method, beside the textbook's σ²(WᵀW)⁻¹, on white and on filtered noise."""

import numpy as np

from gough import Gaussian, LinearProblem, Unknowns, estimate
from gough.methods import GaussMarkov, LeastSquares, RobustLeastSquares, WeightedLeastSquares
from tests.methods.filtered_noise import GROUPS, THETA, noise, regressor

N_SETS, N_SAMPLES = 200, 2000
METHODS = [LeastSquares(), WeightedLeastSquares(), GaussMarkov(), RobustLeastSquares()]


def textbook_sigma(W, y):
    _, rss, *_ = np.linalg.lstsq(W, y, rcond=None)
    return np.sqrt(rss[0] / (len(y) - W.shape[1]) * np.linalg.inv(W.T @ W).diagonal())


def ratio(printed, values) -> float:
    empirical = np.sqrt(((np.array(values) - THETA) ** 2).mean(axis=0))
    return float(np.sqrt(((np.array(printed) / empirical) ** 2).mean()))


def main() -> None:
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


if __name__ == "__main__":
    main()
