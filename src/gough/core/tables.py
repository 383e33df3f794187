"""Tables as values: columns with units, and cells of text. They are printed as aligned text or as HTML.

A table is made once and printed in several places: `str(table)` is aligned text, `html_table(table)` stands on a page
or in a notebook, and `gough.report.base.terminal` prints it on a terminal of any width. Cells are text already: whoever
makes a table rounds its numbers, and rounds sets outward (`gough.core.outward`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeAlias

from gough.core.html import Html, tag
from gough.core.text import signs, visible

Kind: TypeAlias = Literal["label", "unit", "words", "number"]
_WIDTH = 80
"""Characters of a line of text; heads of wider tables are broken into several lines."""
_KINDS: dict[str, Kind] = {"l": "label", "u": "unit", "w": "words", "r": "number"}


@dataclass(frozen=True)
class Column:
    """The head of a column, and what stands below it."""

    head: str
    kind: Kind = "number"
    """Labels and words are aligned to the left, numbers to the right. On a page a unit stands below its row's label."""
    unit: str = ""
    """Unit of all cells: behind the head, or below it on a page."""
    note: str = ""
    """Small print below the head, on pages only."""
    is_detail: bool = False
    """Only pages have room for it."""


@dataclass(frozen=True)
class Cell:
    """The text of a cell, and how a page or a terminal emphasizes it."""

    text: str
    note: str = ""
    """Small print below the text, on pages only."""
    mark: Literal["", "good", "bad"] = ""
    share: float | None = None
    """Length of a bar below the text, from 0 to 1, on pages only."""


@dataclass(frozen=True)
class Table:
    """Rows of cells under their heads.

    Examples:
        >>> masses = table(["name", Column("mass", unit="kg")], [["arm", "1.5"], ["platform", "12"]], "lr")
        >>> print(masses)
        name      mass, kg
        ────────  ────────
        arm            1.5
        platform        12
        >>> masses.heads, masses.texts[1]
        (('name', 'mass, kg'), ('platform', '12'))
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""

    @property
    def heads(self) -> tuple[str, ...]:
        """Head of each column, with its unit."""
        return tuple(f"{c.head}, {c.unit}" if c.unit else c.head for c in self.columns)

    @property
    def texts(self) -> tuple[tuple[str, ...], ...]:
        """Texts of all rows."""
        return tuple(tuple(cell.text for cell in row) for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON: caption, heads and texts."""
        return {"caption": self.caption, "heads": list(self.heads), "rows": [list(row) for row in self.texts]}

    def __str__(self) -> str:
        lines = [[visible(text) for text in line] for line in self.texts]
        kept = [i for i, column in enumerate(self.columns) if not column.is_detail]
        heads = [[visible(head)] for head in self.heads]
        width = sum(max(len(heads[i][0]), *(len(line[i]) for line in lines), 0) + 2 for i in kept) - 2
        if width > _WIDTH and all(self.columns[i].kind != "words" for i in kept):
            heads = [self.head_lines(i) for i in range(len(self.columns))]
        above = max(len(heads[i]) for i in kept)
        top = [[([""] * (above - len(head)) + head)[k] for head in heads] for k in range(above)]
        widths = {i: max(len(line[i]) for line in (*top, *lines)) for i in kept}

        def joined(cells: Sequence[str]) -> str:
            padded = [cells[i].rjust(widths[i]) if self._is_right(i) else cells[i].ljust(widths[i]) for i in kept]
            return "  ".join(padded).rstrip()

        rule = ["─" * widths.get(i, 0) for i in range(len(self.columns))]
        return "\n".join([*map(joined, top), joined(rule), *map(joined, lines)])

    def head_lines(self, column: int) -> list[str]:
        """The head of a column broken between words into lines no wider than its cells, where words allow it.

        Examples:
            >>> table(["name", Column("rms, held out", unit="N·m")], [["arm", "0.270"]], "lr").head_lines(1)
            ['rms,', 'held', 'out,', 'N·m']
        """
        words = visible(self.heads[column]).split(" ")
        width = max(len(text) for text in (*words, *(visible(line[column]) for line in self.texts)))
        lines = [words[0]]
        for word in words[1:]:
            if len(lines[-1]) + 1 + len(word) <= width:
                lines[-1] += f" {word}"
            else:
                lines.append(word)
        return lines

    def _is_right(self, i: int) -> bool:
        return self.columns[i].kind == "number"

    def _repr_html_(self) -> str:
        return html_table(self)


