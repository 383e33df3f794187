"""Newton's method with step control for many samples at once, on one side of the singularities."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from gough.core.arrays import Array, Mask

_STEPS = 30
SMALL = 1e-8
"""After a full step this small the error is about its square: below rounding."""
_BLOCK, _FEW = 1 << 14, 64
"""Samples handled at a time; and of those that fail, at a second attempt: wrong data are refused without delay."""


class NewtonStep(NamedTuple):
    """Newton's step from each sample, and how far it is from a solution."""

    step: Array
    """(N, n)"""
    error: Array
    """(N,), zero at a solution."""
    is_inside: Mask
    """Whether the sample lies within reach and on the side of the singularities where solutions are wanted."""


class NewtonSearch(ABC):
    """Solves equations in n unknowns for many samples, each with its own known values."""

    PIECES: ClassVar[tuple[int, ...]]
    """A second attempt cuts the way from the values of the start to those asked for in so many pieces."""
    IS_STRICT: ClassVar[bool]
    """Whether a sample fails with the first piece that fails; else the next piece is tried from where it stands."""

    @abstractmethod
    def newton(self, x: Array, values: Array) -> NewtonStep:
        """Newton's step at x (N, n) for known values (N, k)."""

    @abstractmethod
    def away(self, x: Array, values: Array) -> Array:
        """Known values (N, k) minus those of x (N, n)."""

    def entered(self, start: Array, values: Array) -> Array:
        """Unknowns to begin with, in an array of their own."""
        del values
        return start.copy()

    def limited(self, step: Array) -> tuple[Array, Array]:
        """Length (N,) of steps without units, and the steps, shortened where they are too long."""
        return np.abs(step).max(axis=1), step

    def solve(self, values: Array, start: Array, *, is_patient: bool = False) -> tuple[Array, Mask]:
        """Unknowns (N, n) for known values (N, k) from starts (N, n), and which samples failed.

        A sample that starts at NaN is missing and does not fail. Unless `is_patient`, nothing more is computed once a
        sample has failed at its second attempt.
        """
        if len(values) <= _BLOCK:
            x, failed = self.attempt(values, start)
            self._retry(values, start, x, failed, is_patient=is_patient)
            return x, failed
        x, failed = np.full_like(start, np.nan), np.zeros(len(values), dtype=np.bool_)
        for begin in range(0, len(values), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            x[block], failed[block] = self.attempt(values[block], start[block])
            self._retry(values[block], start[block], x[block], failed[block], is_patient=is_patient)
            if failed[block].any() and not is_patient:
                break
        return x, failed

    def _retry(self, values: Array, start: Array, x: Array, failed: Mask, *, is_patient: bool) -> None:
        """Enter the second attempts of samples that failed in x and `failed`."""
        difficult = np.flatnonzero(failed)
        for k in range(0, len(difficult), _FEW):
            few = difficult[k : k + _FEW]
            x[few], failed[few] = self._approach(values[few], start[few])
            if failed[few].any() and not is_patient:
                break

    def attempt(self, values: Array, start: Array) -> tuple[Array, Mask]:
        """Unknowns, and which samples failed, at the first attempt."""
        return self.descend(values, start)

    def descend(self, values: Array, start: Array) -> tuple[Array, Mask]:
        """Unknowns, and which samples failed.

        A step is halved as long as it leads out of reach, crosses a singularity or does not reduce the error.
        """
        x = self.entered(start, values)
        step, error = np.zeros_like(x), np.full(len(x), np.inf)
        todo = np.flatnonzero(~np.isnan(x).any(axis=1))
        for _ in range(_STEPS):
            if todo.size == 0:
                break
            trial = x[todo] + step[todo]
            newton = self.newton(trial, values[todo])
            closer = (newton.error < error[todo]) & newton.is_inside
            step[todo[~closer]] /= 2
            taken, full = todo[closer], newton.step[closer]
            x[taken], error[taken] = trial[closer], newton.error[closer]
            length, step[taken] = self.limited(full)
            arrived = length <= SMALL
            if arrived.any():
                x[taken[arrived]] += full[arrived]
                closer[closer] = arrived
                todo = todo[~closer]
        failed = np.zeros(len(x), dtype=np.bool_)
        failed[todo] = True
        return x, failed

    def _approach(self, values: Array, start: Array) -> tuple[Array, Mask]:
        """Unknowns, and which samples failed, along a straight line of known values from those of the start."""
        away = self.away(start, values)
        x, failed = start.copy(), np.ones(len(values), dtype=np.bool_)
        for pieces in self.PIECES:
            todo = np.flatnonzero(failed)
            x[todo] = start[todo]
            for k in range(1, pieces + 1):
                x[todo], stuck = self.descend(values[todo] - away[todo] * (1 - k / pieces), x[todo])
                if self.IS_STRICT:
                    todo, stuck = todo[~stuck], stuck[~stuck]
                if stuck.all():
                    break
            failed[todo] = stuck
        return x, failed
