"""Identifiability: which unknowns the data determine.

Columns are scaled to unit length first, so that units do not decide what counts as small.
"""

from dataclasses import dataclass, field
from functools import cached_property
from math import inf

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.text import on_factors
from gough.core.threads import one_blas_thread
from gough.methods.statistical.whitening import Unweighted, triangle
from gough.problem import LinearProblem


@dataclass(frozen=True, eq=False)
class BaseParameter(ArrayValue):
    """A combination of unknowns that the data determine: `name` spells it, e.g. `I_1 + 0.3·m_4`.

    Factors in the name are rounded to 4 digits; `coefficients` has all digits.
    """

    name: str
    coefficients: Array
    """One factor per unknown of the problem."""


@dataclass(frozen=True, eq=False)
class Identifiability(ArrayValue):
    """What the rows determine: rank, condition, base parameters, and the worst-excited direction.

    `str()` states it in sentences.
    """

    names: tuple[str, ...]
    rank: int
    condition: float
    """Largest over smallest singular value of the independent columns, each scaled to unit length."""
    coefficients: Array
    """(rank, p): the unknowns in each base parameter."""
    kept: tuple[int, ...]
    """Columns of the independent set; their estimates are those of the base parameters."""
    not_identifiable: tuple[str, ...]
    """Unknowns that are not determined by themselves: without effect, or determined only in combination."""
    without_effect: tuple[str, ...]
    independent: Array = field(repr=False, compare=False)
    """The columns `kept` of a triangle R with RᵀR = WᵀW."""

    @property
    def is_full_rank(self) -> bool:
        return self.rank == len(self.names)

    @cached_property
    def base(self) -> tuple[BaseParameter, ...]:
        """The combinations that the data determine."""
        return tuple(BaseParameter(_spell(row, self.names), row) for row in self.coefficients)

    @cached_property
    @np.errstate(all="ignore")
    def weakest(self) -> str:
        """The worst-excited direction, as text: the last right singular vector, in the units of the unknowns."""
        if not self.kept:
            return "all of them: W is zero"
        norms = np.linalg.norm(self.independent, axis=0)
        norms = np.where(norms > 0, norms, 1.0)  # squares of small numbers vanish
        last = np.linalg.svd(self.independent / norms, full_matrices=False)[2][-1]
        direction = last / norms
        direction /= direction[np.abs(direction).argmax()]
        names = tuple(b.name if " " not in b.name else f"({b.name})" for b in self.base)
        matters = np.abs(last) >= 0.1
        direction = np.where(matters, direction, 0.0)
        return _spell(direction * np.sign(direction[matters][0]), names, digits=3)

    def __str__(self) -> str:
        lines = [f"Rank {self.rank} of {len(self.names)} unknowns; condition number {self.condition:.3g}."]
        combined = [b.name for b in self.base if np.count_nonzero(b.coefficients) > 1]
        if self.without_effect:
            lines.append(f"Without effect on the data: {', '.join(self.without_effect)}.")
        if combined:
            lines.append("Determined only in combination:")
            lines += [f"  {name}" for name in combined]
            lines += filter(None, [on_factors(combined)])
        lines.append(f"Worst-excited direction: {self.weakest}.")
        return "\n".join(lines)


@np.errstate(all="ignore")
@one_blas_thread()
def identifiability(problem: LinearProblem, *, rtol: float | None = None) -> Identifiability:
    """Rank, base parameters and weakest direction of a problem's regressor W, the prior left aside.

    A direction counts as not excited if its singular value is below `rtol` times the largest (default: what rounding of
    max(N, p) terms can do).

    Examples:
        >>> import gough
        >>> W = [[1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [1.0, 2.0, 3.0]]
        >>> print(identifiability(gough.LinearProblem(W, [0, 0, 0], gough.Unknowns(["m_1", "m_2", "f"]))))
        Rank 2 of 3 unknowns; condition number 2.25.
        Determined only in combination:
          m_1 + 2·m_2
        Factors in combinations are rounded to 4 digits; the computation uses all digits.
        Worst-excited direction: (m_1 + 2·m_2) − 0.447·f.
    """
    R = triangle(problem, Unweighted())[:-1, :-1]
    return analyze(R, problem.unknowns.names, n_rows=problem.n_rows, rtol=rtol)


