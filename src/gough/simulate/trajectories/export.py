"""Trajectories as recordings: what a controller is to follow, channel by channel, in a file."""

from typing import Any

import numpy as np

from gough.data import Recording
from gough.robots.model import DynamicModel
from gough.simulate.equations import as_parallel
from gough.simulate.trajectories.series import Motion, Trajectory


def as_recording(robot: DynamicModel, trajectory: Trajectory, rate: float) -> Recording:
    """A trajectory sampled `rate` times a second: positions, velocities and accelerations of the actuators, and poses.

    Channels are the robot's coordinates q…, dq…, ddq…, and the names of its pose; `gough.data.write_recording` writes
    them to a file.

    Raises:
        InputError: the trajectory leaves the workspace or meets a singularity; the message names the first such sample.

    Examples:
        >>> from gough.simulate import PickAndPlace
        >>> from gough.robots import Delta
        >>> as_recording(Delta(), PickAndPlace([0.0, 0.0, -0.85], cycle=0.5, cycles=1), 100.0).names
        ('q1', 'q2', 'q3', 'dq1', 'dq2', 'dq3', 'ddq1', 'ddq2', 'ddq3', 'x', 'y', 'z')
    """
    moved: Any = trajectory.sample(rate)
    x, dx, ddx = moved[1:] if isinstance(moved, Motion) else moved
    in_pose = as_parallel(robot)
    q, dq, ddq = (x, dx, ddx) if in_pose is None else in_pose.joint_motion(x, dx, ddx)
    names = [f"{d}{name}" for d in ("", "d", "dd") for name in robot.coordinates]
    units = [f"{unit}{per}" for per in ("", "/s", "/s²") for unit in robot.coordinate_units]
    samples = [q, dq, ddq]
    if in_pose is not None:
        names += [name if name not in names else f"pose {name}" for name in in_pose.pose_names]
        units += in_pose.pose_units
        samples.append(x)
    return Recording(tuple(names), tuple(units), np.hstack(samples), rate, source=f"trajectory of {robot.name}")
