"""From raw data to the question about legs: does every interval that the user stated lie in one of the question's?

`require_contained` proves that `measurements.json` asks no less than what poses and study state, so that what is
impossible there is impossible for the raw data. `require_exhibited` proves the other direction for a witness: its
errors are within the intervals that the user stated, up to a remainder that the reading's interval takes up.

Rotations: let R be the stated rotation, S that of the question's quaternion, and exp(φ) = R Sᵀ. For |ω| ≤ 1 and
|φ| ≤ 1/4 the vector of exp(ω) exp(φ) differs from ω by less than 2 |φ|: along exp(ω) exp(s φ) the angle stays below
5/4, where the derivative of the logarithm is at most (5/8) / sin(5/8) < 1.07.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gough.checker.chain_proofs import ChainCertificate, ChainWitness
from gough.checker.chain_questions import ChainQuestion
from gough.checker.dyadic import Dyadic
from gough.checker.leg_equations import rotation
from gough.checker.linear import NotProven
from gough.checker.manifest import CALIBRATED, Given
from gough.checker.raw_data import (
    Half,
    NotDerived,
    RawPoses,
    RawTable,
    center_of,
    pose_half_widths,
    poses_of,
    reach_of,
    reading_half_widths,
    span_of,
    table_in,
)
from gough.checker.raw_numbers import Scaled, Span, quantity, total, turn
from gough.core.rational import rational

_NEAR = Fraction(1, 4)
_MOST_TURN = 1
_AXES = "xyz"
_POINTS = {"base", "platform", "length", "gain"}
_CIRCLES = {"base_radius", "platform_radius", "base_angles", "platform_angles", "length", "gain"}
BLUEPRINTS = {
    "deltalab": (
        "-223.1792 -151.9573 0 -19.9938 -193.9723 0 345",
        "223.1792 -151.9573 0 19.9938 -193.9723 0 345",
        "243.1885 -117.3002 0 177.9818 79.6710 0 345",
        "20.0093 269.2575 0 157.9880 114.3013 0 345",
        "-20.0093 269.2575 0 -157.9880 114.3013 0 345",
        "-243.1885 -117.3002 0 -177.9818 79.6710 0 345",
    )
}
"""Geometries that a study may name: a, b, l of each leg in mm [DACP06, Table 1]."""


@dataclass(frozen=True)
class RawLegs:
    """What study and poses state about some legs: intervals of poses and readings in m and rad, and the prior."""

    poses: RawPoses
    position: Sequence[tuple[Half, ...]]
    """Half-widths of each pose, m."""
    orientation: Sequence[tuple[Half, ...]]
    """Of its left rotation vector, rad."""
    readings: Sequence[tuple[Span, ...]]
    """Of each pose and leg, multiplied by the gain, m."""
    half: Sequence[tuple[Span, ...]]
    """Half-widths of these, m."""
    center: Sequence[tuple[Span, ...]]
    """Of the prior, leg by leg, m."""
    around: tuple[Scaled, ...]
    """Half-widths of the prior of a leg's seven unknowns, m."""
    legs: tuple[int, ...]
    """Their numbers."""
    centers: str
    """Where the prior's center is from, in words; empty where the study states its numbers."""
    gains: tuple[float, ...]
    """Calibrated gains that are taken as given; empty where the study states them."""


