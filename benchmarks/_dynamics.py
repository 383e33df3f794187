"""A regressor like those of robot dynamics: Fourier motion of four joints, columns over six decades, bounded errors."""

import numpy as np

from gough import Bounded, Box, LinearProblem, Unknowns


def dynamics_problem(n_rows: int, p: int = 14, *, seed: int = 7, e: float = 0.05) -> tuple[LinearProblem, np.ndarray]:
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 20, n_rows)
    order = np.arange(1, 6)[:, None]
    q, dq, ddq = np.zeros((3, 4, n_rows))
    for j in range(4):
        w = 2 * np.pi * 0.05 * (1 + 0.1 * j) * order
        a, b = rng.normal(size=(2, 5, 1)) / order
        s, c = np.sin(w * t), np.cos(w * t)
        q[j] = (a * s + b * c).sum(axis=0)
        dq[j] = (w * (a * c - b * s)).sum(axis=0)
        ddq[j] = -(w * w * (a * s + b * c)).sum(axis=0)
    columns = [
        ddq[0], ddq[1] * np.cos(q[1]), ddq[2] * np.sin(q[2]), dq[0] ** 2 * np.sin(q[1]), dq[1] ** 2 * np.cos(q[2]),
        dq[2] * dq[0], np.cos(q[0]), np.sin(q[1]), np.cos(q[1] + q[2]), np.sign(dq[0]), dq[0], np.sign(dq[1]), dq[1],
        np.ones(n_rows),
    ]  # fmt: skip
    columns += [np.sin((k + 2) * q[k % 4]) * ddq[(k + 1) % 4] for k in range(p - len(columns))]
    W = np.column_stack(columns[:p])
    W += 0.02 * rng.normal(size=W.shape) * np.maximum(W.std(axis=0), 0.1)
    scale = 10.0 ** rng.uniform(-3, 3, p)
    theta = rng.uniform(0.5, 3, p) * rng.choice([-1, 1], p) / scale
    W *= scale
    y = W @ theta + rng.uniform(-e, e, n_rows)
    reach = 10 * abs(theta) + 1 / scale
    unknowns = Unknowns([f"p_{i}" for i in range(p)], prior=Box(theta - reach, theta + 1.2 * reach))
    return LinearProblem(W, y, unknowns, Bounded(e)), theta
