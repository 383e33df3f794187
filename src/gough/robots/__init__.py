"""Robots: equations only, no data, no method. One file per family."""

from collections.abc import Mapping
from types import MappingProxyType

from gough.robots.delta import Delta as Delta
from gough.robots.delta import DeltaGeometry as DeltaGeometry
from gough.robots.five_bar import FiveBar as FiveBar
from gough.robots.h4 import H4 as H4
from gough.robots.h4 import H4Geometry as H4Geometry
from gough.robots.model import DynamicModel as DynamicModel
from gough.robots.model import JointMotion as JointMotion
from gough.robots.model import ParallelRobot as ParallelRobot
from gough.robots.model import PoseMotion as PoseMotion
from gough.robots.model import efforts as efforts
from gough.robots.par4 import Par4 as Par4
from gough.robots.par4 import Par4Geometry as Par4Geometry

ROBOTS: Mapping[str, type] = MappingProxyType({"h4": H4, "par4": Par4, "delta": Delta, "five-bar": FiveBar})
"""All robots, by the names that studies and the command line use."""

__all__ = [
    "H4",
    "ROBOTS",
    "Delta",
    "DeltaGeometry",
    "DynamicModel",
    "FiveBar",
    "H4Geometry",
    "JointMotion",
    "Par4",
    "Par4Geometry",
    "ParallelRobot",
    "PoseMotion",
    "efforts",
]
