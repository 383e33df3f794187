"""For each hypothesis of each statement the checker can make: a certificate that violates exactly that one.

A case names a base certificate that holds, the part of it that is changed, and who refuses the change: the constructor
of that part, or the checker, where only the problem can tell.
"""

from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog

from gough import Bounded, Box, LinearProblem, Unknowns
from gough.checker import (
    BodyTerms,
    Bound,
    Certificate,
    ChainBound,
    ChainCertificate,
    ChainCut,
    ChainEmpty,
    ChainFrame,
    ChainOutliers,
    ChainQuestion,
    ChainSplit,
    ChainStage,
    ChainWitness,
    Empty,
    Inside,
    JointEmpty,
    NumberedCut,
    PhysicalBound,
    PhysicalEmpty,
    PhysicalStep,
    PlatformMeasurements,
    Reach,
    RelaxedBound,
    RelaxedEmpty,
    RelaxedStep,
    RodEquations,
    Round,
    Split,
    Step,
    Strip,
    Violated,
    Witness,
    check,
    check_chains,
    empty_certificate,
)
from gough.checker.chain_boxes import Space
from gough.checker.joint_frames import JointRows
from gough.closure import LegProblem
from gough.closure.tolerance import refuted
from gough.core.rational import round_down

HALF = Fraction(1, 2)
NAN, INF = float("nan"), float("inf")
ULP = Fraction(1, 10**400)
"""Less than the distance of any two doubles."""


class Case(NamedTuple):
    base: str
    hypothesis: str
    path: tuple
    """To the part that is changed, from the certificate on."""
    changes: dict
    by: str = "checker"
    """Who refuses it."""


def again(value, path, changes, make):
    """A copy in which one part is changed; it and all around it are made by `make`."""
    if isinstance(value, tuple):
        head, *rest = path
        return (*value[:head], again(value[head], rest, changes, make), *value[head + 1 :])
    if path:
        head, *rest = path
        return again(value, (), {head: again(getattr(value, head), rest, changes, make)}, make)
    known = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    return make(type(value), {**known, **{name: new(known) if callable(new) else new for name, new in changes.items()}})


def by_constructor(kind, content):
    return kind(**content)


def forged(kind, content):
    """Without its constructor."""
    value = object.__new__(kind)
    for field in fields(kind):
        object.__setattr__(value, field.name, content.get(field.name, 1))
    return value


def plain_parts(value):
    """All parts of a certificate."""
    if isinstance(value, tuple):
        for each in value:
            yield from plain_parts(each)
    elif is_dataclass(value):
        yield value
        for field in fields(value):
            yield from plain_parts(getattr(value, field.name))


# bases: problems whose consistent sets are known by hand

LINE = LinearProblem([[1.0]], [0.0], Unknowns(["a"]), Bounded(1.0))  # |a| ≤ 1
BETWEEN = LinearProblem([[1.0], [1.0]], [0.0, 1.0], Unknowns(["a"], prior=Box([-9], [9])), Bounded(1.0))  # 0 ≤ a ≤ 1
APART = LinearProblem([[1.0], [1.0]], [0.0, 5.0], Unknowns(["a"], prior=Box([-9], [9])), Bounded(1.0))  # nothing
TOUCHING = LinearProblem([[1.0], [1.0]], [0.0, 2.0], Unknowns(["a"], prior=Box([-9], [9])), Bounded(1.0))  # a = 1
BLURRED = LinearProblem([[1.0]], [3.0], Unknowns(["a"], prior=Box([-8], [8])), Bounded(0.5, [[0.25]]))  # 2 ≤ a ≤ 14/3
OPEN = LinearProblem([[1.0, 0.125], [0.125, 1.0]], [3.0, 2.0], Unknowns(["a", "b"]), Bounded(0.5))
PLANE = LinearProblem(
    [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], [0.0, 1.0, 1.0], Unknowns(["a", "b"], prior=Box([-8, -1], [8, 3])),
    Bounded([1.0, 2.0, 9.0]),
)  # fmt: skip
SIX = LinearProblem(np.ones((6, 1)), [0.0, 0.25, 0.5, 0.75, 1.0, 8.0], BETWEEN.unknowns, Bounded(1.0))


def _ellipsoid():
    strips = (Strip(0, 0, 1, HALF), Strip("b", 1, 2, Fraction(1, 8)))
    return Round({"a": 0, "b": 1}, [[2], [0, 8]], strips)


def _two_rounds():
    one = _ellipsoid()
    second = (*one.strips[:1], Strip("b", 1, 3, Fraction(1, 18), below=0, above=0))
    return Inside([Step({"b": 1}, -1)], [one, Round({"a": 0, "b": 1}, [[2], [0, 18]], second)])


# 0.5 ≤ m ≤ 1.5, 1.5 ≤ s ≤ 2.5, |I| ≤ 1: a body with m I ≥ s² has I ≥ 2 s − m ≥ 1.5
BODY_UNKNOWNS = Unknowns(["m", "s", "I", "f"], prior=Box([0, -9, 0, -9], [9, 9, 9, 9]))
BODY = LinearProblem(np.eye(4)[[0, 1, 3]], [1.0, 2.0, 0.0], BODY_UNKNOWNS, Bounded(0.5))
LIGHT = LinearProblem(np.eye(4)[:3], [1.0, 2.0, 0.0], BODY_UNKNOWNS, Bounded([0.5, 0.5, 1.0]))
ROUND_BODY = LinearProblem(
    np.eye(3)[:2], [1.0, 2.0], Unknowns(["Ixx", "Iyy", "Izz"], prior=Box([0] * 3, [9] * 3)), Bounded(0.5)
)  # Izz ≤ Ixx + Iyy ≤ 4
ARM = BodyTerms("arm", {"m": "m", "sx": "s", "Izz": "I"})
TRIANGLE = {"Ixx": 1, "Iyy": 1, "Izz": -1}
TWINS = LinearProblem(
    np.eye(6)[[3, 1]], [1.0, 2.0], Unknowns(["m", "s", "I", "n", "t", "J"], prior=Box([0, -9, 0] * 2, [9] * 6)),
    Bounded(0.5),
)  # fmt: skip # n = m ≤ 1.5 and t = s ≥ 1.5

PHYSICAL = {
    "possible": (
        BODY,
        PhysicalBound(
            [ARM],
            ["f"],
            [
                PhysicalStep({"I": 1}, Fraction(3, 2), {0: -1, 1: 2}, {"m": 1, "s": -2, "I": 1}),
                PhysicalStep({"f": 1}, 0, {}, {"f": 1}),
            ],
        ),
    ),
    "impossible": (
        LIGHT,
        PhysicalEmpty([ARM], [], [PhysicalStep({}, HALF, {0: -1, 1: 2, 2: -1}, {"m": 1, "s": -2, "I": 1})]),
    ),
    "rotor": (
        ROUND_BODY,
        PhysicalBound(
            [BodyTerms("wheel", {term: term for term in TRIANGLE}, rotor=(1, 0, 0))],
            [],
            [PhysicalStep({"Izz": -1}, -4, {0: -1, 1: -1}, TRIANGLE)],
        ),
    ),
    "within": (
        LinearProblem(np.eye(4)[:1], [1.0], BODY_UNKNOWNS, Bounded(0.5)),
        PhysicalBound(
            [BodyTerms("arm", {"m": "m", "sx": "s"}, center=(0, 0, 0), radii=(1, None, None))],
            [],
            [PhysicalStep({"s": -1}, Fraction(-3, 2), {0: -1}, {"m": 1, "s": -1}, {"arm": HALF})],
        ),
    ),
    "twins": (
        TWINS,
        PhysicalBound(
            [ARM, BodyTerms("leg", {"m": "n", "sx": "t", "Izz": "J"})],
            [],
            [
                PhysicalStep({"J": 1}, Fraction(3, 2), {0: -1, 1: 2}, {"m": 1, "s": -2, "I": 1}),
                PhysicalStep({"t": 1}, Fraction(3, 2), {1: 1}),
            ],
            [["arm", "leg"]],
        ),
    ),
}
"""Of robots that can exist; the verified checker does not know these kinds."""

