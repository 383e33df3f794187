"""The file formats that recordings and poses are read from, by suffix."""

from collections.abc import Callable
from pathlib import Path

from gough.core.errors import InputError, require
from gough.core.files import file_beside, is_file, is_folder
from gough.data.array_sources import mat_source, npz_source
from gough.data.csv_source import CsvSource
from gough.data.parquet_source import ParquetSource
from gough.data.sources import Source

_READERS: dict[str, Callable[[Path], Source]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), CsvSource),
    **dict.fromkeys((".parquet", ".pq"), ParquetSource),
    ".mat": mat_source,
    ".npz": npz_source,
}
_EXCEL = (".xlsx", ".xls", ".xlsm", ".ods")


def opened(path: Path, what: str) -> Source:
    """The columns of a file, by the format that its suffix names; `what` it holds is for messages.

    Raises:
        InputError: there is no such file, it is empty, or of a format that is not read.
    """
    suffix = path.suffix.lower()
    if not is_file(path):
        require(not is_folder(path), f"{path} is a folder: give a file in it")
        raise InputError(f"{path} cannot be read: there is no such file{file_beside(path)}")
    require(suffix not in _EXCEL, f"{path} is an Excel workbook: save its sheet as 'CSV UTF-8'")
    known = ", ".join(_READERS)
    require(suffix in _READERS, f"{path} cannot be read: gough reads {what} from {known}, not from '{suffix}'")
    try:
        require(path.stat().st_size > 0, f"{path} is empty")
        return _READERS[suffix](path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
