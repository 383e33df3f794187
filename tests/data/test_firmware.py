"""Lines for Marlin and RepRapFirmware place the nozzle where the calibrated geometry does.

The kinematics here are written anew, from how the firmwares define their settings: carriages of a homed Marlin printer
are at their endstops less the adjustments and mean the height H; RepRapFirmware adds adjustments to it.
"""

import re

import numpy as np
import pytest

from gough.data.firmware import marlin_gcode, reprapfirmware_gcode
from gough.robots import LinearDelta

TOWERS = np.array([210.0, 330.0, 90.0])


def settings(text):
    result = {}
    for line in text.splitlines():
        if line.startswith(("M665", "M666")):
            command, *words = line.split(";")[0].split()
            result |= {(command, word[0]): [float(x) for x in word[1:].split(":")] for word in words}
    return result


def readings_of(found, position, *, marlin):
    """How far each carriage is below its endstop with the nozzle at a position, mm."""
    radius, height = found["M665", "R"][0], found["M665", "H"][0]
    rods = found["M665", "L"] if len(found["M665", "L"]) == 3 else [found["M665", "L"][0]] * 3
    below = []
    for i, (axis, trim) in enumerate(zip("XYZ", "ABC", strict=True)):
        rod = rods[i] + (found.get(("M665", trim), [0.0])[0] if marlin else 0.0)
        angle = np.radians(TOWERS[i] + found["M665", axis][0])
        adjustment = found["M666", axis][0]
        homed = height + np.sqrt(rod**2 - radius**2)
        endstop = homed - adjustment if marlin else homed + adjustment
        x, y = radius * np.cos(angle) - position[0], radius * np.sin(angle) - position[1]
        below.append(endstop - (position[2] + np.sqrt(rod**2 - x**2 - y**2)))
    return np.array(below)


@pytest.mark.parametrize("equal", [True, False])
def test_firmwares_move_the_carriages_as_the_geometry_says(rng, equal):
    arm = np.full(3, 0.345) if equal else 0.345 + rng.normal(0, 5e-4, 3)
    printer = LinearDelta(0.1612, arm, 0.4 + rng.normal(0, 1e-3, 3), np.radians(TOWERS + rng.normal(0, 0.3, 3)))
    parts = [np.asarray(getattr(printer, name)).tolist() for name in ("angle", "arm", "endstop")]
    p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (20, 3))
    wanted = 1e3 * printer.inverse(printer.nominal, p)
    for write, marlin in ((marlin_gcode, True), (reprapfirmware_gcode, False)):
        text = write(printer.radius, *parts)
        found = np.array([readings_of(settings(text), 1e3 * each, marlin=marlin) for each in p])
        assert abs(found - wanted).max() < 5e-4  # four decimals of mm, and of degrees at 160 mm
        assert ("The arms differ" in text) == (not equal)


def test_marlin_takes_no_positive_adjustment(rng):
    text = marlin_gcode(0.16, np.radians(TOWERS), [0.345] * 3, 0.4 + rng.normal(0, 1e-3, 3))
    assert all(float(value) <= 0 for value in re.findall(r"[XYZ](-?[\d.]+)", text.splitlines()[1]))
