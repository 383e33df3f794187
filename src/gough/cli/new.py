"""`gough new`: a study to fill in."""

import os
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.progress import steps_shown
from gough.cli.terminal import command_line, say
from gough.core.errors import require
from gough.core.files import new_file
from gough.core.text import visible
from gough.data import Recording, write_recording
from gough.papers.demonstration import known_gain, measured_gains, simulate, simulate_repeats
from gough.report import empty_folder
from gough.robots import ROBOTS
from gough.simulate.demos import DEMOS
from gough.studies import readme_text, study_text
from gough.studies.robots import FAMILIES, require_family, robot_from_file
from gough.studies.robots import robot as built_in
from gough.studies.scaffold import (
    RECORDING,
    VALIDATION,
    Periods,
    repeated_channels,
    repeated_readme_text,
    repeated_study_text,
)


def new(
    folder: Annotated[Path, typer.Argument(help="New folder for the study.")],
    robot: Annotated[str, typer.Option(help=f"Robot ({', '.join(FAMILIES)}), or a mechanism file (TOML).")] = "h4",
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
    file = robot if Path(robot).suffix == ".toml" else ""
    if not file:
        require_family(robot)
    repeated = robot not in ROBOTS if repeats is None else repeats
    require(repeated or not file, "a study of single recordings names its robot: give its family, not a file")
    if example:
        known = ", ".join(name for name, demo in DEMOS.items() if demo.is_periodic == repeated)
        has_demo = robot in DEMOS and DEMOS[robot].is_periodic == repeated
        kind = "repeats" if repeated else "single recordings"
        require(has_demo, f"there is no example of {robot} in {kind} (known: {known})")
    title = visible(folder.resolve().name)
    with empty_folder(folder):
        texts, recordings = (
            _repeated(folder, robot, file, title, seed if example else None)
            if repeated
            else _single(robot, title, seed if example else None)
        )
        for name, recording in recordings.items():
            write_recording(folder / name, recording)
        for name, text in reversed(texts.items()):  # study.toml is the last: where it is, the rest is complete
            with new_file(folder / name) as target:
                target.write(text.encode())
    say(f"Wrote {', '.join(str(folder / name) for name in (*texts, *recordings))}.")
    first = "" if example else "Fill in study.toml, then: "
    say(f"{first}{command_line('gough', 'identify', folder / 'study.toml')}")


Files = tuple[dict[str, str], dict[str, Recording]]
"""Texts and recordings by the names of their files."""


def _single(robot: str, title: str, seed: int | None) -> Files:
    """A study of recordings of one motion each."""
    recordings: dict[str, Recording] = {}
    gain: tuple[float, ...] = (1.0,)
    if seed is not None:
        with steps_shown() as on_step:
            campaign, recorded, other = simulate(robot, seed=seed, on_step=on_step)
        recordings = {RECORDING: recorded.recording, VALIDATION: other.recording}
        gain = known_gain(recorded, measured_gains(campaign))
    return {"study.toml": study_text(robot, gain=gain), "README.md": readme_text(robot, title)}, recordings


def _repeated(folder: Path, robot: str, file: str, title: str, seed: int | None) -> Files:
    """A study of repeats of one motion."""
    of = robot_from_file(Path(file)) if file else built_in(robot)
    recordings, periods = {}, Periods()
    if seed is not None:
        with steps_shown() as on_step:
            _, motion, others = simulate_repeats(robot, seed=seed, on_step=on_step)
        efforts = repeated_channels(of)[len(of.coordinates) :]
        named = {f"{name.replace(' ', '-')}.csv": other for name, other in others.items()}
        recordings = {name: each.recording(efforts) for name, each in {RECORDING: motion, **named}.items()}
        periods = Periods(f"{motion.period:.9g} s", 0, {name: f"{each.period:.9g} s" for name, each in named.items()})
    inside = Path(os.path.relpath(file, folder)).as_posix() if file else ""
    text = repeated_study_text(of, family=robot, file=inside, periods=periods)
    return {"study.toml": text, "README.md": repeated_readme_text(of, title)}, recordings
