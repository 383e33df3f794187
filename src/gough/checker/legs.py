"""The checker of certificates about legs: chains of boxes, each cut by weighted rows of poses and envelopes."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from gough.checker.box_trees import LegBox, follow, least_value, require_covers
from gough.checker.check import Verdict
from gough.checker.dyadic import Dyadic
from gough.checker.leg_proofs import (
    LEG_PARTS,
    LegBound,
    LegCertificate,
    LegCut,
    LegEmpty,
    LegOutliers,
    LegStage,
    LegWitness,
    stages_of,
)
from gough.checker.leg_questions import PlatformQuestion, question_of
from gough.checker.leg_rows import ENVELOPES, LegRows, Row
from gough.checker.leg_witness import require_fits
from gough.checker.limits import BeyondLimit, bounded_work, remade
from gough.checker.linear import NotProven
from gough.checker.relaxed import uncovered
from gough.checker.words import bound, tolerance_condition
from gough.core.arrays import Array
from gough.core.covers import Elements
from gough.core.errors import InputError
from gough.core.rational import rational


class Legs:
    """Some legs of a question, their unknowns in order, and by how much more their readings may be off."""

    def __init__(self, question: PlatformQuestion, legs: tuple[int, ...], more: float) -> None:
        for leg in legs:
            if leg not in question.legs:
                raise NotProven(f"the measurements have no leg {leg}")
        self.question, self.legs, self.more = question, legs, Dyadic.of(rational(more, "what readings may be off by"))
        place = [7 * question.legs.index(leg) + j for leg in legs for j in range(7)]
        self.names = tuple(question.names[i] for i in place)
        self.n_poses = len(question.data)
        prior = question.prior
        self._sides = [[rational(side[i], "a side") for i in place] for side in (prior.lower, prior.upper)]

    def prior(self) -> LegBox:
        """Where the legs are sought."""
        return LegBox(list(self._sides[0]), list(self._sides[1]))

    def axis(self, unknown: str) -> int:
        """The place of an unknown."""
        if unknown not in self.names:
            raise NotProven(f"there is no unknown '{unknown}' among these legs")
        return self.names.index(unknown)

    @cached_property
    def rows_of_a_leg(self) -> int:
        """Two for each pose, and the envelopes."""
        return 2 * self.n_poses + ENVELOPES

    def rows(self, center: Iterable[float], radius: Iterable[float], leg: int | None) -> "StageRows":
        """The rows of one leg, or of all, in a box."""
        return StageRows(self, center, radius, leg)

    def weight(self, row: int, weight: float) -> float:
        """Rows of poses are multiplied by the squared length of the pose's quaternion."""
        own = row % self.rows_of_a_leg
        return weight / float(self._sizes[own % self.n_poses]) if own < 2 * self.n_poses else weight

    @cached_property
    def _sizes(self) -> Array:
        return np.square(self.question.data.quaternion).sum(axis=1)

    def poses(self, stages: Iterable[LegStage]) -> Elements:
        """The poses whose rows have some weight in these stages."""
        rows = {row % self.rows_of_a_leg for stage in stages for cut in stage.cuts for row, w in cut.weights if w}
        return frozenset(row % self.n_poses for row in rows if row < 2 * self.n_poses)


def _places(block: int, pose: int, errors: int) -> list[int]:
    """Columns of one leg's row among those of all legs, the errors of poses being last."""
    return [*range(23 * block, 23 * block + 23), *range(errors + 6 * pose, errors + 6 * pose + 6)]


