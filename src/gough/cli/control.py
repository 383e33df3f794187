"""`gough control`: let the complete simulated robot follow a motion under the exported C, and compare controllers."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from gough.cli.options import AsJson
from gough.cli.progress import steps_shown, working
from gough.cli.terminal import show_results
from gough.control import MOTIONS, ControlStudy
from gough.control import control as compared
from gough.core.errors import InputError, require
from gough.export.c_source import identifier
from gough.export.compiled import require_compiler
from gough.report import results_folder
from gough.report.control import control_documents
from gough.simulate.multibody.plants import ENGINES
from gough.simulate.tracking import LAWS, Loop, require_law


def control(
    results: Annotated[Path, typer.Argument(help="Folder of gough identify or gough demo, or its model.json.")],
    motion: Annotated[
        str, typer.Option(help=f"Motion to follow: {', '.join(MOTIONS)}, or a file with a column for each actuator.")
    ] = "random",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the report: new, empty or from an earlier run; NAME-control by default."),
    ] = None,
    *,
    controllers: Annotated[str, typer.Option(help="Controllers to compare, with commas between them.")] = ",".join(
        LAWS
    ),
    limit: Annotated[
        str,
        typer.Option(
            help="Greatest effort of the drives, N·m or N: one number, or one per actuator with commas.",
            show_default=False,
        ),
    ] = "",
    rate: Annotated[float, typer.Option(help="Samples a second of the controller.")] = 1000.0,
    delay: Annotated[int, typer.Option(min=0, help="Whole samples from a reading until its effort.")] = 0,
    resolution: Annotated[float, typer.Option(help="Step of the encoders, rad or m; 0 has no steps.")] = 0.0,
    position_noise: Annotated[float, typer.Option(help="Standard deviation of positions, rad or m.")] = 0.0,
    effort_noise: Annotated[float, typer.Option(help="Standard deviation of the drives' efforts.")] = 0.0,
    bandwidth: Annotated[float, typer.Option(help="Bandwidth of all controllers, Hz.")] = 20.0,
    seconds: Annotated[float, typer.Option(help="Duration of a random motion.")] = 3.0,
    engine: Annotated[str, typer.Option(help=f"Simulator of the complete mechanism: {', '.join(ENGINES)}.")] = "mujoco",
    method: Annotated[
        str, typer.Option(help="Method whose estimate is used; the recommended one by default.", show_default=False)
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Random seed of motion, noise and drawn robot.")] = 1,
    as_json: AsJson = False,
) -> None:
    """Compare controllers on the complete simulated robot, with the exported C in closed loop.

    Results of gough demo contain the true parameters, and the simulated robot has these. For other results a robot is
    drawn from the set that the data allow. Exit code 1 if a limit is stated and not every model that the data allow is
    shown to stay within it.
    """
    laws = tuple(word.strip() for word in controllers.split(",") if word.strip())
    for law in laws:
        require_law(law)
    loop = Loop(
        rate=rate,
        delay=delay,
        resolution=resolution,
        position_noise=position_noise,
        effort_noise=effort_noise,
        limit=_limits(limit),
        bandwidth=bandwidth,
    )
    require(seconds > 0, f"--seconds must be positive, but is {seconds:g}")
    require_compiler()
    with working("reading the model"):
        study = ControlStudy.read(results, method=method, seed=seed)
    name = study.dynamics.robot.name
    folder = out or Path(f"{identifier(name)}-control")
    require(
        folder.resolve() != results.resolve(), f"'{folder}' is the folder of the results: give another one by --out"
    )
    with results_folder(folder) as written:
        with steps_shown() as on_step:
            found = compared(
                study, motion=motion, laws=laws, loop=loop, engine=engine, seed=seed, seconds=seconds, on_step=on_step
            )
            on_step.write()
            files = control_documents(f"Controllers of the {name}", (), found)
        written.write(files)
    text = "\n".join((str(found.table()), "", *found.sentences()))
    show_results(folder, files, json="control.json" if as_json else "", text=text)
    limits = found.limits
    if np.isfinite(limits).all() and not (found.enclosure is not None and found.enclosure.is_within(limits)):
        raise typer.Exit(1)


def _limits(text: str) -> list[float] | float:
    """The limit of all drives, or of each."""
    if not text:
        return float("inf")
    try:
        values = [float(word) for word in text.split(",")]
    except ValueError as error:
        raise InputError(f"--limit must be numbers with commas between them, but is '{text}'") from error
    return values[0] if len(values) == 1 else values
