"""Types of values in studies, and the tables of studies about dynamics."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from gough.core.units import LARGEST
from gough.dynamics import DEFAULT_METHODS
from gough.dynamics.named import ByMethod
from gough.studies.quantities import quantity
from gough.studies.toml import Table


def in_unit(unit: str) -> BeforeValidator:
    """A quantity: a number in `unit`, or text with any unit of the same kind."""
    return BeforeValidator(lambda value: quantity(value, unit))


def each_in_unit(unit: str) -> BeforeValidator:
    """A list of quantities; one quantity becomes a list of one."""
    return BeforeValidator(lambda value: [quantity(each, unit) for each in _listed(value)])


def _listed(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST)]
Numbers = Annotated[list[Number], BeforeValidator(_listed)]
"""One number for all actuators, or a list with one for each."""
Frequency = Annotated[float, in_unit("Hz"), Field(gt=0)]
Duration = Annotated[float, in_unit("s"), Field(ge=0)]
Period = Annotated[float, in_unit("s"), Field(gt=0)]
Stated = Any
"""A number in SI units or text with a unit, validated once the unit is known; None: not stated."""
Quantities = float | str | list[float | str]
"""Numbers in SI units, or text with a unit, such as "1.2 m/s"; the robot determines the unit."""
Sigma = list[list[float]] | Quantities
"""Standard deviations, one for all or one for each; or a covariance in SI units."""
Ends = Annotated[list[float | str], Field(min_length=2, max_length=2)]
"""The least and the greatest value."""


class RobotTable(Table):
    """[robot]: the robot, its dimensions, and the detail of its model."""

    family: str | None = None
    """Family of the robot: h4, par4, delta, five-bar, palida, 6-ups, 6-ucu or 3-rrr."""
    file: str | None = None
    """A mechanism file, instead of a family: TOML, URDF, Extended URDF (YAML), SDF or MJCF."""
    actuated: list[str] = []
    """Actuated coordinates of a URDF or MJCF file; default: its actuators, or all where it has no loops."""
    platform: str = ""
    """Platform of a URDF or MJCF file; default: its only free body, or the last body of an open chain."""
    pose: list[str] = []
    """Coordinates of that platform: some of x, y, z, roll, pitch, yaw, or coordinates of joints."""
    home: list[float | str] = []
    """A value of each, well inside the workspace; default: the position in which the file describes the mechanism."""
    fixed: list[str] = []
    """Joints of such a file that are held still, such as the spin of a rod between two ball joints."""
    variant: str | None = None
    """One of the robot's nested models; the most detailed one by default."""
    geometry: dict[str, Any] | str = {}
    """Its dimensions, with units, or the name of a TOML file with them. Dimensions that are not stated are taken from
    the library, and the report lists them."""

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if (self.family is None) == (self.file is None):
            raise ValueError('say which robot: either family = "palida" or another name, or file = "my-robot.toml"')
        if self.file is not None and self.geometry:
            raise ValueError("a mechanism file has its own dimensions: leave geometry out")
        if (self.actuated or self.platform or self.pose or self.home or self.fixed) and self.file is None:
            raise ValueError(
                "actuated, platform, pose, home and fixed are for a URDF, SDF or MJCF file: leave them out"
            )
        return self


class SourceTable(Table):
    """[[data.recordings]] or [[data.validation]]: one file."""

    file: str
    rate: Frequency | None = None
    """Sampling rate, for files without a column of times."""
    period: Period | None = None
    """Period of a periodic motion; default: that of [repeats]."""
    begin: Duration = 0.0
    """Start of the part that is used, from the first sample; leaves out the way into a periodic motion."""
    end: Period | None = None
    """End of the part that is used, from the first sample."""
    motion: str | None = None
    """Name of the motion. Validation recordings with the same name are repeats. By default a file that is cut into
    periods is a motion by itself, and all other files are repeats of one motion."""


class DataTable(Table):
    """[data]: recordings and the meaning of their columns."""

    recordings: Annotated[list[SourceTable], Field(min_length=1)]
    validation: list[SourceTable] = []
    """Recordings of other trajectories, to validate the identified model."""
    rate: Frequency | None = None
    time: str = "time"
    """Name of the column of times: seconds, another unit stated in its head or in [data.units], or dates and times.
    Empty, or without such a column: `rate` is required."""
    columns: dict[str, str] = {}
    """Channel = name of its column; a channel that is not listed has a column of its own name."""
    units: dict[str, str] = {}
    """Channel = unit in the file, and time = unit of the column of times; SI units by default."""
    missing: Literal["refuse", "mask", "bridge"] = "refuse"
    """Treatment of empty cells, NaN and gaps in time: refuse the file, leave out the rows around them, or bridge
    isolated ones of at most 3 samples and leave out the rows around others."""
    resample: bool = False
    """Whether uneven times are the exact instants of the samples, which are then interpolated to an even grid."""
    clocks: Literal["one", "compare", "correct"] = "one"
    """Whether efforts and motion have one clock; or their offset and drift are estimated and reported; or corrected."""


