"""Targets on paper at their true size: PDF, SVG and PNG, each with rulers to check the printed size."""

import struct
import zlib
from dataclasses import dataclass

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import require
from gough.vision.targets import CircleGrid, DotTarget

_SIDE, _FOOT = 0.005, 0.015
"""Around the target, and below it, m: room for rulers, and what printers leave white."""
_PAPER = ((0.210, 0.297), (0.297, 0.210), (0.297, 0.420), (0.420, 0.297), (0.420, 0.594), (0.594, 0.420))
"""A4, A3 and A2, upright and across: the first one that is large enough is the page."""
_TICK = 0.01
_LINE = 0.0003
_BEZIER = 0.5522847498307936
"""4(√2 − 1)/3: a quarter of a circle as a cubic curve, within 0.03 % of its radius."""


@dataclass(frozen=True)
class _Page:
    """What is drawn, in m from the lower left corner."""

    width: float
    height: float
    sheet: tuple[float, float, float, float]
    """x, y, width, height of the target's ground."""
    ground: bool
    """Whether the ground is black."""
    dots: Array
    radius: float
    lines: tuple[tuple[float, float, float, float], ...]
    texts: tuple[tuple[float, float, str], ...]


def _page(target: DotTarget | CircleGrid) -> _Page:
    width, height = target.size
    needed = width + 2 * _SIDE, height + _SIDE + _FOOT
    paper = next((p for p in _PAPER if p[0] > needed[0] - 1e-9 and p[1] > needed[1] - 1e-9), needed)
    x, y = (paper[0] - width) / 2, (paper[1] - height - _FOOT + _SIDE) / 2 + _FOOT - _SIDE
    across, up = (int(side / _TICK + 1e-9) * _TICK for side in (width, height))
    require(min(across, up) > 0, "a target smaller than a centimeter has no room for a ruler")
    base, side = y - 0.002, x + width + 0.001
    lines = [(x, base, x + across, base), (side, y, side, y + up)]
    lines += [(x + k * _TICK, base, x + k * _TICK, base - 0.003) for k in range(round(across / _TICK) + 1)]
    lines += [(side, y + k * _TICK, side + 0.002, y + k * _TICK) for k in range(round(up / _TICK) + 1)]
    text = f"Print at 100 %. This ruler must be {across * 1000:.0f} mm long, the one at the right {up * 1000:.0f} mm."
    dots = target.points[:, :2] + [x + width / 2, y + height / 2]
    return _Page(
        width=paper[0],
        height=paper[1],
        sheet=(x, y, width, height),
        ground=target.bright,
        dots=dots,
        radius=target.radius,
        lines=tuple(lines),
        texts=((x, base - 0.008, text),),
    )


def to_pdf(target: DotTarget | CircleGrid) -> bytes:
    """The target as one page at its true size, drawn with curves.

    Examples:
        >>> from gough.vision import design_target
        >>> to_pdf(design_target(0.2, 0.2))[:8]
        b'%PDF-1.4'
    """
    page, unit = _page(target), 72 / 0.0254
    ink, paper = ("1 g", "0 g") if page.ground else ("0 g", "1 g")
    parts = [paper, " ".join(f"{v * unit:.4f}" for v in page.sheet) + " re f", ink]
    parts += [_circle(x * unit, y * unit, page.radius * unit) for x, y in page.dots.tolist()]
    parts.append(f"0 g 0 G {_LINE * unit:.4f} w")
    parts += [f"{a * unit:.4f} {b * unit:.4f} m {c * unit:.4f} {d * unit:.4f} l S" for a, b, c, d in page.lines]
    for x, y, text in page.texts:
        parts.append(f"BT /F1 8 Tf {x * unit:.4f} {y * unit:.4f} Td ({text}) Tj ET")
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


