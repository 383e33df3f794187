"""From raw data to the equations of a chain: do p, A, D and B of the question enclose what poses and readings define?

The chains of five families close over one rod, |d| = l, with angles replaced by the vectors that they turn:

    linear-delta            d = p + reading e_z − P
    rotary-delta            d = p − P − cos q U − sin q V
    h4, par4                d = p + R(θ) c − P − cos q U − sin q V
    3-rrr                   d = p + R(θ) c − P − R(q) U, in the plane

A reading or a heading that is off by η turns a vector x by η; what is left of second order is at most |x| η²/2.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from gough.checker.chain_boxes import Space
from gough.checker.chain_check import require_fits
from gough.checker.chain_proofs import ChainCertificate, ChainWitness
from gough.checker.chain_questions import ChainQuestion
from gough.checker.linear import NotProven
from gough.checker.manifest import BLUEPRINT, CALIBRATED, Given
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
from gough.checker.raw_numbers import Scaled, Span, quantity, turn
from gough.checker.rod_equations import RodEquations
from gough.core.rational import rational, round_down

Entries = dict[tuple[int, int], Span]
"""Numbers of a matrix that are not zero, by row and column."""
_ONE = Span.at(1)
_LEVEL_AXIS = (
    ((3, 6, 1), (4, 7, 1), (5, 8, 1)),
    ((3, 7, 1), (4, 6, -1)),
    ((3, 3, 1), (4, 4, 1), (8, 8, -1)),
    ((6, 6, 1), (7, 7, 1), (5, 5, -1)),
    ((3, 5, 1), (6, 8, 1)),
    ((4, 5, 1), (7, 8, 1)),
)
"""Of an arm on a level axis, U = L (cos z r − sin z e_z) and V = −L (sin z r + cos z e_z) with a level unit vector r:
U·V = 0, level parts are parallel, |U level| = |V_z|, |V level| = |U_z|, and U_z U + V_z V is upright."""
_ON_RADIUS = (((0, 4, 1), (1, 3, -1)), ((0, 7, 1), (1, 6, -1)))
"""The motor of a rotary delta lies on the line from the origin along r."""


@dataclass(frozen=True)
class Family:
    """What the checker knows of a family of robots."""

    chains: int
    reading_unit: str
    turns: bool
    unknowns: tuple[str, ...]
    conditions: tuple[Any, ...] = ()


_ARM = (*(f"motor_{x}" for x in "xyz"), *(f"arm_at_0_{x}" for x in "xyz"), *(f"arm_at_90_{x}" for x in "xyz"))
_JOINT = ("joint_x", "joint_y")
FAMILIES = {
    "linear-delta": Family(3, "m", turns=False, unknowns=("tower_x", "tower_y", "carriage", "arm")),
    "rotary-delta": Family(3, "rad", turns=False, unknowns=(*_ARM, "rod"), conditions=(*_LEVEL_AXIS, *_ON_RADIUS)),
    "h4": Family(4, "rad", turns=True, unknowns=(*_ARM, *_JOINT, "rod"), conditions=_LEVEL_AXIS),
    "par4": Family(4, "rad", turns=True, unknowns=(*_ARM, *_JOINT, "rod"), conditions=_LEVEL_AXIS),
    "3-rrr": Family(3, "rad", turns=True, unknowns=("base_x", "base_y", "arm_x", "arm_y", *_JOINT, "rod")),
}


@dataclass(frozen=True)
class RawChain:
    """What study and poses state about a chain: intervals of poses and readings, and the prior."""

    name: str
    family: Family
    chain: int
    poses: RawPoses
    position: Sequence[tuple[Half, ...]]
    heading: Sequence[Half]
    """Half-widths of headings, rad; zero where nothing turns."""
    half: Scaled
    """Half-width of the reading, in its unit."""
    center: tuple[Span, ...]
    around: Scaled
    centers: str
    """Where the prior's center is from, in words."""


