"""Certificates about robots that can exist: true statements hold, forged ones do not, at every scale."""

import json
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations
from random import Random

import numpy as np
import pytest

from gough import Bounded, Box, InputError, LinearProblem, Unknowns
from gough.checker import BodyTerms, Certificate, PhysicalBound, PhysicalEmpty, PhysicalStep, check, load, save
from gough.checker.files import render
from gough.checker.physical import form, is_never_negative, require_possible
from gough.checker.physical_proofs import TERMS, ellipsoid_factors
from gough.cli.app import run
from gough.core.sealed import sealed
from gough.data import write_problem
from gough.robots.physical import FORMS, point_mass, pseudo_inertia
from gough.studies import verified
from tests.checker import corpus
from tests.checker.documents import accepted, at, changed, document, leaves

TEN = {term: f"p{k}" for k, term in enumerate(TERMS)}


def masses(rng, n=5):
    """The ten parameters of a body of point masses."""
    points = rng.normal(size=(n, 4))
    return sum(point_mass(v) for v in points)


def test_the_form_is_that_of_the_robots(rng):
    c = rng.normal(size=10).round(3)
    S = form({term: Fraction(x) for term, x in zip(TERMS, c.tolist(), strict=True)})
    assert np.array([[float(x) for x in row] for row in S]) == pytest.approx(np.tensordot(c, FORMS, axes=1))


def test_functions_that_are_never_negative_are_so_for_point_masses(rng):
    for _ in range(50):
        root = rng.normal(size=(4, int(rng.integers(1, 5)))).round(2)
        S = root @ root.T
        c = np.array([(S * pseudo_inertia(unit)).sum() for unit in np.eye(10)])
        exact = {term: Fraction(x) for term, x in zip(TERMS, c.tolist(), strict=True)}
        lifted = exact | {"m": exact["m"] + Fraction(1, 10**9), "Izz": exact["Izz"] + Fraction(1, 10**9)}
        lifted |= {"Ixx": exact["Ixx"] + Fraction(1, 10**9), "Iyy": exact["Iyy"] + Fraction(1, 10**9)}
        assert is_never_negative(lifted)
        assert c @ masses(rng) >= -1e-9
        assert not is_never_negative(lifted | {"m": Fraction(-1, 10**300)})


def test_an_ellipsoid_holds_its_masses(rng):
    center, radii = rng.normal(size=3), rng.uniform(0.5, 2, size=3)
    body = BodyTerms("arm", TEN, center=center, radii=radii)
    e = np.array([float(ellipsoid_factors(body).get(term, 0)) for term in TERMS])
    inner = center + 0.99 * radii / np.sqrt(3) * rng.uniform(-1, 1, size=(20, 3))
    assert all(e @ point_mass(np.append(x, 1.0)) > 0 for x in inner)
    assert e @ point_mass(np.append(center + 1.01 * radii, 1.0)) < 0


@pytest.mark.parametrize("scale", [1e-120, 1e-30, 1.0, 1e30, 1e120])
def test_it_holds_at_every_scale(scale):
    problem, proof = corpus.PHYSICAL["possible"]
    (arm, *_), unit = proof.bodies, Fraction(float(scale))
    box = problem.unknowns.bounds
    scaled = LinearProblem(
        problem.W, scale * problem.y, Unknowns(problem.unknowns.names, prior=Box(scale * box.lower, scale * box.upper)),
        Bounded(scale * 0.5),
    )  # fmt: skip
    step = replace(proof.steps[0], value=Fraction(3, 2) * unit)
    assert check(Certificate.of(scaled, PhysicalBound([arm], ["f"], [step])), scaled)
    above = replace(step, value=Fraction(float(np.nextafter(1.5 * scale, np.inf))))
    assert not check(Certificate.of(scaled, PhysicalBound([arm], ["f"], [above])), scaled)


def test_one_ulp_of_the_data_is_another_problem():
    problem, proof = corpus.PHYSICAL["possible"]
    other = replace(problem, y=[np.nextafter(1.0, 2.0), 2.0, 0.0])
    assert "another problem" in check(Certificate.of(problem, proof), other).reason
    assert not check(Certificate.of(other, proof), other)  # m may now be heavier than 1.5, so I may be less than 1.5


