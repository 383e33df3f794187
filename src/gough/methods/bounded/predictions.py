"""Bounds of linear functions of the parameters over all consistent ones, such as the torque of another motion."""

from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array, ArrayValue, Integers, array
from gough.core.errors import AssumptionError, require
from gough.core.floating import require_ieee
from gough.core.threads import one_blas_thread
from gough.estimates import Claim, HullStats, Status, proof
from gough.evidence import Link
from gough.methods.bounded.constraint_generation import Vertex, Warm, extremes
from gough.methods.bounded.exact_bound import Multipliers, Prover, evidence
from gough.methods.bounded.linear_hull import LinearHull
from gough.methods.bounded.strips import bounds_of, reachable
from gough.problem import LinearProblem
from gough.region import Box

_AT_ONCE = 50
"""Programs that are solved before it is looked at which others they spare."""


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
        >>> predicted = predictions(problem, [[2.0, 1.0]])
        >>> predicted.bounds.lower, predicted.bounds.upper
        (array([4.]), array([6.]))
        >>> check(certificate_of(problem, predicted), problem).statement[-2:]
        ('2·a + b ≥ 4', '2·a + b ≤ 6')
    """
    D = _directions(problem, directions)
    answer = LinearHull(tolerance).estimate(problem)
    if answer.status is not Status.OK:
        raise AssumptionError(f"nothing can be predicted, since the hull is not OK: {' '.join(answer.notes)}")
    assert isinstance(answer.stats, HullStats)
    both = np.vstack([D, -D])
    ranges = proven_ranges(problem, answer.region.hull(), both, tolerance)
    bounds = _box(ranges)
    if bounds.is_empty:
        raise AssumptionError("nothing can be predicted: proven bounds cross, so that no θ satisfies all rows")
    names = problem.unknowns.names
    used = (evidence(names, tuple(d.tolist()), each) for d, (_, each) in zip(both, ranges, strict=True))
    return Predictions(bounds, (*answer.stats.evidence, *used), proof())


@np.errstate(all="ignore")
@one_blas_thread()
def prediction_bounds(
    problem: LinearProblem, directions: Array, *, tolerance: float = 1e-9, within: Box | None = None
) -> Box:
    """Exact bounds of d·θ over all consistent θ, for each row d of `directions`: what a torque can be.

    The bounds are rigorous (PROOF), and thousands of them share one linear program. AssumptionError where the
    processor does not compute by IEEE 754.

    Args:
        problem: The rows with their error bounds.
        directions: A row for each number that is wanted.
        tolerance: See `LinearHull`.
        within: A box that is proven to hold all consistent θ, such as the hull; computed where it is not given.

    Examples:
        >>> import gough
        >>> unknowns = gough.Unknowns(["a", "b"])
        >>> problem = gough.LinearProblem([[1.0, 1.0], [1.0, -1.0]], [3.0, 1.0], unknowns, gough.Bounded(0.5))
        >>> box = prediction_bounds(problem, [[1.0, 1.0]])
        >>> box.lower, box.upper
        (array([2.5]), array([3.5]))
    """
    require_ieee("the range of a prediction")
    D = _directions(problem, directions)
    fits = within is None or len(within) == len(problem.unknowns)
    require(fits, f"the box `within` has {len(within or ())} axes, but there are {len(problem.unknowns)} unknowns")
    hull = LinearHull(tolerance).contract(problem, problem.unknowns.bounds) if within is None else within
    if hull.is_empty:
        return Box.empty(len(D))
    return _box(proven_ranges(problem, hull, np.vstack([D, -D]), tolerance))


def _directions(problem: LinearProblem, directions: Array) -> Array:
    D = array(directions, "directions", ndim=2)
    require(bool(np.isfinite(D).all()), "directions must be finite")
    fits = D.shape[1] == len(problem.unknowns)
    require(fits, f"directions need a column per unknown, {len(problem.unknowns)}, but their shape is {D.shape}")
    return D


def _box(ranges: list[tuple[float, Multipliers]]) -> Box:
    """The box of proven lower bounds of D·θ, then of −D·θ; empty where they cross, since no θ is consistent then."""
    lower, upper = np.array([value for value, _ in ranges]).reshape(2, -1) * [[1.0], [-1.0]]
    return Box.empty(len(lower)) if (lower > upper).any() else Box(lower, upper)


def proven_ranges(
    problem: LinearProblem, hull: Box, directions: Array, tolerance: float
) -> list[tuple[float, Multipliers]]:
    """A proven lower bound of each direction over the consistent set in its hull, and its multipliers."""
    near = reachable(problem, hull)
    part = problem.select(near) if near.size else problem
    vertices = [Vertex(hull.center, near[:0], np.zeros(0))] * len(directions)
    if near.size:
        programs = extremes(part, hull, directions, tolerance)
        # a set so thin that floating point misses it: the box is all that is known
        vertices = list(programs.vertices) if programs.contradiction is None else vertices
    prover, result = Prover(part), []
    for d, vertex in zip(directions, vertices, strict=True):
        value, used = prover.floor(hull, d, vertex.rows, vertex.weights)
        result.append((value, Multipliers(tuple(near[list(used.rows)].tolist()), used.factors)))
    return result


def proven_row_ranges(
    problem: LinearProblem, hull: Box, rows: Integers, points: Array, tolerance: float
) -> list[tuple[float, Multipliers]]:
    """Proven lower bounds of W_k·θ for some rows k, then of −W_k·θ, over the consistent set in its hull.

    Where some consistent point reaches the bound that row k itself states, that is the answer, and no program is
    solved. `points` are consistent as far as floating point tells; those of each program are looked at too.
    """
    W, y = problem.W[rows], problem.y[rows]
    e = np.broadcast_to(bounds_of(problem, "ranges").radius, problem.y.shape)[rows]
    directions, own = np.vstack([W, -W]), np.concatenate([y - e, -y - e])
    room = np.tile(tolerance * (abs(W) @ hull.width), 2)
    near = reachable(problem, hull)
    part, warm, prover = problem.select(near), Warm(), Prover(problem)
    both = np.concatenate([rows, rows])
    proposals = [(both[i : i + 1], np.array([1.0 if i < len(rows) else -1.0])) for i in range(len(both))]
    pending = _unreached(np.arange(len(both)), directions, own + room, points)
    while pending.size:
        some, pending = pending[:_AT_ONCE], pending[_AT_ONCE:]
        programs = warm.extremes(part, hull, directions[some], tolerance)
        if programs.contradiction is not None:
            break  # a set so thin that floating point misses it: rows and box are all that is known
        for i, vertex in zip(some.tolist(), programs.vertices, strict=True):
            proposals[i] = near[vertex.rows], vertex.weights
        at = np.array([vertex.theta for vertex in programs.vertices])
        pending = _unreached(pending, directions, own + room, at)
    return [prover.floor(hull, d, *one) for d, one in zip(directions, proposals, strict=True)]


def _unreached(among: Integers, directions: Array, values: Array, points: Array) -> Integers:
    """Those directions along which no point is as low as its value."""
    return among[(directions[among] @ points.T > values[among, None]).all(axis=1)]
