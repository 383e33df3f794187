"""Closed loops for many samples at once: Newton's method with step control, on one side of the singularities."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, Mask
from gough.kernels import Kernel
from gough.robots._newton import NewtonSearch, NewtonStep

FEW = 400
"""Up to so many samples are replayed in NumPy, in milliseconds: a compiler takes seconds."""


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

    def solve(self, values: Array, start: Array, *, is_patient: bool = False) -> tuple[Array, Mask]:
        """Coordinates (N, n) for known values (N, k), from one start (n,) or one each, and which samples failed.

        A sample with a NaN has NaN in all coordinates, and does not fail. Unless `is_patient`, nothing more is
        computed once some samples have failed for good.
        """
        first = np.where(np.isnan(values).any(axis=1, keepdims=True), np.nan, start)
        return _Descent(self, is_compiled=len(values) > FEW).solve(values, first, is_patient=is_patient)

    def follow(self, values: Array, start: Array) -> tuple[Array, Mask]:
        """Coordinates (D, T, n) along D ways of known values (D, T, k), each from where the last led; NaN once lost."""
        descent = _Descent(self, is_compiled=False)
        s = np.full((*values.shape[:2], len(start)), np.nan)
        lost = np.zeros(values.shape[:2], dtype=np.bool_)
        now, going = np.tile(start, (len(values), 1)), np.arange(len(values))
        for t in range(values.shape[1]):
            now[going], failed = descent.descend(values[going, t], now[going])
            going = going[~failed]
            s[going, t] = now[going]
            lost[np.setdiff1d(np.arange(len(values)), going), t] = True
        return s, lost


@dataclass(frozen=True, eq=False)
class _Descent(NewtonSearch):
    """Newton's method in all coordinates; no step is longer than the mechanism or a radian."""

    of: Search
    is_compiled: bool

    PIECES = (8, 50)
    IS_STRICT = True  # kernels of mechanisms are large: a sample that is lost is not followed further

    def newton(self, x: Array, values: Array) -> NewtonStep:
        del values
        result = self.of.newton.evaluate(x) if self.is_compiled else self.of.newton.replay(x)
        return NewtonStep(result["step"].reshape(x.shape), result["error"], result["side"] * self.of.side > 0)

    def away(self, x: Array, values: Array) -> Array:
        return values - x[:, self.of.known]

    def entered(self, start: Array, values: Array) -> Array:
        x = start.copy()
        x[:, self.of.known] = values
        return x

    def limited(self, step: Array) -> tuple[Array, Array]:
        length = np.abs(step / self.of.scale).max(axis=1)
        return length, step / np.maximum(length, 1.0)[:, None]
