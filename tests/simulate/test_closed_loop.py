"""The closed loop: it tracks, keeps the energy balance, converges with order four, and says when it cannot follow."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from gough.core.errors import InputError
from gough.kernels import CompilerWarning, trace
from gough.kernels import compiler as kernel_compiler
from gough.kernels.recurrence import Recurrence
from gough.robots import H4, Delta, Par4
from gough.robots.model import PoseMotion
from gough.simulate import (
    Cascade,
    ClosedLoop,
    Instruments,
    JointPI,
    PickAndPlace,
    Ripple,
    SimulatedRobot,
    SlowThenFast,
    h4,
)
from gough.simulate.closed_loop import step_kernel

EXACT = Instruments(encoder_counts=None)


def excitation(robot, seconds=(1.0, 2.0), seed=1):
    amplitude = [0.1, 0.1, 0.05, 0.4][: len(robot.home)]
    return SlowThenFast.search(np.random.default_rng(seed), robot, amplitude=amplitude, seconds=seconds, candidates=1)


@pytest.fixture(scope="module")
def robot():
    return H4()


@pytest.fixture(scope="module")
def motion(robot):
    return excitation(robot).sample(1000.0)


def loop_of(simulated, instruments=EXACT, rate=1000.0, bandwidth=15.0, **options):
    controller = JointPI.tuned(simulated, simulated.robot.home, bandwidth=bandwidth)
    n = simulated.n_actuators
    return ClosedLoop(simulated, controller, instruments, rate, np.linspace(0, 1, n), **options)


def smooth(robot, parameters=None):
    """A robot whose dry friction changes slowly enough for few steps and for quadrature."""
    return SimulatedRobot(robot, robot.nominal if parameters is None else parameters, friction_speed=0.5)


def frictionless(robot):
    return SimulatedRobot(robot, np.where([name.lower().startswith("f_") for name in robot.names], 0.0, robot.nominal))


@pytest.mark.parametrize("robot", [H4(), Par4(), Delta()], ids=lambda r: r.name)
@pytest.mark.parametrize("kind", [JointPI, Cascade])
def test_it_tracks(robot, kind):
    simulated, motion = SimulatedRobot(robot, robot.nominal), excitation(robot).sample(1000.0)
    controller = kind.tuned(simulated, robot.home, bandwidth=15.0)
    loop = ClosedLoop(simulated, controller, Instruments(), 1000.0, np.zeros(simulated.n_actuators))
    followed = loop.follow(motion)
    error = np.abs(robot.inverse(followed.x) - robot.inverse(motion.x))
    swing = np.ptp(robot.inverse(motion.x), axis=0)
    assert (error.max(axis=0) < 0.03 * swing).all()
    assert error.max() > 1e-5  # it is a loop, not a copy


def test_a_stiffer_loop_tracks_better(robot, motion):
    simulated = SimulatedRobot(robot, robot.nominal)
    errors = [
        np.abs(loop_of(simulated, bandwidth=bandwidth).follow(motion).x - motion.x).max() for bandwidth in (5, 10, 20)
    ]
    assert errors[0] > 1.5 * errors[1] > 2 * errors[2]


def test_both_controllers_are_one_law(robot, motion):
    simulated = SimulatedRobot(robot, robot.nominal)
    found = []
    for kind in (JointPI, Cascade):
        controller = kind.tuned(simulated, robot.home, bandwidth=12.0)
        found.append(ClosedLoop(simulated, controller, EXACT, 1000.0, np.zeros(4)).follow(motion).x)
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)


def plain_loop(loop, reference, n_steps):
    """The same closed loop, written out in Python with the robot's forward dynamics alone."""
    simulated, tools, law = loop.simulated, loop.instruments, loop.controller.law(loop.simulated.n_actuators)
    wanted, wanted_speed, _ = simulated.joint_motion(reference)
    x, dx, period = reference.x[0], reference.dx[0], 1 / loop.rate
    hold = simulated.efforts(PoseMotion(x[None], 0 * dx[None], 0 * dx[None]))[0]
    reading, speed, integral = tools.read_positions(wanted[0]) - wanted_speed[0] * period, wanted_speed[0], hold
    remembered = np.exp(-2 * np.pi * law.velocity_cutoff * period)
    gain = tools.gains(simulated.n_actuators)
    out = []
    for k in range(len(wanted)):
        now = tools.read_positions(simulated.robot.inverse(x))
        speed = remembered * speed + (1 - remembered) * (now - reading) / period
        reading, error = now, wanted[k] - now
        summed = integral + law.integral * error * period
        asked = (law.proportional * error + summed + law.damping * (wanted_speed[k] - speed)) / gain
        integral = np.where(np.abs(asked) > tools.voltage_limit, integral, summed)
        volts = np.clip(asked, -tools.voltage_limit, tools.voltage_limit)
        out.append(np.concatenate([x, dx, volts]))

        def slope(x, dx, volts=volts):
            ripple = tools.ripple.with_phase(loop.phase).torque(simulated.robot.inverse(x))
            return simulated.accelerations(x, dx, gain * volts + ripple)

        h = period / n_steps
        for _ in range(n_steps):
            v1, a1 = dx, slope(x, dx)
            v2, a2 = dx + h / 2 * a1, slope(x + h / 2 * v1, dx + h / 2 * a1)
            v3, a3 = dx + h / 2 * a2, slope(x + h / 2 * v2, dx + h / 2 * a2)
            v4, a4 = dx + h * a3, slope(x + h * v3, dx + h * a3)
            x, dx = x + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), dx + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return np.array(out)


