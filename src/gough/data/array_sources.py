"""Columns of numbers in files of named arrays: `.npz` and MATLAB's `.mat`."""

from collections.abc import Mapping, Sequence
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.data.matlab import Refused, matlab_variables
from gough.data.matlab_hdf5 import hdf5_variables
from gough.data.recording import Recording
from gough.data.sources import first_nan_of, joined_head, readable, require_kind, require_unpacked_size
from gough.data.times import is_moment, stamps_of_numpy

FORMAT = 1
_OURS = "gough_recording"
_PARTS = ("samples", "names", "units", "rate", "start")
_HDF5 = b"\x89HDF\r\n\x1a\n"


class ArraySource:
    """Arrays by name: vectors are columns under their names, a matrix `q` is the columns q1, q2, …

    Fields of structs have dotted names as in MATLAB: `log.q1`, `log.signals(2).values`. The longer side of a matrix is
    time. A number called `rate` is the sampling rate; other single numbers and texts are no channels.
    """

    def __init__(self, path: Path, arrays: Mapping[str, Any]) -> None:
        self._path = path
        self.rate: float | None = None
        self.start = 0.0
        self._columns: list[Array | str] = []
        """Each a column, or the reason why there is none."""
        self._times: dict[str, Any] = {}
        """Columns that can be read as times alone: dates, durations, or integers that are exact so; by head."""
        self.heads: tuple[str, ...] = ()
        if _OURS in arrays:
            self.heads = self._ours(arrays)
        else:
            for name, values in arrays.items():
                self._add(name, values)
        require(bool(self.heads), f"{path} holds no channel: no array of numbers with more than one entry")

    def load(self, columns: Sequence[int], *, missing: bool) -> Array:  # noqa: ARG002 - the caller refuses NaN
        """The columns (N, k)."""
        loaded = [self._column(column) for column in columns]
        for column, values in zip(columns, loaded, strict=True):
            require(
                len(values) == len(loaded[0]),
                f"{self._path}: '{self.heads[columns[0]]}' has {len(loaded[0])} values, but '{self.heads[column]}' has "
                f"{len(values)}: channels are recorded at the same instants; choose those that are by columns",
            )
        return np.array(loaded).T

    def first_nan(self, columns: Sequence[int]) -> tuple[int, int] | None:
        """Row and column of the first NaN; None without any."""
        return first_nan_of(self.load(columns, missing=True), columns)

    def times(self, column: int) -> Any:
        """The column of times: numbers, or stamps where it holds dates or durations, or texts."""
        values = self._times.get(self.heads[column])
        return self._column(column) if values is None else values

    def place(self, row: int) -> str:
        """What to call a row in a message."""
        return f"row {row + 1}"

    def places(self, rows: int) -> tuple[str, ...]:
        """Numbers of the first rows."""
        return tuple(map(self.place, range(rows)))

    def _column(self, column: int) -> Array:
        values = self._columns[column]
        if isinstance(values, str):
            raise InputError(f"{self._path}: array '{self.heads[column]}' {values}; or choose others by columns")
        return values

    def _add(self, name: str, values: Any) -> None:
        """Note an array's columns, or why it has none; a single number or a text is no channel."""
        if isinstance(values, dict):
            for field, each in values.items():
                self._add(f"{name}{field}" if field.startswith("(") else f"{name}.{field}", each)
        elif isinstance(values, Refused):
            self.heads, self._columns = (*self.heads, name), [*self._columns, values.why]
        elif texts := _moments(values):
            self._add(name, Refused("holds texts: name it as the column of times, or save numbers"))
            self._times[name] = texts
        elif isinstance(values, np.ndarray) and values.dtype.kind in "mM" and values.ndim == 1 and values.size:
            self._add_stamps(name, values)
        elif isinstance(values, np.ndarray) and values.dtype.kind not in "US":
            self._add_numbers(name, values.squeeze() if values.ndim > 2 else values)  # Simulink puts time last

    def _add_stamps(self, name: str, values: Any) -> None:
        why = "holds dates or durations: name it as the column of times, or save numbers"
        try:
            self._times[name] = stamps_of_numpy(values)
        except InputError as error:
            why = str(error)
        self._add(name, Refused(why))

    def _add_numbers(self, name: str, values: Any) -> None:
        why = _no_column(values)
        if why:
            self._add(name, Refused(why))
            return
        if values.size == 1:
            if name in ("rate", "start"):
                setattr(self, name, float(values.ravel()[0]))
            return
        if values.dtype.kind in "iu" and values.dtype != np.uint64 and values.size == max(values.shape):
            self._times[name] = values.astype(np.int64).ravel()
        matrix = values.reshape(len(values), -1)
        matrix = matrix if matrix.shape[0] >= matrix.shape[1] else matrix.T
        self._columns += [column.astype(np.float64) for column in matrix.T]
        k = matrix.shape[1]
        self.heads += (name,) if k == 1 else tuple(f"{name}{i + 1}" for i in range(k))

    def _ours(self, arrays: Mapping[str, Any]) -> tuple[str, ...]:
        """What `write_recording` wrote."""
        for part in (_OURS, *_PARTS):
            require(part in arrays, f"{self._path} has no array '{part}', which a recording written by gough has")
        with readable(self._path, "recording"):
            version = int(np.asarray(arrays[_OURS]).item())
            samples = np.asarray(arrays["samples"], dtype=np.float64)
            names, units = (_texts(arrays[part]) for part in ("names", "units"))
            self.rate, self.start = (float(np.asarray(arrays[part]).item()) for part in ("rate", "start"))
        newer = f"{self._path} has format {version}, from a newer gough; this one reads up to {FORMAT}"
        require(1 <= version <= FORMAT, newer)
        fits = samples.ndim == 2 and samples.shape[1] == len(names) == len(units)
        require(fits, f"{self._path}: {len(names)} names and {len(units)} units do not fit samples {samples.shape}")
        self._columns = list(samples.T)
        return tuple(joined_head(name, unit) for name, unit in zip(names, units, strict=True))


