"""Any closed-chain mechanism from a description: kinematics of its loops, and a regressor of its dynamics.

A `Mechanism` says what there is; a `MechanismModel` of it is a robot like any other of the library.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from gough.robots.mechanism.builtin.delta_family import LegMasses as LegMasses
from gough.robots.mechanism.builtin.delta_family import delta_mechanism as delta_mechanism
from gough.robots.mechanism.builtin.delta_family import h4_mechanism as h4_mechanism
from gough.robots.mechanism.builtin.delta_family import par4_mechanism as par4_mechanism
from gough.robots.mechanism.builtin.hexapods import Hexapod as Hexapod
from gough.robots.mechanism.builtin.hexapods import HexapodGeometry as HexapodGeometry
from gough.robots.mechanism.builtin.hexapods import hexapod_mechanism as hexapod_mechanism
from gough.robots.mechanism.builtin.palida import Palida as Palida
from gough.robots.mechanism.builtin.palida import PalidaGeometry as PalidaGeometry
from gough.robots.mechanism.builtin.palida import palida_mechanism as palida_mechanism
from gough.robots.mechanism.builtin.planar import PlanarGeometry as PlanarGeometry
from gough.robots.mechanism.builtin.planar import five_bar_mechanism as five_bar_mechanism
from gough.robots.mechanism.builtin.planar import planar_mechanism as planar_mechanism
from gough.robots.mechanism.description import Mechanism as Mechanism
from gough.robots.mechanism.inertia import Inertia as Inertia
from gough.robots.mechanism.model import MechanismModel as MechanismModel
from gough.robots.mechanism.parts import Body as Body
from gough.robots.mechanism.parts import Closure as Closure
from gough.robots.mechanism.parts import Cogging as Cogging
from gough.robots.mechanism.parts import Freedom as Freedom
from gough.robots.mechanism.parts import Friction as Friction
from gough.robots.mechanism.parts import Joint as Joint
from gough.robots.mechanism.parts import Limits as Limits
from gough.robots.mechanism.parts import Platform as Platform
from gough.robots.mechanism.placement import Placement as Placement

MECHANISMS: Mapping[str, Callable[[], Mechanism]] = MappingProxyType(
    {
        "palida": palida_mechanism,
        "6-ups": partial(hexapod_mechanism, "UPS"),
        "6-ucu": partial(hexapod_mechanism, "UCU"),
        "delta": delta_mechanism,
        "h4": h4_mechanism,
        "par4": par4_mechanism,
        "3-rrr": planar_mechanism,
        "five-bar": five_bar_mechanism,
    }
)
"""The mechanisms that come with the library, by name."""

__all__ = [
    "MECHANISMS",
    "Body",
    "Closure",
    "Cogging",
    "Freedom",
    "Friction",
    "Hexapod",
    "HexapodGeometry",
    "Inertia",
    "Joint",
    "LegMasses",
    "Limits",
    "Mechanism",
    "MechanismModel",
    "Palida",
    "PalidaGeometry",
    "Placement",
    "PlanarGeometry",
    "Platform",
    "delta_mechanism",
    "five_bar_mechanism",
    "h4_mechanism",
    "hexapod_mechanism",
    "palida_mechanism",
    "par4_mechanism",
    "planar_mechanism",
]
