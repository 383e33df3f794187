"""Calibration studies with instruments: a robot, its readings, and what any instruments measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arguments import as_path
from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.euler import CONVENTIONS, from_euler
from gough.core.rotations import exp, from_quaternion
from gough.data.expanded_uncertainty import rotation_covariance, standard_deviations
from gough.data.measured_columns import MeasuredColumns
from gough.geometry import Placement
from gough.geometry.beliefs import matching, require_one_belief
from gough.geometry.instruments import (
    CalibratedByInstruments,
    Instrument,
    Measurements,
    Sought,
    calibrate_by_instruments,
    calibrate_nested,
    foresee,
    shared_readings,
)
from gough.geometry.instruments.kinds import Part, kind_called
from gough.geometry.instruments.layout import layout_of
from gough.report.calibration.instruments import instrument_documents
from gough.robots import KinematicModel
from gough.studies.calibration import CalibrationStudy, robot_of_study
from gough.studies.instrument_schema import InstrumentStudyTable, InstrumentTable
from gough.studies.quantities import nested, quantity
from gough.studies.robots import kinematic_dimensions_left_out, not_stated
from gough.studies.study import Study, study_file
from gough.studies.toml import TomlFile

_UNKNOWN, _EACH, _ROBOT = "unknown", "each session", "robot"
_SIZES = {"point": "m", "anchor": "m", "up": "1", "mount": "1"}


@dataclass(frozen=True, eq=False)
class InstrumentStudy(Study, purposes=("measurements",)):
    """A study that calibrates a robot from what instruments measured at poses that nobody needs to know."""

    table: InstrumentStudyTable

    @classmethod
    def read(cls, path: str | Path) -> "InstrumentStudy":
        """The study in a TOML file.

        Raises:
            InputError: there is no such file, it is not TOML, a key is unknown or missing, or a value is not allowed;
                with the line.
        """
        file = study_file(path, "measurements")
        with file.at("poses"):
            require(
                "poses" not in file.tables,
                'a study has either [poses] or [measurements]: state poses as an instrument of kind = "pose" in '
                "[[instruments]], or leave out [measurements] and [[instruments]]",
            )
        study = cls(file, file.validated(InstrumentStudyTable))
        assert study.model  # refuse a robot that cannot be, before any file is read
        return study

    @cached_property
    def model(self) -> KinematicModel:
        """The robot with its blueprint."""
        return robot_of_study(self, self.table.robot)

    @property
    def premises(self) -> tuple[str, ...]:
        """A sentence that lists the dimensions taken from the library; nothing if the study states all."""
        return not_stated(kinematic_dimensions_left_out(self.table.robot), "robot.geometry")

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.path.parent / self.table.output.folder

    @property
    def title(self) -> str:
        """Title of the report."""
        what = "Planned calibration" if self.table.measurements.planned else "Calibration"
        return self.table.output.title or f"{what} of the {self.model.name} of {self.path.name}"

    @property
    def about(self) -> str:
        """A paragraph on robot and data, for the report."""
        names = [f"{one.name} ({one.kind})" for one in self.table.instruments]
        by = f" by {', '.join(names)}" if names else " by its own readings"
        verb = "to be calibrated" if self.table.measurements.planned else "calibrated"
        return f"{self.model.name}, {verb} from {self.table.measurements.file}{by}. The study is {self.path.name}."

    @cached_property
    def measurements(self) -> Measurements:
        """Readings and instruments, as the files have them."""
        table = self.table.measurements
        n = len(self.model.chains)
        shared = getattr(self.model, "reading_of_chain", tuple(range(n)))
        sensors = max(shared) + 1
        with self.at("measurements", "heads" if table.heads else "file"):
            file = self._columns(table.file, table.heads)
        with self.at("measurements", "readings"):
            columns = table.readings or [f"l{i + 1}" for i in range(sensors)]
            fits = len(columns) == sensors
            require(fits, f"the {self.model.name} has {sensors} readings, but {len(columns)} columns are stated")
            readings = file.load(columns, self.model.reading_unit, table.unit)
        with self.at("measurements", "sigma"):
            sigma = None if table.sigma is None else np.array(nested(table.sigma, self.model.reading_unit))
            if sensors < n:
                require(sigma is not None, f"state sigma of the readings: chains of a {self.model.name} share them")
                readings, sigma = shared_readings(readings, sigma, shared)
        with self.at("measurements", "session"):
            sessions = () if table.session is None else file.labels(table.session)
        with self.at("measurements", "loads"):
            fits = not table.loads or len(table.loads) == n
            require(fits, f"there are {n} cables, but {len(table.loads)} columns of loads")
            loads = file.load(table.loads, "N") if table.loads else None
        with self.at("measurements", "pose"):
            poses = tuple(map(str, range(len(readings)))) if table.pose is None else file.labels(table.pose)
            twice = next((name for name in poses if poses.count(name) > 1), None) if table.pose is not None else None
            require(twice is None, f"column '{table.pose}' names two poses '{twice}': names must differ")
        instruments = []
        for number, one in enumerate(self.table.instruments):
            with self.at("instruments", number):
                instruments.append(self._instrument(one, file, number, poses))
        for number, one in enumerate(self.table.instruments):
            for part in _PARTS:
                stated = getattr(one, part)
                each = stated == _EACH or (isinstance(stated, Mapping) and bool(stated.get("each_session", False)))
                with self.at("instruments", number, part):
                    require(
                        table.session is not None or not each,
                        f"{one.name}: its {part} differs from session to session, but [measurements] states none: "
                        'state session = "day", the column that names it, or write "unknown"',
                    )
        with self.at("instruments" if instruments else "measurements"):
            return Measurements(readings, sigma, tuple(instruments), sessions, loads, file.places(len(readings)))

    def _columns(self, name: str, heads: Sequence[str] = ()) -> MeasuredColumns:
        """A file of the study's folder."""
        nan = self.table.measurements.missing == "nan"
        return MeasuredColumns(self.path.parent / name, nan_is_missing=nan, heads=heads)

    def calibrate(self) -> CalibratedByInstruments:
        """Read and calibrate, as the study asks, or state what to expect of planned measurements."""
        data = self.measurements
        table, planned = self.table.calibration, self.table.measurements.planned
        options: dict[str, Any] = {"fixed": table.fixed, "prior": self._prior(data)}
        with self.at("calibration"):
            if table.nested and not planned:
                answer = calibrate_nested(self.model, data, table.nested, **options)
            else:
                answer = (foresee if planned else calibrate_by_instruments)(self.model, data, **options)
        return replace(answer, premises=self.premises)

    def files(self, answer: CalibratedByInstruments) -> dict[str, bytes]:
        """The report and the numbers as JSON, by the names of their files."""
        return instrument_documents(self.title, (self.about,), answer)

    def _prior(self, data: Measurements) -> dict[str, float]:
        """Standard deviations in the units of the parameters."""
        layout = layout_of(self.model, data, self.model.nominal, ())[0]
        units = dict(zip(layout.names, layout.units, strict=True))
        result = {}
        table = self.table.calibration
        with self.at("calibration"):
            with self.at("calibration", "fixed"):
                matching(table.fixed, layout.names)
            require_one_belief(table.fixed, table.prior, layout.names, "prior")
        for pattern, value in table.prior.items():
            with self.at("calibration", "prior", pattern):
                own = {units[name]: name for name in matching([pattern], layout.names)}
                each = ", ".join(f"{name} in {unit or 'no unit'}" for unit, name in own.items())
                require(len(own) < 2, f"'{pattern}' stands for parameters of several units, such as {each}: state each")
                result[pattern] = quantity(value, *own)
        return result

    def _instrument(
        self, one: InstrumentTable, file: MeasuredColumns, number: int, poses: tuple[str, ...]
    ) -> Instrument:
        kind, rows = kind_called(one.kind), len(poses)
        with self.at("instruments", number, "points"):
            points = self._points(one)
        every = kind.channels_of(1 if points is None else len(points))
        m = 3 if kind.has_rotation else len(every)
        channels, unit = every[:m], kind.units[0]
        if one.file is not None and not kind.is_pair:
            file = self._own_file(one, number, poses)
        columns = one.columns or _columns(one.name, channels, file)
        pairs, planned = None, self.table.measurements.planned
        with self.at("instruments", number, "file"):
            if kind.is_pair:
                require(one.file is not None, f"{one.name}: state the file of the distances between poses")
                assert one.file is not None
                require(not one.where and one.match is None, f"{one.name}: its rows are pairs of poses, not poses")
                file = self._columns(one.file, one.heads)
                pairs = _whole(file.load(one.poses, "1"), one.name)
                rows, columns = len(pairs), one.columns or list(channels)
        with self.at("instruments", number, "columns"):
            require(
                not columns or len(columns) == m,
                f"{kind.words} has {m} column{'s' * (m > 1)} ({', '.join(channels)}), but {len(columns)} are stated",
            )
            if (kind.is_contact and not columns) or (planned and not file.has(*(columns or channels))):
                values = np.zeros((rows, m))
            else:
                values = file.load(columns or channels, unit, one.unit)
        with self.at("instruments", number, "orientation"):
            stated = one.orientation or one.euler or one.orientation_unit
            require(kind.has_rotation or not stated, f"{one.name}: only a pose has an orientation")
            rotation = self._rotation(one, file, rows) if kind.has_rotation else None
        with self.at("instruments", number, "sigma" if one.covariance is None else "covariance"):
            noise: Any = one.covariance
            if one.sigma is not None and not one.uncertainty:
                noise = _sigma(one.sigma, kind.units)
        if one.uncertainty:
            with self.at("instruments", number, "uncertainty"):
                noise = self._covariances(one, file, m, unit)
        parts = {}
        for part in kind.parts:
            with self.at("instruments", number, part.name):
                stated = getattr(one, part.name)
                if stated is not None:
                    parts[part.name] = self._part(part, stated, one.name)
        others = [name for name in _PARTS if getattr(one, name) is not None and name not in parts]
        own = ", ".join(part.name for part in kind.parts)
        require(not others, f"{one.name}: {kind.words} has no {' and no '.join(others)} (known: {own})")
        return Instrument(one.name, one.kind, values, noise, rotation, pairs, points=points, **parts)

    def _own_file(self, one: InstrumentTable, number: int, poses: tuple[str, ...]) -> MeasuredColumns:
        """The instrument's file, with a row for each of the poses."""
        assert one.file is not None
        with self.at("instruments", number, "heads" if one.heads else "file"):
            file = self._columns(one.file, one.heads)
        named = self.table.measurements.pose is not None
        with self.at("instruments", number, "match"):
            require(
                one.match is None or named,
                f'{one.name}: match names the poses of its rows, but [measurements] does not: state pose = "…" there, '
                "the column that names each pose",
            )
        with self.at("instruments", number, "where" if one.where else "match" if one.match else "file"):
            return file.matched(poses, one.match, one.where)

    def _covariances(self, one: InstrumentTable, file: MeasuredColumns, m: int, unit: str) -> Array:
        """Covariances of each row from expanded uncertainties, independent of one another."""
        names, kind = one.uncertainty, kind_called(one.kind)
        turned = self._orientation_columns(one, file) if kind.has_rotation else []
        sizes = {m, m + len(turned)} if turned else {m}
        require(
            len(names) in sizes,
            f"{one.name}: uncertainty has {len(names)} columns: state {m}, one for each of "
            f"{', '.join(kind.channels[:m])}"
            + (f", or {m + len(turned)}, also one for each of {', '.join(turned)}" if turned else ""),
        )
        sigma = standard_deviations(file.load(names[:m], unit, one.unit), one.coverage, file.place)
        if not kind.has_rotation:
            return np.asarray(sigma[:, :, None] ** 2 * np.eye(m))
        C = np.zeros((len(sigma), 6, 6))
        C[:, range(3), range(3)] = sigma**2
        if len(names) == m:
            require(
                one.sigma is not None and not isinstance(one.sigma, list),
                f"{one.name}: uncertainty is that of the position: state sigma of the orientation too, "
                'sigma = "0.01 deg", or add the columns of its uncertainties',
            )
            C[:, range(3, 6), range(3, 6)] = quantity(one.sigma, "rad") ** 2
            return C
        require(one.sigma is None, f"{one.name}: state the noise once: uncertainty has that of the orientation")
        values = self._orientation_values(one, file, turned)
        expanded = file.load(names[m:], "rad" if len(turned) == 3 else "1", one.orientation_unit)
        turns = standard_deviations(expanded, one.coverage, file.place)
        there = np.isfinite(values).all(axis=1)
        C[:, 3:, 3:] = np.nan
        C[there, 3:, 3:] = rotation_covariance(lambda x: _rotations(x, one), values[there], turns[there])
        return C

    def _points(self, one: InstrumentTable) -> Array | None:
        """The points of a target that a camera sees, m."""
        if one.kind != "image":
            require(one.points is None, f"{one.name}: only an image has points")
            return None
        require(
            one.points is not None,
            f'{one.name}: state the points of the target in its own frame: points = [["10 mm", 0, 0], …], or the name '
            "of a file with columns x, y, z",
        )
        if isinstance(one.points, str):
            found = MeasuredColumns(self.path.parent / one.points).load(("x", "y", "z"), "m", None)
            require(bool(np.isfinite(found).all()), f"{one.name}: {one.points} has an empty cell")
            return found
        assert one.points is not None
        values = [nested(point, "m") for point in one.points]
        good = bool(values) and all(len(value) == 3 for value in values)
        require(good, f"{one.name}: each of points has three coordinates")
        return np.array(values, dtype=float)

    def _orientation_columns(self, one: InstrumentTable, file: MeasuredColumns) -> list[str]:
        return one.orientation or _orientation(one.name, file, one.euler)

    def _rotation(self, one: InstrumentTable, file: MeasuredColumns, rows: int) -> Array:
        names = self._orientation_columns(one, file)
        if not names and self.table.measurements.planned:
            return np.repeat(np.eye(3)[None], rows, axis=0)
        values = self._orientation_values(one, file, names)
        there = np.isfinite(values).all(axis=1)
        R = np.full((len(values), 3, 3), np.nan)
        R[there] = _rotations(values[there], one)
        return R

    def _orientation_values(self, one: InstrumentTable, file: MeasuredColumns, names: Sequence[str]) -> Array:
        """The columns of an orientation: angles in rad."""
        require(
            bool(names), f"{one.name}: no columns of an orientation: state orientation = [four columns, scalar first]"
        )
        require(len(names) in {3, 4, 9}, f"{one.name}: an orientation has 3, 4 or 9 columns, not {len(names)}")
        angles = len(names) == 3
        require(angles or one.euler is None, f"{one.name}: Euler angles have 3 columns, not {len(names)}")
        is_vector = all(name.endswith(own) for name, own in zip(names, ("rx", "ry", "rz"), strict=False))
        require(
            not angles or is_vector or one.euler is not None,
            f"{one.name}: {', '.join(names)} may be Euler angles of any convention: state it, euler = {CONVENTIONS}; "
            "columns of a rotation vector are called rx, ry, rz",
        )
        if one.euler is not None:
            unstated = next((name for name in names if file.unit(name) is None), None)
            require(
                one.orientation_unit is not None or unstated is None,
                f"{one.name}: column '{unstated}' is an angle without a unit: write its head as \"{unstated} [deg]\", "
                'or state orientation_unit = "deg"',
            )
        return file.load(names, "rad" if angles else "1", one.orientation_unit if angles else None)

    def _part(self, part: Part, stated: Any, name: str) -> Any:
        """A part as `Instrument` takes it."""
        if stated == _UNKNOWN:
            return Sought()
        if stated == _EACH:
            return Sought(each_session=True)
        if isinstance(stated, str) and stated == _ROBOT and part.name == "frame":
            return Placement()
        if part.name == "camera" and isinstance(stated, str):
            shared = any(one.name == stated for one in self.table.instruments if one.name != name)
            return stated if shared else self._value(part, stated)
        if isinstance(stated, str) and part.name in {"frame", "target", "plane", "sphere", "point", "mount"}:
            known = [one.name for one in self.table.instruments if one.name != name]
            require(
                stated in known,
                f'{part.name} = "{stated}": write "unknown", "each session", a value, or another instrument'
                + (f" ({', '.join(known)})" if known else ""),
            )
            return stated
        if isinstance(stated, Mapping) and {"guess", "each_session"} & set(stated):
            _require_keys(stated, {"guess", "each_session"}, part)
            guess = None if "guess" not in stated else self._value(part, stated["guess"])
            return Sought(guess, bool(stated.get("each_session", False)))
        return self._value(part, stated)

    def _value(self, part: Part, stated: Any) -> Any:
        match part.name:
            case "frame" | "target":
                require(isinstance(stated, Mapping), f"{part.name} is a table {{position = […], quaternion = […]}}")
                _require_keys(stated, {"position", "quaternion"}, part)
                require("position" in stated, f"{part.name} lacks its position")
                q = nested(stated.get("quaternion", [1.0, 0.0, 0.0, 0.0]), "1")
                return Placement(nested(stated["position"], "m"), q)
            case "plane":
                require(isinstance(stated, Mapping), "plane is a table {normal = [0, 0, 1], offset = 0}, or unknown")
                _require_keys(stated, {"normal", "offset"}, part)
                normal = np.array(nested(stated.get("normal", [0.0, 0.0, 1.0]), "1"), dtype=float)
                require(normal.shape == (3,), "the normal of a plane has 3 components")
                require(bool(normal.any()), "the normal of a plane must not be zero")
                return np.append(normal / np.linalg.norm(normal), quantity(stated.get("offset", 0.0), "m"))
            case "sphere":
                require(isinstance(stated, Mapping), "sphere is a table {center = […], radius = …}, or unknown")
                _require_keys(stated, {"center", "radius"}, part)
                require("center" in stated and "radius" in stated, "sphere needs center and radius")
                return np.append(nested(stated["center"], "m"), quantity(stated["radius"], "m"))
            case "offset":
                return quantity(stated, "rad")
            case "camera":
                from gough.vision import read_camera  # noqa: PLC0415 - start-up time

                require(isinstance(stated, str), 'camera is the name of a file, camera = "camera.toml"')
                return read_camera(self.path.parent / stated)[0].parameters
            case name:
                require(isinstance(stated, list), f"{name} is a list of numbers, or unknown")
                return np.array(nested(stated, _SIZES[name]), dtype=float)


