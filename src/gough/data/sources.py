"""What the readers of all file formats have in common: columns under heads, loaded when they are asked for."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.units import in_si

_BRACKETS = re.compile(r"^(.*?)\s*\[([^\[\]]*)\]$", re.DOTALL)
_PARENTHESES = re.compile(r"^(.*\S)\s*\(([^()]*)\)$", re.DOTALL)
_SIGNATURES = (
    (b"PK\x03\x04", ".npz or Excel"),
    (b"\xd0\xcf\x11\xe0", "Excel"),
    (b"PAR1", "Parquet"),
    (b"\x93NUMPY", ".npy"),
    (b"\x1f\x8b", "gzip"),
    (b"MATLAB ", "MATLAB"),
    (b"\x89HDF", "HDF5"),
)


_UNPACKED, _RATIO = 256 << 20, 100
"""Bytes that any file may unpack to, and times its own size that a larger one may."""


MASK = 'state missing = "mask" or "bridge" (in a study, in [data])'
"""Advice where samples are missing, for studies and for `read_recording`."""
NO_TIMES = 'give time=None and rate= (in a study, time = "" and rate in [data])'
"""Advice where a column of times cannot be used."""


RESAMPLE = "If times are the exact instants of the samples, state resample=True (in a study, resample = true in [data])"
"""Advice where times are uneven."""


class Source(Protocol):
    """A file whose columns have heads: a name, perhaps with a unit in brackets."""

    @property
    def heads(self) -> tuple[str, ...]:
        """Names of the columns, perhaps with units in brackets."""
        ...

    rate: float | None
    """Samples a second, if the file states it."""
    start: float
    """Time of the first sample, if the file has it apart from a column of times."""

    def load(self, columns: Sequence[int], *, missing: bool) -> Array:
        """The columns (N, k); NaN where a value is missing, which is refused here or later unless `missing`."""
        ...

    def first_nan(self, columns: Sequence[int]) -> tuple[int, int] | None:
        """Row, from 0, and column of the first cell that holds NaN, other than one that is empty; None without any."""
        ...

    def times(self, column: int) -> Any:
        """A column of times, see `gough.data.times.Times`: numbers with NaN where one is missing, texts, or stamps."""
        ...

    def place(self, row: int) -> str:
        """What to call a row, counted from 0, in a message."""
        ...

    def places(self, rows: int) -> tuple[str, ...]:
        """Short names of the places of the first rows: lines of a text, numbers from 1 in another file."""
        ...


def first_nan_of(values: Array, columns: Sequence[int]) -> tuple[int, int] | None:
    """Row and column of the first NaN among columns (N, k) that were loaded; None without any."""
    bad = np.argwhere(np.isnan(values))
    return (int(bad[0, 0]), columns[int(bad[0, 1])]) if bad.size else None


def joined_head(name: str, unit: str) -> str:
    """A column's head: its name, with the unit in brackets where there is one.

    Examples:
        >>> joined_head("q1", "rad"), joined_head("count", "")
        ('q1 [rad]', 'count')
    """
    return f"{name} [{unit}]" if unit or split_head(name) != (name, None) else name


def split_head(head: str) -> tuple[str, str | None]:
    """Name and unit of a column; round brackets count only if they hold a known unit.

    Examples:
        >>> split_head("q1 [deg]"), split_head("q1 (deg)"), split_head("q1 (left)"), split_head("q1")
        (('q1', 'deg'), ('q1', 'deg'), ('q1 (left)', None), ('q1', None))
    """
    match = _BRACKETS.match(head)
    if match and match[1]:
        return match[1], match[2]
    match = _PARENTHESES.match(head)
    if match and not match[2].isdigit() and is_unit(match[2]):  # U(95) is an uncertainty of 95 %
        return match[1], match[2]
    return head, None


def find_column(heads: Sequence[str], wanted: str, path: Path) -> int:
    """Which column is meant by a head or by the name in a head."""
    for known in (list(heads), [split_head(head)[0] for head in heads]):
        places = [i for i, head in enumerate(known) if head == wanted]
        require(len(places) < 2, f"{path}: column '{wanted}' stands more than once: rename one of them")
        if places:
            return places[0]
    names = [split_head(head)[0] for head in heads if head]
    raise InputError(f"{path} has no column '{wanted}'{nearest_name(wanted, names) or '.'} {_listed(names)}")


def nearest_name(wanted: str, names: Iterable[str]) -> str:
    """`"; did you mean 'V1'?"`, whatever the case of the letters, or an empty string.

    Examples:
        >>> nearest_name("v1", ["time", "q1", "V1"])
        "; did you mean 'V1'?"
    """
    known = {name.lower(): name for name in names}
    return nearest(known.get(wanted.lower(), wanted), known.values())


def require_unique(heads: Sequence[str], path: Path) -> None:
    """Refuse names that stand more than once."""
    for name, times in Counter(split_head(head)[0] for head in heads).items():
        require(times == 1, f"{path}: column '{name}' stands {times} times: rename them, or choose others by columns")


def require_kind(path: Path, wanted: str, begin: bytes) -> None:
    """Refuse a file whose first bytes contradict its suffix."""
    for signature, kind in _SIGNATURES:
        if begin.startswith(signature) and wanted not in kind:
            is_excel = "Excel" in kind
            what = "an Excel workbook: save its sheet as 'CSV UTF-8'" if is_excel else f"a {kind} file by its content"
            raise InputError(f"{path} is named as {wanted}, but it is {what}")


@contextmanager
def readable(path: Path, what: str) -> Iterator[None]:
    """Turn whatever a library raises on a damaged file into one InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # libraries raise all kinds of errors on damaged files
        reason = " ".join(str(error).split())[:160]
        raise InputError(
            f"{path} is not a complete {what} file, perhaps cut off or damaged "
            f"({type(error).__name__}{': ' if reason else ''}{reason}): copy or save it again"
        ) from error


