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


def print_table(console: Console, table: Table) -> None:
    """Print a table, in several parts where the terminal is too narrow for all columns of numbers."""
    for part in terminal_tables(table, console.width):
        console.print(part)


def terminal_tables(table: Table, width: int) -> Iterator[RichTable]:
    """The table in parts that fit the width; each has the labels. Words wrap, numbers do not."""
    kept = [i for i, column in enumerate(table.columns) if not column.is_detail]
    numbers = [i for i in kept if table.columns[i].kind == "number"]
    first = [i for i in kept if table.columns[i].kind in {"label", "unit"}]
    if len(first) + len(numbers) < len(kept) or not numbers:
        yield _drawn(table, kept)
        return
    while numbers:
        at_once = len(numbers)
        while at_once > 1 and _width(_drawn(table, [*first, *numbers[:at_once]])) > width:
            at_once -= 1
        yield _drawn(table, [*first, *numbers[:at_once]])
        numbers = numbers[at_once:]


def _drawn(table: Table, columns: Sequence[int]) -> RichTable:
    drawn = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    for i in columns:
        column = table.columns[i]
        side = "right" if column.kind == "number" else "left"
        drawn.add_column(Text(visible(table.heads[i])), justify=side, no_wrap=column.kind != "words")  # type: ignore[arg-type]
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
