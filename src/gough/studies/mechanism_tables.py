"""The tables of a mechanism file. Quantities stay as they are written until their units are known."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from gough.robots.mechanism.parts import HELD
from gough.studies.toml import Table


class MechanismTable(Table):
    """[mechanism]: name, actuated coordinates and gravity."""

    name: str
    actuated: Annotated[list[str], Field(min_length=1)]
    """Names of the coordinates that actuators drive."""
    actuators: list[str] = []
    """Names of the actuators; default: those of their coordinates."""
    gravity: Any = None
    """Acceleration of free fall; default: that of the MJCF file, else 9.81 m/s² against z."""
    redundant: bool = False
    """Whether redundant closures are allowed."""
    urdf: str | None = None
    """A URDF file with bodies and joints."""
    mjcf: str | None = None
    """An MJCF file with bodies, joints and closures."""


class FrameTable(Table):
    """A frame relative to another: position and successive rotations."""

    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = ()


class PlatformTable(Table):
    """[platform]: the body whose pose is the output of the mechanism."""

    body: str
    pose: Annotated[list[str], Field(min_length=1)]
    home: list[Any]
    tool: FrameTable = FrameTable()


class BodyTable(Table):
    """[[bodies]]: mass properties of a body."""

    name: str
    mass: Any
    center: Any = (0.0, 0.0, 0.0)
    moments: Any = (0.0, 0.0, 0.0)
    """Ixx, Iyy, Izz about the center of mass."""
    products: Any = (0.0, 0.0, 0.0)
    """Ixy, Ixz, Iyz about the center of mass."""
    symmetry: Literal["none", "x", "y", "z", "center", "planar", "point", "massless"] = "none"
    group: str = ""


class LimitsTable(Table):
    """Limits of a coordinate: position, speed, acceleration, effort."""

    lower: Any = None
    upper: Any = None
    speed: Any = None
    acceleration: Any = None
    effort: Any = None


class FrictionTable(Table):
    """Friction of a coordinate."""

    group: str | None = None
    dry: Any = None
    viscous: Any = None
    offset: Any = None


class CoggingTable(Table):
    """Cogging of a drive: efforts that are periodic in its position."""

    period: Any
    harmonics: Annotated[list[int], Field(min_length=1)] = [1]


class FreedomTable(Table):
    """Properties of one coordinate."""

    start: Any = None
    limits: LimitsTable | None = None
    friction: FrictionTable | None = None
    rotor: Any = None
    cogging: CoggingTable | None = None


class JointTable(FreedomTable):
    """[[joints]]: properties of a coordinate apply to all coordinates of the joint, unless `freedoms` lists them."""

    name: str
    kind: Literal["revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "free", "fixed"]
    parent: str
    child: str
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = ()
    axis: Any = "z"
    second_axis: Any = "x"
    freedoms: list[FreedomTable] = []


class ClosureTable(Table):
    """[[closures]]: two frames or points that coincide."""

    name: str
    bodies: Annotated[list[str], Field(min_length=2, max_length=2)]
    points: Annotated[list[Any], Field(min_length=2, max_length=2)] | None = None
    frames: Annotated[list[FrameTable], Field(min_length=2, max_length=2)] | None = None
    kind: Literal["point", "frame", "revolute", "universal", "planar point"] = "point"
    directions: list[str] = []
    """Instead of a kind: some of x, y, z, rx, ry, rz."""

    @property
    def held(self) -> tuple[str, ...]:
        """The directions in which the frames coincide."""
        return tuple(self.directions) or HELD[self.kind]


class LegsTable(Table):
    """[[legs]]: tables that are repeated for each of `names`; any other key is a list with an entry for each."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    names: Annotated[list[str], Field(min_length=1)]
    bodies: list[dict[str, Any]] = []
    joints: list[dict[str, Any]] = []
    closures: list[dict[str, Any]] = []


class FileTable(Table):
    """The whole file, with legs expanded."""

    mechanism: MechanismTable
    platform: PlatformTable
    bodies: list[BodyTable] = []
    joints: list[JointTable] = []
    closures: list[ClosureTable] = []
    groups: dict[str, list[str]] = {}
    """Identical bodies among those read from another file."""
