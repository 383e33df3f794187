"""A problem whose rows do not determine every unknown, rewritten in the base parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gough.core import intervals as iv
from gough.core.arrays import Array, array
from gough.core.errors import AssumptionError, require
from gough.core.intervals import Interval
from gough.estimates import Estimate
from gough.methods.statistical.identifiability import Identifiability
from gough.noise import Bounded, Noise
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.unknowns import Unknowns


def reduced(problem: LinearProblem, analysis: Identifiability) -> LinearProblem:
    """The same equations in the base parameters alone: W θ = W_kept (C θ), up to rounding.

    C holds the coefficients of the base parameters. Nominal values and the prior are carried over through C; a prior's
    bounds become those of the combinations, and are lost for the rest. What is proven of the reduced
    problem is proven of its own W. A radius of W becomes part of the error bounds, over a bounded prior.

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
        analysis.names == old.names,
        "this identifiability belongs to another problem: its unknowns have other names",
    )
    require(analysis.rank > 0, "these data determine no parameter: the regressor is zero")
    kept = list(analysis.kept)
    unknowns = Unknowns(
        tuple(base.name for base in analysis.base),
        tuple(old.units[i] for i in kept),
        None if old.nominal is None else base_values(analysis, old.nominal),
        _carried(old.prior, _coefficients(analysis)),
    )
    return replace(
        problem,
        W=problem.W[:, kept],
        unknowns=unknowns,
        noise=_carried_noise(problem.noise, old.bounds, problem.W.shape),
    )


def base_values(analysis: Identifiability, theta: Any) -> Array:
    """C θ: the values that the base parameters take where the unknowns themselves are θ.

    Examples:
        >>> import gough
        >>> from gough.methods import identifiability
        >>> problem = gough.LinearProblem([[1.0, 2.0], [2.0, 4.0]], [0, 0], gough.Unknowns(["m_1", "m_2"]))
        >>> base_values(identifiability(problem), [1.0, 3.0]).round(12)
        array([7.])
    """
    values = array(theta, "θ", ndim=1)
    wanted = len(analysis.names)
    require(len(values) == wanted, f"θ must have {wanted} entries, one per unknown, but has {len(values)}")
    return _coefficients(analysis) @ values


def _coefficients(analysis: Identifiability) -> Array:
    return np.array([base.coefficients for base in analysis.base])


def _carried_noise(noise: Noise, bounds: Box, shape: tuple[int, int]) -> Noise:
    """What errors of W do depends on θ itself and not on its combinations: it is bounded over the prior instead."""
    if not isinstance(noise, Bounded) or noise.regressor is None:
        return noise
    if not bounds.is_bounded:
        raise AssumptionError(
            "base parameters of a regressor known to ± D need a bounded prior: D |θ| is not a function of the "
            "combinations. Bound the unknowns, or state an exact W."
        )
    greatest = np.maximum(abs(bounds.lower), abs(bounds.upper))
    total = iv.dot(np.broadcast_to(noise.regressor, shape), greatest) + noise.radius
    return Bounded(total.upper)


def _carried(prior: Box | ConfidenceEllipsoid | None, C: Array) -> Box | ConfidenceEllipsoid | None:
    """The prior of C θ that follows from one of θ."""
    if prior is None:
        return None
    if isinstance(prior, ConfidenceEllipsoid):
        return ConfidenceEllipsoid(C @ prior.center, C @ prior.covariance @ C.T, prior.level, prior.dof)
    sums = iv.sum(Interval(C) * Interval(prior.lower, prior.upper))  # rounded outward, and 0 times the line is 0
    return Box(sums.lower, sums.upper)


def parameters_with_efforts_of(
    names: Sequence[str], analysis: Identifiability, estimate: Estimate, fixed: Mapping[str, float]
) -> Array:
    """Parameters of a robot, by `names`, that have the efforts of an estimate: W θ = W_kept β.

    Where only combinations are determined, the first parameter of each has the value of the combination, and the
    others are 0: these are not their values.
    """
    values = dict(zip((analysis.names[k] for k in analysis.kept), estimate.value.tolist(), strict=True))
    if analysis.is_full_rank:
        values = dict(zip(estimate.unknowns.names, estimate.value.tolist(), strict=True))
    known = {**values, **fixed}
    return np.array([known.get(name, 0.0) for name in names])
