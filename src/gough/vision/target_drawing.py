"""Targets on paper at their true size: PDF, SVG and PNG, with rulers, numbers of the dots, and the target's id."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.png import png_file
from gough.vision.board_pattern import black_rectangles
from gough.vision.opencv import opencv
from gough.vision.targets import AnyTarget, CircleGrid, DotTarget, target_id

MARGIN = 0.008
"""At each edge of the paper, m: what printers leave white."""
PAPERS = {
    "A4": (0.210, 0.297),
    "Letter": (0.2159, 0.2794),
    "A3": (0.297, 0.420),
    "Tabloid": (0.2794, 0.4318),
    "A2": (0.420, 0.594),
}
"""Upright; the first one that is large enough is the page, upright or across."""
_FOOT = 0.020
"""Below the target, m: room for a ruler and two lines of text."""
_RIM = 0.4
"""Black ground beyond the outermost dots, in radii: as little as may be left where the paper's margins begin."""
_TICK = 0.01
_LINE = 0.0003
_BEZIER = 0.5522847498307936
"""4(√2 − 1)/3: a quarter of a circle as a cubic curve, within 0.03 % of its radius."""
_DIGIT, _STROKE, _BESIDE = 0.4, 0.05, 1.75
"""Height of the dots' numbers, width of their lines, and distance from the dot's center, in radii."""
_FAINT = 0.35
"""Contrast of the numbers beside that of the dots: people read them, and the detector finds no stray light in them."""
_SEGMENTS = {
    "a": ((0, 2), (1, 2)), "b": ((1, 2), (1, 1)), "c": ((1, 1), (1, 0)), "d": ((0, 0), (1, 0)),
    "e": ((0, 1), (0, 0)), "f": ((0, 2), (0, 1)), "g": ((0, 1), (1, 1)),
}  # fmt: skip
_DIGITS = ("abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg")
_TEXT = 0.0028
"""Size of letters, m."""

Line = tuple[float, float, float, float]


@dataclass(frozen=True)
class _Page:
    """What is drawn, in m from the lower left corner."""

    width: float
    height: float
    ground: Line | None
    """x, y, width, height of the black ground of white dots; None on white paper."""
    lines: tuple[Line, ...]
    texts: tuple[tuple[float, float, str], ...]
    dots: Array = field(default_factory=lambda: np.empty((0, 2)))
    radius: float = 0.0
    rectangles: Array = field(default_factory=lambda: np.empty((0, 4)))
    """Black rectangles: left, bottom, right, top."""
    numbers: tuple[Line, ...] = ()
    """Strokes of the dots' numbers."""


def page_of(target: AnyTarget, paper: str | None = None) -> tuple[str, tuple[float, float], float]:
    """Name and size (m) of the paper that a target is printed on, and what its black ground loses at the sides, m.

    Raises:
        InputError: no paper has this name, or the target does not fit it.

    Examples:
        >>> from gough.vision import design_target
        >>> page_of(design_target(0.19, 0.19))[0], page_of(design_target(0.2032, 0.2032))[0]
        ('A4', 'Letter')
    """
    known = {name.lower(): name for name in PAPERS}
    if paper is not None and paper.lower() not in known:
        raise InputError(f"no paper is called '{paper}'{nearest(paper, PAPERS)} (known: {', '.join(PAPERS)})")
    width, height = _least(target)
    for name in PAPERS if paper is None else (known[paper.lower()],):
        upright = PAPERS[name]
        for w, h in (upright, upright[::-1]):
            if w - 2 * MARGIN > width - 1e-9 and h - 2 * MARGIN - _FOOT > height - 1e-9:
                lost = max(0.0, (target.size[0] - (w - 2 * MARGIN)) / 2) if _has_ground(target) else 0.0
                return name, (w, h), lost
    if paper is not None:
        w, h = (1000 * v for v in PAPERS[known[paper.lower()]])
        raise InputError(
            f"it does not fit {known[paper.lower()]} ({w:g} × {h:g} mm): with margins of {1000 * MARGIN:g} mm and a "
            f"ruler it needs {1000 * (width + 2 * MARGIN):.0f} × {1000 * (height + 2 * MARGIN + _FOOT):.0f} mm"
        )
    return "a page of its own", (width + 2 * MARGIN, height + 2 * MARGIN + _FOOT), 0.0


