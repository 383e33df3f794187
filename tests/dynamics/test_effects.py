"""Parts of single effects against other ways to compute them; tests/laws/test_effects.py holds all to their plants."""

from dataclasses import replace

import numpy as np
import pytest

from gough.data import MeasuredMotion
from gough.dynamics.causes import causes_of
from gough.dynamics.effect import Excitation, Planted
from gough.dynamics.effects import catalogue
from gough.dynamics.effects.geometry import dimensions
from gough.dynamics.effects.hysteresis import bristles
from gough.dynamics.with_effects import with_effects
from gough.robots import Delta, FiveBar, Hexapod, efforts
from gough.robots.mechanism import MechanismModel
from gough.simulate.multibody import experiment
from tests.simulate.multibody.motions import NEEDS

RATE = 200.0


def excitation(robot, *, recordings=1, seconds=4.0, amplitude=0.2, parameters=None, rng=None):
    """A sum of sines of every actuator around home, and what the model says of it."""
    rng = rng or np.random.default_rng(5)
    home = np.array([2.0, 1.1]) if len(robot.actuators) == 2 else robot.inverse(robot.home)
    t = np.arange(round(seconds * RATE)) / RATE
    w, phase = 2 * np.pi * rng.uniform(0.3, 1.5, (3, len(home))), rng.uniform(0, 6.3, (3, len(home)))
    angle = w * t[:, None, None] + phase
    q, dq, ddq = np.sin(angle), w * np.cos(angle), -(w**2) * np.sin(angle)
    q, dq, ddq = (amplitude / 3 * part.sum(axis=1) for part in (q, dq, ddq))
    theta = robot.nominal if parameters is None else parameters
    predicted = efforts(robot, theta, home + q, dq, ddq)
    return Excitation(
        robot=robot,
        parameters=theta,
        rate=RATE,
        time=t,
        recording=np.arange(len(t)) * recordings // len(t),
        q=home + q,
        dq=dq,
        ddq=ddq,
        efforts=predicted,
        residuals=np.zeros_like(predicted),
        regressor=robot.regressor,
    )


def test_bristles_solve_dahls_equation():
    """Against Euler's method with steps of some thousandths of a presliding distance."""
    t = np.linspace(0, 20, 50_001)
    x = 3 * np.sin(t) + np.sin(2.7 * t)
    u, steps = [0.0], np.diff(x)
    for h in steps.tolist():
        u.append(u[-1] + h - abs(h) * u[-1])
    assert bristles(x) == pytest.approx(np.array(u), abs=5e-3)


def test_bristles_at_rest_keep_their_state():
    assert bristles(np.array([0.0, 1.0, 1.0, 1.0])).tolist() == pytest.approx([0.0, *3 * [1 - np.exp(-1)]])
    assert bristles(np.zeros(1)).tolist() == [0.0]


@pytest.mark.parametrize("wave", [37.3, 121.0])
def test_cogging_finds_the_wave_number_of_the_residuals(wave, rng):
    of = excitation(FiveBar.demo(), amplitude=0.6, seconds=8.0)
    ripple = np.sin(wave * of.q + [0.3, 1.2]) + 0.5 * rng.normal(size=of.q.shape)
    found = catalogue()["cogging"].alternatives(replace(of, residuals=ripple))
    assert found[0].waves == pytest.approx((wave, wave), abs=1.5)
    assert found[0].trials > 20
    assert "periods per turn" in found[0].title


def test_a_mechanism_that_states_its_cogging_needs_no_search():
    from gough.robots import Palida
    from gough.robots.mechanism import Cogging

    robot = Palida(cogging=Cogging(0.03, (1, 2)), variant="bodies and drives")
    of = excitation(robot, seconds=0.5, amplitude=0.03)
    first, second = catalogue()["cogging"].alternatives(of)[:2]
    assert first.waves == pytest.approx((2 * np.pi / 0.03,) * 6)
    assert second.waves == pytest.approx((4 * np.pi / 0.03,) * 6)
    assert first.trials == 1


