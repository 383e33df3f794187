"""A trajectory that identifies a Delta robot, optimized within limits of its actuators."""

import numpy as np

from gough import design
from gough.designs.excitation import MotionLimits
from gough.robots import Delta, efforts

robot = Delta()
designed = design(robot, MotionLimits(speeds=8.0, efforts=10.0), sigma=0.2, n_harmonics=2, starts=1)
print(designed)

# Sampled densely, with the ramps from and to rest: the limits hold everywhere.
trajectory = designed.trajectory(periods=2)
poses = trajectory.sample(rate=2000.0)
moved = robot.joint_motion(*poses)
torque = efforts(robot, robot.nominal, moved.q, moved.dq, moved.ddq)
print(f"speeds up to {abs(moved.dq).max():.3f} rad/s, torques up to {abs(torque).max():.3f} N·m")
assert abs(moved.dq).max() <= 8.0
assert abs(torque).max() <= 10.0
assert np.isfinite(designed.sigma).all()
