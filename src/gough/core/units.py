"""Units of measurement as text: what they are in SI, and which of them measure the same thing.

A unit is a product of known symbols with exponents and plain numbers: "rad", "mm/s", "N·m", "kg*cm^2", "rev/20000".
SI stays inside gough; other units live in files and in reports.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from math import inf, isfinite, pi

from gough.core.errors import InputError, nearest, require

_TABLE: dict[str, tuple[float, str]] = {
    "rad": (1.0, "rad"), "mrad": (1e-3, "rad"), "deg": (pi / 180, "rad"), "°": (pi / 180, "rad"),
    "arcmin": (pi / 10_800, "rad"), "arcsec": (pi / 648_000, "rad"), "rev": (2 * pi, "rad"), "turn": (2 * pi, "rad"),
    "count": (1.0, "count"), "rpm": (pi / 30, "rad/s"),
    "m": (1.0, "m"), "cm": (1e-2, "m"), "mm": (1e-3, "m"), "µm": (1e-6, "m"), "nm": (1e-9, "m"), "in": (0.0254, "m"),
    "s": (1.0, "s"), "ms": (1e-3, "s"), "µs": (1e-6, "s"), "ns": (1e-9, "s"), "min": (60.0, "s"), "h": (3600.0, "s"),
    "day": (86_400.0, "s"),
    "Hz": (1.0, "Hz"), "kHz": (1e3, "Hz"), "MHz": (1e6, "Hz"),
    "kg": (1.0, "kg"), "lb": (0.45359237, "kg"), "N": (1.0, "N"), "mN": (1e-3, "N"), "kN": (1e3, "N"),
    "lbf": (4.4482216152605, "N"), "J": (1.0, "J"), "W": (1.0, "W"), "Pa": (1.0, "Pa"), "bar": (1e5, "Pa"),
    "Nm": (1.0, "N·m"), "mNm": (1e-3, "N·m"), "kNm": (1e3, "N·m"), "Ncm": (1e-2, "N·m"), "Nmm": (1e-3, "N·m"),
    "V": (1.0, "V"), "mV": (1e-3, "V"), "µV": (1e-6, "V"), "kV": (1e3, "V"),
    "A": (1.0, "A"), "mA": (1e-3, "A"), "µA": (1e-6, "A"), "Ω": (1.0, "Ω"), "K": (1.0, "K"), "%": (1e-2, ""),
}  # fmt: skip
_ALSO = {
    "radian": "rad", "radians": "rad", "degree": "deg", "degrees": "deg", "revs": "rev", "turns": "turn",
    "counts": "count", "um": "µm", "us": "µs", "uV": "µV", "uA": "µA", "inch": "in", "sec": "s", "Ohm": "Ω",
    "seconds": "s", "msec": "ms", "milliseconds": "ms", "usec": "µs", "microseconds": "µs", "nanoseconds": "ns",
    "minutes": "min", "hours": "h", "days": "day",
}  # fmt: skip
_BASE = {
    "Hz": "1/s", "N": "kg·m/s²", "J": "kg·m²/s²", "W": "kg·m²/s³", "Pa": "kg/m/s²", "V": "kg·m²/s³/A",
    "Ω": "kg·m²/s³/A²",
}  # fmt: skip
_FACTOR = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|[^\W\d]+|[°%])(?:\^?(-?[0-9]))?")
_PLAIN = str.maketrans("⁻−⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_HINTS = {
    "g": ": write 'kg/1000' for a gram, '9.80665 m/s^2' for gravity",
    "°C": ": temperatures in degrees Celsius do not become kelvins by a factor; give them in 'K'",
}


LARGEST, SMALLEST = 1e30, 1e-30
"""No quantity of a robot is larger or smaller in SI units, unless it is 0; squares of the others do not overflow."""


def in_si(unit: str) -> tuple[float, str]:
    """`(factor, si)`: a value in `unit` times the factor is that value in the SI unit `si`.

    Symbols are joined by "·", "*", a blank or "/", with exponents as "²", "^2" or "2"; numbers scale, so that an
    encoder of 20000 counts a turn has the unit "rev/20000". Text without a unit, "", stands for pure numbers. Letters
    keep their case: "mN" and "MN" differ.

    Raises:
        InputError: the unit is not known; the message names the nearest one that is.

    Examples:
        >>> in_si("mm"), in_si("kg*cm^2"), in_si("mNm")
        ((0.001, 'm'), (0.0001, 'kg·m²'), (0.001, 'N·m'))
        >>> in_si("dge")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: 'dge' is not a unit that gough knows; did you mean 'deg'?
    """
    factor = 1.0
    powers: Counter[str] = Counter()
    for symbol, power in _factors(unit):
        size, si = _size(symbol, unit)
        factor *= _power(size, power)
        for part, times in _factors(si):
            powers[part] += times * power
    require(isfinite(factor) and factor > 0, f"the unit '{unit}' has the factor {factor:g}, which measures nothing")
    return factor, _written({symbol: power for symbol, power in powers.items() if power})


def same_kind(unit: str, other: str) -> bool:
    """Whether two units measure the same thing, so that one converts into the other; angles are no pure numbers.

    Examples:
        >>> same_kind("deg", "rad"), same_kind("mm", "rad"), same_kind("J", "N·m"), same_kind("rpm", "Hz")
        (True, False, True, False)
    """
    return _dimensions(in_si(unit)[1]) == _dimensions(in_si(other)[1])


def factor_between(unit: str, other: str) -> float:
    """The factor that converts a value in `unit` to `other`.

    Examples:
        >>> factor_between("cm", "mm")
        10.0
        >>> factor_between("mm", "rad")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: 'mm' cannot become 'rad': one measures m, the other rad
    """
    (size, si), (wanted, target) = in_si(unit), in_si(other)
    if _dimensions(si) != _dimensions(target):
        measures, meant = si or "pure numbers", target or "pure numbers"
        raise InputError(f"'{unit}' cannot become '{other}': one measures {measures}, the other {meant}")
    return size / wanted


def _factors(unit: str) -> Iterator[tuple[str, int]]:
    """Symbols or numbers of a unit with their powers."""
    text = unicodedata.normalize("NFC", unit).translate(_PLAIN).strip()
    text = text.replace("μ", "µ").replace("Ω", "Ω").replace("º", "°")
    text = re.sub(r"(?<=[^\d\s])\.(?=[^\d\s])", "·", text)  # N.m
    for sign, group in re.findall(r"(^|/)([^/]*)", text):
        if not group.strip():
            require(not text, f"'{unit}' is not a unit: there is nothing beside a '/'")
            continue
        words = re.split(r"\s*[·*⋅×]\s*|\s+", group.strip())
        clear = not sign or len(words) == 1
        require(clear, f"'{unit}' may mean two things: divide by one unit at a time, as in 'W/m/K'")
        for word in words:
            match = _FACTOR.fullmatch(word)
            if match is None:
                raise InputError(f"'{unit}' is not a unit that gough knows{_HINTS.get(word, _near(word))}")
            yield match[1], int(match[2] or 1) * (-1 if sign else 1)


def _size(symbol: str, unit: str) -> tuple[float, str]:
    if symbol[0].isdigit():
        return float(symbol), ""
    known = _ALSO.get(symbol, symbol)
    if known not in _TABLE:
        raise InputError(f"'{unit}' is not a unit that gough knows{_HINTS.get(symbol, _near(symbol))}")
    return _TABLE[known]


def _power(size: float, power: int) -> float:
    try:
        return float(size**power)
    except (OverflowError, ZeroDivisionError):
        return inf


def _near(symbol: str) -> str:
    by_case = {known.lower(): known for known in (*_ALSO, *_TABLE)}
    return nearest(by_case.get(symbol.lower(), symbol), (*_TABLE, *_ALSO))


def _written(powers: dict[str, int]) -> str:
    """Powers of symbols as text: "kg·m²/s"."""
    above = [_raised(symbol, power) for symbol, power in powers.items() if power > 0]
    below = [_raised(symbol, -power) for symbol, power in powers.items() if power < 0]
    if not below:
        return "·".join(above)
    return "/".join(["·".join(above) or "1", *below])


def _raised(symbol: str, power: int) -> str:
    return symbol if power == 1 else symbol + str(power).translate(_RAISED)


def _dimensions(si: str) -> dict[str, int]:
    """Powers of the base units m, kg, s, A, K, rad and count."""
    powers: Counter[str] = Counter()
    for symbol, power in _factors(si):
        base = _dimensions(_BASE[symbol]) if symbol in _BASE else {symbol: 1}
        for part, times in base.items():
            powers[part] += times * power
    return {symbol: power for symbol, power in powers.items() if power and not symbol[0].isdigit()}


def squared(unit: str) -> str:
    """The unit of a variance.

    Examples:
        >>> squared("N"), squared("N·m")
        ('N²', '(N·m)²')
    """
    return f"{unit}²" if unit.isalpha() else f"({unit})²"
