"""Possible bodies: the robot that can exist behind an estimate, what of it is data, and proven bounds."""

import json
from dataclasses import replace
from fractions import Fraction
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from gough import AssumptionError, Box, InputError, LinearProblem, Unknowns
from gough.checker import PhysicalBound, check, load
from gough.data import MeasuredMotion, read_problem
from gough.dynamics import (
    Ellipsoid,
    Limits,
    PhysicalOptions,
    PossibleBodies,
    base_parameters,
    certified_bodies,
    identify,
    identify_repeated,
    possible_bodies,
)
from gough.dynamics.base_parameters import random_motion as random_motion_of
from gough.dynamics.bodies import program
from gough.dynamics.bodies.certified import _masses
from gough.dynamics.bodies.complete import complete_set
from gough.dynamics.bodies.optimality import distance_gap
from gough.dynamics.bodies.possible import DATA, HIDDEN, PRIOR, proven_margin
from gough.dynamics.example import random_motion
from gough.methods import identifiability
from gough.report.identification.documents import documents, report_on
from gough.report.identification.terminal import show
from gough.robots import Delta, FiveBar, Hexapod, Palida, efforts
from gough.robots.mechanism.inertia import TERMS
from gough.robots.physical import PhysicalLimits, RigidBody, physical_limits, pseudo_inertia
from tests.dynamics.periodic_data import experiment

pytest.importorskip("cvxpy", reason="possible bodies need the extra `physical`")
FAST = PhysicalOptions(ranges=False)


