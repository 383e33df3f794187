"""A robot of a paper in closed loop: the complete mechanism under the exported C of its identification."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec

import numpy as np

from gough.control import Comparison, ControlStudy, Outcome, control
from gough.core.arrays import Array
from gough.dynamics import Identified
from gough.export import RobotModel
from gough.export.compiled import require_compiler
from gough.export.compiling import ExportError
from gough.robots import ParallelRobot
from gough.simulate import Loop


def can_be_controlled() -> bool:
    """Whether MuJoCo and a C compiler are there."""
    try:
        require_compiler()
    except ExportError:
        return False
    return find_spec("mujoco") is not None


def controlled(
    identified: Identified, truth: Mapping[str, float], *, motion: str, laws: Sequence[str], loop: Loop
) -> Comparison:
    """The robot with these true parameters under several laws, with parameters of the identification and others."""
    model = RobotModel.of(identified)
    assert model.dynamics is not None
    values = np.array([truth[name] for name in model.dynamics.robot.names])
    return control(ControlStudy.of(model, truth=values), motion=motion, laws=laws, loop=loop)


def poses(compared: Comparison, run: Outcome, robot: ParallelRobot) -> Array:
    """The poses (N, coordinates) that the robot had."""
    assert compared.motion.pose is not None
    return robot.forward(run.tracked.q, guess=compared.motion.pose.x)
