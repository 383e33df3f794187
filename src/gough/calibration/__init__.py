"""Calibration: a machine's blueprint and measured poses become its geometry, with verdicts on how far to trust it."""

from gough.calibration.calibrate import calibrate, cross_validate, machine_frame, rezero
from gough.calibration.held_out import HeldOut, held_out
from gough.calibration.printers import CalibratedPrinter, calibrate_printer
from gough.calibration.results import Calibrated, ChainFit

__all__ = [
    "Calibrated",
    "CalibratedPrinter",
    "ChainFit",
    "HeldOut",
    "calibrate",
    "calibrate_printer",
    "cross_validate",
    "held_out",
    "machine_frame",
    "rezero",
]
