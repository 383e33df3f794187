"""Docstrings, which are plain text with Google sections, as reStructuredText."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from sphinx.application import Sphinx
from sphinx.ext.napoleon import Config, GoogleDocstring

SECTIONS = re.compile(r"(Args|Attributes|Examples?|Notes?|Raises|Returns|Yields):\s*$")
INDENTED = "    "
TABLE = re.compile(r"=+( +=+)+$")
WITH_SECTIONS = ("module", "class", "exception", "function", "method")
_MARKS = re.compile(r"(\\|\*|\||(?<=\w)_(?!\w))")
CONFIG = Config(napoleon_use_ivar=True, napoleon_use_rtype=False)


def as_rst(lines: Sequence[str], what: str) -> list[str]:
    """The docstring of a module, class, function or attribute: marks of reStructuredText are shown as they stand."""
    plain = list(_literal(lines))
    return GoogleDocstring(plain, CONFIG, what=what).lines() if what in WITH_SECTIONS else plain


def _literal(lines: Sequence[str]) -> Iterator[str]:
    section = code = example = table = False  # inside a Google section, an indented block, a doctest, a table
    after_blank = True
    for line in lines:
        stripped = line.strip()
        table = (table or bool(TABLE.match(stripped))) and bool(stripped)
        if not stripped:
            example = False
        elif SECTIONS.match(line):
            section, code = True, False
        elif not line.startswith(" "):
            if code and not after_blank:
                yield ""
            section = code = False
        elif line.startswith(INDENTED) and not section and not code and not stripped.startswith(">>>"):
            code = True
            yield from ("", "::", "")
        example = example or stripped.startswith(">>>")
        yield line if code or example or table or SECTIONS.match(line) else escaped(line)
        after_blank = not stripped


def escaped(line: str) -> str:
    """Text with its marks escaped; names in single backquotes become code."""
    parts = re.split(r"(?<!`)`([^`]+)`(?!`)", line)
    return "".join(f"``{part}``" if i % 2 else _MARKS.sub(r"\\\1", part) for i, part in enumerate(parts))


def _process(_: Sphinx, what: str, __: str, ___: Any, ____: Any, lines: list[str]) -> None:
    lines[:] = as_rst(lines, what)


def setup(app: Sphinx) -> dict[str, Any]:
    """Convert every docstring that autodoc reads."""
    app.connect("autodoc-process-docstring", _process)
    return {"version": "1", "parallel_read_safe": True}
