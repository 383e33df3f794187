"""Sparse linear systems of expressions, solved by Householder reflections: no pivot can vanish by chance.

Zeros that hold for every value of the inputs are never computed with. The order of the columns is chosen so that few
entries arise that were zero. Elimination without pivots would lose digits wherever a pivot happens to be small;
reflections are backward stable in any order [HIG02, §19.3].
"""

from dataclasses import dataclass
from typing import Any

from gough.kernels.expression import Expression, copysign, is_zero, matrix, note_solve, sqrt, vector

Sparse = dict[int, Any]
"""A row: its entries that are not always zero, by their columns."""


@dataclass(frozen=True)
class _Reflection:
    """I - v uᵀ on some rows."""

    rows: tuple[int, ...]
    v: tuple[Any, ...]
    u: tuple[Any, ...]

    def apply(self, entries: Sparse) -> None:
        """Reflect a column in place."""
        reflected = [(row, v, u) for row, v, u in zip(self.rows, self.v, self.u, strict=True)]
        parts = [u * entries[row] for row, _, u in reflected if row in entries]
        if not parts:
            return
        t = sum(parts[1:], parts[0])
        for row, v, _ in reflected:
            entries[row] = entries[row] - v * t if row in entries else -v * t


class Elimination:
    """A square matrix of expressions, taken apart once, for several right-hand sides.

    Examples:
        >>> from gough.kernels import trace
        >>> A = matrix(vector(2.0, 0.0), vector(1.0, 4.0))
        >>> trace(lambda b: Elimination(A).solve(b), name="solved", inputs={"b": 2})([3.0, 8.0])
        array([0.5, 2. ])
    """

    def __init__(self, A: Expression) -> None:
        """Reflect one column after the other, with all rows in which it has an entry."""
        self.n: int = A.shape[0]
        note_solve(f"solve of a {self.n}x{self.n} system")
        rows: list[Sparse] = [{j: A[i, j] for j in range(self.n) if not is_zero(A[i, j])} for i in range(self.n)]
        self._reflections: list[_Reflection] = []
        self._pivots: list[tuple[int, int]] = []
        self._signs: list[Any] = []
        left = set(range(self.n))
        todo = set(range(self.n))
        while todo:
            column = min(sorted(todo), key=lambda j: _effort(j, [rows[i] for i in sorted(left)]))
            involved = tuple(i for i in sorted(left) if column in rows[i])
            if not involved:
                raise ArithmeticError(f"column {column} of the matrix is always zero, or follows from others")
            self._eliminate(rows, involved, column)
            left.remove(involved[0])
            todo.remove(column)
        self._rows = rows

    def _eliminate(self, rows: list[Sparse], involved: tuple[int, ...], column: int) -> None:
        first = involved[0]
        head = rows[first][column]
        self._signs.append(head)
        self._pivots.append((first, column))
        if len(involved) == 1:
            return
        entries = [rows[i][column] for i in involved]
        squared = sum((e * e for e in entries[1:]), entries[0] * entries[0])
        size = sqrt(squared)
        pivot = -copysign(size, head)
        v = (head - pivot, *entries[1:])
        scale = 1 / (squared - head * pivot)
        reflection = _Reflection(involved, v, tuple(x * scale for x in v))
        self._reflections.append(reflection)
        for j in sorted({j for i in involved for j in rows[i]} - {column}):
            entry = {i: rows[i][j] for i in involved if j in rows[i]}
            reflection.apply(entry)
            for i, value in entry.items():
                rows[i][j] = value
        for i in involved[1:]:
            del rows[i][column]
        rows[first][column] = pivot

    def solve(self, B: Expression) -> Expression:
        """A⁻¹ B, column by column."""
        columns = [self._solved({i: B[i, k] for i in range(self.n) if not is_zero(B[i, k])}) for k in range(B.shape[1])]
        return matrix(*(vector(*(column.get(i, 0.0) for i in range(self.n))) for column in columns))

    def _solved(self, entries: Sparse) -> Sparse:
        for reflection in self._reflections:
            reflection.apply(entries)
        return self._back(entries)

    def _back(self, entries: Sparse) -> Sparse:
        """R x = entries, from the last column that was eliminated to the first."""
        x: Sparse = {}
        for row, column in reversed(self._pivots):
            terms = [-(self._rows[row][j] * x[j]) for j in self._rows[row] if j != column and j in x]
            if row in entries:
                terms.insert(0, entries[row])
            if terms:
                x[column] = sum(terms[1:], terms[0]) / self._rows[row][column]
        return x

    @property
    def determinant_sign(self) -> Expression:
        """Positive or negative with the determinant, up to a sign that is always the same; its size means nothing.

        It is the product of the entries ahead of each reflection, whose sign a reflection to the opposite side keeps.
        """
        product = self._signs[0]
        for head in self._signs[1:]:
            product = copysign(1.0, product) * head
        return product

    def closeness(self) -> Expression:
        """1 / ‖A⁻¹‖, ‖·‖ the root of the sum of squares. Reflections change no length, so that it is 1 / ‖R⁻¹‖.

        It lies between σ/√n and σ, the distance to the nearest singular matrix [GVL13, §2.4].
        """
        total: Any = 0.0
        for row, _ in self._pivots:
            for value in self._back({row: vector(1.0)}).values():
                total = total + value * value
        return 1 / sqrt(total)


def _effort(column: int, rows: list[Sparse]) -> tuple[int, int]:
    """About how many entries a reflection for this column changes."""
    involved = [row for row in rows if column in row]
    return len(involved) * len({j for row in involved for j in row}), len(involved)
