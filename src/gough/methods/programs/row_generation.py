"""Constraint generation: a linear program begins with some of its rows and gains those that its vertices violate."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from itertools import count

import numpy as np

from gough.core.arrays import Array, Integers
from gough.methods.programs.simplex import Optimum, Outcome, Simplex, Start


class GeneratedProgram(ABC):
    """A linear program over x in a box and many rows, of which the simplex method holds a pool.

    Examples:
        >>> class Ceilings(GeneratedProgram):  # 0 ≤ x ≤ 3, x ≤ 2, x ≤ 5
        ...     sides = np.array([3.0, 2.0, 5.0])
        ...
        ...     def rows(self, numbers):
        ...         return np.ones((len(numbers), 1)), np.zeros(len(numbers)), self.sides[numbers]
        ...
        ...     def violated(self, point):
        ...         return np.flatnonzero(self.outside & (point[0] > self.sides))
        >>> program = Ceilings(np.zeros(1), np.full(1, 9.0), 3)
        >>> program.add(np.array([0]))
        >>> program.minimize(np.array([-1.0]), program.violated).point, program.pool
        (array([2.]), array([0, 1]))
    """

    def __init__(self, lower: Array, upper: Array, n_rows: int) -> None:
        self.simplex = Simplex(lower, upper)
        self.pool = np.zeros(0, dtype=np.int64)
        """Numbers of the rows that the simplex method holds, in the order in which they were added."""
        self.outside = np.ones(n_rows, dtype=bool)
        """Mask of the rows that it does not hold."""

    @abstractmethod
    def rows(self, numbers: Integers) -> tuple[Array, Array, Array]:
        """A, lower and upper of lower ≤ A x ≤ upper; several rows for each number if a constraint needs them."""

    def add(self, numbers: Integers) -> None:
        """Add rows to the pool."""
        if numbers.size:
            self.simplex.add_rows(*self.rows(numbers))
        self.outside[numbers] = False
        self.pool = np.concatenate([self.pool, numbers])

    def minimize(
        self,
        cost: Array,
        violated: Callable[[Array], Integers],
        start: Start | None = None,
        *,
        max_rounds: int | None = None,
    ) -> Optimum:
        """The optimum for this cost; `violated` names rows to add for a vertex, and none where it holds."""
        optimum = self.simplex.minimize(cost, start)
        for _ in count() if max_rounds is None else range(max_rounds):
            if optimum.outcome is not Outcome.OPTIMAL:
                break
            numbers = violated(optimum.point)
            if numbers.size == 0:
                break
            self.add(numbers)
            optimum = self.simplex.minimize(cost, optimum.start)
        return optimum
