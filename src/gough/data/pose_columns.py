"""Which columns of a table are poses or points that an instrument measured, by their names; for proposals only."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gough.core.text import listed

_SEPARATED = re.compile(r"[\s/_.:\-()]+")
_U95 = re.compile(r"\bu\s*\(?\s*_?95\s*%?\s*\)?", re.IGNORECASE)
_UNCERTAIN = {"u95", "unc", "uncertainty", "expanded"}
_TURNED = {"rotation", "rot", "orientation", "quaternion", "quat", "euler", "angle", "angles"}
_PLACED = {"position", "pos", "translation", "trans", "coordinate", "coord", "point"}
_NUMBERS = {"0": "w", "1": "x", "2": "y", "3": "z"}
_READING = re.compile(r"(?:l|leg|length|reading|actuator|joint|q)_?\d+", re.IGNORECASE)
_QUATERNION, _ROTATION, _ANGLES = ("qw", "qx", "qy", "qz"), ("rw", "rx", "ry", "rz"), ("rx", "ry", "rz")
_NAUTICAL, _ABC, _TURNS = ("roll", "pitch", "yaw"), ("a", "b", "c"), ("e1", "e2", "e3")
_PHRASES = {
    _QUATERNION: "a quaternion, scalar first",
    _ROTATION: "a quaternion, scalar first",
    _ANGLES: "three angles",
    _NAUTICAL: "three angles",
    _ABC: "three angles",
    _TURNS: "three angles",
}


@dataclass(frozen=True)
class MeasuredTarget:
    """Columns of one target that an instrument measured: a position, perhaps an orientation and uncertainties."""

    name: str
    """Empty where the columns have no name in common."""
    position: tuple[str, ...]
    orientation: tuple[str, ...] = ()
    """Four columns of a quaternion, scalar first, or three of angles."""
    meaning: str = ""
    """What the orientation is, in words."""
    uncertainty: tuple[str, ...] = ()
    """Expanded uncertainties of the position, or of position and orientation."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All its columns."""
        return (*self.position, *self.orientation, *self.uncertainty)

    def __str__(self) -> str:
        what = "a pose" if self.orientation else "a point"
        parts = [f"position {', '.join(self.position)}"]
        if self.orientation:
            parts.append(f"orientation {', '.join(self.orientation)} ({self.meaning})")
        if self.uncertainty:
            parts.append(f"expanded uncertainties {', '.join(self.uncertainty)}")
        return f"{self.name or 'The table'} is {what}: {'; '.join(parts)}"


def measured_targets(names: Sequence[str]) -> tuple[MeasuredTarget, ...]:
    """The targets among the columns of a table; none where there is no position of three columns.

    Examples:
        >>> print(*measured_targets(["Name", "X", "Y", "Z", "Q0", "Q1", "Q2", "Q3", "U95 X", "U95 Y", "U95 Z"]))
        The table is a pose: position X, Y, Z; orientation Q0, Q1, Q2, Q3 (a quaternion, scalar first); expanded \
uncertainties U95 X, U95 Y, U95 Z
        >>> [target.name for target in measured_targets(["N1_x", "N1_y", "N1_z", "N2_x", "N2_y", "N2_z"])]
        ['N1', 'N2']
    """
    bodies: dict[str, dict[str, str]] = {}
    for name in names:
        found = _coordinate(name)
        if found is not None:
            body, coordinate = found
            bodies.setdefault(body, {}).setdefault(coordinate, name)
    shared = bodies.get("", {})
    targets = []
    for body, columns in bodies.items():
        if not all(axis in columns for axis in "xyz"):
            continue
        own = {**shared, **columns} if len(bodies) <= 2 else columns
        form = next((form for form in _PHRASES if all(each in own for each in form)), ())
        used = ("x", "y", "z", *form)
        uncertain = [own[f"u {each}"] for each in used if f"u {each}" in own]
        complete = len(uncertain) == len(used) or (len(uncertain) == 3 and all(f"u {axis}" in own for axis in "xyz"))
        orientation = tuple(own[each] for each in form)
        if form == _ANGLES:  # in the order of the file, which is that of the turns in most programs
            orientation = tuple(sorted(orientation, key=names.index))
            turns = sorted(form, key=lambda each: names.index(own[each]))
            uncertain = uncertain[:3] + [own[f"u {each}"] for each in turns if f"u {each}" in own]
        targets.append(
            MeasuredTarget(
                body,
                tuple(own[axis] for axis in "xyz"),
                orientation,
                _PHRASES.get(form, ""),
                tuple(uncertain) if complete else (),
            )
        )
    return tuple(targets)


def _coordinate(name: str) -> tuple[str, str] | None:
    """The body and the coordinate that a name means: x, y, z, qw, …, rx, …, roll, …; with "u " its uncertainty."""
    plain = _U95.sub(" u95 ", name)
    words = [word for word in _SEPARATED.split(plain) if word]
    low = [word.lower() for word in words]
    uncertain = any(word in _UNCERTAIN for word in low)
    kept = [(word, own) for word, own in zip(words, low, strict=True) if own not in _UNCERTAIN]
    if not kept:
        return None
    (*before, (_, last)) = kept
    context = before[-1][1] if before else ""
    coordinate = _named(last, context)
    if coordinate is None and not uncertain and last.startswith("u") and len(last) > 1:
        coordinate, uncertain = _named(last[1:], context), True
    if coordinate is None:
        return None
    body = [word for word, own in before if own not in _TURNED | _PLACED]
    return "_".join(body), f"u {coordinate}" if uncertain else coordinate


