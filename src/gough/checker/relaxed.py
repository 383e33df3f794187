"""What cuts prove if a few rows may be violated, whichever they are."""

from collections.abc import Iterable

from gough.checker.limits import require_within, spend
from gough.checker.linear import NotProven, Sides, largest_value, with_bound
from gough.checker.proofs import RelaxedBound, RelaxedEmpty, RelaxedStep, Violated
from gough.checker.steps import Weights, support
from gough.checker.words import approximately, row_name, written
from gough.core.covers import MOST_CASES, Elements, TooManyCases, cover
from gough.core.errors import BeyondLimit
from gough.problem import LinearProblem

_SETS = 10_000
"""Cuts of which no few rows may meet all.."""


def follow_relaxed(problem: LinearProblem, proof: RelaxedBound | RelaxedEmpty) -> Sides:
    """The box of all θ that violate at most q rows; raises NotProven at the first step that proves less.

    A θ of the prior that violates the rows V, |V| ≤ q, satisfies all rows of every cut that V does not meet, and if no
    V of that size meets all cuts there is one. Contradictions are cuts that no θ of the box satisfies: V meets them
    anyway. Those of the whole proof hold in the prior, hence in every box that the steps leave of it.
    """
    box = Sides.of_prior(problem)
    shared = contradictory(problem, box, proof.contradictions)
    for number, step in enumerate(proof.steps, start=1):
        try:
            _require_step(problem, box, step, proof.q, shared)
        except NotProven as short:
            raise NotProven(f"step {number}: {short}") from short
        box = with_bound(problem, box, step)
    if isinstance(proof, RelaxedEmpty) and not box.is_empty:
        _require_no_cover(problem, shared, proof.q)
        box = Sides(box.lower, box.upper, refuted=True)
    return box


def _require_step(problem: LinearProblem, box: Sides, step: RelaxedStep, q: int, shared: list[Elements]) -> None:
    sets = [*shared, *contradictory(problem, box, step.contradictions)]
    for number, cut in enumerate(step.cuts, start=1):
        proven = largest_value(problem, box, step.direction, cut)
        if proven < step.value:
            missing = approximately(step.value - proven)
            raise NotProven(f"cut {number} proves {missing} less than {written(step.value)}, which is stated")
        sets.append(frozenset(support(cut)))  # a row of weight 0 may be violated: the bound does not rest on it
    _require_no_cover(problem, sets, q)


def contradictory(problem: LinearProblem, box: Sides, cuts: Iterable[Weights]) -> list[Elements]:
    """Sets of rows that no θ of the box satisfies together; raises NotProven if some θ may."""
    sets = []
    for number, cut in enumerate(cuts, start=1):
        try:
            gap = largest_value(problem, box, (), cut)
        except NotProven as short:
            raise NotProven(f"contradiction {number}: {short}") from short
        if gap <= 0:
            raise NotProven(f"contradiction {number}: its rows do not contradict each other, nor the prior")
        sets.append(frozenset(support(cut)))
    return sets


def require_violated(problem: LinearProblem, proof: Violated) -> None:
    """Raise NotProven unless so many rows are violated, and these among them."""
    sets = contradictory(problem, Sides.of_prior(problem), proof.contradictions)
    if not (proof.at_least or proof.outliers):
        raise NotProven("it states nothing")
    if proof.at_least:  # if no m − 1 rows meet all contradictions, every θ violates m rows or more
        _require_no_cover(problem, sets, proof.at_least - 1)
    for row in proof.outliers:  # if no q rows without this one meet all, a θ that violates at most q violates it
        if not 0 <= row < problem.n_rows:
            raise NotProven(f"there is no row {row}: the problem has {problem.n_rows}, counted from 0")
        try:
            _require_no_cover(problem, sets, proof.q, frozenset({row}))
        except NotProven as short:
            raise NotProven(f"{row_name(problem, row)}: {short}") from short


def _require_no_cover(problem: LinearProblem, sets: list[Elements], q: int, spared: Elements = frozenset()) -> None:
    """Every choice of at most q rows leaves some of the sets untouched, and with it what that set proves."""
    rows = uncovered(sets, q, spared)
    if rows is not None:
        which = ", ".join(row_name(problem, row) for row in sorted(rows)) or "no row at all"
        raise NotProven(f"a θ that violates {which} escapes every one of its {len(sets)} cuts")


def uncovered(sets: list[Elements], q: int, spared: Elements = frozenset()) -> Elements | None:
    """At most q elements, none of them spared, that meet all the sets; None if there are none.

    Raises:
        BeyondLimit: there are too many sets, or too many cases to look into.
    """
    require_within(len(sets), _SETS, "a statement rests on", " cuts")
    spend(sum(map(len, sets)) * (1000 + len(sets) // 4))
    try:
        found = cover(sets, q, spared)
    except TooManyCases as many:
        words = f"there are more than {MOST_CASES} choices of rows or poses to look into, which are not checked"
        raise BeyondLimit(f"{words}; state less") from many
    spend(found.looks * (1000 + len(sets) // 30))
    return found.elements