def measured(robot, theta, rng, *, n=60, error=0.0, sigma=0.0):
    """Efforts of a five-bar with these parameters along a random motion."""
    moved = [2.0, 1.0] + 0.3 * rng.normal(size=(n, 2)), *rng.normal(size=(2, n, 2))
    torque = efforts(robot, theta, *moved) + error * rng.uniform(-1, 1, size=(n, 2)) + sigma * rng.normal(size=(n, 2))
    names = {name: getattr(robot, name) for name in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    return MeasuredMotion(100.0, *moved, torque, np.ones(torque.shape, dtype=bool), **names)


@pytest.fixture(scope="module")
def identified():
    return identify(*random_motion(1), methods=["weighted", "hull"], compare=False)


@pytest.fixture(scope="module")
def possible(identified):
    return possible_bodies(identified)


@pytest.fixture(scope="module")
def certified():
    robot, motion = random_motion(1, n_samples=25)
    return certified_bodies(identify(robot, motion, methods=["weighted", "hull"], bound=0.1, compare=False))


def base_of(identified, values):
    C = np.array([base.coefficients for base in identified.identifiability.base])
    return C @ [values[name] for name in identified.identifiability.names]


def test_it_reproduces_the_estimate(identified, possible):
    estimate = identified["weighted"]
    assert possible.is_exact
    assert possible.misfit == 0
    assert abs(base_of(identified, possible.values) - estimate.value).max() < 1e-9 * abs(estimate.value).max()
    assert possible.residual < 1e-6
    assert "exactly the base parameters by weighted" in possible.sentences[0]


def test_its_bodies_can_exist(identified, possible):
    for body in identified.robot.physical.bodies:
        m, x, y, moment = (Fraction(possible[body.terms[term]]) for term in ("m", "sx", "sy", "Izz"))
        assert m > 0
        assert m * moment > x * x + y * y
    assert min(body.margin for body in possible.bodies) >= possible.margin


def test_truth_in_the_cone_has_no_misfit(rng):
    robot = FiveBar.demo()
    answer = possible_bodies(
        identify(robot, measured(robot, robot.nominal, rng), methods=["least squares"], compare=False), FAST
    )
    assert answer.is_exact
    assert answer.distance == pytest.approx(0.0, abs=1e-5)  # the blueprint is the truth
    assert [answer[name] for name in robot.names] == pytest.approx(robot.nominal, abs=1e-3)


def test_null_directions_change_no_effort(identified, possible, rng):
    """Any two sets that the table calls equivalent make the same efforts on every motion."""
    robot = identified.robot
    C = np.array([base.coefficients for base in identified.identifiability.base])
    _, s, Vt = np.linalg.svd(C)
    null = Vt[(s > 1e-9 * s[0]).sum() :]
    theta = np.array([possible[name] for name in robot.names])
    moved = [2.0, 1.0] + 0.2 * rng.normal(size=(50, 2)), *rng.normal(size=(2, 50, 2))
    other = theta + rng.normal(size=len(null)) @ null
    assert efforts(robot, other, *moved) == pytest.approx(efforts(robot, theta, *moved), abs=1e-9)
    movable = {name for name, moves in zip(robot.names, np.linalg.norm(null, axis=0) > 1e-9, strict=True) if moves}
    assert movable == {*possible.by_source(PRIOR), *possible.by_source(HIDDEN)}


def test_ranges_hold_the_value_and_are_reached(identified, possible):
    for each in possible.parameters:
        assert each.lower <= each.value <= each.upper
        if each.source == DATA:
            assert each.lower == each.value == each.upper
            assert each.sigma > 0
    lower, upper = possible.interval("m_load")
    assert lower == pytest.approx(0.0, abs=1e-6)  # a robot without load makes the same efforts
    assert upper > possible["m_load"]
    assert possible.interval("m_1").upper == np.inf  # its mass has no effect on any effort
    # a robot at the end of the range exists: fix the load there and nothing else changes
    robot, motion = identified.robot, identified.motion
    prior = np.where(np.array(robot.names) == "m_load", 0.99 * upper, np.inf)
    box = Box(np.where(np.isfinite(prior), prior, -np.inf), prior)
    fixed = identify(robot, motion, methods=["weighted"], prior=box, compare=False)
    assert possible_bodies(fixed, PhysicalOptions(margin=0.0, ranges=False)).misfit < 0.1


@pytest.mark.parametrize("nearest", ["log-det", "frobenius"])
def test_an_estimate_outside_the_cone_costs_a_misfit(nearest, rng):
    robot = FiveBar.demo()
    theta = robot.nominal.copy()
    theta[robot.names.index("fc_1")] = -0.2
    motion = measured(robot, theta, rng, sigma=0.02)
    answer = possible_bodies(
        identify(robot, motion, methods=["least squares"], compare=False),
        PhysicalOptions(nearest=nearest, ranges=False),
    )
    assert not answer.is_exact
    assert answer.is_refuted
    assert answer["fc_1"] == pytest.approx(0.0, abs=1e-6)
    assert "No robot that can exist" in answer.sentences[0]


def test_a_solver_that_is_not_there_is_named(identified):
    with pytest.raises(InputError, match="the solver NONE failed, or is not installed"):
        possible_bodies(identified, PhysicalOptions(solver="NONE", ranges=False))


def test_the_bodies_that_force_a_misfit_are_named(rng):
    robot = FiveBar.demo()
    theta = robot.nominal.copy()
    theta[robot.names.index("my_3")] = 0.5  # far beyond what the moment of inertia of link 3 and its mass allow
    motion = measured(robot, theta, rng, sigma=0.02)
    answer = possible_bodies(identify(robot, motion, methods=["least squares"], compare=False), FAST)
    assert answer.is_refuted
    left = dict(answer.forced_by)
    assert left["link 3"] == min(left.values()) < 0.2 * answer.misfit  # others may leave nothing as well
    assert "link 3" in " ".join(answer.sentences)


def test_json_restores_it(possible):
    again = PossibleBodies.from_json(possible.to_json())
    assert again.to_json() == possible.to_json()
    assert again.sentences == possible.sentences
    assert again.interval("m_1") == possible.interval("m_1")
    with pytest.raises(InputError, match="possible bodies"):
        PossibleBodies.from_json("{}")


def test_equal_bodies_share_their_parameters(identified):
    options = PhysicalOptions(equal=[["link 1", "link 2"]], ranges=False)
    answer = possible_bodies(identified, options)
    for term in ("m", "mx", "my", "I"):
        assert answer[f"{term}_1"] == answer[f"{term}_2"]
    assert any("taken to be equal" in line for line in answer.conditions)
    assert {body.name for body in answer.bodies} == {"link 1 = link 2", "link 3", "link 4"}


def test_an_ellipsoid_bounds_its_body(identified, possible):
    near = Ellipsoid((0.1, 0.0, 0.0), (0.2, 0.2, 0.2))
    answer = possible_bodies(identified, PhysicalOptions(inside={"link 1": near}))
    assert answer.interval("m_1").lower > possible.interval("m_1").lower
    m, x, y = (answer[name] for name in ("m_1", "mx_1", "my_1"))
    assert np.linalg.norm(np.array([x, y]) / m - near.center[:2]) < 0.2


def test_frames_units_and_scales_do_not_matter():
    """The distance is measured in units of the blueprint: a robot of grams and millimetres gives the same answer."""
    robot = FiveBar.demo()
    limits, analysis = robot.physical, identify(*random_motion(1), methods=["weighted"], compare=False).identifiability
    distances = []
    for scale in (1e-12, 1.0, 1e12):
        nominal = dict(zip(robot.names, (scale * robot.nominal).tolist(), strict=True))
        complete = complete_set(limits, analysis, nominal)
        scaled = program.Scaled.of(complete, abs(complete.reference))
        truth = scaled.T @ (scaled.reference * 1.1)
        A = complete.C @ scaled.T
        weights = 1 / (1e-3 * np.linalg.norm(A, axis=1))
        programs = program.Programs(scaled, weights[:, None] * A, weights * (complete.C @ truth), 1e-3)
        distances.append(programs.exact("log-det").objective)
    assert distances == pytest.approx([distances[1]] * 3, rel=1e-5)


@pytest.mark.parametrize("nearest", ["log-det", "frobenius"])
def test_no_better_answer_exists(identified, nearest, rng):
    """A bound by Lagrange duality, computed without the solver, is as large as the distance that it found."""
    answer = possible_bodies(identified, PhysicalOptions(nearest=nearest, ranges=False))
    assert -1e-9 < answer.gap < 1e-6
    assert answer.misfit_gap == 0
    robot = FiveBar.demo()
    theta = np.where(np.array(robot.names) == "fc_1", -0.2, robot.nominal)
    motion = measured(robot, theta, rng, sigma=0.02)
    other = possible_bodies(
        identify(robot, motion, methods=["least squares"], compare=False),
        PhysicalOptions(nearest=nearest, ranges=False, equal=[["link 1", "link 2"]],
                        inside={"link 3": Ellipsoid((0.1, 0, 0), (0.6, 0.6, 0.6))}),
    )  # fmt: skip
    assert not other.is_exact
    assert -1e-6 < other.gap < 1e-6 * max(other.distance, 1)
    assert -1e-6 < other.misfit_gap < 1e-6 * max(other.misfit, 1)


def test_the_bound_is_below_every_possible_robot_whatever_the_multipliers_are(rng):
    """Weak duality: multipliers that are wrong, and points that are not the best, make the gap larger."""
    robot = FiveBar.demo()
    known = identify(*random_motion(1), methods=["weighted"], compare=False)
    complete = complete_set(
        robot.physical, known.identifiability, dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    )
    scaled = program.Scaled.of(complete, abs(complete.reference))
    A = complete.C @ scaled.T
    programs = program.Programs(scaled, A, 1.1 * A @ scaled.reference, 1e-3)
    best = programs.exact("log-det")
    least = distance_gap(programs, best, "log-det")
    assert abs(least) < 1e-6
    for _ in range(5):
        wrong = tuple(each + (noise := 0.1 * rng.normal(size=each.shape)) @ noise.T for each in best.duals)
        assert distance_gap(programs, best._replace(duals=wrong), "log-det") > least
    N = programs.null
    moved = best._replace(point=best.point + 0.01 * N @ rng.normal(size=N.shape[1]))
    worse = programs.scaled.complete.bodies and distance_gap(programs, moved, "log-det")
    assert worse > 1e-6


def test_two_solvers_agree(identified, possible):
    pytest.importorskip("scs")
    other = possible_bodies(identified, PhysicalOptions(ranges=False, solver="SCS"))
    assert other.distance == pytest.approx(possible.distance, rel=1e-5)


def test_palida_whose_blueprint_is_not_possible(rng):
    robot = Palida()
    complete = complete_set(robot.physical, base_parameters(robot), dict(zip(robot.names, robot.nominal, strict=True)))
    assert {body.name for body in complete.bodies if body.is_moved} == {"2", "3"}
    for body in complete.bodies:
        assert np.linalg.eigvalsh(body.reference)[0] > 0
    # p_3 − p_2 of [AHG, table III] is a sum of two differences that are not negative for bodies that can exist
    I = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    p_2 = I["Ixx_2"] + I["Ixx_3"] - I["Iyy_2"] - I["Izz_3"]
    assert (p_2, I["Izz_2"] + I["Iyy_3"]) == pytest.approx((0.947, 0.943), abs=1e-12)
    assert "p_2 = 0.947 kg·m² exceeds p_3 = 0.943" in complete.limits.on_blueprint


def test_proven_margins_are_those_of_the_doubles():
    limits = PhysicalLimits(bodies=(RigidBody("a", {term: term for term in TERMS}),))
    names = tuple(TERMS)
    analysis = identifiability(LinearProblem(np.eye(10), np.zeros(10), Unknowns(names)))
    ten = dict(zip(names, [1.0, 0.1, 0.0, 0.0, 0.05, 0.06, 0.07, 0.0, 0.0, 0.0], strict=True))
    [body] = complete_set(limits, analysis, ten).bodies
    margin = proven_margin(body, np.array(list(ten.values())))
    assert 1 - 1e-9 <= margin <= 1
    assert pseudo_inertia(np.array(list(ten.values()))) == pytest.approx(body.matrix(np.array(list(ten.values()))))
    worse = ten | {"Ixx": np.nextafter(0.01, 0)}  # Ixx + … fits no body: Iyy − Izz > Ixx
    assert proven_margin(body, np.array(list((worse | {"Iyy": 0.5}).values()))) < 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": -0.1}, "margin is the share"),
        ({"margin": 1.0}, "margin is the share"),
        ({"margin": float("nan")}, "margin is the share"),
        ({"nearest": "logdet"}, "did you mean 'log-det'"),
        ({"equal": [["link 1", "link 9"]]}, "which there is not; did you mean"),
        ({"equal": [["link 1"]]}, "name at least two"),
        ({"equal": [["link 1", "link 2"], ["link 2", "link 3"]]}, "in group 1 and in group 2"),
        ({"equal": ["link 1"]}, "list of groups"),
        ({"inside": {"link 7": Ellipsoid((0, 0, 0), (1, 1, 1))}}, "inside names the body 'link 7'"),
    ],
)
def test_bad_options_are_refused(options, message, identified):
    with pytest.raises(InputError, match=message):
        possible_bodies(identified, PhysicalOptions(**options))


