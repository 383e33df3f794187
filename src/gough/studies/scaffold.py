"""A new study: the file that a user fills in, and the page that says how."""

from collections.abc import Sequence
from typing import Any

from gough.data.filters import CLEARANCE
from gough.dynamics import DEFAULT_METHODS, METHODS
from gough.robots import DynamicModel
from gough.studies.robots import dimension_text, dimensions_of, geometry_of, robot

RECORDING, VALIDATION = "recording.csv", "validation.csv"
_STUDY = """\
# An identification study of gough: `gough identify study.toml`. A line that is commented out shows the default,
# or an example where it says so. Numbers are in SI units; dimensions, times, frequencies, speeds, error bounds and
# limits of parameters may be text with a unit instead: 0.26 and "260 mm" are the same.

{robot}

[data]
# rate = "1 kHz"      # example: where the files have no column of times
# time = "time"       # the column of times, in seconds
# missing = "refuse"  # or "mask": leave out rows near empty cells

[[data.recordings]]   # as many as you have; each is filtered for itself. CSV, Parquet, .mat or .npz
file = "{recording}"

[[data.validation]]   # another trajectory, never fitted, on which the model must prove itself; leave it out if you must
file = "{validation}"

[data.columns]        # channel = name of its column in the files
{columns}

[data.units]          # channel = its unit in the files; what is not listed is in SI units
{units}

[efforts]
gain = {gain:<14} # {effort_unit} per volt at the amplifiers' inputs, one number or a list with one per motor;
                      # without it the channels hold the efforts themselves, and are called tau1, tau2, …

[preparation]
# cutoff = "20 Hz"    # of the low-pass without delay: {clearance} times the highest frequency of the motion
# order = 4
# trim = "0.3 s"      # example: left out at both ends; by default as long as the filter remembers
# decimate = 10       # example: keep every tenth sample; by default down to about five times the cutoff

[preparation.reversals]
# speed = 0.05        # rows are left out while a joint is slower than this (rad/s): the sign of friction is uncertain
# within = "50 ms"    # example: and for so long before and after; by default one period of the cutoff

# [[preparation.mask]]  # example: leave out rows while a channel lies between lower and upper (SI units)
# channel = "{channel}"
# lower = 9.9

[noise]
# bound = "0.5 {effort_unit}"   # example: no effort errs by more; by default 1.5 times the smallest that fits the data

# Example of what is known of a parameter beforehand ({names}):
# [unknowns.{first}]
# lower = 0.0
# upper = 2.0         # or: fixed = 1.0

[methods]
# use = [{methods}]
# known: {known}

[output]
# folder = "results"
# title = "Identification of my {name}"  # example
"""

_README = """\
# {title}

    gough identify study.toml

reads `study.toml` beside this page, prints the parameters with their intervals, and writes `results/report.html` (open
it in a browser), `results/estimate.json` and the figures.

1. Measure the robot and put its dimensions into `[robot.geometry]`. Motor angles are positive where the robot's model
   says so: a wrong sign or a swapped length gives a wrong model, and the adequacy verdict says so.
2. Record motor positions and {what} while the robot moves, first slowly (friction), then as fast as it can (inertia),
   at 1 kHz if possible, 10 s each. Record another trajectory for validation.
3. Say in `[data]` which column is what, and in which unit.
4. Run it. Read the verdicts first: what the data determine, which error bound they need, whether the model is adequate,
   and how well it predicts the trajectory that it has not seen.

Channels of this robot: {channels}.
"""


def study_text(family: str, *, gain: Sequence[float] = (1.0,)) -> str:
    """The commented study file for a robot of this family, with its default dimensions.

    Examples:
        >>> print(study_text("h4").splitlines()[9])
        arm = "260 mm"        # l, from a motor's axis to the elbow
    """
    of = robot(family)
    coordinates, efforts = _channels(of)
    channels = (*coordinates, *efforts)
    width = max(map(len, channels))
    return _STUDY.format(
        robot="\n".join(robot_lines(of, family=family)),
        recording=RECORDING,
        validation=VALIDATION,
        gain=f"{gain[0]:.6g}" if len(set(gain)) == 1 else f"[{', '.join(f'{each:.6g}' for each in gain)}]",
        columns="\n".join(f'{name:<{width}} = "{name}"' for name in channels),
        units="\n".join(
            f'{name:<{width}} = "{unit}"'
            for name, unit in zip(channels, (*of.coordinate_units, *(["V"] * len(efforts))), strict=True)
        ),
        channel=efforts[0],
        effort_unit=of.effort_units[0],
        names=", ".join(of.names),
        first=of.names[0],
        methods=", ".join(f'"{name}"' for name in DEFAULT_METHODS),
        known=", ".join(METHODS),
        name=of.name,
        clearance=CLEARANCE,
    )


def robot_lines(of: DynamicModel, *, family: str = "", file: str = "") -> list[str]:
    """The table [robot] of a family with its dimensions, or of a mechanism file."""
    variant = getattr(of, "variant", "")
    others = " or ".join(f'"{one.variant}"' for one in getattr(of, "variants", ()) if one.variant != variant)
    either = f"# or {others}: how much of the robot the model holds"
    nested = [f'# variant = "{variant}"  {either}'] if variant and others else []
    if file:
        return ["[robot]", f'file = "{file}"  # the mechanism; `gough mechanism` checks it', *nested]
    return ["[robot]", f'family = "{family}"', *nested, "", "[robot.geometry]", *_dimension_lines(family)]


def readme_text(family: str, title: str) -> str:
    """The page beside a new study."""
    coordinates, efforts = _channels(robot(family))
    return _README.format(title=title, what="amplifier voltages", channels=", ".join((*coordinates, *efforts)))


def _channels(of: DynamicModel) -> tuple[tuple[str, ...], tuple[str, ...]]:
    return of.coordinates, tuple(f"V{i + 1}" for i in range(len(of.actuators)))


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
