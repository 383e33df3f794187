"""Exhibited errors of poses with which a leg fits, checked in exact arithmetic.

A reading is a real number: if the distance at such a pose lies between l + reading − T and l + reading + T, some
error of the reading within its tolerance T makes the equation hold. No square root is taken: squares are compared.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from gough.checker.dyadic import ZERO, Dyadic, total
from gough.checker.leg_proofs import LegWitness
from gough.checker.leg_questions import PlatformQuestion
from gough.checker.leg_rows import Numbers, rotation
from gough.checker.limits import spend
from gough.checker.linear import NotProven
from gough.core.leg_measurements import LegMeasurements
from gough.core.rational import rational


def require_fits(
    witness: LegWitness, question: PlatformQuestion, legs: tuple[int, ...], more: Dyadic, prior: Any
) -> None:
    """Raise NotProven unless every leg fits every pose but those left out."""
    n = len(question.data)
    spend(n * len(legs) * 300_000)
    if len(witness.values) != 7 * len(legs) or len(witness.move) != n:
        raise NotProven(f"a witness of {len(legs)} legs and {n} poses has as many values and errors")
    for value, low, high in zip(witness.values, prior.lower, prior.upper, strict=True):
        if not low <= rational(value, "a value") <= high:
            raise NotProven(f"{value!r} is not within the prior")
    values = _numbers(witness.values)
    for k in range(n):
        if k in witness.left_out:
            continue
        q, p = _moved(question, k, _numbers(witness.move[k]), _numbers(witness.turn[k]))
        for i, leg in enumerate(legs):
            squared, size = _distance(values[7 * i : 7 * i + 7], q, p)
            _require_length(squared, size, values[7 * i + 6], (question.by_leg[leg], k, more))


def exhibited_distances(witness: LegWitness, question: PlatformQuestion, legs: int, k: int) -> list[Fraction]:
    """|R b + p − a|² of each leg at the exhibited pose k."""
    values = _numbers(witness.values)
    q, p = _moved(question, k, _numbers(witness.move[k]), _numbers(witness.turn[k]))
    pairs = [_distance(values[7 * i : 7 * i + 7], q, p) for i in range(legs)]
    return [squared.fraction / size.fraction**2 for squared, size in pairs]


def _moved(question: PlatformQuestion, k: int, move: Numbers, turn: Numbers) -> tuple[Numbers, Numbers]:
    """The measured pose with its exhibited error, which is within the tolerances.

    The quaternion (1, v) turns by 2 atan |v| about v: no component of its rotation vector exceeds 2 |v_i|.
    """
    data = question.data
    limits = (_numbers(data.position_tolerance[k].tolist()), _numbers(data.rotation_tolerance[k].tolist()))
    if any(limit < abs(x) for x, limit in zip(move, limits[0], strict=True)):
        raise NotProven(f"pose {k}: the exhibited error of its position is beyond the tolerance")
    if any(limit < 2 * abs(x) for x, limit in zip(turn, limits[1], strict=True)):
        raise NotProven(f"pose {k}: the exhibited error of its orientation is beyond the tolerance")
    w, x, y, z = _numbers(data.quaternion[k].tolist())
    a, b, c = turn
    q = [w - a * x - b * y - c * z, x + a * w + b * z - c * y, y + b * w + c * x - a * z, z + c * w + a * y - b * x]
    return q, [x + d for x, d in zip(_numbers(data.position[k].tolist()), move, strict=True)]


def _distance(x: Numbers, q: Numbers, p: Numbers) -> tuple[Dyadic, Dyadic]:
    """|q|⁴ |R b + p − a|² and |q|²."""
    R, size = rotation(q)
    d = [total(r * b for r, b in zip(R[i], x[3:6], strict=True)) + size * (p[i] - x[i]) for i in range(3)]
    return total(each * each for each in d), size


def _require_length(squared: Dyadic, size: Dyadic, length: Dyadic, at: tuple[LegMeasurements, int, Dyadic]) -> None:
    """The distance is between s − T and s + T with s = l + reading.

    A distance is not negative, so the squares are compared: with that of s + T if it is not negative either (else
    nothing fits), with that of s − T if it is positive (else every distance is long enough).
    """
    data, k, more = at
    s = length + Dyadic.of(float(data.reading[k]))
    T = max(Dyadic.of(float(data.reading_tolerance[k])) + more, ZERO)
    most, least = size * (s + T), size * (s - T)
    if most < ZERO or most * most < squared:
        raise NotProven(f"pose {k}: the leg is too short there, by more than the reading's tolerance")
    if least > ZERO and squared < least * least:
        raise NotProven(f"pose {k}: the leg is too long there, by more than the reading's tolerance")


def _numbers(values: Iterable[float]) -> Numbers:
    return [Dyadic.of(rational(x, "a number")) for x in values]
