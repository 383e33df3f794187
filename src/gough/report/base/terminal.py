"""Tables, headings and paragraphs on a terminal of any width."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from gough.core.tables import Cell, Column, Table
from gough.core.text import signs, visible

_PROSE = 88
_STYLES = {"": "", "good": "", "bad": "bold red"}


def heading(console: Console, text: str) -> None:
    """Print a line that begins a part."""
    console.print()
    console.print(text, style="bold blue")


def prose(console: Console, sentences: Sequence[str], style: str = "") -> None:
    """Print sentences as a paragraph that is not too wide to read."""
    if sentences:
        console.print(Text(" ".join(sentences), style), width=min(console.width, _PROSE))


def labelled(console: Console, parts: Sequence[tuple[str, str]]) -> None:
    """Print texts one below the other, each beside its label; a label that repeats is not printed again."""
    grid = RichTable.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="bold")
    grid.add_column(overflow="fold")
    before = ""
    for label, text in parts:
        grid.add_row("" if label == before else label, Text(text))
        before = label
    console.print(grid, width=min(console.width, _PROSE))


def print_table(console: Console, table: Table) -> None:
    """Print a table, in several parts where the terminal is too narrow for all columns of numbers."""
    for k, part in enumerate(terminal_tables(table, console.width)):
        if k:
            console.print()
        console.print(part)


def terminal_tables(table: Table, width: int) -> Iterator[RichTable]:
    """The table in parts that fit the width; each has the labels. Words wrap, numbers do not.

    Heads are broken into lines before a table is parted.
    """
    kept = [i for i, column in enumerate(table.columns) if not column.is_detail]
    whole = _drawn(table, kept)
    if _width(whole) <= width:
        yield whole
        return
    numbers = [i for i in kept if table.columns[i].kind == "number"]
    first = [i for i in kept if table.columns[i].kind in {"label", "unit"}]
    if len(first) + len(numbers) < len(kept) or not numbers:
        yield _drawn(table, kept, is_narrow=True)
        return
    sizes = _part_sizes(table, first, numbers, width)
    even = -(-len(numbers) // len(sizes))
    if even <= min(sizes[:-1], default=even):
        sizes = [even] * (len(numbers) // even) + ([len(numbers) % even] if len(numbers) % even else [])
    for size in sizes:
        yield _drawn(table, [*first, *numbers[:size]], is_narrow=True)
        numbers = numbers[size:]


def _part_sizes(table: Table, first: Sequence[int], numbers: Sequence[int], width: int) -> list[int]:
    """How many columns of numbers fit beside the labels, part by part."""
    sizes = list[int]()
    while left := numbers[sum(sizes) :]:
        size = len(left)
        while size > 1 and _width(_drawn(table, [*first, *left[:size]], is_narrow=True)) > width:
            size -= 1
        sizes.append(size)
    return sizes


def _drawn(table: Table, columns: Sequence[int], *, is_narrow: bool = False) -> RichTable:
    """Some columns of a table; where it is narrow, heads are broken into lines, and labels beside words may wrap."""
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    has_words = any(table.columns[i].kind == "words" for i in columns)
    for i in columns:
        column = table.columns[i]
        head = "\n".join(table.head_lines(i)) if is_narrow else visible(table.heads[i])
        wraps = column.kind == "words" or (is_narrow and has_words and column.kind == "label")
        drawn.add_column(
            Text(head),
            justify="right" if column.kind == "number" else "left",
            no_wrap=not wraps,
            overflow="fold",
            vertical="top",
        )
    for row in table.rows:
        drawn.add_row(*(_text(row[i], table.columns[i]) for i in columns))
    return drawn


def _text(cell: Cell, column: Column) -> Text:
    if column.kind == "number":
        return Text(visible(signs(cell.text)), _STYLES[cell.mark])
    usual = {"label": "bold", "unit": "dim"}.get(column.kind, "")
    return Text(visible(cell.text), _STYLES[cell.mark] or usual)


def _width(drawn: RichTable) -> int:
    console = Console(width=10_000)
    return Measurement.get(console, console.options, drawn).maximum
