"""Numbers, names and tables as text for people."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from html import escape
from math import floor, isfinite, log10
from typing import Any

from gough.core.errors import require

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters, line separators, marks that reverse the direction of writing, and halves of surrogate pairs."""
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, *, lines: bool = False) -> str:
    r"""The text with visible escapes in place of characters that move the cursor, change colors or end the line.

    Names and paths come from users and from files. Printed as they are, escape sequences in them could erase or imitate
    what gough prints. The result can always be encoded as UTF-8.

    Args:
        text: Any text.
        lines: Whether line feeds stay.

    Examples:
        >>> print(visible("mass\x1b[2K\nThe certificate holds"))
        mass\x1b[2K\nThe certificate holds
    """
    return _UNSAFE.sub(lambda found: found[0] if lines and found[0] == "\n" else _escaped(found[0]), text)


def require_encodable(texts: Iterable[str], what: str) -> None:
    r"""Raise InputError unless every text can be written to a file: half a surrogate pair cannot.

    Examples:
        >>> require_encodable(["mass", "\ud800"], "name")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: the name '\ud800' holds half of a surrogate pair, which no file can hold
    """
    for text in texts:
        whole = isinstance(text, str) and not any("\ud800" <= letter <= "\udfff" for letter in text)
        require(whole, f"the {what} '{visible(str(text))}' holds half of a surrogate pair, which no file can hold")


def _escaped(letter: str) -> str:
    code = ord(letter)
    return _SHORT.get(letter) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def number(value: float, uncertainty: float | None = None, *, digits: int = 4) -> str:
    """`value` down to the second digit of its uncertainty, or with so many significant digits where it has none.

    Examples:
        >>> number(12.345678, 0.0123), number(0.000123456), number(-1234567.0), number(0.5, 0.0)
        ('12.346', '0.0001235', '-1.235e+06', '0.5')
    """
    if not isfinite(value):
        return {True: "∞", False: "−∞"}.get(value > 0, "—") if value == value else "—"  # noqa: PLR0124 - NaN
    if uncertainty == 0:
        return f"{value:.12g}"
    leading = floor(log10(abs(value))) if value else 0
    if uncertainty is not None and isfinite(uncertainty):
        digits = min(max(leading - floor(log10(uncertainty)) + 2, 2), 16)
    if -4 <= leading < 6:
        return f"{value:.{max(digits - 1 - leading, 0)}f}"
    return f"{value:.{digits - 1}e}"


def written(value: Any) -> str:
    """A frozen value as a user would write it: without the fields that have their default.

    Examples:
        >>> from gough.methods import GaussMarkov
        >>> written(GaussMarkov()), written(GaussMarkov(level=0.99))
        ('GaussMarkov()', 'GaussMarkov(level=0.99)')
    """
    if not is_dataclass(value):
        return _short(value)
    given = []
    for field in fields(value):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        own = getattr(value, field.name)
        if hasattr(own, "dtype") or own != default:
            given.append(f"{field.name}={written(own)}")
    return f"{type(value).__name__}({', '.join(given)})"


def _short(value: Any) -> str:
    """An array by its size, a function by its name, else as Python writes it."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"<{' × '.join(str(n) for n in value.shape)} array>"
    return getattr(value, "__name__", None) or repr(value)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """Rows of cells under their heads, columns aligned "l" or "r", two blanks apart; each row is one line.

    Examples:
        >>> print(table(["name", "kg"], [["arm", "1.5"], ["platform", "12"]], "lr"))
        name       kg
        ────────  ───
        arm       1.5
        platform   12
    """
    heads, rows = [visible(head) for head in heads], [[visible(cell) for cell in row] for row in rows]
    widths = [max(len(cell) for cell in column) for column in zip(heads, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (c.rjust(w) if a == "r" else c.ljust(w) for c, w, a in zip(cells, widths, align, strict=True))
        return "  ".join(padded).rstrip()

    return "\n".join([line(heads), line(["─" * w for w in widths]), *(line(row) for row in rows)])


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]], align: str, notes: Sequence[str] = ()) -> str:
    """The same table as HTML, with a paragraph for each note below it; all text is escaped.

    Examples:
        >>> html_table(["name", "kg"], [["<arm>", "1.5"]], "lr").splitlines()[2]
        '<tr><td style="text-align:left">&lt;arm&gt;</td><td style="text-align:right">1.5</td></tr>'
    """
    sides = [{"l": "left", "r": "right"}[one] for one in align]

    def line(cells: Sequence[str], tag: str) -> str:
        inside = (f'<{tag} style="text-align:{s}">{escape(c)}</{tag}>' for c, s in zip(cells, sides, strict=True))
        return f"<tr>{''.join(inside)}</tr>"

    body = [line(row, "td") for row in rows]
    return "\n".join(["<table>", line(heads, "th"), *body, "</table>", *(f"<p>{escape(note)}</p>" for note in notes)])
