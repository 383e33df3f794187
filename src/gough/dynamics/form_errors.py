"""The uncertainty of numbers that make the form of an effect, such as a Stribeck speed, as part of ±."""

from dataclasses import replace

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import GoughError
from gough.core.text import listed, number
from gough.data import MeasuredMotion
from gough.dynamics.with_effects import WithEffects
from gough.estimates import Claim, Estimate, Method, Status
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

_SURE = 3.0
"""Standard deviations by which an effect must stand out before its number counts as an unknown: the data do not
determine that of an effect that may be absent."""
_SAID = 0.05
"""Part by which a σ grows from which on a note says so."""


def with_form_errors(
    answer: Estimate, method: Method[LinearProblem], problem: LinearProblem, robot: DynamicModel, motion: MeasuredMotion
) -> Estimate:
    """An estimate whose covariance includes that the numbers of the effects' forms are estimated, too.

    The numbers are added to the unknowns to first order, and the method is asked again. With its covariance
    [A B; Bᵀ D] of the old and the additional unknowns, B D⁻¹ Bᵀ is what not knowing the numbers costs.
    """
    region = answer.region
    if not isinstance(region, ConfidenceEllipsoid) or answer.claim is not Claim.CONFIDENCE:
        return answer
    if answer.status is not Status.OK or not isinstance(robot, WithEffects):
        return answer
    slopes = robot.form_slopes(motion)
    ratio = dict(zip(answer.unknowns.names, (abs(answer.value) / region.sigma).tolist(), strict=True))
    sure = [k for k, names in enumerate(slopes.names) if max(ratio.get(name, 0.0) for name in names) > _SURE]
    if not sure:
        return answer
    n = len(problem.unknowns)
    try:
        again = method.estimate(_extended(problem, slopes.rows[:, sure]))
    except GoughError:
        return answer
    if not isinstance(again.region, ConfidenceEllipsoid) or len(again.value) != n + len(sure):
        return answer
    C = again.region.covariance
    more = C[:n, n:] @ np.linalg.solve(C[n:, n:], C[n:, :n])
    covariance = region.covariance + (more + more.T) / 2
    grown = np.sqrt(covariance.diagonal()) / region.sigma
    notes = answer.notes
    if grown.max() > 1 + _SAID:
        first = sorted(np.flatnonzero(grown > 1 + _SAID).tolist(), key=lambda k: -grown[k])[:3]
        each = [f"{answer.unknowns.names[k]} by {number(float(grown[k]), digits=2)}" for k in first]
        notes = (*notes, f"That the forms of effects are estimated too multiplies σ of {listed(each)}.")
    return replace(answer, region=replace(region, covariance=covariance), notes=notes)


def _extended(problem: LinearProblem, rows: Array) -> LinearProblem:
    unknowns, k = problem.unknowns, rows.shape[1]
    more = np.full(k, np.inf)
    bounds = unknowns.bounds
    extended = Unknowns(
        (*unknowns.names, *(f"number {i + 1} of a form" for i in range(k))),
        (*unknowns.units, *("1",) * k),
        None if unknowns.nominal is None else np.append(unknowns.nominal, np.zeros(k)),
        Box(np.append(bounds.lower, -more), np.append(bounds.upper, more)),
    )
    return replace(problem, W=np.column_stack([problem.W, rows]), unknowns=extended)
