"""New studies: the file that a user fills in, and the page that explains it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from gough.data.filters import CLEARANCE
from gough.dynamics import DEFAULT_METHODS, METHODS
from gough.dynamics.named import ByMethod
from gough.robots import CLOSED_FORMS, DynamicModel
from gough.studies.mechanism_file import Stated
from gough.studies.robots import dimension_text, dimensions_of, effort_letter, geometry_of, robot

RECORDING, VALIDATION = "recording.csv", "validation.csv"
_DESIGN = """\
[design]               # `gough design study.toml` optimizes the motion to record; not used by `gough identify`
harmonics = 5
frequency = [0.2, 0.5]  # Hz: the least and the greatest
rate = "500 Hz"
duration = "20 s"
starts = 3
# sigma = 1.0          # standard deviation of the efforts ({effort_unit}): one number, one each, or a covariance
{home}
[design.limits]        # in addition to those of the mechanism; speeds and efforts are needed where it states none
# speeds = "1 {speed}"
# efforts = "200 {effort_unit}"
margin = 0.5           # least distance to singularity, as a share of that at home
"""
_DESIGN_EXAMPLE = """\
# [design]             # example: what `gough design study.toml` needs to optimize the motion to record
# harmonics = 5
# frequency = [0.2, 0.5]  # Hz: the least and the greatest
# rate = "500 Hz"
# duration = "20 s"
# starts = 3
{home}
# [design.limits]      # example: what the actuators can do
# speeds = "10 {speed}"
# efforts = "40 {effort_unit}"
# margin = 0.5         # least distance to singularity, as a share of that at home
"""
_VOLTAGES = """\
[efforts]
gain = {gain:<14} # {effort_unit} per volt at the amplifiers' inputs (or per ampere: unit A), one number or a list;
                      # without it the channels are the efforts, and are called tau1, tau2, …"""
_EFFORTS = """\
# [efforts]           # example: if the files have voltages or currents, in channels V1, V2, …
# gain = 1.0          # {effort_unit} per volt, or per ampere where the unit is A; one number or a list"""
_DIMENSIONS = """\
Measure the dimensions of the robot and enter them in `[robot.geometry]`. Check the signs of the motor angles: a
   wrong sign or a swapped length gives a wrong model, usually reported as not adequate."""
_FROM_FILE = """\
Check the mechanism file by `gough mechanism FILE`. Check zeros and signs of the actuators' positions: a wrong sign
   or length gives a wrong model, usually reported as not adequate."""
_SINGLE_STUDY = """\
# An identification study of gough: `gough identify study.toml`. A line that is commented out shows the default,
# or an example where it says so. Numbers are in SI units; dimensions, times, frequencies, speeds, error bounds and
# limits of parameters may be text with a unit instead: 0.26 and "260 mm" are the same.

{robot}

[data]
# rate = "1 kHz"      # example: where the files have no column of times
# time = "time"       # the column of times: seconds (or as time = "ms" in [data.units] states), or dates
# missing = "refuse"  # or "mask": leave out rows near empty cells; or "bridge": also fill isolated ones

{recordings}

[data.columns]        # channel = name of its column in the files
{columns}

[data.units]          # channel = its unit in the files; what is not listed is in SI units
{units}

{efforts}

[preparation]
# cutoff = "20 Hz"    # of the zero-phase low-pass filter: {clearance} times the highest frequency of the motion
# order = 4
# trim = "0.3 s"      # example: time left out at both ends; by default the length of the filter's transient
# decimate = 10       # example: keep every tenth sample; by default down to a rate of about five times the cutoff

[preparation.reversals]
# speed = 0.05        # leave out rows while a joint is slower ({speed}), where the sign of friction is uncertain
# within = "50 ms"    # example: time left out before and after, too; by default one period of the cutoff frequency

# [[preparation.mask]]  # example: leave out rows while a channel lies between lower and upper (SI units)
# channel = "{channel}"
# lower = 9.9

[noise]
# bound = "0.5 {effort_unit}"   # example: bound on the errors; by default 1.5 times the smallest consistent one
# sigma = "0.1 {effort_unit}"   # example: standard deviation of one reading; by default from the spectrum above cutoff

# Example of prior bounds of a parameter ({names}):
# [unknowns.{first}]
# lower = 0.0
# upper = 2.0         # or: fixed = 1.0

# Example: complete parameters of a robot that can exist, nearest to the blueprint (needs the extra physical)
# [physical]
# margin = 0.001

# Example of effects that the model shall include, if the verdict names them as the likely cause:
# [effects]
# use = ["delay"]

[methods]
# use = [{methods}]
# known: {known}

[output]
# folder = "results"
# title = "Identification of my {name}"  # example
{design}"""

