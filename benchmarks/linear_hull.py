"""The rigorous hull against least squares, against 2p linear programs of scipy, and against other enclosures."""

import statistics
import time

import numpy as np
from scipy.optimize import linprog

from benchmarks._dynamics import dynamics_problem
from gough import estimate
from gough.methods import (
    BoundingEllipsoid,
    Fixpoint,
    GaussSeidel,
    LinearHull,
    RowContractor,
    TightEllipsoid,
    minimal_bound,
    predict,
    prediction_bounds,
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


def widths() -> None:
    print("Box widths relative to the exact hull, N = 2000, p = 14 (median, largest), and time")
    problem, theta = dynamics_problem(2000)
    seconds, hull = timed(lambda: estimate(problem, LinearHull()))
    print(f"  {'LinearHull()':34s} {1:8.1f} {1:8.1f}   {seconds:.3f} s")
    others = {
        "TightEllipsoid()": TightEllipsoid(),
        "BoundingEllipsoid()": BoundingEllipsoid(),
        "Fixpoint(GaussSeidel())": Fixpoint(GaussSeidel()),
        "Fixpoint(RowContractor())": Fixpoint(RowContractor()),
    }
    for name, method in others.items():
        seconds, answer = timed(lambda m=method: estimate(problem, m, strict=False), repeats=1)
        ratio = answer.region.hull().width / hull.region.width
        assert theta in answer.region
        print(f"  {name:34s} {np.median(ratio):8.1f} {ratio.max():8.1f}   {seconds:.3f} s")
    seconds, found = timed(lambda: minimal_bound(problem))
    print(f"  minimal bound {found.lower:.6f} … {found.upper:.6f} of the stated one, {seconds:.3f} s")


def predictions() -> None:
    problem, theta = dynamics_problem(20_000)
    D = problem.W[::20]
    seconds, bounds = timed(lambda: prediction_bounds(problem, D), repeats=1)
    hull = estimate(problem, LinearHull()).region
    box = abs(D) @ (hull.width / 2) * 2
    assert D @ theta in bounds
    wider = np.median(box / bounds.width)
    print(f"1000 predictions at N = 2e4: exact {seconds:.2f} s; bounds from the hull's box are {wider:.1f} × wider")
    for method in (TightEllipsoid(), BoundingEllipsoid()):
        region = estimate(problem, method).region
        seconds, loose = timed(lambda r=region: predict(r, D))
        wider = np.median(loose.width / bounds.width)
        print(f"  from {type(method).__name__}: {wider:.1f} × wider, {seconds * 1e3:.1f} ms once it is known")


def main() -> None:
    against_least_squares()
    against_scipy()
    widths()
    predictions()


if __name__ == "__main__":
    main()
