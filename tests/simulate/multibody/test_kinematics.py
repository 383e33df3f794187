"""Every joint follows the platform: loops stay closed, derivatives are exact, freedoms are as many as motors."""

import subprocess
import sys

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.robots import H4, H4Geometry
from gough.robots.delta_family.equations import kernel
from gough.robots.mechanism.assembly import closures_at
from gough.simulate.multibody import Multibody
from tests.simulate.multibody.motions import mechanisms, named, slope, swing

every_mechanism = pytest.mark.parametrize("mechanism", mechanisms(), ids=named)


def closing_jacobian(mechanism, s):
    return closures_at(mechanism.mechanism, s)[1]


@every_mechanism
def test_loops_stay_closed(mechanism):
    x, _, _ = swing(mechanism)
    assert mechanism.closure_error(x).max() < 2e-15  # rounding of lengths below 1 m
    assert mechanism.closure_error(x[0]).shape == ()


@every_mechanism
def test_the_motors_move_as_the_robot_says(mechanism):
    x, dx, ddx = swing(mechanism)
    moving = mechanism.motion(x, dx, ddx)
    motors = [mechanism.mechanism.coordinates.index(name) for name in mechanism.mechanism.actuated]
    expected = mechanism.robot.joint_motion(x, dx, ddx)
    for found, wanted in zip((moving.s, moving.ds, moving.dds), expected, strict=True):
        assert found[:, motors] == pytest.approx(wanted, abs=1e-12 * np.abs(wanted).max())


@every_mechanism
def test_velocities_and_accelerations_are_the_derivatives(mechanism):
    x, dx, ddx = swing(mechanism)
    moving = mechanism.motion(x, dx, ddx)
    for k in range(moving.s.shape[1]):
        assert slope(moving.s[:, k], 2.0) == pytest.approx(moving.ds[:, k], abs=1e-10)
        assert slope(moving.ds[:, k], 2.0) == pytest.approx(moving.dds[:, k], abs=1e-8)
    assert np.einsum("nki,ni->nk", moving.by_pose, dx) == pytest.approx(moving.ds, abs=1e-12)


@every_mechanism
def test_what_moves_freely_is_what_the_platform_does(mechanism):
    x, dx, ddx = (part[::50] for part in swing(mechanism))
    moving = mechanism.motion(x, dx, ddx)
    closing = closing_jacobian(mechanism, moving.s)
    assert closing @ moving.by_pose == pytest.approx(np.zeros((*closing.shape[:2], x.shape[1])), abs=1e-14)
    freedoms = closing.shape[2] - np.linalg.matrix_rank(closing, tol=1e-9)
    assert (freedoms == len(mechanism.robot.actuators)).all()


@pytest.mark.parametrize(
    ("mechanism", "joints", "equations", "dependent"),
    [(mechanisms()[0], 28, 24, 0), (mechanisms()[1], 29, 27, 2), (mechanisms()[2], 21, 18, 0)],
    ids=["H4", "Par4", "Delta"],
)
def test_joints_and_closures_are_counted(mechanism, joints, equations, dependent):
    closing = closing_jacobian(mechanism, mechanism.motion(*(part[:1] for part in swing(mechanism))).s)[0]
    assert closing.shape == (equations, joints)
    assert equations - np.linalg.matrix_rank(closing, tol=1e-9) == dependent


def test_motors_at_right_angles_leave_the_platform_of_the_h4_loose_at_home():
    """The 4 x 4 matrix J_x is regular there; only the closures of the full mechanism show the fifth freedom."""
    crossed = H4Geometry(alpha=(0.0, np.pi, 1.5 * np.pi, 0.5 * np.pi))
    with pytest.raises(InputError, match="singular at home"):
        H4(crossed)
    robot = H4()
    object.__setattr__(robot, "geometry", crossed)  # past the check, to look at it
    home, still = H4().home, np.zeros((1, 4))
    for alone, freedoms in ((H4(), 4), (robot, 5)):
        moving = kernel(H4.FAMILY, "coordinate_motion").evaluate(home[None], still, still, alone.geometry.numbers)
        coordinates = alone.mechanism.coordinates
        motors = [coordinates.index(name) for name in alone.mechanism.actuated]
        assert np.linalg.cond(moving["by_pose"][0, motors]) < 100
        closing = closing_jacobian(Multibody(alone), moving["s"])[0]
        assert len(coordinates) - np.linalg.matrix_rank(closing, tol=1e-9) == freedoms


def test_engines_load_only_when_they_are_used():
    imports = "import sys; from gough.robots import H4; from gough.simulate.multibody import Multibody"
    code = f"{imports}; Multibody(H4()).mjcf(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"pinocchio", "mujoco"} & set(loaded)


def test_poses_are_checked():
    mechanism = Multibody(H4())
    home = mechanism.robot.home
    with pytest.raises(InputError, match=r"sample 1: .*out of reach"):
        mechanism.closure_error([home, [0.0, 0.0, -2.0, 0.0]])
    with pytest.raises(InputError, match=r"dx must be \(N, 4\) like x"):
        mechanism.motion(home, [0.0, 0.0, 0.0], home)
    with pytest.raises(InputError, match="ddx must be finite"):
        mechanism.motion(home, home, np.full(4, np.nan))
