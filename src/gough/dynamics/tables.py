"""Results of an identification as aligned text."""

from collections.abc import Sequence

import numpy as np

from gough.core import outward
from gough.core.arrays import Array
from gough.core.text import number, table
from gough.dynamics.results import Adequacy, Identified, Validation
from gough.estimates import Claim, Estimate, Status
from gough.region import ConfidenceEllipsoid


def _cells(estimate: Estimate, names: tuple[str, ...]) -> list[str]:
    """A cell for each name: value ± half-width, or a dash where the estimate has none. Sets are rounded outward."""
    if estimate.status is Status.INCONSISTENT or not np.isfinite(estimate.value).all():
        return ["—"] * len(names)
    known = dict(zip(estimate.unknowns.names, _shown(estimate), strict=True))
    return [known.get(name, "—") for name in names]


def _shown(estimate: Estimate) -> list[str]:
    if estimate.claim is Claim.VALUE:
        return [number(value) for value in estimate.value]
    box = estimate.intervals()
    if isinstance(estimate.region, ConfidenceEllipsoid):
        halves = zip(estimate.value, box.width / 2, strict=True)
        return [f"{number(value, half)} ± {number(half, digits=2)}" for value, half in halves]
    sides = zip(box.lower, box.upper, estimate.value, strict=True)
    finite = np.isfinite(box.lower) & np.isfinite(box.upper)
    return [
        " ± ".join(outward.plus_minus(*each)) if bounded else "unbounded"
        for each, bounded in zip(sides, finite, strict=True)
    ]


def parameter_columns(identified: Identified) -> tuple[list[str], list[list[str]], str]:
    """Heads, rows and alignment of a table with a row for each unknown and a column for each method."""
    unknowns = identified.problem.unknowns
    columns = [_cells(e, unknowns.names) for e in identified.estimates.values()]
    rows = [
        [name, unit, *(column[i] for column in columns)]
        for i, (name, unit) in enumerate(zip(unknowns.names, unknowns.units, strict=True))
    ]
    return ["unknown", "unit", *identified.estimates], rows, "ll" + "r" * len(columns)


def adequacy_table(adequacy: Adequacy) -> str:
    """A row for each variant: parameters, rms on fitted and on held-out data, and errors that suffice.

    The last are not called ε*, which is about the prior and in proportion to the bounds that were given.
    """
    heads = ["model", "parameters", "rms, fitted", "rms, held out", "gain", "errors that suffice"]
    rows = []
    for i, fit in enumerate(adequacy.fits):
        gained = f"{100 * fit.gain:.1f} ± {100 * fit.gain_sigma:.1f} %" if i else ""
        determined = str(fit.n_parameters) if fit.is_determined else f"{fit.rank} of {fit.n_parameters}"
        fitted = float(np.sqrt((fit.fitted_rms**2).mean()))
        numbers = [number(x, digits=3) for x in (fitted, fit.overall)]
        enough = outward.at_most(float(fit.smallest_bound.max()), digits=3)
        rows.append([fit.variant, determined, *numbers, gained, enough])
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
