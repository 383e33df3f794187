"""The poses to measure, as a study asks for them: its [selection] table, the search, and the files of the answer."""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gough.core.errors import require
from gough.data import Poses, read_poses, write_poses
from gough.designs.poses import (
    Camera,
    Curve,
    PoseLimits,
    PoseProblem,
    Progress,
    Rival,
    Selection,
    candidates,
    how_many,
    rivals,
    select,
)
from gough.report.poses.page import selection_documents
from gough.report.poses.words import summary
from gough.studies.calibration import CalibrationStudy
from gough.studies.calibration_schema import CalibrationStudyTable, PosesTable
from gough.studies.pose_selection_schema import CameraTable, SelectionTable
from gough.studies.quantities import quantity
from gough.studies.toml import read_tables, validated

CONFIGURATIONS = "configurations.csv"
_DIGITS = 9
"""Of what is commanded: nobody commands less than a nanometre."""
OnProgress = Callable[[Progress], object]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The answer to a study."""

    selection: Selection
    rivals: tuple[Rival, ...]
    curve: Curve | None


@dataclass(frozen=True, eq=False)
class PoseSelectionStudy:
    """The selection that a calibration study asks for, before there are any poses."""

    study: CalibrationStudy
    table: SelectionTable

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> "PoseSelectionStudy":
        """The selection of a TOML file; `options` that are not None replace keys of its [selection].

        Raises:
            InputError: no such file, no TOML, no [robot], a key or value that cannot be; with the line.
        """
        file = Path(path)
        data, source, notes = read_tables(file)
        table = validated(CalibrationStudyTable, data, source, file)
        needs = f"{file} needs a table [robot] with the blueprint, and [selection.limits] with the range of readings"
        require(table.robot is not None, needs)
        study = CalibrationStudy(file, table, source, notes)
        assert study.model
        asked = table.selection or SelectionTable()
        given = {name: value for name, value in options.items() if value is not None}
        if "count" in given or "target" in given:
            given = {"count": None, "target": None} | given
        return cls(study, asked.model_copy(update=given))

    @property
    def folder(self) -> Path:
        """Where the answer is written."""
        return self.study.path.parent / self.table.folder

    @property
    def title(self) -> str:
        """Of the report."""
        return f"Poses to measure for the calibration of the {self.study.model.name}"

    @cached_property
    def target(self) -> float | None:
        """In m; None where a number of poses is asked for."""
        if self.table.target is None:
            return None
        with self._at("target"):
            return quantity(self.table.target, "m")

    @cached_property
    def limits(self) -> PoseLimits:
        """As the study states them."""
        asked, unit = self.table.limits, self.study.model.reading_unit
        given: dict[str, Any] = {"margin": asked.margin}
        if asked.readings is not None:
            with self._at("limits", "readings"):
                given["readings"] = PoseLimits(readings=tuple(_each(end, unit) for end in asked.readings)).readings
        for name in ("base_cone", "platform_cone"):
            if getattr(asked, name) is not None:
                with self._at("limits", name):
                    given[name] = quantity(getattr(asked, name), "rad")
        given["pose"] = {}
        for name, ends in asked.pose.items():
            with self._at("limits", "pose", name):
                unit = "m" if name in ("x", "y", "z") else "rad"
                low, high = (quantity(end, unit) for end in ends)
                given["pose"] |= PoseLimits(pose={name: (low, high)}).pose
        if self.table.camera is not None:
            with self._at("camera"):
                given["camera"] = _camera(self.table.camera)
        with self._at("limits"):
            return PoseLimits(**given)

    @cached_property
    def problem(self) -> PoseProblem:
        """The choice as a value: candidates are drawn, and what they tell is worked out."""
        table, study, asked = self.study.table, self.study, self.table
        with self._at("limits"):
            found = candidates(
                study.model,
                self.limits,
                sources=asked.candidates or ("extremal", "low-discrepancy"),
                count=asked.draws,
                levels=asked.levels,
                seed=asked.seed,
            )
        before = self._measured()
        with study.at("noise"):
            found = replace(found, poses=study.stated_noise(found.poses))
            measured = None if before is None else study.stated_noise(before)
        criterion = asked.criterion or ("D" if self.target is None else "pose")
        with study.at(*(("calibration", "fixed") if table.calibration.fixed else ("noise",))):
            return PoseProblem.of(
                study.model,
                found,
                criterion=criterion,
                fixed=table.calibration.fixed,
                scale=table.calibration.scale,
                measured=measured,
                repeats=asked.repeats,
            )

    def choose(self, on_progress: OnProgress = lambda _: None) -> Chosen:
        """Search, as the study asks; Ctrl-C ends it with the best so far."""
        asked, problem = self.table, self.problem
        if self.target is not None:
            curve = how_many(problem, self.target, most=asked.most, on_progress=on_progress)
            chosen = curve.selection or _largest(problem, curve, asked.seed)
            return Chosen(chosen, rivals(chosen, seed=asked.seed), curve)
        count = asked.count or min(2 * problem.needed, len(problem.candidates))
        with self._at("count"):
            problem.require_count(count)
        found = select(problem, count, starts=asked.starts, seed=asked.seed, on_progress=on_progress)
        return Chosen(found, rivals(found, seed=asked.seed), None)

    def files(self, chosen: Chosen) -> dict[str, bytes]:
        """The configurations as CSV, the numbers as JSON, the report and its figures, by the names of their files."""
        poses = chosen.selection.poses
        poses = replace(
            poses,
            position=poses.position.round(_DIGITS) + 0.0,
            readings=poses.readings.round(_DIGITS) + 0.0,
            configuration=np.arange(1, len(poses) + 1),
        )
        with TemporaryDirectory() as place:
            path = Path(place) / CONFIGURATIONS
            write_poses(path, poses)
            table = path.read_bytes()
        data = summary(chosen.selection, chosen.rivals, chosen.curve)
        words = (
            f"The study is {self.study.path.name}. {CONFIGURATIONS} has the readings to command and the poses to "
            "expect, in SI units, in an order in which the first few are a good set too."
        )
        pages = selection_documents(
            self.title, (*self.study.premises, words), chosen.selection, chosen.rivals, chosen.curve
        )
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
        return {CONFIGURATIONS: table, "selection.json": f"{text}\n".encode(), **pages}

    def _measured(self) -> Poses | None:
        if self.table.complete is None:
            return None
        model = self.study.model
        said = self.study.table.poses
        with self._at("complete"):
            how = said if isinstance(said, PosesTable) else PosesTable(file=self.table.complete)
            return read_poses(
                self.study.path.parent / self.table.complete,
                columns=how.columns,
                units=how.units,
                quaternion=how.quaternion,
                chains=len(model.chains),
                planar=2 not in model.freedoms,
                reading_unit=model.reading_unit,
            )

    def _at(self, *place: str) -> Any:
        return self.study.at("selection", *place)


def _largest(problem: PoseProblem, curve: Curve, seed: int) -> Selection:
    """What comes nearest to a target that is not met."""
    return select(problem, curve.points[-1].count, starts=1, seed=seed)


def _each(value: Any, unit: str) -> Any:
    return [quantity(each, unit) for each in value] if isinstance(value, list) else quantity(value, unit)


def _camera(table: CameraTable) -> Camera:
    distance = (0.0, np.inf)
    if table.distance is not None:
        distance = (quantity(table.distance[0], "m"), quantity(table.distance[1], "m"))
    return Camera(
        position=_each(table.position, "m"),
        direction=np.asarray(table.direction),
        half_angle=quantity(table.half_angle, "rad"),
        target=np.zeros(3) if table.target is None else _each(table.target, "m"),
        normal=np.asarray(table.normal),
        incidence=quantity(table.incidence, "rad"),
        radius=quantity(table.radius, "m"),
        distance=distance,
    )
