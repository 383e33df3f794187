"""Certificates about one leg: a chain of boxes, each cut by weighted rows of poses and envelopes of products."""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import Any, NamedTuple, Protocol

import numpy as np

from gough.certify.check import Verdict
from gough.certify.dyadic import Dyadic
from gough.certify.leg_rows import ENVELOPES, LegRows
from gough.certify.linear import NotProven
from gough.certify.words import approximately
from gough.core.errors import require
from gough.core.leg_measurements import LegMeasurements
from gough.core.rational import rational, round_down
from gough.estimate import Estimate
from gough.unknowns import Unknowns

SIDES = ("lower", "upper", "empty")


class LegQuestion(Protocol):
    """Which legs within the prior are consistent with the measurements?"""

    @property
    def data(self) -> LegMeasurements: ...

    @property
    def unknowns(self) -> Unknowns: ...


@dataclass(frozen=True)
class LegCut:
    """A bound on one unknown, or a contradiction (side "empty"), proven by weights ≥ 0 on rows of its stage.

    Row k says that the distance of pose k is not too long, row N + k that it is not too short; rows from 2 N on are the
    four planes or tangents of each product, in the order of `leg_rows.PRODUCTS`.
    """

    unknown: str
    side: str
    bound: float
    """Of the unknown, in m; 0 for a contradiction."""
    weights: tuple[tuple[int, float], ...]

    def __post_init__(self) -> None:
        require(self.side in SIDES, f"the side of a cut is one of {', '.join(SIDES)}, not {self.side!r:.20}")
        for row, weight in self.weights:
            whole = isinstance(row, int) and not isinstance(row, bool) and row >= 0
            require(whole, f"a row has a whole number from 0, not {row!r:.20}")
            require(rational(weight, f"the weight of row {row}") >= 0, f"the weight of row {row} is negative")
        rational(self.bound, "a bound")


@dataclass(frozen=True)
class LegStage:
    """A box center ± radius in which equations are expanded, and the cuts found there."""

    center: tuple[float, ...]
    radius: tuple[float, ...]
    cuts: tuple[LegCut, ...]

    def __post_init__(self) -> None:
        fits = len(self.center) == len(self.radius) == 7
        require(fits, "a stage has a center and a radius for each of 7 unknowns")
        require(all(rational(r, "a radius") >= 0 for r in self.radius), "a radius must not be negative")


@dataclass(frozen=True)
class LegCertificate:
    """What a chain of boxes proves of a leg, and the digest of the question that it answers."""

    problem: str
    stages: tuple[LegStage, ...]

    @property
    def n_cuts(self) -> int:
        """Number of cuts in all boxes."""
        return sum(len(stage.cuts) for stage in self.stages)


class LegBox(NamedTuple):
    """What is left of the prior."""

    lower: list[Fraction]
    upper: list[Fraction]
    refuted: bool = False

    @property
    def is_empty(self) -> bool:
        return self.refuted or any(low > high for low, high in zip(self.lower, self.upper, strict=True))


def leg_digest(problem: LegQuestion) -> str:
    """SHA-256 of names, units, prior and measurements."""
    h = sha256(b"gough leg 1\n")
    for texts in (problem.unknowns.names, problem.unknowns.units):
        h.update(b"%d texts\n" % len(texts))
        for text in texts:
            h.update(b"%d:%s" % (len(text.encode()), text.encode()))
    prior, data = problem.unknowns.bounds, problem.data
    arrays = {"lower": prior.lower, "upper": prior.upper, "quaternion": data.quaternion, "position": data.position}
    arrays |= {name: getattr(data, name) for name in ("reading", "position_tolerance", "rotation_tolerance")}
    for name, values in {**arrays, "reading_tolerance": data.reading_tolerance}.items():
        h.update(f"{name} {values.shape}\n".encode())
        h.update(np.ascontiguousarray(values, dtype="<f8").data)
    return f"sha256:{h.hexdigest()}"


