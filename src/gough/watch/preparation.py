"""From samples to rows while they arrive: causal low-pass, derivatives, regressor, masks near reversals."""

from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np

from gough.core.arrays import Array, Mask
from gough.data.filters import differences
from gough.robots.following import FollowedRegressor
from gough.watch.filters import LinearPhase
from gough.watch.rows import Rows, Samples


@dataclass(frozen=True)
class PreparationOptions:
    """What is done to the samples; the same values as those of the identification."""

    rate: float
    """Samples a second."""
    cutoff: float = 20.0
    order: int = 4
    speed: float = 0.05
    """Rows are masked near samples that are slower, units of the coordinate per second …"""
    within: float | None = None
    """… within so many seconds; None takes one period of the cutoff."""
    factor: int | None = None
    """One row is formed for so many samples; None takes five times the cutoff or a little more as the rate of rows."""
    with_spread: bool = False
    """Whether `Rows.spread` is computed, which doubles the cost of the filter."""

    @property
    def low_pass(self) -> LinearPhase:
        return LinearPhase(self.cutoff, self.order, self.rate)

    @property
    def stride(self) -> int:
        """Samples from one row to the next."""
        return self.factor or max(1, int(self.rate // (5 * self.cutoff)))

    @property
    def reach(self) -> int:
        """Samples before and after a slow one that are masked."""
        return ceil((1 / self.cutoff if self.within is None else self.within) * self.rate)


class Preparation:
    """Makes rows of samples; it *changes* with every block, and is started anew after a gap.

    Positions pass the low-pass h and are differentiated by central differences; the regressor of the filtered motion
    and the efforts both pass h once more, as in `gough.data.prepare` [PRV03i, §4.1]. The response is symmetric, so that
    a row belongs to one instant exactly: that `delay` seconds before the last sample it needs.

    Memory: the last samples of the response, whatever the length of the stream.
    """

    def __init__(self, options: PreparationOptions, regressor: FollowedRegressor, n: int, columns: int) -> None:
        self.options, self._regressor = options, regressor
        self._n, self._k = n, columns
        self._h = options.low_pass.response
        self._half = options.low_pass.half
        self._wait = max(self._half, options.reach)
        self.restart()

    @property
    def delay(self) -> float:
        """Seconds from the instant of a row to the last sample that it needs."""
        return (self._half + 1 + self._wait) / self.options.rate

    @property
    def warm_up(self) -> int:
        """Samples after a start until the first row."""
        return 2 * self._half + 2 + self._half + self._wait + 1

    def restart(self) -> None:
        """Forget all samples, as after a gap in the stream."""
        n = self._n
        self._q: Array = np.zeros((0, n))
        self._efforts: Array = np.zeros((0, n))
        self._times: Array = np.zeros(0)
        self._bridged: Mask = np.zeros(0, dtype=np.bool_)
        self._next = 0
        self._moved: Array = np.zeros((3, 0, n))
        self._W: Array = np.zeros((0, n, self._k))
        self._regressor.restart()

    def take(self, samples: Samples) -> Rows:
        """The rows that these samples complete; they must follow those before without a gap."""
        if not len(samples):
            return Rows.empty(self._n, self._k)
        if not len(self._times):
            self._next = samples.first
        self._q = np.concatenate([self._q, samples.q])
        self._efforts = np.concatenate([self._efforts, samples.efforts])
        self._times = np.concatenate([self._times, samples.times])
        self._bridged = np.concatenate([self._bridged, samples.bridged])
        self._extend()
        return self._rows()

    def _extend(self) -> None:
        """Filter, differentiate and evaluate the regressor as far as the positions go.

        Buffers begin at sample `_next`; entry i of the motion is that of sample `_next` + half + 1 + i.
        """
        half, done = self._half, self._moved.shape[1]
        new = len(self._q) - 2 * half - 2 - done
        if new <= 0:
            return
        x = self._q[done:]
        smooth = np.stack([np.convolve(channel, self._h, mode="valid") for channel in x.T], axis=1)
        dq, ddq = differences(smooth, self.options.rate)
        moved = np.stack([smooth[1:-1], dq, ddq])
        self._moved = np.concatenate([self._moved, moved], axis=1)
        self._W = np.concatenate([self._W, self._regressor(*moved)])

    def _rows(self) -> Rows:
        """Rows whose whole response is there; then forget what no later row needs."""
        half, wait, stride = self._half, self._wait, self.options.stride
        offset = half + 1
        """Sample of motion entry 0, from `_next` on."""
        first, last = offset + wait, offset + self._moved.shape[1] - 1 - wait
        start = first + (-(self._next + first)) % stride
        at = np.arange(start, last + 1, stride)
        if not len(at):
            return Rows.empty(self._n, self._k)
        m = at - offset
        flat = self._W.reshape(len(self._W), -1)
        size, h = 2 * half + 1, self._h
        W = np.stack([h @ flat[i - half : i - half + size] for i in m]).reshape(len(at), self._n, self._k)
        spread = None
        if self.options.with_spread:
            a, size_of = abs(h), abs(flat)
            spread = np.stack([a @ size_of[i - half : i - half + size] for i in m]).reshape(W.shape)
        windows = np.lib.stride_tricks.sliding_window_view(self._efforts, size, axis=0)
        y = windows[start - half : last + 1 - half : stride] @ h
        bridged = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(self._bridged)])
        ends = np.minimum(at + size + 1, len(self._bridged))
        measured = bridged[ends] == bridged[np.maximum(at - size, 0)]
        measured &= np.isfinite(W).all(axis=(1, 2))
        rows = Rows(
            self._next + at, self._times[at], y, W, spread, self._kept(m), measured, *(x[m] for x in self._moved)
        )
        self._forget(int(at[-1]) + stride - first)
        return rows

    def _kept(self, m: Any) -> Mask:
        """Which rows (M, n) are not near a reversal of their coordinate."""
        dq, reach = self._moved[1], self.options.reach
        slow = np.abs(dq) < self.options.speed
        turned = np.signbit(dq[1:]) != np.signbit(dq[:-1])
        slow[1:] |= turned
        slow[:-1] |= turned
        total = np.concatenate([np.zeros((1, self._n), dtype=np.int64), np.cumsum(slow, axis=0)])
        return np.asarray(total[np.minimum(m + reach + 1, len(slow))] == total[np.maximum(m - reach, 0)])

    def _forget(self, count: int) -> None:
        """Drop the first `count` samples, which no later row needs."""
        count = min(count, self._moved.shape[1])
        if count <= 0:
            return
        self._q, self._efforts, self._times = (x[count:] for x in (self._q, self._efforts, self._times))
        self._bridged = self._bridged[count:]
        self._moved, self._W = self._moved[:, count:], self._W[count:]
        self._next += count

    def state(self) -> dict[str, Any]:
        """Arrays and numbers from which `restore` continues; what follows from them is computed anew."""
        return {
            "q": self._q, "efforts": self._efforts, "times": self._times, "bridged": self._bridged,
            "next": self._next, "joints": self._regressor.state,
        }  # fmt: skip

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        self.restart()
        self._regressor.state = np.array(state["joints"])
        self._q, self._efforts = np.array(state["q"]), np.array(state["efforts"])
        self._times, self._bridged = np.array(state["times"]), np.array(state["bridged"], dtype=np.bool_)
        self._next = int(state["next"])
        self._extend()
