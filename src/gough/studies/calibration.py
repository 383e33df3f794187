"""Calibration studies: robot, measured poses and noise in one TOML file."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gough.closure import Certification, CertifiedPrinter, ModelError, Tolerances, certify, certify_printer
from gough.closure.certification import SourceFiles, chain_numbers
from gough.core.arguments import as_path
from gough.core.errors import GoughError, InputError, require
from gough.core.progress import Phase
from gough.data import Poses, averaged, read_klipper, read_poses
from gough.data.klipper import klipper_files
from gough.geometry import (
    Calibrated,
    CalibratedPrinter,
    Placement,
    StatedFrames,
    calibrate,
    calibrate_printer,
    cross_validate,
)
from gough.geometry.beliefs import matching, require_one_belief
from gough.geometry.calibrate import require_frames_of
from gough.geometry.held_out import require_held_out
from gough.geometry.machine import FAMILIES
from gough.report.calibration.page import calibration_documents, printer_documents
from gough.report.certification import certification_documents, certified_printer_documents
from gough.robots import BY_INSTRUMENTS, CableRobot, GoughPlatform, KinematicModel
from gough.studies.calibration_schema import GeometryTable, KinematicRobotTable, PlacementTable, PosesTable
from gough.studies.geometry_file import read_geometry
from gough.studies.quantities import nested, quantity
from gough.studies.robots import kinematic_dimensions_left_out, kinematic_model, not_stated
from gough.studies.study import Study, study_file
from gough.studies.toml import TomlFile


def robot_of_study(study: Study, table: KinematicRobotTable) -> KinematicModel:
    """The robot of a study's table [robot]: of a family, or as an earlier calibration found it."""
    if table.file is None:
        with study.at("robot"):
            return kinematic_model(table)
    with study.at("robot", "file"):
        model = read_geometry(study.path.parent / table.file).model
    if "gains" in table.model_fields_set:
        with study.at("robot", "gains"):
            has_gains = isinstance(model, GoughPlatform | CableRobot)
            require(has_gains, "gains are for Gough platforms and cables: leave them out")
            assert isinstance(model, GoughPlatform | CableRobot)
            return replace(model, gains=table.gains)
    return model


class KinematicStudy(Study):
    """A study about the geometry of a robot."""

    table: GeometryTable

    @cached_property
    def model(self) -> KinematicModel:
        """The robot with its blueprint."""
        assert self.table.robot is not None
        model = robot_of_study(self, self.table.robot)
        with self.at("robot"):
            own = not isinstance(model, tuple(BY_INSTRUMENTS.values()))
            family = FAMILIES[type(model)]
            require(own, f"{family} are calibrated by instruments: state [measurements] and [[instruments]]")
        return model

    @property
    def premises(self) -> tuple[str, ...]:
        """A sentence that lists the dimensions taken from the library; nothing if the study states all."""
        table = self.table.robot
        return () if table is None else not_stated(kinematic_dimensions_left_out(table), "robot.geometry")

    def stated_noise(self, poses: Poses) -> Poses:
        """The poses with the standard deviations that the study states."""
        noise = self.table.noise
        with self.at("noise", "readings"):
            readings = None if noise.readings is None else nested(noise.readings, self.model.reading_unit)
        return poses.with_noise(_one_or(noise.position), _one_or(noise.orientation), readings)

    def read_poses(self, file: str, how: PosesTable) -> Poses:
        """The poses of a file in the folder of the study, with columns and units as a table [poses] states them.

        Poses to leave out are those of its own file: in others, the same numbers are other poses.
        """
        return read_poses(
            self.path.parent / file,
            columns=how.columns,
            units=how.units,
            quaternion=how.quaternion,
            euler=how.euler,
            chains=len(self.model.chains),
            planar=2 not in self.model.freedoms,
            reading_unit=self.model.reading_unit,
            missing=how.missing,
            exclude=how.exclude if file == how.file else (),
            readings=None if how.readings is None else self.path.parent / how.readings,
            heads=how.heads,
            coverage=how.coverage,
        )


