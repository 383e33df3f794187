"""Torques of the full mechanisms: energy is conserved, forward undoes inverse, masses add up."""

from dataclasses import fields, replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import H4, Delta, Par4
from gough.simulate.multibody import Multibody
from tests.simulate.multibody.motions import NEEDS, changed, mechanisms, named, rms, slope, swing

pytest.importorskip("pinocchio", reason=NEEDS)
mujoco = pytest.importorskip("mujoco", reason=NEEDS)
every_mechanism = pytest.mark.parametrize("mechanism", mechanisms(), ids=named)


@every_mechanism
@pytest.mark.parametrize("engine", ["pinocchio", "mujoco"])
def test_the_motors_power_is_the_growth_of_energy(mechanism, engine):
    """Energy is that of the description, power that of an engine: the two share no line."""
    x, dx, ddx = swing(mechanism)
    power = (mechanism.efforts(x, dx, ddx, engine=engine) * mechanism.robot.joint_motion(x, dx, ddx).dq).sum(axis=1)
    growth = slope(mechanism.energy(x, dx), 2.0)
    assert growth == pytest.approx(power, abs=1e-11 * np.abs(power).max())


@every_mechanism
def test_accelerations_undo_efforts(mechanism):
    x, dx, ddx = swing(mechanism)
    torques = mechanism.efforts(x, dx, ddx)
    assert mechanism.accelerations(x, dx, torques) == pytest.approx(ddx, abs=1e-11 * np.abs(ddx).max())
    single = mechanism.accelerations(x[5], dx[5], torques[5])
    assert single.shape == x[5].shape
    assert single == pytest.approx(ddx[5], abs=1e-11 * np.abs(ddx).max())


@every_mechanism
def test_a_single_pose_is_a_sample(mechanism):
    x, dx, ddx = (part[:3] for part in swing(mechanism))
    assert mechanism.efforts(x[1], dx[1], ddx[1]).tolist() == mechanism.efforts(x, dx, ddx)[1].tolist()
    assert mechanism.energy(x[1], dx[1]) == mechanism.energy(x, dx)[1]


@every_mechanism
def test_slender_rods_make_the_simplified_model_exact(mechanism):
    x, dx, ddx = swing(mechanism)
    slender = changed(mechanism, rod_radius=1e-6)
    full = slender.efforts(x, dx, ddx)
    simplified = mechanism.robot.regressor_kernel()(x, dx, ddx) @ slender.robot.parameters_of_parts()
    assert np.abs(simplified - full).max() < 1e-12 * np.abs(full).max()


@every_mechanism
def test_any_geometry_and_any_masses_will_do(mechanism, rng):
    """Every length up to 10 % off, headings by 3°, rotors all different: nothing is exact by symmetry."""
    x, dx, ddx = swing(mechanism, rate=50.0)
    for _ in range(5):
        geometry = mechanism.robot.geometry
        lengths = {f.name: getattr(geometry, f.name) * rng.uniform(0.9, 1.1) for f in fields(geometry)[:-1]}
        alpha = tuple((np.array(geometry.alpha) + rng.uniform(-0.05, 0.05, len(geometry.alpha))).tolist())
        robot = replace(mechanism.robot, geometry=replace(geometry, **lengths, alpha=alpha))
        odd = changed(
            Multibody(robot),
            rod_radius=1e-6,
            rod_mass=rng.uniform(0.01, 0.2),
            arm_mass=rng.uniform(0.1, 1.0),
            rotor_inertia=tuple(rng.uniform(0.01, 0.1, len(geometry.alpha)).tolist()),
        )
        full = odd.efforts(x, dx, ddx)
        assert odd.closure_error(x).max() < 2e-15
        assert (
            np.abs(robot.regressor_kernel()(x, dx, ddx) @ odd.robot.parameters_of_parts() - full).max()
            < 1e-12 * abs(full).max()
        )


@every_mechanism
def test_rods_that_are_not_uniform_fit_the_same_column(mechanism):
    """All of a rod's mass in its middle, or in its ends: the column is the same, only its factor is another."""
    x, dx, ddx = swing(mechanism)
    regressor = mechanism.robot.regressor_kernel()(x, dx, ddx)
    length = mechanism.robot.geometry.rod
    rod_mass = mechanism.robot.parts.rod_mass
    ends = rod_mass * length**2 / 4
    for inertia, factor in ((1e-12, 1.5), (ends, 0.0)):
        odd = changed(mechanism, rod_radius=1e-6, rod_inertia=inertia)
        full = odd.efforts(x, dx, ddx)
        parameters = odd.robot.parameters_of_parts()
        assert dict(zip(mechanism.robot.names, parameters, strict=True))["m_rod"] == pytest.approx(
            factor * rod_mass, abs=1e-10
        )
        assert np.abs(regressor @ parameters - full).max() < 1e-12 * np.abs(full).max()


