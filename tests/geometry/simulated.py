"""A DeltaLab platform whose truth is known, measured with the noise of [DACP06, Tables 2 and 3]."""

import itertools

import numpy as np

from gough.core.rotations import exp
from gough.data import Poses
from gough.robots import GoughPlatform

ROBOT = GoughPlatform.deltalab()
POSITION = np.array([6.33e-5, 2.30e-5, 6.08e-5])
ANGLE = np.radians([9.23e-3, 1.19e-2, 8.94e-3])
READING = 1e-3 * np.array([0.0077, 0.0127, 0.0117, 0.0102, 0.0118, 0.0190])
EXTREMAL = np.array(list(itertools.product([0.0, 0.14], repeat=6)))


def truth(rng):
    """A robot about 2 mm from its blueprint, in every parameter."""
    return ROBOT.nominal + rng.normal(0, 2e-3, 42)


def measured(theta, readings, rng, factor=1.0, robot=ROBOT):
    """Poses at these readings, with noise: (exact poses, what is measured)."""
    exact = robot.forward(theta, readings)
    n = len(readings)
    noisy = Poses(
        exact.position + factor * POSITION * rng.normal(size=(n, 3)),
        exp(factor * ANGLE * rng.normal(size=(n, 3))) @ exact.rotation,
        readings + factor * READING * rng.normal(size=(n, 6)),
    )
    return exact, noisy.with_noise(POSITION, ANGLE, READING)
