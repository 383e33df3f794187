"""Mistakes of signs and units that explain impossible parameters: each is tried, and named if a test supports it."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations, product
from math import pi

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import GoughError
from gough.core.text import listed, number
from gough.data import MeasuredMotion
from gough.dynamics.physical_cone import PhysicalCone, has_base, sizes_of
from gough.dynamics.recorded import recorded
from gough.dynamics.reduce import reduced
from gough.estimates import Estimate, estimate
from gough.methods import LeastSquares
from gough.methods.statistical import linear
from gough.methods.statistical.identifiability import Identifiability, identifiability
from gough.methods.statistical.whitening import Unweighted
from gough.problem import LinearProblem
from gough.region import ConfidenceEllipsoid
from gough.robots.mechanism.closed_chain import MechanismModel
from gough.robots.model import DynamicModel
from gough.robots.physical import physical_limits
from gough.unknowns import Unknowns

_MOST_MOTORS = 10
"""Robots with more actuators are tested for one wrong sign, and for all, only."""
_ALIKE = 1.05
"""Ratio of sums of squares below which two explanations fit alike."""
_HALVED = 0.25
"""Ratio of sums of squares below which other signs or units count as an explanation by the residuals alone."""
_ROWS, _MOST_ROWS = 4, 6000
"""Rows for each unknown without which other orders are not tried, and rows that suffice to try them."""
_SOME = 1e-3
"""Share of the sum of squares of the efforts from which on exchanged efforts are tried."""
_LARGE = 0.05
"""Share of the sum of squares of the efforts from which on residuals suggest mistaken units of the coordinates."""
_FACTORS = {1000.0: "1000", 0.001: "1/1000", 9.81: "g = 9.81", 1 / 9.81: "1/g = 1/9.81"}
"""Factors by which mistaken units multiply efforts."""
_NEAR = 2.0
"""A parameter agrees with the blueprint within this factor."""
_DETERMINED = 5.0
"""Standard deviations from zero beyond which a parameter's ratio to the blueprint is counted."""
_FEWEST = 3
"""Parameters with such a ratio that a claim about units needs."""


def wrong_sign(cone: PhysicalCone, problem: LinearProblem, robot: DynamicModel, *, is_refuted: bool) -> str:
    """The actuators whose efforts, negated, give physical parameters without a larger residual, as a sentence.

    Where the parameters are not refuted, residuals must fall to less than half.
    """
    groups = problem.groups
    n, p = len(groups), problem.W.shape[1]
    squares, gram, sums = np.zeros(n), np.zeros((n, p, p)), np.zeros((n, p))
    for rows in problem.blocks():
        own = groups.positions(rows) % n
        for g in range(n):
            W, y = problem.W[rows][own == g], problem.y[rows][own == g]
            squares[g] += y @ y
            gram[g] += W.T @ W
            sums[g] += W.T @ y
    if not (squares > 0).all():
        return ""
    whole = np.einsum("gij,g->ij", gram, 1 / squares)
    size = np.sqrt(whole.diagonal())
    explained = np.linalg.lstsq(whole / np.outer(size, size), (sums / squares[:, None] / size).T, rcond=None)[0]
    K = (sums / squares[:, None] / size) @ explained

    def left(pattern: Array) -> float:
        return float(max(n - pattern @ K @ pattern, 1e-12 * n))

    given = left(np.ones(n))
    most = given * (1 + 1e-9) if is_refuted else _HALVED * given
    fits: list[Array] = []
    for pattern in sorted(_patterns(n, K), key=left):
        if left(pattern) > most or (fits and left(pattern) > _ALIKE * left(fits[0])):
            break
        turned = replace(problem, y=problem.y * pattern[groups.of_row(problem.n_rows)], unknowns=_free(problem))
        again = estimate(turned, LeastSquares(), strict=False)
        test = cone.test(again, sizes_of(turned)) if has_base(cone.analysis, again) else None
        if test is not None and not test.is_refuted:
            fits.append(pattern)
    if not fits:
        return ""
    texts = [_negated(pattern, robot.actuators) for pattern in fits]
    better = ""
    if left(fits[0]) < given / _ALIKE:
        better = f", and the residuals fall to {number(np.sqrt(left(fits[0]) / given) * 100, digits=2)} % of theirs"
    advice = "check the sign of these channels, of the gain and of the coordinates"
    return f"With {' or with '.join(texts)} the parameters are physically possible{better}: {advice}."


