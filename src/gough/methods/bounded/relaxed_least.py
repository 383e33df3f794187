"""The least value of a direction with q rows dropped, found by a compiled search and proven by its cuts."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.methods.bounded.relaxed_programs import NO_ROWS, Cut, Programs, RowSet, Single, Solved
from gough.methods.programs.simplex import Start

_FINEST = 1e-10
"""Difference of values, in units of the box, that floating point does not resolve."""


Case = tuple[RowSet, RowSet]
"""Rows that are dropped, and rows that are kept."""
Needed = Callable[[Iterable[RowSet]], set[RowSet] | None]
"""Of some sets of rows, few that no q rows meet."""
Found = tuple[float, list[Cut], set[RowSet] | None]
"""A value, the cuts that prove it, and what is needed if others were left out."""


def least(  # noqa: PLR0917
    programs: Programs,
    direction: Array,
    cases: list[Case],
    q: int,
    gap: float,
    limits: tuple[int, int],
    needed: Needed,
) -> Found | None:
    """The least value with q rows dropped, over some cases, the cuts that prove it, and which sets of rows are needed.

    Of the cuts that the search rests on, those are proven whose rows are `needed`; all of them where that is None.
    None where the compiled search gives up: nodes and programs beyond the limits, or what floating point misses.
    """
    search = _Search(programs, direction, gap, limits)
    open_cases = [(dropped, kept) for dropped, kept in cases if len(dropped) <= q]
    programs.switch(NO_ROWS)
    for dropped, kept in open_cases:
        named = np.array(sorted(dropped | kept), dtype=np.int64)
        programs.add(named[programs.outside[named]])
    if not all(search.is_done(q, *case) for case in open_cases):
        return None
    return search.proven(needed)


class _Search:
    """One compiled search, with room for what it finds."""

    def __init__(self, programs: Programs, direction: Array, gap: float, limits: tuple[int, int]) -> None:
        from gough.methods.bounded import relaxed_search  # noqa: PLC0415 - numba

        self._programs, self._direction = programs, direction
        self._kernel: Any = relaxed_search
        self._cost, self._size = programs.scaled_cost(direction)
        self._least = np.array([np.inf, max(gap / self._size, _FINEST)])
        self._left = np.array(limits)
        self._cuts = self._room(256, 1)

    def _room(self, capacity: int, words: int) -> Any:
        n = len(self._cost)
        whole, real = np.zeros((2, capacity, n + 1), dtype=np.int64), np.zeros((3, capacity, n + 1))
        value, size = np.full(capacity, -np.inf), np.zeros((2, capacity), dtype=np.int64)
        basis, sign, side = whole[1, :, :n].copy(), real[1, :, :n].copy(), real[2, :, :n].copy()
        number, order = np.zeros(1, dtype=np.int64), np.zeros(capacity, dtype=np.int64)
        bits = np.zeros((capacity, words), dtype=np.uint64)
        return self._kernel.Cuts(whole[0], real[0], bits, size[0], value, size[1], basis, sign, side, number, order)

    def _grow(self, capacity: int, words: int) -> None:
        before, after = self._cuts, self._room(capacity, words)
        for old, new in zip(before, after, strict=True):
            new[(slice(len(old)), *map(slice, old.shape[1:]))] = old
        self._cuts = after

    def is_done(self, q: int, dropped: RowSet, kept: RowSet) -> bool:
        """Look into all sets of at most q dropped rows that have the `dropped` and not the `kept`."""
        programs, kernel = self._programs, self._kernel
        start = programs.cut(self._direction, dropped).start
        if start is None or not np.isfinite(self._size):
            return False
        programs.switch(NO_ROWS)
        first = self._begin(start)
        while True:
            outline = programs.outline
            if outline is None:
                return False
            others = kernel.Others(outline.A, outline.middle, outline.half, programs.tolerance)
            tableau, m = programs.simplex.tableau
            if m > 64 * self._cuts.bits.shape[1]:
                self._grow(len(self._cuts.size), -(-m // 64) + 1)
            state = self._state(m, dropped, kept)
            status = kernel.search(tableau, m, self._cost, others, q - len(dropped), first, self._cuts, state)
            if status == kernel.MORE_ROWS:
                rows = programs.violated(tableau.x.copy(), NO_ROWS)
                if not rows.size:
                    return False
                programs.add(rows)
            elif status == kernel.MORE_ROOM:
                self._grow(2 * len(self._cuts.size), self._cuts.bits.shape[1])
            else:
                return bool(status == kernel.DONE)

    def _begin(self, start: Start) -> int:
        """The place of a cut that says nothing and has a vertex to begin with."""
        cuts = self._cuts
        place = int(cuts.number[0])
        if place == len(cuts.size):
            self._grow(2 * place, cuts.bits.shape[1])
            cuts = self._cuts
        cuts.basis[place], cuts.sign[place], cuts.side[place] = start.basis, start.sign, start.value
        cuts.value[place], cuts.size[place], cuts.number[0] = -np.inf, 0, place + 1
        cuts.order[place] = place
        return place

    def _state(self, m: int, dropped: RowSet, kept: RowSet) -> Any:
        flags = np.zeros((3, m), dtype=np.int16)
        for flag, rows in zip(flags, (dropped, kept), strict=False):
            flag[[self._programs.column(row) for row in rows]] = 1
        away = np.zeros(self._cuts.bits.shape[1], dtype=np.uint64)
        for k in flags[0].nonzero()[0].tolist():
            away[k // 64] |= np.uint64(1 << (k % 64))
        changed, sides = np.empty(m, dtype=np.int64), np.empty((2, m))
        return self._kernel.State(self._least, *flags, away, changed, sides, self._left)

    def proven(
        self, needed: Callable[[Iterable[RowSet]], set[RowSet] | None]
    ) -> tuple[float, list[Cut], set[RowSet] | None] | None:
        """The least proven value of the cuts that the search rests on; None if that is less than it should be."""
        programs, cuts, n = self._programs, self._cuts, len(self._cost)
        count = int(cuts.number[0])
        order = cuts.order[:count][::-1]  # those that served last come first, as in the search
        used = order[cuts.used[order] > 0]
        if not (used.size and programs.pool.size):
            return None
        has_weight = np.arange(n + 1) < cuts.size[used, None]
        rows = programs.pool[np.where(has_weight, cuts.rows[used], n) - n]
        sets = [frozenset(some[:size]) for some, size in zip(rows.tolist(), cuts.size[used].tolist(), strict=True)]
        few = needed(sets)
        if few is not None:
            wanted = np.array([one in few for one in sets])
            used, rows, has_weight = used[wanted], rows[wanted], has_weight[wanted]
        weights = np.where(has_weight, cuts.weights[used], 0.0) / programs.strips.length[rows]
        finite = np.isfinite(cuts.value[used])
        floors = programs.prover.floors(programs.box, self._direction, rows[finite], self._size * weights[finite])
        source = Solved(self._cost, None, [], floors)
        result = [Cut(value, floors.support(i), source, i) for i, value in enumerate(floors.values)]
        for some, factors in zip(rows[~finite], weights[~finite], strict=True):
            wrong = programs.contradiction(some[factors != 0], factors[factors != 0])
            if wrong is None:
                return None
            result.append(Cut(np.inf, wrong.support, Single(wrong)))
        value = min((cut.value for cut in result), default=np.inf)
        reached = cuts.value[used][finite] <= self._least[0]
        lowest = np.array(floors.values)[reached].min(initial=np.inf)
        room = 2 * self._size * self._least[1]
        return (value, result, few) if value >= lowest - room else None