_SINGLE_README = """\
# {title}

    gough identify study.toml

reads `study.toml` beside this page, prints the parameters with their intervals, and writes `results/report.html` (open
it in a browser), `results/estimate.json` and the figures.

1. {first}
2. Record motor positions and {what} while the robot moves, first slowly (friction), then as fast as possible (inertia),
   at 1 kHz if possible, 10 s each. Record another trajectory for validation.
3. State the columns and their units in `[data]`.
4. Run the command. Read the verdicts first: which parameters the data determine, the smallest consistent error bound,
   whether the model is adequate, and the prediction errors on the validation trajectory.

Channels of this robot: {channels}.
"""

_REPEATED_STUDY = """\
# An identification study of gough: `gough identify study.toml`. A line that is commented out shows a default or an
# example. Quantities are numbers in SI units, or text with a unit: 0.26 and "260 mm" are the same.

{robot}

[repeats]              # the recordings are repeated periods of one motion, from which the noise is estimated
{period:<22} # each file is cut into periods
{skip:<22} # periods left out at the beginning of each file, until the motion is periodic
# orders = [5, 6, 7]   # harmonics of the path to choose from; by default as many as the positions need, and two more
# independent = true   # false: errors of positions and efforts are correlated
# slower_than = 0.0    # leave out efforts of an actuator that moves slower ({speed})
# sigma_positions = 1e-4  # standard deviation of a reading: one number, one each, or a covariance; default: estimated
# sigma_efforts = 20.0

[data]
# rate = "1 kHz"       # where the files have no column of times
# time = "time"        # the column of times: seconds (or as time = "ms" in [data.units] states), or dates

{recordings}
# begin = "8 s"        # from the first sample; `gough design` prints begin and end of the periodic part
# end = "28 s"
{validation}
[data.columns]         # channel = name of its column in the files
{columns}

[data.units]           # channel = its unit in the files; what is not listed is in SI units
{units}

# [efforts]            # if the files have voltages or currents, in channels V1, V2, …
# gain = 1.0           # {effort_unit} per volt, or per ampere where the unit is A; one number or a list

# Prior bounds of a parameter ({names}):
# [unknowns.{first}]
# lower = 0.0
# upper = 2.0          # or: fixed = 1.0

[output]
# folder = "results"
# title = "Identification of my {name}"

{design}"""

_REPEATED_README = """\
# {title}

    gough design study.toml      # the motion to record: design/trajectory.csv
    gough identify study.toml    # least squares, Gauss–Markov, maximum likelihood and others, compared

1. State the robot in `study.toml`: a family with its dimensions, or a mechanism file (checked by
   `gough mechanism FILE`).
2. Run the designed motion for several periods, and record positions and efforts of all actuators together. Five periods
   or more allow tests of the noise.
3. Record another motion in the same way, such as a circle, and name it in `[[data.validation]]`.
4. Run the command. Read the verdicts first: whether the noise is Gaussian and white, whether the χ² test rejects the
   model, and whether the model is unbiased for every actuator on the other motion.

Channels of this robot: {channels}.
"""


