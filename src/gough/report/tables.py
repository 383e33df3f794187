"""Tables of a report as HTML: parameters with all methods side by side, and what each fit says of itself."""

from collections.abc import Mapping, Sequence

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number
from gough.estimate import Estimate, FitStats
from gough.region import ConfidenceEllipsoid
from gough.report.html import Html, tag
from gough.report.labels import short_labels, spelled_out
from gough.report.numbers import error_in_sigma, plus_minus


def parameter_table(estimates: Mapping[str, Estimate], truth: Array | None = None) -> Html:
    """Each unknown's blueprint, truth, and value ± half-width by every method; where there is a truth, errors in σ too.

    Examples:
        >>> import gough
        >>> from gough.methods import LeastSquares
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [0.9, 1.1], gough.Unknowns(["a<b"], ["kg"]))
        >>> "a&lt;b" in parameter_table({"least squares": gough.estimate(problem, LeastSquares())})
        True
    """
    unknowns = next(iter(estimates.values())).unknowns
    finest = np.min([half_widths(estimate) for estimate in estimates.values()], axis=0)
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
            columns.append([_cell(plus_minus(v, half)[0]) for v, half in zip(values, finest, strict=True)])
    for label, estimate in estimates.items():
        heads.append(label)
        columns.append(_estimate_cells(estimate, truth))
    return table(heads, list(zip(*columns, strict=True)), "Parameters by every method")


def _estimate_cells(estimate: Estimate, truth: Array | None) -> list[Html]:
    cells = []
    for i, (value, half) in enumerate(zip(estimate.value, half_widths(estimate), strict=True)):
        parts: list[str] = [" ± ".join(plus_minus(value, half))]
        if truth is not None and isinstance(estimate.region, ConfidenceEllipsoid):
            error = (value - truth[i]) / estimate.region.sigma[i]
            parts.append(tag("small", error_in_sigma(error), class_="far" if abs(error) > 3 else "near"))
        cells.append(tag("td", *parts))
    return cells


def half_widths(estimate: Estimate) -> Array:
    """Half of each unknown's interval: at the region's level for a belief, of the hull for a set."""
    region = estimate.region
    box = region.interval() if isinstance(region, ConfidenceEllipsoid) else region.hull()
    return np.asarray(box.width / 2)


def fit_table(estimates: Mapping[str, Estimate], effort_unit: str = "") -> Html:
    """What each method says of its fit: residuals by group, χ², memory and degrees of freedom."""
    stats = {label: e.stats for label, e in estimates.items() if isinstance(e.stats, FitStats)}
    groups = next(iter(stats.values())).groups if stats else ()
    unit = f", {effort_unit}" if effort_unit else ""
    heads = ["method", *(f"residual rms, {g}{unit}" for g in groups), "χ²/dof", "p", "memory, samples", "dof"]
    rows = []
    for label, s in stats.items():
        rms = [] if s.residual_rms is None else [number(float(v)) for v in s.residual_rms]
        chi = ["—", "—"] if s.chi_squared is None else [f"{s.chi_squared:.3f}", f"{s.chi_squared_p:.2g}"]
        cells = [*rms, *chi, str(s.correlation_length // 2), f"{s.dof:.0f}"]
        rows.append([tag("th", label, scope="row"), *(_cell(c) for c in cells)])
    return table(heads, rows, "Fit by every method")


def combinations(names: Sequence[str]) -> Html:
    """What the marked labels stand for, as a list of definitions; empty where nothing is marked."""
    meanings = spelled_out(names)
    if not meanings:
        return Html()
    return tag("dl", *(tag("div", tag("dt", label), tag("dd", name)) for label, name in meanings.items()))


def table(heads: Sequence[str], rows: Sequence[Sequence[Html]], what: str) -> Html:
    """A table that scrolls by itself where the window is narrow; `what` names it to a screen reader."""
    head = tag("thead", tag("tr", *(tag("th", h, scope="col") for h in heads)))
    body = tag("tbody", *(tag("tr", *row) for row in rows))
    return tag("div", tag("table", head, body), class_="wide", role="region", aria_label=what, tabindex="0")


def _cell(content: str) -> Html:
    return tag("td", content)
