"""Tables on an identification as a whole: preparation, error bounds, nested models, prediction, excitation."""

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import number
from gough.data import MeasuredMotion
from gough.dynamics import Adequacy, Identified, Validation
from gough.dynamics.text import as_given
from gough.report.base.html import Html
from gough.report.base.labels import short_labels
from gough.report.base.numbers import signed
from gough.report.base.tables import cell, head_cell, meter_cell, row_head, table, word_cell
from gough.report.identification.excitation import Excitation


def preparation_table(motion: MeasuredMotion) -> Html:
    """What was done to the recording, step by step; empty where nothing is known."""
    if not motion.account:
        return Html()
    most = max(step.rows for step in motion.account) or 1
    rows = [
        [
            row_head(step.step),
            word_cell(step.did),
            cell(f"{step.samples}"),
            meter_cell(f"{step.rows}", step.rows / most),
        ]
        for step in motion.account
    ]
    return table(
        ["step", head_cell("what it did", kind="words"), "samples", "rows that remain"],
        rows,
        "Preparation, step by step",
    )


def kept_table(motion: MeasuredMotion) -> Html:
    """How much of each actuator is used."""
    rows = [
        [
            row_head(name),
            cell(f"{int(mask.sum())}"),
            cell(f"{int((~mask).sum())}"),
            meter_cell(percent(mask.mean()), mask.mean()),
        ]
        for name, mask in zip(motion.actuators, motion.kept.T, strict=True)
    ]
    return table(["actuator", "rows used", "rows masked", "part used"], rows, "Rows used of each actuator")


def bound_table(identified: Identified) -> Html:
    """ε*, the bound and their ratio for each actuator."""
    motion = identified.motion
    heads = ["actuator", "unit", "ε*", "error bound", "bound / ε*"]
    rows = []
    for i, (name, unit) in enumerate(zip(motion.actuators, motion.effort_units, strict=True)):
        least, smallest = float(identified.proved_bound[i]), float(identified.smallest_bound[i])
        used = float(identified.bound[i])
        ratio = used / smallest if smallest > 0 else np.inf
        # What is proved for a bound holds for every smaller one: so one that was computed is printed rounded down.
        bound = as_given(used) if identified.bound_is_given else outward.at_least(used)
        numbers = (outward.between(least, smallest, digits=4), bound, number(ratio))
        rows.append([row_head(name), cell(unit), *map(cell, numbers)])
    return table(heads, rows, "Error bounds of each actuator")


def adequacy_table(adequacy: Adequacy) -> Html:
    """A row for each variant: parameters, what it leaves on fitted and on held-out data, errors that suffice."""
    most = max(fit.overall for fit in adequacy.fits) or 1.0
    heads = [
        "model",
        head_cell("adds", kind="words"),
        "parameters",
        head_cell("rms, held out", adequacy.unit),
        "removes",
        "largest residual",
        "errors that suffice",
        "rms, fitted",
    ]
    rows = [_variant_row(adequacy, i, most) for i in range(len(adequacy.fits))]
    smooth = word_cell("anything smooth in position, velocity and acceleration, for comparison")
    overall = meter_cell(number(adequacy.generic, digits=3), adequacy.generic / most)
    gain = cell(_gain(adequacy.generic_gain, adequacy.generic_sigma))
    rows.append([row_head("with general terms"), smooth, cell("—"), overall, gain, *map(cell, "———")])
    return table(heads, rows, "Nested models on held-out data")


def _variant_row(adequacy: Adequacy, i: int, most: float) -> list[Html]:
    fit = adequacy.fits[i]
    chosen = (("used", adequacy.used), ("recommended", adequacy.recommended))
    marks = ", ".join(word for word, name in chosen if name == fit.variant)
    count = str(fit.n_parameters) if fit.is_determined else f"{fit.rank} of {fit.n_parameters}"
    fitted = float(np.sqrt((fit.fitted_rms**2).mean()))
    return [
        row_head(fit.variant, marks),
        word_cell(fit.adds or "—"),
        cell(count),
        meter_cell(number(fit.overall, digits=3), fit.overall / most),
        cell(_gain(fit.gain, fit.gain_sigma) if i else "—"),
        cell(number(largest(fit.peak), digits=3)),
        cell(outward.at_most(largest(fit.smallest_bound), digits=3)),
        cell(number(fitted, digits=3)),
    ]


