"""Certificates about chains of deltas, H4, Par4 and 3-RRR: they hold, and changed ones do not."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.certified_chain import ROBOTS, measured, problem_of
from gough import Box
from gough.checker import (
    ChainBound,
    ChainCertificate,
    ChainCut,
    ChainQuestion,
    ChainStage,
    ChainWitness,
    RodEquations,
    chain_certificate,
    check_chains,
    load_chains,
    load_question,
    question_of,
    save_chains,
    save_question,
    witness_certificate,
)
from gough.checker.chain_boxes import Space
from gough.checker.chain_files import render_chains, render_question
from gough.checker.manifest import summary_of
from gough.core.errors import InputError
from gough.core.rational import round_down
from gough.core.sealed import sealed, unsealed
from gough.evidence import LiftedTree
from gough.methods import LiftedHull
from gough.robots import LinearDelta
from tests.checker.corpus import proving

PRIOR = Box([-1, -1, -1, 0], [1, 1, 1, 1])


def asked(model, n=12, bad=None, around=0.05):
    rng = np.random.default_rng(7)
    poses = measured(model, rng, n)
    if bad is not None:
        off = poses.position.copy()
        off[bad] += 0.02
        poses = replace(poses, position=off)
    problem, truth = problem_of(model, poses, around, rng)
    return problem, question_of(problem), truth


def with_rod(question, **changes):
    (rod,) = question.equations
    return replace(question, equations=(replace(rod, **changes),))


def certified(problem, question, steps=2):
    return chain_certificate(question, LiftedTree(LiftedHull(max_steps=steps).estimate(problem).stats.stages))


def states(verdict, truth):
    """Does a verdict state a box that holds the truth?"""
    sides = [line.split(" ≤ ") for line in verdict.statement if " ≤ " in line]
    return all(float(low) <= x <= float(high[:-2]) for (low, _, high), x in zip(sides, truth, strict=True))


@pytest.fixture(scope="module")
def printer():
    problem, question, truth = asked(LinearDelta())
    return question, certified(problem, question, 9), truth


@pytest.mark.parametrize("model", ROBOTS, ids=lambda m: m.name)
def test_contradictions_and_boxes_hold(model, tmp_path):
    problem, question, _ = asked(model, 20, bad=4)
    certificate = certified(problem, question)
    assert certificate.kind == "ChainEmpty"
    assert check_chains(certificate, question).holds
    save_chains(certificate, tmp_path / "empty.json")
    save_question(question, tmp_path / "equations.json")
    again = load_question(tmp_path / "equations.json")
    assert again.digest() == question.digest()
    assert load_chains(tmp_path / "empty.json") == certificate
    assert check_chains(load_chains(tmp_path / "empty.json"), again).holds
    problem, question, truth = asked(model)
    verdict = check_chains(certified(problem, question, 1), question)
    assert verdict.kind == "ChainBound"
    assert states(verdict, truth)


def test_the_box_is_the_methods(printer):
    question, certificate, _ = printer
    problem, _, _ = asked(LinearDelta())
    region = LiftedHull(max_steps=9).estimate(problem).region
    sides = [line.split(" ≤ ") for line in check_chains(certificate, question).statement[1:]]
    widths = [float(high[:-2]) - float(low) for low, _, high in sides]
    np.testing.assert_allclose(widths, region.width, rtol=1e-8)


def changed(certificate, link, change):
    links = list(certificate.proof.links)
    links[link] = change(links[link])
    return replace(certificate, proof=type(certificate.proof)(tuple(links)))


def test_cuts_that_claim_more_do_not_hold(printer):
    question, certificate, _ = printer
    for number, link in enumerate(certificate.proof.links):
        for k, cut in enumerate(link.cuts):
            sign = 1 if cut.side == "lower" else -1
            more = replace(cut, bound=cut.bound + sign * 1e-12)
            spoilt = changed(
                certificate, number, lambda s, k=k, more=more: replace(s, cuts=(*s.cuts[:k], more, *s.cuts[k + 1 :]))
            )
            verdict = check_chains(spoilt, question)
            assert not verdict.holds
            assert "its rows prove" in verdict.reason


def test_boxes_that_leave_something_out_do_not_hold(printer):
    question, certificate, _ = printer
    spoilt = changed(certificate, 0, lambda s: replace(s, radius=tuple(0.9 * r for r in s.radius)))
    assert "does not cover" in check_chains(spoilt, question).reason
    short = changed(certificate, 0, lambda s: replace(s, center=s.center[:3], radius=s.radius[:3]))
    assert "3 unknowns" in check_chains(short, question).reason
    far = changed(certificate, 0, lambda s: replace(s, cuts=(replace(s.cuts[0], weights=((10**6, 1.0),)), *s.cuts[1:])))
    assert "no row 1000000" in check_chains(far, question).reason


def test_equations_whose_first_error_is_the_reading_are_summarized(printer):
    question, _, _ = printer
    told = summary_of(with_rod(question, reading=0))
    assert "position" not in told["tolerances"]
    assert told != summary_of(question)  # so a manifest of other equations refuses them


@pytest.mark.parametrize("name", ["p", "A", "D", "tolerance", "bend", "blur"])
def test_other_equations_are_not_meant(printer, name):
    question, certificate, _ = printer
    values = getattr(question.equations[0], name).copy()
    values.reshape(-1)[-1] += 2.0**-40
    assert "other measurements or equations" in check_chains(certificate, with_rod(question, **{name: values})).reason
    assert "no chain 2" in check_chains(replace(certificate, chains=(2,)), question).reason


def test_one_changed_digit_of_a_file(printer, tmp_path):
    """The seal is broken; sealed again, the check fails, or what it states is still true."""
    question, certificate, truth = printer
    path = tmp_path / "file.json"
    for text, load in ((render_chains(certificate), load_chains), (render_question(question), load_question)):
        for at in [i for i, c in enumerate(text[:-90]) if c.isdigit() and text[i - 1].isdigit()][40::211]:
            spoilt = text[:at] + str((int(text[at]) + 1) % 10) + text[at + 1 :]
            path.write_text(spoilt)
            with pytest.raises(InputError):
                load(path)
            path.write_text(sealed(unsealed(spoilt)))  # whoever changes a digit can seal the file again
            try:
                other = load(path)
            except InputError:
                continue
            if load is load_question:
                assert not check_chains(certificate, other).holds
            else:
                verdict = check_chains(other, question)
                assert not verdict.holds or states(verdict, truth)


def test_exhibited_chains(printer):
    question, _, truth = printer
    values = tuple(Fraction(x) for x in truth.tolist())
    assert check_chains(witness_certificate(question, values), question).holds
    for change, reason in (
        (Fraction(1, 100), "too long"),
        (Fraction(-1, 100), "too short"),
        (Fraction(1), "not within the prior"),
    ):
        off = ChainWitness((*values[:-1], values[-1] + change))
        assert reason in check_chains(ChainCertificate(question.digest(), (1,), off), question).reason
    few = ChainCertificate(question.digest(), (1,), ChainWitness(values[:2]))
    assert "2 values are exhibited" in check_chains(few, question).reason
    # without any tolerance the doubles do not solve the equations exactly
    exact = with_rod(question, tolerance=0 * question.equations[0].tolerance)
    assert not check_chains(ChainCertificate(exact.digest(), (1,), ChainWitness(values)), exact).holds
    less = ChainCertificate(question.digest(), (1,), ChainWitness(values), more=-3e-5)
    assert check_chains(less, question).statement[0] == "if every reading may be off by 0.03000 mm less than stated:"


def small(rng, *shape):
    """Numbers of ten binary digits: sums of products of three are exact doubles."""
    return rng.integers(-512, 513, shape) / 1024


def consistent(rng, chains, unit, N=2, aligned=False):
    """Chains that fit exactly, errors of poses being the same for all, and those errors.

    p is computed backwards from a distance that is a whole number, in doubles without any rounding.
    """
    n, E = 4, 3
    t, off, rods, truth = abs(small(rng, N, E)) / 16, np.zeros((N, E)), [], []
    off[:, :2] = t[:, :2] * rng.choice([-1, -0.5, 0, 1], (N, 2))
    for chain in chains:
        x = small(rng, n)
        x[-1] = 0.375  # |(2, 1, 2)| = 3
        A, D, B, own = small(rng, N, 3, n), small(rng, N, E, 3), small(rng, N, E, 3, n), t.copy()
        A[..., -1] = B[..., -1] = 0
        own[:, 2] = abs(small(rng, N)) / 16
        off[:, 2] = own[:, 2] * rng.choice([-1, -0.5, 0, 1], N)
        bend, rest = abs(small(rng, N, n)) / 64, np.zeros((N, 3))
        if aligned:  # the reading's error moves along the rod, by all that it may, and nothing is left out
            off[:, 2] = own[:, 2] * np.where(np.arange(N) % 2, 1, -1)
            D[:, 2], B[:, 2], bend = [0.5, 0.25, 0.5], 0, 0 * bend
        rest[:, 1] = (bend * abs(x)).sum(axis=1) * rng.choice([-1, 1], N)
        p = np.array([2, 1, 2]) / 8 - A @ x - np.einsum("ne,nei->ni", off, D + B @ x) - rest
        names = tuple(f"{name}_{chain}" for name in "xyzl")
        arrays = (p, A, D, B, own, bend, np.zeros(N))
        products = ((0, 0), (0, 1), (3, 3)) if chain % 2 else ((0, 2), (1, 1))
        rods.append(RodEquations(names, *arrays, products, reading=2, reading_unit=unit))
        truth.append(x)
    prior = Box(np.tile(PRIOR.lower, len(chains)), np.tile(PRIOR.upper, len(chains)))
    return ChainQuestion(tuple(chains), tuple(rods), prior), np.concatenate(truth), off[:, :2]


@pytest.mark.parametrize("unit", ["m", "rad"])
def test_rows_hold_exactly_for_consistent_chains(rng, unit):
    """Each row of one chain and of several together, at the errors that were made, without tolerance."""
    for chains in ((1,), (1, 2), (3, 2, 5)):
        for _ in range(4):
            question, truth, errors = consistent(rng, chains, unit)
            space, r = Space.of(question, question.chains, 0.0), abs(small(rng, len(truth))) / 4
            h = r * rng.choice([-1, -0.5, 0, 0.25, 1], len(truth))
            rows = space.rows((truth - h).tolist(), r.tolist(), None)
            y = {}
            for i, rod in enumerate(question.rods):
                own = [Fraction(v) for v in h[4 * i : 4 * i + 4].tolist()]
                own += [own[a] * own[b] for a, b in rod.products]
                y |= dict(enumerate(own, start=len(y)))
            y |= dict(enumerate(map(Fraction, errors.reshape(-1).tolist()), start=len(y)))
            for number in range(space.row_starts(range(len(chains)))[-1]):
                row, places = rows._row(number)
                assert sum(a * y[place] for a, place in zip(row.coefficients, places, strict=True)) <= row.side
                shared = len(chains) > 1 and number in {start + k for start in rows._rows[:-1] for k in range(4)}
                assert len(places) == len(question.rods[rows._rows.index(max(
                    s for s in rows._rows if s <= number))].products) + 4 + 2 * shared  # fmt: skip


def test_no_weights_whatever_prove_more_than_chains_that_fit_together(rng):
    """The checker's rule alone: random rows, random weights, random boxes."""
    for unit in ("m", "rad"):
        question, truth, _ = consistent(rng, (1, 2), unit, N=3)
        space = Space.of(question, question.chains, 0.0)
        for _ in range(12):
            radius = 10.0 ** rng.uniform(-4, 0, len(truth))
            center = truth + rng.uniform(-0.999, 0.999, len(truth)) * radius
            rows = space.rows(center.tolist(), radius.tolist(), None)
            for _ in range(5):
                axis, some = int(rng.integers(len(truth))), rng.choice(rows._rows[-1], 6, replace=False)
                sizes = (10.0 ** rng.uniform(-6, 3, 6)).tolist()
                cut = ChainCut(space.names[axis], str(rng.choice(["lower", "upper", "empty"])), 0.0,
                               tuple(zip(some.tolist(), sizes, strict=True)))  # fmt: skip
                h = Fraction(truth[axis]) - Fraction(center[axis])
                assert rows.proven(cut, axis) <= {"lower": h, "upper": -h, "empty": 0}[cut.side]