def table(heads: Sequence[str | Column], rows: Sequence[Sequence[str | Cell]], align: str, caption: str = "") -> Table:
    """A table whose columns are described by a letter each: "l" label, "u" unit, "w" words, "r" number.

    Where a head is a `Column`, that describes it and the letter does not count.
    """
    columns = [
        head if isinstance(head, Column) else Column(head, _KINDS[letter])
        for head, letter in zip(heads, align, strict=True)
    ]
    cells = [tuple(cell if isinstance(cell, Cell) else Cell(cell) for cell in row) for row in rows]
    assert all(len(row) == len(columns) for row in cells)
    return Table(tuple(columns), tuple(cells), caption)


def html_table(table: Table, notes: Sequence[str] = ()) -> Html:
    """The table as HTML, with a paragraph for each note below it; all text is escaped.

    It scrolls by itself where the window is narrow, and its caption names it to a screen reader.

    Examples:
        >>> html_table(table(["name", "kg"], [["<arm>", "-1.5"]], "lr")).partition("<tbody>")[2]
        '<tr><th scope="row" style="text-align:left">&lt;arm&gt;</th><td>−1.5</td></tr></tbody></table></div>'
    """
    kept = [(i, column) for i, column in enumerate(table.columns) if column.kind != "unit"]
    unit = next((i for i, column in enumerate(table.columns) if column.kind == "unit"), None)
    head = tag("thead", tag("tr", *(_head(column) for _, column in kept)))
    lines = []
    for row in table.rows:
        cells = [_cell(row[i], column.kind) for i, column in kept[1:]]
        first = row[kept[0][0]]
        label = _label(Cell(first.text, " ".join(filter(None, (row[unit].text, first.note)))) if unit else first)
        lines.append(tag("tr", label, *cells))
    body = tag("table", head, tag("tbody", *lines))
    named = {"role": "region", "aria_label": table.caption} if table.caption else {}
    scrolled = tag("div", body, class_="wide", tabindex="0", **named)
    return Html("\n".join([scrolled, *(tag("p", note) for note in notes)]))


_LEFT = {"style": "text-align:left"}
"""Notebooks have no style sheet of ours, and align to the right."""
_WORDS = {"class_": "words", **_LEFT}
"""Words may break; the page gives their column a width."""


def _head(column: Column) -> Html:
    kind = {} if column.kind == "number" else _WORDS if column.kind == "words" else _LEFT
    below = ", ".join(filter(None, (column.unit, column.note)))
    return tag("th", column.head, *_small(below), scope="col", **kind)


def _label(cell: Cell) -> Html:
    return tag("th", cell.text, *_small(cell.note), scope="row", **_LEFT)


def _cell(cell: Cell, kind: Kind) -> Html:
    if kind != "number":
        text = tag("span", cell.text, class_=cell.mark) if cell.mark else cell.text
        return tag("td", text, *_small(cell.note), **(_WORDS if kind == "words" else _LEFT))
    parts = [signs(cell.text), *_small(cell.note, cell.mark)]
    if cell.share is not None:
        part = min(max(cell.share, 0.0), 1.0) if isfinite(cell.share) else 0.0
        parts.append(tag("span", tag("i", style=f"width:{100 * part:.1f}%"), class_="meter", aria_hidden="true"))
    marked = {"class_": cell.mark} if cell.mark and not cell.note else {}
    return tag("td", *parts, **marked)


def _small(note: str, mark: str = "") -> list[str]:
    if not note:
        return []
    return [" ", tag("small", signs(note), class_=mark) if mark else tag("small", signs(note))]
