"""An identification on a terminal of any width."""

from rich.console import Console

from gough.core.arrays import Array
from gough.core.text import on_factors
from gough.dynamics import Identified, IdentifiedRepeats
from gough.report.base.terminal import heading, labelled, print_table, prose
from gough.report.base.words import determined


def show(console: Console, identified: Identified | IdentifiedRepeats, truth: Array | None = None) -> None:
    """Print the preparation, the parameters by every method, and the verdicts.

    Args:
        console: Where to print.
        identified: The answers.
        truth: True values of the problem's unknowns, where the robot is simulated; values that miss it are red.
    """
    prose(console, identified.premises, style="bold red")
    if isinstance(identified, IdentifiedRepeats):
        _show_repeats(console, identified, truth)
        return
    heading(console, "Data")
    if identified.motion.account:
        print_table(console, identified.motion.account_table())
    prose(console, identified.on_recordings, style="bold red")
    prose(console, [*identified.on_data, *identified.on_bound])
    if identified.noise_level is not None:
        heading(console, "Residuals against the noise")
        print_table(console, identified.noise_level.table())
    prose(console, identified.on_noise)
    _parameters(console, identified, truth)
    prose(console, [*identified.on_failures, *identified.notes])
    if not identified.is_impossible:
        prose(console, identified.on_physics)
    _possible(console, identified)
    if identified.recommendation is not None:
        heading(console, f"Recommended method: {identified.recommended}")
        print_table(console, identified.recommendation.table())
        prose(console, identified.on_methods)
    _verdict(console, identified)
    if identified.adequacy is not None:
        heading(console, "Nested models")
        print_table(console, identified.adequacy.table())
        prose(console, identified.adequacy.sentences)
    if identified.validation is not None:
        heading(console, "Prediction of another trajectory")
        print_table(console, identified.validation.table())
        prose(console, identified.validation.sentences)


def _show_repeats(console: Console, identified: IdentifiedRepeats, truth: Array | None) -> None:
    motion = identified.motion
    size = f"{motion.n_samples} samples each of {len(motion.channels)} channels"
    heading(console, "Data")
    prose(
        console,
        [f"{motion.n_repeats} repeats of {motion.period:.4g} s, {size}.", *determined(identified.identifiability)],
    )
    heading(console, "Noise of a reading")
    if identified.noise is not None:
        print_table(console, identified.noise.table(motion.coordinate_units + motion.effort_units))
    prose(console, identified.on_noise)
    heading(console, "Harmonics of the path")
    print_table(console, identified.order.table())
    prose(console, [identified.order.reason])
    _parameters(console, identified, truth)
    prose(console, identified.on_estimates)
    if not identified.is_impossible:
        prose(console, identified.on_physics)
    _possible(console, identified)
    for name, verdict in identified.benchmarks.items():
        heading(console, f"Prediction of another motion: {name}")
        print_table(console, verdict.table())
    prose(console, identified.on_benchmarks)
    _verdict(console, identified)


def _possible(console: Console, identified: Identified | IdentifiedRepeats) -> None:
    possible = identified.possible
    if possible is None:
        return
    heading(console, "Possible bodies: complete parameters of a robot that can exist")
    print_table(console, possible.table())
    certified = identified.certified
    is_empty = certified is not None and certified.is_empty
    prose(console, possible.sentences, style="bold red" if possible.is_refuted else "")
    if certified is not None:
        if not is_empty:
            print_table(console, certified.table())
        prose(console, certified.sentences, style="bold red" if is_empty else "")


def _verdict(console: Console, identified: Identified | IdentifiedRepeats) -> None:
    verdict = identified.verdict
    if verdict is None:
        return
    heading(console, "Verdict on the model")
    print_table(console, verdict.table())
    if verdict.cause is not None and verdict.causes is not None:
        print_table(console, verdict.causes.table())
    labelled(console, verdict.outline)


def _parameters(console: Console, identified: Identified | IdentifiedRepeats, truth: Array | None) -> None:
    if identified.is_impossible:
        heading(console, "Physics")
        prose(console, identified.on_physics, style="bold red")
    missed = "" if truth is None else "; red: more than 3 σ off the truth, or a set without it"
    heading(console, f"Parameters: value ± half-width of the interval{missed}")
    print_table(console, identified.table(truth))
    for label, meaning in identified.regroupings.items():
        console.print(f"  {label} = {meaning}", soft_wrap=True, markup=False)
    if rounded := on_factors(identified.regroupings.values()):
        console.print(f"  {rounded}", soft_wrap=True, markup=False)
