"""Closed loops for many samples at once: Newton's method with step control, on one side of the singularities."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.kernels import Kernel

_STEPS = 40
_SMALL = 1e-8
"""After a full step this small (without units) the error is about its square: below rounding."""
_BLOCK, _FEW = 1 << 14, 64
"""Samples handled at a time; and of those that fail, at a second attempt: wrong data are refused without delay."""
_PIECES = (10, 100)
"""A second attempt cuts the way from the start in so many pieces."""

FEW = 16
"""Up to so many samples are replayed in NumPy: a compiler would take longer than they do."""

Which = npt.NDArray[np.bool_]


def run(kernel: Kernel, *inputs: Array) -> dict[str, Array]:
    """The outputs of a kernel by name, for inputs of which the first has a leading axis of samples."""
    return kernel.replay(*inputs) if len(inputs[0]) <= FEW else kernel.evaluate(*inputs)


@dataclass(frozen=True, eq=False)
class Search:
    """Finds all coordinates for values of the known ones."""

    newton: Kernel
    """Of s: `step` for all coordinates, `error`, the sum of squared gaps without units, and `side`."""
    known: list[int]
    scale: Array
    """What coordinates are divided by to have no units."""
    side: float
    """The sign of the determinant at home: of the side of the singularities where solutions are wanted."""

    def solve(self, values: Array, start: Array) -> tuple[Array, Which]:
        """Coordinates (N, n) for known values (N, k), from one start (n,) or one each, and which samples failed.

        A sample with a NaN has NaN in all coordinates, and does not fail.
        """
        first = np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, start)
        s, failed = np.empty_like(first), np.zeros(len(values), dtype=np.bool_)
        for begin in range(0, len(values), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            s[block], failed[block] = self._descend(values[block], first[block])
            difficult = begin + np.flatnonzero(failed[block])
            for k in range(0, len(difficult), _FEW):
                few = difficult[k : k + _FEW]
                s[few], failed[few] = self._approach(values[few], first[few])
                if failed[few].any():
                    return s, failed
        return s, failed

    def _approach(self, values: Array, start: Array) -> tuple[Array, Which]:
        """Along a straight line of known values from those of the start."""
        begin = start[:, self.known]
        failed = np.ones(len(values), dtype=np.bool_)
        s = start
        for pieces in _PIECES:
            s = start
            for k in range(1, pieces + 1):
                s, failed = self._descend(begin + (values - begin) * (k / pieces), s)
                if failed.all():
                    break
            if not failed.any():
                break
        return s, failed

    def _descend(self, values: Array, start: Array) -> tuple[Array, Which]:
        """A step is halved as long as it crosses a singularity or brings the loops no closer.

        Far from a solution the gaps grow at first while the known values jump: the first step may lead anywhere on
        the right side, and is at most as long as the mechanism or a radian.
        """
        s = start.copy()
        s[:, self.known] = values
        step, error = np.zeros_like(s), np.full(len(s), np.inf)
        todo = np.flatnonzero(~np.isnan(s).any(axis=1))
        for _ in range(_STEPS):
            if todo.size == 0:
                break
            trial = s[todo] + step[todo]
            found = run(self.newton, trial)
            closer = (found["error"] < error[todo]) & (found["side"] * self.side > 0)
            step[todo[~closer]] /= 2
            taken = todo[closer]
            new = found["step"][closer]
            length = np.abs(new / self.scale).max(axis=1)
            arrived = length <= _SMALL
            s[taken], error[taken] = trial[closer], found["error"][closer]
            step[taken] = new / np.maximum(length, 1.0)[:, None]
            s[taken[arrived]] += new[arrived]
            todo = np.setdiff1d(todo, taken[arrived], assume_unique=True)
        failed = np.zeros(len(s), dtype=np.bool_)
        failed[todo] = True
        return s, failed
