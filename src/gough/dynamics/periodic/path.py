"""The Fourier series through the measured positions of a repeated motion, and efforts on it as a linear problem."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, Mask, array
from gough.core.errors import InputError, require
from gough.dynamics.periodic.motion import RepeatedMotion
from gough.dynamics.periodic.path_model import PathModel, path_model
from gough.dynamics.recorded import require_fit
from gough.methods.noise.repeats import noise_from_repeats
from gough.methods.nonlinear.harmonics import Harmonics, Path
from gough.methods.nonlinear.normal_equations import inverse_roots
from gough.noise import Gaussian
from gough.problem import Groups, LinearProblem
from gough.region import Box
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns


@dataclass(frozen=True, eq=False)
class FittedPath:
    """The Fourier series through the mean of the measured positions, and the means that belong to it."""

    model: PathModel
    harmonics: Harmonics
    coefficients: Array
    """(m, 1 + 2·order): mean, cosines and sines of each coordinate of the path."""
    measured: Array
    """(N, positions + efforts) means over the repeats; zero where there is no reading."""
    kept: Mask
    """(N, positions + efforts): False where there is no reading, or the row is left out."""
    covariance: Array
    """Covariance of the means: (c, c), or (N, c, c) where samples have different numbers of readings."""
    noise_dof: float
    """Independent errors behind it; infinite where it was stated."""

    @property
    def path(self) -> Path:
        """The path at all samples."""
        return self.harmonics.path(self.coefficients)


def fitted_path(
    robot: DynamicModel,
    motion: RepeatedMotion,
    *,
    order: int,
    positions_covariance: Any = None,
    efforts_covariance: Any = None,
    independent: bool = True,
    slower_than: float = 0.0,
) -> FittedPath:
    """The least-squares Fourier series through the mean positions of a repeated motion.

    Raises:
        InputError: robot and motion do not fit, or the robot cannot be where it was measured.
    """
    require_fit(robot, motion)
    model = path_model(robot)
    harmonics = Harmonics(motion.n_samples, order, 2 * np.pi / motion.period)
    C, dof = reading_covariance(motion, positions_covariance, efforts_covariance, independent=independent)
    mean, count = motion.mean, motion.count
    present = count > 0
    require(
        int(present.sum()) > harmonics.size,
        f"{int(present.sum())} samples with a reading are too few for a series of order {order}",
    )
    coefficients = harmonics.fit(mean_pose(model, motion), present)
    alike = bool((count[present] == count[present][0]).all())
    covariance = C / count[present][0] if alike else C / np.maximum(count, 1)[:, None, None]
    kept = np.repeat(present[:, None], mean.shape[1], axis=1)
    at = FittedPath(model, harmonics, coefficients, np.nan_to_num(mean), kept, covariance, dof)
    return _without_slow_efforts(at, slower_than)


def path_covariance(at: FittedPath) -> Array:
    """Covariance (m·size, m·size) of the path's coefficients, where positions alone decide them."""
    n, (n_samples, m) = len(at.model.robot.coordinates), at.path.x.shape
    roots, _ = inverse_roots(at.covariance[..., :n, :n], n_samples, at.kept[:, :n])
    K = roots @ at.model.positions_by_path(at.path.x)
    own = m * (m + 1) // 2  # the path's; derivatives by time have no part in positions
    M = np.zeros((3 * m * (3 * m + 1) // 2, n_samples))
    M[:own] = (np.swapaxes(K, 1, 2) @ K)[:, *np.tril_indices(m)].T
    H = at.harmonics.products(M)
    scale = np.sqrt(H.diagonal())
    return np.asarray(np.linalg.inv(H / np.outer(scale, scale)) / np.outer(scale, scale))


def path_squares(at: FittedPath) -> tuple[Array, int]:
    """χ² of the positions about the path, by coordinate, and its degrees of freedom.

    The least-squares path is not the one of least χ² where the robot's Jacobian varies; the step towards that one is
    taken to first order.
    """
    n, (n_samples, m) = len(at.model.robot.coordinates), at.path.x.shape
    roots, _ = inverse_roots(at.covariance[..., :n, :n], n_samples, at.kept[:, :n])
    away = (roots @ (at.measured[:, :n] - at.model.positions(at.path.x))[..., None])[..., 0]
    K = roots @ at.model.positions_by_path(at.path.x)
    pull = np.zeros((n_samples, 3, m))
    pull[:, 0] = (np.swapaxes(K, 1, 2) @ away[..., None])[..., 0]
    step = path_covariance(at) @ at.harmonics.project(pull).ravel()
    left = away - (K @ at.harmonics.path(step.reshape(m, -1)).x[..., None])[..., 0]
    return (left**2).sum(axis=0), int(at.kept[:, :n].sum()) - m * at.harmonics.size


def mean_pose(model: PathModel, motion: RepeatedMotion) -> Array:
    """Where the robot is (N, m) for the mean of the measured positions; zero where no repeat has a reading.

    Raises:
        InputError: it cannot be there; the message names the sample and what to check.
    """
    present = motion.count > 0
    x = np.zeros((motion.n_samples, len(model.names)))
    try:
        x[present] = model.start(motion.mean[present, : len(motion.coordinates)])
    except InputError as error:
        samples = np.flatnonzero(present)
        raise InputError(
            f"{model.robot.name} cannot be where it was measured, among samples {samples[0]} to {samples[-1]} of the "
            f"mean motion: {error}. Are zero and direction of its coordinates right, and its geometry?"
        ) from error
    return x


def _without_slow_efforts(at: FittedPath, slower_than: float) -> FittedPath:
    """Efforts of actuators that move slower are left out: their friction may point either way."""
    require(slower_than >= 0, f"slower_than is a speed, so it must not be negative, but it is {slower_than}")
    if slower_than == 0:
        return at
    path = at.path
    speed = path.dx if at.model.parallel is None else at.model.parallel.joint_motion(*path).dq
    n, n_actuators = speed.shape[1], len(at.model.robot.actuators)
    require(n == n_actuators, "slower_than needs an actuator for each coordinate")
    kept = at.kept.copy()
    kept[:, n:] &= abs(speed) >= slower_than
    require(bool(kept[:, n:].any()), f"every actuator is always slower than {slower_than:g}: nothing is left")
    return replace(at, kept=kept)


def reading_covariance(
    motion: RepeatedMotion,
    positions_covariance: Any = None,
    efforts_covariance: Any = None,
    *,
    independent: bool = True,
) -> tuple[Array, float]:
    """Covariance of positions and efforts of one reading, and how many errors it was estimated from.

    What is stated counts as it is, the rest is taken from the repeats.
    """
    n, c = len(motion.coordinates), len(motion.channels)
    parts = (
        (positions_covariance, "positions", motion.coordinates, slice(0, n)),
        (efforts_covariance, "efforts", motion.actuators, slice(n, c)),
    )
    C, dof = np.zeros((c, c)), np.inf
    if positions_covariance is None and efforts_covariance is None:
        C, dof = motion.noise.covariance.copy(), motion.noise.dof
        if independent:
            C[:n, n:], C[n:, :n] = 0.0, 0.0
        return C, dof
    for value, what, names, block in parts:
        if value is not None:
            C[block, block] = stated_covariance(value, what, names)
        else:
            noise = noise_from_repeats(motion.readings[..., block], names)
            C[block, block], dof = noise.covariance, noise.dof
    return C, dof


def stated_covariance(value: Any, what: str, names: Sequence[str]) -> Array:
    """A covariance of several channels: one variance for all, one for each, or a matrix; checked, channels named.

    Examples:
        >>> stated_covariance([1.0, 4.0], "efforts", ["motor 1", "motor 2"])
        array([[1., 0.],
               [0., 4.]])
    """
    C, n = array(value, f"the covariance of the {what}", ndim=(0, 1, 2)), len(names)
    if C.ndim < 2:
        require(C.ndim == 0 or len(C) == n, f"{n} {what} need as many variances, but there are {C.size}")
        C = np.diag(np.broadcast_to(C, (n,)))
    require(C.shape == (n, n), f"the covariance of {n} {what} must be {n} × {n}, but its shape is {C.shape}")
    require(bool(np.isfinite(C).all()), f"the covariance of the {what} has NaN or infinite entries")
    for name, variance in zip(names, C.diagonal(), strict=True):
        require(variance > 0, f"the variance of '{name}' must be positive, but it is {variance:g}")
    scale = np.sqrt(C.diagonal())
    K = C / np.outer(scale, scale)
    require(bool((abs(K - K.T) <= 1e-9).all()), f"the covariance of the {what} is not symmetric")
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    if values[0] <= 1e-12:
        worst = sorted(np.argsort(-abs(vectors[:, 0]))[:2].tolist())
        raise InputError(
            f"the covariance of the {what} is not positive definite: an eigenvalue of its correlation is "
            f"{values[0]:.2g}, and '{names[worst[0]]}' and '{names[worst[1]]}' take most part in it. Take it from "
            "repeats, or leave out what is computed from another channel"
        )
    return (C + C.T) / 2


def on_fitted_path(
    robot: DynamicModel, motion: RepeatedMotion, *, order: int, prior: Box | None = None, **options: Any
) -> LinearProblem:
    """Efforts on the Fourier series through the measured positions, as a linear problem.

    The path is taken as exact, so that Gauss–Markov needs one step. The series averages over all samples, so its
    errors are small; where they matter, `errors_in_variables` estimates the path too. Options are those of
    `fitted_path`.

    Examples:
        >>> from gough import estimate
        >>> from gough.simulate import FourierSeries, PeriodicExperiment
        >>> from gough.methods import GaussMarkov
        >>> from gough.robots import H4
        >>> rng = np.random.default_rng(1)
        >>> series = FourierSeries.random(rng, offset=H4().home, amplitude=[0.1, 0.1, 0.05, 0.5], frequency=1.0)
        >>> experiment = PeriodicExperiment(H4(), series, rate=200.0, periods=5, positions=1e-4, efforts=0.1)
        >>> round(estimate(on_fitted_path(H4(), experiment.run(rng), order=5), GaussMarkov())["M_nac"], 2)
        1.05
    """
    return linear_on(fitted_path(robot, motion, order=order, **options), prior)


def linear_on(at: FittedPath, prior: Box | None) -> LinearProblem:
    """Efforts = W · parameters along a fitted path, for all parameters of the robot."""
    robot, n = at.model.robot, len(at.model.robot.coordinates)
    W, y, kept = at.model.regressors(at.path), at.measured[:, n:], at.kept[:, n:]
    unknowns = Unknowns(robot.names, robot.units, robot.nominal, prior)
    noise = Gaussian(at.covariance[..., n:, n:], at.noise_dof)
    problem = LinearProblem(W.reshape(-1, W.shape[2]), y.reshape(-1), unknowns, noise, Groups(robot.actuators))
    return problem if kept.all() else problem.select(kept.reshape(-1))
