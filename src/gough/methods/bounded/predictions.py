"""Bounds of linear functionals with the evidence that a certificate is made of."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import AssumptionError, require
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, HullStats, Status, proof
from gough.evidence import Evidence, Link
from gough.methods.bounded.constraint_generation import Vertex, extremes
from gough.methods.bounded.exact_bound import Multipliers, Prover, evidence, rounded_down
from gough.methods.bounded.linear_hull import LinearHull
from gough.methods.bounded.strips import reachable
from gough.problem import Integers, LinearProblem
from gough.region import Box


@dataclass(frozen=True, eq=False)
class Predictions(ArrayValue):
    """Proven bounds of d·θ over all consistent θ, for some directions d."""

    bounds: Box
    """One axis for each direction."""
    evidence: tuple[Link, ...]
    """Proof of the hull that they are found in, then of each lower and upper bound."""
    claim: Claim = Claim.PROOF
    """PROOF, or ENCLOSURE where the processor does not compute by IEEE 754."""


@np.errstate(all="ignore")
@one_blas_thread()
def predictions(problem: LinearProblem, directions: Array, *, tolerance: float = 1e-9) -> Predictions:
    """As `prediction_bounds`, with evidence: `certificate_of` makes a certificate of it, for a torque that is disputed.

    Constraint: |y − W θ| ≤ e, or ≤ e + D |θ|. Kept: the whole range of d·θ. Idempotent.

    Raises:
        AssumptionError: the problem is inconsistent, or leaves an unknown without bound.

    Examples:
        >>> import gough
        >>> from gough.checker import certificate_of, check
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> found = predictions(problem, [[2.0, 1.0]])
        >>> found.bounds.lower, found.bounds.upper
        (array([4.]), array([6.]))
        >>> check(certificate_of(problem, found), problem).statement[-2:]
        ('2·a + b ≥ 4', '2·a + b ≤ 6')
    """
    D = array(directions, "directions", ndim=2)
    require(bool(np.isfinite(D).all()), "directions must be finite")
    fits = D.shape[1] == len(problem.unknowns)
    require(fits, f"directions need a column per unknown, {len(problem.unknowns)}, but their shape is {D.shape}")
    answer = LinearHull(tolerance).estimate(problem)
    if answer.status is not Status.OK:
        raise AssumptionError(f"nothing can be predicted, since the hull is not OK: {' '.join(answer.notes)}")
    assert isinstance(answer.stats, HullStats)
    hull, n = answer.region.hull(), len(D)
    both = np.vstack([D, -D])
    proofs = proven_ranges(problem, hull, both, tolerance)
    values = np.array([value for value, _ in proofs])
    if (values[:n] > -values[n:]).any():
        raise AssumptionError("nothing can be predicted: proven bounds cross, so that no θ satisfies all rows")
    names = problem.unknowns.names
    used = (Evidence(names, tuple(d.tolist()), one.rows, one.weights) for d, (_, one) in zip(both, proofs, strict=True))
    return Predictions(Box(values[:n], -values[n:]), (*answer.stats.evidence, *used), proof())


def proven_ranges(
    problem: LinearProblem, hull: Box, directions: Array, tolerance: float
) -> list[tuple[float, Evidence]]:
    """A proven lower bound of each direction over the consistent set in its hull, and the evidence."""
    near = reachable(problem, hull)
    part = problem.select(near) if near.size else problem
    nothing = Vertex(hull.center, near[:0], np.zeros(0))
    vertices = [nothing] * len(directions)
    if near.size:
        found = extremes(part, hull, directions, tolerance)
        # a set so thin that floating point misses it: the box is all that is known
        vertices = list(found.vertices) if found.contradiction is None else vertices
    return _proofs(part, hull, directions, vertices, near)


def _proofs(
    problem: LinearProblem, hull: Box, directions: Array, vertices: list[Vertex], numbers: Integers
) -> list[tuple[float, Evidence]]:
    prover, result = Prover(problem), []
    for d, vertex in zip(directions, vertices, strict=True):
        value, used = prover.lower_bound(hull, d, vertex.rows, vertex.weights)
        given = Multipliers(tuple(numbers[list(used.rows)].tolist()), used.given)
        result.append((rounded_down(value), evidence((), (), given)))
    return result
