"""Kinematic calibration: a robot's blueprint and measured poses become its geometry, with verdicts."""

from gough.geometry.calibrate import calibrate, cross_validate, rezero, robot_frame
from gough.geometry.frames import Frames, Motion, hand_eye, procrustes, refined
from gough.geometry.gauges import CentroidGauge, Gauge, PointGauge, Procrustes, Regauged, regauged
from gough.geometry.geometric import geometric
from gough.geometry.held_out import HeldOut, held_out
from gough.geometry.printers import CalibratedPrinter, calibrate_printer
from gough.geometry.probed import probed
from gough.geometry.results import Calibrated, ChainFit

__all__ = [
    "Calibrated",
    "CalibratedPrinter",
    "CentroidGauge",
    "ChainFit",
    "Frames",
    "Gauge",
    "HeldOut",
    "Motion",
    "PointGauge",
    "Procrustes",
    "Regauged",
    "calibrate",
    "calibrate_printer",
    "cross_validate",
    "geometric",
    "hand_eye",
    "held_out",
    "probed",
    "procrustes",
    "refined",
    "regauged",
    "rezero",
    "robot_frame",
]
