"""A hexapod certified: boxes that are proven to contain its geometry, or a proof that no geometry fits the poses."""

import numpy as np

import gough
from gough.closure import Tolerances
from gough.core.rotations import exp
from gough.data import Poses
from gough.robots import GoughPlatform

# Poses are known to ± 0.1 mm and ± 1 µrad, readings to ± 10 µm; legs are sought within ± 20 mm of the blueprint.
robot, rng = GoughPlatform.deltalab(), np.random.default_rng(1)
truth = robot.nominal + rng.uniform(-5e-3, 5e-3, robot.nominal.shape)
position, rotation = rng.normal([0, 0, 0.35], 0.03, (24, 3)), exp(rng.normal(0, 0.15, (24, 3)))
readings = robot.inverse(truth, position, rotation)
poses = Poses(position + rng.uniform(-0.99e-4, 0.99e-4, position.shape), rotation, readings)
tolerances = Tolerances(position=1e-4, reading=1e-5, orientation=1e-6)

answer = gough.certify(robot, poses, tolerances, around=0.02, chains=[1, 2])
print(answer)
assert not answer.refuted
assert all(file.holds for file in answer.files)
for leg in answer.chains:
    for name, true in zip(leg.names, truth.reshape(6, 7)[leg.chain - 1], strict=True):
        assert true in answer.interval(name)

# No geometry fits once a pose is wrong by 5 mm. That is proven too, and the pose is named.
wrong = poses.position.copy()
wrong[7, 2] += 0.005
spoilt = gough.certify(robot, Poses(wrong, rotation, readings), tolerances, around=0.02, chains=[1], outliers=1)
print(*spoilt.verdicts, sep="\n")
assert spoilt.refuted
assert spoilt.chains[0].without.named == (7,)
