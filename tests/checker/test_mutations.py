"""A hundred thousand changed certificates of all kinds: none that is accepted states anything false.

Changes bypass all constructors, and so does the check: the lines that decide are called directly. What they accept is
judged by enumeration in rationals, by consistent sets known by hand, or by truths that must not be excluded. A change
that was drawn before is not judged again: the answer depends on nothing else.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import isfinite
from random import Random

import numpy as np
import pytest

from gough import Bounded, Box, GoughError, LinearProblem, Unknowns, estimate
from gough.checker import (
    Certificate,
    ChainBound,
    ChainCertificate,
    ChainCut,
    ChainEmpty,
    ChainOutliers,
    ChainQuestion,
    ChainStage,
    ChainWitness,
    Empty,
    LegMeasurements,
    Step,
    certificate_of,
    chain_certificate,
    check,
    check_chains,
)
from gough.checker.chain_boxes import Space, follow
from gough.checker.chain_check import _checked as chain_checked
from gough.checker.check import CHECKERS
from gough.checker.limits import bounded_work
from gough.checker.linear import Sides, largest_value
from gough.closure import LegProblem
from gough.core.rational import round_down
from gough.methods import LiftedHull, LinearHull, TightEllipsoid
from tests.checker import corpus
from tests.checker.mutations import mutant, put, slots
from tests.checker.oracle import is_true

EACH = {"linear": 44_000, "relaxed": 34_000, "ellipsoid": 8_000, "leg": 4_000, "joint": 2_000, "chain": 7_000,
        "pair": 2_000}  # fmt: skip
"""Mutations of a run."""
WORK = 50_000_000
"""Of one mutant: a few hundredths of a second."""
WRONG = (GoughError, TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What the checker's own lines may raise about values that never met their constructors."""

# linear problems, by enumeration

CUBE = LinearProblem(
    [[1.0, 0.5, 0.0], [0.0, 1.0, -0.25], [0.5, 0.0, 1.0], [1.0, 1.0, 1.0]], [1.0, 0.5, -0.5, 1.0],
    Unknowns(["a", "b", "c"], prior=Box([-4] * 3, [4] * 3)), Bounded([0.5, 0.5, 0.5, 1.0]),
)  # fmt: skip


