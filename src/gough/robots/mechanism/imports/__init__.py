"""Mechanisms from files of other programs: URDF, which has no loops, and MJCF, which has."""

from gough.robots.mechanism.imports.mjcf import read_mjcf as read_mjcf
from gough.robots.mechanism.imports.parts import Imported as Imported
from gough.robots.mechanism.imports.urdf import read_urdf as read_urdf

__all__ = ["Imported", "read_mjcf", "read_urdf"]
