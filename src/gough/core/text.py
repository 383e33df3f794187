"""Numbers and names as text for people."""

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, is_dataclass
from math import floor, isfinite, log10, pi
from pathlib import Path
from typing import Any

from gough.core.errors import InputError

_UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""Control characters, line separators, marks that reverse the direction of writing, and halves of surrogate pairs."""
_LONGEST = 20
_FIRST_TERM = re.compile(r"^−?(?:[\d.e+-]+·)?(?P<name>.+?) [+−] ")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str, *, lines: bool = False) -> str:
    r"""The text with visible escapes in place of characters that move the cursor, change colors or end the line.

    Names and paths come from users and from files. Printed as they are, escape sequences in them could erase or imitate
    what gough prints. The result can always be encoded as UTF-8.

    Args:
        text: Any text.
        lines: Whether line feeds stay.

    Examples:
        >>> print(visible("mass\x1b[2K\nThe certificate holds"))
        mass\x1b[2K\nThe certificate holds
    """
    return _UNSAFE.sub(lambda match: match[0] if lines and match[0] == "\n" else _escaped(match[0]), text)


def require_encodable(texts: Iterable[str], what: str) -> None:
    r"""Raise InputError unless every text can be written to a file: half a surrogate pair cannot.

    Examples:
        >>> require_encodable(["mass", "\ud800"], "name")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: the name '\ud800' holds half of a surrogate pair, which no file can hold
    """
    for text in texts:
        if isinstance(text, str) and (text.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in text)):
            continue
        raise InputError(f"the {what} '{visible(str(text))}' holds half of a surrogate pair, which no file can hold")


def _escaped(letter: str) -> str:
    code = ord(letter)
    return _SHORT.get(letter) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")


def number(value: float, uncertainty: float | None = None, *, digits: int = 4) -> str:
    """`value` down to the second digit of its uncertainty, or with so many significant digits where it has none.

    Examples:
        >>> number(12.345678, 0.0123), number(0.000123456), number(-1234567.0), number(0.5, 0.0)
        ('12.346', '0.0001235', '-1.235e+06', '0.5')
    """
    if not isfinite(value):
        return {True: "∞", False: "−∞"}.get(value > 0, "—") if value == value else "—"  # noqa: PLR0124 - NaN
    if uncertainty == 0:
        return f"{value:.12g}"
    leading = floor(log10(abs(value))) if value else 0
    if uncertainty is not None and isfinite(uncertainty):
        digits = min(max(leading - floor(log10(uncertainty)) + 2, 2), 16)
    if -4 <= leading < 6:
        return f"{value:.{max(digits - 1 - leading, 0)}f}"
    return f"{value:.{digits - 1}e}"


def plus_minus(value: float, half: float) -> tuple[str, str]:
    """`value` and `half`, both to the second digit of `half`.

    Examples:
        >>> plus_minus(0.196234, 0.0049981), plus_minus(-1234.5, 67.0), plus_minus(2.0, 0.0)
        (('0.1962', '0.0050'), ('-1234', '67'), ('2', '0'))
    """
    if not (isfinite(value) and isfinite(half) and half > 0):
        return number(value, half), number(half, half)
    decimals = 1 - floor(log10(float(f"{half:.1e}")))
    if decimals > 8 or abs(value) >= 1e9:
        return f"{value:.3e}", f"{half:.1e}"
    return f"{value:.{max(decimals, 0)}f}", f"{half:.{max(decimals, 0)}f}"


def signed(text: str) -> str:
    """The number with a minus sign that is as wide as a plus; the one in an exponent stays."""
    return text.replace("-", "−", 1) if text.startswith("-") else text


def signs(text: str) -> str:
    """The text with such a minus sign in front of each negative number.

    Examples:
        >>> signs("-1.5e-05 … -1"), signs("≤ -2")
        ('−1.5e-05 … −1', '≤ −2')
    """
    return " ".join(map(signed, text.split(" ")))


def power_of_thousand(size: float) -> int:
    """The multiple of 3 that brings `size`, divided by ten to it, between 1 and 1000.

    Examples:
        >>> power_of_thousand(0.0503), power_of_thousand(12.0), power_of_thousand(0.0)
        (-3, 0, 0)
    """
    return 3 * floor(log10(size) / 3) if size > 0 and isfinite(size) else 0


def scaled_unit(unit: str, power: int) -> str:
    """The unit with its power of ten in front.

    Examples:
        >>> scaled_unit("kg·m", -3)
        '10⁻³ kg·m'
    """
    raised = str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"10{raised} {unit}".rstrip() if power else unit


def percent(part: float, *, digits: int = 2) -> str:
    """A part in percent with so many digits, never rounded up to all of it.

    Examples:
        >>> [percent(part) for part in (1.0, 0.99999, 0.996, 0.5, 0.0123)], percent(0.9547, digits=3)
        (['100 %', '99.9 %', '99.6 %', '50 %', '1.2 %'], '95.5 %')
    """
    if not isfinite(part):
        return "—"
    if 0.99 < part < 1:
        return f"{floor(1000 * part) / 10:.1f} %"
    return f"{100 * part:.{max(digits, 3) if part >= 1 else digits}g} %"


def listed(words: Sequence[str]) -> str:
    """Words as a list in a sentence.

    Examples:
        >>> listed(["m_1", "m_2", "m_3"])
        'm_1, m_2 and m_3'
    """
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def counted(count: int, noun: str) -> str:
    """A number of things, with the plural where there is not one.

    Examples:
        >>> counted(1, "pose"), counted(12, "pose")
        ('1 pose', '12 poses')
    """
    return f"{count} {noun}{'' if count == 1 else 's'}"


def shown_unit(unit: str) -> tuple[str, float]:
    """The unit in which a person reads a length or an angle, and the factor to it.

    Examples:
        >>> shown_unit("m"), shown_unit("m/rev")
        (('mm', 1000.0), ('mm/rev', 1000.0))
    """
    if unit == "m" or unit.startswith("m/"):
        return f"m{unit}", 1e3
    return ("°", 180 / pi) if unit == "rad" else (unit, 1.0)


def pose_label(pose: int, places: Sequence[str] = ()) -> str:
    """The number of a pose, from 0, and its place in the file, such as "line 9", where that is known.

    Examples:
        >>> pose_label(7, [f"line {k + 2}" for k in range(10)]), pose_label(7)
        ('7 (line 9)', '7')
    """
    return f"{pose} ({places[pose]})" if pose < len(places) else str(pose)


def poses_listed(poses: Sequence[int], places: Sequence[str] = ()) -> str:
    """Poses by their numbers and places.

    Examples:
        >>> poses_listed([0, 2], ["line 2", "line 3", "line 5"]), poses_listed([7])
        ('poses 0 (line 2), 2 (line 5)', 'pose 7')
    """
    return f"pose{'s' if len(poses) > 1 else ''} {', '.join(pose_label(pose, places) for pose in poses)}"


def poses_counted_from(places: Sequence[str] = ()) -> str:
    """How poses are counted, for texts and figures that give their numbers.

    Examples:
        >>> poses_counted_from(["line 2"]), poses_counted_from()
        ('counted from 0 (pose 0: line 2)', 'counted from 0')
    """
    return f"counted from 0{f' (pose 0: {places[0]})' if places else ''}"


def written(value: Any, digits: int | None = None) -> str:
    """A frozen value as a user would write it: without the fields that have their default.

    Numbers keep all their digits, or so many significant ones.

    Examples:
        >>> from gough.methods import GaussMarkov
        >>> written(GaussMarkov()), written(GaussMarkov(level=0.99))
        ('GaussMarkov()', 'GaussMarkov(level=0.99)')
        >>> from gough.data import EffortFromDriveSignal
        >>> written(EffortFromDriveSignal((20.168964840911322, 2.5)), digits=4)
        'EffortFromDriveSignal(gain=(20.17, 2.5))'
    """
    if not is_dataclass(value):
        return _short(value, digits)
    options = []
    for field in fields(value):
        default = field.default_factory() if field.default_factory is not MISSING else field.default
        own = getattr(value, field.name)
        if hasattr(own, "dtype") or own != default:
            options.append(f"{field.name}={written(own, digits)}")
    return f"{type(value).__name__}({', '.join(options)})"


def _short(value: Any, digits: int | None) -> str:
    """An array by its size, a function by its name, else as Python writes it."""
    if digits is not None and isinstance(value, float):
        short = f"{value:.{digits}g}"
        return repr(value) if float(short) == value else short
    if digits is not None and isinstance(value, tuple):
        return f"({', '.join(written(each, digits) for each in value)}{',' if len(value) == 1 else ''})"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"<{' × '.join(str(n) for n in value.shape)} array>"
    return getattr(value, "__name__", None) or repr(value)


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


def on_factors(texts: Iterable[str]) -> str:
    """A sentence on rounding where texts of combinations have numbers as factors; empty where none has.

    Examples:
        >>> on_factors(["I_1 + 0.25·m_3", "fv_1"])
        'Factors in combinations are rounded to 4 digits; the computation uses all digits.'
    """
    rounded = any(re.search(r"\d·", text) for text in texts)
    return "Factors in combinations are rounded to 4 digits; the computation uses all digits." if rounded else ""


def shortened(text: str, longest: int = _LONGEST) -> str:
    """The beginning of a text, and `…` where more follows.

    Examples:
        >>> shortened("a name that goes on and on")
        'a name that goes on…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1].rstrip()}…"


def command_line(*words: str | Path) -> str:
    """A command as a user may paste it into a shell, with quotes where names need them.

    Examples:
        >>> command_line("gough", "check", Path("my results")), command_line("ls", Path("-l"))
        ("gough check 'my results'", 'ls ./-l')
    """
    return shlex.join(
        f"./{word}" if isinstance(word, Path) and str(word).startswith("-") else str(word) for word in words
    )