def raw_legs(study: Mapping[str, Any], table: RawTable, given: Given, legs: Sequence[int]) -> RawLegs:
    """What a study states about these legs of a Gough platform.

    Raises:
        NotDerived: the study asks for something that is not derived here.
        NotProven: study and poses do not state what a certificate needs.
    """
    robot, certify = table_in(study, "robot"), table_in(study, "certify")
    geometry = table_in(robot, "geometry")
    n = _count(robot, geometry)
    center, centers = _center(study, given, legs, n)
    if any(leg > n for leg in legs):
        raise NotProven(f"the robot has {n} legs")
    read_in = robot.get("reading_unit", "m")
    if not isinstance(read_in, str):
        raise NotProven("reading_unit is not text")
    poses = poses_of(table, study, n, read_in, planar=False)
    if poses.rotation[0] is None:
        raise NotProven("the poses have no orientations")
    half = reading_half_widths(study, n, read_in)
    gains = _gains(robot, geometry, given, legs, n)
    readings = [tuple(row[leg - 1] * g for leg, g in zip(legs, gains, strict=True)) for row in poses.readings]
    own = [half[leg - 1].span * g.size for leg, g in zip(legs, gains, strict=True)]
    more = _model_error(table_in(certify, "model_error"), poses, readings)
    return RawLegs(
        poses,
        pose_half_widths(study, poses, "position"),
        pose_half_widths(study, poses, "orientation"),
        readings,
        [tuple(a + b for a, b in zip(own, row, strict=True)) for row in more],
        center,
        _around(certify),
        tuple(legs),
        centers,
        given.gains,
    )


def _count(robot: Mapping[str, Any], geometry: Mapping[str, Any]) -> int:
    blueprint = robot.get("blueprint")
    if blueprint is not None:
        if not isinstance(blueprint, str) or blueprint not in BLUEPRINTS:
            raise NotProven(f"the checker knows no blueprint {blueprint!r:.40}")
        if geometry or robot.get("reading_unit", "m") != "m":
            raise NotProven("the study states a blueprint, and a geometry or another unit of readings")
        return len(BLUEPRINTS[blueprint])
    if not set(geometry) <= (_CIRCLES if "base_radius" in geometry else _POINTS):
        raise NotProven("the geometry has a dimension that the checker does not know")
    points = geometry.get("base", geometry.get("base_angles"))
    if not isinstance(points, list):
        raise NotProven("the study states no points of the base")
    return len(points)


def _gains(
    robot: Mapping[str, Any], geometry: Mapping[str, Any], given: Given, legs: Sequence[int], n: int
) -> list[Span]:
    """What readings are multiplied by: as the study states, or calibrated and taken as given."""
    calibrated = robot.get("gains", False)
    if not isinstance(calibrated, bool):
        raise NotProven("'gains' of the robot is neither true nor false")
    if calibrated:
        if len(given.gains) != len(legs):
            raise NotProven("the gains that readings were multiplied by are not in the manifest")
        return [Span.at(rational(gain, "a gain")) for gain in given.gains]
    if given.gains:
        raise NotProven("the manifest gives gains, but the study does not ask for calibrated ones")
    stated = geometry.get("gain", 1)
    each = stated if isinstance(stated, list) else [stated] * n
    if len(each) == 1:
        each = each * n
    if len(each) != n:
        raise NotProven(f"the study states {len(each)} gains of {n} legs")
    return [quantity(each[leg - 1], "1").span for leg in legs]


def _center(study: Mapping[str, Any], given: Given, legs: Sequence[int], n: int) -> tuple[list[tuple[Span, ...]], str]:
    """Of the prior, and where it is from: what the study states, or calibrated values, which are taken as given."""
    robot = table_in(study, "robot")
    geometry = table_in(robot, "geometry")
    if center_of(study) == "calibrated":
        if given.center != CALIBRATED or [len(row) for row in given.values] != [7] * len(legs):
            raise NotProven("the calibrated center of the prior is not in the manifest")
        rows = [tuple(Span.at(rational(x, "a center")) for x in row) for row in given.values]
        return rows, f"{CALIBRATED}, taken as given"
    if given.center or given.values:
        raise NotProven("the manifest gives a center of the prior, but the study states it")
    blueprint = robot.get("blueprint")
    if blueprint is not None:
        table = [BLUEPRINTS[blueprint][leg - 1].split() for leg in legs]
        return [tuple(quantity(f"{x} mm", "m").span for x in row) for row in table], f"blueprint {blueprint}"
    if "length" not in geometry:
        raise NotProven("the study states no lengths of legs")
    base, platform = (_points(geometry, what, n) for what in ("base", "platform"))
    stated = geometry["length"] if isinstance(geometry["length"], list) else [geometry["length"]]
    lengths = stated * n if len(stated) == 1 else stated
    if len(lengths) != n:
        raise NotProven(f"the study states {len(lengths)} lengths of {n} legs")
    return [(*base[leg - 1], *platform[leg - 1], quantity(lengths[leg - 1], "m").span) for leg in legs], ""


