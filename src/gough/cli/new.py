"""`gough new`: write a study to fill in."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.progress import steps_shown
from gough.cli.terminal import say
from gough.core.text import command_line
from gough.papers.new_study import write_new_study
from gough.robots import ROBOTS


def new(
    folder: Annotated[Path, typer.Argument(help="New folder for the study.")],
    robot: Annotated[str, typer.Option(help=f"Robot ({', '.join(ROBOTS)}), or a mechanism file (TOML).")] = "h4",
    *,
    example: Annotated[bool, typer.Option(help="Also simulate recordings, so that the study can be run.")] = False,
    repeats: Annotated[
        bool | None,
        typer.Option(
            "--repeats/--single",
            help="Repeated periods of one motion, or single recordings; mechanisms default to repeats.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the simulated recordings.")] = 1,
) -> None:
    """Write a commented study.toml and a README."""
    with steps_shown() as on_step:
        files = write_new_study(folder, robot, repeats=repeats, seed=seed if example else None, on_step=on_step)
    say(f"Wrote {', '.join(map(str, files))}.")
    first = "" if example else "Fill in study.toml, then: "
    say(f"{first}{command_line('gough', 'identify', folder / 'study.toml')}")
