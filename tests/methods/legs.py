"""Simulated measurements of one leg of the DeltaLab platform, with the tolerances of [DACP06, §5] at three sigma."""

import itertools
from functools import cache

import numpy as np

from gough import Box
from gough.checker.leg_equations import LegMeasurements, PlatformMeasurements
from gough.closure.certified_leg import LegProblem
from gough.closure.joint import JointProblem
from gough.core.rotations import exp, to_quaternion
from gough.robots.gough_platform import GoughPlatform

POSITION = 3e-3 * np.array([6.33e-2, 2.30e-2, 6.08e-2])
ROTATION = 3 * np.deg2rad([9.23e-3, 1.19e-2, 8.94e-3])
READING = 3e-3 * np.array([0.0077, 0.0127, 0.0117, 0.0102, 0.0118, 0.0190])
EDGE = 0.999
"""Errors stay this part of their tolerance away from zero room, so that rounding of the simulation cannot matter."""


@cache
def extremal_poses():
    """The 64 poses with every leg at one of its ends."""
    robot = GoughPlatform.deltalab()
    readings = np.array(list(itertools.product([0.0, 0.14], repeat=6)))
    return robot, robot.forward(robot.nominal, readings)


def measured_leg(rng, *, n=64, leg=1, backlash=0.0, scale=0.0, bad=None):
    """Measurements of a leg and its true parameters; backlash (m) and scale are faults unknown to the model."""
    robot, poses = extremal_poses()
    some = np.tile(np.arange(64), -(-n // 64))[:n]
    p, R = poses.position[some], poses.rotation[some]
    reading = robot.inverse(robot.nominal, p, R)[:, leg - 1]
    t = READING[leg - 1]
    p_measured = p + EDGE * rng.uniform(-1, 1, p.shape) * POSITION
    R_measured = exp(EDGE * rng.uniform(-1, 1, p.shape) * ROTATION) @ R
    measured = (reading + EDGE * rng.uniform(-1, 1, n) * t + rng.uniform(-backlash, backlash, n)) * (1 + scale)
    if bad is not None:
        p_measured[bad] += [0.0, 0.0, 5e-3]
    data = LegMeasurements(to_quaternion(R_measured), p_measured, measured, POSITION, ROTATION, t)
    return data, robot.nominal[7 * leg - 7 : 7 * leg]


def leg_problem(rng, around=0.1, **options):
    """The problem of a leg in a box of half-width `around`, off the truth by up to half of that."""
    data, truth = measured_leg(rng, **options)
    center = truth + rng.uniform(-0.5, 0.5, 7) * around
    return LegProblem(data, Box.around(center, around), options.get("leg", 1)), truth


def measured_platform(rng, *, n=64, backlash=0.0, scale=0.0, bad=None, legs=(1, 2, 3, 4, 5, 6)):
    """Measurements of several legs at the same poses, whose errors they share, and the legs' true parameters."""
    robot, poses = extremal_poses()
    some = np.tile(np.arange(64), -(-n // 64))[:n]
    p, R = poses.position[some], poses.rotation[some]
    columns = np.array(legs) - 1
    readings, t = robot.inverse(robot.nominal, p, R)[:, columns], READING[columns]
    p_measured = p + EDGE * rng.uniform(-1, 1, p.shape) * POSITION
    R_measured = exp(EDGE * rng.uniform(-1, 1, p.shape) * ROTATION) @ R
    noise = EDGE * rng.uniform(-1, 1, readings.shape) * t + rng.uniform(-backlash, backlash, readings.shape)
    if bad is not None:
        p_measured[bad] += [0.0, 0.0, 5e-3]
    seen = (readings + noise) * (1 + scale)
    data = PlatformMeasurements(to_quaternion(R_measured), p_measured, seen, POSITION, ROTATION, t)
    return data, robot.nominal.reshape(6, 7)[columns].reshape(-1)


def joint_legs(data, prior, legs):
    """The joint problem of legs with these numbers: readings and prior follow their order, seven unknowns a leg."""
    boxes = [Box(*sides) for sides in zip(prior.lower.reshape(-1, 7), prior.upper.reshape(-1, 7), strict=True)]
    return JointProblem(
        tuple(LegProblem(data.leg(i), box, leg) for i, (box, leg) in enumerate(zip(boxes, legs, strict=True)))
    )
