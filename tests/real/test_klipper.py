"""Measured delta printers: Klipper's own answers, and what it does not say."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gough.data import read_klipper
from gough.geometry import calibrate_printer

RESIDUALS = {"flsun-v400": 0.0063, "flsun-sr": 0.0759}


@pytest.fixture(params=RESIDUALS)
def printer(request, klippers_answer):
    return request.param, klippers_answer(request.param)


def test_what_an_owner_writes_counts_before_what_was_saved(shared_data):
    """Klipper leaves out what is saved of a key that stands above; this owner has written a radius there."""
    path = shared_data / "delta-klipper" / "flsun-sr.cfg"
    if not path.is_file():
        pytest.skip(f"no {path}")
    assert read_klipper(path).radius == 0.15


def test_klippers_answer_to_four_decimals(printer):
    """From a blueprint that Klipper's answer has no part in: round numbers, towers at 120°."""
    name, saved = printer
    start = replace(
        saved,
        radius=round(saved.radius, 2),
        angle=np.radians([210.0, 330.0, 90.0]),
        endstop=np.full(3, round(float(saved.endstop.mean()), 2)),
    )
    found = calibrate_printer(start)
    endstop, radius, angle, arm = np.split(found.parameters, [3, 4, 7])
    assert abs(1e3 * (endstop - saved.endstop)).max() < 5e-5
    assert abs(1e3 * (radius - saved.radius)).max() < 5e-5
    assert abs(np.degrees(angle - saved.angle)).max() < 5e-5
    assert (arm == saved.arm).all()
    assert round(1e3 * found.rms[1], 4) == RESIDUALS[name]
    assert found.rms[0] > 10 * found.rms[1]


def test_what_klipper_does_not_say(printer):
    _, saved = printer
    found = calibrate_printer(saved)
    assert found.identifiability.is_full_rank
    assert found.estimate.stats.n_rows - len(found.estimate.unknowns) == 1
    assert "Only 1 equation more than unknowns" in str(found)
    assert "stay as configured" in str(found)
    assert found.rms[0] == pytest.approx(found.rms[1], rel=1e-3)  # as saved, it is the minimum already


def test_the_exported_block_is_klippers(printer, tmp_path):
    _, saved = printer
    block = calibrate_printer(saved).block
    path = tmp_path / "printer.cfg"
    path.write_text(Path(saved.source).read_text(encoding="utf-8") + "\n" + block + "\n")
    again = read_klipper(path)
    assert abs(again.endstop - saved.endstop).max() < 5e-8
    assert abs(again.angle - saved.angle).max() < 1e-6
