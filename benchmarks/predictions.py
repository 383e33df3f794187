"""What can a torque be? Exact bounds of 1000 predictions by linear programs, and looser ones from boxes and ellipsoids.

The rival is scipy.optimize.linprog on the rows that matter, two programs for each point, and nothing of it is proven.
"""

import time

import numpy as np
from scipy.optimize import linprog

from benchmarks._dynamics import dynamics_problem
from gough import estimate
from gough.methods import BoundingEllipsoid, LinearHull, TightEllipsoid, predict, prediction_bounds
from gough.methods.bounded.strips import reachable

POINTS = 1000


def timed(run, repeats: int = 3) -> tuple[float, object]:
    times, result = [], None
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        times.append(time.perf_counter() - start)
    return min(times), result


def rival_bounds(problem, hull, D):
    """min and max d·θ by scipy, over the rows that cut the hull."""
    part = problem.select(reachable(problem, hull))
    scale, e = hull.width, np.broadcast_to(part.noise.radius, part.y.shape)
    A = np.vstack([part.W * scale, -part.W * scale])
    b = np.concatenate([part.y + e, e - part.y])
    sides = np.column_stack([hull.lower / scale, hull.upper / scale])
    return np.array([[s * linprog(s * d * scale, A, b, bounds=sides).fun for s in (1, -1)] for d in D])


def predictions(n_rows: int, p: int) -> None:
    problem, theta = dynamics_problem(n_rows, p)
    D = np.ascontiguousarray(problem.W[:: n_rows // POINTS][:POINTS])
    seconds, bounds = timed(lambda: prediction_bounds(problem, D))
    assert D @ theta in bounds
    print(f"N = {n_rows:,}, p = {p}: {len(D)} exact bounds in {seconds:.2f} s, the hull among it")
    hull = estimate(problem, LinearHull()).region
    some = slice(None, None, 100)
    slow, floats = timed(lambda: rival_bounds(problem, hull, D[some]), repeats=1)
    slow *= len(D) / len(D[some])
    loss = np.maximum(floats[:, 0] - bounds.lower[some], bounds.upper[some] - floats[:, 1]) / bounds.width[some]
    print(
        f"  scipy.optimize.linprog {slow:.1f} s: {slow / seconds:.0f} times; proven wider by at most {loss.max():.0e}"
    )
    box = abs(D) @ hull.width
    print(f"  from the hull's box:    {np.median(box / bounds.width):7.1f} times as wide")
    for method in (TightEllipsoid(), BoundingEllipsoid(), BoundingEllipsoid(cut=False, rounds=0)):
        effort, answer = timed(lambda m=method: estimate(problem, m), repeats=1)
        seconds, loose = timed(lambda r=answer.region: predict(r, D))
        wider, name = np.median(loose.width / bounds.width), type(method).__name__
        name += "" if getattr(method, "rounds", 1) else ", one pass"
        print(f"  {name + ':':31s} {wider:7.1f} times as wide; {effort:.2f} s, then {seconds * 1e3:.1f} ms")


def main() -> None:
    estimate(dynamics_problem(200)[0], LinearHull())
    predictions(20_000, 14)
    predictions(100_000, 14)
    predictions(20_000, 24)


if __name__ == "__main__":
    main()
