"""Targets as TOML files, which lie beside what was printed and tell every command where the dots are."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.errors import InputError, nearest, require
from gough.core.files import new_file, read_toml
from gough.vision.targets import CharucoBoard, CircleGrid, DotTarget

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
        said = (
            f'"{value}"' if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else repr(value)
        )
        lines.append(f"{field.name} = {said}{'  # m' if length else ''}")
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
        InputError: it cannot be read, or describes none; the message says what is missing.

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
    given = {name: value for name, value in data.items() if name != "kind"}
    classes = {"dots": DotTarget, "circles": CircleGrid, "charuco": CharucoBoard}
    known = [field.name for field in fields(classes[kind]) if field.name != "name"]
    for name in given:
        require(name in known, f"{where}: a target of this kind has no '{name}'{nearest(name, known)}")
    try:
        return kinds[kind](**given)
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
