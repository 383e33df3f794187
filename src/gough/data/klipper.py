"""Delta printers as Klipper configures them: what `DELTA_CALIBRATE` probed, and the block that it would save."""

import re
from collections.abc import Mapping, Sequence
from configparser import Error as ConfigError
from configparser import RawConfigParser
from dataclasses import dataclass
from glob import glob
from itertools import dropwhile
from math import degrees, inf, radians
from pathlib import Path

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.files import is_file, read_text
from gough.core.units import LARGEST

Section = dict[str, str]
_SAVED = "#*#"
_STEPPERS = ("stepper_a", "stepper_b", "stepper_c")
_ANGLES = (210.0, 330.0, 90.0)
_DEEPEST = 8


@dataclass(frozen=True, eq=False)
class KlipperDelta(ArrayValue):
    """A delta printer's geometry as configured, and where its carriages were when the nozzle met the bed.

    Lengths in m, angles in rad; a reading is how far a carriage is below its endstop.
    """

    radius: float
    angle: Array
    arm: Array
    endstop: Array
    heights: Array
    """(N,) of the nozzle at each probed point."""
    height_readings: Array
    """(N, 3)."""
    distances: Array
    """(M,) between points of a printed object, as measured by hand; empty where there are none."""
    distance_readings: Array
    """(M, 2, 3)."""
    source: str = ""
    manual: int = 0
    """How many of the heights were entered by hand: Klipper does not count them when it weighs heights."""


def read_klipper(path: str | Path) -> KlipperDelta:
    r"""The delta printer in a Klipper configuration, with the points that DELTA_CALIBRATE has saved in it.

    As for Klipper, what stands above the block of SAVE_CONFIG counts before what is in it, and what comes later before
    what came earlier; files that are included are read at their place where they lie beside.

    Raises:
        InputError: no delta printer, or one that was never probed; the message names section and key.

    Examples:
        >>> read_klipper("printer.cfg")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: printer.cfg cannot be read: there is no such file
    """
    file = Path(path)
    sections = _sections(file)
    printer = sections.get("printer", {})
    kind = printer.get("kinematics", "delta")
    require(kind == "delta", f"{file}, [printer] kinematics: '{kind}' is not a delta printer")
    probed = sections.get("delta_calibrate", {})
    if not any(re.fullmatch(r"(manual_)?height\d+", key) for key in probed):
        raise InputError(
            f"{file} has no probed heights in [delta_calibrate]: run DELTA_CALIBRATE on the printer, then SAVE_CONFIG, "
            "and give the printer.cfg that it writes"
        )
    steppers = [sections.get(name, {}) for name in _STEPPERS]
    step = np.array([_step(each, file, name) for each, name in zip(steppers, _STEPPERS, strict=True)])
    heights, height_readings = _heights(probed, step, file)
    distances, distance_readings = _distances(probed, step, file)
    angles = [
        _number(each, "angle", f"{file}, [{name}]", angle)
        for each, name, angle in zip(steppers, _STEPPERS, _ANGLES, strict=True)
    ]
    arms, endstops = ([_number(steppers[0], key, f"{file}, [stepper_a]")] for key in ("arm_length", "position_endstop"))
    for each, name in zip(
        steppers[1:], _STEPPERS[1:], strict=True
    ):  # the only keys that Klipper takes over from tower a
        arms.append(_number(each, "arm_length", f"{file}, [{name}]", arms[0]))
        endstops.append(_number(each, "position_endstop", f"{file}, [{name}]", endstops[0]))
    return KlipperDelta(
        radius=_number(printer, "delta_radius", f"{file}, [printer]") / 1000,
        angle=np.array([radians(a) for a in angles]),
        arm=np.array(arms) / 1000,
        endstop=np.array(endstops) / 1000,
        heights=heights,
        height_readings=height_readings,
        distances=distances,
        distance_readings=distance_readings,
        source=str(file),
        manual=sum(key.startswith("manual_height") and not key.endswith("_pos") for key in probed),
    )


