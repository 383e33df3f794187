"""A leg of a hexapod: a box that is proven to contain its parameters, and the proof checked in exact rationals."""

import numpy as np

from gough import Box, estimate
from gough.checker import check_leg, leg_certificate
from gough.closure import certified_leg
from gough.core.rotations import exp
from gough.data import Poses
from gough.methods import LiftedHull
from gough.robots import GoughPlatform

# Poses are known to ± 0.1 mm and ± 1 µrad, readings to ± 10 µm; the leg is sought within ± 20 mm.
robot, rng = GoughPlatform.deltalab(), np.random.default_rng(1)
truth = robot.nominal[:7]
position, rotation = rng.normal([0, 0, 0.35], 0.03, (24, 3)), exp(rng.normal(0, 0.15, (24, 3)))
readings = robot.inverse(robot.nominal, position, rotation)
poses = Poses(position + rng.uniform(-0.99e-4, 0.99e-4, position.shape), rotation, readings)
prior = Box.around(truth + 0.005, 0.02)
tolerances = {"position_tolerance": 1e-4, "rotation_tolerance": 1e-6, "reading_tolerance": 1e-5}

problem = certified_leg(poses, 1, prior, **tolerances)
answer = estimate(problem, LiftedHull(rtol=0.05))
print(answer)

verdict = check_leg(leg_certificate(problem, answer), problem)
print(f"{verdict.kind}: {'holds' if verdict else 'does not hold'}; {verdict.reason}")
assert verdict.holds
for name, true in zip(answer.unknowns.names, truth, strict=True):
    assert true in answer.interval(name)

# The same leg cannot be explained once a pose is wrong by 5 mm. That is proven too.
spoilt = poses.position.copy()
spoilt[7, 2] += 0.005
wrong = certified_leg(Poses(spoilt, rotation, readings), 1, prior, **tolerances)
refuted = estimate(wrong, LiftedHull(rtol=0.05), strict=False)
print(refuted.status.value)
assert refuted.region.hull().is_empty
assert check_leg(leg_certificate(wrong, refuted), wrong).holds
