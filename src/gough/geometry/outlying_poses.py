"""Poses that do not fit the others: sets of them are left out, each tested against the calibration without it."""

from dataclasses import replace
from math import lgamma

import numpy as np

from gough.core.arrays import Array, Integers
from gough.geometry.descent import approach
from gough.geometry.geometric import geometric
from gough.geometry.mistakes.outliers import MISTAKE as OUTLIERS
from gough.geometry.nested import LEVEL, NestedTests, Test, fitted_at

_MOST = 6
"""Poses that are left out one by one; of many poses, all that stand out are left out together."""
_SHARE = 4
"""At most one of so many poses is left out."""
_MANY = 200
"""More poses than these do not hide one another …"""
_AT_ONCE = 1000
"""… and so many are left out together."""
_FEW = 3
_FITS = 1e-4
"""Exchanged readings fit if errors as large as theirs are more probable than this."""


def outlying(tests: NestedTests, families: int) -> Test | None:
    """The set of poses without which the calibration fits best; None where no pose stands out."""
    before, spare = tests.squares
    now = tests
    dropped: list[int] = []
    best: tuple[float, int, Test] | None = None
    while len(dropped) < max(1, len(tests.kept) // _SHARE):
        removes, dof = now.deleted()
        order = np.argsort(-removes)
        worst = [int(now.kept[order[0]])]
        if len(now.kept) > _MANY:  # one pose hardly moves the others
            left, rest = now.squares
            limit = LEVEL / families / len(now.kept)
            worst = []
            for k in order[:_AT_ONCE]:
                if now.chance(removes[k], int(dof[k]) or 1, left - removes[k], rest - int(dof[k])) >= limit:
                    break
                worst.append(int(now.kept[k]))
            if not worst:
                break
        dropped += worst
        now = now.without(np.array(worst))
        left, rest = now.squares
        if rest <= 0 and not (tests.is_stated and rest == 0):
            break
        k, m = spare - rest, len(dropped)
        if k <= 0:
            break
        trials = _choices(len(tests.kept), m)
        p = min(1.0, tests.chance(before - left, k, left, rest) * np.exp(min(trials, 600.0)))
        test = Test(OUTLIERS, None, np.zeros(0), np.zeros(0), before - left, k, 1, p, left, 0, tuple(dropped))
        # twice the logarithm of the likelihood, with the deviation that is left, less what the choice costs
        unit = max(left / max(rest, 1), 1.0 if tests.is_stated else 0.0, 1e-300)
        score = -tests.rows * np.log(unit) - left / unit - k * np.log(tests.rows) - 2 * trials
        if p * families < LEVEL and (best is None or score > best[0]):
            best = (score, m, test)
        if m >= _MOST and len(worst) == 1:
            break
    return None if best is None else _confirmed(tests, best[2], families)


def _choices(n: int, m: int) -> float:
    """The logarithm of the number of sets of m among n."""
    return lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1)


def _confirmed(tests: NestedTests, found: Test, families: int) -> Test | None:
    """The set without poses that the calibration of the others predicts well enough."""
    chosen = np.array(found.poses)
    while len(chosen):
        clean = tests.without(chosen)
        left, rest = clean.squares
        removes = missed(clean, chosen, clean.residuals[chosen])
        chances = np.array([clean.chance(each, tests.n, left, rest) for each in removes])
        bad = chances * len(tests.kept) * families < LEVEL
        if bad.all():
            before, spare = tests.squares
            return found._replace(
                poses=tuple(chosen.tolist()), removes=before - left, dof=max(spare - rest, 1), left=left
            )
        chosen = chosen[bad]
    return None


def missed(clean: NestedTests, rows: Integers, residuals: Array) -> Array:
    """Squares (rows,) of closure errors at poses that took no part, by their own noise and that of the prediction."""
    V, r = clean.spread(rows)
    r = r + (clean.whitener[rows] @ (residuals - clean.residuals[rows])[..., None])[..., 0]
    S = np.eye(clean.n) + V @ np.swapaxes(V, 1, 2)
    return np.asarray(np.einsum("ni,ni->n", r, np.linalg.solve(S, r[..., None])[..., 0]))


def exchanged(tests: NestedTests, poses: tuple[int, ...], theta: Array) -> tuple[int, int] | None:
    """Two of these poses that fit the others if each has the readings of the other; None without any.

    Of more than three poses, the rest must fit too: large errors of two make others stand out.

    Args:
        tests: The calibration.
        poses: Poses that do not fit.
        theta: The calibrated parameters.
    """
    if not 2 <= len(poses) <= _MOST:
        return None
    fitted = tests.fitted
    model, every = fitted.model, fitted.poses
    clean = np.setdiff1d(tests.kept, poses)
    plain = replace(every.select(clean), covariance=None, common=None, reading_sigma=None)
    free = [model.names[k] for k in tests.free]
    theta = approach(geometric(model, plain, start=theta, free=free, form="length"), theta).theta
    best: tuple[float, tuple[int, int]] | None = None
    for i, a in enumerate(poses):
        for b in poses[:i]:
            readings = every.readings.copy()
            readings[[a, b]] = readings[[b, a]]
            swapped = replace(every, readings=readings)
            at, residuals, own = fitted_at(model, swapped, theta, scale=1.0, fixed=fitted.fixed)
            trial = replace(tests, fitted=at, residuals=residuals, own=own, kept=clean)
            left, rest = trial.squares
            pair = np.array([a, b])
            removes = float(missed(trial, pair, residuals[pair]).sum())
            chance = trial.chance(removes, 2 * tests.n, left, rest)
            others = np.setdiff1d(poses, pair)
            if len(poses) > _FEW:
                missing = missed(trial, others, residuals[others])
                chance = min(chance, *(trial.chance(float(each), tests.n, left, rest) for each in missing))
            if rest > 0 and chance > _FITS and (best is None or chance > best[0]):
                best = (chance, (min(a, b), max(a, b)))
    return None if best is None else best[1]
