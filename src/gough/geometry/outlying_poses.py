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
    dropped, steps = _in_turn(tests, families)
    if not steps:
        return None
    counts, lefts, rests = (np.array(each) for each in zip(*steps, strict=True))
    k, removes = spare - rests, before - lefts
    trials = np.array([choices(len(tests.kept), m) for m in counts.tolist()])
    p = np.minimum(1.0, tests.chances(removes, k, lefts, rests) * np.exp(np.minimum(trials, 600.0)))
    # twice the logarithm of the likelihood, with the deviation that is left, less what the choice costs
    unit = np.maximum(lefts / np.maximum(rests, 1), 1.0 if tests.is_stated else 1e-300)
    score = -tests.rows * np.log(unit) - lefts / unit - k * np.log(tests.rows) - 2 * trials
    score[~(p * families < LEVEL)] = -np.inf
    i = int(score.argmax())
    if not score[i] > -np.inf:
        return None
    left = float(lefts[i])
    removed, nothing = float(removes[i]), np.zeros(0)
    best = Test(
        OUTLIERS, None, nothing, nothing, removed, int(k[i]), 1, float(p[i]), left, 0, tuple(dropped[: counts[i]])
    )
    return _confirmed(tests, best, families)


def _in_turn(tests: NestedTests, families: int) -> tuple[list[int], list[tuple[int, float, int]]]:
    """Poses by how badly they fit, each without those before it; and the fits without the first so many of them."""
    _, spare = tests.squares
    now = tests
    dropped, steps = list[int](), list[tuple[int, float, int]]()
    if len(tests.kept) <= _MANY:
        limit = 0 if tests.is_stated else 1
        most = min(_MOST, max(1, len(tests.kept) // _SHARE), max(0, (spare - limit) // tests.n))
        poses, lefts = tests.without_in_turn(most)
        if len(poses) == most:
            rests = spare - tests.n * np.arange(1, most + 1)
            return poses.tolist(), list(zip(range(1, most + 1), lefts.tolist(), rests.tolist(), strict=True))
    while len(dropped) < max(1, len(tests.kept) // _SHARE):
        removes, dof = now.deleted()
        worst = now.kept[[int(removes.argmax())]]
        if len(now.kept) > _MANY:
            worst = _standing_out(now, removes, dof, LEVEL / families / len(now.kept))
            if not len(worst):
                break
        dropped += worst.tolist()
        now = now.without(worst)
        left, rest = now.squares
        if rest < (0 if tests.is_stated else 1) or spare <= rest:
            break
        steps.append((len(dropped), left, rest))
        if len(dropped) >= _MOST and len(worst) == 1:
            break
    return dropped, steps


def _standing_out(tests: NestedTests, removes: Array, dof: Integers, limit: float) -> Integers:
    """Poses without each of which the fit is much better: of many poses one hardly moves the others."""
    order = np.argsort(-removes)[:_AT_ONCE]
    left, rest = tests.squares
    k = dof[order]
    chances = tests.chances(removes[order], np.maximum(k, 1), left - removes[order], rest - k)
    fits = np.flatnonzero(chances >= limit)
    return tests.kept[order[: fits[0] if len(fits) else len(order)]]


def choices(n: int, m: int) -> float:
    """The logarithm of the number of sets of m among n."""
    return lgamma(n + 1) - lgamma(m + 1) - lgamma(n - m + 1)


def _confirmed(tests: NestedTests, found: Test, families: int) -> Test | None:
    """The set without poses that the calibration of the others predicts well enough."""
    chosen = confirmed(tests, found.poses, LEVEL / families)
    return of_poses(tests, found, chosen) if chosen else None


def of_poses(tests: NestedTests, found: Test, poses: tuple[int, ...]) -> Test:
    """The test of some of the poses that it is about."""
    (left, rest), (before, spare) = tests.without(np.array(poses)).squares, tests.squares
    return found._replace(poses=poses, removes=before - left, dof=max(spare - rest, 1), left=left)


def confirmed(tests: NestedTests, poses: tuple[int, ...], level: float) -> tuple[int, ...]:
    """Those of these poses that the calibration of all others does not predict, at the level for all poses together."""
    chosen = np.array(poses)
    while len(chosen):
        clean = tests.without(chosen)
        left, rest = clean.squares
        removes = missed(clean, chosen, clean.residuals[chosen])
        chances = np.array([clean.chance(each, tests.n, left, rest) for each in removes])
        bad = chances * len(tests.kept) < level
        if bad.all():
            break
        chosen = chosen[bad]
    return tuple(chosen.tolist())


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