LINEAR = {
    "witness": (BETWEEN, Witness({"a": HALF})),
    "bound": (BETWEEN, Bound([Step({"a": 1}, 0, {1: 1}), Step({"a": -1}, -1, {0: -1})])),
    "open bound": (LINE, Bound([Step({"a": 1}, -1, {0: 1})])),
    "blurred bound": (BLURRED, Bound([Step({"a": 1}, -9, {}), Step({"a": 1}, Fraction(1, 2), {0: 1})])),
    "chain": (PLANE, Bound([Step({"a": 1}, -1, {0: 1}), Step({"a": 1, "b": 1}, -2, {})])),
    "cases": (
        BLURRED,
        Bound([Split("a", 0, [Step({}, HALF, {0: 1})], [Step({"a": 1}, 2, {0: Fraction(4, 5)})]), Step({"a": 1}, 2)]),
    ),
    "empty": (APART, Empty([Step({}, 3, {0: -1, 1: 1})])),
    "crossed": (APART, Empty([Step({"a": 1}, 4, {1: 1}), Step({"a": -1}, -1, {0: -1})])),
    "crossed cases": (APART, Empty([Split("a", 2, [Step({"a": 1}, 4, {1: 1})], [Step({"a": -1}, -1, {0: -1})])])),
    "reach": (BLURRED, Bound([Reach({"a": 5}, {"a": {0: 1}}), Step({"a": -1}, -5)])),
    "reaches": (OPEN, Bound([Reach({"a": 5, "b": 4}, {"a": {0: 1}, "b": {1: 1}}), Step({"a": 1}, -5)])),
    "reach in a case": (
        APART,
        Empty([Split("a", 2, [Step({"a": 1}, 4, {1: 1})], [Reach({"a": Fraction(3, 2)}, {"a": {0: 1}})])]),
    ),
    "ellipsoid": (PLANE, Inside([], [_ellipsoid()])),
    "rounds": (PLANE, _two_rounds()),
    "relaxed": (SIX, RelaxedBound(1, [RelaxedStep({"a": 1}, Fraction(-3, 4), [{1: 1}, {2: 1}])])),
    "relaxed empty": (SIX, RelaxedEmpty(0, [], [{0: -1, 5: 1}])),
    "violated": (SIX, Violated(1, 1, [5], [{0: -1, 5: 1}, {1: -1, 5: 1}])),
}  # fmt: skip

# legs: a = b = 0 at p = (0, 0, 0.5), so that l + reading = 0.5 ± tolerance of the reading


def _measured(readings, tolerance=0.0625, position=0.0, rotation=0.0):
    readings = np.atleast_2d(np.array(readings).T).T
    n = len(readings)
    poses = (np.tile([1.0, 0, 0, 0], (n, 1)), np.tile([0, 0, 0.5], (n, 1)))
    return PlatformMeasurements(*poses, readings, position, rotation, tolerance)


def _asked(readings, legs=(1,), **options):
    prior = Box([0] * 6 * 1 + [0.125], [0] * 6 + [0.75])
    sides = [np.tile(side, len(legs)) for side in (prior.lower, prior.upper)]
    return ChainQuestion(legs, _measured(readings, **options).legs, Box(*sides))


FITTING = _asked([0.125, 0.1875])  # 5/16 … 7/16 of pose 0, 4/16 … 6/16 of pose 1: l from 5/16 to 6/16
MOVING = _asked([0.125, 0.1875], position=0.0625, rotation=0.125)
FAR = _asked([0.125, 0.375])
SEVERAL = _asked([0.125, 0.125, 0.125, 0.375])
BOTH = _asked([[0.125, 0.25], [0.1875, 0.25]], legs=(1, 2))
MOVED = ((0.0, 0.0, 0.0625, 0.0, 0.0625, 0.0), (0.0, 0.0, 0.0625, 0.0, 0.0, 0.0))
CENTER, RADIUS = (0.0,) * 6 + (0.4375,), (0.0,) * 6 + (0.3125,)


def _empty_links(question, pose=slice(None)):
    problem = LegProblem(question.legs[0].select(pose), question.prior)
    return empty_certificate(problem, refuted(problem)).proof.links


def _renumbered(links, question, poses):
    """Rows of some poses as rows of all."""
    few, n = len(poses), question.n_poses

    def number(row):
        side, k = divmod(row, few)
        return side * n + poses[k] if row < 2 * few else row - 2 * few + 2 * n

    def cut(each):
        return ChainCut(each.unknown, each.side, each.bound, tuple((number(row), w) for row, w in each.weights))

    return tuple(ChainStage(s.center, s.radius, tuple(cut(each) for each in s.cuts), s.chain) for s in links)


def _tight(question, leg=1, first=0):
    """l ≥ the largest double that row N (pose 0 is not too short) and its tangents prove, from CENTER ± RADIUS."""
    n = question.n_poses
    rows = Space.of(question, question.chains, 0.0).rows(CENTER, RADIUS, leg if len(question.chains) > 1 else None)
    cuts = []
    for side, weights in (("lower", ((0, 1.5),)), ("upper", ((n + 1, 1.0), (2 * n + 4 * 15 + 1, 0.5)))):
        cut = ChainCut(f"l{leg}", side, 0.0, weights)
        v = rows.proven(cut, first + 6)
        at = round_down(v + Fraction(CENTER[6])) if side == "lower" else -round_down(v - Fraction(CENTER[6]))
        cuts.append(ChainCut(f"l{leg}", side, at, weights))
    return ChainStage(CENTER, RADIUS, tuple(cuts), leg if len(question.chains) > 1 else None)


def _still(n):
    return ((0.0,) * 6,) * n


@cache
def legs():
    stage = _tight(FITTING)
    half = ChainSplit("l1", 0.5, (stage,), ())
    empty = _empty_links(FAR)
    pairs = tuple(_renumbered(_empty_links(SEVERAL, [k, 3]), SEVERAL, (k, 3)) for k in (0, 1))
    value = (0.0,) * 6 + (0.34375,)
    longer = (0.0,) * 6 + (0.40625,)
    made = {
        "leg bound": (FITTING, ChainBound((stage,))),
        "leg cases": (FITTING, ChainBound((half,))),
        "leg empty": (FAR, ChainEmpty(empty)),
        "leg empty cases": (FAR, ChainEmpty((ChainSplit("l1", 0.4375, empty, empty),))),
        "leg witness": (FITTING, ChainWitness(value, _still(2))),
        "leg witness, moved": (MOVING, ChainWitness(longer, MOVED)),
        "leg witness but one": (FAR, ChainWitness(value, _still(2), (1,))),
        "leg outliers": (SEVERAL, ChainOutliers(1, 1, (3,), pairs)),
        "joint bound": (BOTH, ChainBound((_tight(BOTH), _tight(BOTH, 2, 7)))),
        "joint witness": (BOTH, ChainWitness((*value, *value[:6], 0.25), _still(2))),
    }
    return {
        name: (question, ChainCertificate(question.digest(), question.chains, proof))
        for name, (question, proof) in made.items()
    }


# chains: a rod from (0, 0, 0.5) moved by x along z to the origin, |0.5 + x + ε| = l


def _chain(readings=(0.5, 0.5), tolerance=0.0625, conditions=()):
    n, N = 2, len(readings)
    p, A, D = np.zeros((N, 3)), np.zeros((N, 3, n)), np.zeros((N, 1, 3))
    p[:, 2], A[:, 2, 0], D[:, 0, 2] = readings, 1.0, 1.0
    arrays = (p, A, D, np.zeros((N, 1, 3, n)), np.full((N, 1), tolerance), np.zeros((N, n)), np.zeros(N))
    rod = RodEquations(("x", "rod"), *arrays, ((0, 0), (0, 1), (1, 1)), conditions)
    return ChainQuestion((3,), (rod,), Box([-0.125, 0.25], [0.125, 0.75]))


