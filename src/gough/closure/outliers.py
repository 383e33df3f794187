"""If some poses may be wrong: how many must be, which ones, and the smallest tolerance that fits all the others."""

from dataclasses import dataclass, replace

import numpy as np

from gough.closure.chain_problem import ChainProblem
from gough.closure.tolerance import ChainTolerance, minimal_tolerance, poses_to_blame, refuted
from gough.core.arrays import ArrayValue
from gough.core.covers import Elements, TooManyCases, cover
from gough.core.errors import require
from gough.core.floating import require_ieee
from gough.evidence import LiftedCut, LiftedStage, LiftedTree

_PROOFS = 60
"""Contradictions after which the search for more is given up."""


@dataclass(frozen=True, eq=False)
class WrongPoses(ArrayValue):
    """Poses that no chain of the prior fits within the stated tolerances."""

    at_least: int
    """So many poses are wrong, whatever the chain; 0 if a chain fits all of them, or nothing is known."""
    q: int
    """The number of wrong poses that `named` supposes at most."""
    named: tuple[int, ...]
    """Poses that are wrong for every chain that misses at most q."""
    contradictions: tuple[LiftedTree, ...]
    """Sets of poses that no chain fits, of which no few poses meet all: the proof."""


@dataclass(frozen=True, eq=False)
class RelaxedTolerance(ArrayValue):
    """The smallest ε by which tolerances must grow for some chain to fit all poses but q, whichever they are."""

    q: int
    lower: float
    """With less than this every chain misses more than q poses; −∞ where that is not proven."""
    upper: float
    """With this much a chain fits all poses but `left_out`."""
    left_out: tuple[int, ...]
    fit: ChainTolerance
    """The bracket once they are left out, with a chain that fits."""
    contradictions: tuple[LiftedTree, ...]


@np.errstate(all="ignore")
def wrong_poses(problem: ChainProblem, q: int, suspects: tuple[int, ...] = ()) -> WrongPoses:
    """How many poses are wrong at least, up to q + 1, and which of the suspects are if at most q are.

    Sets of poses that no chain fits are collected until no choice of few poses meets them all; whichever choice does
    meet them is left out next, and the rest refuted again.

    Examples:
        >>> from gough.closure.certified_leg import LegProblem
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> from gough.region import Box
        >>> q, p = np.tile([1.0, 0, 0, 0], (4, 1)), np.tile([0, 0, 0.4], (4, 1))
        >>> data = LegMeasurements(q, p, [0.1, 0.1, 0.1, 0.104], 0, 0, 1e-3)  # one distance, read four times
        >>> result = wrong_poses(LegProblem(data, Box([0] * 6 + [0.2], [0] * 6 + [0.4])), 1, (3,))
        >>> result.at_least, result.named
        (1, (3,))
    """
    require_ieee("which poses are wrong")
    require(q >= 0, "the number of poses that may be wrong is 0 or more")
    search = _Search(problem, 0.0)
    at_least = 0
    while at_least <= q and search.refutes(at_least):
        at_least += 1
    is_decided = 0 < at_least <= q  # with more than q wrong ones, anything follows
    named = tuple(pose for pose in suspects if is_decided and search.refutes(q, frozenset({pose})))
    return WrongPoses(at_least, q, named, tuple(search.trees))


