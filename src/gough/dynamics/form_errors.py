"""The uncertainty of numbers that make the form of an effect, such as a Stribeck speed, as part of ±."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import GoughError
from gough.core.text import listed, number
from gough.data import MeasuredMotion
from gough.dynamics.effect_rows import correlated_rows
from gough.dynamics.with_effects import FormNumber, WithEffects
from gough.estimates import Claim, Estimate, Method, Status
from gough.problem import LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.robots.model import DynamicModel
from gough.unknowns import Unknowns

_SURE = 3.0
"""Standard deviations by which an effect must stand out before its number counts as an unknown to first order: the data
do not determine that of an effect that may be absent."""
_SAID = 0.05
"""Part by which a σ grows from which on a note says so."""
_COARSE, _NEAR, _REACH = 25, 8, 4.0
"""Values of a number over its whole range, values on either side near the best one, and their reach in its σ."""
_LEAST_STEP = 1e-3
"""Relative step of a number from which its σ is computed."""


def with_form_errors(
    answer: Estimate, method: Method[LinearProblem], problem: LinearProblem, robot: DynamicModel, motion: MeasuredMotion
) -> Estimate:
    """An estimate whose covariance includes that the numbers of the effects' forms are estimated, too.

    A number with a range, such as a Stribeck speed, may be anywhere in it with the weight of its likelihood: what it
    adds is the scatter of the estimate, and the change of its covariance, over that range. Other numbers, such as wave
    numbers, are known but for a small ±, and count to first order.
    """
    region = answer.region
    if not isinstance(region, ConfidenceEllipsoid) or answer.claim is not Claim.CONFIDENCE:
        return answer
    if answer.status is not Status.OK or not isinstance(robot, WithEffects):
        return answer
    numbers = robot.form_numbers(motion)
    ratio = dict(zip(answer.unknowns.names, (abs(answer.value) / region.sigma).tolist(), strict=True))
    slopes, counted = robot.form_slopes(motion), {one.of for one in numbers}
    sure = [
        k
        for k, (names, (effect, _)) in enumerate(zip(slopes.names, slopes.members, strict=True))
        if effect not in counted and max(ratio.get(name, 0.0) for name in names) > _SURE
    ]
    added = [over_range(answer, problem, one, region.sigma) for one in numbers]
    added.append(_to_first_order(method, problem, slopes.rows[:, sure]))
    more = sum((each for each in added if each is not None), np.zeros_like(region.covariance))
    if not more.any():
        return answer
    covariance = region.covariance + more
    grown = np.sqrt(covariance.diagonal()) / region.sigma
    notes = answer.notes
    if grown.max() > 1 + _SAID:
        first = sorted(np.flatnonzero(grown > 1 + _SAID).tolist(), key=lambda k: -grown[k])[:3]
        each = [f"{answer.unknowns.names[k]} by {number(float(grown[k]), digits=2)}" for k in first]
        notes = (*notes, f"That the forms of effects are estimated too multiplies σ of {listed(each)}.")
    return replace(answer, region=replace(region, covariance=covariance), notes=notes)


def over_range(answer: Estimate, problem: LinearProblem, number: FormNumber, printed: Array) -> Array | None:
    """What a number adds to the covariance, by its likelihood over its range; the other numbers stay as they are.

    With the other columns A and the effect's E, estimates are T φ plus what does not depend on E, where T = [−A⁺E; 1]
    and φ = (EᵀP E)⁻¹ EᵀP y with the projector P onto the complement of A.

    Args:
        answer: The estimate with the numbers as they are.
        problem: What it solves.
        number: The number.
        printed: σ of the answer.
    """
    names = problem.unknowns.names
    if not set(number.names) <= set(names) or min(number.value, *number.limits) <= 0:
        return None  # regrouped with others, or the actuator does not move
    own = [names.index(name) for name in number.names]
    others = np.setdiff1d(np.arange(len(names)), own)
    weight = _weights(answer, problem, number.motion)
    A, y = problem.W[:, others] * weight[:, None], problem.y * weight
    size = np.linalg.norm(A, axis=0)
    size = np.where(size > 0, size, 1.0)
    Q, R = np.linalg.qr(A / size)
    inverse = np.linalg.pinv(R, rcond=1e-12) / size[:, None]
    y = y - Q @ (Q.T @ y)
    together = correlated_rows(number.motion)

    def fitted(value: float, E: Array) -> _AtNumber:
        E = E * weight[:, None]
        absorbed = Q.T @ E
        E = E - Q @ absorbed
        T = np.zeros((len(names), len(own)))
        T[others], T[own] = -inverse @ absorbed, np.eye(len(own))
        C = np.linalg.pinv(E.T @ E, rcond=1e-12, hermitian=True)
        phi = C @ (E.T @ y)
        return _AtNumber(value, T @ phi, together * T @ C @ T.T, float(phi @ (E.T @ y)) / together)

    best, below, above = (
        fitted(value, E)
        for value, E in _columns(number, [number.value * f for f in (1.0, 1 - _LEAST_STEP, 1 + _LEAST_STEP)])
    )
    bend = max(2 * best.ratio - below.ratio - above.ratio, 0.0)
    sigma = _LEAST_STEP * np.sqrt(2 / bend) if bend > 0 else np.inf
    every = [fitted(value, E) for value, E in _columns(number, _grid(number, sigma))]
    weights = _posterior(every)
    more = -best.covariance
    for share, one in zip(weights.tolist(), every, strict=True):
        moved = one.estimate - best.estimate
        more = more + share * (one.covariance + np.outer(moved, moved))
    return _nonnegative(more, np.maximum(printed, 1e-150))


class _AtNumber(NamedTuple):
    """The fit at one value of a number."""

    value: float
    estimate: Array
    """Of all unknowns, less what does not depend on the number."""
    covariance: Array
    """Of all unknowns, less what does not depend on the number."""
    ratio: float
    """Twice the logarithm of the likelihood ratio against the model without the effect."""


def _columns(number: FormNumber, values: Sequence[float]) -> "zip[tuple[float, Array]]":
    return zip(values, number.rows(values), strict=True)


def _grid(number: FormNumber, sigma: float) -> list[float]:
    """Values over the whole range, and close ones near the best, rising; σ is relative."""
    low, high = min(number.limits[0], number.value), max(number.limits[1], number.value)
    coarse = np.geomspace(low, high, _COARSE)
    reach = min(_REACH * sigma, float(np.log(high / low)))
    near = number.value * np.exp(reach * np.linspace(-1, 1, 2 * _NEAR + 1))
    return np.unique(np.concatenate([coarse, np.clip(near, low, high)])).tolist()


def _posterior(every: Sequence[_AtNumber]) -> Array:
    """The share of each value: its likelihood times what it stands for of the logarithm, by the trapezoidal rule."""
    gaps = np.diff(np.log([one.value for one in every]))
    width = (np.append(gaps, 0.0) + np.append(0.0, gaps)) / 2 if len(gaps) else np.ones(1)
    ratio = np.array([one.ratio for one in every])
    share = np.exp((ratio - ratio.max()) / 2) * width
    return np.asarray(share / share.sum())


def _nonnegative(more: Array, sigma: Array) -> Array:
    """The part of a change of the covariance that makes it larger, in units of σ."""
    values, V = np.linalg.eigh((more + more.T) / 2 / np.outer(sigma, sigma))
    return np.asarray((V * np.maximum(values, 0.0)) @ V.T * np.outer(sigma, sigma))


def _weights(answer: Estimate, problem: LinearProblem, motion: MeasuredMotion) -> Array:
    """One over the residual rms of each row's actuator."""
    group = np.nonzero(motion.kept)[1]
    r = problem.residuals(answer.value)
    scale = np.sqrt(np.bincount(group, r**2) / np.maximum(np.bincount(group), 1))
    return np.asarray(1 / np.where(scale > 0, scale, 1.0)[group])


def _to_first_order(method: Method[LinearProblem], problem: LinearProblem, slopes: Array) -> Array | None:
    """What numbers that are known but for a small ± add to the covariance; None where that is nothing.

    They are added to the unknowns to first order, and the method is asked again. With its covariance [A B; Bᵀ D] of
    the old and the additional unknowns, B D⁻¹ Bᵀ is what not knowing the numbers costs.

    Args:
        method: By which the estimate was made.
        problem: What it solves.
        slopes: (rows, numbers) how the efforts change with each.
    """
    if not slopes.shape[1]:
        return None
    n = len(problem.unknowns)
    try:
        again = method.estimate(_extended(problem, slopes))
    except GoughError:
        return None
    if not isinstance(again.region, ConfidenceEllipsoid) or len(again.value) != n + slopes.shape[1]:
        return None
    C = again.region.covariance
    more = C[:n, n:] @ np.linalg.solve(C[n:, n:], C[n:, :n])
    return np.asarray((more + more.T) / 2)


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
