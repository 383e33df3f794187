"""Columns of a file that instruments filled: numbers in SI units, NaN where a cell is empty."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.units import LARGEST, factor_between, in_si
from gough.data.formats import opened
from gough.data.sources import find_column, split_head, unit_of


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

    def __init__(self, path: Path, *, nan_is_missing: bool = False) -> None:
        self.path = path
        self.source = opened(path, "measurements")
        self.nan_is_missing = nan_is_missing
        """Whether a cell that holds NaN counts as not measured, as one that is empty does; else it is refused."""

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
        return values

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
            raise InputError(f"{self.path}: {self.source.place(empty)}, column '{name}' is empty: name its session")
        return texts

    def places(self, rows: int) -> tuple[str, ...]:
        """Where each row is, for messages."""
        return self.source.places(rows)
