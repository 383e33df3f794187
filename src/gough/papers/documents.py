"""A reproduction as files: a page with its tables and figures, the same as text, its numbers as JSON."""

import json
from collections.abc import Iterator, Mapping
from textwrap import fill
from typing import Any

from gough.papers.reproduction import Reproduction, SideBySide
from gough.report import Section, page
from gough.report.base.curves import Curves
from gough.report.base.html import tag
from gough.report.base.numbers import signed
from gough.report.base.page import bullets
from gough.report.base.tables import cell, row_head, table

PAGE = "reproduction.html"
CONTRADICTIONS, DIFFERENCES = "What the paper's own numbers contradict", "What differs, and why"


def documents(found: Reproduction) -> dict[str, bytes]:
    """The files by name: reproduction.html, reproduction.txt, reproduction.json, figures/*."""
    curves = Curves()
    figures = {drawing.name: drawing.live(curves) for drawing in found.drawings if drawing.live is not None}
    parts = [Section(each.caption, (_table(each),)) for each in found.tables]
    if found.drawings:
        parts.append(Section("Figures", tuple(drawing.html() for drawing in found.drawings)))
    parts += [Section(head, (bullets(*remarks),)) for head, remarks in remarks_of(found)]
    html = page(f"{found.title} [{found.paper}]", found.about, tuple(parts), figures=figures, curves=curves)
    data = json.dumps(found.to_dict(), ensure_ascii=False, indent=1)
    files = {PAGE: html.encode(), "reproduction.txt": f"{as_text(found)}\n".encode()}
    files["reproduction.json"] = f"{data}\n".encode()
    for drawing in found.drawings:
        files |= {f"figures/{drawing.name}.svg": drawing.svg(), f"figures/{drawing.name}.png": drawing.png()}
    return files


def remarks_of(found: Reproduction) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is to be said, by its head; heads without remarks are left out."""
    for head, remarks in ((CONTRADICTIONS, found.inconsistencies), (DIFFERENCES, found.differences)):
        if remarks:
            yield head, remarks


def as_text(found: Reproduction) -> str:
    """The whole of it without figures, as aligned text."""
    blocks = [f"{found.title} [{found.paper}]\n{chr(10).join(found.about)}", *(str(each) for each in found.tables)]
    blocks += ["\n".join([head, *(f"• {remark}" for remark in remarks)]) for head, remarks in remarks_of(found)]
    return "\n\n".join(blocks)


def as_markdown(stored: Mapping[str, Any]) -> str:
    """A page of the documentation: the contents of reproduction.json with the `command` that made it."""
    blocks = [f"# {stored['title']} [{stored['paper']}]"]
    blocks += [_filled(text) for text in (f"Everything below is printed by `{stored['command']}`.", *stored["about"])]
    for each in stored["tables"]:
        rule = ["---", *["---:"] * (len(each["heads"]) - 1)]
        lines = [each["heads"], rule, *([signed(cell) for cell in row] for row in each["rows"])]
        text = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        blocks += [f"## {each['caption']}", text]
    for head, remarks in ((CONTRADICTIONS, stored["inconsistencies"]), (DIFFERENCES, stored["differences"])):
        blocks += [f"## {head}", "\n".join(_filled(f"- {remark}", indent="  ") for remark in remarks)]
    return "\n\n".join(blocks) + "\n"


def _filled(text: str, indent: str = "") -> str:
    return fill(text, 120, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)


def _table(shown: SideBySide) -> str:
    rows = [[row_head(row[0]), *(cell(signed(text)) for text in row[1:])] for row in shown.rows]
    heads = [tag("th", head, scope="col") for head in shown.heads]  # whole, and broken where the column is narrow
    return table(heads, rows, shown.caption)
