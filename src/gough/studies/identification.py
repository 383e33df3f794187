"""Identification studies: robot, recordings, preparation and methods in one TOML file."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.files import read_toml
from gough.core.progress import Phase, announced
from gough.core.toml_places import Place
from gough.core.units import in_si
from gough.data import (
    Decimate,
    Differentiate,
    DropMissing,
    EffortFromDriveSignal,
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
from gough.dynamics import (
    Ellipsoid,
    Identified,
    IdentifiedRepeats,
    Limits,
    PhysicalOptions,
    RepeatedMotion,
    certified_bodies,
    identify,
    identify_repeated,
    periods,
    possible_bodies,
    runs,
)
from gough.dynamics.bodies.program import solvers
from gough.dynamics.clocks import clock_report, compare_clocks, prepare_corrected
from gough.dynamics.effects import chosen_effects
from gough.dynamics.named import chosen_methods
from gough.dynamics.periodic.path import stated_covariance
from gough.dynamics.with_effects import EffectError
from gough.region import Box
from gough.report import documents, report_on
from gough.robots import DynamicModel
from gough.robots.physical import physical_limits
from gough.studies.mechanism_file import Stated
from gough.studies.quantities import deviations, quantity
from gough.studies.robots import effort_letter, left_out, not_stated, robot, robot_from_file
from gough.studies.schema import (
    EffectsTable,
    IdentificationTable,
    MethodsTable,
    NoiseTable,
    PreparationTable,
    RepeatsTable,
    RobotTable,
    SourceTable,
)
from gough.studies.study import Study, study_file

Answered = TypeVar("Answered", Identified, IdentifiedRepeats)

UNNAMED = "the validation motion"
"""The name of validation recordings that are repeats of each other, where the study gives none."""


class DynamicStudy(Study):
    """A study about the dynamics of a robot."""

    @property
    def _robot_table(self) -> RobotTable:
        table: RobotTable = self.table.robot
        return table

    @cached_property
    def robot(self) -> DynamicModel:
        """The robot with its dimensions and variant, or the mechanism of a file."""
        table = self._robot_table
        if table.file is not None:
            with self.at("robot", "file"):
                where = tuple(table.pose), tuple(table.home), tuple(table.fixed)
                stated = Stated(tuple(table.actuated), table.platform, *where)
                return robot_from_file(self.path.parent / table.file, table.variant, stated)
        with self.at("robot"):
            assert table.family is not None
            return robot(table.family, self._dimensions, table.variant)

    @cached_property
    def _dimensions(self) -> Mapping[str, Any]:
        """The dimensions that the study states."""
        geometry = self._robot_table.geometry
        if not isinstance(geometry, str):
            return geometry
        with self.at("robot", "geometry"):
            return read_toml(self.path.parent / geometry)[0]

    @property
    def premises(self) -> tuple[str, ...]:
        """A sentence that lists the dimensions taken from the library; nothing if the study states all."""
        family = self._robot_table.family
        return () if family is None else not_stated(left_out(family, self._dimensions), "robot.geometry")


@dataclass(frozen=True, eq=False)
class IdentificationStudy(DynamicStudy, purposes=("data",)):
    """A study that identifies dynamic parameters from recordings."""

    table: IdentificationTable

    @classmethod
    def read(cls, path: str | Path) -> "IdentificationStudy":
        """The study in a TOML file.

        Raises:
            InputError: there is no such file, it is not TOML, a key is unknown or missing, or a value is not allowed;
                with the line.
        """
        file = study_file(path, "data")
        study = cls(file, file.validated(IdentificationTable))
        assert study.robot  # refuse a robot that cannot be, before any recording is read
        study.prior()
        study.blueprint()
        study.bound()
        study.sigma()
        study.sigma_positions()
        study.physical()
        return study

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.path.parent / self.table.output.folder

    @property
    def title(self) -> str:
        """Title of the report."""
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

    def prior(self) -> Box:
        """Bounds of the robot's parameters; infinite where the study states none."""
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

    @property
    def has_prior(self) -> bool:
        """Does the study bound or fix a parameter?"""
        keys = ("lower", "upper", "fixed")
        return any(getattr(known, key) is not None for known in self.table.unknowns.values() for key in keys)

    def blueprint(self) -> dict[str, float]:
        """Values of parameters that the study states as those of the blueprint."""
        stated = [name for name, known in self.table.unknowns.items() if known.blueprint is not None]
        return {name: self._limit(name, "blueprint", inf) for name in stated}

    def _limit(self, name: str, key: str, default: float) -> float:
        """A limit of a parameter, in its SI unit."""
        value = getattr(self.table.unknowns[name], key)
        with self.at("unknowns", name, key):
            return default if value is None else quantity(value, self.robot.units[self.robot.names.index(name)])

    def bound(self) -> float | list[float] | None:
        """The stated bound on the errors of the efforts, one for all actuators or one each; None if not stated."""
        return self._stated_noise("bound", self.robot.effort_units, "actuator")

    def sigma(self) -> float | list[float] | None:
        """The stated standard deviation of one reading of an effort, one for all actuators or one each."""
        return self._stated_noise("sigma", self.robot.effort_units, "actuator")

    def sigma_positions(self) -> float | list[float] | None:
        """The stated standard deviation of one reading of a position, one for all coordinates or one each."""
        return self._stated_noise("sigma_positions", self.robot.coordinate_units, "coordinate")

    def _stated_noise(self, key: str, units: Sequence[str], each: str) -> float | list[float] | None:
        """A positive number of [noise] in SI units, one for all channels or one each; None if not stated."""
        stated = getattr(self.table.noise, key)
        if stated is None:
            return None
        with self.at("noise", key):
            fits = len(stated) in (1, len(units))
            require(fits, f"give one {key} for all {each}s or one for each of {len(units)}, not {len(stated)}")
            same = len(stated) > 1 or len(set(units)) == 1 or not isinstance(stated[0], str)
            what = "efforts" if each == "actuator" else "positions"
            require(same, f"{what} have different units ({', '.join(units)}): give a {key} for each {each}")
            values = [quantity(value, unit) for value, unit in zip(stated, units, strict=False)]
            require(min(values) > 0, f"must be greater than 0, but is {min(values):g}")
        return values[0] if len(values) == 1 else values

    def physical(self) -> PhysicalOptions | None:
        """What [physical] asks for; None without that table.

        Raises:
            InputError: cvxpy is not installed, a body does not exist, or groups contradict each other; with the line.
        """
        table = self.table.physical
        if table is None:
            return None
        with self.at("physical"):
            solvers()
        inside = {}
        for name, each in table.inside.items():
            with self.at("physical", "inside", name):
                radii = each.radii * 3 if len(each.radii) == 1 else each.radii
                inside[name] = Ellipsoid(tuple(each.center), tuple(radii))  # type: ignore[arg-type]
        known = [body.name for body in physical_limits(self.robot).bodies]
        groups = [name for group in table.equal for name in group]
        for key, names in (("equal", groups), ("inside", list(inside))):
            for name in names:
                with self.at("physical", key):
                    listing = ", ".join(known) or "none"
                    require(name in known, f"the robot has no body '{name}'{nearest(name, known)} (known: {listing})")
        for key in ("nearest", "margin"):
            with self.at("physical", key):
                PhysicalOptions(**{key: getattr(table, key)})
        with self.at("physical"):
            equal = tuple(tuple(group) for group in table.equal)
            return PhysicalOptions(table.nearest, table.margin, equal, inside, table.ranges)  # type: ignore[arg-type]

    def _with_bodies(self, identified: Answered, on_step: Callable[[Phase], object]) -> Answered:
        """The answer with the bodies that [physical] asks for."""
        options = self.physical()
        if options is None:
            return identified
        table = self.table.physical
        assert table is not None
        wanted = table.bounds
        if wanted is None:  # the proofs are about models without effects
            wanted = self.table.noise.bound is not None and not self.table.effects.use
        begin = announced(on_step, 4 if wanted else 2)
        with self.at("physical"):
            identified = replace(identified, possible=possible_bodies(identified, options, on_step=begin))
        if not wanted:
            return identified
        with self.at("physical", "bounds"):
            if not isinstance(identified, Identified):
                raise InputError("bounds are proven from rows with error bounds, not from [repeats]: leave bounds out")
            limits, prior = Limits(table.heaviest, table.farthest), self.prior() if self.has_prior else None
            certified = certified_bodies(
                identified, equal=options.equal, inside=options.inside, limits=limits, prior=prior, on_step=begin
            )
            return replace(identified, certified=certified)

    def steps(self, rate: float) -> tuple[PreparationStep, ...]:
        """Steps of the preparation of a recording with `rate` samples a second, in order."""
        table = self.table.preparation
        usual = default_steps(rate, cutoff=table.cutoff)
        with self.at("preparation", "reversals", "speed"):
            slow = quantity(table.reversals.speed, self.speed_units[0])
        fewer = [step for step in usual if isinstance(step, Decimate)]
        if table.decimate is not None:
            fewer = [Decimate(table.decimate)] if table.decimate > 1 else []
        return (
            *([] if self.table.data.missing == "refuse" else [DropMissing(bridge=self._longest_bridged)]),
            *([] if self.amplifier is None else [self.amplifier]),
            LowPass(table.cutoff, table.order),
            Differentiate(),
            Trim(table.trim),
            MaskReversals(slow, table.reversals.within),
            *(MaskWhere(m.channel, _or(m.lower, -inf), _or(m.upper, inf), m.within) for m in table.mask),
            *fewer,
        )

    @property
    def _longest_bridged(self) -> int:
        return 3 if self.table.data.missing == "bridge" else 0

    def motion(self) -> MeasuredMotion:
        """The recordings for identification, prepared."""
        return self._prepared("recordings", self.table.data.recordings)

    def validation(self) -> MeasuredMotion | None:
        """The recordings of other trajectories, prepared; None where there are none."""
        sources = self.table.data.validation
        return self._prepared("validation", sources) if sources else None

    def identify(
        self, on_step: Callable[[Phase], object] = lambda _: None, *, complete: bool = False
    ) -> Identified | IdentifiedRepeats:
        """Read, prepare and identify, as the study asks; with a table [repeats] from repeats of one motion.

        `complete` asks for every method of the default, as the study's key does.
        """
        if self.table.repeats is not None:
            repeated = self._identify_repeats(self.table.repeats, on_step)
            repeated = replace(repeated, premises=self.premises, blueprint=self.blueprint())
            return self._with_bodies(repeated, on_step)
        for which in ("recordings", "validation"):
            for i, source in enumerate(getattr(self.table.data, which)):
                with self.at("data", which, i):
                    alone = source.period is None and source.motion is None
                    require(alone, "period and motion are for repeats: add a table [repeats], or leave them out")
        with self.at("methods", "use"):
            stated = "use" in self.table.methods.model_fields_set
            chosen = chosen_methods(self.table.methods.use) if stated else None
        with self.at("effects", "use"):
            effects = chosen_effects(self.table.effects.use)
        motion = self.motion()
        options: dict[str, Any] = {
            "effects": effects,
            "methods": chosen,
            "complete": self.table.methods.complete or complete,
            "validation": self.validation(),
            "prior": self.prior() if self.has_prior else None,
            "bound": self.bound(),
            "sigma": self.sigma(),
            "sigma_positions": self.sigma_positions(),
        }
        try:
            identified = identify(self.robot, motion, **options, on_step=on_step)
        except EffectError as error:
            with self.at("effects", "use"):
                raise InputError(str(error)) from error
        identified = replace(identified, premises=self.premises, blueprint=self.blueprint())
        return self._with_bodies(identified, on_step)

    def files(self, answer: Identified | IdentifiedRepeats) -> dict[str, bytes]:
        """The report, its figures and the numbers as JSON, by the names of their files."""
        return documents(report_on(self.title, (self.about,), answer))

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
    def amplifier(self) -> EffortFromDriveSignal | None:
        """The conversion of voltages to efforts; None where efforts are recorded."""
        gain = self.table.efforts.gain
        if gain is None:
            return None
        return EffortFromDriveSignal(gain[0] if len(gain) == 1 else tuple(gain), self.robot.effort_units[0])

    @property
    def speed_units(self) -> tuple[str, ...]:
        """Units of the speeds of the robot's coordinates."""
        return tuple(f"{unit}/s" for unit in self.robot.coordinate_units)

    def _prepared(self, which: str, sources: Sequence[SourceTable]) -> MeasuredMotion:
        recordings = [self.recording(source, ("data", which, i)) for i, source in enumerate(sources)]
        with self.at("preparation"):
            return MeasuredMotion.concatenate(*map(self._prepared_one, recordings))

    def _prepared_one(self, recording: Recording) -> MeasuredMotion:
        """One recording, its clocks compared and corrected where the study asks for it."""
        coordinates, efforts = self.channels
        actuators, steps = dict(zip(self.robot.actuators, efforts, strict=True)), self.steps(recording.rate)
        wanted = self.table.data.clocks
        if wanted == "one":
            return prepare(recording, coordinates, actuators, steps)
        clocks = compare_clocks(self.robot, recording, coordinates, efforts, steps)
        is_corrected = wanted == "correct"
        if is_corrected:
            motion = prepare_corrected(self.robot, recording, coordinates, efforts, steps, clocks=clocks)
        else:
            motion = prepare(recording, coordinates, actuators, steps)
        return replace(motion, account=(*motion.account, clock_report(clocks, motion, is_corrected=is_corrected)))

    def recording(self, source: SourceTable, place: Place) -> Recording:
        """The channels of the study in a file; units that are not stated are those of the robot."""
        data = self.table.data
        coordinates, efforts = self.channels
        masked = (mask.channel for mask in self.table.preparation.mask if mask.channel != "time")
        wanted = dict.fromkeys((*coordinates, *efforts, *masked))
        for key, entries in (("columns", data.columns), ("units", data.units)):
            allowed = dict.fromkeys((*wanted, "time", data.time) if key == "units" else wanted)
            for channel in entries:
                with self.at("data", key, channel):
                    if channel not in allowed:
                        known_ones = ", ".join(filter(None, allowed))
                        raise InputError(f"no channel is called so{nearest(channel, allowed)} ({known_ones})")
        with self.at(*place, "file"), self._voltages(efforts):
            recording = read_recording(
                self.path.parent / source.file,
                columns={channel: data.columns.get(channel, channel) for channel in wanted},
                units=data.units,
                time=data.time or None,
                rate=source.rate or data.rate,
                missing=data.missing,
                resample=data.resample,
            )
        for channel in dict.fromkeys((*coordinates, *efforts)):
            stated = data.units.get(channel)
            with self.at("data", "units", channel):
                require(
                    not stated or in_si(stated)[1] != "",
                    f"'{channel}' is in {stated}, a share of something: multiply the column by what 100 % stands for, "
                    "such as the rated torque, and state that unit",
                )
        efforts_in = self.robot.effort_units if self.amplifier is None else ("V",) * len(efforts)
        known = dict(zip((*coordinates, *efforts), (*self.robot.coordinate_units, *efforts_in), strict=True))
        units = [unit or known.get(name, "") for name, unit in zip(recording.names, recording.units, strict=True)]
        with self.at(*place, "begin" if source.end is None else "end"):
            return replace(recording, units=tuple(units)).between(source.begin, source.end)

    @contextmanager
    def _voltages(self, channels: Sequence[str]) -> Iterator[None]:
        """Say that a gain asks for voltages, where a file has no columns for them."""
        try:
            yield
        except InputError as error:
            columns = [self.table.data.columns.get(name, name) for name in channels]
            lacks = any(f"no column '{column}'" in str(error) for column in columns)
            if self.table.efforts.gain is None or not lacks:
                raise
            raise InputError(
                f"{error}. [efforts] states a gain, which makes efforts of voltages or currents, expected in the "
                f"columns {', '.join(columns)}: name theirs (channels in [efforts], or [data.columns]), or leave out "
                "gain if the files have efforts"
            ) from error

    def _identify_repeats(self, table: RepeatsTable, on_step: Callable[[Phase], object]) -> IdentifiedRepeats:
        """Read the repeats, identify by every estimator, and validate the model on other motions."""
        self._refuse_what_has_no_effect(table)
        with self.at("repeats", "slower_than"):
            slow = quantity(table.slower_than, self.speed_units[0])
        covariances = {
            f"{what}_covariance": self._covariance(table, f"sigma_{what}", units, channels)
            for what, units, channels in (
                ("positions", self.robot.coordinate_units, self.robot.coordinates),
                ("efforts", self.robot.effort_units, self.robot.actuators),
            )
        }
        motion, validation = self.repeated_motion(), self.validation_motions()
        with self.at("repeats"):
            return identify_repeated(
                self.robot,
                motion,
                orders=table.orders,
                independent=table.independent,
                slower_than=slow,
                prior=self.prior() if self.has_prior else None,
                validation=validation,
                on_step=on_step,
                **covariances,
            )

    def repeated_motion(self) -> RepeatedMotion:
        """The repeats to identify from, of a study with a table [repeats].

        Raises:
            InputError: a file cannot be read, or the repeats differ in length; the message names files and lengths.
        """
        return self._repeats("recordings", list(enumerate(self.table.data.recordings)))

    def validation_motions(self) -> dict[str, RepeatedMotion]:
        """Repeats of other motions by name, of a study with a table [repeats]."""
        assert self.table.repeats is not None
        groups = dict[str, list[tuple[int, SourceTable]]]()
        for i, source in enumerate(self.table.data.validation):
            is_cut = (source.period or self.table.repeats.period) is not None
            name = source.motion or (Path(source.file).stem if is_cut else UNNAMED)
            groups.setdefault(name, []).append((i, source))
        return {name: self._repeats("validation", sources) for name, sources in groups.items()}

    def _repeats(self, which: str, sources: Sequence[tuple[int, SourceTable]]) -> RepeatedMotion:
        """Repeats from files: a file with a period is cut into periods, any other is one repeat."""
        assert self.table.repeats is not None
        q, efforts = self.channels
        options: dict[str, Any] = {"amplifier": self.amplifier, "actuators": self.robot.actuators}
        parts = []
        for i, source in sources:
            recording = self.recording(source, ("data", which, i))
            period = source.period or self.table.repeats.period
            with self.at("data", which, i):
                if period is None:
                    parts.append(runs([recording], q, efforts, **options))
                else:
                    parts.append(periods(recording, q, efforts, period=period, skip=self.table.repeats.skip, **options))
        with self.at("data", which):
            return RepeatedMotion.concatenate(*parts)

    def _covariance(self, table: RepeatsTable, key: str, units: Sequence[str], channels: Sequence[str]) -> Array | None:
        """The covariance of the errors of one reading as the study states it; None where it does not."""
        value = getattr(table, key)
        if value is None:
            return None
        with self.at("repeats", key):
            stated = np.asarray(deviations(value, units), dtype=float)
            return stated_covariance(stated if stated.ndim == 2 else stated**2, key.removeprefix("sigma_"), channels)

    def _refuse_what_has_no_effect(self, table: RepeatsTable) -> None:
        """Refuse tables that are about recordings of one motion each."""
        for key, default, why in (
            ("preparation", PreparationTable(), "repeats are neither filtered nor thinned"),
            ("effects", EffectsTable(), "effects are estimated from single recordings, without [repeats]"),
            ("methods", MethodsTable(), "repeats are identified by every estimator for repeats"),
            ("noise", NoiseTable(), "the noise is estimated from the repeats; or state sigma_efforts in [repeats]"),
        ):
            if getattr(self.table, key) != default:
                with self.at(key):
                    raise InputError(f"with a table [repeats] this has no effect: {why}. Leave one of the two out")
        with self.at("data", "missing"):
            bridges = self.table.data.missing == "bridge"
            require(not bridges, 'repeats are not filtered, so that nothing is bridged: state missing = "mask"')
        with self.at("data", "clocks"):
            require(self.table.data.clocks == "one", "clocks are compared in single recordings, not in repeats")
        with self.at("repeats", "orders"):
            orders = table.orders or [1]
            require(sorted(set(orders)) == orders, "orders must increase")


def _or(value: float | None, default: float) -> float:
    return default if value is None else value
