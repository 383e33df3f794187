"""HTML whose text cannot break out: everything is escaped that is not HTML already."""

from html import escape

from gough.core.text import visible


class Html(str):
    """Text that is HTML already. Only `tag` and code that vouches for every character makes one."""

    __slots__ = ()


def text(value: str) -> Html:
    """`value` escaped, or as it is where it is Html already; control characters become visible.

    Examples:
        >>> text("a < b & c")
        'a &lt; b &amp; c'
    """
    return value if isinstance(value, Html) else Html(_escaped(value))


def tag(name: str, *children: str, **attributes: str) -> Html:
    """An element with its children; attribute names take `_` for `-`, and one at the end where Python needs it.

    Examples:
        >>> tag("p", "1 < 2 ", tag("b", "true"), class_="note")
        '<p class="note">1 &lt; 2 <b>true</b></p>'
    """
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{_escaped(value)}"' for key, value in attributes.items())
    return Html(f"<{name}{written}>{''.join(text(child) for child in children)}</{name}>")


def _escaped(value: str) -> str:
    return escape(visible(value, lines=True), quote=True)
