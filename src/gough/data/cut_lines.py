"""The last line of a text of numbers that does not end: whether it seems to be cut off inside its last number."""

from collections.abc import Sequence

FELLOWS = 8
"""Lines that are needed for a comparison."""


def seems_cut(last: str, others: Sequence[str], separator: str = ",") -> bool:
    """Whether the last cell of a line has fewer characters after its decimal point than those of all other lines.

    A file that was cut inside of a number has a last line that is a row all the same, with another number. Programs
    write numbers with as many digits in each row, or with those that a number needs, of which hardly one in a hundred
    has fewer than all others. Whole numbers tell nothing.

    Examples:
        >>> rows = [f"{k},{k / 7:.6f}" for k in range(20)]
        >>> seems_cut("20,2.85", rows), seems_cut("20,2.857143", rows), seems_cut("20,2", rows)
        (True, False, True)
    """
    known = [_decimals(line, separator) for line in others]
    return len(known) >= FELLOWS and _decimals(last, separator) < min(known)


def _decimals(line: str, separator: str) -> int:
    """Characters after the decimal point or comma of the last cell, an exponent included."""
    cell = line.strip().rsplit(separator, 1)[-1]
    _, point, decimals = cell.replace(",", ".").rpartition(".")
    return len(decimals) if point else 0