def _has_ground(target: AnyTarget) -> bool:
    return isinstance(target, DotTarget | CircleGrid) and target.bright


def _least(target: AnyTarget) -> tuple[float, float]:
    """Width and height that must be printed."""
    if not isinstance(target, DotTarget | CircleGrid):
        return target.size
    reach = target.radius * (1 + _RIM) if target.bright else target.radius
    w, h = (2 * (np.abs(target.points[:, :2]).max(axis=0) + reach)).tolist()
    return float(w), float(h)


def _page(target: AnyTarget, paper: str | None) -> _Page:
    name, (w, h), _ = page_of(target, paper)
    width, height = target.size
    width, height = min(width, w - 2 * MARGIN), min(height, h - 2 * MARGIN - _FOOT)
    x, y = (w - width) / 2, h - MARGIN - height
    across = int((w - 2 * MARGIN if width < 5 * _TICK else width) / _TICK + 1e-9) * _TICK
    require(across > 0, "a target smaller than a centimeter has no room for a ruler")
    base = y - 0.004
    lines = _ruler(x, base, across, upright=False)
    up, text = 0.0, ""
    if x + width + 0.006 < w - MARGIN:
        up = int(height / _TICK + 1e-9) * _TICK
        lines += _ruler(x + width + 0.002, y, up, upright=True)
    elif base - 0.016 - MARGIN > 3 * _TICK:
        up = int((base - 0.016 - MARGIN) / _TICK + 1e-9) * _TICK
        lines += _ruler(w - MARGIN - 0.004, base - 0.006 - up, up, upright=True)
    text = f"Print at 100 %. This ruler must be {1000 * across:.0f} mm long" + (
        f", the upright one {1000 * up:.0f} mm." if up else "."
    )
    count = f"{len(target.points)} dots" if target.radius else f"{target.name}, {len(target.points)} corners"
    about = (
        f"gough target {target_id(target)}: {count}, {1000 * target.size[0]:g} x {1000 * target.size[1]:g} mm, {name}"
    )
    texts = ((x, base - 0.008, text), (x, base - 0.012, about))
    middle = np.array([x + width / 2, y + height / 2])
    if not isinstance(target, DotTarget | CircleGrid):
        rectangles = black_rectangles(target) + np.tile(middle, 2)
        return _Page(w, h, None, tuple(lines), texts, rectangles=rectangles)
    dots = target.points[:, :2] + middle
    ground = (x, y, width, height) if target.bright else None
    numbers = _numbers(dots, target.radius) if isinstance(target, DotTarget) else ()
    return _Page(w, h, ground, tuple(lines), texts, dots, target.radius, numbers=numbers)


def _ruler(x: float, y: float, length: float, *, upright: bool) -> list[Line]:
    """A ruler with a tick at each centimeter: below its line, or to the right of it."""
    ticks = [k * _TICK for k in range(round(length / _TICK) + 1)]
    if upright:
        return [(x, y, x, y + length), *((x, y + t, x + 0.002, y + t) for t in ticks)]
    return [(x, y, x + length, y), *((x + t, y, x + t, y - 0.003) for t in ticks)]


def _numbers(dots: Array, radius: float) -> tuple[Line, ...]:
    """Strokes of the dots' numbers, each on the side of its dot that is farthest from the other dots."""
    angles = np.arange(8) * np.pi / 4
    sides = _BESIDE * radius * np.column_stack([np.cos(angles), np.sin(angles)])
    low, high = dots.min(axis=0) - radius, dots.max(axis=0) + radius
    strokes: list[Line] = []
    for k, dot in enumerate(dots):
        others = np.delete(dots, k, axis=0)
        places = dot + sides
        room = np.linalg.norm(places[:, None] - others[None], axis=2).min(axis=1)
        inside = ((places > low) & (places < high)).all(axis=1)
        strokes += _written(str(k), places[int(np.where(inside, room, room - 10 * radius).argmax())], _DIGIT * radius)
    return tuple(strokes)


