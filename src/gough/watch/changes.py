"""Sequential tests for changes of a robot: payload, friction, gain and delay, with a stated false-alarm rate.

Rows are tested by blocks of half a second or so. A block gives each effect a score, the correlation of its efforts
with the residuals. While the tests learn, mean, scatter and autocorrelation of the scores of this robot are estimated;
afterwards two-sided cumulative sums [PAG54] of the standardized scores are compared with a limit, found from the
stated false-alarm rate by the approximation of [SIE85].
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np

from gough.core.arrays import Array, Mask

_SHIFT = 0.5
"""Allowance of the cumulative sums: half of the smallest shift of a block's mean that is sought, in its σ."""
_SURE = 3.0
"""Standard errors of the learned mean by which the allowance is larger, so that an error of it raises no alarm."""
_CLIP = 5.0
"""Standardized scores are cut here: one outlier raises no alarm."""
_INFORMATIVE = 0.05
"""Share of the median information below which a block says nothing about an effect."""
_KEPT = 120
"""Blocks that are remembered, to find when a change began and which effect explains it."""
_APART = 1e6
"""Condition number of scaled information up to which a motion tells effects apart."""
_HOLD = 20
"""Blocks after an alarm whose mean is taken as the new state, before the tests go on."""


def limit_for(blocks: float, allowance: float = _SHIFT) -> float:
    """The limit of a one-sided cumulative sum with one false alarm in so many blocks on average [SIE85].

    Of independent standard normal scores, blocks ≈ (exp(2kb) − 2kb − 1) / (2k²) with b = limit + 1.166.

    Examples:
        >>> round(limit_for(144_000), 2)
        10.02
    """
    low, high = 0.0, 200.0
    for _ in range(100):
        b = (low + high) / 2
        x = 2 * allowance * (b + 1.166)
        if (exp(min(x, 700.0)) - x - 1) / (2 * allowance**2) < blocks:
            low = b
        else:
            high = b
    return high


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of one block: residuals and the efforts of each effect per unit of its parameter."""

    time: float
    """When it ended."""
    residuals: Array
    """(M, n) measured minus predicted efforts."""
    effects: Array
    """(M, n, C) efforts of effects."""
    weights: Array
    """(M, n), 0 for rows that are masked."""

    @cached_property
    def scores(self) -> tuple[Array, Array, float, int]:
        """Scores g (C,), information G (C, C), mean square of the residuals, and the number of rows."""
        used = self.weights > 0
        root = np.sqrt(self.weights[used])
        X, r = self.effects[used] * root[:, None], self.residuals[used] * root
        n = len(r)
        return X.T @ r, X.T @ X, float(r @ r) / max(n, 1), n


@dataclass(frozen=True)
class Change:
    """An alarm: the effect that explains most of what changed."""

    effect: int
    """Number of the effect; −1 where none explains it."""
    size: float
    """Change of its parameter since the tests learned, or since the last alarm."""
    error: float
    """Half of its 95 % interval."""
    began: float
    """When it began, by the likeliest block."""
    slope: float
    """Change per second since then, by a straight line …"""
    slope_error: float
    """… and half of its 95 % interval."""
    explained: float
    """Share of the excess of the residuals' squares that the effect explains."""
    others: tuple[tuple[int, float], ...]
    """Other effects that explain nearly as much, with their shares."""