def wrong_order(cone: PhysicalCone, problem: LinearProblem, robot: DynamicModel) -> str:
    """Two actuators whose efforts, exchanged, leave less than half of the residuals, as a sentence."""
    groups, n = problem.groups, len(problem.groups)
    if n < 2:
        return ""
    position = np.asarray(groups.positions(slice(0, problem.n_rows)))
    sample, own = position // n, position % n
    complete = np.bincount(sample) == n
    chosen = np.flatnonzero(complete[sample])
    if len(chosen) < _ROWS * problem.W.shape[1]:
        return ""
    chosen = chosen[: _MOST_ROWS // n * n]
    W, y = problem.W[chosen], problem.y[chosen].reshape(-1, n)
    scale = np.sqrt((y**2).mean(axis=0))
    if not (scale > 0).all():
        return ""
    weight = 1 / scale[own[chosen]]
    Q = np.linalg.qr(W * weight[:, None])[0]

    def left(order: Sequence[int]) -> float:
        z = y[:, list(order)].reshape(-1) * weight
        return max(float(z @ z - np.sum((Q.T @ z) ** 2)), 1e-12 * float(z @ z))

    usual = list(range(n))
    given = left(usual)
    if given < _SOME * y.size:
        return ""
    best, pair = given, (0, 0)
    for i, k in combinations(range(n), 2):
        order = usual.copy()
        order[i], order[k] = k, i
        if (now := left(order)) < best:
            best, pair = now, (i, k)
    if best > _HALVED * given:
        return ""
    order = usual.copy()
    order[pair[0]], order[pair[1]] = pair[1], pair[0]
    exchanged = y[:, order].reshape(-1)
    turned = replace(problem, W=W, y=exchanged, groups=groups.select(chosen), unknowns=_free(problem))
    again = estimate(turned, LeastSquares(), strict=False)
    test = cone.test(again, sizes_of(turned)) if has_base(cone.analysis, again) else None
    if test is None or test.is_refuted:
        return ""
    names = listed([robot.actuators[i] for i in pair])
    fall = number(np.sqrt(best / given) * 100, digits=2)
    return (
        f"With the efforts of {names} exchanged the parameters are physically possible, and the residuals fall to "
        f"{fall} % of theirs: check the columns of these channels, of efforts and of positions."
    )


def _negated(pattern: Array, actuators: Sequence[str]) -> str:
    turned = [name for name, sign in zip(actuators, pattern, strict=True) if sign < 0]
    return "all efforts negated" if len(turned) == len(actuators) else f"the efforts of {listed(turned)} negated"


def _patterns(n: int, K: Array) -> list[Array]:
    """Signs of the efforts to try: all, each by itself, and the best of all choices with its opposite."""
    ones = np.ones(n)
    tried = [-ones] if n == 1 else [-ones, *(ones - 2 * np.eye(n))]
    if 1 < n <= _MOST_MOTORS:
        every = (np.array([1.0, *rest]) for rest in product((1.0, -1.0), repeat=n - 1))
        best = max(every, key=lambda pattern: float(pattern @ K @ pattern))
        tried += [best, -best]
    known = {tuple(pattern): pattern for pattern in tried}
    known.pop(tuple(ones), None)
    return list(known.values())


def _free(problem: LinearProblem) -> Unknowns:
    """The unknowns without their prior."""
    return replace(problem.unknowns, prior=None)


def wrong_angles(
    robot: DynamicModel, problem: LinearProblem, motion: MeasuredMotion | None, *, is_refuted: bool
) -> str:
    """Whether angles in degrees that were read as radians, or the reverse, explain the data, as a sentence.

    Where the parameters are not refuted, it is tried only if the residuals are a large part of the efforts.
    """
    if motion is None or "rad" not in robot.coordinate_units:
        return ""
    given = _share_left(problem)
    if not is_refuted and given < _LARGE:
        return ""
    turns = np.array([unit == "rad" for unit in robot.coordinate_units])
    for factor, words in ((pi / 180, "degrees, read as radians"), (180 / pi, "radians, read as degrees")):
        try:
            free = recorded(robot, _scaled(motion, np.where(turns, factor, 1.0)))
            analysis = identifiability(free)
            again = free if analysis.is_full_rank else reduced(free, analysis)
            answer = estimate(again, LeastSquares(), strict=False)
        except GoughError:
            continue
        cone = PhysicalCone.of(physical_limits(robot), analysis)
        test = cone.test(answer, sizes_of(again)) if cone is not None and has_base(analysis, answer) else None
        if test is not None and not test.is_refuted and _share_left(again) < _HALVED * given:
            fall = number(np.sqrt(_share_left(again) / given) * 100, digits=2)
            return (
                f"If the angles were recorded in {words}, the parameters are physically possible and the residuals "
                f"fall to {fall} % of theirs: check the unit of the coordinates."
            )
    return ""


def _share_left(problem: LinearProblem) -> float:
    """Sum of squares that least squares leaves, over that of the efforts."""
    solution = linear.solve(replace(problem, unknowns=_free(problem)), Unweighted(), rtol=None)
    left = total = 0.0
    for rows in problem.blocks():
        left += float((problem.residuals(solution.theta, rows) ** 2).sum())
        total += float((problem.y[rows] ** 2).sum())
    return max(left / total, 1e-12) if total else 1.0


def _scaled(motion: MeasuredMotion, factor: Array) -> MeasuredMotion:
    full = motion.full_rate
    if full is not None:
        full = replace(full, q=full.q * factor, dq=full.dq * factor, ddq=full.ddq * factor)
    return replace(motion, q=motion.q * factor, dq=motion.dq * factor, ddq=motion.ddq * factor, full_rate=full)


def wrong_units(robot: DynamicModel, analysis: Identifiability, answer: Estimate) -> str:
    """Whether one factor of mistaken units leads from the description to the estimate, as a sentence.

    Only descriptions that the user wrote are compared: nominal values of built-in robots are those of examples.
    """
    if not isinstance(robot, MechanismModel):
        return ""
    nominal = dict(zip(robot.names, robot.nominal.tolist(), strict=True))
    stated = np.array([base.coefficients for base in analysis.base]) @ [nominal[name] for name in analysis.names]
    region = answer.region
    assert isinstance(region, ConfidenceEllipsoid)
    counted = (abs(region.center) > _DETERMINED * region.sigma) & (stated != 0)
    ratio = region.center[counted] / stated[counted]

    def agree(factor: float) -> int:
        return int(((ratio > factor / _NEAR) & (ratio < factor * _NEAR)).sum())

    if len(ratio) < _FEWEST or agree(1.0):
        return ""
    for factor, text in _FACTORS.items():
        if agree(factor) >= max(_FEWEST, 2 / 3 * len(ratio)):
            force = factor in (9.81, 1 / 9.81)
            units = "N and kgf" if force else "N·mm and N·m, or mN and N"
            masses = "" if force else ", and that of the description's masses (g and kg)"
            return (
                f"Of {len(ratio)} well-determined parameters, {agree(factor)} are about {text} times those of the "
                f"description, and none agrees with it within a factor of {_NEAR:g}: check the unit of the efforts "
                f"({units}){masses}."
            )
    return ""
