"""Poses as files: CSV, Parquet, MATLAB `.mat` and `.npz`."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from gough.core.arguments import instance, one_of
from gough.core.arrays import Array, Mask
from gough.core.errors import InputError, nearest, require
from gough.core.euler import CONVENTIONS, axes_of, from_euler
from gough.core.files import new_file
from gough.core.rotations import exp, from_quaternion, to_quaternion
from gough.core.text import number, poses_listed
from gough.core.units import LARGEST, factor_between, in_si
from gough.data.expanded_uncertainty import COVERAGE, rotation_covariance, standard_deviations
from gough.data.formats import opened
from gough.data.poses import Poses
from gough.data.sources import find_column, joined_head, split_head, unit_of

Order = Literal["wxyz", "xyzw"]
_POSITION = ("x", "y", "z")
_NAMED, _NUMBERED = ("qw", "qx", "qy", "qz"), ("q1", "q2", "q3", "q4")
_VECTOR = ("rx", "ry", "rz")
_BOUNDS = tuple(f"h{i + 1}" for i in range(6))
_EULER, _NAUTICAL = ("e1", "e2", "e3"), ("roll", "pitch", "yaw")
_MATRIX = tuple(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))
_ORIENTATION = (*_NAMED, *_NUMBERED, *_VECTOR, *_EULER, *_NAUTICAL, *_MATRIX)
_FAR = 30.0
"""No platform is so far away (m): then the file is in mm."""


def read_poses(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    quaternion: Order | None = None,
    euler: str | None = None,
    chains: int = 6,
    planar: bool = False,
    reading_unit: str | None = None,
    missing: Literal["refuse", "drop"] = "refuse",
    exclude: Sequence[int | str] = (),
    readings: str | Path | None = None,
    heads: Sequence[str] = (),
    coverage: float = COVERAGE,
) -> Poses:
    r"""The poses in a `.csv`, `.parquet`, `.mat` or `.npz` file, in SI units.

    Columns: x, y, z; the orientation as qw, qx, qy, qz, or as q1…q4 in an order that `quaternion` states, or as a
    rotation vector rx, ry, rz, or as rz alone where the platform turns about z, or as a matrix r11…r33, or as Euler
    angles e1, e2, e3, in the order of the turns, or roll, pitch, yaw, of a convention that `euler` states, or not at
    all; the readings l1, l2, …; where poses were repeated, `configuration` and `run`; where it is known, the
    upper triangle of the covariance of x, y, z and the left rotation vector, c11, c12, … c66, in m and rad; and, where
    poses share errors, their factor (`Poses.common`): s1_1, … s6_1 by the first shared error, s1_2, … by the next.
    Bounds of the errors, for certification, are columns h1, … h6 of x, y, z and the left rotation vector. Expanded
    uncertainties U(95), as laser trackers export them, are columns ux, uy, uz, and with a letter u also those of the
    columns of the orientation (uqw, … or urx, … or ue1, …): errors then are independent, with these covariances.

    Args:
        path: The file.
        columns: Where the file names them otherwise: {"x": "position_x", "l1": "leg_length_1", …}.
        units: Units of "position", "rotation" and "readings" in the file, where heads such as "x [mm]" do not state
            them. A head that states another unit is refused.
        quaternion: "wxyz" or "xyzw", the order of q1…q4. Without it, the data decide: a platform turns
            little, so its scalar part is the large one. Columns qw, qx, qy, qz need none, and one that contradicts
            their order in the file is refused.
        euler: Convention of Euler angles, such as "fixed xyz" or "moving zyx"; a wrong one is refused by a message
            that lists all. Angles need a unit, by their heads or by units = {"rotation": "deg"}.
        chains: Number of readings.
        planar: The robot moves in the plane: z may be left out, and is 0 then.
        reading_unit: What the robot's readings are in, such as "rev"; left out, readings become SI.
        missing: "refuse" a file with an empty cell or NaN, or "drop" these poses, with a note.
        exclude: Poses to leave out, with a note: numbers of the rows from 0, or places such as "line 42".
        readings: A file of the readings, a row for each pose in the same order, where the poses come from an
            instrument's own file.
        heads: Names of the columns of a text file without a line of names, one for each column.
        coverage: Coverage factor of expanded uncertainties: U over the standard deviation, often 2.

    Raises:
        InputError: the file cannot be read as asked; the message names file, row and column.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "poses.csv")
        ...     _ = path.write_text("x [mm],y [mm],z [mm],l1,l2,l3\n0,0,300,0.1,0.1,0.1\n10,0,300,0.1,0.2,0.1\n")
        ...     read_poses(path, chains=3).position.tolist()
        [[0.0, 0.0, 0.3], [0.01, 0.0, 0.3]]
    """
    reader = _Reader(Path(path), dict(columns or {}), dict(units or {}), chains, heads)
    if readings is not None:
        reader.read_from(Path(readings))
    notes: list[str] = [*filter(None, [getattr(reader.source, "note", "")])]
    one_of(missing, "missing", ("refuse", "drop"))
    reader.leave_out(exclude, notes)
    if missing == "drop":
        reader.drop_missing([f"l{i + 1}" for i in range(chains)], notes)
    position = reader.position(notes, planar=planar)
    rotation = reader.rotation(quaternion, notes) if euler is None else reader.euler(euler)
    read = reader.of_readings.load([f"l{i + 1}" for i in range(chains)], "readings", reading_unit)
    labels = {name: reader.labels(name) for name in ("configuration", "run")}
    size = 3 if rotation is None else 6
    covariance, common = reader.covariance(size), reader.common(size)
    expanded = reader.expanded(coverage, euler, quaternion, is_turned=rotation is not None)
    if expanded is not None:
        twice = f"{path} has covariances (c11, …) and expanded uncertainties (ux, …): leave one of them out"
        require(covariance is None, twice)
        covariance = expanded
        notes.append(f"Covariances are those of expanded uncertainties with the coverage factor {number(coverage)}.")
    places = reader.places
    try:
        noise: dict[str, Any] = {"covariance": covariance, "common": common, "half_width": reader.half_width(size)}
        poses = Poses(position, rotation, read, **noise, notes=tuple(notes), places=places, **labels)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    return poses.without_copies()


class ChainRobot(Protocol):
    """What of a robot decides how files of its poses are read."""

    @property
    def chains(self) -> tuple[str, ...]: ...

    @property
    def freedoms(self) -> tuple[int, ...]: ...

    @property
    def reading_unit(self) -> str: ...


def poses_of(robot: ChainRobot, value: Any, what: str = "poses") -> Poses:
    """Poses of a robot, or the path of a file that `read_poses` reads without being told columns and units.

    Raises:
        InputError: the value is something else, or the file cannot be read; the message says what to write.
    """
    if not isinstance(value, str | Path):
        how = "gough.data.Poses(position, rotation, readings), or the path of a file that gough.data.read_poses reads"
        return instance(value, what, Poses, "Poses", how)
    if Path(value).suffix == ".toml":
        read = f'gough.Study.read("{value}")'
        raise InputError(f"{what} must be Poses or a file of poses, but {value} is a study: read it by {read}")
    planar = 2 not in robot.freedoms
    return read_poses(value, chains=len(robot.chains), planar=planar, reading_unit=robot.reading_unit)


def binary_columns(path: Path) -> tuple[tuple[str, ...], Callable[[int], Array]]:
    """Heads of a `.parquet`, `.mat` or `.npz` file, and a function that loads a column by its place."""
    source = opened(path, "poses")

    def column(place: int) -> Array:
        values: Array = source.load([place], missing=True)[:, 0]
        return values

    return tuple(source.heads), column


class _Reader:
    """Columns of a file under the names that poses use."""

    def __init__(
        self, path: Path, columns: dict[str, str], units: dict[str, str], chains: int, heads: Sequence[str] = ()
    ) -> None:
        self.path, self.columns, self.units, self.chains = path, columns, units, chains
        known = {*_POSITION, *_ORIENTATION, "configuration", "run"}
        known |= {f"u{name}" for name in (*_POSITION, *_ORIENTATION)}
        known |= {f"l{i + 1}" for i in range(chains)}
        for name in columns:
            if name not in known:
                raise InputError(f"no column of poses is called '{name}'{nearest(name, known)}", key=("columns", name))
        for name in units:
            groups = ("position", "rotation", "readings")
            if name not in groups:
                message = f"units are stated for {', '.join(groups)}, not '{name}'{nearest(name, groups)}"
                raise InputError(message, key=("units", name))
        self.source = opened(path, "poses", heads)
        self.kept: Mask | None = None
        """Rows that are read; None: all."""
        self._readings: _Reader | None = None

    def read_from(self, path: Path) -> None:
        """Read the readings from another file, with as many rows."""
        own = _Reader(path, self.columns, self.units, self.chains)
        n, rows = (len(each.source.times(0)) for each in (self, own))
        require(
            n == rows,
            f"{path} has {rows} rows of readings, but {self.path} has {n} poses: both need a row for each pose, in the "
            "same order",
        )
        self._readings = own

    @property
    def of_readings(self) -> "_Reader":
        """The reader of the readings, with the same rows."""
        if self._readings is None:
            return self
        self._readings.kept = self.kept
        return self._readings

    def leave_out(self, exclude: Sequence[int | str], notes: list[str]) -> None:
        """Leave out rows by number, from 0, or by place."""
        if not exclude:
            return
        n = len(self.source.times(0))
        places = list(self.source.places(n))
        known = {place: k for k, place in enumerate(places)}
        rows = set[int]()
        for each in exclude:
            row = known.get(each, -1) if isinstance(each, str) else each
            whole = isinstance(row, int) and not isinstance(row, bool) and 0 <= row < n
            if not whole:
                ends = f'numbers are 0 … {n - 1}, places such as "{places[0] if places else "line 2"}"'
                raise InputError(f"{self.path} has no pose {each!r} to leave out: {ends}", key=("exclude",))
            rows.add(row)
        require(len(rows) < n, f"{self.path}: every pose is excluded")
        self.kept = ~np.isin(np.arange(n), sorted(rows))
        notes.append(f"Left out as stated: {poses_listed(sorted(rows), places)}.")

    def drop_missing(self, readings: Sequence[str], notes: list[str]) -> None:
        """Leave out rows with a cell that is no number, among those that are read."""
        names = [name for name in (*_POSITION, *_ORIENTATION) if self.has(name)]
        other = self.of_readings
        cells = [(self, self.at(name)) for name in names] + [(other, other.at(name)) for name in readings]
        values = np.column_stack([each.source.load([place], missing=True)[:, 0] for each, place in cells])
        finite = np.isfinite(values)
        kept = np.ones(len(values), dtype=bool) if self.kept is None else self.kept
        bad = np.flatnonzero(kept & ~finite.all(axis=1))
        if not bad.size:
            return
        self.kept = kept & finite.all(axis=1)
        require(bool(self.kept.any()), f"{self.path}: every pose lacks a number")
        places = list(self.source.places(len(values)))
        holder, place = cells[int(np.argmin(finite[bad[0]]))]
        first = holder.source.heads[place]
        which = poses_listed(bad.tolist(), places)
        notes.append(f"Left out, since a cell is empty or NaN: {which} (the first in column '{first}').")

    @property
    def places(self) -> tuple[str, ...]:
        """Where each pose that is read is in the file."""
        n = len(self.source.times(0))
        places = self.source.places(n)
        return places if self.kept is None or not places else tuple(np.array(places, dtype=object)[self.kept])

    def has(self, name: str) -> bool:
        names = {split_head(head)[0] for head in self.source.heads} | set(self.source.heads)
        return name in self.columns or name in names

    def load(self, names: list[str] | tuple[str, ...], group: str, si: str | None) -> Array:
        """Columns (N, k) in the unit `si`, or in whatever SI unit they have."""
        places = [self.at(name) for name in names]
        values = self.source.load(places, missing=True).copy()
        require(len(values) > 0, f"{self.path} has no row")
        values = values if self.kept is None else values[self.kept]
        for i, place in enumerate(places):
            head = self.source.heads[place]
            bad = np.flatnonzero(~(abs(values[:, i]) < LARGEST))
            if bad.size:
                row = int(bad[0]) if self.kept is None else int(np.flatnonzero(self.kept)[bad[0]])
                wrong = "is empty or NaN" if np.isnan(values[bad[0], i]) else "is not a finite number"
                raise InputError(
                    f"{self.path}: {self.source.place(row)}, column '{head}' {wrong}: leave that pose out "
                    f"(exclude = [{row}] in [poses], where poses count from 0), or all such poses with "
                    'missing = "drop"; '
                    '[measurements] with an instrument of kind = "pose" uses the other cells of such poses'
                )
            unit = unit_of(head, self.units.get(group), self.path)
            if unit is not None and unit != si:
                try:
                    values[:, i] *= in_si(unit)[0] if si is None else factor_between(unit, si)
                except InputError as error:
                    key = ("units", group) if group in self.units else ()
                    raise InputError(f"{self.path}, column '{head}': {error}", key=key) from error
        return values

    def position(self, notes: list[str], *, planar: bool) -> Array:
        flat = planar and not self.has("z")
        p = self.load(_POSITION[:2] if flat else _POSITION, "position", "m")
        p = np.pad(p, ((0, 0), (0, 1))) if flat else p
        stated = "position" in self.units or split_head(self._head("x"))[1] is not None
        largest = float(abs(p).max())
        if not stated and largest > _FAR:
            raise InputError(
                f"{self.path}: positions reach {largest:.4g} m, so they are probably millimetres (or cm, in): state "
                'the unit, with a head "x [mm]" or with units = {position = "mm"} (or "m" if it is true)'
            )
        if stated and largest < 1e-3:
            notes.append(f"No position is further than {largest * 1000:.3g} mm from the origin: is the unit right?")
        return p

    def _head(self, name: str) -> str:
        return self.source.heads[self.at(name)]

    def at(self, name: str) -> int:
        try:
            return find_column(self.source.heads, self.columns.get(name, name), self.path)
        except InputError as error:
            if name in self.columns:
                raise InputError(str(error), key=("columns", name)) from error
            if self.has(name):
                raise
            raise InputError(f'{error}. If it has another name there, say which: columns = {{{name} = "…"}}') from error

    def rotation(self, order: Order | None, notes: list[str]) -> Array | None:
        if any(self.has(name) for name in _NAMED):
            self._require_order(order)
            return self._quaternion(self.load(_NAMED, "", "1"), "wxyz", notes, named=True)
        if any(self.has(name) for name in _NUMBERED):
            return self._quaternion(self.load(_NUMBERED, "", "1"), order, notes, named=False)
        if any(self.has(name) for name in _VECTOR):
            heading = not any(self.has(name) for name in _VECTOR[:2])
            vector = self.load(_VECTOR[2:] if heading else _VECTOR, "rotation", "rad")
            return exp(np.pad(vector, ((0, 0), (2, 0))) if heading else vector)
        if any(self.has(name) for name in _MATRIX):
            return self.load(_MATRIX, "", "1").reshape(-1, 3, 3)
        for names in (_EULER, _NAUTICAL):
            if all(self.has(name) for name in names):
                raise InputError(
                    f"{self.path}: columns {', '.join(names)} are Euler angles, but their convention is not stated: "
                    f"euler = {CONVENTIONS}"
                )
        return None

    def euler(self, convention: str) -> Array:
        """Rotations of Euler angles: columns in the order of the turns, or roll about x, pitch about y, yaw about z."""
        axes, _ = axes_of(convention)
        nautical = not any(self.has(name) for name in _EULER) and len(set(axes)) == 3
        names = [_NAUTICAL["xyz".index(axis)] for axis in axes] if nautical else list(_EULER)
        angles = self.load(names, "rotation", "rad")
        for name in names:
            stated = "rotation" in self.units or split_head(self._head(name))[1] is not None
            require(
                stated,
                f"{self.path}: column '{self._head(name)}' is an angle without a unit: write its head as "
                f'"{name} [deg]" or "{name} [rad]", or state units = {{rotation = "deg"}}',
            )
        return from_euler(angles, convention)

    def _require_order(self, order: Order | None) -> None:
        """Refuse a stated order that contradicts that of the columns qw, qx, qy, qz, whose names decide."""
        if order is None:
            return
        file_order = sorted(_NAMED, key=self.at)
        stated = [f"q{letter}" for letter in order]
        require(
            file_order == stated,
            f'{self.path}: the order of the quaternion is stated as "{order}", but the columns stand in the order '
            f"{', '.join(file_order)}: their names decide. Leave out the stated order, or correct the columns",
        )

    def _quaternion(self, q: Array, order: Order | None, notes: list[str], *, named: bool) -> Array:
        norms = np.linalg.norm(q, axis=1)
        off = int(abs(norms - 1).argmax())
        if abs(norms[off] - 1) > 1e-2:
            raise InputError(
                f"{self.path}: {self.source.place(off)}: the quaternion has length {norms[off]:.4g} instead of 1: are "
                "these its four components, and in one unit?"
            )
        if abs(norms[off] - 1) > 1e-6:
            notes.append(f"Quaternions are up to {abs(norms[off] - 1):.1e} off unit length; they were normalized.")
        seems = seeming_order(q)
        if order is None:
            if seems is None:
                raise InputError(
                    f"{self.path}: the data do not determine the quaternion's order, scalar first or last: state it, "
                    '"wxyz" or "xyzw"'
                )
            order = seems
            first = "first" if seems == "wxyz" else "last"
            notes.append(f"Quaternions are taken as {seems}, scalar {first}: only so does the platform turn little.")
        elif seems is not None and seems != order:
            renamed = "columns qw, qx, qy, qz are perhaps qx, qy, qz, qw in fact; if so, rename them"
            which = renamed if named else f'"{seems}" would fit'
            notes.append(
                f"Read as {order}, they turn the platform by up to {_largest_turn(q, order):.0f}°, but by at most "
                f"{_largest_turn(q, seems):.0f}° as {seems}: {which}."
            )
        return from_quaternion(q if order == "wxyz" else np.roll(q, 1, axis=1))

    def covariance(self, size: int) -> Array | None:
        """Symmetric matrices (N, size, size) from their upper triangles, in SI units; None where there are none."""
        names, (i, j) = _triangle(size)
        if not self.has(names[0]):
            return None
        values = self.load(names, "", None)
        C = np.empty((len(values), size, size))
        C[:, i, j] = C[:, j, i] = values
        return C

    def expanded(self, coverage: float, euler: str | None, order: Order | None, *, is_turned: bool) -> Array | None:
        """Covariances (N, 3, 3) or (N, 6, 6) of expanded uncertainties ux, uy, uz, …; None where there are none."""
        names = [f"u{name}" for name in _POSITION]
        if not any(self.has(name) for name in names):
            return None
        C = np.zeros((len(self.load(["x"], "position", "m")), 6, 6))
        C[:, range(3), range(3)] = self._deviations(names, "position", "m", coverage) ** 2
        if not is_turned:
            return C[:, :3, :3]
        forms: list[tuple[Sequence[str], Callable[[Array], Array]]] = [
            (_NAMED, from_quaternion),
            (_NUMBERED, lambda q: from_quaternion(q if order != "xyzw" else np.roll(q, 1, axis=1))),
            (_VECTOR, exp),
            (_EULER, lambda angles: from_euler(angles, euler or "")),
        ]
        if euler is not None and not any(self.has(name) for name in _EULER):
            turns = [_NAUTICAL["xyz".index(axis)] for axis in axes_of(euler)[0]]
            forms.append((turns, lambda angles: from_euler(angles, euler)))
        own = next((form for form in forms if all(self.has(f"u{name}") for name in form[0])), None)
        if own is None or (own[0] is _EULER and euler is None) or (own[0] is _NUMBERED and order is None):
            raise InputError(
                f"{self.path}: ux, uy, uz are the uncertainties of positions, but those of the orientation are not "
                'stated completely: state columns = {urx = "…", …} with the letter u before the name of each of its '
                "columns (and the order of q1 … q4), or leave out ux, uy, uz and state [noise]"
            )
        unit = "1" if len(own[0]) == 4 else "rad"
        group = "" if len(own[0]) == 4 else "rotation"
        sigma = self._deviations([f"u{name}" for name in own[0]], group, unit, coverage)
        C[:, 3:, 3:] = rotation_covariance(own[1], self.load(list(own[0]), group, unit), sigma)
        return C

    def _deviations(self, names: list[str], group: str, si: str, coverage: float) -> Array:
        def place(row: int) -> str:
            real = row if self.kept is None else int(np.flatnonzero(self.kept)[row])
            return f"{self.path}: {self.source.place(real)}"

        return standard_deviations(self.load(names, group, si), coverage, place)

    def common(self, size: int) -> Array | None:
        """Factors (N, size, k) of errors that the poses share, in SI units; None where there are none."""
        count = 0
        while self.has(_shared(0, count)):
            count += 1
        if not count:
            return None
        values = self.load([_shared(axis, k) for k in range(count) for axis in range(size)], "", None)
        return np.swapaxes(values.reshape(-1, count, size), 1, 2)

    def half_width(self, size: int) -> Array | None:
        """Bounds (N, size) of the errors, in SI units; None where there are none."""
        return self.load(_BOUNDS[:size], "", None) if self.has(_BOUNDS[0]) else None

    def labels(self, name: str) -> Any:
        if not self.has(name):
            return None
        values = self.load([name], "", "1")[:, 0]
        whole = bool((values == values.round()).all()) and float(abs(values).max()) < 2**53
        require(whole, f"{self.path}: column '{name}' must hold whole numbers")
        return values.astype(np.int64)


def _triangle(size: int) -> tuple[tuple[str, ...], Any]:
    """Names c11, c12, … of the upper triangle of a covariance, and their rows and columns."""
    i, j = np.triu_indices(size)
    return tuple(f"c{a + 1}{b + 1}" for a, b in zip(i, j, strict=True)), (i, j)


def _shared(axis: int, error: int) -> str:
    """The name of a column: what a standard deviation of a shared error does to x, y, z or the rotation vector."""
    return f"s{axis + 1}_{error + 1}"


def seeming_order(q: Any) -> Order | None:
    """Which end of the quaternions (N, 4) is the scalar, if the platform turns by less than about 60°; None if unsure.

    Examples:
        >>> seeming_order([[0.1, 0.0, 0.05, 0.99], [0.0, -0.2, 0.0, 0.98]])
        'xyzw'
    """
    first, last = (abs(np.asarray(q, dtype=float)[:, i]) for i in (0, 3))
    if first.min() > 0.85 > last.max():
        return "wxyz"
    if last.min() > 0.85 > first.max():
        return "xyzw"
    return None


def _largest_turn(q: Array, order: Order) -> float:
    scalar = abs(q[:, 0 if order == "wxyz" else 3])
    return float(np.degrees(2 * np.arccos(np.minimum(scalar, 1.0))).max())


def write_poses(
    path: str | Path, poses: Poses, *, overwrite: bool = False, reading_unit: str = "", images: Sequence[str] = ()
) -> None:
    """Write poses as `.csv`, `.parquet`, `.mat` or `.npz`, completely or not at all: `read_poses` takes them back.

    Args:
        path: The file.
        poses: What is written.
        overwrite: Replace an existing file.
        reading_unit: The unit of the readings, which the heads of their columns then state.
        images: The image that each pose was measured in, written to a last column `image`.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> poses = Poses([[0.0, 0.0, 0.3]], [np.eye(3)], [[0.1, 0.2, 0.3]])
        >>> with TemporaryDirectory() as folder:
        ...     write_poses(f"{folder}/poses.csv", poses)
        ...     read_poses(f"{folder}/poses.csv", chains=3).readings
        array([[0.1, 0.2, 0.3]])
    """
    suffix = Path(path).suffix.lower()
    known = (".csv", ".parquet", ".mat", ".npz")
    require(suffix in known, f"{path} cannot be written: poses are written as {', '.join(known)}, not as '{suffix}'")
    parts: dict[str, Any] = dict(zip(_POSITION, poses.position.T, strict=True))
    if poses.rotation is not None:
        parts |= dict(zip(_NAMED, to_quaternion(poses.rotation).T, strict=True))
    parts |= {joined_head(f"l{i + 1}", reading_unit): column for i, column in enumerate(poses.readings.T)}
    for name in ("configuration", "run"):
        if getattr(poses, name) is not None:
            parts[name] = getattr(poses, name).astype(float)
    if poses.covariance is not None:
        names, (i, j) = _triangle(poses.covariance.shape[-1])
        C = np.broadcast_to(poses.covariance, (len(poses), *poses.covariance.shape[-2:]))
        parts |= dict(zip(names, C[:, i, j].T, strict=True))
    if poses.common is not None:
        _, size, count = poses.common.shape
        parts |= {_shared(axis, k): poses.common[:, axis, k] for k in range(count) for axis in range(size)}
    if poses.half_width is not None:
        parts |= dict(zip(_BOUNDS, poses.half_width.T, strict=False))
    if images:
        require(len(images) == len(poses), f"there are {len(poses)} poses, but names of {len(images)} images")
        parts["image"] = np.array(images, dtype=np.str_)
    with new_file(path, overwrite=overwrite) as file:
        if suffix == ".npz":
            np.savez(file, allow_pickle=False, **parts)
            return
        if suffix == ".mat":
            from scipy.io import savemat  # noqa: PLC0415 - start-up time

            savemat(file, parts, oned_as="column")
            return
        import polars as pl  # noqa: PLC0415 - start-up time

        frame = pl.DataFrame({name: np.ascontiguousarray(values) for name, values in parts.items()})
        frame.write_csv(file) if suffix == ".csv" else frame.write_parquet(file)
