"""The page's own style sheet and script, and how data get to the script without getting out of their place."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isfinite
from typing import Any

from gough.core.text import visible
from gough.report.base.html import Html

_PARTS = ("numbers", "curves", "scene", "lines", "intervals", "matrix", "plane", "robot", "start")
_UNSAFE = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


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
    """What a browser may do with the page: run this very script, and ask nobody for anything.

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
