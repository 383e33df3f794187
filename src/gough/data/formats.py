"""The file formats that recordings and poses are read from, by suffix."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from gough.core.errors import InputError, require
from gough.core.files import file_beside, is_file, is_folder
from gough.data.array_sources import hdf5_source, mat_source, npz_source
from gough.data.channel_groups import GroupedSource
from gough.data.csv_source import CsvSource
from gough.data.measurement_files import c3d_source, mdf_source, tdms_source
from gough.data.parquet_source import ParquetSource
from gough.data.ros_bags import SUFFIXES, bag_source, is_bag_folder
from gough.data.sources import Source

_READERS: dict[str, Callable[[Path], Source]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), CsvSource),
    **dict.fromkeys((".parquet", ".pq"), ParquetSource),
    ".mat": mat_source,
    ".npz": npz_source,
    **dict.fromkeys((".h5", ".hdf5"), hdf5_source),
}
_GROUPED: dict[str, Callable[[Path], GroupedSource]] = {
    **dict.fromkeys(SUFFIXES, bag_source),
    **dict.fromkeys((".mf4", ".mdf"), mdf_source),
    ".tdms": tdms_source,
    ".c3d": c3d_source,
}
T = TypeVar("T")
_EXCEL = (".xlsx", ".xls", ".xlsm", ".ods")


def opened(path: Path, what: str, heads: Sequence[str] = ()) -> Source:
    """The columns of a file, by the format that its suffix names; `what` it holds is for messages.

    Args:
        path: The file.
        what: What it holds, for messages.
        heads: Names of the columns of a text file whose first line is a row of numbers already.

    Raises:
        InputError: there is no such file, it is empty, or of a format that is not read.
    """
    if heads:
        texts = {suffix for suffix, reader in _READERS.items() if reader is CsvSource}
        require(
            path.suffix.lower() in texts, f"{path} has names of its columns: heads is for {', '.join(sorted(texts))}"
        )
        return _opened(path, what, dict.fromkeys(texts, lambda each: CsvSource(each, heads)))
    return _opened(path, what, _READERS)


def opened_recording(path: Path) -> Source | GroupedSource:
    """The columns of a recording: as `opened`, and of bags and measurement files, which have several clocks.

    Raises:
        InputError: there is no such file, it is empty, or of a format that is not read.
    """
    if is_bag_folder(path):
        return bag_source(path)
    readers: Mapping[str, Callable[[Path], Source | GroupedSource]] = {**_READERS, **_GROUPED}
    return _opened(path, "recordings", readers)


def _opened(path: Path, what: str, readers: Mapping[str, Callable[[Path], T]]) -> T:
    suffix = path.suffix.lower()
    if not is_file(path):
        require(not is_folder(path), f"{path} is a folder: give a file in it, or a rosbag2 folder (with metadata.yaml)")
        raise InputError(f"{path} cannot be read: there is no such file{file_beside(path)}")
    require(suffix not in _EXCEL, f"{path} is an Excel workbook: save its sheet as 'CSV UTF-8'")
    known = ", ".join(readers)
    require(suffix in readers, f"{path} cannot be read: gough reads {what} from {known}, not from '{suffix}'")
    try:
        require(path.stat().st_size > 0, f"{path} is empty")
        return readers[suffix](path)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
