"""The rigorous hull against least squares, against 2p linear programs of scipy, and against other enclosures.

python -m benchmarks.linear_hull            all of it
python -m benchmarks.linear_hull 10000000   one hull of so many rows in a file, with time and memory
"""

import importlib.util
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

import numpy as np
from scipy.io import savemat
from scipy.optimize import linprog

from benchmarks._dynamics import dynamics_problem, mapped_problem
from gough import estimate
from gough.core import outward
from gough.methods import (
    BoundingEllipsoid,
    Fixpoint,
    GaussSeidel,
    LinearHull,
    RowContractor,
    TightEllipsoid,
    minimal_bound,
    sweep,
)


def timed(run, repeats: int = 3) -> tuple[float, object]:
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return statistics.median(times), result


def scipy_bounds(problem, directions):
    """min d·θ for each direction by scipy's HiGHS, all rows at once, columns scaled."""
    scale = np.linalg.norm(problem.W, axis=0) / np.sqrt(problem.n_rows)
    A = np.vstack([problem.W / scale, -problem.W / scale])
    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    b = np.concatenate([problem.y + e, e - problem.y])
    prior = problem.unknowns.bounds
    sides = np.column_stack([prior.lower * scale, prior.upper * scale])
    return np.array([linprog(d / scale, A, b, bounds=sides, method="highs").fun for d in directions])


def against_least_squares() -> None:
    estimate(dynamics_problem(2000)[0], LinearHull())
    print("Rigorous hull against numpy.linalg.lstsq, p = 14")
    seconds = {}
    for n_rows in (10_000, 100_000, 1_000_000):
        problem, theta = dynamics_problem(n_rows)
        rival, _ = timed(lambda p=problem: np.linalg.lstsq(p.W, p.y, rcond=None))
        ours, answer = timed(lambda p=problem: estimate(p, LinearHull()))
        seconds[n_rows] = ours
        inside = "truth inside" if theta in answer.region else "TRUTH LOST"
        looked = f"{answer.stats.pool} rows looked at"
        print(f"  N = {n_rows:9,}: {ours:6.3f} s = {ours / rival:6.1f} × lstsq; {looked}; {inside}")
    growth = np.log(seconds[1_000_000] / seconds[10_000]) / np.log(100)
    print(f"  targets: at most 3 × lstsq at N = 1e6; growth exponent 1e4 → 1e6 ≤ 1.05: {growth:.2f}")


def many_unknowns() -> None:
    print("Many unknowns, p = 60")
    for n_rows in (5_000, 100_000):
        problem, theta = dynamics_problem(n_rows, 60)
        seconds, answer = timed(lambda p=problem: estimate(p, LinearHull()), repeats=1)
        inside = "truth inside" if theta in answer.region else "TRUTH LOST"
        print(f"  N = {n_rows:9,}: {seconds:6.2f} s; {answer.stats.pool} rows looked at; {inside}")


def against_scipy() -> None:
    problem, _ = dynamics_problem(20_000)
    p = len(problem.unknowns)
    ours, answer = timed(lambda: estimate(problem, LinearHull()))
    some = [0, 5, 9, 13]
    start = time.perf_counter()
    low = scipy_bounds(problem, np.eye(p)[some])
    rival = (time.perf_counter() - start) * 2 * p / len(some)
    loss = ((low - answer.region.lower[some]) / answer.region.width[some]).max()
    print(f"2p = {2 * p} × scipy.optimize.linprog at N = 2e4 (timed on {len(some)}): {rival:.1f} s")
    print(f"  rigorous hull {ours:.3f} s: {rival / ours:.0f} times faster (target ≥ 50)")
    print(f"  rigorous below float bound by at most {loss:.1e} of the width (target < 1e-8)")


def line(name: str, width: np.ndarray, hull: np.ndarray, seconds: float) -> str:
    ratio = width / hull
    return f"  {name:34s} {np.median(ratio):8.1f} {ratio.max():8.1f}   {seconds:.3f} s"


