"""Certificates about legs: true ones hold, none that was tampered with does, files are exact."""

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gough import Box, InputError, Status, estimate
from gough.checker import ChainEmpty, chain_certificate, check_chains, load_chains, question_of, save_chains
from gough.checker.chain_boxes import Space, follow
from gough.checker.chain_files import render_chains
from gough.checker.dyadic import Dyadic, root_above
from gough.checker.leg_equations import LegRows
from gough.closure.certified_leg import LegProblem
from gough.core.sealed import sealed
from gough.methods.nonlinear.lifted import LiftedHull
from gough.methods.nonlinear.lifted_program import envelopes
from tests.closure.test_certified_leg import hostile_leg, lifted
from tests.methods.legs import leg_problem


def box_of(certificate, problem):
    """The box that a bound establishes."""
    legs = Space.of(question_of(problem), certificate.chains, certificate.more)
    return follow(certificate.proof.links, legs, legs.prior())


def with_links(certificate, *links):
    return replace(certificate, proof=type(certificate.proof)(links))


@pytest.fixture(scope="module")
def found():
    problem, truth = leg_problem(np.random.default_rng(3), around=0.02, n=24)
    answer = estimate(problem, LiftedHull(rtol=0.1))
    return problem, truth, answer, chain_certificate(problem, answer)


@pytest.fixture(scope="module")
def refuted():
    problem, _ = leg_problem(np.random.default_rng(4), bad=21)
    answer = estimate(problem, LiftedHull(), strict=False)
    assert answer.status is Status.INCONSISTENT
    return problem, chain_certificate(problem, answer)


def test_a_bound_holds_and_is_the_answer(found):
    problem, truth, answer, certificate = found
    verdict = check_chains(certificate, problem)
    assert verdict, verdict.reason
    assert verdict.kind == "ChainBound"
    assert (
        verdict.statement[0]
        == "every geometry of leg 1 within the prior that fits all poses within their tolerances satisfies:"
    )
    assert len(verdict.statement) == 1 + 7
    box = box_of(certificate, problem)
    for low, high, t, width in zip(box.lower, box.upper, truth.tolist(), answer.region.width, strict=True):
        assert low <= Fraction(t) <= high
        assert float(high - low) == pytest.approx(width, rel=1e-9)  # weights have 13 digits


def test_emptiness_holds(refuted):
    problem, certificate = refuted
    verdict = check_chains(certificate, problem)
    assert verdict, verdict.reason
    assert verdict.kind == "ChainEmpty"
    assert 21 in verdict.rows


def test_files(found, tmp_path):
    problem, _, _, certificate = found
    path = tmp_path / "leg.json"
    save_chains(certificate, path)
    assert load_chains(path) == certificate
    assert check_chains(load_chains(path), problem)
    with pytest.raises(InputError):
        save_chains(certificate, path)
    path.write_text(path.read_text().replace("lower", "upper", 1))
    with pytest.raises(InputError, match="seal is broken"):
        load_chains(path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda d: d.update(version=1),
        lambda d: d.update(problem="sha256:0"),
        lambda d: d.update(other=1),
        lambda d: d["links"][0].pop("center"),
        lambda d: d["links"][0]["center"].pop(),
        lambda d: d["links"][0]["cuts"][0].pop(),
        lambda d: d["links"][0]["cuts"][0].__setitem__(1, "left"),
        lambda d: d["links"][0]["cuts"][0].__setitem__(2, "0.1"),
        lambda d: d["links"][0]["cuts"][0][4].__setitem__(0, -1.0),
        lambda d: d["links"][0]["cuts"][0][4].__setitem__(0, float("inf")),
        lambda d: d["links"][0]["cuts"][0][3].__setitem__(0, 0.5),
        lambda d: d["links"][0]["radius"].__setitem__(0, float("nan")),
        lambda d: d["links"][0].update(chain=1.5),
        lambda d: d["links"][0].update(chain=-1),
        lambda d: d.update(links={}),
        lambda d: d.update(kind="ChainEmtpy"),
        lambda d: d.update(kind="ChainWitness"),
        lambda d: d.update(chains=[]),
        lambda d: d.update(chains=[1, 1]),
        lambda d: d.update(more="0"),
        lambda d: d["links"].append({"split": "a1x", "at": 0.0, "below": []}),
        lambda d: d["links"].append({"split": 1, "at": 0.0, "below": [], "above": []}),
    ],
)
def test_malformed_files_are_refused(refuted, tmp_path, spoil):
    data = json.loads(render_chains(refuted[1]))
    data.pop("seal")
    spoil(data)
    path = tmp_path / "leg.json"
    path.write_text(sealed(json.dumps(data)[:-1]))
    with pytest.raises(InputError):
        load_chains(path)


