"""Trees of boxes, each cut by weighted rows of chains: what they leave of a prior, in exact arithmetic."""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

from gough.checker.box_rows import Row, least_value
from gough.checker.chain_proofs import ChainCut, ChainLink, ChainSplit, stages_of
from gough.checker.chain_questions import ChainQuestion, Equations
from gough.checker.dyadic import ZERO, Dyadic
from gough.checker.limits import spend
from gough.checker.linear import NotProven
from gough.checker.words import approximately
from gough.core.covers import Elements
from gough.core.rational import rational


class ChainBox(NamedTuple):
    """What is left of the prior."""

    lower: list[Fraction]
    upper: list[Fraction]
    refuted: bool = False

    @property
    def is_empty(self) -> bool:
        return self.refuted or any(low > high for low, high in zip(self.lower, self.upper, strict=True))

    def union(self, other: "ChainBox") -> "ChainBox":
        """The smallest box around both; what is consistent is in one of them, hence in the other if one is empty."""
        if self.is_empty or other.is_empty:
            return other if self.is_empty else self
        lower, upper = (zip(a, b, strict=True) for a, b in ((self.lower, other.lower), (self.upper, other.upper)))
        return ChainBox([min(pair) for pair in lower], [max(pair) for pair in upper])


class Space:
    """Chains with their unknowns in order, where these are sought, and by how much more readings may be off."""

    def __init__(
        self,
        chains: tuple[int, ...],
        equations: tuple[Equations, ...],
        names: tuple[str, ...],
        prior: ChainBox,
        more: float = 0.0,
    ) -> None:
        self.chains, self.equations, self.names, self._prior = chains, equations, names, prior
        self.more = Dyadic.of(rational(more, "what readings may be off by"))
        self.starts = [0, *accumulate(each.n_unknowns for each in equations)]
        self.n_poses, self.word = equations[0].n_poses, equations[0].word

    @classmethod
    def of(cls, question: ChainQuestion, chains: tuple[int, ...], more: float) -> "Space":
        """Some chains of a question."""
        if not 0 < len(set(chains)) == len(chains):
            raise NotProven("a statement is about some chains, each of them named once")
        for chain in chains:
            if chain not in question.chains:
                raise NotProven(f"the question has no {question.word} {chain}")
        places = [question.chains.index(chain) for chain in chains]
        unknowns = [question.starts[i] + j for i in places for j in range(question.equations[i].n_unknowns)]
        sides = (question.prior.lower, question.prior.upper)
        lower, upper = ([rational(side[i], "a side") for i in unknowns] for side in sides)
        equations = tuple(question.equations[i] for i in places)
        return cls(chains, equations, tuple(question.names[i] for i in unknowns), ChainBox(lower, upper), more)

    def prior(self) -> ChainBox:
        """Where the chains are sought."""
        return ChainBox(list(self._prior.lower), list(self._prior.upper))

    def axis(self, unknown: str) -> int:
        """The place of an unknown."""
        if unknown not in self.names:
            raise NotProven(f"there is no unknown '{unknown}' among these {self.word}s")
        return self.names.index(unknown)

    def members(self, chain: int | None) -> range:
        """The places of the chains that a box is about."""
        if chain is None:
            return range(len(self.chains))
        if chain not in self.chains:
            raise NotProven(f"a box is about {self.word} {chain}, which the certificate does not cover")
        return range(self.chains.index(chain), self.chains.index(chain) + 1)

    def rows(self, center: Iterable[float], radius: Iterable[float], chain: int | None) -> "StageRows":
        """The rows of one chain, or of all, in a box."""
        return StageRows(self, center, radius, chain)

    def poses(self, links: Iterable[ChainLink]) -> Elements:
        """The poses whose rows have some weight in these links."""
        used = set()
        for stage in stages_of(links):
            starts = self.row_starts(self.members(stage.chain))
            for row in {row for cut in stage.cuts for row, weight in cut.weights if weight}:
                block, own = _located(row, starts)
                each = self.equations[self.members(stage.chain)[block]]
                if own < 2 * each.n_equations and own % each.n_equations < each.n_poses:
                    used.add(own % each.n_equations)
        return frozenset(used)

    def row_starts(self, members: Sequence[int]) -> list[int]:
        """The numbers of the first rows of some chains, and of the first row that there is not."""
        each = (self.equations[i] for i in members)
        return [0, *accumulate(2 * one.n_equations + 4 * len(one.products) for one in each)]


