"""Block least squares against numpy.linalg.lstsq at N = 1e6, p = 14: time, peak extra memory, agreement.

Each contender runs in a process of its own, on the same memory-mapped data, so that the peak is its own.
"""

import multiprocessing as mp
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from gough import LinearProblem, Unknowns, estimate
from gough.methods import LeastSquares

N_ROWS, N_UNKNOWNS, REPEATS = 1_000_000, 14, 5


def write_data(folder: Path) -> None:
    rng = np.random.default_rng(1)
    W = rng.normal(size=(N_ROWS, N_UNKNOWNS)) * 10.0 ** rng.uniform(-3, 3, N_UNKNOWNS)
    np.save(folder / "W.npy", W)
    np.save(folder / "y.npy", W @ rng.normal(size=N_UNKNOWNS) + 0.1 * rng.normal(size=N_ROWS))


def peak() -> int:
    """Peak resident memory of this process in bytes (Linux counts in kB, macOS in bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1024 if sys.platform != "darwin" else 1)


def numpy_lstsq(W, y):
    return np.linalg.lstsq(W, y, rcond=None)[0]


def gough_least_squares(W, y):
    names = [f"p_{i}" for i in range(W.shape[1])]
    return estimate(LinearProblem(W, y, Unknowns(names)), LeastSquares()).value


CONTENDERS = {"numpy.linalg.lstsq": numpy_lstsq, "gough LeastSquares": gough_least_squares}


def measure(name: str, folder: Path, queue) -> None:
    W, y = np.load(folder / "W.npy"), np.load(folder / "y.npy")
    solve = CONTENDERS[name]
    solve(W[:2000], y[:2000])  # imports and first-call costs are not what is compared
    before = peak()
    value, times = None, []
    for _ in range(REPEATS):
        start = time.perf_counter()
        value = solve(W, y)
        times.append(time.perf_counter() - start)
    queue.put((statistics.median(times), peak() - before, value))


def main() -> None:
    context = mp.get_context("spawn")
    results = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        writer = context.Process(target=write_data, args=(folder,))  # a child inherits its parent's peak
        writer.start()
        writer.join()
        for contender in CONTENDERS:
            queue = context.Queue()
            process = context.Process(target=measure, args=(contender, folder, queue))
            process.start()
            results[contender] = queue.get()
            process.join()
    size = N_ROWS * N_UNKNOWNS * 8
    print(f"Least squares, N = {N_ROWS:,}, p = {N_UNKNOWNS} (W is {size / 1e6:.0f} MB)")
    for contender, (seconds, extra, _) in results.items():
        print(f"  {contender:20s} {seconds:7.3f} s   extra memory {extra / 1e6:6.1f} MB = {extra / size:6.1%} of W")
    (rival, rival_extra, reference), (ours, our_extra, value) = results.values()
    print(f"  ratio to lstsq: time {ours / rival:.2f} (target ≤ 0.5), memory {our_extra / max(rival_extra, 1):.3f}")
    print(f"  extra memory {our_extra / size:.1%} of W (target ≤ 5 %); ours includes σ, χ², autocorrelation, rank")
    print(f"  largest relative difference of the solutions {abs(value / reference - 1).max():.1e}")


if __name__ == "__main__":
    main()
