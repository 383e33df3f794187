"""Certificates about legs, made from what a method found: its boxes again, in exact numbers."""

from collections.abc import Iterable, Sequence
from typing import Any

from gough.checker.leg_proofs import (
    LegBound,
    LegCertificate,
    LegEmpty,
    LegOutliers,
    LegWitness,
    stages_of,
)
from gough.checker.leg_questions import question_of
from gough.checker.legs import Legs, check_leg
from gough.checker.linear import NotProven
from gough.checker.of_tree import chain_of, contradiction, links_of
from gough.core.arrays import Array
from gough.core.covers import cover
from gough.estimates import Estimate
from gough.evidence import LiftedTree

_SLACKS = (0.0, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9)
"""Metres added to what is needed at exhibited poses until the exact check agrees."""


def leg_certificate(problem: Any, answer: Estimate) -> LegCertificate:
    """The certificate of a lifted hull's answer: each bound is the best double that its weights prove.

    The box may differ from the answer's in the last digits, since weights are written with 13 of them.

    Examples:
        >>> import gough
        >>> import numpy as np
        >>> from gough.closure import certified_leg
        >>> from gough.data import Poses
        >>> from gough.methods import LiftedHull
        >>> p = np.array([[x, y, z] for x in (-0.1, 0.1) for y in (-0.1, 0.1) for z in (0.3, 0.5)])
        >>> poses = Poses(p, [np.eye(3)] * 8, np.linalg.norm(p, axis=1)[:, None] - 0.2)
        >>> prior = gough.Box([-0.1, -0.1, -0.1, 0, 0, 0, 0.1], [0.1, 0.1, 0.1, 0, 0, 0, 0.3])
        >>> tolerances = {"position_tolerance": 1e-5, "rotation_tolerance": 0.0, "reading_tolerance": 1e-5}
        >>> problem = certified_leg(poses, 1, prior, **tolerances)
        >>> certificate = leg_certificate(problem, gough.estimate(problem, LiftedHull(), strict=False))
        >>> certificate.kind, check_leg(certificate, problem).holds
        ('LegBound', True)
    """
    question = question_of(problem)
    legs = Legs(question, question.legs, 0.0)
    links, box = chain_of(legs, getattr(answer.stats, "stages", ()), legs.prior())
    proof = LegEmpty(links) if box.is_empty else LegBound(links)
    return LegCertificate(question.digest(), question.legs, proof)


def bound_certificate(problem: Any, tree: LiftedTree, legs: Sequence[int] = (), more: float = 0.0) -> LegCertificate:
    """Everything consistent lies in the box that the tree ends with."""
    question, some = _asked(problem, legs, more)
    links, _ = links_of(some, tree, some.prior())
    return LegCertificate(question.digest(), some.legs, LegBound(links), more)


def empty_certificate(problem: Any, tree: LiftedTree, legs: Sequence[int] = (), more: float = 0.0) -> LegCertificate:
    """Nothing is consistent, readings being uncertain by `more` than stated: all leaves of the tree are empty.

    Raises:
        NotProven: the evidence falls short in exact numbers.
    """
    question, some = _asked(problem, legs, more)
    return LegCertificate(question.digest(), some.legs, LegEmpty(contradiction(some, tree)), more)


def outlier_certificate(
    problem: Any,
    trees: Iterable[LiftedTree],
    *,
    at_least: int = 0,
    q: int = 0,
    outliers: Sequence[int] = (),
    legs: Sequence[int] = (),
    more: float = 0.0,
) -> LegCertificate:
    """So many poses are wrong, and these among them if at most q are: each tree is a contradiction of some poses.

    Contradictions that the statement does not need are left out.

    Raises:
        NotProven: the evidence falls short in exact numbers.
    """
    question, some = _asked(problem, legs, more)
    chains = [contradiction(some, tree) for tree in trees]
    needed = _needed(some, chains, at_least, q, outliers)
    proof = LegOutliers(at_least, q, tuple(outliers), tuple(chains[i] for i in sorted(needed)))
    return LegCertificate(question.digest(), some.legs, proof, more)


def witness_certificate(
    problem: Any,
    values: Array,
    move: Array,
    turn: Array,
    *,
    left_out: Sequence[int] = (),
    legs: Sequence[int] = (),
    more: float = 0.0,
) -> LegCertificate:
    """The legs fit with exhibited errors of poses, readings being uncertain by a hair more than `more`.

    Raises:
        NotProven: they do not, in exact numbers.
    """
    question, some = _asked(problem, legs, more)
    rows = [tuple(tuple(row) for row in errors.tolist()) for errors in (move, turn)]
    proof = LegWitness(tuple(values.tolist()), rows[0], rows[1], tuple(left_out))
    verdict = None
    for slack in _SLACKS:
        certificate = LegCertificate(question.digest(), some.legs, proof, float(more + slack))
        verdict = check_leg(certificate, question)
        if verdict:
            return certificate
    assert verdict is not None
    raise NotProven(verdict.reason)


def _asked(problem: Any, legs: Sequence[int], more: float) -> tuple[Any, Legs]:
    question = question_of(problem)
    return question, Legs(question, tuple(legs) or question.legs, more)


def _needed(legs: Legs, chains: Sequence[Any], at_least: int, q: int, outliers: Sequence[int]) -> set[int]:
    """Numbers of the contradictions that the statement rests on."""
    sets = [legs.poses(stages_of(chain)) for chain in chains]
    asked = [(at_least - 1, frozenset[int]())] if at_least else []
    asked += [(q, frozenset({pose})) for pose in outliers]
    needed: set[int] = set()
    for most, spared in asked:
        found = cover(sets, most, spared)
        if found.elements is not None:
            raise NotProven(f"poses {sorted(found.elements)} meet every contradiction")
        needed |= found.used
    return needed
