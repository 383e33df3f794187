"""Random small problems whose truth lies exactly on the edge of its bounds: how many of them does each method lose?

python -m benchmarks.containment [trials]
"""

import sys
import time

import numpy as np

from gough import Bounded, Box, LinearProblem, Unknowns
from gough.methods import GaussSeidel, LinearHull, RowContractor, Then

SHARES = {RowContractor(): 1.0, GaussSeidel(): 0.1, Then(GaussSeidel(), RowContractor()): 0.05, LinearHull(): 0.05}


def edge_problem(rng: np.random.Generator) -> tuple[LinearProblem, np.ndarray]:
    """W, θ and e of few bits, so that y = W θ ± e is exact: the truth satisfies every row, some with equality."""
    p, n_rows = int(rng.integers(1, 4)), int(rng.integers(1, 9))
    unit = np.ldexp(1.0, int(rng.integers(-300, 300)))
    W = rng.integers(-15, 16, (n_rows, p)) * unit
    theta = rng.integers(-(2**16), 2**16, p) * 2.0**-10
    e = rng.integers(1, 2**16, n_rows) * 2.0**-12 * unit
    y = W @ theta + rng.choice([-1.0, 0.0, 1.0], n_rows) * e
    prior = Box(theta - rng.integers(0, 2**16, p) * 2.0**-8, theta + rng.integers(0, 2**16, p) * 2.0**-8)
    return LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(p)], prior=prior), Bounded(e)), theta


def main(trials: int = 20_000) -> int:
    rng = np.random.default_rng(12)
    counts, lost, seconds = dict.fromkeys(SHARES, 0), dict.fromkeys(SHARES, 0), dict.fromkeys(SHARES, 0.0)
    for _ in range(trials):
        problem, theta = edge_problem(rng)
        for contractor, share in SHARES.items():
            if rng.random() >= share:
                continue
            start = time.perf_counter()
            box = contractor.contract(problem, problem.unknowns.bounds)
            seconds[contractor] += time.perf_counter() - start
            counts[contractor] += 1
            lost[contractor] += theta not in box
    print(f"Containment at zero tolerance, {sum(counts.values()):,} trials on {trials:,} problems")
    for contractor in SHARES:
        each = seconds[contractor] / max(counts[contractor], 1)
        print(
            f"  {contractor!r:62.62s} {counts[contractor]:9,} trials, {lost[contractor]} lost, {each * 1e3:.2f} ms each"
        )
    return sum(lost.values())


if __name__ == "__main__":
    sys.exit(min(main(*(int(x) for x in sys.argv[1:2])), 1))