def test_bad_ellipsoids_and_limits_are_refused():
    with pytest.raises(InputError, match="radii"):
        Ellipsoid((0, 0, 0), (1, 0, 1))
    with pytest.raises(InputError, match="three numbers"):
        Ellipsoid((0, 0), (1, 1, 1))
    with pytest.raises(InputError, match="heaviest must be positive"):
        Limits(heaviest=-1.0)


def test_other_refusals(identified, possible, monkeypatch):
    hull = identify(*random_motion(1, n_samples=30), methods=["hull"], compare=False)
    with pytest.raises(InputError, match="no method has a covariance"):
        possible_bodies(hull)
    with pytest.raises(InputError, match="has no covariance"):
        possible_bodies(identified, method="hull")
    with pytest.raises(InputError, match="states no limits"):
        complete_set(PhysicalLimits(), identified.identifiability, {})
    zero = dict.fromkeys(identified.robot.names, 0.0)
    with pytest.raises(InputError, match="no positive mass"):
        complete_set(physical_limits(identified.robot), identified.identifiability, zero)
    fast = possible_bodies(identified, FAST)
    with pytest.raises(AssumptionError, match="not computed"):
        fast.interval("m_1")
    with pytest.raises(InputError, match="no parameter is called"):
        possible["mass"]
    monkeypatch.setitem(__import__("sys").modules, "cvxpy", None)
    with pytest.raises(InputError, match=r"pip install '.\[physical\]'"):
        possible_bodies(identified)


