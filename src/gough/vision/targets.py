"""Flat targets that a camera measures: the positions of their dots or corners, and TOML files that describe them.

Frame: origin in the middle of the sheet, x to the right and y up for whoever looks at it, z towards them. Lengths in m.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array, ArrayValue, array
from gough.core.errors import InputError, nearest, require
from gough.core.files import new_file, read_toml

LONG, SHORT = 7, 6
"""Dots on the two diagonals [DACP06, §2.3.1]."""
_DICTIONARIES = (*(f"{n}X{n}_{size}" for n in (4, 5, 6, 7) for size in (50, 100, 250, 1000)), "ARUCO_ORIGINAL")


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
        return _centered(across * self.spacing, -i * self.spacing)

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
class CharucoBoard:
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
        known = self.dictionary in _DICTIONARIES
        require(known, f"no dictionary is called '{self.dictionary}' (known: {', '.join(_DICTIONARIES)})")

    @cached_property
    def points(self) -> Array:
        """Corners row by row from the top left, in OpenCV's order."""
        i, j = np.divmod(np.arange((self.rows - 1) * (self.columns - 1)), self.columns - 1)
        return _centered(j * self.square, -i * self.square)

    @property
    def radius(self) -> float:
        """Corners have none."""
        return 0.0

    @property
    def bright(self) -> bool:
        """White squares are the ground."""
        return False

    @property
    def size(self) -> tuple[float, float]:
        """All squares."""
        return self.columns * self.square, self.rows * self.square


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


def _centered(x: Array, y: Array) -> Array:
    points = np.column_stack([x, y, np.zeros(len(x))]).astype(float)
    return np.asarray(points - (points.max(axis=0) + points.min(axis=0)) / 2)


AnyTarget = DotTarget | CircleGrid | CharucoBoard


def target_text(target: AnyTarget) -> str:
    """A target as TOML, lengths in m.

    Examples:
        >>> print(target_text(CircleGrid(4, 11, 0.02, 0.005, staggered=True)), end="")
        kind = "circles"
        columns = 4
        rows = 11
        spacing = 0.02  # m
        radius = 0.005  # m
        staggered = true
        bright = false
    """
    lines = [f'kind = "{target.name}"']
    if isinstance(target, DotTarget):
        lines += [
            f"size = [{target.size[0]!r}, {target.size[1]!r}]  # m",
            f"radius = {float(target.radius)!r}  # m",
            f"bright = {str(target.bright).lower()}",
            "points = [  # m: seven on the long diagonal, six on the short one, then the others",
            *(f"    [{x!r}, {y!r}, {z!r}]," for x, y, z in target.points.tolist()),
            "]",
        ]
        return "\n".join(lines) + "\n"
    for field in fields(target):
        value = getattr(target, field.name)
        if field.name == "name":
            continue
        length = isinstance(value, float)
        text = (
            f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
        )
        lines.append(f"{field.name} = {text}{'  # m' if length else ''}")
    return "\n".join(lines) + "\n"


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
        file.write(target_text(target).encode())


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
    return target_of(read_toml(path)[0], str(path))


def target_of(data: Mapping[str, Any], where: str) -> AnyTarget:
    """The target in a table of a TOML file."""
    kinds: dict[str, Callable[..., AnyTarget]] = {
        "dots": _dots,
        "circles": CircleGrid,
        "charuco": CharucoBoard,
    }
    kind = data.get("kind") if isinstance(data, Mapping) else None
    require(
        isinstance(kind, str) and kind in kinds,
        f"{where} describes no target: kind must be one of {', '.join(kinds)}, not {kind!r}"
        + (nearest(kind, kinds) if isinstance(kind, str) else ""),
    )
    assert isinstance(kind, str)
    values = {name: value for name, value in data.items() if name != "kind"}
    classes = {"dots": DotTarget, "circles": CircleGrid, "charuco": CharucoBoard}
    known = [field.name for field in fields(classes[kind]) if field.name != "name"]
    for name in values:
        require(name in known, f"{where}: a target of this kind has no '{name}'{nearest(name, known)}")
    try:
        return kinds[kind](**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    except TypeError as error:
        what = str(error).split(":", 1)[-1].split("missing", 1)[-1].strip()
        raise InputError(f"{where}: a target of kind '{kind}' lacks something or has a wrong value: {what}") from error


def _dots(points: Any, radius: float, size: Any, *, bright: bool = True) -> DotTarget:
    try:
        values = np.asarray(points, dtype=float)
        width, height = (float(v) for v in size)
        r = float(radius)
    except (TypeError, ValueError) as error:
        raise InputError("points must be [x, y, z] in m each, size [width, height], and radius a number") from error
    if values.ndim == 2 and values.shape[1] == 2:
        values = np.column_stack([values, np.zeros(len(values))])
    return DotTarget(values, r, (width, height), bright)