def study_text(
    of: str | DynamicModel,
    *,
    file: str = "",
    stated: Stated | None = None,
    gain: Sequence[float] = (1.0,),
    recordings: Sequence[str] = (),
) -> str:
    """The commented study file of single recordings, for a robot of a family or of a mechanism file.

    Args:
        of: Family, with its default dimensions; or the robot of `file`.
        file: The mechanism file, as the study names it.
        stated: Actuators and platform that are stated beside a URDF or MJCF file.
        gain: Effort per volt, of families whose drives are measured by voltages.
        recordings: Files to identify from; names to fill in, if there are none.

    Examples:
        >>> print(study_text("h4").splitlines()[9])
        arm = "260 mm"        # l, from a motor's axis to the elbow
    """
    family = of if isinstance(of, str) else ""
    model = robot(of) if isinstance(of, str) else of
    voltages = family in CLOSED_FORMS
    channels = (*model.coordinates, *single_efforts(model, family))
    units = (*model.coordinate_units, *(["V"] * len(model.actuators) if voltages else model.effort_units))
    width = max(map(len, channels))
    unit = model.effort_units[0]
    written = f"{gain[0]:.6g}" if len(set(gain)) == 1 else f"[{', '.join(f'{each:.6g}' for each in gain)}]"
    speeds = dict.fromkeys(f"{each}/s" for each in model.coordinate_units)
    return _SINGLE_STUDY.format(
        robot="\n".join(robot_lines(model, family=family, file=file, stated=stated)),
        recordings=_single_recordings(recordings),
        efforts=_VOLTAGES.format(gain=written, effort_unit=unit) if voltages else _EFFORTS.format(effort_unit=unit),
        columns="\n".join(f'{name:<{width}} = "{name}"' for name in channels),
        units="\n".join(f'{name:<{width}} = "{each}"' for name, each in zip(channels, units, strict=True)),
        channel=channels[-len(model.actuators)],
        effort_unit=unit,
        speed=" or ".join(speeds),
        names=", ".join(model.names),
        first=_key(model.names[0]),
        methods=", ".join(f'"{name}"' for name in ByMethod({name: name for name in DEFAULT_METHODS}).keyed()),
        known=", ".join(METHODS.keyed()),
        name=model.name,
        clearance=CLEARANCE,
        design=f"\n{_design(model, _DESIGN_EXAMPLE if voltages else _DESIGN)}",
    )


def _design(of: DynamicModel, text: str = _DESIGN) -> str:
    angles = ", ".join('"0 deg"' if unit == "rad" else '"0 mm"' for unit in of.coordinate_units)
    home = "" if hasattr(of, "home") else f"home = [{angles}]  # positions of the actuators to move about: yours\n"
    home = f"# {home}" if home and text is _DESIGN_EXAMPLE else home  # like the table that it stands in
    return text.format(home=home, speed=f"{of.coordinate_units[0]}/s", effort_unit=of.effort_units[0])