class ChangeTests:
    """Tests for changes; they *change* with every block.

    Hypotheses: while nothing changes, scores of blocks are a stationary sequence whose autocorrelation is short against
    the time of learning, and the motion during learning is like that later. The false-alarm rate holds for these.
    """

    def __init__(
        self, count: int, groups: Sequence[int], *, learn: int, blocks: float, together: Sequence[int] = ()
    ) -> None:
        """Make tests.

        Args:
            count: Number of effects.
            groups: For each effect, how many tests share its false-alarm rate; 0: it is estimated, not tested.
            learn: Blocks to learn from.
            blocks: Blocks in which each group has one false alarm on average.
            together: Effects that change together: the first one is tested, and all are estimated jointly.
        """
        self.count, self.learn = count, learn
        self.together = np.array(together, dtype=np.int64)
        self.tested = np.array([k for k, group in enumerate(groups) if group > 0], dtype=np.int64)
        self.limits = np.array([limit_for(2 * blocks * groups[k]) for k in self.tested])
        self.energy_limit = limit_for(2 * blocks)
        self.n_blocks = 0
        self._g, self._G = np.zeros((0, count)), np.zeros((0, count, count))
        self._times, self._energy, self._counts = np.zeros(0), np.zeros(0), np.zeros(0)
        self.mean, self.scatter = np.zeros(count), np.full(count, inf)
        """Learned: parameters of effects that the residuals contain, and σ of standardized scores."""
        self._median = np.zeros(count)
        self._level = np.zeros(2)
        """Learned: mean and σ of the logarithm of the mean square of the residuals."""
        self.adopted = np.zeros(count)
        """Sizes of effects that were found and count as the state of the robot since."""
        self._up, self._down = np.zeros(len(self.tested)), np.zeros(len(self.tested))
        self._loud = 0.0
        self._held = 0
        self._open = -1
        self._joint = Joint(len(self.together))
        self._based = float(learn)
        """Blocks that the mean of scores is based on."""
        self._settled = -inf
        """Time of the last block before which changes count as the state of the robot."""
        self._began = -inf
        """Time of the block in which the last change that was named began."""
        self._is_loud = False

    @property
    def is_learned(self) -> bool:
        """Whether the tests have learned what is usual."""
        return self.n_blocks >= self.learn

    @property
    def progress(self) -> Array:
        """Cumulative sums over their limits, the larger of both sides, for each tested effect."""
        return np.asarray(np.maximum(self._up, self._down) / self.limits)

    def take(self, block: Block) -> Change | None:
        """Take in a block; says what changed."""
        g, G, energy, n = block.scores
        if n == 0:
            return None
        energy = max(energy - 2 * float(self.adopted @ g / n) + float(self.adopted @ G @ self.adopted / n), 1e-300)
        self._remember(block.time, g, G, energy, n)
        self.n_blocks += 1
        if self.n_blocks == self.learn:
            self._learned()
        if self.n_blocks <= self.learn:
            return None
        if self._held:
            self._hold()
            return None
        return self._test(g - G @ self.adopted, G.diagonal(), energy)

    def _remember(self, time: float, g: Array, G: Array, energy: float, n: int) -> None:
        most = max(_KEPT, self.learn)
        self._g = np.concatenate([self._g, g[None]])[-most:]
        self._G = np.concatenate([self._G, G[None]])[-most:]
        self._times = np.append(self._times, time)[-most:]
        self._energy = np.append(self._energy, energy)[-most:]
        self._counts = np.append(self._counts, n)[-most:]

    def _learned(self) -> None:
        """Learn from all blocks so far."""
        info = np.einsum("bcc->bc", self._G)
        self._median = np.median(info, axis=0)
        for c in range(self.count):
            usable = info[:, c] > _INFORMATIVE * self._median[c]
            if usable.sum() < 8 or not self._median[c] > 0:
                continue
            g, G = self._g[usable, c], info[usable, c]
            self.mean[c] = g.sum() / G.sum()
            self.scatter[c] = _scatter((g - self.mean[c] * G) / np.sqrt(G))
        self._settled = float(self._times[-1])
        s = self.together
        self._joint.learn(self._g[:, s], self._G[:, s][:, :, s])
        logs = np.log(self._energy)
        self._level = np.array([logs.mean(), _scatter(logs - logs.mean())])

    def _test(self, g: Array, info: Array, energy: float) -> Change | None:
        chosen = self.tested
        with np.errstate(all="ignore"):
            z = (g - self.mean * info)[chosen] / np.sqrt(info[chosen]) / self.scatter[chosen]
        usable = (info[chosen] > _INFORMATIVE * self._median[chosen]) & np.isfinite(z)
        z = np.where(usable, np.clip(z, -_CLIP, _CLIP), 0.0)
        allowance = _SHIFT + _SURE / sqrt(self._based)
        k = np.where(usable, allowance, 0.0)
        self._up, self._down = np.maximum(self._up + z - k, 0.0), np.maximum(self._down - z - k, 0.0)
        loud = float(np.clip((log(energy) - self._level[0]) / self._level[1], -_CLIP, _CLIP))
        self._loud = max(self._loud + loud - allowance, 0.0)
        if self._is_loud:
            self._is_loud = self._loud > 0
            self._loud = min(self._loud, self.energy_limit)
        high = np.maximum(self._up, self._down) > self.limits
        if high.any():
            return self._name()
        if self._loud > self.energy_limit and not self._is_loud:
            self._is_loud = True
            return self._unnamed()
        return None

    def _excess(self) -> tuple[Array, Array]:
        """Scores beyond those that were learned and adopted (B, C), and information (B, C)."""
        info = np.einsum("bcc->bc", self._G)
        g = self._g - np.einsum("bcd,d->bc", self._G, self.adopted) - self.mean * info
        return g, info

    def _name(self) -> Change:
        """The effect that explains most since the likeliest beginning."""
        g, info = self._excess()
        recent = slice(max(0, len(g) - _KEPT, int(np.searchsorted(self._times, self._settled, side="right"))), None)
        G, info = (np.cumsum(x[recent][::-1], axis=0)[::-1] for x in (g, info))
        with np.errstate(all="ignore"):
            gain = np.where(info > 0, G**2 / info, 0.0)[:, self.tested]
            sure = gain / self.scatter[self.tested] ** 2
        begin = int(np.argmax(sure)) // sure.shape[1]
        shares = gain[begin] / max(float(gain[begin].max()), 1e-300)
        best = int(np.argmax(shares))  # at this beginning, the largest part of the squares
        effect = int(self.tested[best])
        others = tuple(
            (int(self.tested[k]), float(shares[k])) for k in np.argsort(-shares)[1:] if shares[k] > 0.8 and k != best
        )
        first = recent.indices(len(g))[0] + begin
        change = self._sized(effect, first, others)
        self._began = change.began
        self._open, self._held = effect, _HOLD
        return change

    def _sized(self, effect: int, first: int, others: tuple[tuple[int, float], ...]) -> Change:
        later = min(first + 1, len(self._times) - 1)  # it may have changed within the first block
        g, info = (x[later:, effect] for x in self._excess())
        total = float(info.sum())
        size = float(g.sum()) / total
        error = 1.96 * float(self.scatter[effect]) / sqrt(total)
        slope, slope_error = self._slope(g, info, self._times[later:], float(self.scatter[effect]))
        usual = exp(self._level[0])
        excess = float(((self._energy[later:] - usual) * self._counts[later:]).sum())
        explained = min(1.0, size * float(g.sum()) / excess) if excess > 0 else 1.0
        joint = self._jointly(later) if effect in self.together[:1] else None
        if joint is not None:  # what changes together with it would be taken for a part of it
            size, error = float(joint[0][0] - self.adopted[effect]), float(joint[1][0])
        return Change(effect, size, error, float(self._times[first]), slope, slope_error, explained, others)

    @staticmethod
    def _slope(g: Array, info: Array, times: Array, scatter: float) -> tuple[float, float]:
        """Slope of g / info over time, weighted by the information, and half of its 95 % interval."""
        usable = info > 0
        if usable.sum() < 3:
            return 0.0, inf
        t, w, size = times[usable], info[usable], g[usable] / info[usable]
        middle = (w * t).sum() / w.sum()
        spread = float((w * (t - middle) ** 2).sum())
        return float((w * (t - middle) * size).sum()) / spread, 1.96 * scatter / sqrt(spread)

    def _unnamed(self) -> Change:
        now = float(self._times[-1])
        return Change(-1, float(np.exp(np.log(self._energy[-3:]).mean() - self._level[0])), 0.0, now, 0.0, inf, 0.0, ())

    def _hold(self) -> None:
        """Wait until enough blocks tell the size of what changed; then it counts as the robot's state."""
        self._held -= 1
        if self._held:
            return
        g, info = (x[-_HOLD + 1 :, self._open] for x in self._excess())  # without the block in which it changed
        joint = self.jointly(_HOLD - 1) if self._open in self.together else None
        if joint is not None:
            self.adopted[self.together] = joint[0]
        elif info.sum() > 0:
            self.adopted[self._open] += float(g.sum() / info.sum())
        self._up[:], self._down[:], self._loud = 0.0, 0.0, 0.0
        self._settled, self._based = float(self._times[-1]), min(float(self.learn), _HOLD - 1.0)

    def jointly(self, blocks: int) -> tuple[Array, Array] | None:
        """Effects that change together, since the tests learned: values and half of their 95 % intervals.

        They are estimated from the last blocks, without those up to the last change. None before the tests have learned
        or where nothing is excited; ∞ for all but the first where the motion does not tell them apart.
        """
        first = max(len(self._times) - blocks, int(np.searchsorted(self._times, self._began, side="right")))
        return self._jointly(first) if self.is_learned and first < len(self._times) else None

    def _jointly(self, first: int) -> tuple[Array, Array] | None:
        """The same, from all blocks since one of them."""
        s, others = self.together, self.adopted.copy()
        others[s] = 0.0
        g, G = self._g[first:].sum(axis=0), self._G[first:].sum(axis=0)
        return self._joint.estimate((g - G @ others)[s], G[s][:, s], len(self._times) - first)

    def state(self) -> dict[str, Any]:
        """Arrays and numbers from which `restore` continues."""
        left_out = ("count", "learn", "tested", "limits", "energy_limit", "together")
        state = {name: value for name, value in vars(self).items() if name not in left_out}
        return {**state, "_joint": dict(vars(self._joint))}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        for name, value in state.items():
            if name == "_joint":
                self._joint = Joint(**value)
            else:
                setattr(self, name, np.array(value) if isinstance(getattr(self, name), np.ndarray) else value)


