"""Flat targets that a camera measures: the positions of their dots or corners, and TOML files that describe them.

Frame: origin in the middle of the sheet, x to the right and y up for whoever looks at it, z towards them. Lengths in m.
"""

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, nearest, require
from gough.core.files import new_file, read_toml
from gough.core.toml_places import where as place_in
from gough.vision import target_values as values_of
from gough.vision.boards import (
    DICTIONARIES,
    AprilGrid,
    ArucoGrid,
    Chessboard,
    OfSquares,
    centered,
    require_dictionary,
)

LONG, SHORT = 7, 6
"""Dots on the two diagonals [DACP06, §2.3.1]."""


class Target(Protocol):
    """Points on a plane that can be found in an image."""

    @property
    def points(self) -> Array:
        """(n, 3): where they are."""
        ...

    @property
    def radius(self) -> float:
        """Radius of the dots; 0 where the points are corners."""
        ...

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the sheet."""
        ...

    @property
    def bright(self) -> bool:
        """Whether the dots are brighter than what is around them."""
        ...


_FAR = 1e6
"""Metres: no target is so large."""
_MOST = 1000


@dataclass(frozen=True, eq=False)
class DotTarget(ArrayValue):
    """Dots of which seven lie on one diagonal and six on the other, so that no view of it looks like another one.

    The cross-ratios of the first four and of the last four dots of the two diagonals are all different: they tell
    which diagonal is seen, and from which end [DACP06, §2.3.1].

    Examples:
        >>> from gough.vision import design_target
        >>> target = design_target(0.2, 0.2)
        >>> target.points.shape, target.radius
        ((45, 3), 0.005)
        >>> target.cross_ratios.round(2)
        array([1.03, 1.12, 1.37, 2.38])
    """

    points: Array
    """(n, 3): first the long diagonal from end to end, then the short one, then all others."""
    radius: float
    size: tuple[float, float]
    bright: bool = True
    name: str = "dots"

    def __post_init__(self) -> None:
        points = array(self.points, "points of a target", ndim=2)
        n = len(points)
        require(points.shape[1] == 3, f"points of a target must be (n, 3), but their shape is {points.shape}")
        require(n >= LONG + SHORT, f"a target has {LONG} + {SHORT} dots on its diagonals, and then others; not {n}")
        require(bool((abs(points) < _FAR).all()), f"points of a target must be finite, and less than {_FAR:g} m away")
        require(self.radius > 0, f"the radius of the dots must be positive, not {self.radius:g} m")
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "size", (float(self.size[0]), float(self.size[1])))
        require(min(self.size) > 0, "width and height of a target must be positive")
        gap = closest(points[:, :2])
        require(gap > 2 * self.radius, f"dots of radius {self.radius:g} m touch: two centers are {gap:.3g} m apart")

    @property
    def long(self) -> Array:
        """(7, 3): the dots of the long diagonal."""
        return self.points[:LONG]

    @property
    def short(self) -> Array:
        """(6, 3): the dots of the short diagonal."""
        return self.points[LONG : LONG + SHORT]

    @cached_property
    def cross_ratios(self) -> Array:
        """Cross-ratios of the first and last four dots of the long diagonal, then of the short one."""
        ends = (self.long[:4], self.long[-4:], self.short[:4], self.short[-4:])
        return np.array([cross_ratio(_along(dots)) for dots in ends])


@dataclass(frozen=True)
class CircleGrid:
    """A regular grid of dots, as OpenCV and others have it.

    Most look the same upside down: they serve to calibrate a camera, but not to measure poses.

    Examples:
        >>> CircleGrid(4, 11, 0.02, 0.005, staggered=True).points.shape
        (44, 3)
    """

    columns: int
    rows: int
    spacing: float
    """Between neighbors; between the rows of a staggered grid it is half the spacing of the dots of a row."""
    radius: float
    staggered: bool = False
    """Whether each other row is shifted by half (OpenCV: asymmetric)."""
    bright: bool = False
    name: str = "circles"

    def __post_init__(self) -> None:
        counts = 3 <= self.columns <= _MOST and 3 <= self.rows <= _MOST
        require(counts, f"a grid of circles has 3 to {_MOST} rows and columns")
        require(0 < 2 * self.radius < self.spacing, "circles must not touch: check their spacing and radius")

    @cached_property
    def points(self) -> Array:
        """Row by row from the top left, in OpenCV's order."""
        i, j = np.divmod(np.arange(self.rows * self.columns), self.columns)
        across = (2 * j + i % 2) if self.staggered else j
        return centered(across * self.spacing, -i * self.spacing)

    @property
    def is_unique(self) -> bool:
        """Whether it looks different upside down: a staggered grid with an odd number of rows does."""
        return self.staggered and self.rows % 2 == 1

    @property
    def size(self) -> tuple[float, float]:
        """The grid with a margin of one spacing."""
        width, height = np.ptp(self.points[:, :2], axis=0) + 2 * self.spacing
        return float(width), float(height)


