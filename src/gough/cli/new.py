"""`gough new`: write a study to fill in."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.options import Actuated, Fixed, Home, PlatformBody, Pose, stated_beside_file
from gough.cli.progress import steps_shown
from gough.cli.terminal import say
from gough.core.errors import require
from gough.core.text import command_line
from gough.papers.new_calibration import write_new_calibration
from gough.papers.new_study import repetition, write_new_study
from gough.robots import BY_INSTRUMENTS, KINEMATICS, ROBOTS

_ROBOT = "h4"


def new(
    folder: Annotated[Path, typer.Argument(help="New folder for the study.")],
    robot: Annotated[
        str, typer.Option(help=f"Robot ({', '.join(ROBOTS)}), or a mechanism file (TOML, URDF, SDF, MJCF).")
    ] = _ROBOT,
    *,
    recording: Annotated[
        list[Path] | None,
        typer.Option(help="Recording to identify from; may be given several times.", show_default=False),
    ] = None,
    actuated: Actuated = "",
    platform: PlatformBody = "",
    pose: Pose = "",
    home: Home = "",
    fixed: Fixed = "",
    example: Annotated[bool, typer.Option(help="Also simulate data, so that the study can be run.")] = False,
    repeats: Annotated[
        bool | None,
        typer.Option(
            "--repeats/--single",
            help="Repeated periods of one motion, or single recordings. Default: single, unless the recordings repeat.",
        ),
    ] = None,
    calibration: Annotated[
        str,
        typer.Option(
            help=f"Calibration study of a family instead: {', '.join((*KINEMATICS, *BY_INSTRUMENTS))}.",
            show_default=False,
        ),
    ] = "",
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the simulated data.")] = 1,
) -> None:
    """Write a commented study.toml and a README, to identify a robot or, with --calibration, to calibrate it."""
    if calibration:
        dynamic = recording or actuated or platform or pose or home or repeats is not None or robot != _ROBOT
        require(not dynamic, "--calibration takes a family and --example or --seed only: leave the other options out")
        files = write_new_calibration(folder, calibration, seed=seed if example else None)
        say(f"Wrote {', '.join(map(str, files))}.")
        first = "" if example else "Fill in study.toml, then: "
        say(f"{first}{command_line('gough', 'calibrate', folder / 'study.toml')}")
        return
    named = recording or []
    with steps_shown() as on_step:
        files = write_new_study(
            folder,
            robot,
            repeats=repeats,
            recordings=named,
            stated=stated_beside_file(actuated, platform, pose, home, fixed),
            seed=seed if example else None,
            on_step=on_step,
        )
    if named and repeats is None:
        say(repetition(named).reason)
    say(f"Wrote {', '.join(map(str, files))}.")
    first = "" if example else "Fill in study.toml, then: "
    say(f"{first}{command_line('gough', 'identify', folder / 'study.toml')}")
