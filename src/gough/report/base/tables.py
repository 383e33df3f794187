"""Tables of a report as HTML: parameters with all methods side by side, and what each fit says of itself."""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import number
from gough.estimates import Claim, Estimate, FitStats, Status, limited_by_prior
from gough.region import ConfidenceEllipsoid
from gough.report.base.html import Html, tag
from gough.report.base.intervals import claimed, holds, sides
from gough.report.base.labels import short_labels, shortened, spelled_out
from gough.report.base.numbers import error_in_sigma, plus_minus, signed


def parameter_table(estimates: Mapping[str, Estimate], truth: Array | None = None) -> Html:
    """Each unknown's blueprint, truth, and value ± half-width by every method; where there is a truth, how far off.

    Examples:
        >>> import gough
        >>> from gough.methods import LeastSquares
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [0.9, 1.1], gough.Unknowns(["a<b"], ["kg"]))
        >>> "a&lt;b" in parameter_table({"least squares": gough.estimate(problem, LeastSquares())})
        True
    """
    unknowns = next(iter(estimates.values())).unknowns
    finest = _finest(estimates.values())
    heads = ["parameter"]
    columns: list[Sequence[Html]] = [
        [
            tag("th", label, *([tag("small", unit)] if unit else []), scope="row")
            for label, unit in zip(short_labels(unknowns.names), unknowns.units, strict=True)
        ]
    ]
    for head, values in (("blueprint", unknowns.nominal), ("truth", truth)):
        if values is not None:
            heads.append(head)
            columns.append([cell(plus_minus(v, half)[0]) for v, half in zip(values, finest, strict=True)])
    for label, estimate in estimates.items():
        heads.append(head_cell(label, claimed(estimate)))
        columns.append(_estimate_cells(estimate, truth))
    return table(heads, list(zip(*columns, strict=True)), "Parameters by every method")


def _finest(estimates: Iterable[Estimate]) -> Array:
    """The smallest half-width of each unknown that any method states; NaN where none does."""
    halves = np.array([half_widths(estimate) for estimate in estimates])
    stated = np.where(np.isfinite(halves), halves, np.inf).min(axis=0)
    return np.where(np.isinf(stated), np.nan, stated)


def _estimate_cells(estimate: Estimate, truth: Array | None) -> list[Html]:
    if np.isnan(estimate.value).all():
        return [tag("td", "—", tag("small", claimed(estimate)))] * len(estimate.value)
    inside = None if truth is None else holds(estimate, truth)
    cells = []
    for i, value in enumerate(estimate.value):
        parts: list[str] = [interval_text(estimate, i)]
        if truth is not None and isinstance(estimate.region, ConfidenceEllipsoid) and estimate.region.sigma[i] > 0:
            error = (value - truth[i]) / estimate.region.sigma[i]
            parts.append(tag("small", error_in_sigma(error), class_="far" if abs(error) > 3 else "near"))
        elif inside is not None and estimate.claim > Claim.CONFIDENCE:
            words = "holds the truth" if inside[i] else "misses the truth"
            parts.append(tag("small", words, class_="near" if inside[i] else "far"))
        cells.append(tag("td", *parts))
    return cells


def interval_text(estimate: Estimate, i: int, *, power: int = 0) -> str:
    """Value ± half-width of unknown i in units of 10^power; an interval where a side is open, or a value without any.

    Sets are rounded outward: the printed interval contains that of the estimate.
    """
    value, lower, upper = (float(each[i]) for each in (estimate.value, *sides(estimate)))
    scale, times = 10.0**power, Fraction(10) ** -power
    if np.isnan(lower):
        return signed(number(value / scale))
    if isinstance(estimate.region, ConfidenceEllipsoid):
        return " ± ".join(plus_minus(value / scale, (upper - lower) / 2 / scale))
    if np.isfinite(lower) and np.isfinite(upper):
        center, radius = outward.plus_minus(lower, upper, value, times=times)
        return f"{signed(center)} ± {radius}"
    return " … ".join(signed(side) for side in outward.sides(lower, upper, times=times))


