"""Random problems with known truth, hostile ones among them, and the registry of everything that solves them."""

import numpy as np

from gough import Bounded, Box, Gaussian, LinearProblem, Unknowns
from gough.methods import (
    BoundingEllipsoid,
    Fixpoint,
    GaussMarkov,
    GaussSeidel,
    Huber,
    HullAndEllipsoid,
    InstrumentalVariables,
    LeastSquares,
    LinearHull,
    RelaxedHull,
    RobustLeastSquares,
    RowContractor,
    Then,
    TightEllipsoid,
    TotalLeastSquares,
    Tukey,
    WeightedLeastSquares,
)

STATISTICAL_METHODS = [
    LeastSquares(),
    WeightedLeastSquares(),
    GaussMarkov(),
    RobustLeastSquares(Huber()),
    RobustLeastSquares(Tukey()),
    InstrumentalVariables(),
    TotalLeastSquares(),
]
CONTRACTORS = [
    RowContractor(),
    GaussSeidel(),
    GaussSeidel(normalize=True),
    GaussSeidel(precondition=False),
    Then(GaussSeidel(), RowContractor()),
    LinearHull(),
]
OPEN_SET_METHODS = [
    *(Fixpoint(contractor) for contractor in CONTRACTORS),
    LinearHull(),
    RelaxedHull(0),
    TightEllipsoid(),
    HullAndEllipsoid(),
]
"""Methods that need no prior."""
SET_METHODS = [*OPEN_SET_METHODS, BoundingEllipsoid(radius=1e6)]


def scales(rng, p, spread):
    return 10.0 ** rng.uniform(-spread, spread, p)


def gaussian_problem(rng, *, n_samples=200, p=5, groups=("x", "y"), spread=3, sigma=0.1):
    """y = W θ + e with e ~ N(0, σ² C): columns of very different scale, groups correlated."""
    n = len(groups)
    W = rng.normal(size=(n_samples * n, p)) * scales(rng, p, spread)
    theta = rng.normal(size=p) / np.linalg.norm(W, axis=0) * np.sqrt(len(W))
    root = np.linalg.cholesky(0.6 * np.eye(n) + 0.4) * sigma * np.arange(1, n + 1)[:, None]
    noise = (rng.normal(size=(n_samples, n)) @ root.T).reshape(-1)
    unknowns = Unknowns([f"p_{i}" for i in range(p)])
    return LinearProblem(W, W @ theta + noise, unknowns, Gaussian(root @ root.T), groups), theta


def bounded_problem(rng, *, n_rows=None, p=None, spread=None):
    """|y − W θ| ≤ e exactly (θ and the bound are checked in rational arithmetic by the caller), sparse and scaled."""
    n_rows = n_rows or int(rng.integers(1, 12))
    p = p or int(rng.integers(1, 5))
    spread = rng.choice([0, 3, 150]) if spread is None else spread
    W = rng.normal(size=(n_rows, p)) * (rng.random((n_rows, p)) < 0.7) * scales(rng, p, spread)
    theta = rng.normal(size=p) / np.maximum(abs(W).max(axis=0), 1e-300)
    e = rng.uniform(0.001, 1, n_rows) * scales(rng, n_rows, 2)
    y = W @ theta + 0.999 * e * rng.uniform(-1, 1, n_rows)
    reach = abs(theta) * 10 ** rng.uniform(0, 3, p) + 1e-300
    lower, upper = theta - reach * rng.random(p), theta + reach * rng.random(p)
    open_side = rng.random(p) < 0.1
    prior = Box(np.where(open_side, -np.inf, lower), upper)
    return LinearProblem(W, y, Unknowns([f"p_{i}" for i in range(p)], prior=prior), Bounded(e)), theta