def _key(name: str) -> str:
    """A key of TOML."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else f'"{name}"'


def _single_recordings(recordings: Sequence[str]) -> str:
    about = "# one or more; each is filtered separately. CSV, Parquet, .mat or .npz"
    validation = f'[[data.validation]]   # another trajectory, for validation only; optional\nfile = "{VALIDATION}"'
    if recordings:
        validation = "\n".join(f"# {line}" for line in validation.replace("; optional", "; example").splitlines())
    blocks = [f"[[data.recordings]]\nfile = {_quoted(name)}" for name in recordings or (RECORDING,)]
    blocks[0] = blocks[0].replace("\n", f"   {about}\n", 1)
    return "\n\n".join([*blocks, validation])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def robot_lines(of: DynamicModel, *, family: str = "", file: str = "", stated: Stated | None = None) -> list[str]:
    """The table [robot] of a family with its dimensions, or of a mechanism file."""
    variant = getattr(of, "variant", "")
    others = " or ".join(f'"{one.variant}"' for one in getattr(of, "variants", ()) if one.variant != variant)
    either = f"# or {others}: the detail of the model"
    nested = [f'# variant = "{variant}"  {either}'] if variant and others else []
    if file:
        beside = stated or Stated()
        lists = {"actuated": beside.actuated, "pose": beside.pose, "home": beside.home, "fixed": beside.fixed}
        lines = [f"{key} = [{', '.join(map(_toml, values))}]" for key, values in lists.items() if values]
        lines += [f"platform = {_quoted(beside.platform)}"] if beside.platform else []
        return ["[robot]", f"file = {_quoted(file)}  # the mechanism; `gough mechanism` checks it", *lines, *nested]
    return ["[robot]", f'family = "{family}"', *nested, "", "[robot.geometry]", *_dimension_lines(family)]


def _toml(value: Any) -> str:
    return _quoted(value) if isinstance(value, str) else repr(value)


def readme_text(of: str | DynamicModel, title: str) -> str:
    """The page beside a new study of single recordings, for a robot of a family or of a mechanism file."""
    family = of if isinstance(of, str) else ""
    model = robot(of) if isinstance(of, str) else of
    channels = (*model.coordinates, *single_efforts(model, family))
    return _SINGLE_README.format(
        title=title,
        first=_DIMENSIONS if family else _FROM_FILE,
        what="amplifier voltages" if family in CLOSED_FORMS else "efforts",
        channels=", ".join(channels),
    )


def single_efforts(of: DynamicModel, family: str = "") -> tuple[str, ...]:
    """Channels of efforts in a study of single recordings: voltages for families with equations of their own."""
    letter = "V" if family in CLOSED_FORMS else effort_letter(of)
    return tuple(f"{letter}{i + 1}" for i in range(len(of.actuators)))


def _dimension_lines(family: str) -> list[str]:
    """`arm = "260 mm"  # what it is`, a line for each dimension with its default."""
    holder = geometry_of(family)()
    known = dimensions_of(family)
    cells = {name: f"{name} = {_written(getattr(holder, name), each.metadata['unit'])}" for name, each in known.items()}
    width = max(20, *(len(cell) for cell in cells.values() if len(cell) <= 40))
    return [f"{cells[name]:<{width}}  # {each.metadata['meaning']}" for name, each in known.items()]


def _written(value: Any, unit: str) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(_written(each, unit) for each in value)}]"
    return f'"{dimension_text(value, unit)}"'


@dataclass(frozen=True)
class Periods:
    """How the recordings of a study are cut."""

    period: str = "2 s"
    """Empty: each file is one repeat."""
    skip: int = 1
    validation: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({"circle.csv": "0.75 s"}))
    """Files of other motions, with their periods."""


def repeated_study_text(
    of: DynamicModel,
    *,
    family: str = "",
    file: str = "",
    stated: Stated | None = None,
    periods: Periods | None = None,
    recordings: Sequence[str] = (),
) -> str:
    """The commented study of repeats for a robot of a family, or of a mechanism file.

    Examples:
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
    named = [f"[[data.recordings]]\nfile = {_quoted(name)}" for name in recordings or (RECORDING,)]
    about = "# one or more; without a period each of them is one repeat. CSV, Parquet, .mat or .npz"
    named[0] = named[0].replace("\n", f"    {about}\n", 1)
    return _REPEATED_STUDY.format(
        robot="\n".join(robot_lines(of, family=family, file=file, stated=stated)),
        period=f'period = "{cut.period}"' if cut.period else '# period = "2 s"',
        skip=f"skip = {cut.skip}",
        speed=f"{of.coordinate_units[0]}/s",
        recordings="\n\n".join(named),
        validation=validation,
        columns="\n".join(f'{name:<{width}} = "{name}"' for name in channels),
        units="\n".join(f'{name:<{width}} = "{unit}"' for name, unit in zip(channels, units, strict=True)),
        effort_unit=of.effort_units[0],
        names=", ".join(of.names),
        first=_key(of.names[0]),
        name=of.name,
        design=_design(of),
    )


def repeated_readme_text(of: DynamicModel, title: str) -> str:
    """The page beside a new study of repeats."""
    return _REPEATED_README.format(title=title, channels=", ".join(repeated_channels(of)))


def repeated_channels(of: DynamicModel) -> tuple[str, ...]:
    """Names of the channels: positions, then efforts."""
    return (*of.coordinates, *(f"{effort_letter(of)}{i + 1}" for i in range(len(of.actuators))))
