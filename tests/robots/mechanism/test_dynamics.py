"""Regressors against Pinocchio, against energy, and against finite differences."""

import pickle

import numpy as np
import pytest

from gough.robots import Palida
from gough.robots.mechanism import Cogging, MechanismModel
from tests.robots.mechanism.reference import Reference
from tests.robots.mechanism.robots import GENERAL, ROBOTS, around_home, motion, path

NAMES = list(ROBOTS)


def rigid(robot):
    """The nominal parameters without friction."""
    return np.array([p.nominal if p.part == "bodies" or p.term == "J" else 0.0 for p in robot.parameters])


@pytest.mark.parametrize("name", [name for name in NAMES if name != "five-bar"])
def test_efforts_are_those_of_pinocchio_projected(name, rng):
    robot, moved = ROBOTS[name], motion(name, rng, 8)
    reference = Reference(robot.mechanism)
    s = robot.all_coordinates(robot.forward(moved.q))
    wanted = np.array([reference.efforts(*sample) for sample in zip(s, *moved, strict=True)])
    found = robot.regressor(*moved) @ rigid(robot)
    assert np.abs(found - wanted).max() < 1e-9 * max(np.abs(wanted).max(), 1.0)


def test_general_bodies_are_those_of_pinocchio_projected(rng):
    """Centers and axes of inertia anywhere: all ten parameters of each of the four kinds of bodies."""
    moved = motion("palida", rng, 8)
    robot = _with_random_bodies(GENERAL, rng)
    reference = Reference(robot.mechanism)
    s = robot.all_coordinates(robot.forward(moved.q))
    wanted = np.array([reference.efforts(*sample) for sample in zip(s, *moved, strict=True)])
    found = robot.regressor(*moved) @ rigid(robot)
    assert np.abs(found - wanted).max() < 1e-9 * np.abs(wanted).max()


def _with_random_bodies(robot, rng):
    from dataclasses import replace

    from gough.robots.mechanism import Inertia

    known = {}
    bodies = []
    for body in robot.mechanism.bodies:
        if body.tied not in known:
            A = rng.normal(size=(3, 3))
            I = A @ A.T
            moments, products = (I[0, 0], I[1, 1], I[2, 2]), (I[0, 1], I[0, 2], I[1, 2])
            known[body.tied] = Inertia(rng.uniform(1, 3), tuple(rng.normal(size=3)), moments, products)
        bodies.append(replace(body, inertia=known[body.tied]))
    return MechanismModel(replace(robot.mechanism, bodies=tuple(bodies)))


@pytest.mark.parametrize("name", NAMES)
def test_the_kernel_of_the_pose_is_the_same_regressor(name, rng):
    robot, x = ROBOTS[name], around_home(name, rng, 30)
    dx, ddx = rng.normal(size=(2, *x.shape))
    W = robot.regressor(*robot.joint_motion(x, dx, ddx))
    kernel = robot.regressor_kernel().replay(x, dx, ddx)["regressor"]
    assert np.abs(kernel - W).max() < 1e-9 * np.abs(W).max()


def test_compiled_and_replayed_regressors_agree(rng):
    robot, moved = ROBOTS["palida"], motion("palida", rng, 500)
    compiled = robot.regressor(*moved)  # more samples than are replayed
    replayed = np.concatenate([robot.regressor(*(part[k : k + 100] for part in moved)) for k in range(0, 500, 100)])
    assert np.abs(compiled - replayed).max() < 1e-10 * np.abs(compiled).max()


def test_adjoints_of_the_kernel_are_its_derivatives(rng):
    """One reverse sweep through closed forms, implicit functions and dynamics, against central differences."""
    robot = Palida(only=("Izz_1", "Ixx_2", "sz_3", "m_E", "v_1"))
    kernel = robot.regressor_kernel()
    x, dx, ddx = robot.home + rng.uniform(-0.1, 0.1, 6), rng.normal(size=6), rng.normal(size=6)
    w = rng.normal(size=(6, 5))
    found = kernel.adjoint("x", "dx", "ddx").replay(x, dx, ddx, w)
    h = 1e-5
    for k, (key, at) in enumerate((("x", x), ("dx", dx), ("ddx", ddx))):
        for i in range(6):
            ends = []
            for side in (h, -h):
                moved = [x.copy(), dx.copy(), ddx.copy()]
                moved[k][i] += side
                ends.append((kernel.replay(*moved)["regressor"] * w).sum())
            wanted = (ends[0] - ends[1]) / (2 * h)
            assert found[f"{key}_adjoint"][i] == pytest.approx(wanted, rel=1e-6, abs=1e-6 * np.abs(w).sum()), (key, at)