def test_words_and_intervals():
    problem, proof = corpus.PHYSICAL["possible"]
    verdict = check(Certificate.of(problem, proof), problem)
    assert verdict.interval("I") == (1.5, 9.0)
    assert "body arm: m = m, sx = s, Izz = I;" in verdict.statement
    assert "I ≥ 1.5" in verdict.statement
    empty, contradiction = corpus.PHYSICAL["impossible"]
    assert "no such robot explains these data" in str(check(Certificate.of(empty, contradiction), empty))
    within, bound = corpus.PHYSICAL["within"]
    assert "with radii (1, ∞, ∞)" in str(check(Certificate.of(within, bound), within))


@pytest.mark.parametrize("name", corpus.PHYSICAL)
def test_files_return_what_was_saved(name, tmp_path):
    problem, proof = corpus.PHYSICAL[name]
    certificate = Certificate.of(problem, proof)
    save(certificate, tmp_path / "c.json")
    assert load(tmp_path / "c.json") == certificate
    assert json.loads(render(certificate))["version"] == 4
    assert check(load(tmp_path / "c.json"), problem)


def consistent_and_possible(name, rng):
    """Random θ that satisfy rows and prior and can exist; none for a problem that has none."""
    problem, proof = corpus.PHYSICAL[name]
    box, found = problem.unknowns.bounds, []
    for theta in rng.uniform(box.lower, box.upper, size=(40_000, len(box))):
        if name == "twins":
            theta[3:] = theta[:3]
        if (abs(problem.residuals(theta)) <= problem.noise.radius).all():
            values = dict(zip(problem.unknowns.names, theta.tolist(), strict=True))
            if name in {"possible", "impossible", "twins"} and values["m"] * values["I"] < values["s"] ** 2:
                continue
            if name == "possible" and values["f"] < 0:
                continue
            if name == "within" and abs(values["s"]) > values["m"]:
                continue
            if name == "rotor" and values["Izz"] > values["Ixx"] + values["Iyy"]:
                continue
            found.append({key: Fraction(x) for key, x in values.items()})
    assert proof
    return found


@pytest.mark.parametrize("name", corpus.PHYSICAL)
def test_no_changed_certificate_states_anything_false(name, rng, tmp_path):
    """Numbers are changed one by one; what is still accepted holds for all sampled robots."""
    problem, proof = corpus.PHYSICAL[name]
    data, robots, random = document(Certificate.of(problem, proof)), consistent_and_possible(name, rng), Random(1)
    assert bool(robots) == (name != "impossible")
    held = 0
    for path in leaves(data):
        value = at(data, path)
        changes = [-value, 2 * value, value + 1, value - 1, 0, random.uniform(-3, 3)] if value is not None else []
        for new in [*changes, float(np.nextafter(value, np.inf)), float(np.nextafter(value, -np.inf))]:
            known = accepted(tmp_path / "c.json", changed(data, path, new), problem)
            if known is None or path[0] == "bodies":  # another body is another hypothesis
                continue
            held += 1
            assert isinstance(known, PhysicalBound) or not robots
            for step in known.steps if isinstance(known, PhysicalBound) else ():
                assert all(sum(c * each[n] for n, c in step.direction) >= step.value for each in robots)
    assert held


def test_shares_of_unknown_names_are_refused():
    problem, proof = corpus.PHYSICAL["possible"]
    bodies = (*proof.bodies, BodyTerms("leg", {"m": "no such"}))
    assert "no such" in check(Certificate.of(problem, replace(proof, bodies=bodies)), problem).reason
    with pytest.raises(InputError, match="states nothing about bodies"):
        PhysicalEmpty([], [], [PhysicalStep({}, 1, {0: 1})])


