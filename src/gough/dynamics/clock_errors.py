"""The uncertainty of clocks that were corrected, as part of ± of the parameters."""

from dataclasses import replace

import numpy as np

from gough.core.arrays import frozen
from gough.core.errors import GoughError
from gough.core.text import number
from gough.data import MeasuredMotion
from gough.estimates import Claim, Estimate, Method, Status
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid

_SAID = 0.05
"""Part by which a σ grows from which on a note says so."""
_CONDITIONAL = "It holds for efforts as the correction of the clocks leaves them; errors of the clocks are not in it."


def with_clock_errors(
    answer: Estimate, method: Method[LinearProblem], problem: LinearProblem, motion: MeasuredMotion
) -> Estimate:
    """An estimate whose covariance includes that offset and drift of the clocks are estimated, too.

    With the derivatives J of the estimate by the numbers of the clocks, whose covariance is C, J C Jᵀ is added. In
    least squares, what the clocks are estimated from is orthogonal to what the parameters are estimated from, so that
    the sum is the covariance of estimating both together. Derivatives are differences of the estimates where the
    clocks are one σ more and one σ less. Guaranteed sets get a note that they are conditional on the correction.
    """
    errors, region = motion.clock_errors, answer.region
    if errors is None:
        return answer
    if answer.claim is not Claim.CONFIDENCE:
        return replace(answer, notes=(*answer.notes, _CONDITIONAL))
    if not isinstance(region, ConfidenceEllipsoid) or answer.status is not Status.OK:
        return answer
    values, vectors = np.linalg.eigh(errors.covariance)
    by_one_sigma = errors.slopes[motion.kept] @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    moves = np.empty((len(answer.value), by_one_sigma.shape[1]))
    try:
        for k, change in enumerate(by_one_sigma.T):
            more, less = (method.estimate(replace(problem, y=frozen(problem.y + s * change))).value for s in (1, -1))
            moves[:, k] = (more - less) / 2
    except (GoughError, ValueError):  # other unknowns are identifiable, or none
        return replace(answer, notes=(*answer.notes, "σ does not contain the errors of the clocks."))
    covariance = region.covariance + moves @ moves.T
    grown = np.sqrt(covariance.diagonal()) / region.sigma
    notes, worst = answer.notes, int(np.argmax(grown))
    if grown[worst] > 1 + _SAID:
        factor = number(float(grown[worst]), digits=2)
        name = answer.unknowns.names[worst]
        notes = (*notes, f"Errors of the clocks multiply σ of {name} by {factor}, those of others by less.")
    return replace(answer, region=replace(region, covariance=covariance), notes=notes)
