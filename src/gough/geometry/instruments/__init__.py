"""Calibration by any instruments: each observes some function of pose and geometry; poses are nuisance unknowns."""

from gough.geometry.instruments.calibrate import calibrate_by_instruments, foresee, simulated
from gough.geometry.instruments.freedoms import Freedoms, FreeMotion
from gough.geometry.instruments.kinds import KINDS
from gough.geometry.instruments.measurements import Instrument, Measurements, Sought
from gough.geometry.instruments.results import CalibratedByInstruments, InstrumentFit

__all__ = [
    "KINDS",
    "CalibratedByInstruments",
    "FreeMotion",
    "Freedoms",
    "Instrument",
    "InstrumentFit",
    "Measurements",
    "Sought",
    "calibrate_by_instruments",
    "foresee",
    "simulated",
]