def test_passive_friction_takes_power():
    """The power of the actuators is that of the friction: twice for two equal rods, and never negative."""
    of = excitation(Delta(), seconds=1.0)
    columns = catalogue()["passive-friction"].alternatives(of)[2].columns(of)
    assert columns.names == ("passive_viscous", "passive_dry")
    viscous, dry = np.einsum("tik,ti->kt", columns.values, of.dq)
    assert viscous.min() >= 0
    assert dry.min() >= 0
    double = replace(of, dq=2 * of.dq)
    again = catalogue()["passive-friction"].alternatives(double)[2].columns(double)
    assert again.values[:, :, 0] == pytest.approx(2 * columns.values[:, :, 0], rel=1e-6, abs=1e-9)
    assert again.values[:, :, 1] == pytest.approx(columns.values[:, :, 1], rel=1e-6, abs=1e-9)


def test_an_open_chain_has_no_passive_friction():
    from gough.simulate.multibody.experiment import seven_axes

    of = excitation(MechanismModel(seven_axes()), seconds=0.25)
    assert catalogue()["passive-friction"].columns(of) is None


def arm_without_rotors():
    """A simulated arm that has rotors, and its model as a file describes it that states none."""
    pytest.importorskip("pinocchio", reason=NEEDS)
    truth = experiment("arm", seconds=10.0, rate=250.0)
    arm = truth.robot.mechanism
    joints = tuple(replace(each, freedoms=(replace(each.freedoms[0], rotor=None),)) for each in arm.joints)
    return truth, MechanismModel(replace(arm, joints=joints))


def test_rotors_of_an_arm_from_a_file_that_states_none():
    """Their sizes are found; those of the first axes are part of their links' inertia, and are not named."""
    truth, robot = arm_without_rotors()
    motion = MeasuredMotion.concatenate(*truth.measured(None, np.random.default_rng(2)))
    found = causes_of(robot, motion)
    assert [cause.effect.name for cause in found.steps] == ["rotor"]
    rotors = {f"rotor_{k + 1}": joint.freedoms[0].rotor for k, joint in enumerate(truth.robot.mechanism.joints)}
    cause = found.steps[0]
    assert 4 <= len(cause.names) < 7
    assert cause.dof == len(cause.names)
    for name, value, sigma in zip(cause.names, cause.values, cause.sigma, strict=True):
        assert abs(value - rotors[name]) < 4 * sigma
        assert sigma < 0.05 * rotors[name]
    included = with_effects(robot, motion, ["rotor"])
    assert set(included.values) == set(cause.names)
    assert causes_of(included, motion).likeliest is None


def test_a_wrong_scale_is_found_beside_rotors_in_any_order():
    """Rotors are the larger effect: without them in the model another axis seems to be wrong."""
    truth, robot = arm_without_rotors()
    shown = Planted(truth.q / np.where(np.arange(7) == 3, 1.03, 1.0), truth.efforts(truth.q, truth.dq, truth.ddq))
    motion = truth.measured(shown, np.random.default_rng(2))[0]
    for order in (["rotor", "ratio"], ["ratio", "rotor"]):
        found = with_effects(robot, motion, order)
        assert found.values["scale_4"] == pytest.approx(0.03, abs=0.002)
        assert found.values["rotor_3"] == pytest.approx(0.8, rel=0.02)


def test_ripple_has_two_periods_within_the_range_of_positions():
    """Refined towards longer and longer periods, it imitated whatever else was wrong."""
    form = replace(catalogue()["cogging"], step=0.5, lowest=4.0).with_waves((4.1, 4.1))
    assert [each.waves for each in form.nearer()] == [(4.1, 4.1), (4.0, 4.0), (4.35, 4.35)]
    of = excitation(FiveBar.demo(), amplitude=0.6, seconds=8.0)
    slow = replace(of, residuals=np.sin(1.5 * of.q))
    for found in catalogue()["cogging"].alternatives(slow):
        assert min(found.waves) >= found.lowest > 3.0


def test_the_geometry_of_a_mechanism_is_the_distances_of_its_joints():
    robot = MechanismModel(FiveBar.demo().mechanism)
    names = [each.name for each in dimensions(robot)]
    assert "distance of elbow1" in names
    assert "distance of elbow1, elbow2" in names
    longer = next(each for each in dimensions(robot) if each.name == "distance of elbow2").changed(robot, 0.01)
    built = replace(FiveBar.demo(), proximal=(0.25, 0.26))
    q = np.array([[2.0, 1.1]])
    assert longer.forward(q) == pytest.approx(built.forward(q), abs=1e-12)


