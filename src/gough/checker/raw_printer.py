"""Probed heights of a Klipper delta printer, read from its configuration in exact rational numbers.

The checker's own reading of printer.cfg and of what it includes: nothing of the code that calibrates is used here.
"""

import re
from collections.abc import Mapping, Sequence
from configparser import Error as ConfigError
from configparser import RawConfigParser
from fnmatch import fnmatchcase
from fractions import Fraction
from itertools import dropwhile
from pathlib import PurePosixPath
from typing import NamedTuple

from gough.checker.limits import spend
from gough.checker.linear import NotProven
from gough.checker.raw_numbers import Scaled, decimal

Section = dict[str, str]
_SAVED = "#*#"
_INCLUDE = "include "
_STEPPERS = ("stepper_a", "stepper_b", "stepper_c")
_DEEPEST = 8
_ANGLE_C = "90"
_FULL_STEPS = "200"


class ExactPrinter(NamedTuple):
    """What certificates of heights are about, in m; all numbers are those that the decimals of the file state."""

    arm: tuple[Fraction, ...]
    angle_c: Scaled
    """Angle of tower c, rad."""
    heights: tuple[Fraction, ...]
    """Of the nozzle at each probed point."""
    readings: tuple[tuple[Fraction, ...], ...]
    """How far each carriage was below its endstop, at each point."""


def exact_printer(files: Mapping[str, bytes]) -> ExactPrinter:
    r"""The printer of a configuration: the first file, with those that it includes if they are among the files.

    Args:
        files: Contents by path, relative to the folder of the first file.

    Raises:
        NotProven: a number or key is missing, or cannot be read exactly.

    Examples:
        >>> lines = ["[stepper_a]", "arm_length: 345", "rotation_distance: 40", "microsteps: 16", "[delta_calibrate]"]
        >>> lines += ["[stepper_b]", "rotation_distance: 40", "microsteps: 16"]
        >>> lines += ["[stepper_c]", "rotation_distance: 40", "microsteps: 16"]
        >>> lines += ["#*# [delta_calibrate]", "#*# height0 = 0.1", "#*# height0_pos = 800,1600,2400"]
        >>> found = exact_printer({"printer.cfg": "\n".join(lines).encode()})
        >>> found.heights, found.readings, found.angle_c
        ((Fraction(1, 10000),), ((Fraction(1, 100), Fraction(1, 50), Fraction(3, 100)),), Scaled(number=Fraction(1, 2), power=1))
    """  # noqa: E501 - an exact answer
    sections = _Reading(files).sections()
    if sections.get("printer", {}).get("kinematics", "delta") != "delta":
        raise NotProven("the configuration is not of a delta printer")
    steppers = [sections.get(name, {}) for name in _STEPPERS]
    step = [_step(each, name) for each, name in zip(steppers, _STEPPERS, strict=True)]
    probed = sections.get("delta_calibrate", {})
    keys = [key for key in probed if re.fullmatch(r"(manual_)?height[0-9]+", key)]
    if not keys:
        raise NotProven("the configuration has no probed heights")
    angle = _number(steppers[2], "angle", _STEPPERS[2], _ANGLE_C)
    first = steppers[0].get("arm_length")
    arms = [_number(each, "arm_length", name, first) for each, name in zip(steppers, _STEPPERS, strict=True)]
    if not min(arms) > 0:
        raise NotProven("an arm_length is not positive")
    return ExactPrinter(
        tuple(arm / 1000 for arm in arms),
        Scaled(angle / 180, 1),
        tuple(_number(probed, key, "delta_calibrate") / 1000 for key in keys),
        tuple(tuple(n * s for n, s in zip(_steps(probed, key), step, strict=True)) for key in keys),
    )


def left_out(files: Mapping[str, bytes]) -> tuple[str, ...]:
    """What the configuration includes, as the lines [include …] write it, of which no file is listed."""
    reading = _Reading(files)
    reading.sections()
    return tuple(dict.fromkeys(reading.left_out))


def includes(content: bytes) -> list[str]:
    """Patterns of the lines [include …] of one file."""
    text = content.decode("utf-8-sig", errors="replace")
    return [pattern for pattern in map(_include, _lines(text)) if pattern is not None]


