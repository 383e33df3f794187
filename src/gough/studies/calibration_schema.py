"""The tables of studies about geometry: calibration, certification and the choice of poses."""

from typing import Annotated, Any, Literal

from pydantic import Field

from gough.studies.schema import Ends, OutputTable, each_in_unit, in_unit
from gough.studies.toml import Table

Lengths = Annotated[list[Annotated[float, Field(gt=0)]], each_in_unit("m")]
"""One length for all axes, or a list."""
Angles = Annotated[list[Annotated[float, Field(gt=0)]], each_in_unit("rad")]
HalfWidths = Annotated[list[Annotated[float, Field(ge=0)]], each_in_unit("m"), Field(min_length=1, max_length=3)]
"""Of each axis, or one for all."""
HalfAngles = Annotated[list[Annotated[float, Field(ge=0)]], each_in_unit("rad"), Field(min_length=1, max_length=3)]
Reach = Annotated[list[Annotated[float, Field(gt=0)]], each_in_unit("m"), Field(min_length=1, max_length=3)]
"""Of all unknowns, or of the base's points, the platform's points and the lengths."""
Length = Annotated[float, Field(ge=0), in_unit("m")]
Width = Annotated[float, Field(gt=0), in_unit("m")]
Text = float | str
Vector = Annotated[list[Text], Field(min_length=3, max_length=3)]
Direction = Annotated[list[float], Field(min_length=3, max_length=3)]


class KinematicRobotTable(Table):
    """[robot]: which robot, with its blueprint."""

    family: Literal["gough", "linear-delta", "rotary-delta", "h4", "par4", "3-rrr"]
    blueprint: str | None = None
    """A blueprint that is built in: "deltalab"."""
    geometry: dict[str, Any] = Field(default_factory=dict)
    """Its dimensions, with units."""
    gains: bool = False
    """Gough platforms: is each leg's gain unknown too?"""
    reading_unit: str = "m"
    """Gough platforms: what the legs' sensors count in, such as "rev"; gains are then m per this unit."""


class PosesTable(Table):
    """[poses]: what was measured."""

    file: str
    validation: str | None = None
    """A file of poses that take no part."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Name in gough = column of the file."""
    units: dict[str, str] = Field(default_factory=dict)
    """position, rotation, readings = unit in the file."""
    quaternion: Literal["wxyz", "xyzw"] | None = None
    average: bool = False
    """Average repeats by the columns configuration and run; their scatter is then the noise."""


class PoseNoiseTable(Table):
    """[noise]: standard deviations of what was measured; left out, they are taken from the residuals."""

    position: Lengths | None = None
    orientation: Angles | None = None
    readings: float | str | list[float | str] | None = None


class CalibrationTable(Table):
    """[calibration]: how."""

    frames: Literal["robot", "instrument"] = "robot"
    fixed: list[str] = Field(default_factory=list)
    scale: bool = False
    robust: bool = False
    folds: Annotated[int, Field(ge=0)] = 0
    """Without validation poses: cross-validate in so many parts."""


class PrinterTable(Table):
    """[printer]: a delta printer that Klipper has probed."""

    file: str


class ModelErrorTable(Table):
    """[certify.model_error]: what the model may be wrong by, added to the tolerance of each reading."""

    constant: Length = 0.0
    """Of zeroth order: the same everywhere, such as play in the joints."""
    reading: Annotated[float, Field(ge=0)] = 0.0
    """Of first order: m for each m between a reading and the middle of that chain's readings."""
    position: Annotated[float, Field(ge=0)] = 0.0
    """Of first order: m for each m between a position and the middle of the positions."""
    orientation: Annotated[float, Field(ge=0), in_unit("m/rad")] = 0.0
    """Of first order: m for each rad that the platform is turned from its mean orientation."""


