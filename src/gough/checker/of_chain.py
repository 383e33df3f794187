"""Certificates about chains, made from what a method found: its boxes again, in exact numbers."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from gough.checker.chain_boxes import ChainBox, Space, StageRows, halves, tightened
from gough.checker.chain_check import check_chains
from gough.checker.chain_proofs import (
    ChainBound,
    ChainCertificate,
    ChainCut,
    ChainEmpty,
    ChainLink,
    ChainOutliers,
    ChainProof,
    ChainSplit,
    ChainStage,
    ChainWitness,
    JointEmpty,
)
from gough.checker.chain_questions import ChainQuestion, question_of
from gough.checker.linear import NotProven
from gough.core.covers import cover
from gough.core.rational import round_down
from gough.estimates import Estimate
from gough.evidence import LiftedCut, LiftedStage, LiftedTree

_DIGITS = 13
"""Digits of weights that bound an unknown: rounding them changes the bound insignificantly."""
_FEWER = (4, 7, 10, _DIGITS, 17)
"""Digits of weights of a contradiction, tried in this order: the first with which it is proven."""
_SLACKS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)
"""Added, in the readings' unit, to what is needed at an exhibited point until the exact check agrees."""


def chain_certificate(
    problem: Any, answer: Estimate | LiftedTree, chains: Sequence[int] = (), more: float = 0.0
) -> ChainCertificate:
    """The certificate of a lifted hull's answer, or of a tree of boxes: nothing is consistent, or a box.

    Each bound is the best double that its weights prove. It may differ from the method's in the last digits, because
    weights are written with 13 of them.

    Examples:
        >>> import gough
        >>> import numpy as np
        >>> from gough.checker import check_chains
        >>> from gough.closure import certified_leg
        >>> from gough.data import Poses
        >>> from gough.methods import LiftedHull
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> poses = Poses(p, [np.eye(3)] * 8, np.linalg.norm(p, axis=1)[:, None] - 0.2)
        >>> prior = gough.Box([-0.1, -0.1, -0.1, 0, 0, 0, 0.1], [0.1, 0.1, 0.1, 0, 0, 0, 0.3])
        >>> tolerances = {"position_tolerance": 1e-5, "rotation_tolerance": 0.0, "reading_tolerance": 1e-5}
        >>> problem = certified_leg(poses, 1, prior, **tolerances)
        >>> certificate = chain_certificate(problem, gough.estimate(problem, LiftedHull(), strict=False))
        >>> certificate.kind, check_chains(certificate, problem).holds
        ('ChainBound', True)
    """
    question, space = _space(problem, chains, more)
    tree = answer if isinstance(answer, LiftedTree) else LiftedTree(getattr(answer.stats, "stages", ()))
    links, box = _links(space, tree, space.prior())
    return _certificate(question, space, ChainEmpty(links) if box.is_empty else ChainBound(links), more)


def empty_certificate(
    problem: Any, tree: LiftedTree | JointEmpty, chains: Sequence[int] = (), more: float = 0.0
) -> ChainCertificate:
    """Nothing is consistent, readings being uncertain by `more` than stated: all leaves of the tree are empty.

    A `JointEmpty` is taken as it is; `check_chains` checks it.

    Raises:
        NotProven: the evidence falls short in exact numbers.
    """
    question, space = _space(problem, chains, more)
    proof = tree if isinstance(tree, JointEmpty) else ChainEmpty(contradiction(space, tree))
    return _certificate(question, space, proof, more)


def outlier_certificate(
    problem: Any,
    trees: Iterable[LiftedTree],
    *,
    at_least: int = 0,
    q: int = 0,
    outliers: Sequence[int] = (),
    chains: Sequence[int] = (),
    more: float = 0.0,
) -> ChainCertificate:
    """So many poses are wrong, and these among them if at most q are: each tree is a contradiction of some poses.

    Contradictions that the statement does not need are left out.

    Raises:
        NotProven: the evidence falls short in exact numbers.
    """
    question, space = _space(problem, chains, more)
    found = [contradiction(space, tree) for tree in trees]
    needed = _needed(space, found, at_least, q, outliers)
    return _certificate(
        question, space, ChainOutliers(at_least, q, tuple(outliers), tuple(found[i] for i in sorted(needed))), more
    )


def witness_certificate(
    problem: Any,
    values: Iterable[float | Fraction],
    errors: Iterable[Iterable[float | Fraction]] = (),
    *,
    left_out: Sequence[int] = (),
    chains: Sequence[int] = (),
    more: float = 0.0,
) -> ChainCertificate:
    """The chains fit with exhibited errors of poses, readings being uncertain by a hair more than `more`.

    Errors are left out where one chain over a rod fits for some errors, see `ChainWitness`.

    Raises:
        NotProven: they do not, in exact numbers.
    """
    question, space = _space(problem, chains, more)
    rows: Any = tuple(tuple(row) for row in errors)
    proof = ChainWitness(tuple(values), rows, tuple(left_out))  # type: ignore[arg-type]
    reason = ""
    for slack in _SLACKS:
        certificate = _certificate(question, space, proof, float(more + slack))
        verdict = check_chains(certificate, question)
        if verdict:
            return certificate
        reason = verdict.reason
    raise NotProven(reason)