def require_unpacked_size(path: Path, unpacked: int) -> None:
    """Refuse a file whose content, unpacked, would be out of all proportion to it.

    Examples:
        >>> from tempfile import NamedTemporaryFile
        >>> with NamedTemporaryFile() as file:
        ...     require_unpacked_size(Path(file.name), 10**12)
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: ... claims to hold 953674 MB: it is damaged, or made to fill the memory
    """
    most = max(_UNPACKED, _RATIO * path.stat().st_size)
    require(
        0 <= unpacked <= most,
        f"{path} claims to hold {unpacked >> 20} MB: it is damaged, or made to fill the memory",
    )


def unit_of(head: str, stated: str | None, path: Path) -> str | None:
    """The unit of a column, by its head and by what the user states; None where neither states one.

    Raises:
        InputError: the unit is not known, or the two contradict each other.

    Examples:
        >>> unit_of("x [mm]", None, Path("poses.csv")), unit_of("x", "mm", Path("poses.csv"))
        ('mm', 'mm')
        >>> unit_of("x [mm]", "m", Path("poses.csv"))
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: poses.csv: column 'x [mm]' is in mm by its head, but units state 'm': ...
    """
    written = split_head(head)[1]
    unit = written if stated is None else stated
    try:
        size = in_si(unit or "")
    except InputError as error:
        raise InputError(f"{path}, column '{head}': {error}") from error
    if stated is not None and written is not None and is_unit(written):
        require(
            in_si(written) == size,
            f"{path}: column '{head}' is in {written} by its head, but units state '{stated}': correct one of them",
        )
    return unit


def is_unit(text: str) -> bool:
    """Whether there is a unit of that name."""
    try:
        in_si(text)
    except InputError:
        return False
    return bool(text.strip())


def _listed(names: Sequence[str]) -> str:
    listed = ", ".join(f"'{name}'" for name in names[:12])
    return f"There are {listed}{', …' if len(names) > 12 else ''}"
