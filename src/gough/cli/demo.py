"""`gough demo`: the main job on a simulated robot."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console
from rich.text import Text

from gough.cli.progress import steps_shown
from gough.experiments.demos import DEMOS
from gough.report import Report, documents, require_ours, write_folder
from gough.report.shown import show
from gough.report.words import against_truth, listed
from gough.studies.demonstration import Demonstration, demonstrate, gain_texts

_PROSE = 88


def demo(
    robot: Annotated[str, typer.Argument(help=f"The robot: {', '.join(DEMOS)}.")] = "h4",
    out: Annotated[Path, typer.Option(help="Folder for the report: new, empty, or of an earlier run.")] = Path(
        "gough-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another machine, motion and noise.")] = 1,
    variant: Annotated[str | None, typer.Option(help="Identify with a simpler model, e.g. 'paper'.")] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Torques of every rod and bar; needs gough[multibody].")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Simulate a robot, identify it by every method, try it on another motion, compare with the truth, report."""
    require_ours(out)
    with steps_shown() as on_step:
        done = demonstrate(robot, seed=seed, mechanism=full, variant=variant, on_step=on_step)
        title = f"Identification of a simulated {DEMOS[robot].robot}"
        report = Report(title, (about(done, robot, full=full),), done.identified, done.truth)
        files = documents(report)
    write_folder(out, files)
    if as_json:
        typer.echo(files["report.json"].decode(), nl=False)
        return
    console = Console(highlight=False)
    console.print(Text(report.lead[0]), width=min(console.width, _PROSE))
    show(console, done.identified, report.truth)
    if report.truth is not None:
        console.print("\nAgainst the truth", style="bold blue")
        for label, estimate in report.estimates.items():
            console.print(Text(against_truth(label, estimate, report.truth)), width=min(console.width, _PROSE))
    console.print(f"\nReport: {out / 'report.html'}", style="bold", soft_wrap=True)


def about(done: Demonstration, robot: str, *, full: bool) -> str:
    """One paragraph on the machine and its recordings."""
    demo, campaign = DEMOS[robot], done.campaign
    recording, sigma = done.recorded.recording, done.recorded.errors.std(axis=0)
    errors = f"{np.sqrt((sigma**2).mean()):.2g} {demo.effort_unit}"
    torques = "Torques are those of the complete mechanism, every rod and bar. " if full else ""
    gains = ""
    if done.gains:
        each = listed(gain_texts(done.gains))
        gains = f" The amplifiers' gains are measured by static force tests: {each} N·m/V."
    return (
        f"A simulated {demo.robot} has {len(campaign.robot.names)} dynamic parameters, {demo.truth}. {torques}It moves "
        f"for {recording.duration:.3g} s; motor positions and amplifier voltages are recorded {recording.rate:g} times "
        f"a second. Voltages times gain differ from the torques by {errors} (rms): noise, ripple, converters.{gains} "
        "No method sees the truth."
    )