@dataclass(frozen=True)
class CharucoBoard(OfSquares):
    """A chessboard with ArUco markers in its white squares; its points are the inner corners.

    Examples:
        >>> CharucoBoard(7, 5, 0.03, 0.022).points.shape
        (24, 3)
    """

    columns: int
    rows: int
    square: float
    """Side of a square."""
    marker: float
    """Side of a marker."""
    dictionary: str = "5X5_100"
    legacy: bool = False
    """Printed by OpenCV before 4.6, whose first square is of the other color if the number of rows is even."""
    name: str = "charuco"

    def __post_init__(self) -> None:
        counts = 3 <= self.columns <= _MOST and 3 <= self.rows <= _MOST
        require(counts, f"a ChArUco board has 3 to {_MOST} rows and columns of squares")
        require(0 < self.marker < self.square, "markers of a ChArUco board must be smaller than its squares")
        require_dictionary(self.dictionary, DICTIONARIES, self.columns * self.rows // 2)


def cross_ratio(t: Array) -> float:
    """(c − a)(d − b) / ((c − b)(d − a)) of four places on a line: the same in every view, and from both ends.

    Examples:
        >>> cross_ratio(np.array([0.0, 1.0, 2.0, 3.0])), cross_ratio(np.array([3.0, 2.0, 1.0, 0.0]))
        (1.3333333333333333, 1.3333333333333333)
    """
    a, b, c, d = t
    return float((c - a) * (d - b) / ((c - b) * (d - a)))


def closest(points: Array) -> float:
    """The smallest distance between two of the points (n, k)."""
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    return float(apart[~np.eye(len(points), dtype=bool)].min())


def _along(dots: Array) -> Array:
    """Places of dots along the line from the first to the last."""
    return np.asarray((dots - dots[0]) @ (dots[-1] - dots[0]))


AnyTarget = DotTarget | CircleGrid | CharucoBoard | Chessboard | ArucoGrid | AprilGrid


def why_ambiguous(target: AnyTarget) -> str:
    """Why poses cannot be measured with a target that looks the same from two sides; empty where they can.

    Examples:
        >>> why_ambiguous(Chessboard(10, 7, 0.025)), why_ambiguous(Chessboard(9, 7, 0.025))[:48]
        ('', 'a chessboard of 9 × 7 squares looks the same ups')
    """
    instead = "with a ChArUco board, a grid of markers, or a target that gough designs"
    if isinstance(target, CircleGrid) and not target.is_unique:
        return (
            "this grid of circles looks the same upside down: measure poses with a staggered one with an odd number of "
            f"rows, {instead}"
        )
    if isinstance(target, Chessboard) and not target.is_unique:
        return (
            f"a chessboard of {target.columns} × {target.rows} squares looks the same upside down: measure poses with "
            f"one with an odd and an even number of squares, {instead}"
        )
    return ""


def target_text(target: AnyTarget) -> str:
    """A target as TOML, lengths in m.

    Examples:
        >>> print(target_text(CircleGrid(4, 11, 0.02, 0.005, staggered=True)), end="")
        kind = "circles"
        unit = "m"
        columns = 4
        rows = 11
        spacing = 0.02
        radius = 0.005
        staggered = true
        bright = false
    """
    lines = [f'kind = "{target.name}"', 'unit = "m"']
    if isinstance(target, DotTarget):
        lines += [
            f"size = [{target.size[0]!r}, {target.size[1]!r}]",
            f"radius = {float(target.radius)!r}",
            f"bright = {str(target.bright).lower()}",
            "points = [  # seven on the long diagonal, six on the short one, then the others",
            *(f"    [{x!r}, {y!r}, {z!r}]," for x, y, z in target.points.tolist()),
            "]",
        ]
        return "\n".join(lines) + "\n"
    for field in fields(target):
        value = getattr(target, field.name)
        if field.name == "name":
            continue
        text = (
            f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
        )
        lines.append(f"{field.name} = {text}")
    return "\n".join(lines) + "\n"


def target_id(target: AnyTarget) -> str:
    """Six characters that differ between targets, printed on the sheet.

    Examples:
        >>> target_id(CharucoBoard(7, 5, 0.03, 0.022)), target_id(CharucoBoard(5, 7, 0.03, 0.022))
        ('FE5730', '44CDE3')
    """
    return sha256(target_text(target).encode()).hexdigest()[:6].upper()


def write_target(path: str | Path, target: AnyTarget, *, overwrite: bool = False) -> None:
    """Write a target to a TOML file, completely or not at all.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> board = CharucoBoard(7, 5, 0.03, 0.022)
        >>> with TemporaryDirectory() as folder:
        ...     write_target(f"{folder}/board.toml", board)
        ...     read_target(f"{folder}/board.toml") == board
        True
    """
    with new_file(path, overwrite=overwrite) as file:
        file.write(f"# gough target {target_id(target)}\n{target_text(target)}".encode())


def read_target(path: str | Path) -> AnyTarget:
    r"""The target that a TOML file describes.

    Raises:
        InputError: it cannot be read, or describes none; the message names what is missing.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "grid.toml")
        ...     _ = file.write_text('kind = "circles"\ncolumns = 4\nrows = 5\nspacing = 0.02\nradius = 0.004\n')
        ...     read_target(file)
        CircleGrid(columns=4, rows=5, spacing=0.02, radius=0.004, staggered=False, bright=False, name='circles')
    """
    data, source = read_toml(path)
    return target_of(data, str(path), lambda key: place_in(source, Path(path), (key,)))


_CLASSES: dict[str, type[AnyTarget]] = {
    "dots": DotTarget,
    "circles": CircleGrid,
    "charuco": CharucoBoard,
    "chessboard": Chessboard,
    "aruco": ArucoGrid,
    "aprilgrid": AprilGrid,
}


def target_of(data: Mapping[str, Any], where: str, place: Callable[[str], str] | None = None) -> AnyTarget:
    """The target in a table of a TOML file.

    Args:
        data: The table.
        where: File and table, for messages.
        place: File, line and key of a key, for messages.
    """
    kind = data.get("kind") if isinstance(data, Mapping) else None
    require(
        isinstance(kind, str) and kind in _CLASSES,
        f"{where} describes no target: kind must be one of {', '.join(_CLASSES)}, not {kind!r}"
        + (nearest(kind, _CLASSES) if isinstance(kind, str) else ""),
    )
    assert isinstance(kind, str)
    at = place or (lambda key: f"{where}, {key}")
    known = {field.name: field for field in fields(_CLASSES[kind]) if field.name != "name"}
    for name in data:
        named = name in known or name in {"kind", "unit"}
        require(named, f"{at(name)}: a target of kind '{kind}' has no such key{nearest(name, known)}")
    lacking = [name for name, field in known.items() if field.default is MISSING and name not in data]
    require(not lacking, f"{where}: a target of kind '{kind}' lacks {', '.join(lacking)}")
    unit = _at(at("unit"), values_of.stated_unit, data)
    values = {
        name: _at(at(name), _value, field.type, data[name], unit) for name, field in known.items() if name in data
    }
    if kind == "dots":
        values = {
            "points": _at(at("points"), values_of.places, data["points"], unit),
            "radius": values["radius"],
            "size": _at(at("size"), values_of.pair, data["size"], unit),
            "bright": values.get("bright", True),
        }
    made: AnyTarget = _at(where, _CLASSES[kind], **values)
    return made


def _at(place: str, read: Callable[..., Any], *arguments: Any, **values: Any) -> Any:
    """What `read` returns; its errors get the place in the file."""
    try:
        return read(*arguments, **values)
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


def _value(kind: Any, value: Any, unit: str | None) -> Any:
    """A value of a field by its type: all fractions are lengths."""
    if kind is float:
        return values_of.length(value, unit)
    readers: dict[Any, Callable[[Any], Any]] = {int: values_of.whole, bool: values_of.claim, str: values_of.word}
    return readers[kind](value) if kind in readers else value