class EffortsTable(Table):
    """[efforts]: how motor torques or forces were measured."""

    gain: Numbers | None = None
    """Torque per volt of the amplifier, or per ampere of the motor where [data.units] or the head of a column says A;
    one for all motors or one each. Without it, channels are torques."""
    channels: list[str] | None = None
    """Names of the channels, in the robot's order; V1, V2, … with a gain, tau1, tau2, … without."""


class ReversalsTable(Table):
    """[preparation.reversals]: leave out rows around velocity reversals."""

    speed: float | str = 0.05
    """Speed below which rows are left out, rad/s or m/s."""
    within: Duration | None = None
    """Time before and after that is left out too; default: one period of the cutoff frequency."""


class MaskTable(Table):
    """[[preparation.mask]]: leave out rows while a channel lies between two values."""

    channel: str
    lower: Number | None = None
    upper: Number | None = None
    within: Duration = 0.0


class PreparationTable(Table):
    """[preparation]: filtering, differentiation and selection of the samples."""

    cutoff: Frequency = 20.0
    """Cutoff frequency of the zero-phase low-pass filter of positions and efforts."""
    order: Annotated[int, Field(ge=1, le=10)] = 4
    trim: Duration | None = None
    """Time left out at both ends of each recording; default: the length of the filter's transient."""
    decimate: Annotated[int, Field(ge=1)] | None = None
    """Decimation factor; default: down to a rate of about five times the cutoff frequency."""
    reversals: ReversalsTable = ReversalsTable()
    mask: list[MaskTable] = []


class UnknownTable(Table):
    """[unknowns.NAME]: prior bounds of a parameter, in SI units or as text with a unit."""

    lower: Stated = None
    upper: Stated = None
    fixed: Stated = None
    blueprint: Stated = None
    """The value that the blueprint states. Estimates are compared with it; they do not depend on it."""


class NoiseTable(Table):
    """[noise]: what is known of the errors of efforts and positions."""

    bound: Annotated[list[Stated], BeforeValidator(_listed)] | None = None
    """Error bound, one for all actuators or one each, in SI units or as text with a unit; default: 1.5 times the
    smallest bound that some parameters satisfy."""
    sigma: Annotated[list[Stated], BeforeValidator(_listed)] | None = None
    """Standard deviation of one reading of an effort, before any filter, likewise: residuals are tested against it, and
    the command exits with 1 if they are larger. Default: by the spectrum above the cutoff of the low-pass."""
    sigma_positions: Annotated[list[Stated], BeforeValidator(_listed)] | None = None
    """Standard deviation of one reading of a position, one for all coordinates or one each; default: by the steps of
    the encoders and the spectrum above the cutoff."""


class EffectsTable(Table):
    """[effects]: effects of the catalogue that the model includes; their parameters are estimated too."""

    use: list[str] = []
    """Names of effects, such as "delay" or "offset"; docs/tutorials/what-the-verdict-means.md lists them."""


class EllipsoidTable(Table):
    """[physical.inside.BODY]: an ellipsoid along the axes of a body's frame that the body does not leave."""

    center: Annotated[list[float], each_in_unit("m"), Field(min_length=3, max_length=3)] = [0.0, 0.0, 0.0]
    """Its center in the body's frame."""
    radii: Annotated[list[Annotated[float, Field(gt=0)]], each_in_unit("m"), Field(min_length=1, max_length=3)]
    """Its semi-axes along x, y and z; one number for a ball."""


class PhysicalTable(Table):
    """[physical]: complete parameters of a robot that can exist, see docs/physical.md."""

    nearest: str = "log-det"
    """Distance from the blueprint: log-det or frobenius."""
    margin: Number = 1e-3
    """Share of its blueprint that every body contains at least."""
    equal: list[list[str]] = []
    """Groups of bodies that are equal."""
    inside: dict[str, EllipsoidTable] = {}
    """Ellipsoids by the names of bodies."""
    ranges: bool = True
    """Whether to compute how far each parameter may move without changing any effort."""
    bounds: bool | None = None
    """Whether to prove bounds of robots that can exist; default: if [noise] states a bound and the
    model has no [effects]."""
    heaviest: Annotated[float, in_unit("kg"), Field(gt=0)] | None = None
    """Mass that no body exceeds, a premise of these bounds; default: 100 times that of all bodies of the blueprint."""
    farthest: Annotated[float, in_unit("m"), Field(gt=0)] | None = None
    """Distance from the origin of its body's frame beyond which there is no mass, likewise; default: 10 times that of
    the blueprint."""


class RepeatsTable(Table):
    """[repeats]: the recordings are repeated periods of one motion, from which the noise is estimated.

    Positions may be noisy, and nothing is filtered. Least squares, Gauss–Markov, instrumental variables, total least
    squares and maximum likelihood are compared.
    """

    period: Period | None = None
    """Length of the periods that each recording is cut into; without it, each recording is one repeat."""
    skip: Annotated[int, Field(ge=0)] = 1
    """Periods left out at the beginning of each recording that is cut, until the motion is periodic."""
    orders: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] | None = None
    """Numbers of harmonics of the path to choose from; default: as many as the positions need, and two more."""
    independent: bool = True
    """Whether the errors of positions and efforts are independent."""
    slower_than: float | str = 0.0
    """Speed of an actuator below which its efforts are left out, rad/s or m/s."""
    sigma_positions: Sigma | None = None
    """Standard deviation of one position reading: one number, one per coordinate, or a covariance; default: estimated
    from the repeats."""
    sigma_efforts: Sigma | None = None
    """Standard deviation of one effort reading, likewise."""


