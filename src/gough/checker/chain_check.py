"""The checker of certificates about chains; it imports no method."""

from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property
from typing import Any

from gough.checker.box_trees import LegBox, follow, least_value, require_covers
from gough.checker.chain_proofs import CHAIN_PARTS, ChainBound, ChainCertificate, ChainEmpty, ChainWitness
from gough.checker.chain_questions import ChainQuestion
from gough.checker.chain_rows import ChainRows, misfit
from gough.checker.check import Verdict
from gough.checker.dyadic import Dyadic
from gough.checker.leg_proofs import LegCut, stages_of
from gough.checker.leg_rows import Row
from gough.checker.limits import BeyondLimit, bounded_work, gcd_cost, remade, spend
from gough.checker.linear import NotProven
from gough.checker.words import bound, tolerance_condition
from gough.core.errors import InputError
from gough.core.rational import rational


class ChainSpace:
    """The unknowns of a question, and by how much more readings may be off."""

    def __init__(self, question: ChainQuestion, more: float) -> None:
        self.question, self.more = question, Dyadic.of(rational(more, "what readings may be off by"))
        self.names, self.legs = question.names, (question.chain,)

    def prior(self) -> LegBox:
        """Where the chain is sought."""
        sides = [[rational(x, "a side") for x in side.tolist()] for side in self._sides]
        return LegBox(sides[0], sides[1])

    @property
    def _sides(self) -> tuple[Any, Any]:
        return self.question.prior.lower, self.question.prior.upper

    def axis(self, unknown: str) -> int:
        """The place of an unknown."""
        if unknown not in self.names:
            raise NotProven(f"there is no unknown '{unknown}' in this chain")
        return self.names.index(unknown)

    def rows(self, center: Iterable[float], radius: Iterable[float], leg: int | None) -> "ChainStage":
        """The rows in a box."""
        if leg is not None:
            raise NotProven("a box of a chain names no leg")
        return ChainStage(self, center, radius)

    def weight(self, row: int, weight: float) -> float:  # noqa: ARG002 - as for legs, whose rows are multiplied
        """As the method has it."""
        return weight

    def poses(self, certificate: ChainCertificate) -> tuple[int, ...]:
        """The poses whose rows have some weight."""
        n = self.question.n_rows
        rows = {row for stage in stages_of(certificate.links) for cut in stage.cuts for row, w in cut.weights if w}
        used = {row % n for row in rows if row < 2 * n}
        return tuple(sorted(pose for pose in used if pose < self.question.n_poses))


class ChainStage:
    """The rows of a chain in a box; and what weights on them prove."""

    first = 0

    def __init__(self, space: ChainSpace, center: Iterable[float], radius: Iterable[float]) -> None:
        self._space = space
        c, r = ([Dyadic.of(rational(x, "a stage")) for x in values] for values in (center, radius))
        n = len(space.names)
        if len(c) != n or len(r) != n:
            raise NotProven(f"a box has {len(c)} unknowns, but the chain has {n}")
        self.center, self.radius = c, r
        self._rows = ChainRows(space.question, c, r, space.more)

    def require_covers(self, box: LegBox) -> None:
        """Raise NotProven if the stage leaves out some of what is left."""
        require_covers(self._space.names, self, box.lower, box.upper)

    @cached_property
    def _places(self) -> range:
        return range(len(self.center) + len(self._space.question.products))

    def _row(self, number: int) -> Row:
        if not 0 <= number < self._rows.n_rows:
            raise NotProven(f"there is no row {number}")
        return self._rows.row(number)

    def proven(self, cut: LegCut, axis: int) -> Fraction:
        """The largest v for which ± h ≥ v, or 0 ≥ v, follows."""
        terms = [(self._row(number), Dyadic.of(weight), self._places) for number, weight in cut.weights]
        target = None if cut.side == "empty" else (axis, 1 if cut.side == "lower" else -1)
        return least_value(terms, target, most=self._rows.most, is_square=self._rows.is_square)


