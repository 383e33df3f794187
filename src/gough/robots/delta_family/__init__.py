"""The equations that H4, Par4 and Delta share: arms on motors, pairs of rods, a platform that keeps its attitude.

`chain` holds the equations of one chain, `equations` those of a robot, `description` its bodies, joints and closures,
and `model` the interface of a robot.
"""
