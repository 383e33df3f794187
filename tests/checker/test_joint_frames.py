"""Chains in coordinates of their own: rows hold for true chains without tolerance, and nothing false is accepted."""

import random
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from time import process_time

import numpy as np
import pytest

from benchmarks.certified_chain import measured, problem_of
from gough import Box, InputError
from gough.checker import (
    ChainCertificate,
    ChainFrame,
    ChainWitness,
    JointEmpty,
    NotProven,
    NumberedCut,
    check_chains,
    load_chains,
    question_of,
    save_chains,
    witness_certificate,
)
from gough.checker.chain_boxes import Space, StageRows
from gough.checker.chain_questions import ChainQuestion
from gough.checker.dyadic import Dyadic
from gough.checker.joint_frames import FramedChain, JointRows
from gough.checker.rod_equations import RodEquations
from gough.closure import JointProblem, Tolerances, certified_chain, framed_joint, joint_tolerance, minimal_tolerance
from gough.closure.joint_hull import JointHull
from gough.core.errors import BeyondLimit
from gough.data import Poses
from gough.robots import PlanarRRR
from tests.checker import corpus
from tests.checker.mutations import other_number, put, slots
from tests.closure.test_chains_together import each_robot, simulated


def solved(T, h):
    """z with T z = h, in fractions."""
    n = len(h)
    rows = [[*map(Fraction, row), x] for row, x in zip(T, h, strict=True)]
    for i in range(n):
        pivot = max(range(i, n), key=lambda k: abs(rows[k][i]))
        rows[i], rows[pivot] = rows[pivot], rows[i]
        for k in range(n):
            if k != i and rows[k][i]:
                factor = rows[k][i] / rows[i][i]
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n] / row[i] for i, row in enumerate(rows)]


def frame_around(x, rng, skew):
    """A frame with skewed axes and a box, both of which hold x, though not in the middle."""
    n, values = len(x), np.array([float(v) for v in x])
    radius = 10.0 ** rng.uniform(-5, -2, n)
    center = values + rng.uniform(-0.9, 0.9, n) * radius
    center[-1] = max(center[-1], 0.0)
    radius = radius + abs(center - values) + 1e-14
    axes = np.diag(radius) @ rng.normal(0, 1, (n, n)) @ np.diag(10.0 ** rng.uniform(-skew, skew, n))
    return ChainFrame(*(tuple(v.tolist()) for v in (center, radius)),
                      *(tuple(map(tuple, m.tolist())) for m in (axes, np.linalg.inv(axes))), ())  # fmt: skip


def with_cuts(frame, equations, rows, more, rng):
    """The frame with an inverse that is a little off, and one or both sides of all it may bound, as weights prove."""
    n, axes, inverse = len(frame.center), np.array(frame.axes), np.array(frame.inverse)
    size = abs(inverse) @ np.array(frame.radius)
    off = rng.uniform(-1, 1, (n, n)) * 2.0**-30 / n**2 * np.outer(size, 1 / abs(axes).sum(axis=1))
    frame = replace(frame, inverse=tuple(map(tuple, (inverse + off).tolist())))
    chain, cuts = FramedChain(equations, frame, rows, more), []
    for number in range(n + chain.S * chain.n_poses):
        for side in rng.permutation(["lower", "upper"])[: rng.integers(1, 3)].tolist():
            scale = float(10.0 ** rng.uniform(-6, 1))
            weights = tuple((int(k), scale * rng.random()) for k in rng.choice(2 * equations.n_equations, 2, False))
            cut = NumberedCut(number, side, 0.0, weights if rng.random() < 0.5 else ())
            outward = -np.inf if side == "lower" else np.inf
            cuts.append(replace(cut, bound=float(np.nextafter(float(chain.proven(cut)), outward))))
    return replace(frame, cuts=tuple(cuts))


