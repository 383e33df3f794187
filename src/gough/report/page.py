"""A page that needs nothing but itself: no network, no script, any screen, light or dark."""

from dataclasses import dataclass

import gough
from gough.report.html import Html, tag, text

_CSS = Html("""
:root{color-scheme:light dark;--paper:#fff;--ink:#22303c;--quiet:#5b6770;--faint:#c9d1d9;--shade:#f3f5f7;
--accent:#0072b2;--bad:#b3261e;--series-1:#0072b2;--series-2:#c76a00;--series-3:#00845f;--series-4:#b04a86;--series-5:#5b5fc7;
--series-6:#7a6a00}
@media(prefers-color-scheme:dark){:root{--paper:#14181c;--ink:#e4e9ed;--quiet:#a3aeb8;--faint:#48535d;--shade:#1d2328;
--accent:#6cb8ea;--bad:#ff8a80;--series-1:#5cb3ec;--series-2:#f0a04b;--series-3:#3fcb9e;--series-4:#e58cc0;
--series-5:#a3a6ff;--series-6:#d6c24a}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,
"Noto Sans",sans-serif}
header,main,footer{max-width:62rem;margin:0 auto;padding:0 1rem}
header{padding-top:2.2rem}
h1{font-size:1.9rem;line-height:1.2;margin:0 0 .6rem;letter-spacing:-.01em}
h2{font-size:1.3rem;line-height:1.25;margin:2.6rem 0 .6rem}
p,ul,dl{max-width:44rem}
p{margin:.6rem 0}
.lead{font-size:1.06rem}
ul{padding-left:1.2rem;margin:.6rem 0}
li{margin:.25rem 0}
a{color:var(--accent)}
code{font:.92em/1.4 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.7rem;margin:1.3rem 0;padding:0;
list-style:none;max-width:none}
.cards li{margin:0;padding:.8rem .95rem;background:var(--shade);border-radius:.55rem}
.cards b{display:block;font-size:1.5rem;line-height:1.25;font-weight:650;font-variant-numeric:tabular-nums}
.cards span{color:var(--quiet);font-size:.9rem;line-height:1.35;display:block}
figure{margin:1.3rem 0}
figure svg{display:block;width:100%;max-width:44rem;height:auto}
figcaption{max-width:44rem;color:var(--quiet);font-size:.92rem;margin-top:.4rem}
.wide{overflow-x:auto;margin:1rem 0;border:1px solid var(--faint);border-radius:.55rem}
table{border-collapse:collapse;font-size:.9rem;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.38rem .6rem;text-align:right;white-space:nowrap;vertical-align:top}
thead th{font-weight:600;border-bottom:1px solid var(--faint);white-space:normal;vertical-align:bottom}
tbody tr:nth-child(even)>*{background:var(--shade)}
th:first-child{text-align:left;position:sticky;left:0;background:var(--paper);font-weight:600}
td small,th small{display:block;color:var(--quiet);line-height:1.2;font-weight:400}
td small.far{color:var(--bad);font-weight:650}
dl{display:grid;gap:.25rem;max-width:none}
dl div{display:grid;grid-template-columns:5rem 1fr;gap:.6rem}
dt{font-weight:600}
dd{margin:0;overflow-wrap:anywhere}
footer{color:var(--quiet);font-size:.9rem;padding-top:2.5rem;padding-bottom:3rem}
@media(max-width:40rem){h1{font-size:1.55rem}figure svg{width:calc(100% + 1.2rem);margin:0 -.6rem}
th,td{padding:.34rem .5rem}}
@media print{.wide{overflow:visible;border:0}figure,tr{break-inside:avoid}table{font-size:.7rem}}
""")


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it; plain text is escaped, `Html` is taken as it is."""

    heading: str
    blocks: tuple[str, ...]


def page(title: str, lead: tuple[str, ...], sections: tuple[Section, ...], *, cards: str = "") -> str:
    """A complete HTML document.

    Examples:
        >>> "<h1>Robot &lt;1&gt;</h1>" in page("Robot <1>", (), ())
        True
    """
    header = tag("header", tag("h1", title), *(tag("p", sentence, class_="lead") for sentence in lead))
    body = [tag("section", tag("h2", s.heading), *s.blocks) for s in sections]
    footer = tag("footer", tag("p", f"Written by gough {gough.__version__}. This page works without a network."))
    head = [
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        tag("title", title),
        tag("style", _CSS),
    ]
    document = tag("html", tag("head", *head), tag("body", header, tag("main", text(cards), *body), footer), lang="en")
    return f"<!doctype html>\n{document}\n"


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
