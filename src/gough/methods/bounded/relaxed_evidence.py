"""Which of the many cuts that a search has seen are needed to prove what it found."""

from collections.abc import Iterable

import numpy as np

from gough.core.covers import TooManyCases, cover
from gough.evidence import Evidence, RelaxedSide
from gough.methods.bounded.exact_bound import evidence
from gough.methods.bounded.relaxed_programs import Cut, Rows

_CASES = 20_000
"""Cases to look into for one side; a search that ends earlier proves with less."""


class Ledger:
    """Sides of a relaxed hull with the cuts that prove them, few of all that were seen.

    A side is proven if no q rows meet all cuts that prove it: a θ that violates at most q rows satisfies all rows of
    some cut then.
    """

    def __init__(self, q: int, contradictions: Iterable[Evidence]) -> None:
        self._q = q
        self._shared: dict[Rows, Evidence] = {
            frozenset(row for row, w in zip(one.rows, one.weights, strict=True) if w != "0"): one
            for one in contradictions
        }
        self._needed = set[Rows]()
        self._sides: list[RelaxedSide] = []
        self._complete = True

    def contradictions_of_the_prior(self, cuts: Iterable[Cut]) -> None:
        """Cuts that no θ of the prior satisfies: they serve every side."""
        for cut in cuts:
            if cut.value == np.inf:
                self._shared.setdefault(cut.rows, evidence((), (), cut.multipliers))

    def side(self, name: str, factor: float, value: float, cuts: Iterable[Cut]) -> None:
        """Enter factor · θ[name] ≥ value; a value of ∞ says that there is no such θ."""
        if not self._complete:
            return  # a proof of some sides only would not be shown
        own = {cut.rows: cut for cut in cuts if cut.value >= value}
        sets = [*self._shared, *(rows for rows in own if rows not in self._shared)]
        needed = self._minimal(sets)
        if needed is None:
            self._complete = False
            return
        self._needed |= needed & set(self._shared)
        used = [own[rows] for rows in sets if rows in needed and rows not in self._shared]
        shown = [(cut.value == np.inf, evidence((), (), cut.multipliers)) for cut in used]
        proves, refutes = (tuple(one for empty, one in shown if empty is wanted) for wanted in (False, True))
        names, factors = ((name,), (factor,)) if value < np.inf else ((), ())
        self._sides.append(RelaxedSide(names, factors, min(value, 1.0) if not names else value, proves, refutes))

    def _minimal(self, sets: list[Rows]) -> set[Rows] | None:
        """Those of the sets that are needed, nearly; None if it cannot be seen that no q rows meet them all."""
        while True:
            try:
                found = cover(sets, self._q, limit=_CASES)
            except TooManyCases:
                return None
            if found.elements is not None:
                return None
            if len(found.used) == len(sets):
                return set(sets)
            sets = [sets[i] for i in sorted(found.used)]

    @property
    def contradictions(self) -> tuple[Evidence, ...]:
        """Those of the prior that some side needs."""
        return tuple(one for rows, one in self._shared.items() if rows in self._needed) if self._complete else ()

    @property
    def sides(self) -> tuple[RelaxedSide, ...]:
        """All sides in their order; none if the proof of one of them is missing."""
        return tuple(self._sides) if self._complete else ()
