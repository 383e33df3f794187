"""Figures as files: the same input gives the same bytes, and the page's copy follows the reader's color scheme."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from warnings import catch_warnings, filterwarnings

import numpy as np

from gough.core.arrays import Array
from gough.core.html import Html, tag, text
from gough.core.png import png_file
from gough.core.text import visible
from gough.report.base.curves import Curves
from gough.report.base.sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Color: TypeAlias = int | str
"""The number of a series, or one of the page's own colors: `ink`, `quiet`, `faint`."""
WIDTH = 6.0
"""Width of a figure in inches: enough for a screen, narrow enough for a phone."""
INK, QUIET, FAINT = "#22303c", "#5b6770", "#c9d1d9"
SERIES = ("#0072b2", "#c76a00", "#00845f", "#b04a86", "#5b5fc7", "#7a6a00", "#a83a2c", "#5f6b73")
"""Colors that stay apart for readers who see few of them, darker than Okabe and Ito's so that thin lines show."""

_VARIABLES = {
    INK: "--ink",
    QUIET: "--quiet",
    FAINT: "--faint",
    **{color: f"--series-{i + 1}" for i, color in enumerate(SERIES)},
}
_ABSOLUTE = re.compile(r"([ML])\s*(-?[\d.]+)\s+(-?[\d.]+)\s*")
_STYLE: dict[Any, Any] = {
    "font.size": 9.5,
    "font.family": "DejaVu Sans",
    "axes.titlesize": 9.5,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.5,
    "xtick.color": INK,
    "ytick.color": INK,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.2,
    "path.simplify_threshold": 0.4,
    "text.parse_math": False,
    "svg.fonttype": "none",
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure with the words that go with it.

    Examples:
        >>> drawing = Drawing("empty", Sheet(144.0, 72.0), "An empty figure.", "Nothing < something.")
        >>> drawing.png()[1:4], "Nothing &lt; something." in drawing.html()
        (b'PNG', True)
    """

    name: str
    """File name without ending; also keeps its identifiers apart from other drawings' on one page."""
    figure: "Sheet | Figure"
    """A sheet, or a figure of matplotlib where axes are worth their time."""
    description: str
    """Description of the figure for screen readers."""
    caption: str
    live: Callable[[Curves], dict[str, Any]] | None = None
    """Data from which the page's script draws it; its curves are added to those of the page. None: a still figure."""

    @cached_property
    def _source(self) -> str:
        """The SVG without a background."""
        if isinstance(self.figure, Sheet):
            return self.figure.svg(self.name)
        return visible(_saved(self.figure, self.name), lines=True)  # XML knows no control characters

    def svg(self) -> bytes:
        """A file of its own, on white."""
        white = '<rect width="100%" height="100%" fill="#ffffff"/>'
        return re.sub(r"<svg [^>]*>", lambda opening: f"{opening[0]}\n {white}", self._source, count=1).encode()

    def png(self, dpi: int = 150) -> bytes:
        """A file of its own, on white."""
        if isinstance(self.figure, Sheet):
            picture = self.figure.pixels(dpi)
        else:
            assert self._source  # lays the figure out
            picture = _painted(self.figure, self.name, dpi)
        return png_file(picture, 0.0254 / dpi, level=2)  # more compression takes longer than it is worth

    def html(self) -> Html:
        """The figure for a page: colors become the page's, identifiers its own, and nothing refers to elsewhere."""
        source = self._source if isinstance(self.figure, Sheet) else _inlined(self._source, self.name)
        source = re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*?( font-size="[^"]*")?>', r"<svg \1\2>", source, count=1)
        source = re.sub(r">\s+<", "><", source)
        source = source.replace("<svg ", f'<svg role="img" aria-label="{text(self.description)}" ', 1)
        for color, variable in _VARIABLES.items():
            source = source.replace(color, f"var({variable})")
        return tag("figure", tag("div", Html(source), class_="plot"), tag("figcaption", self.caption), id=self.name)


def _saved(figure: "Figure", name: str) -> str:
    """The SVG of a figure of matplotlib, which lays it out."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415 - start-up time

    # matplotlib puts dates and its address into metadata unless told not to
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    target = BytesIO()
    with _quiet_style(name):
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(target, metadata=metadata)  # savefig would draw it twice
        figure.set_layout_engine("none")  # it is laid out now, and need not be again
    return target.getvalue().decode()


def _painted(figure: "Figure", name: str, dpi: int) -> Array:
    """The picture of a figure of matplotlib that is laid out."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 - start-up time

    drawn_at = figure.dpi
    with _quiet_style(name):
        figure.set_dpi(dpi)
        figure.set_facecolor("white")
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()  # savefig would draw it twice
        figure.set_facecolor("none")
        figure.set_dpi(drawn_at)
    return np.asarray(canvas.buffer_rgba())[:, :, :3]


@contextmanager
def _quiet_style(salt: str) -> Iterator[None]:
    with style(salt), catch_warnings():
        filterwarnings("ignore", "Glyph .* missing", UserWarning)  # a name in another script shows as boxes
        yield


@contextmanager
def style(salt: str = "gough") -> Iterator[None]:
    """The look of all figures, while drawing and while saving."""
    import matplotlib as mpl  # noqa: PLC0415 - start-up time

    with mpl.rc_context({**_STYLE, "svg.hashsalt": salt}):
        yield


def blank(
    width: float, height: float, *, layout: Literal["constrained", "compressed"] | None = "constrained"
) -> "Figure":
    """An empty figure of so many inches that belongs to nobody: no window, no global list.

    Axes of a fixed aspect need the layout "compressed", else their labels overlap or leave the figure.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415 - start-up time

    return Figure(figsize=(width, height), dpi=72, layout=layout)  # dots are points, as in SVG


def color_of(color: Color) -> str:
    """The same color as on the page.

    Examples:
        >>> color_of("ink")
        '#22303c'
    """
    if isinstance(color, int):
        return SERIES[color % len(SERIES)]
    return {"ink": INK, "quiet": QUIET, "faint": FAINT}[color]


def _inlined(source: str, prefix: str) -> str:
    """The `<svg>` of a file by matplotlib, with identifiers of its own, the page's font, and a third of the bytes."""
    source = source[source.index("<svg") :]
    source = re.sub(r"font: (?:bold )?([\d.]+px)[^;\"]*", r"font-size: \1", source)
    source = re.sub(r" ?font-family: [^;\"]*;?| ?stroke-linecap: square;?| transform=\"rotate\(-0 [^\"]*\"", "", source)
    source = re.sub(r"<g id=\"[^\"]*\">", "<g>", source)
    source = re.sub(r"<(use|text)[^>]*>", lambda element: _tenths(element[0]), source)
    source = re.sub(r'\bid="', f'id="{prefix}-', source)
    source = source.replace('href="#', f'href="#{prefix}-').replace("url(#", f"url(#{prefix}-")
    return re.sub(r' d="([^"]*)"', lambda path: f' d="{relative(path[1])}"', source)


def _tenths(element: str) -> str:
    return re.sub(r' ([xy])="(-?[\d.]+)"', lambda match: f' {match[1]}="{float(match[2]):.1f}"', element)


def relative(path: str) -> str:
    r"""A path of straight lines in steps of a tenth; other paths as they are, in one line.

    Examples:
        >>> relative("M 10.04 20 \nL 11.5 18.25 \nL 11.5 18.75 \nz")
        'M10 20l1.5 -1.8l0 0.6z'
    """
    if re.search(r"[^MLz\d.\s-]", path):
        return re.sub(r"\s+", " ", path).strip()
    x, y = 0, 0

    def step(match: re.Match[str]) -> str:
        nonlocal x, y
        there = round(10 * float(match[2])), round(10 * float(match[3]))
        first = match[1] == "M"
        move = there if first else (there[0] - x, there[1] - y)
        x, y = there
        return f"{'M' if first else 'l'}{move[0] / 10:g} {move[1] / 10:g}"

    return _ABSOLUTE.sub(step, path).replace("z ", "z").strip()
