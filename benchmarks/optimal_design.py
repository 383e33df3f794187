"""Optimal design of PaLiDA's excitation, 67 unknowns: against CasADi `map` + IPOPT on the same problem, and chance.

Same criterion, limits, samples and starts for both. Ours: augmented Lagrangian, dense quasi-Newton descent, a compiled
adjoint per sample, then verification and correction between samples. The rival: the same traced equations in CasADi's
virtual machine, mapped over samples, in IPOPT with a limited-memory Hessian (the exact one takes longer to build than
the limit), within a limit of time; how far it got is printed. Where the limit stopped it, the ratio of times is a lower
bound. Processor time is compared, since others use the machine. The gradient is compared with central differences. The
same design with the default tracking errors is compared in time and accuracy.

    python -m benchmarks.optimal_design [seconds for the rival] [starts]
"""

import sys
from time import perf_counter, process_time
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.threads import one_blas_thread
from gough.designs.excitation import Design, DesignProblem, MotionLimits, optimize
from gough.designs.excitation.measure import measured
from gough.designs.excitation.search import random_start
from gough.robots import Palida

STARTS = 3
RANDOM = 100
EVALUATIONS = 300
LIMIT = 150.0
SEED = 1
CORRELATION = 0.3


def palida(tracking: float | None = 0.0) -> DesignProblem:
    """The problem: 20 to 30 N of noise, correlated between actuators [AHG, §IV.B]; limits of the description.

    The rival's problem has no tracking errors; None are the default ones.
    """
    robot = Palida()
    sd = np.linspace(20.0, 30.0, 6)
    covariance = np.outer(sd, sd) * (CORRELATION + (1 - CORRELATION) * np.eye(6))
    limits = MotionLimits.stated(robot, margin=0.5, tracking=tracking)
    return DesignProblem(robot, limits, sigma=covariance, frequency=(0.2, 0.5))


def rival(problem: DesignProblem, z: Array, seconds: float) -> tuple[Array, int, str]:
    """IPOPT on the mapped equations from the start z: where it ended, its iterations, and what it says."""
    import casadi as ca  # noqa: PLC0415 - only the rival needs it

    space = problem.space
    m, n, K = len(space.home), space.n_harmonics, space.n_samples
    v = ca.MX.sym("z", space.n)
    parts = ca.reshape(v[:-1], 2 * n + 1, m).T * ca.DM(space.scale)
    omega = v[-1] * space.pulsation
    k = ca.DM(np.arange(1.0, n + 1)).T
    angle = 2 * np.pi * np.outer(np.arange(K) / K, np.arange(1, n + 1))
    sine, cosine = ca.DM(np.sin(angle)), ca.DM(np.cos(angle))
    offset, mu, nu = parts[:, 0] + ca.DM(space.home), parts[:, 1 : n + 1], parts[:, n + 1 :]
    kw = ca.repmat(k * omega, m, 1)
    x = ca.repmat(offset.T, K, 1) + sine @ (mu / kw).T - cosine @ (nu / kw).T
    dx = cosine @ mu.T + sine @ nu.T
    ddx = cosine @ (nu * kw).T - sine @ (mu * kw).T
    W, h = problem.equations.forward.function.map(K)(x.T, dx.T, ddx.T)
    p, a = len(problem.names), m
    whitener = np.linalg.inv(np.linalg.cholesky(problem.sigma))
    # a column of W holds a sample row by row; whiten and stack all samples
    rows = ca.reshape(W, p, a * K)
    whitened = ca.kron(ca.DM.eye(K), ca.DM(whitener)) @ rows.T
    scale = np.sqrt(np.diag(problem.information(problem.evaluate(z).W)))
    M = whitened.T @ whitened * (problem.recorded / K) / ca.DM(np.outer(scale, scale))
    square = ca.SX.sym("M", p, p)
    log_det = ca.Function("log_det", [square], [2 * ca.sum1(ca.log(ca.diag(ca.chol(square))))])
    f = -log_det(M) - 2 * float(np.log(scale).sum())
    sizes = np.array([one.size for one in problem.channels])
    low, high = problem.ends
    options: dict[str, Any] = {
        "print_time": False,
        "ipopt": {
            "print_level": 0,
            "sb": "yes",
            "max_cpu_time": seconds,
            "max_iter": 1000,
            "tol": 1e-3,
            "acceptable_tol": 1e-2,
            "acceptable_iter": 5,
            "hessian_approximation": "limited-memory",
            "limited_memory_max_history": 25,
        },
    }
    g = ca.vec(h / ca.repmat(ca.DM(sizes), 1, K))
    solver = ca.nlpsol("solver", "ipopt", {"x": v, "f": f, "g": g}, options)
    bounds = np.array(space.bounds)
    found = solver(x0=z, lbx=bounds[:, 0], ubx=bounds[:, 1], lbg=np.tile(low, K), ubg=np.tile(high, K))
    stats = solver.stats()
    return np.array(found["x"]).ravel(), int(stats["iter_count"]), str(stats["return_status"])


