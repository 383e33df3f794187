"""A calibration study: one TOML file that says robot, poses and noise, and the calibration it asks for."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

from gough.closure import Certification, ModelError, Tolerances, certify
from gough.closure.certification import SourceFiles, chain_numbers, unsupported
from gough.core.errors import GoughError, InputError, nearest, require
from gough.data import Poses, averaged, read_klipper, read_poses
from gough.dynamics import Step
from gough.geometry import Calibrated, CalibratedPrinter, calibrate, calibrate_printer, cross_validate, robot_frame
from gough.robots import (
    GoughPlatform,
    H4Kinematics,
    KinematicModel,
    LinearDelta,
    Par4Kinematics,
    PlanarRRR,
    RotaryDelta,
)
from gough.studies.calibration_schema import CalibrationStudyTable, KinematicRobotTable, PosesTable
from gough.studies.quantities import quantity
from gough.studies.robots import dimension_text, left_out, not_stated, robot
from gough.studies.toml import read_tables, validated, where

_GOUGH = {"base": "m", "platform": "m", "length": "m", "gain": "1"}
_CIRCLES = {"base_radius": "m", "platform_radius": "m", "base_angles": "rad", "platform_angles": "rad"}
_LINEAR = {"radius": "m", "arm": "m", "endstop": "m", "angle": "rad"}
_ROTARY = {"radius": "m", "arm": "m", "rod": "m", "angle": "rad", "height": "m", "zero": "rad"}
_PLANAR = {"arm": "m", "rod": "m", "zero": "rad", "elbow": "1"}
_POINTS = {"base": "m", "platform": "m"}
_CHAINS: dict[str, tuple[dict[str, str], Any]] = {
    "linear-delta": (_LINEAR, LinearDelta),
    "rotary-delta": (_ROTARY, RotaryDelta),
    "3-rrr": (_POINTS | _PLANAR, PlanarRRR),
}
"""Robots that are made of their dimensions."""
_ROBOTS: dict[str, Any] = {"h4": H4Kinematics, "par4": Par4Kinematics}
"""Robots whose dimensions are those of a robot in other studies."""
BLUEPRINTS = {"deltalab": GoughPlatform.deltalab}
"""Blueprints that are built in."""


@dataclass(frozen=True, eq=False)
class CalibrationStudy:
    """What a calibration study asks for. Names of files in it are relative to its folder."""

    path: Path
    table: CalibrationStudyTable
    source: str
    """The file's text."""
    notes: tuple[str, ...] = ()
    """Old names in the file, each with its line and its new name."""

    @classmethod
    def read(cls, path: str | Path) -> "CalibrationStudy":
        """The study in a TOML file, or of a Klipper configuration where the file is one.

        Raises:
            InputError: no such file, no TOML, an unknown or missing key, a value that cannot be; with the line.
        """
        file = Path(path)
        if file.suffix == ".cfg":
            asked = {"printer": {"file": file.name}, "output": {"folder": f"results-{file.stem}"}}
            table = CalibrationStudyTable.model_validate(asked)
            return cls(file, table, "")
        data, source, notes = read_tables(file)
        study = cls(file, validated(CalibrationStudyTable, data, source, file), source, notes)
        if study.table.printer is None:
            both = study.table.robot is not None and study.table.poses is not None
            require(both, f"{file} needs the tables [robot] and [poses], or [printer] for a printer.cfg of Klipper")
            assert study.model
        else:
            alone = study.table.robot is None and study.table.poses is None
            require(alone, f"{file}: a [printer] brings its own robot and points: leave out [robot] and [poses]")
        return study

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.path.parent / self.table.output.folder

    @property
    def title(self) -> str:
        """Of the report."""
        name = "delta printer" if self.table.printer is not None else self.model.name
        return self.table.output.title or f"Calibration of the {name} of {self.path.name}"

    @property
    def about(self) -> str:
        """A paragraph on robot and data, for the report."""
        if self.table.printer is not None:
            return f"A linear delta, calibrated from the points that Klipper probed in {self.table.printer.file}."
        assert self.table.poses is not None
        poses = self.table.poses
        tried = f"; tried on {poses.validation}" if poses.validation else ""
        return f"{self.model.name}, calibrated from {poses.file}{tried}. The study is {self.path.name}."

    @cached_property
    def model(self) -> KinematicModel:
        """The robot with its blueprint."""
        assert self.table.robot is not None
        with self.at("robot"):
            return kinematic_model(self.table.robot)

    @property
    def premises(self) -> tuple[str, ...]:
        """A sentence that names the dimensions which the study leaves to the library; nothing where it states all."""
        table = self.table.robot
        return () if table is None else not_stated(_left_out(table), "robot.geometry")

    def poses(self) -> Poses:
        """What was measured, with its noise."""
        assert self.table.poses is not None
        return self._read(self.table.poses.file, "file")

    def validation(self) -> Poses | None:
        """Poses that take no part; None where there are none."""
        assert self.table.poses is not None
        file = self.table.poses.validation
        return None if file is None else self._read(file, "validation")

    def calibrate(self) -> Calibrated:
        """Read and calibrate, as the study asks."""
        return replace(self._calibrated(), premises=self.premises)

    def _calibrated(self) -> Calibrated:
        asked, model = self.table.calibration, self.model
        poses, validation = self.poses(), self.validation()
        options: dict[str, Any] = {"fixed": asked.fixed, "scale": asked.scale, "robust": asked.robust}
        options["frames"] = asked.frames if 3 in model.freedoms else "robot"
        with self.at("calibration"):
            if asked.frames == "instrument" and 3 not in model.freedoms:
                poses = robot_frame(model, poses)
                require(validation is None, "validation poses must be in the robot's frame, or use folds")
            if asked.folds and validation is None:
                judged = cross_validate(model, poses, folds=asked.folds, **options)
                return replace(calibrate(model, poses, **options), validation=judged)
            return calibrate(model, poses, validation=validation, **options)

    def calibrate_printer(self) -> CalibratedPrinter:
        """The printer of the study."""
        assert self.table.printer is not None
        with self.at("printer", "file"):
            return calibrate_printer(read_klipper(self.path.parent / self.table.printer.file))

    def certify(self, on_step: Callable[[Step], object] = lambda _: None) -> Certification:
        """Read, calibrate and prove what the table [certify] asks for.

        Raises:
            InputError: the study cannot be certified; with the line.
        """
        arguments = self.certify_arguments()
        with self.at("certify"):
            answer = certify(self.model, on_step=on_step, **arguments)
        return replace(answer, premises=(*self.premises, *answer.premises))

    def certify_arguments(self) -> dict[str, Any]:
        """The arguments of `gough.certify` that the study states, besides the robot."""
        with self.at("printer"):
            probed = self.table.printer is not None
            require(not probed, "gough certify needs measured poses: heights that a printer probed are not enough")
        table, model, poses = self.table.certify, self.model, self.poses()
        error = ModelError(**table.model_error.model_dump())
        refused = unsupported(model, outliers=table.outliers, joint_box=table.joint_box, model_error=error)
        for key, message in refused.items():
            with self.at("certify", key):
                raise InputError(message)
        with self.at("calibration", "frames"):
            own = self.table.calibration.frames == "robot" or 3 in model.freedoms
            require(own, f"chains of a {model.name} are certified in the robot's own frame: give the poses in it")
        with self.at("certify", "chains"):
            chains = chain_numbers(model, table.chains)
        with self.at("certify"):
            tolerances = self._tolerances(poses)
            wanted = table.center or ("calibrated" if self.table.calibration.frames == "instrument" else "blueprint")
            calibrated, notes = self._calibration_to_compare(wanted)
        assert self.table.poses is not None
        return {
            "poses": replace(poses, notes=(*poses.notes, *notes)),
            "tolerances": tolerances,
            "around": table.around,
            "center": wanted,
            "calibrated": calibrated,
            "chains": chains,
            "outliers": table.outliers,
            "joint": table.joint,
            "joint_box": table.joint_box,
            "model_error": error,
            "width": table.width,
            "sources": SourceFiles(self.path, self.path.parent / self.table.poses.file),
        }

    def _tolerances(self, poses: Poses) -> Tolerances:
        """Half-widths as stated in [certify], or so many standard deviations of [noise]."""
        table, model = self.table.certify, self.model
        turns = model.has_orientation
        require(turns or table.orientation is None, f"a {model.name} does not turn: leave out orientation")
        return Tolerances.of_noise(
            poses,
            table.sigmas,
            position=table.position,
            reading=None if table.readings is None else quantities(table.readings, model.reading_unit),
            orientation=table.orientation if turns else 0.0,
        )

    def _calibration_to_compare(self, center: str) -> tuple[Calibrated | None, tuple[str, ...]]:
        """The calibration, or a note that there is none."""
        try:
            return self.calibrate(), ()
        except InputError:
            raise
        except GoughError as error:
            require(center == "blueprint", f"no calibration to search around: {error}")
            return None, (f"Least squares find no calibration: {str(error).splitlines()[0]}",)

    def _read(self, file: str, key: str) -> Poses:
        table = self.table.poses
        assert isinstance(table, PosesTable)
        with self.at("poses", key):
            poses = read_poses(
                self.path.parent / file,
                columns=table.columns,
                units=table.units,
                quaternion=table.quaternion,
                chains=len(self.model.chains),
                planar=2 not in self.model.freedoms,
                reading_unit=self.model.reading_unit,
            )
            if table.average:
                poses, _ = averaged(poses)
        with self.at("noise"):
            return self.stated_noise(poses)

    def stated_noise(self, poses: Poses) -> Poses:
        """The poses with the standard deviations that the study states."""
        noise = self.table.noise
        readings = None if noise.readings is None else quantities(noise.readings, self.model.reading_unit)
        return poses.with_noise(_one_or(noise.position), _one_or(noise.orientation), readings)

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """Errors inside name the line of the study that they are about."""
        try:
            yield
        except InputError as error:
            if not self.source or str(error).startswith(f"{self.path}, "):
                raise  # there is no line to name, or one is named already
            raise InputError(f"{where(self.source, self.path, place)}: {error}") from error


