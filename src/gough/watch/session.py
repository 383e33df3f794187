"""A watch from its source to its journal: read, process, report, save checkpoints."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gough.core.errors import InputError, require
from gough.core.threads import one_blas_thread
from gough.watch import events as kinds
from gough.watch.checkpoint import load_checkpoint, save_checkpoint
from gough.watch.events import Event, Latch
from gough.watch.journal import Journal
from gough.watch.server import LivePage
from gough.watch.sources.files import GrowingFile
from gough.watch.sources.source import Batch, Source
from gough.watch.watcher import Found, Watcher

_WAIT = 0.05
"""Seconds that a source may take to answer."""
_SILENT = 5.0
"""Seconds without a sample of a source that is live before that is an event."""
_FAULTS = 1000
"""Lines in a row that are no samples before a watch gives up."""


@dataclass
class Session:
    """One run of a watch; it *changes* while it runs."""

    watcher: Watcher
    source: Source
    journal: Journal
    fingerprint: str
    """Of model and options: a checkpoint of others is refused."""
    checkpoint: Path | None = None
    every: float = 1.0
    """Seconds between two checkpoints, and between two reports of the status."""
    on_event: Callable[[Event], None] = lambda _: None
    on_status: Callable[[dict[str, Any]], None] = lambda _: None
    page: LivePage | None = None
    _bad: int = 0
    _in_a_row: int = 0
    _unreadable: Latch = field(default_factory=lambda: Latch(60.0))
    _is_stopped: bool = False
    _heard: float | None = None
    """When the last samples came, by the clock of this computer; None before the first, and after silence was said."""

    def __post_init__(self) -> None:
        if self.checkpoint is not None and isinstance(self.source, GrowingFile):
            self.source.will_resume = True

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one; says whether there is.

        Raises:
            InputError: the checkpoint is damaged, or of another model, of other options or of another source.
        """
        self.journal.resumed(0)
        if self.checkpoint is None or not self.checkpoint.exists():
            return False
        state = load_checkpoint(self.checkpoint)
        same = state.get("fingerprint") == self.fingerprint
        require(
            same,
            f"{self.checkpoint} is of another model or of other options: delete it to begin anew, or give another "
            "folder by --out",
        )
        try:
            self.source.resume(state["source"])
            self.watcher.restore(state["watcher"])
            self._bad, self._unreadable.last = int(state["bad"]), state["unreadable"]
            self.journal.resumed(int(state["events"]))
        except InputError:
            raise  # it says more, and is a ValueError
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{self.checkpoint} is not complete: delete it to begin anew") from error
        return True

    def save(self) -> None:
        """Write the checkpoint."""
        if self.checkpoint is None:
            return
        state = {"fingerprint": self.fingerprint, "source": self.source.position(), "watcher": self.watcher.state()}
        counts = {"bad": self._bad, "unreadable": self._unreadable.last, "events": self.journal.n_events}
        save_checkpoint(self.checkpoint, {**state, **counts})

    def stop(self) -> None:
        """End the run after the batch that is being processed."""
        self._is_stopped = True

    @one_blas_thread()
    def run(self) -> None:
        """Watch until the source ends or `stop` is called."""
        if self.page is not None:
            page = self.page
            for event in self.journal.earlier:
                page.board.post("event", event)
            self.watcher.on_bands = lambda bands: page.board.post(
                "bands", {name: value.tolist() for name, value in vars(bands).items()}
            )
        due = time.monotonic() + self.every
        while not self._is_stopped:
            batch = self.source.read(_WAIT)
            if batch is None:
                break
            written = self.journal.n_events
            self._take(batch)
            if time.monotonic() >= due or self.journal.n_events > written:
                self.save()
                self._show_status()
                due = time.monotonic() + self.every
        self.save()
        self._show_status()

    def _show(self, event: Event) -> None:
        self.on_event(event)
        if self.page is not None:
            self.page.board.post("event", event.to_dict())

    def _show_status(self) -> None:
        status = self.status()
        self.on_status(status)
        if self.page is not None:
            self.page.board.post("status", status)
            self.page.board.post("sets", self.watcher.parameters())

    def status(self) -> dict[str, Any]:
        """Numbers for the page and for machines."""
        return {**self.watcher.status(), "events": self.journal.n_events, "unreadable": self._bad}

    def _take(self, batch: Batch) -> None:
        found: list[Found] = self.watcher.take(batch.times, batch.values, is_new=batch.is_new) if len(batch) else []
        if batch.bad:
            found += self._faulty(batch)
        elif len(batch):
            self._in_a_row = 0
            self._unreadable.absent(self.watcher.time)
        found += self._observed(batch)
        for each in found:
            self.journal.write(each, self._show)

    def _observed(self, batch: Batch) -> list[Found]:
        """Events of the source itself: what it notes, and silence."""
        notes, now = list(batch.notes), time.monotonic()
        if len(batch):
            self._heard = now
        elif self.source.is_live and self._heard is not None and now - self._heard > _SILENT:
            self._heard = None
            notes.append(f"no samples arrive since {self.watcher.time:.3f} s")
        return [self.watcher.raised(kinds.DATA, self.source.name, note, {}) for note in notes]

    def _faulty(self, batch: Batch) -> list[Found]:
        """One event for lines that cannot be read; too many in a row end the watch."""
        self._bad += len(batch.bad)
        self._in_a_row = len(batch.bad) + (0 if len(batch) else self._in_a_row)
        first = batch.bad[0]
        require(
            self._in_a_row < _FAULTS,
            f"{self._in_a_row} lines in a row are no samples; {first}: check what writes the stream",
        )
        if not self._unreadable.met(self.watcher.time):
            return []
        text = f"{first}: it is left out"
        return [self.watcher.raised(kinds.DATA, self.source.name, text, {"unreadable": self._bad})]
