"""What all studies have in common: a TOML file, its tables, and messages that name the line of a mistake."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from gough.core.arguments import as_path, verb
from gough.core.errors import InputError
from gough.core.text import command_line
from gough.core.toml_places import Place
from gough.studies.toml import TomlFile

_RENAMED_KEYS: dict[Place, str] = {("machine",): "robot", ("certify", "legs"): "chains"}
"""Old places of tables and keys in studies, and their names now. Old names are read, with a note."""
_RENAMED_VALUES: dict[Place, dict[str, str]] = {
    ("calibration", "frames"): {"machine": "robot"},
    ("robot", "family"): {"planar-rrr": "3-rrr"},
}
"""Old values of keys of studies, and how they are written now."""
_PURPOSES = ("data", "measurements", "poses", "printer", "design", "selection")
"""The tables that tell what a study is for; if there are several, the first of these counts."""
_CALIBRATION = ("calibration", "calibrate")
_COMMANDS = {
    "data": ("identification", "identify"),
    "measurements": _CALIBRATION,
    "poses": _CALIBRATION,
    "printer": _CALIBRATION,
    "design": ("the design of a motion", "design"),
    "selection": ("the choice of poses", "poses"),
}
"""For each of these tables, the kind of study and its command."""
_METHODS = {"identify": "data", "calibrate": "poses", "certify": "poses", "design": "design", "choose": "selection"}
"""What studies can be asked for, and the table that it needs."""
_KINDS: dict[str, type["Study"]] = {}
_MODULES = {
    "data": "identification",
    "measurements": "instruments",
    "poses": "calibration",
    "printer": "calibration",
    "design": "design",
    "selection": "pose_selection",
}
"""Modules that define the kinds: a study loads its own alone."""


def _kind(purpose: str) -> type["Study"]:
    import_module(f"gough.studies.{_MODULES[purpose]}")
    return _KINDS[purpose]


@dataclass(frozen=True, eq=False)
class Study:
    """A study: a TOML file that states a robot, data or limits, and what to do. See `Study.read`.

    Names of files in a study are relative to its folder. Nothing is computed on reading; mistakes are refused with
    the line.
    """

    file: TomlFile
    table: Any
    """The content of the file, one attribute for each table."""

    def __init_subclass__(cls, purposes: tuple[str, ...] = ()) -> None:
        _KINDS.update(dict.fromkeys(purposes, cls))

    @classmethod
    @verb()
    def read(cls, path: str | Path) -> Any:
        """The study in a TOML file, of the kind that its tables ask for.

        ====================================  =======================  =================================
        tables                                kind                     method
        ====================================  =======================  =================================
        `[robot]`, `[data]`                   `IdentificationStudy`    `identify()`
        `[robot]`, `[measurements]`           `InstrumentStudy`        `calibrate()`
        `[robot]`, `[poses]`                  `CalibrationStudy`       `calibrate()`, `certify()`
        `[printer]`, or a Klipper `.cfg`      `CalibrationStudy`       `calibrate()`, `certify_printer()`
        `[robot]`, `[design]`                 `DesignStudy`            `design()`
        `[robot]`, `[selection]`              `PoseSelectionStudy`     `choose()`
        ====================================  =======================  =================================

        A file may serve several purposes, before and after the measurements. The first row that fits decides;
        `DesignStudy.read` reads the `[design]` of a file that has `[data]` too, and `PoseSelectionStudy.read` the
        `[selection]` of one that has `[poses]`.

        Raises:
            InputError: there is no such file, it is not TOML or not a study, a key is unknown or missing, or a value
                is not allowed; with the line.
        """
        path = as_path(path, "path")
        if path.suffix == ".cfg":
            return _kind("printer").read(path)
        file = study_file(path)
        tables = file.tables
        for purpose in _PURPOSES:
            if purpose in tables:
                return _kind(purpose).read(path)
        names = ", ".join(f"[{name}]" for name in tables) or "no table"
        if file.written(("robot",)) == ("machine",):  # an old file: without other tables it was for choosing poses
            return _kind("selection").read(path)
        if "robot" in tables:
            raise InputError(
                f"{path} has {names}, and no table that states what to do: add [data] to identify the robot "
                "from recordings, [poses] or [measurements] to calibrate it, [design] to plan a motion, or [selection] "
                "to choose poses"
            )
        if "mechanism" in tables:
            raise InputError(
                f'{path} describes a mechanism, not a study: name it in a study as [robot] file = "{Path(path).name}", '
                f"or check it with gough mechanism {path}"
            )
        raise InputError(
            f"{path} is not a study: it has {names}. A study has a table [robot], or [printer] for a delta printer; "
            "gough new writes an example"
        )

    @property
    def path(self) -> Path:
        """The study file."""
        return self.file.path

    @property
    def notes(self) -> tuple[str, ...]:
        """Old names in the file, each with its line and its new name."""
        return self.file.notes

    def at(self, *place: str | int) -> AbstractContextManager[None]:
        """Prefix the message of an InputError raised inside with the line of the study that it is about."""
        return self.file.at(*place)


@verb()
def read_study(path: str | Path) -> Any:
    """The study of any kind in a TOML file: `Study.read`, which lists the kinds.

    Raises:
        InputError: there is no such file, it is not TOML or not a study, a key is unknown or missing, or a value is
            not allowed; with the line.
    """
    return Study.read(path)


def study_file(path: str | Path, *purposes: str) -> TomlFile:
    """The file of a study, under the current names of its tables, keys and values.

    Args:
        path: The file.
        purposes: Tables of which the study needs one; left out: any study.

    Raises:
        InputError: there is no such file, it is not TOML, it has an old name and the new one, or it is a study of
            another kind: the message names the command for it.
    """
    file = TomlFile.read(path).renamed(_RENAMED_KEYS, _RENAMED_VALUES)
    if purposes and not any(purpose in file.tables for purpose in purposes):
        other = next((purpose for purpose in _PURPOSES if purpose in file.tables), None)
        if other is not None:
            (kind, command), needed = _COMMANDS[other], " or ".join(f"[{purpose}]" for purpose in purposes)
            right = command_line("gough", command, Path(path))
            raise InputError(f"{path} is a study of {kind}: it has [{other}], but not {needed}. Run {right}")
    return file


def _refused(method: str) -> Callable[..., NoReturn]:
    """What studies of other kinds have in place of a method."""

    def refuse(self: Study, *_: Any, **__: Any) -> NoReturn:
        purposes = [purpose for purpose, kind in _KINDS.items() if isinstance(self, kind)]
        own = " or ".join(f"{name}()" for name, table in _METHODS.items() if table in purposes) or "calibrate()"
        kind, needed = _COMMANDS[purposes[0]][0], _METHODS[method]
        raise InputError(f"{self.path} is a study of {kind}: call {own}. {method}() needs the table [{needed}]")

    refuse.__doc__ = f"Refused: `{method}()` is for studies with a table `[{_METHODS[method]}]`."
    return refuse


for _method in _METHODS:
    setattr(Study, _method, _refused(_method))