def _space(problem: Any, chains: Sequence[int], more: float) -> tuple[ChainQuestion, Space]:
    question = question_of(problem)
    return question, Space.of(question, tuple(chains) or question.chains, more)


def _certificate(question: ChainQuestion, space: Space, proof: ChainProof, more: float) -> ChainCertificate:
    return ChainCertificate(question.digest(), space.chains, proof, more)


def _needed(space: Space, found: Sequence[Any], at_least: int, q: int, outliers: Sequence[int]) -> set[int]:
    """Numbers of the contradictions that the statement rests on."""
    sets = [space.poses(links) for links in found]
    claims = [(at_least - 1, frozenset[int]())] if at_least else []
    claims += [(q, frozenset({pose})) for pose in outliers]
    needed: set[int] = set()
    for most, spared in claims:
        result = cover(sets, most, spared)
        if result.elements is not None:
            raise NotProven(f"poses {sorted(result.elements)} meet every contradiction")
        needed |= result.used
    return needed


def contradiction(space: Space, tree: LiftedTree) -> tuple[ChainLink, ...]:
    """The links of a tree that leaves nothing."""
    links, box = _links(space, tree, space.prior())
    if not box.is_empty:
        raise NotProven("in exact numbers the boxes leave something")
    return links


def _links(space: Space, tree: LiftedTree, box: ChainBox) -> tuple[tuple[ChainLink, ...], ChainBox]:
    """The links of a tree of boxes, and the box it ends with."""
    links, box = stage_links(space, tree.stages, box)
    if box.is_empty or not tree.halves:
        return links, box
    below, above = halves(box, tree.axis, Fraction(tree.at))
    low, left = _links(space, tree.halves[0], below)
    high, right = _links(space, tree.halves[1], above)
    return (*links, ChainSplit(space.names[tree.axis], tree.at, low, high)), left.union(right)


def stage_links(space: Space, stages: Iterable[LiftedStage], box: ChainBox) -> tuple[tuple[ChainLink, ...], ChainBox]:
    """The boxes of a method again, each cut with the best double that its weights prove; and what they leave."""
    links: list[ChainLink] = []
    for stage in stages:
        if box.is_empty or not stage.center:
            break
        chain = None if stage.part is None else space.chains[stage.part]
        members = space.members(chain)
        center, radius = around(box, slice(space.starts[members[0]], space.starts[members[-1] + 1]))
        rows, left, cuts = space.rows(center, radius, chain), box, []
        for found in stage.cuts:
            cut = _cut(space, rows, found)
            if cut is not None:
                cuts.append(cut)
                left = tightened(left, cut, rows.first + found.axis)
        if cuts:
            links.append(ChainStage(center, radius, tuple(cuts), chain))
        box = left
    return tuple(links), box


def around(box: ChainBox, members: slice) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Doubles center, radius around a box."""
    lower, upper = box.lower[members], box.upper[members]
    center = [float((low + high) / 2) for low, high in zip(lower, upper, strict=True)]
    radius = []
    for c, low, high in zip(center, lower, upper, strict=True):
        below = round_down(-max(high - Fraction(c), Fraction(c) - low))
        assert below is not None
        radius.append(-below)
    return tuple(center), tuple(radius)


def _cut(space: Space, rows: StageRows, found: LiftedCut) -> ChainCut | None:
    """The cut with the best double that its weights prove; None if they prove nothing new."""
    axis = rows.first + found.axis
    if found.sign == 0:
        for digits in _FEWER:
            cut = ChainCut(space.names[rows.first], "empty", 0.0, _weights(rows, found, digits))
            if rows.proven(cut, axis) > 0:
                return cut
        return None
    side = "lower" if found.sign > 0 else "upper"
    weights = _weights(rows, found, _DIGITS)
    proven = rows.proven(ChainCut(space.names[axis], side, 0.0, weights), axis)
    middle = rows.center[found.axis].fraction
    bound = round_down(middle + proven) if side == "lower" else round_down(proven - middle)
    if bound is None or proven <= -rows.radius[found.axis].fraction:
        return None
    return ChainCut(space.names[axis], side, bound if side == "lower" else -bound, weights)


def _weights(rows: StageRows, found: LiftedCut, digits: int) -> tuple[tuple[int, float], ...]:
    rounded = (
        (row, float(f"{rows.weight(row, weight):.{digits}g}"))
        for row, weight in zip(found.rows, found.weights, strict=True)
    )
    return tuple((row, weight) for row, weight in rounded if weight > 0)