ROD, ROD_APART = _chain(), _chain((0.5, 0.875), 0.0625)
STRAIGHT = _chain(conditions=(((0, 0, 1.0), (0, 1, 0.25)),))  # x (x + rod / 4) = 0
EQUATIONS = {
    "a term of a condition stands once": {"conditions": (((0, 0, 1.0), (0, 0, 1.0), (0, 1, 0.25)),)},
    "a condition has terms": {"conditions": ((),)},
    "a coefficient of a condition is not zero": {"conditions": (((0, 0, 1.0), (0, 1, 0.0)),)},
    "a coefficient of a condition is finite": {"conditions": (((0, 0, 1.0), (0, 1, INF)),)},
    "a condition is about unknowns": {"conditions": (((0, 0, 1.0), (0, 2, 0.25)),)},
    "a product is a pair in order": {"conditions": (((1, 0, 0.25),),)},
    "a product has one column": {"products": ((0, 0), (0, 1), (0, 1))},
    "the reading is an error": {"reading": 1},
    "a length is not negative": {"prior": Box([-0.125, -0.25], [0.125, 0.75])},
    "a tolerance is not negative": {"tolerance": np.full((2, 1), -0.0625)},
    "what is left out is not negative": {"blur": np.array([0.0, -0.0625])},
}
"""Equations that violate one hypothesis each; without the change they are those of STRAIGHT."""


@cache
def chains():
    center, radius = (0.0, 0.5), (0.125, 0.25)

    def cut(question, side, weights, name="rod"):
        rows = Space.of(question, question.chains, 0.0).rows(center, radius, None)
        axis = question.names.index(name)
        v = rows.proven(ChainCut(name, side, 0.0, weights), axis)
        middle = Fraction(center[axis])
        bound = round_down(v + middle) if side == "lower" else -round_down(v - middle)
        return ChainCut(name, side, bound, weights)

    stage = ChainStage(center, radius, (cut(ROD, "lower", ((0, 1.0), (14, 1.0))), cut(ROD, "upper", ((2, 1.0),))))
    contradiction = ChainCut("x", "empty", 0.0, ((1, 1.0), (2, 1.0)))
    made = {
        "chain bound": (ROD, ChainBound((stage,))),
        "chain cases": (ROD, ChainBound((ChainSplit("x", 0.0, (stage,), (stage,)),))),
        "chain empty": (ROD_APART, ChainEmpty((ChainStage(center, radius, (contradiction,)),))),
        "chain witness": (ROD, ChainWitness((Fraction(1, 48), Fraction(26, 48)))),
        "chain witness, condition": (STRAIGHT, ChainWitness((Fraction(0), Fraction(1, 2)))),
    }
    return {
        name: (question, ChainCertificate(question.digest(), question.chains, proof))
        for name, (question, proof) in made.items()
    }


# chains together: |p + x + δ + η| = l of each, δ of a pose being the same for both, |δ| ≤ 1/32, |η| ≤ 1/256


def _pair(readings):
    rods = []
    for chain, z in enumerate(zip(*readings, strict=True), start=1):
        N = len(z)
        p, A, D = np.zeros((N, 3)), np.zeros((N, 3, 2)), np.zeros((N, 2, 3))
        p[:, 2], A[:, 2, 0], D[:, :, 2] = z, 1.0, 1.0
        rest = (np.zeros((N, 2, 3, 2)), np.tile([1 / 32, 1 / 256], (N, 1)), np.zeros((N, 2)), np.zeros(N))
        names = (f"x_{chain}", f"rod_{chain}")
        rods.append(RodEquations(names, p, A, D, *rest, ((0, 0), (0, 1), (1, 1)), reading=1))
    return ChainQuestion((1, 2), tuple(rods), Box([-1 / 64, 0.4375] * 2, [1 / 64, 0.625] * 2))


PAIR = _pair([(0.5, 0.5), (0.5078125, 0.5)])  # with u = rod − x: 0 ≤ u_1 − u_2 ≤ 1/128
PAIR_APART = _pair([(0.5, 0.5), (0.5625, 0.5)])  # |u_1 − u_2| ≤ 1/128 and |u_1 − u_2 − 1/16| ≤ 1/128; each alone fits
PAIRS = _pair([(0.5, 0.5)] * 3 + [(0.5625, 0.5)])
BOX = ((0.0, 0.53125) * 2, (1 / 64, 0.09375) * 2)
QUESTIONS = {
    "shared errors have one tolerance": lambda rods: (
        rods[0], replace(rods[1], tolerance=np.tile([1 / 16, 1 / 256], (2, 1)))),
    "chains have the same errors": lambda rods: (rods[0], replace(
        rods[1], D=rods[1].D[:, 1:], B=rods[1].B[:, 1:], tolerance=rods[1].tolerance[:, 1:], reading=0)),
    "chains have the same poses": lambda rods: (
        rods[0], replace(rods[1], **{name: getattr(rods[1], name)[:1] for name in
                                     ("p", "A", "D", "B", "tolerance", "bend", "blur")})),
    "readings have one unit": lambda rods: (rods[0], replace(rods[1], reading_unit="rad")),
    "an unknown belongs to one chain": lambda rods: (rods[0], rods[0]),
    "there are equations of each chain": lambda rods: rods[:1],
}  # fmt: skip
"""Equations of two chains that violate one hypothesis each; without the change they are those of PAIR."""


