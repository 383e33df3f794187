"""A new study of repeats: one periodic motion recorded again and again, and benchmark motions to validate by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from gough.robots import DynamicModel
from gough.studies.robots import effort_letter
from gough.studies.scaffold import RECORDING, robot_lines

_STUDY = """\
# An identification study of gough: `gough identify study.toml`. Every line that is commented out shows a default or an
# example. Quantities are numbers in SI units, or text with a unit: 0.26 and "260 mm" are the same.

{robot}

[repeats]              # the recordings hold one periodic motion again and again, so that its noise shows
{period:<22} # each file is cut into periods
{skip:<22} # periods left out at the beginning of each file: the motion is not yet periodic
# orders = [5, 6, 7]   # harmonics of the path to choose from; by default as many as the positions need, and two more
# independent = true   # false: positions and efforts err together
# slower_than = 0.0    # efforts of an actuator that moves slower ({speed}) are left out
# sigma_positions = 1e-4  # of one reading, one number, one each, or a covariance; by default from the repeats
# sigma_efforts = 20.0

[data]
# rate = "1 kHz"       # where the files have no column of times
# time = "time"        # the column of times, in seconds

[[data.recordings]]    # as many as you have; without a period each of them is one repeat. CSV, Parquet, .mat or .npz
file = "{recording}"
# begin = "8 s"        # since the first sample; `gough design` says where its motion is periodic
# end = "28 s"
{validation}
[data.columns]         # channel = name of its column in the files
{columns}

[data.units]           # channel = its unit in the files; what is not listed is in SI units
{units}

# [efforts]            # where the files hold voltages, in channels V1, V2, …
# gain = 1.0           # {effort_unit} per volt, one number or a list with one per actuator

# What is known of a parameter beforehand ({names}):
# [unknowns.{first}]
# lower = 0.0
# upper = 2.0          # or: fixed = 1.0

[output]
# folder = "results"
# title = "Identification of my {name}"

[design]               # `gough design study.toml` looks for the motion to record; left aside by `gough identify`
harmonics = 5
frequency = [0.2, 0.5]  # Hz: the least and the greatest
rate = "500 Hz"
duration = "20 s"
starts = 3
# sigma = 1.0          # of the efforts' errors ({effort_unit}), one number, one each, or their covariance

[design.limits]        # the mechanism's own limits hold too
# speeds = "1 {speed}"
# efforts = "200 {effort_unit}"
margin = 0.5           # least distance to singularity, as a share of that at home
"""

_README = """\
# {title}

    gough design study.toml      # the motion to record: design/trajectory.csv
    gough identify study.toml    # least squares, Gauss–Markov, maximum likelihood, … beside each other

1. Say in `study.toml` which robot it is: a family with its dimensions, or a mechanism file (`gough mechanism FILE`
   checks it).
2. Let the robot run through the designed motion, period after period, and record positions and efforts of all
   actuators together. Five periods or more show what the noise is.
3. Record another motion in the same way, such as a circle, and name it in `[[data.validation]]`.
4. Run it. Read the verdicts first: is the noise Gaussian and white, does χ² refute the model, and is it unbiased for
   every actuator on the other motion.

Channels of this robot: {channels}.
"""


@dataclass(frozen=True)
class Periods:
    """How the recordings of a study are cut."""

    period: str = "2 s"
    skip: int = 1
    validation: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({"circle.csv": "0.75 s"}))
    """Files of other motions, with their periods."""


def repeated_study_text(of: DynamicModel, *, family: str = "", file: str = "", periods: Periods | None = None) -> str:
    """The commented study of repeats for a robot of a family, or of a mechanism file.

    Examples:
        >>> from gough.studies.robots import robot
        >>> print(repeated_study_text(robot("6-ups"), family="6-ups").splitlines()[4])
        family = "6-ups"
    """
    cut = periods or Periods()
    channels = repeated_channels(of)
    units = (*of.coordinate_units, *of.effort_units)
    width = max(map(len, channels))
    validation = "".join(
        f'\n[[data.validation]]    # another periodic motion, never fitted\nfile = "{name}"\nperiod = "{period}"\n'
        for name, period in cut.validation.items()
    )
    return _STUDY.format(
        robot="\n".join(robot_lines(of, family=family, file=file)),
        period=f'period = "{cut.period}"',
        skip=f"skip = {cut.skip}",
        speed=f"{of.coordinate_units[0]}/s",
        recording=RECORDING,
        validation=validation,
        columns="\n".join(f'{name:<{width}} = "{name}"' for name in channels),
        units="\n".join(f'{name:<{width}} = "{unit}"' for name, unit in zip(channels, units, strict=True)),
        effort_unit=of.effort_units[0],
        names=", ".join(of.names),
        first=of.names[0],
        name=of.name,
    )


def repeated_readme_text(of: DynamicModel, title: str) -> str:
    """The page beside a new study of repeats."""
    return _README.format(title=title, channels=", ".join(repeated_channels(of)))


def repeated_channels(of: DynamicModel) -> tuple[str, ...]:
    """Names of the channels: positions, then efforts."""
    return (*of.coordinates, *(f"{effort_letter(of)}{i + 1}" for i in range(len(of.actuators))))
