"""The H4: corrections of the papers, symmetries, and the singularities that J_x does not show."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from gough.core.errors import InputError
from gough.robots import H4, H4Geometry
from tests.robots.robots import around_home

SIDES, ENDS = np.array([1, -1, -1, 1]), np.array([1, 1, -1, -1])
SYMMETRIC = (np.pi / 4, 3 * np.pi / 4, 5 * np.pi / 4, 7 * np.pi / 4)


def rods(robot, x):
    """The vectors AB (N, 4, 3), from the drawing."""
    drawn = robot.skeleton(x)[..., np.array(robot.segments) == "rod", :, :]
    return (drawn[..., 0, :] - drawn[..., 1, :])[..., :4, :]


def test_parameters_are_named_as_in_the_paper():
    """[PRV03i, eq. (18)], with table 2 as nominal values."""
    names = {variant.variant: variant.names for variant in H4().variants}
    assert names["paper"] == (
        *("I_mot1", "I_mot2", "I_mot3", "I_mot4", "M_nac", "I_bc"),
        *("F_v1", "F_v2", "F_v3", "F_v4", "F_c1", "F_c2", "F_c3", "F_c4"),
    )
    assert names["arm gravity"] == (*names["paper"], "S_arm")
    assert names["rods"] == (*names["arm gravity"], "m_rod")
    np.testing.assert_array_equal(H4(variant="paper").nominal[:6], [0.0141, 0.0120, 0.0153, 0.0213, 1.0492, 0.0030])


def test_motor_axes_are_those_of_the_paper():
    """u_1 = u_y, u_2 = -u_y, u_3 = u_4 = u_x; positive q lowers the elbow."""
    robot = H4()
    kinds = np.array(robot.segments)
    bars = robot.skeleton(robot.home)[kinds == "arm"][4:]
    along = (bars[:, 1] - bars[:, 0]) / np.linalg.norm(bars[:, 1] - bars[:, 0], axis=1, keepdims=True)
    np.testing.assert_allclose(along, [[0, 1, 0], [0, -1, 0], [1, 0, 0], [1, 0, 0]], atol=1e-15)
    down = np.array([0, 0, -0.05, 0])
    raised, lowered = (robot.skeleton(pose)[kinds == "arm"][:4, 1, 2] for pose in (robot.home, robot.home + down))
    assert (lowered < raised).all()
    assert (robot.inverse(robot.home + down) > robot.inverse(robot.home)).all()


def test_the_printed_jacobian_is_singular_at_home_and_the_corrected_is_not():
    """[PRV03i, eq. (12)] gives legs 1 and 2 the same DC; [PRV03e, eq. (12)] has one for each leg."""
    robot = H4()
    AB = rods(robot, robot.home)
    C = np.array([robot.geometry.h, 0.0, 0.0])
    printed, corrected = (
        np.column_stack([AB, [np.cross(DC, ab)[2] for DC, ab in zip(ends, AB, strict=True)]]) / [1, 1, 1, 0.06]
        for ends in ((C, C, -C, -C), (C, -C, -C, C))
    )
    assert np.linalg.cond(printed) > 1e15
    assert np.linalg.cond(corrected) < 10
    assert robot.margin(robot.home) > 0.3


def test_d_cancels_from_every_equation(rng):
    """Bit by bit: no recording can tell it."""
    one, other = H4(), H4(H4Geometry(d=0.21))
    x = around_home(one, rng, 100)
    dx, ddx = rng.normal(size=(2, *x.shape))
    q = one.inverse(x)
    np.testing.assert_array_equal(other.inverse(x), q)
    np.testing.assert_array_equal(other.forward(q), one.forward(q))
    np.testing.assert_array_equal(other.regressor_kernel()(x, dx, ddx), one.regressor_kernel()(x, dx, ddx))
    assert not np.array_equal(other.skeleton(x), one.skeleton(x))


def test_mirrored_motions_have_mirrored_torques(rng):
    """x -> -x, θ -> -θ exchanges legs 1 and 2, and legs 3 and 4."""
    robot = H4()
    mirror, legs = np.array([-1, 1, 1, -1]), [1, 0, 3, 2]
    x = around_home(robot, rng, 100)
    dx, ddx = rng.normal(size=(2, *x.shape))
    motion, mirrored = robot.joint_motion(x, dx, ddx), robot.joint_motion(x * mirror, dx * mirror, ddx * mirror)
    for given, seen in zip(motion, mirrored, strict=True):
        np.testing.assert_allclose(seen, given[:, legs], rtol=0, atol=1e-11)
    names = list(robot.names)
    numbers = {"1": "2", "2": "1", "3": "4", "4": "3"}
    columns = [names.index(name[:-1] + numbers.get(name[-1], name[-1])) for name in names]
    W, W_mirrored = robot.regressor(*motion), robot.regressor(*mirrored)
    np.testing.assert_allclose(W_mirrored, W[:, legs][:, :, columns], rtol=0, atol=1e-10 * np.abs(W).max())


def test_a_robot_turned_by_half_a_turn(rng):
    """Its legs 1 … 4 are legs 3, 4, 1, 2 of the first, and x, y change their signs."""
    robot = H4(H4Geometry(alpha=(0.2, 2.9, 4.6, 4.9)))
    turned = replace(robot, geometry=replace(robot.geometry, alpha=tuple(np.array([4.6, 4.9, 0.2, 2.9]) + np.pi)))
    x = around_home(robot, rng, 100)
    np.testing.assert_allclose(turned.inverse(x * [-1, -1, 1, 1]), robot.inverse(x)[:, [2, 3, 0, 1]], atol=1e-13)
    np.testing.assert_allclose(turned.margin(x * [-1, -1, 1, 1]), robot.margin(x), atol=1e-13)


def _lengths(robot, x, move):
    """Squared lengths of the eight rods when the parts of the platform leave the pose by `move`, the arms at rest.

    `move`: displacement of the crossbar (3), rotation of the crossbar (3), turns of the two lateral bars on it.
    """
    of, w = robot.geometry, 0.04
    arms = robot.skeleton(x)[np.array(robot.segments) == "arm"][:4, 1]
    axes = np.column_stack([-np.sin(of.alpha), np.cos(of.alpha), np.zeros(4)])
    crossbar = Rotation.from_rotvec(move[3:6]) * Rotation.from_rotvec([0, 0, x[3]])
    found = []
    for i in range(4):
        lateral = crossbar * Rotation.from_rotvec([0, 0, -x[3] + move[6 if SIDES[i] > 0 else 7]])
        hinge = x[:3] + move[:3] + crossbar.apply([SIDES[i] * of.h, 0, 0])
        for side in (w, -w):
            end = hinge + lateral.apply(np.array([0, ENDS[i] * of.d, 0]) + side * axes[i])
            found.append(np.sum((arms[i] + side * axes[i] - end) ** 2))
    return np.array(found)


def closure(robot, x):
    """The 8 × 8 Jacobian of the rods' lengths by all freedoms of the platform's three bodies, motors at rest."""
    h = 1e-4
    return np.column_stack([(_lengths(robot, x, h * e) - _lengths(robot, x, -h * e)) / (2 * h) for e in np.eye(8)])


def test_the_full_closure_is_singular_where_position_or_attitude_is(rng):
    """Its determinant is that of J_x times that of the attitude's equations, up to a constant factor.

    So `margin`, which looks at these two, sees every singularity of the complete mechanism.
    """
    robot = H4()
    x = around_home(robot, rng, 30)
    u = np.column_stack([-np.sin(robot.geometry.alpha), np.cos(robot.geometry.alpha), np.zeros(4)])
    ratio = []
    for pose in x:
        AB = rods(robot, pose)
        DC = SIDES[:, None] * robot.geometry.h * np.array([np.cos(pose[3]), np.sin(pose[3]), 0.0])
        J_x = np.column_stack([AB, np.cross(DC, AB)[:, 2]])
        m = np.cross(u, AB)
        attitude = np.column_stack([m[:, :2], m[:, 2] * (SIDES > 0), m[:, 2] * (SIDES < 0)])
        ratio.append(np.linalg.det(closure(robot, pose)) / (np.linalg.det(J_x) * np.linalg.det(attitude)))
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)


def test_motors_at_right_angles_leave_the_attitude_free():
    """[NCPP, §II.B]: a symmetric H4 is singular, though its J_x is regular."""
    with pytest.raises(InputError, match=r"H4 is singular at home with these headings alpha .*\(margins -0.56, "):
        H4(H4Geometry(alpha=SYMMETRIC))
    robot = H4()
    object.__setattr__(robot, "geometry", H4Geometry(alpha=SYMMETRIC))  # past the door, to look at it
    values = np.linalg.svd(closure(robot, robot.home), compute_uv=False)
    assert values[-1] < 1e-7 * values[0]
    assert values[-2] > 1e-3 * values[0]
    regular = np.linalg.svd(closure(H4(), robot.home), compute_uv=False)
    assert regular[-1] > 1e-3 * regular[0]


def test_long_rods_and_short_arms_are_not_confused():
    """Exchanged lengths still give a finite inverse kinematics somewhere; the geometry refuses them."""
    with pytest.raises(InputError, match="check that arm is the link on the motor and rod the link on the platform"):
        H4(H4Geometry(arm=0.48, rod=0.26))


def test_home_scales_with_the_robot():
    assert H4().home[2] == -0.43
    assert H4(H4Geometry(arm=2.6, rod=4.8, d=0.6, h=0.6, base=1.4)).home[2] == -4.3