def raw_chain(study: Mapping[str, Any], table: RawTable, given: Given, chain: int, place: int) -> RawChain:
    """What a study states about a chain, counted from 1, whose center of the prior stands at `place` of those given.

    Raises:
        NotDerived: the study asks for something that is not derived here.
        NotProven: study and poses do not state what a certificate needs.
    """
    robot, certify = table_in(study, "robot"), table_in(study, "certify")
    name = robot.get("family")
    if not isinstance(name, str) or name not in FAMILIES:
        raise NotProven(f"the checker knows no chains of the family {name!r:.40}")
    family = FAMILIES[name]
    if not 1 <= chain <= family.chains:
        raise NotProven(f"a {name} has no chain {chain}")
    poses = poses_of(table, study, family.chains, family.reading_unit, planar=name == "3-rrr")
    heading = list[Half]([Span.at(0)] * len(poses))
    if family.turns:
        if poses.rotation[0] is None:
            raise NotProven("the poses have no orientations")
        heading = [row[2] for row in pose_half_widths(study, poses, "orientation")]
    _require_plain(study)
    centers = CALIBRATED if center_of(study) == "calibrated" else BLUEPRINT
    if given.center != centers or place >= len(given.values) or len(given.values[place]) != len(family.unknowns):
        raise NotProven("the center of the prior is not in the manifest")
    if given.gains:
        raise NotProven("the manifest gives gains, but readings of chains have none")
    around = certify.get("around", Fraction(1, 10))
    if isinstance(around, list) and len(around) == 1:
        around = around[0]
    return RawChain(
        name,
        family,
        chain,
        poses,
        pose_half_widths(study, poses, "position"),
        heading,
        reading_half_widths(study, family.chains, family.reading_unit)[chain - 1],
        tuple(Span.at(rational(x, "a center")) for x in given.values[place]),
        reach_of(around),
        f"{CALIBRATED}, taken as given" if centers == CALIBRATED else _as_given(name),
    )


def _as_given(name: str) -> str:
    return f"taken as given; whether they are the built-in blueprint of a {name} is not checked"


def _require_plain(study: Mapping[str, Any]) -> None:
    """Raise NotProven or NotDerived if a study asks for what is not taken into account for chains."""
    robot = table_in(study, "robot")
    stated = [key for key in ("blueprint", "gains", "reading_unit") if key in robot]
    if stated:
        raise NotProven(f"'{stated[0]}' of the robot is for Gough platforms, not for chains")
    if table_in(study, "calibration").get("frames", "robot") != "robot":
        raise NotProven("the poses are in an instrument's frame, but chains are derived in the robot's frame")
    model = table_in(table_in(study, "certify"), "model_error")
    if any(quantity(x, "m/rad" if key == "orientation" else "m" if key == "constant" else "1").number
           for key, x in model.items()):  # fmt: skip
        raise NotProven("the study states model errors, which are not taken into account for chains")
    if table_in(robot, "geometry") and center_of(study) == "blueprint":
        raise NotDerived("the checker does not compute the center of a chain's prior from [robot.geometry]")


@dataclass(frozen=True)
class _Equation:
    """d = p + A x + Σ ε (D + B x) + ρ of one pose, errors in the order of the question, |ρ| by columns of x."""

    p: list[Span]
    A: Entries
    D: list[dict[int, Span]]
    B: list[Entries]
    half: list[Span]
    bent: dict[int, int]
    """Columns that an error turns, and which error."""


