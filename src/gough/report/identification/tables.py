"""Tables of an identification that only its page has: rows used, error bounds, shifts, fits, distances from ML."""

from collections.abc import Mapping, Sequence

import numpy as np

from gough.core import outward
from gough.core.html import Html, tag
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import number, percent, short_labels
from gough.data import MeasuredMotion
from gough.dynamics import Adequacy, Identified, IdentifiedRepeats
from gough.dynamics.text import as_given
from gough.estimates import Estimate, FitStats, Status, limited_by_prior
from gough.report.base.regions import belief


def kept_table(motion: MeasuredMotion) -> Table:
    """How many rows of each actuator are used."""
    rows: list[list[str | Cell]] = [
        [name, str(int(mask.sum())), str(int((~mask).sum())), Cell(percent(mask.mean(), digits=3), share=mask.mean())]
        for name, mask in zip(motion.actuators, motion.kept.T, strict=True)
    ]
    heads = ["actuator", "rows used", "rows masked", "part used"]
    return table(heads, rows, "lrrr", "Rows used of each actuator")


def bound_table(identified: Identified) -> Table:
    """ε*, the bound and their ratio for each actuator."""
    motion = identified.motion
    rows = []
    for i, (name, unit) in enumerate(zip(motion.actuators, motion.effort_units, strict=True)):
        least, smallest = float(identified.proved_bound[i]), float(identified.smallest_bound[i])
        used = float(identified.bound[i])
        ratio = used / smallest if smallest > 0 else np.inf
        # What is proven for a bound holds for every smaller one: so one that was computed is printed rounded down.
        bound = as_given(used) if identified.bound_is_given else outward.at_least(used)
        rows.append([name, unit, outward.between(least, smallest, digits=4), bound, number(ratio)])
    heads = ["actuator", "unit", "ε*", "error bound", "bound / ε*"]
    return table(heads, rows, "lurrr", "Error bounds of each actuator")


def shift_table(adequacy: Adequacy) -> Table:
    """How far each parameter is off in the model used."""
    rows = [
        [name, f"{100 * part:+.3g} %", f"{abs(sigmas):.1f}" if np.isfinite(sigmas) else "—"]
        for name, (part, sigmas) in adequacy.shifts.items()
    ]
    caption = "How far each parameter is off in the model used"
    return table(["parameter", "off by", "in its printed σ"], rows, "lrr", caption)


def fit_table(estimates: Mapping[str, Estimate], units: Sequence[str] = ()) -> Table | None:
    """Residuals by group, χ², autocorrelation and degrees of freedom of each method; None where no method has them."""
    stats = {label: e.stats for label, e in estimates.items() if isinstance(e.stats, FitStats)}
    if not stats:
        return None
    groups = next(iter(stats.values())).groups
    known = units if len(units) == len(groups) else ("",) * len(groups)
    rms_heads = [Column(f"rms, {group}", unit=unit) for group, unit in zip(groups, known, strict=True)]
    heads: list[str | Column] = ["method", *rms_heads, "χ²/dof", "p", Column("autocorrelation", unit="samples"), "dof"]
    rows = []
    for label, s in stats.items():
        rms = ["—"] * len(groups) if s.residual_rms is None else [number(float(v)) for v in s.residual_rms]
        chi = ["—", "—"] if s.chi_squared is None else [f"{s.chi_squared:.3f}", f"{s.chi_squared_p:.2g}"]
        rows.append([label, *rms, *chi, str(s.correlation_length // 2), f"{s.dof:.0f}"])
    return table(heads, rows, "l" + "r" * (len(heads) - 1), "Fit by every method")


def disagreement_table(identified: IdentifiedRepeats) -> Table:
    """How far each estimator is from maximum likelihood, and how large its uncertainty is."""
    best = belief(identified.likeliest).sigma
    rows = []
    for name, estimate in identified.likeliest_first.items():
        ratio = float(np.median(belief(estimate).sigma / best))
        rows.append(
            [name, f"{ratio:.2f}", "—" if estimate is identified.likeliest else f"{identified.disagreement[name]:.2g}"]
        )
    heads: list[str | Column] = ["estimator", Column("σ / σ of ML", note="median"), Column("p of the distance from ML")]
    return table(heads, rows, "lrr", "Estimators against maximum likelihood")


def method_list(estimates: Mapping[str, Estimate], refused: Mapping[str, str]) -> Html:
    """Claim, status and notes of each method."""
    items = []
    for label, estimate in estimates.items():
        ended = estimate.status.value.split(":")[0]
        status = tag("span", ended, class_="good" if estimate.status is Status.OK else "bad")
        limited = estimate.stats.prior_limited
        notes = [note for note in estimate.notes if note not in limited_by_prior(limited)]
        notes += limited_by_prior(tuple(short_labels(limited)))
        claim = f" — claims {estimate.claim.name.lower()}; "
        items.append(
            tag("li", tag("b", label), ": ", tag("code", estimate.method), claim, status, *(tag("p", n) for n in notes))
        )
    for label, reason in refused.items():
        items.append(tag("li", tag("b", label), ": ", tag("span", "could not be used", class_="bad"), tag("p", reason)))
    return tag("ul", *items, class_="methods")
