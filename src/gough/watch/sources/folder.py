"""A folder of recordings: files are read in the order of their names once they are complete."""

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.watch.sources.source import Batch

SUFFIXES = (
    ".csv", ".tsv", ".txt", ".parquet", ".pq", ".mat", ".npz", ".h5", ".hdf5", ".mcap", ".db3", ".bag", ".mf4", ".mdf",
    ".tdms", ".c3d",
)  # fmt: skip
_TOGETHER = 4096
"""Samples that are handed on at a time."""

_NS = 10**9


class Recorded(NamedTuple):
    """A recording that was read."""

    times: Array
    """(N,) seconds."""
    values: Array
    """(N, positions and efforts) in SI units."""
    began: int | None = None
    """Nanoseconds since 1970 at time 0; None where the recording has no date."""


Reader = Callable[[Path], Recorded]


class RecordingFolder:
    """Recordings that appear in a folder, or one recording; it can be resumed within a file.

    A file is complete once neither its size nor its time of change has changed for `settled` seconds. A file that
    cannot be read is reported, and read again when it changes. Names decide the order: a file whose name stands before
    one that was read already is reported and left out, since time runs forwards. Times of recordings with a date count
    from the beginning of the first one.
    """

    can_resume = True
    is_live = False

    def __init__(self, path: Path, reader: Reader, channels: int, *, settled: float = 1.0, follow: bool = True) -> None:
        self.path, self._reader, self._channels = path, reader, channels
        self._settled, self._follow = settled, follow
        self._is_folder = path.is_dir() and not (path / "metadata.yaml").exists()
        self._done: list[str] = []
        self._seen: dict[str, tuple[tuple[int, int], float]] = {}
        self._failed: dict[str, tuple[int, int]] = {}
        """Files that could not be read, with their size and time of change: another one is tried again."""
        self._current: tuple[str, Array, Array] | None = None
        self._at = 0
        self._origin: int | None = None
        """Nanoseconds since 1970 at time 0 of the first recording with a date."""

    @property
    def name(self) -> str:
        return str(self.path)

    def read(self, wait: float) -> Batch | None:
        until = time.monotonic() + wait
        while self._current is None:
            names = self._complete()
            if names:
                faults = self._open(names[0])
                if faults:
                    return Batch(np.zeros(0), np.zeros((0, self._channels)), notes=faults)
                break
            if not self._is_folder or (not self._follow and not self._missing()):
                return None
            if time.monotonic() >= until:
                return Batch.nothing(self._channels)
            time.sleep(min(0.05, max(wait, 0.001)))
        assert self._current is not None
        name, times, values = self._current
        begin, end = self._at, min(self._at + _TOGETHER, len(times))
        self._at = end
        if end == len(times):
            self._done.append(name)
            self._current, self._at = None, 0
        return Batch(times[begin:end], values[begin:end], is_new=begin == 0)

    def _missing(self) -> list[str]:
        return [name for name in self._names() if name not in self._done and not self._is_as_it_failed(name)]

    def _is_as_it_failed(self, name: str) -> bool:
        try:
            return name in self._failed and self._failed[name] == _size(self._place(name))
        except OSError:
            return True

    def _names(self) -> list[str]:
        if not self._is_folder:
            return [self.path.name]
        try:
            entries = list(self.path.iterdir())
        except OSError as error:
            raise InputError(f"{self.path} cannot be read: {error.strerror}") from error
        wanted = (each for each in entries if not each.name.startswith("."))
        return sorted(
            each.name for each in wanted if each.suffix.lower() in SUFFIXES or (each / "metadata.yaml").exists()
        )

    def _place(self, name: str) -> Path:
        return self.path / name if self._is_folder else self.path

    def _complete(self) -> list[str]:
        """Names of files that were not read and no longer change."""
        if not self._is_folder:
            return self._missing()
        now, ready = time.monotonic(), []
        for name in self._missing():
            try:
                size = _size(self._place(name))
            except OSError:
                continue
            known = self._seen.get(name)
            if known is None or known[0] != size:
                self._seen[name] = (size, now)
            if now - self._seen[name][1] >= self._settled and size[0] > 0:
                ready.append(name)
        first = self._missing()[:1]
        return ready if ready[:1] == first else []

    def _open(self, name: str) -> tuple[str, ...]:
        """Read a file; what is wrong with it, if it cannot be read."""
        self._seen.pop(name, None)
        if self._done and name < max(self._done):
            self._done.append(name)
            return (
                f"{self._place(name)} appeared after {max(self._done)}: a file whose name stands before it is left out",
            )
        size = _size(self._place(name))
        try:
            times, values = self._recorded(name)
        except InputError as error:
            if not self._is_folder:
                raise
            self._failed[name] = size
            return (f"{error}. It is left out as long as it does not change",)
        self._current, self._at = (name, times, values), 0
        return ()

    def _recorded(self, name: str) -> tuple[Array, Array]:
        """Times since the beginning of the first recording, as far as dates tell, and values."""
        times, values, began = self._reader(self._place(name))
        if began is None:
            return times, values
        self._origin = began if self._origin is None else self._origin
        return times + (began - self._origin) / _NS, values

    def position(self) -> dict[str, Any]:
        return {
            "kind": "folder",
            "done": list(self._done),
            "at": self._at if self._current else 0,
            "current": self._current[0] if self._current else "",
            "origin": self._origin,
            "failed": {name: list(size) for name, size in self._failed.items()},
        }

    def resume(self, position: Mapping[str, Any]) -> None:
        require(position.get("kind") == "folder", "the checkpoint is of another kind of source")
        self._done, self._origin = list(position["done"]), position.get("origin")
        self._failed = {name: (int(n), int(at)) for name, (n, at) in position.get("failed", {}).items()}
        if position["current"]:
            times, values = self._recorded(position["current"])
            at = int(position["at"])
            require(at <= len(times), f"{position['current']} is shorter than in the checkpoint: delete the checkpoint")
            self._current, self._at = (position["current"], times, values), at

    def close(self) -> None: ...


def _size(path: Path) -> tuple[int, int]:
    """Bytes and latest change of a file, or of all files of a bag's folder."""
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    stats = [each.stat() for each in files]
    return sum(each.st_size for each in stats), max((each.st_mtime_ns for each in stats), default=0)
