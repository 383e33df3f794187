"""Maximum likelihood over parameters and path against scipy and odrpack; bias, χ² and coverage of all rivals.

The robots: H4, and the hexapod PaLiDA with the noise of its paper. Rivals get the same compiled equations, the same
starting point and the same cost, and take derivatives by finite differences as they do by default; odrpack is also
used as most would: one regressor row at a time, errors in positions, velocities and accelerations. Processor time is
compared, since others use the machine. Bias and coverage on PaLiDA: `gough reproduce palida --full`.
"""

from functools import partial
from time import process_time

import numpy as np
import scipy.optimize

from benchmarks._timing import seconds
from gough import estimate
from gough.core.threads import one_blas_thread
from gough.dynamics import by_repeat, errors_in_variables, on_fitted_path
from gough.methods import (
    GaussMarkov,
    InstrumentalVariables,
    LeastSquares,
    MaximumLikelihood,
    TotalLeastSquares,
    WeightedLeastSquares,
)
from gough.methods.nonlinear.normal_equations import inverse_roots
from gough.robots import H4
from gough.simulate import FourierSeries, MonteCarlo, PeriodicExperiment, white

ORDER = 5
FILTER = 20
"""Harmonics that the usual way lets pass when it differentiates."""


def correlated(n, sigma, seed):
    """A covariance far from diagonal, as those of [AHG, fig. 5]."""
    A = np.random.default_rng(seed).normal(size=(n, 3))
    C = A @ A.T + 1.2 * np.eye(n)
    size = sigma * np.linspace(0.8, 1.3, n)
    C = C / np.sqrt(np.outer(C.diagonal(), C.diagonal())) * np.outer(size, size)
    return (C + C.T) / 2


def h4_experiment(rate=200.0):
    robot = H4()
    amplitude = [0.1, 0.1, 0.06, 0.5]
    series = FourierSeries.random(np.random.default_rng(1), offset=robot.home, amplitude=amplitude, frequency=1.0)
    noise = {"positions": white(correlated(4, 2e-3, 2)), "efforts": white(correlated(4, 0.3, 3))}
    return PeriodicExperiment(robot, series, rate, periods=5, **noise)


def palida_experiment():
    """PaLiDA with forces of 20 to 30 N noise in ±230 N, and hall sensors of 0.1 mm."""
    try:
        from gough.robots import Palida  # noqa: PLC0415
    except ImportError:
        return None
    robot = Palida()
    limits = {"amplitude": [0.15, 0.15, 0.12, 0.4, 0.4, 0.4], "velocity": [1.2, 1.2, 1.2, 3, 3, 3]}
    series = FourierSeries.random(np.random.default_rng(3), offset=robot.home, frequency=0.5, **limits)
    noise = {"positions": white(correlated(6, 1e-4, 2)), "efforts": white(correlated(6, 25.0, 3))}
    return PeriodicExperiment(robot, series, 500.0, periods=4, **noise)


class SameCost:
    """The whitened residuals of a problem in unknowns scaled to unit information, for other people's solvers."""

    def __init__(self, problem):
        self.problem = problem
        self.roots, _ = inverse_roots(problem.noise.covariance, len(problem.measured), problem.kept)
        start = problem.unknowns.nominal
        normal = problem.equations.normal(start, problem.measured, self.roots)
        self.scale = np.sqrt(normal.information.diagonal())
        self.start = start * self.scale

    def __call__(self, z):
        f = self.problem.equations.residuals(z / self.scale, self.problem.measured)
        return (self.roots @ f[..., None]).ravel()

    def parameters(self, z):
        return (z / self.scale)[: self.problem.equations.n_linear]


def by_scipy(cost):
    return scipy.optimize.least_squares(cost, cost.start, x_scale="jac", xtol=1e-10, ftol=1e-12, gtol=1e-10)


def by_odrpack(cost):
    import odrpack  # noqa: PLC0415

    n = len(cost(cost.start))
    return odrpack.odr_fit(lambda _, z: cost(z), np.zeros(n), np.zeros(n), cost.start, task="OLS", maxit=100)


def by_rows(experiment, motion):
    """odrpack as most would use it: y = W(x, dx, ddx) p, with errors of each row's kinematics from the repeats."""
    import odrpack  # noqa: PLC0415

    from gough.dynamics.periodic.path_model import path_model  # noqa: PLC0415
    from gough.methods.nonlinear.harmonics import Harmonics  # noqa: PLC0415

    model = path_model(experiment.robot)
    harmonics = Harmonics(motion.n_samples, FILTER, 2 * np.pi / motion.period)
    every = np.ones(motion.n_samples, dtype=bool)
    paths = np.stack([np.hstack(harmonics.path(harmonics.fit(model.start(q), every))) for q in motion.q])
    x, y = paths.mean(axis=0).T.copy(), motion.efforts.mean(axis=0).T.copy()
    scatter = (paths.std(axis=0, ddof=1) ** 2).mean(axis=0) / len(paths)
    sigma = motion.noise.covariance[len(motion.coordinates) :, len(motion.coordinates) :] / len(paths)
    m = len(model.names)

    def efforts(kinematics, p):
        return (model.regressor(*np.split(kinematics.T.copy(), 3, axis=1)) @ p).T

    assert x.shape[0] == 3 * m
    weights = {"weight_x": 1 / scatter, "weight_y": np.linalg.inv(sigma)}
    return odrpack.odr_fit(efforts, x, y, experiment.truth.copy(), **weights, maxit=50)


