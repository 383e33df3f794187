"""Columns of a file that instruments filled: numbers in SI units, NaN where a cell is empty."""

from collections.abc import Mapping, Sequence
from copy import copy
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.units import LARGEST, factor_between, in_si
from gough.data.formats import opened
from gough.data.sources import find_column, split_head, unit_of

Numbers = npt.NDArray[np.int64]


class MeasuredColumns:
    r"""A file of measurements, a row for each pose: `.csv`, `.parquet`, `.mat` or `.npz`.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "measured.csv")
        ...     _ = path.write_text("x [mm],l1\n300,0.1\n,0.2\n")
        ...     MeasuredColumns(path).load(["x"], "m")
        array([[0.3],
               [nan]])
    """

    def __init__(self, path: Path, *, nan_is_missing: bool = False, heads: Sequence[str] = ()) -> None:
        self.path = path
        self.source = opened(path, "measurements", heads)
        self.nan_is_missing = nan_is_missing
        """Whether a cell that holds NaN counts as not measured, as one that is empty does; else it is refused."""
        self.rows: Numbers | None = None
        """Rows of the file that are read, in this order, −1 where there is none; None: all."""

    def matched(self, names: Sequence[str], column: str | None, where: Mapping[str, str | float]) -> "MeasuredColumns":
        """The same file, with a row for each of the poses of another one: by a column that names the pose, or in order.

        Args:
            names: Names of the poses; without `column` only their number counts.
            column: Column that names the pose of each row. A pose that it does not name was not measured.
            where: Only rows with these texts or numbers in these columns count, such as {"target": "N1"}.

        Raises:
            InputError: no row or too few are left, two rows have the same pose, or a pose has an unknown name.
        """
        n = len(self.source.times(0)) if not where and column is None else None
        kept = list(range(n)) if n is not None else []
        if n is None:
            cells = {key: self.labels(key) for key in (*where, *([column] if column is not None else []))}
            every = range(len(next(iter(cells.values()))))
            kept = [k for k in every if all(cells[key][k] == _text(value) for key, value in where.items())]
        filtered = ", ".join(f"{key} = {_text(value)}" for key, value in where.items())
        of = f" with {filtered}" if where else ""
        require(bool(kept), f"{self.path} has no row{of}")
        if column is None:
            require(
                len(kept) == len(names),
                f"{self.path} has {len(kept)} rows{of}, but there are readings of {len(names)} poses: leave the others "
                'out, or state match = "…", the column that names the pose of each row',
            )
            rows = np.array(kept)
        else:
            rows, number = np.full(len(names), -1), {name: k for k, name in enumerate(names)}
            for row in kept:
                name = cells[column][row]
                where_is = f"{self.path}: {self.source.place(row)}"
                require(name in number, f"{where_is} is of pose '{name}', of which there are no readings")
                require(rows[number[name]] < 0, f"{where_is} is the second one of pose '{name}'{of}: keep one of them")
                rows[number[name]] = row
        result = copy(self)
        result.rows = rows
        return result

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns, without units."""
        return tuple(split_head(head)[0] for head in self.source.heads)

    def has(self, *names: str) -> bool:
        """Whether there are columns of all these names."""
        known = {*self.names, *self.source.heads}
        return all(name in known for name in names)

    def unit(self, name: str) -> str | None:
        """The unit in the head of a column; None where it states none."""
        return split_head(self.source.heads[find_column(self.source.heads, name, self.path)])[1]

    def load(self, names: Sequence[str], si: str | None, unit: str | None = None) -> Array:
        """Columns (N, k) in the unit `si`, NaN where a cell is empty.

        Args:
            names: Names of the columns.
            si: Unit of the result; None: the SI unit of each column's own.
            unit: Unit in the file, where heads such as "x [mm]" do not state it.

        Raises:
            InputError: a column is missing, a number is infinite or NaN, or a unit does not fit; with file and column.
        """
        places = [find_column(self.source.heads, name, self.path) for name in names]
        values = self.source.load(places, missing=True).copy()
        require(len(values) > 0, f"{self.path} has no row")
        written_nan = None if self.nan_is_missing or not np.isnan(values).any() else self.source.first_nan(places)
        if written_nan is not None:
            row, column = written_nan
            raise InputError(
                f"{self.path}: {self.source.place(row)}, column '{self.source.heads[column]}' holds NaN, which may be "
                "a failed computation: if it was not measured, leave the cell empty, or state [measurements] "
                'missing = "nan"'
            )
        for i, place in enumerate(places):
            head = self.source.heads[place]
            bad = np.flatnonzero(abs(values[:, i]) >= LARGEST)
            if bad.size:
                raise InputError(
                    f"{self.path}: {self.source.place(int(bad[0]))}, column '{head}' is not a finite number"
                )
            written = unit_of(head, unit, self.path)
            if written is None or written == si:
                continue
            try:
                values[:, i] *= in_si(written)[0] if si is None else factor_between(written, si)
            except InputError as error:
                raise InputError(f"{self.path}, column '{head}': {error}") from error
        if self.rows is None:
            return values
        return np.where(self.rows[:, None] < 0, np.nan, values[self.rows])

    def labels(self, name: str) -> tuple[str, ...]:
        """A column of names, such as days: numbers become texts.

        Raises:
            InputError: a cell is empty.
        """
        place = find_column(self.source.heads, name, self.path)
        cells = self.source.times(place)
        if isinstance(cells, tuple):
            texts = tuple(cell.strip() for cell in cells)
        else:
            numbers = np.asarray(cells, dtype=float)
            texts = tuple("" if np.isnan(v) else f"{v:g}" for v in numbers)
        empty = next((k for k, text in enumerate(texts) if not text), None)
        if empty is not None:
            raise InputError(f"{self.path}: {self.source.place(empty)}, column '{name}' is empty: enter its name")
        return texts

    def place(self, row: int) -> str:
        """Where a row that is read is, for messages."""
        return f"{self.path}: {self.source.place(row if self.rows is None else int(self.rows[row]))}"

    def places(self, rows: int) -> tuple[str, ...]:
        """Where each row is, for messages."""
        return self.source.places(rows)


def _text(value: str | float) -> str:
    """A text as `labels` has it."""
    return value if isinstance(value, str) else f"{value:g}"
