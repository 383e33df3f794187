"""What a study says about watching its robot: the model, the options and the channels of the stream."""

from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.data import Recording
from gough.export.model import IdentifiedDynamics, RobotModel
from gough.export.robot_data import robot_to_data
from gough.studies.identification import IdentificationStudy
from gough.studies.quantities import quantity
from gough.studies.schema import SourceTable
from gough.watch import Channels, WatchedModel, Watcher, WatchOptions
from gough.watch.sources.folder import Recorded


@dataclass(frozen=True, eq=False)
class WatchStudy:
    """An identification study whose robot is watched by the model that was identified.

    Attributes:
        study: The study.
        results: Folder of its identification, instead of that of the study.
    """

    study: IdentificationStudy
    results: Path | None = None

    @classmethod
    def read(cls, path: str | Path, results: Path | None = None) -> "WatchStudy":
        """The study in a TOML file.

        Raises:
            InputError: it is no identification study, or a value is not allowed; with the line.
        """
        return cls(IdentificationStudy.read(path), results)

    @property
    def folder(self) -> Path:
        """Where events are written by default."""
        return self.study.path.parent / "watch"

    @cached_property
    def dynamics(self) -> IdentifiedDynamics:
        """What was identified.

        Raises:
            InputError: there are no results, they were changed, or they are of another robot.
        """
        stated = self.study.table.watch.results
        place = self.results or (self.study.folder if stated is None else self.study.path.parent / stated)
        with self.study.at("watch", "results"):
            dynamics = RobotModel.read(place).dynamics
            if dynamics is None:
                raise InputError(f"{place} is of a calibration, without dynamics: run gough identify")
        same = robot_to_data(dynamics.robot) == robot_to_data(self.study.robot)
        require(
            same,
            f"{place} is of a {dynamics.robot.name} with other dimensions, or of another variant or robot, than "
            f"{self.study.path}: run gough identify again",
        )
        return dynamics

    @cached_property
    def model(self) -> WatchedModel:
        """The model that is watched."""
        return WatchedModel.of(self.dynamics)

    @cached_property
    def options(self) -> WatchOptions:
        """Options of the watch.

        Raises:
            InputError: no error bound is known, or a value is not allowed; with the line.
        """
        study, table = self.study, self.study.table.watch
        prepared = study.table.preparation
        with study.at("preparation", "reversals", "speed"):
            slow = quantity(prepared.reversals.speed, study.speed_units[0])
        with study.at("watch"):
            return WatchOptions(
                bound=self._bound(),
                rate=study.table.data.rate,
                cutoff=prepared.cutoff,
                order=prepared.order,
                speed=slow,
                within=prepared.reversals.within,
                window=table.window,
                drift=self._drift(),
                block=table.block,
                learn=table.learn,
                forgetting=table.forgetting,
                false_alarms=table.false_alarms,
                set=table.set,
            )

    def _bound(self) -> Array:
        study, n = self.study, len(self.study.robot.actuators)
        stated = study.table.watch.bound
        if stated is not None:
            with study.at("watch", "bound"):
                require(len(stated) in (1, n), f"give one bound for all actuators or one for each of {n}")
                units = study.robot.effort_units
                values = [quantity(value, unit) for value, unit in zip(stated, units, strict=False)]
                require(min(values) > 0, f"must be greater than 0, but is {min(values):g}")
            return np.broadcast_to(np.array(values), (n,)).copy()
        bound = study.bound() or self.dynamics.bound
        if not bound:
            raise InputError(
                "no error bound of the efforts is known: state bound in [watch] or [noise], or run gough identify again"
            )
        return np.broadcast_to(np.asarray(bound, dtype=float), (n,)).copy()

    def _drift(self) -> Array | None:
        stated = self.study.table.watch.drift
        if not stated:
            return None
        unknowns, columns = self.model.unknowns, self.dynamics.columns
        drift = np.zeros(len(unknowns))
        for name, value in stated.items():
            with self.study.at("watch", "drift", name):
                if name not in columns:
                    raise InputError(
                        f"no parameter '{name}' is identified{nearest(name, columns)} ({', '.join(columns)})"
                    )
                k = columns.index(name)
                drift[k] = quantity(value, f"{unknowns.units[k]}/s")
                require(drift[k] >= 0, "must not be negative")
        return drift

    @property
    def channels(self) -> Channels:
        """Columns of the stream: those of the recordings."""
        study, data, robot = self.study, self.study.table.data, self.study.robot
        coordinates, efforts = study.channels
        names = (*coordinates, *efforts)
        gains = dict.fromkeys(efforts, 1.0)
        wanted = dict(zip(names, (*robot.coordinate_units, *robot.effort_units), strict=True))
        if study.amplifier is not None:
            gain = np.broadcast_to(study.amplifier.gain, (len(efforts),))
            gains = dict(zip(efforts, gain.tolist(), strict=True))
            wanted |= dict.fromkeys(efforts, "V")
        columns = {name: data.columns.get(name, name) for name in names}
        return Channels(data.time or None, columns, dict(data.units), wanted, gains, data.rate)

    def read_recording(self, path: Path) -> Recorded:
        """Times and values of a whole recording, in SI units, and when it began."""
        recording: Recording = self.study.recording(
            SourceTable(file=str(path.resolve())), ("data", "recordings", 0)
        ).in_si()
        coordinates, efforts = self.study.channels
        gains = np.array([self.channels.factors.get(name, 1.0) for name in efforts])
        start = recording.start
        times = start + np.arange(len(recording)) / recording.rate
        values = np.concatenate([recording.columns(coordinates), recording.columns(efforts) * gains], axis=1)
        return Recorded(times, values, _nanoseconds(recording.began))

    def watcher(self) -> Watcher:
        """A new watch."""
        return Watcher(self.model, self.options)

    @property
    def fingerprint(self) -> str:
        """A digest of all that decides what a watch computes from its samples."""
        options = {name: np.asarray(value).tolist() for name, value in vars(self.options).items() if value is not None}
        text = repr((self.dynamics.to_dict(), sorted(options.items()), vars(replace(self.channels))))
        return sha256(text.encode()).hexdigest()


def _nanoseconds(began: str) -> int | None:
    """Nanoseconds since 1970 of a date such as 2023-11-14 22:13:20.5 UTC; None of other texts, as a time of day."""
    try:
        return int(np.datetime64("T".join(began.split()[:2]), "ns").astype(np.int64)) if began else None
    except ValueError:
        return None
