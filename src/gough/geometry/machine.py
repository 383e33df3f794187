"""A calibrated geometry in the machine's own frame: a blueprint for the next study, with covariance and frames."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gough.core.arrays import Array, ArrayValue
from gough.core.errors import InputError, require
from gough.core.rigid import RigidMotion
from gough.core.rotations import to_quaternion
from gough.core.units import SMALLEST
from gough.geometry.frames import Frames
from gough.geometry.gauges import regauged
from gough.geometry.printers import CalibratedPrinter
from gough.geometry.results import Calibrated, CalibratedParameters
from gough.region import ConfidenceEllipsoid
from gough.robots import (
    CableRobot,
    GoughPlatform,
    H4Kinematics,
    KinematicModel,
    LinearDelta,
    Par4Kinematics,
    PlanarRRR,
    RodDelta,
    RotaryDelta,
)
from gough.robots.arm_chain import TurningArms
from gough.robots.kinematics import PlatformPoses

FAMILIES: dict[type, str] = {
    GoughPlatform: "gough",
    LinearDelta: "linear-delta",
    RotaryDelta: "rotary-delta",
    H4Kinematics: "h4",
    Par4Kinematics: "par4",
    PlanarRRR: "3-rrr",
    CableRobot: "cables",
    RodDelta: "rod-delta",
}
"""The families of robots for calibration, as studies name them."""


@dataclass(frozen=True, eq=False)
class MachineGeometry(ArrayValue):
    """A robot whose blueprint is what a calibration found, and how well it is known."""

    model: KinematicModel
    """Its nominal values are the calibrated ones, in the frame of the base and of the platform."""
    covariance: Array | None = None
    """(p, p) of the parameters in SI units; zeros where a parameter was held; None where it is not known."""
    frames: Frames | None = None
    """Base in the instrument's frame and platform in the target's, on the day of the calibration; None where poses
    were in the robot's frame."""
    closure: Array | None = None
    """(chains,) standard deviation of the closure errors that the calibration left, m."""
    spare: int = 0
    """Equations beyond unknowns of the calibration, from which `closure` is known."""
    scale: float = 1.0
    """Factor of measured positions."""
    n_poses: int = 0
    """Poses of the calibration."""
    readings: Array | None = None
    """Smallest and largest reading of each chain (2, chains) in the data; None where they are not known."""
    home_readings: Array | None = None
    """(chains,) of a measured pose in the middle of the data."""
    home: PlatformPoses | None = None
    """The pose at these readings."""
    notes: tuple[str, ...] = ()
    """What was found on a later day, in sentences."""
    independent: float = 1.0
    """Independent closure errors over all: the chains of a pose share its error, so that χ² has fewer degrees of
    freedom than equations."""

    def sigma(self) -> dict[str, float]:
        """Standard deviations of the parameters by name; those that were held have none."""
        if self.covariance is None:
            return {}
        deviations = np.sqrt(np.maximum(self.covariance.diagonal(), 0.0)).tolist()
        return {name: value for name, value in zip(self.model.names, deviations, strict=True) if value > 0}


def machine_geometry(answer: Calibrated | CalibratedPrinter) -> MachineGeometry:
    """The geometry that a calibration found, in the machine's own frame.

    Joints of a Gough platform that were found in an instrument's frames are moved as near to the blueprint's as they
    can be (`Procrustes`), and the covariance with them; the frames are those motions.

    Raises:
        InputError: a robot with these dimensions cannot be, or is not one of the library's.

    Examples:
        >>> from gough.data import Poses
        >>> from gough.geometry import calibrate
        >>> printer, rng = LinearDelta(), np.random.default_rng(1)
        >>> p = rng.uniform([-0.08, -0.08, 0.0], [0.08, 0.08, 0.1], (30, 3))
        >>> answer = calibrate(printer, Poses(p, None, printer.inverse(printer.nominal + 1e-3, p)))
        >>> bool((machine_geometry(answer).model.nominal == answer.parameters).all())
        True
    """
    model, values, C = answer.model, answer.parameters, parameter_covariance(answer)
    if isinstance(answer, CalibratedPrinter):
        return MachineGeometry(with_values(model, values), C)
    frames = answer.frames
    if isinstance(model, GoughPlatform) and frames is not None:
        gauged = regauged(model, values, C, bodies=answer.moved_bodies)
        values, C = gauged.parameters, gauged.covariance
        frames = replace(
            frames,
            base=gauged.base.inverse() if "base" in answer.moved_bodies else frames.base,
            target=gauged.platform.inverse() if "platform" in answer.moved_bodies else frames.target,
            covariance=None if len(answer.moved_bodies) == 2 else frames.covariance,  # that of the hand–eye start
        )
    elif frames is not None and answer.scale != 1:  # of positions that are scaled before they are moved
        frames = replace(frames, base=_scaled(frames.base, answer.scale), target=_scaled(frames.target, answer.scale))
    made, home = with_values(model, values), _home(answer, frames)
    rows = answer.residuals.size
    spare = max(rows - len(answer.estimate.unknowns), 0)
    left = np.sqrt((answer.residuals**2).sum(axis=0) / max(spare / len(model.chains), 1.0))
    return MachineGeometry(
        made,
        C,
        frames,
        left if spare and bool((left > 0).all()) else None,
        spare,
        answer.scale,
        len(answer.poses),
        *home,
        independent=_independent(answer.residuals, spare),
    )


