"""Dynamic parameters of a five-bar robot from a recorded motion, by least squares and as a guaranteed set."""

import numpy as np

from gough import identify
from gough.data import MeasuredMotion
from gough.dynamics import base_values
from gough.robots import FiveBar, efforts
from gough.simulate import FourierSeries

# The experiment, simulated: joint motion is known, torques err by less than 0.05 N·m.
rng = np.random.default_rng(1)
robot = FiveBar.demo()
series = FourierSeries.random(rng, offset=[2.1, 1.0], amplitude=[0.4, 0.4], frequency=0.5)
moved = series.sample(rate=100.0, periods=2)
torque = efforts(robot, robot.nominal, moved.q, moved.dq, moved.ddq)
measured = torque + rng.uniform(-0.0499, 0.0499, torque.shape)
motion = MeasuredMotion(
    100.0,
    moved.q,
    moved.dq,
    moved.ddq,
    measured,
    np.ones(measured.shape, dtype=bool),
    coordinates=robot.coordinates,
    coordinate_units=robot.coordinate_units,
    actuators=robot.actuators,
    effort_units=robot.effort_units,
)

identified = identify(robot, motion, methods=["weighted", "hull"], bound=0.05, compare=False)
print(identified)

# The motion determines combinations of the 21 parameters. Their true values are in the set: that was proven.
names, truth = identified["hull"].unknowns.names, base_values(identified.identifiability, robot.nominal)
for name, true in zip(names, truth, strict=True):
    print(f"{name}: {true:.4f} in {identified['hull'].interval(name)}")
    assert true in identified["hull"].interval(name)
