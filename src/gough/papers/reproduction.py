"""A paper's tables and figures beside ours: as a page, as text, as JSON, and as a page of the documentation."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

from gough.core import outward
from gough.core.tables import Table, table
from gough.core.text import signed
from gough.report import Drawing, Page, Section
from gough.report.base.page import bullets

PAGE = "reproduction.html"
CONTRADICTIONS, DIFFERENCES = "What the paper's own numbers contradict", "What differs, and why"


@dataclass(frozen=True)
class Reproduction:
    """The numbers that a paper prints, those of the virtual experiment, and how they differ.

    A sentence that names a cause is built from values in `numbers`, computed in the same run.
    """

    paper: str
    """Its key in docs/references.bib."""
    title: str
    about: tuple[str, ...]
    """How the experiment was rebuilt."""
    tables: tuple[Table, ...]
    inconsistencies: tuple[str, ...]
    """Contradictions in the paper's own numbers, found from these numbers alone."""
    differences: tuple[str, ...]
    """How ours differ, and why where that was computed."""
    drawings: tuple[Drawing, ...] = ()
    """The paper's figures, from our data."""
    numbers: Mapping[str, Any] = field(default_factory=dict)
    """Unrounded values of the tables and sentences, as plain data."""

    @property
    def remarks(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Headings with their remarks; those without remarks are left out."""
        for heading, remarks in ((CONTRADICTIONS, self.inconsistencies), (DIFFERENCES, self.differences)):
            if remarks:
                yield heading, remarks

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; of figures their captions."""
        texts = {name: getattr(self, name) for name in ("paper", "title", "about", "inconsistencies", "differences")}
        figures = {drawing.name: drawing.caption for drawing in self.drawings}
        return texts | {"tables": [each.to_dict() for each in self.tables], "figures": figures, "numbers": self.numbers}

    def __str__(self) -> str:
        blocks = [f"{self.title} [{self.paper}]\n{chr(10).join(self.about)}"]
        blocks += [f"{each.caption}\n{each}" for each in self.tables]
        blocks += ["\n".join([heading, *(f"• {remark}" for remark in remarks)]) for heading, remarks in self.remarks]
        return "\n\n".join(blocks)

    def documents(self) -> dict[str, bytes]:
        """The files by name: reproduction.html, reproduction.txt, reproduction.json, figures/*."""
        sections = [Section(each.caption, (each,)) for each in self.tables]
        sections.append(Section("Figures", self.drawings))
        sections += [Section(heading, (bullets(*remarks),)) for heading, remarks in self.remarks]
        page = Page(f"{self.title} [{self.paper}]", self.about, sections=tuple(sections))
        data = json.dumps(self.to_dict(), ensure_ascii=False, indent=1)
        texts = {"reproduction.txt": f"{self}\n", "reproduction.json": f"{data}\n"}
        return page.files(PAGE) | {name: text.encode() for name, text in texts.items()}


def side_by_side(caption: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of a paper with columns of ours."""
    return table(heads, rows, "l" + "r" * (len(heads) - 1), caption)


def as_markdown(stored: Mapping[str, Any]) -> str:
    """A page of the documentation: the contents of reproduction.json with the `command` that made it.

    Figures that `shown` names are in the folder figures beside the page.
    """
    blocks = [f"# {stored['title']} [{stored['paper']}]"]
    blocks += [_filled(text) for text in (f"Everything below is printed by `{stored['command']}`.", *stored["about"])]
    for each in stored["tables"]:
        rule = ["---", *["---:"] * (len(each["heads"]) - 1)]
        lines = [each["heads"], rule, *([signed(cell) for cell in row] for row in each["rows"])]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        blocks += [f"## {each['caption']}", text]
    for heading, remarks in ((CONTRADICTIONS, stored["inconsistencies"]), (DIFFERENCES, stored["differences"])):
        blocks += [f"## {heading}", "\n".join(_filled(f"- {remark}", indent="  ") for remark in remarks)]
    shown = stored.get("shown", ())
    if shown:
        blocks.append("## Figures")
    for name in shown:
        folder = stored["command"].split()[2]
        blocks += [f"![{name}](figures/{folder}-{name}.svg)", _filled(stored["figures"][name])]
    return "\n\n".join(blocks) + "\n"


def _filled(text: str, indent: str = "") -> str:
    return fill(text, 120, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


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