def test_boxes_of_chains_together_hold_the_truth_and_smaller_ones_do_not_hold(rng):
    """All bounds that a linear program finds, from a box around the truth; judged by the exact truth."""
    question, truth, _ = consistent(rng, (1, 2), "m", N=6)
    prior = Box(truth - 0.004, truth + 0.004)
    question = replace(question, prior=prior)
    rows = Space.of(question, (1, 2), 0.0).rows(truth.tolist(), [2.0**-7] * 8, None)
    cuts = []
    for axis, side in itertools.product((0, 3, 7), ("lower", "upper")):
        sign = 1 if side == "lower" else -1
        weights = proving(rows, axis, sign, width=4)
        v = rows.proven(ChainCut(question.names[axis], side, 0.0, weights), axis) + sign * Fraction(truth[axis])
        cuts.append(ChainCut(question.names[axis], side, sign * round_down(v), weights))
    stage = ChainStage(tuple(truth.tolist()), (2.0**-7,) * 8, tuple(cuts))
    verdict = check_chains(ChainCertificate(question.digest(), (1, 2), ChainBound((stage,))), question)
    assert verdict, verdict.reason
    for cut in cuts:
        x = truth[question.names.index(cut.unknown)]
        assert cut.bound <= x if cut.side == "lower" else cut.bound >= x
        better = replace(cut, bound=float(np.nextafter(cut.bound, np.inf if cut.side == "lower" else -np.inf)))
        proof = ChainBound((replace(stage, cuts=(better,)),))
        assert not check_chains(ChainCertificate(question.digest(), (1, 2), proof), question)