def _equation(raw: RawChain, k: int) -> _Equation:
    p, reading = list(raw.poses.position[k]), raw.poses.readings[k][raw.chain - 1]
    moved = [span_of(half) for half in raw.position[k]]
    if raw.name == "linear-delta":
        p[2] = p[2] + reading
        A = {(i, i): -_ONE for i in range(3)}
        D = [{0: _ONE}, {1: _ONE}, {2: _ONE}, {2: _ONE}]
        return _Equation(p, A, D, [{}] * 4, [*moved, raw.half.span], {})
    c, s = turn(reading)
    if raw.name == "3-rrr":
        A = {(0, 0): -_ONE, (1, 1): -_ONE, (0, 2): -c, (0, 3): s, (1, 2): -s, (1, 3): -c}
        turned = {(0, 2): s, (0, 3): c, (1, 2): -c, (1, 3): s}
        p, moved, bent = [p[0], p[1], Span.at(0)], moved[:2], dict.fromkeys((2, 3), 2)
    else:
        A = {(i, i): -_ONE for i in range(3)} | {(i, 3 + i): -c for i in range(3)} | {(i, 6 + i): -s for i in range(3)}
        turned = {(i, 3 + i): s for i in range(3)} | {(i, 6 + i): -c for i in range(3)}
        bent = dict.fromkeys(range(3, 9), 3)
    D = [{i: _ONE} for i in range(len(moved))] + [{}]
    B: list[Entries] = [{} for _ in moved]
    B.append(turned)
    half = [*moved, raw.half.span]
    if raw.family.turns:
        first = len(raw.family.unknowns) - 3
        a, b = _heading(raw.poses.rotation[k])
        A |= {(0, first): a, (0, first + 1): -b, (1, first): b, (1, first + 1): a}
        B.append({(0, first): -b, (0, first + 1): -a, (1, first): a, (1, first + 1): -b})
        D.append({})
        half.append(span_of(raw.heading[k]))
        bent |= dict.fromkeys((first, first + 1), len(half) - 1)
    return _Equation(p, A, D, B, half, bent)


def _heading(rotation: Any) -> tuple[Span, Span]:
    """Cosine and sine of the heading, the direction of the first two numbers of a rotation matrix's first column."""
    if len(rotation) == 4:
        w, x, y, z = rotation
        level, across = w * w + x * x - y * y - z * z, (x * y + w * z) * 2
    else:
        level, across = rotation[0], rotation[3]
    length = (level * level + across * across).rounded().root()
    return (level / length).rounded(), (across / length).rounded()


def require_enclosed(question: ChainQuestion, raw: RawChain) -> None:
    """Raise NotProven unless the question's equations, errors and prior enclose what study and poses define.

    Numbers that differ from the question's go into ρ. They count with errors up to 1 m or 1 rad more than stated, so
    that they also hold where a certificate lets readings be off by more.
    """
    names = tuple(f"{stem}_{raw.chain}" for stem in raw.family.unknowns)
    (rod,) = question.rods
    same = (question.chains, question.names, rod.reading_unit) == ((raw.chain,), names, raw.family.reading_unit)
    first = _equation(raw, 0)
    reading = len(first.half) - 1 - raw.family.turns
    if not same or rod.reading != reading or rod.tolerance.shape[1] != len(first.half):
        raise NotProven(f"the equations are not those of chain {raw.chain} of a {raw.name}")
    if _in_order(rod.conditions) != _in_order(raw.family.conditions):
        raise NotProven(f"the conditions of the equations are not those of a {raw.name}")
    if set(rod.turned) != {j for j, e in first.bent.items() if e == reading}:
        raise NotProven(f"the reading does not turn what it turns in a {raw.name}")
    if question.n_poses != len(raw.poses):
        words = f"the file has {len(raw.poses)} poses, copies of rows left out"
        raise NotProven(f"{words}, but there are equations of {question.n_poses}")
    for k in range(question.n_poses):
        _require_pose(rod, k, first if k == 0 else _equation(raw, k))
    sides = zip(question.prior.lower.tolist(), question.prior.upper.tolist(), strict=True)
    for name, (low, high), (least, most) in zip(names, sides, _prior(raw, outer=True), strict=True):
        if rational(low, "a side") > least or rational(high, "a side") < most:
            raise NotProven(f"the prior of {name} that the study states is not within that of the question")


def _in_order(conditions: Sequence[Any]) -> list[list[tuple[int, int, Fraction]]]:
    """All terms of all conditions, whatever order they stand in; what stands twice is twice in it."""
    return sorted(sorted((i, j, rational(c, "a coefficient")) for i, j, c in each) for each in conditions)