def _written(text: str, middle: Array, height: float) -> list[Line]:
    """Digits of seven segments about a place."""
    unit, pitch = height / 2, 0.85 * height
    left, bottom = middle[0] - (len(text) * pitch - 0.35 * height) / 2, middle[1] - unit
    strokes = []
    for place, digit in enumerate(text):
        for segment in _DIGITS[int(digit)]:
            (a, b), (c, d) = _SEGMENTS[segment]
            x = left + place * pitch
            strokes.append((x + a * unit, bottom + b * unit, x + c * unit, bottom + d * unit))
    return strokes


def _faint(page: _Page) -> float:
    """Gray level of the numbers, 0 … 1."""
    return _FAINT if page.ground is not None else 1 - _FAINT


def to_pdf(target: AnyTarget, paper: str | None = None) -> bytes:
    """The target as one page at its true size, drawn with curves; on the first paper that is large enough by default.

    Examples:
        >>> from gough.vision import design_target
        >>> to_pdf(design_target(0.19, 0.19), "Letter")[:8]
        b'%PDF-1.4'
    """
    page, unit = _page(target, paper), 72 / 0.0254
    parts = []
    if page.ground is not None:
        parts += ["0 g", " ".join(f"{v * unit:.4f}" for v in page.ground) + " re f", "1 g"]
    else:
        parts.append("0 g")
    parts += [_circle(x * unit, y * unit, page.radius * unit) for x, y in page.dots.tolist()]
    for a, b, c, d in (page.rectangles * unit).tolist():
        parts.append(f"{a:.4f} {b:.4f} {c - a:.4f} {d - b:.4f} re f")
    parts.append(f"{_faint(page):.2f} G {_STROKE * page.radius * unit:.4f} w")
    parts += _strokes(page.numbers, unit)
    parts.append(f"0 g 0 G {_LINE * unit:.4f} w")
    parts += _strokes(page.lines, unit)
    for x, y, text in page.texts:
        parts.append(f"BT /F1 {_TEXT * unit:.2f} Tf {x * unit:.4f} {y * unit:.4f} Td ({text}) Tj ET")
    stream = "\n".join(parts).encode()
    box = f"0 0 {page.width * unit:.4f} {page.height * unit:.4f}"
    return _pdf_file(
        [
            b"<< /Type /Catalog /Pages 2 0 R /ViewerPreferences << /PrintScaling /None >> >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"<< /Type /Page /Parent 2 0 R /MediaBox [{box}] /Contents 4 0 R "
            "/Resources << /Font << /F1 5 0 R >> >> >>".encode(),
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        ]
    )


def _strokes(lines: Sequence[Line], unit: float) -> list[str]:
    return [f"{a * unit:.4f} {b * unit:.4f} m {c * unit:.4f} {d * unit:.4f} l S" for a, b, c, d in lines]


def _circle(x: float, y: float, r: float) -> str:
    k, points = _BEZIER * r, [f"{x + r:.4f} {y:.4f} m"]
    for c, s in ((1, 0), (0, 1), (-1, 0), (0, -1)):
        e, n = -s, c  # the next quarter ends in this direction
        points.append(
            f"{x + c * r + e * k:.4f} {y + s * r + n * k:.4f} {x + e * r + c * k:.4f} {y + n * r + s * k:.4f} "
            f"{x + e * r:.4f} {y + n * r:.4f} c"
        )
    return " ".join([*points, "f"])


def _pdf_file(objects: list[bytes]) -> bytes:
    """A PDF file of numbered objects, the first of them the catalog."""
    out, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n" % size + table + trailer