@every_mechanism
def test_only_the_spin_of_real_rods_remains(mechanism):
    """It grows with the square of the radius, since inertia about a rod's own axis does."""
    x, dx, ddx = swing(mechanism)
    regressor = mechanism.robot.regressor_kernel()(x, dx, ddx)
    remainders = []
    for radius in (0.006, 0.012, 0.024):
        thick = changed(mechanism, rod_radius=radius)
        full = thick.efforts(x, dx, ddx)
        remainders.append(rms(regressor @ thick.robot.parameters_of_parts() - full) / np.abs(full).max())
    assert remainders[0] < 3e-7
    assert remainders[1] / remainders[0] == pytest.approx(4, rel=0.01)
    assert remainders[2] / remainders[0] == pytest.approx(16, rel=0.01)


@every_mechanism
def test_gravity_is_the_robots(mechanism):
    x, _, _ = swing(mechanism)
    still = np.zeros_like(x)
    floating = replace(mechanism, robot=replace(mechanism.robot, gravity=0.0))
    assert np.abs(floating.efforts(x, still, still)).max() < 1e-14
    moon = replace(mechanism, robot=replace(mechanism.robot, gravity=1.62))
    expected = mechanism.efforts(x, still, still) * 1.62 / 9.81
    assert moon.efforts(x, still, still) == pytest.approx(expected, abs=1e-12)


@every_mechanism
def test_the_spacing_of_the_rods_is_without_effect_on_the_torques(mechanism):
    motion = swing(mechanism)
    wide = changed(mechanism, spacing=2 * mechanism.robot.parts.spacing)
    assert wide.efforts(*motion) == pytest.approx(mechanism.efforts(*motion), abs=1e-12)


@every_mechanism
def test_default_masses_add_up_to_the_nominal_parameters(mechanism):
    for robot in mechanism.robot.variants:
        for name, found, wanted in zip(robot.names, robot.parameters_of_parts(), robot.nominal, strict=True):
            if name.lower().startswith("f_"):
                assert found == 0, name
            else:
                assert found == pytest.approx(wanted, rel=1e-3), name


def test_bars_of_par4_with_mass_between_their_ends_leave_a_remainder():
    """[NCPP, §IV.A] puts the mass of the bars into their ends; a uniform bar has a third of that inertia."""
    mechanism = Multibody(Par4())
    x, dx, ddx = swing(mechanism)
    robot = mechanism.robot
    uniform = changed(mechanism, bar_inertia=robot.parts.bar_mass * robot.geometry.h**2 / 12)
    full = uniform.efforts(x, dx, ddx)
    error = mechanism.robot.regressor_kernel()(x, dx, ddx) @ uniform.robot.parameters_of_parts() - full
    assert 1e-4 < rms(error) / np.abs(full).max() < 1e-2


@every_mechanism
def test_mujoco_starts_assembled_and_the_key_frame_holds(mechanism):
    model = mujoco.MjModel.from_xml_string(mechanism.mjcf())
    state = mujoco.MjData(model)
    mujoco.mj_forward(model, state)
    assert np.abs(_gaps(mechanism, state)).max() < 1e-14
    mujoco.mj_resetDataKeyframe(model, state, 0)
    home = state.qpos.copy()
    assert home == pytest.approx(mechanism.motion(*_at_rest(mechanism)).s[0][_order(mechanism, model)], abs=1e-15)
    assert state.ctrl == pytest.approx(mechanism.efforts(*_at_rest(mechanism)), abs=1e-12)
    for _ in range(400):
        mujoco.mj_step(model, state)
    assert np.abs(state.qpos - home).max() < 1e-5  # soft closures yield by 1e-9 m, from where an unstable rest begins
    assert np.abs(_gaps(mechanism, state)).max() < 1e-7


def _order(mechanism, model):
    """For each joint of MuJoCo's model, which coordinate it is."""
    return [mechanism.mechanism.coordinates.index(model.joint(k).name) for k in range(model.njnt)]


def _at_rest(mechanism):
    home = mechanism.robot.home
    return home, np.zeros_like(home), np.zeros_like(home)


def _gaps(mechanism, state):
    return np.array(
        [state.site(f"{c.name}_1").xpos - state.site(f"{c.name}_2").xpos for c in mechanism.mechanism.closures]
    )


@every_mechanism
def test_what_cannot_be_is_refused(mechanism):
    for wrong, message in (
        ({"rotor_inertia": (0.1,)}, "one per motor"),
        ({"rotor_inertia": (-0.1,) * len(mechanism.robot.actuators)}, "rotor_inertia must not be negative"),
        ({"rod_radius": 0.0}, "rod_radius must be positive"),
        ({"spacing": 0.0}, "spacing must be positive"),
        ({"arm_mass": -1.0}, "arm_mass must not be negative"),
        ({"rod_mass": np.inf}, "must be finite"),
    ):
        with pytest.raises(InputError, match=message):
            changed(mechanism, **wrong)
    home = mechanism.robot.home
    with pytest.raises(InputError, match="efforts must have the shape"):
        mechanism.accelerations(home, 0 * home, [1.0])


def test_mechanisms_are_values():
    assert Multibody(H4()) == Multibody(H4())
    assert len({Multibody(Par4()), Multibody(Par4()), Multibody(Par4().with_parts(bar_mass=0.1))}) == 2
    assert Delta().mechanism == Delta().mechanism