def _independent(residuals: Array, spare: int) -> float:
    """1 / mean of squared eigenvalues of the correlation of the chains' residuals [SAT46], less what chance adds."""
    n = residuals.shape[1]
    size = np.sqrt((residuals**2).sum(axis=0))
    if spare < 2 * n or not (size > 0).all():
        return 1.0
    R = (residuals / size).T @ (residuals / size)
    chance = (n * n - n) * n / spare  # of 1 / (degrees of freedom of a chain) for each pair
    return float(1 / max((float((R**2).sum()) - chance) / n, 1.0))


def _scaled(motion: RigidMotion, scale: float) -> RigidMotion:
    return RigidMotion(motion.R, scale * motion.t)


def _home(answer: Calibrated, frames: Frames | None) -> tuple[Array, Array, PlatformPoses]:
    """The range of the readings, those of a pose in their middle, and this pose in the machine's own frame."""
    readings = np.asarray(answer.poses.readings)
    ends, middle = middle_of(readings)
    rotation = np.eye(3) if answer.poses.rotation is None else answer.poses.rotation[middle]
    seen = RigidMotion(rotation, answer.scale * answer.poses.position[middle])
    if frames is not None and "base" in answer.moved_bodies:
        seen = frames.base.inverse() @ seen
    if frames is not None and "platform" in answer.moved_bodies:
        seen = seen @ frames.target
    return ends, readings[middle], PlatformPoses(seen.t[None], seen.R[None])


def middle_of(readings: Array) -> tuple[Array, int]:
    """Smallest and largest reading of each chain (2, chains), and the number of the pose nearest to their middle.

    Examples:
        >>> middle_of(np.array([[0.0, 0.0], [0.4, 0.6], [1.0, 1.0]]))[1]
        1
    """
    ends = np.stack([readings.min(axis=0), readings.max(axis=0)])
    span = np.maximum(ends[1] - ends[0], 1e-12)
    return ends, int(np.argmin(np.abs((readings - ends.mean(axis=0)) / span).max(axis=1)))


def parameter_covariance(answer: CalibratedParameters) -> Array | None:
    """(p, p) of the robot's parameters, with zeros for those that were held."""
    names, known = answer.model.names, answer.estimate.unknowns.names
    free = [name for name in names if name in known]
    if not free:
        return np.zeros((len(names), len(names)))
    region = answer.estimate.marginal(*free).region
    if not isinstance(region, ConfidenceEllipsoid) or not np.isfinite(region.covariance).all():
        return None
    whole = np.zeros((len(names), len(names)))
    places = [names.index(name) for name in free]
    whole[np.ix_(places, places)] = region.covariance
    return whole


def with_values(model: Any, values: Array) -> Any:
    """The robot whose nominal values are these.

    Examples:
        >>> robot = PlanarRRR()
        >>> bool((with_values(robot, robot.nominal + 1e-3).nominal == robot.nominal + 1e-3).all())
        True
    """
    values = np.asarray(values, dtype=float)
    if isinstance(model, GoughPlatform):
        rows = model.rows(values)
        return replace(model, base=rows[:, :3], platform=rows[:, 3:6], length=rows[:, 6], gain=rows[:, 7])
    if isinstance(model, LinearDelta):
        endstop, (radius,), angle, arm = np.split(values, [3, 4, 7])
        return replace(model, radius=float(radius), endstop=endstop, angle=angle, arm=arm)
    if isinstance(model, RodDelta):
        return model.with_values(values)
    if isinstance(model, CableRobot):
        return model.with_values(values)
    require(type(model) in FAMILIES, f"a robot of type {type(model).__name__} is not one of the library's")
    rows = values.reshape(len(model.chains), -1)
    if isinstance(model, TurningArms):
        return replace(model, calibrated=rows)  # type: ignore[type-var]
    if isinstance(model, PlanarRRR):
        return replace(model, base=rows[:, :2], zero=rows[:, 2], arm=rows[:, 3], rod=rows[:, 4], platform=rows[:, 5:])
    return replace(model, **dict(zip(model.STEMS, rows.T, strict=True)))


