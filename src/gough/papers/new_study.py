"""A new study in a folder of its own, with simulated recordings if wanted."""

import os
from collections.abc import Callable
from pathlib import Path

from gough.core.errors import require
from gough.core.files import new_file
from gough.core.progress import Phase
from gough.core.text import visible
from gough.data import Recording, write_recording
from gough.papers.demonstration import known_gain, measured_gains, simulate, simulate_repeats
from gough.report import empty_folder
from gough.robots import CLOSED_FORMS
from gough.simulate.demos import DEMOS
from gough.studies import readme_text, study_text
from gough.studies.robots import require_family, robot_from_file
from gough.studies.robots import robot as built_in
from gough.studies.scaffold import (
    RECORDING,
    VALIDATION,
    Periods,
    repeated_channels,
    repeated_readme_text,
    repeated_study_text,
)

OnStep = Callable[[Phase], object]
Files = tuple[dict[str, str], dict[str, Recording]]
"""Texts and recordings by the names of their files."""


def write_new_study(
    folder: Path,
    robot: str,
    *,
    repeats: bool | None = None,
    seed: int | None = None,
    on_step: OnStep = lambda _: None,
) -> list[Path]:
    """Write a commented study.toml and a README.md into a new or empty folder.

    Args:
        folder: The folder.
        robot: Family of the robot, or a mechanism file (TOML).
        repeats: Whether the recordings are repeated periods of one motion, or single recordings; by default repeats
            for mechanisms.
        seed: Also simulate recordings with this random seed, so that the study can be run.
        on_step: Called at the start of each step of the simulation.

    Returns:
        The files written.

    Raises:
        InputError: there is no such robot, or no example of it; or the folder is not empty.
    """
    file = robot if Path(robot).suffix == ".toml" else ""
    if not file:
        require_family(robot)
    repeated = robot not in CLOSED_FORMS if repeats is None else repeats
    require(repeated or not file, "a study of single recordings names its robot: give its family, not a file")
    if seed is not None:
        known = ", ".join(name for name, demo in DEMOS.items() if demo.is_periodic == repeated)
        has_demo = robot in DEMOS and DEMOS[robot].is_periodic == repeated
        kind = "repeats" if repeated else "single recordings"
        require(has_demo, f"there is no example of {robot} in {kind} (known: {known})")
    with empty_folder(folder):
        texts, recordings = (
            _repeated(folder, robot, file, seed, on_step) if repeated else _single(folder, robot, seed, on_step)
        )
        for name, recording in recordings.items():
            write_recording(folder / name, recording)
        for name, text in reversed(texts.items()):  # study.toml is the last: where it is, the rest is complete
            with new_file(folder / name) as target:
                target.write(text.encode())
    return [folder / name for name in (*texts, *recordings)]


def _title(folder: Path) -> str:
    return visible(folder.resolve().name)


def _single(folder: Path, robot: str, seed: int | None, on_step: OnStep) -> Files:
    """A study of single recordings."""
    recordings: dict[str, Recording] = {}
    gain: tuple[float, ...] = (1.0,)
    if seed is not None:
        campaign, recorded, other = simulate(robot, seed=seed, on_step=on_step)
        recordings = {RECORDING: recorded.recording, VALIDATION: other.recording}
        gain = known_gain(recorded, measured_gains(campaign))
    return {"study.toml": study_text(robot, gain=gain), "README.md": readme_text(robot, _title(folder))}, recordings


def _repeated(folder: Path, robot: str, file: str, seed: int | None, on_step: OnStep) -> Files:
    """A study of repeated periods of one motion."""
    of = robot_from_file(Path(file)) if file else built_in(robot)
    recordings, periods = {}, Periods()
    if seed is not None:
        _, motion, others = simulate_repeats(robot, seed=seed, on_step=on_step)
        efforts = repeated_channels(of)[len(of.coordinates) :]
        named = {f"{name.replace(' ', '-')}.csv": other for name, other in others.items()}
        recordings = {name: each.recording(efforts) for name, each in {RECORDING: motion, **named}.items()}
        periods = Periods(f"{motion.period:.9g} s", 0, {name: f"{each.period:.9g} s" for name, each in named.items()})
    inside = Path(os.path.relpath(file, folder)).as_posix() if file else ""
    text = repeated_study_text(of, family=robot, file=inside, periods=periods)
    return {"study.toml": text, "README.md": repeated_readme_text(of, _title(folder))}, recordings