def to_svg(target: DotTarget | CircleGrid) -> bytes:
    """The target as SVG in millimeters.

    Examples:
        >>> from gough.vision import design_target
        >>> to_svg(design_target(0.2, 0.2)).count(b"<circle")
        45
    """
    page = _page(target)
    ink, paper = ("#fff", "#000") if page.ground else ("#000", "#fff")
    w, h, r = page.width * 1000, page.height * 1000, page.radius * 1000
    x, y, width, height = (v * 1000 for v in page.sheet)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.4f}mm" height="{h:.4f}mm" viewBox="0 0 {w:.4f} {h:.4f}">',
        f'<rect x="{x:.4f}" y="{h - y - height:.4f}" width="{width:.4f}" height="{height:.4f}" fill="{paper}"/>',
        f'<g fill="{ink}">',
        *(f'<circle cx="{u:.4f}" cy="{h - v:.4f}" r="{r:.4f}"/>' for u, v in (page.dots * 1000).tolist()),
        f'</g><g stroke="#000" stroke-width="{_LINE * 1000}">',
    ]
    for line in page.lines:
        a, b, c, d = (v * 1000 for v in line)
        parts.append(f'<line x1="{a:.4f}" y1="{h - b:.4f}" x2="{c:.4f}" y2="{h - d:.4f}"/>')
    parts.append('</g><g font-family="sans-serif" font-size="2.8">')
    parts += [f'<text x="{u * 1000:.4f}" y="{h - v * 1000:.4f}">{text}</text>' for u, v, text in page.texts]
    return "\n".join([*parts, "</g></svg>", ""]).encode()


def to_png(target: DotTarget | CircleGrid, dpi: int = 600) -> bytes:
    """The target as a gray picture with its resolution in the file; dots have smooth edges.

    Examples:
        >>> from gough.vision import design_target
        >>> to_png(design_target(0.1, 0.1), dpi=100)[1:4]
        b'PNG'
    """
    require(30 <= dpi <= 4800, f"{dpi} dots per inch: a printer has 300, 600 or 1200")
    page, pixel = _page(target), 0.0254 / dpi
    rows, columns = round(page.height / pixel), round(page.width / pixel)
    image = np.full((rows, columns), 255, np.uint8)

    def place(x: float, y: float) -> tuple[int, int]:
        return round(rows - y / pixel), round(x / pixel)

    x, y, width, height = page.sheet
    (top, left), (bottom, right) = place(x, y + height), place(x + width, y)
    image[top:bottom, left:right] = 0 if page.ground else 255
    r = page.radius / pixel
    for u, v in page.dots.tolist():
        row, column = place(u, v)
        reach = int(r) + 2
        i, j = np.ogrid[row - reach : row + reach + 1, column - reach : column + reach + 1]
        distance = np.hypot(i + 0.5 - (rows - v / pixel), j + 0.5 - u / pixel)
        covered = np.clip(r - distance + 0.5, 0, 1)
        level = covered if page.ground else 1 - covered
        image[row - reach : row + reach + 1, column - reach : column + reach + 1] = np.round(255 * level)
    thick = max(1, round(_LINE / pixel))
    for a, b, c, d in page.lines:
        (i0, j0), (i1, j1) = place(a, max(b, d)), place(max(a, c), min(b, d))
        j0 = place(min(a, c), b)[1]
        image[i0 : i1 + thick, j0 : j1 + thick] = 0
    return png_file(image, pixel)


def png_file(image: np.ndarray, pixel: float | None = None) -> bytes:
    r"""A gray (h, w) or color (h, w, 3) picture of bytes as a PNG file; `pixel` is the size of one in m.

    Examples:
        >>> png_file(np.zeros((2, 3), np.uint8))[:4]
        b'\x89PNG'
    """
    rows, columns = image.shape[:2]
    color = 2 if image.ndim == 3 else 0

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    lines = np.hstack([np.zeros((rows, 1), np.uint8), image.reshape(rows, -1)])  # filter 0 before each line
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, color, 0, 0, 0))
    per_meter = b"" if pixel is None else chunk(b"pHYs", struct.pack(">IIB", round(1 / pixel), round(1 / pixel), 1))
    body = chunk(b"IDAT", zlib.compress(lines.tobytes(), 6))
    return b"\x89PNG\r\n\x1a\n" + head + per_meter + body + chunk(b"IEND", b"")
