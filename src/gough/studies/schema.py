"""Types of values in studies, and the tables of studies about dynamics."""

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from gough.core.units import LARGEST
from gough.dynamics import DEFAULT_METHODS
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
"""A number in SI units or text with a unit, judged once the unit is known, so that messages name it; None: nothing."""
Quantities = float | str | list[float | str]
"""Numbers in SI units, or text with a unit, such as "1.2 m/s"; what unit they must have, the robot says."""
Sigma = list[list[float]] | Quantities
"""Standard deviations, one for all or one for each; or a covariance in SI units."""
Ends = Annotated[list[float | str], Field(min_length=2, max_length=2)]
"""The least and the greatest value."""


class RobotTable(Table):
    """[robot]: which robot, with which dimensions, and how detailed its model is."""

    family: str | None = None
    """The name of a robot: h4, par4, delta, five-bar, palida, 6-ups, 6-ucu or 3-rrr."""
    file: str | None = None
    """A mechanism file, instead of a family."""
    variant: str | None = None
    """One of the robot's nested models; the most detailed one by default."""
    geometry: dict[str, Any] | str = {}
    """Its dimensions, with units, or the name of a TOML file that holds them; the report names those that are not
    stated, and so taken from the library."""

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if (self.family is None) == (self.file is None):
            raise ValueError('say which robot: either family = "palida" or another name, or file = "my-robot.toml"')
        if self.file is not None and self.geometry:
            raise ValueError("a mechanism file has its own dimensions: leave geometry out")
        return self


class SourceTable(Table):
    """[[data.recordings]] or [[data.validation]]: one file."""

    file: str
    rate: Frequency | None = None
    """Samples a second, where the file has no column of times."""
    period: Period | None = None
    """Of a periodic motion; that of [repeats] by default."""
    begin: Duration = 0.0
    """What was recorded before is left out, such as the way into a periodic motion; since the first sample."""
    end: Period | None = None
    """The same of what was recorded later."""
    motion: str | None = None
    """Validation recordings with the same one are repeats of one motion. By default a file that is cut into periods is
    a motion by itself, and all that are not are repeats of one."""


class DataTable(Table):
    """[data]: recordings, and what their columns mean."""

    recordings: Annotated[list[SourceTable], Field(min_length=1)]
    validation: list[SourceTable] = []
    """Recordings of other trajectories, on which the identified model is tried."""
    rate: Frequency | None = None
    time: str = "time"
    """Name of the column of times, in seconds; where there is none, `rate` must be given."""
    columns: dict[str, str] = {}
    """Channel = name of its column; a channel that is not listed has a column of its own name."""
    units: dict[str, str] = {}
    """Channel = unit in the file; SI where nothing is said."""
    missing: Literal["refuse", "mask"] = "refuse"
    """What to do with empty cells and NaN."""


class EffortsTable(Table):
    """[efforts]: how motor torques or forces were measured."""

    gain: Numbers | None = None
    """Torque per volt of the amplifier, one for all motors or one each; without it the recording holds torques."""
    channels: list[str] | None = None
    """Names of the channels, in the robot's order; V1, V2, … with a gain, tau1, tau2, … without."""


class ReversalsTable(Table):
    """[preparation.reversals]: which rows are left out because a joint is about to turn."""

    speed: float | str = 0.05
    """In rad/s or m/s, as the robot's coordinates have it."""
    within: Duration | None = None
    """Seconds before and after; one period of the cutoff by default."""


class MaskTable(Table):
    """[[preparation.mask]]: rows to leave out because a channel of the recording lies between two values."""

    channel: str
    lower: Number | None = None
    upper: Number | None = None
    within: Duration = 0.0


class PreparationTable(Table):
    """[preparation]: from raw samples to positions, velocities, accelerations and efforts."""

    cutoff: Frequency = 20.0
    """Of the zero-phase low-pass, on positions and efforts alike."""
    order: Annotated[int, Field(ge=1, le=10)] = 4
    trim: Duration | None = None
    """Left out at both ends of each recording; as long as the filter remembers by default."""
    decimate: Annotated[int, Field(ge=1)] | None = None
    """Keep every so many-th sample; by default down to about five times the cutoff."""
    reversals: ReversalsTable = ReversalsTable()
    mask: list[MaskTable] = []


class UnknownTable(Table):
    """[unknowns.NAME]: what is known of a parameter beforehand, in SI units or as text with a unit."""

    lower: Stated = None
    upper: Stated = None
    fixed: Stated = None


class NoiseTable(Table):
    """[noise]: what is known of the errors of the efforts."""

    bound: Annotated[list[Stated], BeforeValidator(_listed)] | None = None
    """Greatest error, one for all actuators or one each, in SI units or as text with a unit; None: 1.5
    times the smallest bound that fits the data."""


class RepeatsTable(Table):
    """[repeats]: the recordings hold one periodic motion again and again, so that its noise shows.

    Positions may be noisy then, and nothing is filtered: least squares, Gauss–Markov, instrumental variables, total
    least squares and maximum likelihood stand beside each other.
    """

    period: Period | None = None
    """Each recording is cut into periods of this length; without it each recording is one repeat."""
    skip: Annotated[int, Field(ge=0)] = 1
    """Periods left out at the beginning of a recording that is cut: the motion is not yet periodic."""
    orders: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1)] | None = None
    """Numbers of harmonics of the path to choose from; by default as many as the positions need, and two more."""
    independent: bool = True
    """Do positions err independently of efforts?"""
    slower_than: float | str = 0.0
    """Efforts of an actuator that moves slower are left out; in rad/s or m/s."""
    sigma_positions: Sigma | None = None
    """Of the errors of one reading: one number, one per coordinate, or their covariance; by default from the repeats.
    """
    sigma_efforts: Sigma | None = None
    """The same of the efforts."""


class MethodsTable(Table):
    """[methods]: which estimators."""

    use: Annotated[list[str], Field(min_length=1)] = list(DEFAULT_METHODS)


class OutputTable(Table):
    """[output]: where to."""

    folder: str = "results"
    title: str | None = None


class DesignLimitsTable(Table):
    """[design.limits]: what the motion must keep at all times. Numbers in SI units, or text with a unit."""

    speeds: Quantities | None = None
    """Greatest speed, one for all actuators or one each; like all limits of actuators, the robot's own by default."""
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


class DesignTable(Table):
    """[design]: which motion to look for (`gough design`)."""

    criterion: str = "D"
    harmonics: Annotated[int, Field(ge=1)] = 5
    frequency: Quantities = [0.1, 0.5]
    """Fundamental frequency in Hz, or the least and the greatest."""
    rate: Frequency = 1000.0
    """Samples a second of the trajectory."""
    duration: Period = 10.0
    """Of the experiment: so many whole periods as it takes."""
    sigma: Sigma = 1.0
    """Of the efforts' errors: one number, one per actuator, or their covariance."""
    home: list[float | str] | None = None
    """About which to move; the robot's own by default."""
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
    repeats: RepeatsTable | None = None
    methods: MethodsTable = MethodsTable()
    output: OutputTable = OutputTable()
    design: DesignTable | None = None
    """Left aside by `gough identify`."""


class DesignStudyTable(Table):
    """The tables that a design needs: before the experiment there are no recordings."""

    robot: RobotTable
    design: DesignTable