def check_chain(certificate: ChainCertificate, question: ChainQuestion) -> Verdict:
    """Whether a certificate proves what it states about this very question, in exact arithmetic.

    Examples:
        >>> import numpy as np
        >>> from gough import Box
        >>> arrays = [np.zeros(shape) for shape in ((1, 3), (1, 3, 1), (1, 1, 3), (1, 1, 3, 1), (1, 1), (1, 1), 1)]
        >>> arrays[0][0, 2] = 0.5
        >>> question = ChainQuestion(1, ("rod_1",), Box([0.25], [0.75]), *arrays, ((0, 0),))
        >>> check_chain(ChainCertificate(question.digest(), 1, ChainWitness((Fraction(1, 2),))), question).holds
        True
        >>> check_chain(ChainCertificate(question.digest(), 1, ChainWitness((Fraction(3, 8),))), question).reason
        'the exhibited rod is too short in pose 0'

    Raises:
        BeyondLimit: the certificate is too large to be judged, see `gough.checker.limits`.
    """
    statement: tuple[str, ...] = ()
    poses: tuple[int, ...] = ()
    try:
        proof = remade(certificate.proof, CHAIN_PARTS)  # whatever it was made by, its constructors have a say
        certificate = ChainCertificate(certificate.problem, certificate.chain, proof, certificate.more)
        _require_same(certificate, question)
        space = ChainSpace(question, certificate.more)
        poses = space.poses(certificate)
        with bounded_work():
            statement, reason = _checked(certificate, space)
        holds = True
    except BeyondLimit:
        raise
    except (NotProven, InputError) as short:
        reason, holds = str(short), False
    witness = isinstance(certificate.proof, ChainWitness)
    return Verdict(
        holds=holds,
        reason=reason,
        kind=certificate.kind,
        statement=(*(_condition(certificate, question) if statement else ()), *statement),
        rows=poses,
        checked=f"{f'all {question.n_poses}' if witness else len(poses)} poses, and the prior",
    )


def _require_same(certificate: ChainCertificate, question: ChainQuestion) -> None:
    if certificate.problem != question.digest() or certificate.chain != question.chain:
        raise NotProven("the certificate speaks about other equations, or they were changed")


def _checked(certificate: ChainCertificate, space: ChainSpace) -> tuple[tuple[str, ...], str]:
    """What is proven, and why."""
    stages = list(stages_of(certificate.links))
    meets = " and meets its conditions" if space.question.conditions else ""
    what = f"chain {certificate.chain} of the prior"
    none = f"no {what} fits all poses within their tolerances{meets}"
    by_rows = f"the weighted rows prove each of its {sum(len(s.cuts) for s in stages)} cuts in {len(stages)} boxes"
    match certificate.proof:
        case ChainBound(links):
            box = follow(links, space, space.prior())
            if box.is_empty:
                return (none,), by_rows
            sides = zip(space.names, box.lower, box.upper, strict=True)
            bounds = (f"{bound(low, upper=False)} ≤ {name} ≤ {bound(high, upper=True)} m" for name, low, high in sides)
            return (f"if {what} fits all poses within their tolerances{meets}:", *bounds), by_rows
        case ChainEmpty(links):
            if not follow(links, space, space.prior()).is_empty:
                raise NotProven("the cuts are right, but they leave a box in which the chain may be")
            return (none,), by_rows
        case ChainWitness(values):
            require_fits(values, space)
            about = tuple(f"{name} ≈ {float(x)!r} m" for name, x in zip(space.names, values, strict=True))
            fits = f"some {what} fits all poses within their tolerances{meets}"
            return (fits, *about), "at the exhibited chain every rod is long enough and short enough for some errors"


def require_fits(values: tuple[Fraction, ...], space: ChainSpace) -> None:
    question, prior = space.question, space.prior()
    if len(values) != len(space.names):
        raise NotProven(f"{len(values)} numbers are exhibited, but the chain has {len(space.names)} unknowns")
    for name, x, low, high in zip(space.names, values, prior.lower, prior.upper, strict=True):
        if not low <= x <= high:
            raise NotProven(f"the exhibited {name} is outside the prior")
    for number, condition in enumerate(question.conditions, start=1):
        if sum((rational(c, "a coefficient") * values[i] * values[j] for i, j, c in condition), Fraction(0)):
            raise NotProven(f"the exhibited chain does not satisfy condition {number}")
    digits = max(max(x.numerator.bit_length(), x.denominator.bit_length()) for x in values)
    for k in range(question.n_poses):
        spend(1_000_000 + (question.A[k].size + 2 * question.B[k].size) * gcd_cost(digits))
        if wrong := misfit(question, k, list(values), space.more):
            raise NotProven(f"the exhibited rod is {wrong} in pose {k}")


def _condition(certificate: ChainCertificate, question: ChainQuestion) -> tuple[str, ...]:
    unit = "mm" if question.reading_unit == "m" else "mrad"
    exhibits, least = isinstance(certificate.proof, ChainWitness), float(question.tolerance[:, question.reading].min())
    return tolerance_condition(certificate.more, unit, exhibits=exhibits, least=least)