class CertifyTable(Table):
    """[certify]: half-widths of what was measured, where the chains are sought, and what is to be proven."""

    position: HalfWidths | None = None
    orientation: HalfAngles | None = None
    readings: float | str | list[float | str] | None = None
    sigmas: Annotated[float, Field(gt=0)] = 3.0
    """Half-widths that are not stated are so many standard deviations of [noise], or of the averaged repeats."""
    around: Reach = Field(default_factory=lambda: [0.1])
    center: Literal["blueprint", "calibrated"] | None = None
    """What `around` is around; left out, the calibration where the instrument has a frame of its own."""
    chains: list[Annotated[int, Field(ge=1)]] = Field(default_factory=list)
    """Left out: all of them."""
    outliers: Annotated[int, Field(ge=0, le=5)] = 0
    """So many poses may be wrong, whichever they are."""
    joint: bool = True
    """Also all chains together, the errors of poses being shared?"""
    joint_box: bool = False
    """Also a box of all chains together? It takes a minute."""
    width: Width = 1e-6
    """Of the bracket of the smallest tolerance."""
    model_error: ModelErrorTable = ModelErrorTable()


class CameraTable(Table):
    """[selection.camera]: a camera that must see a target on the platform."""

    position: Vector
    """In the frame of the poses."""
    direction: Direction
    half_angle: Text
    """Of its cone of view."""
    target: Vector | None = None
    """The target's middle in the platform's frame; its origin by default."""
    normal: Direction = Field(default_factory=lambda: [0.0, 0.0, 1.0])
    """Where the target faces, in the platform's frame."""
    incidence: Text = "60 deg"
    """Largest angle at which the target is seen."""
    radius: Text = 0.0
    """Of the target."""
    distance: Ends | None = None
    """Least and greatest."""


class PoseLimitsTable(Table):
    """[selection.limits]: what every configuration keeps. Numbers in SI units, or text with a unit."""

    readings: Annotated[list[Text | list[Text]], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest reading: one for all chains, or a list with one for each."""
    pose: dict[str, Ends] = Field(default_factory=dict)
    """Ranges of x, y, z, tilt, heading, turn."""
    base_cone: Text | None = None
    """Largest angle of the rods to their mean direction, at the base's ball joints."""
    platform_cone: Text | None = None
    """The same on the platform."""
    margin: Annotated[float, Field(gt=0)] = 0.1
    """Least distance to singularity, as a share of that at home."""


class SelectionTable(Table):
    """[selection]: which poses to measure."""

    count: Annotated[int, Field(ge=1)] | None = None
    """How many; by default twice as many as are needed."""
    target: Text | None = None
    """Standard deviation of predicted positions, such as "0.05 mm": then the count is found."""
    most: Annotated[int, Field(ge=1)] = 64
    """Poses to try for a target."""
    criterion: Literal["D", "A", "E", "pose"] | None = None
    """D by default, pose where a target is given."""
    candidates: list[Literal["extremal", "low-discrepancy", "random", "grid"]] | None = None
    """Where they come from; by default extremal and low-discrepancy."""
    draws: Annotated[int, Field(ge=1)] = 2000
    """How many to draw."""
    levels: Annotated[int, Field(ge=2)] = 3
    """Of a grid, for each chain."""
    repeats: bool = False
    """May a configuration be measured more than once?"""
    complete: str | None = None
    """A file of poses that were measured already; the new ones complete them."""
    starts: Annotated[int, Field(ge=1)] = 3
    seed: Annotated[int, Field(ge=0)] = 1
    folder: str = "poses"
    limits: PoseLimitsTable = PoseLimitsTable()
    camera: CameraTable | None = None


class GeometryTable(Table):
    """The whole file of a study about geometry: a robot and its poses, or a printer."""

    robot: KinematicRobotTable | None = None
    poses: PosesTable | None = None
    printer: PrinterTable | None = None
    noise: PoseNoiseTable = PoseNoiseTable()
    calibration: CalibrationTable = CalibrationTable()
    selection: SelectionTable | None = None
    certify: CertifyTable = CertifyTable()
    output: OutputTable = OutputTable()