def _gain(gain: float, sigma: float) -> str:
    """Part of the mean square that is removed; below zero, nothing is."""
    return f"{100 * gain:.3g} ± {100 * sigma:.2g} %" if gain > 0 else "nothing"


def shift_table(adequacy: Adequacy) -> Html:
    """How far each parameter is off in the model used; empty where no other is recommended."""
    if not adequacy.shifts:
        return Html()
    rows = [
        [
            row_head(name),
            cell(signed(f"{100 * part:+.3g} %")),
            cell(f"{abs(sigmas):.1f}" if np.isfinite(sigmas) else "—"),
        ]
        for name, (part, sigmas) in adequacy.shifts.items()
    ]
    return table(["parameter", "off by", "in its printed σ"], rows, "How far each parameter is off in the model used")


def validation_table(validation: Validation) -> Html:
    """A row for each method: rms and rms/peak, and how many measurements lie where they may."""
    motion = validation.motion
    heads = [
        "method",
        *(head_cell(f"rms, {a}", u) for a, u in zip(motion.actuators, motion.effort_units, strict=True)),
        head_cell("rms / peak", "worst"),
        "bounds",
        *(head_cell(f"inside, {a}") for a in motion.actuators),
        "should be",
    ]
    rows = []
    for label, one in validation.predictions.items():
        rms = [cell(number(float(v), digits=3)) for v in one.rms]
        inside = [_counted(c, int(m)) for c, m in zip(_or_nan(one.covered, len(rms)), validation.n_rows, strict=True)]
        expected = cell("—" if one.expected is None else percent(one.expected))
        rows.append(
            [row_head(label), *rms, cell(percent(largest(one.relative_rms))), cell(one.kind or "—"), *inside, expected]
        )
    if validation.exact is not None:
        exact = validation.exact
        inside = [_counted(c, int(m)) for c, m in zip(exact.covered, exact.n_rows, strict=True)]
        name = row_head("all that the bounds allow", f"at {len(exact.samples)} samples")
        rows.append([name, *[cell("—")] * (len(motion.actuators) + 1), cell("exact"), *inside, cell("100 %")])
    return table(heads, rows, "Prediction of another trajectory")


def _or_nan(values: Array | None, n: int) -> Array:
    return np.full(n, np.nan) if values is None else values


def _counted(part: float, n_rows: int) -> Html:
    """A part in percent with the rows that are missing, so that one of a million shows."""
    outside = round((1 - part) * n_rows) if np.isfinite(part) else 0
    return cell(percent(part), f"{outside} of {n_rows} outside" if outside else "")


def excitation_table(found: Excitation) -> Html:
    """Each parameter with the part of its effect that is its own, the weakest first."""
    labels = short_labels(found.names)
    order = np.argsort(found.own, kind="stable")
    rows = [[row_head(labels[i]), meter_cell(percent(found.own[i]), found.own[i])] for i in order]
    return table(["parameter", "own part of its effect"], rows, "Own part of the effect of each parameter")


def percent(part: float) -> str:
    """A part in percent, never rounded up to all of it.

    Examples:
        >>> percent(0.5), percent(0.99999), percent(1.0), percent(0.00123)
        ('50.0 %', '99.9 %', '100 %', '0.123 %')
    """
    if not np.isfinite(part):
        return "—"
    if part >= 1:
        return f"{100 * part:.0f} %"
    if part > 0.1:
        return f"{np.floor(1000 * part + 1e-9) / 10:.1f} %"
    return f"{100 * part:.3g} %"


def largest(values: Array) -> float:
    """The largest of the finite ones."""
    finite = values[np.isfinite(values)]
    return float(finite.max()) if finite.size else float("nan")
