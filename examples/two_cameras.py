"""Two cameras calibrate a Gough platform: sightings become a rig and fused poses, and these the platform's geometry.

Centroids are simulated with the noise of good images; `gough camera rig` does the same with image files.
"""

import itertools
from dataclasses import replace

import numpy as np

from gough.core.rigid import RigidMotion
from gough.core.rotations import exp
from gough.geometry import calibrate
from gough.robots import GoughPlatform
from gough.vision import Camera, Rig, RigCamera, RigTarget, design_target, fit_rig, simulate_sightings

NOISE, READING = 0.01, 1e-5  # pixels, m
FACING = np.diag([1.0, -1.0, -1.0])  # the target looks at the camera above it

# The true rig: the right camera stands half a metre beside the left one, and looks at the same place.
sheet = design_target(0.2, 0.2)
lenses = [
    Camera((1024, 768), [672.0, 672.0], [511.5, 383.5], [-0.12, 0.03]),
    Camera((1024, 768), [690.0, 690.0], [505.0, 380.0], [-0.10, 0.02]),
]
aside = RigidMotion(exp([0.0, -0.5, 0.05]), np.array([0.48, 0.0, 0.12]))
truth = Rig((RigCamera("left", lenses[0]), RigCamera("right", lenses[1], world=aside)), (RigTarget("platform", sheet),))

# What is known beforehand: both cameras from their calibrations, with errors of the size that these state.
rng = np.random.default_rng(1)
sigma = np.array([0.05, 0.05, 0.05, 0.05, 1e-4, 2e-4, 1e-5, 1e-5, 0.0])
cameras = []
for each in truth.cameras:
    p = each.camera.parameters + sigma * rng.normal(size=9)
    lens = replace(each.camera, focal=p[:2], center=p[2:4], distortion=p[4:], covariance=np.diag(sigma**2))
    cameras.append(RigCamera(each.name, lens))
known = Rig(tuple(cameras), truth.targets)

# The platform, whose dimensions differ from the drawing by 1 mm, goes to 40 configurations.
robot = GoughPlatform.deltalab()
dimensions = robot.nominal + rng.normal(0, 1e-3, 42)
readings = rng.choice(np.array(list(itertools.product([0.0, 0.07, 0.14], repeat=6))), 40, replace=False)
there = robot.forward(dimensions, readings)
above = np.array([0.0, 0.0, 1.0])
poses = [RigidMotion(FACING @ R, FACING @ p + above) for p, R in zip(there.position, there.rotation, strict=True)]

fused = fit_rig(known, simulate_sightings(truth, poses, NOISE, rng, known=known))
print(fused)
used = [int(name[1:]) for name in fused.names]
measured = fused.to_poses(readings[used] + rng.normal(0, READING, (len(used), 6)))
answer = calibrate(robot, replace(measured, reading_sigma=np.array(READING)), frames="instrument")

rows = robot.rows(dimensions).copy()
rows[:, :3] = rows[:, :3] @ FACING.T + above  # joints of the base, in the frame of the left camera
intervals = [answer.interval(name) for name in answer.model.names]
inside = [i.lower <= v <= i.upper for i, v in zip(intervals, robot.parameters(rows), strict=True)]
width = float(np.median([i.upper - i.lower for i in intervals]))
assert sum(inside) >= 36  # 40 on average; fewer than 36 of 42 with probability below 1 % if they were independent
print(f"{sum(inside)} of 42 true dimensions are in their 95 % intervals, whose median width is {1e6 * width:.0f} µm.")
