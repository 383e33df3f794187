"""Linear problems as files: CSV tables to read; `.npz` and `.json` files that hold every double bit for bit.

A `.json` file is text that any program can read without NumPy, see docs/certificate-format.md; it holds problems with
bounds only. A `.npz` file holds these arrays, nothing pickled:

W, y                                                    as in LinearProblem
names, units, nominal                                   the unknowns; nominal only if there is one
prior_lower, prior_upper                                the prior, if it is a box
belief_center, _covariance, _level, _dof                the prior, if it is a belief
radius, regressor                                       bounded noise; regressor only if W has a radius
covariance, covariance_dof                              Gaussian noise; empty if its size is not known; dof if finite
group_names, group_position                             the rows; position only if there are gaps
gough_problem                                           version of this format
"""

import csv
import struct
import zipfile
from collections.abc import Callable, Mapping
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from gough.core.arrays import Array
from gough.core.errors import InputError, nearest, require
from gough.core.files import is_file, new_file
from gough.core.sealed import LARGEST, loaded, numbers, rendered, require_keys, rows_of_numbers, wholes
from gough.data.array_sources import plain_array, require_plain_archive
from gough.data.sources import readable
from gough.noise import Bounded, Gaussian, Noise
from gough.problem import Groups, LinearProblem
from gough.region import Box, ConfidenceEllipsoid
from gough.unknowns import Unknowns

FORMAT = 1
JSON_FORMAT = 1
JSON_KIND = "linear problem"
_MEASURED, _BOUND, _SIGMA = "y", "e", "sigma"