def half_widths(estimate: Estimate) -> Array:
    """Half of each unknown's interval: at the region's level for a belief, of the hull for a set; NaN without one."""
    lower, upper = sides(estimate)
    return np.asarray((upper - lower) / 2)


def fit_table(estimates: Mapping[str, Estimate], units: Sequence[str] = ()) -> Html:
    """What each method says of its fit: residuals by group, χ², memory and degrees of freedom."""
    stats = {label: e.stats for label, e in estimates.items() if isinstance(e.stats, FitStats)}
    groups = next(iter(stats.values())).groups if stats else ()
    known = units if len(units) == len(groups) else ("",) * len(groups)
    rms_heads = [head_cell(f"rms, {g}", unit) for g, unit in zip(groups, known, strict=True)]
    heads = ["method", *rms_heads, "χ²/dof", "p", "memory, samples", "dof"]
    rows = []
    for label, s in stats.items():
        rms = ["—"] * len(groups) if s.residual_rms is None else [number(float(v)) for v in s.residual_rms]
        chi = ["—", "—"] if s.chi_squared is None else [f"{s.chi_squared:.3f}", f"{s.chi_squared_p:.2g}"]
        rows.append([row_head(label), *map(cell, [*rms, *chi, str(s.correlation_length // 2), f"{s.dof:.0f}"])])
    return table(heads, rows, "Fit by every method") if rows else Html()


def method_list(estimates: Mapping[str, Estimate], refused: Mapping[str, str]) -> Html:
    """What each method claims, how it ended, and what it says beside its numbers."""
    items = []
    for label, estimate in estimates.items():
        ended = estimate.status.value.split(":")[0]
        status = tag("span", ended, class_="good" if estimate.status is Status.OK else "bad")
        limited = estimate.stats.prior_limited
        notes = [note for note in estimate.notes if note not in limited_by_prior(limited)]
        notes += limited_by_prior(tuple(short_labels(limited)))
        what = [
            tag("b", label),
            ": ",
            tag("code", estimate.method),
            f" — claims {estimate.claim.name.lower()}; ",
            status,
        ]
        items.append(tag("li", *what, *(tag("p", note) for note in notes)))
    for label, reason in refused.items():
        items.append(tag("li", tag("b", label), ": ", tag("span", "could not be used", class_="bad"), tag("p", reason)))
    return tag("ul", *items, class_="methods")


def combinations(names: Sequence[str]) -> Html:
    """What the marked labels stand for, as a list of definitions; empty where nothing is marked."""
    meanings = spelled_out(names)
    if not meanings:
        return Html()
    return tag("dl", *(tag("div", tag("dt", label), tag("dd", name)) for label, name in meanings.items()))


def table(heads: Sequence[str], rows: Sequence[Sequence[Html]], what: str) -> Html:
    """A table that scrolls by itself where the window is narrow; `what` names it to a screen reader."""
    head = tag("thead", tag("tr", *(h if h.startswith("<th") and isinstance(h, Html) else head_cell(h) for h in heads)))
    body = tag("tbody", *(tag("tr", *row) for row in rows))
    return tag("div", tag("table", head, body), class_="wide", role="region", aria_label=what, tabindex="0")


def head_cell(label: str, below: str = "", kind: str = "number") -> Html:
    """The head of a column of numbers, or of words."""
    return tag("th", shortened(label, 28), *([tag("small", below)] if below else []), scope="col", class_=kind)


def row_head(label: str, below: str = "") -> Html:
    """The first cell of a row."""
    return tag("th", label, *([tag("small", below)] if below else []), scope="row")


def cell(content: str, below: str = "") -> Html:
    """A cell of a number, with a few words below it."""
    return tag("td", content, *([tag("small", below)] if below else []))


def word_cell(content: str) -> Html:
    """A cell of words, which may break."""
    return tag("td", content, class_="words")


def meter_cell(content: str, part: float) -> Html:
    """A number with a bar below it, filled to `part`."""
    width = f"{100 * min(max(part, 0.0), 1.0):.1f}%" if np.isfinite(part) else "0%"
    bar = tag("span", tag("i", style=f"width:{width}"), class_="meter", aria_hidden="true")
    return tag("td", content, bar)
