"""The Adept cycle: its shape, its limits, its cycle time."""

from dataclasses import replace

import numpy as np
import pytest

from gough.core.errors import InputError
from gough.simulate import PickAndPlace

CENTER = [0.0, -0.06, -0.85, 0.0]


@pytest.fixture
def adept():
    return PickAndPlace(CENTER)


def test_it_keeps_the_papers_limits_in_the_papers_time(adept):
    """5 m/s, 150 m/s² and 0.25 s there and back [NCPP, §III], measured on the motion itself by differences."""
    assert adept.cycle == 0.25
    h = 1e-6
    t = np.linspace(0, 0.25, 100_001)
    speed = np.linalg.norm((adept.at(t + h).x - adept.at(t - h).x)[:, :3], axis=1) / (2 * h)
    change = np.linalg.norm((adept.at(t + h).dx - adept.at(t - h).dx)[:, :3], axis=1) / (2 * h)
    assert speed.max() == pytest.approx(adept.peak_speed, rel=1e-4)
    assert change.max() == pytest.approx(adept.peak_acceleration, rel=1e-4)
    assert 4.9 < speed.max() < 5.0
    assert 140 < change.max() < 150
    assert adept.shortest_cycle == pytest.approx(0.25, rel=0.02)


def test_it_goes_up_across_down_and_back(adept):
    way = adept.at(np.linspace(0, 0.125, 1001)).x
    back = adept.at(np.linspace(0.125, 0.25, 1001)).x
    np.testing.assert_allclose(way[[0, -1], 0], [-0.1525, 0.1525], atol=1e-12)
    np.testing.assert_allclose(back, way[::-1], atol=1e-12)
    assert way[:, 2].max() == pytest.approx(-0.825)
    np.testing.assert_allclose(way[[0, -1], 2], -0.85)
    # at full height for a third of the transfer, and well off the ground before it is under way
    assert np.ptp(way[np.isclose(way[:, 2], -0.825), 0]) > 0.305 / 3
    assert way[np.argmax(way[:, 0] > -0.1425), 2] > -0.85 + 0.012


def test_it_rests_at_both_ends_and_never_jumps(adept):
    for moment in (0.0, 0.125, 0.25, 0.375):
        at = adept.at([moment])
        assert np.abs(at.dx).max() < 1e-9
        assert np.abs(at.ddx).max() < 1e-6
    t = np.linspace(0, 1.0, 400_001)
    _, dx, ddx = adept.at(t)
    assert np.abs(np.diff(ddx, axis=0)).max() < 0.2  # a jump would be of the order of 100
    assert np.abs(np.diff(dx, axis=0)).max() < 150 * 2.6e-6


def test_velocities_and_accelerations_are_derivatives(adept):
    turning = replace(adept, turn=1.0, heading=0.7)
    t, h = np.linspace(0.001, 0.9, 777), 1e-6
    before, now, after = turning.at(t - h), turning.at(t), turning.at(t + h)
    np.testing.assert_allclose(now.dx, (after.x - before.x) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(now.ddx, (after.dx - before.dx) / (2 * h), atol=0.1)  # the jerk jumps at the corners


def test_heading_and_turn(adept):
    x = replace(adept, heading=np.pi / 2, turn=0.8).at([0.0, 0.125]).x
    np.testing.assert_allclose(x[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(x[:, 1], [-0.06 - 0.1525, -0.06 + 0.1525])
    np.testing.assert_allclose(x[:, 3], [-0.4, 0.4])


def test_cycles_repeat(adept):
    assert adept.duration == 1.0
    samples = adept.sample(1000.0)
    assert samples.x.shape == (1000, 4)
    for part in samples:
        np.testing.assert_allclose(part[:250], part[750:], atol=1e-8)


def test_three_coordinates_do():
    assert PickAndPlace([0.0, 0.0, -0.8]).at([0.0]).x.shape == (1, 3)


def test_a_cycle_that_is_too_short_is_told_the_shortest(adept):
    with pytest.raises(InputError, match=r"needs 6\.\d+ m/s and 2\d\d\.?\d* m/s².*take at least 0.24\d\d s"):
        replace(adept, cycle=0.2)
    replace(adept, cycle=adept.shortest_cycle)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"center": [0.0]}, "center must be"),
        ({"center": [0.0, 0.0, np.nan]}, "center must be finite"),
        ({"span": -1.0}, "span must be positive"),
        ({"cycle": np.inf}, "cycle must be positive"),
        ({"cycles": 0}, "cycles must be a whole number"),
        ({"cycles": 1.5}, "cycles must be a whole number"),
        ({"rise": 0.7}, "rise is a share"),
        ({"lag": 0.5}, "lag is a share"),
        ({"center": [0.0, 0.0, -0.8], "turn": 1.0}, "cannot turn"),
        ({"heading": np.nan}, "heading and turn"),
    ],
)
def test_impossible_cycles_are_refused(adept, change, words):
    with pytest.raises(InputError, match=words):
        replace(adept, **change)
