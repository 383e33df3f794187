"""Small sets of candidates, and the plain way to do what the library does quickly."""

from functools import cache
from itertools import combinations

import numpy as np

from gough.designs.poses import PoseLimits, PoseProblem, candidates
from gough.designs.poses.criteria import DCriterion, ECriterion, VarianceCriterion
from tests.geometry.simulated import ANGLE, POSITION, READING, ROBOT


def random_rows(rng, n=14, chains=2, r=4):
    """Rows of candidates that tell of some directions more than of others."""
    Z = rng.normal(size=(n, chains, r)) * rng.uniform(0.3, 3.0, (n, 1, 1))
    A = Z.reshape(-1, r)
    return Z @ np.linalg.inv(np.linalg.cholesky(A.T @ A / n)).T


def all_criteria(rng, r=4):
    T = rng.normal(size=(r, r)) + 2 * np.eye(r)
    return [DCriterion(), VarianceCriterion(T, "A", ""), ECriterion(np.linalg.inv(T))]


def information(Z, rows):
    A = Z[list(rows)].reshape(-1, Z.shape[2])
    return A.T @ A


def brute_force(Z, count, criterion):
    """The least criterion of all sets."""
    return min(criterion.value(information(Z, rows)) for rows in combinations(range(len(Z)), count))


def plain_greedy(Z, count, ridge):
    """Determinants of the whole matrix, computed anew for every candidate in every round."""
    chosen, M = [], ridge * np.eye(Z.shape[2])
    for _ in range(count):
        left = [k for k in range(len(Z)) if k not in chosen]
        chosen.append(max(left, key=lambda k: np.linalg.slogdet(M + Z[k].T @ Z[k])[1]))
        M = M + Z[chosen[-1]].T @ Z[chosen[-1]]
    return chosen


@cache
def platform(criterion="D", count=80):
    """The DeltaLab platform with the noise of [DACP06]."""
    found = candidates(ROBOT, PoseLimits(readings=(0.0, 0.14)), count=count)
    return PoseProblem.of(ROBOT, found.with_noise(POSITION, ANGLE, READING), criterion=criterion)