_NEEDED = ("gough_problem", "W", "y", "names", "units", "group_names")
_BELIEF = ("belief_center", "belief_covariance", "belief_level", "belief_dof")
_BOX = ("prior_lower", "prior_upper")
_OPTIONAL = (
    "nominal",
    "radius",
    "regressor",
    "covariance",
    "covariance_dof",
    "group_position",
    "group_is_series",
    *_BOX,
    *_BELIEF,
)
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write_problem(problem: LinearProblem, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the problem as one `.npz` or `.json` file, completely or not at all.

    A `.json` file has the numbers as text, for programs without NumPy, see docs/certificate-format.md; both have the
    same digest. It holds problems with error bounds, and with a box as prior.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> problem = LinearProblem([[1.0], [1.0]], [0.9, 1.1], Unknowns(["mass"]), Bounded(0.2))
        >>> with TemporaryDirectory() as folder:
        ...     write_problem(problem, f"{folder}/mass.npz")
        ...     read_problem(f"{folder}/mass.npz") == problem
        True
    """
    if Path(path).suffix.lower() == ".json":
        content = problem_text(problem).encode()
        large = f"{path} would have more than {LARGEST >> 20} MiB, which is not read again: write an .npz file"
        require(len(content) <= LARGEST, large)
        with new_file(path, overwrite=overwrite) as file:
            file.write(content)
        return
    arrays = _arrays(problem)
    with new_file(path, overwrite=overwrite) as file:
        np.savez(file, allow_pickle=False, **arrays)


def problem_text(problem: LinearProblem) -> str:
    """The text of a problem's `.json` file."""
    return rendered(_plain(problem))


def read_problem(path: str | Path, *, map_W: bool = False) -> LinearProblem:
    """The problem in a file that `write_problem` wrote.

    With `map_W` the matrix stays on disk and is walked through by blocks, whatever its length; the file must not
    change meanwhile, and its checksum is not compared. A `.json` file is always read completely.

    Examples:
        >>> read_problem("none.npz")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.npz cannot be read: there is no such file
    """
    if Path(path).suffix.lower() == ".json":
        require(is_file(Path(path)), f"{path} cannot be read: there is no such file")
        return loaded(path, _of_plain, "a linear problem")
    arrays = _loaded(Path(path), map_W=map_W)
    try:
        return _problem(arrays)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _arrays(problem: LinearProblem) -> dict[str, Any]:
    unknowns, groups = problem.unknowns, problem.groups
    arrays: dict[str, Any] = {"gough_problem": np.array(FORMAT), "W": problem.W, "y": problem.y}
    for field, texts in (("names", unknowns.names), ("units", unknowns.units), ("group_names", groups.names)):
        arrays[field] = np.array(texts)
        kept = tuple(arrays[field].tolist()) == tuple(texts)
        require(kept, f"{field} cannot be written: a text ends in the character NUL")
    match unknowns.prior:
        case Box(lower=lower, upper=upper):
            arrays |= dict(zip(_BOX, (lower, upper), strict=True))
        case ConfidenceEllipsoid(center=center, covariance=spread, level=level, dof=dof):
            belief = (center, spread, np.float64(level), np.float64(dof))
            arrays |= dict(zip(_BELIEF, belief, strict=True))
    match problem.noise:
        case Gaussian(covariance=covariance, dof=dof):
            arrays["covariance"] = np.empty(0) if covariance is None else covariance
            arrays["covariance_dof"] = np.float64(dof) if np.isfinite(dof) else None
        case Bounded(radius=radius, regressor=regressor):
            arrays |= {"radius": radius, "regressor": regressor}
    arrays |= {"nominal": unknowns.nominal, "group_position": groups.position}
    arrays |= {} if groups.is_series else {"group_is_series": np.array(groups.is_series)}
    return {field: values for field, values in arrays.items() if values is not None}


def _plain(problem: LinearProblem) -> dict[str, Any]:
    """JSON data of a problem with bounds."""
    unknowns, groups, noise = problem.unknowns, problem.groups, problem.noise
    needed = "a .json file holds problems with error bounds (Bounded) and a box as prior: write an .npz file"
    if not (isinstance(noise, Bounded) and isinstance(unknowns.prior, Box)):
        raise InputError(needed)
    sides = {
        side: [x if isfinite(x) else None for x in getattr(unknowns.prior, side).tolist()]
        for side in ("lower", "upper")
    }
    arrays = {"y": problem.y, "radius": noise.radius, "regressor": noise.regressor, "W": problem.W}
    nominal, position = (None if x is None else x.tolist() for x in (unknowns.nominal, groups.position))
    return {
        "gough": JSON_KIND,
        "version": JSON_FORMAT,
        "names": unknowns.names,
        "units": unknowns.units,
        "nominal": nominal,
        **sides,
        "groups": groups.names,
        "position": position,
        **{name: None if values is None else values.tolist() for name, values in arrays.items()},
    }


def _of_plain(data: Any) -> LinearProblem:
    known = isinstance(data, dict) and data.get("gough") == JSON_KIND
    require(known, f'not a linear problem: no "gough": "{JSON_KIND}"')
    version = data.get("version")
    whole = type(version) is int and version >= 1
    require(whole, "version must be a whole number from 1")
    newer = f"the file has format {version}, from a newer gough; this one reads up to {JSON_FORMAT}"
    require(version <= JSON_FORMAT, newer)
    require_keys(data, "linear-problem-1", "a linear problem")
    names, units, groups = (_listed_texts(data[key], key) for key in ("names", "units", "groups"))
    require(len(units) == len(names), f"{len(names)} unknowns have {len(units)} units; give one each")
    nominal = None if data["nominal"] is None else numbers(data["nominal"], "nominal")
    lower, upper = (_side(data[key], key, none) for key, none in (("lower", -inf), ("upper", inf)))
    position = None if data["position"] is None else wholes(data["position"], "position")
    require(position is None or all(x < 1 << 63 for x in position), "position has a number of more than 63 bits")
    radius = _number_or(data["radius"], "radius", numbers)
    regressor = None if data["regressor"] is None else _number_or(data["regressor"], "regressor", rows_of_numbers)
    return LinearProblem(
        np.array(rows_of_numbers(data["W"], "W")),
        np.array(numbers(data["y"], "y")),
        Unknowns(names, units, None if nominal is None else np.array(nominal), Box(lower, upper)),
        Bounded(radius, regressor),
        Groups(groups, None if position is None else np.array(position, dtype=np.int64)),
    )


def _listed_texts(data: Any, what: str) -> tuple[str, ...]:
    texts = isinstance(data, list) and all(isinstance(x, str) for x in data)
    require(texts, f"{what} must be a list of texts")
    return tuple(data)


def _side(data: Any, what: str, none: float) -> Array:
    """A side of the prior; null is a side at infinity."""
    require(isinstance(data, list), f"{what} must be a list of numbers, null for a side at infinity")
    finite = iter(numbers([x for x in data if x is not None], what))
    return np.array([none if x is None else next(finite) for x in data])


def _number_or(data: Any, what: str, several: Callable[[Any, str], Any]) -> Array:
    return np.array(several(data, what) if isinstance(data, list) else numbers([data], what)[0])


def _loaded(path: Path, *, map_W: bool) -> dict[str, Any]:
    require(is_file(path), f"{path} cannot be read: there is no such file")
    with path.open("rb") as file, readable(path, ".npz"):
        begin = file.read(6)
        file.seek(0)
        single = f"{path} is a single array, not a complete .npz file of a problem"
        require(not begin.startswith(b"\x93NUMPY"), single)
        other = f"{path} is not a complete .npz file: it does not begin like one"
        require(begin.startswith(b"PK"), f"{other}. Problems are .npz files that write_problem wrote")
        archive = np.load(file, allow_pickle=False)
        require(isinstance(archive, np.lib.npyio.NpzFile), single)
        require_plain_archive(archive, path)
        _require_fields(archive.files, path)
        mapped = {"W": _mapped(archive, path)} if map_W else {}
        return mapped | {field: plain_array(archive, field, path) for field in archive.files if field not in mapped}


def _require_fields(fields: list[str], path: Path) -> None:
    for field in fields:
        known = field in _NEEDED or field in _OPTIONAL
        require(known, f"{path} has an unknown array '{field}'{nearest(field, _NEEDED + _OPTIONAL)}")
    for field in _NEEDED:
        require(field in fields, f"{path} has no array '{field}'; is it the file of a problem?")


def _mapped(archive: Any, path: Path) -> Any:
    """The matrix W as a map of its place in the file, which is stored there uncompressed."""
    stored = archive.zip.getinfo("W.npy").compress_type == zipfile.ZIP_STORED
    require(stored, f"{path}: array 'W' is compressed and cannot be mapped; read it without map_W")
    with path.open("rb") as file:
        file.seek(archive.zip.getinfo("W.npy").header_offset + 26)
        name, extra = struct.unpack("<HH", file.read(4))
        file.seek(name + extra, 1)
        shape, fortran, dtype = _HEADERS[np.lib.format.read_magic(file)](file)
        require(dtype == np.float64, f"{path}: array 'W' has type {dtype}, but only float64 can be mapped")
        return np.memmap(file, dtype, "r", file.tell(), shape, "F" if fortran else "C")


def _problem(arrays: Mapping[str, Any]) -> LinearProblem:
    version = arrays["gough_problem"]
    require(version.shape == () and version.dtype.kind in "iu" and version >= 1, "gough_problem must be a version")
    require(version <= FORMAT, f"the file has format {version}, from a newer gough; this one reads up to {FORMAT}")
    unknowns = Unknowns(_texts(arrays, "names"), _texts(arrays, "units"), arrays.get("nominal"), _prior(arrays))
    series = arrays.get("group_is_series", np.array(True))  # noqa: FBT003 - a value
    require(series.shape == () and series.dtype.kind == "b", "array 'group_is_series' must be true or false")
    groups = Groups(_texts(arrays, "group_names"), arrays.get("group_position"), bool(series))
    return LinearProblem(arrays["W"], arrays["y"], unknowns, _noise(arrays), groups)


def _texts(arrays: Mapping[str, Any], field: str) -> tuple[str, ...]:
    values = arrays[field]
    require(values.ndim == 1 and values.dtype.kind == "U", f"array '{field}' must be a list of texts")
    return tuple(values.tolist())


def _prior(arrays: Mapping[str, Any]) -> Box | ConfidenceEllipsoid:
    box, belief = ([field for field in fields if field in arrays] for fields in (_BOX, _BELIEF))
    require(not (box and belief), f"the prior is a box or a belief, but there are '{box[:1]}' and '{belief[:1]}'")
    wanted = _BELIEF if belief else _BOX
    for field in wanted:
        require(field in arrays, f"the prior lacks array '{field}'")
    if not belief:
        return Box(arrays["prior_lower"], arrays["prior_upper"])
    center, covariance, level, dof = (arrays[field] for field in _BELIEF)
    for field in ("belief_level", "belief_dof"):
        require(arrays[field].shape == () and arrays[field].dtype.kind in "fiu", f"array '{field}' must be a number")
    return ConfidenceEllipsoid(center, covariance, float(level), float(dof))


def _noise(arrays: Mapping[str, Any]) -> Noise:
    bounded = "radius" in arrays
    require(bounded != ("covariance" in arrays), "the noise needs one of the arrays 'radius' and 'covariance'")
    require(
        bounded or "regressor" not in arrays, "array 'regressor' belongs to bounded noise, but there is no 'radius'"
    )
    if bounded:
        return Bounded(arrays["radius"], arrays.get("regressor"))
    covariance, dof = arrays["covariance"], arrays.get("covariance_dof", np.float64(np.inf))
    require(dof.shape == () and dof.dtype.kind in "fiu", "array 'covariance_dof' must be a number")
    return Gaussian(None if covariance.shape == (0,) else covariance, float(dof))


def read_table(path: str | Path) -> LinearProblem:
    r"""The problem y = W θ + e in a CSV file whose first line names the columns.

    Column `y` is what was measured; `e`, if there is one, bounds its error row by row, `sigma` is its standard
    deviation; every other column belongs to the unknown of that name. Columns are separated by commas, and numbers
    have a decimal point.

    Examples:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder, "mass.csv")
        ...     _ = path.write_text("mass,friction,y,e\n1,0.5,2.5,0.1\n1,-0.5,1.5,0.1\n")
        ...     problem = read_table(path)
        >>> problem.unknowns.names, problem.noise.radius
        (('mass', 'friction'), array([0.1, 0.1]))
    """
    try:
        with Path(path).open(newline="", encoding="utf-8-sig") as file:
            lines = csv.reader(file, strict=True)
            heads = [head.strip() for head in next(lines, [])]
            _require_heads(heads, path)
            rows = [_row(cells, heads, path, lines.line_num) for cells in lines if cells]
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is not a CSV file: {error}") from error
    require(len(rows) > 0, f"{path} has no row below its heads")
    return _of_columns(dict(zip(heads, np.array(rows).T, strict=True)), path)


def _require_heads(heads: list[str], path: str | Path) -> None:
    for number, head in enumerate(heads, start=1):
        require(head != "", f"{path}, line 1: column {number} has no name")
        require(heads.count(head) == 1, f"{path}, line 1: column '{head}' stands more than once")
    require(_MEASURED in heads, f"{path}, line 1: there is no column '{_MEASURED}' of what was measured")
    both = _BOUND in heads and _SIGMA in heads
    require(not both, f"{path}, line 1: give either bounds '{_BOUND}' or deviations '{_SIGMA}', not both")


def _row(cells: list[str], heads: list[str], path: str | Path, line: int) -> list[float]:
    require(len(cells) == len(heads), f"{path}, line {line}: there are {len(cells)} cells for {len(heads)} columns")
    return [_cell(cell, f"{path}, line {line}, column '{head}'") for cell, head in zip(cells, heads, strict=True)]


def _cell(cell: str, where: str) -> float:
    require(cell.strip() != "", f"{where}: the cell is empty")
    try:
        value = float(cell.replace("_", "?"))  # Python would read 1_000
    except ValueError as error:
        raise InputError(f"{where}: '{cell:.40}' is not a number") from error
    require(isfinite(value), f"{where}: '{cell}' is not a finite number")
    return value


def _of_columns(columns: dict[str, Array], path: str | Path) -> LinearProblem:
    names = tuple(head for head in columns if head not in {_MEASURED, _BOUND, _SIGMA})
    require(len(names) > 0, f"{path}, line 1: there is no column of an unknown")
    noise: Noise = Gaussian()
    try:
        if _BOUND in columns:
            noise = Bounded(columns[_BOUND])
        elif _SIGMA in columns:
            require(bool((columns[_SIGMA] > 0).all()), f"column '{_SIGMA}' must be positive")
            with np.errstate(over="ignore", under="ignore"):
                noise = Gaussian(columns[_SIGMA] ** 2)
        return LinearProblem(np.stack([columns[n] for n in names], axis=1), columns[_MEASURED], Unknowns(names), noise)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