def _located(number: int, starts: Sequence[int]) -> tuple[int, int]:
    """The block in which a row or column stands, and its place there."""
    if not 0 <= number < starts[-1]:
        raise NotProven(f"there is no row {number}")
    block = bisect_right(starts, number) - 1
    return block, number - starts[block]


class StageRows:
    """The rows of one chain, or of all with the errors of poses shared, in a box; and what weights on them prove."""

    def __init__(self, space: Space, center: Iterable[float], radius: Iterable[float], chain: int | None) -> None:
        self._space, members = space, space.members(chain)
        self.first = space.starts[members[0]]
        self.size = space.starts[members[-1] + 1] - self.first
        c, r = ([Dyadic.of(rational(x, "a stage")) for x in values] for values in (center, radius))
        if not len(c) == len(r) == self.size:
            raise NotProven(f"a box has {len(c)} unknowns, but it is about {self.size}")
        self.center, self.radius = c, r
        self._equations = [space.equations[i] for i in members]
        self._unknowns = [space.starts[i] - self.first for i in (*members, members[-1] + 1)]
        shared = len(members) > 1
        sides = zip(self._equations, self._unknowns[:-1], self._unknowns[1:], strict=True)
        self._blocks = [each.rows(c[i:j], r[i:j], space.more, shared=shared) for each, i, j in sides]
        self._rows = space.row_starts(members)
        self._columns = [0, *accumulate(block.n_columns for block in self._blocks)]
        self._errors = self._equations[0].shared_tolerance

    def require_covers(self, box: ChainBox) -> None:
        """Raise NotProven if a box leaves out some of what is left: its rows are derived for |h| ≤ radius only."""
        own = slice(self.first, self.first + self.size)
        sides = (self._space.names[own], self.center, self.radius, box.lower[own], box.upper[own])
        for name, c, r, low, high in zip(*sides, strict=True):
            if (c - r).fraction > low or (c + r).fraction < high:
                raise NotProven(f"a box does not cover what was left of '{name}'")

    def weight(self, row: int, weight: float) -> float:
        """A method's weight of a row, for the rows as they stand here."""
        block, own = _located(row, self._rows)
        each = self._equations[block]
        if own >= 2 * each.n_equations or own % each.n_equations >= each.n_poses:
            return weight
        return weight / each.scale(own % each.n_equations)

    def _row(self, number: int) -> tuple[Row, list[int]]:
        """A row, and the places of its columns: those of its chain, then the errors of its pose where it has any."""
        block, own = _located(number, self._rows)
        row = self._blocks[block].row(own)
        places = list(range(self._columns[block], self._columns[block + 1]))
        extra = len(row.coefficients) - len(places)
        if extra:
            first = self._columns[-1] + extra * (own % self._equations[block].n_equations)
            places += range(first, first + extra)
        return row, places

    def proven(self, cut: ChainCut, axis: int) -> Fraction:
        """The largest v for which ± h ≥ v, or 0 ≥ v, follows: Σ λ (A y − b) ≤ 0 is added, and y taken at its worst."""
        target: dict[int, Dyadic] = {}
        if cut.side != "empty":
            if not 0 <= axis - self.first < self.size:
                raise NotProven(f"a box about another {self._space.word} says nothing of '{cut.unknown}'")
            block, own = _located(axis - self.first, self._unknowns)
            target[self._columns[block] + own] = Dyadic(1 if cut.side == "lower" else -1, 0)
        return self.least(cut.weights, target)

    def least(self, weights: Iterable[tuple[int, float]], target: Mapping[int, Dyadic]) -> Fraction:
        """The largest v for which target·y ≥ v of the columns y follows."""
        terms = []
        for number, weight in weights:
            row, places = self._row(number)
            terms.append((row, Dyadic.of(weight), places))
        return least_value(terms, target, most=self._most, is_square=self._is_square)

    def columns_of(
        self, linear: Mapping[int, Dyadic], pairs: Mapping[tuple[int, int], Dyadic]
    ) -> tuple[dict[int, Dyadic], Dyadic]:
        """Columns of a form in one chain's unknowns and products, and what products without a column amount to."""
        (equations,) = self._equations
        place = {pair: equations.n_unknowns + k for k, pair in enumerate(equations.products)}
        columns, lost = dict(linear), ZERO
        for pair, x in pairs.items():
            if pair in place:
                columns[place[pair]] = x
            else:
                lost += abs(x) * self.radius[pair[0]] * self.radius[pair[1]]
        return columns, lost

    def _most(self, column: int) -> Dyadic:
        if column < self._columns[-1]:
            block, own = _located(column, self._columns)
            return self._blocks[block].most(own)
        pose, j = divmod(column - self._columns[-1], self._errors.shape[1])
        return Dyadic.of(float(self._errors[pose, j]))

    def _is_square(self, column: int) -> bool:
        if column >= self._columns[-1]:
            return False
        block, own = _located(column, self._columns)
        return self._blocks[block].is_square(own)