def test_robots_without_bodies_have_limits_too(rng):
    robot = Delta(variant="common")
    complete = complete_set(robot.physical, base_parameters(robot), dict(zip(robot.names, robot.nominal, strict=True)))
    assert not complete.bodies
    assert complete.nonnegative.sum() == 4


def test_repeats_have_possible_bodies_too():
    motion = experiment(FiveBar()).run(np.random.default_rng(4))
    identified = identify_repeated(FiveBar(), motion)
    answer = replace(identified, possible=possible_bodies(identified, FAST))
    assert answer.certified is None
    files = documents(report_on("A five-bar", (), answer))
    assert "Possible bodies" in files["report.html"].decode()
    assert "possible-bodies.json" in files
    assert any("base parameters by" in line for line in answer.verdicts)


def test_models_with_effects_have_possible_bodies_too():
    robot, motion = random_motion(1, n_samples=80)
    identified = identify(robot, motion, methods=["weighted"], effects=["offset"], compare=False)
    answer = possible_bodies(identified, FAST)
    assert set(answer.names) > set(robot.names)
    assert answer.residual < 1e-6 or not answer.is_exact
    with pytest.raises(InputError, match="models with effects"):
        certified_bodies(identified)


# proven bounds


def test_equal_bodies_narrow_the_proven_intervals():
    """Links that are stated to be equal: intervals hold the truth, are narrower, and need the statement."""
    robot, rng = FiveBar.demo(), np.random.default_rng(5)
    theta = robot.nominal.copy()
    for term in ("m", "mx", "my", "I"):
        theta[robot.names.index(f"{term}_2")] = theta[robot.names.index(f"{term}_1")]
    motion = measured(robot, theta, rng, n=12, error=0.1)
    known = identify(robot, motion, methods=["weighted"], bound=0.1, compare=False)
    answer, without = (certified_bodies(known, equal=groups) for groups in ([["link 1", "link 2"]], []))
    assert answer.certificate.proof.equal == (("link 1", "link 2"),)
    assert any("link 1 and link 2 are equal" in line for line in answer.premises)
    for name, true in zip(robot.names, theta.tolist(), strict=True):
        if name in answer.names:
            assert answer.interval(name).lower <= true <= answer.interval(name).upper
    shares = [
        (answer.interval(name).upper - answer.interval(name).lower) / (other.upper - other.lower)
        for name, other in without.intervals.items()
        if name in answer.names and np.isfinite(other).all()
    ]
    assert len(shares) > 10
    assert np.median(shares) < 0.95
    assert answer.interval("I_1") == answer.interval("I_2")
    forged = replace(answer.certificate.proof, equal=())
    assert not check(replace(answer.certificate, proof=forged), answer.problem)


