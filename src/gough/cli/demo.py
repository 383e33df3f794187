"""`gough demo`: the main job on a simulated robot."""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from gough.cli.options import AsJson
from gough.cli.progress import steps_shown
from gough.cli.terminal import answer, console
from gough.core.errors import InputError, nearest, require
from gough.papers.demonstration import demonstrate
from gough.report import documents, report_on, results_folder
from gough.report.base.words import against_truth
from gough.report.identification.terminal import show
from gough.simulate.demos import DEMOS

_PROSE = 88
CALIBRATIONS = ("gough",)
"""Demos that are calibrations: what they need is loaded only for them."""


def demo(
    robot: Annotated[str, typer.Argument(help=f"Robot: {', '.join((*DEMOS, *CALIBRATIONS))}.")] = "h4",
    out: Annotated[Path, typer.Option(help="Folder for the report: new, empty, or from an earlier run.")] = Path(
        "gough-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the robot, motion and noise.")] = 1,
    variant: Annotated[
        str | None, typer.Option(help="Identify with a simpler model: 'paper' (h4, par4) is not adequate.")
    ] = None,
    *,
    full: Annotated[bool, typer.Option("--full", help="Simulate every rod and bar; needs gough\\[multibody].")] = False,
    as_json: AsJson = False,
) -> None:
    """Simulate a robot, identify it with every method, validate on another motion and compare with the truth.

    It writes a folder (gough-demo, or --out): report.html, to be opened in a browser first, with its figures as SVG and
    PNG; estimate.json, every estimate with its verdict; report.json, all that the page says; model.json, for gough
    export and gough control. Nothing else is changed. It takes 5 to 15 s, palida and the hexapods up to a minute, and
    at the first time some 10 s more, in which equations are compiled.

    Next: gough new my-robot --robot h4 --example writes a study with simulated recordings, to be replaced by yours;
    gough identify my-robot/study.toml does for it what this command does.

    Exits with 0 whatever the verdicts: with --variant paper the model is not adequate, and the report says so. gough
    identify exits with 1 then.
    """
    known = (*DEMOS, *CALIBRATIONS)
    if robot not in known:
        raise InputError(f"there is no demo called '{robot}'{nearest(robot, known)} (known: {', '.join(known)})")
    if robot in CALIBRATIONS:
        require(
            variant is None and not full, f"the demo of {robot} is a calibration: it has no --variant and no --full"
        )
        _calibrated(robot, out, seed, as_json=as_json)
        return
    with results_folder(out) as results, steps_shown() as on_step:
        done = demonstrate(robot, seed=seed, mechanism=full, variant=variant, on_step=on_step)
        title = f"Identification of a simulated {done.demo.robot}"
        report = report_on(title, (done.about,), done.identified, done.truth)
        on_step.write()
        files = documents(report)
        results.write(files)
    if as_json:
        answer(files["report.json"].decode())
        return
    screen = console()
    screen.print(Text(report.lead[0]), width=min(screen.width, _PROSE))
    show(screen, done.identified, report.truth)
    if report.truth is not None:
        screen.print("\nAgainst the truth", style="bold blue")
        for label, estimate in report.estimates.items():
            screen.print(Text(against_truth(label, estimate, report.truth)), width=min(screen.width, _PROSE))
    screen.print(f"\nReport: {out / 'report.html'}", style="bold", soft_wrap=True)


def _calibrated(robot: str, out: Path, seed: int, *, as_json: bool) -> None:
    """The demo of a geometric calibration."""
    from gough.papers.calibration_demonstration import CALIBRATIONS as DEMONSTRATIONS  # noqa: PLC0415 - start-up time

    with results_folder(out) as results, steps_shown() as on_step:
        done = DEMONSTRATIONS[robot](seed, on_step)
        on_step.write()
        files = done.documents()
        results.write(files)
    if as_json:
        answer(done.to_json())
        return
    screen = console()
    screen.print(Text(done.lead[0]), width=min(screen.width, _PROSE))
    for head, lines in done.account:
        screen.print(f"\n{head}", style="bold blue")
        for line in lines:
            screen.print(Text(line), soft_wrap=True)
    screen.print(f"\nReport: {out / 'report.html'}", style="bold", soft_wrap=True)
