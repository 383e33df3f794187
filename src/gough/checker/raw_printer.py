"""Probed heights of a Klipper delta printer, read from its configuration in exact rational numbers.

The checker's own reading of printer.cfg and of what it includes: nothing of the code that calibrates is used here.
"""

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import PurePosixPath
from typing import NamedTuple

from gough.checker.linear import NotProven
from gough.checker.raw_numbers import Scaled, decimal

Section = dict[str, str]
_SAVED = "#*#"
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
    if not files:
        raise NotProven("there is no configuration")
    sections = _sections(next(iter(files)), files, ())
    if sections.get("printer", {}).get("kinematics", "delta") != "delta":
        raise NotProven("the configuration is not of a delta printer")
    first = sections.get(_STEPPERS[0], {})
    steppers = [{**first, **sections.get(name, {})} for name in _STEPPERS]
    step = [_step(each, name) for each, name in zip(steppers, _STEPPERS, strict=True)]
    probed = sections.get("delta_calibrate", {})
    keys = [key for key in probed if re.fullmatch(r"(manual_)?height[0-9]+", key)]
    if not keys:
        raise NotProven("the configuration has no probed heights")
    angle = _number(sections.get(_STEPPERS[2], {}), "angle", _STEPPERS[2], _ANGLE_C)
    return ExactPrinter(
        tuple(_number(each, "arm_length", name) / 1000 for each, name in zip(steppers, _STEPPERS, strict=True)),
        Scaled(angle / 180, 1),
        tuple(_number(probed, key, "delta_calibrate") / 1000 for key in keys),
        tuple(tuple(n * s for n, s in zip(_steps(probed, key), step, strict=True)) for key in keys),
    )


def _sections(name: str, files: Mapping[str, bytes], seen: tuple[str, ...]) -> dict[str, Section]:
    """Keys by section: what SAVE_CONFIG wrote goes over what is above it, what comes later over what came before."""
    if len(seen) >= _DEEPEST:
        raise NotProven(f"files include one another more than {_DEEPEST} deep")
    try:
        lines = files[name].decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise NotProven(f"{name} is not UTF-8 text") from error
    written = [line for line in lines if not line.startswith(_SAVED)]
    saved = [line[len(_SAVED) :].removeprefix(" ") for line in lines if line.startswith(_SAVED)]
    result: dict[str, Section] = {}
    for part in (written, saved):
        for section, keys in _parsed(part).items():
            if not section.startswith("include "):
                result.setdefault(section, {}).update(keys)
                continue
            for other in _included(name, section.removeprefix("include ").strip(), files):
                if other not in (*seen, name):
                    for more, own in _sections(other, files, (*seen, name)).items():
                        result.setdefault(more, {}).update(own)
    return result


def _included(name: str, pattern: str, files: Mapping[str, bytes]) -> list[str]:
    """The listed files that a line [include …] of a file means, in the order of their names."""
    wanted = [*PurePosixPath(name).parent.parts, *PurePosixPath(pattern).parts]
    found = [
        other
        for other in map(PurePosixPath, files)
        if len(other.parts) == len(wanted) and all(map(fnmatchcase, other.parts, wanted))
    ]
    return [str(other) for other in sorted(found)]


def _parsed(lines: Sequence[str]) -> dict[str, Section]:
    result: dict[str, Section] = {}
    section: Section = {}
    for line in lines:
        text = re.split(r"(?:^|\s)[#;]", line, maxsplit=1)[0].rstrip()
        if header := re.fullmatch(r"\[(.+?)\]\s*", text):
            section = result.setdefault(" ".join(header[1].split()), {})
        elif pair := re.match(r"([A-Za-z_]\w*)\s*[:=]\s*(.*)$", text):
            section[pair[1].lower()] = pair[2].strip()
    return result


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
