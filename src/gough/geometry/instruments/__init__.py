"""Calibration by any instruments: each observes some function of pose and geometry; poses are nuisance unknowns."""

from gough.geometry.instruments.calibrate import calibrate_by_instruments, foresee, simulated
from gough.geometry.instruments.freedoms import Freedoms, FreeMotion
from gough.geometry.instruments.kinds import KINDS
from gough.geometry.instruments.measurements import Instrument, Measurements, Sought, shared_readings
from gough.geometry.instruments.nested import GroupTest, Nested, calibrate_nested
from gough.geometry.instruments.results import CalibratedByInstruments, InstrumentFit

__all__ = [
    "KINDS",
    "CalibratedByInstruments",
    "FreeMotion",
    "Freedoms",
    "GroupTest",
    "Instrument",
    "InstrumentFit",
    "Measurements",
    "Nested",
    "Sought",
    "calibrate_by_instruments",
    "calibrate_nested",
    "foresee",
    "shared_readings",
    "simulated",
]
