"""Geometry of a delta printer as G-code for Marlin and RepRapFirmware.

Tower a is X, b is Y, c is Z, at 210°, 330° and 90° plus a correction. With a carriage at its endstop, the nozzle at
x = y = 0 would be at `endstop`. Both firmwares have one homed height H and an adjustment for each tower, with opposite
signs: Marlin moves a carriage down after homing, by an adjustment ≤ 0, to where the nozzle is at H, so that
endstop + adjustment = H; RepRapFirmware says how much higher an endstop is, so that endstop = H + adjustment.
"""

from collections.abc import Sequence
from math import degrees

_TOWERS = (210.0, 330.0, 90.0)
_EQUAL = 1e-7
"""m: arms that differ by less are written as one length."""


def marlin_gcode(radius: float, angle: Sequence[float], arm: Sequence[float], endstop: Sequence[float]) -> str:
    """M665 and M666 for Marlin, of a geometry in m and rad.

    Examples:
        >>> from math import radians
        >>> print(marlin_gcode(0.16, [radians(a) for a in (210, 330, 90)], [0.345] * 3, [0.42, 0.42, 0.4195]))
        M665 L345.0000 R160.0000 H419.5000 X0.0000 Y0.0000 Z0.0000
        M666 X-0.5000 Y-0.5000 Z0.0000
        M500 ; save
    """
    height, rod = min(endstop), sum(arm) / 3
    trims = [each - rod for each in arm]
    uneven = max(map(abs, trims)) > _EQUAL
    lines = [
        *(
            (
                "; The arms differ: A, B and C are trims of the diagonal rods, new in Marlin at the end of June 2020.",
                "; An older Marlin ignores A and C, and takes B as a radius: set DELTA_DIAGONAL_ROD_TRIM_TOWER and compile.",
            )
            if uneven
            else ()
        ),
        f"M665 L{_mm(rod)} R{_mm(radius)} H{_mm(height)} {_letters('XYZ', _corrections(angle))}"
        + (f" {_letters('ABC', [1e3 * trim for trim in trims])}" if uneven else ""),
        f"M666 {_letters('XYZ', [1e3 * (height - each) for each in endstop])}",
        "M500 ; save",
    ]
    return "\n".join(lines)


def reprapfirmware_gcode(radius: float, angle: Sequence[float], arm: Sequence[float], endstop: Sequence[float]) -> str:
    """M665 and M666 for RepRapFirmware, of a geometry in m and rad.

    Examples:
        >>> from math import radians
        >>> print(reprapfirmware_gcode(0.16, [radians(a) for a in (210, 330, 90)], [0.345] * 3, [0.421, 0.42, 0.419]))
        M665 L345.0000 R160.0000 H420.0000 X0.0000 Y0.0000 Z0.0000
        M666 X1.0000 Y0.0000 Z-1.0000
        M500 ; save in config-override.g
    """
    height = sum(endstop) / 3
    uneven = max(arm) - min(arm) > _EQUAL
    rods = ":".join(map(_mm, arm)) if uneven else _mm(sum(arm) / 3)
    lines = [
        *(("; The arms differ: RepRapFirmware takes one length for each tower since version 2.03.",) if uneven else ()),
        f"M665 L{rods} R{_mm(radius)} H{_mm(height)} {_letters('XYZ', _corrections(angle))}",
        f"M666 {_letters('XYZ', [1e3 * (each - height) for each in endstop])}",
        "M500 ; save in config-override.g",
    ]
    return "\n".join(lines)


def _corrections(angle: Sequence[float]) -> list[float]:
    return [(degrees(each) - place + 180) % 360 - 180 for each, place in zip(angle, _TOWERS, strict=True)]


def _letters(letters: str, values: Sequence[float]) -> str:
    return " ".join(f"{letter}{round(value, 4) + 0.0:.4f}" for letter, value in zip(letters, values, strict=True))


def _mm(length: float) -> str:
    return f"{1e3 * length:.4f}"
