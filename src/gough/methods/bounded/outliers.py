"""Rows that cannot all be within their bounds: how many at least, and which ones for certain."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.errors import require
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, proof
from gough.evidence import Evidence
from gough.methods.bounded.exact_bound import Multipliers, evidence, rounded_down
from gough.methods.bounded.relaxed_programs import NO_ROWS, Programs, RowSet, robust_strips
from gough.methods.bounded.strips import Strips
from gough.problem import LinearProblem

_TOLERANCE = 1e-9
_PER_UNKNOWN = 10
_ROUNDS = 50


@dataclass(frozen=True)
class Outliers:
    """Outliers (rows whose error exceeds its bound) that contradictions among the rows prove.

    Each contradiction in `evidence` is a set of rows that no θ of the prior satisfies together. They share no row, so
    every θ violates at least one row of each: at least `at_least` rows violate their bound. The data do not decide
    whether the bound or the measurement is wrong.

    Examples:
        >>> import gough
        >>> y = [0.1, -0.2, 9.0, 0.3, 0.0]
        >>> problem = gough.LinearProblem([[1.0]] * 5, y, gough.Unknowns(["a"]), gough.Bounded(1.0))
        >>> print(outliers(problem))
        At least 1 of 5 rows violates its bound.
        If no more than 1 does, row 2 does for certain.
    """

    n_rows: int
    q: int
    """Largest number of outliers that `proven` assumes."""
    evidence: tuple[Evidence, ...]
    """Contradictions that share no row."""
    proven: tuple[int, ...]
    """Rows, counted from 0, that every θ violates which violates at most q rows."""
    proofs: tuple[tuple[Evidence, ...], ...]
    """For each proven row, more contradictions: with `evidence` they make more than q, and share that row only."""
    suspects: tuple[int, ...]
    """Rows that are violated near the middle of the others, the worst first; not proven."""
    claim: Claim = Claim.PROOF
    """PROOF, or ENCLOSURE where the processor does not compute by IEEE 754."""

    @property
    def at_least(self) -> int:
        """Every θ of the prior violates at least so many rows."""
        return len(self.evidence)

    def __str__(self) -> str:
        m = self.at_least
        if m == 0:
            return f"Nothing proves that any of the {self.n_rows} rows violates its bound."
        text = f"At least {m} of {self.n_rows} rows {'violates its' if m == 1 else 'violate their'} bound."
        if m > self.q:
            return f"{text}\nThat is more than the {self.q} allowed."
        if not self.proven:
            return f"{text}\nWhich ones is not proven."
        which = ", ".join(map(str, self.proven))
        rows = f"row {which} does" if len(self.proven) == 1 else f"rows {which} do"
        return f"{text}\nIf no more than {self.q} {'does' if self.q == 1 else 'do'}, {rows} for certain."


@np.errstate(all="ignore")
@one_blas_thread()
def outliers(problem: LinearProblem, q: int | None = None) -> Outliers:
    """The least number of rows of |y − W θ| ≤ e that every θ of the prior violates, and which rows are proven to be.

    Constraint: the rows, of which at most q may be violated; q is the proven minimum if it is not given. Kept: every
    θ; nothing is estimated. Does nothing, and says so, where the rows contradict each other nowhere. Idempotent.

    Rows that are violated where the sum of violations is smallest are suspects. A suspect j whose strip is missed by
    all θ that satisfy some p other rows makes a contradiction with them; contradictions that share no row are counted
    [CHI08]. With more than q of them that share nothing but j, j itself must be violated. Each one is proven in exact
    arithmetic by multipliers; finding few proves nothing about the absence of outliers.

    Raises:
        AssumptionError: the problem states no bounds.

    Examples:
        >>> import gough
        >>> y = [0.1, -0.2, 9.0, 0.3, 0.0]
        >>> problem = gough.LinearProblem([[1.0]] * 5, y, gough.Unknowns(["a"]), gough.Bounded(1.0))
        >>> wrong = outliers(problem)
        >>> wrong.at_least, wrong.proven, len(wrong.evidence[0].rows)
        (1, (2,), 2)
    """
    require(q is None or _is_count(q), f"q is a number of rows, 0 or more, but it is {q!r}")
    box = problem.unknowns.bounds
    strips = robust_strips(problem, box, "outliers")
    suspects, signs = _suspects(strips, _least_violation(strips, *strips.box(box)))
    search = _Contradictions(Programs(problem, box, strips, _TOLERANCE), dict(zip(suspects, signs, strict=True)))
    search.count()
    limit = len(search.contradictions) if q is None else q
    proofs = dict(search.proofs(limit))
    return Outliers(
        problem.n_rows,
        limit,
        tuple(evidence((), (), used) for _, used in search.contradictions),
        tuple(sorted(proofs)),
        tuple(proofs[row] for row in sorted(proofs)),
        tuple(suspects),
        proof(),
    )


def _is_count(q: object) -> bool:
    return isinstance(q, int | np.integer) and not isinstance(q, bool) and int(q) >= 0


class _Contradictions:
    """Contradictions, found one after the other."""

    def __init__(self, programs: Programs, suspects: dict[int, float]) -> None:
        self._programs = programs
        self._suspects = suspects
        self.contradictions: list[tuple[int | None, Multipliers]] = []
        """The suspect of each contradiction, if any, and the proof."""

    def count(self) -> None:
        """Contradictions that share no row: one for each suspect, then others while there are any."""
        used = NO_ROWS
        for row in self._suspects:
            if row in used:
                continue
            wrong = self._against(row, used)
            if wrong is not None:
                self.contradictions.append((row, wrong))
                used |= set(wrong.rows)
        while True:
            cut = self._programs.cut(np.zeros(len(self._programs.box)), used)
            if cut.value < np.inf or not cut.rows:
                return
            self.contradictions.append((None, cut.multipliers))
            used |= set(cut.multipliers.rows)

    def proofs(self, q: int) -> Iterator[tuple[int, tuple[Evidence, ...]]]:
        """Suspects that are violated if at most q rows are, each with the contradictions that `found` lacks."""
        missing = q + 1 - len(self.contradictions)
        if missing <= 0:
            return  # no θ violates so few rows: nothing is left to be said about it
        shared = frozenset(row for _, used in self.contradictions for row in used.rows)
        for suspect, first in self.contradictions:
            if suspect is None:
                continue
            taken, more = shared, list[Multipliers]()
            if set(first.rows) == {suspect}:  # the row contradicts the prior alone
                yield suspect, ()
                continue
            while len(more) < missing:
                wrong = self._against(suspect, taken)
                if wrong is None:
                    break
                more.append(wrong)
                taken |= set(wrong.rows)
            else:
                yield suspect, tuple(evidence((), (), used) for used in more)

    def _against(self, row: int, used: RowSet) -> Multipliers | None:
        """A contradiction of this suspect with rows that are neither suspects nor used."""
        problem, sign = self._programs.problem, self._suspects[row]
        without = used.union(self._suspects)
        cut = self._programs.cut(-sign * problem.W[row], without)
        if not np.isfinite(cut.value):
            return None
        rows = np.array([row, *cut.multipliers.rows], dtype=np.int64)
        weights = np.array([sign, *map(rounded_down, cut.multipliers.weights)])  # infinite beyond all doubles: unused
        return self._programs.contradiction(rows, weights)


def _least_violation(strips: Strips, lower: Array, upper: Array) -> Array:
    """The z at which the sum of all violations is smallest, of rows that are found to matter. A proposal, no more."""
    from scipy.optimize import linprog  # noqa: PLC0415 - start-up time
    from scipy.sparse import csr_array, eye_array, hstack, vstack  # noqa: PLC0415 - start-up time

    n_rows, p = strips.problem.W.shape
    wanted = _PER_UNKNOWN * p
    pool = np.unique(np.linspace(0, n_rows - 1, min(n_rows, wanted)).astype(np.int64))
    z = np.zeros(p)
    for _ in range(_ROUNDS):
        A, low, high = strips.rows(pool)
        known = np.isfinite(low) & np.isfinite(high)
        pool, A, low, high = pool[known], A[known], low[known], high[known]
        if not len(pool):
            return z
        slack = -eye_array(len(pool))
        sides = vstack([hstack([csr_array(A), slack]), hstack([csr_array(-A), slack])])
        cost = np.concatenate([np.zeros(p), np.ones(len(pool))])
        limits = np.vstack([np.column_stack([lower, upper]), np.tile([0.0, np.inf], (len(pool), 1))])
        answer = linprog(cost, sides, np.concatenate([high, -low]), bounds=limits, method="highs")
        if answer.x is None or not np.isfinite(answer.x).all():
            return z
        z = np.asarray(answer.x[:p])
        excess = strips.excess(z[None, :])
        excess[pool] = 0.0
        worst = np.argsort(-excess, kind="stable")[:wanted]
        worst = worst[excess[worst] > _TOLERANCE]
        if worst.size == 0:
            return z
        pool = np.sort(np.concatenate([pool, worst]))
    return z


def _suspects(strips: Strips, z: Array) -> tuple[list[int], list[float]]:
    """Rows that z violates, the worst first, and on which side y lies."""
    excess = strips.excess(z[None, :])
    index: Integers = np.flatnonzero(excess > 1e-7)
    index = index[np.argsort(-excess[index], kind="stable")]
    residual = strips.middle[index] - strips.problem.W[index] @ (strips.scale * z)
    return index.tolist(), np.where(residual > 0, 1.0, -1.0).tolist()
