"""Probed heights of delta printers: towers that fit are kept, and the bound that explains real heights is bracketed."""

from dataclasses import replace

import numpy as np
import pytest

from gough import Claim, Status
from gough.closure import ProbedHeights, height_tolerance
from gough.core.errors import InputError
from gough.data import KlipperDelta, read_klipper
from gough.geometry import calibrate_printer
from gough.methods import LiftedHull
from gough.robots import LinearDelta

DELTA = LinearDelta(radius=0.16, angle=np.radians([210.0, 330.0, 90.0]))


def probes(rng, error=1e-5):
    ring = np.arange(6) * np.pi / 3
    p = 0.1 * np.column_stack([np.cos(ring), np.sin(ring), np.zeros(6)])
    p = np.vstack([p, np.zeros((1, 3))])
    readings = DELTA.inverse(DELTA.nominal, p)
    met = p[:, 2] + 0.999 * error * rng.uniform(-1, 1, 7)
    none = np.zeros(0)
    return p, KlipperDelta(0.16, DELTA.angle, DELTA.arm, DELTA.endstop, met, readings, none, none.reshape(0, 2, 3))


def test_the_towers_that_made_the_heights_are_kept(rng):
    p, seen = probes(rng)
    problem = ProbedHeights(seen, DELTA.nominal + np.r_[2e-4 * rng.normal(size=6), np.zeros(4)], 2e-3, 1e-5)
    answer = LiftedHull(max_steps=1).estimate(problem)
    assert answer.claim is Claim.PROOF
    places = np.column_stack(
        [0.16 * np.cos(DELTA.angle), 0.16 * np.sin(DELTA.angle), np.full(3, 0.4 + np.sqrt(0.345**2 - 0.16**2))]
    )
    assert np.concatenate([places.reshape(-1), p.reshape(-1)]) in answer.region
    assert (answer.region.width[:9] < 4e-3).any()


def test_a_height_that_nothing_explains_is_refuted(rng):
    _, seen = probes(rng)
    off = seen.heights.copy()
    off[6] += 1e-3  # the middle is no part of any tilt
    problem = ProbedHeights(replace(seen, heights=off), DELTA.nominal, 1e-3, 1e-5)
    assert LiftedHull().estimate(problem).status is Status.INCONSISTENT
    with pytest.raises(InputError, match="negative"):
        ProbedHeights(seen, DELTA.nominal, 1e-3, -1.0)


def test_what_explains_a_measured_printer(shared_data):
    """Certified at both ends: between 5.6 and 6.7 µm for every probed height, where least squares leave 8.7 µm."""
    path = shared_data / "delta-klipper" / "flsun-v400.cfg"
    if not path.is_file():
        pytest.skip(f"no {path}")
    calibrated = calibrate_printer(read_klipper(path))
    found = height_tolerance(ProbedHeights(calibrated.probes, calibrated.parameters, 1e-3, 0.0), width=1e-6)
    assert 5.6e-6 < found.lower <= found.upper < 6.7e-6
    assert found.upper - found.lower <= 1e-6
    assert abs(calibrated.residuals_after).max() > 8.6e-6
