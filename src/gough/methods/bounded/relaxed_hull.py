"""The hull of a bounded-error problem of which at most q rows may be violated, whichever they are."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush
from typing import ClassVar, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.text import written
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, Estimate, RelaxedStats
from gough.evidence import Evidence, RelaxedSide
from gough.methods.bounded.box_answer import box_answer
from gough.methods.bounded.exact_bound import evidence
from gough.methods.bounded.linear_hull import LinearHull
from gough.methods.bounded.outliers import Outliers, outliers
from gough.methods.bounded.relaxed_least import least
from gough.methods.bounded.relaxed_programs import NO_ROWS, Cut, Programs, RowSet, around, robust_strips
from gough.methods.bounded.strips import bounds_of
from gough.problem import LinearProblem
from gough.region import Box


@dataclass(frozen=True)
class RelaxedHull:
    """The hull of {θ in the prior : |y_k − W_k θ| ≤ e_k for all rows k but at most q}: outliers tolerated, with proof.

    Constraint: at most q rows are violated, whichever they are [LWG87], [JAU09]. Kept: every θ of the prior that
    violates at most q rows. Does nothing in directions that some q rows alone bound. Idempotent up to `tolerance`,
    unless the search was stopped. With q = 0 it is `LinearHull`.

    A bound is proven by multipliers on a few rows; a θ beyond it violates one of these. So each of them is dropped in
    turn, with q − 1 left to drop, best first (branch and bound). Branches are pruned by disjoint proofs: of T + 1
    bounds that share no row that may be dropped, at least one holds for a θ with T violations. Where W is
    known to ± D, a row is taken as wide as e + D |θ| gets over the box: the answer is valid then, but not the
    smallest box.

    Examples:
        >>> import gough
        >>> y = [0.1, -0.2, 9.0, 0.3, 0.0]
        >>> problem = gough.LinearProblem([[1.0]] * 5, y, gough.Unknowns(["a"]), gough.Bounded(1.0))
        >>> hull = gough.estimate(problem, RelaxedHull(1))
        >>> hull.region.lower, hull.region.upper, hull.claim.name
        (array([-0.7]), array([0.8]), 'PROOF')
    """

    q: int
    """Number of rows that may be violated."""
    node_limit: int = 300
    """Sets of dropped rows to look into, for each side of the box; then the search stops with a wider, valid box."""
    tolerance: float = 1e-9
    """Part of a box's width by which a side may be missed: of the box that is found before any row is dropped in turn.

    Where equations determine the unknowns to rounding, that may be many times the width of the smallest box.
    """

    claim: ClassVar[Claim] = Claim.PROOF

    def __post_init__(self) -> None:
        for name in ("q", "node_limit"):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            require(whole and value >= 0, f"{name} must be a whole number, 0 or more, but it is {value!r}")

    @np.errstate(all="ignore")
    def estimate(self, problem: LinearProblem) -> Estimate:
        bounds_of(problem, "RelaxedHull")
        if self.q == 0:
            return replace(LinearHull(self.tolerance).estimate(problem), method=written(self))
        search = _RelaxedHull(problem, self)
        rows = tuple(sorted(search.rows))
        ledger = search.ledger
        stats = RelaxedStats(
            problem.n_rows, (), rows, search.pool, search.evidence, self.q, ledger.contradictions, ledger.sides
        )
        return box_answer(self, self.claim, problem.unknowns, search.box, stats, notes=search.notes)


_NODES, _EACH = 200, 20
"""Sets of dropped rows and linear programs of the compiled search, for each node of `node_limit`."""
_CASES = 250_000
"""Cases to look into for one side; a search that ends earlier proves with less."""
_TRIED = 40
"""Sets up to which each is tried whether the others suffice."""


class SideProofs:
    """Sides of a relaxed hull with the cuts that prove them, few of all that were seen.

    A side is proven if no q rows meet all cuts that prove it: a θ that violates at most q rows satisfies all rows of
    some cut then.
    """

    def __init__(self, q: int, contradictions: Iterable[Evidence]) -> None:
        self._q = q
        self._shared: dict[RowSet, Evidence] = {
            frozenset(row for row, w in zip(one.rows, one.weights, strict=True) if w != "0"): one
            for one in contradictions
        }
        self._needed = set[RowSet]()
        self._sides: list[RelaxedSide] = []
        self._complete = True

    def contradictions_of_the_prior(self, cuts: Iterable[Cut]) -> None:
        """Cuts that no θ of the prior satisfies: they serve every side."""
        for cut in cuts:
            if cut.value == np.inf:
                self._shared.setdefault(cut.rows, evidence((), (), cut.multipliers))

    def side(
        self, name: str, factor: float, value: float, cuts: Iterable[Cut], needed: set[RowSet] | None = None
    ) -> None:
        """Enter factor · θ[name] ≥ value; a value of ∞ says that there is no such θ.

        `needed` is what `self.needed` said before all other cuts were left out; without it, some are left out here.
        """
        if not self._complete:
            return  # a proof of some sides only is not part of the answer
        own = {cut.rows: cut for cut in cuts if cut.value >= value}
        if needed is None:
            needed = self.needed(own)
            own = {rows: cut for rows, cut in own.items() if needed is not None and rows in needed}
        if needed is None:
            self._complete = False
            return
        self._needed |= needed & set(self._shared)
        proofs = [
            (cut.value == np.inf, evidence((), (), cut.multipliers))
            for rows, cut in own.items()
            if rows not in self._shared
        ]
        proves, refutes = (tuple(one for empty, one in proofs if empty is wanted) for wanted in (False, True))
        names, factors = ((name,), (factor,)) if value < np.inf else ((), ())
        self._sides.append(RelaxedSide(names, factors, min(value, 1.0) if not names else value, proves, refutes))

    def needed(self, own: Iterable[RowSet]) -> set[RowSet] | None:
        """Few of these sets, and of those that serve every side, that no q rows meet; None if that is not seen.

        The search for q rows that meet them takes the same steps where the sets are absent that it does not rest on.
        """
        from gough.methods.bounded.hitting_sets import unmet  # noqa: PLC0415 - numba

        sets = list(dict.fromkeys((*self._shared, *own)))
        used = unmet(sets, self._q, _CASES)
        if used is None:
            return None
        sets = [sets[i] for i in used]
        for one in tuple(sets) if len(sets) <= _TRIED else ():
            fewer = [each for each in sets if each is not one]
            if unmet(fewer, self._q, _CASES) is not None:
                sets = fewer
        return set(sets)

    @property
    def contradictions(self) -> tuple[Evidence, ...]:
        """Those of the prior that some side needs."""
        return tuple(one for rows, one in self._shared.items() if rows in self._needed) if self._complete else ()

    @property
    def sides(self) -> tuple[RelaxedSide, ...]:
        """All sides in their order; none if the proof of one of them is missing."""
        return tuple(self._sides) if self._complete else ()


class _Case(NamedTuple):
    """All θ of the box that satisfy `kept` and violate at most q − |dropped| rows that are not `dropped`."""

    dropped: RowSet
    kept: RowSet


class _Node(NamedTuple):
    """A case in which direction · θ ≥ bound is proven, in the order in which cases are looked into."""

    bound: float
    order: tuple[int, int]
    case: _Case
    cut: Cut
    """The bound of the θ that violate no row of it; the others are in the cases made by dropping one."""
    reasons: tuple[Cut, ...] = ()
    """The cuts that prove the bound."""


class _RelaxedHull:
    """One computation of a relaxed hull: outliers first, then each side of the box."""

    @one_blas_thread()
    def __init__(self, problem: LinearProblem, method: RelaxedHull) -> None:
        self._method = method
        self.evidence = tuple[Evidence, ...]()
        self.rows: RowSet = NO_ROWS
        self.notes = tuple[str, ...]()
        self.pool = 0
        prior = self.box = problem.unknowns.bounds
        known = outliers(problem, method.q)
        self.ledger = SideProofs(method.q, [*known.evidence, *(one for more in known.proofs for one in more)])
        if known.at_least > method.q:
            self._too_many(known)
            return
        if known.proven:
            self.notes += (f"If at most {method.q} rows violate their bounds, these do: {_list(known.proven)}.",)
        programs = Programs(problem, prior, robust_strips(problem, prior, "RelaxedHull"), method.tolerance)
        cases = _feasible(programs, _Case(frozenset(known.proven), NO_ROWS), method, self.ledger)
        self._shrink(programs, cases, node_limit=0)
        if not self.box.is_empty:
            strips = around(programs.strips, self.box)
            programs = Programs(problem, self.box, strips, method.tolerance)
            stopped = self._shrink(programs, cases, node_limit=method.node_limit)
            if stopped:
                self.notes += (f"Stopped early at {stopped} sides: the box is valid, but may not be the smallest.",)
        if self.box.is_empty:
            self.notes = (f"No θ violates at most {method.q} rows: every choice of them is refuted.", *self.notes)
        self.pool = len(programs.pool)

    def _too_many(self, known: Outliers) -> None:
        """More contradictions that share no row than rows may be violated."""
        self.box = Box.empty(len(self.box))
        self.ledger.side("", 0.0, np.inf, ())
        self.evidence = known.evidence
        self.rows = frozenset(row for used in known.evidence for row in used.rows)
        self.notes = (f"At least {known.at_least} rows violate their bounds, and {self._method.q} may.",)

    def _shrink(self, programs: Programs, cases: list[_Case], *, node_limit: int) -> int:
        """Cut the box on every side; the number of sides where the search was stopped."""
        p, stopped, rows = len(self.box), 0, set[int]()
        for axis, sign in [(axis, sign) for sign in (1.0, -1.0) for axis in range(p)]:
            direction = np.zeros(p)
            direction[axis] = sign
            side = _Side(programs, direction, self._method, _span(self.box, axis), self.ledger)
            value = side.explore(cases, node_limit)
            if value > (self.box.lower[axis] if sign > 0 else -self.box.upper[axis]):
                self.ledger.side(programs.problem.unknowns.names[axis], sign, value, side.cuts, side.needed)
            stopped += side.stopped
            rows |= side.rows
            lower, upper = np.full(p, -np.inf), np.full(p, np.inf)
            if value == np.inf:
                self.box = Box.empty(p)
            elif sign > 0:
                lower[axis] = value
            else:
                upper[axis] = -value
            self.box = programs.box = self.box & Box(lower, upper)
            if self.box.is_empty:
                break
        self.rows |= rows
        return stopped


def _list(rows: tuple[int, ...]) -> str:
    return ", ".join(map(str, rows))


def _span(box: Box, axis: int) -> float:
    width = float(box.width[axis])
    return width if np.isfinite(width) else 0.0


class _Side:
    """The least direction · θ over some cases, by best-first branching on the rows that prove it."""

    def __init__(
        self, programs: Programs, direction: Array, method: RelaxedHull, span: float, ledger: SideProofs
    ) -> None:
        self._programs, self._direction, self._ledger = programs, direction, ledger
        self._q, self._gap = method.q, method.tolerance * span
        self._reached = np.inf
        """The least value proven for a set of at most q dropped rows: looking below it is what the search is for."""
        self._count = 0
        self.stopped = False
        self.rows = set[int]()
        self.cuts: list[Cut] = []
        """The cuts that prove the answer, and others."""
        self.needed: set[RowSet] | None = None
        """What the ledger needs, if the others were left out."""

    def explore(self, cases: list[_Case], node_limit: int) -> float:
        """A proven lower bound: the least over all cases, looked into or not."""
        if node_limit:
            limits = (_NODES * node_limit, _EACH * node_limit)
            sets = [(case.dropped, case.kept) for case in cases]
            found = least(self._programs, self._direction, sets, self._q, self._gap, limits, self._ledger.needed)
            if found is not None:
                value, self.cuts, self.needed = found
                self.rows.update(*(cut.rows for cut in self.cuts))
                return value
        heap = [self.node(case, self._cut(case.dropped)) for case in cases]
        heapify(heap)
        closed, looked_into = np.inf, 0
        if heap and node_limit:
            self._dive(heap[0])
        while heap and looked_into < node_limit and heap[0].bound < min(closed, self._reached) - self._gap:
            node = heappop(heap)
            self.cuts += [node.cut, *node.reasons]
            looked_into += 1
            closed = min(closed, max(node.bound, node.cut.value))
            for child in self.children(node):
                heappush(heap, child)
        self.cuts += [cut for node in heap for cut in node.reasons]
        value = min(closed, heap[0].bound) if heap else closed
        self.stopped = value < self._reached - self._gap and self._is_bounded
        return value

    @property
    def _is_bounded(self) -> bool:
        """Whether the box has a finite side in this direction."""
        box, d = self._programs.box, self._direction
        return bool(np.isfinite(np.where(d > 0, box.lower, box.upper)[d != 0]).all())

    def _cut(self, dropped: RowSet) -> Cut:
        return self._noted(dropped, self._programs.cut(self._direction, dropped))

    def _cuts(self, dropped: list[RowSet], near: list[Cut]) -> list[Cut]:
        cuts = self._programs.cuts(self._direction, dropped, near)
        return [self._noted(rows, cut) for rows, cut in zip(dropped, cuts, strict=True)]

    def _noted(self, dropped: RowSet, cut: Cut) -> Cut:
        if len(dropped) <= self._q and cut.value > -np.inf:
            self._reached = min(self._reached, cut.value)
        self.rows |= cut.rows
        return cut

    def node(self, case: _Case, cut: Cut) -> _Node:
        return self._nodes([case], [cut])[0]

    def _nodes(self, cases: list[_Case], cuts: list[Cut], parent: _Node | None = None) -> list[_Node]:
        known, reasons = (-np.inf, ()) if parent is None else (parent.bound, parent.reasons)
        nodes = []
        for case, cut, chain in zip(cases, cuts, self._peeled(cases, cuts, known), strict=True):
            self._count += 1
            least = min((one.value for one in chain), default=known)
            better = (least, chain) if least > known else (known, reasons)
            nodes.append(_Node(better[0], (-len(case.dropped), self._count), case, cut, better[1]))
        return nodes

    def _peeled(self, cases: list[_Case], cuts: list[Cut], parent: float) -> list[tuple[Cut, ...]]:
        """For each case, q − |dropped| + 1 bounds that share no row but kept ones: one of them holds.

        One is enough if it rests on kept rows and the box alone; none are given where they are not above the parent's.
        """
        chains: list[tuple[Cut, ...]] = [(cut,) for cut in cuts]
        without = [case.dropped for case in cases]
        going = list(range(len(cases)))
        for _ in range(self._q):
            going = [
                i for i in going if len(chains[i]) <= self._q - len(cases[i].dropped) and chains[i][-1].value > parent
            ]
            going = [i for i in going if chains[i][-1].rows - cases[i].kept]
            for i in going:
                without[i] |= chains[i][-1].rows - cases[i].kept
            for i, cut in zip(
                going, self._cuts([without[i] for i in going], [chains[i][-1] for i in going]), strict=True
            ):
                chains[i] += (cut,)
        return [self._survivor(case, chain) for case, chain in zip(cases, chains, strict=True)]

    def _survivor(self, case: _Case, chain: tuple[Cut, ...]) -> tuple[Cut, ...]:
        if not chain[-1].rows - case.kept:
            return chain[-1:]
        return chain if len(chain) > self._q - len(case.dropped) else ()

    def _dropped_one(self, node: _Node) -> list[tuple[float, int, Cut]]:
        """The cuts without each of the rows that may be dropped, the least first."""
        if len(node.case.dropped) >= self._q:
            return []
        rows = sorted(node.cut.rows - node.case.kept)
        cuts = self._cuts([node.case.dropped | {row} for row in rows], [node.cut] * len(rows))
        return sorted(((cut.value, row, cut) for row, cut in zip(rows, cuts, strict=True)), key=lambda one: one[:2])

    def children(self, node: _Node) -> list[_Node]:
        """The cases of a θ that violates some row of the node's cut: the first of them that it violates is dropped."""
        kept, cases, cuts = node.case.kept, list[_Case](), list[Cut]()
        for _, row, cut in self._dropped_one(node):
            cases.append(_Case(node.case.dropped | {row}, kept))
            cuts.append(cut)
            kept |= {row}
        children = self._nodes(cases, cuts, node)
        self.cuts += [cut for child in children if child.bound == np.inf for cut in child.reasons]  # no such θ: proven
        return [child for child in children if child.bound < np.inf]

    def _dive(self, node: _Node) -> None:
        """Drop the row that helps most, again and again, to reach a low value soon."""
        for _ in range(self._q - len(node.case.dropped)):
            ways = self._dropped_one(node)
            if not ways:
                return
            _, row, cut = ways[0]
            node = _Node(cut.value, node.order, _Case(node.case.dropped | {row}, node.case.kept), cut)


def _feasible(programs: Programs, case: _Case, method: RelaxedHull, ledger: SideProofs) -> list[_Case]:
    """Cases that together are `case`, without those that are refuted; `case` itself if they become too many."""
    nowhere = _Side(programs, np.zeros(len(programs.box)), method, 0.0, ledger)
    pending, feasible, looked_into = [case], list[_Case](), 0
    while pending:
        one = pending.pop()
        cut = programs.cut(np.zeros(len(programs.box)), one.dropped)
        node = nowhere.node(one, cut)
        nowhere.cuts += [cut, *node.reasons]
        if cut.value < np.inf:
            feasible.append(one)
        elif node.bound < np.inf:
            pending += [child.case for child in nowhere.children(node)]
        looked_into += 1
        if looked_into > method.node_limit:
            return [case]
    ledger.contradictions_of_the_prior(nowhere.cuts)
    return feasible