@cache
def certificates(kind):
    """Problems with certificates of a kind that hold."""
    kinds = {"linear": ("Witness", "Bound", "Empty"), "ellipsoid": ("Inside",)}
    names = kinds.get(kind, ("RelaxedBound", "RelaxedEmpty", "Violated"))
    found = [corpus.base(name)[:2] for name in corpus.LINEAR]
    for twin in (corpus.BETWEEN, corpus.TOUCHING, corpus.LINE, corpus.OPEN):  # consistent: nothing may be empty there
        found += [(twin, Certificate.of(twin, corpus.LINEAR[name][1])) for name in ("empty", "crossed cases", "reach")]
    few = [(problem, each) for problem, each in found if each.kind in names]
    found = [(CUBE, certificate_of(CUBE, estimate(CUBE, method))) for method in (LinearHull(), TightEllipsoid())]
    return max(1, 40 // len(few)) * few + [(problem, each) for problem, each in found if each.kind in names]


def accepted(n, rng, found, size, accepts):
    """How many of n changes the checker accepts; half of them state the most that its own lines find proven.

    Equal changes are judged once: `repr` tells all that differ, signs of zeros included.
    """
    donors, known, count = parts(found), {}, 0
    for _ in range(n):
        about, certificate = rng.choice(found)
        changed = mutant(rng, certificate, donors, *size(about))
        clever = rng.random() < 0.5
        key = (id(about), clever, repr(changed))
        if key not in known:
            known[key] = accepts(changed, about, clever)
        count += known[key]
    return count


def best(changed, problem):
    """The change with the most that the checker's own lines find proven, as a clever forger would state."""
    for path, part in list(slots(changed)):
        if isinstance(part, Step) and len(path) == 3:
            value = largest_value(problem, Sides.of_prior(problem), part.direction, part.weights)
            changed = put(changed, (*path, "value"), value)
    return changed


def best_cuts(changed, space):
    """The same for cuts of boxes."""
    for path, part in list(slots(changed)):
        if isinstance(part, ChainStage):
            rows = space.rows(part.center, part.radius, part.chain)
            for i, cut in enumerate(part.cuts):
                if cut.side != "empty":
                    axis = space.axis(cut.unknown)
                    sign = 1 if cut.side == "lower" else -1
                    middle = rows.center[axis - rows.first].fraction
                    value = sign * round_down(rows.proven(cut, axis) + sign * middle)
                    changed = put(changed, (*path, "cuts", i, "bound"), value)
    return changed


def parts(found):
    return [part for _, each in found for _, part in slots(each) if not isinstance(part, int | float | str)]


def linear_accepts(changed, problem, clever):
    try:
        with bounded_work(WORK):
            changed = best(changed, problem) if clever else changed
            CHECKERS[type(changed.proof)](changed.proof, problem)
    except WRONG:
        return False
    assert is_true(changed.proof, problem), changed.proof
    return True


@pytest.mark.parametrize("kind", ["linear", "relaxed", "ellipsoid"])
def test_nothing_false_is_accepted_about_linear_problems(kind):
    def size(problem):
        return list(problem.unknowns.names), problem.n_rows

    count = accepted(EACH[kind], Random(20260116), certificates(kind), size, linear_accepts)
    assert EACH[kind] // 100 < count < EACH[kind] * 9 // 10


# legs and chains, by sets known by hand


def interval(question, column, more, out=()):
    """The l that fit all poses: dist ± moves of the position along z, a = b = 0. Inner for tolerances of positions."""
    leg = question.legs[column]
    low, high = (Fraction(float(side[7 * column + 6])) for side in (question.prior.lower, question.prior.upper))
    for k in range(len(leg)):
        if k in out:
            continue
        T = max(Fraction(float(leg.reading_tolerance[k])) + Fraction(more), Fraction(0))
        moves = Fraction(float(leg.position_tolerance[k, 2])) if len(question.chains) == 1 else Fraction(0)
        middle = Fraction(1, 2) - Fraction(float(leg.reading[k]))
        low, high = max(low, middle - T - moves), min(high, middle + T + moves)
    return (low, high) if low <= high else None


def leg_is_true(certificate, question):
    """Is what is stated true, as far as these sets tell?"""
    proof, more = certificate.proof, certificate.more
    columns = [question.chains.index(leg) for leg in certificate.chains]
    sets = [interval(question, column, more) for column in columns]
    fits = all(each is not None for each in sets)
    match proof:
        case ChainEmpty():
            return not fits
        case ChainBound():
            legs = Space.of(question, certificate.chains, more)
            box = follow(proof.links, legs, legs.prior())
            return not fits or (
                not box.is_empty and all(box.lower[7 * i + 6] <= low and high <= box.upper[7 * i + 6]
                                         for i, (low, high) in enumerate(sets))
            )  # fmt: skip
        case ChainWitness(values=values, left_out=out) if not question.legs[0].position_tolerance.any():
            sets = [interval(question, column, more, out) for column in columns]
            still = not any(x for i, x in enumerate(values) if i % 7 < 6)
            lengths = [Fraction(x) for x in values[6::7]]
            return still and all(each and each[0] <= x <= each[1] for each, x in zip(sets, lengths, strict=True))
        case ChainOutliers(at_least, q, outliers, _):

            def can(count, without=()):
                poses = [k for k in range(question.n_poses) if k not in without]
                return any(interval(question, columns[0], more, out) for size in range(count + 1)
                           for out in combinations(poses, min(size, len(poses))))  # fmt: skip

            return not (at_least and can(at_least - 1)) and not any(can(q, (pose,)) for pose in outliers)
    return True


def shared_stage(question):
    """A stage about both legs at once, the errors of poses shared."""
    legs = Space.of(question, question.chains, 0.0)
    center, radius = corpus.CENTER * 2, corpus.RADIUS * 2
    rows, cuts = legs.rows(center, radius, None), []
    for name, row in (("l1", 0), ("l2", 2 * question.n_poses + 64)):
        cut = ChainCut(name, "lower", 0.0, ((row, 1.5),))
        axis = legs.axis(name)
        bound = round_down(rows.proven(cut, axis) + Fraction(center[axis]))
        cuts.append(replace(cut, bound=bound))
    return ChainCertificate(question.digest(), question.chains, ChainBound((ChainStage(center, radius, tuple(cuts)),)))


@cache
def about_legs(kind):
    found = [
        (question, each) for question, each in corpus.legs().values() if (len(each.chains) > 1) == (kind == "joint")
    ]
    if kind == "joint":
        found.append((corpus.BOTH, shared_stage(corpus.BOTH)))
    fitting = corpus.BOTH if kind == "joint" else corpus.FITTING
    for _, each in list(found):  # the evidence of boxes, stated to leave nothing where a leg fits
        if isinstance(each.proof, ChainBound | ChainEmpty):
            found.append((fitting, replace(each, problem=fitting.digest(), proof=ChainEmpty(each.proof.links))))
    return found


def chains_accepted_by(is_true_of):
    """Whether lines of the checker accept a change about legs or chains; what they accept must be true."""

    def accepts(changed, question, clever):
        try:
            with bounded_work(WORK):
                space = Space.of(question, changed.chains, changed.more)
                changed = best_cuts(changed, space) if clever else changed
                chain_checked(changed, space, ())
        except WRONG:
            return False
        assert is_true_of(changed, question), changed
        return True

    return accepts


@pytest.mark.parametrize("kind", ["leg", "joint"])
def test_nothing_false_is_accepted_about_legs(kind):
    def size(question):
        return list(question.names), 2 * question.n_poses + 64

    count = accepted(EACH[kind], Random(20260117), about_legs(kind), size, chains_accepted_by(leg_is_true))
    assert EACH[kind] // 100 < count < EACH[kind] * 9 // 10


def test_a_known_leg_is_never_excluded():
    """Seven unknowns, turned poses, all tolerances at work: the truth is consistent, so no box may leave it out."""
    rng = np.random.default_rng(5)
    n, truth = 6, np.array([0.125, -0.0625, 0.0, 0.0625, 0.03125, -0.015625, 0.25])
    quaternion = np.column_stack([np.ones(n), rng.integers(-8, 9, (n, 3)) / 64])
    position = rng.integers(-16, 17, (n, 3)) / 128 + [0, 0, 0.5]
    reading = []
    for q, p in zip(quaternion, position, strict=True):
        w, v = q[0], q[1:]
        b = truth[3:6] + 2 * np.cross(v, np.cross(v, truth[3:6]) + w * truth[3:6]) / (q @ q)
        reading.append(np.linalg.norm(b + p - truth[:3]) - truth[6])
    data = LegMeasurements(quaternion, position, reading, 2.0**-12, 2.0**-12, 2.0**-12)
    problem = LegProblem(data, Box.around(truth + 0.002, 0.01), chain=1)
    still = ((0.0,) * 6,) * n
    certificate = chain_certificate(problem, estimate(problem, LiftedHull(max_steps=1), strict=False))
    witness = ChainCertificate(certificate.problem, (1,), ChainWitness(tuple(truth.tolist()), still))
    assert check_chains(witness, problem)  # by squares of lengths, which share no line with the rows of boxes
    exact, chance = [Fraction(x) for x in truth.tolist()], Random(7)
    links = certificate.proof.links
    [stage] = links
    few = ChainStage(stage.center, stage.radius, stage.cuts[:3])
    question = ChainQuestion((1,), (data,), problem.prior)
    base = ChainCertificate(question.digest(), (1,), ChainBound((few,)))
    donors, accepted = parts([(question, certificate)]), 0
    for _ in range(400):
        changed = mutant(chance, base, donors, list(question.names), 2 * n + 64)
        legs = None
        try:
            with bounded_work(20 * WORK):
                more = max(changed.more, 0.0)  # at smaller tolerances it may not fit
                legs = Space.of(question, changed.chains, more)
                changed = best_cuts(changed, legs) if chance.random() < 0.5 else changed
                box = follow(changed.proof.links, legs, legs.prior())
        except WRONG:
            continue
        accepted += 1
        assert not box.is_empty, changed
        assert all(low <= x <= high for low, x, high in zip(box.lower, exact, box.upper, strict=True)), changed
    assert accepted > 40


def consistent_chains(question, more):
    """Points that fit: corners of |rod − 0.5 − x| ≤ T in every pose, those that satisfy the condition."""
    T = max(Fraction(1, 16) + Fraction(more), Fraction(0))
    (equations,) = question.equations
    low = max(Fraction(float(z)) for z in equations.p[:, 2]) - T
    high = min(Fraction(float(z)) for z in equations.p[:, 2]) + T
    x = [Fraction(0), Fraction(-1, 10)] if equations.conditions else [Fraction(-1, 8), Fraction(0), Fraction(1, 8)]
    points = [(at, at + side) for at in x for side in (low, high)] if low <= high else []
    if equations.conditions:
        points = [(at, rod) for at, rod in points if at * (at + rod / 4) == 0]
        points += [(Fraction(-1, 10), Fraction(2, 5))] if low <= Fraction(1, 2) <= high else []
    return [(at, rod) for at, rod in points if Fraction(1, 4) <= rod <= Fraction(3, 4)]


def chain_is_true(certificate, question):
    proof, points, (equations,) = certificate.proof, consistent_chains(question, certificate.more), question.equations
    T = max(Fraction(1, 16) + Fraction(certificate.more), Fraction(0))
    match proof:
        case ChainEmpty():
            return not points
        case ChainBound():
            space = Space.of(question, certificate.chains, certificate.more)
            box = follow(proof.links, space, space.prior())
            return not points or (not box.is_empty and all(
                low <= each <= high for point in points
                for low, each, high in zip(box.lower, point, box.upper, strict=True)))  # fmt: skip
        case ChainWitness(values=(x, rod)):
            fits = all(abs(rod - Fraction(float(z)) - x) <= T for z in equations.p[:, 2])
            return fits and (not equations.conditions or x * (x + rod / 4) == 0)
    return False


def test_nothing_false_is_accepted_about_chains():
    found = list(corpus.chains().values())
    for question in (corpus.ROD, corpus.STRAIGHT):
        for _, each in corpus.chains().values():
            if not isinstance(each.proof, ChainWitness):
                found += [(question, ChainCertificate(question.digest(), (3,), kind(each.proof.links)))
                          for kind in (ChainBound, ChainEmpty)]  # fmt: skip
    judge = chains_accepted_by(chain_is_true)

    def size(question):
        return list(question.names), 2 * question.equations[0].n_equations + 12

    def accepts(changed, question, clever):
        return isfinite(changed.more) and judge(changed, question, clever)

    count = accepted(EACH["chain"], Random(20260118), found, size, accepts)
    assert EACH["chain"] // 100 < count < EACH["chain"] * 9 // 10


def fitting_pairs(question, chains, more, out=()):
    """Corners of all u = rod − x that fit: |u_c − p_kc − δ_k| ≤ T for some |δ_k| ≤ 1/32 that is the same for all c."""
    T, s = max(Fraction(1, 256) + Fraction(more), Fraction(0)), Fraction(1, 32)
    p = [[Fraction(float(z)) for z in question.rods[chain - 1].p[:, 2]] for chain in chains]
    poses = [k for k in range(question.n_poses) if k not in out]
    sides = [(max([Fraction(27, 64), *(z[k] - s - T for k in poses)]), min([Fraction(41, 64), *(z[k] + s + T for k in
              poses)])) for z in p]  # fmt: skip
    if len(chains) == 1:
        return [(end,) for end in sides[0]] if sides[0][0] <= sides[0][1] else []
    between = (max([Fraction(-1), *(p[0][k] - p[1][k] - 2 * T for k in poses)]),
               min([Fraction(1), *(p[0][k] - p[1][k] + 2 * T for k in poses)]))  # fmt: skip
    corners = [(a, b) for a in sides[0] for b in sides[1]]
    corners += [(a, a - d) for a in sides[0] for d in between] + [(b + d, b) for b in sides[1] for d in between]
    return [(a, b) for a, b in corners if sides[0][0] <= a <= sides[0][1] and sides[1][0] <= b <= sides[1][1]
            and between[0] <= a - b <= between[1]]  # fmt: skip


def fits_with(question, chains, witness, T):
    """Do these values fit with these errors, or, where one chain shows none, with some?"""
    values, errors, out = witness
    if not errors and len(chains) > 1:
        return False
    s = Fraction(1, 32)
    for k in (k for k in range(question.n_poses) if k not in out):
        moved, room = (errors[k][0], T) if errors else (Fraction(0), T + s)
        z = [Fraction(float(question.rods[chain - 1].p[k, 2])) for chain in chains]
        away = [values[2 * i + 1] - values[2 * i] - each - moved for i, each in enumerate(z)]
        if abs(moved) > s or any(abs(each) > room for each in away):
            return False
    return True


def pair_is_true(certificate, question):
    proof, more, chains = certificate.proof, certificate.more, certificate.chains
    T, points = max(Fraction(1, 256) + Fraction(more), Fraction(0)), []
    for u in fitting_pairs(question, chains, more):  # x and rod within the prior, if there are any with this difference
        x = [min(max(Fraction(0), Fraction(7, 16) - each), Fraction(5, 8) - each) for each in u]
        if all(abs(each) <= Fraction(1, 64) for each in x):
            points.append([value for a, b in zip(x, u, strict=True) for value in (a, a + b)])
    match proof:
        case ChainEmpty():
            return not fitting_pairs(question, chains, more)
        case ChainBound():
            space = Space.of(question, chains, more)
            box = follow(proof.links, space, space.prior())
            return not points or (not box.is_empty and all(
                low <= each <= high for point in points
                for low, each, high in zip(box.lower, point, box.upper, strict=True)))  # fmt: skip
        case ChainWitness(values=values, errors=errors, left_out=out):
            return fits_with(question, chains, (values, errors, out), T)
        case ChainOutliers(at_least, q, outliers, _):

            def can(count, without=()):
                poses = [k for k in range(question.n_poses) if k not in without]
                return any(fitting_pairs(question, chains, more, out) for size in range(count + 1)
                           for out in combinations(poses, min(size, len(poses))))  # fmt: skip

            return not (at_least and can(at_least - 1)) and not any(can(q, (pose,)) for pose in outliers)
    return False


def about_pairs():
    found = [each for name, each in corpus.pairs().items() if name.startswith("pair")]
    for question, each in list(found):  # the evidence of boxes, stated to leave nothing where chains fit together
        if isinstance(each.proof, ChainBound | ChainEmpty):
            found.append((corpus.PAIR, replace(each, problem=corpus.PAIR.digest(), proof=ChainEmpty(each.proof.links))))
            found.append((question, replace(each, proof=ChainBound(each.proof.links))))
    return found


def test_nothing_false_is_accepted_about_chains_together():
    def size(question):
        return list(question.names), 2 * (2 * question.n_poses + 12)

    count = accepted(EACH["pair"], Random(20260120), about_pairs(), size, chains_accepted_by(pair_is_true))
    assert EACH["pair"] // 100 < count < EACH["pair"] * 9 // 10


def test_the_judge_of_pairs_is_no_fool():
    """It finds what is false: the errors of poses not shared, or a pose left out that is not."""
    question = corpus.PAIR_APART
    empty = corpus.pairs()["pair empty"][1]
    assert pair_is_true(empty, question)
    assert not pair_is_true(replace(empty, chains=(1,)), question)
    assert not pair_is_true(replace(empty, more=0.0625), question)
    assert not pair_is_true(replace(empty, problem=corpus.PAIR.digest()), corpus.PAIR)
    _, witness = corpus.pairs()["pair witness but one"]
    assert pair_is_true(witness, question)
    assert not pair_is_true(replace(witness, proof=replace(witness.proof, left_out=())), question)


def test_the_whole_checker_accepts_no_more_than_its_lines():
    """Constructors in front of them refuse more, and nothing else is added."""
    rng = Random(20260119)
    for kind in ("linear", "relaxed", "ellipsoid"):
        found = certificates(kind)
        for _ in range(300):
            problem, certificate = rng.choice(found)
            changed = mutant(rng, certificate, [], list(problem.unknowns.names), problem.n_rows)
            try:
                holds = check(changed, problem).holds
            except GoughError:
                continue
            assert not holds or is_true(changed.proof, problem)
    for question, certificate in (*about_legs("leg"), *about_legs("joint")):
        for _ in range(15):
            changed = mutant(rng, certificate, [], list(question.names), 2 * question.n_poses + 64)
            assert not check_chains(changed, question).holds or leg_is_true(changed, question)
    for question, certificate in about_pairs():
        for _ in range(10):
            changed = mutant(rng, certificate, [], list(question.names), 2 * (2 * question.n_poses + 12))
            assert not check_chains(changed, question).holds or pair_is_true(changed, question)
    for question, certificate in corpus.chains().values():
        for _ in range(40):
            changed = mutant(rng, certificate, [], list(question.names), 2 * question.equations[0].n_equations + 12)
            assert not check_chains(changed, question).holds or chain_is_true(changed, question)


def test_a_hundred_thousand():
    assert sum(EACH.values()) >= 100_000
    assert isinstance(corpus.LINEAR["empty"][1], Empty)
