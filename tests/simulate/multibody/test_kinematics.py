"""Every joint follows the platform: loops stay closed, derivatives are exact, freedoms are as many as motors."""

import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import H4, H4Geometry
from gough.simulate.multibody import H4Mechanism
from tests.simulate.multibody.motions import mechanisms, named, slope, swing

every_mechanism = pytest.mark.parametrize("mechanism", mechanisms(), ids=named)


@every_mechanism
def test_loops_stay_closed(mechanism):
    x, _, _ = swing(mechanism)
    assert mechanism.closure_error(x).max() < 2e-15  # rounding of lengths below 1 m
    assert mechanism.closure_error(x[0]).shape == ()


@every_mechanism
def test_the_motors_move_as_the_robot_says(mechanism):
    """Two derivations of the inverse kinematics: angles of a triangle here, vectors of the closure equations there."""
    x, dx, ddx = swing(mechanism)
    moving = mechanism.motion(x, dx, ddx)
    motors = [mechanism.tree.coordinates.index(name) for name in mechanism.tree.actuated]
    expected = mechanism.robot.joint_motion(x, dx, ddx)
    for found, wanted in zip((moving.q, moving.dq, moving.ddq), expected, strict=True):
        assert found[:, motors] == pytest.approx(wanted, abs=1e-12 * np.abs(wanted).max())


@every_mechanism
def test_velocities_and_accelerations_are_the_derivatives(mechanism):
    x, dx, ddx = swing(mechanism)
    moving = mechanism.motion(x, dx, ddx)
    for k in range(moving.q.shape[1]):
        assert slope(moving.q[:, k], 2.0) == pytest.approx(moving.dq[:, k], abs=1e-10)
        assert slope(moving.dq[:, k], 2.0) == pytest.approx(moving.ddq[:, k], abs=1e-8)
    assert np.einsum("nki,ni->nk", moving.jacobian, dx) == pytest.approx(moving.dq, abs=1e-12)


@every_mechanism
def test_what_moves_freely_is_what_the_platform_does(mechanism):
    x, dx, ddx = (part[::50] for part in swing(mechanism))
    moving = mechanism.motion(x, dx, ddx)
    closing = mechanism.tree.closure_jacobian(moving.q)
    assert closing @ moving.jacobian == pytest.approx(np.zeros((*closing.shape[:2], x.shape[1])), abs=1e-14)
    freedoms = closing.shape[2] - np.linalg.matrix_rank(closing, tol=1e-9)
    assert (freedoms == len(mechanism.robot.actuators)).all()


@pytest.mark.parametrize(
    ("mechanism", "joints", "equations", "dependent"),
    [(mechanisms()[0], 28, 24, 0), (mechanisms()[1], 29, 27, 2), (mechanisms()[2], 21, 18, 0)],
    ids=["H4", "Par4", "Delta"],
)
def test_joints_and_closures_are_counted(mechanism, joints, equations, dependent):
    closing = mechanism.tree.closure_jacobian(mechanism.motion(*(part[:1] for part in swing(mechanism))).q)[0]
    assert closing.shape == (equations, joints)
    assert equations - np.linalg.matrix_rank(closing, tol=1e-9) == dependent


def test_motors_at_right_angles_leave_the_platform_of_the_h4_loose_at_home():
    """The 4 x 4 matrix J_x is regular there; only the closures of the full mechanism show the fifth freedom."""
    crossed = H4Geometry(alpha=(0.0, np.pi, 1.5 * np.pi, 0.5 * np.pi))
    with pytest.raises(InputError, match="singular at home"):
        H4(crossed)
    robot = SimpleNamespace(
        geometry=crossed,
        gravity=9.81,
        name="crossed",
        actuators=(1, 2, 3, 4),
        pose_names="xyzθ",
        inverse=lambda _: None,
    )
    home, still = H4().home, np.zeros(4)
    for alone, freedoms in ((H4Mechanism(), 4), (replace(H4Mechanism(), robot=robot), 5)):
        moving = alone.motion(home, still, still)
        motors = [alone.tree.coordinates.index(name) for name in alone.tree.actuated]
        assert np.linalg.cond(moving.jacobian[0, motors]) < 100
        assert 28 - np.linalg.matrix_rank(alone.tree.closure_jacobian(moving.q)[0], tol=1e-9) == freedoms


def test_engines_load_only_when_they_are_used():
    code = "import sys; from gough.simulate.multibody import H4Mechanism; H4Mechanism().mjcf(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pinocchio", "mujoco"} & set(loaded)


def test_poses_are_checked():
    mechanism = H4Mechanism()
    home = mechanism.robot.home
    with pytest.raises(InputError, match=r"sample 1: .*out of reach"):
        mechanism.closure_error([home, [0.0, 0.0, -2.0, 0.0]])
    with pytest.raises(InputError, match=r"dx must be \(N, 4\) like x"):
        mechanism.motion(home, [0.0, 0.0, 0.0], home)
    with pytest.raises(InputError, match="ddx must be finite"):
        mechanism.motion(home, home, np.full(4, np.nan))
