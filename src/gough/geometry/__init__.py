"""Kinematic calibration: a robot's blueprint and measured poses become its geometry, with verdicts."""

from gough.core.rigid import RigidMotion
from gough.geometry.calibrate import calibrate, cross_validate, estimated_frames, rezero, robot_frame
from gough.geometry.days import Recalibrated, recalibrate
from gough.geometry.frames import Frames, Placement, StatedFrames, hand_eye, procrustes, refined
from gough.geometry.gauges import CentroidGauge, Gauge, PointGauge, Procrustes, Regauged, regauged
from gough.geometry.geometric import geometric
from gough.geometry.held_out import HeldOut, held_out
from gough.geometry.machine import MachineGeometry, geometry_text, machine_geometry
from gough.geometry.printers import CalibratedPrinter, calibrate_printer, probed
from gough.geometry.results import Calibrated, ChainFit

__all__ = [
    "Calibrated",
    "CalibratedPrinter",
    "CentroidGauge",
    "ChainFit",
    "Frames",
    "Gauge",
    "HeldOut",
    "MachineGeometry",
    "Placement",
    "PointGauge",
    "Procrustes",
    "Recalibrated",
    "Regauged",
    "RigidMotion",
    "StatedFrames",
    "calibrate",
    "calibrate_printer",
    "cross_validate",
    "estimated_frames",
    "geometric",
    "geometry_text",
    "hand_eye",
    "held_out",
    "machine_geometry",
    "probed",
    "procrustes",
    "recalibrate",
    "refined",
    "regauged",
    "rezero",
    "robot_frame",
]