@dataclass
class Joint:
    """Some effects estimated together, relative to what the tests learned; σ from the scatter of scores of blocks."""

    n: int
    start: Array | None = None
    """(n,) learned values."""
    start_covariance: Array | None = None
    scores: Array | None = None
    """Covariance (n, n) of the scores of one block, enlarged for autocorrelation and for few blocks."""

    def learn(self, g: Array, G: Array) -> None:
        """Learn from scores (blocks, n) and information (blocks, n, n)."""
        total = G.sum(axis=0)
        if not self.n or not _is_regular(total):
            return
        self.start = np.linalg.solve(total, g.sum(axis=0))
        rest = g - np.einsum("bij,j->bi", G, self.start)
        spread = rest.T @ rest / max(len(g) - 1, 1)
        size = np.sqrt(np.maximum(spread.diagonal(), 1e-300))
        larger = np.array([_scatter(rest[:, c] / size[c]) for c in range(self.n)])
        self.scores = spread * larger * larger[:, None]
        inverse = np.linalg.inv(total)
        self.start_covariance = len(g) * inverse @ self.scores @ inverse

    def estimate(self, g: Array, G: Array, blocks: int) -> tuple[Array, Array] | None:
        """Values (n,) since then and half of their 95 % intervals, from the sums over some blocks."""
        if self.start is None or self.scores is None or self.start_covariance is None or not G[0, 0] > 0:
            return None
        k = self.n if _is_regular(G) else 1
        inverse = np.linalg.inv(G[:k, :k])
        values, errors = np.zeros(self.n), np.full(self.n, inf)
        values[:k] = inverse @ g[:k] - self.start[:k]
        covariance = blocks * inverse @ self.scores[:k, :k] @ inverse + self.start_covariance[:k, :k]
        errors[:k] = 1.96 * np.sqrt(np.maximum(covariance.diagonal(), 0.0))
        return values, errors


def _is_regular(G: Array) -> bool:
    """Whether the motion tells all effects of an information matrix apart."""
    size = np.sqrt(np.maximum(G.diagonal(), 0.0))
    if not len(size) or not (size > 0).all() or not np.isfinite(G).all():
        return False
    return bool(np.linalg.cond(G / size / size[:, None]) < _APART)


def _scatter(z: Array) -> float:
    """σ of the mean of many scores, as if they were independent: autocorrelation and few blocks make it larger."""
    n = len(z)
    sigma = float(np.sqrt((z**2).sum() / max(n - 1, 1)))
    lag = float((z[1:] * z[:-1]).sum() / max(float((z**2).sum()), 1e-300))
    lag = min(max(lag, 0.0), 0.9)
    # the upper end of a one-sided 97.5 % interval of σ, in the normal approximation
    return max(sigma * sqrt((1 + lag) / (1 - lag)) * (1 + 1.96 / sqrt(2 * n)), 1e-300)


def usable_rows(kept: Mask, finite: Mask, scale: Array) -> Array:
    """Weights (M, n) of rows: 1/scale² of its actuator where it is kept and finite, else 0."""
    return np.where(kept & finite[:, None], 1 / scale**2, 0.0)
