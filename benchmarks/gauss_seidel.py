"""Verified Gauss–Seidel against numpy.linalg.lstsq at N = 1e6, p = 14, and its box against floats at N = 2000.

`time / lstsq` is what a proved box costs over an unproved point, of the same data in one run (target: at most 5). The
width is compared with W⁺ y ± |W⁺| e as floats compute it: the excess is what rigor costs (target: below 1e-9).
"""

import statistics
import time
import tracemalloc

import numpy as np

from gough import Bounded, LinearProblem, Unknowns
from gough.methods import GaussSeidel

N_ROWS, N_UNKNOWNS, REPEATS, BOUND = 1_000_000, 14, 5, 0.1


def problem(n_rows: int) -> LinearProblem:
    rng = np.random.default_rng(1)
    W = rng.normal(size=(n_rows, N_UNKNOWNS)) * 10.0 ** rng.uniform(-3, 3, N_UNKNOWNS)
    y = W @ rng.normal(size=N_UNKNOWNS) + BOUND * rng.uniform(-1, 1, n_rows)
    return LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(N_UNKNOWNS)]), Bounded(BOUND))


def seconds(work) -> float:
    """Median time of a call, after one to warm up."""
    work()
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peak_memory(work) -> int:
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def main() -> None:
    tall = problem(N_ROWS)

    def ours():
        return GaussSeidel().contract(tall, tall.unknowns.bounds)

    rival = seconds(lambda: np.linalg.lstsq(tall.W, tall.y, rcond=None))
    proved = seconds(ours)
    print(f"Gauss–Seidel, N = {N_ROWS:,}, p = {N_UNKNOWNS}, from an unbounded prior")
    print(f"  numpy.linalg.lstsq {rival:7.3f} s   GaussSeidel {proved:7.3f} s   time / lstsq {proved / rival:.1f}")
    print(f"  peak memory {peak_memory(ours) / tall.W.nbytes:.1%} of W")
    small = problem(2000)
    box = GaussSeidel().contract(small, small.unknowns.bounds)
    reach = np.abs(np.linalg.pinv(small.W)) @ np.full(2000, BOUND)
    excess = box.width / (2 * reach) - 1
    once = seconds(lambda: GaussSeidel().contract(small, small.unknowns.bounds))
    print(f"N = 2,000: {1e3 * once:.1f} ms; width beyond |W⁺| e: {excess.min():.1e} to {excess.max():.1e} of it")


if __name__ == "__main__":
    main()
