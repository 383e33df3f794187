"""The manifest of a certification: every file of a run with its digest, the sources, and what is taken as given."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gough.checker.chain_questions import ChainQuestion
from gough.checker.limits import FILE_BYTES
from gough.core.arrays import Array
from gough.core.errors import require
from gough.core.sealed import list_of, loaded, numbers, rendered, require_keys, wholes

MANIFEST = "manifest.json"
SOURCES = "sources"
KIND = "certification manifest"
_VERSION = 1
ROLES = ("study", "poses")
BLUEPRINT = "the blueprint"
CALIBRATED = "calibrated values"


class FileEntry(NamedTuple):
    """A file of the run: its name relative to the manifest, its digest, and its size in bytes."""

    name: str
    digest: str
    size: int

    @classmethod
    def of(cls, name: str, content: bytes) -> "FileEntry":
        """The entry of a file with this content."""
        return cls(name, digest_of(content), len(content))


class SourceFile(NamedTuple):
    """A file that the user gave: its role, the name of the copy, where the original was, and its content."""

    role: str
    """"study" or "poses"."""
    name: str
    """Name of the copy, relative to the manifest."""
    found: str
    """Where the run found it, relative to the manifest's folder."""
    content: bytes


class SourceEntry(NamedTuple):
    """A source as the manifest lists it."""

    role: str
    found: str
    file: FileEntry


class Given(NamedTuple):
    """Numbers that the run computed or built in and that no source states; every statement takes them as given."""

    center: str = ""
    """What the prior is centered at, `BLUEPRINT` or `CALIBRATED`; empty where the study states it. Must agree with the
    study: it may replace nothing that the study states."""
    values: tuple[tuple[float, ...], ...] = ()
    """The center of each question's unknowns: one row a leg, or a chain; empty where the study states it."""
    gains: tuple[float, ...] = ()
    """What readings of each leg are multiplied by, m per unit; empty where the study states it."""


@dataclass(frozen=True)
class Manifest:
    """What belongs to a run of `gough certify`. `load_manifest` reads it, `render_manifest` writes it."""

    written_by: str
    questions: Mapping[str, Mapping[str, Any]]
    """By the name of its file: poses, units, range of tolerances and prior of each question, see `summary_of`."""
    given: Given
    sources: tuple[SourceEntry, ...]
    files: tuple[FileEntry, ...]
    """Certificates, questions and copies of sources."""

    @property
    def names(self) -> frozenset[str]:
        """All files that are listed."""
        return frozenset(file.name for file in self.files)


def digest_of(content: bytes) -> str:
    """SHA-256 of a file's content.

    Examples:
        >>> digest_of(b"")[:15]
        'sha256:e3b0c442'
    """
    return f"sha256:{sha256(content).hexdigest()}"


def summary_of(question: ChainQuestion) -> dict[str, Any]:
    """Number of poses, units, smallest and largest half-widths, and the prior of a question, as plain data.

    Examples:
        >>> from gough.checker.leg_equations import LegMeasurements
        >>> from gough import Box
        >>> data = LegMeasurements([[1, 0, 0, 0]], [[0, 0, 0.4]], [0.1], 1e-4, 1e-3, 1e-5)
        >>> summary_of(ChainQuestion((1,), (data,), Box([0.0] * 7, [1.0] * 7)))["tolerances"]
        {'position': [0.0001, 0.0001], 'rotation': [0.001, 0.001], 'reading': [1e-05, 1e-05]}
    """
    if question.legs:
        data = question.arrays()
        tolerances = {name: data[f"{name}_tolerance"] for name in ("position", "rotation", "reading")}
        units = {"position": "m", "rotation": "rad", "reading": "m"}
    else:
        first = question.rods[0]
        r, t = first.reading, first.tolerance
        tolerances = {"position": t[:, :r]} if r > 0 else {}  # a file may state that the reading is the first error
        tolerances["reading"] = np.stack([rod.reading_tolerance for rod in question.rods])
        units = {"position": "m", "reading": first.reading_unit}
        if t.shape[1] > r + 1:  # one error of the heading, or those of orientations in an instrument's frame
            name = "heading" if t.shape[1] == r + 2 else "rotation"
            tolerances[name], units[name] = t[:, r + 1 :], "rad"
    ranges = {name: _range(values) for name, values in tolerances.items()}
    prior = {"lower": question.prior.lower.tolist(), "upper": question.prior.upper.tolist()}
    return {"poses": question.n_poses, "units": units, "tolerances": ranges, "prior": prior}