def test_it_is_the_loop_written_out(robot, motion):
    """Encoders, filter of the velocity, integral that stops at the limit, ripple: step by step."""
    tools = Instruments(gain=1.5, voltage_limit=2.5, ripple=Ripple(0.2))
    loop = loop_of(SimulatedRobot(robot, robot.nominal), tools, substeps=2, lost=10.0)
    start = 1200  # in the fast phase, so that the limit is reached
    part = PoseMotion(*(values[start : start + 150] for values in motion))
    followed, plain = loop.follow(part), plain_loop(loop, part, 2)
    assert (np.abs(followed.voltages) == 2.5).any()
    np.testing.assert_allclose(followed.x, plain[:, :4], atol=1e-10)
    np.testing.assert_allclose(followed.voltages, plain[:, 8:], atol=1e-6)


def potential(robot, x):
    """Of the platform's and the arms' weight; halves of the rods are in both [PRV03i, eq. (14)]."""
    value = dict(zip(robot.names, robot.nominal, strict=True))
    q = robot.inverse(x)
    return 9.81 * (value["M_nac"] * x[:, 2] - value["S_arm"] * np.sin(q).sum(axis=1))


def kinetic(simulated, x, dx):
    dq = simulated.joint_motion(PoseMotion(x, dx, np.zeros_like(x))).dq
    return np.einsum("ni,nij,nj->n", dq, simulated.joint_inertia(x), dq) / 2


def motor_work(loop, followed):
    """Exact for held voltages: gain · V · Δq, and for the ripple an integral known in closed form."""
    q = loop.simulated.robot.inverse(followed.x)
    held = (loop.instruments.gains(q.shape[1]) * followed.voltages[:-1] * np.diff(q, axis=0)).sum(axis=1)
    ripple = loop.instruments.ripple
    if ripple is None:
        return np.cumsum(held)
    angle = ripple.waves * q + loop.phase
    return np.cumsum(held - np.diff(ripple.amplitude / ripple.waves * np.cos(angle), axis=0).sum(axis=1))


@pytest.mark.parametrize("ripple", [None, Ripple(0.5)])
def test_without_friction_the_motors_work_is_energy(robot, motion, ripple):
    simulated = frictionless(robot)
    loop = loop_of(simulated, replace(Instruments(gain=2.0), ripple=ripple), substeps=8)
    followed = loop.follow(motion)
    energy = kinetic(simulated, followed.x, followed.dx) + potential(robot, followed.x)
    exchanged = np.abs(motor_work(loop, followed)).max()
    assert exchanged > 0.5  # joules
    np.testing.assert_allclose(energy[1:] - energy[0], motor_work(loop, followed), atol=1e-9 * exchanged)


def test_with_friction_the_motors_work_is_energy_and_heat(robot, motion):
    simulated = smooth(robot)
    loop = loop_of(simulated, Instruments(gain=2.0))
    followed = loop.follow(motion)
    energy = kinetic(simulated, followed.x, followed.dx) + potential(robot, followed.x)
    dq = simulated.joint_motion(PoseMotion(followed.x, followed.dx, np.zeros_like(followed.x))).dq
    heating = (simulated.friction_efforts(followed.x, followed.dx) * dq).sum(axis=1)
    assert heating.min() >= 0
    heat = np.cumsum((heating[1:] + heating[:-1]) / 2) / loop.rate
    work = motor_work(loop, followed)
    assert heat[-1] > 1.0
    np.testing.assert_allclose(energy[1:] - energy[0] + heat, work, atol=2e-4 * np.abs(work).max())