@dataclass(frozen=True, eq=False)
class CalibrationStudy(KinematicStudy, purposes=("poses", "printer")):
    """A study that calibrates a robot from measured poses, or a delta printer from probed points."""

    table: GeometryTable

    @classmethod
    def read(cls, path: str | Path) -> "CalibrationStudy":
        """The study in a TOML file, or of a Klipper configuration (`.cfg`).

        Raises:
            InputError: there is no such file, it is not TOML, a key is unknown or missing, or a value is not allowed;
                with the line.
        """
        if (name := as_path(path, "path")).suffix == ".cfg":
            printer = {"printer": {"file": name.name}, "output": {"folder": f"results-{name.stem}"}}
            return cls(TomlFile(name), GeometryTable.model_validate(printer))
        file = study_file(path, "poses", "printer")
        with file.at("instruments", 0):
            require(
                "instruments" not in file.tables,
                "[[instruments]] belong to a study with [measurements], which states the readings, instead of [poses]: "
                'poses are an instrument of kind = "pose" there',
            )
        study = cls(file, file.validated(GeometryTable))
        if study.table.printer is None:
            both = study.table.robot is not None and study.table.poses is not None
            require(both, f"{path} needs the tables [robot] and [poses], or [printer] for a printer.cfg of Klipper")
            assert study.model  # refuse a robot that cannot be, before any pose is read
        else:
            others = [name for name in ("robot", "poses", "frames") if getattr(study.table, name) is not None]
            require(not others, f"{path}: a [printer] brings its own robot and points: leave out [{', '.join(others)}]")
        return study

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.path.parent / self.table.output.folder

    @property
    def title(self) -> str:
        """Title of the report."""
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
    def frames(self) -> StatedFrames | None:
        """The frames of the poses, where the study states them."""
        table = self.table.frames
        if table is None:
            return None
        with self.at("frames", "base"):
            framed = self.table.calibration.frames == "instrument"
            require(
                framed, '[frames] is for poses in an instrument\'s frame: state [calibration] frames = "instrument"'
            )
            base = _placement(table.base)
        with self.at("frames", "base" if table.platform is None else "platform"):
            frames = StatedFrames(base) if table.platform is None else StatedFrames(base, _placement(table.platform))
            require_frames_of(self.model, frames)
        return frames

    def poses(self) -> Poses:
        """The measured poses with their noise."""
        assert self.table.poses is not None
        return self._read(self.table.poses.file, "file")

    def validation(self) -> Poses | None:
        """Poses for validation only; None where there are none."""
        assert self.table.poses is not None
        file = self.table.poses.validation
        return None if file is None else self._read(file, "validation")

    def calibrate(self) -> Calibrated | CalibratedPrinter:
        """Read and calibrate, as the study asks; a printer where the study has a table [printer]."""
        if self.table.printer is not None:
            with self.at("printer", "file"):
                return calibrate_printer(read_klipper(self.path.parent / self.table.printer.file))
        return replace(self._calibrated(), premises=self.premises)

    def files(self, answer: Calibrated | CalibratedPrinter) -> dict[str, bytes]:
        """The report, its figures and the numbers as JSON, by the names of their files."""
        make: Any = printer_documents if isinstance(answer, CalibratedPrinter) else calibration_documents
        files: dict[str, bytes] = make(self.title, (self.about,), answer)
        return files

    def _calibrated(self) -> Calibrated:
        table, model = self.table.calibration, self.model
        poses, validation = self.poses(), self.validation()
        if validation is not None:
            with self.at("poses", "validation"):
                require_held_out(poses, validation)
        options: dict[str, Any] = {"fixed": table.fixed, "scale": table.scale, "robust": table.robust}
        options["tolerance"] = self._tolerance()
        options["frames"] = self.frames or table.frames
        with self.at("calibration"):
            if table.folds:
                with self.at("calibration", "folds"):
                    require(
                        validation is None,
                        "[poses] validation states poses for validation already: leave out folds, or validation",
                    )
                whole = calibrate(model, poses, **options)  # first: its diagnosis must not hide behind that of a part
                try:
                    return replace(whole, validation=cross_validate(model, poses, folds=table.folds, **options))
                except GoughError as error:
                    note = f"Cross-validation in {table.folds} parts fails: {str(error).splitlines()[0]}"
                    return replace(whole, estimate=replace(whole.estimate, notes=(*whole.estimate.notes, note)))
            return calibrate(model, poses, validation=validation, **options)

    def _tolerance(self) -> float | dict[str, float] | None:
        """The tolerance of the blueprint in SI units, by pattern where the study states it so."""
        stated = self.table.calibration.tolerance
        with self.at("calibration", "tolerance"):
            if stated is None or not isinstance(stated, dict):
                return None if stated is None else quantity(stated, "m")
            model, result = self.model, {}
            with self.at("calibration"):
                require_one_belief(self.table.calibration.fixed, stated, model.names, "tolerance")
            for pattern, value in stated.items():
                units = {model.units[model.names.index(name)] for name in matching([pattern], model.names)}
                require(len(units) == 1, f"'{pattern}' matches parameters in different units: state them separately")
                result[pattern] = quantity(value, units.pop())
            return result

    def certify(
        self, on_step: Callable[[Phase], object] = lambda _: None, *, executor: Any = None, ledger: Path | None = None
    ) -> Certification:
        """Read, calibrate and prove what the table [certify] asks for; findings about chains are kept in the ledger.

        Raises:
            InputError: the study cannot be certified; with the line.
        """
        arguments = self.certify_arguments()
        with self.at("certify"):
            answer = certify(self.model, on_step=on_step, executor=executor, path=ledger, **arguments)
        return replace(answer, premises=(*self.premises, *answer.premises), notes=(*self.notes, *answer.notes))

    def certify_printer(self) -> CertifiedPrinter:
        """Read, calibrate and prove what the probed heights of a printer allow.

        Raises:
            InputError: [certify] asks for what heights do not have; with the line.
        """
        answer, table = self.calibrate(), self.table.certify
        assert isinstance(answer, CalibratedPrinter)
        unused = table.model_fields_set - {"position", "around", "width"}
        with self.at("certify", *sorted(unused)[:1]):
            require(
                not unused, f"'{min(unused, default='')}' is not for probed heights: state position, around or width"
            )
        with self.at("certify", "position"):
            stated = table.position
            require(stated is None or len(stated) == 1, "position is one half-width, that of the heights")
        with self.at("certify"):
            around = table.around[0] if "around" in table.model_fields_set else 1e-3
            return certify_printer(
                answer,
                around=around,
                width=table.width,
                tolerance=None if stated is None else stated[0],
                files=self._printer_files(),
            )

    def _printer_files(self) -> dict[str, bytes] | None:
        """printer.cfg and what it includes, by path relative to its folder; None where one lies elsewhere."""
        assert self.table.printer is not None
        path = self.path.parent / self.table.printer.file
        files = klipper_files(path)
        try:
            return {file.relative_to(path.parent).as_posix(): content for file, content in files.items()}
        except ValueError:
            return None

    def certification_files(self, answer: Certification | CertifiedPrinter, folder: Path) -> dict[str, bytes]:
        """The report, the certificates and the numbers as JSON for a folder, by the names of their files."""
        if isinstance(answer, CertifiedPrinter):
            heading = self.table.output.title or f"Certification of {self.path.name}"
            return certified_printer_documents(heading, answer)
        title = self.table.output.title or f"Certification of {self.path.name}"
        return certification_documents(title, self.premises, answer, folder)

    @property
    def certification_folder(self) -> Path:
        """The folder of the results of `certify`, beside that of `calibrate`."""
        return self.folder.with_name(f"{self.folder.name}-certified")

    def certify_arguments(self) -> dict[str, Any]:
        """The arguments of `gough.certify` that the study states, besides the robot."""
        with self.at("printer"):
            probed = self.table.printer is not None
            require(not probed, "gough certify needs measured poses: heights that a printer probed are not enough")
        table, model, poses = self.table.certify, self.model, self.poses()
        frames = self.frames
        with self.at("calibration", "frames"):
            known = self.table.calibration.frames == "robot" or 3 in model.freedoms or frames is not None
            require(
                known,
                f"chains of a {model.name} are certified in the frame of its base: state where the base is in the "
                "instrument's frame, in a table [frames.base] (gough calibrate estimates it, see calibration.json)",
            )
        with self.at("certify", "chains"):
            chains = chain_numbers(model, table.chains)
        with self.at("certify"):
            tolerances = self._tolerances(poses)
            unknown_frames = self.table.calibration.frames == "instrument" and frames is None
            wanted = table.center or ("calibrated" if unknown_frames else "blueprint")
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
            "model_error": self._model_error(),
            "width": table.width,
            "frames": frames,
            "sources": SourceFiles(self.path, self.path.parent / self.table.poses.file),
        }

    def _model_error(self) -> ModelError:
        """The table [certify.model_error], in the unit of readings; of legs of a Gough platform, in m."""
        unit = "m" if isinstance(self.model, GoughPlatform) else self.model.reading_unit
        units = {"constant": unit, "reading": "1", "position": f"{unit}/m", "orientation": f"{unit}/rad"}
        values = {}
        for key, each in units.items():
            with self.at("certify", "model_error", key):
                values[key] = quantity(getattr(self.table.certify.model_error, key), each)
                require(values[key] >= 0, f"a model error must not be negative, but {key} is")
        return ModelError(**values)

    def _tolerances(self, poses: Poses) -> Tolerances:
        """Half-widths as stated in [certify], or so many standard deviations of [noise]."""
        table, model = self.table.certify, self.model
        turns = model.has_orientation
        with self.at("certify", "orientation"):
            require(turns or table.orientation is None, f"a {model.name} does not turn: leave out orientation")
        with self.at("certify", "readings"):
            readings = None if table.readings is None else nested(table.readings, model.reading_unit)
        return Tolerances.of_noise(
            poses,
            table.sigmas,
            position=table.position,
            reading=readings,
            orientation=table.orientation if turns else 0.0,
        )

    def _calibration_to_compare(self, center: str) -> tuple[Calibrated | None, tuple[str, ...]]:
        """The calibration, or a note that there is none."""
        try:
            return replace(self._calibrated(), premises=self.premises), ()
        except InputError:
            raise
        except GoughError as error:
            require(center == "blueprint", f"no calibration to search around: {error}")
            return None, (f"Least squares find no calibration: {str(error).splitlines()[0]}",)

    def _read(self, file: str, key: str) -> Poses:
        assert self.table.poses is not None
        with self.at("poses", key):
            poses = self.read_poses(file, self.table.poses)
            if self.table.poses.average:
                poses, _ = averaged(poses)
        with self.at("noise"):
            return self.stated_noise(poses)


def _placement(table: PlacementTable) -> Placement:
    return Placement(
        np.array(table.position),
        np.array(table.quaternion),
        _one_or(table.position_tolerance),
        _one_or(table.orientation_tolerance),
    )


def _one_or(values: list[float] | None) -> Any:
    return values[0] if values is not None and len(values) == 1 else values
