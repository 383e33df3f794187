"""The rows of a bounded-error problem by blocks, in units in which verified products neither over- nor underflow."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ldexp

import numpy as np

from gough.core.arrays import Array
from gough.core.intervals import Interval
from gough.core.midrad import TINY, upward
from gough.noise import Bounded
from gough.problem import Integers, LinearProblem
from gough.region import Box


@dataclass(frozen=True, eq=False)
class Rows:
    """A block of scaled rows: |y − W' θ| ≤ e for some W' with |W' − W| ≤ D · lift."""

    W: Array
    y: Array
    e: Array
    D: Array


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """The problem in units, powers of two, in which no column of [W] and no measurement is much above 1.

    With `normalize`, rows are divided by the powers of two next to their bounds as well, the least bound's row by 1.
    Scaling is exact but for numbers that become subnormal; the bounds e and D grow by what these lose.
    """

    problem: LinearProblem
    noise: Bounded
    normalize: bool = False

    @cached_property
    def greatest(self) -> tuple[Array, float]:
        """The greatest magnitude or radius in each column of W, and in y."""
        W, y, D = np.zeros(len(self.problem.unknowns)), float(self.noise.radius.max()), self.noise.regressor
        for rows in self.problem.blocks():
            W = np.maximum(W, np.abs(self.problem.W[rows]).max(axis=0))
            y = max(y, float(np.abs(self.problem.y[rows]).max()))
            if D is not None:
                W = np.maximum(W, D if D.ndim == 0 else D[rows].max(axis=0))
        return W, y

    @cached_property
    def exponents(self) -> tuple[Integers, int]:
        """Of the units of each column of W, and of y."""
        exponent = np.frexp(np.append(*self.greatest))[1].astype(np.int64).clip(-1000, 1000)
        return exponent[:-1], int(exponent[-1])

    @cached_property
    def _least_exponent(self) -> int:
        e = self.noise.radius
        return int(np.frexp(np.min(e, where=e > 0, initial=self.greatest[1]))[1])

    def _weights(self, rows: slice) -> Array:
        """A power of two for each row, from 2^-20 to 1."""
        e = self.noise.radius
        if e.ndim == 0 or not self.normalize:
            return np.ones(rows.stop - rows.start)
        return np.ldexp(1.0, np.where(e[rows] > 0, self._least_exponent - np.frexp(e[rows])[1], 0).clip(-20, 0))

    @cached_property
    def norm(self) -> float:
        """About the Euclidean norm of e."""
        e = np.broadcast_to(np.ldexp(self.noise.radius, -self.exponents[1]), self.problem.y.shape)
        return float(np.sqrt(sum(np.square(e[k] * self._weights(k)).sum() for k in self.problem.blocks())))

    @cached_property
    def lift(self) -> Array:
        """(q, p): the radius of a block of W is D · lift, D of q columns. Few of them cost little."""
        D, p = self.noise.regressor, len(self.problem.unknowns)
        if D is None:
            return np.full((1, p), ldexp(TINY, 22))  # 4 TINY over the least weight
        return np.eye(p) if D.ndim else upward(D * np.ldexp(1.0, -self.exponents[0]))[None]

    def rows(self) -> Iterator[Rows]:
        """The rows, a block at a time."""
        of_W, of_y = np.ldexp(1.0, -self.exponents[0]), ldexp(1.0, -self.exponents[1])
        e, D = np.broadcast_to(self.noise.radius, self.problem.y.shape), self.noise.regressor
        for k in self.problem.blocks():
            weights = self._weights(k)
            by = of_W if (weights == 1).all() else np.multiply.outer(weights, of_W)
            radius = upward(D[k] * by) if D is not None and D.ndim else weights[:, None]
            side = of_y * weights
            yield Rows(self.problem.W[k] * by, self.problem.y[k] * side, upward(e[k] * side), radius)

    def box(self, box: Box) -> Box:
        """The box in scaled units, rounded outward."""
        return _times_power(box, self.exponents[0] - self.exponents[1])

    def unscaled(self, box: Box) -> Box:
        """A box in scaled units in those of the problem, rounded outward."""
        return _times_power(box, self.exponents[1] - self.exponents[0])


def _times_power(box: Box, exponent: Integers) -> Box:
    half = exponent // 2
    x = Interval(box.lower, box.upper) * np.ldexp(1.0, half) * np.ldexp(1.0, exponent - half)
    return Box(x.lower, x.upper)
