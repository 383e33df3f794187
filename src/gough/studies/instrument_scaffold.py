"""Commented studies with instruments to fill in, for machines that have no file of complete poses."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from gough.core.arrays import Array
from gough.robots import CableRobot, KinematicModel, LinearDelta, RodDelta

MEASUREMENTS = "measurements.csv"
_HEAD = """\
# A calibration study of gough: `gough calibrate study.toml`. A line that is commented out shows a default or an
# example. Quantities are numbers in SI units, or text with a unit: 0.26 and "260 mm" are the same.

"""
_TAIL = """\
# [calibration]
# fixed = [{fixed}]            # example: parameters that keep their values; * stands for anything
# prior = {{{prior} = "20 mm"}}    # example: standard deviations of the blueprint

[output]
# folder = "results"
"""
_CABLES = """\
[robot]
family = "cables"
# file = "geometry.toml"       # instead of all of [robot]: the result of an earlier calibration as blueprint
# reading_unit = "rev"         # if the sensors count turns of spools: state gain, the line per turn, then
# gains = true                 # also estimate the line per turn; one measured distance then sets the scale

[robot.geometry]               # the blueprint: a tape measure is enough
anchors = [                    # of each cable or belt; two coordinates for a machine in a plane
{anchors}
]
length = [{length}]      # of each cable where its reading is zero
home = [{home}]                # some place inside
# points = [["10 mm", 0, 0], …]  # where cables end on the platform, if they do not meet in one point
# buildup = 0                  # also estimate the line that makes a spool thicker, m per squared unit of reading
# elongation = 0               # also estimate the stretch, 1/N; needs loads in [measurements]

[measurements]
file = "{file}"     # CSV, Parquet, .mat or .npz: a row for each place, columns {columns}
sigma = "{sigma} mm"            # standard deviation of the readings; if left out, it is estimated
# loads = ["T1", "T2", "T3", "T4"]  # example: columns with the tensions of cables that stretch

# [[instruments]]              # optional: a reflector, a distance, a touched plane …
# name = "tape"
# kind = "distance"            # of the nozzle from a fixed point; column tape_distance, empty where not measured
# sigma = "1 mm"
# anchor = "unknown"

"""
_RODS = """\
[robot]
family = "rod-delta"           # a linear delta with six rods: leaning towers, unequal rods, a tilted effector
# file = "geometry.toml"       # instead of all of [robot]: the result of an earlier calibration as blueprint

[robot.geometry]               # the blueprint: dimensions that you measured or know from drawings
radius = "{radius} mm"         # from the middle to the towers, less that of the effector
arm = "{arm} mm"               # length of the rods
endstop = "{endstop} mm"       # height of the nozzle at x = y = 0 with that carriage at its endstop
angle = ["210 deg", "330 deg", "90 deg"]  # of each tower about z
effector = "{effector} mm"     # radius of the effector's joints
spacing = "{spacing} mm"       # between the two rods of a tower

[measurements]
file = "{file}"     # CSV, Parquet, .mat or .npz: a row for each pose, columns {columns}
sigma = "{sigma} mm"           # standard deviation of the readings: how far each carriage is below its endstop

[[instruments]]                # other kinds: plane (a probe on the bed), distance, apart (a caliper), tilts …
name = "tracker"
kind = "point"                 # x, y, z of a reflector; empty cells where it was not seen
columns = ["x", "y", "z"]
sigma = "0.02 mm"
point = [0, 0, "-40 mm"]       # where the reflector is on the effector; "unknown" to estimate it
# frame = "unknown"            # if the tracker has a frame of its own; default: that of the printer

[calibration]
fixed = ["effector", "side_*"]

[calibration.nested]           # each group is estimated only if the measurements need it; simplest first
arms = ["arm_*"]
lean = ["lean_*"]
rods = ["mismatch_*"]

[output]
# folder = "results"
"""
_README = """\
# {title}

    gough calibrate study.toml           # results/report.html and results/geometry.toml

1. State the dimensions of your machine in `study.toml`.
2. {measure} Columns: {columns}.
3. State the standard deviations of the measurements, if you know them.
4. Run the command. Read the verdicts first. `results/geometry.toml` is the calibrated machine.