def test_better_bounds_than_proven_are_not_accepted(found):
    problem, _, _, certificate = found
    for number, stage in enumerate(certificate.proof.links):
        cut = stage.cuts[number]
        inward = np.inf if cut.side == "lower" else -np.inf
        better = replace(cut, bound=float(np.nextafter(cut.bound, inward)))
        cuts = tuple(better if one is cut else one for one in stage.cuts)
        links = (*certificate.proof.links[:number], replace(stage, cuts=cuts))
        verdict = check_chains(with_links(certificate, *links), problem)
        assert not verdict
        assert f"box {number + 1}" in verdict.reason


def test_tampering_at_random_proves_nothing_false(found, rng):
    """Whatever weights, boxes and bounds become: what is accepted still holds the truth, which is consistent."""
    problem, truth, _, certificate = found
    first = certificate.proof.links[0]
    accepted = 0
    for _ in range(20):
        stage = first
        at = int(rng.integers(len(stage.cuts)))
        cut = stage.cuts[at]
        match rng.integers(4):
            case 0:
                factor = rng.uniform(0, 2, len(cut.weights))
                cut = replace(cut, weights=tuple((k, w * f) for (k, w), f in zip(cut.weights, factor, strict=True)))
            case 1:
                cut = replace(cut, bound=cut.bound + float(rng.normal()) * 1e-3)
            case 2:
                cut = replace(cut, side={"lower": "upper", "upper": "lower"}[cut.side])
            case 3:
                stage = replace(stage, radius=tuple(r * float(rng.choice([0.5, 1.0, 1.1])) for r in stage.radius))
        cuts = (*stage.cuts[:at], cut, *stage.cuts[at + 1 :])
        spoilt = with_links(certificate, replace(stage, cuts=cuts))
        if check_chains(spoilt, problem):
            accepted += 1
            box = box_of(spoilt, problem)
            inside = zip(box.lower, truth.tolist(), box.upper, strict=True)
            assert all(low <= Fraction(t) <= high for low, t, high in inside)
    assert accepted < 20


def test_another_question_is_refused(found, refuted):
    problem, _, _, certificate = found
    assert "other measurements" in check_chains(certificate, refuted[0]).reason
    moved = LegProblem(problem.data.widened(1e-9), problem.prior)
    assert not check_chains(certificate, moved)
    assert not check_chains(certificate, LegProblem(problem.data, Box.around(problem.prior.center, 0.03)))


def test_an_empty_claim_needs_a_contradiction(found):
    problem, _, _, certificate = found
    stage = certificate.proof.links[0]
    claim = replace(stage.cuts[0], side="empty", bound=0.0)
    assert not check_chains(with_links(certificate, replace(stage, cuts=(claim,))), problem)
    as_empty = replace(certificate, proof=ChainEmpty(certificate.proof.links))
    assert "leave a box" in check_chains(as_empty, problem).reason


@pytest.mark.parametrize("size", [1e-6, 1e-3, 0.3])
def test_exact_rows_hold_for_consistent_legs_and_agree_with_the_method(rng, size):
    for _ in range(3):
        data, truth = hostile_leg(rng, size, n=6)
        radius = 10.0 ** rng.uniform(-4, 0) * rng.random(7)
        center = truth + rng.uniform(-1, 1, 7) * radius
        radius = np.maximum(radius, abs(truth - center) * (1 + 1e-15))
        problem = LegProblem(data, Box.around(center, radius))
        c, r = ([Dyadic.of(x) for x in values.tolist()] for values in (center, radius))
        rows, y = (
            LegRows(data, c, r),
            lifted(problem.products, [Fraction(t) - x.fraction for t, x in zip(truth, c, strict=True)]),
        )
        A, b = problem.relaxation(center, radius)
        A, b = (
            np.vstack([A, envelopes(problem.products, radius).A]),
            np.append(b, envelopes(problem.products, radius).b),
        )
        for number in range(len(b)):
            row, n_row = rows.row(number), Fraction(2) ** rows.row(number).exponent
            assert sum(a * v for a, v in zip(row.coefficients, y, strict=True)) <= row.side
            n = float(sum(data.quaternion[number % 6] ** 2)) if number < 12 else 1.0
            near = np.array([float(a * n_row) for a in row.coefficients]) / n
            np.testing.assert_allclose(near, A[number], atol=1e-12)
            assert float(row.side * n_row) / n == pytest.approx(b[number], abs=1e-12)


def test_roots_are_above(rng):
    for x in [0.0, 1.0, 2.0, *(10.0 ** rng.uniform(-300, 300, 50)).tolist()]:
        root = root_above(Dyadic.of(x)).fraction
        assert Fraction(x) <= root * root <= Fraction(x) * (1 + Fraction(1, 10**12))


def test_dyadic_numbers_compute_as_fractions_do(rng):
    for x, y in rng.normal(size=(100, 2)) * 10.0 ** rng.integers(-200, 200, (100, 2)):
        a, b, p, q = Dyadic.of(x), Dyadic.of(y), Fraction(x), Fraction(y)
        assert [(a + b).fraction, (a - b).fraction, (a * b).fraction, (-3 * a).fraction] == [
            p + q,
            p - q,
            p * q,
            -3 * p,
        ]
        assert [a < b, a <= b, b <= a] == [p < q, p <= q, q <= p]
