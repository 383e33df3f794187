"""The search for the least value of a linear program that may drop q rows, compiled by numba; imports numba.

A cut is a bound that some rows prove: no program that keeps those rows is below it. A set of dropped rows with b more
to drop is refuted by b + 1 cuts, none below the threshold, that share no row but kept ones, for one of them keeps all
its rows. Else every row of one cut is dropped in turn; those that were dropped before are kept. Cuts of one branch
serve all others. The threshold is the least value that some q rows gave so far.

Nothing here is trusted: what is returned are the cuts that the search rests on; they are proven elsewhere, exactly, and
the least of their proven values is the answer.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array, Integers
from gough.core.compiled_kernels import compiled_loosely as compiled
from gough.methods.programs.compiled_algebra import dot
from gough.methods.programs.dense_simplex import FAILED as GAVE_UP
from gough.methods.programs.dense_simplex import FRESH, INFEASIBLE, OPTIMAL, Tableau, minimize

DONE, MORE_ROWS, MORE_ROOM, STOPPED, FAILED = 0, 1, 2, 3, 4
_TINY = 1e-11
"""Weights below this part of the largest count as zero."""
_DOUBTFUL = 1e-7
"""Contradictions by less may come from rounding."""
_RECENT = 200
"""Cuts among which a program without a good vertex to begin with looks for one."""
_PRUNED = -1

Flags = npt.NDArray[np.int16]
Words = npt.NDArray[np.uint64]


class Cuts(NamedTuple):
    """Cuts that were found; rows are columns of the tableau."""

    rows: Integers
    """(capacity, n + 1), of which `size` are used."""
    weights: Array
    bits: Words
    """(capacity, words): the rows as bits; there is room for all rows of the tableau."""
    size: Integers
    value: Array
    """In units of the cost; ∞ for a contradiction."""
    used: Integers
    """1 where the search rests on a cut."""
    basis: Integers
    """(capacity, n), as the fields below: the vertex of the cut."""
    sign: Array
    side: Array
    number: Integers
    """(1,): how many there are."""
    order: Integers
    """(capacity,): the cuts in the order in which they are tried, from the end; those that served last are there."""


class Others(NamedTuple):
    """Rows |A z − middle| ≤ half that the tableau does not hold."""

    A: Array
    middle: Array
    half: Array
    tolerance: float


class State(NamedTuple):
    """Where the search is."""

    least: Array
    """(2,): the least value that was reached, and by how much less does not count."""
    dropped: Flags
    """(rows of the tableau,): 1 where a row is dropped, as the fields below."""
    kept: Flags
    marked: Flags
    """Rows of the cuts that are being gathered."""
    away: Words
    """Rows that are dropped or marked, as bits."""
    changed: Integers
    """Rows whose sides are away."""
    sides: Array
    """(2, …): their sides."""
    left: Integers
    """(2,): nodes and programs that may still be looked at."""


@compiled
def solve(T: Tableau, m: int, cost: Array, near: int, cuts: Cuts, state: State, enough: float) -> tuple[int, int]:  # noqa: PLR0917
    """The program without dropped and marked rows, from the vertex of a cut."""
    count, n = 0, len(cost)
    for k in range(n, m):
        if state.dropped[k] or state.marked[k]:
            state.changed[count] = k
            state.sides[0, count], state.sides[1, count] = T.lower[k], T.upper[k]
            T.lower[k], T.upper[k] = -np.inf, np.inf
            count += 1
    T.basis[:], T.sign[:], T.value[:], T.age[0] = cuts.basis[near], cuts.sign[near], cuts.side[near], FRESH
    outcome, row = minimize(T, m, cost, cost, 50 * (n + 10) + m, enough)
    if outcome == INFEASIBLE:
        missed = max(T.lower[row] - T.reach[row], T.reach[row] - T.upper[row])
        if missed < _DOUBTFUL:
            outcome = GAVE_UP
        for i in range(n):
            k = T.basis[i]
            if abs(T.alpha[i]) > 1e-9 and T.lower[k] == -np.inf and T.upper[k] == np.inf:
                outcome = GAVE_UP  # it rests on a row that is dropped by now
    for i in range(count):
        T.lower[state.changed[i]], T.upper[state.changed[i]] = state.sides[0, i], state.sides[1, i]
    state.left[1] -= 1
    return outcome, row


@compiled
def enter(T: Tableau, cost: Array, outcome: int, row: int, cuts: Cuts, state: State) -> int:  # noqa: PLR0917
    """The cut of the program that was solved last; −1 if it rests on a dropped row."""
    c, n, size, most = cuts.number[0], len(cost), 0, 0.0
    for i in range(n):
        weight = T.price[i] if outcome == OPTIMAL else -T.alpha[i]
        if T.basis[i] >= n:
            most = max(most, abs(weight))
    floor = _TINY * most if outcome == OPTIMAL else 1e-9
    for i in range(n):
        weight, k = (T.price[i] if outcome == OPTIMAL else -T.alpha[i]), T.basis[i]
        if k >= n and abs(weight) > floor:
            if state.dropped[k] or state.marked[k]:
                return -1
            cuts.rows[c, size], cuts.weights[c, size] = k, weight
            size += 1
    if outcome == INFEASIBLE and row >= n:
        cuts.rows[c, size], cuts.weights[c, size] = row, 1.0
        size += 1
    cuts.size[c], cuts.used[c], cuts.bits[c] = size, 0, 0
    for i in range(size):
        turn(cuts.bits[c], cuts.rows[c, i])
    cuts.value[c] = dot(T.x, cost) if outcome == OPTIMAL else np.inf
    cuts.basis[c], cuts.sign[c], cuts.side[c] = T.basis, T.sign, T.value
    cuts.order[c] = c
    cuts.number[0] = c + 1
    return c


@compiled
def violates(point: Array, others: Others) -> bool:
    """Whether a point is outside some row that the tableau does not hold."""
    for k in range(len(others.half)):
        if abs(dot(others.A[k], point) - others.middle[k]) - others.half[k] > others.tolerance:
            return True
    return False


@compiled
def is_apart(c: int, cuts: Cuts, state: State) -> bool:
    """Whether a cut has none of the dropped and marked rows."""
    for w in range(len(state.away)):  # noqa: SIM110 - numba has no generators
        if cuts.bits[c, w] & state.away[w]:
            return False
    return True


@compiled
def turn(bits: Words, k: int) -> None:
    """Turn bit k."""
    bits[k >> 6] ^= np.uint64(1) << np.uint64(k & 63)


@compiled
def below(cuts: Cuts, state: State) -> int:
    """The best of the cuts below the threshold that have no dropped and marked row; −1 if there is none."""
    best, most, limit = -1, -np.inf, state.least[0] - state.least[1]
    for c in range(cuts.number[0]):
        if most < cuts.value[c] < limit and is_apart(c, cuts, state):
            best, most = c, cuts.value[c]
    return best


@compiled
def drop(k: int, state: State, by: int) -> None:
    """Drop a row, or take it back."""
    state.dropped[k] += by
    turn(state.away, k)


@compiled
def nearest(cuts: Cuts, state: State) -> int:
    """Of the bounds that served last, the one that has the fewest dropped and marked rows; −1 if there is none."""
    best, least, last = -1, 1 << 30, cuts.number[0]
    for place in range(last - 1, max(-1, last - 1 - _RECENT), -1):
        c, count = cuts.order[place], 0
        if cuts.size[c] == 0 or cuts.value[c] == np.inf:
            continue
        for w in range(len(state.away)):
            rest = cuts.bits[c, w] & state.away[w]
            while rest:
                rest &= rest - np.uint64(1)
                count += 1
        if count < least:
            best, least = c, count
    return best


@compiled
def mark(c: int, cuts: Cuts, state: State, by: int) -> int:
    """Mark the rows of a cut that may be dropped; their number."""
    free = 0
    for i in range(cuts.size[c]):
        k = cuts.rows[c, i]
        if not state.kept[k]:
            state.marked[k] += by
            turn(state.away, k)
            free += 1
    return free


@compiled
def look(  # noqa: C901, PLR0912, PLR0915, PLR0917 - one loop
    T: Tableau, m: int, cost: Array, others: Others, budget: int, near: int, cuts: Cuts, state: State, chosen: Integers
) -> tuple[int, int]:
    """Look into a set of dropped rows: (status, _PRUNED or the cut whose rows are to be dropped)."""
    found, branch, status, place, last = 0, _PRUNED, DONE, cuts.number[0], 0
    is_over = False
    while True:
        while place > last:  # cuts that are known, the latest first
            place -= 1
            c = cuts.order[place]
            if cuts.value[c] >= state.least[0] - state.least[1] and is_apart(c, cuts, state):
                chosen[found] = c
                found += 1
                if place < cuts.number[0] - 64:
                    for i in range(place, cuts.number[0] - 1):
                        cuts.order[i] = cuts.order[i + 1]
                    cuts.order[cuts.number[0] - 1] = c
                free = mark(c, cuts, state, 1)
                if free == 0:
                    cuts.used[c] = 1
                    branch, is_over = _PRUNED, True
                    break
                if branch == _PRUNED:
                    branch = c
                if found > budget:
                    for i in range(found):
                        cuts.used[chosen[i]] = 1
                    branch, is_over = _PRUNED, True
                    break
        if is_over:
            break
        if cuts.number[0] == len(cuts.size):
            status = MORE_ROOM
            break
        if state.left[1] <= 0:
            status = STOPPED
            break
        start = below(cuts, state)
        if start < 0 and found:
            start = nearest(cuts, state)
        if start < 0:
            start = near
        enough = state.least[0] - state.least[1] / 2 if state.least[0] < np.inf else np.inf
        outcome, row = solve(T, m, cost, start, cuts, state, enough)
        if outcome == GAVE_UP:
            status = FAILED
            break
        if outcome == OPTIMAL:
            value = dot(T.x, cost)
            if not value >= state.least[0] - state.least[1]:
                if violates(T.x, others):
                    status = MORE_ROWS
                    break
                if found:
                    enter(T, cost, outcome, row, cuts, state)  # others may begin there
                    break
                state.least[0] = value
        last = cuts.number[0] if found else 0  # a lower threshold may admit others
        if enter(T, cost, outcome, row, cuts, state) < 0:
            status = FAILED
            break
        place = cuts.number[0]
    for i in range(found):
        mark(chosen[i], cuts, state, -1)
    if status == DONE and branch != _PRUNED:
        cuts.used[branch] = 1
    return status, branch


@compiled
def search(  # noqa: PLR0917
    T: Tableau, m: int, cost: Array, others: Others, budget: int, first: int, cuts: Cuts, state: State
) -> int:
    """Look into sets of dropped rows, from those that `state` names, until none is left below the threshold."""
    n = len(cost)
    rows = np.empty((budget + 1, n + 1), np.int64)
    size, place = np.zeros(budget + 1, np.int64), np.zeros(budget + 1, np.int64)
    near, chosen = np.full(budget + 2, first), np.empty(budget + 2, np.int64)
    depth, status = 0, DONE
    while depth >= 0:
        state.left[0] -= 1
        if state.left[0] < 0:
            status = STOPPED
            break
        status, branch = look(T, m, cost, others, budget - depth, near[depth], cuts, state, chosen)
        if status != DONE:
            break
        if branch != _PRUNED:
            count = 0
            order = np.argsort(-np.abs(cuts.weights[branch, : cuts.size[branch]]))
            for i in order:
                k = cuts.rows[branch, i]
                if not state.kept[k]:
                    rows[depth, count] = k
                    count += 1
            size[depth], place[depth], near[depth + 1] = count, 0, branch
            depth += 1
        else:
            depth = back(rows, size, place, depth, state)
            continue
        drop(rows[depth - 1, 0], state, 1)
    while depth > 0:  # leave the state as it was
        depth -= 1
        if place[depth] < size[depth]:
            drop(rows[depth, place[depth]], state, -1)
        for i in range(place[depth]):
            state.kept[rows[depth, i]] -= 1
    return status


@compiled
def back(rows: Integers, size: Integers, place: Integers, depth: int, state: State) -> int:
    """Take the next row of the deepest cut that has one; the depth where to go on, −1 at the end."""
    while depth > 0:
        level = depth - 1
        k = rows[level, place[level]]
        drop(k, state, -1)
        state.kept[k] += 1
        place[level] += 1
        if place[level] < size[level]:
            drop(rows[level, place[level]], state, 1)
            return depth
        for i in range(size[level]):
            state.kept[rows[level, i]] -= 1
        depth = level
    return -1
