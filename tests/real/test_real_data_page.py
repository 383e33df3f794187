"""The tables of docs/real-data.md, computed anew."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from gough.closure.certified_leg import certified_leg
from gough.closure.tolerance import minimal_tolerance
from gough.geometry import calibrate, calibrate_printer
from gough.region import Box

from .page import ROWS, printed
from .test_jugglebot import GAIN_NAMES, platform, poses  # noqa: F401 - fixtures


# Errors at poses left out are checked in test_jugglebot.py, which computes them anyway.
@pytest.fixture(scope="module")
def both(platform, poses):  # noqa: F811 - fixtures
    return [calibrate(platform, poses, fixed=names) for names in (GAIN_NAMES, ())]


def test_closure_before_and_after(both):
    assert [round(1e3 * found.rms[0], 1) for found in both] == printed("closure of the legs before, rms")
    assert [round(1e3 * found.rms[1], 2) for found in both] == printed("closure after, rms")
    assert [len(found.estimate.unknowns) for found in both] == printed("parameters")
    assert round(both[1].identifiability.condition) == 187
    assert any("a correlation time of about 12 samples" in words for words in both[1].verdicts)


def epsilon(both, poses, position, degrees):  # noqa: F811 - a fixture's value
    rows = both[1].parameters.reshape(6, 8)
    lengths = replace(poses, readings=poses.readings * rows[:, 7])
    tolerances = {"position_tolerance": position, "rotation_tolerance": np.radians(degrees), "reading_tolerance": 0.0}
    for leg, x in enumerate(rows[:, :7], start=1):
        yield minimal_tolerance(certified_leg(lengths, leg, Box.around(x, 0.1), **tolerances))


@pytest.mark.parametrize(
    ("row", "position", "degrees"),
    [
        ("ε with exact poses, mm", 0.0, 0.0),
        ("ε with poses known to 0.3 mm and 0.05°, mm", 3e-4, 0.05),
        ("ε with poses known to 0.5 mm and 0.1°, mm", 5e-4, 0.1),
    ],
)
def test_the_smallest_uncertainty_of_each_leg(both, poses, row, position, degrees):  # noqa: F811 - fixtures
    """Both brackets hold the same ε, so they meet, whatever the linear programs of this machine end with."""
    for found, shown in zip(epsilon(both, poses, position, degrees), ROWS[row], strict=True):
        assert found.upper - found.lower <= 1.1e-6
        if shown == "≤ 0":
            assert found.upper <= 0
            continue
        lower, upper = map(Fraction, shown.split(" … "))
        assert lower <= 1000 * Fraction(found.upper)
        assert 1000 * Fraction(found.lower) <= upper
        assert upper - lower <= Fraction("0.0013")


def test_adequacy_by_stated_noise(platform, poses):  # noqa: F811 - fixtures
    wide, tight = (
        calibrate(platform, poses.with_noise(s, np.radians(d), 1e-3)) for s, d in ((5e-4, 0.1), (3e-4, 0.05))
    )
    assert not wide.refuted
    assert tight.refuted
    assert round(tight.estimate.stats.chi_squared, 1) == 2.9


@pytest.mark.parametrize(("name", "column"), [("flsun-v400", 0), ("flsun-sr", 1)])
def test_klippers_numbers(klippers_answer, name, column):
    saved = klippers_answer(name)
    mean = round(float(saved.endstop.mean()), 2)
    start = replace(saved, radius=round(saved.radius, 2), angle=np.radians([210, 330, 90]), endstop=np.full(3, mean))
    found = calibrate_printer(start)
    assert f"{1e3 * saved.radius:.4f} mm" == ROWS["radius, Klipper"][column]
    assert f"{1e3 * found.parameters[3]:.4f} ± {found.plus('radius')} mm" == ROWS["radius, gough, ± 95 %"][column]
    kept = np.concatenate([saved.endstop, [saved.radius], saved.angle, saved.arm])
    scale = np.where(np.isin(np.arange(10), [4, 5, 6]), np.degrees(1), 1e3)
    assert f"{abs(scale * (found.parameters - kept)).max():.4f} mm" == ROWS["largest difference to Klipper"][column]
    assert f"{1e3 * found.rms[1]:.4f} mm" == ROWS["residual of the heights, rms"][column]
    assert str(found.spare) == ROWS["equations beyond unknowns"][column]
