"""A value and its uncertainty, written to the same decimal."""

from math import floor, isfinite, log10

from gough.core.text import number


def plus_minus(value: float, half: float) -> tuple[str, str]:
    """`value` and `half`, both to the second digit of `half`.

    Examples:
        >>> plus_minus(0.196234, 0.0049981), plus_minus(-1234.5, 67.0), plus_minus(2.0, 0.0)
        (('0.1962', '0.0050'), ('−1234', '67'), ('2', '0'))
    """
    if not (isfinite(value) and isfinite(half) and half > 0):
        return signed(number(value, half)), signed(number(half, half))
    decimals = 1 - floor(log10(float(f"{half:.1e}")))
    if decimals > 8 or abs(value) >= 1e9:
        return signed(f"{value:.3e}"), f"{half:.1e}"
    return signed(f"{value:.{max(decimals, 0)}f}"), f"{half:.{max(decimals, 0)}f}"


def error_in_sigma(error: float) -> str:
    """An error in standard deviations, always with its sign.

    Examples:
        >>> error_in_sigma(-0.34)
        '−0.3 σ'
    """
    return signed(f"{error:+.1f} σ")


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
