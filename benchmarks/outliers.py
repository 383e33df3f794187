"""At most q rows violated: time, proven outliers, widths, and the mixed-integer programs of HiGHS as the rival."""

import time
from dataclasses import replace

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks._dynamics import dynamics_problem
from gough import Bounded, Box, LinearProblem, Unknowns, estimate
from gough.methods import LinearHull, RelaxedHull, outliers


def timed(run):
    start = time.perf_counter()
    result = run()
    return time.perf_counter() - start, result


def spoilt(problem: LinearProblem, n_outliers: int, rng: np.random.Generator) -> tuple[LinearProblem, list[int]]:
    """The problem with some rows off by 10 to 100 times their bound."""
    planted = np.sort(rng.permutation(problem.n_rows)[:n_outliers])
    y = problem.y.copy()
    y[planted] += float(problem.noise.radius) * rng.choice([-1, 1], n_outliers) * rng.uniform(10, 100, n_outliers)
    return replace(problem, y=y), planted.tolist()


def describe(answer, hull, theta) -> str:
    ratio = answer.region.width / hull.region.width
    inside = "truth inside" if theta in answer.region else "TRUTH LOST"
    stopped = next((note.split(":")[0].lower() for note in answer.notes if "early" in note), "smallest box")
    return f"width {np.median(ratio):.3f} (largest {ratio.max():.3f}); {inside}; {stopped}"


def robot_problem() -> None:
    problem, theta = dynamics_problem(2000)
    seconds, hull = timed(lambda: estimate(problem, LinearHull()))
    print(f"p = 14, N = 2000; widths relative to LinearHull on clean data, which takes {seconds:.2f} s")
    rng = np.random.default_rng(3)
    print("Gross outliers: time against q")
    for q in (1, 2, 3, 5, 10):
        bad, planted = spoilt(problem, q, rng)
        seconds, found = timed(lambda p=bad: outliers(p))
        proven = len(set(found.proven) & set(planted))
        print(f"  q = {q:2d}: outliers {seconds:6.2f} s; at least {found.at_least}; proven {proven} of {q}")
        seconds, answer = timed(lambda p=bad, q=q: estimate(p, RelaxedHull(q)))
        print(f"          RelaxedHull {seconds:6.2f} s; {describe(answer, hull, theta)}")
    print("No outlier, but any q rows may be: the hardest case; time against q")
    for q in (1, 2, 3, 4, 5):
        seconds, answer = timed(lambda q=q: estimate(problem, RelaxedHull(q)))
        print(f"  q = {q:2d}: {seconds:6.2f} s; {describe(answer, hull, theta)}")
    seconds, answer = timed(lambda: estimate(problem, RelaxedHull(10, node_limit=0)))
    print(f"  q = 10: {seconds:6.2f} s, node_limit = 0; {describe(answer, hull, theta)}")


def planted_cases(trials: int = 60) -> None:
    """How many planted outliers are proven, by their size in units of the bound, and is anything false ever proven?"""
    print(f"Planted outliers, N = 500, p = 6, 3 of them, {trials} problems each")
    rng = np.random.default_rng(4)
    for low, high in ((1.05, 1.5), (1.5, 3.0), (3.0, 10.0), (10.0, 100.0)):
        proven = false = missed = 0
        start = time.perf_counter()
        for _ in range(trials):
            W, theta = rng.normal(size=(500, 6)), rng.normal(size=6)
            error = rng.uniform(-0.1, 0.1, 500)
            planted = set(rng.permutation(500)[:3].tolist())
            for k in planted:
                error[k] = 0.1 * rng.choice([-1, 1]) * rng.uniform(low, high)
            unknowns = Unknowns([f"p_{i}" for i in range(6)], prior=Box.around(theta, 10))
            problem = LinearProblem(W, W @ theta + error, unknowns, Bounded(0.1))
            found = outliers(problem, 3)
            proven += len(planted & set(found.proven))
            false += len(set(found.proven) - planted) + max(found.at_least - 3, 0)
            missed += theta not in estimate(problem, RelaxedHull(3, node_limit=0)).region
        each = (time.perf_counter() - start) / trials
        share = f"{proven} of {3 * trials} proven"
        print(f"  {low:5.2f} to {high:6.2f} times the bound: {share}; {false + missed} unsound; {each:.3f} s each")


def mixed_integer_box(problem: LinearProblem, q: int) -> Box:
    """The same hull by 2p mixed-integer programs, one binary for each row: nothing of it is proven."""
    W, y, prior = problem.W, problem.y, problem.unknowns.bounds
    n_rows, p = W.shape
    e = np.broadcast_to(problem.noise.radius, y.shape)
    enough = abs(y) + abs(W) @ np.maximum(abs(prior.lower), abs(prior.upper))
    rows = [
        LinearConstraint(np.hstack([W, -np.diag(enough)]), -np.inf, y + e),
        LinearConstraint(np.hstack([W, np.diag(enough)]), y - e, np.inf),
        LinearConstraint(np.concatenate([np.zeros(p), np.ones(n_rows)])[None, :], 0, q),
    ]
    sides = Bounds(np.concatenate([prior.lower, np.zeros(n_rows)]), np.concatenate([prior.upper, np.ones(n_rows)]))
    whole = np.concatenate([np.zeros(p), np.ones(n_rows)])
    values = []
    for direction in np.vstack([np.eye(p), -np.eye(p)]):
        cost = np.concatenate([direction, np.zeros(n_rows)])
        options = {"mip_rel_gap": 1e-9}
        values.append(milp(cost, integrality=whole, bounds=sides, constraints=rows, options=options).fun)
    return Box(np.array(values[:p]), -np.array(values[p:]))


def against_mixed_integer() -> None:
    rng = np.random.default_rng(1)
    for n_rows, p in ((100, 4), (300, 6)):
        W, theta = rng.normal(size=(n_rows, p)), rng.normal(size=p)
        y = W @ theta + 0.1 * rng.uniform(-1, 1, n_rows)
        unknowns = Unknowns([f"p_{i}" for i in range(p)], prior=Box.around(theta, 10))
        problem = LinearProblem(W, y, unknowns, Bounded(0.1))
        ours, answer = timed(lambda x=problem: estimate(x, RelaxedHull(1)))
        rival, box = timed(lambda x=problem: mixed_integer_box(x, 1))
        wide = np.maximum(abs(answer.region.lower - box.lower), abs(answer.region.upper - box.upper))
        print(
            f"q = 1, N = {n_rows}, p = {p}: {ours:.2f} s, scipy.optimize.milp {rival:.2f} s: {rival / ours:.0f} times"
        )
        print(f"  sides differ by at most {(wide / box.width).max():.0e} of the width")


def main() -> None:
    estimate(dynamics_problem(200)[0], RelaxedHull(1))
    robot_problem()
    planted_cases()
    against_mixed_integer()


if __name__ == "__main__":
    main()
