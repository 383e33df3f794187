"""`gough new`: a study to fill in."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.progress import steps_shown
from gough.core.errors import InputError, nearest, require
from gough.core.files import new_file
from gough.data import Recording, write_recording
from gough.robots import ROBOTS
from gough.studies import readme_text, study_text
from gough.studies.demonstration import known_gain, measured_gains, simulate
from gough.studies.scaffold import RECORDING, VALIDATION


def new(
    folder: Annotated[Path, typer.Argument(help="A new folder for the study.")],
    robot: Annotated[str, typer.Option(help=f"The family of the robot: {', '.join(ROBOTS)}.")] = "h4",
    *,
    example: Annotated[bool, typer.Option(help="Also simulate recordings, so that the study runs at once.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of the simulated recordings.")] = 1,
) -> None:
    """Write a commented study.toml, and a README beside it."""
    if robot not in ROBOTS:
        raise InputError(f"no robot is called '{robot}'{nearest(robot, ROBOTS)} (known: {', '.join(ROBOTS)})")
    if folder.exists():
        require(folder.is_dir(), f"{folder} is a file; give the name of a new folder")
        require(not any(folder.iterdir()), f"{folder} is not empty; nothing was touched. Give the name of a new folder")
    recordings: dict[str, Recording] = {}
    gain: tuple[float, ...] = (1.0,)
    if example:
        with steps_shown() as on_step:
            campaign, recorded, other = simulate(robot, seed=seed, on_step=on_step)
        recordings = {RECORDING: recorded.recording, VALIDATION: other.recording}
        gain = known_gain(recorded, measured_gains(campaign))
    texts = {"study.toml": study_text(robot, gain=gain), "README.md": readme_text(robot, folder.resolve().name)}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with new_file(folder / name) as file:
            file.write(text.encode())
    for name, recording in recordings.items():
        write_recording(folder / name, recording)
    typer.echo(f"Wrote {', '.join(str(folder / name) for name in (*texts, *recordings))}.")
    first = "" if example else "Fill in study.toml, then: "
    typer.echo(f"{first}gough identify {folder / 'study.toml'}")