def test_columns_of_geometry_are_those_of_the_built_in_robot():
    """One robot as equations of its own and as a mechanism: the columns differ by columns of the model only."""
    plain, whole = excitation(FiveBar.demo()), excitation(MechanismModel(FiveBar.demo().mechanism))
    ends = {}
    for of, name in ((plain, "distal_1"), (whole, "distance of hand")):
        found = [each for each in catalogue()["geometry"].alternatives(of) if each.dimension.name == name]
        assert len(found) == 1, [each.dimension.name for each in catalogue()["geometry"].alternatives(of)]
        ends[name] = found[0].columns(of).values.reshape(-1)
    W = plain.regressor(plain.q, plain.dq, plain.ddq).reshape(-1, 21)
    first, second = (x - W @ np.linalg.lstsq(W, x, rcond=1e-10)[0] for x in ends.values())
    assert first == pytest.approx(second, abs=1e-4 * np.abs(first).max())
    assert np.abs(first).max() > 1e-3


def test_dimensions_that_have_the_same_efforts_are_named_together():
    """Only the difference of base and platform of a Delta is in its equations."""
    titles = [each.title for each in catalogue()["geometry"].alternatives(excitation(Delta(), seconds=1.0))]
    assert any("base or platform" in title for title in titles)


def test_a_dimension_without_efforts_is_not_tried():
    """The height of a Hexapod moves its platform, not its efforts: differences are rounding errors."""
    of = excitation(Hexapod(), seconds=1.0, amplitude=0.05)
    assert "height" in [each.name for each in dimensions(of.robot)]
    assert "height" not in [each.dimension.name for each in catalogue()["geometry"].alternatives(of)]


def test_what_was_computed_for_one_motion_is_not_used_for_another():
    of = excitation(FiveBar.demo())
    assert of.once("span", lambda: np.ptp(of.q), is_of_motion=True) == np.ptp(of.q)
    other = replace(of, q=2 * of.q)
    assert other.once("span", lambda: np.ptp(other.q), is_of_motion=True) == 2 * np.ptp(of.q)
    shared = replace(of, parameters=2 * of.parameters).sharing(of.of_motion)
    assert shared.once("span", lambda: np.nan, is_of_motion=True) == np.ptp(of.q)


def test_two_actuators_with_one_wrong_sign_are_not_told_apart():
    (only,) = catalogue()["sign"].alternatives(excitation(FiveBar.demo()))
    assert only.title == "opposite signs of the efforts of motor 1 and motor 2"
    assert len(catalogue()["sign"].alternatives(excitation(Delta(), seconds=1.0))) == 3


def test_a_payload_needs_two_recordings():
    effect = catalogue()["payload"]
    assert effect.alternatives(excitation(FiveBar.demo())) == ()
    (form,) = effect.alternatives(excitation(FiveBar.demo(), recordings=2))
    assert form.parameters == ("m_load",)
    of = excitation(FiveBar.demo(), recordings=2)
    values = form.columns(of).values
    assert not values[of.recording == 0].any()
    assert values[of.recording == 1].all(axis=(1, 2)).any()


def test_the_platform_of_a_mechanism_has_further_inertial_parameters():
    forms = catalogue()["payload"].alternatives(excitation(Hexapod(), recordings=2, seconds=0.5, amplitude=0.05))
    assert [form.parameters for form in forms] == [
        ("m_platform",),
        ("m_platform", "sz_platform", "Ixx_platform", "Iyy_platform", "Izz_platform"),
    ]


def test_a_compliance_displaces_a_pendulum_as_its_spring_does():
    """Statics: a motor that holds a link on a spring sees the torque of the link's own, smaller angle."""
    robot = FiveBar.demo()
    friction = np.isin(robot.names, ["fv_1", "fc_1", "fv_2", "fc_2"])
    of = excitation(robot, parameters=np.where(friction, 0.0, robot.nominal))
    slow = replace(
        of, dq=0.0 * of.dq, ddq=0.0 * of.ddq, efforts=efforts(robot, of.parameters, of.q, 0 * of.q, 0 * of.q)
    )
    columns = catalogue()["elasticity"].columns(replace(slow, rate=1e-3))
    c = 1e-4
    for i in range(2):
        link = slow.q.copy()
        link[:, i] -= c * slow.efforts[:, i]
        change = efforts(robot, of.parameters, link, 0 * of.q, 0 * of.q) - slow.efforts
        assert c * columns.values[:, :, i] == pytest.approx(change, rel=0.02, abs=0.02 * np.abs(change).max())
