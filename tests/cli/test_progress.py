"""Work that takes a while is shown in a terminal, and nowhere else."""

import io
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest

from gough.cli.on_demand import COMMANDS
from gough.cli.progress import images_shown, parts_shown, starts_shown, steps_shown, working
from gough.core.progress import Phase, Progress

MECHANISM = [sys.executable, "-m", "gough_command", "mechanism", "five-bar", "--json"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", stream.getvalue())


def all_of_them() -> None:
    with steps_shown() as on_step:
        on_step(Phase(2, 3, "second phase"))
        on_step.write()
    with working("uncounted") as now:
        now("what follows")
    with parts_shown("reading") as on_progress:
        on_progress(Progress(1, 4, "one\x1b[2J.json"))
    with starts_shown() as on_progress:
        on_progress(Progress(1, 4, "start", 2.0))
    with images_shown("images", "fitting") as images:
        images.start(2)
        images(1)
        images(2)


def test_a_terminal_shows_the_last_of_every_kind(monkeypatch):
    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(sys, "stderr", stream)
    all_of_them()
    text = shown(stream)
    for words in ("drawing the report", "what follows", "start, best 2.00", "fitting"):
        assert words in text
    assert "one\\x1b[2J.json" in text
    assert re.search(r"what follows\s+\S+\s+0 s", text), "time that has passed where nothing is counted"
    assert re.search(r"start, best 2.00 .*-:--:--|\d:\d\d:\d\d", text), "time left where parts are counted"


def test_nothing_is_shown_where_no_terminal_is(capfd):
    all_of_them()
    assert capfd.readouterr() == ("", "")


def test_a_command_shows_progress_in_a_terminal_and_its_answer_is_the_same():
    """Standard error is a terminal, standard output a pipe: the JSON is what it is without any terminal."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    with os.fdopen(theirs, "wb") as stderr:
        process = subprocess.Popen(MECHANISM, stdout=subprocess.PIPE, stderr=stderr, env=environment)
    text = b""
    with suppress(OSError):  # how Linux tells that the other end of a terminal is closed
        while part := os.read(ours, 1 << 16):
            text += part
    os.close(ours)
    answer = process.communicate()[0]
    assert process.returncode == 0
    assert b"finding what can be identified" in text
    silent = subprocess.run(MECHANISM, capture_output=True, check=True)
    assert (silent.stdout, silent.stderr) == (answer, b"")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_something_to_show(name):
    source = Path(str(import_module(f"gough.cli.{name}").__file__)).read_text(encoding="utf-8")
    assert "gough.cli.progress" in source