def _require_pose(question: RodEquations, k: int, stated: _Equation) -> None:
    t = [rational(x, "a tolerance") for x in question.tolerance[k].tolist()]
    if any(half.high > allowed for half, allowed in zip(stated.half, t, strict=True)):
        raise NotProven(f"pose {k}: a stated half-width is larger than that of the equations")
    blur = sum((abs_off(x, y) for x, y in zip(stated.p, question.p[k].tolist(), strict=True)), Fraction(0))
    bend = [Fraction(0)] * len(question.names)
    _add_away(bend, question.A[k], stated.A, Fraction(1))
    for e, (D, B) in enumerate(zip(stated.D, stated.B, strict=True)):
        off = [abs_off(D.get(i, Span.at(0)), y) for i, y in enumerate(question.D[k, e].tolist())]
        blur += (t[e] + 1) * sum(off, Fraction(0))
        _add_away(bend, question.B[k, e], B, t[e] + 1)
    for j, e in stated.bent.items():
        bend[j] += t[e] * t[e] / 2
    allowed = [rational(x, "a bend") for x in question.bend[k].tolist()]
    if blur > rational(float(question.blur[k]), "a blur") or any(x > y for x, y in zip(bend, allowed, strict=True)):
        raise NotProven(f"pose {k}: the equations do not enclose what the pose and the reading define")


def abs_off(stated: Span, x: float) -> Fraction:
    """The largest distance of a stated number from that of the question."""
    return (stated - Span.at(rational(x, "a coefficient"))).most


def _add_away(bend: list[Fraction], matrix: Any, stated: Entries, weight: Fraction) -> None:
    zero = Span.at(0)
    for i, row in enumerate(matrix.tolist()):
        for j, x in enumerate(row):
            if x or (i, j) in stated:
                bend[j] += weight * abs_off(stated.get((i, j), zero), x)


def _prior(raw: RawChain, *, outer: bool) -> list[tuple[Fraction, Fraction]]:
    """Sides of the stated prior, rounded outward or inward; a rod is not shorter than nothing."""
    reach = raw.around.span
    far = reach.high if outer else reach.low
    sides = [(c.low - far, c.high + far) if outer else (c.high - far, c.low + far) for c in raw.center]
    return [*sides[:-1], (max(sides[-1][0], Fraction(0)), sides[-1][1])]


def require_little_more(certificate: ChainCertificate) -> None:
    """Raise NotProven if readings may be off by more than `require_enclosed` accounts for."""
    if not certificate.more <= 1:
        raise NotProven("readings may be off by more than 1 m or 1 rad")


def require_chain_exhibited(certificate: ChainCertificate, question: ChainQuestion, raw: RawChain) -> None:
    """Raise NotProven unless the exhibited chain fits with the half-widths and the prior that the user stated.

    The equations enclose the stated ones, and an exhibited chain fits whatever ρ is; so only half-widths and the prior
    must not be wider than stated.
    """
    assert isinstance(certificate.proof, ChainWitness)
    values = certificate.proof.values
    for name, x, (low, high) in zip(question.names, values, _prior(raw, outer=False), strict=True):
        if not low <= x <= high:
            raise NotProven(f"the exhibited {name} is outside the stated prior")
    half = [[round_down(h.low) for h in _halves(raw, k)] for k in range(question.n_poses)]
    (rod,) = question.rods
    narrower = replace(rod, tolerance=np.minimum(np.array(half, dtype=float), rod.tolerance))
    space = Space(replace(question, equations=(narrower,)), question.chains, certificate.more)
    require_fits(certificate.proof, space)


def _halves(raw: RawChain, k: int) -> list[Span]:
    axes = 2 if raw.name == "3-rrr" else 3
    halves = [*(span_of(half) for half in raw.position[k][:axes]), raw.half.span]
    return [*halves, span_of(raw.heading[k])] if raw.family.turns else halves