class MethodsTable(Table):
    """[methods]: the estimators."""

    use: Annotated[list[str], Field(min_length=1)] = list(ByMethod({name: name for name in DEFAULT_METHODS}).keyed())
    """Names of methods; all that are stated are used. By default those of this list that the size of the problem
    affords: what would take more than three times as long as the statistical methods, and more than about 10 s, is left
    out, and the answer says so."""
    complete: bool = False
    """Use all methods of the default, however long they take."""


class WatchTable(Table):
    """[watch]: how a running robot is watched (`gough watch`)."""

    results: str | None = None
    """Folder with the identified model; default: that of [output]."""
    bound: Annotated[list[Stated], BeforeValidator(_listed)] | None = None
    """Error bound of the efforts of prepared rows, one for all actuators or one each; default: that of the
    identification."""
    window: Period = 10.0
    """Time whose rows must be explained together."""
    drift: dict[str, Stated] = {}
    """Parameter = the most that it changes per second, in its unit; default: parameters are constant."""
    block: Period = 0.5
    """Time of the rows that the statistical tests take together."""
    learn: Period = 60.0
    """Time at the beginning in which the statistical tests learn the usual scatter of this robot."""
    forgetting: Period = 30.0
    """Time in which the weight of rows in the recursive estimate falls to 1/e."""
    false_alarms: Annotated[float, Field(gt=0, le=3600)] = 0.1
    """False alarms an hour, for each kind of statistical event."""
    set: Literal["ellipsoid", "hulls"] = "ellipsoid"
    """Guaranteed set of the parameters that follows the rows; hulls are tighter and slower."""


class OutputTable(Table):
    """[output]: folder of the results and title of the report."""

    folder: str = "results"
    title: str | None = None


class DesignLimitsTable(Table):
    """[design.limits]: limits that the motion keeps at all times. Numbers in SI units, or text with a unit."""

    speeds: Quantities | None = None
    """Greatest speed, one for all actuators or one each; default, as for all limits of actuators: the robot's own."""
    efforts: Quantities | None = None
    accelerations: Quantities | None = None
    positions: Annotated[list[Quantities], Field(min_length=2, max_length=2)] | None = None
    """Least and greatest position of the actuators."""
    joints: dict[str, Ends] = {}
    """Passive joint = its least and greatest angle."""
    pose: dict[str, Ends] = {}
    """Coordinate of the pose = its least and greatest value."""
    margin: Annotated[float, Field(gt=0, lt=1)] | None = None
    """Least distance to singularity, as a share of that at home."""
    reach: Annotated[float, Field(ge=0, lt=1)] | None = None
    tracking: Quantities | None = None
    """Greatest tracking error of the controller, one for all actuators or one each: how far a position may deviate from
    the designed one. Default: 20 mrad, and 0.2 % of the range of a linear actuator (1 mm where none is stated)."""


class DesignTable(Table):
    """[design]: the trajectory to design (`gough design`)."""

    criterion: str = "D"
    harmonics: Annotated[int, Field(ge=1)] = 5
    frequency: Quantities = [0.1, 0.5]
    """Fundamental frequency in Hz, or the least and the greatest."""
    rate: Frequency = 1000.0
    """Sampling rate of the trajectory."""
    duration: Period = 10.0
    """Duration of the experiment, rounded up to whole periods."""
    sigma: Sigma = 1.0
    """Standard deviation of the efforts' errors: one number, one per actuator, or a covariance."""
    home: list[float | str] | None = None
    """Center of the motion; default: the robot's home."""
    starts: Annotated[int, Field(ge=1)] = 10
    seed: Annotated[int, Field(ge=0)] = 1
    folder: str = "design"
    limits: DesignLimitsTable = DesignLimitsTable()


class IdentificationTable(Table):
    """The whole file of an identification study."""

    robot: RobotTable
    data: DataTable
    efforts: EffortsTable = EffortsTable()
    preparation: PreparationTable = PreparationTable()
    unknowns: dict[str, UnknownTable] = {}
    noise: NoiseTable = NoiseTable()
    effects: EffectsTable = EffectsTable()
    physical: PhysicalTable | None = None
    repeats: RepeatsTable | None = None
    methods: MethodsTable = MethodsTable()
    output: OutputTable = OutputTable()
    watch: WatchTable = WatchTable()
    """Read by `gough watch` only."""
    design: DesignTable | None = None
    """Read by `gough design` only."""


class DesignStudyTable(Table):
    """The tables that a design needs: before the experiment there are no recordings."""

    robot: RobotTable
    design: DesignTable
