"""Controllers on the complete robot by the exported C, and bounds of the feedforward efforts over sets of models."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gough import AssumptionError, InputError
from gough.control import Comparison, ControlStudy, DesiredMotion, control, desired_motion, enclose_feedforward
from gough.core.intervals import Interval
from gough.dynamics import identify
from gough.dynamics.example import random_motion
from gough.estimates import Claim
from gough.export import RobotModel
from gough.export.compiled import CompiledModel
from gough.report.control import control_documents, drive_table
from gough.robots import ROBOTS, Delta
from gough.simulate import Circle, Loop
from tests.compiler import needs_compiler
from tests.export.models import dynamic_model, named_model

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")
FRICTION = ("f_c1", "f_c2", "f_c3", "f_v1", "f_v2", "f_v3")


def motion_of(model, name="random", rate=1000.0, seconds=1.0, seed=1):
    return desired_motion(model.dynamics, name, rate=rate, rng=np.random.default_rng(seed), seconds=seconds)


@pytest.fixture(scope="module")
def smooth():
    """A Delta with hardly any friction whose true parameters are known."""
    model = dynamic_model(Delta(), kind="box")
    names = model.dynamics.robot.names
    truth = np.array(
        [1e-6 if name in FRICTION else value for name, value in zip(names, 1.1 * Delta().nominal, strict=True)]
    )
    return ControlStudy.of(model, truth=truth)


@needs_compiler
def test_compiled_c_is_the_robots_inverse_dynamics_and_takes_other_parameters():
    model = named_model("h4")
    robot, compiled, motion = model.dynamics.robot, CompiledModel.of(model), motion_of(model)
    for theta in (model.dynamics.parameters(), robot.nominal):
        own = compiled.with_parameters(theta)
        own.restart(motion.joints.q[0])
        for k in (0, 300, 700):
            q, dq, ddq = (part[k] for part in motion.joints)
            wanted = robot.regressor(q[None], dq[None], ddq[None])[0] @ theta
            assert np.allclose(own.torque(q, dq, ddq, friction=True), wanted, rtol=1e-9, atol=1e-9)
            parts = own.torque(q, dq, ddq, friction=False) + own.friction(q, dq)
            assert np.allclose(parts, wanted, rtol=1e-9, atol=1e-9)
            pushed = own.torque(q, 0 * dq, ddq, friction=False) - own.gravity(q)
            assert np.allclose(own.mass_matrix(q) @ ddq, pushed, rtol=1e-9, atol=1e-9)
    with pytest.raises(InputError, match="out of reach"):
        own.restart(motion.joints.q[0] + 3.0)


@needs_compiler
def test_computed_torque_with_true_parameters_tracks_to_the_error_of_sampling(smooth):
    worst = {}
    for rate in (1000.0, 4000.0):
        motion = motion_of(smooth.model, rate=rate, seconds=0.2)
        loop = Loop(rate=rate, velocity_cutoff=None)
        found = control(smooth, motion=motion, laws=["computed-torque"], loop=loop, engine="pinocchio")
        worst[rate] = found.outcome("computed-torque", "true").tracked.max_error.max()
        blueprint = found.outcome("computed-torque", "blueprint").tracked.max_error.max()
        assert worst[rate] < 0.2 * blueprint
    assert worst[1000.0] < 2e-4  # rad; the motion has 60 rad/s² within 0.1 s
    assert worst[4000.0] < 0.35 * worst[1000.0]  # a held effort lags by half a period: of first order


@needs_compiler
def test_the_order_of_the_laws_and_of_the_parameters(smooth):
    motion = motion_of(smooth.model)
    found = control(smooth, motion=motion, loop=Loop(resolution=1e-5, effort_noise=0.01, bandwidth=10.0))
    pd = found.outcome("pd").tracked.rms_error.max()
    for law in ("feedforward", "computed-torque", "predictive"):
        errors = [found.outcome(law, name).tracked.rms_error.max() for name in ("blueprint", "true")]
        assert errors[1] < errors[0] < pd
    distance = found.outcome("pd").position_error
    assert 0 < distance.max() < 0.1
    with pytest.raises(InputError, match="there is no run of 'pd' with the parameters 'true'"):
        found.outcome("pd", "true")


@needs_compiler
def test_the_same_seed_gives_the_same_comparison_and_its_page(smooth):
    loop = Loop(limit=3.0, position_noise=1e-5, effort_noise=0.05, delay=1)
    options = {"motion": motion_of(smooth.model, seconds=0.3), "laws": ["pd", "feedforward"], "loop": loop}
    first, same, other = (control(smooth, **options, seed=seed) for seed in (1, 1, 2))
    assert json.dumps(first.to_dict()) == json.dumps(same.to_dict()) != json.dumps(other.to_dict())
    for run in first.outcomes:
        assert (abs(run.tracked.efforts) <= 3.0).all()
    files = control_documents("Controllers", (), first)
    assert {"report.html", "control.json", "figures/efforts.svg", "figures/tracking-errors.png"} <= set(files)
    page = files["report.html"].decode()
    assert first.enclosure.statement(first.limits) in page
    assert json.loads(files["control.json"])["runs"][0]["controller"] == "pd"
    assert str(first.table()).count("\n") >= 6


@needs_compiler
def test_a_robot_whose_moments_no_rigid_body_has_is_simulated_and_the_answer_says_so():
    """The stators of PaLiDA as published; the exported C, which knows base parameters alone, predicts its motion."""
    model = named_model("palida")
    robot = model.dynamics.robot
    study = ControlStudy.of(model, truth=robot.nominal)
    assert study.impossible == tuple(f"stator{k}" for k in range(1, 7))
    way = Circle(robot.home, 0.1, inclination=0.5, turn=0.6, turns=1, ramp=0.4).at(np.arange(0.0, 0.25, 1e-3))
    motion = DesiredMotion("circle", 1000.0, robot.joint_motion(*way), way)
    found = control(study, motion=motion, laws=["pd", "feedforward"], parameters=["true"], loop=Loop(bandwidth=10.0))
    alone, fed = (
        found.outcome("pd").tracked.max_error.max(),
        found.outcome("feedforward", "true").tracked.max_error.max(),
    )
    assert fed < 0.03 * alone
    assert "No rigid body has the moments of inertia of stator1, stator2" in found.sentences()[1]


@needs_compiler
def test_controllers_are_given_the_parameters_that_are_asked_for(smooth):
    other = ControlStudy.of(smooth.model, truth=smooth.truth, others={"heavy": 1.5 * smooth.truth})
    assert other.impossible == ()
    motion = motion_of(smooth.model, seconds=0.1)
    found = control(other, motion=motion, laws=["pd", "feedforward"], parameters=["heavy", "true"])
    assert [run.label for run in found.outcomes] == ["pd", "feedforward, heavy", "feedforward, true"]
    heavy, true = (found.outcome("feedforward", name).tracked.rms_error.max() for name in ("heavy", "true"))
    assert true < 0.2 * heavy
    with pytest.raises(InputError, match="there are no parameters 'heavi'; did you mean 'heavy'"):
        control(other, motion=motion, parameters=["heavi"])
    with pytest.raises(InputError, match="has 14 parameters, but light"):
        ControlStudy.of(smooth.model, truth=smooth.truth, others={"light": np.ones(3)})


def test_all_models_of_a_set_lie_in_the_proven_bounds():
    model = named_model("delta", kind="box", fixed=("m_rod",))
    dynamics, motion = model.dynamics, motion_of(named_model("delta"), seconds=0.05)
    found = enclose_feedforward(dynamics, motion)
    assert found.claim is Claim.PROOF
    kernel = dynamics.robot.regressor_kernel()
    W = kernel.enclose(*motion.pose)[kernel.outputs[0].name]
    box, rng = dynamics.estimates["test"].region, np.random.default_rng(1)
    names = list(dynamics.robot.names)
    for k in range(0, len(motion), 5):
        for i in range(3):
            row = W.mid[k, i]  # one of the regressors that the interval holds
            for sign in (1.0, -1.0, *rng.choice([-1.0, 1.0], 3)):
                total = Fraction(row[names.index("m_rod")]) * Fraction(dynamics.fixed["m_rod"])
                for j, name in enumerate(dynamics.columns):
                    own = row[names.index(name)]
                    value = box.upper[j] if sign * own > 0 else box.lower[j]
                    total += Fraction(own) * Fraction(float(value))
                assert Fraction(found.lower[k, i]) <= total <= Fraction(found.upper[k, i])
    assert (found.peak >= abs(found.nominal).max(axis=0)).all()
    assert (Interval(found.nominal) - Interval(found.lower)).upper.max() <= found.worst_error.max()


def test_the_statement_about_drives_is_proven_open_or_refuted():
    dynamics = named_model("delta", kind="box").dynamics
    found = enclose_feedforward(dynamics, motion_of(named_model("delta")))
    peak = found.peak.max()
    enough, tight, little = (np.full(3, factor * peak) for factor in (1.01, 0.97, 0.3))
    assert found.is_within(enough)
    assert "Proven: this motion stays within ±" in found.statement(enough)
    assert found.is_within(found.peak)  # at the very number that drives are sized by
    assert not found.is_within(np.nextafter(found.peak, 0.0))
    k, i = found.first_doubt(tight)
    assert max(abs(found.lower[k, i]), abs(found.upper[k, i])) > tight[i]
    assert f"the first place is {found.times[k]:.3f} s" in found.statement(tight)
    k, i = found.first_excess(little)
    assert found.lower[k, i] > little[i] or found.upper[k, i] < -little[i]
    assert "every model that the data allow needs more than" in found.statement(little)
    assert "No limit" in found.statement(np.full(3, np.inf))


def test_printed_numbers_for_drives_are_rounded_up(smooth):
    found = enclose_feedforward(smooth.dynamics, motion_of(smooth.model))
    compared = type("Compared", (), {"enclosure": found})()
    for k, row in enumerate(drive_table(compared).texts):
        assert Fraction(row[2]) >= Fraction(found.peak[k])
        assert Fraction(row[3]) >= Fraction(found.worst_error[k])
        assert Fraction(row[2]) <= Fraction(found.peak[k]) * Fraction(1001, 1000)


def test_statements_about_drives_are_rounded_outward(smooth):
    found = enclose_feedforward(smooth.dynamics, motion_of(smooth.model))
    compared = Comparison(smooth, motion_of(smooth.model), Loop(), "mujoco", (), found)
    efforts, *_ = compared.drives()
    *peaks, worst = (Fraction(text) for text in re.findall(r"(\d+\.\d+) N·m", efforts))
    assert all(shown >= Fraction(own) for shown, own in zip(peaks, found.peak.tolist(), strict=True))
    assert worst >= Fraction(float(found.worst_error.max()))
    tight, little = (np.full(3, factor * found.peak.max()) for factor in (0.97, 0.3))
    k, i = found.first_doubt(tight)
    shown = Fraction(re.search(r"up to (\S+) N·m", found.statement(tight))[1])
    assert shown >= Fraction(float(max(abs(found.lower[k, i]), abs(found.upper[k, i]))))
    k, i = found.first_excess(little)
    shown = Fraction(re.search(r"at least (\S+) N·m", found.statement(little))[1])
    assert shown <= Fraction(float(max(found.lower[k, i], -found.upper[k, i])))
    limit = np.full(3, np.nextafter(found.peak.max(), np.inf))
    stated = re.search(r"± (\S+) N·m", found.statement(limit))[1]
    assert Fraction(stated) == Fraction(repr(float(limit[0])))  # the limit as it was given, all digits


def test_the_truth_of_a_simulated_robot_is_read_where_data_determine_combinations(tmp_path):
    answer = identify(*random_motion(1), methods=["weighted"], compare=False)
    model = RobotModel.of(answer)
    columns = model.dynamics.columns
    assert len(columns) < len(model.dynamics.robot.names)
    base = 1.01 * answer["weighted"].value
    (tmp_path / "model.json").write_text(model.to_json())
    (tmp_path / "report.json").write_text(json.dumps({"truth": base.tolist()}))
    study = ControlStudy.read(tmp_path)
    assert not study.is_drawn
    known = dict(zip(model.dynamics.robot.names, study.truth, strict=True))
    assert [known[name] for name in columns] == base.tolist()
    for damaged in ("[1, 2]", '{"truth": "x"}', '{"truth": [NaN]}', "{"):
        (tmp_path / "report.json").write_text(damaged)
        if damaged == "[1, 2]":
            assert ControlStudy.read(tmp_path).is_drawn
            continue
        with pytest.raises(InputError):
            ControlStudy.read(tmp_path)


def test_the_claim_is_that_of_the_weakest_part():
    motion = motion_of(named_model("delta"), seconds=0.1)
    assert enclose_feedforward(named_model("delta").dynamics, motion).claim is Claim.CONFIDENCE
    assert enclose_feedforward(named_model("delta", kind="ellipsoid").dynamics, motion).claim is Claim.PROOF
    assert enclose_feedforward(named_model("delta", kind="value").dynamics, motion) is None
    exact = named_model("delta", kind="box").dynamics
    both = replace(
        exact, estimates={**exact.estimates, "more": named_model("delta", kind="both").dynamics.estimates["test"]}
    )
    joint, one = (enclose_feedforward(each, motion) for each in (both, exact))
    assert joint.methods == ("test", "more")
    assert (joint.peak <= one.peak).all()


def test_the_exact_set_of_the_data_is_no_wider_than_its_box():
    answer = identify(*random_motion(1), methods=["weighted", "hull"], bound=0.1, compare=False)
    dynamics = RobotModel.of(answer).dynamics
    motion = motion_of(RobotModel.of(answer), seconds=0.02)
    box = enclose_feedforward(dynamics, motion)
    exact = enclose_feedforward(dynamics, motion, answer.bounded)
    assert exact.claim is Claim.ENCLOSURE  # the five-bar's regressor is evaluated in floating point
    assert (exact.worst_error < box.worst_error).all()
    assert (exact.lower >= box.lower - 1e-9).all()
    assert (exact.upper <= box.upper + 1e-9).all()
    wrong = replace(answer.bounded, y=answer.bounded.y + 10 * np.resize([1.0, -1.0], len(answer.bounded.y)))
    with pytest.raises(AssumptionError, match="no parameters satisfy"):
        enclose_feedforward(dynamics, motion, wrong)


def test_a_robot_is_drawn_from_the_set_where_the_truth_is_not_known():
    model = dynamic_model(Delta(), kind="box")
    first, same, other = (ControlStudy.of(model, seed=seed) for seed in (1, 1, 2))
    assert first.is_drawn
    assert first.truth in model.dynamics.estimates["test"].region
    assert np.array_equal(first.truth, same.truth)
    assert not np.array_equal(first.truth, other.truth)
    with pytest.raises(InputError, match="the Delta has 14 parameters, but 3 true ones"):
        ControlStudy.of(model, truth=np.ones(3))


@pytest.mark.parametrize("name", ["circle", "adept", "random"])
def test_motions_are_consistent_in_joints_and_pose(name):
    motion = motion_of(named_model("par4"), name)
    T = 1 / motion.rate
    for q, dq in ((motion.joints.q, motion.joints.dq), (motion.pose.x, motion.pose.dx)):
        assert np.allclose(np.diff(q, axis=0), T * (dq[1:] + dq[:-1]) / 2, atol=1e-3 * abs(q).max() * T * 10)
    assert np.allclose(motion.joints.q, ROBOTS["par4"]().inverse(motion.pose.x), atol=1e-9)


def test_a_motion_from_a_file(tmp_path):
    model = named_model("delta")
    known = motion_of(model, seconds=0.5)
    path = tmp_path / "motion.csv"
    rows = np.column_stack([known.times, np.degrees(known.joints.q)])[::2]
    np.savetxt(path, rows, delimiter=",", header="time,q1 [deg],q2 [deg],q3 [deg]", comments="", fmt="%.15g")
    read = desired_motion(model.dynamics, str(path), rate=1000.0, rng=np.random.default_rng(1))
    inside = slice(20, 430)
    assert np.allclose(read.joints.q[inside], known.joints.q[inside], atol=1e-8)
    assert np.allclose(read.joints.ddq[inside], known.joints.ddq[inside], atol=0.02 * abs(known.joints.ddq).max())
    lacking = tmp_path / "lacking.csv"
    np.savetxt(lacking, rows[:, :3], delimiter=",", header="time,q1 [deg],q2 [deg]", comments="")
    with pytest.raises(InputError, match=r"lacking.csv has no column 'q3'.*needs the columns time and q1, q2, q3 or x"):
        desired_motion(model.dynamics, str(lacking), rate=1000.0, rng=np.random.default_rng(1))
    away = tmp_path / "away.csv"
    np.savetxt(
        away,
        np.column_stack([rows[:, 0], *[np.full(len(rows), 2.0)] * 3]),
        delimiter=",",
        header="time,x,y,z",
        comments="",
    )
    with pytest.raises(InputError, match=r"away.csv' is out of reach of the Delta"):
        desired_motion(model.dynamics, str(away), rate=1000.0, rng=np.random.default_rng(1))


def test_motions_of_other_robots_are_refused():
    for key, name, words in (
        ("delta", "h4-fast", "is that of an H4, but the results are of another robot, Delta"),
        ("five-bar", "circle", "the results are of another robot: the five-bar"),
        ("palida", "adept", "the results are of another robot: the PaLiDA"),
        ("delta", "rnadom", "there is no motion 'rnadom'; did you mean 'random'"),
    ):
        with pytest.raises(InputError, match=words):
            motion_of(named_model(key), name)


def test_the_verdict_of_the_identification_stands_beside_the_bounds(smooth):
    refuted = replace(smooth.model, dynamics=replace(smooth.dynamics, is_refuted=True, headline="It is NOT ADEQUATE."))
    motion = motion_of(refuted, seconds=0.2)
    found = Comparison(replace(smooth, model=refuted), motion, Loop(), "mujoco", (), None)
    assert any(text.startswith("Careful: It is NOT ADEQUATE.") for text in found.sentences())
    assert not Comparison(smooth, motion, Loop(), "mujoco", (), None).doubts


def test_motions_and_loops_that_cannot_be_simulated_are_refused(smooth, tmp_path):
    rng = np.random.default_rng(1)
    with pytest.raises(InputError, match="at most 200000 are simulated"):
        desired_motion(smooth.dynamics, "random", rate=1000.0, rng=rng, seconds=1e9)
    with pytest.raises(InputError, match=r"has at most a bandwidth of 318.3 Hz, but 900 Hz"):
        Loop(bandwidth=900.0)
    with pytest.raises(InputError, match="limit must be a number, but is NaN"):
        Loop(limit=np.nan)
    motion = motion_of(smooth.model, seconds=0.1)
    with pytest.raises(InputError, match="longer than the motion, which has"):
        control(smooth, motion=motion, loop=Loop(delay=100_000))
    path = tmp_path / "motion.csv"
    path.write_text("t,q1,q2\n0,1,1\n")
    with pytest.raises(InputError, match=r"cannot be read as a motion. It needs a column 'time'"):
        desired_motion(smooth.dynamics, str(path), rate=1000.0, rng=rng)


@needs_compiler
def test_a_motion_that_begins_where_the_mechanism_cannot_be_assembled_is_refused(smooth, monkeypatch):
    class Elsewhere:
        def read(self):
            q = motion.joints.q[0].copy()
            q[1] += 2 * np.pi
            return q, np.zeros(3)

    motion = motion_of(smooth.model, seconds=0.1)
    monkeypatch.setattr("gough.control.study.plant", lambda *_, **__: Elsewhere())
    with pytest.raises(InputError, match=r"cannot be assembled at the beginning of the motion 'random', where q2 is"):
        control(smooth, motion=motion, laws=["pd"])