def joint_point(rows, truth, errors):
    """What each column is at chains x and errors of poses: coordinates, products, and products with errors."""
    y, z_of = [], []
    for chain, x in zip(rows.chains, truth, strict=True):
        h = [v - Fraction(c) for v, c in zip(x, chain.frame.center, strict=True)]
        z = solved(chain.frame.axes, h)
        y += [*z, *(z[i] * z[j] for i, j in chain.pairs)]
        for k in range(chain.n_poses):
            for e in range(chain.S):
                _, numbers, exponent, _ = chain.equation(k).forms[e]
                W = sum((Dyadic(w, exponent).fraction * v for w, v in zip(numbers, z, strict=True)), Fraction(0))
                y.append(errors[k][e] * W)
        z_of.append(z)
    return [*y, *(v for row in errors for v in row)], z_of


def require_rows_hold(rows, y):
    for number in range(rows.n_rows):
        row, places = rows.row(number)
        assert len(places) == len(row.coefficients)
        assert sum((a * y[place] for place, a in zip(places, row.coefficients, strict=True)), Fraction(0)) <= row.side
    for column, value in enumerate(y):
        sides = rows.sides_of(column)
        assert sides.lower.fraction <= value <= sides.upper.fraction


@each_robot
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize(("size", "skew"), [(1e-6, 0.0), (1e-3, 2.0), (0.03, 4.0)])
def test_rows_in_coordinates_hold_exactly(model, size, skew, bounded, rng):
    """For chains, poses and readings that are known exactly, before and after sides were moved up to the truth.

    Frames bound nothing, or sides of all that they may bound, as weights drawn at random prove.
    """
    truth, poses, shared = simulated(model, rng, size, n=3)
    parts = []
    for i, x in enumerate(truth):
        values = np.array([float(v) for v in x])
        prior = Box(np.append(values[:-1] - 1.0, 0.0), values + 1.0)
        parts.append(certified_chain(model, poses, i + 1, prior, Tolerances(size, 0.5 * size, size)))
    question = question_of(JointProblem(tuple(parts)))
    # readings may be off by half of their tolerance more than stated
    space = Space.of(question, question.chains, 0.5 * size)
    frames = [frame_around(x, rng, skew) for x in truth]
    lower = [Fraction(c) - Fraction(r) for f in frames for c, r in zip(f.center, f.radius, strict=True)]
    upper = [Fraction(c) + Fraction(r) for f in frames for c, r in zip(f.center, f.radius, strict=True)]
    box = space.prior()._replace(lower=lower, upper=upper)
    if bounded:
        parts = zip(frames, space.equations, space.chains, strict=True)
        frames = [
            with_cuts(frame, each, space.rows(frame.center, frame.radius, chain), space.more, rng)
            for frame, each, chain in parts
        ]
    rows = JointRows(space, box, tuple(frames))
    assert all(len(chain.stated) == bounded * chain.n_poses * chain.S for chain in rows.chains)
    errors = [[Fraction(v) for v in row] for row in shared.tolist()]
    y, z_of = joint_point(rows, truth, errors)
    require_rows_hold(rows, y)
    for chain, x in zip(rows.chains, truth, strict=True):  # what a frame may bound is what it says
        h = [v - Fraction(c) for v, c in zip(x, chain.frame.center, strict=True)]
        for k in range(chain.n_poses):
            for e in range(chain.S):
                constant, linear, pairs = chain.quantity(chain.n + chain.S * k + e)
                value = constant.fraction + sum((a.fraction * h[i] for i, a in linear.items()), Fraction(0))
                value += sum((a.fraction * h[i] * h[j] for (i, j), a in pairs.items()), Fraction(0))
                d = chain.equations
                D = [Fraction(v) for v in d.D[k, d.shared[e]].tolist()]
                D = [a + sum(Fraction(b) * v for b, v in zip(row, x, strict=True))
                     for a, row in zip(D, d.B[k, d.shared[e]].tolist(), strict=True)]  # fmt: skip
                u = [Fraction(p) + sum(Fraction(a) * v for a, v in zip(row, x, strict=True))
                     for p, row in zip(d.p[k].tolist(), d.A[k].tolist(), strict=True)]  # fmt: skip
                assert value == 2 * sum(a * b for a, b in zip(u, D, strict=True))
    cuts = []
    for number, value in enumerate((*(v for z in z_of for v in z), *(v for row in errors for v in row))):
        sides = rows.sides_of(rows.column(number))
        low, high = (float(value - (value - end.fraction) * Fraction(rng.random())) for end in sides)
        low, high = np.nextafter(low, -np.inf), np.nextafter(high, np.inf)
        cuts += [NumberedCut(number, "lower", low, ()), NumberedCut(number, "upper", high, ())]
    rows.move(cuts)
    assert not rows.is_empty
    require_rows_hold(rows, y)


