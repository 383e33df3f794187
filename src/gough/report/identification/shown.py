"""An identification on a terminal of any width."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from gough.core.arrays import Array
from gough.core.text import number
from gough.core.units import squared
from gough.dynamics import BenchmarkVerdict, Bias, Identified, IdentifiedRepeats, Validation
from gough.estimates import Estimate
from gough.report.base.intervals import holds, sides
from gough.report.base.labels import short_labels
from gough.report.base.numbers import plus_minus, power_of_thousand, scaled_unit
from gough.report.base.tables import half_widths, interval_text
from gough.report.base.words import determined
from gough.report.identification.repeated_tables import JUDGED, regroupings, yes_or_no

_PROSE = 88


def show(console: Console, identified: Identified | IdentifiedRepeats, truth: Array | None = None) -> None:
    """Print what was prepared, the parameters by every method, and the verdicts.

    Args:
        console: Where to.
        identified: The answers.
        truth: True values of the problem's unknowns, where the robot is simulated; values that miss it are red.
    """
    prose(console, identified.premises, style="bold red")
    if isinstance(identified, IdentifiedRepeats):
        _show_repeats(console, identified, truth)
        return
    heading(console, "Data")
    _account(console, identified)
    prose(console, identified.on_recordings, style="bold red")
    prose(console, [*identified.on_data, *identified.on_bound])
    heading(console, _title(truth))
    _parameters(console, identified.estimates, truth, regroupings(identified))
    prose(console, [*identified.on_failures, *identified.notes])
    if identified.adequacy is not None:
        heading(console, "Is the model adequate?")
        _lines(console, identified.adequacy.table())
        prose(console, identified.adequacy.sentences)
    if identified.validation is not None:
        heading(console, "Another trajectory")
        console.print(_validation(identified.validation))
        prose(console, identified.validation.sentences)


def _show_repeats(console: Console, found: IdentifiedRepeats, truth: Array | None) -> None:
    motion = found.motion
    size = f"{motion.n_samples} samples each of {len(motion.channels)} channels"
    heading(console, "Data")
    prose(console, [f"{motion.n_repeats} repeats of {motion.period:.4g} s, {size}.", *determined(found.found)])
    heading(console, "Noise of a reading")
    if found.noise is not None:
        console.print(_noise(found))
    prose(console, found.on_noise)
    heading(console, "Harmonics of the path")
    _lines(console, str(found.order))
    heading(console, _title(truth))
    _parameters(console, found.likeliest_first, truth, regroupings(found))
    prose(console, found.on_estimates)
    for name, verdict in found.benchmarks.items():
        heading(console, f"Another motion: {name}")
        console.print(_benchmark(verdict))
    prose(console, found.on_benchmarks)


def _noise(found: IdentifiedRepeats) -> Table:
    """σ of every channel with its interval, and whether it is what estimators take for granted."""
    noise, motion = found.noise, found.motion
    assert noise is not None
    table = _blank(("channel", "unit", "σ", "95% interval", "Gaussian?", "white?", "alike?"), left=2)
    lower, upper = noise.sigma_interval()
    units = motion.coordinate_units + motion.effort_units
    for i, (name, unit) in enumerate(zip(noise.names, units, strict=True)):
        power = power_of_thousand(noise.sigma[i])
        sigma, low, high = (number(float(x[i]) / 10.0**power, digits=3) for x in (noise.sigma, lower, upper))
        tests = [yes_or_no(test[i].is_refuted) for test in (noise.gaussian, noise.white, noise.alike)]
        cells = [Text(word, "" if word == "yes" else "bold red") for word in tests]
        table.add_row(Text(name, "bold"), Text(scaled_unit(unit, power), "dim"), sigma, f"{low} … {high}", *cells)
    return table


def _benchmark(verdict: BenchmarkVerdict) -> Table:
    """Variance of the model's error against that of a reading."""
    table = _blank(("actuator", "unit", "model's error", "a reading", "p", "verdict"), left=2)
    for i, (name, unit) in enumerate(zip(verdict.actuators, verdict.effort_units, strict=True)):
        model, measured = (
            number(float(each[i]), digits=3) for each in (verdict.model_variance, verdict.measurement_variance)
        )
        bias = verdict.bias[i]
        said = Text(JUDGED[bias], "bold red" if bias is Bias.LARGE else "")
        table.add_row(Text(name, "bold"), Text(squared(unit), "dim"), model, measured, f"{verdict.p[i]:.2g}", said)
    return table


def _blank(heads: Sequence[str], *, left: int) -> Table:
    """An empty table whose first columns are words."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for k, head in enumerate(heads):
        table.add_column(head, justify="left" if k < left else "right", no_wrap=True)
    return table


def _parameters(
    console: Console, estimates: Mapping[str, Estimate], truth: Array | None, meanings: Mapping[str, str]
) -> None:
    for part in parameter_tables(estimates, truth, width=console.width):
        console.print(part)
    for label, meaning in meanings.items():
        console.print(f"  {label} = {meaning}", soft_wrap=True)


def parameter_tables(estimates: Mapping[str, Estimate], truth: Array | None, *, width: int) -> Iterator[Table]:
    """Value ± half-width by every method; as many tables as the width asks for."""
    labels = list(estimates)
    while labels:
        at_once = len(labels)
        table = _table(estimates, labels, truth)
        while at_once > 1 and _width(table) > width:
            at_once -= 1
            table = _table(estimates, labels[:at_once], truth)
        yield table
        labels = labels[at_once:]


def _table(of: Mapping[str, Estimate], labels: Sequence[str], truth: Array | None) -> Table:
    table = _blank(("parameter", "unit", *(["truth"] if truth is not None else []), *labels), left=2)
    estimates = [of[label] for label in labels]
    unknowns = estimates[0].unknowns
    halves = [half_widths(estimate) for estimate in estimates]
    held = [np.ones(len(unknowns.names), bool) if truth is None else holds(e, truth) for e in estimates]
    for i, (name, unit) in enumerate(zip(short_labels(unknowns.names), unknowns.units, strict=True)):
        sizes = [e.value[i] for e in estimates] + ([truth[i]] if truth is not None else [])
        power = power_of_thousand(max((abs(x) for x in sizes if np.isfinite(x)), default=0.0))
        finest = min((h[i] for h in halves if np.isfinite(h[i])), default=1.0)
        true = [plus_minus(truth[i] / 10.0**power, finest / 10.0**power)[0]] if truth is not None else []
        cells = [_cell(e, i, power, bool(ok[i])) for e, ok in zip(estimates, held, strict=True)]
        table.add_row(Text(name, "bold"), Text(scaled_unit(unit, power), "dim"), *true, *cells)
    return table


def _cell(estimate: Estimate, i: int, power: int, holds_truth: bool) -> Text:  # noqa: FBT001
    if not np.isfinite(estimate.value[i]):
        return Text("—", "dim")
    if any(np.isinf(side[i]) for side in sides(estimate)):
        return Text("unbounded", "dim")
    return Text(interval_text(estimate, i, power=power), "" if holds_truth else "bold red")


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


def heading(console: Console, words: str) -> None:
    """A line that begins a part."""
    console.print()
    console.print(words, style="bold blue")


def prose(console: Console, sentences: Sequence[str], style: str = "") -> None:
    """Sentences as a paragraph that is not too wide to read."""
    if sentences:
        console.print(Text(" ".join(sentences), style), width=min(console.width, _PROSE))


def _lines(console: Console, text: str) -> None:
    for line in text.splitlines():
        console.print(Text(line), overflow="ellipsis", no_wrap=True)
