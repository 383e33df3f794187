"""An identification on a terminal of any width."""

from collections.abc import Iterator, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from gough.core.arrays import Array
from gough.core.text import number
from gough.estimate import Estimate
from gough.identification import Identified, Validation
from gough.identification.tables import adequacy_table
from gough.identification.words import on_adequacy, on_bound, on_data, on_failures, on_validation
from gough.report.intervals import holds
from gough.report.labels import short_labels, spelled_out
from gough.report.numbers import plus_minus, power_of_thousand, scaled_unit
from gough.report.tables import half_widths

_PROSE = 88


def show(console: Console, identified: Identified, truth: Array | None = None) -> None:
    """Print what was prepared, the parameters by every method, and the verdicts.

    Args:
        console: Where to.
        identified: The answers.
        truth: True values of the problem's unknowns, where the robot is simulated; values that miss it are red.
    """
    _heading(console, "Data")
    _account(console, identified)
    _prose(console, [*on_data(identified), *on_bound(identified)])
    _heading(console, _title(truth))
    for part in parameter_tables(identified, truth, width=console.width):
        console.print(part)
    for label, meaning in spelled_out(identified.problem.unknowns.names).items():
        console.print(f"  {label} = {meaning}", soft_wrap=True)
    _prose(console, [*on_failures(identified), *identified.notes])
    if identified.adequacy is not None:
        _heading(console, "Is the model adequate?")
        _lines(console, adequacy_table(identified.adequacy))
        _prose(console, on_adequacy(identified.adequacy))
    if identified.validation is not None:
        _heading(console, "Another trajectory")
        console.print(_validation(identified.validation))
        _prose(console, on_validation(identified.validation))


def parameter_tables(identified: Identified, truth: Array | None, *, width: int) -> Iterator[Table]:
    """Value ± half-width by every method; as many tables as the width asks for."""
    labels = list(identified.estimates)
    while labels:
        at_once = len(labels)
        table = _table(identified, labels, truth)
        while at_once > 1 and _width(table) > width:
            at_once -= 1
            table = _table(identified, labels[:at_once], truth)
        yield table
        labels = labels[at_once:]


def _table(identified: Identified, labels: Sequence[str], truth: Array | None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for head in ("parameter", "unit", *(["truth"] if truth is not None else []), *labels):
        table.add_column(head, justify="left" if head in ("parameter", "unit") else "right", no_wrap=True)
    unknowns = identified.problem.unknowns
    estimates = [identified.estimates[label] for label in labels]
    halves = [half_widths(estimate) for estimate in estimates]
    held = [np.ones(len(unknowns.names), bool) if truth is None else holds(e, truth) for e in estimates]
    for i, (name, unit) in enumerate(zip(short_labels(unknowns.names), unknowns.units, strict=True)):
        sizes = [e.value[i] for e in estimates] + ([truth[i]] if truth is not None else [])
        power = power_of_thousand(max((abs(x) for x in sizes if np.isfinite(x)), default=0.0))
        finest = min((h[i] for h in halves if np.isfinite(h[i])), default=1.0)
        true = [plus_minus(truth[i] / 10.0**power, finest / 10.0**power)[0]] if truth is not None else []
        cells = [_cell(e, i, h, power, bool(ok[i])) for e, h, ok in zip(estimates, halves, held, strict=True)]
        table.add_row(Text(name, "bold"), Text(scaled_unit(unit, power), "dim"), *true, *cells)
    return table


def _cell(estimate: Estimate, i: int, halves: Array, power: int, holds_truth: bool) -> Text:  # noqa: FBT001
    value, half = estimate.value[i] / 10.0**power, halves[i] / 10.0**power
    if not np.isfinite(value):
        return Text("—", "dim")
    if not np.isfinite(half):
        return Text("unbounded", "dim")
    return Text(" ± ".join(plus_minus(value, half)), "" if holds_truth else "bold red")


def _account(console: Console, identified: Identified) -> None:
    account = identified.motion.account
    if not account:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("step")
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("what it did")
    for line in account:
        table.add_row(Text(line.step), f"{line.rows}", Text(line.did))
    console.print(table)


def _validation(validation: Validation) -> Table:
    """Measured against predicted efforts: of the actuators the worst."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for head in ("method", "worst rms", "of peak", "bounds", "least covered"):
        table.add_column(head, justify="left" if head in ("method", "bounds") else "right", no_wrap=True)
    for label, one in validation.predictions.items():
        covered = "" if one.covered is None else f"{100 * one.covered.min():.4g} %"
        peak = f"{100 * one.relative_rms.max():.2g} %"
        table.add_row(label, number(float(one.rms.max()), digits=3), peak, one.kind, covered)
    if validation.exact is not None:
        exact = validation.exact
        covered = f"{100 * exact.covered.min():.4g} %"
        table.add_row("all that is possible", "", "", f"exact, at {len(exact.samples)} samples", covered)
    return table


def _width(table: Table) -> int:
    console = Console(width=10_000)
    return Measurement.get(console, console.options, table).maximum


def _title(truth: Array | None) -> str:
    what = "Parameters: value ± half of the interval"
    return what if truth is None else f"{what}; red where it misses the truth"


def _heading(console: Console, heading: str) -> None:
    console.print()
    console.print(heading, style="bold blue")


def _prose(console: Console, sentences: Sequence[str]) -> None:
    if sentences:
        console.print(Text(" ".join(sentences)), width=min(console.width, _PROSE))


def _lines(console: Console, text: str) -> None:
    for line in text.splitlines():
        console.print(Text(line), overflow="ellipsis", no_wrap=True)
