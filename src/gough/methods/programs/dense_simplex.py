"""The simplex method for few unknowns and some hundred rows, compiled by numba; importing this module imports numba.

minimize c·x subject to lower ≤ G x ≤ upper, where the first n rows of G are the unknowns themselves. A vertex is n rows
that are worked with, each at one of its sides. C holds the columns of the inverse of their matrix, one in each row:

    x = Σ value_i C_i,    prices λ_i = c · C_i,    c = Σ λ_i g_i

so that to leave row i means to move along C_i. At a minimum prices are ≥ 0 at lower and ≤ 0 at upper sides. `repair`
mends a vertex outside some rows whose prices are right (dual simplex, sides flipped on the way [MAR03, §10]); `travel`
mends the prices of a vertex inside all rows (primal simplex, steepest edge, tolerant ratio test [HAR73]). Of a large
pool of rows, those near the vertex are held and read in each exchange; all are read every some exchanges, and before a
vertex is called a minimum. Nothing here is trusted: prices become bounds elsewhere, exactly.
"""

from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array, Integers
from gough.core.compiled_kernels import compiled_loosely as compiled
from gough.methods.programs.compiled_algebra import dot, invert, spread

OPTIMAL, INFEASIBLE, FAILED = 0, 1, 2
_TOLERANCE = 1e-10
"""Tolerance of primal and dual feasibility."""
_SLACK = 1e-12
"""Infeasibility that the ratio tests allow in order to choose a greater pivot."""
_ROUNDED = 1.0 + 1e-14
"""So that the least of some ratios, times its divisor, is not below its dividend."""
_PIVOT = 1e-9
"""Pivots that are smaller are taken for zero."""
FRESH = 200
"""Exchanges after which the inverse is computed anew."""
_NEAR = 6
"""Rows per unknown that are held of a pool of more."""
_WIDER = 4
"""Times as many are held where the nearest of them are too near for one step."""
_SEEN = 20
"""Exchanges of a vertex outside some rows after which the pool is read again."""
_BOLD = 8.0
"""Times the distance to the nearest row that is not held by which a vertex may move before the pool is read again."""
_REFINED = 1e-9
"""Part by which a vertex or a cost may be missed for one step of refinement to be enough."""
_PATIENCE = 100
"""Repairs of a vertex after which its prices are moved away from zero."""
_STALLED = 60
"""Steps of length zero after which rows are chosen by number, which cannot cycle [BLA77]."""


class Pool(NamedTuple):
    """All rows of a program, of which a tableau holds some."""

    G: Array
    """(n, capacity): rows as columns."""
    lower: Array
    upper: Array
    length: Array
    room: Array
    """How far a vertex is inside each row; below zero if it is outside."""
    number: Integers
    """Numbers of the rows that the tableau holds."""
    size: int
    """How many rows there are."""


class Tableau(NamedTuple):
    """Rows that are held and a vertex of them; everything changes in place."""

    G: Array
    """(n, capacity): rows as columns."""
    lower: Array
    upper: Array
    basis: Integers
    """The n rows that are worked with."""
    sign: Array
    """1 where such a row is at its lower side, −1 at its upper."""
    value: Array
    """Its value there; kept if the row has lost its sides."""
    C: Array
    x: Array
    price: Array
    entering: Array
    """A row that enters the basis."""
    alpha: Array
    """Coefficients of the entering row: g = Σ alpha_i g_i."""
    place: Integers
    """Position of each row in the basis, or −1."""
    reach: Array
    """G x."""
    rate: Array
    """G times the direction of travel."""
    flips: Integers
    """For the rows in the basis: 1 if one goes to its other side, 2 if it cannot leave, else 0."""
    age: Integers
    """(1,): exchanges since C was computed anew."""


@compiled
def refresh(T: Tableau, m: int, cost: Array) -> bool:
    """Everything anew from the rows of the basis; False if they depend on each other."""
    G, C, basis = T.G, T.C, T.basis
    n = len(basis)
    for j in range(n):
        for i in range(n):
            C[j, i] = G[j, basis[i]]
    if not invert(C):
        return False
    T.age[0] = 0
    appraise(T, cost)
    locate(T, m)
    return True


@compiled
def appraise(T: Tableau, cost: Array) -> None:
    """Prices of the rows in the basis."""
    for i in range(len(cost)):
        T.price[i] = dot(T.C[i], cost)


