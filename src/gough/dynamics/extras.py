"""What an identification computes though nobody asked for it, and how much work that may be.

Work is estimated before it is done, from the numbers of rows and parameters, in units of about one nanosecond of a
processor of 2020. It depends on the problem alone, never on the clock: the same study has the same answers on every
computer.
"""

from collections.abc import Mapping
from typing import NamedTuple

from gough.core.text import listed
from gough.estimates import Method
from gough.methods import BoundingEllipsoid, LinearHull, TightEllipsoid
from gough.problem import LinearProblem

TIMES = 3
"""Extras may take so many times the work of what is always done: equations, rank, and the statistical methods."""
ALWAYS = 3_000_000_000
"""Units of work, about 3 seconds, that are never left out."""
EXACT_SAMPLES = 40
"""Samples of a validation at which exact bounds are computed, each for every actuator, where the budget allows it …"""
LEAST_SAMPLES = 4
"""… and none where it does not allow so many."""


class Extras(NamedTuple):
    """Methods of the default that are run, and what is left out."""

    chosen: dict[str, Method[LinearProblem]]
    left_out: tuple[str, ...] = ()
    note: str = ""
    """A sentence about what is left out, and how to get it; empty where nothing is."""
    samples: int = EXACT_SAMPLES
    """Samples of the validation at which exact bounds are computed."""


def affordable(
    methods: Mapping[str, Method[LinearProblem]],
    n_rows: int,
    p: int,
    *,
    predicted: int = 0,
    are_asked_for: bool = False,
) -> Extras:
    """The methods of the default that a problem of this size affords, each that fits into the rest of the budget.

    Args:
        methods: Methods by their labels.
        n_rows: Rows of the problem.
        p: Its unknowns.
        predicted: Efforts of each sample of a validation whose exact bounds are wanted; 0: there is none.
        are_asked_for: Run all of the methods, outside the budget.

    Examples:
        >>> from gough.dynamics.named import METHODS
        >>> two = {name: METHODS[name] for name in ("weighted", "tight ellipsoid")}
        >>> affordable(two, 4000, 16).left_out, affordable(two, 4000, 62).left_out
        ((), ('tight ellipsoid',))
    """
    always = statistical_work(n_rows, p)
    rest = max(ALWAYS, TIMES * always)
    chosen, left_out, left_work = {}, list[str](), 0.0
    for label, method in methods.items():
        work = 0.0 if are_asked_for else work_of(method, n_rows, p)
        if work <= rest:
            chosen[label], rest = method, rest - work
        else:
            left_out.append(label)
            left_work += work
    parts = list(left_out)
    samples = EXACT_SAMPLES
    if predicted:
        has_hull = any(isinstance(method, LinearHull) for method in chosen.values())
        first, each = 0.0 if has_hull else work_of(LinearHull(), n_rows, p), predicted * 2 * _RANGE * p**3
        afforded = (rest - first) // each
        samples = int(min(EXACT_SAMPLES, afforded)) if afforded >= LEAST_SAMPLES else 0
        if samples < EXACT_SAMPLES:
            instead = f" instead of {samples}" if samples else ""
            parts.append(f"exact bounds of efforts at {EXACT_SAMPLES} samples of the validation{instead}")
            left_work += (EXACT_SAMPLES - samples) * each + (0.0 if samples else first)
    note = _note(parts, left_work, left_work / always, n_rows, p) if parts else ""
    return Extras(chosen, tuple(left_out), note, samples)


def _note(parts: list[str], work: float, times: float, n_rows: int, p: int) -> str:
    seconds = max(1, round(work / 1e9))
    return (
        f"Not computed, since it was not asked for and {n_rows} rows with {p} parameters would take about "
        f"{seconds:.0f} s, {max(times, 1):.0f} times as long as the statistical methods: {listed(parts)}. "
        "Ask for methods by name in [methods], for all of this by gough identify --complete; in Python by methods= or "
        "complete=True."
    )


def statistical_work(n_rows: int, p: int) -> float:
    """Equations, rank, noise, and four statistical methods with their σ."""
    return _PASSES * 2.0 * n_rows * p * p


def work_of(method: Method[LinearProblem], n_rows: int, p: int) -> float:
    """The work of a method beyond the statistical ones; a tight ellipsoid uses the hull that was computed before."""
    if isinstance(method, LinearHull):
        return _HULL * p**3 * (1 + n_rows / 1e4)
    if isinstance(method, TightEllipsoid):
        return _TIGHT * p**2 * (1 + n_rows / 1e5)
    if isinstance(method, BoundingEllipsoid):
        return _ROUNDS * n_rows * p * p
    return 0.0


_PASSES, _HULL, _TIGHT, _ROUNDS, _RANGE = 18.0, 7e3, 2.4e6, 30.0, 40.0
"""Fitted to processor times of an H4 (16 parameters), a hexapod (23) and an arm of seven axes (62), simulated with
effects that no model has: `python -m benchmarks.speed identify`, `python -m benchmarks.waiting work`."""
