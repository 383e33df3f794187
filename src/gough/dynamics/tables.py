"""Parameters by every method as a table: value ± half-width, against the truth where it is known."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from gough.core import outward
from gough.core.arrays import Array, Mask
from gough.core.tables import Cell, Column, Table, table
from gough.core.text import number, plus_minus, power_of_thousand, scaled_unit, short_labels, spelled_out
from gough.estimates import Claim, Estimate, Status
from gough.methods.statistical.identifiability import Identifiability
from gough.region import ConfidenceEllipsoid
from gough.robots.mechanism.closed_chain import ClosedChain
from gough.robots.mechanism.regrouping import formula
from gough.unknowns import Unknowns

_FAR = 3.0
"""Standard deviations from the truth beyond which an estimate is marked."""


def sides(estimate: Estimate) -> tuple[Array, Array]:
    """Lower and upper end of each unknown's interval; NaN where the estimate states none.

    Examples:
        >>> import gough
        >>> from gough.methods import LeastSquares
        >>> problem = gough.LinearProblem([[1.0]], [2.0], gough.Unknowns(["a"]))
        >>> sides(gough.estimate(problem, LeastSquares()))
        (array([nan]), array([nan]))
    """
    box = estimate.intervals()
    if estimate.claim is Claim.VALUE or box.is_empty or np.isnan(estimate.value).all():
        return np.full(len(box), np.nan), np.full(len(box), np.nan)
    return box.lower, box.upper


def holds(estimate: Estimate, truth: Array) -> Any:
    """Which true values lie in their intervals."""
    lower, upper = sides(estimate)
    return (lower <= truth) & (truth <= upper)


def claimed(estimate: Estimate, *, in_full: bool = False) -> str:
    """What the intervals of an estimate claim, in a few words, or its status where that is not OK.

    Examples:
        >>> import gough
        >>> from gough.methods import LeastSquares
        >>> problem = gough.LinearProblem([[1.0], [1.0]], [2.0, 2.5], gough.Unknowns(["a"]))
        >>> claimed(gough.estimate(problem, LeastSquares()))
        '95% confidence'
    """
    if estimate.status is not Status.OK:
        return estimate.status.value.split(":")[0]
    if isinstance(estimate.region, ConfidenceEllipsoid) and estimate.claim is Claim.CONFIDENCE:
        return f"{estimate.region.level:.0%} confidence"
    short = {Claim.VALUE: "value only", Claim.ENCLOSURE: "guaranteed set", Claim.PROOF: "proven set"}
    full = {
        Claim.VALUE: "a value without an interval",
        Claim.ENCLOSURE: "guaranteed to contain all values that the bounds allow",
        Claim.PROOF: "proven to contain all values that the bounds allow",
    }
    return (full if in_full else short).get(estimate.claim, "confidence")


DIFFERS = "≠"
"""Behind a value of the blueprint that lies outside the interval of the estimate."""


class Blueprint(NamedTuple):
    """Values of the unknowns that a user stated, and how they compare with the estimates."""

    values: Array
    """NaN where the user stated none."""
    differs: Mask
    """Where the value lies outside the interval of the estimate."""
    method: str
    """The estimate that they are compared with; empty if none has intervals."""

    @property
    def sentence(self) -> str:
        """What the column of the blueprint shows."""
        own = "Blueprint: values that the study or the mechanism file states; estimates do not depend on them."
        marked = f" {DIFFERS} marks those outside the interval by {self.method}." if self.differs.any() else ""
        return f"{own}{marked}"


def parameter_table(
    unknowns: Unknowns,
    estimates: Mapping[str, Estimate],
    truth: Array | None = None,
    blueprint: Blueprint | None = None,
) -> Table:
    """Value ± half-width of each unknown by every method, each row in a unit of its size; against the truth if known.

    Combinations of parameters have short labels (`gough.core.text.short_labels`). Sets are rounded outward. Values of
    the blueprint are the user's where they are given, and those that differ from the estimate are marked; else they are
    the library's.
    """
    finest = _finest(estimates, len(unknowns))
    known = {"blueprint": unknowns.nominal if blueprint is None else blueprint.values, "truth": truth}
    columns = [Column("parameter", "label"), Column("unit", "unit")]
    columns += [
        Column(head, is_detail=head == "blueprint" and blueprint is None)
        for head, values in known.items()
        if values is not None
    ]
    columns += [Column(label, note=claimed(estimate)) for label, estimate in estimates.items()]
    held = {label: None if truth is None else holds(estimate, truth) for label, estimate in estimates.items()}
    rows: list[list[str | Cell]] = []
    for i, (name, unit) in enumerate(zip(short_labels(unknowns.names), unknowns.units, strict=True)):
        sizes = [e.value[i] for e in estimates.values()] + ([] if truth is None else [truth[i]])
        power = power_of_thousand(max((abs(x) for x in sizes if np.isfinite(x)), default=0.0))
        scale = 10.0**power
        row: list[str | Cell] = [name, scaled_unit(unit, power)]
        row += [_known(v[i] / scale, finest[i] / scale) for v in known.values() if v is not None]
        if blueprint is not None and blueprint.differs[i]:
            row[2] = Cell(f"{row[2]} {DIFFERS}", mark="bad")
        row += [_cell(e, i, power, truth, held[label]) for label, e in estimates.items()]
        rows.append(row)
    return table(columns, rows, "." * len(columns), "Parameters by every method")


def _known(value: float, half: float) -> str:
    return plus_minus(value, half)[0] if np.isfinite(value) else outward.MISSING


def _finest(estimates: Mapping[str, Estimate], n: int) -> Array:
    """The smallest half-width of each unknown that any method states; NaN where none does."""
    halves = np.array([np.full(n, np.nan), *(estimate.half_widths() for estimate in estimates.values())])
    stated = np.where(np.isfinite(halves), halves, np.inf).min(axis=0)
    return np.where(np.isinf(stated), np.nan, stated)


def _cell(estimate: Estimate, i: int, power: int, truth: Array | None, held: Any) -> Cell:
    text = interval_text(estimate, i, power=power)
    if truth is None or text == outward.MISSING:
        return Cell(text)
    if isinstance(estimate.region, ConfidenceEllipsoid) and estimate.region.sigma[i] > 0:
        error = float((estimate.value[i] - truth[i]) / estimate.region.sigma[i])
        return Cell(text, f"{error:+.1f} σ", "bad" if abs(error) > _FAR else "")
    if estimate.claim > Claim.CONFIDENCE:
        return Cell(text, "contains the truth") if held[i] else Cell(text, "misses the truth", "bad")
    return Cell(text)


def interval_text(estimate: Estimate, i: int, *, power: int = 0) -> str:
    """Value ± half-width of unknown i in units of 10^power; an interval where a side is open, or a value without any.

    Sets are rounded outward: the printed interval contains that of the estimate.
    """
    value, lower, upper = (float(each[i]) for each in (estimate.value, *sides(estimate)))
    scale, times = 10.0**power, Fraction(10) ** -power
    if np.isnan(lower):
        return number(value / scale) if estimate.claim is Claim.VALUE else outward.MISSING
    if isinstance(estimate.region, ConfidenceEllipsoid):
        return " ± ".join(plus_minus(value / scale, (upper - lower) / 2 / scale))
    if np.isfinite(lower) and np.isfinite(upper):
        return " ± ".join(outward.plus_minus(lower, upper, value, times=times))
    return " … ".join(outward.sides(lower, upper, times=times))


def regroupings(robot: Any, analysis: Identifiability, names: Sequence[str]) -> dict[str, str]:
    """What each short label of `parameter_table` stands for: sums over joints where the robot is a mechanism."""
    if not isinstance(robot, ClosedChain):
        return spelled_out(names)
    texts = [formula(robot.mechanism, analysis.names, base.coefficients.tolist()) for base in analysis.base]
    return {label: text for label, text in zip(short_labels(names), texts, strict=True) if label != text}