def proving(rows, axis=None, sign=0, width=2):
    """Weights on rows of a box that bound an unknown best, or contradict each other: a small linear program.

    Nothing of the methods is used, and nothing is believed: what weights prove, the checker says.
    """
    parts = [rows._row(number) for number in range(rows._rows[-1])]
    size = 1 + max(place for _, places in parts for place in places)
    A, b = np.zeros((len(parts), size)), np.zeros(len(parts))
    for i, (row, places) in enumerate(parts):
        A[i, places] = [float(x * Fraction(2) ** row.exponent) for x in row.coefficients]
        b[i] = float(row.side * Fraction(2) ** row.exponent)
    most = np.array([float(rows._most(column).fraction) for column in range(size)])
    goal = np.zeros(size)
    if axis is not None:
        goal[rows._columns[axis // width] + axis % width] = sign
    # the most of −λ b − Σ most |goal + λ A|
    found = linprog(np.concatenate([b, most]), np.block([[A.T, -np.eye(size)], [-A.T, -np.eye(size)]]),
                    np.concatenate([-goal, goal]), bounds=[(0, 100)] * len(parts) + [(0, None)] * size)  # fmt: skip
    return tuple((i, float(f"{w:.7g}")) for i, w in enumerate(found.x[: len(parts)]) if w > 1e-9)


def framed(question, more=0.0):
    """A contradiction in coordinates that are turned and scaled, with cuts of one coordinate and of one error's factor.

    The last cut has the weights that prove most, whether or not that is enough.
    """
    axes, inverse = ((0.25, 0.5), (-0.5, 0.25)), ((0.8, -1.6), (1.6, 0.8))
    place = ((0.0, 0.53125), (1 / 64, 0.09375), axes, inverse)
    space = Space.of(question, question.chains, more)
    bounds = (NumberedCut(0, "lower", -0.25, ()), NumberedCut(2, "upper", 1.25, ()))
    frames = tuple(ChainFrame(*place, cuts) for cuts in (bounds, ()))
    rows = JointRows(space, space.prior(), frames)
    return JointEmpty((), frames, ((NumberedCut(0, "empty", 0.0, contradicting(rows)),),))


@cache
def coordinates():
    """Two chains that contradict each other, and the certificate of it in coordinates of their own."""
    return PAIR_APART, ChainCertificate(PAIR_APART.digest(), (1, 2), framed(PAIR_APART))


def contradicting(rows):
    """Weights with which rows in coordinates contradict each other most."""
    A, b = np.zeros((rows.n_rows, rows.n_columns)), np.zeros(rows.n_rows)
    for i in range(rows.n_rows):
        row, places = rows.row(i)
        A[i, places] = [float(x * Fraction(2) ** row.exponent) for x in row.coefficients]
        b[i] = float(row.side * Fraction(2) ** row.exponent)
    low, high = np.array([[float(x.fraction) for x in rows.sides_of(j)] for j in range(rows.n_columns)]).T
    # the most of −λ b + Σ (low u − high v) with u − v = λ A
    found = linprog(np.concatenate([b, -low, high]), A_eq=np.hstack([A.T, -np.eye(len(low)), np.eye(len(low))]),
                    b_eq=np.zeros(len(low)), bounds=[(0, 100)] * len(b) + [(0, None)] * 2 * len(low))  # fmt: skip
    return tuple((i, float(f"{w:.12g}")) for i, w in enumerate(found.x[: len(b)]) if w > 1e-9)


def joint_cut(question, unknown=None, side="empty", drop=()):
    """A cut of BOX by all rows but those of some poses."""
    rows = Space.of(question, question.chains, 0.0).rows(*BOX, None)
    if drop:
        weights = joint_cut(ChainQuestion(question.chains, tuple(_without(rod, drop) for rod in question.rods),
                                          question.prior)).weights  # fmt: skip
        kept = [k for k in range(question.n_poses) if k not in drop]
        return ChainCut("x_1", "empty", 0.0, tuple((_of_all(row, kept, question.n_poses), w) for row, w in weights))
    if side == "empty":
        return ChainCut("x_1", "empty", 0.0, proving(rows))
    axis, sign = question.names.index(unknown), 1 if side == "lower" else -1
    weights = proving(rows, axis, sign)
    v, middle = rows.proven(ChainCut(unknown, side, 0.0, weights), axis), Fraction(BOX[0][axis])
    return ChainCut(unknown, side, sign * round_down(v + sign * middle), weights)


def _without(rod, drop):
    return replace(rod, **{name: np.delete(getattr(rod, name), drop, axis=0) for name in
                           ("p", "A", "D", "B", "tolerance", "bend", "blur")})  # fmt: skip


def _of_all(row, kept, n):
    """The number of a row of some poses among those of all, of two chains with three products each."""
    few = len(kept)
    chain, own = divmod(row, 2 * few + 12)
    side, k = divmod(own, few)
    return chain * (2 * n + 12) + (side * n + kept[k] if own < 2 * few else own - 2 * few + 2 * n)


@cache
def pairs():
    def stage(cut):
        return ChainStage(*BOX, (cut,))

    values = (0, Fraction(258, 512), Fraction(4, 512), Fraction(260, 512))
    errors = ((Fraction(1, 512),), (Fraction(-1, 512),))
    several = tuple((stage(joint_cut(PAIRS, drop=drop)),) for drop in ((1, 2), (0, 2)))
    made = {
        "pair bound": (PAIR, ChainBound((stage(joint_cut(PAIR, "rod_1", "lower")),))),
        "pair empty": (PAIR_APART, ChainEmpty((stage(joint_cut(PAIR_APART)),))),
        "pair witness": (PAIR, ChainWitness(values, errors)),
        "pair witness but one": (PAIR_APART, ChainWitness(values, errors, (1,))),
        "pair outliers": (PAIRS, ChainOutliers(1, 1, (3,), several)),
    }
    made = {
        name: (question, ChainCertificate(question.digest(), (1, 2), proof)) for name, (question, proof) in made.items()
    }
    far = _chain((0.5, 0.5, 0.5, 0.875))  # one chain of which a pose is wrong
    contradictions = tuple(
        (ChainStage((0.0, 0.5), (0.125, 0.25), (ChainCut("x", "empty", 0.0, ((3, 1.0), (4 + k, 1.0))),)),)
        for k in (0, 1)
    )
    one = {"rod outliers": ChainOutliers(1, 1, (3,), contradictions),
           "rod witness but one": ChainWitness((Fraction(1, 48), Fraction(26, 48)), (), (3,))}  # fmt: skip
    return made | {name: (far, ChainCertificate(far.digest(), (3,), proof)) for name, proof in one.items()}


@cache
def base(name):
    """What it is about, the certificate, and its checker."""
    if name in LINEAR or name in PHYSICAL:
        problem, proof = (LINEAR | PHYSICAL)[name]
        return problem, Certificate.of(problem, proof), check
    if name in legs():
        return (*legs()[name], check_chains)
    return (*(chains() | pairs())[name], check_chains)


def nested(count):
    """So many cases within each other, below none of which is anything: made without the constructor."""
    split = Split("a", 0)
    for _ in range(count):
        split = forged(Split, {"name": "a", "at": Fraction(0), "below": (split,), "above": ()})
    return split


def halved(count):
    split = ChainSplit("l1", 0.5, (), ())
    for _ in range(count):
        split = forged(ChainSplit, {"unknown": "l1", "at": 0.5, "below": (split,), "above": ()})
    return split


def endless():
    """A case within itself."""
    split = forged(Split, {"name": "a", "at": Fraction(0), "below": (), "above": ()})
    object.__setattr__(split, "below", (split, split))
    return split


def smaller():
    """An ellipsoid that is too small, by strips that hold and satisfy all but the sign of the last one's weight."""
    a, b, w = Fraction(905, 1000), Fraction(22625, 100_000), Fraction(1, 100)  # a + 4 b − 81 w = 1
    last = forged(
        Strip, {"of": 2, "middle": Fraction(1), "half": Fraction(9), "weight": -w, "below": None, "above": None}
    )
    det = (a - w) * (b - w) - w * w
    shape = (((b - w) / det,), (w / det, (a - w) / det))
    return {"strips": (Strip(0, 0, 1, a), Strip("b", 1, 2, b), last), "shape": shape}


def further(cut, toward):
    """The next double."""
    return float(np.nextafter(cut["bound"], toward))


BODY_PART = ("proof", "bodies", 0)
STEP = ("proof", "steps", 0)
ROUND, STRIP = ("proof", "rounds", 0), ("proof", "rounds", 0, "strips", 0)
LATER = ("proof", "rounds", 1, "strips", 1)
STAGE, CUT = ("proof", "links", 0), ("proof", "links", 0, "cuts", 0)
WITH = "constructor"

CASES = [
    # who the certificate is about
    Case("witness", "the format is known", (), {"version": 5}, WITH),
    Case("witness", "the format is a whole number from 1", (), {"version": 0}, WITH),
    Case("witness", "the format is no truth value", (), {"version": True}, WITH),
    Case("witness", "it is about this problem", (), {"problem": "sha256:" + 64 * "0"}),
    Case("witness", "the problem is named by a digest", (), {"problem": "sha256:0"}, WITH),
    Case("witness", "it has a proof", (), {"proof": None}, WITH),
    Case("witness", "the proof is of a known kind", (), {"proof": Step({"a": 1}, 0)}, WITH),
    # Witness
    Case("witness", "every row is satisfied", ("proof",), {"theta": (("a", Fraction(1) + ULP),)}),
    Case("witness", "the prior is satisfied", ("proof",), {"theta": (("a", Fraction(10)),)}),
    Case("witness", "every unknown has a value", ("proof",), {"theta": ()}, WITH),
    Case("witness", "no other unknown has one", ("proof",), {"theta": (("a", HALF), ("b", HALF))}),
    Case("witness", "an unknown has one value", ("proof",), {"theta": (("a", Fraction(9)), ("a", HALF))}, WITH),
    Case("witness", "values are finite", ("proof",), {"theta": (("a", NAN),)}, WITH),
    Case("witness", "values are numbers", ("proof",), {"theta": (("a", True),)}, WITH),
    # Step, in a Bound
    Case("bound", "no more is stated than proven", STEP, {"value": ULP}),
    Case("bound", "a sign of a weight matters", STEP, {"weights": ((1, Fraction(-1)),)}),
    Case("bound", "a weight's size matters", STEP, {"weights": ((1, Fraction(2)),)}),
    Case("bound", "the unknown exists", STEP, {"direction": (("b", Fraction(1)),)}),
    Case("bound", "an unknown has one coefficient", STEP,
         {"direction": (("a", Fraction(9)), ("a", Fraction(1))), "value": Fraction(0)}, WITH),
    Case("bound", "the row exists", STEP, {"weights": ((2, Fraction(1)),)}),
    Case("bound", "rows are counted from 0, not from the end", STEP, {"weights": ((-1, Fraction(1)),)}, WITH),
    Case("bound", "a row is no truth value", STEP, {"weights": ((True, Fraction(1)),)}, WITH),
    Case("bound", "a row has one weight", STEP, {"weights": ((1, HALF), (1, HALF))}, WITH),
    Case("bound", "weights are finite", STEP, {"weights": ((1, INF),)}, WITH),
    Case("bound", "values are finite", STEP, {"value": -INF}, WITH),
    Case("bound", "something is stated", ("proof",), {"steps": ()}, WITH),
    Case("bound", "something is stated of every θ", ("proof",), {"steps": (Split("a", 0),)}, WITH),
    Case("bound", "a chain is made of links", ("proof",), {"steps": (Strip("a", 0, 1, 1),)}, WITH),
    Case("bound", "numbers are not endless", STEP, {"value": Fraction(-1, 3**20000)}, WITH),
    Case("open bound", "nothing is left over where there is no side", STEP, {"weights": ((0, HALF),)}),
    Case("blurred bound", "the radius of W counts by |weight|", ("proof", "steps", 1), {"value": Fraction(5, 2)}),
    Case("chain", "a step may use the steps before it only", ("proof",), {"steps": lambda p: p["steps"][::-1]}),
    # Split
    Case("cases", "both cases are proven: below", STEP, {"below": ()}),
    Case("cases", "both cases are proven: above", STEP, {"above": ()}),
    Case("cases", "each case is proven in its own half", STEP, {"at": Fraction(4)}),
    Case("cases", "the unknown exists", STEP, {"name": "b"}),
    Case("cases", "the unknown has a name", STEP, {"name": 0}, WITH),
    Case("cases", "a case is at a number", STEP, {"at": NAN}, WITH),
    Case("cases", "what holds in one case is not used in the other", STEP,
         {"below": (Step({"a": 1}, 2, {0: Fraction(4, 5)}),)}),
    Case("cases", "cases are not nested without end", ("proof",), {"steps": (nested(480), Step({"a": 1}, 2))}),
    Case("cases", "a case is not within itself", ("proof",), {"steps": (endless(), Step({"a": 1}, 2))}),
    # Empty
    Case("empty", "0 ≥ value with value > 0", STEP, {"value": Fraction(0)}),
    Case("empty", "no more than proven", STEP, {"value": Fraction(3) + ULP}),
    Case("empty", "both rows are needed", STEP, {"weights": ((0, Fraction(-1)),)}),
    Case("empty", "there is a step", ("proof",), {"steps": ()}, WITH),
    Case("crossed", "sides that touch leave a point", ("proof", "steps", 0), {"value": Fraction(1)}),
    Case("crossed", "both sides are needed", ("proof",), {"steps": lambda p: p["steps"][:1]}),
    Case("crossed cases", "one empty case is not enough", STEP, {"above": ()}),
    Case("crossed cases", "the other is not enough either", STEP, {"below": ()}),
    # Reach
    Case("reach", "the bound is positive: negative", STEP, {"bounds": (("a", Fraction(-9)),)}, WITH),
    Case("reach", "the bound is positive: zero", STEP, {"bounds": (("a", Fraction(0)),)}, WITH),
    Case("reach", "r + G b < b, not ≤", STEP, {"bounds": (("a", Fraction(14, 3)),)}),
    Case("reach", "the rows isolate the unknown", STEP, {"weights": (("a", ()),)}),
    Case("reach", "each bound has weights", STEP, {"weights": ()}, WITH),
    Case("reach", "weights are of the same unknowns", STEP, {"weights": (("b", ((0, Fraction(1)),)),)}, WITH),
    Case("reach", "something is bounded", STEP, {"bounds": (), "weights": ()}, WITH),
    Case("reaches", "all unknowns left over are bounded", STEP,
         {"bounds": (("a", Fraction(5)),), "weights": (("a", ((0, Fraction(1)),)),)}),
    Case("reaches", "one negative bound among others", STEP,
         {"bounds": (("a", Fraction(5)), ("b", Fraction(-4)))}, WITH),
    Case("reaches", "an unknown has one bound", STEP,
         {"bounds": (("a", Fraction(5)), ("b", Fraction(4)), ("b", Fraction(1, 9)))}, WITH),
    Case("reach in a case", "the bound is positive in a case too", (*STEP, "above", 0),
         {"bounds": (("a", Fraction(-2)),), "weights": (("a", ((0, Fraction(-1)),)),)}, WITH),
    # Strip, Round, Inside
    Case("ellipsoid", "weights of strips are not negative", STRIP, {"weight": -HALF}, WITH),
    Case("ellipsoid", "a negative weight cannot make room for others", ROUND, smaller()),
    Case("ellipsoid", "strips are not turned inside out", STRIP, {"half": Fraction(-1)}, WITH),
    Case("ellipsoid", "strips hold: lower side", STRIP, {"middle": ULP}),
    Case("ellipsoid", "strips hold: upper side", STRIP, {"middle": -ULP}),
    Case("ellipsoid", "strips hold: width", STRIP, {"half": Fraction(99, 100)}),
    Case("ellipsoid", "the row of a strip exists", STRIP, {"of": 3}),
    Case("ellipsoid", "its row is counted from 0", STRIP, {"of": -3}, WITH),
    Case("ellipsoid", "its unknown exists", STRIP, {"of": "c"}),
    Case("ellipsoid", "a strip is finite", STRIP, {"middle": NAN}, WITH),
    Case("ellipsoid", "a round does not prove its own strips", STRIP, {"below": 0}, WITH),
    Case("ellipsoid", "rounds are counted from 0", STRIP, {"below": -1}, WITH),
    Case("ellipsoid", "a round is no truth value", STRIP, {"below": False}, WITH),
    Case("ellipsoid", "the strips imply the ellipsoid", ROUND, {"shape": ((Fraction(2),), (0, Fraction(8) - ULP))}),
    Case("ellipsoid", "its center", ROUND, {"center": (("a", ULP), ("b", Fraction(1)))}),
    Case("ellipsoid", "strips are needed", ROUND, {"strips": ()}),
    Case("ellipsoid", "all strips are needed", ROUND, {"strips": lambda p: p["strips"][:1]}),
    Case("ellipsoid", "flat is what the box fixes", ROUND, {"shape": ((Fraction(2),), (0, 0))}),
    Case("ellipsoid", "a shape has no negative diagonal", ROUND, {"shape": ((Fraction(-2),), (0, Fraction(8)))}, WITH),
    Case("ellipsoid", "a shape is semidefinite", ROUND, {"shape": ((Fraction(2),), (5, Fraction(8)))}, WITH),
    Case("ellipsoid", "a shape is a triangle", ROUND, {"shape": ((Fraction(2),), (Fraction(8),))}, WITH),
    Case("ellipsoid", "the center names all unknowns", ROUND, {"center": (("a", 0),), "shape": ((Fraction(2),),)}),
    Case("ellipsoid", "the center names each once", ROUND, {"center": (("a", 0), ("a", 0), ("b", 1)),
         "shape": ((Fraction(2),), (0, 2), (0, 0, Fraction(8)))}, WITH),
    Case("ellipsoid", "there is an ellipsoid", ("proof",), {"rounds": ()}, WITH),
    Case("ellipsoid", "strips are strips", ROUND, {"strips": (Step({"a": 1}, 0),)}, WITH),
    Case("rounds", "an earlier round reaches no further", LATER, {"half": Fraction(282, 100)}),
    Case("rounds", "it reaches no further on the other side", LATER, {"middle": Fraction(118, 100)}),
    Case("rounds", "a round is before: itself", LATER, {"below": 1}, WITH),
    Case("rounds", "a round is before: one that is not", LATER, {"above": 2}, WITH),
    Case("rounds", "all rounds hold", STRIP, {"middle": ULP}),
    Case("rounds", "its steps hold", STEP, {"value": Fraction(-1) + ULP}),
    # RelaxedStep, RelaxedBound, RelaxedEmpty, Violated
    Case("relaxed", "each cut proves it", STEP, {"value": Fraction(-3, 4) + ULP}),
    Case("relaxed", "no q rows meet all cuts", ("proof",), {"q": 2}),
    Case("relaxed", "a cut cannot count twice", STEP, {"cuts": lambda p: (p["cuts"][1],) * 2}),
    Case("relaxed", "rows of weight 0 are no part of a cut", STEP,
         {"cuts": (((1, Fraction(1)), (0, Fraction(0))), ((1, Fraction(1)), (2, Fraction(0))))}),
    Case("relaxed", "q is not negative", ("proof",), {"q": -1}, WITH),
    Case("relaxed", "q is no truth value", ("proof",), {"q": True}, WITH),
    Case("relaxed", "rows are counted from 0", STEP, {"cuts": (((-5, Fraction(1)),), ((2, Fraction(1)),))}, WITH),
    Case("relaxed", "there is a step", ("proof",), {"steps": ()}, WITH),
    Case("relaxed", "there are cuts", STEP, {"cuts": ()}),
    Case("relaxed", "contradictions contradict", ("proof",), {"contradictions": (((0, Fraction(1)),),)}),
    Case("relaxed", "contradictions of a step do too", STEP, {"contradictions": (((0, Fraction(1)),),)}),
    Case("relaxed empty", "no q rows meet all", ("proof",), {"q": 1}),
    Case("relaxed empty", "there is a contradiction", ("proof",), {"contradictions": ()}, WITH),
    Case("relaxed empty", "rows contradict each other", ("proof",),
         {"contradictions": (((0, Fraction(-1)), (4, Fraction(1))),)}),
    Case("violated", "so many are", ("proof",), {"at_least": 2}),
    Case("violated", "at most q may be", ("proof",), {"q": 2}),
    Case("violated", "the row is among all covers", ("proof",), {"outliers": (0,)}),
    Case("violated", "the row exists", ("proof",), {"outliers": (6,)}),
    Case("violated", "rows are counted from 0", ("proof",), {"outliers": (-1,)}, WITH),
    Case("violated", "a row is named once", ("proof",), {"outliers": (5, 5)}, WITH),
    Case("violated", "something is stated", ("proof",), {"at_least": 0, "outliers": ()}, WITH),
    Case("violated", "there is evidence", ("proof",), {"contradictions": ()}, WITH),
    Case("violated", "counts are not negative", ("proof",), {"at_least": -1}, WITH),
    Case("violated", "contradictions contradict", ("proof",),
         {"contradictions": (((0, Fraction(-1)), (4, Fraction(1))), ((1, Fraction(-1)), (5, Fraction(1))))}),
    Case("violated", "none is left out", ("proof",), {"contradictions": lambda p: p["contradictions"][:1]}),
    # BodyTerms, PhysicalStep, PhysicalBound, PhysicalEmpty
    Case("possible", "the rows prove it", STEP, {"value": Fraction(3, 2) + ULP}),
    Case("possible", "no body makes it negative", STEP, {"possible": (("m", 1 - ULP), ("s", -2), ("I", 1))}),
    Case("possible", "other bodies neither", STEP, {"possible": (("m", 1), ("s", -2 - ULP), ("I", 1))}),
    Case("possible", "it is not left out", STEP, {"possible": ()}),
    Case("possible", "only bodies and what is not negative have a share", STEP, {"possible": (("x", 1),)}),
    Case("possible", "a share of what is not negative is not", ("proof", "steps", 1), {"possible": (("f", -ULP),)}),
    Case("possible", "f is not negative", ("proof",), {"nonnegative": ()}),
    Case("possible", "the body is one", ("proof",), {"bodies": ()}),
    Case("possible", "its terms are as stated", BODY_PART, {"terms": (("m", "m"), ("sx", "s"), ("Ixy", "I"))}),
    Case("possible", "its terms are not exchanged", BODY_PART, {"terms": (("m", "I"), ("sx", "m"), ("Izz", "s"))}),
    Case("possible", "its unknowns exist", BODY_PART, {"terms": (("m", "m"), ("sx", "s"), ("Izz", "J"))}),
    Case("possible", "its terms are known", BODY_PART, {"terms": (("m", "m"), ("sx", "s"), ("I", "I"))}, WITH),
    Case("possible", "a term occurs once", BODY_PART, {"terms": (("m", "m"), ("m", "s"), ("Izz", "I"))}, WITH),
    Case("possible", "an unknown occurs once", BODY_PART, {"terms": (("m", "m"), ("sx", "m"), ("Izz", "I"))}, WITH),
    Case("possible", "an unknown is of one kind", ("proof",), {"nonnegative": ("f", "m")}, WITH),
    Case("possible", "a body has a name", BODY_PART, {"name": " "}, WITH),
    Case("possible", "a rotor has an axis", BODY_PART, {"rotor": (Fraction(0),) * 3}, WITH),
    Case("possible", "an ellipsoid has a center", BODY_PART, {"radii": (Fraction(1),) * 3}, WITH),
    Case("possible", "a body without ellipsoid has no share of it", STEP, {"inside": (("arm", HALF),)}),
    Case("possible", "there is such a body", STEP, {"inside": (("leg", HALF),)}),
    Case("possible", "there is a step", ("proof",), {"steps": ()}, WITH),
    Case("possible", "steps are of bodies", ("proof",), {"steps": (Step({"I": 1}, 0),)}, WITH),
    Case("possible", "numbers are finite", STEP, {"value": NAN}, WITH),
    Case("possible", "rows exist", STEP, {"weights": ((3, Fraction(1)),)}),
    Case("possible", "rows are counted from 0", STEP, {"weights": ((-1, Fraction(1)),)}, WITH),
    Case("possible", "it is about this problem", (), {"problem": "sha256:" + 64 * "0"}),
    Case("possible", "its format knows it", (), {"version": 2}, WITH),
    Case("impossible", "0 is positive", STEP, {"value": Fraction(0)}),
    Case("impossible", "rows prove it", STEP, {"value": HALF + ULP}),
    Case("impossible", "no body makes it negative", STEP, {"possible": (("m", 1 - ULP), ("s", -2), ("I", 1))}),
    Case("impossible", "the body is one", ("proof",), {"bodies": (BodyTerms("arm", {"m": "m"}),)}),
    Case("rotor", "a rotor adds to its axis alone", BODY_PART, {"rotor": (Fraction(0), Fraction(0), Fraction(1))}),
    Case("rotor", "a rotor is taken into account", BODY_PART, {"rotor": (Fraction(1), Fraction(0), Fraction(1) + ULP)}),
    Case("within", "the ellipsoid is as stated", BODY_PART, {"radii": (1 + ULP, None, None)}),
    Case("within", "its center is as stated", BODY_PART, {"center": (ULP, Fraction(0), Fraction(0))}),
    Case("within", "it is used", STEP, {"inside": ()}),
    Case("within", "as much as that", STEP, {"inside": (("arm", HALF + ULP),)}),
    Case("within", "its share is not negative", STEP, {"inside": (("arm", -HALF),)}, WITH),
    Case("within", "radii are positive", BODY_PART, {"radii": (Fraction(-1), None, None)}, WITH),
    Case("twins", "the bodies are equal", ("proof",), {"equal": ()}),
    Case("twins", "the last proves no more", ("proof", "steps", 1), {"value": Fraction(3, 2) + ULP}),
    Case("twins", "the first proves no more", STEP, {"value": Fraction(3, 2) + ULP}),
    Case("twins", "weights are not exchanged", STEP, {"weights": ((0, Fraction(1)), (1, Fraction(2)))}),
    Case("twins", "a body is not negative", STEP, {"possible": (("m", 1), ("s", -2), ("I", 1 - ULP))}),
    Case("twins", "nor its twin", STEP, {"possible": (("m", 1), ("s", -2), ("I", 1), ("n", -ULP))}),
    Case(
        "twins", "terms are its own", ("proof", "bodies", 1), {"terms": (("m", "t"), ("sx", "n"), ("Izz", "J"))}
    ),
    Case("twins", "its format knows equal bodies", (), {"version": 3}, WITH),
    Case("twins", "a body equals another one", ("proof",), {"equal": (("arm",),)}, WITH),
    Case("twins", "a body is named once in a group", ("proof",), {"equal": (("arm", "arm"),)}, WITH),
    Case("twins", "a body is in one group", ("proof",), {"equal": (("arm", "leg"), ("leg", "arm"))}, WITH),
    Case("twins", "equal bodies exist", ("proof",), {"equal": (("arm", "hand"),)}, WITH),
    Case("twins", "groups have names", ("proof",), {"equal": (("arm", 1),)}, WITH),
    Case("twins", "twins have the same terms", ("proof", "bodies", 1), {"terms": (("m", "n"), ("sx", "t"))}, WITH),
    # legs: who it is about
    Case("leg bound", "it is about these measurements", (), {"problem": "sha256:" + 64 * "0"}),
    Case("leg bound", "the leg was measured", (), {"chains": (2,)}),
    Case("leg bound", "some leg is named", (), {"chains": ()}, WITH),
    Case("joint bound", "a leg is named once", (), {"chains": (1, 1)}, WITH),
    Case("joint witness", "legs keep their order", (), {"chains": (2, 1)}),
    Case("leg bound", "tolerances are finite", (), {"more": NAN}, WITH),
    Case("leg bound", "larger tolerances need another proof", (), {"more": 0.0625}),
    Case("leg bound", "tolerances are doubles", (), {"more": Fraction(1, 3)}, WITH),
    Case("leg bound", "the proof is about legs", (), {"proof": Witness({"a": 1})}, WITH),
    # ChainCut, ChainStage, ChainSplit
    Case("leg bound", "no more is stated than proven: lower", CUT, {"bound": lambda p: further(p, 1.0)}),
    Case("leg bound", "no more is stated than proven: upper", ("proof", "links", 0, "cuts", 1),
         {"bound": lambda p: further(p, 0.0)}),
    Case("leg bound", "weights are not negative", CUT, {"weights": ((0, -1.5),)}, WITH),
    Case("leg bound", "weights are finite", CUT, {"weights": ((0, INF),)}, WITH),
    Case("leg bound", "weights are doubles", CUT, {"weights": ((0, Fraction(10, 3)),)}, WITH),
    Case("leg bound", "the row exists", CUT, {"weights": ((68, 1.5),)}),
    Case("leg bound", "rows are counted from 0", CUT, {"weights": ((-68, 1.5),)}, WITH),
    Case("leg bound", "a row is no truth value", CUT, {"weights": ((False, 1.5),)}, WITH),
    Case("leg bound", "a row has one weight", CUT, {"weights": ((0, 0.75), (0, 0.75))}, WITH),
    Case("leg bound", "the other side needs other rows", CUT, {"side": "upper"}),
    Case("leg bound", "a side is lower, upper or empty", CUT, {"side": "left"}, WITH),
    Case("leg bound", "a contradiction is one", CUT, {"side": "empty", "bound": 0.0}),
    Case("leg empty", "a contradiction has no bound", CUT, {"bound": 1.0}, WITH),
    Case("leg bound", "the unknown exists", CUT, {"unknown": "l2"}),
    Case("leg bound", "the unknown has a name", CUT, {"unknown": None}, WITH),
    Case("leg bound", "a bound is finite", CUT, {"bound": -INF}, WITH),
    Case("leg bound", "a stage covers what is left: below", STAGE, {"center": (*CENTER[:6], 0.5)}),
    Case("leg bound", "a stage covers what is left: size", STAGE, {"radius": (*RADIUS[:6], 0.25)}),
    Case("leg bound", "a radius is not negative", STAGE, {"radius": (*RADIUS[:6], -0.3125)}, WITH),
    Case("leg bound", "a center is finite", STAGE, {"center": (NAN, *CENTER[1:])}, WITH),
    Case("leg bound", "centers and radii are as many", STAGE, {"radius": RADIUS[:6]}, WITH),
    Case("leg bound", "as many as unknowns", STAGE, {"radius": RADIUS[:6], "center": CENTER[:6]}),
    Case("leg bound", "a stage is about a leg that is named", STAGE, {"chain": 2}),
    Case("leg bound", "legs are counted from 1", STAGE, {"chain": 0}, WITH),
    Case("leg bound", "cuts are cuts", STAGE, {"cuts": (None,)}, WITH),
    Case("leg bound", "a chain is made of stages", ("proof",), {"links": (Step({"l1": 1}, 0),)}, WITH),
    Case("leg cases", "the unknown exists", STAGE, {"unknown": "l2"}),
    Case("leg cases", "a box is halved at a number", STAGE, {"at": INF}, WITH),
    Case("leg cases", "stages cover each half", STAGE, {"below": lambda p: (), "above": lambda p: (
        ChainStage(CENTER, (*RADIUS[:6], 0.0625), p["below"][0].cuts),)}),
    Case("leg cases", "boxes are not halved without end", ("proof",), {"links": (halved(480),)}),
    Case("joint bound", "a stage bounds its own leg", CUT, {"unknown": "l2"}),
    Case("joint bound", "a stage of one leg is no stage of all", STAGE, {"chain": None}),
    Case("joint bound", "a stage of one leg is not of another", STAGE, {"chain": 2}),
    # ChainEmpty
    Case("leg empty", "something is cut", STAGE, {"cuts": ()}),
    Case("leg empty", "there is a stage", ("proof",), {"links": ()}, WITH),
    Case("leg empty", "weights matter", CUT, {"weights": lambda p: p["weights"][:1]}),
    Case("leg empty", "larger tolerances need another proof", (), {"more": 0.0625}),
    Case("leg empty cases", "both halves are empty: below", STAGE, {"below": ()}),
    Case("leg empty cases", "both halves are empty: above", STAGE, {"above": ()}),
    # ChainWitness
    Case("leg witness", "the leg is not too long", ("proof",), {"values": (0.0,) * 6 + (0.375 + 2.0**-50,)}),
    Case("leg witness", "the leg is not too short", ("proof",), {"values": (0.0,) * 6 + (0.3125 - 2.0**-50,)}),
    Case("leg witness", "the prior holds it", ("proof",), {"values": (2.0**-60, *(0.0,) * 5, 0.34375)}),
    Case("leg witness", "it has all values", ("proof",), {"values": (0.0,) * 6}),
    Case("leg witness", "it has values of the legs named", ("proof",), {"values": (0.0,) * 14}),
    Case("leg witness", "values are finite", ("proof",), {"values": (NAN, *(0.0,) * 5, 0.34375)}, WITH),
    Case("leg witness", "every pose has errors", ("proof",), {"errors": _still(1)}),
    Case("leg witness", "legs have errors", ("proof",), {"errors": ()}),
    Case("leg witness", "errors are of both kinds", ("proof",), {"errors": ((0.0,) * 3,) * 2}),
    Case("leg witness", "poses have as many errors", ("proof",), {"errors": ((0.0,) * 6, (0.0,) * 5)}, WITH),
    Case("leg witness", "errors are finite", ("proof",), {"errors": ((0.0,) * 6, (*(0.0,) * 5, NAN))}, WITH),
    Case("leg witness", "values are doubles", ("proof",), {"values": (0,) * 6 + (Fraction(1, 3),)}),
    Case("leg witness", "values are not longer than doubles", ("proof",), {
        "values": (0,) * 6 + (Fraction(11, 32) + Fraction(1, 2**1100),)}),
    Case("leg witness", "errors are not longer than doubles", ("proof",), {
        "errors": ((0,) * 6, (*(0,) * 5, Fraction(1, 2**1100)))}),
    Case("leg witness", "smaller tolerances may be too small", (), {"more": -0.0625}),
    Case("leg witness, moved", "positions are within tolerance", ("proof",),
         {"errors": ((0.0, 0.0, 0.0625 + 2.0**-50, *MOVED[0][3:]), MOVED[1])}),
    Case("leg witness, moved", "orientations are within tolerance", ("proof",),
         {"errors": ((*MOVED[0][:4], 0.0625 + 2.0**-50, 0.0), MOVED[1])}),
    Case("leg witness, moved", "errors have a sign", ("proof",),
         {"errors": ((0.0, 0.0, -0.0625, *MOVED[0][3:]), MOVED[1])}),
    Case("leg witness but one", "poses that are left out are named", ("proof",), {"left_out": ()}),
    Case("leg witness but one", "poses are counted from 0", ("proof",), {"left_out": (-1,)}, WITH),
    Case("leg witness but one", "poses left out exist", ("proof",), {"left_out": (1, 2)}),
    Case("leg witness but one", "poses are left out once", ("proof",), {"left_out": (1, 1)}, WITH),
    Case("joint witness", "each leg fits", ("proof",), {"values": (*(0.0,) * 6, 0.34375, *(0.0,) * 6, 0.34375)}),
    # ChainOutliers
    Case("leg outliers", "so many are wrong", ("proof",), {"at_least": 2}),
    Case("leg outliers", "at most q are", ("proof",), {"q": 2}),
    Case("leg outliers", "the pose is in all covers", ("proof",), {"outliers": (0,)}),
    Case("leg outliers", "the pose was measured", ("proof",), {"outliers": (4,)}),
    Case("leg outliers", "poses are counted from 0", ("proof",), {"outliers": (-1,)}, WITH),
    Case("leg outliers", "a pose is named once", ("proof",), {"outliers": (3, 3)}, WITH),
    Case("leg outliers", "something is stated", ("proof",), {"at_least": 0, "outliers": ()}, WITH),
    Case("leg outliers", "there is evidence", ("proof",), {"contradictions": ()}, WITH),
    Case("leg outliers", "a contradiction has a box", ("proof",), {"contradictions": ((),)}, WITH),
    Case("leg outliers", "none is left out", ("proof",), {"contradictions": lambda p: p["contradictions"][:1]}),
    Case("leg outliers", "contradictions leave nothing", ("proof",), {"contradictions": lambda p: (
        *p["contradictions"], (ChainStage(CENTER, RADIUS, ()),))}),
    Case("leg outliers", "counts are whole", ("proof",), {"q": True}, WITH),
    # chains
    Case("chain bound", "it is about these equations", (), {"problem": "sha256:" + 64 * "0"}),
    Case("chain bound", "it is about this chain", (), {"chains": (2,)}),
    Case("chain bound", "chains are counted from 1", (), {"chains": (0,)}, WITH),
    Case("chain bound", "tolerances are finite", (), {"more": INF}, WITH),
    Case("chain bound", "larger tolerances need another proof", (), {"more": 0.0625}),
    Case("chain bound", "the proof is about a chain", (), {"proof": Witness({"a": 1})}, WITH),
    Case("chain bound", "no more is stated than proven: lower", CUT, {"bound": lambda p: further(p, 1.0)}),
    Case("chain bound", "no more is stated than proven: upper", ("proof", "links", 0, "cuts", 1),
         {"bound": lambda p: further(p, 0.0)}),
    Case("chain bound", "weights are not negative", CUT, {"weights": ((0, -1.0), (14, 1.0))}, WITH),
    Case("chain bound", "the row exists", CUT, {"weights": ((0, 1.0), (16, 1.0))}),
    Case("chain bound", "rows are counted from 0", CUT, {"weights": ((0, 1.0), (-2, 1.0))}, WITH),
    Case("chain bound", "the unknown exists", CUT, {"unknown": "y"}),
    Case("chain bound", "a stage covers what is left", STAGE, {"radius": (0.125, 0.125)}),
    Case("chain bound", "a stage has all unknowns", STAGE, {"center": (0.0,), "radius": (0.125,)}),
    Case("chain bound", "a stage is about a chain that is named", STAGE, {"chain": 2}),
    Case("chain cases", "the unknown exists", STAGE, {"unknown": "y"}),
    Case("chain empty", "there is a stage", ("proof",), {"links": ()}, WITH),
    Case("chain empty", "a contradiction is one", CUT, {"weights": ((1, 1.0),)}),
    Case("chain empty", "both rows are needed", CUT, {"weights": ((1, 1.0), (3, 1.0))}),
    Case("chain empty", "larger tolerances need another proof", (), {"more": 0.5}),
    Case("chain witness", "the rod is not too short", ("proof",),
         {"values": (Fraction(1, 48), Fraction(22, 48) - ULP)}),
    Case("chain witness", "the rod is not too long", ("proof",), {"values": (Fraction(1, 48), Fraction(28, 48) + ULP)}),
    Case("chain witness", "the prior holds it", ("proof",), {"values": (Fraction(1, 8) + ULP, Fraction(30, 48))}),
    Case("chain witness", "it has all values", ("proof",), {"values": (Fraction(1, 48),)}),
    Case("chain witness", "there are values", ("proof",), {"values": ()}, WITH),
    Case("chain witness", "values are finite", ("proof",), {"values": (NAN, NAN)}, WITH),
    Case("chain witness", "smaller tolerances may be too small", (), {"more": -0.0625}),
    Case("chain witness, condition", "conditions hold exactly", ("proof",), {"values": (ULP, Fraction(1, 2))}),
    # chains together
    Case("pair bound", "no more is stated than proven", CUT, {"bound": lambda p: further(p, 1.0)}),
    Case("pair bound", "larger tolerances need another proof", (), {"more": 0.0625}),
    Case("pair bound", "a stage of all is no stage of one", STAGE, {"chain": 1}),
    Case("pair bound", "a stage covers what is left of each chain", STAGE,
         {"radius": (1 / 64, 0.09375, 1 / 64, 0.0625)}),
    Case("pair bound", "the unknown exists", CUT, {"unknown": "rod_3"}),
    Case("pair bound", "a chain of the certificate has rows", CUT, {"weights": ((32, 1.0),)}),
    Case("pair bound", "chains keep their order", (), {"chains": (2, 1)}),
    Case("pair empty", "rows of both chains are needed", CUT, {
        "weights": lambda p: tuple((row, w) for row, w in p["weights"] if row < 16)}),
    Case("pair empty", "rows of both poses are needed", CUT, {
        "weights": lambda p: tuple((row, w) for row, w in p["weights"] if row % 16 % 2)}),
    Case("pair empty", "one chain by itself fits", (), {"chains": (1,)}),
    Case("pair empty", "weights are not negative", CUT, {
        "weights": lambda p: tuple((row, -w) for row, w in p["weights"])}, WITH),
    Case("pair empty", "larger tolerances need another proof", (), {"more": 0.0625}),
    Case("pair witness", "each chain fits: the first is too long", ("proof",), {
        "values": lambda p: (0, Fraction(259, 512) + ULP, *p["values"][2:])}),
    Case("pair witness", "each chain fits: the second is too short", ("proof",), {
        "values": lambda p: (*p["values"][:3], Fraction(259, 512) - ULP)}),
    Case("pair witness", "the errors of poses are exhibited", ("proof",), {"errors": ()}),
    Case("pair witness", "of every pose", ("proof",), {"errors": lambda p: p["errors"][:1]}),
    Case("pair witness", "all of them", ("proof",), {"errors": ((), ())}),
    Case("pair witness", "and no others", ("proof",), {"errors": ((Fraction(1, 512), 0), (0, 0))}),
    Case("pair witness", "errors have a sign", ("proof",), {"errors": ((Fraction(-1, 512),), (Fraction(-1, 512),))}),
    Case("pair witness", "errors are finite", ("proof",), {"errors": ((INF,), (Fraction(0),))}, WITH),
    Case("pair witness", "one error serves all chains", ("proof",), {
        "values": (0, Fraction(264, 512), 0, Fraction(1, 2))}),
    Case("pair witness", "it has the values of both chains", ("proof",), {"values": lambda p: p["values"][:2]}),
    Case("pair witness", "the prior holds it", ("proof",), {
        "values": (Fraction(8, 512) + ULP, Fraction(266, 512) + ULP, Fraction(4, 512), Fraction(260, 512))}),
    Case("pair witness", "smaller tolerances may be too small", (), {"more": -1 / 256}),
    Case("pair witness but one", "poses that are left out are named", ("proof",), {"left_out": ()}),
    Case("pair witness but one", "poses left out exist", ("proof",), {"left_out": (1, 2)}),
    Case("pair witness but one", "poses are left out once", ("proof",), {"left_out": (1, 1)}, WITH),
    Case("pair outliers", "so many are wrong", ("proof",), {"at_least": 2}),
    Case("pair outliers", "at most q are", ("proof",), {"q": 2}),
    Case("pair outliers", "the pose is in all covers", ("proof",), {"outliers": (0,)}),
    Case("pair outliers", "the pose was measured", ("proof",), {"outliers": (4,)}),
    Case("pair outliers", "none is left out", ("proof",), {"contradictions": lambda p: p["contradictions"][:1]}),
    Case("pair outliers", "one chain misses none", (), {"chains": (2,)}),
    Case("pair outliers", "larger tolerances need another proof", (), {"more": 0.0625}),
    Case("rod outliers", "so many are wrong", ("proof",), {"at_least": 2}),
    Case("rod outliers", "at most q are", ("proof",), {"q": 2}),
    Case("rod outliers", "the pose is in all covers", ("proof",), {"outliers": (0,)}),
    Case("rod outliers", "the pose was measured", ("proof",), {"outliers": (4,)}),
    Case("rod outliers", "none is left out", ("proof",), {"contradictions": lambda p: p["contradictions"][:1]}),
    Case("rod outliers", "contradictions leave nothing", ("proof",), {"contradictions": lambda p: (
        *p["contradictions"], (ChainStage((0.0, 0.5), (0.125, 0.25), ()),))}),
    Case("rod outliers", "larger tolerances need another proof", (), {"more": 0.5}),
    Case("rod witness but one", "poses that are left out are named", ("proof",), {"left_out": ()}),
    Case("rod witness but one", "the right pose is left out", ("proof",), {"left_out": (2,)}),
    Case("rod witness but one", "poses left out exist", ("proof",), {"left_out": (3, 4)}),
]  # fmt: skip