@pytest.mark.parametrize(
    ("term", "unit", "fits"),
    [("m", "kg", True), ("sx", "kg·m", True), ("Izz", "kg·m²", True), ("m", "g", False), ("sx", "kg", False)],
)
def test_units_of_a_body_are_those_of_its_integrals(term, unit, fits):
    """In grams and metres, m I ≥ s² is another inequality: the proof would be about no body."""
    problem, proof = corpus.PHYSICAL["possible"]
    own = problem.unknowns
    units = [unit if name == dict(proof.bodies[0].terms)[term] else "" for name in own.names]
    stated = replace(problem, unknowns=Unknowns(own.names, units, prior=own.bounds))
    verdict = check(Certificate.of(stated, proof), stated)
    assert bool(verdict) == fits
    assert fits or f"'{unit}'" in verdict.reason


@pytest.mark.parametrize("huge", [float("inf"), float("-inf"), float("nan"), "1e400", None, True])
def test_numbers_that_are_none_are_refused(huge):
    for field in ("value", "weights", "possible", "inside"):
        entry = {"value": huge, "weights": {0: huge}, "possible": {"m": huge}, "inside": {"arm": huge}}[field]
        known = {"direction": {"I": 1}, "value": 1, "weights": {}, field: entry}
        with pytest.raises(InputError):
            PhysicalStep(**known)
    with pytest.raises(InputError):
        BodyTerms("arm", {"m": "m"}, rotor=(huge, 0, 1))
    with pytest.raises(InputError):
        BodyTerms("arm", {"m": "m"}, center=(huge, 0, 0), radii=(1, 1, 1))


@pytest.mark.parametrize("size", [5e-324, 2.2250738585072014e-308, 1e-200, 1e200, 1.7976931348623157e308])
def test_denormal_and_huge_factors_are_exact(size):
    """A multiple of a function that is never negative is one too, and one that is negative by a hair is none."""
    unit = Fraction(size)
    edge = {"m": unit, "sx": -2 * unit, "Izz": unit}
    assert is_never_negative(edge)
    assert not is_never_negative(edge | {"Izz": unit - Fraction(1, 2**2000)})
    assert not is_never_negative(edge | {"Ixy": Fraction(1, 2**2000)} | {"Izz": Fraction(0), "sx": Fraction(0)})


def test_the_check_of_matrices_is_that_of_all_minors(rng):
    """Against the definition: a symmetric matrix is semidefinite if and only if no principal minor is negative."""
    for _ in range(200):
        root = rng.integers(-3, 4, size=(4, int(rng.integers(1, 5))))
        S = root @ root.T + np.diag(rng.integers(-1, 2, size=4)) * int(rng.integers(0, 2))
        factors = {term: Fraction(int(x)) for term, x in zip(TERMS, np.tensordot(PSEUDO, S, axes=2), strict=True)}
        held = [[Fraction(x) for x in row] for row in form(factors)]
        minors = [
            determinant([[held[i][j] for j in kept] for i in kept])
            for size in range(1, 5)
            for kept in combinations(range(4), size)
        ]
        assert is_never_negative(factors) == all(minor >= 0 for minor in minors)


PSEUDO = np.array([pseudo_inertia(unit) for unit in np.eye(10)])


def determinant(M):
    """By the definition, as a sum over permutations."""
    n, total = len(M), Fraction(0)
    for order in permutations(range(n)):
        inversions = sum(order[i] > order[j] for i in range(n) for j in range(i + 1, n))
        product = Fraction((-1) ** inversions)
        for i, j in enumerate(order):
            product *= M[i][j]
        total += product
    return total


