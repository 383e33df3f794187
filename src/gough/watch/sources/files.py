"""Streams of lines: a file that grows, and standard input."""

import os
import select
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from gough.core.errors import InputError, require
from gough.core.files import file_beside, is_file
from gough.watch.sources.lines import Channels, Decoded, LineDecoder
from gough.watch.sources.source import Batch

CHUNK = 1 << 18
"""Bytes that are read at a time."""
_MARK = 4096
"""Bytes at the beginning of a file, and before a position, by which it is recognized."""
_POLL = 0.002
"""Seconds between two looks at a file that does not grow."""


def batch_of(found: Decoded, name: str) -> Batch:
    """Decoded lines with the places of those that are no samples."""
    return Batch(found.times, found.values, tuple(f"{name}, line {number} {fault}" for number, fault in found.bad))


class GrowingFile:
    """A file of CSV or JSON lines to which lines are appended; it is followed by its name.

    A last line without its end waits. If the file is replaced by a shorter one, it is read from its beginning. It can
    be resumed: the position is the byte after the last complete line that was read.
    """

    can_resume = True
    will_resume = False
    """Whether a later run goes on where this one ends: then a last line without its end waits for that run."""

    def __init__(self, path: str | Path, channels: Channels, *, follow: bool = True) -> None:
        self.path, self.channels, self._follow = Path(path), channels, follow
        require(is_file(self.path), f"{path} cannot be read: there is no such file{file_beside(self.path)}")
        try:
            self._file: BinaryIO = self.path.open("rb")
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror}") from error
        self._decoder = LineDecoder(channels, self.name)
        self._offset = 0
        self._is_gone = False

    @property
    def name(self) -> str:
        return str(self.path)

    @property
    def is_live(self) -> bool:
        return self._follow

    def read(self, wait: float) -> Batch | None:
        """Samples of the lines that were appended; None at the end of a file that is not followed."""
        until = time.monotonic() + wait
        while True:
            data = self._file.read(CHUNK)
            if data:
                self._offset += len(data)
                return batch_of(self._decoder.take(data), self.name)
            if self._is_replaced():
                return self._reopened()
            if self._follow and self._vanished():
                return self._noted(f"{self.name} is gone: it is waited for")
            if not self._follow and self.will_resume:
                return None
            if not self._follow:
                last = batch_of(self._decoder.end(), self.name)
                return last if len(last) or last.bad else None
            if time.monotonic() >= until:
                return Batch.nothing(len(self.channels.names))
            time.sleep(_POLL)

    def _is_replaced(self) -> bool:
        try:
            now, then = self.path.stat(), os.fstat(self._file.fileno())
        except OSError:
            return False  # it is away for a moment, as while it is replaced
        return now.st_ino != then.st_ino or now.st_dev != then.st_dev or now.st_size < self._offset

    def _reopened(self) -> Batch:
        self._file.close()
        self._file = self.path.open("rb")
        self._offset, self._decoder = 0, LineDecoder(self.channels, self.name)
        return self._noted(f"{self.name} was replaced or cut: it is read from its beginning")

    def _vanished(self) -> bool:
        """Whether the file is gone, said once; one that is replaced is away for a moment only."""
        was, self._is_gone = self._is_gone, not self.path.exists()
        if not self._is_gone or was:
            return False
        time.sleep(0.05)
        self._is_gone = not self.path.exists()
        return self._is_gone

    def _noted(self, note: str) -> Batch:
        nothing = Batch.nothing(len(self.channels.names))
        return Batch(nothing.times, nothing.values, notes=(note,))

    def position(self) -> dict[str, Any]:
        done = self._offset - self._decoder.n_waiting
        return {"kind": "file", "offset": done, "mark": self._mark(done), "lines": self._decoder.state()}

    def _mark(self, end: int) -> str:
        """Digest of the first and of the last bytes before this one."""
        file = self._file.fileno()  # also where the name of the file is gone
        parts = (os.pread(file, min(end, _MARK), 0), os.pread(file, min(end, _MARK), max(0, end - _MARK)))
        return sha256(b"".join(parts)).hexdigest()

    def resume(self, position: Mapping[str, Any]) -> None:
        require(position.get("kind") == "file", "the checkpoint is of another kind of source")
        offset = int(position["offset"])
        size = os.fstat(self._file.fileno()).st_size
        fits = size >= offset and self._mark(offset) == position["mark"]
        require(
            fits,
            f"{self.name} is not the file of the checkpoint: it has other content or is shorter. Delete the checkpoint "
            "to begin anew",
        )
        self._decoder.restore(position["lines"])
        self._file.seek(offset)
        self._offset = offset

    def close(self) -> None:
        self._file.close()


class StandardInput:
    """Lines of CSV or JSON on standard input, or on another open file descriptor."""

    can_resume = False
    is_live = True
    name = "standard input"

    def __init__(self, channels: Channels, descriptor: int = 0) -> None:
        self.channels, self._descriptor = channels, descriptor
        self._decoder = LineDecoder(channels, self.name)
        self._is_over = False

    def read(self, wait: float) -> Batch | None:
        if self._is_over:
            return None
        ready, _, _ = select.select([self._descriptor], [], [], wait)
        if not ready:
            return Batch.nothing(len(self.channels.names))
        data = os.read(self._descriptor, CHUNK)
        if data:
            return batch_of(self._decoder.take(data), self.name)
        self._is_over = True
        return batch_of(self._decoder.end(), self.name)

    def position(self) -> dict[str, Any]:
        return {"kind": "stdin"}

    def resume(self, position: Mapping[str, Any]) -> None:
        del position
        raise InputError("standard input cannot be resumed from a checkpoint: watch a file")

    def close(self) -> None: ...