def violation(problem: DesignProblem, found: Design, n: int = 100_000) -> float:
    """The worst violation at so many random instants, in shares of the limits' sizes; negative inside."""
    series = found.series
    times = np.random.default_rng(2).uniform(0, series.period, n)
    values = measured(problem.robot, problem.parameters, problem.channels, series.at(times)[1:])
    return float(max(c.beyond(column).max() for c, column in zip(problem.channels, values.T, strict=True)))


def evaluation(problem: DesignProblem) -> tuple[float, float]:
    """Seconds of processor for the criterion with its gradient, and the error of slopes along random directions."""
    rng = np.random.default_rng(SEED)
    z = random_start(problem, rng)

    def value(at: Array) -> tuple[float, Array]:
        return problem.lagrangian(at, lambda h: (0.0, np.zeros_like(h)))

    value(z)
    cpu = process_time()
    for _ in range(EVALUATIONS):
        gradient = value(z)[1]
    each = (process_time() - cpu) / EVALUATIONS
    errors = []
    for direction in rng.normal(size=(10, len(z))) / np.sqrt(len(z)):
        one, two = ((value(z + e * direction)[0] - value(z - e * direction)[0]) / (2 * e) for e in (1e-4, 5e-5))
        slope = (4 * two - one) / 3  # Richardson: the error of fourth order is left
        errors.append(abs(gradient @ direction - slope) / np.linalg.norm(gradient))
    return each, max(errors)


def random_motions(problem: DesignProblem) -> Array:
    """The criterion of feasible random motions."""
    rng = np.random.default_rng(SEED)
    return np.array([problem.value(random_start(problem, rng)) for _ in range(RANDOM)])


def main(seconds: float = LIMIT, starts: int = STARTS) -> None:
    """Print times, values and violations."""
    begin = perf_counter()
    problem = palida()
    problem.lagrangian(np.append(np.full(problem.space.n - 1, 0.01), 1.0), lambda h: (0.0, np.zeros_like(h)))
    shape = f"{problem.n_variables} unknowns, {len(problem.channels)} limits x {problem.n_samples} samples"
    print(f"{problem.robot.name}: {shape}, {len(problem.names)} parameters")
    print(f"trace and compile (kept on disk)  {perf_counter() - begin:8.1f} s")
    with one_blas_thread():
        random = random_motions(problem)
        quartiles = np.percentile(random, [0, 50, 100])
        print(f"-ln det F of {RANDOM} feasible random motions: {' '.join(f'{v:.1f}' for v in quartiles)}")
        each, error = evaluation(problem)
        print(f"-ln det F with its gradient       {1e3 * each:8.2f} ms of processor, gradient off by {error:.1e}")
        cpu = process_time()
        found = optimize(problem, starts=starts, seed=SEED)
        ours = (process_time() - cpu) / starts
        for start in found.attempts:
            print(f"  start {start.number}: {start.first:8.1f} -> {start.value:8.1f}, {start.evaluations} evaluations")
        print(f"ours                              {ours:8.1f} s of processor a start, -ln det F {found.value:.1f}")
        gain = np.exp((quartiles[:2] - found.value) / (2 * len(problem.names)))
        print(
            f"  standard deviations smaller by {gain[0]:.2f} than of the best random motion, {gain[1]:.2f} the median"
        )
        print(f"  worst violation at 100 000 random instants: {violation(problem, found):.1e} of a limit's size")
        print(f"  {found.tracking.tolerated()}")
        tracked = palida(None)
        tracked.lagrangian(np.append(np.full(tracked.space.n - 1, 0.01), 1.0), lambda h: (0.0, np.zeros_like(h)))
        cpu = process_time()
        kept = optimize(tracked, starts=starts, seed=SEED)
        ratio = (process_time() - cpu) / starts / ours
        wider = np.exp((kept.value - found.value) / (2 * len(problem.names)))
        print(
            f"with tracking errors of 1 mm      {ratio:8.1f} times the processor time, -ln det F {kept.value:.1f}, "
            f"standard deviations {wider:.2f} times as large"
        )
        print(f"  {kept.tracking.tolerated()}")
        z = random_start(problem, np.random.default_rng([SEED, 1]))
        cpu = process_time()
        end, iterations, says = rival(problem, z, seconds)
        theirs = process_time() - cpu
    print(f"CasADi map + IPOPT                {theirs:8.1f} s of processor, {iterations} iterations, {says}")
    at = problem.evaluate(end)
    print(
        f"  -ln det F {problem.value(end):.1f}, violation at samples {problem.violation(at.h):.1e}; "
        f"ratio {'at least ' if 'Time' in says else ''}{theirs / ours:.1f}"
    )


if __name__ == "__main__":
    given = [float(word) for word in sys.argv[1:]]
    main(*given[:1], *(int(word) for word in given[1:2]))