@pytest.mark.parametrize("name", corpus.PHYSICAL)
def test_a_proof_without_one_of_its_parts_fails(name):
    """Dropped rows, shares, multipliers, steps and bodies: no part of a proof of the corpus is idle."""
    problem, proof = corpus.PHYSICAL[name]
    for k, step in enumerate(proof.steps):
        for field in ("weights", "possible", "inside"):
            for gone in getattr(step, field):
                fewer = replace(step, **{field: tuple(each for each in getattr(step, field) if each != gone)})
                steps = (*proof.steps[:k], fewer, *proof.steps[k + 1 :])
                assert not check(Certificate.of(problem, replace(proof, steps=steps)), problem)
    radius = np.broadcast_to(problem.noise.radius, (problem.n_rows,))
    for row in range(problem.n_rows if problem.n_rows > 1 else 0):
        kept = [k for k in range(problem.n_rows) if k != row]
        fewer = LinearProblem(problem.W[kept], problem.y[kept], problem.unknowns, Bounded(radius[kept]))
        assert "another problem" in check(Certificate.of(problem, proof), fewer).reason
        if row in proof.rows:
            assert not check(Certificate.of(fewer, proof), fewer)


def test_a_key_that_occurs_twice_is_refused(tmp_path):
    problem, proof = corpus.PHYSICAL["possible"]
    body, _, _ = render(Certificate.of(problem, proof)).rpartition(',\n "seal"')
    for twice in ('"m": "m", ', '"name": "arm", ', '"I": 1.0, '):
        assert twice in body or twice.replace(", ", "}") in body
        text = body.replace(twice, 2 * twice) if twice in body else body.replace(twice[:-2], f"{twice}{twice[:-2]}", 1)
        (tmp_path / "c.json").write_text(sealed(text))
        with pytest.raises(InputError):
            load(tmp_path / "c.json")


def test_equal_bodies_are_one_body(rng):
    """Bounds of equal bodies are those of the problem in which their columns are added by hand."""
    problem, proof = corpus.PHYSICAL["twins"]
    merged = LinearProblem(
        problem.W[:, :3] + problem.W[:, 3:], problem.y, Unknowns(["m", "s", "I"], prior=Box([0, -9, 0], [9] * 3)),
        problem.noise,
    )  # fmt: skip
    names = dict(zip(["n", "t", "J"], ["m", "s", "I"], strict=True))
    steps = [replace(step, direction={names[name]: x for name, x in step.direction}) for step in proof.steps]
    alone = PhysicalBound(proof.bodies[:1], [], steps)
    assert check(Certificate.of(merged, alone), merged).intervals == {
        name: check(Certificate.of(problem, proof), problem).interval(name) for name in ("m", "s", "I")
    }
    verdict = check(Certificate.of(problem, proof), problem)
    assert all(verdict.interval(name) == verdict.interval(other) for name, other in names.items())
    assert "bodies arm = leg:" in verdict.statement


def test_bodies_that_equal_each_other_in_an_empty_prior():
    problem, proof = corpus.PHYSICAL["twins"]
    own = problem.unknowns
    apart = Unknowns(own.names, prior=Box([0, -9, 0, 2, -9, 0], [1, 9, 9, 9, 9, 9]))  # m ≤ 1 < 2 ≤ n
    other = replace(problem, unknowns=apart)
    empty = PhysicalEmpty(proof.bodies, [], proof.steps[:1], proof.equal)
    assert check(Certificate.of(other, empty), other)
    assert not check(Certificate.of(other, replace(empty, equal=())), other)


def test_a_rotor_of_any_length_of_axis():
    _, proof = corpus.PHYSICAL["rotor"]
    for axis in ((3, 0, 0), (Fraction(1, 3), 0, 0), (0, 5, 0)):
        body = replace(proof.bodies[0], rotor=axis)
        require_possible(replace(proof, bodies=(body,)), proof.steps[0])


def test_the_command_checks_it(tmp_path, capsys, monkeypatch):
    problem, proof = corpus.PHYSICAL["impossible"]
    save(Certificate.of(problem, proof), tmp_path / "c.json")
    write_problem(problem, tmp_path / "p.json")
    command = ["check", str(tmp_path / "c.json"), str(tmp_path / "p.json")]
    assert run(command) == 0
    assert "no such robot explains these data" in " ".join(capsys.readouterr().out.split())
    program = tmp_path / "gough-proof-check"
    monkeypatch.setattr(verified, "installed", lambda: program)
    assert run([*command, "--verified"]) == 2
    assert "does not know certificates of kind PhysicalEmpty" in " ".join(capsys.readouterr().err.split())