def klipper_block(radius: float, angle: Sequence[float], arm: Sequence[float], endstop: Sequence[float]) -> str:
    """The lines that SAVE_CONFIG would write for this geometry, given in m and rad.

    Examples:
        >>> print(klipper_block(0.16, np.radians([210, 330, 90]), [0.345] * 3, [0.42] * 3))
        #*# [printer]
        #*# delta_radius = 160.000000
        #*#
        #*# [stepper_a]
        #*# angle = 210.000000
        #*# arm_length = 345.000000
        #*# position_endstop = 420.000000
        #*#
        #*# [stepper_b]
        #*# angle = 330.000000
        #*# arm_length = 345.000000
        #*# position_endstop = 420.000000
        #*#
        #*# [stepper_c]
        #*# angle = 90.000000
        #*# arm_length = 345.000000
        #*# position_endstop = 420.000000
    """
    lines = ["[printer]", f"delta_radius = {radius * 1000:.6f}"]
    for name, a, length, stop in zip(_STEPPERS, angle, arm, endstop, strict=True):
        lines += ["", f"[{name}]", f"angle = {degrees(a):.6f}"]
        lines += [f"arm_length = {length * 1000:.6f}", f"position_endstop = {stop * 1000:.6f}"]
    return "\n".join(f"{_SAVED} {line}".rstrip() for line in lines)


def klipper_files(path: str | Path) -> dict[Path, bytes]:
    """A Klipper configuration and the files that it includes, by path, with their content.

    Raises:
        InputError: a file cannot be read.
    """
    files: dict[Path, bytes] = {}
    _sections(Path(path), files)
    return files


def _sections(path: Path, files: dict[Path, bytes] | None = None) -> dict[str, Section]:
    """Keys by section: what is written, here or in included files, counts before what SAVE_CONFIG wrote.

    The content of each file is put into `files`.
    """
    require(is_file(path), f"{path} cannot be read: there is no such file")
    contents: dict[Path, bytes] = {} if files is None else files
    lines = _lines(path, contents)
    written = _with_includes([line for line in lines if not line.startswith(_SAVED)], (path,), contents)
    marked = [line[len(_SAVED) :].removeprefix(" ") for line in lines if line.startswith(_SAVED)]
    saved = _with_includes(list(dropwhile(lambda line: not line.startswith("["), marked)), (path,), contents)
    names = dict.fromkeys((*written.sections(), *saved.sections()))
    result: dict[str, Section] = {}
    for name in names:
        first, second = (dict(part.items(name)) if part.has_section(name) else {} for part in (written, saved))
        result[name] = first | {key: value for key, value in second.items() if key not in first}
    return result


def _lines(file: Path, files: dict[Path, bytes]) -> list[str]:
    text = read_text(file)
    files.setdefault(file, file.read_bytes())
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _with_includes(
    lines: Sequence[str], seen: tuple[Path, ...], files: dict[Path, bytes], into: RawConfigParser | None = None
) -> RawConfigParser:
    """Lines in their order, with what they include at its place, by the parser that Klipper uses."""
    *_, file = seen
    require(len(seen) <= _DEEPEST, f"{file}: files include one another more than {_DEEPEST} deep")
    parser = RawConfigParser(strict=False, inline_comment_prefixes=(";", "#")) if into is None else into
    waiting: list[str] = []
    for line in (each.partition("#")[0] for each in lines):
        header = RawConfigParser.SECTCRE.match(line)
        if header is None or not header["header"].startswith("include "):
            waiting.append(line)
            continue
        _parse(waiting, file, parser)
        waiting = []
        for other in _included(file, header["header"].removeprefix("include ").strip()):
            require(other not in seen, f"{file}: {other.name} includes itself, which Klipper refuses")
            _with_includes(_lines(other, files), (*seen, other), files, parser)
    _parse(waiting, file, parser)
    return parser


def _parse(lines: Sequence[str], file: Path, into: RawConfigParser) -> None:
    try:
        into.read_string("\n".join(lines), str(file))
    except ConfigError as error:
        words = " ".join(str(error).split())
        raise InputError(f"{file} is no configuration that Klipper reads: {words:.160}") from error


