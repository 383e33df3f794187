"""Pose selection studies: the poses that a table [selection] asks for, and the files of the answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from gough.answers import Answer
from gough.core.arguments import one_of
from gough.core.errors import require
from gough.core.progress import OnProgress
from gough.core.tables import Table
from gough.data import Poses, write_poses
from gough.designs.poses import (
    CRITERIA,
    Camera,
    Curve,
    PoseLimits,
    PoseProblem,
    Rival,
    Selection,
    candidates,
    how_many,
    rivals,
    select,
)
from gough.region import Interval
from gough.report.poses.page import selection_documents
from gough.report.poses.words import summary
from gough.studies.calibration import KinematicStudy
from gough.studies.calibration_schema import CameraTable, GeometryTable, PosesTable, SelectionTable
from gough.studies.quantities import nested, quantity
from gough.studies.study import study_file

CONFIGURATIONS = "configurations.csv"
_DIGITS = 9
"""Decimals of commanded positions: a nanometre."""


@dataclass(frozen=True, eq=False)
class Chosen(Answer):
    """The answer to a study: the selection, the rivals that it is compared with, and how many poses reach a target.

    By name, in print and as JSON it is its selection.
    """

    selection: Selection
    rivals: tuple[Rival, ...]
    curve: Curve | None

    @property
    def names(self) -> tuple[str, ...]:
        """What the poses identify."""
        return self.selection.names

    def __getitem__(self, name: str) -> float:
        """The value that was assumed for a parameter or combination."""
        return self.selection[name]

    def interval(self, name: str, level: float | None = None) -> Interval:
        """The interval that a calibration from these poses is predicted to have."""
        return self.selection.interval(name, level)

    def headlines(self) -> Sequence[str]:
        """Sentences above the table."""
        return self.selection.headlines()

    def table(self) -> Table:
        """The poses."""
        return self.selection.table()

    def remarks(self) -> Sequence[str]:
        """Sentences below the table."""
        return self.selection.remarks()

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, in SI units; `Selection.from_json` reads it."""
        return self.selection.to_dict()

    def report(self, folder: str | Path, *, title: str = "") -> Path:
        """Write the page of the selection to a folder and return its path."""
        return self.selection.report(folder, title=title)


