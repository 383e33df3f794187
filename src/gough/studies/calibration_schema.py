"""The tables of studies about geometry: calibration, certification and the choice of poses."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gough.data.expanded_uncertainty import COVERAGE
from gough.studies.schema import Ends, OutputTable, each_in_unit, in_unit
from gough.studies.toml import Table

Lengths = Annotated[list[Annotated[float, Field(gt=0)]], each_in_unit("m")]
"""One length for all axes, or a list."""
Angles = Annotated[list[Annotated[float, Field(gt=0)]], each_in_unit("rad")]
HalfWidths = Annotated[list[Annotated[float, Field(ge=0)]], each_in_unit("m"), Field(min_length=1, max_length=3)]
"""Half-widths of the axes, or one for all."""
HalfAngles = Annotated[list[Annotated[float, Field(ge=0)]], each_in_unit("rad"), Field(min_length=1, max_length=3)]
Reach = Annotated[list[Annotated[float, Field(gt=0)]], each_in_unit("m"), Field(min_length=1, max_length=3)]
"""Half-width of the search box: one for all unknowns, or for base points, platform points and lengths."""
Length = Annotated[float, Field(ge=0), in_unit("m")]
Width = Annotated[float, Field(gt=0), in_unit("m")]
Text = float | str
Vector = Annotated[list[Text], Field(min_length=3, max_length=3)]
Direction = Annotated[list[float], Field(min_length=3, max_length=3)]


class KinematicRobotTable(Table):
    """[robot]: the robot and its blueprint."""

    family: Literal["gough", "linear-delta", "rotary-delta", "h4", "par4", "3-rrr", "cables", "rod-delta"] | None = None
    file: str | None = None
    """A geometry.toml that a calibration wrote, instead of a family: its values are the blueprint."""
    name: str | None = None
    """Name of the robot in reports."""
    blueprint: str | None = None
    """Name of a built-in blueprint: "deltalab"."""
    geometry: dict[str, Any] = Field(default_factory=dict)
    """Its dimensions, with units."""
    chains: dict[str, list[float]] = Field(default_factory=dict)
    """H4 and Par4: calibrated parameters of each chain, in SI units, in place of those of the dimensions."""
    gains: bool = False
    """Gough platforms and cable robots: whether the gain of each leg or cable is unknown."""
    reading_unit: str = "m"
    """Gough platforms and cable robots: unit of the sensors, such as "rev"; gains are then m per this unit."""

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if (self.family is None) == (self.file is None):
            raise ValueError('say which robot: either family = "gough" or another name, or file = "geometry.toml"')
        stated = self.model_fields_set - {"file", "gains"}
        if self.file is not None and stated:
            raise ValueError(f"a geometry file states the robot: leave out {', '.join(sorted(stated))}")
        return self


class PosesTable(Table):
    """[poses]: the measured poses and readings."""

    file: str
    validation: str | None = None
    """A file of poses for validation only."""
    readings: str | None = None
    """A file of the readings, a row for each pose in the same order; default: they are in the file of the poses."""
    heads: list[str] = Field(default_factory=list)
    """Names of the columns, where the file has no line of names."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Name in gough = column of the file."""
    units: dict[str, str] = Field(default_factory=dict)
    """position, rotation, readings = unit in the file."""
    quaternion: Literal["wxyz", "xyzw"] | None = None
    euler: str | None = None
    """Convention of Euler angles in the columns e1, e2, e3 or roll, pitch, yaw: "fixed xyz", "moving zyx", …"""
    coverage: Annotated[float, Field(gt=0)] = COVERAGE
    """Coverage factor of expanded uncertainties ux, uy, …: U over the standard deviation."""
    exclude: list[int | str] = Field(default_factory=list)
    """Poses that are left out: numbers from 0, or places such as "line 42", as messages name them."""
    missing: Literal["refuse", "drop"] = "refuse"
    """Treatment of empty cells and NaN: refuse the file, or leave out these poses."""
    average: bool = False
    """Average repeats by the columns configuration and run; the noise is then estimated from their scatter."""

    @model_validator(mode="after")
    def _one_orientation(self) -> Self:
        if self.quaternion is not None and self.euler is not None:
            raise ValueError("quaternion and euler contradict each other: keep the one that the file has")
        if self.readings is not None and self.validation is not None:
            raise ValueError("readings in a file of their own belong to one file of poses: leave out validation")
        return self


class PoseNoiseTable(Table):
    """[noise]: standard deviations of poses and readings; by default estimated from the residuals."""

    position: Lengths | None = None
    orientation: Angles | None = None
    readings: float | str | list[float | str] | None = None


class CalibrationTable(Table):
    """[calibration]: options of the calibration."""

    frames: Literal["robot", "instrument"] = "robot"
    fixed: list[str] = Field(default_factory=list)
    """Parameters that keep their values: names, or patterns such as "a*"."""
    tolerance: float | str | dict[str, float | str] | None = None
    """What values of the blueprint may be wrong by (95 %), a prior: one for all lengths, or by names and patterns."""
    scale: bool = False
    robust: bool = False
    folds: Annotated[int, Field(ge=0)] = 0
    """Number of parts for cross-validation, where there are no validation poses."""


