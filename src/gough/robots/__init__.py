"""Robots: equations only, no data, no method. One file per family."""

from gough.robots.five_bar import FiveBar as FiveBar
from gough.robots.h4 import H4 as H4
from gough.robots.h4 import H4Geometry as H4Geometry
from gough.robots.model import DynamicModel as DynamicModel
from gough.robots.model import JointMotion as JointMotion
from gough.robots.model import ParallelRobot as ParallelRobot
from gough.robots.model import PoseMotion as PoseMotion
from gough.robots.model import efforts as efforts

__all__ = ["H4", "DynamicModel", "FiveBar", "H4Geometry", "JointMotion", "ParallelRobot", "PoseMotion", "efforts"]