@compiled
def locate(T: Tableau, m: int) -> None:
    """Compute x and G x."""
    C, x, value = T.C, T.x, T.value
    x[:] = 0.0
    for i in range(len(x)):
        if value[i] != 0.0:
            for j in range(len(x)):
                x[j] += value[i] * C[i, j]
    spread(T.G, m, x, T.reach)


@compiled
def refine(T: Tableau, m: int, cost: Array) -> bool:
    """One step of iterative refinement of x and the prices; False if they were far off."""
    G, C, basis, x, price = T.G, T.C, T.basis, T.x, T.price
    n = len(basis)
    along, left = np.zeros(n), cost.copy()
    for j in range(n):
        for i in range(n):
            along[i] += G[j, basis[i]] * x[j]
            left[j] -= G[j, basis[i]] * price[i]
    most, off = _REFINED, 0.0
    for i in range(n):
        most = max(most, _REFINED * abs(T.value[i]))
        off = max(off, abs(left[i]))
    for i in range(n):
        short = T.value[i] - along[i]
        off = max(off, abs(short) / most * _REFINED)
        for j in range(n):
            x[j] += short * C[i, j]
        price[i] += dot(C[i], left)
    spread(G, m, x, T.reach)
    return off <= _REFINED


@compiled
def read(T: Tableau, pool: Pool, wanted: int) -> tuple[int, float]:
    """Hold the rows of the basis and those that are nearest to the vertex: their number, and how far others are."""
    n, room, number = len(T.basis), pool.room[: pool.size], pool.number
    spread(pool.G, pool.size, T.x, room)
    for k in range(pool.size):
        room[k] = min(room[k] - pool.lower[k], pool.upper[k] - room[k]) / pool.length[k]
    for i in range(n):
        T.place[i] = number[T.basis[i]]
    for i in range(n):
        number[i], T.basis[i] = T.place[i], i
        room[number[i]] = np.inf
    margin = np.partition(room, wanted)[wanted] if wanted < pool.size - n else np.inf
    m = n
    for k in range(pool.size):
        if room[k] <= margin and room[k] < np.inf:
            number[m] = k
            m += 1
    hold(T, pool, m)
    for q in range(m):
        T.place[q] = q if q < n else -1
    spread(T.G, m, T.x, T.reach)
    return m, margin


@compiled
def hold(T: Tableau, pool: Pool, m: int) -> None:
    """Copy the numbered rows."""
    for q in range(m):
        T.lower[q], T.upper[q] = pool.lower[pool.number[q]], pool.upper[pool.number[q]]
    for j in range(len(T.x)):
        for q in range(m):
            T.G[j, q] = pool.G[j, pool.number[q]]


@compiled
def settle(T: Tableau, i: int, sign: float) -> None:
    """Put the row at position i of the basis on one of its sides."""
    T.sign[i] = sign
    side = T.lower[T.basis[i]] if sign > 0.0 else T.upper[T.basis[i]]
    if np.isfinite(side):
        T.value[i] = side


@compiled
def exchange(T: Tableau, r: int, k: int) -> None:
    """Row k = Σ alpha_i g_i comes in, and the row at position r goes."""
    C, price, alpha = T.C, T.price, T.alpha
    n, pivot = len(alpha), alpha[r]
    theta = price[r] / pivot
    for j in range(n):
        C[r, j] /= pivot
    for i in range(n):
        a = alpha[i]
        if i != r and a != 0.0:
            price[i] -= theta * a
            for j in range(n):
                C[i, j] -= a * C[r, j]
    price[r] = theta
    T.place[T.basis[r]] = -1
    T.basis[r], T.place[k] = k, r


@compiled
def worst(T: Tableau, m: int) -> int:
    """The row outside the basis that is violated most, or −1."""
    lower, upper, reach, place = T.lower, T.upper, T.reach, T.place
    far, chosen = 0.0, -1
    for v in T.x:
        far = max(far, abs(v))
    most = max(_TOLERANCE, 1e-14 * np.sqrt(len(T.x)) * far)  # rounding of far corners must not look like a violation
    for k in range(m):
        wrong = max(lower[k] - reach[k], reach[k] - upper[k])
        if wrong > most and place[k] < 0:
            most, chosen = wrong, k
    return chosen