With `planned = true` in `[measurements]`, the command lists what the measurements would determine, before you take
them.
"""


class Example(NamedTuple):
    """A machine measured by instruments: its study, what to measure, and how simulated measurements are made."""

    model: KinematicModel
    study: Callable[[Any], str]
    measure: str
    columns: tuple[str, ...]
    """Columns of the file, in mm."""
    simulated: Callable[[Any, np.random.Generator], Array]
    """Values of the columns in m, as a machine near its blueprint has them."""


def instrument_study_text(family: str) -> str:
    """The commented study of a family that is calibrated by instruments, with the dimensions of an example.

    Examples:
        >>> 'family = "cables"' in instrument_study_text("cables")
        True
    """
    one = EXAMPLES[family]
    return one.study(one.model)


def instrument_readme_text(family: str, title: str) -> str:
    """The page beside a new study with instruments."""
    one = EXAMPLES[family]
    return _README.format(title=title, measure=one.measure, columns=", ".join(one.columns))


def simulated_measurements(family: str, rng: np.random.Generator) -> bytes:
    """A file of what is measured on a machine near its blueprint, with noise."""
    one = EXAMPLES[family]
    rows = 1e3 * one.simulated(one.model, rng)
    lines = [",".join(f"{name} [mm]" for name in one.columns)]
    lines += [",".join(f"{value:.4f}" for value in row) for row in rows.tolist()]
    return ("\n".join(lines) + "\n").encode()


_LINE, _CARRIAGE, _TRACKER = 2e-4, 1e-5, 2e-5
"""Standard deviations of simulated lines, carriages and reflectors, m."""


def _mm(values: Any) -> str:
    return ", ".join(
        "0" if abs(value) < 1e-12 else f'"{round(1e3 * value, 3):g} mm"' for value in np.atleast_1d(values)
    )


def _cable_text(model: CableRobot) -> str:
    return (_HEAD + _CABLES + _TAIL).format(
        anchors="\n".join(f"  [{_mm(each)}]," for each in model.anchors),
        length=_mm(np.asarray(model.length)),
        home='0, 0, "600 mm"',
        file=MEASUREMENTS,
        columns=", ".join(EXAMPLES["cables"].columns),
        sigma=f"{1e3 * _LINE:g}",
        fixed='"l*"',
        prior='"a*"',
    )


def _rod_text(model: RodDelta) -> str:
    sizes = {name: f"{1e3 * float(np.ravel(getattr(model, name))[0]):g}" for name in ("radius", "arm", "endstop")}
    sizes |= {name: f"{1e3 * getattr(model, name):g}" for name in ("effector", "spacing")}
    return (_HEAD + _RODS).format(
        file=MEASUREMENTS, columns=", ".join(EXAMPLES["rod-delta"].columns), sigma=f"{1e3 * _CARRIAGE:g}", **sizes
    )


def _hung(model: CableRobot, rng: np.random.Generator) -> Array:
    """Readings at places that nobody measured, of a machine whose anchors are 2 cm off."""
    truth = model.nominal + rng.normal(0, 0.02, len(model.names))
    places = rng.uniform([-0.7, -0.7, 0.0], [0.7, 0.7, 1.5], (60, 3))
    return np.asarray(model.inverse(truth, places) + rng.normal(0, _LINE, (60, len(model.chains))))


def _leaning(model: RodDelta, rng: np.random.Generator) -> Array:
    """Carriages and a reflector of a printer whose towers lean by about 2 mm per metre."""
    truth = model.nominal.copy()
    truth[:4] += rng.normal(0, 5e-4, 4)
    truth[10:16] = rng.normal(0, 2e-3, 6)
    plain = LinearDelta(model.radius, model.arm, model.endstop, model.angle)
    carriages = plain.inverse(plain.nominal, rng.uniform([-0.1, -0.1, 0.0], [0.1, 0.1, 0.15], (60, 3)))
    at = model.forward(truth, np.repeat(carriages, 2, axis=1))
    seen = at.position + at.rotation @ [0, 0, -0.04] + rng.normal(0, _TRACKER, (60, 3))
    return np.hstack([seen, carriages + rng.normal(0, _CARRIAGE, carriages.shape)])


EXAMPLES = {
    "cables": Example(
        CableRobot.hangprinter(),
        _cable_text,
        "Move the machine to 40 places or more, spread over the workspace, and note the readings of all cables at each "
        "of them: the places need not be known.",
        ("l1", "l2", "l3", "l4"),
        _hung,
    ),
    "rod-delta": Example(
        RodDelta(),
        _rod_text,
        "Measure 40 poses or more, spread over the workspace: a reflector, and the readings of the three carriages.",
        ("x", "y", "z", "l1", "l2", "l3"),
        _leaning,
    ),
}
"""The families of `gough.robots.BY_INSTRUMENTS`, each with its example."""
