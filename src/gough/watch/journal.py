"""The folder of a watch: its events, each once, and the certificates of those that are proven."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gough.checker import save
from gough.core.errors import InputError, require
from gough.core.files import is_folder
from gough.data import write_problem
from gough.watch.events import Event
from gough.watch.watcher import Found

EVENTS, CHECKPOINT = "events.jsonl", "checkpoint"


class Journal:
    """Appends events to a folder; those that it has already are not written again after a restart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._last = _last_number(folder / EVENTS)
            self._file = os.open(folder / EVENTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror}") from error

    @property
    def n_events(self) -> int:
        """Number of the last event that was written."""
        return self._last

    def write(self, found: Found, show: Callable[[Event], None]) -> None:
        """Write an event with its certificate and show it, unless it was written before the last restart."""
        event = found.event
        if event.number <= self._last:
            return
        if found.contradiction is not None:
            event = self._with_certificate(event, found)
        # one write of a line: a process that is killed leaves all of it or nothing
        os.write(self._file, (json.dumps(event.to_dict(), ensure_ascii=False, allow_nan=False) + "\n").encode())
        self._last = event.number
        show(event)

    def _with_certificate(self, event: Event, found: Found) -> Event:
        assert found.contradiction is not None
        stem = f"{event.kind}-{event.number}"
        problem, certificate = self.folder / f"{stem}.problem.npz", self.folder / f"{stem}.json"
        write_problem(found.contradiction.problem, problem, overwrite=True)
        save(found.contradiction.certificate, certificate, overwrite=True)
        return replace(event, certificate=str(certificate), problem=str(problem))

    def close(self) -> None:
        os.close(self._file)


def free_folder(folder: Path) -> Path:
    """This folder if it is new or empty, else the first of folder-2, folder-3, … that is."""
    for k in range(1, 10_000):
        one = folder if k == 1 else folder.with_name(f"{folder.name}-{k}")
        if not one.exists() or (is_folder(one) and not any(one.iterdir())):
            return one
    raise InputError(f"{folder} and all its numbered neighbors have content: give another folder by --out")


def _last_number(path: Path) -> int:
    """The number of the last event of a file; a line that was cut off is removed."""
    if not path.exists():
        return 0
    data = path.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        os.truncate(path, len(whole))
    last: Any = 0
    for line in whole.splitlines():
        try:
            last = json.loads(line)["number"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{path} holds lines that are no events of gough watch: give another folder") from error
        require(isinstance(last, int), f"{path} holds lines that are no events of gough watch: give another folder")
    return int(last)
