"""SVG files made fit to stand inside a page: small, and without names that could meet others."""

import re

_ABSOLUTE = re.compile(r"([ML])\s*(-?[\d.]+)\s+(-?[\d.]+)\s*")


def inlined(source: str, prefix: str) -> str:
    """The `<svg>` of a file by matplotlib, with identifiers of its own, the page's font, and a third of the bytes."""
    source = source[source.index("<svg") :]
    source = re.sub(r"font: (?:bold )?([\d.]+px)[^;\"]*", r"font-size: \1", source)
    source = re.sub(r" ?font-family: [^;\"]*;?| ?stroke-linecap: square;?| transform=\"rotate\(-0 [^\"]*\"", "", source)
    source = re.sub(r"<g id=\"[^\"]*\">", "<g>", source)
    source = re.sub(r"<(use|text)[^>]*>", lambda element: _tenths(element[0]), source)
    source = re.sub(r'\bid="', f'id="{prefix}-', source)
    source = source.replace('href="#', f'href="#{prefix}-').replace("url(#", f"url(#{prefix}-")
    source = re.sub(r' d="([^"]*)"', lambda path: f' d="{relative(path[1])}"', source)
    return re.sub(r">\s+<", "><", source)


def _tenths(element: str) -> str:
    return re.sub(r' ([xy])="(-?[\d.]+)"', lambda found: f' {found[1]}="{float(found[2]):.1f}"', element)


def relative(path: str) -> str:
    r"""A path of straight lines in steps of a tenth; other paths as they are, in one line.

    Examples:
        >>> relative("M 10.04 20 \nL 11.5 18.25 \nL 11.5 18.75 \nz")
        'M10 20l1.5 -1.8l0 0.6z'
    """
    if re.search(r"[^MLz\d.\s-]", path):
        return re.sub(r"\s+", " ", path).strip()
    x, y = 0, 0

    def step(found: re.Match[str]) -> str:
        nonlocal x, y
        there = round(10 * float(found[2])), round(10 * float(found[3]))
        first = found[1] == "M"
        move = there if first else (there[0] - x, there[1] - y)
        x, y = there
        return f"{'M' if first else 'l'}{move[0] / 10:g} {move[1] / 10:g}"

    return _ABSOLUTE.sub(step, path).replace("z ", "z").strip()
