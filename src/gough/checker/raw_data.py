"""What the user measured, read by the checker itself: poses and readings in a file, and what the study says of them.

The reading rules are those of docs/robots.md: heads with units, columns under other names, quaternions, rotation
vectors or matrices. Only files of numbers in binary formats are read by others; their doubles are then exact values.
"""

import csv
import io
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from gough.checker.linear import NotProven
from gough.checker.raw_numbers import Scaled, Span, converted, cosine, decimal, quantity, sinc, total, unit
from gough.core.errors import InputError
from gough.core.rational import rational
from gough.core.text import pose_label

_COMMENTS = ("#", "%", "//")
_BRACKETS = re.compile(r"^(.*?)\s*\[([^\[\]]*)\]$", re.DOTALL)
_PARENTHESES = re.compile(r"^(.*\S)\s*\(([^()]*)\)$", re.DOTALL)
_ORDERS = {"wxyz": ("qw", "qx", "qy", "qz"), "numbered": ("q1", "q2", "q3", "q4")}
_VECTOR = ("rx", "ry", "rz")
_MATRIX = tuple(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
_LARGE = Fraction(85, 100)
"""The scalar part of a quaternion is larger than this where a platform turns by less than about 60°."""
_ANGLES = range(3, 6)

Quaternion = tuple[Span, Span, Span, Span]

_KEYS = {
    "": {"robot", "poses", "noise", "calibration", "frames", "selection", "certify", "output"},
    "robot": {"family", "file", "name", "blueprint", "geometry", "chains", "gains", "reading_unit"},
    "poses": {
        "file", "validation", "columns", "units", "quaternion", "euler", "exclude", "missing", "average", "readings",
        "heads", "coverage",
    },
    "poses.units": {"position", "rotation", "readings"},
    "noise": {"position", "orientation", "readings"},
    "calibration": {"frames", "fixed", "tolerance", "scale", "robust", "folds"},
    "frames": {"base", "platform"},
    "frames.base": {"position", "quaternion", "position_tolerance", "orientation_tolerance"},
    "frames.platform": {"position", "quaternion", "position_tolerance", "orientation_tolerance"},
    "certify": {
        "position", "orientation", "readings", "sigmas", "around", "center", "chains", "legs", "outliers", "joint",
        "joint_box", "width", "model_error",
    },
    "certify.model_error": {"constant", "reading", "position", "orientation"},
}  # fmt: skip
"""Keys of a study. Those of [selection] and [output] do not affect what is certified, nor do `name`, `validation`,
`fixed`, `tolerance`, `scale`, `robust`, `folds`, `chains` of [certify] (formerly `legs`), `outliers`, `joint`,
`joint_box` and `width`; all others are taken into account."""


_RENAMED = (("calibration", "frames", "machine", "robot"), ("robot", "family", "planar-rrr", "3-rrr"))
"""Table, key, value before version 0.2 and now. The table [machine] of such studies is [robot] now."""


class NotDerived(Exception):  # noqa: N818 - it tells what was not done, as NotProven does
    """The checker does not derive the numbers of a proof from raw data of this kind; the message says why."""


@dataclass(frozen=True)
class RawTable:
    """Columns under heads, all numbers exact."""

    heads: tuple[str, ...]
    column: Callable[[int], Sequence[str | float]]
    """A column by its place: decimals as text, or the doubles of a binary file."""
    lines: tuple[int, ...] = ()
    """The line of each row in a text, from 1."""

    def place(self, row: int) -> str:
        """What to call a row, counted from 0: its line in a text, its number from 1 in another file."""
        return f"line {self.lines[row]}" if self.lines else f"row {row + 1}"

    def numbers(self, place: int) -> list[Fraction]:
        """The numbers of a column."""
        result = []
        for row, cell in enumerate(self.column(place)):
            try:
                result.append(decimal(cell) if isinstance(cell, str) else rational(float(cell), "it"))
            except (NotProven, InputError) as short:
                raise NotProven(f"{self.place(row)}, column '{self.heads[place]:.40}': {short}") from short
        return result

    @classmethod
    def of_csv(cls, content: bytes) -> "RawTable":
        r"""The table in a CSV file: comments and blank lines left out, decimal commas as points.

        Examples:
            >>> RawTable.of_csv(b"# a comment\nx [mm];y\n1,5;2\n").numbers(0)
            [Fraction(3, 2)]
        """
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise NotProven("the table is not UTF-8 text") from error
        every = {number: line.strip("\r") for number, line in enumerate(text.split("\n"), start=1)}
        kept = {n: line for n, line in every.items() if line.strip() and not line.lstrip().startswith(_COMMENTS)}
        lines = [*kept.values()]
        if len(lines) < 2:
            raise NotProven("the table has no row")
        try:
            counts = {s: [len(next(csv.reader([line], delimiter=s))) for line in lines[:2]] for s in ",;\t"}
            separator = max(counts, key=lambda s: (counts[s][0] > 1 and counts[s][0] == counts[s][1], counts[s][0]))
            reader = csv.reader(io.StringIO("\n".join(lines), newline=""), delimiter=separator)
            (_, heads), *numbered = [(reader.line_num, cells) for cells in reader]
        except (csv.Error, StopIteration) as error:
            raise NotProven(f"the table is damaged: {error}") from error
        numbers, rows = [*kept], [cells for _, cells in numbered]
        is_counted = reader.line_num == len(lines)  # not where a carriage return stands within a line
        at = tuple(numbers[last - 1] for last, _ in numbered) if is_counted else ()

        def column(place: int) -> list[str]:
            found = [cells[place].strip() for cells in rows]
            return found if separator == "," else [x if "." in x else x.replace(",", ".") for x in found]

        table = cls(tuple(head.strip() for head in heads), column, at)
        for row, cells in enumerate(rows):
            if len(cells) != len(heads):
                raise NotProven(f"{table.place(row)} has {len(cells)} cells for {len(heads)} columns")
        return table


def study_of(content: bytes) -> dict[str, Any]:
    """The tables of a study under their names of this version, with decimals as fractions."""
    try:
        study = tomllib.loads(content.decode("utf-8-sig"), parse_float=lambda text: decimal(text.replace("_", "")))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise NotProven(f"the study is not TOML: {error}") from error
    except ValueError as error:
        raise NotProven(f"the study has a number that cannot be read: {error}") from error
    if "machine" in study:
        if "robot" in study:
            raise NotProven("the study has both [machine] and [robot], two names of one table")
        study["robot"] = study.pop("machine")
    for name, key, old, new in _RENAMED:
        table = table_in(study, name)
        if table.get(key) == old:
            study[name] = {**table, key: new}
    return study


def table_in(study: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A table of a study; empty where there is none."""
    table = study.get(name, {})
    if not isinstance(table, dict):
        raise NotProven(f"'{name}' is not a table")
    return table


def require_known(study: Mapping[str, Any]) -> None:
    """Raise NotProven if a study has a key whose meaning the checker does not know."""
    for path, known in _KEYS.items():
        table = study
        for name in path.split(".") if path else ():
            table = table_in(table, name)
        for key in table:
            if key not in known:
                where = f"[{path}]" if path else "the study"
                raise NotProven(f"the checker does not know what {key!r:.40} in {where} means")


def center_of(study: Mapping[str, Any]) -> str:
    """What unknowns are sought around: "blueprint" or "calibrated"."""
    framed = table_in(study, "calibration").get("frames", "robot")
    default = "calibrated" if framed == "instrument" and "frames" not in study else "blueprint"
    stated = table_in(study, "certify").get("center", default)
    if framed not in {"robot", "instrument"} or stated not in {"blueprint", "calibrated"}:
        raise NotProven("'frames' or 'center' of the study has a value that the checker does not know")
    return str(stated)


@dataclass(frozen=True)
class RawPoses:
    """What one file states of each pose, without copies of rows, which equal others in covariances too."""

    position: tuple[tuple[Span, ...], ...]
    """x, y, z, m."""
    rotation: tuple[Any, ...]
    """A `Quaternion`, or the nine numbers of a matrix; None where there is no orientation."""
    readings: tuple[tuple[Span, ...], ...]
    """Readings of all chains, in the unit of the robot's sensors."""
    variances: tuple[tuple[Span, ...], ...] | None
    """Variances of x, y, z in m² and of the rotation vector in rad², where the file has them; with those of errors that
    all poses share."""
    bounds: tuple[tuple[Span, ...], ...] | None
    """Half-widths of x, y, z in m and of the rotation vector in rad, where the file has them."""
    form: str
    """How orientations are given, in words."""
    copies: int
    """Rows of the file that equal an earlier one and are left out."""
    places: tuple[str, ...] = ()
    """Where each pose stands in the file: "line 9" of a text, or "row 8"."""

    def __len__(self) -> int:
        return len(self.position)

    def label(self, pose: int) -> str:
        """The number of a pose, from 0, and its place in the file."""
        return pose_label(pose, self.places)


def poses_of(table: RawTable, study: Mapping[str, Any], chains: int, reading_unit: str, *, planar: bool) -> RawPoses:
    """The poses of a table, as the study's table [poses] says how to read it."""
    return _Reader(table, table_in(study, "poses")).poses(chains, reading_unit, planar=planar)


class _Reader:
    def __init__(self, table: RawTable, asked: Mapping[str, Any]) -> None:
        if asked.get("average", False):
            raise NotDerived("poses are averages of repeats")
        if asked.get("exclude") or asked.get("missing", "refuse") != "refuse":
            raise NotDerived("the study leaves out poses (exclude, missing)")
        if asked.get("euler") is not None:
            raise NotDerived("orientations are Euler angles")
        for key, what in (("readings", "readings are in a file of their own"), ("heads", "the file has no heads")):
            if asked.get(key):
                raise NotDerived(what)
        if "coverage" in asked:
            raise NotDerived("errors are stated as expanded uncertainties")
        self._table, self._order = table, asked.get("quaternion")
        self._columns, self._units = (table_in(asked, key) for key in ("columns", "units"))
        self._names = [split_head(head) for head in table.heads]

    def poses(self, chains: int, reading_unit: str, *, planar: bool) -> RawPoses:
        flat = planar and not self._has("z")
        axes = [self._column(name, "position", "m") for name in ("x", "y", "z")[: 2 if flat else 3]]
        if flat:
            axes.append([Span.at(0)] * len(axes[0]))
        form, rotation = self._rotation(len(axes[0]))
        readings = [self._column(f"l{i + 1}", "readings", reading_unit) for i in range(chains)]
        if len({*map(len, axes), *map(len, readings), len(rotation)}) != 1:
            raise NotProven("columns have different lengths")
        position, read = (list(zip(*columns, strict=True)) for columns in (axes, readings))
        size = 6 if rotation[0] is not None else 3
        spread, shared = self._covariances(size), self._shared(size)
        bounds = self._rows([f"h{i + 1}" for i in range(size)]) if self._has("h1") else None
        nothing: list[tuple[Span, ...]] = [()] * len(position)
        stated = zip(spread or nothing, shared or nothing, bounds or nothing, strict=True)
        kept = _first_of_each(
            [(p, _upright(q), r, c) for p, q, r, c in zip(position, rotation, read, stated, strict=True)]
        )
        chosen = [tuple(values[k] for k in kept) for values in (position, rotation, read)]
        return RawPoses(
            position=chosen[0],
            rotation=chosen[1],
            readings=chosen[2],
            variances=None if spread is None else tuple(_variances(spread[k], (shared or nothing)[k]) for k in kept),
            bounds=None if bounds is None else tuple(bounds[k] for k in kept),
            form=form,
            copies=len(position) - len(kept),
            places=tuple(map(self._table.place, kept)),
        )

    def _has(self, name: str) -> bool:
        return name in self._columns or any(name in (head, known[0]) for head, known in zip(
            self._table.heads, self._names, strict=True))  # fmt: skip

    def _place(self, name: str) -> int:
        wanted = self._columns.get(name, name)
        for known in (list(self._table.heads), [known for known, _ in self._names]):
            if known.count(wanted) == 1:
                return known.index(wanted)
            if wanted in known:
                raise NotProven(f"the column '{wanted:.40}' stands more than once")
        raise NotProven(f"there is no column '{wanted!s:.40}'")

    def _column(self, name: str, group: str, si: str | None) -> list[Span]:
        place = self._place(name)
        written, said = self._names[place][1], self._units.get(group)
        if not isinstance(said, str | None):
            raise NotProven(f"the unit of {group} is not text")
        if said is not None and written is not None and written.strip():
            _require_same_unit(self._table.heads[place], written, said)
        given = written if said is None else said
        return [converted(number, given, si).span for number in self._table.numbers(place)]

    def _rotation(self, n: int) -> tuple[str, list[Any]]:
        """How orientations are given, and those of all n rows."""
        for kind, names in _ORDERS.items():
            if any(map(self._has, names)):
                rows = list(zip(*(self._column(name, "", "1") for name in names), strict=True))
                order = kind if kind == "wxyz" else self._order or _seeming(rows)
                if order not in {"wxyz", "xyzw"}:
                    raise NotProven("the data do not tell the quaternion's order")
                turned = rows if order == "wxyz" else [(w, x, y, z) for x, y, z, w in rows]
                return f"quaternions, {'scalar first' if order == 'wxyz' else 'scalar last'}", list(turned)
        if any(map(self._has, _VECTOR)):
            heading = not any(map(self._has, _VECTOR[:2]))
            zeros = [[Span.at(0)] * n] * 2
            parts = [self._column(name, "rotation", "rad") for name in (_VECTOR[2:] if heading else _VECTOR)]
            vectors = zip(*(zeros + parts if heading else parts), strict=True)
            return "headings about z" if heading else "rotation vectors", [of_vector(vector) for vector in vectors]
        if any(map(self._has, _MATRIX)):
            return "rotation matrices", list(zip(*(self._column(name, "", "1") for name in _MATRIX), strict=True))
        return "", [None] * n

    def _covariances(self, size: int) -> list[tuple[Span, ...]] | None:
        """Upper triangles, row by row: c11, c12, …"""
        if not self._has("c11"):
            return None
        names = [f"c{i}{j}" for i in range(1, size + 1) for j in range(i, size + 1)]
        return self._rows(names)

    def _shared(self, size: int) -> list[tuple[Span, ...]]:
        """Factors of errors that all poses share: s1_1, s2_1, …, s1_2, …"""
        count = 0
        while self._has(f"s1_{count + 1}"):
            count += 1
        return self._rows([f"s{i}_{k}" for k in range(1, count + 1) for i in range(1, size + 1)])

    def _rows(self, names: Sequence[str]) -> list[tuple[Span, ...]]:
        """Rows of some columns, in SI units."""
        return list(zip(*(self._column(name, "", None) for name in names), strict=True))


def _variances(triangle: tuple[Span, ...], shared: tuple[Span, ...]) -> tuple[Span, ...]:
    """The diagonal of the covariance with this upper triangle, and squares of factors of errors that poses share."""
    size = 6 if len(triangle) == 21 else 3
    own = [triangle[size * i - i * (i - 1) // 2] for i in range(size)]
    return tuple(total([each, *(s * s for s in shared[i::size])]) if shared else each for i, each in enumerate(own))


def split_head(head: str) -> tuple[str, str | None]:
    """Name and unit of a column; round brackets count only if they hold a unit.

    Examples:
        >>> split_head("x [mm]"), split_head("l1 (deg)"), split_head("l1 (left)")
        (('x', 'mm'), ('l1', 'deg'), ('l1 (left)', None))
    """
    found = _BRACKETS.match(head)
    if found and found[1]:
        return found[1], found[2]
    found = _PARENTHESES.match(head)
    if found and found[2].strip():
        try:
            unit(found[2])
        except NotProven:
            return head, None
        return found[1], found[2]
    return head, None


def _require_same_unit(head: str, written: str, said: str) -> None:
    """Refuse a head that contradicts the unit in the study."""
    stated = unit(said)
    try:
        known = unit(written)
    except NotProven as unknown:
        raise NotDerived(f"the head '{head:.40}' states what the checker does not know as a unit") from unknown
    if known != stated:
        raise NotProven(f"the column '{head:.40}' is in {written:.40} by its head, but the study states '{said:.40}'")


def of_vector(vector: Sequence[Span]) -> Quaternion:
    """The unit quaternion of a rotation vector r: cos |r|/2 and sin |r|/2 / |r| · r, as power series in |r|².

    Examples:
        >>> w, *_ = of_vector([Span.at(0), Span.at(0), Span.at(0)])
        >>> w.low <= 1 <= w.high
        True
    """
    square = (total(x * x for x in vector) * Fraction(1, 4)).rounded()
    half = sinc(square) * Fraction(1, 2)
    x, y, z = (half * each for each in vector)
    return cosine(square), x, y, z


def _seeming(rows: Sequence[Sequence[Span]]) -> str | None:
    """Which end of the quaternions is the scalar, if the platform turns little."""
    first, last = ([abs(row[i].low) for row in rows] for i in (0, 3))
    if min(first) > _LARGE > max(last):
        return "wxyz"
    if min(last) > _LARGE > max(first):
        return "xyzw"
    return None


def _upright(rotation: Any) -> Any:
    """The one of q and −q whose first component that is not zero is positive."""
    if rotation is None or len(rotation) != 4:
        return rotation
    leading = next((x for x in rotation if x.most > 0), None)
    return tuple(-x for x in rotation) if leading is not None and leading.high < 0 else rotation


def _first_of_each(rows: Sequence[Any]) -> list[int]:
    """Numbers of the rows that are no copies of an earlier one."""
    seen: dict[Any, int] = {}
    for k, row in enumerate(rows):
        seen.setdefault(row, k)
    return sorted(seen.values())


Half = Scaled | Span
"""A half-width as stated, or enclosed where it is a square root."""


def pose_half_widths(study: Mapping[str, Any], poses: RawPoses, group: str) -> list[tuple[Half, ...]]:
    """Half-widths of positions or orientations of each pose: as stated in [certify], or so many standard deviations."""
    certify, noise, axis = table_in(study, "certify"), table_in(study, "noise"), "m" if group == "position" else "rad"
    sigmas = _sigmas(certify)
    if certify.get(group) is not None:
        return [half_widths(certify[group], axis)] * len(poses)
    if noise.get("position") is not None:
        if noise.get(group) is None:
            raise NotProven(f"the study states no {group} in [noise]")
        return [tuple(half * sigmas for half in half_widths(noise[group], axis))] * len(poses)
    which = range(3) if group == "position" else _ANGLES
    if poses.bounds is not None:
        if any(each.low < 0 for row in poses.bounds for each in row):
            raise NotProven("a half-width is negative")
        return [tuple(row[i] for i in which) for row in poses.bounds]
    if poses.variances is None:
        raise NotProven(f"neither the study nor the poses state half-widths of {group}")
    return [tuple(row[i].root() * sigmas for i in which) for row in poses.variances]


def reading_half_widths(study: Mapping[str, Any], chains: int, reading_unit: str) -> list[Scaled]:
    """Half-widths of the readings of each chain, in their unit."""
    certify, noise = table_in(study, "certify"), table_in(study, "noise")
    stated, times = certify.get("readings"), Fraction(1)
    if stated is None:
        stated, times = noise.get("readings"), _sigmas(certify)
    if stated is None:
        raise NotProven("the study states no half-widths of readings")
    given = stated if isinstance(stated, list) else [stated]
    if len(given) not in {1, chains}:
        raise NotProven(f"the study states half-widths of {len(given)} readings, but there are {chains}")
    each = [quantity(value, reading_unit) * times for value in given]
    _require_half_widths(each)
    return each * (chains // len(each))


def _sigmas(certify: Mapping[str, Any]) -> Fraction:
    sigmas = quantity(certify.get("sigmas", 3), "1")
    if sigmas.number <= 0 or sigmas.power:
        raise NotProven("sigmas is not positive, or is written with units of angles")
    return sigmas.number


def reach_of(stated: Any) -> Scaled:
    """How far unknowns are sought from the prior's center, m."""
    reach = quantity(stated, "m")
    if reach.number <= 0:
        raise NotProven("around is not positive")
    return reach


def half_widths(stated: Any, axis: str) -> tuple[Scaled, ...]:
    """Half-widths of three axes, in m or rad: one is stated for all, or one for each."""
    given = stated if isinstance(stated, list) else [stated]
    if len(given) not in {1, 3}:
        raise NotProven("half-widths of a pose are one, or one for each of three axes")
    each = [quantity(value, axis) for value in given]
    _require_half_widths(each)
    return tuple(each * (3 // len(each)))


def _require_half_widths(each: Sequence[Scaled]) -> None:
    if any(half.number < 0 for half in each):
        raise NotProven("a half-width is negative")


def span_of(half: Half) -> Span:
    """An enclosure of a half-width."""
    return half if isinstance(half, Span) else half.span