def check_leg(certificate: LegCertificate, problem: LegQuestion) -> Verdict:
    """Whether the chain proves what it states about this very question, in exact arithmetic."""
    kind = "LegBound"
    rows = {row for stage in certificate.stages for cut in stage.cuts for row, _ in cut.weights}
    n = len(problem.data)
    poses = tuple(sorted({row % n for row in rows if row < 2 * n}))
    try:
        box = follow_leg(certificate, problem)
    except NotProven as short:
        return Verdict(
            holds=False,
            reason=str(short),
            kind=kind,
            statement=(),
            rows=poses,
            checked=f"{len(poses)} poses, and the prior",
        )
    kind = "LegEmpty" if box.is_empty else kind
    reason = f"the weighted rows prove each of its {certificate.n_cuts} cuts in {len(certificate.stages)} boxes"
    looked_at = f"{len(poses)} poses, and the prior"
    return Verdict(
        holds=True, reason=reason, kind=kind, statement=_statement(box, problem), rows=poses, checked=looked_at
    )


def follow_leg(certificate: LegCertificate, problem: LegQuestion) -> LegBox:
    """The box that a chain establishes; raises NotProven at the first cut that proves less than it states."""
    if certificate.problem != leg_digest(problem):
        raise NotProven("the certificate speaks about another leg, or the measurements were changed")
    box = _prior(problem)
    for number, stage in enumerate(certificate.stages, start=1):
        if box.is_empty:
            break
        rows, left = _rows(problem, stage.center, stage.radius, box), box
        for cut in stage.cuts:
            proven = _proven(rows, problem, cut)
            stated = _stated(cut, rational(stage.center[_axis(problem, cut)], "center"))
            if proven < stated or (cut.side == "empty" and not proven > 0):
                short = approximately(stated - proven)
                raise NotProven(f"box {number}, {cut.side} side of '{cut.unknown}': its rows prove {short} less")
            left = _tightened(left, problem, cut)
        box = left
    return box


def leg_certificate(problem: LegQuestion, answer: Estimate, *, digits: int = 13) -> LegCertificate:
    """The certificate of a lifted hull's answer: its boxes again, in exact numbers, with weights of so many digits.

    Each bound is the largest double that the weights prove; the box may differ from the answer's in the last digits.
    """
    stages: list[LegStage] = []
    box, n = _prior(problem), len(problem.data)
    length = (problem.data.quaternion**2).sum(axis=1)
    for given in getattr(answer.stats, "stages", ()):
        if box.is_empty or not given.center:
            break
        center, radius = _around(box)
        rows, left, cuts = _rows(problem, center, radius, box), box, []
        for found in given.cuts:
            weights = tuple(
                (row, float(f"{w / length[row % n] if row < 2 * n else w:.{digits}g}"))
                for row, w in zip(found.rows, found.weights, strict=True)
            )
            side = "empty" if found.sign == 0 else "lower" if found.sign > 0 else "upper"
            cut = _best(rows, problem, LegCut(problem.unknowns.names[found.axis], side, 0.0, weights), center)
            if cut is not None:
                cuts.append(cut)
                left = _tightened(left, problem, cut)
        stages.append(LegStage(center, radius, tuple(cuts)))
        box = left
    return LegCertificate(leg_digest(problem), tuple(stages))


def _prior(problem: LegQuestion) -> LegBox:
    prior = problem.unknowns.bounds
    if not prior.is_bounded:
        raise NotProven("the prior of a leg has no finite bounds to begin with")
    lower, upper = ([rational(x, "a side") for x in side.tolist()] for side in (prior.lower, prior.upper))
    return LegBox(lower, upper)


