"""How far the answer of a solver is from the best possible one: a lower bound by Lagrange duality, computed here.

Bodies X_b, variables of no body a and the misfit y are affine functions of z. For all multipliers N_b, n and ν, and
μ ≥ 0 of the inequalities, with which the Lagrange function does not depend on z, its minimum over X_b ⪰ t·1, a and y is
below every possible value of the objective. It has a closed form in the eigenvalues of N_b. Multipliers of the solver
are changed by the least amount that makes the dependence on z vanish; if they are wrong the bound is low, never false.
Rounding errors of doubles are not enclosed.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.dynamics.bodies.program import Measure, Programs, Solution

_LARGEST = 1e3
"""Trace of a body and size of a variable, in units of the blueprint, within which a misfit is the least."""


class _Parts(NamedTuple):
    """Affine functions of z: their values at z = 0, their values at the answer, and their factors."""

    start: Array
    here: Array
    factors: Array


def distance_gap(programs: Programs, found: Solution, measure: Measure, misfit: float | None = None) -> float:
    """Distance of the answer from the blueprint minus a lower bound of it; `misfit` is the largest allowed, in σ.

    None: the base parameters are reproduced exactly.
    """
    start, P, y = _directions(programs, found, is_exact=misfit is None)
    bodies, weights = _bodies(programs, found, start, P)
    alone = np.flatnonzero(programs.alone)
    reference = programs.scaled.reference[alone]
    free = _Parts(start[alone], found.point[alone], P[alone])
    limits, mu = _limits(programs, found, start, P)
    value, N = 0.0, []
    for part, weight, dual in zip(bodies, weights, found.duals, strict=True):
        d = round(len(part.here) ** 0.5)
        X = part.here.reshape(d, d)
        gradient = X - np.eye(d) if measure == "frobenius" else np.eye(d) - np.linalg.inv(X)
        value += weight * float(_distances(_eigenvalues(X), measure).sum())
        N.append(weight * gradient - _symmetric(dual))
    value += float(((free.here - reference) ** 2).sum()) / 2
    n = free.here - reference
    along = found.near * y.here / (float(np.linalg.norm(y.here)) or 1.0)
    parts, multipliers = [*bodies, free, y], [*(each.reshape(-1) for each in N), n, along]
    metrics = [_metric(part, measure) for part in bodies]
    left = _made_stationary(parts, multipliers, limits, mu, metrics)
    *duals, n, along = multipliers
    bound = _constant(parts, multipliers, limits, mu) - _LARGEST * left
    for part, weight, vector in zip(bodies, weights, duals, strict=True):
        d = round(len(part.here) ** 0.5)
        least = min(programs.inside, float(_eigenvalues(part.here.reshape(d, d))[0]))
        # x − log x − 1 > x/2 − 1/2: a body with a larger eigenvalue is by itself farther away than the answer
        most = 2 * value / weight + 4
        n_of_body = _eigenvalues(_symmetric(vector.reshape(d, d)))
        bound += _least_of_body(n_of_body, weight, (least, most), measure)
    bound += float(-(n**2).sum() / 2 - n @ reference)
    if misfit is not None:
        radius = max(_within(programs, misfit), float(np.linalg.norm(y.here)))
        bound -= radius * float(np.linalg.norm(along))
    return value - bound


def misfit_gap(programs: Programs, found: Solution) -> float:
    """Misfit of the answer minus a lower bound of it, in σ.

    The bound is that of robots whose bodies and variables are at most a thousand times as large as the blueprint's, or
    twice those of the answer where these are larger.
    """
    start, P, y = _directions(programs, found, is_exact=False)
    bodies, _ = _bodies(programs, found, start, P)
    limits, mu = _limits(programs, found, start, P)
    size = float(np.linalg.norm(y.here))
    duals = [-_symmetric(dual).reshape(-1) for dual in found.duals]
    parts, multipliers = [*bodies, y], [*duals, y.here / (size or 1.0)]
    # what a multiplier of a body errs by counts a thousand times, that of the misfit once
    left = _made_stationary(parts, multipliers, limits, mu, [np.eye(len(each)) / _LARGEST for each in duals])
    shrink = max(1.0, float(np.linalg.norm(multipliers[-1])))
    bound = _constant(parts, multipliers, limits, mu) - max(_LARGEST, 2 * float(abs(found.point).max())) * left
    for part, vector in zip(bodies, multipliers[:-1], strict=True):
        d = round(len(part.here) ** 0.5)
        X = part.here.reshape(d, d)
        least, most = min(programs.inside, float(_eigenvalues(X)[0])), max(_LARGEST, 2 * float(np.trace(X)))
        values = _eigenvalues(_symmetric(vector.reshape(d, d)))
        bound -= least * float(values.sum()) + most * max(float(values[-1]), 0.0)
    return size - bound / shrink


def _directions(programs: Programs, found: Solution, *, is_exact: bool) -> tuple[Array, Array, _Parts]:
    """The scaled variables at z = 0 and their factors, and the misfit as a function of z."""
    if is_exact:
        start, N = programs.reproduced
        none = np.zeros(0)
        return start, N, _Parts(none, none, np.zeros((0, N.shape[1])))
    onto, Q, N = programs.by_misfit
    P = np.hstack([onto, N])
    zero = np.zeros(onto.shape[1])
    here = Q.T @ (programs.A @ found.point - programs.b)
    return onto @ (Q.T @ programs.b), P, _Parts(zero, here, np.eye(len(zero), P.shape[1]))


def _bodies(programs: Programs, found: Solution, start: Array, P: Array) -> tuple[list[_Parts], list[float]]:
    parts = [_Parts(K @ start + k, K @ found.point + k, K @ P) for K, k in programs.scaled.affine]
    return parts, [float(len(body.members)) for body in programs.scaled.complete.bodies]


def _limits(programs: Programs, found: Solution, start: Array, P: Array) -> tuple[_Parts, Array]:
    """Linear functions that must not be negative, lifted where the answer is below 0, and their multipliers."""
    rows = programs.nonnegative_rows
    constants = np.array([0.0] * (len(rows) - len(programs.scaled.within)) + [c for _, c in programs.scaled.within])
    here = rows @ found.point + constants
    lift = np.maximum(-here, 0.0)
    return _Parts(rows @ start + constants + lift, here + lift, rows @ P), np.maximum(found.limits, 0.0)


def _metric(part: _Parts, measure: Measure) -> Array:
    """Units in which changes of the multiplier of a body are measured: those of the curvature of its distance."""
    d = round(len(part.here) ** 0.5)
    if measure == "frobenius":
        return np.eye(d * d)
    values, vectors = np.linalg.eigh(part.here.reshape(d, d))
    root = (vectors / np.sqrt(values)) @ vectors.T
    return np.kron(root, root)


def _made_stationary(
    parts: list[_Parts], multipliers: list[Array], limits: _Parts, mu: Array, metrics: Sequence[Array] = ()
) -> float:
    """Change the multipliers by the least amount so that nothing depends on z; what is left for rounding, summed."""
    units = [*metrics, *(np.eye(len(each)) for each in multipliers[len(metrics) :])]
    factors = np.vstack([part.factors for part in parts])
    scaled = np.vstack([unit.T @ part.factors for unit, part in zip(units, parts, strict=True)])
    wanted = limits.factors.T @ mu
    for _ in range(2):
        rest = wanted - factors.T @ np.concatenate(multipliers)
        change = np.linalg.lstsq(scaled.T, rest, rcond=1e-13)[0] if rest.size else np.zeros(len(factors))
        at = 0
        for k, (each, unit) in enumerate(zip(multipliers, units, strict=True)):
            multipliers[k] = each + unit @ change[at : at + len(each)]
            at += len(each)
    return float(abs(wanted - factors.T @ np.concatenate(multipliers)).sum())


def _constant(parts: list[_Parts], multipliers: list[Array], limits: _Parts, mu: Array) -> float:
    """The part of the Lagrange function that depends on nothing."""
    total = sum(float(each @ part.start) for part, each in zip(parts, multipliers, strict=True))
    return total - float(mu @ limits.start)


def _distances(x: Array, measure: Measure) -> Array:
    return (x - 1) ** 2 / 2 if measure == "frobenius" else x - np.log(x) - 1


def _least_of_body(n: Array, weight: float, ends: tuple[float, float], measure: Measure) -> float:
    """The minimum of weight · distance − ⟨N, X⟩ over X with eigenvalues between the ends, by the eigenvalues of N."""
    least, most = ends
    if measure == "frobenius":
        x = np.maximum(least, 1 + n / weight)
    else:
        x = np.clip(weight / np.maximum(weight - n, weight / most), least, most)
    return float((weight * _distances(x, measure) - n * x).sum())


def _eigenvalues(M: Array) -> Array:
    return np.asarray(np.linalg.eigvalsh(M), dtype=np.float64)


def _symmetric(M: Array) -> Array:
    return (M + M.T) / 2


def _within(programs: Programs, misfit: float) -> float:
    """The part of a misfit that a point can change."""
    return float(np.sqrt(max(misfit**2 - programs.outside**2, 0.0)))
