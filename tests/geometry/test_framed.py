"""Frames and gains as unknowns: derivatives, and a calibration whose joints are held finds where it was measured."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry import RigidMotion, calibrate, machine_geometry
from gough.geometry.framed import framed
from gough.geometry.geometric import BASE, PLATFORM, gain_names
from gough.robots import GoughPlatform, H4Kinematics, LinearDelta, PlanarRRR

ROBOT = GoughPlatform.deltalab()
Z = RigidMotion(exp(np.array([0.1, -0.2, 2.0])), np.array([1.0, -0.5, 0.7]))
X = RigidMotion(exp(np.array([0.3, 0.1, -0.4])), np.array([0.02, -0.03, 0.05]))


def poses_of(rng, model=ROBOT, count=12, theta=None):
    p, R = rng.normal([0, 0, 0.35], 0.03, (count, 3)), exp(rng.normal(0, 0.15, (count, 3)))
    return Poses(p, R, model.inverse(model.nominal if theta is None else theta, p, R))


def seen(poses, rng, sigma=0.0):
    moved = Z @ RigidMotion(poses.rotation, poses.position) @ X.inverse()
    return replace(poses, position=moved.t + sigma * rng.normal(size=moved.t.shape), rotation=moved.R)


@pytest.mark.parametrize("noise", [{}, {"position": 1e-4, "orientation": 1e-4}, {"readings": 1e-5}])
def test_derivatives_are_those_of_finite_differences(rng, noise):
    poses = poses_of(rng, count=3).with_noise(**noise)
    problem = framed(ROBOT, poses, (*BASE, *PLATFORM), start=ROBOT.nominal)
    sizes = np.concatenate([np.zeros(42), np.full(6, 0.01), np.full(12, 0.1)])
    theta, m, h = problem.unknowns.nominal + sizes * rng.normal(size=60), problem.measured, 1e-6
    _, J, J_m = problem.equations.both(theta, m)

    def differences(f, n):
        return np.stack([(f(h * e) - f(-h * e)) / (2 * h) for e in np.eye(n)], axis=2)

    assert abs(differences(lambda e: problem.equations.residuals(theta + e, m), 60) - J).max() < 1e-8
    assert abs(differences(lambda e: problem.equations.residuals(theta, m + e), m.shape[1]) - J_m).max() < 1e-8


def test_all_parameters_held_the_frames_are_found(rng):
    poses = poses_of(rng)
    answer = calibrate(ROBOT, seen(poses, rng), frames="instrument", fixed=["*"])
    assert abs(answer.frames.base.t - Z.t).max() < 1e-9
    assert abs(answer.frames.target.R - X.R).max() < 1e-9
    assert (answer.parameters == ROBOT.nominal).all()  # what is fixed is printed as it is
    assert abs(answer.poses.position - poses.position).max() < 1e-9
    assert "fixed" in str(answer.table())
    assert answer.to_dict()["frames"]["base"]["position"] == pytest.approx(Z.t.tolist())


def test_uncertainty_of_frames_is_that_of_repeated_measurements(rng):
    poses, sigma = poses_of(rng), 1e-4
    found = [
        calibrate(ROBOT, seen(poses, rng, sigma).with_noise(sigma, 1e-7), frames="instrument", fixed=["*"])
        for _ in range(25)
    ]
    spread = np.std([answer.frames.base.t for answer in found], axis=0)
    stated = np.sqrt(found[0].frames.covariance.diagonal()[:3])  # in the base's frame: compare lengths
    assert np.linalg.norm(spread) == pytest.approx(np.linalg.norm(stated), rel=0.35)


@pytest.mark.parametrize(
    ("model", "low", "high", "turn"),
    [
        (LinearDelta(), [-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], 0.0),
        (H4Kinematics(), [-0.08, -0.08, -0.45], [0.08, 0.08, -0.35], 0.5),
        (PlanarRRR(), [-0.04, -0.04, 0.0], [0.04, 0.04, 0.0], 0.3),
    ],
)
def test_frames_of_other_robots(rng, model, low, high, turn):
    p = rng.uniform(low, high, (20, 3))
    R = exp(turn * rng.uniform(-1, 1, (20, 1)) * [0.0, 0.0, 1.0])
    flat = 2 not in model.freedoms
    base = RigidMotion(
        exp(np.array([0.0, 0.0, 0.4] if flat else [0.1, -0.2, 0.4])), np.array([0.3, 0.2, 0.0 if flat else 0.1])
    )
    moved = base @ RigidMotion(R, p)
    poses = Poses(moved.t, moved.R if model.has_orientation else None, model.inverse(model.nominal, p, R))
    answer = calibrate(model, poses, frames="instrument", fixed=["*"])
    assert answer.rms[1] < 1e-9
    assert abs(answer.poses.position - p)[:, : 2 if flat else 3].max() < 1e-8


def test_a_body_is_held_as_a_whole_or_not_at_all(rng):
    poses = seen(poses_of(rng, count=20), rng)
    with pytest.raises(InputError, match='hold them all \\("a\\*"\\)'):
        calibrate(ROBOT, poses, frames="instrument", fixed=["a1x", "a2*"])
    base_held = calibrate(ROBOT, poses, frames="instrument", fixed=["a*"])
    assert base_held.moved_bodies == ("platform",)
    assert "the platform's in the target's frame" in str(base_held)
    assert (base_held.parameters.reshape(6, 7)[:, :3] == ROBOT.base).all()
    machine = machine_geometry(base_held)
    assert abs(machine.model.nominal - ROBOT.nominal).max() < 1e-8
    assert abs(machine.frames.target.t - X.t).max() < 1e-8


def test_the_machine_frame_predicts_what_was_measured(rng):
    """The geometry in its own frame, moved by its frames, is the geometry in the instrument's."""
    truth = ROBOT.nominal + rng.normal(0, 1e-3, 42)
    poses = seen(poses_of(rng, count=30, theta=truth), rng)
    answer = calibrate(ROBOT, poses, frames="instrument")
    machine = machine_geometry(answer)
    back = machine.frames.base.inverse() @ RigidMotion(poses.rotation, poses.position) @ machine.frames.target
    assert abs(machine.model.inverse(machine.model.nominal, back.t, back.R) - poses.readings).max() < 1e-9
    assert abs(machine.model.base - ROBOT.base).max() < 5e-3
    assert "in the robot's own frames" in str(answer)
    assert answer.to_dict()["machine"]["parameters"]["a1x"] == machine.model.nominal[0]


def test_gains_of_readings_are_found(rng):
    from gough.geometry.descent import approach

    poses = poses_of(rng)
    off = replace(poses, readings=poses.readings / (1 + 0.02 * (np.arange(6) == 2)))
    problem = framed(ROBOT, off, gain_names(ROBOT), start=ROBOT.nominal)
    found = approach(problem, problem.unknowns.nominal).theta[42:48]
    assert found == pytest.approx([0, 0, 0.02, 0, 0, 0], abs=1e-9)
