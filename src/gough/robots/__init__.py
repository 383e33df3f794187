"""Robots: equations only, no data, no method. One file per family."""

from collections.abc import Mapping
from types import MappingProxyType

from gough.robots.assembly_modes import AssemblyModes as AssemblyModes
from gough.robots.assembly_modes import ModeChoice as ModeChoice
from gough.robots.assembly_modes import assembly_modes as assembly_modes
from gough.robots.assembly_modes import nearest_other_mode as nearest_other_mode
from gough.robots.delta import Delta as Delta
from gough.robots.delta import DeltaGeometry as DeltaGeometry
from gough.robots.five_bar import FiveBar as FiveBar
from gough.robots.gough_platform import GoughPlatform as GoughPlatform
from gough.robots.h4 import H4 as H4
from gough.robots.h4 import H4Geometry as H4Geometry
from gough.robots.h4_kinematics import H4Kinematics as H4Kinematics
from gough.robots.kinematics import KinematicModel as KinematicModel
from gough.robots.kinematics import PlatformPoses as PlatformPoses
from gough.robots.linear_delta import LinearDelta as LinearDelta
from gough.robots.model import DynamicModel as DynamicModel
from gough.robots.model import JointMotion as JointMotion
from gough.robots.model import ParallelRobot as ParallelRobot
from gough.robots.model import PoseMotion as PoseMotion
from gough.robots.model import efforts as efforts
from gough.robots.par4 import Par4 as Par4
from gough.robots.par4 import Par4Geometry as Par4Geometry
from gough.robots.par4_kinematics import Par4Kinematics as Par4Kinematics
from gough.robots.planar_rrr import PlanarRRR as PlanarRRR
from gough.robots.rotary_delta import RotaryDelta as RotaryDelta

ROBOTS: Mapping[str, type] = MappingProxyType({"h4": H4, "par4": Par4, "delta": Delta, "five-bar": FiveBar})
"""All robots, by the names that studies and the command line use."""

__all__ = [
    "H4",
    "ROBOTS",
    "AssemblyModes",
    "Delta",
    "DeltaGeometry",
    "DynamicModel",
    "FiveBar",
    "GoughPlatform",
    "H4Geometry",
    "H4Kinematics",
    "JointMotion",
    "KinematicModel",
    "LinearDelta",
    "ModeChoice",
    "Par4",
    "Par4Geometry",
    "Par4Kinematics",
    "ParallelRobot",
    "PlanarRRR",
    "PlatformPoses",
    "PoseMotion",
    "RotaryDelta",
    "assembly_modes",
    "efforts",
    "nearest_other_mode",
]
