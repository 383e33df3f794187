"""Forward kinematics of many samples at once: Newton's method, kept inside the workspace."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.kernels import Kernel
from gough.robots.refusal import refuse_where

_STEPS = 30
_SMALL = 1e-8
"""After a full step this small (m, rad) the error is about its square: below rounding."""
_BLOCK, _FEW = 1 << 15, 64
"""Samples handled at a time; and of those that fail, at a second attempt: wrong data are refused without delay."""
_PIECES = (10, 100)
"""A second attempt cuts the way from the guess in so many pieces."""

Which = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class PoseSearch:
    """Solves inverse(x) = q."""

    newton: Kernel
    """From x, q and numbers: `step` = J(x) (q - inverse(x)), `away` = q - inverse(x) and `determinant` = det J_x."""
    descent: Kernel
    """Several such steps in one: the last `pose`, and `step` and `determinant` of the last step."""
    numbers: Array
    """The geometry."""
    side: float
    """The sign of det J_x on the side of the singularities where poses are wanted."""

    def solve(self, q: Array, guess: Array) -> Array:
        """Poses (N, pose) for motor angles (N, motors), from one guess or one for each; NaN for missing samples.

        Raises:
            InputError: some sample has no pose that can be reached from the guess; the message names the first.
        """
        require(
            guess.ndim == 1 or len(guess) == len(q),
            f"guess must be one pose or one for each sample of q, but it has {len(guess)} and q has {len(q)}",
        )
        missing = np.asarray(np.isnan(q).any(axis=1))
        start = np.where(missing[:, np.newaxis], np.nan, guess)
        refuse_where(np.isnan(start).any(axis=1) & ~missing, "the guess holds NaN, though the motor angles do not")
        x = np.empty_like(start)
        for first in range(0, len(q), _BLOCK):
            block = slice(first, first + _BLOCK)
            x[block], failed = self._run_down(q[block], start[block])
            difficult = first + np.flatnonzero(failed)
            for k in range(0, len(difficult), _FEW):
                few = difficult[k : k + _FEW]
                x[few], failed = self._approach(q[few], start[few])
                if failed.any():
                    raise InputError(
                        f"sample {few[failed][0]}: no pose has these motor angles: check the units (rad), the sign "
                        "(positive lowers the arm) and the order of the motors, or pass a guess near the pose"
                    )
        return x

    def _run_down(self, q: Array, start: Array) -> tuple[Array, Which]:
        """Poses, and which samples failed, by plain steps; those that do not arrive go again, with care."""
        result = self.descent.evaluate(start, q, self.numbers)
        x = result["pose"]
        arrived = (np.abs(result["step"]).max(axis=1) <= _SMALL) & (result["determinant"] * self.side > 0)
        failed = ~arrived & ~np.isnan(start).any(axis=1)
        if failed.any():
            x[failed], failed[failed] = self._descend(q[failed], start[failed])
        return x, failed

    def _approach(self, q: Array, start: Array) -> tuple[Array, Which]:
        """Poses, and which samples failed, along a straight line of motor angles from those of the start."""
        away = self.newton.evaluate(start, q, self.numbers)["away"]
        for pieces in _PIECES:
            x = start
            for k in range(1, pieces + 1):
                x, failed = self._descend(q - away * (1 - k / pieces), x)
                if failed.all():
                    break
            if not failed.any():
                break
        return x, failed

    def _descend(self, q: Array, start: Array) -> tuple[Array, Which]:
        """Poses, and which samples failed; those that start at NaN are missing, and do not fail.

        A step is halved as long as it leads out of reach, where all is NaN, crosses a singularity or comes no closer.
        """
        x, step, error = start.copy(), np.zeros_like(start), np.full(len(start), np.inf)
        todo = np.flatnonzero(~np.isnan(x).any(axis=1))
        for _ in range(_STEPS):
            if todo.size == 0:
                break
            trial = x[todo] + step[todo]
            result = self.newton.evaluate(trial, q[todo], self.numbers)
            size = np.einsum("ni,ni->n", result["away"], result["away"])
            closer = (size < error[todo]) & (result["determinant"] * self.side > 0)
            step[todo[~closer]] /= 2
            taken = todo[closer]
            x[taken], step[taken], error[taken] = trial[closer], result["step"][closer], size[closer]
            arrived = closer & (np.abs(result["step"]).max(axis=1) <= _SMALL)
            x[todo[arrived]] += step[todo[arrived]]
            todo = todo[~arrived]
        failed = np.zeros(len(x), dtype=np.bool_)
        failed[todo] = True
        return x, failed
