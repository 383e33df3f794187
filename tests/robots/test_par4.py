"""The Par4: corrections of the paper."""

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import H4, H4Geometry, Par4, Par4Geometry
from tests.robots.robots import around_home


def paper_columns(robot, x, dx, ddx):
    """[NCPP, eq. (22)] as it is printed with the corrections, written out: i_act, m_1, m_2, gS, f_c, f_v."""
    of, th = robot.geometry, x[:, 3]
    q, dq, ddq = robot.joint_motion(x, dx, ddx)
    drawn = robot.skeleton(x)[:, np.array(robot.segments) == "rod"][:, :4]
    AB = drawn[:, :, 1] - drawn[:, :, 0]  # in its letters: from the elbow to the platform
    c, s = np.cos(th)[:, None], np.sin(th)[:, None]
    turn = of.h * (c * AB[..., 0] + s * AB[..., 1])
    J_x1 = np.concatenate([AB, (-turn * [1, 1, 0, 0])[..., None]], axis=-1)  # eq. (3)
    J_x2 = np.concatenate([AB, (turn * [0, 0, 1, 1])[..., None]], axis=-1)  # eq. (11)
    alpha = np.array(of.alpha)
    u = np.column_stack([-np.sin(alpha), np.cos(alpha), 0 * alpha])
    radial = np.column_stack([np.cos(alpha), np.sin(alpha), 0 * alpha])
    PA = of.arm * (np.cos(q)[..., None] * radial - np.sin(q)[..., None] * [0, 0, 1])
    J_q = np.einsum("nij,ij->ni", np.cross(PA, AB), u)  # eq. (4), corrected
    J_1, J_2 = (np.linalg.solve(J, J_q[:, None, :] * np.eye(4)) for J in (J_x1, J_x2))
    T_2 = np.array(
        [[[1, 0, 0, -of.h * np.cos(t)], [0, 1, 0, -of.h * np.sin(t)], [0, 0, 1, 0], [0, 0, 0, 0]] for t in th]
    )
    dT_2 = np.zeros_like(T_2)
    dT_2[:, 0, 3], dT_2[:, 1, 3] = of.h * dx[:, 3] * np.sin(th), -of.h * dx[:, 3] * np.cos(th)
    g = np.array([0, 0, robot.gravity, 0])
    ddx_1 = ddx * [1, 1, 1, 0] + g
    ddx_2 = (T_2 @ ddx[..., None] + dT_2 @ dx[..., None])[..., 0] + g  # eq. (15)
    masses = [np.einsum("nji,nj->ni", J, a) for J, a in ((J_1, ddx_1), (J_2, ddx_2))]
    return np.stack([ddq, *masses, -np.cos(q), np.sign(dq), dq], axis=-1)


def test_the_paper_model_is_that_of_the_paper(rng):
    robot = Par4(variant="paper")
    x = around_home(robot, rng, 200)
    dx, ddx = rng.normal(size=x.shape), 10 * rng.normal(size=x.shape)
    W = robot.regressor(*robot.joint_motion(x, dx, ddx))
    np.testing.assert_allclose(W, paper_columns(robot, x, dx, ddx), rtol=0, atol=1e-11 * np.abs(W).max())


def test_parameters_are_named_as_in_the_paper():
    names = {variant.variant: variant.names for variant in Par4().variants}
    assert names["paper"] == ("i_act", "m_1", "m_2", "gS_arm", "f_c", "f_v")
    assert len(names["per chain"]) == 18
    assert names["rods"] == (*names["per chain"], "m_rod")
    np.testing.assert_array_equal(Par4(variant="paper").nominal[:5], [0.113, 0.8043, 0.8594, 1.33, 2.43])


def test_chains_alike_are_sums_of_the_chains(rng):
    """The columns of "paper" are the sums over the motors of those of "per chain"."""
    common, single = Par4(variant="paper"), Par4(variant="per chain")
    x = around_home(common, rng, 20)
    motion = common.joint_motion(x, rng.normal(size=x.shape), rng.normal(size=x.shape))
    W = dict(zip(single.names, np.moveaxis(single.regressor(*motion), 2, 0), strict=True))
    for name, column in zip(common.names, np.moveaxis(common.regressor(*motion), 2, 0), strict=True):
        same = sum(W[other] for other in single.names if other.rstrip("1234") == name or other == name)
        np.testing.assert_array_equal(column, same)


def test_motors_at_right_angles_are_regular_for_par4_only():
    """[NCPP, §II.B]: this is why Par4 exists."""
    alpha = Par4Geometry().alpha
    assert Par4().margin(Par4().home) > 0.3
    with pytest.raises(InputError, match="singular at home"):
        H4(H4Geometry(alpha=alpha))


def test_the_flat_parallelogram_is_singular():
    """At θ = ±90° the halves need no longer be parallel, whatever J_x says."""
    robot = Par4()
    poses = np.tile(robot.home, (4, 1))
    poses[:, 3] = [0.0, np.pi / 2 - 0.01, np.pi / 2 - 1e-5, np.pi / 2 + 0.01]
    margin = robot.margin(poses)
    assert 1e-3 < margin[1] < 0.01
    assert 0 < margin[2] < 1e-5
    assert margin[3] < 0
    robot.inverse(poses[:2])
    with pytest.raises(InputError, match="sample 2: the pose is singular"):
        robot.inverse(poses[:3])
    with pytest.raises(InputError, match="sample 1: the pose lies beyond a singularity"):
        robot.inverse(poses[[0, 3]])


def test_near_a_singularity_results_lose_only_the_digits_they_must(rng):
    """Margins of a few thousandths: the condition of J_x takes three digits of sixteen, of its square six."""
    robot = Par4()
    x = np.tile(robot.home, (50, 1))
    x[:, 3] = np.pi / 2 - rng.uniform(0.003, 0.01, 50)
    assert (robot.margin(x) < 0.01).all()
    dx, ddx = rng.normal(size=(2, *x.shape))
    motion = robot.joint_motion(x, dx, ddx)
    back = robot.pose_motion(*motion, guess=x + 1e-4)
    np.testing.assert_allclose(back.x, x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.dx, dx, rtol=0, atol=1e-9)
    np.testing.assert_allclose(back.ddx, ddx, rtol=0, atol=1e-6)


def test_d_cancels_from_every_equation(rng):
    one, other = Par4(), Par4(Par4Geometry(d=0.2))
    x = around_home(one, rng, 50)
    np.testing.assert_array_equal(other.inverse(x), one.inverse(x))


def test_forward_does_not_cross_the_singularity():
    """From these angles plain Newton steps from home end beyond θ = 90°."""
    robot = Par4()
    x = np.array([[0.241, -0.273, -0.955, -0.742], [-0.227, -0.299, -0.957, 0.637]])
    np.testing.assert_allclose(robot.forward(robot.inverse(x)), x, atol=1e-14)
