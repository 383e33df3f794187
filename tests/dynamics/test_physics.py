"""Parameters that no physical robot has are found and named, mistakes of signs and units too, and nothing else is."""

import json
from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from scipy.optimize import nnls

import gough
from gough import Box, ConfidenceEllipsoid, LinearProblem, Unknowns
from gough.data import MeasuredMotion
from gough.dynamics import identify, identify_repeated, recorded, reduced
from gough.dynamics.base_parameters import random_motion as about_home
from gough.dynamics.mistakes import wrong_angles
from gough.dynamics.physical_cone import PhysicalCone, sizes_of
from gough.dynamics.physics import physics_of
from gough.dynamics.signs import LEVEL
from gough.estimates import Claim, Estimate, FitStats, Status
from gough.methods import LeastSquares, identifiability
from gough.report.identification.documents import documents, report_on
from gough.report.identification.terminal import show
from gough.robots import ROBOTS, Delta, efforts
from gough.robots.mechanism import MechanismModel
from gough.robots.mechanism.inertia import TERMS
from gough.robots.physical import (
    FORMS,
    Limit,
    PhysicalLimits,
    RigidBody,
    physical_limits,
    point_mass,
    pseudo_inertia,
)
from gough.simulate.demos import small_motion
from gough.simulate.multibody.experiment import seven_axes
from tests.dynamics.periodic_data import experiment

PLANAR = {"m": "m", "sx": "sx", "sy": "sy", "Izz": "I"}
WITH_A_POSE = ["delta", "h4", "palida", "6-ups", "3-rrr"]


def determined(names):
    """Identifiability of unknowns that are all determined."""
    return identifiability(LinearProblem(np.eye(len(names)), np.zeros(len(names)), Unknowns(names)))


def estimated(names, value, covariance, dof=np.inf):
    region = ConfidenceEllipsoid(value, covariance, 0.95, dof)
    return Estimate(region, Claim.CONFIDENCE, Status.OK, Unknowns(names), "", FitStats(n_rows=1), ())


def trial(limits, names, value, covariance, dof=np.inf):
    cone = PhysicalCone.of(limits, determined(names))
    return cone.test(estimated(names, np.array(value), covariance, dof), np.full(len(names), 1e-6))


def motion_of(robot, moved, torque):
    names = {name: getattr(robot, name) for name in ("coordinates", "coordinate_units", "actuators", "effort_units")}
    return MeasuredMotion(100.0, *moved, torque, np.ones(torque.shape, dtype=bool), **names)


def moving(robot, seed=0, n_samples=150):
    """A motion about home, and efforts with noise of 2 % of their rms."""
    rng = np.random.default_rng(seed)
    moved = about_home(robot, n_samples, rng)
    torque = efforts(robot, robot.nominal, *moved)
    return moved, torque + 0.02 * torque.std(axis=0) * rng.normal(size=torque.shape)


def physics(robot, moved, torque, prior=None):
    motion = motion_of(robot, moved, torque)
    free, fixed = recorded(robot, motion, prior=prior).without_fixed()
    analysis = identifiability(free)
    problem = free if analysis.is_full_rank else reduced(free, analysis)
    answer = gough.estimate(problem, LeastSquares())
    return physics_of(robot, analysis, problem, answer, method="least squares", motion=None if fixed else motion)


def test_the_distance_of_a_planar_body_is_that_from_the_second_order_cone():
    """With these σ, I m ≥ sx² + sy² is the circular cone t ≥ |x|, t = (m + I)/√2: its distance has a closed form.

    The distance is computed from outside: it must not be larger, and 2 % less is what 40 half-spaces may leave.
    """
    rng = np.random.default_rng(3)
    limits = PhysicalLimits(bodies=(RigidBody("link", PLANAR),))
    for _ in range(8):
        m, sx, sy, inertia = rng.normal(size=4) * 3
        t, x = (
            (m + inertia) / np.sqrt(2),
            np.linalg.norm([(m - inertia) / np.sqrt(2), np.sqrt(2) * sx, np.sqrt(2) * sy]),
        )
        exact = 0.0 if x <= t else np.hypot(t, x) if x <= -t else (x - t) / np.sqrt(2)
        found = trial(limits, list(PLANAR.values()), [m, sx, sy, inertia], np.diag([1, 0.5, 0.5, 1])).distance
        assert 0.98 * exact <= found <= exact * (1 + 1e-9) + 1e-6