def test_the_total_mass_is_that_of_all_bodies():
    """Where a body is fixed, the sum of the others is not called the total mass."""
    robot = FiveBar.demo()
    nominal = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    fixed = {name: nominal[name] for name in ("m_4", "mx_4", "my_4", "I_4")}
    for held in ({}, fixed):
        free = [name for name in robot.names if name not in held]
        analysis = identifiability(LinearProblem(np.eye(len(free)), np.zeros(len(free)), Unknowns(free)))
        complete = complete_set(robot.physical, analysis, nominal, fixed=held)
        assert (sum(_masses(robot, complete).values()) == 5) == (not held)


def test_bounds_of_a_hexapod_are_proven():
    """A parameter that is proven in the second pass only is stated before those that rest on it."""
    robot, rng = Hexapod(), np.random.default_rng(1)
    moved = random_motion_of(robot, 20, rng)
    clean = efforts(robot, robot.nominal, *moved)
    bound = 0.05 * np.sqrt(np.mean(clean**2, axis=0))
    names = {name: getattr(robot, name) for name in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    torque = clean + bound * rng.uniform(-1, 1, size=clean.shape)
    motion = MeasuredMotion(100.0, *moved, torque, np.ones(torque.shape, dtype=bool), **names)
    answer = certified_bodies(identify(robot, motion, methods=["weighted"], bound=bound, compare=False))
    truth = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    known = set(answer.names) & set(truth)
    assert len(known) > 15
    assert all(answer.interval(name).lower <= truth[name] <= answer.interval(name).upper for name in known)


def test_proven_intervals_hold_the_truth(certified):
    robot = FiveBar.demo()
    truth = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    known = [name for name in certified.names if name in truth]
    assert len(known) > 15
    for name in known:
        lower, upper = certified.interval(name)
        assert lower <= truth[name] <= upper
    assert check(certified.certificate, certified.problem)
    assert certified.factor < 1


def test_physics_makes_poor_data_tell_more(certified):
    shares = [
        (certified.interval(name).upper - certified.interval(name).lower) / (other.upper - other.lower)
        for name, other in certified.alone.items()
        if name in certified.names
    ]
    assert max(shares) < 1 + 1e-6
    assert np.median(shares) < 0.9


def read(text):
    return Fraction(text.replace("−", "-"))


def test_printed_intervals_hold_the_proven_ones(certified):
    rows = certified.table().texts
    assert len(rows) == len(certified.names)
    for row, name in zip(rows, certified.names, strict=True):
        lower, upper = certified.interval(name)
        assert row[2] == "−∞" if lower == -np.inf else read(row[2]) <= Fraction(lower)
        assert row[3] == "∞" if upper == np.inf else read(row[3]) >= Fraction(upper)


def test_printed_margins_are_not_above_the_proven_ones(possible):
    for row, body in zip(possible.body_table().texts, possible.bodies, strict=True):
        assert read(row[1]) <= Fraction(body.margin)


def test_a_value_beyond_what_is_proven_is_refused(certified):
    proof = certified.certificate.proof
    for k in range(0, len(proof.steps), 7):
        step = proof.steps[k]
        above = replace(step, value=Fraction(float(np.nextafter(float(step.value), np.inf))) + abs(step.value) / 1000)
        steps = (*proof.steps[:k], above, *proof.steps[k + 1 :])
        forged = replace(certified.certificate, proof=PhysicalBound(proof.bodies, proof.nonnegative, steps))
        assert not check(forged, certified.problem)
    without = PhysicalBound(proof.bodies[1:], proof.nonnegative, proof.steps)
    assert not check(replace(certified.certificate, proof=without), certified.problem)


def test_fixed_parameters_stay_fixed_in_proofs():
    robot, motion = random_motion(2, n_samples=25)
    fixed = {"m_load": 0.25, "I_3": float(robot.nominal[robot.names.index("I_3")])}
    sides = np.array([fixed.get(name, np.inf) for name in robot.names])
    prior = Box(np.where(np.isfinite(sides), sides, -np.inf), sides)
    identified = identify(robot, motion, methods=["weighted"], bound=0.1, prior=prior, compare=False)
    answer = certified_bodies(identified, prior=prior)
    assert check(answer.certificate, answer.problem)
    assert not set(fixed) & set(answer.names)
    truth = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    for name in set(answer.names) & set(truth):
        assert answer.interval(name).lower <= truth[name] <= answer.interval(name).upper
    possible = possible_bodies(identified, FAST)
    assert not set(fixed) & set(possible.names)
    m, x, y = (possible[name] for name in ("m_3", "mx_3", "my_3"))
    assert m * fixed["I_3"] > x * x + y * y


def test_data_that_only_impossible_robots_explain(rng, tmp_path):
    """Rows alone are consistent; with bodies that can exist they are not, and the certificate says so."""
    robot = FiveBar.demo()
    theta = robot.nominal.copy()
    theta[robot.names.index("fc_1")] = -0.3
    motion = measured(robot, theta, rng, error=0.05)
    identified = identify(robot, motion, methods=["weighted", "hull"], bound=0.05, compare=False)
    assert not identified.minimal.is_inconsistent
    answer = certified_bodies(identified)
    assert answer.is_empty
    assert answer.factor > 1
    assert "No physical robot explains these data within the bounds (proven)" in answer.sentences[0]
    for name, content in answer.files().items():
        (tmp_path / name).write_bytes(content)
    read = load(tmp_path / "physical-certificate.json")
    assert check(read, read_problem(tmp_path / "physical-problem.json"))
    assert json.loads(answer.to_json())["is_empty"]
    assert replace(identified, certified=answer).is_refuted


def test_reports_show_it(identified, possible, certified):
    answer = replace(identified, possible=possible, certified=certified)
    files = documents(report_on("A five-bar", (), answer))
    assert {"possible-bodies.json", "physical-certificate.json", "physical-problem.json"} <= set(files)
    page = files["report.html"].decode()
    assert "Possible bodies" in page
    assert "Proven intervals of robots that can exist" in page
    assert PossibleBodies.from_json(files["possible-bodies.json"].decode()).to_json() == possible.to_json()
    data = json.loads(files["report.json"])
    assert data["possible"]["misfit"] == 0
    assert not data["certified"]["is_empty"]
    out = StringIO()
    show(Console(file=out, width=100), answer)
    assert "source" in out.getvalue()
    assert "come from the blueprint" in " ".join(out.getvalue().split())
