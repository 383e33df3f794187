"""Any kind of study from its file."""

from pathlib import Path

from gough.core.errors import InputError
from gough.studies.calibration import CalibrationStudy
from gough.studies.design import DesignStudy
from gough.studies.pose_selection import PoseSelectionStudy
from gough.studies.study import Study
from gough.studies.toml import read_tables

_KINDS: dict[str, type[Study | DesignStudy | CalibrationStudy | PoseSelectionStudy]] = {
    "data": Study,
    "poses": CalibrationStudy,
    "printer": CalibrationStudy,
    "design": DesignStudy,
    "selection": PoseSelectionStudy,
}
"""The table that says which kind of study it is; the first one counts."""


def read_study(path: str | Path) -> Study | DesignStudy | CalibrationStudy | PoseSelectionStudy:
    """The study in a TOML file, of the kind that its tables ask for.

    ====================================  =======================  ==========================
    tables                                study                    its method
    ====================================  =======================  ==========================
    `[robot]`, `[data]`                   `Study`                  `identify()`
    `[robot]`, `[poses]`                  `CalibrationStudy`       `calibrate()`, `certify()`
    `[printer]`, or a Klipper `.cfg`      `CalibrationStudy`       `calibrate_printer()`
    `[robot]`, `[design]`                 `DesignStudy`            `design()`
    `[robot]`, `[selection]`              `PoseSelectionStudy`     `choose()`
    ====================================  =======================  ==========================

    A file may serve several purposes, before and after the measurements. The first row that fits decides here;
    `DesignStudy.read` reads the `[design]` of a file that has `[data]` too, and `PoseSelectionStudy.read` the
    `[selection]` of one that has `[poses]`.

    Raises:
        InputError: no such file, no TOML, tables of no study, an unknown or missing key, a value that cannot be; with
            the line.
    """
    file = Path(path)
    if file.suffix == ".cfg":
        return CalibrationStudy.read(file)
    tables = read_tables(file)[0]
    for name, kind in _KINDS.items():
        if name in tables:
            return kind.read(file)
    if "robot" in tables:
        raise InputError(
            f"{file} says nothing about the [robot] but which it is: add [data] to identify it from recordings, "
            "[design] to plan a motion, [poses] to calibrate it, or [selection] to choose poses"
        )
    if "mechanism" in tables:
        raise InputError(
            f'{file} describes a mechanism, not a study: name it in a study as [robot] file = "{file.name}", or check '
            f"it with gough mechanism {file}"
        )
    found = ", ".join(f"[{name}]" for name in tables) or "no table"
    raise InputError(
        f"{file} is not a study: it has {found}. A study has a table [robot], or [printer] for a delta printer; "
        "gough new writes an example"
    )
