"""The checker of certificates about chains: legs of Gough platforms, and chains that close over rods."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from gough.checker.certificate import Verdict, rounded_intervals
from gough.checker.chain_boxes import ChainBox, Space, follow
from gough.checker.chain_proofs import (
    CHAIN_PARTS,
    ChainBound,
    ChainCertificate,
    ChainEmpty,
    ChainOutliers,
    ChainWitness,
    JointEmpty,
    stages_of,
)
from gough.checker.chain_questions import ChainQuestion, question_of
from gough.checker.joint_frames import JointRows, poses_of, require_empty
from gough.checker.limits import bounded_work, remade
from gough.checker.linear import NotProven
from gough.checker.relaxed import uncovered
from gough.checker.rod_equations import require_conditions
from gough.checker.words import bound, tolerance_condition
from gough.core.covers import Elements
from gough.core.errors import BeyondLimit, InputError
from gough.core.rational import as_double
from gough.core.text import poses_listed


def check_chains(certificate: ChainCertificate, problem: Any, places: Sequence[str] = ()) -> Verdict:
    """Whether a certificate proves what it states about this very question, in exact arithmetic.

    `problem` is a `ChainQuestion`, or a problem of one leg or of several that asks one. Statements number poses from 0,
    and give the place of each in its file, such as "line 9", where `places` has it.

    Examples:
        >>> from gough.checker import load_chains, load_question  # then: check_chains(load_chains(…), load_question(…))
        >>> from gough.checker import LegMeasurements
        >>> from gough import Box
        >>> data = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.5]], [0.25], 0, 0, 0)
        >>> question = ChainQuestion((1,), (data,), Box([0] * 6 + [0.25], [0] * 6 + [0.5]))
        >>> fits = ChainWitness((0, 0, 0, 0, 0, 0, 0.25), errors=((0, 0, 0, 0, 0, 0),))
        >>> check_chains(ChainCertificate(question.digest(), (1,), fits), question).holds
        True

    Raises:
        BeyondLimit: the certificate is too large to be judged, see `gough.checker.limits`.
    """
    question = question_of(problem)
    question = replace(question, equations=tuple(replace(each) for each in question.equations))  # arrays can be altered
    statement: tuple[str, ...] = ()
    poses: Elements = frozenset()
    box: ChainBox | None = None
    try:
        proof = remade(certificate.proof, CHAIN_PARTS)  # whatever it was made by, its constructors have a say
        certificate = ChainCertificate(certificate.problem, certificate.chains, proof, certificate.more)
        _require_same(certificate, question)
        space = Space.of(question, certificate.chains, certificate.more)
        poses = frozenset().union(*(space.poses(links) for links in certificate.evidence))
        if isinstance(proof, JointEmpty):
            poses |= poses_of(space, proof.frames, proof.stages)
        with bounded_work():
            statement, reason, box = _checked(certificate, space, places)
        holds = True
    except BeyondLimit:
        raise
    except (NotProven, InputError) as short:
        reason, holds = str(short), False
    if isinstance(certificate.proof, ChainWitness):
        left_out = len(certificate.proof.left_out)
        examined = f"{question.n_poses - left_out} of {question.n_poses}" if left_out else f"all {question.n_poses}"
    else:
        examined = str(len(poses))
    return Verdict(
        holds=holds,
        reason=reason,
        kind=certificate.kind,
        statement=(*(_condition(certificate, question) if statement else ()), *statement),
        rows=tuple(sorted(poses)),
        checked=f"{examined} poses, and the prior",
        intervals={} if box is None else rounded_intervals(space.names, box.lower, box.upper),
    )


def _require_same(certificate: ChainCertificate, question: ChainQuestion) -> None:
    if certificate.problem != question.digest():
        raise NotProven("the certificate is about other measurements or equations, or they were changed")


def _checked(
    certificate: ChainCertificate, space: Space, places: Sequence[str] = ()
) -> tuple[tuple[str, ...], str, ChainBox | None]:
    """What is proven, why, and the box of a bound."""
    stages = [stage for links in certificate.evidence for stage in stages_of(links)]
    by_rows = f"the weighted rows prove each of its {sum(len(s.cuts) for s in stages)} cuts in {len(stages)} boxes"
    words = _Words(space, places)
    match certificate.proof:
        case ChainBound(links):
            box = follow(links, space, space.prior())
            return words.bounds(box), by_rows, None if box.is_empty else box
        case ChainEmpty(links):
            if not follow(links, space, space.prior()).is_empty:
                raise NotProven(f"the cuts are right, but they leave a box in which a {words.word} may be")
            return (words.none,), by_rows, None
        case JointEmpty(links, frames, steps):
            require_empty(JointRows(space, follow(links, space, space.prior()), frames), steps, words.word)
            count = sum(map(len, steps)) + sum(len(frame.cuts) for frame in frames)
            return (words.none,), f"{by_rows}, and of {count} more in coordinates of their own", None
        case ChainWitness() as witness:
            require_fits(witness, space)
            which = "each pose that is not left out" if witness.left_out else "each pose"
            why = f"the exhibited values fit {which} with errors within every tolerance"
            return words.fits(witness), why, None
        case ChainOutliers() as proof:
            _require_outliers(proof, space, places)
            return words.outliers(proof), f"{by_rows}, and no choice of so few poses meets all contradictions", None


def require_fits(witness: ChainWitness, space: Space) -> None:
    """Raise NotProven unless the exhibited chains fit every pose but those left out."""
    values, prior, n, word = witness.values, space.prior(), space.n_poses, space.word
    if len(values) != len(space.names):
        raise NotProven(f"{len(values)} values are exhibited, but there are {len(space.names)} unknowns")
    for name, x, low, high in zip(space.names, values, prior.lower, prior.upper, strict=True):
        if not low <= x <= high:
            raise NotProven(f"the exhibited {name} is not within the prior")
    errors = witness.errors or [()] * n
    shown = word == "leg" or len(space.chains) > 1 or bool(witness.errors)
    sizes = {space.equations[0].shared_tolerance.shape[1]} if shown else {0}
    if len(errors) != n or {len(row) for row in errors} != sizes:
        raise NotProven("a witness exhibits the errors of every pose that the chains share")
    if any(pose >= n for pose in witness.left_out):
        raise NotProven(f"poses are left out that there are not: {n} were measured, counted from 0")
    for each, start in zip(space.equations, space.starts, strict=False):
        own = values[start : start + each.n_unknowns]
        require_conditions(each.conditions, own)
        for k in range(n):
            if k not in witness.left_out:
                each.require_fits(own, k, space.more, errors[k])


def _require_outliers(proof: ChainOutliers, space: Space, places: Sequence[str]) -> None:
    sets = []
    for number, links in enumerate(proof.contradictions, start=1):
        if not follow(links, space, space.prior()).is_empty:
            raise NotProven(f"contradiction {number} leaves a box in which a {space.word} may be")
        sets.append(space.poses(links))
    if proof.at_least:  # if no m − 1 poses meet all contradictions, every chain misses m poses or more
        _require_no_cover(sets, proof.at_least - 1, places)
    for pose in proof.outliers:  # if no q poses without this one meet all, a chain that misses at most q misses it
        if pose >= space.n_poses:
            raise NotProven(f"there is no pose {pose}: {space.n_poses} were measured, counted from 0")
        _require_no_cover(sets, proof.q, places, frozenset({pose}))


def _require_no_cover(sets: list[Elements], q: int, places: Sequence[str], spared: Elements = frozenset()) -> None:
    poses = uncovered(sets, q, spared)
    if poses is not None:
        which = poses_listed(sorted(poses), places) if poses else "no pose at all"
        raise NotProven(f"a chain that misses {which} escapes every one of its {len(sets)} contradictions")


def _condition(certificate: ChainCertificate, question: ChainQuestion) -> tuple[str, ...]:
    exhibits = isinstance(certificate.proof, ChainWitness)
    chosen = [question.equations[question.chains.index(chain)] for chain in certificate.chains]
    least = min(float(each.reading_tolerance.min()) for each in chosen)
    unit = "mm" if question.equations[0].reading_unit == "m" else "mrad"
    return tolerance_condition(certificate.more, unit, exhibits=exhibits, least=least)


class _Words:
    """Statements about some chains."""

    def __init__(self, space: Space, places: Sequence[str]) -> None:
        self._names, self.word, self._places = space.names, space.word, places
        several, numbers = len(space.chains) > 1, ", ".join(map(str, space.chains))
        self._geometry = f"geometry of {self.word}{'s' if several else ''} {numbers} within the prior"
        conditions = any(each.conditions for each in space.equations)
        self._geometry += " that meets its conditions" if conditions else ""
        self._that = f"{self._geometry} {'and' if conditions else 'that'}"
        self._shared = f", with the same errors of each pose for all {self.word}s" if several else ""
        self.none = f"no {self._geometry} fits all poses within their tolerances{self._shared}"

    def bounds(self, box: ChainBox) -> tuple[str, ...]:
        """The sides of a box; or that nothing fits, if it is empty."""
        if box.is_empty:
            return (self.none,)
        sides = zip(self._names, box.lower, box.upper, strict=True)
        lines = (f"{bound(low, upper=False)} ≤ {name} ≤ {bound(high, upper=True)} m" for name, low, high in sides)
        fits = f"every {self._that} fits all poses within their tolerances{self._shared}"
        return (f"{fits}{',' if self._shared else ''} satisfies:", *lines)

    def fits(self, witness: ChainWitness) -> tuple[str, ...]:
        """That some chains fit, and which."""
        but = f" but {poses_listed(witness.left_out, self._places)}" if witness.left_out else ""
        pairs = zip(self._names, witness.values, strict=True)
        fits = f"some {self._geometry} fits all poses{but} within their tolerances{self._shared}"
        return (fits, *(f"{name} {_value(x)} m" for name, x in pairs))

    def outliers(self, proof: ChainOutliers) -> tuple[str, ...]:
        """How many poses are missed, and which."""
        lines = []
        if proof.at_least:
            lines.append(f"every {self._geometry} misses at least {proof.at_least} of the poses{self._shared}")
        if proof.outliers:
            few = f"every {self._that} misses at most {proof.q} of the poses{self._shared}"
            lines.append(f"{few}{',' if self._shared else ''} misses {poses_listed(proof.outliers, self._places)}")
        return tuple(lines)


def _value(x: Fraction) -> str:
    """A double as it is, another number by the nearest double."""
    double = as_double(x)
    return f"≈ {float(x)!r}" if double is None else f"= {double!r}"
