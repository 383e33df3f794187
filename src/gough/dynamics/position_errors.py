"""What errors of the measured positions do to an identification: to residuals, to estimates, and to their σ.

Positions are rounded by encoders and noisy. The regressor is computed from them, so that its errors bias least squares
towards smaller inertia, and residuals show only a part of the additional variance. Both are estimated by a parametric
bootstrap: positions are measured once more on the smoothed path, with an encoder whose zero lies elsewhere.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue, Integers, Mask
from gough.core.errors import GoughError, InputError
from gough.core.text import percent
from gough.data import MeasuredMotion
from gough.data.filters import memory, of_neighbors
from gough.data.measurement_noise import ChannelNoise, rounded
from gough.data.motion import FullRate
from gough.estimates import Claim, Estimate, FitStats, Method, Status
from gough.methods import GaussMarkov, LeastSquares
from gough.methods.statistical import linear
from gough.methods.statistical.least_squares import group_sigma
from gough.methods.statistical.whitening import ByGroup, BySample, Unweighted, Whitening, row_blocks
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots.model import DynamicModel

_AT_ONCE = 20_000
"""Samples of which regressors are evaluated together."""
DRAWS = 40
"""Repetitions of the measurement of positions …"""
_MOST_READINGS = 8_000_000
"""… fewer where these would be more readings than this …"""
_LEAST_DRAWS = 10
"""… but no fewer than this."""
_TOGETHER, _FILTERED = 10, 1_000_000
"""Repetitions that are filtered together; fewer where these would be more readings than this."""
NEGLIGIBLE_SHARE = 0.05
"""Errors of positions are negligible below this share of the variance of the residuals …"""
NEGLIGIBLE_BIAS = 0.1
"""… and if they move no parameter by more than this part of its σ."""
EXTRAPOLATION = 0.15
"""Part of the correction of the bias that is uncertain because the bias is extrapolated linearly; what the errors of
one measurement and of one repetition differ by is added."""
MOVED = "Errors of the positions"
"""How a note about them begins."""
_LOOKED_AT = 64
"""Samples from which it is judged whether the errors are negligible."""


@dataclass(frozen=True, eq=False)
class PositionErrors(ArrayValue):
    """Errors of the measured positions of one motion, and their effect on the efforts of the model.

    `rows` (rows, draws) are errors of the model's efforts in the rows of the problem, one column for each repetition;
    `twice` are two regressors with additional errors, equal and opposite. Both are None where errors are negligible.
    """

    sigma: Array
    """(coordinates,) standard deviation of one reading."""
    step: Array
    """(coordinates,) step of the encoder; 0: none."""
    is_known: bool
    """Whether the errors are those of steps, or white, or stated: only then a bias is corrected."""
    variance: Array
    """(actuators,) variance of the model's filtered efforts that the errors cause."""
    lagged: Array | None = None
    """(actuators, lags) autocovariance of these errors over the samples of the motion."""
    scatter: Array | None = None
    """(actuators,) variance, from one repetition to the next, of the mean square of these errors."""
    rows: Array | None = None
    twice: tuple[Array, Array] | None = None

    @property
    def bias_uncertainty(self) -> float:
        """Standard deviation of a bias that is computed from one repetition, as a part of it: it goes with squares."""
        scatter = 0.0 if self.scatter is None else float((self.scatter / np.maximum(self.variance, 1e-300) ** 2).max())
        return float(np.sqrt(EXTRAPOLATION**2 + 2 * scatter))

    @property
    def is_negligible(self) -> bool:
        """Whether estimates are given without regard to them."""
        return self.rows is None