class StageRows:
    """The rows of one leg, or of all with the errors of poses shared, in a box; and what weights on them prove."""

    def __init__(self, legs: Legs, center: Iterable[float], radius: Iterable[float], leg: int | None) -> None:
        self._legs = legs
        if leg is not None and leg not in legs.legs:
            raise NotProven(f"a box is about leg {leg}, which the certificate does not speak about")
        members = legs.legs if leg is None else (leg,)
        self.first = 0 if leg is None else 7 * legs.legs.index(leg)
        self.size = 7 * len(members)
        c, r = ([Dyadic.of(rational(x, "a stage")) for x in values] for values in (center, radius))
        if not len(c) == len(r) == self.size:
            raise NotProven(f"a box has {len(c)} unknowns, but it is about {self.size}")
        self.center, self.radius = c, r
        data = [legs.question.by_leg[member] for member in members]
        self._blocks = [
            LegRows(each, c[7 * i : 7 * i + 7], r[7 * i : 7 * i + 7], legs.more, shared=len(members) > 1)
            for i, each in enumerate(data)
        ]
        self._tolerances = (legs.question.data.position_tolerance, legs.question.data.rotation_tolerance)

    def require_covers(self, box: LegBox) -> None:
        """Raise NotProven if the stage leaves out some of what is left."""
        names = self._legs.names[self.first : self.first + self.size]
        sides = [side[self.first : self.first + self.size] for side in (box.lower, box.upper)]
        require_covers(names, self, *sides)

    def _row(self, number: int) -> tuple[int, int, Row]:
        """The row, its block, and its pose."""
        block, own = divmod(number, self._legs.rows_of_a_leg)
        if not 0 <= block < len(self._blocks):
            raise NotProven(f"there is no row {number}")
        return block, own % self._legs.n_poses, self._blocks[block].row(own)

    def proven(self, cut: LegCut, axis: int) -> Fraction:
        """The largest v for which ± h ≥ v, or 0 ≥ v, follows: Σ λ (A y − b) ≤ 0 is added, and y taken at its worst."""
        parts = [(*self._row(number), Dyadic.of(weight)) for number, weight in cut.weights]
        errors, target = 23 * len(self._blocks), None
        if cut.side != "empty":
            block, own = divmod(axis - self.first, 7)
            if not 0 <= block < len(self._blocks):
                raise NotProven(f"a box about another leg says nothing of '{cut.unknown}'")
            target = 23 * block + own, 1 if cut.side == "lower" else -1
        terms = [(row, w, _places(block, pose, errors)) for block, pose, row, w in parts]
        return least_value(
            terms,
            target,
            most=lambda column: self._most(column, errors),
            is_square=lambda column: column < errors and column % 23 >= 16,  # the last seven of `PRODUCTS`
        )

    def _most(self, column: int, errors: int) -> Dyadic:
        if column < errors:
            return self._blocks[column // 23].most(column % 23)
        pose, j = divmod(column - errors, 6)
        return Dyadic.of(float(self._tolerances[j // 3][pose, j % 3]))


def check_leg(certificate: LegCertificate, problem: Any) -> Verdict:
    """Whether a certificate proves what it states about this very question, in exact arithmetic.

    `problem` is a `PlatformQuestion`, or a problem of one leg or of several that asks one.

    Examples:
        >>> from gough.checker import load_leg, load_question  # then: check_leg(load_leg(…), load_question(…))
        >>> from gough.core.leg_measurements import PlatformMeasurements
        >>> from gough import Box
        >>> data = PlatformMeasurements([[1, 0, 0, 0]], [[0, 0, 0.5]], [[0.25]], 0, 0, 0)
        >>> question = PlatformQuestion(data, Box([0] * 6 + [0.25], [0] * 6 + [0.5]), (1,))
        >>> fits = LegWitness((0, 0, 0, 0, 0, 0, 0.25), ((0, 0, 0),), ((0, 0, 0),))
        >>> check_leg(LegCertificate(question.digest(), (1,), fits), question).holds
        True

    Raises:
        BeyondLimit: the certificate is too large to be judged, see `gough.checker.limits`.
    """
    question = question_of(problem)
    statement: tuple[str, ...] = ()
    poses: Elements = frozenset()
    try:
        proof = remade(certificate.proof, LEG_PARTS)  # whatever it was made by, its constructors have a say
        certificate = LegCertificate(certificate.problem, certificate.legs, proof, certificate.more)
        _require_same(certificate, question)
        legs = Legs(question, certificate.legs, certificate.more)
        poses = legs.poses(stage for chain in certificate.chains for stage in stages_of(chain))
        with bounded_work():
            statement, reason = _checked(certificate, legs)
        holds = True
    except BeyondLimit:
        raise
    except (NotProven, InputError) as short:
        reason, holds = str(short), False
    exhibits = certificate.kind == "LegWitness"
    looked_at = f"all {len(question.data)} poses" if exhibits else f"{len(poses)} poses"
    given = () if not statement else _condition(certificate, question)
    return Verdict(
        holds=holds,
        reason=reason,
        kind=certificate.kind,
        statement=(*given, *statement),
        rows=tuple(sorted(poses)),
        checked=f"{looked_at}, and the prior",
    )


def _require_same(certificate: LegCertificate, question: PlatformQuestion) -> None:
    if certificate.problem != question.digest():
        raise NotProven("the certificate speaks about other measurements, or they were changed")


def _checked(certificate: LegCertificate, legs: Legs) -> tuple[tuple[str, ...], str]:
    """What is proven, and why."""
    n_boxes = sum(1 for chain in certificate.chains for _ in stages_of(chain))
    n_cuts = sum(len(stage.cuts) for chain in certificate.chains for stage in stages_of(chain))
    by_rows = f"the weighted rows prove each of its {n_cuts} cuts in {n_boxes} boxes"
    match certificate.proof:
        case LegBound(links):
            box = follow(links, legs, legs.prior())
            return _bounds(box, legs), by_rows
        case LegEmpty(links):
            if not follow(links, legs, legs.prior()).is_empty:
                raise NotProven("the cuts are right, but they leave a box in which a leg may be")
            return (f"no {_what(legs)} of the prior fits all poses within their tolerances{_shared(legs)}",), by_rows
        case LegWitness() as witness:
            require_fits(witness, legs.question, legs.legs, legs.more, legs.prior())
            but = f" but {_listed(witness.left_out)}" if witness.left_out else ""
            fits = f"some {_what(legs)} of the prior fits all poses{but} within their tolerances{_shared(legs)}"
            return (fits, *_values(witness, legs)), "the exhibited errors and lengths are within every tolerance"
        case LegOutliers() as proof:
            return _outliers(proof, legs), f"{by_rows}, and no choice of so few poses meets all contradictions"


def _outliers(proof: LegOutliers, legs: Legs) -> tuple[str, ...]:
    sets = []
    for number, chain in enumerate(proof.contradictions, start=1):
        if not follow(chain, legs, legs.prior()).is_empty:
            raise NotProven(f"contradiction {number} leaves a box in which a leg may be")
        sets.append(legs.poses(stages_of(chain)))
    if proof.at_least:  # if no m − 1 poses meet all contradictions, every leg misses m poses or more
        _require_no_cover(sets, proof.at_least - 1)
    for pose in proof.outliers:  # if no q poses without this one meet all, a leg that misses at most q misses it
        if pose >= legs.n_poses:
            raise NotProven(f"there is no pose {pose}: {legs.n_poses} were measured, counted from 0")
        _require_no_cover(sets, proof.q, frozenset({pose}))
    lines = []
    if proof.at_least:
        lines.append(f"every {_what(legs)} of the prior misses at least {proof.at_least} of the poses{_shared(legs)}")
    if proof.outliers:
        few = f"every {_what(legs)} of the prior that misses at most {proof.q} of the poses"
        lines.append(f"{few} misses {_listed(proof.outliers)}{_shared(legs)}")
    return tuple(lines)


def _require_no_cover(sets: list[Elements], q: int, spared: Elements = frozenset()) -> None:
    poses = uncovered(sets, q, spared)
    if poses is not None:
        which = _listed(sorted(poses)) if poses else "no pose at all"
        raise NotProven(f"a leg that misses {which} escapes every one of its {len(sets)} contradictions")


def _condition(certificate: LegCertificate, question: PlatformQuestion) -> tuple[str, ...]:
    exhibits, least = isinstance(certificate.proof, LegWitness), float(question.data.reading_tolerance.min())
    return tolerance_condition(certificate.more, "mm", exhibits=exhibits, least=least)


def _what(legs: Legs) -> str:
    if len(legs.legs) == 1:
        return f"leg {legs.legs[0]}"
    return f"choice of legs {', '.join(map(str, legs.legs))} together"


def _shared(legs: Legs) -> str:
    """What "together" means, for the end of a sentence about several legs."""
    return ", the errors of each pose being the same for all of them" if len(legs.legs) > 1 else ""


def _listed(poses: Iterable[int]) -> str:
    chosen = list(poses)
    return f"pose{'s' if len(chosen) > 1 else ''} {', '.join(map(str, chosen))}"


def _bounds(box: LegBox, legs: Legs) -> tuple[str, ...]:
    if box.is_empty:
        return (f"no {_what(legs)} of the prior fits all poses within their tolerances{_shared(legs)}",)
    sides = zip(legs.names, box.lower, box.upper, strict=True)
    bounds = (f"{bound(low, upper=False)} ≤ {name} ≤ {bound(high, upper=True)} m" for name, low, high in sides)
    which = f"leg {legs.legs[0]}" if len(legs.legs) == 1 else f"legs {', '.join(map(str, legs.legs))} together"
    verb = "fits" if len(legs.legs) == 1 else "fit"
    return (f"if {which} of the prior {verb} all poses within their tolerances{_shared(legs)}:", *bounds)


def _values(witness: LegWitness, legs: Legs) -> tuple[str, ...]:
    return tuple(f"{name} = {value!r} m" for name, value in zip(legs.names, witness.values, strict=True))