def _included(file: Path, pattern: str) -> list[Path]:
    """The files that a line [include …] names, in the order of their names."""
    try:
        beside = not Path(pattern).is_absolute()
        require(beside, f"{file}: [include {pattern:.60}] names no files beside this one: give a relative path")
        require("**" not in pattern, f"{file}: [include {pattern:.60}]: ** is not allowed; name the folders")
        require(pattern.count("/") <= _DEEPEST, f"{file}: [include {pattern:.60}] leads through too many folders")
        found = (file.parent / name for name in glob(pattern, root_dir=file.parent))  # noqa: PTH207 - no hidden files
        return sorted((other for other in found if other.is_file()), key=str)
    except (ValueError, NotImplementedError, IndexError, OSError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{file}: [include {pattern:.60}] names no files beside this one ({error})") from error


def _number(section: Mapping[str, str], key: str, where: str, default: float | None = None) -> float:
    if key not in section:
        require(default is not None, f"{where} lacks '{key}'")
        assert default is not None
        return default
    try:
        value = float(section[key])
    except ValueError as error:
        raise InputError(f"{where} {key}: '{section[key]}' is not a number") from error
    require(abs(value) < LARGEST, f"{where} {key}: {section[key]:.40} is too large, or not a number")
    return value


def _step(stepper: Section, file: Path, name: str) -> float:
    """Metres of a carriage per microstep."""
    where = f"{file}, [{name}]"
    if "rotation_distance" not in stepper and "step_distance" in stepper:  # as Klipper had it until 2021
        step = _number(stepper, "step_distance", where) / 1000
        require(step > 0, f"{where}: step_distance must be positive")
        return step
    per_turn = _number(stepper, "full_steps_per_rotation", where, 200.0) * _number(stepper, "microsteps", where)
    for pair in filter(None, (part.strip() for part in stepper.get("gear_ratio", "").split(","))):
        try:
            driven, driving = map(float, pair.split(":"))
        except ValueError as error:
            raise InputError(f"{where} gear_ratio: '{pair}' is not a ratio such as 5:1") from error
        positive = 0 < driven < LARGEST and 0 < driving < LARGEST
        require(positive, f"{where} gear_ratio: the numbers of '{pair}' must be positive")
        per_turn *= driven / driving
    distance = _number(stepper, "rotation_distance", where)
    require(
        distance > 0 and 0 < per_turn < inf,
        f"{where}: rotation_distance, microsteps, full_steps_per_rotation and gear_ratio must be positive",
    )
    step = distance / per_turn / 1000
    require(0 < step < LARGEST, f"{where}: a microstep of {step:g} m is impossible: check rotation_distance")
    return step


def _steps(section: Section, key: str, file: Path) -> list[float]:
    parts = section.get(key, "").split(",")
    try:
        values = [float(part) for part in parts]
    except ValueError:
        values = []
    plausible = len(values) == 3 and all(abs(value) < LARGEST for value in values)
    require(plausible, f"{file}, [delta_calibrate] {key}: needs the steps of three towers, with commas")
    return values


def _heights(probed: Section, step: Array, file: Path) -> tuple[Array, Array]:
    keys = [key for key in probed if re.fullmatch(r"(manual_)?height\d+", key)]
    where = f"{file}, [delta_calibrate]"
    heights = np.array([_number(probed, key, where) for key in keys]) / 1000
    return heights, np.array([_steps(probed, f"{key}_pos", file) for key in keys]) * step


def _distances(probed: Section, step: Array, file: Path) -> tuple[Array, Array]:
    keys = [key for key in probed if re.fullmatch(r"distance\d+", key)]
    where = f"{file}, [delta_calibrate]"
    distances = np.array([_number(probed, key, where) for key in keys]) / 1000
    pairs = [[_steps(probed, f"{key}_pos{end}", file) for end in (1, 2)] for key in keys]
    return distances, np.array(pairs).reshape(-1, 2, 3) * step