class _Reading:
    """One reading of a configuration, by the parser that Klipper uses too."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        if not files:
            raise NotProven("there is no configuration")
        self.files, self.left_out = files, list[str]()

    def sections(self) -> dict[str, Section]:
        """Keys by section: what is written, here or in included files, counts before what SAVE_CONFIG wrote."""
        name = next(iter(self.files))
        lines = self._lines(name)
        written, saved = _parser(), _parser()
        self._read([line for line in lines if not line.startswith(_SAVED)], name, (), written)
        marked = [line[len(_SAVED) :].removeprefix(" ") for line in lines if line.startswith(_SAVED)]
        self._read(list(dropwhile(lambda line: not line.startswith("["), marked)), name, (), saved)
        result: dict[str, Section] = {}
        for part in (written, saved):
            for section in part.sections():
                if section.startswith(_INCLUDE):
                    raise NotProven(f"[{section:.60}] is indented: Klipper reads no file there")
                own = result.setdefault(section, {})
                own |= {key: value for key, value in part.items(section) if key not in own}
        return result

    def _lines(self, name: str) -> list[str]:
        try:
            return _lines(self.files[name].decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise NotProven(f"{name} is not UTF-8 text") from error

    def _read(self, lines: Sequence[str], name: str, above: tuple[str, ...], into: RawConfigParser) -> None:
        """Lines in their order, with what they include at its place: what comes later counts."""
        if len(above) >= _DEEPEST:
            raise NotProven(f"files include one another more than {_DEEPEST} deep")
        if name in above:
            raise NotProven(f"{name} includes itself")
        spend(100_000 + sum(3000 + 20 * len(line) for line in lines))
        waiting: list[str] = []
        for line in lines:
            pattern = _include(line)
            if pattern is None:
                waiting.append(line.partition("#")[0])
                continue
            _parse(waiting, name, into)
            waiting = []
            found = _included(name, pattern, self.files)
            self.left_out += [] if found else [pattern]
            for other in found:
                self._read(self._lines(other), other, (*above, name), into)
        _parse(waiting, name, into)


def _parser() -> RawConfigParser:
    return RawConfigParser(strict=False, inline_comment_prefixes=(";", "#"))


def _parse(lines: Sequence[str], name: str, into: RawConfigParser) -> None:
    try:
        into.read_string("\n".join(lines), name)
    except ConfigError as error:
        raise NotProven(
            f"{name} is no configuration that Klipper reads: {' '.join(str(error).split()):.120}"
        ) from error


def _lines(text: str) -> list[str]:
    """Lines that end where Klipper ends them; other separators of lines, such as U+2028, may stand in comments."""
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _include(line: str) -> str | None:
    """What a line [include …] includes; None for another line."""
    header = RawConfigParser.SECTCRE.match(line.partition("#")[0])
    return header["header"][len(_INCLUDE) :].strip() if header and header["header"].startswith(_INCLUDE) else None


def _included(name: str, pattern: str, files: Mapping[str, bytes]) -> list[str]:
    """The listed files that a line [include …] of a file means, in the order of their names."""
    wanted = [*PurePosixPath(name).parent.parts, *PurePosixPath(pattern).parts]
    found = [
        str(other)
        for other in map(PurePosixPath, files)
        if len(other.parts) == len(wanted) and all(map(_matches, other.parts, wanted))
    ]
    return sorted(found)


def _matches(part: str, wanted: str) -> bool:
    """Hidden files match only patterns that begin with a dot, too."""
    return fnmatchcase(part, wanted) and part.startswith(".") <= wanted.startswith(".")


def _number(section: Mapping[str, str], key: str, where: str, default: str | None = None) -> Fraction:
    text = section.get(key, default)
    if text is None:
        raise NotProven(f"[{where}] lacks '{key}'")
    return decimal(text)


def _step(stepper: Section, name: str) -> Fraction:
    """Metres of a carriage per microstep."""
    if "rotation_distance" not in stepper and "step_distance" in stepper:
        step = _number(stepper, "step_distance", name) / 1000
    else:
        per_turn = _number(stepper, "full_steps_per_rotation", name, _FULL_STEPS) * _number(stepper, "microsteps", name)
        for pair in filter(None, (part.strip() for part in stepper.get("gear_ratio", "").split(","))):
            driven, _, driving = pair.partition(":")
            below = decimal(driving.strip())
            if below <= 0:
                raise NotProven(f"[{name}] gear_ratio '{pair:.40}' is not positive")
            per_turn *= decimal(driven.strip()) / below
        if per_turn <= 0:
            raise NotProven(f"[{name}]: the steps per turn are not positive")
        step = _number(stepper, "rotation_distance", name) / per_turn / 1000
    if step <= 0:
        raise NotProven(f"[{name}]: a microstep is not positive")
    return step


def _steps(section: Section, key: str) -> list[Fraction]:
    parts = section.get(f"{key}_pos", "").split(",")
    if len(parts) != len(_STEPPERS):
        raise NotProven(f"[delta_calibrate] {key}_pos needs the steps of three towers")
    return [decimal(part.strip()) for part in parts]
