"""Bounded errors: y = W θ + e with |e| ≤ ε; which θ are possible? Once with a row that contradicts the others.

One drive that turns an eccentric load: moment of inertia, viscous and Coulomb friction, gravity. The smallest box by
linear programs of HiGHS, in floating point, is the reference of widths.
"""

import numpy as np
from scipy.optimize import linprog

from benchmarks.peers.task import Task

ROWS, EPSILON = 200, 0.125
TRUTH = np.array([0.05, 0.2, 0.4, 0.8])
PRIOR = 10.0


def regressor(rng: np.random.Generator) -> np.ndarray:
    t = np.arange(ROWS) * 0.02
    a, b = rng.normal(size=(2, 3, 1)) * 0.6
    omega = np.array([[2.0], [3.7], [5.9]])
    q = (a * np.sin(omega * t) + b * np.cos(omega * t)).sum(axis=0)
    dq = (omega * (a * np.cos(omega * t) - b * np.sin(omega * t))).sum(axis=0)
    ddq = (-(omega**2) * (a * np.sin(omega * t) + b * np.cos(omega * t))).sum(axis=0)
    return np.column_stack([ddq, dq, np.sign(dq), np.sin(q)])


def hull(W: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The smallest box of all possible parameters, by linear programs."""
    A, b = np.concatenate([W, -W]), np.concatenate([y + EPSILON, EPSILON - y])
    ends = [
        [linprog(sign * axis, A, b, bounds=(None, None), method="highs").fun * sign for sign in (1, -1)]
        for axis in np.eye(W.shape[1])
    ]
    return np.array(ends)


def recordings(seeds: range, *, is_wrong: bool = False) -> Task:
    """Errors are uniform; in a wrong recording one row is off by four bounds."""
    Ws, ys, hulls = [], [], []
    for seed in seeds:
        rng = np.random.default_rng([7, seed])
        W = regressor(rng)
        y = W @ TRUTH + 0.999 * EPSILON * rng.uniform(-1, 1, ROWS)
        if is_wrong:
            y[ROWS // 2] += 4 * EPSILON
        y = np.round(y * 2.0**30) / 2.0**30  # so that y ± ε are floating-point numbers
        if not is_wrong:
            hulls.append(hull(W, y))
        Ws.append(W)
        ys.append(y)
    return Task(
        name="bounded-wrong-row" if is_wrong else "bounded",
        kind="bounded",
        data={"W": np.array(Ws), "y": np.array(ys)},
        stated={"epsilon": EPSILON, "prior": PRIOR, "unknowns": ["I", "f_v", "f_c", "g"], "limit": 60.0},
        truth={"theta": TRUTH, "hull": np.array(hulls), "is_wrong": np.array(is_wrong), "row": np.array(ROWS // 2)},
    )