@dataclass(frozen=True, eq=False)
class PoseSelectionStudy(KinematicStudy, purposes=("selection",)):
    """A study that chooses the poses of a calibration. The file may have the tables of the calibration too."""

    table: GeometryTable
    selection: SelectionTable
    """The table [selection], with the options of the command."""

    @classmethod
    def read(cls, path: str | Path, **options: Any) -> "PoseSelectionStudy":
        """The selection of a TOML file; `options` that are not None replace keys of its [selection].

        Raises:
            InputError: there is no such file, it is not TOML, it has no [robot], a key is unknown or missing, or a
                value is not allowed; with the line.
        """
        file = study_file(path, "selection", "poses", "printer")
        table = file.validated(GeometryTable)
        needs = f"{path} needs a table [robot] with the blueprint, and [selection.limits] with the range of readings"
        require(table.robot is not None, needs)
        stated = {name: value for name, value in options.items() if value is not None}
        if "criterion" in stated:
            one_of(stated["criterion"], "criterion", tuple(CRITERIA))
        require(not {"count", "target"} <= set(stated), "state a number of poses (count) or a target, not both")
        if "count" in stated or "target" in stated:
            stated = {"count": None, "target": None} | stated
        study = cls(file, table, (table.selection or SelectionTable()).model_copy(update=stated))
        assert study.model  # refuse a robot that cannot be, before anything is searched
        return study

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.path.parent / self.selection.folder

    @property
    def title(self) -> str:
        """Title of the report."""
        return f"Poses to measure for the calibration of the {self.model.name}"

    @cached_property
    def target(self) -> float | None:
        """Required accuracy of predicted positions, m; None where the study states a number of poses."""
        if self.selection.target is None:
            return None
        with self._at("target"):
            return quantity(self.selection.target, "m")

    @cached_property
    def limits(self) -> PoseLimits:
        """The limits that the study states."""
        table, unit = self.selection.limits, self.model.reading_unit
        limits: dict[str, Any] = {"margin": table.margin}
        if table.readings is not None:
            with self._at("limits", "readings"):
                limits["readings"] = PoseLimits(readings=tuple(nested(end, unit) for end in table.readings)).readings
        for name in ("base_cone", "platform_cone"):
            if getattr(table, name) is not None:
                with self._at("limits", name):
                    limits[name] = quantity(getattr(table, name), "rad")
        limits["pose"] = {}
        for name, ends in table.pose.items():
            with self._at("limits", "pose", name):
                unit = "m" if name in ("x", "y", "z") else "rad"
                low, high = (quantity(end, unit) for end in ends)
                limits["pose"] |= PoseLimits(pose={name: (low, high)}).pose
        if self.selection.camera is not None:
            with self._at("camera"):
                limits["camera"] = _camera(self.selection.camera)
        with self._at("limits"):
            return PoseLimits(**limits)

    @cached_property
    def problem(self) -> PoseProblem:
        """The problem: candidate poses with the information that each gives."""
        table, selection = self.table, self.selection
        with self._at("limits"):
            drawn = candidates(
                self.model,
                self.limits,
                sources=selection.candidates or ("extremal", "low-discrepancy"),
                count=selection.draws,
                levels=selection.levels,
                seed=selection.seed,
            )
        before = self._measured()
        with self.at("noise"):
            drawn = replace(drawn, poses=self.stated_noise(drawn.poses))
            measured = None if before is None else self.stated_noise(before)
        criterion = selection.criterion or ("D" if self.target is None else "pose")
        with self.at(*(("calibration", "fixed") if table.calibration.fixed else ("noise",))):
            return PoseProblem.of(
                self.model,
                drawn,
                criterion=criterion,
                fixed=table.calibration.fixed,
                scale=table.calibration.scale,
                measured=measured,
                repeats=selection.repeats,
            )

    def choose(
        self, on_progress: OnProgress = lambda _: None, *, executor: Any = None, ledger: Path | None = None
    ) -> Chosen:
        """Search, as the study asks; Ctrl-C ends it with the best so far. Finished starts are kept in the ledger."""
        table, problem = self.selection, self.problem
        if self.target is not None:
            curve = how_many(problem, self.target, most=table.most, executor=executor, on_progress=on_progress)
            chosen = curve.selection or _largest(problem, curve, table.seed)
            return Chosen(chosen, rivals(chosen, seed=table.seed), curve)
        count = table.count or min(2 * problem.needed, len(problem.candidates))
        with self._at("count"):
            problem.require_count(count)
        selection = select(
            problem,
            count,
            starts=table.starts,
            seed=table.seed,
            executor=executor,
            path=ledger,
            on_progress=on_progress,
        )
        return Chosen(selection, rivals(selection, seed=table.seed), None)

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
            f"The study is {self.path.name}. {CONFIGURATIONS} has the readings to command and the poses to "
            "expect, in SI units, in an order in which the first few are a good set too."
        )
        pages = selection_documents(self.title, (*self.premises, words), chosen.selection, chosen.rivals, chosen.curve)
        text = json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False)
        return {CONFIGURATIONS: table, "selection.json": f"{text}\n".encode(), **pages}

    def _measured(self) -> Poses | None:
        if self.selection.complete is None:
            return None
        with self._at("complete"):
            how = self.table.poses or PosesTable(file=self.selection.complete)
            return self.read_poses(self.selection.complete, how)

    def _at(self, *place: str) -> Any:
        return self.at("selection", *place)


def _largest(problem: PoseProblem, curve: Curve, seed: int) -> Selection:
    """The largest selection tried, for a target that is not met."""
    return select(problem, curve.points[-1].count, starts=1, seed=seed)


def _camera(table: CameraTable) -> Camera:
    distance = (0.0, np.inf)
    if table.distance is not None:
        distance = (quantity(table.distance[0], "m"), quantity(table.distance[1], "m"))
    return Camera(
        position=nested(table.position, "m"),
        direction=np.asarray(table.direction),
        half_angle=quantity(table.half_angle, "rad"),
        target=np.zeros(3) if table.target is None else nested(table.target, "m"),
        normal=np.asarray(table.normal),
        incidence=quantity(table.incidence, "rad"),
        radius=quantity(table.radius, "m"),
        distance=distance,
    )
