"""From raw data to questions: does every interval that the user stated lie in one of the question's?

`require_contained` proves that a question asks no less than what poses and study state, so that what is impossible
there is impossible for the raw data. `require_exhibited` proves the other direction for a witness: its errors are
within the intervals that the user stated, up to a remainder that the reading's interval takes up.

Rotations of legs: let R be the stated rotation, S that of the question's quaternion, and exp(φ) = R Sᵀ. For |ω| ≤ 1 and
|φ| ≤ 1/4 the vector of exp(ω) exp(φ) differs from ω by less than 2 |φ|: along exp(ω) exp(s φ) the angle stays below
5/4, where the derivative of the logarithm is at most (5/8) / sin(5/8) < 1.07.

Rods: p, A, D and B are derived anew, from poses that are moved into the robot's frame where they were measured in an
instrument's (`raw_frames`), and what they differ by from those of the question goes into ρ. A reading or a heading that
is off by η turns a vector x by η; what is left of second order is at most |x| η²/2.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from gough.checker.chain_boxes import Space
from gough.checker.chain_check import require_fits
from gough.checker.chain_proofs import ChainCertificate, ChainWitness
from gough.checker.chain_questions import ChainQuestion
from gough.checker.dyadic import Dyadic
from gough.checker.leg_equations import rotation
from gough.checker.linear import NotProven
from gough.checker.raw_chains import RawChains
from gough.checker.raw_data import span_of
from gough.checker.raw_numbers import Span, total, turn
from gough.checker.rod_equations import RodEquations
from gough.core.rational import rational, round_down

Entries = dict[tuple[int, int], Span]
"""Numbers of a matrix that are not zero, by row and column."""
_ONE, _ZERO = Span.at(1), Span.at(0)
_NEAR = Fraction(1, 4)
_MOST_TURN = 1
_AXES = "xyz"


def require_contained(question: ChainQuestion, raw: RawChains) -> None:
    """Raise NotProven unless every stated interval, and the stated prior, lies in that of the question.

    Then chains that fit some poses within the stated intervals fit them in the question too; together, if the same
    errors of each pose serve all of them.
    """
    if (question.chains, question.names, bool(question.legs)) != (raw.chains, raw.names, raw.family.is_gough):
        numbers = ", ".join(map(str, raw.chains))
        raise NotProven(f"the equations are not those of chain {numbers} of a {raw.family.name}")
    if question.n_poses != len(raw.poses):
        words = f"the file has {len(raw.poses)} poses, copies of rows left out"
        raise NotProven(f"{words}, but there are equations of {question.n_poses}")
    if question.legs:
        for k in range(question.n_poses):
            _require_leg_pose(question, raw, k)
    for i, rod in enumerate(question.rods):
        _require_rod(rod, raw, i)
    sides = zip(question.prior.lower.tolist(), question.prior.upper.tolist(), strict=True)
    for name, (low, high), (least, most) in zip(question.names, sides, raw.prior(outer=True), strict=True):
        if rational(low, "a side") > least or rational(high, "a side") < most:
            raise NotProven(f"the prior of {name} that the study states is not within that of the question")


def require_exhibited(certificate: ChainCertificate, question: ChainQuestion, raw: RawChains) -> None:
    """Raise NotProven unless what a certificate states about a question that contains the raw data holds about them.

    That is so for bounds and emptiness, if readings are not off by more than the question accounts for. An exhibited
    chain must fit with the half-widths and the prior that the user stated.
    """
    if not question.legs and not certificate.more <= 1:
        raise NotProven("readings may be off by more than 1 m or 1 rad")
    witness = certificate.proof
    if not isinstance(witness, ChainWitness):
        _require_narrowed(certificate, question, raw)
        return
    places = [question.chains.index(chain) for chain in certificate.chains]
    size = len(raw.family.unknowns)
    sides, names = raw.prior(outer=False), raw.names
    if len(witness.values) != size * len(places):
        raise NotProven(f"{len(witness.values)} values are exhibited, but there are {size * len(places)} unknowns")
    for i, x in enumerate(witness.values):
        j = size * places[i // size] + i % size
        if not sides[j][0] <= x <= sides[j][1]:
            raise NotProven(f"the exhibited {names[j]} is outside the stated prior")
    if question.legs:
        _require_legs_exhibited(certificate, witness, question, raw)
    else:
        _require_rods_exhibited(certificate, witness, question, raw)


def _require_narrowed(certificate: ChainCertificate, question: ChainQuestion, raw: RawChains) -> None:
    """Raise NotProven unless readings of legs that are off by less than stated stay within those of the question.

    An interval does not become smaller than a point: where the stated half-width is less than what is subtracted, the
    question's may shrink further, and leave the stated reading outside. Rods: a reading that differs goes into ρ, which
    does not shrink.
    """
    if not question.legs or certificate.more >= 0:
        return
    more = rational(certificate.more, "what readings may be off by")
    for chain in certificate.chains:
        i = question.chains.index(chain)
        leg = question.legs[i]
        for k in range(question.n_poses):
            away = (raw.readings[k][i] - _at(leg.reading[k])).most
            allowed = max(rational(leg.reading_tolerance[k], "a tolerance") + more, Fraction(0))
            if away + max(raw.half[k][i].high + more, Fraction(0)) > allowed:
                where = f"pose {raw.poses.label(k)}, reading of leg {chain}"
                raise NotProven(f"{where}: the stated interval, narrowed, is not within that of the question")


def _require_leg_pose(question: ChainQuestion, raw: RawChains, k: int) -> None:
    data = question.legs[0]
    for i in range(3):
        away = (raw.poses.position[k][i] - _at(data.position[k, i])).most
        _require(
            away + span_of(raw.position[k][i]).high,
            data.position_tolerance[k, i],
            f"pose {raw.poses.label(k)}, {_AXES[i]}",
        )
    widest = [span_of(half).high for half in raw.orientation[k]]
    angle = between(raw.poses.rotation[k], [rational(x, "a quaternion") for x in data.quaternion[k].tolist()])
    if sum(widest) > _MOST_TURN or angle > _NEAR:
        raise NotProven(f"pose {raw.poses.label(k)}: the orientation is off, or uncertain by more than 1 rad")
    for i in range(3):
        _require(
            widest[i] + 2 * angle,
            data.rotation_tolerance[k, i],
            f"pose {raw.poses.label(k)}, orientation about {_AXES[i]}",
        )
    for i, (number, leg) in enumerate(zip(question.chains, question.legs, strict=True)):
        away = (raw.readings[k][i] - _at(leg.reading[k])).most
        _require(
            away + raw.half[k][i].high, leg.reading_tolerance[k], f"pose {raw.poses.label(k)}, reading of leg {number}"
        )


def _at(x: float) -> Span:
    return Span.at(rational(x, "a measurement"))


def _require(needed: Fraction, allowed: float, where: str) -> None:
    if needed > rational(allowed, "a tolerance"):
        raise NotProven(f"{where}: the stated interval is not within that of the question")


def between(stated: Any, q: Sequence[Fraction]) -> Fraction:
    """An upper bound of the angle between a stated rotation, a quaternion or matrix, and that of q, rad.

    Examples:
        >>> quarter = (Span.at(1), Span.at(0), Span.at(0), Span.at(1))
        >>> float(between(quarter, [Fraction(x) for x in (1, 0, 0, 1)])), float(between(quarter, [1, 0, 0, 0])) > 1.57
        (0.0, True)
    """
    if len(stated) == 4:
        w, x, y, z = stated
        a, b, c, d = (Span.at(-part) if i else Span.at(part) for i, part in enumerate(q))
        scalar = (w * a - x * b - y * c - z * d).least
        vector = (w * b + x * a + y * d - z * c, w * c - x * d + y * a + z * b, w * d + x * c - y * b + z * a)
        away = sum((part.most for part in vector), Fraction(0))
        return 2 * away / scalar if scalar else Fraction(4)  # 2 atan(|v| / |w|) ≤ 2 |v| / |w|
    return _from_matrix([stated[3 * i : 3 * i + 3] for i in range(3)], q)


def _from_matrix(M: Sequence[Sequence[Span]], q: Sequence[Fraction]) -> Fraction:
    """The same for the rotation R nearest to a matrix M = R P, P symmetric.

    With T = Sᵀ M = exp(ψ) P the skew part of T has along the axis of ψ at least sin |ψ| (s₂ + s₃)/2, where s are the
    eigenvalues of P, at least 9/10 if Mᵀ M differs from 1 by less than 1/10; |ψ| < π/2 if the trace of T is over 2.
    """
    R, size = rotation([Dyadic.of(x) for x in q])
    S = [[x.fraction / size.fraction for x in row] for row in R]
    T = [[total(M[k][j] * S[k][i] for k in range(3)) for j in range(3)] for i in range(3)]
    square = [[total(M[k][i] * M[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
    off = sum(((square[i][j] - Span.at(int(i == j))).most for i in range(3) for j in range(3)), Fraction(0))
    trace = total(T[i][i] for i in range(3))
    determinant = total(
        M[0][i] * (M[1][(i + 1) % 3] * M[2][(i + 2) % 3] - M[1][(i + 2) % 3] * M[2][(i + 1) % 3]) for i in range(3)
    )
    if off >= Fraction(1, 10) or trace.low <= 2 or determinant.low <= 0:
        raise NotProven("a matrix is no rotation, or another one than the question's")
    # sin |ψ| ≤ skew / (9/5), and |ψ| ≤ π/2 sin |ψ| below π/2, where skew is this sum
    return sum(((T[i][j] - T[j][i]).most for i, j in ((0, 1), (1, 2), (2, 0))), Fraction(0))


def _require_legs_exhibited(
    certificate: ChainCertificate, witness: ChainWitness, question: ChainQuestion, raw: RawChains
) -> None:
    """Errors of legs must be within the stated intervals.

    Where an exhibited position or orientation is beyond its stated interval by rounding, moving it to the nearest one
    inside changes the distance by no more than that; the reading's interval must have so much room.
    """
    more, values = rational(certificate.more, "what readings may be off by"), witness.values
    for k in range(question.n_poses):
        if k in witness.left_out:
            continue
        moved, turned = _beyond(witness, question, raw, k)
        for i, leg in enumerate(certificate.chains):
            place, own = question.chains.index(leg), values[7 * i : 7 * i + 7]
            square = question.legs[place].exhibited_square(own, k, witness.errors[k])
            b = total(Span.at(x * x) for x in own[3:6]).root().high
            room = max(raw.half[k][place].low + more, Fraction(0)) - moved - turned * b
            length = raw.readings[k][place] + Span.at(own[6])
            most, least = length.low + room, length.high - room
            fits = room >= 0 and most >= 0 and square <= most * most and (least <= 0 or least * least <= square)
            if not fits:
                raise NotProven(f"pose {raw.poses.label(k)}: the exhibited leg {leg} is beyond the stated intervals")


def _beyond(witness: ChainWitness, question: ChainQuestion, raw: RawChains, k: int) -> tuple[Fraction, Fraction]:
    """By how much the exhibited position and orientation of a pose are beyond their stated intervals, m and rad."""
    data, moved, turned, errors = question.legs[0], Fraction(0), Fraction(0), witness.errors[k]
    angle = between(raw.poses.rotation[k], [rational(x, "a quaternion") for x in data.quaternion[k].tolist()])
    turns = [2 * abs(x) for x in errors[3:]]
    if sum(turns) > _MOST_TURN or angle > _NEAR:
        raise NotProven(f"pose {raw.poses.label(k)}: the exhibited orientation is off by more than 1 rad")
    for i in range(3):
        exhibited = _at(float(data.position[k, i])) + Span.at(errors[i])
        away = (exhibited - raw.poses.position[k][i]).most - span_of(raw.position[k][i]).low
        moved += max(away, Fraction(0))
        turned += max(turns[i] + 2 * angle - span_of(raw.orientation[k][i]).low, Fraction(0))
    return moved, turned


@dataclass(frozen=True)
class _Equation:
    """d = p + A x + Σ ε (D + B x) + ρ of one pose, errors in the order of the question, |ρ| ≤ rest + Σ bend |x|."""

    p: list[Span]
    A: Entries
    D: list[dict[int, Span]]
    B: list[Entries]
    half: list[Span]
    reading: int
    """Which error is that of the reading."""
    turned: tuple[int, ...]
    """Columns that the reading turns."""
    rest: Fraction
    bend: dict[int, Fraction]
    """What errors of the pose leave out, without what the reading does."""


def _equation(raw: RawChains, i: int, k: int) -> _Equation:
    """The equation of the i-th chain in pose k."""
    pose, reading, name = raw.seen[k], raw.readings[k][i], raw.family.name
    axes, first = raw.family.axes, len(raw.family.unknowns) - 3
    p = [pose.position[j] if j < axes else _ZERO for j in range(3)]
    A, along, turning = {(j, j): -_ONE for j in range(axes)}, dict[int, Span](), Entries()
    if name == "linear-delta":
        p[2], along = p[2] + reading, {2: _ONE}
    else:
        c, s = turn(reading)
        if name == "3-rrr":
            A |= {(0, 2): -c, (0, 3): s, (1, 2): -s, (1, 3): -c}
            turning = {(0, 2): s, (0, 3): c, (1, 2): -c, (1, 3): s}
        else:
            A |= {(j, 3 + j): -c for j in range(3)} | {(j, 6 + j): -s for j in range(3)}
            turning = {(j, 3 + j): s for j in range(3)} | {(j, 6 + j): -c for j in range(3)}
    D, B, bend = list[dict[int, Span]](), list[Entries](), dict[int, Fraction]()
    for error in (*pose.shifts, *pose.turns):
        D.append({axis: error.direction[axis] for axis in range(axes)})
        B.append({})
        if raw.family.turns:
            a, b = (error.slope * part for part in pose.heading)
            B[-1] = {(0, first): -b, (0, first + 1): -a, (1, first): a, (1, first + 1): -b}
    if raw.family.turns:
        a, b = pose.heading
        A |= {(0, first): a, (0, first + 1): -b, (1, first): b, (1, first + 1): a}
        bend = dict.fromkeys((first, first + 1), pose.bent)
    place = len(pose.shifts)
    D.insert(place, along)
    B.insert(place, turning)
    turned = tuple(sorted({j for _, j in turning}))
    return _Equation(p, A, D, B, _halves(raw, i, k), place, turned, pose.left, bend)


def _require_rod(rod: RodEquations, raw: RawChains, i: int) -> None:
    """Equations, errors and conditions of the i-th chain enclose what study and poses define.

    Numbers that differ from the question's go into ρ. They count with errors up to 1 m or 1 rad more than stated, so
    that they also hold where a certificate lets readings be off by more.
    """
    first, name = _equation(raw, i, 0), raw.family.name
    known = (raw.family.reading_unit, first.reading, len(first.half))
    if (rod.reading_unit, rod.reading, rod.tolerance.shape[1]) != known:
        raise NotProven(f"the equations are not those of chain {raw.chains[i]} of a {name}")
    if _in_order(rod.conditions) != _in_order(raw.family.conditions):
        raise NotProven(f"the conditions of the equations are not those of a {name}")
    if set(rod.turned) != set(first.turned):
        raise NotProven(f"the reading does not turn what it turns in a {name}")
    for k in range(rod.n_poses):
        _require_pose(rod, k, first if k == 0 else _equation(raw, i, k), raw.poses.label(k))


def _in_order(conditions: Sequence[Any]) -> list[list[tuple[int, int, Fraction]]]:
    """All terms of all conditions, whatever order they stand in; what stands twice is twice in it."""
    return sorted(sorted((i, j, rational(c, "a coefficient")) for i, j, c in each) for each in conditions)


def _require_pose(rod: RodEquations, k: int, stated: _Equation, label: str) -> None:
    t = [rational(x, "a tolerance") for x in rod.tolerance[k].tolist()]
    if any(half.high > allowed for half, allowed in zip(stated.half, t, strict=True)):
        raise NotProven(f"pose {label}: a stated half-width is larger than that of the equations")
    blur = sum((abs_off(x, y) for x, y in zip(stated.p, rod.p[k].tolist(), strict=True)), stated.rest)
    bend = [stated.bend.get(j, Fraction(0)) for j in range(len(rod.names))]
    _add_away(bend, rod.A[k], stated.A, Fraction(1))
    for e, (D, B) in enumerate(zip(stated.D, stated.B, strict=True)):
        off = [abs_off(D.get(i, Span.at(0)), y) for i, y in enumerate(rod.D[k, e].tolist())]
        blur += (t[e] + 1) * sum(off, Fraction(0))
        _add_away(bend, rod.B[k, e], B, t[e] + 1)
    for j in stated.turned:
        bend[j] += t[stated.reading] ** 2 / 2
    allowed = [rational(x, "a bend") for x in rod.bend[k].tolist()]
    if blur > rational(float(rod.blur[k]), "a blur") or any(x > y for x, y in zip(bend, allowed, strict=True)):
        raise NotProven(f"pose {label}: the equations do not enclose what the pose and the reading define")


def abs_off(stated: Span, x: float) -> Fraction:
    """The largest distance of a stated number from that of the rod."""
    return (stated - Span.at(rational(x, "a coefficient"))).most


def _add_away(bend: list[Fraction], matrix: Any, stated: Entries, weight: Fraction) -> None:
    zero = Span.at(0)
    for i, row in enumerate(matrix.tolist()):
        for j, x in enumerate(row):
            if x or (i, j) in stated:
                bend[j] += weight * abs_off(stated.get((i, j), zero), x)


def _require_rods_exhibited(
    certificate: ChainCertificate, witness: ChainWitness, question: ChainQuestion, raw: RawChains
) -> None:
    """Chains over rods must fit with the stated half-widths.

    The equations enclose the stated ones, and an exhibited chain fits whatever ρ is. Where an exhibited error is beyond
    its stated half-width by rounding, the chain must fit with the nearest error inside.
    """
    rods = []
    for i, rod in enumerate(question.rods):
        half = [[round_down(each.low) for each in _halves(raw, i, k)] for k in range(question.n_poses)]
        rods.append(replace(rod, tolerance=np.minimum(np.array(half, dtype=float), rod.tolerance)))
    narrower = replace(question, equations=tuple(rods))
    most = [[rational(t, "a tolerance") for t in row] for row in rods[0].shared_tolerance.tolist()]
    errors = tuple(
        tuple(max(min(e, t), -t) for e, t in zip(row, limits, strict=True))
        for row, limits in zip(witness.errors, most, strict=True)
    ) if witness.errors else ()  # fmt: skip
    require_fits(replace(witness, errors=errors), Space.of(narrower, certificate.chains, certificate.more))


def _halves(raw: RawChains, i: int, k: int) -> list[Span]:
    """Half-widths of the errors of the i-th chain in pose k, in the order of its equations."""
    pose = raw.seen[k]
    return [*(error.half for error in pose.shifts), raw.half[k][i], *(error.half for error in pose.turns)]
