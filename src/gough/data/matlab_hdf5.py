"""Variables in MATLAB files of version 7.3, which are HDF5 files, by h5py.

Nothing outside the file is opened: links to other files, external and virtual data, and filters that load code are
refused. Sizes are checked before anything is read.
"""

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.errors import InputError, require
from gough.data.matlab import (
    MOST_ELEMENTS,
    NOT_CELLS,
    NOT_COMPLEX,
    NOT_OBJECT,
    NOT_SPARSE,
    Refused,
    elements,
    too_many_elements,
)

_NUMERIC = {"double", "single", "logical", *(f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64))}
_DEEPEST, _MOST = 16, 10_000
_FILTERS = {1, 2, 3}
"""The filters of HDF5 itself: deflate, shuffle and checksum."""
_ELSEWHERE = "is stored in another file or by a filter of its own: save it with save(…, '-v7.3') in one file"


def hdf5_variables(path: Path, allowed: Callable[[int], None]) -> dict[str, Any]:
    """The variables by name, as `matlab_variables` returns them.

    `allowed` is asked about the number of bytes unpacked so far, and raises InputError where there are too many.

    Raises:
        InputError: h5py is not installed, or the file has too many parts.
    """
    try:
        import h5py  # noqa: PLC0415 - an extra
    except ModuleNotFoundError as error:
        is_matlab = path.suffix.lower() == ".mat"
        what = "a MATLAB file of version 7.3" if is_matlab else "an HDF5 file"
        or_save = f"; or save it with -v7, as save('{path.name}', '-v7')" if is_matlab else ""
        raise InputError(
            f"{path} is {what}, which needs h5py: pip install '.[matlab]' in the clone{or_save}"
        ) from error
    with h5py.File(path, "r", locking=False) as file:
        reader = _Reader(h5py, file, allowed)
        return {name: reader.linked(file, name, 0) for name in file if not name.startswith("#")}


class _Reader:
    def __init__(self, h5py: Any, file: Any, allowed: Callable[[int], None]) -> None:
        self._h5py, self._file, self._allowed = h5py, file, allowed
        self._bytes = self._objects = 0

    def linked(self, group: Any, name: str, depth: int) -> Any:
        """The value of a name in a group."""
        if not isinstance(group.get(name, getlink=True), self._h5py.HardLink):
            return Refused(_ELSEWHERE)
        return self._value(group[name], depth)

    def _value(self, item: Any, depth: int) -> Any:
        self._objects += 1
        require(depth <= _DEEPEST and self._objects <= _MOST, "structs are nested too deeply, or are too many")
        kind = _text_of(item.attrs.get("MATLAB_class", b""))
        if "MATLAB_object_decode" in item.attrs:
            return Refused(NOT_OBJECT)
        if "MATLAB_sparse" in item.attrs:
            return Refused(NOT_SPARSE)
        if isinstance(item, self._h5py.Group):
            return self._struct(item, depth) if kind in {"", "struct"} else Refused(NOT_OBJECT)
        if not isinstance(item, self._h5py.Dataset):
            return Refused("is no array: save plain numbers")
        if item.dtype == self._h5py.ref_dtype and kind in {"cell", ""}:
            cells = [self._value(each, depth + 1) for each in self._referred(item)]
            texts = ["" if isinstance(cell, np.ndarray) and not cell.size else cell for cell in cells]
            return texts if texts and all(isinstance(text, str) for text in texts) else Refused(NOT_CELLS)
        return self._array(item, kind)

    def _array(self, item: Any, kind: str) -> Any:
        if item.dtype.names:
            return Refused(NOT_COMPLEX)
        if kind not in {*_NUMERIC, "char", ""}:
            return Refused(NOT_OBJECT)
        if item.dtype.kind not in "fiub" or item.shape is None:
            return Refused("holds no real numbers: save plain numbers")
        if item.attrs.get("MATLAB_empty", 0):
            return "" if kind == "char" else np.empty((0, 0))
        if not self._is_inside(item):
            return Refused(_ELSEWHERE)
        values = item[()]
        if kind == "char":
            codes = np.asarray(values).T.ravel(order="F").astype("<u2")
            return codes.tobytes().decode("utf-16-le", "replace")
        return np.asarray(values).T if kind else np.asarray(values)

    def _is_inside(self, item: Any) -> bool:
        """Whether the data are in this file and packed in an ordinary way; their size is counted."""
        self._bytes += prod(item.shape) * item.dtype.itemsize
        self._allowed(self._bytes)
        plan = item.id.get_create_plist()
        filters = {plan.get_filter(i)[0] for i in range(plan.get_nfilters())}
        return item.external is None and not item.is_virtual and filters <= _FILTERS

    def _referred(self, item: Any) -> list[Any]:
        """The objects that an array refers to, in MATLAB's order."""
        require(self._is_inside(item) and item.size <= _MOST, "cells are stored elsewhere, or are too many")
        return [self._file[each] for each in item[()].T.ravel(order="F")]

    def _struct(self, group: Any, depth: int) -> Any:
        """The fields of a struct; those of a struct array are references to the values of its elements."""
        fields = {name: group[name] for name in group if isinstance(group.get(name, getlink=True), self._h5py.HardLink)}
        many = [
            each
            for each in fields.values()
            if isinstance(each, self._h5py.Dataset)
            and each.dtype == self._h5py.ref_dtype
            and "MATLAB_class" not in each.attrs
        ]
        if not many or len(many) < len(fields):
            return {name: self.linked(group, name, depth + 1) for name in group}
        if many[0].size > MOST_ELEMENTS:
            return too_many_elements(many[0].shape[::-1])
        values = {name: [self._value(one, depth + 1) for one in self._referred(each)] for name, each in fields.items()}
        sizes = {len(each) for each in values.values()}
        require(len(sizes) == 1, "the fields of a struct array have different sizes")
        return elements([{name: each[i] for name, each in values.items()} for i in range(sizes.pop())])


def _text_of(value: Any) -> str:
    return value.decode("ascii", "replace") if isinstance(value, bytes) else str(value)