def _around(box: LegBox) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Doubles center, radius around a box."""
    center = [float((low + high) / 2) for low, high in zip(box.lower, box.upper, strict=True)]
    radius = []
    for c, low, high in zip(center, box.lower, box.upper, strict=True):
        below = round_down(-max(high - Fraction(c), Fraction(c) - low))
        assert below is not None
        radius.append(-below)
    return tuple(center), tuple(radius)


def _rows(problem: LegQuestion, center: Iterable[float], radius: Iterable[float], box: LegBox) -> LegRows:
    c, r = ([rational(x, "a stage") for x in values] for values in (center, radius))
    names = problem.unknowns.names
    for name, middle, half, low, high in zip(names, c, r, box.lower, box.upper, strict=True):
        if middle - half > low or middle + half < high:
            raise NotProven(f"a box does not cover what was left of '{name}'")
    return LegRows(problem.data, [Dyadic.of(x) for x in c], [Dyadic.of(x) for x in r])


def _axis(problem: LegQuestion, cut: LegCut) -> int:
    if cut.unknown not in problem.unknowns.names:
        raise NotProven(f"the leg has no unknown '{cut.unknown}'")
    return problem.unknowns.names.index(cut.unknown)


def _proven(rows: LegRows, problem: LegQuestion, cut: LegCut) -> Fraction:
    """The largest v for which ± h ≥ v, or 0 ≥ v, follows: Σ λ (A y − b) ≤ 0 is added, and y taken at its worst."""
    parts = []
    for number, weight in cut.weights:
        if number >= 2 * len(problem.data) + ENVELOPES:
            raise NotProven(f"there is no row {number}")
        parts.append((rows.row(number), Dyadic.of(weight)))
    least = min([0, *(row.exponent + w.e for row, w in parts)])
    total, value = [0] * 23, 0
    if cut.side != "empty":
        total[_axis(problem, cut)] = (1 if cut.side == "lower" else -1) << -least
    for row, w in parts:
        factor = w.n << (row.exponent + w.e - least)
        value -= factor * row.side
        total = [t + factor * a if a else t for t, a in zip(total, row.coefficients, strict=True)]
    bound = Dyadic(value, least)
    for column, t in enumerate(total):
        if column < 16 or t < 0:  # squares are not negative
            bound -= Dyadic(abs(t), least) * rows.most(column)
    return bound.fraction


def _stated(cut: LegCut, center: Fraction) -> Fraction:
    bound = rational(cut.bound, "a bound")
    return {"lower": bound - center, "upper": center - bound, "empty": Fraction(0)}[cut.side]


def _tightened(box: LegBox, problem: LegQuestion, cut: LegCut) -> LegBox:
    lower, upper, axis, bound = list(box.lower), list(box.upper), _axis(problem, cut), rational(cut.bound, "a bound")
    if cut.side == "empty":
        return box._replace(refuted=True)
    if cut.side == "lower":
        lower[axis] = max(lower[axis], bound)
    else:
        upper[axis] = min(upper[axis], bound)
    return LegBox(lower, upper, box.refuted)


def _best(rows: LegRows, problem: LegQuestion, cut: LegCut, center: tuple[float, ...]) -> LegCut | None:
    """The cut with the best double that its weights prove; None if they prove nothing new."""
    proven, axis = _proven(rows, problem, cut), _axis(problem, cut)
    if cut.side == "empty":
        return cut if proven > 0 else None
    middle = Fraction(center[axis])
    bound = round_down(middle + proven) if cut.side == "lower" else round_down(proven - middle)
    if bound is None or proven <= -rows.most(axis).fraction:
        return None
    return LegCut(cut.unknown, cut.side, bound if cut.side == "lower" else -bound, cut.weights)


def _statement(box: LegBox, problem: LegQuestion) -> tuple[str, ...]:
    if box.is_empty:
        return ("no leg within the prior fits all poses within their tolerances",)
    sides: list[Any] = [problem.unknowns.names, problem.unknowns.units, box.lower, box.upper]
    return tuple(
        f"{float(low)!r} ≤ {name} ≤ {float(high)!r} {unit}" for name, unit, low, high in zip(*sides, strict=True)
    )
