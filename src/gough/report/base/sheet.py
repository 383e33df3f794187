"""Figures as lists of strokes, areas, dots and words at places: written as SVG, and drawn as a picture.

matplotlib's artists would take ten times as long, most of it for finding out what they look like and where they are.
Lengths are in points, from the lower left corner.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from math import ceil
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from gough.core.arrays import Array, Integers
from gough.core.text import visible

FONT = "DejaVu Sans"
SIZE = 9.5
"""Of text."""
_UP = {"baseline": 0.0, "middle": -0.36, "top": -0.76, "bottom": 0.24}
"""From the place of a word to its baseline, as a part of its size."""
_ANCHORS = {"left": "start", "center": "middle", "right": "end"}
_PARTS = {"left": 0.0, "center": 0.5, "right": 1.0}
_TENTHS = 10
"""Places in an SVG are whole tenths of a point."""
_DASHES = (3.7, 1.6)
"""Long and free part of a dash, over the width of the line."""
_FEW = 40
"""A line with so many points is drawn through all of them; of others, points on straight stretches are left out."""
_HANDLE, _GAP, _LINE = 19.0, 6.0, 13.5
"""Length of the line beside a name in a legend, the space after it, and the height of a row."""

Across: TypeAlias = Literal["left", "center", "right"]
Up: TypeAlias = Literal["baseline", "middle", "top", "bottom"]
Window: TypeAlias = tuple[float, float, float, float]
"""Left, bottom, right, top: what lies beyond is not drawn."""
Name: TypeAlias = tuple[str, str, Literal["line", "dashes", "area", "dot", "square", "plus"], float]
"""An entry of a legend: the words, a color, what stands beside them, and a width, a radius or an opacity."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """A line through points; NaN leaves a gap."""

    x: Array
    y: Array
    color: str
    width: float
    opacity: float = 1.0
    dashed: bool = False
    is_round: bool = False
    window: Window | None = None


@dataclass(frozen=True, eq=False)
class Area:
    """Polygons."""

    outlines: tuple[Array, ...]
    color: str
    opacity: float = 1.0
    window: Window | None = None


@dataclass(frozen=True, eq=False)
class Dots:
    """A filled circle at each point."""

    x: Array
    y: Array
    color: str
    radius: float


@dataclass(frozen=True, eq=False)
class Words:
    """A line of text; `upright` ones read from below."""

    x: float
    y: float
    text: str
    color: str
    across: Across = "left"
    up: Up = "baseline"
    size: float = SIZE
    bold: bool = False
    upright: bool = False

    @property
    def start(self) -> tuple[float, float]:
        """A point of the baseline: `across` says which."""
        down = _UP[self.up] * self.size
        return (self.x - down, self.y) if self.upright else (self.x, self.y + down)


_Ink: TypeAlias = npt.NDArray[np.uint16]
Mark: TypeAlias = Stroke | Area | Dots | Words


class Sheet:
    """Paper of so many points; what is drawn later lies above, and words above everything.

    Examples:
        >>> sheet = Sheet(100.0, 50.0)
        >>> sheet.stroke([0.0, 50.0, 50.0], [0.0, 0.0, 25.0], "#22303c")
        >>> sheet.write(0.0, 50.0, "a < b", "#22303c", up="top")
        >>> print(sheet.svg("one").split("viewBox")[1])
        ="0 0 1000 500" font-family="DejaVu Sans, Verdana, sans-serif" font-size="95">
        <path d="M0 500l500 0l0 -250" fill="none" stroke="#22303c" stroke-width="12"/>
        <text x="0" y="72" fill="#22303c">a &lt; b</text>
        </svg>
        <BLANKLINE>
    """

    def __init__(self, width: float, height: float) -> None:
        self.width, self.height = width, height
        self.marks: list[Mark] = []

    def stroke(self, x: Any, y: Any, color: str, width: float = 1.2, **look: Any) -> None:
        """A line through points; NaN leaves a gap. For `look` see `Stroke`."""
        x, y = (np.asarray(values, dtype=np.float64).ravel() for values in (x, y))
        if np.isfinite(x + y).any():
            self.marks.append(Stroke(x, y, color, width, **look))

    def area(self, outlines: Iterable[Array], color: str, opacity: float = 1.0, window: Window | None = None) -> None:
        """Polygons, each an array (points, 2)."""
        kept = tuple(outline for outline in outlines if len(outline) > 2)
        if kept:
            self.marks.append(Area(kept, color, opacity, window))

    def dots(self, x: Any, y: Any, color: str, radius: float) -> None:
        """A filled circle at each point that is finite."""
        x, y = (np.asarray(values, dtype=np.float64).ravel() for values in (x, y))
        there = np.isfinite(x + y)
        if there.any():
            self.marks.append(Dots(x[there], y[there], color, radius))

    def plus(self, x: float, y: float, color: str, radius: float, width: float) -> None:
        """Two lines that cross at a point."""
        self.stroke([x - radius, x + radius, np.nan, x, x], [y, y, np.nan, y - radius, y + radius], color, width)

    def write(self, x: float, y: float, text: str, color: str, **look: Any) -> None:
        """Words at a place; for `look` see `Words`."""
        if text:
            self.marks.append(Words(x, y, visible(text), color, **look))

    def legend(self, names: Sequence[Name], ink: str, columns: int, top: float) -> float:
        """Names in columns around the middle of the sheet, from a height downward; the height that they take."""
        if not names:
            return 0.0
        columns = max(1, min(columns, len(names)))
        rows = -(-len(names) // columns)
        parts = [names[k : k + rows] for k in range(0, len(names), rows)]
        widths = [names_width(part) for part in parts]
        left = max(0.0, (self.width - sum(widths) - 1.3 * SIZE * (len(widths) - 1)) / 2)
        for part, width in zip(parts, widths, strict=True):
            self.names(part, ink, left, top)
            left += width + 1.3 * SIZE
        return rows * _LINE

    def names(self, names: Sequence[Name], ink: str, left: float, top: float) -> None:
        """Names one below the other, each with what it stands for."""
        for row, (words, color, kind, width) in enumerate(names):
            y = top - (row + 0.5) * _LINE
            if kind == "area":
                box = [(left, y - 3), (left, y + 3.4), (left + _HANDLE, y + 3.4), (left + _HANDLE, y - 3)]
                self.area([np.array(box)], color, width)
            elif kind == "dot":
                self.dots(left + _HANDLE / 2, y, color, width)
            elif kind == "square":
                middle = left + _HANDLE / 2
                box = [(middle + dx, y + dy) for dx, dy in ((-3, -3), (-3, 3), (3, 3), (3, -3))]
                self.area([np.array(box)], color, width)
            elif kind == "plus":
                self.plus(left + _HANDLE / 2, y, color, 4.5, width)
            else:
                self.stroke([left, left + _HANDLE], [y, y], color, width, dashed=kind == "dashes")
            self.write(left + _HANDLE + _GAP, y, words, ink, up="middle")

    def svg(self, name: str) -> str:
        """The source of a file without a background; `name` keeps its identifiers apart from those of others."""
        width, height = (_number(length) for length in (self.width, self.height))
        box = f"0 0 {_tenths(self.width)} {_tenths(self.height)}"
        opening = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}pt" height="{height}pt" viewBox="{box}" '
            f'font-family="{FONT}, Verdana, sans-serif" font-size="{_tenths(SIZE)}">'
        )
        return "\n".join((opening, *self._elements(name), "</svg>", ""))

    def _elements(self, name: str) -> Iterator[str]:
        windows = list(dict.fromkeys(m.window for m in self.marks if isinstance(m, Stroke | Area) and m.window))
        names = {window: f"{name}-w{k}" for k, window in enumerate(windows)}
        for (left, bottom, right, top), identifier in names.items():
            a, b, w, h = map(_tenths, (left, self.height - top, right - left, top - bottom))
            yield f'<clipPath id="{identifier}"><rect x="{a}" y="{b}" width="{w}" height="{h}"/></clipPath>'
        for mark in self.marks:
            if isinstance(mark, Words):
                yield self._written(mark)
            elif isinstance(mark, Dots):
                radius = _tenths(mark.radius)
                x, y = self._places(mark.x, mark.y)
                circles = (f'<circle cx="{a}" cy="{b}" r="{radius}"/>' for a, b in zip(x, y, strict=True))
                yield f'<g fill="{mark.color}">{"".join(circles)}</g>'
            else:
                within = "" if mark.window is None else f' clip-path="url(#{names[mark.window]})"'
                yield f"<path {self._look(mark)}{within}/>"

    def _look(self, mark: Stroke | Area) -> str:
        part = "" if mark.opacity == 1 else f'-opacity="{_number(mark.opacity)}"'
        if isinstance(mark, Area):
            closed = (f"{_path(*self._places(outline[:, 0], outline[:, 1]))}z" for outline in mark.outlines)
            return f'd="{"".join(closed)}" fill="{mark.color}"{part and " fill" + part}'
        width = _TENTHS * mark.width
        look = f'fill="none" stroke="{mark.color}" stroke-width="{_number(width)}"{part and " stroke" + part}'
        if mark.dashed:
            look += f' stroke-dasharray="{" ".join(_number(width * length) for length in _DASHES)}"'
        if mark.is_round:
            look += ' stroke-linecap="round"'
        if len(mark.x) > _FEW:
            look += ' stroke-linejoin="round"'
        pieces = (_path(*_straightened(*self._places(x, y))) for x, y in _pieces(mark.x, mark.y))
        return f'd="{"".join(pieces)}" {look}'

    def _written(self, words: Words) -> str:
        x, y = words.start
        (a,), (b,) = self._places(np.array([x]), np.array([y]))
        place = f'transform="translate({a} {b})rotate(-90)"' if words.upright else f'x="{a}" y="{b}"'
        look = "" if words.across == "left" else f' text-anchor="{_ANCHORS[words.across]}"'
        look += "" if words.size == SIZE else f' font-size="{_tenths(words.size)}"'
        look += ' font-weight="bold"' if words.bold else ""
        return f'<text {place} fill="{words.color}"{look}>{escape(words.text)}</text>'

    def _places(self, x: Array, y: Array) -> tuple[Integers, Integers]:
        """Whole tenths from the upper left corner."""
        return np.rint(_TENTHS * x).astype(np.int64), np.rint(_TENTHS * (self.height - y)).astype(np.int64)

    def pixels(self, dpi: int) -> Array:
        """The picture (rows, columns, 3) on white, as bytes."""
        from matplotlib.backends.backend_agg import RendererAgg  # noqa: PLC0415 - start-up time
        from matplotlib.path import Path  # noqa: PLC0415 - start-up time
        from matplotlib.transforms import Affine2D, Bbox  # noqa: PLC0415 - start-up time

        scale = dpi / 72
        columns, rows = int(self.width * scale), int(self.height * scale)
        renderer: Any = RendererAgg(columns, rows, dpi)  # type: ignore[no-untyped-call]
        canvas = np.asarray(renderer.buffer_rgba())
        canvas[:] = 255  # white and opaque: a filled rectangle takes a fifth of all painting
        to_pixels = Affine2D().scale(scale)
        pen = renderer.new_gc()

        def fill(outlines: Sequence[Array], color: str, opacity: float) -> None:
            closed = [Path(np.concatenate([each, each[:1]]), closed=True) for each in outlines]
            pen.set_linewidth(0)
            renderer.draw_path(pen, Path.make_compound_path(*closed), to_pixels, _rgba(color, opacity))

        for mark in self.marks:
            window = mark.window if isinstance(mark, Stroke | Area) else None
            pen.set_clip_rectangle(None if window is None else Bbox.from_extents(*(scale * side for side in window)))
            if isinstance(mark, Area):
                fill(mark.outlines, mark.color, mark.opacity)
            elif isinstance(mark, Dots):
                fill([_CIRCLE * mark.radius + center for center in zip(mark.x, mark.y, strict=True)], mark.color, 1.0)
            elif isinstance(mark, Stroke):
                pen.set_linewidth(mark.width)
                pen.set_foreground(_rgba(mark.color, mark.opacity), isRGBA=True)
                pen.set_capstyle("round" if mark.is_round else "butt")
                pen.set_dashes(0, [mark.width * length for length in _DASHES] if mark.dashed else None)
                renderer.draw_path(pen, Path(np.stack([mark.x, mark.y], axis=1)), to_pixels, None)
        picture: Any = np.empty((rows, columns, 3), np.uint8)
        for k in range(3):  # all at once, three bytes of four, takes four times as long
            picture[:, :, k] = canvas[:, :, k]
        for mark in self.marks:
            if isinstance(mark, Words):
                _paint(picture, mark, scale)
        return picture


_TURN = np.linspace(0, 2 * np.pi, 24, endpoint=False)
_CIRCLE: Array = np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1)


def text_width(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """Points that a line of text takes.

    Examples:
        >>> 20 < text_width("wide") < 25, text_width("wide", 19.0) == 2 * text_width("wide")
        (True, True)
    """
    return size * sum(_advance(letter, bold) for letter in text)


def names_width(names: Sequence[Name]) -> float:
    """Points that names one below the other take."""
    return max((text_width(words) for words, *_ in names), default=0.0) + _HANDLE + _GAP


@cache
def _advance(letter: str, bold: bool) -> float:  # noqa: FBT001 - a key of the cache
    """From a letter to the next, over the size of the font."""
    from matplotlib.ft2font import LoadFlags  # noqa: PLC0415 - start-up time

    font = _font(100.0, bold)
    glyph = font.load_glyph(font.get_char_index(ord(_drawable(font, letter))), LoadFlags.NO_HINTING)
    return float(glyph.linearHoriAdvance / 65536 / 100.0)


@cache
def _letter(letter: str, size: float, bold: bool) -> tuple[_Ink, int, int]:  # noqa: FBT001 - a key of the cache
    """The ink of a letter of so many pixels: parts of 255 (rows, columns), columns left of it, and rows above."""
    from matplotlib.ft2font import LoadFlags  # noqa: PLC0415 - start-up time

    font = _font(size, bold)
    font.set_text(_drawable(font, letter), 0.0, flags=LoadFlags.FORCE_AUTOHINT)
    font.draw_glyphs_to_bitmap(antialiased=True)
    ink = np.array(font.get_image(), dtype=np.uint16)
    left = font.get_bitmap_offset()[0] / 64
    return ink, round(left), len(ink) - 1 - round(font.get_descent() / 64)


def _drawable(font: Any, letter: str) -> str:
    """A letter of another script is a mark."""
    return letter if font.get_char_index(ord(letter)) else "\ufffd"


@cache
def _font(size: float, bold: bool) -> Any:  # noqa: FBT001 - a key of the cache
    """A font of so many pixels, which nobody else changes."""
    from matplotlib.font_manager import FontProperties, findfont  # noqa: PLC0415 - start-up time
    from matplotlib.ft2font import FT2Font  # noqa: PLC0415 - start-up time

    font = FT2Font(str(findfont(FontProperties(family=[FONT], weight="bold" if bold else "normal"))))
    font.set_size(size, 72)
    return font


@cache
def _rgba(color: str, opacity: float) -> tuple[float, float, float, float]:
    red, green, blue = (int(color[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue, opacity


def _paint(picture: Array, words: Words, scale: float) -> None:
    """Words on a picture (rows, columns, 3), letter by letter: matplotlib would lay out and draw each word anew."""
    size = words.size * scale
    width = scale * text_width(words.text, words.size, bold=words.bold)
    # where the baseline begins on the strip, and how far the strip goes beyond it
    rise, free = ceil(1.2 * size), ceil(0.5 * size)
    strip = np.zeros((rise + free, ceil(width) + 2 * free), np.uint16)
    at = float(free)
    for letter in words.text:
        ink, left, above = _letter(letter, size, words.bold)
        place = strip[max(rise - above, 0) :, max(round(at) + left, 0) :][: len(ink), : ink.shape[1]]
        np.maximum(place, ink[: place.shape[0], : place.shape[1]], out=place)
        at += size * _advance(letter, words.bold)
    x, y = words.start
    back = width * _PARTS[words.across]
    row, column = len(picture) - scale * y, scale * x
    if words.upright:
        strip = np.rot90(strip)
        top, left = round(row + back) - (len(strip) - free), round(column) - rise
    else:
        top, left = round(row) - rise, round(column - back) - free
    strip = strip[max(-top, 0) :, max(-left, 0) :]
    under = picture[max(top, 0) :, max(left, 0) :][: len(strip), : strip.shape[1]]
    part = strip[: under.shape[0], : under.shape[1], None]
    color = np.array([int(words.color[k : k + 2], 16) for k in (1, 3, 5)], np.uint16)
    under[:] = ((255 - part) * under + part * color + 127) // 255


def _pieces(x: Array, y: Array) -> Iterator[tuple[Array, Array]]:
    """The parts of a line between its gaps."""
    there = np.concatenate([[False], np.isfinite(x) & np.isfinite(y), [False]])
    edges = np.flatnonzero(there[1:] != there[:-1]).tolist()
    for first, last in zip(edges[::2], edges[1::2], strict=True):
        yield x[first:last], y[first:last]


def _straightened(x: Integers, y: Integers) -> tuple[Integers, Integers]:
    """Without points on straight stretches, to a tenth of a point each of three times."""
    for _ in range(3):
        if len(x) <= _FEW:
            break
        points = np.stack([x, y], axis=1).astype(np.float64)
        before, here, after = points[:-2], points[1:-1], points[2:]
        along = after - before
        length = np.maximum((along**2).sum(axis=1), 1e-9)
        part = np.clip(((here - before) * along).sum(axis=1) / length, 0.0, 1.0)
        off = abs(before + part[:, None] * along - here).max(axis=1)
        left_out = np.concatenate([[False], off <= 1.0, [False]])
        left_out[::2] = False  # no two neighbors at once
        x, y = x[~left_out], y[~left_out]
    return x, y


def _path(x: Integers, y: Integers) -> str:
    r"""A line in whole steps.

    Examples:
        >>> _path(np.array([5, 5, 5, 7]), np.array([1, 1, 3, 0]))
        'M5 1l0 2l2 -3'
    """
    dx, dy = np.diff(x), np.diff(y)
    moves = (dx != 0) | (dy != 0)
    if not moves.any():
        return f"M{x[0]} {y[0]}l0 0"
    steps = zip(dx[moves].tolist(), dy[moves].tolist(), strict=True)
    return f"M{x[0]} {y[0]}" + "".join([f"l{a} {b}" for a, b in steps])


def _tenths(length: float) -> int:
    return round(_TENTHS * length)


def _number(value: float) -> str:
    return f"{value:.4g}"