@compiled
def express(T: Tableau, k: int) -> None:
    """Row k as a sum of the rows in the basis: alpha."""
    g = T.entering
    for j in range(len(g)):
        g[j] = T.G[j, k]
    for i in range(len(g)):
        T.alpha[i] = dot(T.C[i], g)


@compiled
def yielding(T: Tableau, k: int, sign: float) -> int:
    """The position whose row makes way for the violated row k; −1 if none can.

    Prices fall as the new row's grows. A row with two sides whose price reaches zero goes to its other side instead of
    leaving, as long as the new row stays violated by that.
    """
    price, alpha, basis, flips = T.price, T.alpha, T.basis, T.flips
    n = len(basis)
    wrong = max(T.lower[k] - T.reach[k], T.reach[k] - T.upper[k])
    for i in range(n):
        yields = T.sign[i] * sign * alpha[i] > _PIVOT and T.lower[basis[i]] < T.upper[basis[i]]
        flips[i] = 0 if yields else 2
    while True:
        limit, r = np.inf, -1
        for i in range(n):
            if flips[i] == 0:
                limit = min(limit, (max(T.sign[i] * price[i], 0.0) + _SLACK) / abs(alpha[i]))
        for i in range(n):
            near = flips[i] == 0 and max(T.sign[i] * price[i], 0.0) <= limit * abs(alpha[i]) * _ROUNDED
            if near and (r < 0 or abs(alpha[i]) > abs(alpha[r])):
                r = i
        if r < 0:
            return -1
        wrong -= abs(alpha[r]) * (T.upper[basis[r]] - T.lower[basis[r]])
        if not wrong > 0.0:
            return r
        flips[r] = 1


@compiled
def steepest(T: Tableau, by_number: bool) -> int:  # noqa: FBT001
    """The position whose row is best left, or −1 if all prices are right; rows that lost their sides go first."""
    basis, chosen, most = T.basis, -1, 0.0
    for i in range(len(basis)):
        k = basis[i]
        if T.lower[k] == -np.inf and T.upper[k] == np.inf:
            T.sign[i] = -1.0 if T.price[i] > 0.0 else 1.0
            return i
        wrong = -T.sign[i] * T.price[i]
        if wrong <= _TOLERANCE or T.lower[k] == T.upper[k]:
            continue
        gain = wrong * wrong / dot(T.C[i], T.C[i]) if not by_number else 1.0 / (1.0 + k)
        if gain > most:
            most, chosen = gain, i
    return chosen


@compiled
def blocking(T: Tableau, m: int, by_number: bool) -> int:  # noqa: FBT001
    """The row that blocks first at these rates, or −1; among rows at about the same step, the largest pivot."""
    lower, upper, reach, rate, place = T.lower, T.upper, T.reach, T.rate, T.place
    limit, most, chosen = np.inf, 0.0, -1
    for k in range(m):
        v = rate[k]
        if abs(v) > _PIVOT and place[k] < 0:
            gap = upper[k] - reach[k] if v > 0.0 else reach[k] - lower[k]
            limit = min(limit, (max(gap, 0.0) + _SLACK) / abs(v))
    if limit == np.inf:
        return -1
    for k in range(m):
        v = rate[k]
        if abs(v) > _PIVOT and place[k] < 0:
            gap = upper[k] - reach[k] if v > 0.0 else reach[k] - lower[k]
            preferred = abs(v) if not by_number else 1.0 / (1.0 + k)
            if preferred > most and max(gap, 0.0) <= limit * abs(v) * _ROUNDED:
                most, chosen = preferred, k
    return chosen


@compiled
def head(T: Tableau, m: int, r: int, by_number: bool) -> tuple[int, float]:  # noqa: FBT001
    """Leave the row at position r as far as others allow: the row that is met and the length of the way.

    The row is −1 if it is the other side of the one that is left; the length is infinite if nothing is met.
    """
    n, reach, rate = len(T.basis), T.reach, T.rate
    length = T.sign[r] / np.sqrt(dot(T.C[r], T.C[r]))
    for j in range(n):
        T.alpha[j] = T.C[r, j] * length
    spread(T.G, m, T.alpha, rate)
    here = T.basis[r]
    k, way = blocking(T, m, by_number), (T.upper[here] - T.lower[here]) / abs(length)
    if k >= 0:
        gap = T.upper[k] - reach[k] if rate[k] > 0.0 else reach[k] - T.lower[k]
        gap = max(gap, 0.0) / abs(rate[k])
        k, way = (k, gap) if gap < way else (-1, way)
    return k, way


