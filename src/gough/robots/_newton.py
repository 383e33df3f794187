"""Forward kinematics of many samples at once: Newton's method, kept inside the workspace."""

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.kernels import Kernel
from gough.robots._refusal import refuse_where

_STEPS = 60
_SMALL = 1e-8
"""After a full step this small (m, rad) the error is about its square: below rounding."""


def solve_for_pose(newton: Kernel, q: Array, guess: Array, numbers: Array) -> Array:
    """Poses x with inverse(x) = q, from a kernel that gives the step J(x) (q - inverse(x)) and |q - inverse(x)|².

    A step is halved as long as it leads out of reach, where the error is NaN, or does not lessen the error.

    Raises:
        InputError: some sample has no such pose that can be reached from the guess; the message names the first.
    """
    angles = np.atleast_2d(q)
    require(
        guess.ndim == 1 or len(guess) == len(angles),
        f"guess must be one pose or one for each sample of q: it has {len(guess)}, q has {len(angles)}",
    )
    x = np.array(np.broadcast_to(guess, (len(angles), guess.shape[-1])))
    x[np.isnan(angles).any(axis=1)] = np.nan
    step, error = np.zeros_like(x), np.full(len(x), np.inf)
    todo = np.flatnonzero(~np.isnan(x).any(axis=1))
    for _ in range(_STEPS):
        if todo.size == 0:
            break
        trial = x[todo] + step[todo]
        found = newton.evaluate(trial, angles[todo], numbers)
        closer = found["error"] < error[todo]  # not so where it is NaN
        step[todo[~closer]] /= 2
        taken = todo[closer]
        x[taken], step[taken], error[taken] = trial[closer], found["step"][closer], found["error"][closer]
        arrived = closer & (np.abs(found["step"]).max(axis=1) <= _SMALL)
        x[todo[arrived]] += step[todo[arrived]]
        todo = todo[~arrived]
    failed = np.isin(np.arange(len(x)), todo)
    refuse_where(
        failed if q.ndim == 2 else failed[0],
        "no pose has these motor angles: check the units (rad), the sign (positive lowers the arm) and the order of "
        "the motors, or pass a guess near the pose",
    )
    return x.reshape(*q.shape[:-1], -1)