def _points(geometry: Mapping[str, Any], what: str, n: int) -> list[tuple[Span, ...]]:
    """The joints of base or platform: coordinates, or angles on a circle."""
    points, angles = geometry.get(what), geometry.get(f"{what}_angles")
    each = points if points is not None else angles
    if not isinstance(each, list) or len(each) != n:
        raise NotProven(f"the study does not state the {what} of {n} legs")
    if points is None:
        radius = quantity(geometry.get(f"{what}_radius"), "m").span
        return [(*(radius * part for part in turn(quantity(x, "rad").span)), Span.at(0)) for x in each]
    if any(not isinstance(point, list) or len(point) != 3 for point in points):
        raise NotProven("a point of the geometry has not three coordinates")
    return [tuple(quantity(x, "m").span for x in point) for point in points]


def _around(certify: Mapping[str, Any]) -> tuple[Scaled, ...]:
    stated = certify.get("around", Fraction(1, 10))
    given = stated if isinstance(stated, list) else [stated]
    if len(given) not in {1, 3}:
        raise NotProven("around is one length, or three")
    base, platform, length = (reach_of(x) for x in (given if len(given) == 3 else given * 3))
    return (base,) * 3 + (platform,) * 3 + (length,)


def _model_error(
    stated: Mapping[str, Any], poses: RawPoses, readings: Sequence[tuple[Span, ...]]
) -> list[tuple[Span, ...]]:
    """What the model may add to each reading's error [DACP06, §6]."""
    units = {"constant": "m", "position": "1", "reading": "1"}
    if quantity(stated.get("orientation", 0), "m/rad").number != 0:
        raise NotDerived("model errors grow with the turn from the mean orientation (model_error.orientation)")
    constant, by_position, by_reading = (quantity(stated.get(name, 0), unit).span for name, unit in units.items())
    if min(constant.low, by_position.low, by_reading.low) < 0:
        raise NotProven("a model error is negative")
    middle = [_middle(column) for column in zip(*readings, strict=True)]
    center = [_middle(column) for column in zip(*poses.position, strict=True)]
    rows = []
    for p, row in zip(poses.position, readings, strict=True):
        fixed = constant
        if by_position.most:
            fixed = fixed + by_position * total((x - c) * (x - c) for x, c in zip(p, center, strict=True)).root()
        rows.append(tuple(fixed + by_reading * (x - m).size for x, m in zip(row, middle, strict=True)))
    return rows


def _middle(column: Sequence[Span]) -> Span:
    low = Span(min(x.low for x in column), min(x.high for x in column))
    high = Span(max(x.low for x in column), max(x.high for x in column))
    return (low + high) * Fraction(1, 2)