@compiled
def travel(T: Tableau, m: int, way: float) -> None:
    """Go so far in the direction that was taken."""
    for j in range(len(T.x)):
        T.x[j] += way * T.alpha[j]
    for i in range(m):
        T.reach[i] += way * T.rate[i]


@compiled
def prepare(T: Tableau, m: int) -> None:
    """Set the positions and values of the rows of the basis."""
    for k in range(m):
        T.place[k] = -1
    for i in range(len(T.basis)):
        T.place[T.basis[i]] = i
        settle(T, i, T.sign[i])


@compiled
def repair(T: Tableau, k: int, sign: float) -> int:
    """The position that leaves for the violated row k, after flips of others; −1 if the rows contradict k."""
    express(T, k)
    r = yielding(T, k, sign)
    if r >= 0:
        for i in range(len(T.basis)):
            if T.flips[i] == 1:
                settle(T, i, -T.sign[i])
    return r


@compiled
def stiffened(T: Tableau) -> Array:
    """A cost for which the prices of this vertex are right and none is near zero; the prices become those.

    Where prices are zero the method may exchange the same rows for ever: as when the cost is itself a row of the
    program, whose vertex has one price. Repairing needs no cost of its own, only right prices.
    """
    n, most = len(T.basis), 0.0
    for i in range(n):
        most = max(most, abs(T.price[i]))
    cost = np.zeros(n)
    for i in range(n):
        # parts of the golden section are far from each other, whatever their number
        more = (most if most > 0.0 else 1.0) * (0.01 + (0.6180339887498949 * (i + 1)) % 1.0)
        T.price[i] = T.sign[i] * (max(T.sign[i] * T.price[i], 0.0) + more)
        for j in range(n):
            cost[j] += T.price[i] * T.G[j, T.basis[i]]
    return cost


@compiled
def round_off(T: Tableau) -> None:
    """Prices of a sign for which the row has no side are rounding at a minimum: they get the other sign.

    Not zero: rows of the basis with prices next to nothing are needed where weights are corrected exactly.
    """
    for i in range(len(T.basis)):
        k = T.basis[i]
        if (T.lower[k] == -np.inf and T.price[i] > 0.0) or (T.upper[k] == np.inf and T.price[i] < 0.0):
            T.price[i] = -T.price[i]


@compiled
def rests_on_sides(T: Tableau) -> bool:
    """Whether no row of the basis that has lost its sides has a price."""
    for i in range(len(T.basis)):
        k = T.basis[i]
        if T.price[i] != 0.0 and T.lower[k] == -np.inf and T.upper[k] == np.inf:
            return False
    return True


