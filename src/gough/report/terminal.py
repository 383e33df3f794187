"""Tables for a terminal of any width."""

from collections.abc import Iterator, Mapping, Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from gough.core.arrays import Array
from gough.estimate import Estimate
from gough.report.labels import short_labels
from gough.report.numbers import error_in_sigma, plus_minus, power_of_thousand, scaled_unit
from gough.report.tables import half_widths
from gough.report.words import in_sigma


def parameter_tables(estimates: Mapping[str, Estimate], truth: Array, *, width: int) -> Iterator[Table]:
    """Truth, and value ± half-width above the error in σ by every method; as many tables as the width asks for.

    Numbers are scaled by a power of a thousand, row by row, so that four methods fit on 80 columns.
    """
    labels = list(estimates)
    while labels:
        at_once = len(labels)
        table = _table({label: estimates[label] for label in labels}, truth)
        while at_once > 1 and _width(table) > width:
            at_once -= 1
            table = _table({label: estimates[label] for label in labels[:at_once]}, truth)
        yield table
        labels = labels[at_once:]


def _width(table: Table) -> int:
    console = Console(width=10_000)
    return Measurement.get(console, console.options, table).maximum


def _table(estimates: Mapping[str, Estimate], truth: Array) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("parameter", no_wrap=True)
    table.add_column("truth", justify="right", no_wrap=True)
    for label in estimates:
        table.add_column(label, justify="right", no_wrap=True)
    errors = {label: in_sigma(estimate, truth) for label, estimate in estimates.items()}
    halves = {label: half_widths(estimate) for label, estimate in estimates.items()}
    unknowns = next(iter(estimates.values())).unknowns
    for i, (name, unit) in enumerate(zip(short_labels(unknowns.names), unknowns.units, strict=True)):
        values = [estimate.value[i] for estimate in estimates.values()]
        finest = min(half[i] for half in halves.values())
        power = power_of_thousand(max(abs(v) for v in (finest, truth[i], *values)))
        cells = [
            _cell(value / 10.0**power, halves[label][i] / 10.0**power, errors[label][i])
            for label, value in zip(estimates, values, strict=True)
        ]
        head = Text.assemble((name, "bold"), "\n", (scaled_unit(unit, power), "dim"))
        table.add_row(head, plus_minus(truth[i] / 10.0**power, finest / 10.0**power)[0], *cells)
    return table


def _cell(value: float, half: float, error: float) -> Text:
    return Text.assemble(
        " ± ".join(plus_minus(value, half)), "\n", (error_in_sigma(error), "bold red" if abs(error) > 3 else "dim")
    )


def definitions(meanings: Mapping[str, str]) -> Table:
    """Labels and what they stand for, long ones folded under themselves."""
    table = Table.grid(padding=(0, 1))
    for _ in range(3):
        table.add_column()
    for label, meaning in meanings.items():
        table.add_row(Text(f"  {label}", "bold"), "=", Text(meaning))
    return table


def sentences(texts: Sequence[str]) -> Text:
    """Sentences as one paragraph; empty ones are left out."""
    return Text(" ".join(text for text in texts if text))
