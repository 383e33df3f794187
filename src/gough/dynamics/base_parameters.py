"""The base parameters of a robot: the combinations of its parameters that motions can determine."""

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.methods.statistical.identifiability import Identifiability, identifiability
from gough.problem import LinearProblem
from gough.robots.model import ParallelRobot
from gough.unknowns import Unknowns

RTOL = 1e-9
"""Singular values below this share of the largest count as zero: random motions leave a gap of many digits."""
_HALVINGS = 12


def base_parameters(robot: ParallelRobot, *, n_samples: int = 300, seed: int = 0) -> Identifiability:
    """Rank, base parameters and their regrouping, from the regressor along random motions around home [GAU91].

    What such motions do not determine, no recording does. Names stay in the order of the robot's parameters: the first
    of those that belong together gives the base parameter its name.

    Args:
        robot: Any robot with a pose.
        n_samples: How many random poses, velocities and accelerations.
        seed: Random seed.

    Examples:
        >>> from gough.robots import Delta
        >>> print(base_parameters(Delta(variant="common")))
        Rank 5 of 5 unknowns; condition number 4.7.
        Worst-excited direction: 0.0691·i_act − 0.658·m_plate + gS_arm.
    """
    motion = random_motion(robot, n_samples, np.random.default_rng(seed))
    W = robot.regressor(*motion).reshape(-1, len(robot.names))
    problem = LinearProblem(W, np.zeros(len(W)), Unknowns(robot.names, robot.units))
    return identifiability(problem, rtol=RTOL)


def random_motion(robot: ParallelRobot, n_samples: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Positions, velocities and accelerations of the actuators at random poses around home.

    The poses fill a box of about a tenth of the robot's size, or the largest part of it in which no pose is refused.

    Raises:
        InputError: not even poses very near home can be reached.
    """
    drawn = robot.skeleton(robot.home).reshape(-1, 3)
    size = float(np.ptp(drawn, axis=0).max())
    amplitude = np.where(np.array(robot.pose_units) == "m", 0.1 * size, 0.25)
    where, rates, growth = rng.uniform(-1, 1, (3, n_samples, len(robot.home)))
    for k in range(_HALVINGS):
        try:
            x = robot.home + amplitude / 2**k * where
            motion = robot.joint_motion(x, 4 * amplitude * rates, 40 * amplitude * growth)
            robot.forward(motion.q)
        except InputError as error:
            reason = str(error)
        else:
            return motion
    raise InputError(f"no pose around home can be reached: {reason}")