def position_errors(
    robot: DynamicModel,
    motion: MeasuredMotion,
    problem: LinearProblem,
    parameters: Array,
    assembled: Callable[[MeasuredMotion], LinearProblem],
    *,
    sigma: Array | None = None,
    seed: int = 0,
) -> PositionErrors | None:
    """The effect of the errors of the positions; None where nothing is known of them.

    Args:
        robot: The model.
        motion: What was measured; its positions have passed a low-pass.
        problem: The equations that are solved.
        parameters: Values of the robot's parameters that fit the motion.
        assembled: The equations for the same motion with other positions.
        sigma: Standard deviation of one reading of each position, if it is stated.
        seed: Of the repetitions.
    """
    full = motion.full_rate
    noise = None if full is None else full.positions_noise
    if full is None or (noise is None and sigma is None):
        return None
    step = np.zeros(full.q.shape[1]) if noise is None else noise.step
    total = _reading_sigma(noise, step) if sigma is None else sigma
    if not (total > 0).any():
        return None
    known = sigma is not None or (noise is not None and bool((noise.is_white | (step > 0.5 * total)).all()))
    encoder = _Encoder(full, step, np.sqrt(np.maximum(total**2 - step**2 / 12, 0.0) * (total**2 > 1.1 * step**2 / 12)))
    rng = np.random.default_rng(seed)
    first = encoder.errors(rng)
    some = _looked_at(motion)
    try:
        slopes = _slopes(robot, motion, parameters, some)
        moved = np.einsum("ksij,ksj->si", slopes, encoder.twice_filtered(first)[:, some])
        found = PositionErrors(total, step, known, np.asarray((moved**2).mean(axis=0)))
        if _is_negligible(motion, problem, found.variance, encoder.filtered(first), assembled):
            return found
        slopes = _slopes(robot, motion, parameters, np.arange(motion.n_samples))
        plus, minus = (assembled(_with(motion, sign * first)).W for sign in (1.0, -1.0))
    except InputError:  # a position that the robot cannot reach
        return None
    draws = int(np.clip(_MOST_READINGS // full.q.size, _LEAST_DRAWS, DRAWS))
    kept = motion.kept
    errors = np.empty((problem.n_rows, draws))
    lags = lags_of(motion)
    lagged = np.zeros((kept.shape[1], lags + 1))
    squares = np.empty((draws, kept.shape[1]))
    pairs = pair_counts(kept, motion, lags)
    for k, moved in enumerate(encoder.repeated(rng, draws)):
        effort = np.einsum("ksij,ksj->si", slopes, moved)
        errors[:, k] = effort[kept]
        own = _autocovariance(np.where(kept, effort, 0.0), pairs, motion, lags)
        squares[k] = own[:, 0]
        lagged += own / draws
    scatter = squares.var(axis=0, ddof=1)
    return replace(found, variance=lagged[:, 0], lagged=lagged, scatter=scatter, rows=errors, twice=(plus, minus))


@dataclass(frozen=True, eq=False)
class _Encoder:
    """Measures the smoothed positions once more."""

    full: FullRate
    step: Array
    white: Array
    """(coordinates,) standard deviation of noise before the steps."""

    def errors(self, rng: np.random.Generator) -> Array:
        """(M, coordinates) errors of one more measurement, its steps elsewhere."""
        q = self.full.q
        noisy = q + self.white * rng.standard_normal(q.shape) if self.white.any() else q
        return np.asarray(rounded(noisy, self.step, np.asarray(rng.random(q.shape[1]))) - q)

    def filtered(self, errors: Array) -> Array:
        """The errors after the low-pass, recording by recording."""
        return _low_passed(self.full, errors)

    def twice_filtered(self, errors: Array) -> Array:
        """(3, samples, coordinates) of q, dq and ddq where they enter the equations, which pass the low-pass again."""
        return _derivatives(self.full, self.filtered(self.filtered(errors)), self.full.at)

    def repeated(self, rng: np.random.Generator, draws: int) -> Iterator[Array]:
        """What `twice_filtered` makes of each of so many measurements, of which some are filtered together."""
        n, together = self.full.q.shape[1], int(np.clip(_FILTERED // self.full.q.size, 1, _TOGETHER))
        for first in range(0, draws, together):
            several = [self.errors(rng) for _ in range(first, min(first + together, draws))]
            moved = self.twice_filtered(np.concatenate(several, axis=1))
            yield from (moved[:, :, k * n : (k + 1) * n] for k in range(len(several)))


def _reading_sigma(noise: ChannelNoise | None, step: Array) -> Array:
    """Standard deviation of one reading, by its steps alone where nothing was measured."""
    assert noise is not None
    steps = step / np.sqrt(12)
    return np.asarray(np.where(np.isfinite(noise.sigma), np.maximum(noise.sigma, steps), steps))


def _low_passed(full: FullRate, x: Array) -> Array:
    return np.concatenate([full.band.low_passed(x[piece]) for piece in full.pieces])


def _derivatives(full: FullRate, x: Array, at: Integers | None = None) -> Array:
    """(3, M, n): x and its central differences, recording by recording; those at the ends repeat their neighbors.

    Args:
        full: The motion at its full rate.
        x: A signal (M, n).
        at: Samples, rising, at which they are wanted; without it at all.
    """
    at = np.arange(len(x)) if at is None else at
    result = np.empty((3, len(at), x.shape[1]))
    result[0] = x[at]
    for piece in full.pieces:
        first, last = np.searchsorted(at, [piece.start, piece.stop])
        own = np.clip(at[first:last], piece.start + 1, piece.stop - 2)
        result[1, first:last], result[2, first:last] = of_neighbors(x[own - 1], x[own], x[own + 1], full.rate)
    return result


def _with(motion: MeasuredMotion, errors: Array) -> MeasuredMotion:
    """The motion with these errors of the recorded positions in addition to its own."""
    full = motion.full_rate
    assert full is not None
    q, dq, ddq = _derivatives(full, _low_passed(full, errors))
    return replace(motion, full_rate=replace(full, q=full.q + q, dq=full.dq + dq, ddq=full.ddq + ddq))


def _slopes(robot: DynamicModel, motion: MeasuredMotion, parameters: Array, samples: Any) -> Array:
    """(3, samples, actuators, coordinates): derivatives of the model's efforts by q, dq and ddq."""
    n = motion.q.shape[1]
    whole = np.stack([motion.q, motion.dq, motion.ddq])
    # efforts are linear in accelerations; a small step in speed rarely meets the jump of dry friction
    size = np.maximum(np.ptp(whole, axis=1), 1e-9) * np.array([[1e-5], [1e-5], [1.0]])
    steps = np.zeros((3 * n + 1, 3, n))
    for k in range(3):
        steps[1 + k * n + np.arange(n), k, np.arange(n)] = size[k]
    result = np.empty((3, len(samples), len(motion.actuators), n))
    several = max(_AT_ONCE // len(steps), 1)
    for first in range(0, len(samples), several):
        part = slice(first, first + several)
        # all at once, since a robot with closed loops takes longer for few samples than for many
        moved = (whole[:, samples[part]][None] + steps[:, :, None]).transpose(1, 0, 2, 3).reshape(3, -1, n)
        efforts = (robot.regressor(*moved) @ parameters).reshape(len(steps), -1, len(motion.actuators))
        change = (efforts[1:] - efforts[:1]).reshape(3, n, *efforts.shape[1:]) / size[:, :, None, None]
        result[:, part] = change.transpose(0, 2, 3, 1)
    return result


def _looked_at(motion: MeasuredMotion) -> Integers:
    """Samples from which it is judged whether the errors are negligible."""
    return np.unique(np.linspace(0, motion.n_samples - 1, min(_LOOKED_AT, motion.n_samples)).astype(np.int64))


def _is_negligible(
    motion: MeasuredMotion,
    problem: LinearProblem,
    variance: Array,
    filtered: Array,
    assembled: Callable[[MeasuredMotion], LinearProblem],
) -> bool:
    """Do the errors add little to the residuals and move no parameter? Judged from some samples, without the filter."""
    some = _looked_at(motion)
    whiten = ByGroup(group_sigma(problem, linear.solve(problem, Unweighted(), rtol=None)), problem.groups)
    if (variance > NEGLIGIBLE_SHARE * whiten.sigma**2).any():
        return False
    solution = linear.solve(problem, whiten, rtol=None)
    full = motion.full_rate
    assert full is not None
    moved = _derivatives(full, filtered, full.at[some])
    bare = replace(motion.select(some), full_rate=None, kept=np.ones((len(some), motion.kept.shape[1]), dtype=bool))
    noisy = replace(bare, **{name: getattr(bare, name) + d for name, d in zip(("q", "dq", "ddq"), moved, strict=True)})
    change = assembled(noisy).W - assembled(bare).W
    sigma = np.tile(whiten.sigma, len(some))[:, None]
    change = change[:, solution.columns] / sigma
    T = solution.inverse_root
    more = problem.n_rows / len(change)
    bias = more * T @ (T.T @ (change.T @ (change @ solution.theta[solution.columns])))
    deviation = np.sqrt((T**2).sum(axis=1))
    return bool((abs(bias) < NEGLIGIBLE_BIAS * deviation).all())


def lags_of(motion: MeasuredMotion) -> int:
    """Samples over which errors that have passed the low-pass twice are correlated."""
    full = motion.full_rate
    assert full is not None
    return min(int(np.ceil(2 * memory(full.cutoff, full.order, full.rate) * motion.rate / full.rate)), len(motion) - 1)


def _autocovariance(x: Array, pairs: Array, motion: MeasuredMotion, lags: int) -> Array:
    """(n, lags + 1) mean of x_k x_{k−l} over pairs of rows that are kept, of which there are so many."""
    return np.where(pairs > 0, _lagged_sums(x, motion, lags) / np.maximum(pairs, 1.0), 0.0)


def pair_counts(kept: Mask, motion: MeasuredMotion, lags: int) -> Array:
    """(n, lags + 1) number of pairs of rows that are kept, so many samples apart."""
    return np.rint(_lagged_sums(kept.astype(float), motion, lags))


def _lagged_sums(x: Array, motion: MeasuredMotion, lags: int) -> Array:
    from scipy.fft import next_fast_len  # noqa: PLC0415 - start-up time

    total = np.zeros((x.shape[1], lags + 1))
    for piece in motion.pieces:
        part = x[piece]
        spectrum = np.fft.rfft(part, next_fast_len(len(part) + lags, real=True), axis=0)
        sums = np.fft.irfft(abs(spectrum) ** 2, next_fast_len(len(part) + lags, real=True), axis=0)
        total += sums[: lags + 1].T
    return total


def with_position_errors(
    answer: Estimate, method: Method[LinearProblem], problem: LinearProblem, errors: PositionErrors
) -> Estimate:
    """An estimate freed from the bias by errors of positions, its covariance with what they add.

    The bias is what additional errors of the same size change, in the mean of two that are equal and opposite. Where
    the kind of the errors is not known, or the corrected values leave the prior, the bias becomes part of σ instead.
    """
    region = answer.region
    if errors.rows is None or errors.twice is None or not isinstance(region, ConfidenceEllipsoid):
        return answer
    if answer.claim is not Claim.CONFIDENCE or answer.status is not Status.OK:
        return answer
    try:
        plus, minus = (_value(method, replace(problem, W=W)) for W in errors.twice)
    except GoughError:
        return answer
    if not len(plus) == len(minus) == len(answer.value):
        return answer
    bias = (plus + minus) / 2 - answer.value
    limited = isinstance(answer.stats, FitStats) and bool(answer.stats.prior_limited)
    center = answer.value - bias
    corrects = errors.is_known and not limited and center in problem.unknowns.bounds
    own = errors.bias_uncertainty * bias if corrects else bias
    C = _widened(region.covariance, _moves(method, problem, errors), _share(answer, errors))
    C = C + np.outer(own, own)
    sigma = np.sqrt(C.diagonal())
    largest = float((abs(bias) / region.sigma).max())
    name = answer.unknowns.names[int(np.argmax(abs(bias) / region.sigma))]
    share = 1 - float(np.min(region.covariance.diagonal() / C.diagonal()))
    what = "rounding" if (errors.step > 0).any() else "noise"
    did = "is corrected" if corrects else "is part of σ"
    note = (
        f"{MOVED} ({what}) bias the estimate by up to {largest:.2g} σ ({name}), which {did}; together "
        f"they make up to {percent(share)} of the variance of a parameter."
    )
    region = ConfidenceEllipsoid(center if corrects else answer.value, C, region.level, region.dof)
    assert np.isfinite(sigma).all()
    return replace(answer, region=region, notes=(*answer.notes, note))


def _value(method: Any, problem: LinearProblem) -> Array:
    """The values that a method finds, without their errors where it has these alone."""
    if not hasattr(method, "solution"):
        value: Array = method.estimate(problem).value
        return value
    solution: linear.Solution = method.solution(problem)
    return solution.theta[solution.columns]


def _moves(method: Any, problem: LinearProblem, errors: PositionErrors) -> Array:
    """(unknowns, draws): how the errors of the rows move the estimate, by the weights of the method."""
    assert errors.rows is not None
    plain = linear.solve(problem, Unweighted(), rtol=None)
    whiten: Whitening = ByGroup(group_sigma(problem, plain), problem.groups)
    if isinstance(method, LeastSquares):
        whiten = Unweighted()
    elif isinstance(method, GaussMarkov):
        weighted = linear.solve(problem, whiten, rtol=None)
        whiten = BySample(_sample_covariance(problem, weighted.theta), problem.groups)
    solution = linear.solve(problem, whiten, rtol=None)
    T = solution.inverse_root
    projected = np.zeros((T.shape[1], errors.rows.shape[1]))
    for rows in row_blocks(problem, whiten):
        projected += (whiten(rows, problem.W[rows][:, solution.columns]) @ T).T @ whiten(rows, errors.rows[rows])
    return T @ projected


def _sample_covariance(problem: LinearProblem, theta: Array) -> Array:
    """Mean of r rᵀ over the samples, pair by pair of groups; a little is added where it would be singular."""
    n, positions = len(problem.groups), problem.groups.positions(slice(0, problem.n_rows))
    grid = np.zeros((2, int(positions[-1]) // n * n + n))
    grid[0, positions], grid[1, positions] = problem.residuals(theta), 1.0
    r, present = grid.reshape(2, -1, n)
    C: Array = r.T @ r / np.maximum(present.T @ present, 1)
    least = max(1e-6 * float(C.diagonal().max()), linear.rounding(problem, theta) ** 2)
    return C + max(least - float(np.linalg.eigvalsh(C)[0]), 0.0) * np.eye(n)


def _share(answer: Estimate, errors: PositionErrors) -> float:
    """Part of the residuals' mean square that errors of positions explain, over all actuators."""
    residual = answer.stats.residual_rms if isinstance(answer.stats, FitStats) else None
    if residual is None:
        return 0.0
    return float(np.clip((errors.variance / residual**2).mean(), 0.0, 1.0))


def _widened(C: Array, moves: Array, share: float) -> Array:
    """C with what the moves of an estimate spread beyond the share of C that is theirs already; nowhere smaller."""
    draws = moves.shape[1]
    # so few draws show a variance by chance too small: as in Student's distribution
    spread = moves @ moves.T / (draws - 2)
    root = np.linalg.cholesky(C)
    inside = np.linalg.solve(root, np.linalg.solve(root, spread - share * C).T)
    values, vectors = np.linalg.eigh((inside + inside.T) / 2)
    more = root @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    result: Array = C + more @ more.T
    return result
