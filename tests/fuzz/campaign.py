"""Many spoiled files through one door, and what became of them."""

import os
import signal
import sys
import traceback
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from types import FrameType

from gough.core.errors import GoughError
from tests.fuzz.doors import DOORS
from tests.fuzz.mutators import spoil

LIMIT = 10.0
"""Seconds that one small file may take."""
READ, DOES_NOT_HOLD, REFUSED = "0 done", "1 does not hold", "2 bad input"


class Hang(BaseException):
    """A file took too long; no `except Exception` swallows it."""


@dataclass
class Outcome:
    """How many files ended how, and those that ended in a fault."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, bytes, str]] = field(default_factory=list)
    """Number of the case, its content, and the traceback."""


@cache
def _seeds(kind: str) -> list[bytes]:
    return DOORS[kind].seeds()


def spoiled(kind: str, seed: int, number: int) -> bytes:
    """The file with this number; the same in every run and on every machine."""
    return spoil(_seeds(kind), Random(f"{kind}/{seed}/{number}"), DOORS[kind].ways)


def prepared(kind: str, folder: Path) -> Path:
    """Where the files of a kind go, with the files beside them."""
    for name, text in DOORS[kind].beside.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder / f"file{DOORS[kind].suffix}"


def judged(kind: str, path: Path, content: bytes) -> tuple[str, str]:
    """How one file ended: one of the three admissible ways, or a fault with its traceback."""
    path.write_bytes(content)
    try:
        with _limited(LIMIT), warnings.catch_warnings():
            warnings.simplefilter("error")
            held = DOORS[kind].enter(path)
    except GoughError as error:
        str(error).encode("utf-8", "surrogatepass")
        return REFUSED, ""
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        if type(error) is ValueError and type(error.__cause__).__name__ == "ImageRefused":
            return REFUSED, ""
        return f"3 {type(error).__name__}", traceback.format_exc()
    return (DOES_NOT_HOLD if held else READ), ""


def tried(kind: str, folder: Path, seed: int, numbers: Iterator[int] | range) -> Outcome:
    """The files with these numbers through their door."""
    outcome, path = Outcome(), prepared(kind, folder)
    for number in numbers:
        content = spoiled(kind, seed, number)
        ended, why = judged(kind, path, content)
        outcome.counts[ended] += 1
        if why:
            outcome.faults.append((number, content, why))
            if len(outcome.faults) > 200:
                break
    return outcome


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    def end(_: int, __: FrameType | None) -> None:
        raise Hang(f"more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def silenced() -> None:
    """Libraries in C that write to standard error, silenced in this process."""
    sys.stderr.flush()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