def test_the_energy_is_that_of_the_complete_mechanism(robot, motion):
    pytest.importorskip("pinocchio")
    from gough.simulate.multibody import Multibody

    whole = Multibody(robot)
    simulated = SimulatedRobot(robot, robot.parameters_of_parts())  # without friction
    loop = loop_of(simulated, Instruments(gain=2.0), substeps=8)
    followed = loop.follow(motion)
    energy, work = whole.energy(followed.x, followed.dx), motor_work(loop, followed)
    # the rods' turning about their own axes is in the mechanism only
    np.testing.assert_allclose(energy[1:] - energy[0], work, atol=1e-3 * np.abs(work).max())


def test_integration_has_order_four(robot, motion):
    simulated = smooth(robot)
    part = PoseMotion(*(values[::20][:100] for values in motion))  # 50 Hz: long sampling periods show the error

    def end(substeps):
        followed = loop_of(simulated, rate=50.0, bandwidth=3.0, substeps=substeps, lost=10.0).follow(part)
        return np.concatenate([followed.x, followed.dx], axis=1)

    exact = end(128)
    errors = [np.abs(end(substeps) - exact).max() for substeps in (4, 8, 16)]
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert orders == pytest.approx([4.0, 4.0], abs=0.35)


def test_a_held_voltage_moves_the_robot_as_another_integrator_says(robot):
    simulated = smooth(robot)
    volts = np.array([0.5, -0.8, 0.3, 0.2])
    loop = loop_of(simulated, substeps=8, lost=10.0)
    controller = JointPI(0.0, 1e-12, 0.0)  # holds what it holds at the beginning
    rest = PoseMotion(*(np.tile(part, (101, 1)) for part in (robot.home, np.zeros(4), np.zeros(4))))
    pushed = replace(loop, controller=controller, instruments=replace(EXACT, ripple=Ripple(1.0, 0.0, 0.0)))
    pushed = replace(pushed, phase=np.arcsin(volts))  # a ripple of no waves: a constant effort
    followed = pushed.follow(rest)
    hold = simulated.efforts(PoseMotion(*(part[:1] for part in rest)))[0]

    def slope(_, state):
        return np.concatenate([state[4:], simulated.accelerations(state[:4], state[4:], hold + volts)])

    found = solve_ivp(slope, (0, 0.1), np.concatenate([robot.home, np.zeros(4)]), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(followed.x[100], found.y[:4, -1], atol=1e-9)
    np.testing.assert_allclose(followed.dx[100], found.y[4:, -1], atol=1e-8)
    assert np.abs(followed.x[100] - robot.home).max() > 1e-2


def test_sharp_friction_is_integrated_stably_and_sticks(robot):
    """At rest under a push below dry friction the robot creeps, by the speed that tanh needs, and no faster."""
    simulated = SimulatedRobot(robot, robot.nominal)
    rest = PoseMotion(*(np.tile(part, (500, 1)) for part in (robot.home, np.zeros(4), np.zeros(4))))
    loop = loop_of(simulated, replace(EXACT, ripple=Ripple(0.3, 0.0)))
    loop = replace(loop, controller=JointPI(0.0, 1e-12, 0.0), phase=np.full(4, np.pi / 2))
    followed = loop.follow(rest)
    dq = simulated.joint_motion(PoseMotion(followed.x, followed.dx, np.zeros_like(followed.x))).dq[-100:]
    creep = 5e-3 * np.arctanh(0.3 / robot.nominal[[robot.names.index(f"F_c{i}") for i in range(1, 5)]])
    assert followed.substeps > 2
    assert dq == pytest.approx(np.tile(creep, (100, 1)), rel=0.05)  # viscous friction and geometry change it a little


def test_substeps_follow_from_friction(robot, motion):
    simulated = SimulatedRobot(robot, robot.nominal)
    few = loop_of(replace(simulated, friction_speed=0.1)).follow(motion).substeps
    many = loop_of(replace(simulated, friction_speed=1e-3)).follow(motion).substeps
    assert few == 2
    assert many == pytest.approx(5 * loop_of(simulated).follow(motion).substeps, rel=0.3)


def test_par4_follows_the_adept_cycle():
    """0.25 s at 15 g under P and PI, with an overshoot that the paper notes too [NCPP, fig. 4]."""
    robot = Par4()
    simulated = SimulatedRobot(robot, robot.nominal)
    adept = PickAndPlace(robot.home, cycles=6).sample(2000.0)
    cascade = Cascade.tuned(simulated, robot.home, bandwidth=30.0)
    loop = ClosedLoop(simulated, cascade, Instruments(encoder_counts=100_000), 2000.0, np.zeros(4))
    x = loop.follow(adept).x
    assert np.abs(x - adept.x)[:, 0].max() < 0.03
    assert x[:, 0].max() > 0.1525 + 1e-4


def test_the_five_bar_has_no_pose_to_follow(robot, motion):
    from gough.robots import FiveBar

    bar = FiveBar.demo()
    simulated = SimulatedRobot(bar, bar.nominal)
    controller = JointPI.tuned(simulated, [2.0, 1.1], bandwidth=10.0)
    with pytest.raises(InputError, match="trajectory of its joints"):
        ClosedLoop(simulated, controller, EXACT, 1000.0, np.zeros(2)).follow(motion)


def test_same_bits_in_every_run(robot, motion):
    loop = loop_of(SimulatedRobot(robot, robot.nominal), Instruments(gain=1.5))
    first, again = loop.follow(motion), loop.follow(motion)
    np.testing.assert_array_equal(first.x, again.x)
    np.testing.assert_array_equal(first.voltages, again.voltages)


def test_an_unstable_loop_is_told(robot, motion):
    simulated = SimulatedRobot(robot, robot.nominal)
    wild = JointPI(2e5, 0.0, 0.0)
    with pytest.raises(InputError, match=r"motor \d no longer follows at .* s .*the loop is unstable, or too weak"):
        ClosedLoop(simulated, wild, EXACT, 1000.0, np.zeros(4)).follow(motion)


def test_a_weak_loop_is_told(robot, motion):
    limp = JointPI(0.1, 0.0, 0.01)
    with pytest.raises(InputError, match="no longer follows"):
        ClosedLoop(SimulatedRobot(robot, robot.nominal), limp, EXACT, 1000.0, np.zeros(4)).follow(motion)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rate": 0.0}, "rate must be positive"),
        ({"substeps": 0}, "substeps must be at least 1"),
        ({"lost": -1.0}, "lost must be positive"),
    ],
)
def test_impossible_loops_are_refused(robot, change, words):
    with pytest.raises(InputError, match=words):
        replace(loop_of(SimulatedRobot(robot, robot.nominal)), **change)


