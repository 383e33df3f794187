"""Closed loops for many samples at once: Newton's method with step control, on one side of the singularities."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.kernels import Kernel

_STEPS = 30
_SMALL = 1e-8
"""After a full step this small (without units) the error is about its square: below rounding."""
_BLOCK, _SOME = 1 << 14, 64
"""Samples handled at a time; and of those that fail, at a second attempt: wrong data are refused without delay."""
_PIECES = (8, 50)
"""A second attempt cuts the way from the start in so many pieces."""

FEW = 400
"""Up to so many samples are replayed in NumPy, in milliseconds: a compiler takes seconds."""

Which = npt.NDArray[np.bool_]


def run(kernel: Kernel, *inputs: Array) -> dict[str, Array]:
    """The outputs of a kernel by name, for inputs of which the first has a leading axis of samples."""
    return kernel.replay(*inputs) if len(inputs[0]) <= FEW else kernel.evaluate(*inputs)


@dataclass(frozen=True, eq=False)
class Search:
    """Finds all coordinates for values of the known ones."""

    newton: Kernel
    """From s: `step` for all coordinates, `error`, the sum of squared gaps without units, and `side`."""
    known: list[int]
    scale: Array
    """The units by which coordinates are divided."""
    side: float
    """The sign of the determinant at home: of the side of the singularities where solutions are wanted."""

    def solve(self, values: Array, start: Array, *, is_patient: bool = False) -> tuple[Array, Which]:
        """Coordinates (N, n) for known values (N, k), from one start (n,) or one each, and which samples failed.

        A sample with a NaN has NaN in all coordinates, and does not fail. Unless patience is asked for, nothing more
        is looked at once some samples have failed for good.
        """
        descent = _Descent(self, is_compiled=len(values) > FEW)
        first = np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, start)
        s, failed = np.full_like(first, np.nan), np.zeros(len(values), dtype=np.bool_)
        for begin in range(0, len(values), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            s[block], failed[block] = descent(values[block], first[block])
            difficult = begin + np.flatnonzero(failed[block])
            for k in range(0, len(difficult), _SOME):
                some = difficult[k : k + _SOME]
                s[some], failed[some] = descent.approach(values[some], first[some])
                if failed[some].any() and not is_patient:
                    return s, failed
        return s, failed

    def follow(self, values: Array, start: Array) -> tuple[Array, Which]:
        """Coordinates (D, T, n) along D ways of known values (D, T, k), each from where the last led; NaN once lost."""
        descent = _Descent(self, is_compiled=False)
        s = np.full((*values.shape[:2], len(start)), np.nan)
        lost = np.zeros(values.shape[:2], dtype=np.bool_)
        now, going = np.tile(start, (len(values), 1)), np.arange(len(values))
        for t in range(values.shape[1]):
            now[going], failed = descent(values[going, t], now[going])
            going = going[~failed]
            s[going, t] = now[going]
            lost[np.setdiff1d(np.arange(len(values)), going), t] = True
        return s, lost


@dataclass(frozen=True, eq=False)
class _Descent:
    """Newton's method for many samples."""

    of: Search
    is_compiled: bool

    def approach(self, values: Array, start: Array) -> tuple[Array, Which]:
        """Along a straight line of known values from those of the start, in small pieces."""
        begin = start[:, self.of.known]
        s, failed = start.copy(), np.ones(len(values), dtype=np.bool_)
        for pieces in _PIECES:
            todo = np.flatnonzero(failed)
            s[todo] = start[todo]
            for k in range(1, pieces + 1):
                part = begin[todo] + (values[todo] - begin[todo]) * (k / pieces)
                s[todo], stuck = self(part, s[todo])
                todo = todo[~stuck]
            failed[todo] = False
        return s, failed

    def __call__(self, values: Array, start: Array) -> tuple[Array, Which]:
        """Coordinates, and which samples failed; those that start at NaN are missing, and do not fail.

        A step is halved as long as it crosses a singularity or brings the loops no closer. No step is longer than the
        mechanism or a radian.
        """
        of = self.of
        s = start.copy()
        s[:, of.known] = values
        step, error = np.zeros_like(s), np.full(len(s), np.inf)
        todo = np.flatnonzero(~np.isnan(s).any(axis=1))
        for _ in range(_STEPS):
            if todo.size == 0:
                break
            trial = s[todo] + step[todo]
            step_result = of.newton.evaluate(trial) if self.is_compiled else of.newton.replay(trial)
            closer = (step_result["error"] < error[todo]) & (step_result["side"] * of.side > 0)
            step[todo[~closer]] /= 2
            taken = todo[closer]
            new = step_result["step"].reshape(trial.shape)[closer]
            length = np.abs(new / of.scale).max(axis=1)
            arrived = length <= _SMALL
            s[taken], error[taken] = trial[closer], step_result["error"][closer]
            step[taken] = new / np.maximum(length, 1.0)[:, None]
            s[taken[arrived]] += new[arrived]
            todo = np.setdiff1d(todo, taken[arrived], assume_unique=True)
        failed = np.zeros(len(s), dtype=np.bool_)
        failed[todo] = True
        return s, failed