@pytest.fixture(scope="module")
def three():
    """The chains of a planar robot whose readings are off, and the bracket of what they need together."""
    model, rng = PlanarRRR(), np.random.default_rng(3)
    poses = measured(model, rng, 16)
    poses = Poses(poses.position, poses.rotation, poses.readings + rng.uniform(-5e-4, 5e-4, poses.readings.shape))
    problem = JointProblem(tuple(problem_of(model, poses, 0.005, rng, k + 1)[0] for k in range(3)))
    start = np.concatenate([minimal_tolerance(part).point for part in problem.parts])
    return problem, joint_tolerance(problem, start)


def near(bracket):
    return framed_joint.Near(bracket.points, bracket.exhibit.errors)


def test_the_bracket_is_narrow_and_both_ends_hold(three, tmp_path):
    problem, bracket = three
    assert isinstance(bracket.tree, JointEmpty)
    assert 0 < bracket.upper - bracket.lower < 1.01e-6
    question = question_of(problem)
    certificate = ChainCertificate(question.digest(), question.chains, bracket.tree, bracket.lower)
    verdict = check_chains(certificate, question)
    assert verdict.holds, verdict.reason
    assert verdict.statement[-1].startswith("no geometry of chains 1, 2, 3 within the prior")
    values = [v for part, at in problem for v in part.exact(bracket.points[at])]
    fits = witness_certificate(question, values, bracket.exhibit.errors, more=bracket.upper)
    assert check_chains(fits, question).holds
    save_chains(certificate, tmp_path / "lower.json")
    assert load_chains(tmp_path / "lower.json") == certificate
    less = replace(certificate, more=bracket.lower - 1e-6)  # with less, rows are closer
    assert check_chains(less, question).holds


def test_a_proof_that_falls_short_of_the_width_is_true_too(three):
    problem, bracket = three
    found = framed_joint.lower_end(problem, bracket.upper, 1e-9, near(bracket))
    assert found is not None
    assert found.epsilon < bracket.upper
    question = question_of(problem)
    assert check_chains(ChainCertificate(question.digest(), question.chains, found.proof, found.epsilon), question)


@pytest.fixture(scope="module")
def feasible(three):
    """The same proof where chains do fit: all is right but the contradiction, which proves too little."""
    problem, bracket = three
    question, more = question_of(problem), bracket.upper + 1e-9
    space = Space.of(question, question.chains, more)
    widened = problem.widened(more)
    stages = JointHull(max_steps=0).estimate(widened).stats.stages
    links, box = framed_joint.stage_links(space, stages, space.prior())
    search = framed_joint._Search(widened, space, links, box, near(bracket))
    search.run()
    _, count, weights = search._best
    last = (NumberedCut(0, "empty", 0.0, weights),)
    proof = JointEmpty(links, tuple(search._frames), (*search._stages[:count], last))
    assert count > 1
    return question, ChainCertificate(question.digest(), question.chains, proof, more)


def test_chains_that_fit_are_never_refuted(feasible):
    """Changed in one place at random, or in several, what a certificate has is still no proof of what is false."""
    question, certificate = feasible
    verdict = check_chains(certificate, question)
    assert not verdict.holds
    assert "its rows prove" in verdict.reason
    draw, places = random.Random(5), list(slots(certificate.proof))
    pool = [draw.choice([each for _, each in places if isinstance(each, float)]) for _ in range(50)]
    of_frames = [path for path, each in places if path[0] != "links" and isinstance(each, float | int)]
    for _ in range(12):
        proof = certificate.proof
        for _ in range(draw.choice((1, 1, 3))):
            path = draw.choice(of_frames)
            old = dict(places)[path]
            proof = put(proof, path, int(draw.randrange(5000)) if isinstance(old, int) else
                        float(other_number(draw, Fraction(old), list(map(Fraction, pool)))))  # fmt: skip
        with suppress(InputError):
            assert not check_chains(replace(certificate, proof=proof), question).holds


