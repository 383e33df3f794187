"""A new study in a folder of its own, with simulated recordings if wanted."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gough.core.errors import InputError, require
from gough.core.files import new_file
from gough.core.progress import Phase
from gough.core.text import visible
from gough.data import Recording, read_recording, write_recording
from gough.data.periodicity import is_one_motion, period_of
from gough.papers.demonstration import known_gain, measured_gains, simulate, simulate_repeats
from gough.report import empty_folder
from gough.robots import DynamicModel
from gough.robots.mechanism.imports import SUFFIXES
from gough.simulate.demos import DEMOS
from gough.studies import readme_text, study_text
from gough.studies.mechanism_file import Stated
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


@dataclass(frozen=True)
class Repetition:
    """Whether recordings are repeats of one motion, and why."""

    periods: Periods | None
    """How they are cut; None: they are single recordings."""
    reason: str
    """In a sentence."""


def repetition(recordings: Sequence[str | Path]) -> Repetition:
    """Whether recordings repeat one motion: each is periodic with the same period, or all are one motion.

    Examples:
        >>> repetition(["nowhere.csv"]).reason.split(":")[0]
        'nowhere.csv cannot be read without the settings of the study, and counts as a single recording'
    """
    read = []
    for path in recordings:
        try:
            read.append(read_recording(path, missing="mask"))
        except InputError as error:
            why = "cannot be read without the settings of the study, and counts as a single recording"
            return Repetition(None, f"{path} {why}: {error}")
    found = [period_of(each.samples, each.rate) for each in read]
    lengths = {round((period or 0.0) * each.rate, 1) for each, period in zip(read, found, strict=True)}
    names = ", ".join(Path(path).name for path in recordings)
    if None not in found and len(lengths) == 1 and len({each.rate for each in read}) == 1:
        samples = lengths.pop()
        period = f"{samples / read[0].rate:.9g} s"
        if samples == round(samples):
            return Repetition(Periods(period, 1, {}), f"{names}: the motion repeats every {period}.")
        whole = "but this is no whole number of samples, so that periods cannot be compared"
        return Repetition(None, f"{names}: the motion repeats every {period}, {whole}: taken as single recordings.")
    same = len(read) > 1 and len({(each.samples.shape, each.rate) for each in read}) == 1
    if same and is_one_motion([each.samples for each in read]):
        return Repetition(Periods("", 0, {}), f"{names}: recordings of one motion, each of them one repeat.")
    return Repetition(None, f"{names}: no period was found, so that the study is about single recordings.")


def write_new_study(
    folder: Path,
    robot: str,
    *,
    repeats: bool | None = None,
    recordings: Sequence[str | Path] = (),
    stated: Stated | None = None,
    seed: int | None = None,
    on_step: OnStep = lambda _: None,
) -> list[Path]:
    """Write a commented study.toml and a README.md into a new or empty folder.

    Args:
        folder: The folder.
        robot: Family of the robot, or a mechanism file (TOML, URDF or MJCF).
        repeats: Whether the recordings are repeated periods of one motion, or single recordings. By default they are
            single, unless the recordings that are named repeat one motion (`repetition`).
        recordings: Files to identify from; without them the study has names to fill in.
        stated: Actuators and platform that a URDF or MJCF file does not state.
        seed: Also simulate recordings with this random seed, so that the study can be run.
        on_step: Called at the start of each step of the simulation.

    Returns:
        The files written.

    Raises:
        InputError: there is no such robot, or no example of it; or the folder is not empty.
    """
    file = robot if Path(robot).suffix.lower() in (".toml", *SUFFIXES) else ""
    beside = stated or Stated()
    if not file:
        require_family(robot)
        require(beside.is_empty, f"{robot} has its own actuators and platform: leave the options out")
    require(not (recordings and seed is not None), "an example has simulated recordings: leave yours out")
    cut = repetition(recordings).periods if recordings and repeats is not False else None
    example = seed is not None and robot in DEMOS and DEMOS[robot].is_periodic
    repeated = (cut is not None or example) if repeats is None else repeats
    if seed is not None:
        known = ", ".join(name for name, demo in DEMOS.items() if demo.is_periodic == repeated)
        has_demo = robot in DEMOS and DEMOS[robot].is_periodic == repeated
        kind = "repeats" if repeated else "single recordings"
        require(has_demo, f"there is no example of {robot} in {kind} (known: {known})")
    of = robot_from_file(Path(file), stated=beside) if file else built_in(robot)
    named = _Robot(of, "" if file else robot, _inside(file, folder), beside)
    sources = [_inside(path, folder) for path in recordings]
    with empty_folder(folder):
        if repeated:
            texts, made = _repeated(folder, named, seed, on_step, (cut, sources))
        else:
            texts, made = _single(folder, named, seed, on_step, sources)
        for name, recording in made.items():
            write_recording(folder / name, recording)
        for name, text in reversed(texts.items()):  # study.toml is the last: where it is, the rest is complete
            with new_file(folder / name) as target:
                target.write(text.encode())
    return [folder / name for name in (*texts, *made)]


@dataclass(frozen=True, eq=False)
class _Robot:
    """A robot as the study names it: a family, or a file with what is stated beside it."""

    of: DynamicModel
    family: str
    file: str
    stated: Stated


def _inside(path: str | Path, folder: Path) -> str:
    """A path as a file in the folder names it."""
    return Path(os.path.relpath(path, folder)).as_posix() if path else ""


def _title(folder: Path) -> str:
    return visible(folder.resolve().name)


def _single(folder: Path, robot: _Robot, seed: int | None, on_step: OnStep, sources: Sequence[str]) -> Files:
    """A study of single recordings."""
    recordings: dict[str, Recording] = {}
    gain: tuple[float, ...] = (1.0,)
    if seed is not None:
        campaign, recorded, other = simulate(robot.family, seed=seed, on_step=on_step, has_ripple=False)
        recordings = {RECORDING: recorded.recording, VALIDATION: other.recording}
        gain = known_gain(recorded, measured_gains(campaign))
    of = robot.family or robot.of
    text = study_text(of, file=robot.file, stated=robot.stated, gain=gain, recordings=sources)
    return {"study.toml": text, "README.md": readme_text(of, _title(folder))}, recordings


def _repeated(
    folder: Path,
    robot: _Robot,
    seed: int | None,
    on_step: OnStep,
    named: tuple[Periods | None, Sequence[str]],
) -> Files:
    """A study of repeated periods of one motion."""
    of = robot.of
    periods, sources = named
    recordings, periods = {}, periods or Periods()
    if seed is not None:
        _, motion, others = simulate_repeats(robot.family, seed=seed, on_step=on_step)
        efforts = repeated_channels(of)[len(of.coordinates) :]
        other_files = {f"{name.replace(' ', '-')}.csv": other for name, other in others.items()}
        recordings = {name: each.recording(efforts) for name, each in {RECORDING: motion, **other_files}.items()}
        cuts = {name: f"{each.period:.9g} s" for name, each in other_files.items()}
        periods = Periods(f"{motion.period:.9g} s", 0, cuts)
    elif sources:
        periods = replace(periods, validation={})
    text = repeated_study_text(
        of, family=robot.family, file=robot.file, stated=robot.stated, periods=periods, recordings=sources
    )
    return {"study.toml": text, "README.md": repeated_readme_text(of, _title(folder))}, recordings
