"""Channels that repeat one value while the robot moves."""

from math import ceil
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.watch.rows import Samples

_LEAST = 0.05
"""Seconds that a channel must repeat its value at least."""
_LONGER = 3.0
"""Times the longest repetition while learning that it must last."""
_BEFORE = 0.02
"""Seconds before a repetition over which the speed of a position is measured."""


class StuckTest:
    """Finds channels whose value does not change by a bit while others move; it *changes* with every block.

    Hypotheses: a position that moved at more than twice `speed` until then does not come to rest from one sample to the
    next, and an effort of a moving robot does not repeat longer than three times its longest repetition while learning.
    """

    def __init__(self, rate: float, n: int, learn: int, speed: float) -> None:
        self.rate, self.n, self.learn, self.speed = rate, n, learn, speed
        self._least, self._before = ceil(_LEAST * rate), max(1, ceil(_BEFORE * rate))
        self._history = np.zeros((0, 2 * n))
        self._run = np.zeros(2 * n, dtype=np.int64)
        self._start = np.zeros((2 * n, n))
        """Positions when each repetition began."""
        self._fast = np.zeros(2 * n, dtype=np.bool_)
        """Whether a position moved before its repetition."""
        self._longest = np.zeros(2 * n, dtype=np.int64)
        self._seen = 0
        self.stuck = np.zeros(2 * n, dtype=np.bool_)

    def restart(self) -> None:
        """Forget the samples before a gap."""
        self._history, self._run[:] = np.zeros((0, 2 * self.n)), 0

    def take(self, samples: Samples) -> list[int]:
        """Channels, positions first, that are found to be stuck with this block."""
        x = np.concatenate([self._history, np.concatenate([samples.q, samples.efforts], axis=1)])
        fresh = len(x) - len(samples)
        if fresh == 0:
            self._start[:] = x[0, : self.n]
        changed = np.zeros(x.shape, dtype=np.bool_)
        changed[1:] = x[1:] != x[:-1]
        found = []
        for c in range(2 * self.n):
            at = np.flatnonzero(changed[max(fresh, 1) :, c]) + max(fresh, 1)
            if len(at):
                runs = np.diff(np.concatenate([[fresh - 1 - self._run[c]], at])) - 1
                if self._seen < self.learn:
                    self._longest[c] = max(self._longest[c], int(runs.max()))
                self._begin(c, x, int(at[-1]))
                self._run[c] = len(x) - 1 - at[-1]
            else:
                self._run[c] += len(samples)
            if self._is_stuck(c, x):
                found.append(c)
        self._seen += len(samples)
        self._history = x[-(self._before + 1) :]
        return found

    def _begin(self, c: int, x: Array, at: int) -> None:
        self._start[c], self.stuck[c] = x[at, : self.n], False
        earlier = max(0, at - self._before)
        seconds = max(at - earlier, 1) / self.rate
        self._fast[c] = c >= self.n or abs(x[at, c] - x[earlier, c]) > 2 * self.speed * seconds

    def _is_stuck(self, c: int, x: Array) -> bool:
        if self._seen < self.learn or self.stuck[c] or not self._fast[c]:
            return False
        if self._run[c] < max(self._least, _LONGER * self._longest[c]):
            return False
        moved = np.abs(x[-1, : self.n] - self._start[c]) > self.speed * self._run[c] / self.rate
        moved[c % self.n] &= c >= self.n
        self.stuck[c] = bool(moved.any())
        return bool(self.stuck[c])

    def state(self) -> dict[str, Any]:
        """Arrays and numbers from which `restore` continues."""
        return {name: value for name, value in vars(self).items() if name.startswith("_") or name == "stuck"}

    def restore(self, state: dict[str, Any]) -> None:
        """Continue where `state` was taken."""
        for name, value in state.items():
            setattr(self, name, np.array(value) if isinstance(getattr(self, name), np.ndarray) else value)