@compiled
def minimize_among(  # noqa: C901, PLR0912, PLR0915, PLR0917 - one loop
    T: Tableau, pool: Pool | None, m: int, before: Array, cost: Array, limit: int, enough: float
) -> tuple[int, int]:
    """The minimum, from a vertex whose prices are right for the cost `before`: (outcome, row that cannot be satisfied).

    First the vertex is mended at its own cost, then its prices at the new one; rows of the basis that lost their sides
    are kept meanwhile. A minimum is refined and looked at again before it is called one. A vertex outside some
    rows whose value is `enough` will do as well, if its prices are right for the cost: the minimum is no less.

    Where rows of a pool are held, it is read again after some exchanges, where the vertex is
    outside no row that is held, and where it has moved so far that it may be outside others. If it is, it gets a cost
    of its own until it is mended.
    """
    n = len(cost)
    wanted, patience = _NEAR * n, _PATIENCE + 5 * n
    prepare(T, m)
    current, detour, outside, certain = before.copy(), True, True, True
    stalled, repairs, seen, moved, margin = 0, 0, _SEEN, 0.0, np.inf
    if T.age[0] < FRESH:
        appraise(T, current)
        locate(T, m)
    for _ in range(limit):
        if T.age[0] >= FRESH:
            if not refresh(T, m, current):
                return FAILED, -1
            certain = True
        if pool is not None and seen >= _SEEN:
            m, margin = read(T, pool, wanted)
            seen, moved = 0, 0.0
        if outside:
            k = worst(T, m)
            if pool is not None and k < 0 and seen > 0:
                seen = _SEEN
                continue
            if k < 0:
                if detour:
                    current = cost.copy()
                    appraise(T, cost)
                outside, detour, stalled = False, False, 0
                continue
            sign = 1.0 if T.reach[k] < T.lower[k] else -1.0
            r = repair(T, k, sign)
            if r < 0 and T.age[0] == 0:
                return INFEASIBLE, k
            if r < 0:
                T.age[0] = FRESH
                continue
            exchange(T, r, k)
            settle(T, r, sign)
            locate(T, m)
            repairs += 1
            seen += 1
            if repairs % patience == 0:
                current, detour = stiffened(T), True
            if repairs < patience and enough < np.inf and dot(T.x, cost) >= enough and rests_on_sides(T):
                return OPTIMAL, -1
        else:
            r = steepest(T, stalled > _STALLED)
            if r < 0 and certain:
                round_off(T)
                return OPTIMAL, -1
            if r < 0:
                outside = certain = True
                seen = _SEEN
                if not refine(T, m, current):
                    T.age[0] = FRESH
                continue
            k, way = head(T, m, r, stalled > _STALLED)
            if pool is not None and moved + way > _BOLD * margin:
                m, margin = read(T, pool, wanted if moved > 0.0 else _WIDER * m)
                seen, moved = 0, 0.0
                if worst(T, m) >= 0:
                    current, outside, detour = stiffened(T), True, True
                continue
            if way == np.inf:
                return FAILED, -1
            travel(T, m, way)
            moved += way
            stalled = stalled + 1 if way < 1e-13 else 0
            if k < 0:
                settle(T, r, -T.sign[r])
                continue
            sign = -1.0 if T.rate[k] > 0.0 else 1.0
            express(T, k)
            exchange(T, r, k)
            settle(T, r, sign)
        certain = False
        T.age[0] += 1
    return FAILED, -1


@compiled
def minimize(T: Tableau, m: int, before: Array, cost: Array, limit: int, enough: float) -> tuple[int, int]:  # noqa: PLR0917
    """As `minimize_among`, of a program that is held as a whole."""
    return minimize_among(T, None, m, before, cost, limit, enough)


@compiled
def minimize_part(  # noqa: PLR0917
    T: Tableau, pool: Pool, basis: Integers, before: Array, cost: Array, limit: int
) -> tuple[int, int]:
    """As `minimize_among`, from a vertex whose rows are given by their numbers in the pool."""
    n = len(basis)
    for i in range(n):
        T.basis[i], pool.number[i] = i, basis[i]
    hold(T, pool, n)
    return minimize_among(T, pool, n, before, cost, limit, np.inf)


class Runs(NamedTuple):
    """Programs that differ by the rows they lack: where each begins, and then where it ended."""

    basis: Integers
    """(runs, n), as the fields below."""
    sign: Array
    value: Array
    point: Array
    price: Array
    outcome: Integers
    """(runs,)."""
    row: Integers
    """The row that cannot be satisfied, if there is one."""


@compiled
def minimize_each(  # noqa: PLR0917
    T: Tableau, m: int, before: Array, cost: Array, limit: int, dropped: Integers, first: Integers, runs: Runs
) -> None:
    """As `minimize`, without the rows `dropped[first[s] : first[s + 1]]` in run s."""
    low, high = np.empty(len(dropped)), np.empty(len(dropped))
    for s in range(len(runs.outcome)):
        for i in range(first[s], first[s + 1]):
            k = dropped[i]
            low[i], high[i], T.lower[k], T.upper[k] = T.lower[k], T.upper[k], -np.inf, np.inf
        T.basis[:], T.sign[:], T.value[:], T.age[0] = runs.basis[s], runs.sign[s], runs.value[s], FRESH
        runs.outcome[s], runs.row[s] = minimize(T, m, before, cost, limit, np.inf)
        runs.basis[s], runs.sign[s], runs.value[s] = T.basis, T.sign, T.value
        runs.point[s], runs.price[s] = T.x, T.price
        for i in range(first[s + 1] - 1, first[s] - 1, -1):
            T.lower[dropped[i]], T.upper[dropped[i]] = low[i], high[i]
