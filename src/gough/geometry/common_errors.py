"""Errors that all poses share, such as those of a calibrated camera: nuisance unknowns with known standard deviations.

Pose i has the error common[i] z besides its own. The numbers z, the same in all poses, are estimated together with the
parameters, by f(θ, m − common z) = 0 and the k equations z = 0 ± 1. That is generalized least squares with the
covariance blockdiag(Σ_i) + C Cᵀ of all measurements, at a cost that is linear in the number of poses.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.data import Poses
from gough.geometry.beliefs import OPEN
from gough.geometry.descent import ByChain, by_all_unknowns
from gough.noise import Gaussian
from gough.problem import NonlinearProblem
from gough.region import Box
from gough.robots.kinematics import Columns
from gough.unknowns import Unknowns


def common_names(count: int) -> tuple[str, ...]:
    """Names of the numbers z."""
    return tuple(f"common error {k + 1}" for k in range(count))


@dataclass(frozen=True, eq=False)
class CommonErrorEquations(ArrayValue):
    """Equations of poses that share errors, and one equation z = 0 for each of these.

    The equations z = 0 fill further samples, chain by chain; their measurements are zeros. The number of errors is a
    multiple of the number of chains: columns of zeros are added.
    """

    equations: ByChain
    common: Array
    """(N, size, k): what one standard deviation of each common error does to the measured poses."""
    n_chains: int

    @property
    def n_unknowns(self) -> int:
        """Those of the equations, and z."""
        return self.equations.n_unknowns + self.common.shape[2]

    @cached_property
    def unknown_columns(self) -> Columns:
        """(chains, …): the unknowns of each chain, and all z."""
        own = self.equations.unknown_columns
        shared = np.arange(self.equations.n_unknowns, self.n_unknowns)
        return np.column_stack([own, np.tile(shared, (len(own), 1))])

    def residuals(self, theta: Array, measured: Array) -> Array:
        """(samples, chains)."""
        return self.by_chain(theta, measured)[0]

    def jacobians(self, theta: Array, measured: Array) -> tuple[Array, Array]:
        """By the unknowns (samples, chains, p) and by what was measured (samples, chains, q)."""
        _, J, J_m = self.both(theta, measured)
        return J, J_m

    def both(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
        """Residuals and both Jacobians, from one evaluation."""
        return by_all_unknowns(self, theta, measured)

    def by_chain(self, theta: Array, measured: Array) -> tuple[Array, Array, Array]:
        """Residuals, derivatives by each chain's own unknowns and z, and by what was measured."""
        N, size, k = self.common.shape
        n, p = self.n_chains, self.equations.n_unknowns
        z, seen = theta[p:], measured[:N].copy()
        seen[:, :size] -= self.common @ z
        f, X, J_m = self.equations.by_chain(theta[:p], seen)
        by_z = -J_m[..., :size] @ self.common
        more = k // n
        X_prior = np.zeros((more, n, X.shape[2] + k))
        J_prior = np.zeros((more, n, J_m.shape[2]))
        for s in range(more):
            X_prior[s, range(n), X.shape[2] + n * s + np.arange(n)] = 1.0
            J_prior[s, range(n), range(n)] = -1.0
        return (
            np.concatenate([f, z.reshape(more, n) - measured[N:, :n]]),
            np.concatenate([np.concatenate([X, by_z], axis=2), X_prior]),
            np.concatenate([J_m, J_prior]),
        )


def with_common_errors(problem: NonlinearProblem, poses: Poses) -> NonlinearProblem:
    """The problem with the common errors of its poses as nuisances; as it is without any.

    Args:
        problem: Equations by chains, whose measurements begin with the poses; unknowns have bounds or none.
        poses: The poses it was made of, in its frame.
    """
    if poses.common is None:
        return problem
    equations, unknowns = cast(ByChain, problem.equations), problem.unknowns
    q, n = problem.measured.shape[1], poses.n_chains
    size = min(poses.common.shape[1], q - n) if poses.reading_sigma is not None else q
    common = poses.common[:, :size]
    k = -(-common.shape[2] // n) * n
    common = np.pad(common, ((0, 0), (0, 0), (0, k - common.shape[2])))
    measured = np.vstack([problem.measured, np.zeros((k // n, q))])
    C = problem.noise.covariance
    assert C is not None
    spread = np.concatenate([np.broadcast_to(C, (len(poses), q, q)), np.tile(np.eye(q), (k // n, 1, 1))])
    names = common_names(k)
    assert unknowns.nominal is not None
    prior = unknowns.prior
    if isinstance(prior, Box):
        prior = Box(np.append(prior.lower, np.full(k, -np.inf)), np.append(prior.upper, np.full(k, np.inf)))
    elif prior is not None:  # z have equations of their own
        whole = np.zeros((len(unknowns) + k,) * 2)
        whole[:-k, :-k], whole[range(-k, 0), range(-k, 0)] = prior.covariance, OPEN**2
        prior = replace(prior, center=np.append(prior.center, np.zeros(k)), covariance=whole)
    units = (*unknowns.units, *("" for _ in names))
    extended = Unknowns((*unknowns.names, *names), units, np.append(unknowns.nominal, np.zeros(k)), prior)
    return replace(
        problem,
        equations=CommonErrorEquations(equations, common, n),
        measured=measured,
        unknowns=extended,
        noise=Gaussian(spread, problem.noise.dof),
        nuisance=(*problem.nuisance, *names),
    )