def nearest_of_point_masses(cone, A, b):
    """Distance of b from bodies made of point masses, which are added where they help: not below the exact one."""
    columns = []
    inside = np.concatenate([ten for _, ten in cone.bodies])
    for k in np.setdiff1d(np.arange(A.shape[1]), inside):
        columns += [A[:, k], -A[:, k]] if cone.free[k] else [A[:, k]]
    for _, ten in cone.bodies:
        columns += [A[:, ten] @ point_mass(v) for v in np.eye(4)]
    for _ in range(25):
        G = np.array([c / np.linalg.norm(c) for c in columns if np.linalg.norm(c) > 1e-12]).T
        w, length = nnls(G, b, maxiter=10_000)
        for _, ten in cone.bodies:
            form = np.tensordot(-(A[:, ten].T @ (b - G @ w)), FORMS, axes=1)
            size = np.sqrt([max(np.linalg.norm(A[:, ten] @ point_mass(v)), 1e-6) for v in np.eye(4)])
            value, vector = np.linalg.eigh(form / np.outer(size, size))
            columns += [A[:, ten] @ point_mass(v / size) for v in vector.T[value < 0]]
    return length


@pytest.mark.parametrize("name", ["6-ups"])
def test_the_distance_is_just_below_that_from_bodies_made_of_point_masses(name):
    robot, rng = ROBOTS[name](), np.random.default_rng(1)
    moved, torque = moving(robot)
    free = recorded(robot, motion_of(robot, moved, torque))
    analysis = identifiability(free)
    cone = PhysicalCone.of(physical_limits(robot), analysis)
    for _ in range(2):
        signs = rng.choice([-1.0, 1.0], size=torque.shape[1])
        noisy = torque * signs + 0.5 * torque.std(axis=0) * rng.normal(size=torque.shape)
        problem = reduced(replace(free, y=noisy.reshape(-1)), analysis)
        answer = gough.estimate(problem, LeastSquares())
        white = np.linalg.inv(np.linalg.cholesky(answer.region.covariance))
        outside = nearest_of_point_masses(cone, white @ cone.C, white @ answer.value)
        found = cone.test(answer, sizes_of(problem)).distance
        assert 0.95 * outside - 0.1 <= found <= outside * (1 + 1e-6)


def test_combinations_that_are_never_negative_are_those_of_no_point_mass():
    """By point masses at random places, a combination of the ten terms is negative or it never is."""
    rng = np.random.default_rng(0)
    names = [f"{term}_b" for term in TERMS]
    cone = PhysicalCone.of(
        PhysicalLimits(bodies=(RigidBody("b", dict(zip(TERMS, names, strict=True))),)), determined(names)
    )
    masses = np.array([point_mass(v) for v in rng.normal(size=(4000, 4))])
    negative = 0
    for _ in range(40):
        factors = point_mass(rng.normal(size=4)) * [1, *[2] * 3, *[1] * 6] + rng.normal(size=10) * 0.3
        if cone.is_never_negative(factors):
            assert (masses @ factors >= -1e-9).all()
        else:
            form = np.tensordot(factors, FORMS, axes=1)
            worst = np.linalg.eigh(form)[1][:, 0]
            assert point_mass(worst) @ factors < 0
            negative += 1
    assert 5 < negative < 40
    assert cone.is_never_negative(np.eye(10)[0])
    assert cone.is_never_negative(np.eye(10)[4] + np.eye(10)[5] - np.eye(10)[6])
    assert not cone.is_never_negative(np.eye(10)[4] - np.eye(10)[5])
    assert not cone.is_never_negative(np.eye(10)[1])


@pytest.mark.parametrize("name", WITH_A_POSE)
def test_nominal_robots_are_possible_and_negated_efforts_are_named(name):
    robot = ROBOTS[name]()
    moved, torque = moving(robot)
    clean = physics(robot, moved, torque)
    assert not clean.sign.against
    assert clean.impossible == ()
    assert "physically possible" in clean.sentences[0]
    turned = physics(robot, moved, -torque)
    assert turned.sign.against
    assert turned.sign.p < 1e-9
    assert turned.mistake.startswith("With all efforts negated the parameters are physically possible")
    assert all(each.value < 0 and each.beyond > 4 for each in turned.impossible)
    one = np.where(np.arange(torque.shape[1]) == 1, -1.0, 1.0)
    single = physics(robot, moved, one * torque)
    assert single.sign.against
    assert f"With the efforts of {robot.actuators[1]} negated" in single.mistake


def test_weights_and_first_moments_may_have_any_sign():
    robot = Delta()
    moved = about_home(robot, 150, np.random.default_rng(0))
    counterweight = np.where(["gS" in name for name in robot.names], -1.0, 1.0) * robot.nominal
    noise = 1e-3 * np.random.default_rng(1).normal(size=(150, 3))
    assert not physics(robot, moved, efforts(robot, counterweight, *moved) + noise).sign.against
    limits = physical_limits(robot)
    assert not [limit for limit in limits.nonnegative if "gS" in limit.name]