def to_svg(target: AnyTarget, paper: str | None = None) -> bytes:
    """The target as SVG in millimeters.

    Examples:
        >>> from gough.vision import design_target
        >>> to_svg(design_target(0.2, 0.2)).count(b"<circle")
        45
    """
    page = _page(target, paper)
    w, h, r = page.width * 1000, page.height * 1000, page.radius * 1000
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.4f}mm" height="{h:.4f}mm" viewBox="0 0 {w:.4f} {h:.4f}">'
    ]
    if page.ground is not None:
        x, y, width, height = (v * 1000 for v in page.ground)
        parts.append(f'<rect x="{x:.4f}" y="{h - y - height:.4f}" width="{width:.4f}" height="{height:.4f}"/>')
    for a, b, c, d in (page.rectangles * 1000).tolist():
        parts.append(f'<rect x="{a:.4f}" y="{h - d:.4f}" width="{c - a:.4f}" height="{d - b:.4f}"/>')
    parts.append(f'<g fill="{"#000" if page.ground is None else "#fff"}">')
    parts += [f'<circle cx="{u:.4f}" cy="{h - v:.4f}" r="{r:.4f}"/>' for u, v in (page.dots * 1000).tolist()]
    gray = round(255 * _faint(page))
    for color, wide, lines in ((gray, _STROKE * r, page.numbers), (0, _LINE * 1000, page.lines)):
        parts.append(f'</g><g stroke="rgb({color},{color},{color})" stroke-width="{wide:.4f}">')
        for line in lines:
            a, b, c, d = (v * 1000 for v in line)
            parts.append(f'<line x1="{a:.4f}" y1="{h - b:.4f}" x2="{c:.4f}" y2="{h - d:.4f}"/>')
    parts.append(f'</g><g font-family="sans-serif" font-size="{1000 * _TEXT}">')
    parts += [f'<text x="{u * 1000:.4f}" y="{h - v * 1000:.4f}">{text}</text>' for u, v, text in page.texts]
    return "\n".join([*parts, "</g></svg>", ""]).encode()


def to_png(target: AnyTarget, dpi: int = 600, paper: str | None = None) -> bytes:
    """The target as a gray picture with its resolution in the file; dots have smooth edges.

    Examples:
        >>> from gough.vision import design_target
        >>> to_png(design_target(0.1, 0.1), dpi=100)[1:4]
        b'PNG'
    """
    require(30 <= dpi <= 4800, f"{dpi} dots per inch: a printer has 300, 600 or 1200")
    page, pixel = _page(target, paper), 0.0254 / dpi
    rows, columns = round(page.height / pixel), round(page.width / pixel)
    image = np.full((rows, columns), 255, np.uint8)

    def place(x: float, y: float) -> tuple[int, int]:
        return round(rows - y / pixel), round(x / pixel)

    if page.ground is not None:
        x, y, width, height = page.ground
        (top, left), (bottom, right) = place(x, y + height), place(x + width, y)
        image[top:bottom, left:right] = 0
    for a, b, c, d in page.rectangles.tolist():
        (top, left), (bottom, right) = place(a, d), place(c, b)
        image[top:bottom, left:right] = 0
    _draw_strokes(image, page.numbers, pixel, max(1, round(_STROKE * page.radius / pixel)), round(255 * _faint(page)))
    r = page.radius / pixel
    for u, v in page.dots.tolist():
        row, column = place(u, v)
        reach = int(r) + 2
        i, j = np.ogrid[row - reach : row + reach + 1, column - reach : column + reach + 1]
        distance = np.hypot(i + 0.5 - (rows - v / pixel), j + 0.5 - u / pixel)
        covered = np.clip(r - distance + 0.5, 0, 1)
        part = image[row - reach : row + reach + 1, column - reach : column + reach + 1]
        part[:] = np.round(part + covered * ((0 if page.ground is None else 255) - part.astype(float)))
    _draw_strokes(image, page.lines, pixel, max(1, round(_LINE / pixel)), 0)
    cv = opencv()
    for x, y, text in page.texts:
        row, column = place(x, y)
        cv.putText(image, text, (column, row), cv.FONT_HERSHEY_SIMPLEX, _TEXT / pixel / 30, 0, 1, cv.LINE_AA)
    return png_file(image, pixel)


def _draw_strokes(image: np.ndarray, lines: Sequence[Line], pixel: float, thick: int, level: int) -> None:
    """Draw upright and level strokes."""
    rows = len(image)
    for a, b, c, d in lines:
        top, bottom = round(rows - max(b, d) / pixel - thick / 2), round(rows - min(b, d) / pixel + thick / 2)
        left, right = round(min(a, c) / pixel - thick / 2), round(max(a, c) / pixel + thick / 2)
        image[max(top, 0) : max(bottom, top + 1), max(left, 0) : max(right, left + 1)] = level