_PARTS = ("frame", "target", "point", "mount", "up", "offset", "anchor", "plane", "sphere", "camera")


def calibration_study(path: str | Path) -> CalibrationStudy | InstrumentStudy:
    """The study of a calibration: with instruments, with measured poses, or a printer's configuration."""
    name = as_path(path, "path")
    if name.suffix != ".cfg" and "measurements" in TomlFile.read(name).tables:
        return InstrumentStudy.read(name)
    return CalibrationStudy.read(name)


def _require_keys(stated: Mapping[str, Any], known: set[str], part: Part) -> None:
    for key in stated:
        require(key in known, f"{part.name} has no '{key}' (known: {', '.join(sorted(known))})")


def _columns(name: str, channels: Sequence[str], file: MeasuredColumns) -> list[str]:
    """Columns that are not stated: with the instrument's name, or without; none if there are none."""
    for names in ([f"{name}_{channel}" for channel in channels], [name] if len(channels) == 1 else [], list(channels)):
        if names and file.has(*names):
            return names
    return []


def _orientation(name: str, file: MeasuredColumns, euler: str | None) -> list[str]:
    matrix, angles = [f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)], ["e1", "e2", "e3"]
    forms = [angles] if euler is not None else [["qw", "qx", "qy", "qz"], ["rx", "ry", "rz"], matrix, angles]
    for names in forms:
        for prefix in (f"{name}_", ""):
            if file.has(*(own := [f"{prefix}{each}" for each in names])):
                return own
    return []