def test_small_proofs_are_changed_often():
    """Of two chains that fit together, with evidence of two that do not and with the best that there is."""
    draw = random.Random(7)
    for base in (corpus.coordinates()[1].proof, corpus.framed(corpus.PAIR)):
        places = dict(slots(base))
        numbers = [path for path, each in places.items() if isinstance(each, float | int)]
        pool = [Fraction(places[path]) for path in numbers]
        for _ in range(300):
            proof = base
            for _ in range(draw.choice((1, 1, 2, 4))):
                path = draw.choice(numbers)
                old = places[path]
                new = draw.randrange(60) if isinstance(old, int) else float(other_number(draw, Fraction(old), pool))
                proof = put(proof, path, new)
            with suppress(InputError):
                certificate = ChainCertificate(corpus.PAIR.digest(), (1, 2), proof)
                assert not check_chains(certificate, corpus.PAIR).holds


FORGED = {
    "cuts of a stage use the sides before it": lambda p: replace(
        p, stages=(tuple(cut for stage in p.stages for cut in stage),)),
    "there is a contradiction": lambda p: replace(p, stages=p.stages[:-1]),
    "there are stages": lambda p: replace(p, stages=()),
    "each chain has its own frame": lambda p: replace(p, frames=p.frames[::-1]),
    "each chain has a frame": lambda p: replace(p, frames=p.frames[:-1]),
    "the inverse is one": lambda p: replace(p, frames=tuple(
        replace(f, inverse=tuple(tuple(x / 2 for x in row) for row in f.inverse)) for f in p.frames)),
    "axes have an inverse": lambda p: replace(p, frames=tuple(
        replace(f, axes=(f.axes[0],) * len(f.axes)) for f in p.frames)),
    "axes are those of the inverse": lambda p: replace(p, frames=tuple(
        replace(f, axes=tuple(tuple(x / 4 for x in row) for row in f.axes)) for f in p.frames)),
    "the box of a frame holds what is left": lambda p: replace(p, frames=tuple(
        replace(f, radius=tuple(r / 2 for r in f.radius)) for f in p.frames)),
    "frames are around what is left": lambda p: replace(p, frames=tuple(
        replace(f, center=tuple(c + r for c, r in zip(f.center, f.radius, strict=True))) for f in p.frames)),
    "bounds of a frame are proven": lambda p: replace(p, frames=tuple(
        replace(f, cuts=tuple(replace(cut, weights=()) for cut in f.cuts)) for f in p.frames)),
    "bounds of coordinates are proven": lambda p: replace(p, stages=(
        (replace(p.stages[0][0], bound=p.stages[0][0].bound + (0.01 if p.stages[0][0].side == "lower" else -0.01)),),
        *p.stages[1:])),
    "rows exist": lambda p: replace(p, stages=((replace(p.stages[0][0], weights=((10**6, 1.0),)),), *p.stages[1:])),
    "coordinates exist": lambda p: replace(p, stages=((replace(p.stages[0][0], number=10**6),), *p.stages[1:])),
    "what a frame bounds exists": lambda p: replace(p, frames=(
        replace(p.frames[0], cuts=(NumberedCut(10**6, "lower", 0.0, ()),)), *p.frames[1:])),
    "a contradiction is more than nothing": lambda p: replace(p, stages=((NumberedCut(0, "empty", 0.0, ()),),)),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGED)
def test_what_violates_one_hypothesis_does_not_hold(feasible, name):
    question, certificate = feasible
    assert not check_chains(replace(certificate, proof=FORGED[name](certificate.proof)), question).holds