def analyze(R: Array, names: tuple[str, ...], *, n_rows: int, rtol: float | None = None) -> Identifiability:
    """Identifiability from the triangle of W's QR factorization, or any matrix with the same RᵀR."""
    p = len(names)
    tolerance = rtol if rtol is not None else max(n_rows, p) * np.finfo(float).eps
    norms = np.linalg.norm(R, axis=0)
    seen = norms > 0
    scaled = R / np.where(seen, norms, 1.0)
    values = _singular_values(scaled)
    kept = _independent_columns(scaled, values, tolerance)
    rank = len(kept)
    coefficients = _regroup(R, norms, kept, tolerance)
    if 0 < rank < p:
        values = _singular_values(scaled[:, kept])
    involved = coefficients != 0
    alone = set(involved[involved.sum(axis=1) == 1].argmax(axis=1).tolist()) if p else set()
    return Identifiability(
        names=names,
        rank=rank,
        condition=float(values[0] / values[-1]) if rank else inf,
        coefficients=coefficients,
        kept=tuple(kept),
        not_identifiable=tuple(name for i, name in enumerate(names) if i not in alone),
        without_effect=tuple(name for i, name in enumerate(names) if not seen[i]),
        independent=R[:, kept],
    )


def _singular_values(A: Array) -> Array:
    """Largest first; zero where there is none."""
    return np.asarray(np.linalg.svd(A, compute_uv=False), dtype=np.float64) if A.size else np.zeros(1)


def _independent_columns(scaled: Array, values: Array, tolerance: float) -> list[int]:
    """The first columns that are independent of those before them, by the norm that projection leaves.

    The order of the unknowns decides which names stay [GAU91]; as many columns are kept as the rank by singular values.
    """
    p = scaled.shape[1]
    rank = int((values > tolerance * max(values[0], 1e-300)).sum())
    if rank == p:
        return list(range(p))
    basis = np.zeros((scaled.shape[0], 0))
    left = np.zeros(p)
    for j in range(p):
        rest = scaled[:, j] - basis @ (basis.T @ scaled[:, j])
        rest -= basis @ (basis.T @ rest)
        left[j] = np.linalg.norm(rest)
        if left[j] > 10 * np.sqrt(p) * tolerance:
            basis = np.column_stack([basis, rest / left[j]])
    return sorted(np.argsort(-left, kind="stable")[:rank].tolist())


def _regroup(R: Array, norms: Array, kept: list[int], tolerance: float) -> Array:
    """θ_kept + β θ_dropped, where W_dropped = W_kept β [GAU91]; factors that are rounding noise become 0."""
    p = len(norms)
    coefficients = np.eye(p)[kept]
    dropped = [j for j in range(p) if j not in kept]
    if dropped and kept:
        scaled = R[:, kept] / norms[kept]
        beta, *_ = np.linalg.lstsq(scaled, R[:, dropped], rcond=None)
        negligible = abs(beta) <= np.sqrt(tolerance) * np.maximum(norms[dropped], 1e-300)
        coefficients[:, dropped] = np.where(negligible, 0.0, beta) / norms[kept][:, None]
    return coefficients


def _spell(factors: Array, names: tuple[str, ...], digits: int = 4) -> str:
    """A linear combination as text, in the order of the unknowns: `I_1 + 0.3·m_4 − 2·m_5`."""
    text = ""
    for k in np.flatnonzero(factors):
        factor, name = factors[k], names[k]
        size = f"{abs(factor):.{digits}g}"
        term = name if size == "1" else f"{size}·{name}"
        sign = "−" if factor < 0 else "+"
        text += f" {sign} {term}" if text else (f"−{term}" if factor < 0 else term)
    return text
