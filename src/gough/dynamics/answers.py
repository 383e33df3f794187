"""Every method's answer to one problem, those that fail among them."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from gough.core.arrays import Array
from gough.core.errors import AssumptionError, GoughError
from gough.estimates import Estimate, Method, estimate
from gough.methods import (
    BoundingEllipsoid,
    GaussMarkov,
    HullAndEllipsoid,
    InstrumentalVariables,
    LeastSquares,
    LinearHull,
    RobustLeastSquares,
    TightEllipsoid,
    TotalLeastSquares,
    WeightedLeastSquares,
)
from gough.problem import LinearProblem

_STATISTICAL = (
    LeastSquares,
    WeightedLeastSquares,
    GaussMarkov,
    RobustLeastSquares,
    InstrumentalVariables,
    TotalLeastSquares,
)
_OF_THE_SET = (LinearHull, BoundingEllipsoid, TightEllipsoid, HullAndEllipsoid)
"""What encloses the consistent set, and may start from any box that is proved to hold it. A relaxed hull must not: what
violates a row may lie outside."""


def without_fixed(problem: LinearProblem) -> tuple[LinearProblem, dict[str, float]]:
    """The problem in its free unknowns, and the values of those that the prior fixes.

    Examples:
        >>> import gough
        >>> prior = gough.Box([-9.0, 2.0], [9.0, 2.0])
        >>> problem = gough.LinearProblem([[1.0, 1.0]], [5.0], gough.Unknowns(["a", "b"], prior=prior))
        >>> free, fixed = without_fixed(problem)
        >>> free.unknowns.names, free.y, fixed
        (('a',), array([3.]), {'b': 2.0})
    """
    unknowns = problem.unknowns
    is_fixed = unknowns.is_fixed
    if not is_fixed.any():
        return problem, {}
    values = unknowns.bounds.lower[is_fixed]
    names = [name for name, fixed in zip(unknowns.names, is_fixed, strict=True) if not fixed]
    known = {name: float(unknowns.bounds.lower[unknowns.index(name)]) for name in unknowns.names if name not in names}
    y: Array = problem.y - problem.W[:, is_fixed] @ values
    return replace(problem, W=problem.W[:, ~is_fixed], y=y, unknowns=unknowns.select(names)), known


def answers(
    problem: LinearProblem,
    bounded: LinearProblem,
    methods: Mapping[str, Method[LinearProblem]],
    on_method: Callable[[str], object],
) -> tuple[dict[str, Estimate], dict[str, str]]:
    """Estimates by label, whatever their status; and for methods that could not begin, the reason.

    Statistical methods are given `problem`, sets `bounded`.
    """
    estimates, refused = {}, {}
    for label, method in methods.items():
        on_method(label)
        try:
            estimates[label] = _answer(problem, bounded, method)
        except GoughError as error:
            refused[label] = str(error)
    return estimates, refused


def _answer(problem: LinearProblem, bounded: LinearProblem, method: Method[LinearProblem]) -> Estimate:
    if isinstance(method, _STATISTICAL):
        return estimate(problem, method, strict=False)
    if not isinstance(method, _OF_THE_SET):
        bounded = replace(bounded, unknowns=problem.unknowns)
    try:
        answer = estimate(bounded, method, strict=False)
    except AssumptionError:  # a method of the user's that wants a covariance
        return estimate(problem, method, strict=False)
    return replace(answer, unknowns=problem.unknowns)
