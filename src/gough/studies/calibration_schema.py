"""What a calibration study may say: one class per table of the TOML file, one field per key."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from gough.studies.certification_schema import CertifyTable
from gough.studies.pose_selection_schema import SelectionTable
from gough.studies.quantities import quantity
from gough.studies.schema import OutputTable, Table


def _each(unit: str) -> BeforeValidator:
    def convert(value: Any) -> Any:
        return [quantity(each, unit) for each in value] if isinstance(value, list) else [quantity(value, unit)]

    return BeforeValidator(convert)


Lengths = Annotated[list[Annotated[float, Field(gt=0)]], _each("m")]
"""One length for all axes, or a list."""
Angles = Annotated[list[Annotated[float, Field(gt=0)]], _each("rad")]


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


class CalibrationStudyTable(Table):
    """The whole file: a robot and its poses, or a printer."""

    robot: KinematicRobotTable | None = None
    poses: PosesTable | None = None
    printer: PrinterTable | None = None
    noise: PoseNoiseTable = PoseNoiseTable()
    calibration: CalibrationTable = CalibrationTable()
    selection: SelectionTable | None = None
    certify: CertifyTable = CertifyTable()
    output: OutputTable = OutputTable()