@pytest.mark.parametrize("kind", [JointPI, Cascade])
@pytest.mark.parametrize("gains", [(-1.0, 0.0, 0.0), (np.nan, 0.0, 0.0), (1.0, np.inf, 0.0)])
def test_impossible_gains_are_refused(kind, gains):
    with pytest.raises(InputError, match="finite and not negative"):
        kind(*gains)


def test_gains_must_fit_the_joints():
    with pytest.raises(InputError, match="4 joints, but 2 gains"):
        JointPI([1.0, 2.0], 0.0, 0.0).law(4)
    with pytest.raises(InputError, match="bandwidth must be positive"):
        JointPI.tuned(SimulatedRobot(H4(), H4().nominal), H4().home, bandwidth=0.0)
    with pytest.raises(InputError, match="velocity_cutoff"):
        Cascade(1.0, 1.0, 1.0, velocity_cutoff=0.0)


def test_a_recurrence_without_compiler_is_the_same(monkeypatch, rng):
    rotate = trace(lambda x, push, a: a * x + push, name="recurrence_test", inputs={"x": 3, "push": 3, "a": ()})
    push = rng.normal(size=(50, 3))
    compiled = Recurrence(rotate)(np.ones(3), [push], [np.array(0.9)])
    expected = [np.ones(3)]
    for row in push:
        expected.append(0.9 * expected[-1] + row)
    np.testing.assert_allclose(compiled, expected, atol=1e-13)
    monkeypatch.setenv("GOUGH_NO_COMPILER", "1")
    monkeypatch.setattr(kernel_compiler, "_warned", [])
    other = trace(lambda x, push, a: a * x + push, name="recurrence_test_2", inputs={"x": 3, "push": 3, "a": ()})
    with pytest.warns(CompilerWarning, match="NumPy replay"):
        interpreted = Recurrence(other)(np.ones(3), [push], [np.array(0.9)])
    np.testing.assert_allclose(interpreted, compiled, atol=1e-13)


def test_the_step_is_one_kernel(robot):
    kernel = step_kernel(SimulatedRobot(robot, robot.nominal).equations)
    assert [port.name for port in kernel.inputs][:3] == ["state", "wanted", "at_sampling"]
    assert kernel.inputs[0].size == kernel.outputs[0].size == 24


def test_the_demo_tracks_within_half_a_percent(rng):
    made = h4(rng, seconds=(2.0, 2.0), candidates=2).experiment.run(rng)
    assert made.motion.error.max() < 0.01