def npz_source(path: Path) -> ArraySource:
    """The arrays of an `.npz` file; nothing in it is executed."""
    with path.open("rb") as file, readable(path, ".npz"):
        begin = file.read(8)
        require_kind(path, ".npz", begin)
        require(begin.startswith(b"PK"), f"{path} is not an .npz file: save arrays by np.savez")
        file.seek(0)
        archive = np.load(file, allow_pickle=False)
        require_plain_archive(archive, path)
        return ArraySource(path, {name: plain_array(archive, name, path) for name in archive.files})


def require_plain_archive(archive: Any, path: Path) -> None:
    """Refuse an `.npz` file whose arrays claim more than the archive holds of them, before any is allocated."""
    members = archive.zip.infolist()
    require_unpacked_size(path, sum(member.file_size for member in members))
    for member in members:
        with archive.zip.open(member) as file:
            try:
                version = np.lib.format.read_magic(file)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, kind = read(file)
            except ValueError:
                continue  # no array: refused when it is read
            size = prod(shape) * max(kind.itemsize, 1)
            fits = min(shape, default=0) >= 0 and (kind.hasobject or size <= member.file_size)
            require(fits, f"{path}: array '{member.filename}' claims a shape {shape} of {kind} that is not in the file")


def mat_source(path: Path) -> ArraySource:
    """The variables of a MATLAB file of any version."""
    with path.open("rb") as file:
        begin = file.read(520)
    version_2 = begin[124:128] in (b"\x00\x02IM", b"\x02\x00MI")
    newest = version_2 or begin.startswith((b"MATLAB 7.3", _HDF5)) or begin[512:] == _HDF5
    if newest:
        with readable(path, "MATLAB"):
            return ArraySource(path, hdf5_variables(path, lambda size: require_unpacked_size(path, size)))
    require_kind(path, "MATLAB", begin[:8])
    try:
        variables = matlab_variables(path.read_bytes(), lambda size: require_unpacked_size(path, size))
    except InputError as error:
        raise InputError(
            f"{path} is not a complete MATLAB file, perhaps cut off or damaged ({error}): copy or save it again"
        ) from error
    return ArraySource(path, variables)


