"""Periods cut from a recording, and runs put together."""

import numpy as np
import pytest

from gough import InputError
from gough.data import EffortFromDriveSignal, Recording
from gough.dynamics import RepeatedMotion, periods, runs


def recording(n=1000, rate=100.0, **changes):
    t = np.arange(n) / rate
    q = 1 + np.sin(2 * np.pi * t / 2.0)
    samples = np.column_stack([np.degrees(q), 3 * np.cos(2 * np.pi * t / 2.0)])
    return Recording(["angle", "V"], ["deg", "V"], samples, rate, **changes)


def test_periods_are_cut_and_converted():
    motion = periods(
        recording(1050), ["angle"], ["V"], period=2.0, amplifier=EffortFromDriveSignal(2.0), actuators=["motor 1"]
    )
    assert motion.q.shape == (4, 200, 1)
    assert motion.coordinate_units == ("rad",)
    assert motion.effort_units == ("N·m",)
    assert motion.channels == ("angle", "motor 1")
    assert motion.q[:, 50] == pytest.approx(np.full((4, 1), 2.0))
    assert motion.efforts[0, 0] == pytest.approx([6.0])
    assert motion.q[0] == pytest.approx(motion.q[3], abs=1e-12)


def test_runs_are_stacked():
    motion = runs([recording(), recording()], ["angle"], ["V"])
    assert motion.q.shape == (2, 1000, 1)
    assert motion.effort_units == ("V",)


def test_what_does_not_fit_is_refused():
    with pytest.raises(InputError, match=r"200.5 samples.*not a whole number"):
        periods(recording(), ["angle"], ["V"], period=2.005)
    with pytest.raises(InputError, match=r"1.00 periods.*none is left"):
        periods(recording(200), ["angle"], ["V"], period=2.0)
    with pytest.raises(InputError, match=r"second.csv has 990 samples, but .* has 1000.*cut all"):
        runs([recording(), recording(990, source="second.csv")], ["angle"], ["V"])
    with pytest.raises(InputError, match="50 samples a second"):
        runs([recording(), recording(rate=50.0)], ["angle"], ["V"])
    with pytest.raises(InputError, match="no channel 'torque'"):
        periods(recording(), ["angle"], ["torque"], period=2.0)
    with pytest.raises(InputError, match="3 gains do not fit 1"):
        periods(recording(), ["angle"], ["V"], period=2.0, amplifier=EffortFromDriveSignal((1.0, 2.0, 3.0)))
    names = {"coordinates": ["q"], "coordinate_units": ["rad"], "actuators": ["m"], "effort_units": ["N·m"]}
    with pytest.raises(InputError, match="both are recorded together"):
        RepeatedMotion(10.0, np.zeros((2, 5, 1)), np.zeros((2, 6, 1)), **names)
    with pytest.raises(InputError, match="coordinates must be 2 texts"):
        RepeatedMotion(10.0, np.zeros((2, 5, 2)), np.zeros((2, 5, 1)), **names)
