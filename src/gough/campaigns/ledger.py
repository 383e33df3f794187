"""Results of a campaign on disk: each appended whole, none lost by a kill, none mixed with another campaign's.

A file of lines of JSON. The first identifies the campaign, by the digest of its configuration; every other one is a
result with the key of its task and a digest of the task's arguments. A line that a kill cut short is dropped when the
file is opened again.

A line is one write to the end of the file: once `append` returns, it survives the end of the process, also by kill -9.
It is forced to the disk within `SYNC` seconds and when the file is closed: a power failure costs at most the results of
that time, which are then computed again.
"""

import json
import os
from array import array
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Self

from gough.campaigns.plain import from_json, to_json
from gough.core.errors import InputError, require

SYNC = 1.0
"""Seconds after which results are forced to the disk."""
LEDGERS = ("campaign-*.jsonl",)
"""Names of ledgers in a folder of results."""
_HEADER = {"gough_campaign": 1}
"""How such a file begins, with the version of its format."""


class Ledger:
    """An open file of results. Only the places of results are kept in memory; reading one reads its line.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     with Ledger(Path(folder, "a.jsonl"), "b5") as ledger:
        ...         ledger.append("first", {"value": 1.5})
        ...     with Ledger(Path(folder, "a.jsonl"), "b5") as again:
        ...         dict(again.results)
        {'first': {'value': 1.5}}
    """

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        self.path = Path(path)
        self._numbers: dict[str, int] = {}
        self._offsets, self._lengths, self._tasks = array("Q"), array("Q"), array("Q")
        self._synced, self._dirty = monotonic(), False
        require(self.path.parent.is_dir(), f"{path} cannot be written: there is no folder {self.path.parent}")
        try:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}; give another name") from error
        try:
            _lock(self._file, self.path)  # before reading: what is read stays true
            self._end = self._read(fingerprint)
            os.ftruncate(self._file, self._end)
            if not self._end:
                self._write(json.dumps({**_HEADER, "digest": fingerprint}, separators=(",", ":")))
                self.sync()
        except BaseException:
            os.close(self._file)
            raise

    @property
    def results(self) -> Mapping[str, Any]:
        """Results by the keys of their tasks; each is read from the file when it is asked for."""
        return _Results(self)

    def has(self, key: str, task: str = "") -> bool:
        """Whether there is a result of this task; one of other arguments under the same key does not count."""
        number = self._numbers.get(key)
        return number is not None and (not task or self._tasks[number] in (0, int(task, 16)))

    def append(self, key: str, result: Any, task: str = "") -> None:
        """Add a result; `task` is a digest of the task's arguments, 16 hexadecimal digits.

        Raises:
            InputError: the disk is full, or the file cannot be written; results before this one are complete.
        """
        self.append_text(key, to_json(result), task)

    def append_text(self, key: str, text: str, task: str = "") -> None:
        """Add a result that `to_json` has written already, in the process that computed it."""
        head = json.dumps({"key": key, "task": task} if task else {"key": key}, separators=(",", ":"))[:-1]
        offset = self._end
        self._write(f'{head},"result":{text}}}')
        self._note(key, offset, self._end - offset, task)
        if monotonic() - self._synced > SYNC:
            self.sync()

    def sync(self) -> None:
        """Force what was appended to the disk."""
        if self._dirty:
            with _in_words(self):
                os.fsync(self._file)
            self._synced, self._dirty = monotonic(), False

    def close(self) -> None:
        """Force results to the disk and close the file."""
        try:
            self.sync()
        finally:
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _read(self, fingerprint: str) -> int:
        """Take up the places of the results that are there; the number of bytes in whole lines."""
        begun = json.dumps(_HEADER, separators=(",", ":")).encode()[:-1]
        end = 0
        with os.fdopen(os.dup(self._file), "rb") as file:
            start = file.read(len(begun))
            foreign = f"{self.path} is not the file of a campaign: delete it, or give another name or folder"
            require(start == begun or begun.startswith(start), foreign)
            file.seek(0)
            for k, line in enumerate(file):
                if not line.endswith(b"\n"):
                    break  # a kill cut it short
                try:
                    entry = json.loads(line)
                    if k == 0:
                        self._check(entry["digest"], fingerprint)
                    else:
                        self._note(entry["key"], end, len(line), entry.get("task", ""))
                        entry["result"]
                except (ValueError, KeyError, TypeError) as error:
                    if isinstance(error, InputError):
                        raise
                    raise InputError(
                        f"{self.path}, line {k + 1} is not a result: the file is damaged. Delete this line, and its "
                        "task is computed again"
                    ) from error
                end += len(line)
        return end

    def _note(self, key: str, offset: int, length: int, task: str) -> None:
        """Remember where a result is: three numbers for each."""
        self._numbers[key] = len(self._offsets)
        self._offsets.append(offset)
        self._lengths.append(length)
        self._tasks.append(int(task, 16) if task else 0)

    def _check(self, fingerprint: str, wanted: str) -> None:
        require(
            fingerprint == wanted,
            f"{self.path} belongs to a campaign with another configuration (digest {fingerprint[:8]}…, not "
            f"{wanted[:8]}…): its results would be mixed up. Delete it, or give another name or folder",
        )

    def _write(self, line: str) -> None:
        content = f"{line}\n".encode()
        rest = memoryview(content)
        os.lseek(self._file, self._end, os.SEEK_SET)
        with _in_words(self):
            while rest:
                rest = rest[os.write(self._file, rest) :]
        self._end, self._dirty = self._end + len(content), True

    def _line(self, key: str) -> bytes:
        number = self._numbers[key]
        os.lseek(self._file, self._offsets[number], os.SEEK_SET)
        return os.read(self._file, self._lengths[number])


class _Results(Mapping[str, Any]):
    """The results of a ledger, read one by one."""

    def __init__(self, of: Ledger) -> None:
        self._of = of

    def __getitem__(self, key: str) -> Any:
        line = self._of._line(key).decode()  # noqa: SLF001 - one class in two parts
        try:
            return from_json(line[line.index('"result":') + len('"result":') : line.rindex("}")])
        except InputError as error:
            raise InputError(
                f"{self._of.path}, result of '{key}': {error}. The file is damaged: delete this line, and its task is "
                "computed again"
            ) from error

    def __iter__(self) -> Iterator[str]:
        return iter(tuple(self._of._numbers))  # noqa: SLF001 - as above

    def __len__(self) -> int:
        return len(self._of._numbers)  # noqa: SLF001 - as above

    def __contains__(self, key: object) -> bool:
        return key in self._of._numbers  # noqa: SLF001 - as above


class _in_words:  # noqa: N801 - reads as a sentence after `with`
    """Errors of the disk as messages; a line that was written in part is removed."""

    def __init__(self, of: Ledger) -> None:
        self._of = of

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, where: object) -> None:
        if error is None:
            return
        ledger = self._of
        with suppress(OSError):  # the line stays cut short then, and is dropped when the file is opened again
            os.ftruncate(ledger._file, ledger._end)  # noqa: SLF001 - one class in two parts
        if isinstance(error, OSError):
            kept = len(ledger.results)
            raise InputError(
                f"{ledger.path} cannot be written: {error.strerror}. It has {kept} results, all complete; free some "
                "space or choose another disk, and run the same command again to resume"
            ) from error


def _lock(file: int, path: Path) -> None:
    """Refuse a file that another process is writing to."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return
    except OSError as error:
        raise InputError(f"{path} is in use by another process: two campaigns cannot write to one file") from error
