"""The tables of studies with instruments: readings in [measurements], and a table [[instruments]] for each."""

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from gough.data.expanded_uncertainty import COVERAGE
from gough.studies.calibration_schema import KinematicRobotTable
from gough.studies.schema import OutputTable
from gough.studies.toml import Table


class MeasurementsTable(Table):
    """[measurements]: the file with a row for each pose, and the robot's own readings in it."""

    file: str
    readings: list[str] = Field(default_factory=list)
    """Columns of the readings; default: l1, l2, …"""
    unit: str | None = None
    """Unit of the readings, where the heads of their columns do not state it."""
    sigma: float | str | list[float | str] | None = None
    """Standard deviation of the readings: one, or one for each chain; default: one for all is estimated."""
    heads: list[str] = Field(default_factory=list)
    """Names of the columns, where the file has no line of names."""
    pose: str | None = None
    """Column that names each pose, for instruments with files of their own; default: the order of the rows."""
    session: str | None = None
    """Column that names the session of each pose, such as its day."""
    loads: list[str] = Field(default_factory=list)
    """Columns of the tensions of the cables, for cables that stretch."""
    missing: Literal["empty", "nan"] = "empty"
    """What counts as not measured: empty cells, or empty cells and NaN; else NaN is refused."""
    planned: bool = False
    """Whether nothing was measured yet: the readings are planned, and the answer states what to expect."""


class InstrumentTable(Table):
    """[[instruments]]: one instrument. Parts are stated by value, as "unknown", or by another instrument's name."""

    name: str
    kind: Literal["pose", "point", "tilts", "heading", "distance", "apart", "plane", "sphere", "image"]
    columns: list[str] = Field(default_factory=list)
    """Its columns; default: NAME_x, NAME_y, … or x, y, …"""
    orientation: list[str] = Field(default_factory=list)
    """For a pose: columns of a quaternion (scalar first), a rotation vector, Euler angles or a matrix (by rows)."""
    orientation_unit: str | None = None
    """Unit of angles of an orientation, where heads do not state it."""
    euler: str | None = None
    """Convention of three angles of an orientation, in the order of the turns: "fixed xyz", "moving zyx", …"""
    unit: str | None = None
    """Unit of its lengths, or of its angles if it measures angles only, where heads do not state it."""
    file: str | None = None
    """A file of its own, with a row for each pose in the order of [measurements]; for kind "apart" a row for each
    distance."""
    heads: list[str] = Field(default_factory=list)
    """Names of the columns of its own file, where that has no line of names."""
    where: dict[str, str | float] = Field(default_factory=dict)
    """Rows of its own file that count: {target = "N1"}, those with N1 in the column target."""
    match: str | None = None
    """Column of its own file that names the pose of each row, as the column `pose` of [measurements] does."""
    poses: Annotated[list[str], Field(min_length=2, max_length=2)] = Field(default_factory=lambda: ["first", "second"])
    """For kind "apart": columns with the numbers of both poses, from 0."""
    sigma: float | str | list[float | str] | None = None
    """Standard deviation: one, or one for each channel; for a pose of position and orientation; default: estimated."""
    covariance: list[list[float]] | None = None
    """Covariance of its channels in SI units, instead of sigma."""
    uncertainty: list[str] = Field(default_factory=list)
    """Columns of expanded uncertainties U(95), instead of sigma: of columns, and for a pose also of orientation."""
    coverage: Annotated[float, Field(gt=0)] = COVERAGE
    """Coverage factor of these uncertainties: U over the standard deviation."""
    frame: Any = None
    """The robot's base in the instrument's frame: "robot" (default: the same frame), "unknown", "each session", the
    name of another instrument, or {position, quaternion}."""
    target: Any = None
    point: Any = None
    mount: Any = None
    up: Any = None
    offset: Any = None
    anchor: Any = None
    plane: Any = None
    sphere: Any = None
    camera: Any = None
    """For an image: the camera.toml of its camera, or {guess = "camera.toml"} to estimate it too."""
    points: list[list[float | str]] | str | None = None
    """For an image: the points of the target in its own frame, or a file with columns x, y, z."""

    @model_validator(mode="after")
    def _noise_once(self) -> Self:
        if self.sigma is not None and self.covariance is not None:
            raise ValueError(f"state the noise of '{self.name}' once: either sigma or covariance")
        if self.uncertainty and (self.covariance is not None or (self.sigma is not None and self.kind != "pose")):
            raise ValueError(f"state the noise of '{self.name}' once: either uncertainty, or sigma or covariance")
        return self

    @model_validator(mode="after")
    def _own_file(self) -> Self:
        stated = [key for key in ("heads", "where", "match") if getattr(self, key)]
        if stated and self.file is None:
            raise ValueError(f"{', '.join(stated)} of '{self.name}' need a file of its own: state file")
        return self


class InstrumentCalibrationTable(Table):
    """[calibration]: options of the calibration."""

    fixed: list[str] = Field(default_factory=list)
    """Parameters that keep their values; * stands for any letters."""
    nested: dict[str, Annotated[list[str], Field(min_length=1)]] = Field(default_factory=dict)
    """Groups of parameters, simplest first: each is estimated only if the measurements need it."""
    prior: dict[str, float | str] = Field(default_factory=dict)
    """Standard deviations of parameters about the blueprint; * stands for any letters."""


class InstrumentStudyTable(Table):
    """The whole file of a study with instruments."""

    robot: KinematicRobotTable
    measurements: MeasurementsTable
    instruments: list[InstrumentTable] = Field(default_factory=list)
    calibration: InstrumentCalibrationTable = InstrumentCalibrationTable()
    output: OutputTable = OutputTable()
