"""Linear problems from CSV files: a column for each unknown, and what was measured."""

import csv
from math import isfinite
from pathlib import Path

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.noise import Bounded, Gaussian, Noise
from gough.problem import LinearProblem
from gough.unknowns import Unknowns

_MEASURED, _BOUND, _SIGMA = "y", "e", "sigma"


def read_table(path: str | Path) -> LinearProblem:
    r"""The problem y = W θ + e in a CSV file whose first line names the columns.

    Column `y` is what was measured; `e`, if there is one, bounds its error row by row, `sigma` is its standard
    deviation; every other column belongs to the unknown of that name. Columns are separated by commas, and numbers
    have a decimal point.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "mass.csv")
        ...     _ = path.write_text("mass,friction,y,e\n1,0.5,2.5,0.1\n1,-0.5,1.5,0.1\n")
        ...     problem = read_table(path)
        >>> problem.unknowns.names, problem.noise.radius
        (('mass', 'friction'), array([0.1, 0.1]))
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, strict=True)
            heads = [head.strip() for head in next(lines, [])]
            _require_heads(heads, path)
            rows = [_row(cells, heads, path, lines.line_num) for cells in lines if cells]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV file: {error}") from error
    require(len(rows) > 0, f"{path} has no row below its heads")
    return _problem(dict(zip(heads, np.array(rows).T, strict=True)), path)


def _require_heads(heads: list[str], path: str | Path) -> None:
    for number, head in enumerate(heads, start=1):
        require(head != "", f"{path}, line 1: column {number} has no name")
        require(heads.count(head) == 1, f"{path}, line 1: column '{head}' stands more than once")
    require(_MEASURED in heads, f"{path}, line 1: there is no column '{_MEASURED}' of what was measured")
    both = _BOUND in heads and _SIGMA in heads
    require(not both, f"{path}, line 1: give either bounds '{_BOUND}' or deviations '{_SIGMA}', not both")


def _row(cells: list[str], heads: list[str], path: str | Path, line: int) -> list[float]:
    require(len(cells) == len(heads), f"{path}, line {line}: there are {len(cells)} cells for {len(heads)} columns")
    return [_cell(cell, f"{path}, line {line}, column '{head}'") for cell, head in zip(cells, heads, strict=True)]


def _cell(cell: str, where: str) -> float:
    require(cell.strip() != "", f"{where}: the cell is empty")
    try:
        value = float(cell.replace("_", "?"))  # Python would read 1_000
    except ValueError as error:
        raise InputError(f"{where}: '{cell:.40}' is not a number") from error
    require(isfinite(value), f"{where}: '{cell}' is not a finite number")
    return value


def _problem(columns: dict[str, Array], path: str | Path) -> LinearProblem:
    names = tuple(head for head in columns if head not in {_MEASURED, _BOUND, _SIGMA})
    require(len(names) > 0, f"{path}, line 1: there is no column of an unknown")
    noise: Noise = Gaussian()
    try:
        if _BOUND in columns:
            noise = Bounded(columns[_BOUND])
        elif _SIGMA in columns:
            require(bool((columns[_SIGMA] > 0).all()), f"column '{_SIGMA}' must be positive")
            with np.errstate(over="ignore", under="ignore"):
                noise = Gaussian(columns[_SIGMA] ** 2)
        return LinearProblem(np.stack([columns[n] for n in names], axis=1), columns[_MEASURED], Unknowns(names), noise)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