class PlacementTable(Table):
    """[frames.base] or [frames.platform]: a frame in another one."""

    position: Annotated[list[float], each_in_unit("m"), Field(min_length=3, max_length=3)]
    """Origin of the frame, in the coordinates of the other one."""
    quaternion: Annotated[list[Annotated[float, Field(ge=-2, le=2)]], Field(min_length=4, max_length=4)]
    """Orientation of the frame in the other one, scalar first."""
    position_tolerance: HalfWidths = Field(default_factory=lambda: [0.0])
    """Half-width of the position along the axes of the other frame: one, or one for each axis."""
    orientation_tolerance: HalfAngles = Field(default_factory=lambda: [0.0])
    """Half-width of the left rotation vector: one, or one for each axis."""


class FramesTable(Table):
    """[frames]: the frames of the measured poses, for robots with other chains than legs."""

    base: PlacementTable
    """The robot's base in the instrument's frame."""
    platform: PlacementTable | None = None
    """The platform in the target's frame; default: the target is the platform."""


class PrinterTable(Table):
    """[printer]: the configuration of a delta printer that Klipper has probed."""

    file: str


class ModelErrorTable(Table):
    """[certify.model_error]: bounds on errors of the model, added to the tolerance of each reading."""

    constant: float | str = 0.0
    """Constant bound, for example for play in the joints: a length for legs, else in the unit of readings."""
    reading: float | str = 0.0
    """Bound per unit between a reading and the middle of that chain's readings."""
    position: float | str = 0.0
    """Bound per m between a position and the middle of the positions."""
    orientation: float | str = 0.0
    """Bound per rad between an orientation and the mean orientation; `gough check` does not derive it."""


class CertifyTable(Table):
    """[certify]: half-widths of the measurements, the search box, and what to prove."""

    position: HalfWidths | None = None
    orientation: HalfAngles | None = None
    readings: float | str | list[float | str] | None = None
    sigmas: Annotated[float, Field(gt=0)] = 3.0
    """Half-widths that are not stated, in standard deviations of [noise] or of the averaged repeats."""
    around: Reach = Field(default_factory=lambda: [0.1])
    center: Literal["blueprint", "calibrated"] | None = None
    """Center of the search box; default: the blueprint, or the calibration if the instrument's frame is not stated."""
    chains: list[Annotated[int, Field(ge=1)]] = Field(default_factory=list)
    """Numbers of the chains, from 1; default: all."""
    outliers: Annotated[int, Field(ge=0, le=5)] = 0
    """Number of poses that may be wrong, at most 5: the choices to examine multiply with each."""
    joint: bool = True
    """Whether to certify also all chains together, with shared errors of the poses."""
    joint_box: bool = False
    """Whether to compute also a box of all chains together, which takes a minute."""
    width: Width = 1e-6
    """Width of the bracket of the smallest tolerance."""
    model_error: ModelErrorTable = ModelErrorTable()


class CameraTable(Table):
    """[selection.camera]: a camera that must see a target on the platform in each pose."""

    position: Vector
    """Position of the camera in the frame of the poses."""
    direction: Direction
    half_angle: Text
    """Half angle of the cone of view."""
    target: Vector | None = None
    """Center of the target in the platform's frame; default: its origin."""
    normal: Direction = Field(default_factory=lambda: [0.0, 0.0, 1.0])
    """Normal of the target in the platform's frame."""
    incidence: Text = "60 deg"
    """Largest angle at which the target is seen."""
    radius: Text = 0.0
    """Radius of the target."""
    distance: Ends | None = None
    """Least and greatest distance between camera and target."""


class PoseLimitsTable(Table):
    """[selection.limits]: limits of every configuration. Numbers in SI units, or text with a unit."""

    readings: Annotated[list[Text | list[Text]], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest reading: one for all chains, or a list with one for each."""
    pose: dict[str, Ends] = Field(default_factory=dict)
    """Ranges of x, y, z, tilt, heading, turn."""
    base_cone: Text | None = None
    """Largest angle of the rods to their mean direction, at the base's ball joints."""
    platform_cone: Text | None = None
    """Likewise at the platform's ball joints."""
    margin: Annotated[float, Field(gt=0)] = 0.1
    """Least distance to singularity, as a share of that at home."""


class SelectionTable(Table):
    """[selection]: the poses to choose (`gough poses`)."""

    count: Annotated[int, Field(ge=1)] | None = None
    """Number of poses; default: twice the minimum."""
    target: Text | None = None
    """Required standard deviation of predicted positions, such as "0.05 mm": finds the number of poses."""
    most: Annotated[int, Field(ge=1)] = 64
    """Greatest number of poses to try for a target."""
    criterion: Literal["D", "A", "E", "pose"] | None = None
    """D by default, pose where a target is given."""
    candidates: list[Literal["extremal", "low-discrepancy", "random", "grid"]] | None = None
    """Sources of candidate poses; default: extremal and low-discrepancy."""
    draws: Annotated[int, Field(ge=1)] = 2000
    """Number of candidates to draw."""
    levels: Annotated[int, Field(ge=2)] = 3
    """Levels of a grid for each chain."""
    repeats: bool = False
    """Whether a configuration may be chosen more than once."""
    complete: str | None = None
    """A file of poses that were measured already, to be completed by the new ones."""
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
    frames: FramesTable | None = None
    selection: SelectionTable | None = None
    certify: CertifyTable = CertifyTable()
    output: OutputTable = OutputTable()