def kinematic_model(table: KinematicRobotTable) -> KinematicModel:
    """The robot that a study describes.

    Examples:
        >>> kinematic_model(KinematicRobotTable(family="linear-delta", geometry={"radius": "160 mm"})).radius
        0.16
        >>> kinematic_model(KinematicRobotTable(family="linear-delta", geometry={"radios": 0.16}))
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: no dimension of linear-delta is called 'radios'; did you mean 'radius'? \
(known: radius, arm, endstop, angle)
    """
    given = table.geometry
    if table.family != "gough":
        require(table.blueprint is None, f"no blueprint of a {table.family} is built in: give its geometry")
        own = not table.model_fields_set & {"gains", "reading_unit"}
        require(own, f"gains and reading_unit are for Gough platforms, not for a {table.family}: leave them out")
        return _of_chains(table.family, given)
    if table.blueprint is not None:
        if table.blueprint not in BLUEPRINTS:
            raise InputError(f"no blueprint is called '{table.blueprint}'{nearest(table.blueprint, BLUEPRINTS)}")
        require(not given, "give either a blueprint or a geometry, not both")
        metres = table.reading_unit == "m"
        require(metres, "legs of a built-in blueprint read metres: leave out reading_unit, state units of [poses]")
        return replace(BLUEPRINTS[table.blueprint](), gains=table.gains)
    options: dict[str, Any] = {"gains": table.gains, "reading_unit": table.reading_unit}
    circles = "base_radius" in given
    values = _dimensions("gough", given, _CIRCLES | {"length": "m", "gain": "1"} if circles else _GOUGH)
    for name in (
        ("base_radius", "platform_radius", "base_angles", "platform_angles") if circles else ("base", "platform")
    ):
        require(name in values, f"the geometry of a Gough platform lacks '{name}'")
    require("length" in values, "the geometry of a Gough platform lacks 'length': of its legs at reading zero")
    return GoughPlatform.of_circles(**values, **options) if circles else GoughPlatform(**values, **options)


