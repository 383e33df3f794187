"""Robots: equations only, no data, no method. One file per robot: dimensions, masses, mechanism and equations.

Every robot has one description, its `mechanism`: bodies, joints, closures and masses. Drawings and the multibody models
for Pinocchio and MuJoCo follow from it. Where a robot also has equations of its own, because they are faster or because
intervals go through them, tests/laws/test_robots.py compares them with those of the mechanism.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from gough.robots.assembly_modes import AssemblyModes as AssemblyModes
from gough.robots.assembly_modes import ModeChoice as ModeChoice
from gough.robots.assembly_modes import assembly_modes as assembly_modes
from gough.robots.assembly_modes import nearest_other_mode as nearest_other_mode
from gough.robots.cables import CableRobot as CableRobot
from gough.robots.delta import Delta as Delta
from gough.robots.delta import DeltaGeometry as DeltaGeometry
from gough.robots.delta import DeltaParts as DeltaParts
from gough.robots.five_bar import FiveBar as FiveBar
from gough.robots.gough_platform import GoughPlatform as GoughPlatform
from gough.robots.h4 import H4 as H4
from gough.robots.h4 import H4Geometry as H4Geometry
from gough.robots.h4 import H4Kinematics as H4Kinematics
from gough.robots.h4 import H4Parts as H4Parts
from gough.robots.hexapod import Hexapod as Hexapod
from gough.robots.hexapod import HexapodGeometry as HexapodGeometry
from gough.robots.kinematics import KinematicModel as KinematicModel
from gough.robots.kinematics import PlatformPoses as PlatformPoses
from gough.robots.linear_delta import LinearDelta as LinearDelta
from gough.robots.model import CoordinateMotion as CoordinateMotion
from gough.robots.model import DynamicModel as DynamicModel
from gough.robots.model import JointMotion as JointMotion
from gough.robots.model import ParallelRobot as ParallelRobot
from gough.robots.model import PoseMotion as PoseMotion
from gough.robots.model import efforts as efforts
from gough.robots.palida import Palida as Palida
from gough.robots.palida import PalidaGeometry as PalidaGeometry
from gough.robots.par4 import Par4 as Par4
from gough.robots.par4 import Par4Geometry as Par4Geometry
from gough.robots.par4 import Par4Kinematics as Par4Kinematics
from gough.robots.par4 import Par4Parts as Par4Parts
from gough.robots.planar_rrr import PlanarGeometry as PlanarGeometry
from gough.robots.planar_rrr import PlanarRRR as PlanarRRR
from gough.robots.planar_rrr import ThreeRRR as ThreeRRR
from gough.robots.rod_delta import RodDelta as RodDelta
from gough.robots.rotary_delta import RotaryDelta as RotaryDelta

ROBOTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "h4": H4,
        "par4": Par4,
        "delta": Delta,
        "five-bar": FiveBar,
        "palida": Palida,
        "6-ups": partial(Hexapod, legs="UPS"),
        "6-ucu": partial(Hexapod, legs="UCU"),
        "3-rrr": ThreeRRR,
    }
)
"""The robots for identification, each a `DynamicModel` with a `mechanism`, by their names in studies and commands."""

CLOSED_FORMS = ("h4", "par4", "delta", "five-bar")
"""The robots with equations of their own, 5 to 19 times faster than those of their mechanism, which the others use."""

KINEMATICS: Mapping[str, type[Any]] = MappingProxyType(
    {
        "gough": GoughPlatform,
        "linear-delta": LinearDelta,
        "rotary-delta": RotaryDelta,
        "3-rrr": PlanarRRR,
        "h4": H4Kinematics,
        "par4": Par4Kinematics,
    }
)
"""The robots for calibration, each a `KinematicModel`, by their names in studies and commands."""

BY_INSTRUMENTS: Mapping[str, type[Any]] = MappingProxyType({"cables": CableRobot, "rod-delta": RodDelta})
"""Robots with more chains than freedoms or than readings, each a `KinematicModel`, for `calibrate_by_instruments`."""

__all__ = [
    "BY_INSTRUMENTS",
    "CLOSED_FORMS",
    "H4",
    "KINEMATICS",
    "ROBOTS",
    "AssemblyModes",
    "CableRobot",
    "CoordinateMotion",
    "Delta",
    "DeltaGeometry",
    "DeltaParts",
    "DynamicModel",
    "FiveBar",
    "GoughPlatform",
    "H4Geometry",
    "H4Kinematics",
    "H4Parts",
    "Hexapod",
    "HexapodGeometry",
    "JointMotion",
    "KinematicModel",
    "LinearDelta",
    "ModeChoice",
    "Palida",
    "PalidaGeometry",
    "Par4",
    "Par4Geometry",
    "Par4Kinematics",
    "Par4Parts",
    "ParallelRobot",
    "PlanarGeometry",
    "PlanarRRR",
    "PlatformPoses",
    "PoseMotion",
    "RodDelta",
    "RotaryDelta",
    "ThreeRRR",
    "assembly_modes",
    "efforts",
    "nearest_other_mode",
]
