"""Texts of exported programs: the files in `sources` with marks for names, values and parts that may be absent."""

import re
from collections.abc import Mapping
from importlib.resources import files

_IF, _END = re.compile(r"^\s*/\*@if (\w+)\*/\s*$"), re.compile(r"^\s*/\*@end\*/\s*$")


def source(name: str) -> str:
    """The text of one of the sources."""
    return files("gough.export").joinpath("sources", name).read_text(encoding="utf-8")


def filled(text: str, values: Mapping[str, str], present: Mapping[str, bool], prefix: str = "gx") -> str:
    r"""A text with its marks replaced.

    A part between the lines `/*@if part*/` and `/*@end*/` stays if that part is present; `@mark@` becomes its value;
    the prefixes gx_ and GX_ of names become those of a robot.

    Examples:
        >>> filled("gx_a = @n@;\n/*@if b*/\nGX_B\n/*@end*/\n", {"n": "3"}, {"b": False}, prefix="h4")
        'h4_a = 3;\n'
    """
    lines, open_parts = [], [True]
    for line in text.splitlines():
        if found := _IF.match(line):
            open_parts.append(open_parts[-1] and present[found[1]])
        elif _END.match(line):
            open_parts.pop()
        elif open_parts[-1]:
            lines.append(line)
    kept = "\n".join(lines) + "\n"
    kept = re.sub(r"@(\w+)@", lambda found: values[found[1]], kept)
    return re.sub(r"\bGX_", f"{prefix.upper()}_", re.sub(r"\bgx_", f"{prefix}_", kept))
