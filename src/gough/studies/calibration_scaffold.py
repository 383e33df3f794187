"""Commented calibration studies to fill in, for each family of robots."""

from math import degrees
from typing import Any

import numpy as np

from gough.core.errors import InputError, nearest
from gough.geometry.machine import dimensions_of_robot
from gough.robots import BY_INSTRUMENTS, KINEMATICS, ROBOTS, GoughPlatform, KinematicModel
from gough.studies.calibration_schema import KinematicRobotTable
from gough.studies.robots import dimensions_of, kinematic_model

POSES, VALIDATION = "poses.csv", "validation.csv"
_MEANINGS = {
    "base": "joints or motors of the base",
    "platform": "joints of the platform, in its own frame",
    "length": "of each leg at reading zero",
    "gain": "length per unit of reading",
    "radius": "from the middle to the towers or motors, less that of the platform",
    "arm": "length of each arm",
    "rod": "length of the rods on the platform",
    "endstop": "height of the nozzle at x = y = 0 with that carriage at its endstop",
    "angle": "of each tower or motor about z",
    "height": "of the motors",
    "zero": "angle of each motor at reading zero",
    "elbow": "1 or −1: the side of the elbows",
}
_STUDY = """\
# A calibration study of gough: `gough calibrate study.toml`. A line that is commented out shows a default or an
# example. Quantities are numbers in SI units, or text with a unit: 0.26 and "260 mm" are the same.

[robot]
family = "{family}"
# file = "geometry.toml"       # instead of all of [robot]: the result of an earlier calibration as blueprint
{options}
[robot.geometry]               # the blueprint: dimensions that you measured or know from drawings
{dimensions}

[poses]
file = "{poses}"            # CSV, Parquet, .mat or .npz; a row for each pose
validation = "{validation}"  # other poses, for validation only; optional
# columns = {{{columns}}}  # example: names of columns in the file
# units = {{position = "mm", readings = "{reading}"}}  # example: units that the heads of the file do not state
# exclude = [3, "line 9"]      # example: poses of file to leave out, as messages name them
# missing = "drop"             # leave out poses with an empty cell; default: refuse the file

[noise]                        # standard deviations; if left out, estimated from the residuals
{noise}

[calibration]
# frames = "instrument"        # if the poses are in the frame of an instrument; default: "robot"
# fixed = [{fixed}]            # example: parameters that keep their values; * stands for anything
# tolerance = "2 mm"           # example: what lengths of the blueprint may be wrong by (95 %)
# scale = true                 # also estimate the scale of measured positions
# robust = true                # limit the influence of outliers
# folds = 6                    # cross-validation, where there are no validation poses

# [certify]                    # for gough certify: half-widths instead of standard deviations
# around = "5 mm"

# [selection]                  # for gough poses: which poses to measure
# count = 16
# limits.{limits}

[output]
# folder = "results"
"""
_LIMITS = {
    "gough": 'readings = ["0 mm", "140 mm"]  # one range for all legs, or lists',
    "linear-delta": 'readings = ["150 mm", "380 mm"]  # one range for all carriages, or lists',
}
_TURNING = 'readings = ["-20 deg", "60 deg"]  # one range for all motors, or lists'
_README = """\
# {title}

    gough calibrate study.toml                        # results/report.html and results/geometry.toml
    gough recalibrate study.toml --poses today.csv    # another day: which few unknowns changed?
    gough certify study.toml                          # proofs

1. State the dimensions of your robot in `study.toml`.
2. Measure 20 poses or more, spread over the workspace{turned}, and the readings of all sensors at each of them. Measure
   some more for validation. Columns: {columns}.
3. State the standard deviations of the measurements in `[noise]`, if you know them.
4. Run the first command. Read the verdicts first. `results/geometry.toml` is the calibrated robot, in its own frame.
"""


def calibration_model(family: str) -> KinematicModel:
    """The robot of a family for calibration, with the dimensions of the library.

    Raises:
        InputError: there is no such family; the message lists them.
    """
    if family not in KINEMATICS:
        known = (*KINEMATICS, *BY_INSTRUMENTS)
        raise InputError(
            f"no robot for calibration is called '{family}'{nearest(family, known)} (known: {', '.join(known)})"
        )
    if family == "gough":
        return GoughPlatform.deltalab()
    return kinematic_model(KinematicRobotTable(family=family))  # type: ignore[arg-type]


def calibration_study_text(family: str, noise: dict[str, str] | None = None) -> str:
    """The commented study of a family, with the dimensions of the library; noise that is not stated is an example.

    Examples:
        >>> 'radius = "160 mm"' in calibration_study_text("linear-delta")
        True
    """
    model = calibration_model(family)
    cells = {name: f"{name} = {_written(value, _unit(name))}" for name, value in dimensions_of_robot(model).items()}
    width = max(30, *(len(cell) for cell in cells.values() if len(cell) <= 40))
    meanings = _MEANINGS
    if family in ROBOTS and family != "3-rrr":  # the dimensions of the dynamic model
        meanings = {name: each.metadata["meaning"] for name, each in dimensions_of(family).items()}
    lines = [f"{cell:<{width}} # {meanings[name]}" for name, cell in cells.items()]
    options = ""
    if isinstance(model, GoughPlatform):
        options = '# gains = true                 # also estimate the gain of each leg\n# reading_unit = "m"\n'
    example = {"position": "0.1 mm", "readings": "0.01 mm" if model.reading_unit == "m" else "1e-4 rad"}
    if model.has_orientation:
        example["orientation"] = "2e-4 rad"
    stated = [f'{name} = "{value}"' for name, value in (noise or {}).items()]
    return _STUDY.format(
        family=family,
        options=options,
        dimensions="\n".join(lines),
        poses=POSES,
        validation=VALIDATION,
        columns='x = "position_x", l1 = "motor_1"',
        reading="mm" if model.reading_unit == "m" else "deg",
        noise="\n".join(stated or [f'# {name} = "{value}"' for name, value in example.items()]),
        limits=_LIMITS.get(family, _TURNING),
        fixed=", ".join(f'"{name}"' for name in ("a*", "b*")) if family == "gough" else f'"{model.zeros[0]}"',
    )


def calibration_readme_text(family: str, title: str) -> str:
    """The page beside a new calibration study."""
    model = calibration_model(family)
    columns = ["x", "y", *(("z",) if 2 in model.freedoms else ())]
    columns += ["qw", "qx", "qy", "qz"] if 3 in model.freedoms else ["rz"] if model.has_orientation else []
    columns += [f"l{i + 1}" for i in range(len(model.chains))]
    turned = " and turned in several directions" if model.has_orientation else ""
    return _README.format(title=title, turned=turned, columns=", ".join(columns))


def _unit(name: str) -> str:
    return {"gain": "1", "elbow": "1", "angle": "rad", "zero": "rad", "alpha": "rad"}.get(name, "m")


def _written(value: Any, unit: str) -> str:
    if np.ndim(value):
        values = list(value)
        flat = np.asarray(value, dtype=float)
        if flat.ndim == 1 and (flat == flat[0]).all() and unit != "1":
            return _written(float(flat[0]), unit)
        return f"[{', '.join(_written(each, unit) for each in values)}]"
    if unit == "1":
        return f"{float(value):g}"
    factor, written = (1e3, "mm") if unit == "m" else (degrees(1.0), "deg")
    return f'"{round(factor * float(value), 9) + 0.0:.10g} {written}"'
