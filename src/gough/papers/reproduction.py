"""A paper's tables and figures beside ours."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gough.core import outward
from gough.core.text import table
from gough.report import Drawing


@dataclass(frozen=True)
class SideBySide:
    """A table of a paper with columns of ours. `str()` of it is aligned text."""

    caption: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def __str__(self) -> str:
        return f"{self.caption}\n{table(self.heads, self.rows, 'l' + 'r' * (len(self.heads) - 1))}"


@dataclass(frozen=True)
class Reproduction:
    """What a paper printed, what the virtual experiment gives, and how they differ.

    A sentence that names a cause is built from values in `numbers`, computed in the same run.
    """

    paper: str
    """Its key in docs/references.bib."""
    title: str
    about: tuple[str, ...]
    """How the experiment was rebuilt."""
    tables: tuple[SideBySide, ...]
    inconsistencies: tuple[str, ...]
    """What the paper's own numbers contradict, found from these numbers alone."""
    differences: tuple[str, ...]
    """How ours differ, and why where that was computed."""
    drawings: tuple[Drawing, ...] = ()
    """The paper's figures, from our data."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What the tables round and what the sentences rest on, as plain values."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; figures are told by their captions."""
        texts = {name: getattr(self, name) for name in ("paper", "title", "about", "inconsistencies", "differences")}
        figures = {drawing.name: drawing.caption for drawing in self.drawings}
        return texts | {"tables": [asdict(each) for each in self.tables], "figures": figures, "numbers": self.numbers}


def columns(names: Sequence[str], parts: Mapping[str, Mapping[str, str]]) -> tuple[tuple[str, ...], ...]:
    """Rows of a table from its columns by head, a dash where a column says nothing of a name.

    Examples:
        >>> columns(["a", "b"], {"ours": {"a": "1"}})
        (('a', '1'), ('b', '—'))
    """
    return tuple((name, *(column.get(name, "—") for column in parts.values())) for name in names)


def set_text(lower: float, upper: float) -> str:
    """An interval of ours that is guaranteed, rounded outward.

    Examples:
        >>> set_text(0.00091, 0.02384)
        '[0.0009, 0.0239]'
    """
    return f"[{', '.join(outward.sides(lower, upper))}]"


def with_percent(value: float, percent: float) -> str:
    """A value of ours and its relative standard deviation.

    Examples:
        >>> with_percent(1.0492, 0.4236)
        '1.0492 (0.42 %)'
    """
    return f"{value:.4f} ({percent:.2g} %)"
