"""Mechanisms from files of other programs: MJCF, URDF with its extensions for loops, and SDF."""

from collections.abc import Sequence
from pathlib import Path

from gough.robots.mechanism.imports.extended_urdf import read_extended_urdf as read_extended_urdf
from gough.robots.mechanism.imports.mjcf import read_mjcf as read_mjcf
from gough.robots.mechanism.imports.parts import Imported as Imported
from gough.robots.mechanism.imports.sdf import read_sdf as read_sdf
from gough.robots.mechanism.imports.urdf import read_urdf as read_urdf
from gough.robots.mechanism.imports.xml import read_xml

__all__ = ["SUFFIXES", "Imported", "read_description", "read_extended_urdf", "read_mjcf", "read_sdf", "read_urdf"]

SUFFIXES = (".urdf", ".xml", ".mjcf", ".sdf", ".yaml", ".yml")
"""Endings of the names of such files."""


def read_description(path: str | Path, actuated: Sequence[str] = ()) -> Imported:
    """Bodies, joints and closures of a file of another program.

    The root element of an XML file states whether it is URDF, MJCF or SDF; a YAML file is the part of an Extended URDF
    that names the frames to join.

    Args:
        path: The file.
        actuated: Joints that must not be those at which loops are cut, where the file leaves the choice (SDF).

    Raises:
        InputError: the file cannot be read, is none of these, or holds what a mechanism cannot express.
    """
    if Path(path).suffix.lower() in {".yaml", ".yml"}:
        return read_extended_urdf(path)
    root = read_xml(Path(path), "robot", "mujoco", "sdf")
    if root.tag == "sdf":
        return read_sdf(path, actuated)
    return read_urdf(path) if root.tag == "robot" else read_mjcf(path)