def follow(links: Iterable[ChainLink], space: Space, box: ChainBox) -> ChainBox:
    """The box that links establish; raises NotProven at the first cut that proves less than it states.

    Once nothing is left, what follows could only be true, and is not looked at.
    """
    for number, link in enumerate(links, start=1):
        if box.is_empty:
            break
        if isinstance(link, ChainSplit):
            below, above = halves(box, space.axis(link.unknown), rational(link.at, "where a box is halved"))
            box = follow(link.below, space, below).union(follow(link.above, space, above))
            continue
        spend(50_000 + 5_000 * len(link.center))
        rows, left = space.rows(link.center, link.radius, link.chain), box
        rows.require_covers(box)
        for cut in link.cuts:
            axis = rows.first if cut.side == "empty" else space.axis(cut.unknown)
            proven, stated = rows.proven(cut, axis), _stated(cut, rows, axis)
            if proven < stated or (cut.side == "empty" and not proven > 0):
                short = approximately(stated - proven)
                raise NotProven(f"box {number}, {cut.side} side of '{cut.unknown}': its rows prove {short} less")
            left = tightened(left, cut, axis)  # all cuts of a stage are proven in the box before it
        box = left
    return box


def halves(box: ChainBox, axis: int, at: Fraction) -> tuple[ChainBox, ChainBox]:
    """The parts below and above: every number is ≤ at or ≥ at, so nothing is between them, wherever `at` is."""
    lower, upper = list(box.lower), list(box.upper)
    lower[axis], upper[axis] = max(lower[axis], at), min(upper[axis], at)
    return ChainBox(box.lower, upper, box.refuted), ChainBox(lower, box.upper, box.refuted)


def tightened(box: ChainBox, cut: ChainCut, axis: int) -> ChainBox:
    """The part that satisfies a cut."""
    lower, upper, bound = list(box.lower), list(box.upper), rational(cut.bound, "a bound")
    if cut.side == "empty":
        return box._replace(refuted=True)
    if cut.side == "lower":
        lower[axis] = max(lower[axis], bound)
    else:
        upper[axis] = min(upper[axis], bound)
    return ChainBox(lower, upper, box.refuted)


def _stated(cut: ChainCut, rows: StageRows, axis: int) -> Fraction:
    if cut.side == "empty":
        return Fraction(0)
    center, bound = rows.center[axis - rows.first].fraction, rational(cut.bound, "a bound")
    return bound - center if cut.side == "lower" else center - bound