EYE = ((1.0, 0.0), (0.0, 1.0))
TURNED = ((0.25, 0.5), (-0.5, 0.25)), ((0.8, -1.6), (1.6, 0.8))
PLACE = (0.0, 0.53125), (1 / 64, 0.09375)
FALSE_PREMISES = {
    "the box of a frame holds what is left": (((0.0, 0.59375), (1 / 64, 1 / 32), *TURNED, ()), (), "does not cover"),
    "bounds of coordinates are proven in a frame": (
        (*PLACE, *TURNED, (NumberedCut(0, "lower", 0.14, ()),)), (), "a frame's bound of number 0"),
    "bounds of what errors multiply are proven": (
        (*PLACE, *TURNED, (NumberedCut(2, "upper", 0.5, ()),)), (), "a frame's bound of number 2"),
    "bounds of coordinates are proven in a stage": (
        (*PLACE, *TURNED, ()), (NumberedCut(0, "lower", 0.14, ()), NumberedCut(2, "lower", 0.14, ())), "stage 1: "),
    "bounds of errors are proven": (
        (*PLACE, *TURNED, ()), (NumberedCut(4, "lower", 1 / 32, ()), NumberedCut(5, "upper", 0.0, ())), "stage 1: "),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE_PREMISES)
def test_one_check_is_what_refuses_a_false_premise(name, monkeypatch):
    """Chains that fit are refuted by the best weights if that check alone is left out, and by nothing with it."""
    frame, stage, reason = FALSE_PREMISES[name]
    frames, space = (ChainFrame(*frame),) * 2, Space.of(corpus.PAIR, (1, 2), 0.0)

    def refuted():
        proof = JointEmpty((), frames, ((stage,) if stage else ()) + ((last,),))
        return check_chains(ChainCertificate(corpus.PAIR.digest(), (1, 2), proof), corpus.PAIR)

    with monkeypatch.context() as without:
        owner, check = {"does": (StageRows, "require_covers"), "a": (FramedChain, "proven"),
                        "stage": (JointRows, "follow")}[reason.split()[0]]  # fmt: skip
        follow = JointRows.follow
        without.setattr(owner, check, {
            "require_covers": lambda *_: None,
            "proven": lambda _, cut: Fraction(cut.bound),
            "follow": lambda self, cuts: self.move(cuts) if cuts == stage else follow(self, cuts),
        }[check])  # fmt: skip
        rows = JointRows(space, space.prior(), frames)
        rows.move(stage)
        last = NumberedCut(0, "empty", 0.0, corpus.contradicting(rows))
        assert refuted().holds
    verdict = refuted()
    assert not verdict.holds
    assert reason in verdict.reason


@pytest.mark.parametrize(
    ("axes", "inverse"),
    [
        (EYE, ((0.0, 0.0), (0.0, 0.0))),
        (EYE, ((1.0, 0.0), (0.0, 0.0))),
        (((1.0, 0.0), (0.0, 0.0)), EYE),
        (((1.0, 1.0), (1.0, 1.0)), ((1e300, 0.0), (0.0, 1e300))),
        (EYE, ((1.0, 0.0), (0.0, 1.0 + 2.0**-20))),
        (EYE, ((-1.0, 0.0), (0.0, 1.0))),
    ],
)
def test_axes_must_have_the_inverse(axes, inverse):
    question, certificate = corpus.coordinates()
    frames = tuple(replace(frame, axes=axes, inverse=inverse, cuts=()) for frame in certificate.proof.frames)
    verdict = check_chains(replace(certificate, proof=replace(certificate.proof, frames=frames)), question)
    assert not verdict.holds
    assert "inverse" in verdict.reason


