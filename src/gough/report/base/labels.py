"""Names short enough for a table or an axis, with the long ones spelled out once."""

import re
from collections.abc import Sequence

LONGEST = 20
_FIRST_TERM = re.compile(r"^−?(?:[\d.e+-]+·)?(?P<name>.+?) [+−] ")


def short_labels(names: Sequence[str]) -> tuple[str, ...]:
    """The names, combinations cut to their first term and marked `*`; numbered where that would not tell them apart.

    Names that are too long for an axis are cut as well.

    Examples:
        >>> short_labels(["I_1 + 0.25·m_3", "fv_1"])
        ('I_1*', 'fv_1')
    """
    labels: list[str] = []
    for name in names:
        match = _FIRST_TERM.match(name)
        label = f"{shortened(match['name'])}*" if match else shortened(name)
        repeats = sum(other == label or other.startswith(f"{label}(") for other in labels)
        labels.append(f"{label}({repeats + 1})" if repeats else label)
    return tuple(labels)


def spelled_out(names: Sequence[str]) -> dict[str, str]:
    """What each marked label stands for.

    Examples:
        >>> spelled_out(["I_1 + 0.25·m_3", "fv_1"])
        {'I_1*': 'I_1 + 0.25·m_3'}
    """
    return {label: name for label, name in zip(short_labels(names), names, strict=True) if label != name}


def shortened(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text, and `…` where more follows.

    Examples:
        >>> shortened("a name that goes on and on")
        'a name that goes on…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"
