"""The folder that `gough certify` writes, judged as a whole: complete, unchanged, every certificate checked."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gough.certify.chain_check import check_chain
from gough.certify.chain_files import CHAIN, EQUATIONS, equations_name, load_chain, load_equations
from gough.certify.chain_questions import ChainQuestion
from gough.certify.check import Verdict
from gough.certify.leg_files import CERTIFICATE, QUESTION, kind_of_file, load_leg, load_question
from gough.certify.leg_questions import PlatformQuestion
from gough.certify.legs import check_leg
from gough.certify.manifest import (
    MANIFEST,
    SOURCES,
    FileEntry,
    Manifest,
    Question,
    digest_of,
    load_manifest,
    summary_of,
)
from gough.core.errors import InputError, require

MEASUREMENTS = "measurements.json"
_NO_MANIFEST = (
    f"There is no {MANIFEST}: an older gough wrote this folder. Whether certificates are missing cannot be judged."
)


@dataclass(frozen=True)
class FolderVerdict:
    """What the check of a folder found. A verdict is true (`if verdict:`) if everything in it holds."""

    verdicts: Mapping[str, Verdict]
    """Of each certificate that could be read, by the name of its file."""
    about: Mapping[str, str]
    """The file that each of these certificates speaks about."""
    n_certificates: int
    """How many there should be: those that the manifest lists, or all files that are no questions."""
    faults: tuple[str, ...]
    """Files that are missing, changed, unreadable or not listed: sentences without their full stops."""
    notes: tuple[str, ...] = ()
    """What a reader must know about this check, in sentences."""

    @property
    def holds(self) -> bool:
        """Nothing is missing or changed, and every certificate holds."""
        return not self.faults and all(self.verdicts.values())

    def __bool__(self) -> bool:
        return self.holds


def check_folder(folder: str | Path) -> FolderVerdict:
    """Every certificate about legs or chains in a folder, and whether the folder is as its manifest says.

    Raises:
        InputError: there is nothing of `gough certify` in the folder.
    """
    place = Path(folder)
    require(place.is_dir(), f"{folder} is not a folder")
    check = _Check(place)
    manifest = check.manifest()
    names = check.listed(manifest) if manifest is not None else check.found()
    for name in names:
        check.judge(name)
    require(
        bool(names or check.faults),
        f"{folder} holds no certificates about legs or chains: give the folder that gough certify wrote",
    )
    return FolderVerdict(check.verdicts, check.about, len(names), tuple(check.faults), tuple(check.notes))


@dataclass
class _Check:
    """One check of a folder, and what it has found so far."""

    folder: Path
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    questions: dict[str, Question | None] = field(default_factory=dict)
    """Those read so far; None where a file cannot be read."""
    spoilt: set[str] = field(default_factory=set)
    """Files that are not as listed."""

    def manifest(self) -> Manifest | None:
        """The manifest; None where there is none that can be read."""
        if not (self.folder / MANIFEST).is_file():
            if (self.folder / SOURCES).exists():
                self.faults.append(f"{MANIFEST} is missing")
            elif any(self.folder.glob("*.json")):
                self.notes.append(_NO_MANIFEST)
            return None
        try:
            return load_manifest(self.folder / MANIFEST)
        except InputError as error:
            self.faults.append(self._inside(error))
            return None

    def listed(self, manifest: Manifest) -> list[str]:
        """The certificates that the manifest lists, once all files are compared with it."""
        for file in manifest.files:
            if fault := self._difference(file):
                self.faults.append(fault)
                self.spoilt.add(file.name)
        for path in sorted(self.folder.rglob("*")):
            name = path.relative_to(self.folder).as_posix()
            if name != MANIFEST and name not in manifest.names and (path.is_symlink() or not path.is_dir()):
                self.faults.append(f"{name} is not listed in {MANIFEST}")
        for name, summary in manifest.questions.items():
            self.questions[name] = None if name in self.spoilt else self._question(name)
            question = self.questions[name]
            if question is not None and summary_of(question) != summary:
                self.faults.append(f"{name} has other tolerances or another prior than {MANIFEST} says")
        sources = {source.file.name for source in manifest.sources}
        return [file.name for file in manifest.files if file.name not in {*sources, *manifest.questions}]

    def found(self) -> list[str]:
        """All JSON files but questions, where no manifest says which there should be."""
        names = [path.name for path in sorted(self.folder.glob("*.json")) if path.name != MANIFEST]
        asked = [name for name in names if _kind(self.folder / name) in {QUESTION, EQUATIONS}]
        self.questions |= {name: self._question(name) for name in asked}
        return [name for name in names if name not in asked]

    def judge(self, name: str) -> None:
        """Check one certificate, unless it differs from the one that is listed."""
        if name in self.spoilt:
            return
        path = self.folder / name
        kind = _kind(path)
        try:
            if kind == CERTIFICATE:
                leg = load_leg(path)
                question = self._asked(MEASUREMENTS)
                if isinstance(question, PlatformQuestion):
                    self.verdicts[name], self.about[name] = check_leg(leg, question), MEASUREMENTS
            elif kind == CHAIN:
                chain = load_chain(path)
                about = equations_name(chain.chain)
                equations = self._asked(about)
                if isinstance(equations, ChainQuestion):
                    self.verdicts[name], self.about[name] = check_chain(chain, equations), about
            else:
                self.faults.append(f"{name} is not a certificate: it is empty, damaged or something else")
        except InputError as error:
            self.faults.append(self._inside(error))
            return
        if name not in self.verdicts and kind in {CERTIFICATE, CHAIN}:
            self.faults.append(f"{name} cannot be judged without the file that it speaks about")

    def _asked(self, name: str) -> Question | None:
        if name not in self.questions:
            self.questions[name] = self._question(name)
        return self.questions[name]

    def _question(self, name: str) -> Question | None:
        path = self.folder / name
        if not path.is_file():
            self.faults.append(f"{name} is missing")
            return None
        try:
            return (load_question if _kind(path) == QUESTION else load_equations)(path)
        except InputError as error:
            self.faults.append(self._inside(error))
            return None

    def _difference(self, file: FileEntry) -> str:
        """What is wrong with a listed file, or nothing."""
        path = self.folder / file.name
        if not path.is_file():
            return f"{file.name} is missing"
        if path.stat().st_size != file.size:
            return f"{file.name} has {path.stat().st_size} bytes, but {MANIFEST} lists {file.size}"
        try:
            same = digest_of(path.read_bytes()) == file.digest
        except OSError as error:
            return f"{file.name} cannot be read: {error.strerror}"
        return "" if same else f"{file.name} was changed: it has another digest than {MANIFEST} lists"

    def _inside(self, error: InputError) -> str:
        """A message without the folder's path."""
        return str(error).replace(f"{self.folder / 'x'}"[:-1], "")


def _kind(path: Path) -> str:
    """What a file says it is; empty where it cannot be read."""
    try:
        return kind_of_file(path)
    except InputError:
        return ""