def require_contained(question: ChainQuestion, raw: RawLegs) -> None:
    """Raise NotProven unless every stated interval, and the stated prior, lies in that of the question.

    Then a leg that fits some poses within the stated intervals fits them in the question too.
    """
    data, n = question.legs[0], len(raw.poses)
    if len(data) != n:
        raise NotProven(f"the file has {n} poses, copies of rows left out, but there are measurements of {len(data)}")
    for k in range(n):
        for i in range(3):
            away = (raw.poses.position[k][i] - _at(data.position[k, i])).most
            _require(away + span_of(raw.position[k][i]).high, data.position_tolerance[k, i], f"pose {k}, {_AXES[i]}")
        widest = [span_of(half).high for half in raw.orientation[k]]
        turn = between(raw.poses.rotation[k], [rational(x, "a quaternion") for x in data.quaternion[k].tolist()])
        if sum(widest) > _MOST_TURN or turn > _NEAR:
            raise NotProven(f"pose {k}: the orientation is off, or uncertain by more than 1 rad")
        for i in range(3):
            _require(widest[i] + 2 * turn, data.rotation_tolerance[k, i], f"pose {k}, orientation about {_AXES[i]}")
        for i, (number, leg) in enumerate(zip(question.chains, question.legs, strict=True)):
            away = (raw.readings[k][i] - _at(leg.reading[k])).most
            _require(away + raw.half[k][i].high, leg.reading_tolerance[k], f"pose {k}, reading of leg {number}")
    sides = zip(question.prior.lower.tolist(), question.prior.upper.tolist(), strict=True)
    for name, (low, high), (c, reach) in zip(question.names, sides, _prior(raw), strict=True):
        if rational(low, "a side") > c.low - reach.high or rational(high, "a side") < c.high + reach.high:
            raise NotProven(f"the prior of {name} that the study states is not within that of the question")


def _prior(raw: RawLegs) -> list[tuple[Span, Span]]:
    return [(c, r.span) for row in raw.center for c, r in zip(row, raw.around, strict=True)]


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


def require_exhibited(certificate: ChainCertificate, question: ChainQuestion, raw: RawLegs) -> None:
    """Raise NotProven unless the exhibited legs fit the raw data: errors within the intervals that the user stated.

    Where an exhibited position or orientation is beyond its stated interval by rounding, moving it to the nearest one
    inside changes the distance by no more than that; the reading's interval must have so much room.
    """
    witness = certificate.proof
    assert isinstance(witness, ChainWitness)
    more = rational(certificate.more, "what readings may be off by")
    column, values = [question.chains.index(leg) for leg in certificate.chains], witness.values
    prior = _prior(raw)
    for i, place in enumerate(column):
        for j in range(7):
            c, reach = prior[7 * place + j]
            x = values[7 * i + j]
            if x < c.high - reach.low or x > c.low + reach.low:
                raise NotProven(f"the exhibited {question.names[7 * place + j]} is outside the stated prior")
    for k in range(len(raw.poses)):
        if k in witness.left_out:
            continue
        moved, turned = _beyond(witness, question, raw, k)
        for i, place in enumerate(column):
            own = values[7 * i : 7 * i + 7]
            square = question.legs[place].exhibited_square(own, k, witness.errors[k])
            b = total(Span.at(x * x) for x in values[7 * i + 3 : 7 * i + 6]).root().high
            room = max(raw.half[k][place].low + more, Fraction(0)) - moved - turned * b
            length = raw.readings[k][place] + Span.at(values[7 * i + 6])
            most, least = length.low + room, length.high - room
            fits = room >= 0 and most >= 0 and square <= most * most and (least <= 0 or least * least <= square)
            if not fits:
                raise NotProven(f"pose {k}: the exhibited leg {certificate.chains[i]} is beyond the stated intervals")


def _beyond(witness: ChainWitness, question: ChainQuestion, raw: RawLegs, k: int) -> tuple[Fraction, Fraction]:
    """By how much the exhibited position and orientation of a pose are beyond their stated intervals, m and rad."""
    data, moved, turned, errors = question.legs[0], Fraction(0), Fraction(0), witness.errors[k]
    angle = between(raw.poses.rotation[k], [rational(x, "a quaternion") for x in data.quaternion[k].tolist()])
    turns = [2 * abs(x) for x in errors[3:]]
    if sum(turns) > _MOST_TURN or angle > _NEAR:
        raise NotProven(f"pose {k}: the exhibited orientation is off by more than 1 rad")
    for i in range(3):
        shown = _at(float(data.position[k, i])) + Span.at(errors[i])
        away = (shown - raw.poses.position[k][i]).most - span_of(raw.position[k][i]).low
        moved += max(away, Fraction(0))
        turned += max(turns[i] + 2 * angle - span_of(raw.orientation[k][i]).low, Fraction(0))
    return moved, turned
