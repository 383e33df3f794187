"""The noise as residuals show it: its size, its autocorrelation, and the σ that follows from both.

The errors of filtered measurements are autocorrelated. The textbook covariance σ²(WᵀW)⁻¹ is then too small, often
several times. Here the errors of each group (actuator) are a stationary series whose autocovariance is
estimated from the residuals over as many lags as stand out of chance [PR95] [POL03], freed from the bias that the fit
itself puts into residuals, and carried through the estimator. For white residuals the result is the textbook's.
Errors that drift over a large part of the recording are estimated first (`drift`), and the autocovariance without them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import inf, isinf
from typing import Any

import numpy as np
import numpy.typing as npt

from gough.core import fisher
from gough.core.arrays import Array, Integers
from gough.methods.statistical.drift import Drift, block_length, may_drift, slow_errors
from gough.methods.statistical.whitening import Whitening, row_blocks
from gough.noise import Gaussian
from gough.problem import LinearProblem

MAX_LAG = 1000
"""Autocorrelation over more samples than this is not estimated."""
_LONG = 0.1
"""Probability of a correlation time beyond half of the recording, from which on σ rests on an assumption."""
_TOO_LONG = (
    "The drift may be as slow as the recording is long: its size cannot be estimated well from these data. σ assumes "
    "that it is stationary, with a correlation time of at most the length of the recording. For a random walk or a "
    "trend the coverage may be lower than stated. Record longer, or remove the cause of the drift."
)
_AT_LIMIT = "The autocorrelation is longer than can be estimated: take σ as a lower limit, or decimate the data."


@dataclass(frozen=True, eq=False)
class Fitted:
    """A linear fit in whitened rows A = Σ^(-1/2) W[:, columns]: what the statistics of its residuals need."""

    problem: LinearProblem
    whiten: Whitening
    theta: Array
    """All unknowns, so that y − W θ are the residuals."""
    columns: Array
    """Numbers of the unknowns whose value was estimated."""
    inverse_root: Array
    """T, where T Tᵀ is the inverse of the information AᵀA (plus a prior's): A T has orthonormal columns without one."""
    influence: Callable[[Array], Array] | None = None
    """The function that a robust loss applies to whitened residuals; None: the identity."""
    directions: Array | None = None
    """(N, p) matrix that replaces W where errors are propagated to θ, such as instruments; None: W itself."""

    def errors(self, rows: slice, residuals: Array) -> Array:
        """Whitened errors from the residuals of these rows."""
        u = self.whiten(rows, residuals)
        return u if self.influence is None else self.influence(u)

    def orthonormal(self, rows: slice) -> Array:
        """Rows of A T."""
        return self.whiten(rows, self._regressor(rows)) @ self.inverse_root

    def effect(self, rows: slice, z: Array) -> Array:
        """Rows of A T z."""
        return self.whiten(rows, self._regressor(rows) @ (self.inverse_root @ z))

    def _regressor(self, rows: slice) -> Array:
        regressor = (self.problem.W if self.directions is None else self.directions)[rows]
        return regressor if len(self.columns) == regressor.shape[1] else regressor[:, self.columns]


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """Whitened errors as stationary series: size and autocorrelation of each group, covariance between groups."""

    mean_square: Array
    """(n,) mean square of the residuals in the unit of y."""
    lag_one: Array
    """(n,) autocorrelation of the residuals at a lag of one sample."""
    covariance: Array
    """(n, n) covariance of the whitened errors of one sample."""
    autocorrelation: Array
    """(n, L + 1) autocorrelation of the whitened errors at lags 0 … L, without a drift; 1 at lag 0."""
    dof: float
    """Independent samples in the residuals."""
    sum_of_squares: float
    """Sum of squares of the whitened residuals."""
    at_limit: bool
    """Whether residuals are still correlated at the longest lag that is estimated."""
    drift: Drift | None = None
    """Errors that are correlated over a large part of the recording."""
    n_samples: int = 0

    @property
    def fast(self) -> Array:
        """(n, n) covariance of the whitened errors of one sample without the drift."""
        return self.covariance if self.drift is None else self.covariance - self.drift.covariance

    def of_unit_size(self) -> "NoiseModel":
        """The same autocorrelations for whitened errors whose covariance is known: the identity."""
        drift, n = self.drift, len(self.covariance)
        if drift is not None:
            variance = self.covariance.diagonal()
            drift = drift.independent(1 / np.sqrt(np.where(variance > 0, variance, 1.0)))
        return replace(self, covariance=np.eye(n), drift=drift)

    @property
    def length(self) -> int:
        """Number of lags that `autocorrelation` has beyond 0; half of them stand out of chance."""
        return self.autocorrelation.shape[1] - 1

    def notes(self, extra: str = "") -> tuple[str, ...]:
        """What an answer says about autocorrelated residuals; `extra` follows in parentheses."""
        notes: tuple[str, ...] = ()
        if self.length:
            lags = self.length // 2
            rows = "neighboring samples" if lags == 1 else f"{lags} samples"
            notes += (f"Residuals are autocorrelated over {rows}; σ accounts for it{extra and f' ({extra})'}.",)
        if self.at_limit:
            notes += (_AT_LIMIT,)
        if self.drift is not None:
            part, slow = self.drift.length, self.drift.mean_variance.sum() / self.covariance.trace()
            size = f"{100 * slow:.0f} % of the variance of the errors"
            time = f"about {part * self.n_samples:.0f} samples, {100 * part:.0f} % of the recording"
            notes += (f"Residuals drift: {size} has a correlation time of {time}; σ and ± account for it.",)
            if self.drift.probability_of_long > _LONG:
                notes += (_TOO_LONG,)
        return notes


@dataclass(frozen=True, eq=False)
class _ResidualSums:
    """Sums over the residuals, each (n, …) for n groups."""

    count: Array
    pairs: Array
    """(n, lags) how many pairs of samples each lag has."""
    lagged: Array
    """(n, lags) Σ u_k u_{k−l} of the whitened residuals."""
    cross: Array
    """(n, n) Σ u_k u_kᵀ."""
    squares: Array
    """Σ r_k² in the unit of y."""
    n_samples: int
    block_sums: Array
    """(blocks, n) Σ u over blocks of samples; no blocks where samples are no series."""
    block_count: Array
    """(blocks, n) rows of each block."""


def noise_model(fit: Fitted) -> NoiseModel:
    """The noise model estimated from the residuals of `fit`."""
    sums = _accumulate(fit)
    drift = _drift(fit, sums)
    if drift is None:
        return _stationary(fit, sums)
    fast = _stationary(fit, _accumulate(fit, drift))
    whole = fast.covariance + drift.covariance
    # mean squares of slow and fast errors are independent: their variances add up
    variance, slow = whole.diagonal(), drift.mean_variance
    spread = fast.covariance.trace() ** 2 / fast.dof + float((slow**2 / drift.mean_freedom).sum())
    dof = float(variance.sum()) ** 2 / spread if spread > 0 else fast.dof
    return replace(
        fast,
        mean_square=sums.squares / sums.count,
        lag_one=_lag_one(sums),
        covariance=whole,
        dof=max(min(dof, fast.dof), 1.0),
        sum_of_squares=float(sums.lagged[:, 0].sum()),
        drift=drift,
    )


def _drift(fit: Fitted, sums: _ResidualSums) -> Drift | None:
    """The drift in the residuals, if there is one; the rows are read for it only if block means suggest it."""
    count = sums.block_count
    means = sums.block_sums / np.maximum(count, 1)
    if not may_drift(means, count > 0):
        return None
    blocks, n = means.shape
    k, samples = fit.inverse_root.shape[1], block_length(sums.n_samples)
    design = np.zeros((blocks * n, k))
    for rows in row_blocks(fit.problem, fit.whiten):
        place = _block_of(fit.problem, rows, samples)
        Q = fit.orthonormal(rows)
        inside = place < len(design)
        if not inside.all():
            Q, place = Q[inside], place[inside]
        order = np.argsort(place, kind="stable")
        first = np.flatnonzero(np.diff(place[order], prepend=-1))
        if len(first):
            design[place[order][first]] += np.add.reduceat(Q[order], first, axis=0)
    return slow_errors(means, count, design.reshape(blocks, n, k) / np.maximum(count, 1)[:, :, None], samples)


def _block_of(problem: LinearProblem, rows: slice, samples: int) -> Integers:
    """Number of the block of samples that each row is in, times the number of groups, plus that of its group."""
    n = len(problem.groups)
    positions = problem.groups.positions(rows)
    return np.asarray(positions // (n * samples) * n + positions % n)


def _add_by_block(problem: LinearProblem, rows: slice, u: Array, samples: int, into: tuple[Array, Array]) -> None:
    """Add the rows' values, and their number, to the sums of their blocks; samples after the last block are left."""
    n, (block_sums, block_count) = len(problem.groups), into
    if problem.groups.position is None and rows.start % n == 0 and len(u) % n == 0:
        begin = rows.start // n
        end = min(begin + len(u) // n, len(block_sums) // n * samples)
        if end <= begin:
            return
        first, last = begin // samples, (end - 1) // samples
        edges = np.maximum(np.arange(first, last + 1) * samples, begin)
        own = slice(first * n, (last + 1) * n)
        block_sums[own] += np.add.reduceat(u.reshape(-1, n)[: end - begin], edges - begin, axis=0).reshape(-1)
        block_count[own] += np.repeat(np.diff(edges, append=end), n)
        return
    place = _block_of(problem, rows, samples)
    start = int(place[0]) // n * n
    for total, values in ((block_sums, u), (block_count, None)):
        sums = np.bincount(place - start, values)[: max(len(total) - start, 0)]
        total[start : start + len(sums)] += sums


def _lag_one(sums: _ResidualSums) -> Array:
    if sums.lagged.shape[1] < 2:
        return np.zeros(len(sums.lagged))
    with np.errstate(invalid="ignore", divide="ignore"):
        power = sums.lagged[:, 0] / sums.count
        return np.where((sums.pairs[:, 1] > 0) & (power > 0), sums.lagged[:, 1] / (sums.pairs[:, 1] * power), 0.0)


def _stationary(fit: Fitted, sums: _ResidualSums) -> NoiseModel:
    """The noise model whose autocorrelation is the residuals' over as many lags as stand out of chance."""
    mean_square = np.where(sums.lagged[:, 0] > 0, sums.lagged[:, 0] / sums.count, 1.0)
    pairs = sums.pairs.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        raw = np.where(sums.pairs > 0, sums.lagged / (sums.pairs * mean_square[:, None]), 0.0)
        pooled = np.where(pairs > 0, (sums.lagged / mean_square[:, None]).sum(axis=0) / pairs, 0.0)
    length = max(_memory(rho, counts) for rho, counts in [(pooled, pairs), *zip(raw, sums.pairs, strict=True)])
    lags = slice(0, min(length, raw.shape[1] - 1) + 1)
    corrected = _without_fit_bias(fit, (pooled * pairs)[lags], pairs[lags])
    rho = np.array([_correlation(row) for row in raw[:, lags] + corrected - pooled[lags]])
    shared = _correlation(corrected)
    memory = 1 + 2 * (rho[:, 1:] ** 2).sum(axis=1)
    C = _covariance_of_errors(fit, sums, shared)
    # the fit takes the same share of independent samples as it takes of the power
    freedom = sums.lagged[:, 0] / np.where(C.diagonal() > 0, C.diagonal(), 1.0)
    return NoiseModel(
        mean_square=sums.squares / sums.count,
        lag_one=_lag_one(sums),
        covariance=C,
        autocorrelation=rho,
        dof=max(float((np.minimum(freedom, sums.count) / memory).sum()), 1.0),
        sum_of_squares=float(sums.lagged[:, 0].sum()),
        at_limit=length >= raw.shape[1],
        n_samples=sums.n_samples,
    )


def _correlation(covariances: Array) -> Array:
    """Covariances at lags 0, 1, … as a valid autocorrelation; that of white noise where all vanish."""
    if covariances[0] <= 0:
        return np.eye(1, len(covariances))[0]
    return _positive(covariances / covariances[0])


def unknown_noise(fit: Fitted) -> NoiseModel:
    """White noise of unit size, for a fit that leaves no residuals to estimate it from."""
    n = len(fit.problem.groups)
    nothing = np.zeros(n)
    return NoiseModel(nothing, nothing, np.eye(n), np.ones((n, 1)), dof=1.0, sum_of_squares=0.0, at_limit=False)


def covariance(fit: Fitted, noise: NoiseModel, *, prior: Array | None = None) -> Array:
    """Cov θ̂ = T (Qᵀ S Q + Tᵀ P T) Tᵀ, with Q = A T, S the covariance of all whitened errors, P the prior's information.

    S = H C Hᵀ, where H filters white noise of each group into noise with the group's autocorrelation and C correlates
    the groups: filtering the columns of Q gives Qᵀ S Q as a sum of squares. A drift adds its own S.
    """
    T, n = fit.inverse_root, len(noise.covariance)
    k = T.shape[1]
    alike = n == 1 or (fit.directions is None and np.array_equal(noise.fast, noise.fast[0, 0] * np.eye(n)))
    if noise.length == 0 and alike:
        filling = noise.fast[0, 0] * (np.eye(k) - (0 if prior is None else T.T @ prior @ T))
    else:
        taps = _shaping_filters(noise.autocorrelation)
        root = _root_of_excitation(noise.fast, taps)
        filling = np.zeros((k, k))
        for block in with_past(fit.problem, fit.whiten, fit.orthonormal, len(taps) - 1, flush=True):
            X = (root.T @ filtered(block, taps)).reshape(-1, k)
            filling += X.T @ X
    if noise.drift is not None:
        filling = filling + noise.drift.filling
    if prior is not None:
        filling = filling + T.T @ prior @ T
    result: Array = T @ filling @ T.T
    return (result + result.T) / 2


def degrees_of_freedom(fit: Fitted, noise: NoiseModel, variance: Array, *, scale_known: bool = False) -> float:
    """Degrees of freedom of the variances of θ̂ [SAT46], as the geometric mean over the unknowns.

    The variance of a variance is the sum of that of fast errors, that of the drift, and the spread over the
    correlation times of the drift.
    """
    own = 0.0 if scale_known else 1 / noise.dof
    if noise.drift is None:
        return 1 / own if own else np.inf
    slow, uncertainty = noise.drift.variances(fit.inverse_root)
    safe = np.where(variance > 0, variance, 1.0)
    share = np.clip(1 - slow / safe, 0.0, 1.0)
    relative = 2 * own * share**2 + uncertainty / safe**2
    if not len(variance):
        return np.inf
    return float(np.exp(np.log(np.maximum(2 / np.maximum(relative, 2 * own), 1.0)).mean()))


def _accumulate(fit: Fitted, drift: Drift | None = None) -> _ResidualSums:
    """Sums over the residuals; with a drift, over the residuals that there would be without it."""
    problem, every = fit.problem, slice(0, fit.problem.n_rows)
    n = len(problem.groups)
    n_samples = int(problem.groups.positions(slice(problem.n_rows - 1, problem.n_rows))[0]) // n + 1
    whole = None if problem.groups.is_series else fit.errors(every, problem.residuals(fit.theta, every))
    ordered = whole is None or neighbors_err_alike(_grid(problem, whole, n_samples))
    max_lag = min(MAX_LAG, n_samples // 4) if ordered else 0
    complete = problem.groups.position is None
    count, squares, cross = np.zeros(n), np.zeros(n), np.zeros((n, n))
    samples = block_length(n_samples)
    n_blocks = n_samples // samples if ordered else 0
    block_sums, block_count = np.zeros((2, n_blocks * n))
    products, places = LaggedSums(max_lag), LaggedSums(max_lag)

    def columns(rows: slice) -> Array:
        # one walk for all: whitened residuals, squared raw ones, a mark where there is a row
        r = problem.residuals(fit.theta, rows)
        u = fit.errors(rows, r) if whole is None else whole[rows]
        if drift is not None:
            positions = problem.groups.positions(rows)
            u = u - drift.at(positions // n, positions % n) + fit.effect(rows, drift.absorbed)
        elif n_blocks:
            _add_by_block(problem, rows, u, samples, (block_sums, block_count))
        return np.column_stack([u, r**2] if complete else [u, r**2, np.ones_like(u)])

    for block in with_past(problem, fit.whiten, columns, max_lag):
        own = block[max_lag:]
        products.add(block[:, :, 0])
        cross += own[:, :, 0].T @ own[:, :, 0]
        squares += own[:, :, 1].sum(axis=0)
        if not complete:
            places.add(block[:, :, 2])
            count += own[:, :, 2].sum(axis=0)
    if complete:
        count[:] = n_samples
        pairs = np.tile(n_samples - np.arange(max_lag + 1.0), (n, 1))
    else:
        pairs = np.rint(places.total())
    lagged = products.total()
    # FFT sums err by rounding of the whole block; lag 0 deserves better
    lagged[:, 0] = cross.diagonal()
    by_block = (block_sums.reshape(-1, n), block_count.reshape(-1, n))
    return _ResidualSums(np.maximum(count, 1), pairs, lagged, cross, squares, n_samples, *by_block)


def _grid(problem: LinearProblem, values: Array, n_samples: int) -> Array:
    """Values of all rows by sample and group (n_samples, n); 0 where there is no row."""
    grid = np.zeros(n_samples * len(problem.groups))
    grid[problem.groups.positions(slice(0, problem.n_rows))] = values
    return grid.reshape(n_samples, -1)


def neighbors_err_alike(errors: Array, draws: int = 199) -> bool:
    """Whether successive rows of errors (N, n) are more alike than in all of so many random orders of the rows.

    A permutation test on the sum of the autocorrelations at lags 1 … 5: where the order has no meaning, it is positive
    with probability 1/(draws + 1). The fit itself makes neighbors less alike, so it raises no alarm.

    Examples:
        >>> drift = np.sin(np.arange(60) / 10)[:, None] + np.random.default_rng(1).normal(0, 0.3, (60, 2))
        >>> neighbors_err_alike(drift), neighbors_err_alike(np.random.default_rng(2).normal(size=(60, 2)))
        (True, False)
    """
    lags = range(1, min(5, len(errors) - 1) + 1)
    rng = np.random.default_rng(0)

    def alike(u: Array) -> float:
        return float(sum((u[lag:] * u[:-lag]).sum() for lag in lags))

    own = alike(errors)
    return own > 0 and all(alike(errors[rng.permutation(len(errors))]) < own for _ in range(draws))


def _memory(rho: Array, pairs: Array) -> int:
    """Lags to keep: twice the first lag m after which ρ stays within chance for as long again, at least 5 lags [POL03].

    Chance is Bartlett's variance of an estimated ρ behind the last true one, (1 + 2 Σ_{l ≤ m} ρ_l²) over the pairs.
    """
    if len(rho) <= 5:
        return 0
    spread = np.cumsum(np.append(1.0, 2 * rho[1:] ** 2))
    m = 0
    for lag in range(1, len(rho)):
        if lag > m + max(5, m):
            break
        if rho[lag] ** 2 * pairs[lag] >= 2.5**2 * spread[m]:
            m = lag
    return 2 * m


def _positive(rho: Array) -> Array:
    """A flat-topped taper [PR95], then no negative power at any frequency: an autocorrelation that noise can have."""
    L = len(rho) - 1
    if L == 0:
        return np.ones(1)
    tapered = rho * np.clip(2 * (1 - np.arange(L + 1) / L), 0, 1)
    ring = np.concatenate([tapered, np.zeros(6 * L), tapered[:0:-1]])
    result = np.fft.irfft(np.maximum(np.fft.rfft(ring).real, 0), len(ring))[: L + 1]
    return result / result[0]


def _shaping_filters(autocorrelation: Array) -> Array:
    """(taps, n): filters that turn white noise of unit variance into noise with these autocorrelations, symmetric."""
    n, L = len(autocorrelation), autocorrelation.shape[1] - 1
    if L == 0:
        return np.ones((1, n))
    ring = np.concatenate([autocorrelation, np.zeros((n, 6 * L)), autocorrelation[:, :0:-1]], axis=1)
    response = np.sqrt(np.maximum(np.fft.rfft(ring, axis=1).real, 0))
    taps = np.roll(np.fft.irfft(response, ring.shape[1], axis=1), 2 * L, axis=1)[:, : 4 * L + 1].T
    return taps / np.linalg.norm(taps, axis=0)


def _root_of_excitation(covariance: Array, taps: Array) -> Array:
    """A root of the covariance that white noise must have for the filtered noise to have the given one."""
    values, vectors = np.linalg.eigh(covariance / (taps.T @ taps))
    return vectors * np.sqrt(np.maximum(values, 0))


def _covariance_of_errors(fit: Fitted, sums: _ResidualSums, rho: Array) -> Array:
    """(n, n) covariance C of the errors of one sample, from the products of the residuals u = (I − Q Qᵀ) ε.

    With Cov ε = C ⊗ Toeplitz(ρ) the expected products are linear in C:
    E Σ_k u_k u_kᵀ [g, h] = Σ_ab C_ab (δ_ga δ_hb N − δ_ga tr F_hb − δ_hb tr F_ag + tr(F_ab G_hg)),
    where G_ab = Q_aᵀ Q_b and F_ab = Q_aᵀ Toeplitz(ρ) Q_b. For one group and white noise it divides by N − p.
    """
    n, k = len(sums.count), fit.inverse_root.shape[1]
    present = np.sqrt(np.outer(sums.count, sums.count))
    if n * k * len(rho) * 200 < fit.problem.n_rows:
        return sums.cross / (present * (1 - k / fit.problem.n_rows))  # what is left to correct is below half a percent
    taps = np.repeat(_shaping_filters(rho[None]), n, axis=1)
    totals: list[Array] = []
    for block in with_past(fit.problem, fit.whiten, fit.orthonormal, len(taps) - 1, flush=True):
        parts = [block[len(taps) - 1 :], *([filtered(block, taps)] if len(taps) > 1 else [])]
        products = [each.T @ each for each in (part.reshape(-1, n * k) for part in parts)]
        totals = [a + b for a, b in zip(totals, products, strict=True)] if totals else products
    # row [a, b] is a k × k matrix
    G4, *of_shaped = (each.reshape(n, k, n, k).transpose(0, 2, 1, 3).reshape(n * n, k * k) for each in totals)
    F4 = of_shaped[0] if of_shaped else G4
    trace = F4[:, :: k + 1].sum(axis=1).reshape(n, n)
    one = np.eye(n)
    # tr(F_ab G_hg) is the sum over the entries of F_ab times those of G_gh = G_hgᵀ
    expected = (G4 @ F4.T).reshape(n, n, n, n)
    expected -= one[:, None, :, None] * trace[:, None] + one[:, None] * trace.T[:, None, :, None]
    expected += (one[:, None, :, None] * one[:, None]) * present[:, :, None, None]
    C = _least_squares(expected.reshape(n * n, n * n), sums.cross.reshape(-1), rcond=1e-6).reshape(n, n)
    values, vectors = np.linalg.eigh((C + C.T) / 2)
    result: Array = (vectors * np.maximum(values, 0)) @ vectors.T
    return result


def _least_squares(A: Array, b: Array, *, rcond: float) -> Array:
    """As `numpy.linalg.lstsq` of a square matrix, without a singular value decomposition where none is cut off."""
    try:
        inverse = np.linalg.inv(A)
    except np.linalg.LinAlgError:
        inverse = np.full_like(A, np.inf)
    if float(np.linalg.norm(A) * np.linalg.norm(inverse)) * rcond < 1:
        x = inverse @ b
        return np.asarray(x + inverse @ (b - A @ x))
    return np.asarray(np.linalg.lstsq(A, b, rcond=rcond)[0])


def _without_fit_bias(fit: Fitted, lagged: Array, pairs: Array) -> Array:
    """Autocovariances of the errors from the lagged sums of the residuals u = M ε, M = I − Q Qᵀ.

    With Toeplitz covariance Σ_m ρ_m T_m (T_0 = I, T_m the shifts by ±m samples) the expected sums are linear in ρ:
    E Σ_k u_k u_{k−l} = ½ Σ_m ρ_m tr(T_l M T_m M), up to the ends of the recording. The fit takes out most where
    regressors and noise share their frequencies, and there σ is needed; solving for ρ puts it back.
    """
    L = len(lagged) - 1
    p = fit.inverse_root.shape[1]
    if L == 0 or p * (2 * L + 1) * 200 < fit.problem.n_rows:
        return lagged / (pairs * (1 - p / fit.problem.n_rows))  # what is left to correct is below half a percent
    B = _shifted_products(fit, 2 * L)
    trace = np.trace(B, axis1=1, axis2=2)
    lag = np.arange(L + 1)
    both = trace[lag[:, None] + lag] + trace[abs(lag[:, None] - lag)] * np.where(lag[:, None] == lag, 2, 1)
    both[0], both[:, 0] = trace[: L + 1], trace[: L + 1]
    flat = B[: L + 1].reshape(L + 1, -1)
    expected = -2 * both + flat @ flat.T
    expected[lag, lag] += np.where(lag == 0, 1, 2) * pairs
    expected[1:] /= 2
    result: Array = np.linalg.lstsq(expected, lagged, rcond=1e-6)[0]
    return result


def _shifted_products(fit: Fitted, max_lag: int) -> Array:
    """Qᵀ T_l Q for l = 0 … max_lag: (max_lag + 1, p, p)."""
    spectra: dict[int, Any] = {}
    for block in with_past(fit.problem, fit.whiten, fit.orthonormal, max_lag):
        size = fast_length(len(block))
        own = block.copy()
        own[:max_lag] = 0.0  # what wraps around meets these zeros
        ahead, past = (np.fft.rfft(x, size, axis=0) for x in (own, block))
        spectra[size] = spectra.get(size, 0) + np.swapaxes(ahead, 1, 2) @ past.conj()
    result: Array = np.sum([np.fft.irfft(S, n, axis=0)[: max_lag + 1] for n, S in spectra.items()], axis=0)
    result[1:] += np.swapaxes(result[1:], 1, 2)
    return result


def goodness(ratio: float, dof: float, noise: Gaussian) -> tuple[float, float]:
    """χ²/dof freed from the bias of an estimated covariance, and its two-sided probability.

    A covariance of n channels from ν errors makes the weighted squares larger by ν/(ν − n − 1) in the mean, and lets
    them follow Fisher's distribution with n ν degrees of freedom in the denominator instead of χ².

    Examples:
        >>> ratio, p = goodness(1.0, 100.0, Gaussian(1.0))
        >>> ratio, round(p, 2)
        (1.0, 0.96)
    """
    n, known = noise.block, inf
    if not isinf(noise.dof) and noise.dof > n + 1:
        ratio *= (noise.dof - n - 1) / noise.dof
        known = n * noise.dof
    tail = min(float(fisher.below(dof, known, ratio)), float(fisher.above(dof, known, ratio)))
    return ratio, min(1.0, 2 * tail)


def widening(noise: Gaussian) -> float:
    """Factor on the covariance of an answer whose weights come from an estimated covariance.

    Its inverse overstates the information by ν/(ν − n − 1) in the mean, and weights that err cost about as much again.

    Examples:
        >>> widening(Gaussian(1.0)), round(widening(Gaussian([[1.0, 0.0], [0.0, 1.0]], dof=100.0)), 3)
        (1.0, 1.063)
    """
    n = noise.block
    return 1.0 if isinf(noise.dof) or noise.dof <= n + 1 else (noise.dof / (noise.dof - n - 1)) ** 2


def verdict(ratio: float, p: float) -> str:
    """The sentence on χ² for an answer's notes."""
    words = "the stated noise explains the residuals"
    if p < 0.001:
        larger = "larger than the stated noise: an effect is missing from the model, or the noise is understated"
        words = f"residuals are {larger if ratio > 1 else 'smaller than the stated noise: it is overstated'}"
    chance = f"p = {p:.2g}" if p > 1e-12 else "p < 1e-12"
    return f"χ²/dof = {ratio:.3f} ({chance}): {words}."


def with_past(
    problem: LinearProblem, whiten: Whitening, rows_of: Callable[[slice], Array], past: int, *, flush: bool = False
) -> Iterator[Array]:
    """Blocks (past + samples, groups, columns) of what `rows_of` returns; missing rows are zero.

    The first `past` entries of a block are the samples before it, zero before the recording began: a causal sum over
    at most `past` lags then needs nothing but the block. With `flush` a last block of `past` zeros follows, so that
    a filter rings out.
    """
    n = len(problem.groups)
    history: Array | None = None
    next_sample = 0
    for rows in row_blocks(problem, whiten):
        values = rows_of(rows)
        values = values.reshape(len(values), -1)
        positions = problem.groups.positions(rows)
        first, last = int(positions[0]) // n, int(positions[-1]) // n
        if past == 0 and len(values) == (last - first + 1) * n:  # nothing is missing, and nothing rings
            history = None
            yield values.reshape(-1, n, values.shape[1])
            continue
        if history is not None and first - next_sample > past:
            if past:
                yield _ringing(history)
            history = None
        begin = first if history is None else next_sample  # samples without any row ring like all others
        grid = np.zeros((past + last - begin + 1, n, values.shape[1]))
        if history is not None:
            grid[:past] = history
        grid.reshape(-1, values.shape[1])[(past - begin) * n + positions] = values
        yield grid
        history, next_sample = grid[len(grid) - past :], last + 1
    if flush and past and history is not None:
        yield _ringing(history)


def _ringing(history: Array) -> Array:
    """A block of zeros that follows these samples."""
    return np.concatenate([history, np.zeros_like(history)])


class LaggedSums:
    """Σ_k x_k x_{k−l} for l = 0 … past, added up over blocks; the spectra are added, and transformed back once."""

    def __init__(self, past: int) -> None:
        self._past = past
        self._spectra: dict[int, npt.NDArray[np.complex128]] = {}
        self._squares: list[Array] = []

    def add(self, block: Array) -> None:
        """Count the block's own samples: `block` (past + samples, columns) begins with its past."""
        if self._past == 0:
            self._squares.append((block**2).sum(axis=0))
            return
        size = fast_length(len(block) + self._past)
        own = np.fft.rfft(block[self._past :], size, axis=0)
        spectrum = own * np.conj(np.fft.rfft(block, size, axis=0))
        self._spectra[size] = self._spectra[size] + spectrum if size in self._spectra else spectrum

    def total(self) -> Array:
        """(columns, past + 1)."""
        if self._past == 0:
            return np.sum(self._squares, axis=0)[:, None]
        # own samples begin at 0 and not at `past`, so that lag l stands at l − past
        lags = np.arange(-self._past, 1)
        return np.sum([np.fft.irfft(S, size, axis=0)[lags] for size, S in self._spectra.items()], axis=0).T


def filtered(block: Array, taps: Array) -> Array:
    """z_k = Σ_l taps[l] x_{k−l} over the block's own samples, each group by its own taps (past + 1, n)."""
    past = len(taps) - 1
    if past == 0:
        return np.asarray(block * taps[0][:, None])
    size = fast_length(len(block))
    response = np.fft.rfft(taps, size, axis=0)[:, :, None]
    return np.fft.irfft(response * np.fft.rfft(block, size, axis=0), size, axis=0)[past : len(block)]


def fast_length(n: int) -> int:
    """The next length ≥ n for which the FFT is fast."""
    from scipy.fft import next_fast_len  # noqa: PLC0415 - start-up time

    return int(next_fast_len(n, real=True))
