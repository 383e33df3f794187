"""Recalibration from files: a calibrated geometry, and a few poses of another day."""

from dataclasses import dataclass
from pathlib import Path

from gough.core.errors import InputError, require
from gough.core.files import is_file, is_folder, read_toml
from gough.data import Poses, read_poses
from gough.geometry.days import LEVEL, Recalibrated, recalibrate
from gough.geometry.machine import MachineGeometry
from gough.report.calibration.day import recalibration_documents
from gough.report.calibration.machine import GEOMETRY
from gough.studies.calibration import CalibrationStudy
from gough.studies.calibration_schema import PosesTable
from gough.studies.geometry_file import read_geometry

__all__ = ["LEVEL", "Recalibration"]


@dataclass(frozen=True, eq=False)
class Recalibration:
    """A geometry, and how files of poses are read: as the study of the calibration states, or by their heads."""

    path: Path
    """The geometry.toml."""
    geometry: MachineGeometry
    study: CalibrationStudy | None = None

    @classmethod
    def read(cls, path: str | Path) -> "Recalibration":
        """From a study that was calibrated, its folder of results, or a geometry.toml.

        Raises:
            InputError: there is no such file, or no calibration was made yet; the message says what to run.
        """
        place = Path(path)
        keys = read_toml(place)[0] if is_file(place) else {}
        require(
            "measurements" not in keys,
            f"{place} has [measurements], but recalibration takes complete poses: run gough calibrate with the files "
            "of the day",
        )
        if is_folder(place):
            file, study = place / GEOMETRY, None
        elif "poses" in keys:
            study = CalibrationStudy.read(place)
            file = study.folder / GEOMETRY
        else:
            file, study = place, None
        if not is_file(file):
            run = f"run gough calibrate {place} first" if study is not None else "give the folder of gough calibrate"
            raise InputError(f"{file} cannot be read: there is no such file; {run}")
        return cls(file, read_geometry(file), study)

    @property
    def folder(self) -> Path:
        """The folder of the results, beside that of the calibration."""
        beside = self.path.parent
        return beside.with_name(f"{beside.resolve().name}-recalibrated")

    def poses(self, file: str | Path) -> Poses:
        """The poses of a file, relative to the current folder."""
        model, how = self.geometry.model, PosesTable(file=str(file))
        if self.study is not None and self.study.table.poses is not None:
            how = self.study.table.poses
        return read_poses(
            file,
            columns=how.columns,
            units=how.units,
            quaternion=how.quaternion,
            euler=how.euler,
            chains=len(model.chains),
            planar=2 not in model.freedoms,
            reading_unit=model.reading_unit,
            missing=how.missing,
            heads=how.heads,
            coverage=how.coverage,
        )

    def recalibrate(
        self, poses: str | Path, validation: str | Path | None = None, level: float = LEVEL
    ) -> Recalibrated:
        """What explains the poses of a file."""
        others = None if validation is None else self.poses(validation)
        return recalibrate(self.geometry, self.poses(poses), validation=others, level=level)

    def files(self, answer: Recalibrated, poses: str | Path) -> dict[str, bytes]:
        """The report, the numbers as JSON and the geometry of the day, by the names of their files."""
        title = f"What changed on the {answer.before.model.name}"
        lead = (f"Poses of {Path(poses).name}, with the geometry of {self.path}.",)
        return recalibration_documents(title, lead, answer)
