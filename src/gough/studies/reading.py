"""Any kind of study from its file."""

from pathlib import Path

from gough.core.errors import InputError
from gough.core.files import read_toml
from gough.studies.calibration import CalibrationStudy
from gough.studies.design import DesignStudy
from gough.studies.pose_selection import PoseSelectionStudy
from gough.studies.study import Study


def read_study(path: str | Path) -> Study | DesignStudy | CalibrationStudy | PoseSelectionStudy:
    """The study in a TOML file, of the kind that its tables ask for.

    ====================================  =======================  =================
    tables                                study                    its method
    ====================================  =======================  =================
    `[robot]`, `[data]`                   `Study`                  `identify()`
    `[robot]`, `[design]`, no `[data]`    `DesignStudy`            `design()`
    `[machine]`, `[poses]`                `CalibrationStudy`       `calibrate()`
    `[printer]`, or a Klipper `.cfg`      `CalibrationStudy`       `calibrate_printer()`
    `[machine]`, no `[poses]`             `PoseSelectionStudy`     `choose()`
    ====================================  =======================  =================

    A file may serve several purposes, before and after the measurements: `DesignStudy.read` reads the `[design]` of a
    file that has `[data]` too, and `PoseSelectionStudy.read` the `[selection]` of one that has `[poses]`.

    Raises:
        InputError: no such file, no TOML, tables of no study, an unknown or missing key, a value that cannot be; with
            the line.
    """
    file = Path(path)
    if file.suffix == ".cfg":
        return CalibrationStudy.read(file)
    tables = read_toml(file)[0]
    if "robot" in tables:
        return DesignStudy.read(file) if "design" in tables and "data" not in tables else Study.read(file)
    if "poses" in tables or "printer" in tables:
        return CalibrationStudy.read(file)
    if "machine" in tables:
        return PoseSelectionStudy.read(file)
    if "mechanism" in tables:
        raise InputError(
            f'{file} describes a mechanism, not a study: name it in a study as [robot] file = "{file.name}", or check '
            f"it with gough mechanism {file}"
        )
    found = ", ".join(f"[{name}]" for name in tables) or "no table"
    raise InputError(
        f"{file} is not a study: it has {found}. A study of dynamics has a table [robot], one of geometry has "
        "[machine] or [printer]; gough new writes an example"
    )
