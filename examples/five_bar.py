"""A five-bar robot: its 21 dynamic parameters reduced to what the motion shows, then identified."""

import numpy as np

from gough import Gaussian, estimate
from gough.dynamics import base_values, dynamic
from gough.methods import GaussMarkov, identifiability
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries

rng = np.random.default_rng(3)
robot = FiveBar.demo()
motion = FourierSeries.random(rng, offset=[2.1, 1.0], amplitude=[0.4, 0.4], frequency=0.2).sample(rate=100, periods=4)
torque = efforts(robot, robot.nominal, motion.q, motion.dq, motion.ddq)
measured = torque + 0.02 * rng.normal(size=torque.shape)

problem = dynamic(robot, motion.q, motion.dq, motion.ddq, measured, noise=Gaussian(0.02**2))
analysis = identifiability(problem)
print(analysis, end="\n\n")
answer = estimate(problem, GaussMarkov(), strict=False)
print(answer)
for name, true in zip(answer.unknowns.names, base_values(analysis, robot.nominal), strict=True):
    assert true in answer.interval(name, level=0.9999)
