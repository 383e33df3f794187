"""Pages: a title, numbers to see first, verdicts with what to do next, and sections of text, tables and figures.

A page needs nothing but itself: no network, any screen, light or dark, readable without its script. A report says what
stands on its page; this module writes it, and the files of its figures.
"""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from typing import Any, Literal, TypeAlias

import gough
from gough.core.html import Html, tag
from gough.core.tables import Table, html_table
from gough.core.text import visible
from gough.report.base.curves import Curves
from gough.report.base.drawing import Drawing

Block: TypeAlias = str | Table | Drawing | None
"""Content of a section: `Html` as it is, other text as a paragraph, a table, a figure; None and "" are left out."""
ZOOM = (
    "Drag across a figure to zoom; double-click for the whole view. Click a figure to zoom it with the wheel; press "
    "Shift and drag, or use two fingers, to move it. Keys: arrows, + and −, 0."
)
TURN = "Drag to turn the robot. Press play, or point at an instant in the other figures."

_PARTS = ("numbers", "curves", "scene", "lines", "intervals", "matrix", "plane", "robot", "start")
_UNSAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


@dataclass(frozen=True)
class Verdict:
    """A verdict in sentences, and what the reader does next."""

    text: str
    kind: Literal["good", "bad", "plain"] = "plain"
    next: str = ""

    def html(self) -> Html:
        """An item of the list of verdicts."""
        step = [tag("p", tag("b", "Next: "), self.next, class_="next")] if self.next else []
        return tag("li", self.text, *step, class_=self.kind)


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: tuple[Block, ...]

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """Its figures."""
        return tuple(block for block in self.blocks if isinstance(block, Drawing))

    def html(self, number: int) -> Html:
        """The section as HTML."""
        return tag("section", tag("h2", self.heading, id=f"part-{number}"), *map(_block, self.blocks))


@dataclass(frozen=True)
class Page:
    """Content of a page; sections without content are left out.

    Examples:
        >>> "<h1>Robot &lt;1&gt;</h1>" in Page("Robot <1>").html()
        True
    """

    title: str
    lead: tuple[str, ...] = ()
    """Paragraphs below the title."""
    cards: tuple[tuple[str, str], ...] = ()
    """The few numbers to see first, each with a description."""
    verdicts: tuple[Verdict, ...] = ()
    sections: tuple[Section, ...] = ()

    @property
    def drawings(self) -> tuple[Drawing, ...]:
        """Figures of all sections."""
        return tuple(drawing for section in self.sections for drawing in section.drawings)

    def files(self, name: str = "report.html") -> dict[str, bytes]:
        """The page, and figures/* as SVG and PNG."""
        files = {name: self.html().encode()}
        for drawing in self.drawings:
            files |= {f"figures/{drawing.name}.svg": drawing.svg(), f"figures/{drawing.name}.png": drawing.png()}
        return files

    def html(self) -> str:
        """A complete HTML document."""
        first = [Section("Verdicts", (verdict_list(self.verdicts),))] if self.verdicts else []
        sections = [*first, *(section for section in self.sections if any(section.blocks))]
        header = tag("header", tag("h1", self.title), *(tag("p", paragraph, class_="lead") for paragraph in self.lead))
        body = [section.html(i) for i, section in enumerate(sections, start=1)]
        footer = tag("footer", tag("p", f"Written by gough {gough.__version__}. This page works without a network."))
        head = [
            Html('<meta charset="utf-8">'),
            Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
            policy(),
            tag("title", self.title),
            tag("style", style_sheet()),
        ]
        main = tag("main", _contents(sections), _cards(self.cards), *body, id="content")
        skip = tag("a", "Skip to the content", href="#content", class_="skip")
        parts = (skip, header, main, footer, self._script())
        return f"<!doctype html>\n{tag('html', tag('head', *head), tag('body', *parts), lang='en')}\n"

    def _script(self) -> Html:
        """The script that draws figures, with their data; empty where no figure has any."""
        curves = Curves()
        figures = {drawing.name: drawing.live(curves) for drawing in self.drawings if drawing.live is not None}
        if not figures:
            return Html()
        return Html(data_block("figures", figures) + data_block("curves", curves.packed()) + script())


def _block(block: Block) -> Html:
    if not block:
        return Html()
    if isinstance(block, Table):
        return html_table(block)
    if isinstance(block, Drawing):
        return block.html()
    return block if isinstance(block, Html) else tag("p", block)


def _contents(sections: Sequence[Section]) -> Html:
    if len(sections) < 3:
        return Html()
    links = [tag("li", tag("a", s.heading, href=f"#part-{i}")) for i, s in enumerate(sections, start=1)]
    return tag("nav", tag("ul", *links), aria_label="Contents")


def _cards(cards: Sequence[tuple[str, str]]) -> Html:
    if not cards:
        return Html()
    return tag("ul", *(tag("li", tag("b", value), tag("span", text)) for value, text in cards), class_="cards")


def verdict_list(verdicts: Sequence[Verdict]) -> Html:
    """Verdicts with what to do next."""
    return tag("ul", *(verdict.html() for verdict in verdicts), class_="verdicts")


def bullets(*items: str) -> Html:
    """A list; empty items are left out."""
    kept = [tag("li", item) for item in items if item]
    return tag("ul", *kept) if kept else Html()


def definitions(meanings: Mapping[str, str]) -> Html:
    """What labels stand for, as a list; empty where there are none."""
    if not meanings:
        return Html()
    return tag("dl", *(tag("div", tag("dt", label), tag("dd", text)) for label, text in meanings.items()))


def details(summary: str, content: Table | Html) -> Html:
    """A table or a list behind a line to click on."""
    return tag("details", tag("summary", summary), content if isinstance(content, Html) else html_table(content))


def hint(text: str) -> Html:
    """How to use a figure; hidden where there is no script."""
    return tag("p", text, class_="hint")


@cache
def style_sheet() -> Html:
    """The style of all pages."""
    return Html(_asset("report.css"))


@cache
def _source() -> str:
    parts = "\n".join(_asset(f"{part}.js") for part in _PARTS)
    return f'"use strict";\n(() => {{\n{parts}}})();\n'


def script() -> Html:
    """The script that brings figures to life."""
    return Html(f"<script>{_source()}</script>")


@cache
def policy() -> Html:
    """Permissions of the page in a browser: run this script, and request nothing.

    Even a name that slipped through all escaping could not run.
    """
    digest = b64encode(sha256(_source().encode()).digest()).decode()
    rules = (
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        f"script-src 'sha256-{digest}'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return Html(f'<meta http-equiv="Content-Security-Policy" content="{"; ".join(rules)}">')


def data_block(name: str, data: Any) -> Html:
    r"""Data for the script, as JSON in an element that browsers do not run.

    No text in it can end the element; numbers that JSON does not know become text, or null where there is none.

    Examples:
        >>> data_block("figures", {"title": "</script>", "upper": float("inf")})
        '<script type="application/json" id="figures">{"title":"\\u003c/script\\u003e","upper":"Infinity"}</script>'
    """
    text = json.dumps(_plain(data), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Html(f'<script type="application/json" id="{name}">{text.translate(_UNSAFE)}</script>')


def _plain(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    if isinstance(data, str):
        return visible(data, lines=True)
    if isinstance(data, float) and not isfinite(data):
        return None if data != data else "Infinity" if data > 0 else "-Infinity"  # noqa: PLR0124 - NaN
    return float(data) if isinstance(data, float) else data


def _asset(name: str) -> str:
    return (files("gough.report") / "assets" / name).read_text(encoding="utf-8")