def test_a_negative_rod_is_named_with_the_condition_that_allows_it():
    robot = Delta()
    moved = about_home(robot, 150, np.random.default_rng(0))
    values = np.where([name == "m_rod" for name in robot.names], -0.2, robot.nominal)
    noise = 1e-3 * np.random.default_rng(1).normal(size=(150, 3))
    found = physics(robot, moved, efforts(robot, values, *moved) + noise)
    assert [each.name for each in found.impossible] == ["m_rod"]
    assert found.mistake == ""
    assert "possible only if the rods have mass beyond their joints" in found.sentences[0]


def test_one_parameter_just_beyond_its_limit_is_found_at_the_level():
    names = ("a", "b", "c")
    limits = PhysicalLimits(tuple(Limit(name, "friction") for name in names))
    assert not trial(limits, names, [-3.3, 1, 1], np.eye(3)).is_refuted  # p = 2 · 3 · 0.0005
    found = trial(limits, names, [-4.0, 1, 1], np.eye(3))
    assert found.is_refuted
    assert found.p == pytest.approx(2 * 3 * 3.167e-5, rel=1e-3)
    assert not trial(limits, names, [-4.0, 1, 1], np.eye(3), dof=5).is_refuted  # Student's tails


def test_many_small_violations_are_found_together():
    names = tuple("abcdefgh")
    limits = PhysicalLimits(tuple(Limit(name, "friction") for name in names))
    assert not trial(limits, names, [-1.5] * 8, np.eye(8)).is_refuted
    found = trial(limits, names, [-2.0] * 8, np.eye(8))
    assert found.is_refuted
    assert found.distance == pytest.approx(2.0 * np.sqrt(8), rel=1e-6)
    assert found.p == pytest.approx(2 * 9.314161e-5, rel=1e-5)  # χ² of 32 with 8 degrees of freedom


def test_a_triangle_inequality_is_named():
    terms = {"m": "m_b", "Ixx": "Ixx_b", "Iyy": "Iyy_b", "Izz": "Izz_b"}
    limits = PhysicalLimits(bodies=(RigidBody("b", terms),))
    cone = PhysicalCone.of(limits, determined(list(terms.values())))
    test = cone.test(estimated(list(terms.values()), np.array([2.0, 1.0, 1.0, 3.0]), 0.01 * np.eye(4)), np.ones(4))
    (found,) = test.impossible(cone)
    assert found.what == "triangle inequality Ixx + Iyy ≥ Izz of b"
    assert found.name == "Ixx_b + Iyy_b − Izz_b"
    assert found.beyond == pytest.approx(1 / np.sqrt(0.03), rel=1e-6)
    driven = PhysicalLimits(bodies=(RigidBody("b", terms, rotor=(0.0, 0.0, 1.0)),))  # its rotor may have that inertia
    assert not trial(driven, list(terms.values()), [2.0, 1.0, 1.0, 3.0], 0.01 * np.eye(4)).is_refuted


def test_estimates_of_vanishing_friction_are_refuted_no_more_often_than_the_level_says():
    """At the tip of the cone half of all coefficients are estimated below zero; 500 draws may refute one."""
    rng, n = np.random.default_rng(2), 12
    names = tuple(f"f_{k}" for k in range(n))
    limits = PhysicalLimits(tuple(Limit(name, "friction") for name in names))
    cone = PhysicalCone.of(limits, determined(names))
    root = rng.normal(size=(n, n))
    V = root @ root.T
    draws = rng.multivariate_normal(np.zeros(n), V, size=500)
    refuted = sum(cone.test(estimated(names, draw, V), np.zeros(n) + 1e-9).is_refuted for draw in draws)
    assert refuted <= 500 * LEVEL + 2


def test_exact_data_with_no_friction_are_possible():
    """Estimates of zero are rounding errors of either sign, and so are their σ."""
    robot = Delta()
    values = np.where([name.startswith("f_") for name in robot.names], 0.0, robot.nominal)
    for seed in range(3):
        moved = about_home(robot, 100, np.random.default_rng(seed))
        assert not physics(robot, moved, efforts(robot, values, *moved)).sign.against


def test_units_are_compared_with_a_description_of_the_users_own_only():
    robot = ROBOTS["3-rrr"]()
    described = MechanismModel(robot.mechanism)
    moved, torque = moving(robot)
    assert not physics(robot, moved, 1000 * torque).sign.against  # a common gain: nominal values are the library's
    found = physics(described, moved, 1000 * torque)
    assert found.sign.against
    assert found.sign.p is None  # not the p of the test for possible bodies, which they are
    assert found.impossible == ()
    assert "about 1000 times those of the description" in found.mistake
    assert "1/1000 times" in physics(described, moved, torque / 1000).mistake
    assert "9.81 times" in physics(described, moved, torque * 9.81).mistake
    assert not physics(described, moved, torque * 1.4).sign.against