def test_what_holds_needs_its_frames_stages_and_chains(three):
    """Of proofs that hold, each without one part."""
    question, certificate = corpus.coordinates()
    proof = certificate.proof
    verdict = check_chains(certificate, question)
    assert verdict.holds
    assert verdict.rows == (0, 1)
    assert verdict.checked.startswith("2 poses")
    for change, reason in (
        ({"stages": ()}, "leave coordinates"),
        ({"frames": proof.frames[:1]}, "1 frames"),
        ({"frames": (*proof.frames, proof.frames[0])}, "3 frames"),
        ({"stages": ((), *proof.stages)}, ""),
    ):
        changed = check_chains(replace(certificate, proof=replace(proof, **change)), question)
        assert changed.holds == (not reason)
        assert reason in changed.reason
    one = ChainCertificate(question.digest(), (1,), replace(proof, frames=proof.frames[:1]))
    assert not check_chains(one, question).holds  # each alone fits
    assert not check_chains(replace(certificate, more=1 / 32), question).holds
    problem, bracket = three
    question = question_of(problem)
    assert len(bracket.tree.stages) > 1
    at_once = replace(bracket.tree, stages=(tuple(cut for stage in bracket.tree.stages for cut in stage),))
    for proof, holds in ((bracket.tree, True), (at_once, False)):
        certificate = ChainCertificate(question.digest(), question.chains, proof, bracket.lower)
        assert check_chains(certificate, question).holds == holds


def huge(shared):
    """A rod that fits, whose error multiplies numbers near the square of the largest double; perhaps not shared."""
    big = 2.0**1020
    p, A, D = np.zeros((1, 3)), np.zeros((1, 3, 2)), np.zeros((1, 2, 3))
    A[0, 0, 0], D[0, 0, 0], D[0, 1, 2] = 1.0, big, 1.0
    tolerance = np.array([[2.0**-1000, 0.0]])
    if not shared:
        D, tolerance = D[:, :1], tolerance[:, :1]
    E = D.shape[1]
    rod = RodEquations(("x", "rod"), p, A, D, np.zeros((1, E, 3, 2)), tolerance, np.zeros((1, 2)), np.zeros(1),
                       ((0, 0), (0, 1), (1, 1)), reading=E - 1)  # fmt: skip
    axes, inverse = ((big / 4, 0.0), (0.0, big)), ((4 / big, 0.0), (0.0, 1 / big))
    return ChainQuestion((1,), (rod,), Box([-big, 0], [-big / 2, 2 * big])), ChainFrame(
        (-0.75 * big, big), (big / 4, big), axes, inverse, (NumberedCut(2, "upper", 0.0, ()),))  # fmt: skip


def test_one_side_of_what_an_error_multiplies_says_nothing_of_the_other():
    """However large it is: products of doubles may be beyond all doubles."""
    question, frame = huge(shared=True)
    values = (Fraction(-3, 4) * 2**1020, Fraction(3, 4) * 2**1020)
    fits = ChainCertificate(question.digest(), (1,), ChainWitness(values, ((Fraction(0),),)))
    assert check_chains(fits, question).holds
    last = NumberedCut(0, "empty", 0.0, ((18, 1.0), (20, 1.0)))  # both planes where the error's factor is least
    proof = JointEmpty((), (frame,), ((last,),))
    verdict = check_chains(replace(fits, proof=proof), question)
    assert not verdict.holds
    assert "stage 1: the empty side" in verdict.reason


def test_frames_of_chains_without_shared_errors_bound_coordinates_only():
    question, frame = huge(shared=False)
    proof = JointEmpty((), (frame,), ((NumberedCut(0, "empty", 0.0, ()),),))
    verdict = check_chains(ChainCertificate(question.digest(), (1,), proof), question)
    assert not verdict.holds
    assert "a frame has no number 2" in verdict.reason