def _of_chains(family: str, given: Mapping[str, Any]) -> KinematicModel:
    """A robot other than a Gough platform."""
    if family in _ROBOTS:
        geometry = robot(family, given).geometry  # type: ignore[attr-defined]
        of_robot: KinematicModel = _ROBOTS[family](geometry)
        return of_robot
    if family == "3-rrr" and "base_radius" in given:
        require("platform_radius" in given, "the geometry of a planar 3-RRR lacks 'platform_radius'")
        return PlanarRRR.of_circles(**_dimensions(family, given, _CIRCLES | _PLANAR))
    known, kind = _CHAINS[family]
    made: KinematicModel = kind(**_dimensions(family, given, known))
    return made


def _left_out(table: KinematicRobotTable) -> dict[str, str]:
    """Dimensions that a study does not state, with the library's values in words."""
    family, given = table.family, table.geometry
    if family == "gough":
        return {}  # all are required, or those of a named blueprint
    if family in _ROBOTS:
        return left_out(family, given)
    units, kind = _CHAINS[family]
    circles = {"base", "platform"} if "base_radius" in given else set()
    values = {
        each.name: each.default_factory() if callable(each.default_factory) else each.default for each in fields(kind)
    }
    left = {name: dimension_text(values[name], unit) for name, unit in units.items() if name not in {*given, *circles}}
    angles = {"base_angles", "platform_angles"} - set(given) if circles else set()
    default = signature(PlanarRRR.of_circles).parameters
    return left | {name: dimension_text(default[name].default, "rad") for name in sorted(angles)}


def _dimensions(family: str, given: Mapping[str, Any], known: Mapping[str, str]) -> dict[str, Any]:
    result = {}
    for name, value in given.items():
        if name not in known:
            raise InputError(
                f"no dimension of {family} is called '{name}'{nearest(name, known)} (known: {', '.join(known)})"
            )
        try:
            result[name] = quantities(value, known[name])
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    return result


def quantities(value: Any, unit: str) -> Any:
    """Quantities in lists of any depth, in `unit`."""
    return [quantities(each, unit) for each in value] if isinstance(value, list) else quantity(value, unit)


def _one_or(values: list[float] | None) -> Any:
    return values[0] if values is not None and len(values) == 1 else values
