"""Greedy choice and exchange: which of many candidate poses to measure."""

from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array, Mask
from gough.core.progress import OnProgress, Progress
from gough.core.threads import one_blas_thread
from gough.designs.poses.criteria import DCriterion, ECriterion, PoseCriterion
from gough.designs.poses.information import information_of

RIDGE = 1e-7
"""Share of an average pose's information that is added to each direction, so that small sets have a criterion too."""
_CHUNK = 256
_SWEEPS = 100
_BETTER = 1e-9
"""A criterion, a logarithm, must fall by this much for an exchange to count."""


@one_blas_thread()
def greedy(
    Z: Array,
    count: int,
    criterion: PoseCriterion,
    known: Array,
    *,
    first: Sequence[int] = (),
    repeats: bool = False,
    chosen: list[int] | None = None,
) -> list[int]:
    """`count` candidates, one after the other, each the one that improves the criterion most beside those before it.

    With a criterion whose gains diminish, last round's gains bound this round's, and only the few are looked into that
    could win [MIN78]: the answer is that of the plain greedy method. Where E is asked for, D leads the way, since λ_min
    is zero until the last direction is seen. `chosen` is filled on the way, for whoever interrupts it.
    """
    start: PoseCriterion = DCriterion() if isinstance(criterion, ECriterion) else criterion
    selected = chosen if chosen is not None else []
    selected += first
    M = information_of(Z, selected, known + RIDGE * np.eye(Z.shape[2]))
    upper = np.full(len(Z), np.inf)
    allowed = np.ones(len(Z), dtype=bool)
    if not repeats:
        allowed[selected] = False
    while len(selected) < count:
        k = _most(start, M, Z, allowed, upper) if start.diminishes else start.best(M, Z, allowed)[0]
        selected.append(k)
        M = M + Z[k].T @ Z[k]
        allowed[k] = repeats
    return selected


def _most(criterion: PoseCriterion, M: Array, Z: Array, allowed: Mask, upper: Array) -> int:
    """The candidate with the largest gain; `upper`, bounds of the gains, is tightened."""
    fresh = np.zeros(len(Z), dtype=bool)
    if np.isinf(upper).all():
        upper[:] = criterion.gains(M, Z)
        fresh[:] = True
    chunk = _CHUNK
    while True:
        open_ = np.where(allowed & ~fresh, upper, -np.inf)
        done = np.where(allowed & fresh, upper, -np.inf)
        best = int(done.argmax())
        if done[best] >= open_.max():
            return best
        n = min(chunk, int((open_ > done[best]).sum()))
        rows = np.argpartition(-open_, n - 1)[:n]
        chunk *= 2
        upper[rows] = criterion.gains(M, Z[rows])
        fresh[rows] = True


@one_blas_thread()
def exchange(
    Z: Array,
    chosen: list[int],
    criterion: PoseCriterion,
    known: Array,
    *,
    repeats: bool = False,
    on_progress: OnProgress = lambda _: None,
) -> None:
    """Replace chosen poses, one at a time, by the candidate that serves best in its place, until none does better.

    Fedorov's exchange [FED72], each pose of the set in turn as in [CN80]: the best replacement of a pose is the best
    addition to the rest. A tenth of the candidates, those that would add most to the whole set, are tried first; the
    search ends when no exchange with any candidate improves the criterion. The list is changed in place, and is better
    after each step, so that it may be interrupted.
    """
    ridge = known + RIDGE * np.eye(Z.shape[2])
    value = criterion.value(information_of(Z, chosen, ridge))
    few = max(512, len(Z) // 10)
    for sweep in range(_SWEEPS):
        on_progress(Progress(sweep, _SWEEPS, "exchange", value))
        if len(Z) > few:
            lead = DCriterion() if isinstance(criterion, ECriterion) else criterion
            gains = lead.gains(information_of(Z, chosen, ridge), Z)
            short = np.union1d(np.argpartition(-gains, few)[:few], chosen)
            place = {int(row): i for i, row in enumerate(short)}
            some = [place[row] for row in chosen]
            for _ in range(_SWEEPS):
                better = _sweep(Z[short], some, criterion, ridge, value, repeats=repeats)
                chosen[:] = [int(short[i]) for i in some]
                if better == value:
                    break
                value = better
        better = _sweep(Z, chosen, criterion, ridge, value, repeats=repeats)
        if better == value:
            return
        value = better


def _sweep(
    Z: Array, chosen: list[int], criterion: PoseCriterion, ridge: Array, value: float, *, repeats: bool
) -> float:
    """Each pose exchanged once if that helps; the criterion afterwards."""
    for place in range(len(chosen)):
        others = [row for i, row in enumerate(chosen) if i != place]
        rest = information_of(Z, others, ridge)
        allowed = np.ones(len(Z), dtype=bool)
        if not repeats:
            allowed[others] = False
        k, _ = criterion.best(rest, Z, allowed)
        trial = criterion.value(rest + Z[k].T @ Z[k])
        if k != chosen[place] and trial < value - _BETTER:
            chosen[place], value = k, trial
    return value
