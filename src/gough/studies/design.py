"""Design studies: the trajectory that a table [design] asks for, and the files of the answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.progress import OnProgress
from gough.data import Recording, read_recording, write_recording
from gough.designs.excitation import Design, DesignProblem, MotionLimits, optimize
from gough.designs.excitation.criteria import criterion_named
from gough.designs.excitation.search import fingerprint
from gough.designs.excitation.tracking import TrackingCheck, check_tracking
from gough.report.design.page import design_documents, to_record
from gough.robots.model import ParallelRobot
from gough.robots.refusal import refuse_where
from gough.simulate.equations import as_parallel
from gough.studies.identification import DynamicStudy
from gough.studies.quantities import deviations, quantities, quantity
from gough.studies.schema import DesignStudyTable, IdentificationTable
from gough.studies.study import study_file

TRAJECTORY = "trajectory.csv"
_CHECKED = 1500
"""Samples of a trajectory whose tracking errors are followed."""
_MET = 1e-6
"""By how much actuator positions, in rad or m, may differ from those of their pose."""


@dataclass(frozen=True, eq=False)
class DesignStudy(DynamicStudy, purposes=("design",)):
    """A study that plans a trajectory for identification. The file may have the tables of the identification too."""

    table: DesignStudyTable

    @classmethod
    def read(cls, path: str | Path) -> "DesignStudy":
        """The design of a TOML file.

        Raises:
            InputError: there is no such file, it is not TOML, it has no [design], a key is unknown or missing, or a
                value is not allowed; with the line.
        """
        file = study_file(path, "design", "data")
        require(
            "design" in file.tables,
            f"{path} has no table [design]: add one, with [design.limits] that state speeds and efforts",
        )
        if "data" in file.tables:
            file.validated(IdentificationTable)
        others = IdentificationTable.model_fields.keys() - DesignStudyTable.model_fields.keys()
        needed = {name: table for name, table in file.tables.items() if name not in others}
        study = cls(file, file.validated(DesignStudyTable, needed))
        assert study.problem  # refuse what cannot be, before anything is searched
        return study

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.path.parent / self.table.design.folder

    @cached_property
    def problem(self) -> DesignProblem:
        """The search as a value."""
        at, robot, table = self.at, self.robot, self.table.design
        with at("design", "criterion"):
            criterion = criterion_named(table.criterion)
        with at("design", "frequency"):
            frequency = quantities(table.frequency, ["Hz", "Hz"])
        with at("design", "limits"):
            limits = self._limits()
        with at("design"):
            units = robot.coordinate_units if (pose := as_parallel(robot)) is None else pose.pose_units
            return DesignProblem(
                robot,
                limits,
                sigma=deviations(table.sigma, robot.effort_units),
                criterion=criterion,
                n_harmonics=table.harmonics,
                frequency=frequency,
                recorded=max(1, round(table.duration * table.rate)),
                rate=table.rate,
                home=None if table.home is None else quantities(table.home, units),
            )

    def design(
        self, executor: Any = None, on_progress: OnProgress = lambda _: None, *, ledger: Path | None = None
    ) -> Design:
        """Search, as the study asks; finished starts are kept in the ledger, if there is one, and not repeated."""
        table = self.table.design
        return optimize(
            self.problem, starts=table.starts, seed=table.seed, executor=executor, path=ledger, on_progress=on_progress
        )

    @property
    def fingerprint(self) -> str:
        """A digest of the search, with which its ledger is named."""
        return fingerprint(self.problem, self.table.design.seed)

    def check(self, path: Path) -> TrackingCheck:
        """How much tracking error a trajectory in a file tolerates, at no more than 1500 samples, evenly spaced.

        The file has a column for each actuator's position, or one for each coordinate of the pose, in its units.

        Raises:
            InputError: the file cannot be read, has no such columns, or the robot cannot follow its positions.
        """
        of, robot = self.problem, self.robot
        recording = read_recording(path)
        pose = as_parallel(robot)
        in_pose = [] if pose is None else [f"pose {n}" if n in robot.coordinates else n for n in pose.pose_names]
        every = ceil(len(recording) / _CHECKED)
        if set(robot.coordinates) <= set(recording.names):
            q = _columns(recording, robot.coordinates, robot.coordinate_units, path)[::every]
            x = q if pose is None else _poses(pose, q)
        elif pose is not None and set(in_pose) <= set(recording.names):
            x = _columns(recording, in_pose, pose.pose_units, path)[::every]
        else:
            either = f", or {', '.join(in_pose)}" if in_pose else ""
            raise InputError(
                f"{path}: a trajectory of {robot.name} has the columns {', '.join(robot.coordinates)}{either}; this "
                f"file has {', '.join(recording.names)}"
            )
        return check_tracking(of.neighborhood, recording.times[::every], x, of.default_tracking)

    def files(self, design: Design) -> dict[str, bytes]:
        """The trajectory with ramps from and to rest, its series, and the report, by the names of their files."""
        periods, of = self._periods(design), design.problem
        title = f"{of.robot.name}: a motion designed for identification"
        criterion = f"criterion {of.criterion.name}, {of.criterion.meaning}"
        recorded = f"{self.table.design.duration:g} s recorded at {self.table.design.rate:g} Hz"
        lead = (
            *self.premises,
            f"{len(of.names)} base parameters, {len(of.channels)} limits; {criterion}, for {recorded}.",
        )
        with TemporaryDirectory() as place:
            path = Path(place) / TRAJECTORY
            write_recording(path, design.recording(self.table.design.rate, periods=periods, ramps=True))
            trajectory = path.read_bytes()
        return {
            TRAJECTORY: trajectory,
            "design.json": f"{design.to_json()}\n".encode(),
            "design.txt": f"{design}\n\n{self.to_record(design)}\n".encode(),
            **design_documents(title, lead, design, periods=periods),
        }

    def to_record(self, design: Design) -> str:
        """Which part of the trajectory is periodic, and what a study says of its recording."""
        return to_record(design, self._periods(design))

    def _periods(self, design: Design) -> int:
        return max(1, ceil(self.table.design.duration / design.series.period - 1e-9))

    def _limits(self) -> MotionLimits:
        table, robot = self.table.design.limits, self.robot
        pose = as_parallel(robot)
        names, of = (robot.coordinates, robot.coordinate_units) if pose is None else (pose.pose_names, pose.pose_units)
        speeds, accelerations = ([f"{unit}/{per}" for unit in robot.coordinate_units] for per in ("s", "s²"))
        limits: dict[str, Any] = {
            "speeds": quantities(table.speeds, speeds),
            "accelerations": quantities(table.accelerations, accelerations),
            "efforts": quantities(table.efforts, robot.effort_units),
            "margin": table.margin,
            "reach": table.reach,
            "tracking": quantities(table.tracking, robot.coordinate_units),
            "joints": {name: tuple(quantity(each, "rad") for each in ends) for name, ends in table.joints.items()}
            or None,
        }
        if table.positions is not None:
            limits["positions"] = tuple(quantities(end, robot.coordinate_units) for end in table.positions)
        units = dict(zip(names, of, strict=True))
        limits["pose"] = {
            name: tuple(quantity(each, units.get(name, "m")) for each in ends) for name, ends in table.pose.items()
        }
        return MotionLimits.stated(robot, **{name: value for name, value in limits.items() if value is not None})


def _columns(recording: Recording, names: Sequence[str], units: Sequence[str], path: Path) -> Array:
    """Columns of a trajectory (N, names) in these units; a head without a unit has them already."""
    for name, unit in zip(names, units, strict=True):
        written = recording.unit(name)
        require(
            written in ("", unit),
            f"{path}: the column '{name}' is in {written}, but must be a {'length' if unit == 'm' else 'angle'}",
        )
    return recording.columns(names)


def _poses(robot: ParallelRobot, q: Array) -> Array:
    """The poses of actuator positions, in the assembly and working mode of home."""
    x = robot.forward(q)
    far = q - robot.inverse(x)
    turns = np.array([unit == "rad" for unit in robot.coordinate_units])
    away = np.abs(np.where(turns, np.arctan2(np.sin(far), np.cos(far)), far)).max(axis=1)
    refuse_where(away > _MET, f"{robot.name} takes these positions only in another working mode than that of home")
    return x