def test_work_done_by_the_drives_becomes_energy(rng):
    """Power of the efforts over a closed path is zero, without friction: d'Alembert's principle, integrated."""
    for name in ("palida", "6-ucu", "par4"):
        robot = ROBOTS[name]
        t = np.arange(400) / 400
        moved = robot.joint_motion(*path(name, rng, t))
        power = (robot.regressor(*moved) @ rigid(robot) * moved.dq).sum(axis=1)
        assert abs(power.mean()) < 1e-9 * np.abs(power).max()  # the trapezoidal rule is exact for smooth periods


def test_friction_takes_power_of_every_joint(rng):
    robot, moved = ROBOTS["palida"], motion("palida", rng, 20)
    W = robot.regressor(*moved)
    x, dx, _ = robot.pose_motion(*moved)
    ds = robot.motion_kernel().replay(x, dx, 0 * dx)["ds"]
    alphas = [k for k, name in enumerate(robot.coordinate_names) if name.startswith("alpha")]
    power = np.einsum("na,na->n", W[:, :, robot.names.index("r_α")], moved.dq)
    assert power == pytest.approx(np.abs(ds[:, alphas]).sum(axis=1), rel=1e-9)
    viscous = np.einsum("na,na->n", W[:, :, robot.names.index("v_3")], moved.dq)
    assert viscous == pytest.approx(moved.dq[:, 2] ** 2, rel=1e-12)


def test_cogging_repeats_with_the_position_of_the_drive(rng):
    robot = Palida(cogging=Cogging(period=0.036, harmonics=(1, 3)))
    assert robot.variant == "cogging"
    assert [v.variant for v in robot.variants] == ["bodies and drives", "passive friction", "cogging"]
    assert [v.adds for v in robot.variants] == ["", "the friction of the passive joints", "the cogging of the drives"]
    moved = motion("palida", rng, 5)
    W = robot.regressor(*moved)
    k = robot.names.index("sin3_q2")
    assert W[:, 1, k] == pytest.approx(np.sin(2 * np.pi * 3 * moved.q[:, 1] / 0.036))
    assert not W[:, [0, 2, 3, 4, 5], k].any()
    assert len(robot.names) == 33 + 24


def test_offsets_and_rotors_have_their_columns(rng):
    from dataclasses import replace

    from gough.robots.mechanism import Friction

    mechanism = Palida().mechanism
    joints = []
    for joint in mechanism.joints:
        new = joint.freedoms
        if joint.name.startswith("q"):
            new = (replace(new[0], friction=Friction(joint.name, offset=3.0), rotor=0.7),)
        joints.append(replace(joint, freedoms=new))
    robot = MechanismModel(replace(mechanism, joints=tuple(joints)))
    moved = motion("palida", rng, 5)
    W = robot.regressor(*moved)
    offset, rotor = robot.names.index("o_q4"), robot.names.index("J_q4")
    assert (W[:, 3, offset] == 1.0).all()
    assert W[:, 3, rotor] == pytest.approx(moved.ddq[:, 3])
    assert robot.units[offset] == "N"
    assert robot.units[rotor] == "kg"


def test_smooth_friction_tends_to_the_sign(rng):
    robot, x = ROBOTS["3-rrr"], around_home("3-rrr", rng, 10)
    dx, ddx = rng.normal(size=(2, *x.shape))
    sharp = robot.regressor_kernel().replay(x, dx, ddx)["regressor"]
    smooth = robot.regressor_kernel(friction_speed=1e-6).replay(x, dx, ddx)["regressor"]
    assert np.abs(sharp - smooth).max() < 1e-9


def test_a_robot_travels_to_another_process(rng):
    robot = ROBOTS["3-rrr"]
    _ = robot.inverse(robot.home)
    other = pickle.loads(pickle.dumps(robot))
    assert other == robot
    assert np.array_equal(other.inverse(robot.home), robot.inverse(robot.home))


def test_columns_without_effect_are_exactly_zero(rng):
    """The platform of a Delta never turns: rounding in the loops must not look like information."""
    robot, moved = ROBOTS["delta"], motion("delta", rng, 20)
    W = robot.regressor(*moved)
    idle = [k for k, name in enumerate(robot.names) if name in {"Ixx_platform", "Iyy_platform", "Izz_platform"}]
    assert not W[:, :, idle].any()


def test_palida_is_lagranges_equations_by_hand(rng):
    """Energies of a strut and of the platform, differentiated on paper: see the benchmark that races against it."""
    from benchmarks._palida_by_hand import COLUMNS, ByHand

    robot = Palida()
    x = around_home("palida", rng, 100)
    dx, ddx = rng.normal(size=(2, *x.shape))
    W = robot.with_only(COLUMNS).regressor_kernel().replay(x, dx, ddx)["regressor"]
    wanted = ByHand(robot)(x, dx, ddx)
    assert np.abs(W - wanted).max() < 1e-11 * np.abs(wanted).max()