def test_long_numbers_of_many_unknowns_are_beyond_a_limit_at_once():
    """What products of matrices take is counted before they are computed."""
    n, rng = 150, np.random.default_rng(0)

    def wild(*shape):
        return np.ldexp(1 + rng.random(shape), rng.integers(-900, 900, shape))

    names = (*(f"x_{i}" for i in range(n - 1)), "rod")
    D, B = wild(1, 3, 3), wild(1, 3, 3, n)
    D[:, :2], B[:, :2] = D[:, :2] * 2.0**-900, B[:, :2] * 2.0**-900
    rod = RodEquations(names, wild(1, 3) * 2.0**-900, wild(1, 3, n) * 2.0**-900, D, B, np.ones((1, 3)),
                       np.zeros((1, n)), np.zeros(1), (), reading=2)  # fmt: skip
    question = ChainQuestion((1,), (rod,), Box([*[-1.0] * (n - 1), 0.0], [1.0] * n))
    exponents = rng.integers(-200, 200, n)
    axes, inverse = (tuple(map(tuple, np.diag(np.ldexp(1.0, sign * exponents)).tolist())) for sign in (1, -1))
    frame = ChainFrame((0.0,) * n, (1.0,) * n, axes, inverse, ())
    proof = JointEmpty((), (frame,), ((NumberedCut(0, "empty", 0.0, ((0, 1.0),)),),))
    many = replace(frame, cuts=tuple(NumberedCut(n + i % 2, "lower", -1e308, ()) for i in range(20_000)))
    for each in (proof, replace(proof, frames=(many,))):
        began = process_time()
        with pytest.raises(BeyondLimit, match="more work"):
            check_chains(ChainCertificate(question.digest(), (1,), each), question)
        assert process_time() - began < 20


def test_a_weight_that_is_negative_is_refused():
    question, certificate = corpus.coordinates()
    assert check_chains(certificate, question).holds
    (stage,) = certificate.proof.stages
    weights = tuple((row, -weight) for row, weight in stage[0].weights)
    forged = corpus.forged(NumberedCut, {"number": 0, "side": "empty", "bound": 0.0, "weights": weights})
    proof = corpus.forged(JointEmpty, {"links": (), "frames": certificate.proof.frames, "stages": ((forged,),)})
    assert not check_chains(replace(certificate, proof=proof), question).holds
    with pytest.raises(InputError, match="negative"):
        NumberedCut(0, "empty", 0.0, weights)
    rows = JointRows(Space.of(question, (1, 2), 0.0), Space.of(question, (1, 2), 0.0).prior(), certificate.proof.frames)
    with pytest.raises(NotProven, match="negative"):
        rows.least(weights, {})


def test_coordinates_of_chains_that_fit_do_not_contradict_each_other():
    """The best weights there are, for readings that fit, and for those that fit if they are wider."""
    certificate = corpus.coordinates()[1]
    fitting = ChainCertificate(corpus.PAIR.digest(), (1, 2), corpus.framed(corpus.PAIR))
    assert not check_chains(fitting, corpus.PAIR).holds
    wide = ChainCertificate(corpus.PAIR_APART.digest(), (1, 2), corpus.framed(corpus.PAIR_APART, 1 / 32), 1 / 32)
    assert not check_chains(wide, corpus.PAIR_APART).holds
    assert not check_chains(replace(certificate, more=1 / 32), corpus.PAIR_APART).holds


def test_legs_have_no_frames():
    question, certificate = corpus.legs()["leg empty"]
    n = question.equations[0].n_unknowns
    eye = tuple(map(tuple, np.eye(n).tolist()))
    sides = question.prior
    frame = ChainFrame(tuple(sides.center.tolist()), tuple((sides.width + 1).tolist()), eye, eye, ())
    proof = JointEmpty((), (frame,), ((NumberedCut(0, "empty", 0.0, ((0, 1.0),)),),))
    verdict = check_chains(replace(certificate, proof=proof), question)
    assert not verdict.holds
    assert "rod" in verdict.reason


@pytest.mark.parametrize(
    "change",
    [
        {"axes": ((1.0, 0.0),)},
        {"inverse": ((1.0, 0.0), (0.0, float("nan")))},
        {"radius": (-1.0, 1.0)},
        {"center": (1.0,)},
        {"cuts": (NumberedCut(0, "empty", 0.0, ()),)},
        {"cuts": (1,)},
    ],
)
def test_frames_that_cannot_be(change):
    eye = ((1.0, 0.0), (0.0, 1.0))
    known = {"center": (0.0, 0.0), "radius": (1.0, 1.0), "axes": eye, "inverse": eye, "cuts": ()}
    assert ChainFrame(**known)
    with pytest.raises((InputError, TypeError)):
        ChainFrame(**(known | change))