def test_a_witness_of_chains_together_fits_and_needs_all_of_its_tolerance(rng):
    """Errors of readings are at their ends and along the rods: with the errors that were made, it just fits."""
    question, truth, errors = consistent(rng, (1, 2), "m", N=4, aligned=True)
    proof = ChainWitness(tuple(truth.tolist()), tuple(map(tuple, errors.tolist())))
    certificate = ChainCertificate(question.digest(), (1, 2), proof)
    verdict = check_chains(certificate, question)
    assert verdict, verdict.reason
    assert "some geometry of chains 1, 2 within the prior" in verdict.statement[0]
    assert not check_chains(replace(certificate, more=-(2.0**-60)), question)
    hidden = replace(certificate, proof=replace(proof, errors=()))
    assert "errors of every pose" in check_chains(hidden, question).reason
    for sign in (1, -1):
        off = (*truth[:7].tolist(), Fraction(truth[7]) + sign * Fraction(1, 2**60))
        less = replace(certificate, proof=replace(proof, values=off))
        assert check_chains(less, question).reason.startswith("the exhibited rod is too")
    beyond = tuple(tuple(4 * e if e else 1.0 for e in row) for row in proof.errors)
    far = replace(certificate, proof=replace(proof, errors=beyond))
    assert "beyond its tolerance" in check_chains(far, question).reason
    blurred = replace(question, equations=tuple(replace(rod, blur=rod.blur + 2.0**-60) for rod in question.rods))
    assert not check_chains(replace(certificate, problem=blurred.digest()), blurred)  # whatever ρ is, it must fit