def hdf5_source(path: Path) -> ArraySource:
    """The arrays of an HDF5 file; groups are named as structs are: `log.q1`."""
    with path.open("rb") as file:
        require_kind(path, "HDF5", file.read(8))
    with readable(path, "HDF5"):
        return ArraySource(path, hdf5_variables(path, lambda size: require_unpacked_size(path, size)))


def write_npz(file: BinaryIO, recording: Recording) -> None:
    """Samples, names, units, rate and start as plain arrays."""
    texts = {"names": np.array(recording.names), "units": np.array(recording.units)}
    for part, values in texts.items():
        kept = tuple(values.tolist()) == getattr(recording, part)
        require(kept, f"{part} cannot be written: a text ends in the character NUL")
    np.savez(file, allow_pickle=False, **_arrays(recording), **texts)


def write_mat(file: BinaryIO, recording: Recording) -> None:
    """A recording for MATLAB, names and units as cell arrays of text."""
    from scipy.io import savemat  # noqa: PLC0415 - start-up time

    cells = {part: np.array([*getattr(recording, part), None], dtype=object)[:-1] for part in ("names", "units")}
    savemat(file, {**_arrays(recording), **cells}, do_compression=False, oned_as="column")


def _arrays(recording: Recording) -> dict[str, Any]:
    return {
        _OURS: np.array(FORMAT),
        "samples": recording.samples,
        "rate": np.float64(recording.rate),
        "start": np.float64(recording.start),
    }


def plain_array(archive: Mapping[str, Any], name: str, path: Path) -> Any:
    """One array of an `.npz` file; pickled objects and damaged arrays are refused by name."""
    try:
        values = archive[name]
    except Exception as error:  # numpy and zipfile raise all kinds of errors on damaged files
        pickled = "it holds pickled Python objects, which may run code when they are read: save plain numbers"
        reason = pickled if "pickle" in str(error) or "Object" in str(error) else error
        raise InputError(f"{path}: array '{name}' cannot be read: {reason}") from error
    require(isinstance(values, np.ndarray), f"{path}: '{name}' is not an array")
    require_characters(values, f"{path}: array '{name}'")
    return values


def require_characters(values: Any, what: str) -> None:
    """Refuse an array of text that holds numbers which stand for no character: NumPy cannot make texts of them."""
    if values.dtype.kind == "U" and values.dtype.itemsize:
        codes = np.ascontiguousarray(values).reshape(-1).view(values.dtype.byteorder.replace("|", "=") + "u4")
        whole = bool(((codes < 0xD800) | ((codes > 0xDFFF) & (codes <= 0x10FFFF))).all())
        require(whole, f"{what} holds what is no text")


def _no_column(values: Any) -> str:
    """Why an array has no column of numbers, or nothing."""
    if values.dtype.kind == "c":
        return "holds complex numbers: save plain ones"
    if values.dtype.kind not in "fiub":
        return f"holds no real numbers (type {values.dtype}): save plain numbers"
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return f"holds numbers with more digits than a double (type {values.dtype}): save doubles"
    if values.ndim > 2 or not values.size:
        return f"has shape {values.shape}, but a channel is a vector or a column of a matrix: save it as one"
    return ""


def _moments(values: Any) -> tuple[str, ...]:
    """The texts of an array or a cell array whose first text is a date or a time of day; none otherwise."""
    if isinstance(values, list):
        texts = [text for text in values if isinstance(text, str)]
        texts = texts if len(texts) == len(values) else []
    elif isinstance(values, np.ndarray) and values.dtype.kind == "U" and values.ndim == 1:
        texts = values.tolist()
    else:
        texts = []
    return tuple(texts) if len(texts) > 1 and is_moment(texts[0]) else ()


def _texts(values: Any) -> tuple[str, ...]:
    """Texts of an array of text, or of a MATLAB cell array."""
    return tuple(map(str, values.tolist() if isinstance(values, np.ndarray) else values))
