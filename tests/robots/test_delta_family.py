"""Laws of H4, Par4 and Delta, against mechanics from first principles (energies.py) and finite differences."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gough.core import intervals as iv
from gough.core.intervals import Interval
from gough.robots import H4, ROBOTS, ParallelRobot, efforts
from tests.robots.energies import energies, lagrange, lumped, mechanism
from tests.robots.robots import DELTAS, REACH, around_home, derivatives, path


@pytest.fixture(params=DELTAS, ids=str)
def robot(request):
    return DELTAS[request.param]


def test_it_is_a_parallel_robot(robot):
    assert isinstance(robot, ParallelRobot)
    n, p = len(robot.actuators), len(robot.names)
    assert len(robot.coordinates) == len(robot.coordinate_units) == len(robot.effort_units) == n
    assert len(set(robot.names)) == len(robot.units) == len(robot.nominal) == p
    assert len(robot.pose_names) == len(robot.pose_units) == len(robot.home)
    assert (robot.nominal > 0).all()


def test_every_robot_is_known_by_name():
    assert ROBOTS["h4"] is H4
    assert set(ROBOTS) == {"h4", "par4", "delta", "five-bar", "palida", "6-ups", "6-ucu", "3-rrr"}


def test_variants_are_nested(robot, rng):
    """Each says what it adds, and the columns of the one before lie in the span of its own."""
    x = around_home(robot, rng, 200)
    motion = robot.joint_motion(x, rng.normal(size=x.shape), rng.normal(size=x.shape) * 10)
    before = None
    for variant in robot.variants:
        assert type(variant) is type(robot)
        assert variant.geometry == robot.geometry
        W = variant.regressor(*motion).reshape(-1, len(variant.names))
        if before is None:
            assert variant.adds == ""
        else:
            assert variant.adds
            rest = before - W @ np.linalg.lstsq(W, before, rcond=None)[0]
            assert np.abs(rest).max() < 1e-10 * np.abs(before).max()
            assert np.linalg.matrix_rank(W / np.linalg.norm(W, axis=0)) > np.linalg.matrix_rank(before)
        before = W
    assert robot in robot.variants


def test_inverse_matches_the_law_of_cosines(robot, rng):
    x = around_home(robot, rng, 300)
    mech = mechanism(robot)
    independent = ca.Function("q", [mech.x], [mech.angles]).map(len(x))
    np.testing.assert_allclose(robot.inverse(x), np.array(independent(x.T)).T, rtol=0, atol=1e-13)


def test_rods_keep_their_length_and_elbows_lie_outside(robot, rng):
    x = around_home(robot, rng, 300)
    drawn = robot.skeleton(x)
    kinds = np.array(robot.segments)
    length = np.linalg.norm(drawn[:, :, 1] - drawn[:, :, 0], axis=-1)
    np.testing.assert_allclose(length[:, kinds == "rod"], robot.geometry.rod, rtol=1e-13)
    arms = np.flatnonzero(kinds == "arm")[: len(robot.actuators)]
    np.testing.assert_allclose(length[:, arms], robot.geometry.arm, rtol=1e-13)
    radial = np.column_stack([np.cos(robot.geometry.alpha), np.sin(robot.geometry.alpha)])
    rods = drawn[:, kinds == "rod"]
    outward = np.einsum("nij,ij->ni", (rods[:, : len(arms), 0] - rods[:, : len(arms), 1])[..., :2], radial)
    assert (outward > 0).all()


def test_skeleton_hangs_together(robot, rng):
    """Arms start where the base is, elbow bars hold rods, platform bars end them."""
    drawn = robot.skeleton(around_home(robot, rng, 3))
    kinds = np.array(robot.segments)
    assert drawn.shape == (3, len(kinds), 2, 3)
    assert set(kinds) == {"base", "arm", "rod", "platform"}
    n = len(robot.actuators)
    base, arms, rods, platform = (drawn[:, kinds == kind] for kind in ("base", "arm", "rod", "platform"))
    np.testing.assert_allclose(base[:, :, 0], arms[:, :n, 0], atol=1e-15)
    np.testing.assert_allclose(arms[:, :n, 1], arms[:, n:].mean(axis=2), atol=1e-15)
    np.testing.assert_allclose(np.concatenate([arms[:, n:, 0], arms[:, n:, 1]], axis=1), rods[:, :, 0], atol=1e-15)
    corners = platform.reshape(len(drawn), 1, -1, 3)
    assert np.linalg.norm(rods[:, :, None, 1] - corners, axis=-1).min(axis=2).max() < 1e-15
    assert robot.skeleton(robot.home).shape == drawn.shape[1:]
    mech = mechanism(robot)
    np.testing.assert_allclose(arms[0, :n, 0], np.array(mech.motors), atol=1e-15)


def test_forward_undoes_inverse(robot, rng):
    x = around_home(robot, rng, 2000)
    np.testing.assert_allclose(robot.forward(robot.inverse(x)), x, rtol=0, atol=2e-14)


@given(st.lists(st.floats(-1, 1), min_size=4, max_size=4), st.sampled_from(list(DELTAS)))
@settings(max_examples=200, deadline=None)
def test_forward_undoes_inverse_at_any_pose(direction, name):
    robot = DELTAS[name]
    n = len(robot.home)
    scale = np.where(np.array(robot.pose_units) == "m", robot.geometry.rod, 1.0)
    x = robot.home + REACH[n] * scale * np.array(direction[:n])
    q = robot.inverse(x)
    np.testing.assert_allclose(robot.forward(q), x, rtol=0, atol=2e-14)
    np.testing.assert_allclose(robot.inverse(robot.forward(q)), q, rtol=0, atol=1e-13)


def test_forward_ignores_whole_turns_and_takes_guesses(robot, rng):
    x = around_home(robot, rng, 50)
    q = robot.inverse(x)
    turns = 2 * np.pi * rng.integers(-3, 4, q.shape)
    np.testing.assert_allclose(robot.forward(q + turns), x, rtol=0, atol=1e-13)
    np.testing.assert_allclose(robot.forward(q, guess=x + 0.01), x, rtol=0, atol=2e-14)
    np.testing.assert_allclose(robot.forward(q, guess=x[0]), x, rtol=0, atol=2e-14)
    np.testing.assert_array_equal(robot.forward(q[0]), robot.forward(q)[0])


def test_jacobian_matches_finite_differences(robot, rng):
    x = around_home(robot, rng, 300)
    q = robot.inverse(x)
    J = robot.jacobian(x)
    h = 3e-4
    n = q.shape[1]
    columns = [derivatives(lambda t, i=i: robot.forward(q + t * np.eye(n)[i]), 0.0, h)[0] for i in range(n)]
    np.testing.assert_allclose(J, np.stack(columns, axis=-1), rtol=0, atol=1e-8)


def test_velocities_and_accelerations_match_finite_differences(robot, rng):
    seed = rng.integers(1 << 30)

    def moved(t):
        return path(robot, np.random.default_rng(seed), t)

    t = np.linspace(0, 1, 101)
    motion = robot.joint_motion(*moved(t))
    first, second = derivatives(lambda t: robot.inverse(moved(t)[0]), t, 1e-3)
    assert np.abs(motion.ddq).max() > 1
    np.testing.assert_allclose(motion.dq, first, rtol=0, atol=1e-8 * np.abs(first).max())
    np.testing.assert_allclose(motion.ddq, second, rtol=0, atol=1e-7 * np.abs(second).max())


def test_pose_motion_undoes_joint_motion(robot, rng):
    x, dx, ddx = path(robot, rng, np.linspace(0, 1, 500))
    back = robot.pose_motion(*robot.joint_motion(x, dx, ddx))
    np.testing.assert_allclose(back.x, x, rtol=0, atol=2e-14)
    np.testing.assert_allclose(back.dx, dx, rtol=0, atol=1e-13 * np.abs(dx).max())
    np.testing.assert_allclose(back.ddx, ddx, rtol=0, atol=1e-12 * np.abs(ddx).max())


def test_torques_obey_lagrange(robot, rng):
    """The lumped parameters of a robot with uniform rods give its torques exactly."""
    x = around_home(robot, rng, 200)
    dx, ddx = rng.normal(size=x.shape) * 2, rng.normal(size=x.shape) * 30
    torque = efforts(robot, lumped(robot), *robot.joint_motion(x, dx, ddx))
    wanted = np.array(lagrange(robot).map(len(x))(x.T, dx.T, ddx.T)).T
    np.testing.assert_allclose(torque, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_torques_without_the_rods_column_do_not(robot, rng):
    """The column is no luxury: halved masses alone are off by more than a hundredth of the peak."""
    x, dx, ddx = path(robot, rng, np.linspace(0, 1, 200))
    wanted = np.array(lagrange(robot).map(len(x))(x.T, dx.T, ddx.T)).T
    halves = lumped(robot) * (np.array(robot.names) != "m_rod")
    error = efforts(robot, halves, *robot.joint_motion(x, dx, ddx)) - wanted
    assert np.abs(error).max() > 0.01 * np.abs(wanted).max()


def test_power_is_the_rate_of_energy(robot, rng):
    """The energy of a periodic motion is differentiated by its Fourier series."""
    times = np.arange(512) / 512
    x, dx, ddx = path(robot, rng, times)
    symbols = energies(robot)
    energy = np.array(ca.Function("E", list(symbols[:2]), [symbols[3] + symbols[4]]).map(512)(x.T, dx.T)).ravel()
    power = np.fft.irfft(2j * np.pi * np.arange(257) * np.fft.rfft(energy))
    motion = robot.joint_motion(x, dx, ddx)
    torque = efforts(robot, lumped(robot), *motion)
    np.testing.assert_allclose((torque * motion.dq).sum(axis=1), power, rtol=0, atol=1e-9 * np.abs(power).max())


def test_only_friction_takes_power_over_a_cycle(robot, rng):
    """On a closed path all columns do no net work, except friction, which always takes some."""
    motion = robot.joint_motion(*path(robot, rng, np.arange(512) / 512))
    power = np.einsum("nij,ni->nj", robot.regressor(*motion), motion.dq)
    work, size = power.mean(axis=0), np.abs(power).max(axis=0)
    is_friction = np.array([name.lower().startswith(("f_v", "f_c")) for name in robot.names])
    np.testing.assert_allclose(work[~is_friction] / size[~is_friction], 0.0, atol=1e-12)
    assert (power[:, is_friction] >= 0).all()
    assert (work[is_friction] > 0).all()


def test_friction_columns_are_velocity_and_sign(robot, rng):
    x = around_home(robot, rng, 20)
    q = robot.inverse(x)
    dq = rng.normal(size=q.shape)
    dq[::3] = 0.0
    dq[1::4, 0] = 0.0
    W = dict(zip(robot.names, np.moveaxis(robot.regressor(q, dq, 0 * q), 2, 0), strict=True))
    symbol = "F" if "F_v1" in W else "f"
    for i in range(q.shape[1]):
        mask = np.eye(q.shape[1])[i]
        np.testing.assert_array_equal(W[f"{symbol}_v{i + 1}"], dq * mask)
        np.testing.assert_array_equal(W[f"{symbol}_c{i + 1}"], np.sign(dq) * mask)


def test_gravity_alone_holds_the_robot(robot, rng):
    """At rest, torques are the slope of the potential energy; without gravity there are none."""
    x = around_home(robot, rng, 50)
    q = robot.inverse(x)
    still = np.zeros_like(q)
    weightless = replace(robot, gravity=0.0)
    parameters = lumped(robot)
    is_weight = np.array([name.startswith("gS") for name in robot.names])
    np.testing.assert_array_equal(efforts(weightless, parameters * ~is_weight, q, still, still), 0.0)
    assert (efforts(robot, parameters, q, still, still).mean(axis=0) < 0).all()  # the weight lowers the arms


def test_regressor_kernel_is_the_regressor(robot, rng):
    x, dx, ddx = path(robot, rng, np.linspace(0, 1, 200))
    kernel = robot.regressor_kernel()
    assert [port.name for port in kernel.inputs] == ["x", "dx", "ddx"]
    value = robot.regressor(*robot.joint_motion(x, dx, ddx))
    size = np.abs(value).max(axis=(0, 1))
    np.testing.assert_allclose(kernel(x, dx, ddx) / size, value / size, rtol=0, atol=1e-12)
    (replayed,) = kernel.replay(x, dx, ddx).values()
    np.testing.assert_allclose(replayed / size, value / size, rtol=0, atol=1e-12)


def test_kernels_of_the_pose_are_what_the_robot_says(robot, rng):
    x = robot.home + rng.uniform(-0.03, 0.03, (20, len(robot.home)))
    dx, ddx = rng.normal(size=(2, *x.shape))
    np.testing.assert_allclose(robot.inverse_kernel()(x), robot.inverse(x), rtol=0, atol=1e-12)
    np.testing.assert_allclose(robot.margin_kernel()(x).min(axis=1), robot.margin(x), rtol=0, atol=1e-12)
    np.testing.assert_allclose(robot.reach_kernel()(x), robot.reach(x), rtol=0, atol=1e-12)
    found = robot.joint_motion_kernel().evaluate(x, dx, ddx)
    for name, value in robot.joint_motion(x, dx, ddx)._asdict().items():
        np.testing.assert_allclose(found[name], value, rtol=0, atol=1e-9)


def test_regressor_kernel_can_be_enclosed(robot, rng):
    """Cofactors instead of a solver: intervals go through the whole regressor."""
    x, dx, ddx = path(robot, rng, np.linspace(0, 1, 20))
    kernel = robot.regressor_kernel()
    (points,) = kernel.enclose(x, dx, ddx).values()
    assert iv.is_subset(Interval(kernel.replay(x, dx, ddx)[kernel.outputs[0].name]), points).all()
    assert points.wid.max() < 1e-9
    (boxes,) = kernel.enclose(*(Interval(v - 1e-7, v + 1e-7) for v in (x, dx, ddx))).values()
    assert iv.is_subset(points, boxes).all()


def test_margin_and_reach_are_good_at_home_and_end_somewhere(robot):
    assert robot.margin(robot.home) > 0.2
    assert (robot.reach(robot.home) > 0.8).all()
    down = robot.home + np.outer(np.linspace(0, 1, 200) * robot.geometry.rod, np.eye(len(robot.home))[2] * -1)
    reach = robot.reach(down)
    edge = np.flatnonzero(reach.min(axis=1) < 0)[0]
    assert (reach[:edge] >= 0).all()
    assert (robot.margin(down[edge:]) < 0).all()
    np.testing.assert_array_equal(robot.margin(down[0]), robot.margin(down)[0])


def test_margin_bounds_the_smallest_singular_value(robot, rng):
    """Between σ and σ/2, of J_x without units: here from q̇ = J_q⁻¹ J_x ẋ and J_q by finite differences of lengths."""
    x = around_home(robot, rng, 100)
    drawn = robot.skeleton(x)
    rods = drawn[:, np.array(robot.segments) == "rod"][:, : len(robot.actuators)]
    direction = (rods[:, :, 0] - rods[:, :, 1]) / robot.geometry.rod
    h = 1e-6
    turn = [direction]
    if len(robot.home) == 4:
        ends = [robot.skeleton(x + s * h * np.eye(4)[3])[:, np.array(robot.segments) == "rod"] for s in (1, -1)]
        slope = (ends[0] - ends[1])[:, : len(robot.actuators), 1] / (2 * h * robot.geometry.h)
        turn.append(np.einsum("nij,nij->ni", direction, slope)[..., None])
    smallest = np.linalg.svd(np.concatenate(turn, axis=-1), compute_uv=False)[:, -1]
    margin = robot.margin(x)
    assert (margin <= smallest * (1 + 1e-9)).all()
    assert (margin >= 0.2 * smallest).all()


def test_missing_samples_stay_missing(robot, rng):
    x = around_home(robot, rng, 5)
    x[2, 1] = np.nan
    q = robot.inverse(x)
    value = robot.regressor(q, np.ones_like(q), np.ones_like(q))
    for result in (q, robot.forward(q), value, robot.jacobian(x), robot.margin(x), *robot.joint_motion(x, x, x)):
        assert np.isnan(result[2]).all()
        assert np.isfinite(result[[0, 1, 3, 4]]).all()


@pytest.mark.parametrize("n", [0, 1, 70_000])
def test_any_number_of_samples(robot, rng, n):
    x = around_home(robot, rng, n)
    motion = robot.joint_motion(x, 0 * x, 0 * x)
    assert robot.regressor(*motion).shape == (n, len(robot.actuators), len(robot.names))
    back = robot.pose_motion(*motion)
    assert back.x.shape == x.shape
    assert np.abs(back.x - x).max(initial=0.0) < 2e-14
    assert robot.margin(x).shape == (n,)
    assert robot.skeleton(x[:10]).shape[0] == min(n, 10)
