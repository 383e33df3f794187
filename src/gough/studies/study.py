"""A study: one TOML file that says robot, data, methods and outputs, and the identification it asks for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.errors import InputError, nearest, require
from gough.core.files import read_toml
from gough.data import (
    Decimate,
    Differentiate,
    DropMissing,
    EffortFromVoltage,
    LowPass,
    MaskReversals,
    MaskWhere,
    MeasuredMotion,
    Recording,
    Trim,
    default_steps,
    prepare,
    read_recording,
)
from gough.data import Step as PreparationStep
from gough.dynamics import Identified, IdentifiedRepeats, Step, identify
from gough.dynamics.named import chosen_methods
from gough.region import Box
from gough.robots import DynamicModel
from gough.studies.quantities import quantity
from gough.studies.robots import effort_letter, left_out, not_stated, robot, robot_from_file
from gough.studies.schema import SourceTable, StudyTable
from gough.studies.toml import Place, read_tables, validated, where


@dataclass(frozen=True, eq=False)
class Study:
    """What a study file asks for. Names of files in it are relative to its folder.

    Nothing is computed before it is asked for; whatever cannot be used is refused with the line that says it.
    """

    path: Path
    table: StudyTable
    source: str
    """The file's text."""

    @classmethod
    def read(cls, path: str | Path) -> "Study":
        """The study in a TOML file.

        Raises:
            InputError: no such file, no TOML, an unknown or missing key, a value that cannot be; with the line.
        """
        file = Path(path)
        data, source, _ = read_tables(file)
        study = cls(file, validated(StudyTable, data, source, file), source)
        assert study.robot  # refuse a robot that cannot be, before anything is read
        study.prior()
        study.bound()
        return study

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.path.parent / self.table.output.folder

    @property
    def title(self) -> str:
        """Of the report."""
        return self.table.output.title or f"Identification of the {self.robot.name} of {self.path.name}"

    @property
    def about(self) -> str:
        """A paragraph on the robot and its recordings, for the report."""
        data = self.table.data
        files = ", ".join(source.file for source in data.recordings)
        others = ", ".join(source.file for source in data.validation)
        tried = f"; tried on {others}" if others else ""
        variant = getattr(self.robot, "variant", "")
        model = (
            f"model “{variant}”, {len(self.robot.names)} parameters"
            if variant
            else f"{len(self.robot.names)} parameters"
        )
        return f"{self.robot.name} ({model}), identified from {files}{tried}. The study is {self.path.name}."

    @cached_property
    def robot(self) -> DynamicModel:
        """The robot with its dimensions and variant, or the mechanism of a file."""
        table = self.table.robot
        if table.file is not None:
            with self.at("robot", "file"):
                return robot_from_file(self.path.parent / table.file, table.variant)
        with self.at("robot"):
            assert table.family is not None
            return robot(table.family, self._dimensions, table.variant)

    @cached_property
    def _dimensions(self) -> Mapping[str, Any]:
        """The dimensions that the study states."""
        given = self.table.robot.geometry
        if not isinstance(given, str):
            return given
        with self.at("robot", "geometry"):
            return read_toml(self.path.parent / given)[0]

    @property
    def premises(self) -> tuple[str, ...]:
        """A sentence that names the dimensions which the study leaves to the library; nothing where it states all."""
        family = self.table.robot.family
        return () if family is None else not_stated(left_out(family, self._dimensions), "robot.geometry")

    def prior(self) -> Box:
        """Bounds of the robot's parameters; infinite where the study says nothing."""
        names = self.robot.names
        lower, upper = np.full(len(names), -inf), np.full(len(names), inf)
        for name, known in self.table.unknowns.items():
            with self.at("unknowns", name):
                if name not in names:
                    raise InputError(f"the robot has no parameter '{name}'{nearest(name, names)} ({', '.join(names)})")
                twice = known.fixed is not None and (known.lower is not None or known.upper is not None)
                require(not twice, "give either fixed, or lower and upper")
            i = names.index(name)
            low, high = ("fixed", "fixed") if known.fixed is not None else ("lower", "upper")
            lower[i], upper[i] = self._limit(name, low, -inf), self._limit(name, high, inf)
            with self.at("unknowns", name):
                require(lower[i] <= upper[i], f"lower = {lower[i]:g} exceeds upper = {upper[i]:g}")
        return Box(lower, upper)

    def _limit(self, name: str, key: str, default: float) -> float:
        """A limit of a parameter, in its SI unit."""
        value = getattr(self.table.unknowns[name], key)
        with self.at("unknowns", name, key):
            return default if value is None else quantity(value, self.robot.units[self.robot.names.index(name)])

    def bound(self) -> float | list[float] | None:
        """The greatest error of the efforts, one for all actuators or one each; None where it is to be found."""
        given, units = self.table.noise.bound, self.robot.effort_units
        if given is None:
            return None
        with self.at("noise", "bound"):
            fits = len(given) in (1, len(units))
            require(fits, f"give one bound for all actuators or one for each of {len(units)}, not {len(given)}")
            same = len(given) > 1 or len(set(units)) == 1 or not isinstance(given[0], str)
            require(same, f"efforts have different units ({', '.join(units)}): give a bound for each actuator")
            bound = [quantity(each, unit) for each, unit in zip(given, units, strict=False)]
            require(min(bound) > 0, f"must be greater than 0, but is {min(bound):g}")
        return bound[0] if len(bound) == 1 else bound

    def steps(self, rate: float) -> tuple[PreparationStep, ...]:
        """What is done to a recording at `rate`, in order."""
        asked = self.table.preparation
        usual = default_steps(rate, cutoff=asked.cutoff)
        with self.at("preparation", "reversals", "speed"):
            slow = quantity(asked.reversals.speed, self.speed_units[0])
        fewer = [step for step in usual if isinstance(step, Decimate)]
        if asked.decimate is not None:
            fewer = [Decimate(asked.decimate)] if asked.decimate > 1 else []
        return (
            *([DropMissing()] if self.table.data.missing == "mask" else []),
            *([] if self.amplifier is None else [self.amplifier]),
            LowPass(asked.cutoff, asked.order),
            Differentiate(),
            Trim(asked.trim),
            MaskReversals(slow, asked.reversals.within),
            *(MaskWhere(m.channel, _or(m.lower, -inf), _or(m.upper, inf), m.within) for m in asked.mask),
            *fewer,
        )

    def motion(self) -> MeasuredMotion:
        """The recordings for identification, prepared."""
        return self._prepared("recordings", self.table.data.recordings)

    def validation(self) -> MeasuredMotion | None:
        """The recordings of other trajectories, prepared; None where there are none."""
        sources = self.table.data.validation
        return self._prepared("validation", sources) if sources else None

    def identify(self, on_step: Callable[[Step], object] = lambda _: None) -> Identified | IdentifiedRepeats:
        """Read, prepare and identify, as the study asks; with a table [repeats] from repeats of one motion."""
        if self.table.repeats is not None:
            from gough.studies.repeated import identify_repeats  # noqa: PLC0415 - it is about studies

            return replace(identify_repeats(self, on_step), premises=self.premises)
        for which in ("recordings", "validation"):
            for i, source in enumerate(getattr(self.table.data, which)):
                with self.at("data", which, i):
                    alone = source.period is None and source.motion is None
                    require(alone, "period and motion are for repeats: add a table [repeats], or leave them out")
        with self.at("methods", "use"):
            chosen = chosen_methods(self.table.methods.use)
        identified = identify(
            self.robot,
            self.motion(),
            methods=chosen,
            validation=self.validation(),
            prior=self.prior() if self.table.unknowns else None,
            bound=self.bound(),
            on_step=on_step,
        )
        return replace(identified, premises=self.premises)

    @property
    def channels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Names of the channels of positions and of efforts."""
        efforts = self.table.efforts
        n = len(self.robot.actuators)
        letter = "V" if efforts.gain is not None else effort_letter(self.robot)
        named = efforts.channels or [f"{letter}{i + 1}" for i in range(n)]
        with self.at("efforts", "channels"):
            require(len(named) == n, f"{len(named)} channels do not fit {n} actuators")
        return self.robot.coordinates, tuple(named)

    @property
    def amplifier(self) -> EffortFromVoltage | None:
        """What makes efforts of voltages; None where efforts are recorded."""
        gain = self.table.efforts.gain
        if gain is None:
            return None
        return EffortFromVoltage(gain[0] if len(gain) == 1 else tuple(gain), self.robot.effort_units[0])

    @property
    def speed_units(self) -> tuple[str, ...]:
        """Units of the speeds of the robot's coordinates."""
        return tuple(f"{unit}/s" for unit in self.robot.coordinate_units)

    def _prepared(self, which: str, sources: Sequence[SourceTable]) -> MeasuredMotion:
        recordings = [self.recording(source, ("data", which, i)) for i, source in enumerate(sources)]
        coordinates, efforts = self.channels
        with self.at("preparation"):
            actuators = dict(zip(self.robot.actuators, efforts, strict=True))
            parts = [prepare(one, coordinates, actuators, self.steps(one.rate)) for one in recordings]
            return MeasuredMotion.concatenate(*parts)

    def recording(self, source: SourceTable, place: Place) -> Recording:
        """What a file holds of the study's channels; a unit that nobody states is that of the robot."""
        data = self.table.data
        coordinates, efforts = self.channels
        masked = (mask.channel for mask in self.table.preparation.mask if mask.channel != "time")
        wanted = dict.fromkeys((*coordinates, *efforts, *masked))
        for key, said in (("columns", data.columns), ("units", data.units)):
            for channel in said:
                with self.at("data", key, channel):
                    if channel not in wanted:
                        raise InputError(f"no channel is called so{nearest(channel, wanted)} ({', '.join(wanted)})")
        with self.at(*place, "file"):
            found = read_recording(
                self.path.parent / source.file,
                columns={channel: data.columns.get(channel, channel) for channel in wanted},
                units=data.units,
                time=data.time,
                rate=source.rate or data.rate,
                missing=data.missing,
            )
        efforts_in = self.robot.effort_units if self.amplifier is None else ("V",) * len(efforts)
        known = dict(zip((*coordinates, *efforts), (*self.robot.coordinate_units, *efforts_in), strict=True))
        units = [unit or known.get(name, "") for name, unit in zip(found.names, found.units, strict=True)]
        with self.at(*place, "begin" if source.end is None else "end"):
            return replace(found, units=tuple(units)).between(source.begin, source.end)

    @contextmanager
    def at(self, *place: str | int) -> Iterator[None]:
        """Errors inside name the line of the study that they are about."""
        try:
            yield
        except InputError as error:
            raise InputError(f"{where(self.source, self.path, place)}: {error}") from error


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