def _range(values: Array) -> list[float]:
    return [float(values.min()), float(values.max())]


def render_manifest(
    written_by: str,
    contents: Mapping[str, bytes],
    questions: Mapping[str, ChainQuestion],
    sources: tuple[SourceFile, ...],
    given: Given,
) -> str:
    """The text of the manifest of these certificates and questions, by name, and sources."""
    files = [FileEntry.of(name, content) for name, content in contents.items()]
    files += [FileEntry.of(source.name, source.content) for source in sources]
    return rendered(
        {
            "gough": KIND,
            "version": _VERSION,
            "written_by": written_by,
            "questions": {name: summary_of(question) for name, question in questions.items()},
            "given": {"center": given.center, "values": given.values, "gains": given.gains},
            "sources": [[source.role, source.name, source.found] for source in sources],
            "files": [list(file) for file in files],
        }
    )


def load_manifest(path: str | Path) -> Manifest:
    """The manifest in a file that `gough certify` wrote.

    Examples:
        >>> load_manifest("none.json")
        Traceback (most recent call last):
        ...
        gough.core.errors.InputError: none.json cannot be read: No such file or directory
    """
    return loaded(path, _manifest, "a manifest", FILE_BYTES)


def _manifest(data: Any) -> Manifest:
    known = isinstance(data, dict) and data.get("gough") == KIND
    require(known, f'not a manifest of certificates: no "gough": "{KIND}"')
    version = data.get("version")
    fits = type(version) is int and version == _VERSION
    require(fits, f"the manifest has format {version!r:.20}, but this gough reads format {_VERSION}: update gough")
    require_keys(data, "certification-manifest-1", "a manifest")
    files = tuple(list_of(data["files"], "file", _file))
    by_name = {file.name: file for file in files}
    require(len(by_name) == len(files), "a file is listed more than once")
    sources = tuple(
        SourceEntry(role, found, _listed(by_name, name))
        for role, name, found in list_of(data["sources"], "source", _texts)
    )
    require(all(source.role in ROLES for source in sources), f"sources are {' and '.join(ROLES)}")
    require(len({source.role for source in sources}) == len(sources), "a source is listed more than once")
    questions = data["questions"]
    require(isinstance(questions, dict), "questions must be a table by file")
    for name in questions:
        _listed(by_name, name)
    require(isinstance(data["written_by"], str), "written_by must be text")
    return Manifest(data["written_by"], questions, _given(data["given"]), sources, files)


def _listed(by_name: Mapping[str, FileEntry], name: str) -> FileEntry:
    require(name in by_name, f"'{name:.80}' is not among the files of the manifest")
    return by_name[name]


def _file(data: Any, what: str) -> FileEntry:
    require(isinstance(data, list) and len(data) == 3, f"{what} must be [name, digest, bytes]")
    name, digest, size = data
    require(isinstance(name, str) and isinstance(digest, str), f"{what} must be [name, digest, bytes]")
    parts = Path(name).parts
    inside = 1 <= len(parts) <= 2 and ".." not in parts and not Path(name).is_absolute() and "\\" not in name
    require(inside and "\0" not in name, f"{what}: '{name:.80}' is no name of a file in this folder")
    return FileEntry(name, digest, wholes([size], f"{what}: bytes")[0])


def _texts(data: Any, what: str) -> tuple[str, str, str]:
    good = isinstance(data, list) and len(data) == 3 and all(isinstance(x, str) for x in data)
    require(good, f"{what} must be [role, name, where it was found]")
    return data[0], data[1], data[2]


def _given(data: Any) -> Given:
    require(isinstance(data, dict), "given must be a table")
    require_keys(data, "given", "given")
    known = data["center"] in ("", BLUEPRINT, CALIBRATED)
    require(known, f"given: center must be '{BLUEPRINT}', '{CALIBRATED}', or empty")
    values = tuple(list_of(data["values"], "values", numbers))
    return Given(data["center"], values, numbers(data["gains"], "gains"))
