"""Frames and gains as unknowns: derivatives, and a calibration whose joints are held finds where it was measured."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.core.rotations import exp
from gough.data import Poses
from gough.geometry import RigidMotion, calibrate, machine_geometry, robot_frame
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


NOISE = 2e-5


def printer_elsewhere(rng, count=60):
    """A delta printer 1 mm from its blueprint, tracked by an instrument that stands elsewhere."""
    model = LinearDelta()
    theta = model.nominal + 1e-3 * rng.normal(size=10)
    p = rng.uniform([-0.09, -0.09, 0.0], [0.09, 0.09, 0.15], (count, 3))
    readings = model.inverse(theta, p) + 1e-5 * rng.normal(size=(count, 3))
    return model, theta, Poses(Z.of(p) + NOISE * rng.normal(size=p.shape), None, readings).with_noise(NOISE, None, 1e-5)


def test_frames_of_a_delta_are_found_with_its_parameters(rng):
    """What no turn about z and no shift along z changes is found within its σ; frames of the blueprint alone err."""
    invariant = np.zeros((8, 10))
    invariant[0, 3] = 1.0  # radius
    invariant[[1, 2], [0, 1]], invariant[[1, 2], 2] = 1.0, -1.0  # differences of endstops
    invariant[[3, 4], [4, 5]], invariant[[3, 4], 6] = 1.0, -1.0  # of angles
    invariant[[5, 6, 7], [7, 8, 9]] = 1.0  # arms
    scaled = []
    for _ in range(6):
        model, theta, poses = printer_elsewhere(rng)
        answer = calibrate(model, poses, frames="instrument")
        assert "base_x" in answer.estimate.unknowns.names
        assert "base_rz" not in answer.estimate.unknowns.names  # the angles of the towers absorb it
        assert not answer.refuted
        assert answer.diagnosis.accusations == ()
        C = answer.estimate.marginal(*model.names).region.covariance
        sigma = np.sqrt((invariant @ C @ invariant.T).diagonal())
        scaled.append(invariant @ (answer.parameters - theta) / sigma)
    assert 0.75 < np.sqrt(np.mean(np.square(scaled))) < 1.25
    assert calibrate(model, robot_frame(model, poses)).refuted


@pytest.mark.parametrize("model", [H4Kinematics(), PlanarRRR()], ids=lambda m: m.name)
def test_frames_that_the_parameters_absorb_stay_as_the_blueprint_fits(rng, model):
    flat = 2 not in model.freedoms
    p = rng.uniform([-0.04, -0.04, 0.0], [0.04, 0.04, 0.0], (40, 3)) + ([0, 0, 0] if flat else [0, 0, -0.4])
    p[:, 2] += 0 if flat else rng.uniform(-0.05, 0.05, 40)
    R = exp(0.4 * rng.uniform(-1, 1, (40, 1)) * [0.0, 0.0, 1.0])
    theta = model.nominal + 5e-4 * rng.normal(size=len(model.names))
    moved = Z @ RigidMotion(R, p)
    poses = Poses(moved.t + 1e-6 * rng.normal(size=p.shape), moved.R, model.inverse(theta, p, R))
    answer = calibrate(model, poses, frames="instrument")
    frames = set(answer.estimate.unknowns.names) & {*BASE, *PLATFORM}
    assert (frames == set()) == flat
    assert not frames & set(PLATFORM)
    assert answer.rms[1] < 1e-5


def test_the_scale_of_an_instrument_is_found_with_the_frames_of_a_delta(rng):
    model, _, poses = printer_elsewhere(rng)
    off = replace(poses, position=poses.position / 1.01)
    answer = calibrate(model, off, frames="instrument", scale=True)
    assert answer.scale == pytest.approx(1.01, abs=5e-3)
    assert not answer.refuted
    machine = machine_geometry(answer)
    there = machine.frames.base.inverse().of(machine.scale * off.position)  # scaled first, then moved
    assert abs(machine.model.inverse(machine.model.nominal, there) - poses.readings).max() < 2e-4


def test_joints_that_are_held_in_an_instruments_frame_leave_the_noise_of_readings_to_be_estimated(rng):
    poses = seen(poses_of(rng, count=30), rng)
    noisy = replace(poses, readings=poses.readings + 1e-4 * rng.normal(size=(30, 6))).with_noise(1e-6, 1e-6)
    answer = calibrate(ROBOT, noisy, frames="instrument", fixed=["a*", "b*"])
    assert float(np.max(answer.poses.reading_sigma)) == pytest.approx(1e-4, rel=0.2)
    assert any("noise of the readings is not stated" in note for note in answer.verdicts)