def _named(word: str, context: str) -> str | None:
    if word in (*_NAUTICAL, *_ABC, *_TURNS):
        return word
    if context in {"quaternion", "quat"} and word in {*"wxyz", *_NUMBERS}:
        return f"q{_NUMBERS.get(word, word)}"
    if context in _TURNED and word in {*"wxyz"}:
        return f"r{word}"
    if match := re.fullmatch(r"(?:q|quat)([0-3wxyz])", word):
        return f"q{_NUMBERS.get(match[1], match[1])}"
    if match := re.fullmatch(r"(?:r|rot)([xyz])", word):
        return f"r{match[1]}"
    match = re.fullmatch(r"(?:p|pos|t)?([xyz])", word)
    return match[1] if match else None


def calibration_proposal(
    file: str,
    targets: Sequence[MeasuredTarget],
    units: Mapping[str, str],
    names: Mapping[str, Sequence[str]],
    *,
    largest: float,
    heads: Sequence[str] = (),
) -> str:
    """The tables [measurements] and [[instruments]] of a study that calibrates from this file.

    Args:
        file: Name of the file.
        targets: What was measured.
        units: Units that heads state, by column.
        names: Columns of texts, such as names of poses and of reflectors.
        largest: The largest position, for the unit where none is stated.
        heads: Names of the columns that the file does not state.
    """
    used = {column for target in targets for column in target.columns}
    readings = [column for column in units if column not in used and _READING.fullmatch(column)]
    of_pose, of_target = _keys(names)
    lines = ["[measurements]"]
    if readings:
        lines += [f"file = {_quoted(file)}", f"readings = {_array(readings)}"]
        lines += [f"heads = {_array(heads)}"] * bool(heads)
    else:
        order = f"column `pose` as in {file}" if of_pose else f"in the order of {file}"
        lines += [f'file = "readings.csv"  # the robot\'s readings l1, l2, …, a row for each pose, {order}']
        lines += ['pose = "pose"'] * bool(of_pose)
    several = sorted(set(names[of_target])) if of_target else []
    entries = [(target, value) for target in targets for value in (several or [""])]
    first = ""
    for target, value in entries:
        name = re.sub(r"\W+", "_", value or target.name) or "tracker"
        lines += ["", "[[instruments]]", f"name = {_quoted(name)}"]
        lines.append(f'kind = "{"pose" if target.orientation else "point"}"')
        if not readings:
            lines.append(f"file = {_quoted(file)}")
            lines += [f"heads = {_array(heads)}"] * bool(heads)
        lines += [f"where = {{{_key(of_target)} = {_quoted(value)}}}"] * bool(value)
        lines += [f"match = {_quoted(of_pose)}"] * bool(of_pose and not readings)
        lines.append(f"columns = {_array(target.position)}")
        if not any(units.get(column) for column in target.position):
            unit = "mm" if largest > 30 else "m"
            lines.append(f'unit = "{unit}"  # the file does not state it: positions reach {largest:.4g}')
        if target.orientation:
            lines += _orientation_lines(target, units)
        if target.uncertainty:
            lines.append(
                f"uncertainty = {_array(target.uncertainty)}  # U(95); coverage = 2 if your program states k = 2"
            )
        if target.orientation and len(target.uncertainty) == 3:
            lines.append('sigma = "0.01 deg"  # standard deviation of the orientation: state yours')
        base = "unknown\"  # the robot's base in the instrument's frame"
        lines.append(f'frame = "{first}"' if first else f'frame = "{base}')
        lines.append(f'{"target" if target.orientation else "point"} = "unknown"')
        first = first or name
    return "\n".join(lines)


def _orientation_lines(target: MeasuredTarget, units: Mapping[str, str]) -> list[str]:
    told = "" if target.meaning in _PHRASES.values() else f"  # {target.meaning}: check it"
    lines = [f"orientation = {_array(target.orientation)}{told}"]
    if len(target.orientation) == 3:
        lines.append(
            'euler = "?"  # convention of the angles in this order, which the file does not state: "fixed xyz", '
            '"moving xyz", "moving zyx", …'
        )
        if not any(units.get(column) for column in target.orientation):
            lines.append('orientation_unit = "deg"  # the file does not state it')
    return lines


def _keys(names: Mapping[str, Sequence[str]]) -> tuple[str, str]:
    """The column of texts that names poses, and the one that names reflectors: each of these at every pose."""
    every = {column: tuple(dict.fromkeys(texts)) for column, texts in names.items()}
    for target, own in sorted(every.items(), key=lambda item: len(item[1])):
        rows = names[target]
        if not 2 <= len(own) <= 50 or len(own) * 2 > len(rows):
            continue
        for pose in every:
            if pose != target and len(set(zip(names[pose], rows, strict=True))) == len(rows):
                return pose, target
        if len(set(rows[: len(own)])) == len(own):
            return "", target
    return "", ""


def words(targets: Sequence[MeasuredTarget]) -> str:
    """What was recognized, in a line each."""
    points = [target for target in targets if not target.orientation]
    if len(points) == len(targets) > 3:
        return f"Points: {listed([target.name for target in points])}, each x, y, z"
    return "\n".join(map(str, targets))


def _array(columns: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, columns))}]"


def _key(text: str) -> str:
    return text if re.fullmatch(r"[A-Za-z0-9_-]+", text) else _quoted(text)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
