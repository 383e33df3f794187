"""Results of an identification as aligned text."""

from collections.abc import Sequence

import numpy as np

from gough.core.arrays import Array
from gough.core.text import number, table
from gough.estimate import Claim, Estimate, Status
from gough.identification.results import Adequacy, Identified, Validation
from gough.region import ConfidenceEllipsoid


def half_width(estimate: Estimate) -> Array:
    """± of each unknown: of a confidence region the interval of each by itself, of a set half of its hull."""
    if isinstance(estimate.region, ConfidenceEllipsoid):
        return estimate.region.interval().width / 2
    return estimate.region.hull().width / 2


def _cells(estimate: Estimate, names: tuple[str, ...]) -> list[str]:
    """A cell for each name: value ± half-width, or a dash where the estimate has none."""
    if estimate.status is Status.INCONSISTENT or not np.isfinite(estimate.value).all():
        return ["—"] * len(names)
    half = half_width(estimate)
    cells = []
    for name in names:
        if name not in estimate.unknowns.names:
            cells.append("—")
            continue
        i = estimate.unknowns.index(name)
        value, width = float(estimate.value[i]), float(half[i])
        plus_minus = f" ± {number(width, digits=2)}" if estimate.claim is not Claim.VALUE else ""
        cells.append(f"{number(value, width)}{plus_minus}" if np.isfinite(width) else "unbounded")
    return cells


def parameter_table(identified: Identified) -> str:
    """A row for each unknown, a column for each method."""
    unknowns = identified.problem.unknowns
    columns = [_cells(e, unknowns.names) for e in identified.estimates.values()]
    rows = [
        [name, unit, *(column[i] for column in columns)]
        for i, (name, unit) in enumerate(zip(unknowns.names, unknowns.units, strict=True))
    ]
    return table(["unknown", "unit", *identified.estimates], rows, "ll" + "r" * len(columns))


def adequacy_table(adequacy: Adequacy) -> str:
    """A row for each variant: parameters, rms on fitted and on held-out data, ε*."""
    heads = ["model", "parameters", "rms, fitted", "rms, held out", "gain", "ε* (largest)"]
    rows = []
    for i, fit in enumerate(adequacy.fits):
        gained = f"{100 * fit.gain:.1f} ± {100 * fit.gain_sigma:.1f} %" if i else ""
        determined = str(fit.n_parameters) if fit.is_determined else f"{fit.rank} of {fit.n_parameters}"
        fitted = float(np.sqrt((fit.fitted_rms**2).mean()))
        numbers = [number(x, digits=3) for x in (fitted, fit.overall)]
        rows.append([fit.variant, determined, *numbers, gained, number(float(fit.smallest_bound.max()), digits=3)])
    return table(heads, rows, "lrrrrr")


def validation_table(validation: Validation) -> str:
    """A row for each method: rms of each actuator, the worst over peak, coverage of each actuator."""
    heads = ["method", "rms", "rms/peak", "bounds", "covered"]
    rows = []
    for label, one in validation.predictions.items():
        covered = "" if one.covered is None else _percents(one.covered)
        worst = f"{100 * float(np.nanmax(one.relative_rms)):.2g} %"
        rows.append([label, " ".join(number(x, digits=2) for x in one.rms), worst, one.kind or "—", covered])
    if validation.exact is not None:
        where = f"exact, at {len(validation.exact.samples)} samples"
        rows.append(["all bounded parameters", "", "", where, _percents(validation.exact.covered)])
    return table(heads, rows, "llrll")


def _percents(parts: Sequence[float] | Array) -> str:
    return " ".join("—" if np.isnan(x) else f"{100 * np.floor(1e4 * x) / 1e4:.4g}%" for x in parts)