@np.errstate(all="ignore")
def relaxed_tolerance(problem: ChainProblem, q: int, *, width: float = 1e-6) -> RelaxedTolerance:
    """The bracket of the smallest ε if q poses may be left out, with the poses to leave out.

    The upper end leaves out the poses to blame, one after the other; the lower end is proven for all choices of q.

    Examples:
        >>> from gough.closure.certified_leg import LegProblem
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> from gough.region import Box
        >>> q, p = np.tile([1.0, 0, 0, 0], (4, 1)), np.tile([0, 0, 0.4], (4, 1))
        >>> data = LegMeasurements(q, p, [0.1, 0.104, 0.102, 0.15], 0, 0, 1e-3)
        >>> result = relaxed_tolerance(LegProblem(data, Box([0] * 6 + [0.2], [0] * 6 + [0.4])), 1)
        >>> result.left_out, bool(0.001 - 1e-6 <= result.lower <= 0.001 <= result.upper)
        ((3,), True)
    """
    require_ieee("the smallest tolerance")
    require(0 <= q < problem.n_poses, f"of {problem.n_poses} poses {q} cannot be left out")
    left_out, fit = _greedy(problem, q, width)
    while True:
        search = _Search(problem, fit.lower)
        if fit.tree is not None:
            search.add(fit.tree, left_out)
        proven = fit.tree is not None and search.refutes(q)
        if proven or search.better is None:
            break
        again = minimal_tolerance(_without(problem, search.better), width=width)
        if not again.upper < fit.upper:
            break
        left_out, fit = tuple(sorted(search.better)), again
    return RelaxedTolerance(
        q, fit.lower if proven else -np.inf, fit.upper, left_out, fit, tuple(search.trees) if proven else ()
    )


def _greedy(problem: ChainProblem, q: int, width: float) -> tuple[tuple[int, ...], ChainTolerance]:
    suspects = poses_to_blame(problem, q, width=width) if q else ()
    if not suspects:
        return (), minimal_tolerance(problem, width=width)
    return tuple(sorted(pose for pose, _ in suspects)), suspects[-1][1]


class _Search:
    """Contradictions of one problem with readings uncertain by ε more, each with the poses that it uses."""

    def __init__(self, problem: ChainProblem, epsilon: float) -> None:
        self._problem, self._epsilon = problem, epsilon
        self.trees: list[LiftedTree] = []
        self._sets: list[Elements] = []
        self.better: Elements | None = None
        """Poses without which nothing contradicts, if such were met."""

    def add(self, tree: LiftedTree, left_out: tuple[int, ...]) -> None:
        """A contradiction of the poses that are left, in the numbers of all poses."""
        n, rows = self._problem.n_poses, self._problem.n_rows
        numbers = [pose for pose in range(n) if pose not in left_out]
        whole = _renumbered(tree, [*numbers, *range(n, rows)], rows)
        self.trees.append(whole)
        self._sets.append(frozenset(row for row in _used(whole, rows) if row < n))

    def refutes(self, q: int, spared: Elements = frozenset()) -> bool:
        """Is it proven that every chain misses more than q poses, or misses one of the spared ones?"""
        while len(self.trees) < _PROOFS:
            try:
                chosen = cover(self._sets, q, spared).elements
            except TooManyCases:
                return False
            if chosen is None:
                return True
            tree = refuted(_without(self._problem, chosen).widened(self._epsilon))
            if tree is None:
                self.better = chosen
                return False
            self.add(tree, tuple(chosen))
        return False


def _without(problem: ChainProblem, poses: Elements) -> ChainProblem:
    return problem.select(~np.isin(np.arange(problem.n_poses), list(poses))) if poses else problem


def _renumbered(tree: LiftedTree, numbers: list[int], n: int) -> LiftedTree:
    """The rows of some equations, whose numbers are given, as rows of all n."""
    few = len(numbers)

    def row(old: int) -> int:
        return old - 2 * few + 2 * n if old >= 2 * few else n * (old // few) + numbers[old % few]

    def cut(old: LiftedCut) -> LiftedCut:
        return replace(old, rows=tuple(row(each) for each in old.rows))

    def stage(old: LiftedStage) -> LiftedStage:
        return replace(old, cuts=tuple(cut(each) for each in old.cuts))

    halves = tuple(_renumbered(half, numbers, n) for half in tree.halves)
    return replace(tree, stages=tuple(stage(each) for each in tree.stages), halves=halves)


def _used(tree: LiftedTree, n: int) -> set[int]:
    """The equations, of n, whose rows have a weight."""
    rows = {
        row
        for stage in tree.stages
        for cut in stage.cuts
        for row, weight in zip(cut.rows, cut.weights, strict=True)
        if weight
    }
    own = {row % n for row in rows if row < 2 * n}
    return own.union(*(_used(half, n) for half in tree.halves))
