"""A page that needs nothing but itself: no network, any screen, light or dark, readable without its script."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gough
from gough.report.base.curves import Curves
from gough.report.base.html import Html, tag, text
from gough.report.base.script import data_block, policy, script, style_sheet


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it; plain text is escaped, `Html` is taken as it is.

    Examples:
        >>> Section("Results", ("1 < 2",)).heading
        'Results'
    """

    heading: str
    blocks: tuple[str, ...]


def page(
    title: str,
    lead: tuple[str, ...],
    sections: tuple[Section, ...],
    *,
    cards: str = "",
    figures: Mapping[str, Any] | None = None,
    curves: Curves | None = None,
) -> str:
    """A complete HTML document; `figures` says what its script draws, by the identifiers of figures, from `curves`.

    Examples:
        >>> "<h1>Robot &lt;1&gt;</h1>" in page("Robot <1>", (), ())
        True
    """
    header = tag("header", tag("h1", title), *(tag("p", sentence, class_="lead") for sentence in lead))
    body = [tag("section", tag("h2", s.heading, id=f"part-{i}"), *s.blocks) for i, s in enumerate(sections, start=1)]
    footer = tag("footer", tag("p", f"Written by gough {gough.__version__}. This page works without a network."))
    head = [
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        policy(),
        tag("title", title),
        tag("style", style_sheet()),
    ]
    main = tag("main", _contents(sections), text(cards), *body, id="content")
    scripts = _scripts(figures, curves) if figures else Html()
    skip = tag("a", "Skip to the content", href="#content", class_="skip")
    document = tag("html", tag("head", *head), tag("body", skip, header, main, footer, scripts), lang="en")
    return f"<!doctype html>\n{document}\n"


def _contents(sections: tuple[Section, ...]) -> Html:
    if len(sections) < 3:
        return Html()
    links = [tag("li", tag("a", s.heading, href=f"#part-{i}")) for i, s in enumerate(sections, start=1)]
    return tag("nav", tag("ul", *links), aria_label="Contents")


def _scripts(figures: Mapping[str, Any], curves: Curves | None) -> Html:
    return Html(data_block("figures", figures) + data_block("curves", (curves or Curves()).packed()) + script())


def paragraphs(*sentences: str) -> Html:
    """Each as a paragraph; empty ones are left out."""
    return Html("".join(tag("p", sentence) for sentence in sentences if sentence))


def bullets(*items: str) -> Html:
    """A list; empty items are left out."""
    kept = [tag("li", item) for item in items if item]
    return tag("ul", *kept) if kept else Html()


def number_cards(*cards: tuple[str, str]) -> Html:
    """The few numbers to see first, each with the words that belong to it."""
    return tag("ul", *(tag("li", tag("b", value), tag("span", words)) for value, words in cards), class_="cards")
