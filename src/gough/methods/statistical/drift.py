"""Slow errors, whose correlation time is a large part of the recording: their variance, free of the fit's bias.

Autocovariances of residuals understate a drift: the fit absorbs part of it, and lags as long as the recording have no
pairs. Here the means of the residuals over blocks of samples are the sum of white noise and of an Ornstein–Uhlenbeck
process (a first-order autoregression) with correlation time τ. Both variances of each group are estimated by restricted
maximum likelihood [PT71]: from those combinations of the block means that no parameter can change. The recording hardly
constrains τ. The answer is therefore the mean over a grid of τ, weighted by likelihood, and the spread over the grid
reduces the degrees of freedom.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from gough.core.arrays import Array, Integers, Mask

BLOCKS = 256
"""Largest number of blocks; every block has as many samples."""
_MIN_BLOCKS = 32
_LONGEST, _SHORTEST, _PER_OCTAVE = 1.0, 1 / 64, 2
"""Correlation times, in lengths of the recording, and how many for each octave."""
_DRIFT = 32.0
"""A drift whose likeliest correlation time is shorter than the recording over this is left to the autocovariances."""
_EVIDENCE = 8.0
"""Twice the logarithm of the likelihood ratio from which on a drift is taken as real."""
_OWN = 1.0
"""Degrees of freedom with which the mean over all groups counts in the variance of one."""
_STEPS = 8
_SPAN = 1e-10
"""Smallest variance of a row over the largest one, so that normal equations stay regular."""


@dataclass(frozen=True, eq=False)
class Drift:
    """Slow errors, as a mean over correlation times."""

    time: Array
    """(J,) correlation times, in parts of the recording."""
    weight: Array
    """(J,) probabilities of the times; their sum is 1."""
    variance: Array
    """(J, n) variance of the slow error of each group."""
    freedom: Array
    """(J, n) degrees of freedom of these variances."""
    propagated: Array
    """(J, n, k, k) Q_gᵀ S_g Q_g of each group, over its variance."""
    between: Array
    """(J, k, k) Qᵀ S Q of all groups, with these variances and their correlation between groups."""
    correlation: Array
    """(n, n) correlation of the slow errors between groups."""
    prediction: Array
    """(blocks, n) the expected slow error in each block, given the residuals."""
    absorbed: Array
    """(k,) Qᵀ times the prediction: the part of it that the fit takes away."""
    samples: int
    """Samples of a block."""

    @property
    def mean_variance(self) -> Array:
        """(n,) mean variance of the slow error of each group."""
        return self.weight @ self.variance

    @property
    def length(self) -> float:
        """Mean correlation time, in parts of the recording (geometric mean)."""
        return float(np.exp(self.weight @ np.log(self.time)))

    @property
    def probability_of_long(self) -> float:
        """Probability that the correlation time is at least half of the recording."""
        return float(self.weight[self.time >= 0.49].sum())

    @property
    def mean_freedom(self) -> Array:
        """(n,) mean degrees of freedom of the variance of each group."""
        return self.weight @ self.freedom

    @property
    def covariance(self) -> Array:
        """(n, n) covariance of the slow errors of one sample."""
        sigma = np.sqrt(self.mean_variance)
        return np.asarray(self.correlation * np.outer(sigma, sigma))

    @property
    def filling(self) -> Array:
        """(k, k) mean of Qᵀ S Q over the correlation times."""
        return np.asarray(np.einsum("j,jkl->kl", self.weight, self.between))

    def independent(self, factor: Array) -> "Drift":
        """The same drift with the errors of each group multiplied by a factor (n,), and independent of other groups."""
        variance = self.variance * factor**2
        between = np.einsum("jg,jgkl->jkl", variance, self.propagated)
        return replace(self, variance=variance, between=between, correlation=np.eye(len(factor)))

    def at(self, sample: Integers, group: Integers) -> Array:
        """Predicted slow errors of these samples and groups: linear between the centers of the blocks."""
        centers = (np.arange(len(self.prediction)) + 0.5) * self.samples - 0.5
        result = np.empty(len(sample))
        for g, column in enumerate(self.prediction.T):
            own = group == g
            result[own] = np.interp(sample[own], centers, column)
        return result

    def variances(self, T: Array) -> tuple[Array, Array]:
        """Variances of T Qᵀ e for slow errors e, and the variances of these estimates."""
        each = np.einsum("ik,jkl,il->ji", T, self.between, T, optimize=True)
        own = np.einsum("ik,jgkl,il->jgi", T, self.propagated, T, optimize=True) * self.variance[:, :, None]
        within = (2 * own**2 / self.freedom[:, :, None]).sum(axis=1)
        mean = self.weight @ each
        return mean, self.weight @ (within + (each - mean) ** 2)


def block_length(n_samples: int) -> int:
    """Samples of a block."""
    return max(-(-n_samples // BLOCKS), 1)


def may_drift(means: Array, present: Mask) -> bool:
    """Whether successive block means (blocks, n) are alike beyond chance: a screen before likelihoods are computed.

    Examples:
        >>> rng = np.random.default_rng(1)
        >>> white = rng.normal(size=(128, 2))
        >>> everywhere = np.ones((128, 2), dtype=bool)
        >>> may_drift(white, everywhere), may_drift(white + np.cumsum(white, axis=0) / 5, everywhere)
        (False, True)
    """
    if len(means) < _MIN_BLOCKS:
        return False
    size = np.sqrt((means**2).sum(axis=0) / np.maximum(present.sum(axis=0), 1))
    z = np.where(present, means, 0.0) / np.where(size > 0, size, 1.0)
    products = sum(float((z[lag:] * z[:-lag]).sum()) for lag in range(1, 5))
    return bool(products > 2.0 * np.sqrt(4.0 * max(present.sum(), 1)))


def slow_errors(means: Array, count: Array, design: Array, samples: int) -> Drift | None:
    """The drift in block means of residuals; None where it is not significant, or short.

    Args:
        means: (blocks, n) means of the whitened residuals over the rows of each block; 0 in blocks without rows.
        count: (blocks, n) number of rows.
        design: (blocks, n, k) means of the rows of Q = A T.
        samples: Samples of a block.
    """
    present = count > 0
    weight = np.sqrt(count / samples)  # the white part of a mean has its variance over the count
    u, X = (means * weight)[present], _seen((design * weight[:, :, None])[present], samples)
    group = np.broadcast_to(np.arange(means.shape[1]), means.shape)[present]
    if len(u) < X.shape[1] + _MIN_BLOCKS or not (np.bincount(group, u**2, means.shape[1]) > 0).all():
        return None
    least = _Components(u, X, np.zeros(len(u)), group).white()
    level = _level(means * weight, present)
    fits = []
    times = _LONGEST * np.exp2(-np.arange(0, np.log2(_LONGEST / _SHORTEST) + 1e-9, 1 / _PER_OCTAVE))
    for time in times:
        basis, power = _modes(time * len(means), weight, present)
        rotated = _Components(_rotated(basis, u, group), _rotated(basis, X, group), power, group)
        fits.append((time, basis, rotated, *rotated.drifting(level)))
    likelihood = np.array([fit[-1] for fit in fits])
    best = int(likelihood.argmax())
    if 2 * (likelihood[best] - least) < _EVIDENCE or times[best] < 1 / _DRIFT:
        return None
    kept = np.flatnonzero((likelihood > likelihood[best] - 6) & (times > 0.99 / _DRIFT))
    probability = np.exp(likelihood[kept] - likelihood[best])
    probability /= probability.sum()
    prediction = np.zeros(means.shape)
    parts = []
    for p, (_, basis, rotated, s, c, _) in zip(probability, (fits[i] for i in kept), strict=True):
        expected = _turned_back(basis, rotated.prediction(s, c), group)
        prediction[present] += p * expected / weight[present]
        parts.append((s, c, rotated.freedom(s, c)))
    white, variance, freedom = (np.array(part) for part in zip(*parts, strict=True))
    sums = design * count[:, :, None]
    correlation = _correlation(prediction, probability @ freedom)
    propagated, between = [], []
    for time, s, c in zip(times[kept], white, variance, strict=True):
        power, vectors = _eigen(len(means), time * len(means))
        # of the power s + c λ, residuals without the prediction hold s²/(s + c λ); this is the rest
        whole = power[:, None] * (1 + s / (s + c * power[:, None]))
        Z = (vectors.T @ sums.reshape(len(sums), -1)).reshape(sums.shape) * np.sqrt(whole)[:, :, None]
        propagated.append(np.einsum("bgk,bgl->gkl", Z, Z))
        mixed = np.einsum("bgk,gh->bhk", Z * np.sqrt(c)[:, None], _square_root(correlation))
        between.append(np.einsum("bgk,bgl->kl", mixed, mixed))
    absorbed = np.einsum("bgk,bg->k", sums, prediction)
    return Drift(
        times[kept],
        probability,
        variance,
        freedom,
        np.array(propagated),
        np.array(between),
        correlation,
        prediction,
        absorbed,
        samples,
    )


@dataclass(frozen=True, eq=False)
class _Components:
    """Data in which the errors have variances s_g + c_g λ: s white, c of the drift, and the columns of the fit."""

    u: Array
    X: Array
    power: Array
    """λ of each row."""
    group: Integers

    def _sums(self, values: Array) -> Array:
        return np.asarray(np.bincount(self.group, values), dtype=np.float64)

    def _variance(self, s: Array, c: Array) -> Array:
        v = s[self.group] + c[self.group] * self.power
        return np.maximum(v, _SPAN * v.max())

    def _step(self, s: Array, c: Array) -> tuple[Array, Array, float]:
        """P u, the diagonal of P, and the logarithm of the restricted likelihood."""
        v = self._variance(s, c)
        B = self.X / np.sqrt(v)[:, None]
        L = np.linalg.cholesky(B.T @ B)
        B = np.linalg.inv(L) @ B.T  # X is orthonormal, so L is well conditioned
        w = self.u / np.sqrt(v)
        w = w - B.T @ (B @ w)
        log = -0.5 * (np.log(v).sum() + 2 * np.log(L.diagonal()).sum() + w @ w)
        return w / np.sqrt(v), (1 - (B**2).sum(axis=0)) / v, float(log)

    def white(self) -> float:
        """The logarithm of the likelihood without a drift."""
        s = self._sums(self.u**2) / self._sums(np.ones_like(self.u))
        nothing = np.zeros_like(s)
        for _ in range(_STEPS // 2):
            Pu, P, _ = self._step(s, nothing)
            s = s * np.maximum(self._sums(Pu**2) / self._sums(P), 1e-6)
        return self._step(s, nothing)[2]

    def drifting(self, level: Array) -> tuple[Array, Array, float]:
        """White and slow variances (n,) each, and the logarithm of the likelihood.

        First the same shares for all groups, in units of `level`; then each group by itself, where the shares of all
        count as `_OWN` degrees of freedom. The steps are those of the fixed-point equations of the likelihood, which
        keep variances positive.
        """
        share = np.array([0.5, 0.5 / max(float(self.power.mean()), 1e-9)])
        of_all = level[self.group]
        for _ in range(_STEPS):
            Pu, P, _ = self._step(share[0] * level, share[1] * level)
            for i, part in enumerate((of_all, of_all * self.power)):
                share[i] *= max(float(part @ Pu**2) / float(part @ P), 1e-6)
        s, c = mean = share[0] * level, share[1] * level
        for _ in range(_STEPS // 2):
            Pu, P, _ = self._step(s, c)
            updated = []
            for now, pooled, part in zip((s, c), mean, (np.ones_like(P), self.power), strict=True):
                freedom = now * self._sums(part * P)
                updated.append((now**2 * self._sums(part * Pu**2) + _OWN * pooled) / (freedom + _OWN))
            s, c = updated
        return s, c, self._step(s, c)[2]

    def prediction(self, s: Array, c: Array) -> Array:
        """Expected slow errors given all combinations of the data that do not depend on the parameters."""
        return c[self.group] * self.power * self._step(s, c)[0]

    def freedom(self, s: Array, c: Array) -> Array:
        """(n,) degrees of freedom of the slow variances: c² tr(P V P V), at least 1."""
        v = self._variance(s, c)
        share = c[self.group] * self.power / v
        B = self.X / np.sqrt(v)[:, None]
        B = np.linalg.inv(np.linalg.cholesky(B.T @ B)) @ B.T
        result = self._sums(share**2 * (1 - 2 * (B**2).sum(axis=0)))
        for g in range(len(result)):
            own = B[:, self.group == g]
            result[g] += (((own * share[self.group == g]) @ own.T) ** 2).sum()
        return np.maximum(result, 1.0)


def _level(means: Array, present: Mask) -> Array:
    """(n,) mean squares of the differences of successive block means: many degrees of freedom for any drift."""
    pairs = present[1:] & present[:-1]
    squares = (np.where(pairs, np.diff(means, axis=0), 0.0) ** 2).sum(axis=0)
    count = pairs.sum(axis=0)
    whole = (means**2).sum(axis=0) / np.maximum(present.sum(axis=0), 1)
    return np.where((count > 0) & (squares > 0), squares / np.maximum(count, 1), whole)


def _seen(X: Array, samples: int) -> Array:
    """An orthonormal basis of the columns, without directions of which the blocks hold less than a four-hundredth."""
    U, size, _ = np.linalg.svd(X, full_matrices=False)
    return np.asarray(U[:, size**2 * samples > 1 / 400])


@lru_cache(maxsize=64)
def _correlations(blocks: int, time: float) -> Array:
    """(blocks, blocks) covariance of the means over blocks of an Ornstein–Uhlenbeck process of unit variance.

    The correlation time is in blocks.
    """
    from scipy.linalg import toeplitz  # noqa: PLC0415 - start-up time

    row = np.exp(-np.arange(blocks) / time) * 2 * time**2 * (np.cosh(1 / time) - 1)
    row[0] = 2 * time * (1 - time * -np.expm1(-1 / time))
    return np.asarray(toeplitz(row))


@lru_cache(maxsize=64)
def _eigen(blocks: int, time: float) -> tuple[Array, Array]:
    values, vectors = np.linalg.eigh(_correlations(blocks, time))
    return np.maximum(values, 0.0), vectors


@lru_cache(maxsize=128)
def _weighted_eigen(time: float, weight: bytes) -> tuple[Array, Array]:
    """As `_eigen`, of blocks with weights (0 for those without rows): the same for all fits of the same rows."""
    of_block = np.frombuffer(weight)
    own = np.flatnonzero(of_block)
    C = _correlations(len(of_block), time)[np.ix_(own, own)] * np.outer(of_block[own], of_block[own])
    values, vectors = np.linalg.eigh(C)
    return np.maximum(values, 0.0), vectors


def _modes(time: float, weight: Array, present: Mask) -> tuple[list[Array], Array]:
    """For each group the basis in which its slow errors are independent, and their variances, in the order of rows."""
    blocks, n = weight.shape
    power = np.zeros((blocks, n))
    if present.all() and (weight == weight[0, 0]).all():
        values, vectors = _eigen(blocks, time)
        power[:] = (values * weight[0, 0] ** 2)[:, None]
        return [vectors] * n, power[present]
    bases = []
    for g in range(n):
        values, vectors = _weighted_eigen(time, weight[:, g].tobytes())
        power[present[:, g], g] = values
        bases.append(vectors)
    return bases, power[present]


def _rotated(bases: list[Array], values: Array, group: Integers) -> Array:
    result = np.empty_like(values)
    for g, basis in enumerate(bases):
        result[group == g] = basis.T @ values[group == g]
    return result


def _turned_back(bases: list[Array], values: Array, group: Integers) -> Array:
    return _rotated([basis.T for basis in bases], values, group)


def _correlation(prediction: Array, freedom: Array) -> Array:
    """Correlation of the slow errors between groups, shrunk by what chance makes of it [SS05]."""
    n = len(freedom)
    size = np.sqrt((prediction**2).sum(axis=0))
    unit = prediction / np.where(size > 0, size, 1.0)
    R = unit.T @ unit
    off = R[~np.eye(n, dtype=bool)]
    chance = (1 / np.sqrt(np.outer(freedom, freedom)))[~np.eye(n, dtype=bool)] * (1 - off**2) ** 2
    share = min(float(chance.sum() / (off**2).sum()), 1.0) if (off**2).sum() > 0 else 1.0
    return np.asarray((1 - share) * R * (1 - np.eye(n)) + np.eye(n))


def _square_root(R: Array) -> Array:
    values, vectors = np.linalg.eigh(R)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0)))
