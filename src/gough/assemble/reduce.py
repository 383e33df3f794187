"""A problem that some unknowns cannot be told apart in, rewritten in what can be known."""

from dataclasses import replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, array
from gough.core.errors import require
from gough.methods.identifiability import Identifiability
from gough.noise import Bounded, Noise
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.unknowns import Unknowns


def reduced(problem: LinearProblem, found: Identifiability) -> LinearProblem:
    """The same equations in the base parameters alone: W θ = W_kept (C θ), up to rounding.

    C holds the coefficients of the base parameters. Nominal values and the prior are carried over through C; a prior's
    bounds become those of the combinations, which forgets what they say about the rest.

    Examples:
        >>> import gough
        >>> from gough.methods import identifiability
        >>> W = [[1.0, 2.0, 0.0], [0.0, 0.0, 1.0], [1.0, 2.0, 3.0]]
        >>> problem = gough.LinearProblem(W, [5, 1, 8], gough.Unknowns(["m_1", "m_2", "f"], nominal=[1, 2, 1]))
        >>> reduced(problem, identifiability(problem)).unknowns.names
        ('m_1 + 2·m_2', 'f')
    """
    old = problem.unknowns
    require(
        found.names == old.names,
        "this identifiability belongs to another problem: its unknowns have other names",
    )
    require(found.rank > 0, "nothing can be known from these data: the regressor is zero")
    kept = list(found.kept)
    unknowns = Unknowns(
        tuple(base.name for base in found.base),
        tuple(old.units[i] for i in kept),
        None if old.nominal is None else base_values(found, old.nominal),
        _carried(old.prior, _coefficients(found)),
    )
    return replace(problem, W=problem.W[:, kept], unknowns=unknowns, noise=_columns(problem.noise, kept))


def base_values(found: Identifiability, theta: Any) -> Array:
    """C θ: the values that the base parameters take where the unknowns themselves are θ.

    Examples:
        >>> import gough
        >>> from gough.methods import identifiability
        >>> problem = gough.LinearProblem([[1.0, 2.0], [2.0, 4.0]], [0, 0], gough.Unknowns(["m_1", "m_2"]))
        >>> base_values(identifiability(problem), [1.0, 3.0]).round(12)
        array([7.])
    """
    values = array(theta, "θ", ndim=1)
    wanted = len(found.names)
    require(len(values) == wanted, f"θ must have {wanted} entries, one per unknown, but has {len(values)}")
    return _coefficients(found) @ values


def _coefficients(found: Identifiability) -> Array:
    return np.array([base.coefficients for base in found.base])


def _columns(noise: Noise, kept: list[int]) -> Noise:
    if isinstance(noise, Bounded) and noise.regressor is not None and noise.regressor.ndim == 2:
        return Bounded(noise.radius, noise.regressor[:, kept])
    return noise


def _carried(prior: Box | ConfidenceEllipsoid | None, C: Array) -> Box | ConfidenceEllipsoid | None:
    """What a prior on θ says about C θ."""
    if prior is None:
        return None
    if isinstance(prior, ConfidenceEllipsoid):
        return ConfidenceEllipsoid(C @ prior.center, C @ prior.covariance @ C.T, prior.level, prior.dof)
    # 0 · ∞ is not what an unknown without influence contributes
    ends = np.stack([np.where(C == 0, 0.0, np.where(C == 0, 1.0, C) * side) for side in (prior.lower, prior.upper)])
    return Box(ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1))