def test_angles_in_degrees_are_named_where_an_open_chain_accepts_them():
    robot = MechanismModel(seven_axes())
    moved, torque = moving(robot, n_samples=200)
    found = physics(robot, [180 / np.pi * each for each in moved], torque)
    assert "angles were recorded in degrees, read as radians" in found.mistake
    right = recorded(robot, motion_of(robot, moved, torque))
    assert wrong_angles(robot, right, motion_of(robot, moved, torque), is_refuted=True) == ""


def test_a_prior_that_keeps_friction_positive_is_not_reported_twice(five_bar, random_motion):
    friction = np.array([name.startswith("f") for name in five_bar.names])
    values = np.where(friction, 0.0, five_bar.nominal)
    motion = random_motion(parameters=np.where(friction, -0.1, values))
    assert identify(five_bar, motion, methods=["weighted"], compare=False).is_impossible
    prior = Box(np.where(friction, 0.0, -np.inf), np.full(len(friction), np.inf))
    found = identify(five_bar, motion, methods=["weighted"], compare=False, prior=prior)
    assert not [each for each in found.physics.impossible if each.name.startswith("f")]
    fixed = Box(np.where(friction, 0.0, -np.inf), np.where(friction, 0.0, np.inf))
    found = identify(five_bar, motion, methods=["weighted"], compare=False, prior=fixed)
    assert not [each for each in found.physics.impossible if each.name.startswith("f")]


def test_an_identification_with_negated_torques_is_refuted_before_its_numbers(five_bar, random_motion):
    motion = random_motion()
    clean = identify(five_bar, motion, methods=["weighted", "hull"], compare=False)
    assert not clean.is_refuted
    assert clean.physics.sign.about == "physical parameters"
    found = identify(five_bar, replace(motion, efforts=-motion.efforts), methods=["hull", "weighted"], compare=False)
    assert found.is_refuted
    assert found.physics.method == "weighted"
    assert found.verdicts[0].startswith("The parameters by weighted are not physically possible: ")
    assert "With all efforts negated" in found.verdicts[0]
    files = documents(report_on("Negated", (), found))
    data = json.loads(files["report.json"])
    assert data["is_refuted"]
    assert data["physics"]["against"]
    assert data["physics"]["impossible"][0]["beyond"] > 10
    assert "not physically possible" in files["report.html"].decode()
    written = StringIO()
    show(Console(file=written, width=200), found)
    told = written.getvalue()
    assert 0 < told.index("are not physically possible") < told.index("Parameters: value ± half-width")


def test_a_model_that_states_no_limits_is_not_tested(five_bar, random_motion):
    assert physical_limits(object()) == PhysicalLimits()
    robot = ROBOTS["3-rrr"]()
    base = robot.with_only(robot.names[4:8])  # these then stand for combinations with the others
    assert PhysicalCone.of(base.physical, determined(base.names)) is None


def test_repeats_with_negated_torques_are_refuted():
    robot = ROBOTS["five-bar"]()
    motion = experiment(robot).run(np.random.default_rng(4))
    found = identify_repeated(robot, motion, orders=[3])
    assert not found.is_impossible
    assert found.physics.method == "maximum likelihood"
    turned = replace(motion, efforts=-motion.efforts)
    found = identify_repeated(robot, turned, orders=[3])
    assert found.is_refuted
    assert found.verdicts[0].startswith("The parameters by maximum likelihood are not physically possible: ")
    assert "With all efforts negated" in " ".join(found.verdicts)
    assert json.loads(documents(report_on("Negated", (), found))["report.json"])["physics"]["against"]


@pytest.mark.parametrize("name", ["6-ups", "3-rrr"])
def test_robots_of_demonstrations_are_possible(name):
    """Bodies whose terms were drawn each by itself would not be."""
    for seed in range(20):
        campaign = small_motion(np.random.default_rng(seed), family=name, periods=2, rate=50.0)
        values = dict(zip(campaign.robot.names, campaign.truth.tolist(), strict=True))
        for body in campaign.robot.physical.bodies:
            of = {term: values.get(body.terms.get(term), 0.0) for term in TERMS}
            if "Ixx" in body.terms:
                assert np.linalg.eigvalsh(pseudo_inertia(np.array(list(of.values()))))[0] > -1e-12
            else:  # in a plane
                assert of["Izz"] * of["m"] >= of["sx"] ** 2 + of["sy"] ** 2
