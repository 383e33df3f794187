"""Mechanisms from files of other programs: URDF, which has no loops, and MJCF, which has."""

from pathlib import Path

from gough.robots.mechanism.imports.mjcf import read_mjcf as read_mjcf
from gough.robots.mechanism.imports.parts import Imported as Imported
from gough.robots.mechanism.imports.urdf import read_urdf as read_urdf
from gough.robots.mechanism.imports.xml import read_xml

__all__ = ["SUFFIXES", "Imported", "read_mjcf", "read_urdf", "read_urdf_or_mjcf"]

SUFFIXES = (".urdf", ".xml", ".mjcf")
"""Endings of the names of such files."""


def read_urdf_or_mjcf(path: str | Path) -> Imported:
    """Bodies, joints and closures of a URDF or MJCF file; its root element states which of the two it is.

    Raises:
        InputError: the file cannot be read, is neither, or holds what a mechanism cannot express.
    """
    root = read_xml(Path(path), "robot", "mujoco")
    return read_urdf(path) if root.tag == "robot" else read_mjcf(path)
