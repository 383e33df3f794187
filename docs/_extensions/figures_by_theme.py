"""Figures in light and dark: of every SVG figure a variant for the dark theme is drawn, and each theme shows its own.

A raster picture has a dark variant if a file `name-dark.png` stands beside `name.png`.
"""

import colorsys
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

DRAWN = "_drawn"
"""The folder of dark variants, below the sources of the site."""
GREY = 0.35
"""Saturation up to which a color counts as ink, grid or background, whose lightness is inverted."""


def dark(svg: str) -> str:
    """The figure in colors for a dark background."""
    return re.sub(r"#[0-9a-fA-F]{6}\b", lambda found: _dark_color(found[0]), svg)


def _dark_color(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    lightness = 0.93 - 0.86 * lightness if saturation <= GREY or lightness in (0.0, 1.0) else max(lightness, 0.55)
    return "#" + "".join(f"{round(255 * part):02x}" for part in colorsys.hls_to_rgb(hue, lightness, saturation))


class FiguresByTheme(SphinxTransform):
    """Show each figure by the theme: the light one, or its dark variant."""

    default_priority = 5  # before Sphinx collects the images

    def apply(self, **_: Any) -> None:
        page = Path(self.env.doc2path(self.env.docname))
        source = Path(self.env.srcdir)
        for image in list(self.document.findall(nodes.image)):
            path = (page.parent / image["uri"]).resolve()
            if "://" in image["uri"] or not path.is_relative_to(source) or not path.exists():
                continue
            beside = path.with_name(f"{path.stem}-dark{path.suffix}")
            if path.suffix == ".svg":
                beside = source / DRAWN / path.relative_to(source)
                beside.parent.mkdir(parents=True, exist_ok=True)
                beside.write_text(dark(path.read_text(encoding="utf-8")), encoding="utf-8")
            if beside.exists():
                image["classes"].append("only-light")
                other = image.copy()
                other["uri"] = "/" + beside.relative_to(source).as_posix()
                other["classes"] = [*(c for c in image["classes"] if c != "only-light"), "only-dark"]
                image.parent.insert(image.parent.index(image) + 1, other)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the transform."""
    app.add_transform(FiguresByTheme)
    return {"version": "1", "parallel_read_safe": True}
