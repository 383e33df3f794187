"""A paper's tables and figures beside ours."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from gough.core import outward
from gough.core.text import number, table
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
    """What a paper printed, what the virtual experiment gives, what differs and why."""

    paper: str
    """Its key in docs/references.bib."""
    title: str
    about: tuple[str, ...]
    """How the experiment was rebuilt."""
    tables: tuple[SideBySide, ...]
    inconsistencies: tuple[str, ...]
    """What the paper's own numbers contradict, found from these numbers alone."""
    differences: tuple[str, ...]
    """Why ours differ."""
    drawings: tuple[Drawing, ...] = ()
    """The paper's figures, from our data."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """What the tables round, as plain values."""

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


def box_text(box: tuple[float, float] | None) -> str:
    """An interval with four decimals, as the papers print them.

    Examples:
        >>> box_text((0.0009, 0.0238))
        '[0.0009, 0.0238]'
    """
    return "" if box is None else f"[{box[0]:.4f}, {box[1]:.4f}]"


def set_text(lower: float, upper: float) -> str:
    """An interval of ours that is guaranteed, rounded outward.

    Examples:
        >>> set_text(0.00091, 0.02384)
        '[0.0009, 0.0239]'
    """
    return f"[{', '.join(outward.sides(lower, upper))}]"


def with_percent(value: float, percent: float | None) -> str:
    """A value and its relative standard deviation.

    Examples:
        >>> with_percent(1.0492, 0.4236)
        '1.0492 (0.42 %)'
    """
    return f"{number(value, digits=4)}" if percent is None else f"{value:.4f} ({percent:.2g} %)"