def _rotations(values: Array, one: InstrumentTable) -> Array:
    """Rotation matrices of the columns of an orientation (N, k)."""
    match values.shape[1]:
        case 3:
            return exp(values) if one.euler is None else from_euler(values, one.euler)
        case 4:
            norms = np.linalg.norm(values, axis=1)
            off = float(abs(norms - 1).max(initial=0.0))
            require(off < 1e-2, f"{one.name}: a quaternion has a length that differs from 1 by {off:.2g}")
            return from_quaternion(values)
        case _:
            return values.reshape(-1, 3, 3)


def _sigma(stated: Any, units: Sequence[str]) -> Array:
    """Standard deviations in SI units: one for all, one for each channel, or of position and orientation."""
    if not isinstance(stated, list):
        require(len(set(units)) == 1, 'a pose has two deviations: sigma = ["0.05 mm", "0.01 deg"]')
        return np.array(quantity(stated, units[0]))
    if len(stated) == 2 and len(units) == 6:
        return np.array([quantity(stated[0], "m"), quantity(stated[1], "rad")])
    require(len(stated) == len(units), f"sigma has {len(stated)} numbers for {len(units)} channels")
    return np.array([quantity(each, unit) for each, unit in zip(stated, units, strict=True)])


def _whole(values: Array, name: str) -> Any:
    good = bool(np.isfinite(values).all()) and bool((values == values.round()).all())
    require(good, f"{name}: numbers of poses must be whole numbers")
    return values.astype(np.int64)
