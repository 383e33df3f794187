"""Identified models for other programs: C for a controller, MJCF, URDF, FMU and JSON, each compared with gough."""

from gough.export.model import CalibratedGeometry as CalibratedGeometry
from gough.export.model import IdentifiedDynamics as IdentifiedDynamics
from gough.export.model import MotionRange as MotionRange
from gough.export.model import RobotModel as RobotModel
from gough.export.model import model_files as model_files

__all__ = ["CalibratedGeometry", "IdentifiedDynamics", "MotionRange", "RobotModel", "model_files"]