def geometry_text(geometry: MachineGeometry) -> str:
    """The content of geometry.toml: a table [robot] for studies, and what the calibration knows of it.

    Numbers are in SI units with all digits, so that they are read back exactly.
    """
    model = geometry.model
    lines = [
        "# A calibrated geometry in the robot's own frame, in SI units. A study uses it as its blueprint with",
        "# [robot]",
        '# file = "geometry.toml"',
        *(f"# {note}" for note in geometry.notes),
        "",
        "[robot]",
        f'family = "{FAMILIES[type(model)]}"',
        f"name = {_text(model.name)}",
    ]
    if isinstance(model, GoughPlatform | CableRobot):
        lines += [f"gains = {_value(model.gains)}", f"reading_unit = {_text(model.reading_unit)}"]
    lines += [
        "",
        "[robot.geometry]",
        *(f"{name} = {_value(value)}" for name, value in dimensions_of_robot(model).items()),
    ]
    if isinstance(model, TurningArms) and model.calibrated is not None:
        rows = np.asarray(model.calibrated)
        lines += ["", "[robot.chains]", *(f"{stem} = {_value(rows[:, i])}" for i, stem in enumerate(model.STEMS))]
    lines += ["", "[calibrated]", f"poses = {geometry.n_poses}", f"spare = {geometry.spare}"]
    lines += [f"scale = {_value(geometry.scale)}"]
    if geometry.closure is not None:
        lines += [f"closure = {_value(geometry.closure)}  # standard deviation of what was left of each chain, m"]
        lines += [f"independent = {_value(geometry.independent)}  # part of these errors: chains share those of a pose"]
    if geometry.readings is not None and geometry.home is not None:
        lines += [f"readings = {_value(geometry.readings)}  # smallest and largest of each chain", ""]
        lines += ["[calibrated.home]  # a measured pose in the middle", f"readings = {_value(geometry.home_readings)}"]
        lines += [f"position = {_value(geometry.home.position[0])}"]
        lines += [f"quaternion = {_value(to_quaternion(geometry.home.rotation[0]))}"]
    if geometry.frames is not None:
        for name, part in geometry.frames.to_dict().items():
            lines += ["", f"[calibrated.frames.{name}]"]
            lines += [f"{key} = {_value(values)}" for key, values in part.items()]
    if geometry.covariance is not None:
        free = np.flatnonzero(geometry.covariance.diagonal() > 0)
        lines += ["", "[calibrated.covariance]  # of these parameters: rows from the diagonal on"]
        lines += [f"names = [{', '.join(_text(model.names[i]) for i in free)}]", "rows = ["]
        lines += [f"  [{', '.join(map(repr, geometry.covariance[i, free[k:]].tolist()))}]," for k, i in enumerate(free)]
        lines += ["]"]
    return "\n".join([*lines, ""])


def dimensions_of_robot(model: Any) -> dict[str, Any]:
    """The dimensions of a robot as [robot.geometry] states them."""
    if isinstance(model, GoughPlatform):
        return {name: getattr(model, name) for name in ("base", "platform", "length", "gain")}
    if isinstance(model, LinearDelta):
        return {name: getattr(model, name) for name in ("radius", "arm", "endstop", "angle")}
    if isinstance(model, PlanarRRR):
        return {name: getattr(model, name) for name in ("base", "platform", "arm", "rod", "zero", "elbow")}
    if isinstance(model, RodDelta):
        own = ("radius", "arm", "endstop", "angle", "effector", "spacing", "lean", "mismatch", "side")
        return {name: getattr(model, name) for name in own}
    if isinstance(model, CableRobot):
        names = ("anchors", "points", "length", "gain", "buildup", "elongation", "home")
        return {name: getattr(model, name) for name in names if getattr(model, name) is not None}
    if isinstance(model, TurningArms):
        fields = type(model.geometry).__dataclass_fields__
        return {name: getattr(model.geometry, name) for name, each in fields.items() if "unit" in each.metadata}
    if isinstance(model, RotaryDelta):
        return {name: getattr(model, name) for name in ("radius", "arm", "rod", "angle", "height", "zero")}
    raise InputError(f"a robot of type {type(model).__name__} has no form as a file")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if np.ndim(value):
        return f"[{', '.join(_value(each) for each in np.asarray(value).tolist())}]"
    return repr(float(value) + 0.0 if abs(value) >= SMALLEST else 0.0)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
