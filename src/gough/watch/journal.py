"""The folder of a watch: its events, each once, and the certificates of those that are proven."""

import json
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from gough.checker import save
from gough.core.errors import InputError, require
from gough.core.files import is_folder
from gough.data import write_problem
from gough.watch.events import Event
from gough.watch.watcher import Found

EVENTS, CHECKPOINT, PAGE = "events.jsonl", "checkpoint", "page.json"
_LATER = 60.0
"""Seconds by which an event may be found later than before the restart."""


class Journal:
    """Appends events to a folder, numbers them, and keeps other processes away from it.

    A watch that resumes from a checkpoint finds again what it found between the checkpoint and its end. Where samples
    arrive in other pieces, it may find that in another order or a little later: events are recognized by their kind and
    subject, and those that are in the folder already are not written again.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = os.open(folder / EVENTS, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}; choose another by --out") from error
        try:
            _lock(self._file, folder)
            self.earlier = _events(self._file, folder / EVENTS)
            """Events that an earlier run has written, as plain data."""
        except BaseException:
            os.close(self._file)
            raise
        self._end = os.fstat(self._file).st_size
        self.n_events = len(self.earlier)
        """Number of events that were written."""
        self._expected: list[dict[str, Any]] = []
        for each in folder.glob(".*." + 32 * "[0-9a-f]"):  # of a process that was killed while it wrote a file
            each.unlink(missing_ok=True)

    def resumed(self, n_events: int) -> None:
        """The watch goes on from where it had found so many events: later ones that are written will be found again."""
        self._expected = self.earlier[n_events:]

    def write(self, found: Found, show: Callable[[Event], None]) -> None:
        """Show an event and write it with its certificate, unless it was written before the last restart.

        It is shown first: its proof was verified in memory, and files take half as long as the proof. Its line is
        written last, so that whoever reads the file of events finds the certificates. A watch that is killed in between
        finds and shows the event again.
        """
        event = found.event
        if self._is_known(event):
            return
        event = replace(event, number=self.n_events + 1)
        if found.contradiction is not None:
            stem = f"{event.kind}-{event.number}"
            problem, certificate = self.folder / f"{stem}.problem.npz", self.folder / f"{stem}.json"
            event = replace(event, certificate=str(certificate), problem=str(problem))
            show(event)
            write_problem(found.contradiction.problem, problem, overwrite=True)
            save(found.contradiction.certificate, certificate, overwrite=True)
        else:
            show(event)
        # one write of a line: a process that is killed leaves all of it or nothing
        line = (json.dumps(event.to_dict(), ensure_ascii=False, allow_nan=False) + "\n").encode()
        try:
            complete = os.write(self._file, line) == len(line)
        except OSError:
            complete = False
        if not complete:
            with suppress(OSError):  # what is cut short is removed when the folder is opened again
                os.ftruncate(self._file, self._end)
            raise InputError(
                f"{self.folder / EVENTS} cannot be written: the disk is full or gone. The event was: {event.line}"
            )
        self._end += len(line)
        self.n_events += 1

    def _is_known(self, event: Event) -> bool:
        for k, each in enumerate(self._expected):
            same = (each["kind"], each.get("subject", "")) == (event.kind, event.subject)
            if same and event.time <= each["time"] + _LATER:
                del self._expected[k]
                return True
        return False

    def close(self) -> None:
        os.close(self._file)


def free_folder(folder: Path) -> Path:
    """This folder if it is new or empty, else the first of folder-2, folder-3, … that is."""
    for k in range(1, 10_000):
        one = folder if k == 1 else folder.with_name(f"{folder.name}-{k}")
        if not one.exists() or (is_folder(one) and not any(one.iterdir())):
            return one
    raise InputError(f"{folder} and all its numbered neighbors have content: give another folder by --out")


def _events(file: int, path: Path) -> list[dict[str, Any]]:
    """The events of a file; a line that was cut off is removed."""
    data = b""
    while part := os.pread(file, 1 << 20, len(data)):
        data += part
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.ftruncate(file, len(whole))
    events = []
    for number, line in enumerate(whole.splitlines(), start=1):
        try:
            one = json.loads(line)
            known = isinstance(one["kind"], str) and isinstance(one["time"], int | float) and one["type"] == "event"
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path}, line {number} is no event of gough watch: give another folder") from error
        require(known, f"{path}, line {number} is no event of gough watch: give another folder")
        events.append(one)
    return events


def _lock(file: int, folder: Path) -> None:
    """Refuse a folder that another process writes to."""
    try:
        import fcntl  # noqa: PLC0415 - not on every system

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        return
    except OSError as error:
        raise InputError(
            f"{folder} is being written by another gough watch: end that one, or give another folder by --out"
        ) from error
