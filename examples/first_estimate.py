"""A single axis with friction: from recorded arrays to parameters with honest uncertainty, in a dozen lines."""

import numpy as np

from gough import Gaussian, LinearProblem, Unknowns, estimate
from gough.methods import GaussMarkov, identifiability

rng = np.random.default_rng(0)
t = np.arange(0, 10, 0.01)
dq, ddq = 3 * np.cos(3 * t), -9 * np.sin(3 * t)
torque = 0.05 * ddq + 0.2 * dq + 0.4 * np.sign(dq) + 0.1 * rng.normal(size=len(t))

problem = LinearProblem(
    np.column_stack([ddq, dq, np.sign(dq)]),
    torque,
    Unknowns(["I", "f_v", "f_c"], units=["kg·m²", "N·m·s/rad", "N·m"]),
    Gaussian(0.1**2),
)
print(identifiability(problem), end="\n\n")
answer = estimate(problem, GaussMarkov())
print(answer)
for name, true in {"I": 0.05, "f_v": 0.2, "f_c": 0.4}.items():
    assert true in answer.interval(name, level=0.999)
