"""Output of the commands to a terminal.

Names and paths from users and files are printed as literal text: no markup, no escape sequences, no added lines.
Characters that the stream cannot encode are substituted.
"""

import codecs
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import NoReturn

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from gough.core.errors import InputError
from gough.core.text import visible

BROKEN_PIPE = 141
"""The exit code that a shell reports of a process whose reader went away: 128 and the number of SIGPIPE."""
_SUBSTITUTES = {
    "─": "-", "–": "-", "—": "-", "−": "-", "…": "...", "≤": "<=", "≥": ">=", "±": "+/-", "×": "x", "·": "*", "•": "*",
    "“": '"', "”": '"', "’": "'", "‘": "'", "µ": "u", "²": "^2", "³": "^3", "√": "sqrt", "∞": "inf", "σ": "sigma",
    "χ": "chi", "θ": "theta", "ε": "epsilon", "Σ": "Sigma", "Δ": "Delta", "φ": "phi", "τ": "tau", "°": "deg",
    "▁": "_", "▂": ".", "▃": "-", "▄": "=", "▅": "+", "▆": "*", "▇": "%", "█": "#",
}  # fmt: skip
_GAPS = re.compile(r"(?<=\S) {2,}(?=\S)|─")
_NOT_PLAIN = re.compile(r"[^\n\x20-\x7e]")


def say(*lines: str, wrap: bool = False) -> None:
    """Print each text on one line of standard output; line feeds in it become visible.

    Args:
        lines: The texts.
        wrap: Break sentences between words where a terminal is too narrow. Lines of tables, which have several columns,
            and output to files and pipes are never broken.
    """
    width = get_terminal_size().columns if wrap and sys.stdout.isatty() else 0
    _write("".join(f"{_wrapped(visible(line), width)}\n" for line in lines))


def tell(text: str) -> None:
    """Print a text that gough has laid out in lines; a terminal shows sentences broken between words."""
    say(*text.split("\n"), wrap=True)


def _wrapped(line: str, width: int) -> str:
    """The line broken between words; as it is where there is no width, or it is one of a table."""
    gaps = len(_GAPS.findall(line))
    if not width or len(line) <= width or gaps > 1:
        return line
    # a name in a labelled line, such as "holds  a.json: …", cannot imitate another one
    return fill(line, width, subsequent_indent="    " * gaps, break_long_words=False, break_on_hyphens=False)


def answer(text: str) -> None:
    """Print a JSON document. Characters that a terminal would obey or cannot show become JSON's own escapes."""
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")

    def shown(found: re.Match[str]) -> str:
        letter = found[0]
        return letter if unicode and visible(letter) == letter else json.dumps(letter)[1:-1]

    _write(_NOT_PLAIN.sub(shown, text).removesuffix("\n") + "\n")


def show_results(
    folder: Path, files: Mapping[str, bytes], *, json: str, text: str, places: Mapping[str, str] | None = None
) -> None:
    """Print the JSON file of this name and nothing else; or, without a name, a text and where the files are.

    Args:
        folder: The folder of the results.
        files: Their contents by name.
        json: Name of the file to print; empty for the text.
        text: The answer as laid out in lines; where it is empty, it was printed already.
        places: Other files to point at before the report, by what they are.
    """
    if json:
        answer(files[json].decode())
        return
    if text:
        tell(text)
    named = {**(places or {}), "Report": "report.html"}
    width = max(map(len, named))
    for i, (what, name) in enumerate(named.items()):
        line = f"{what + ':':<{width + 1}} {folder / name}"
        console().print(f"{'' if i else chr(10)}{line}", style="bold", soft_wrap=True)


def console(*, stderr: bool = False) -> Console:
    """A console that takes every text literally."""
    return _Literal(stderr=stderr, highlight=False, markup=False, emoji=False)


def prepare_streams() -> None:
    """Let standard output and error substitute what their encoding lacks."""
    codecs.register_error("gough", _substitute)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="gough")


def flush() -> None:
    """Write out what is buffered; if the output was closed, end the process silently.

    Raises:
        InputError: standard output cannot be written, for instance to a file on a full disk.
    """
    _write("")


class _Literal(Console):
    """A console whose texts cannot hold control characters."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text, lines=True), segment.style)

    def on_broken_pipe(self) -> None:
        _leave()


def _write(text: str) -> None:
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        _leave()
    except OSError as error:
        _drop_output()
        advice = "free some space, or send it elsewhere"
        raise InputError(f"standard output cannot be written: {error.strerror or error}; {advice}") from error


def _leave() -> NoReturn:
    """End the process: the output was closed."""
    _drop_output()
    raise SystemExit(BROKEN_PIPE)


def _drop_output() -> None:
    """Discard what is still buffered, so that the interpreter's own last flush succeeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _substitute(error: UnicodeError) -> tuple[str | bytes, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    letter = error.object[error.start]
    known = _SUBSTITUTES.get(letter)
    if known is not None:
        return known, error.start + 1
    return letter.encode("ascii", "backslashreplace").decode(), error.start + 1