def speed(label, experiment):
    robot = experiment.robot
    motion = experiment.run(np.random.default_rng(7))
    problem = errors_in_variables(robot, motion, order=ORDER)
    cost = SameCost(problem)
    answer = estimate(problem, MaximumLikelihood())
    rows, k = problem.measured.size, len(cost.start)
    print(f"  {label}: {rows} rows, {k} unknowns ({len(answer.unknowns)} parameters), {answer.stats.iterations} steps")
    with one_blas_thread():
        ours = seconds(lambda: estimate(problem, MaximumLikelihood()), 5, process_time)
        whole = seconds(lambda: errors_in_variables(robot, motion, order=ORDER), 3, process_time)
    print(f"    {'MaximumLikelihood':38s} {ours * 1e3:9.0f} ms     1   χ²/dof {answer.stats.chi_squared:.3f}")
    print(f"    {'  its problem from the recording':38s} {whole * 1e3:9.0f} ms")
    for name, solve in (("scipy least_squares, differences", by_scipy), ("odrpack, differences", by_odrpack)):
        with one_blas_thread():
            begin = process_time()
            try:
                found = solve(cost)
            except ImportError:
                print(f"    {name:38s} not installed")
                continue
            time = process_time() - begin
        z = found.x if hasattr(found, "x") else found.beta
        away = abs((cost.parameters(z) - answer.value) / answer.region.sigma).max()
        squares = float((cost(z) ** 2).sum()) / answer.stats.dof
        ratio = squares / (answer.stats.chi_squared * problem.noise.dof / (problem.noise.dof - problem.noise.block - 1))
        print(f"    {name:38s} {time * 1e3:9.0f} ms {time / ours:5.0f}   cost × {ratio:.6f}, {away:.1e} σ from ours")


def maximum_likelihood(robot, motion):
    return estimate(errors_in_variables(robot, motion, order=ORDER), MaximumLikelihood())


def on_path(robot, motion):
    return estimate(on_fitted_path(robot, motion, order=ORDER), GaussMarkov())


def differentiated(robot, motion, method):
    return estimate(by_repeat(robot, motion, order=FILTER).problem, method)


def instrumental(robot, motion):
    rows = by_repeat(robot, motion, order=FILTER)
    return estimate(rows.problem, InstrumentalVariables(rows.instruments))


def total(robot, motion):
    rows = by_repeat(robot, motion, order=FILTER)
    return estimate(rows.problem, TotalLeastSquares(rows.covariance))


def summary(label, spread, reference):
    """Bias and scatter in units of the sd of maximum likelihood, and coverage."""
    bias, sd = abs(spread.bias / reference), spread.sd / reference
    low, high = spread.coverage_interval()
    numbers = f"{np.sqrt(np.mean(bias**2)):7.2f} {bias.max():7.2f} {np.sqrt(np.mean(sd**2)):7.2f}"
    fit = f"  χ²/dof {spread.chi_squared:.3f}" if spread.chi_squared else ""
    print(f"    {label:38s} {numbers} {spread.joint_coverage:8.1%} ({low:.1%} … {high:.1%}){fit}")


def campaign(experiment, repetitions, few):
    robot = experiment.robot
    truth = dict(zip(robot.names, experiment.truth.tolist(), strict=True))
    design = {"": experiment.run}
    slow = {
        "least squares, differentiated": partial(differentiated, robot, method=LeastSquares()),
        "weighted, differentiated": partial(differentiated, robot, method=WeightedLeastSquares()),
        "Gauss–Markov, differentiated": partial(differentiated, robot, method=GaussMarkov()),
        "instrumental variables": partial(instrumental, robot),
        "total least squares": partial(total, robot),
    }
    quick = {
        "Gauss–Markov on the fitted path": partial(on_path, robot),
        "maximum likelihood": partial(maximum_likelihood, robot),
    }
    found = MonteCarlo(design, quick, truth, repetitions).run()
    reference = found.spread("", "maximum likelihood").sd
    print(f"    {'':38s} {'bias':>7s} {'worst':>7s} {'sd':>7s} coverage of 95 % regions")
    rivals = MonteCarlo(design, slow, truth, few).run()
    for name in slow:
        summary(name, rivals.spread("", name), reference)
    try:
        away = [by_rows(experiment, experiment.run(np.random.default_rng([0, i]))).beta for i in range(5)]
        bias = abs((np.mean(away, axis=0) - experiment.truth) / reference)
        print(f"    {'odrpack, row by row (5 runs)':38s} {np.sqrt(np.mean(bias**2)):7.2f} {bias.max():7.2f}")
    except ImportError:
        pass
    for name in quick:
        summary(name, found.spread("", name), reference)


def main(repetitions=500, few=40) -> None:
    print("Maximum likelihood over parameters and path: processor time, and the same in units of ours")
    speed("H4", h4_experiment(rate=500.0))
    palida = palida_experiment()
    if palida is not None:
        speed("PaLiDA", palida)
    print(f"H4, {repetitions} experiments ({few} for slow rivals): bias and scatter in units of the sd of ML, rms")
    campaign(h4_experiment(), repetitions, few)


if __name__ == "__main__":
    main()
