"""Forward kinematics of many samples at once: Newton's method, kept inside the workspace."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, require
from gough.kernels import Kernel
from gough.robots._newton import SMALL, NewtonSearch, NewtonStep
from gough.robots.refusal import refuse_where


@dataclass(frozen=True)
class PoseSearch(NewtonSearch):
    """Solves inverse(x) = q."""

    step: Kernel
    """From x, q and numbers: `step` = J(x) (q - inverse(x)), `away` = q - inverse(x) and `determinant` = det J_x."""
    descent: Kernel
    """Several such steps in one: the last `pose`, and `step` and `determinant` of the last step."""
    numbers: Array
    """The geometry."""
    side: float
    """The sign of det J_x on the side of the singularities where poses are wanted."""

    PIECES = (10, 100)
    IS_STRICT = False

    def poses(self, q: Array, guess: Array) -> Array:
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
        x, failed = self.solve(q, start)
        if failed.any():
            raise InputError(
                f"sample {np.flatnonzero(failed)[0]}: no pose has these motor angles: check the units (rad), the sign "
                "(positive lowers the arm) and the order of the motors, or pass a guess near the pose"
            )
        return x

    def newton(self, x: Array, values: Array) -> NewtonStep:
        result = self.step.evaluate(x, values, self.numbers)
        error = np.einsum("ni,ni->n", result["away"], result["away"])
        return NewtonStep(result["step"], error, result["determinant"] * self.side > 0)

    def away(self, x: Array, values: Array) -> Array:
        return self.step.evaluate(x, values, self.numbers)["away"]

    def attempt(self, values: Array, start: Array) -> tuple[Array, Mask]:
        """Poses, and which samples failed, by plain steps; those that do not arrive go again, with step control."""
        result = self.descent.evaluate(start, values, self.numbers)
        x = result["pose"]
        arrived = (self.limited(result["step"])[0] <= SMALL) & (result["determinant"] * self.side > 0)
        failed = ~arrived & ~np.isnan(start).any(axis=1)
        if failed.any():
            x[failed], failed[failed] = self.descend(values[failed], start[failed])
        return x, failed
