"""The smallest error bound ε* and the hull for many parameters, on data that the model does not explain.

A simulated arm of seven axes (62 parameters that the data determine) with torque ripple, friction that grows with the
load and a spring at the middle of each axis, none of which the model includes; then how time grows with the numbers of
parameters and rows.

python -m benchmarks.many_parameters [seconds]     both
python -m benchmarks.many_parameters growth        the second part alone
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from time import process_time
from typing import Any

import numpy as np
from scipy.optimize import linprog

from gough import Bounded, LinearProblem, Unknowns, estimate
from gough.core import outward
from gough.dynamics.bounds import closed_prior, residual_scale, with_bounds
from gough.dynamics.effect import Planted
from gough.dynamics.recorded import recorded
from gough.dynamics.reduce import reduced
from gough.methods import LinearHull, identifiability, minimal_bound
from gough.methods.bounded.strips import Strips
from gough.methods.statistical import linear
from gough.methods.statistical.whitening import Unweighted
from gough.simulate.multibody import experiment


def timed(work, clock=process_time):
    start = clock()
    result = work()
    return clock() - start, result


def arm(seconds: float) -> tuple[LinearProblem, np.ndarray]:
    """The problem of an arm, and the scale of its residuals for each axis."""
    truth = experiment("arm", seconds=seconds, rate=250.0)
    torques = truth.efforts(truth.q, truth.dq, truth.ddq)
    size = np.sqrt((torques**2).mean(axis=0))
    ripple, spring = 0.08 * size * np.sin(24 * truth.q), 0.05 * size * np.tanh(40 * truth.q)
    planted = Planted(truth.q, torques + ripple + spring + 0.06 * abs(torques) * np.sign(truth.dq))
    motion = truth.measured(planted, np.random.default_rng(1))[0]
    free, _ = recorded(truth.robot, motion).without_fixed()
    analysis = identifiability(free)
    problem = free if analysis.is_full_rank else reduced(free, analysis)
    return problem, residual_scale(problem)


def by_highs(problem: LinearProblem) -> float:
    """The least factor by interior points of HiGHS and crossover, all rows at once, columns scaled."""
    e = problem.noise.radius[:, None]
    A = problem.W / e
    A = A / np.linalg.norm(A, axis=0) * np.sqrt(len(A))
    sides = np.block([[A, -np.ones_like(e)], [-A, -np.ones_like(e)]])
    b = problem.y / problem.noise.radius
    cost = np.eye(sides.shape[1])[-1]
    return linprog(cost, sides, np.append(b, -b), bounds=[(None, None)] * len(cost), method="highs-ipm").fun


def of_the_arm(seconds: float) -> None:
    from gough.methods.bounded.chebyshev import _InStrips  # noqa: PLC0415 - an older gough has none

    problem, scale = arm(seconds)
    open_problem = with_bounds(problem, scale)
    minimal_bound(open_problem.select(np.arange(0, problem.n_rows, 20)))  # what is compiled and loaded
    print(f"Arm of seven axes: {problem.n_rows} rows, {problem.W.shape[1]} parameters; seconds of the processor")
    squares, _ = timed(lambda: linear.solve(problem, Unweighted(), rtol=None))
    print(f"  least squares                               {squares:7.2f}")
    taken, found = timed(lambda: minimal_bound(open_problem))
    print(f"  ε*, both ends proven, no prior              {taken:7.2f}   {outward.between(found.lower, found.upper)}")
    box = closed_prior(problem, np.nextafter(2 * found.upper * scale, np.inf))
    closed = with_bounds(problem, scale, box)
    taken, within = timed(lambda: minimal_bound(closed))
    print(f"  ε*, both ends proven, within a box          {taken:7.2f}   {outward.between(within.lower, within.upper)}")
    taken, before = timed(lambda: _InStrips(Strips.of(closed, box, "before"), box).proposal())
    rest = (abs(problem.residuals(before.theta)) / open_problem.noise.radius).max()
    print(f"  in the coordinates of the unknowns (before) {taken:7.2f}   {rest:.12g}")
    taken, value = timed(lambda: by_highs(open_problem))
    print(f"  HiGHS, interior points, nothing proven      {taken:7.2f}   {value:.12g}")
    wide = with_bounds(problem, 1.5 * found.upper * scale, box)
    taken, hull = timed(lambda: estimate(wide, LinearHull()))
    print(f"  hull for 1.5 ε*, proven                     {taken:7.2f}   {hull.stats.pool} rows in linear programs")


def made(rng: np.random.Generator, n_rows: int, p: int) -> LinearProblem:
    """Smooth columns of condition 1e4 and data that they do not explain."""
    t = np.linspace(0, 1, n_rows)
    W, _ = np.linalg.qr(np.sin(2 * np.pi * np.outer(t, rng.uniform(0.5, 0.6 * p, p)) + rng.uniform(0, 6, p)))
    W = np.sqrt(n_rows) * W @ (np.linalg.qr(rng.normal(size=(p, p)))[0] * np.geomspace(1, 1e-4, p))
    y = 0.3 * np.sign(np.sin(5.1 * p * t)) + 0.01 * rng.standard_t(3, n_rows)
    return LinearProblem(W, y, Unknowns([f"a{k}" for k in range(p)]), Bounded(np.ones(n_rows)))


def wide(rng: np.random.Generator, n_rows: int, p: int) -> LinearProblem:
    """The same with bounds of 1.5 ε*."""
    problem = made(rng, n_rows, p)
    return replace(problem, noise=Bounded(np.full(n_rows, 1.5 * minimal_bound(problem).upper)))


SIZES = {
    "parameters": [(30_000, p) for p in (15, 30, 60, 100)],
    "rows": [(n, 60) for n in (3000, 10_000, 30_000, 100_000, 300_000, 1_000_000)],
}


def grown(
    work: Callable[[LinearProblem], Any],
    problem_of: Callable[..., LinearProblem],
    sizes: Sequence[tuple[int, int]],
    times: int = 2,
) -> list[float]:
    """Processor time of the work for each size, after one that compiles and loads."""
    work(problem_of(np.random.default_rng(1), 3000, 10))
    problems = (problem_of(np.random.default_rng(1), *size) for size in sizes)
    return [min(timed(lambda problem=problem: work(problem))[0] for _ in range(times)) for problem in problems]


def exponents(sizes: Sequence[tuple[int, int]], along: str, seconds: Sequence[float]) -> tuple[float, list[float]]:
    """The exponent from the smallest to the largest size, and step by step."""
    k = np.log([size[along == "parameters"] for size in sizes])
    steps = np.diff(np.log(seconds)) / np.diff(k)
    return float(np.log(seconds[-1] / seconds[0]) / (k[-1] - k[0])), steps.tolist()


def growth() -> None:
    print("Growth; seconds of the processor, on data that no parameters explain, with columns of condition 1e4")
    for word, problem_of, work in (
        ("ε*, both ends proven", made, minimal_bound),
        ("hull for 1.5 ε*, proven", wide, LinearHull().estimate),
    ):
        for along, sizes in SIZES.items():
            seconds = grown(work, problem_of, sizes)
            power, parts = exponents(sizes, along, seconds)
            shown = ", ".join(f"{n} × {p}: {s:.3g}" for (n, p), s in zip(sizes, seconds, strict=True))
            steps = ", ".join(f"{step:.1f}" for step in parts)
            print(f"  {word}, with the {along}: {shown}; exponent {power:.2f}, step by step {steps}", flush=True)


def main(what: str = "60") -> None:
    if what != "growth":
        of_the_arm(float(what))
    growth()


if __name__ == "__main__":
    main(*sys.argv[1:2])