def widths() -> None:
    print("Box widths relative to the exact hull, N = 2000, p = 14 (median, largest), and time")
    problem, theta = dynamics_problem(2000)
    seconds, hull = timed(lambda: estimate(problem, LinearHull()))
    exact = hull.region.width
    print(line("LinearHull()", exact, exact, seconds))
    others = {
        "TightEllipsoid()": TightEllipsoid(),
        "BoundingEllipsoid()": BoundingEllipsoid(),
        "Fixpoint(GaussSeidel())": Fixpoint(GaussSeidel()),
        "Fixpoint(RowContractor())": Fixpoint(RowContractor()),
    }
    for name, method in others.items():
        seconds, answer = timed(lambda m=method: estimate(problem, m, strict=False))
        assert theta in answer.region
        print(line(name, answer.region.hull().width, exact, seconds))
    for rival in (intvalpy_width, octave_width):
        found = rival(problem)
        print(found if isinstance(found, str) else line(found[0], found[1], exact, found[2]))
    seconds, found = timed(lambda: minimal_bound(problem))
    print(f"  minimal bound {outward.between(found.lower, found.upper, digits=6)} of the stated one, {seconds:.3f} s")
    factors = np.linspace(1, 3, 20)
    seconds, _ = timed(lambda: sweep(problem, factors))
    print(f"  sweep of {len(factors)} error bounds: {seconds:.3f} s")


def intvalpy_width(problem):
    """Rohn's method for overdetermined interval systems, as intvalpy has it."""
    if not importlib.util.find_spec("intvalpy"):
        return "  intvalpy is not installed: pip install intvalpy mpmath joblib"
    import intvalpy as ip  # noqa: PLC0415 - only where it is installed

    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    A = ip.Interval(problem.W, problem.W, sortQ=False)
    b = ip.Interval(problem.y - e, problem.y + e, sortQ=False)
    seconds, box = timed(lambda: ip.linear.Rohn(A, b), repeats=1)
    return "intvalpy, Rohn", np.array(box.b, dtype=float) - np.array(box.a, dtype=float), seconds


OCTAVE = """
pkg load interval; load('{folder}/problem.mat');
tic; R = pinv(W); x = (infsup(R) * infsup(W)) \\ (infsup(R) * infsup(low, high)); seconds = toc;
printf('%.17g\\n', seconds, sup(x) - inf(x));
"""


def octave_width(problem):
    """Octave's interval package: pseudo-inverse as preconditioner, then its verified solution."""
    octave = shutil.which("octave")
    if octave is None:
        return "  octave with its interval package is not installed"
    e = np.broadcast_to(problem.noise.radius, problem.y.shape)
    with tempfile.TemporaryDirectory() as folder:
        arrays = {"W": problem.W, "low": (problem.y - e)[:, None], "high": (problem.y + e)[:, None]}
        savemat(Path(folder) / "problem.mat", arrays)
        command = [octave, "--no-gui", "--eval", OCTAVE.format(folder=folder)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        return f"  octave: {run.stderr.strip().splitlines()[-1] if run.stderr.strip() else 'failed'}"
    seconds, *width = map(float, run.stdout.split())
    return "Octave interval, pinv and mldivide", np.array(width), seconds


def from_a_file(n_rows: int) -> None:
    """Peak memory is what NumPy and Python allocate; pages of the file come and go as the system likes."""
    with tempfile.TemporaryDirectory() as folder:
        problem, theta = mapped_problem(Path(folder) / "W.npy", n_rows)
        size = problem.W.nbytes
        estimate(dynamics_problem(2000)[0], LinearHull())
        tracemalloc.start()
        seconds, answer = timed(lambda: estimate(problem, LinearHull()), repeats=1)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        inside = "truth inside" if theta in answer.region else "TRUTH LOST"
        print(f"N = {n_rows:,} rows in a file of {size / 1e6:.0f} MB: hull {seconds:.1f} s; {inside}")
        part = f"{peak / 1e6:.0f} MB = {peak / size:.2f} of the file"
        print(f"  {answer.stats.pool} rows looked at; at most {part} in memory at once")


def main(n_rows: int = 0) -> None:
    if n_rows:
        from_a_file(n_rows)
        return
    against_least_squares()
    many_unknowns()
    against_scipy()
    widths()


if __name__ == "__main__":
    main(*(int(x) for x in sys.argv[1:2]))
