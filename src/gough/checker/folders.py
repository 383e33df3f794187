"""The folder that `gough certify` writes, judged as a whole: complete, unchanged, every certificate checked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from gough.checker.certificate import CheckedIntervals, Verdict
from gough.checker.chain_check import check_chains
from gough.checker.chain_files import CERTIFICATES, QUESTIONS, load_chains, load_question
from gough.checker.chain_proofs import ChainBound, ChainCertificate, ChainEmpty
from gough.checker.chain_questions import ChainQuestion
from gough.checker.linear import NotProven
from gough.checker.manifest import (
    MANIFEST,
    ROLES,
    SOURCES,
    FileEntry,
    Manifest,
    SourceEntry,
    digest_of,
    load_manifest,
    summary_of,
)
from gough.checker.raw import Columns, Source, SourceText, question_words
from gough.checker.raw_chains import RawChains
from gough.checker.raw_containment import require_contained, require_exhibited
from gough.checker.raw_data import NotDerived, study_of, table_in
from gough.checker.words import summary
from gough.core.errors import InputError, require
from gough.core.files import is_file
from gough.core.progress import OnProgress, Progress
from gough.core.sealed import kind_of_file
from gough.core.tables import Table, table
from gough.core.text import visible
from gough.region import Interval

MEASUREMENTS = "measurements.json"
_NO_MANIFEST = (
    f"There is no {MANIFEST}: an older gough wrote this folder, or it was removed. Whether certificates are "
    "missing cannot be judged."
)

NO_SOURCES = (
    f"The check starts at the question ({MEASUREMENTS} or equations): the step from the measured poses is not checked, "
    "because there is no sound manifest with copies of the sources."
)


DERIVED = (
    "Derived from the sources in exact arithmetic: the question contains every stated interval, and what is exhibited "
    "lies within them."
)
_FAILS = "DOES NOT HOLD"
_WHOLE = "Where a statement ends with …, gough check CERTIFICATE.json prints all of it."


@dataclass(frozen=True)
class FolderVerdict(CheckedIntervals):
    """What the check of a folder found. A verdict is true (`if verdict:`) if everything in it holds.

    Where it does, `verdict.interval("l1")` is the proven interval of an unknown with which its chain, by itself, fits
    all poses within the stated tolerances, and `verdict["l1"]` its middle.
    """

    folder: Path
    """Where the certificates are."""
    verdicts: Mapping[str, Verdict]
    """Verdict on each certificate that could be read, by the name of its file."""
    about: Mapping[str, str]
    """The file that each of these certificates is about."""
    n_certificates: int
    """How many there should be: those that the manifest lists, or all files that are no questions."""
    faults: tuple[str, ...]
    """Files that are missing, changed, unreadable or not listed: sentences without their full stops."""
    premises: tuple[str, ...] = ()
    """What all statements are about: data, tolerances and prior, in sentences."""
    notes: tuple[str, ...] = ()
    """What a reader must know about this check, in sentences."""
    uncertified: tuple[str, ...] = ()
    """What the study asks for and no certificate states: sentences. The certificates that are there may hold."""
    from_sources: bool = False
    """Is every statement about what the user's files state, and not only about questions made from them?"""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """What certificates of boxes prove about the unknowns of single chains, with the tolerances as stated."""

    checked_thing: ClassVar[str] = "folder"

    @property
    def is_proven(self) -> bool:
        return self.holds

    @property
    def holds(self) -> bool:
        """Nothing is missing or changed, and every certificate holds."""
        return not self.faults and all(self.verdicts.values())

    def table(self) -> Table:
        """A line for each certificate, and for each fault."""
        rows = [
            [name, self._mark(verdict), summary(verdict.statement) if verdict else verdict.reason]
            for name, verdict in self.verdicts.items()
        ]
        rows += [["", _FAILS, fault] for fault in self.faults]
        return table(["certificate", "verdict", "statement"], rows, "llw", "Certificates")

    def _mark(self, verdict: Verdict) -> str:
        return ("holds by itself" if self.faults else "holds") if verdict else _FAILS

    def headlines(self) -> tuple[str, ...]:
        """What all statements are about."""
        return self.premises

    def remarks(self) -> tuple[str, ...]:
        """Notes, and how many certificates hold."""
        shortened = any(summary(verdict.statement).endswith("…") for verdict in self.verdicts.values())
        notes = (*((_WHOLE,) if shortened else ()), *self.notes, *((DERIVED,) if self.from_sources and self else ()))
        notes = (*notes, *(f"NOT CERTIFIED  {each}" for each in self.uncertified))
        good = sum(map(bool, self.verdicts.values()))
        if not self.faults:
            but = " They do not answer all that the study asks for: see NOT CERTIFIED." if self.uncertified else ""
            return (*notes, f"{good} of {self.n_certificates} certificates hold.{but}")
        alone = f"By themselves, {good} of {self.n_certificates} certificates hold."
        many = f"{len(self.faults)} files are" if len(self.faults) > 1 else "1 file is"
        faulty = f"{many} missing, changed, unreadable, not listed or not derived"
        return (*notes, f"The folder does not hold: {faulty}. {alone}")

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict as text, line by line: premises, one line for each certificate, faults, and a summary."""
        lines = [*self.premises, ""] if self.premises else []
        for name, verdict in self.verdicts.items():
            states = summary(verdict.statement) if verdict else verdict.reason
            lines.append(f"{self._mark(verdict)}  {name}: {states}")
        lines += [f"{_FAILS}  {fault}" for fault in self.faults]
        return (*lines, *self.remarks())

    def __str__(self) -> str:
        return "\n".join(map(visible, self.lines))

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        certificates = [
            {"certificate": str(self.folder / name), "problem": str(self.folder / self.about[name])} | verdict.to_dict()
            for name, verdict in self.verdicts.items()
        ]
        return {
            "holds": self.holds,
            "n_certificates": self.n_certificates,
            "faults": list(self.faults),
            "premises": list(self.premises),
            "notes": list(self.notes),
            "uncertified": list(self.uncertified),
            "from_sources": self.from_sources,
            "certificates": certificates,
        }


def check_folder(
    folder: str | Path,
    study: str | Path | None = None,
    columns: Columns | None = None,
    *,
    only: str | None = None,
    on_progress: OnProgress = lambda _: None,
) -> FolderVerdict:
    """Every certificate about legs or chains in a folder, and whether the folder is as its manifest says.

    Where the folder has copies of study and poses, the questions are derived from them anew, and each certificate must
    hold about what they state. They are compared with the files that the run read where those are still there. With
    `study`, they must equal it and its poses: a folder without copies of both does not hold then. `columns` reads poses
    in binary files. With `only` one certificate is checked, and what it rests on. `on_progress` is called before each
    certificate.

    Raises:
        InputError: there is nothing of `gough certify` in the folder, or `study` or its poses cannot be read.
    """
    place = Path(folder)
    own = None if study is None else _own_files(Path(study))
    require(place.is_dir(), f"{folder} is not a folder")
    if (place / "certificates" / MANIFEST).is_file():  # the folder of all results
        place = place / "certificates"
    check = _Check(place, columns)
    manifest = check.manifest()
    names = check.listed(manifest, only) if manifest is not None else check.found()
    if only is not None:
        require(only in names, f"{only} is not a certificate that {MANIFEST} lists")
        names = [only]
    if manifest is not None:
        check.derive(manifest)
    if own is not None:
        check.require_equal(() if manifest is None else manifest.sources, own)
    elif manifest is not None:
        check.compare(manifest.sources)
    for done, name in enumerate(names):
        on_progress(Progress(done, len(names), name))
        check.judge(name)
    check.tell_underived()
    if manifest is not None and only is None:
        check.tell_uncertified(manifest)
    none = "holds no certificates about legs or chains: give the folder that gough certify wrote"
    require(bool(names or check.faults), f"{folder} {none}")
    return FolderVerdict(
        place,
        check.verdicts,
        check.about,
        len(names),
        tuple(check.faults),
        tuple(dict.fromkeys(check.premises)),
        tuple(dict.fromkeys(check.notes)),
        tuple(check.uncertified),
        from_sources=bool(check.about) and set(check.about.values()) <= set(check.raw),
        intervals=check.intervals,
    )


@dataclass
class _Check:
    """One check of a folder, and what it has found so far."""

    folder: Path
    columns: Columns | None
    verdicts: dict[str, Verdict] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    questions: dict[str, ChainQuestion | None] = field(default_factory=dict)
    """Those read so far; None where a file cannot be read."""
    spoilt: set[str] = field(default_factory=set)
    """Files that are not as listed."""
    raw: dict[str, RawChains] = field(default_factory=dict)
    """What the sources state about the unknowns of each question."""
    underived: set[str] = field(default_factory=set)
    """Questions that do not follow from the sources."""
    reasons: dict[str, str] = field(default_factory=dict)
    """Why the checker does not derive a question."""
    premises: list[str] = field(default_factory=list)
    proven: list[ChainCertificate] = field(default_factory=list)
    """Certificates that hold."""
    uncertified: list[str] = field(default_factory=list)
    intervals: dict[str, Interval] = field(default_factory=dict)

    def manifest(self) -> Manifest | None:
        """The manifest; None where there is none that can be read."""
        if not is_file(self.folder / MANIFEST):
            if (self.folder / SOURCES).exists():
                self.faults.append(f"{MANIFEST} is missing")
                self.notes.append(NO_SOURCES)
            elif any(self.folder.glob("*.json")):
                self.notes += (_NO_MANIFEST, NO_SOURCES)
            return None
        try:
            return load_manifest(self.folder / MANIFEST)
        except InputError as error:
            self.faults.append(self._inside(error))
            self.notes.append(NO_SOURCES)
            return None

    def listed(self, manifest: Manifest, only: str | None) -> list[str]:
        """The certificates that the manifest lists, once all files are compared with it, or `only` one and its data."""
        sources = {source.file.name for source in manifest.sources}
        for file in manifest.files:
            if only is not None and file.name not in {only, *sources, *manifest.questions}:
                continue
            if fault := self._difference(file):
                self.faults.append(fault)
                self.spoilt.add(file.name)
        for path in sorted(self.folder.rglob("*")) if only is None else ():
            name = path.relative_to(self.folder).as_posix()
            if name != MANIFEST and name not in manifest.names and (path.is_symlink() or not path.is_dir()):
                self.faults.append(f"{name} is not listed in {MANIFEST}")
        for name, listed in manifest.questions.items():
            self.questions[name] = None if name in self.spoilt else self._question(name)
            question = self.questions[name]
            if question is not None and summary_of(question) != listed:
                self.faults.append(f"{name} has other tolerances or another prior than {MANIFEST} says")
        return [file.name for file in manifest.files if file.name not in {*sources, *manifest.questions}]

    def derive(self, manifest: Manifest) -> None:
        """Derive each question from the sources, and require that it contains what they state."""
        entries = {source.role: source for source in manifest.sources}
        place = 0
        for name in manifest.questions:
            question = self.questions[name]
            if question is None:
                place += 1
                continue
            try:
                source = self._source(entries, manifest)
                raw = source.raw(question, place)
                require_contained(question, raw)
                self.premises += source.words(raw)
                self.raw[name] = raw
            except NotDerived as reason:
                self.premises += question_words(question)
                self.reasons[name] = str(reason)
            except (NotProven, InputError) as reason:
                self.faults.append(f"{name} does not follow from the sources: {self._inside(reason)}")
                self.underived.add(name)
            place += len(question.chains)

    def tell_underived(self) -> None:
        """Say at which questions the check starts, because they are not derived from the sources."""
        if NO_SOURCES in self.notes:
            return
        for name in dict.fromkeys(self.about.values()):
            if name in self.reasons:
                step = "the step from the measured poses is not checked"
                self.notes.append(f"The check starts at {name}: {step}, because {self.reasons[name]}.")
            elif name not in self.raw and name not in self.underived:
                self.faults.append(f"{name} is not listed as a question in {MANIFEST}")

    def tell_uncertified(self, manifest: Manifest) -> None:
        """Say which chains of the study, which unknowns, and whether all together, no certificate is about."""
        chains, joint, word = self._asked(manifest)
        for chain in chains:
            own = [each for each in self.proven if each.chains == (chain,)]
            if not own:
                self.uncertified.append(f"{word} {chain}: no certificate is about it")
            elif not any(isinstance(each.proof, ChainBound | ChainEmpty) for each in own):
                self.uncertified.append(f"{word} {chain}: no certificate bounds its unknowns or refutes it")
        if joint and len(chains) > 1 and not any(set(each.chains) == set(chains) for each in self.proven):
            listed = ", ".join(map(str, chains))
            self.uncertified.append(f"{word}s {listed} together: no certificate is about them")

    def _asked(self, manifest: Manifest) -> tuple[tuple[int, ...], bool, str]:
        """Numbers of the chains that the study asks for, whether together too, and the word for a chain."""
        questions = [question for question in self.questions.values() if question is not None]
        listed = tuple(sorted({chain for question in questions for chain in question.chains}))
        word = questions[0].word if questions else "chain"
        stored = next((source.file.name for source in manifest.sources if source.role == "study"), None)
        if stored is None or stored in self.spoilt:
            return listed, False, word
        try:
            certify = table_in(study_of((self.folder / stored).read_bytes()), "certify")
        except NotProven:
            return listed, False, word
        stated = certify.get("chains", certify.get("legs"))
        if isinstance(stated, list) and stated and all(type(chain) is int for chain in stated):
            listed = tuple(stated)
        elif self.raw:  # all chains, as many as there are readings of a pose
            listed = tuple(range(1, 1 + max(len(raw.poses.readings[0]) for raw in self.raw.values())))
        return listed, certify.get("joint", True) is True, word

    def _source(self, entries: Mapping[str, SourceEntry], manifest: Manifest) -> Source:
        texts = {}
        for role in ROLES:
            if role not in entries:
                raise NotDerived(f"the run stored no {role}")
            if entries[role].file.name in self.spoilt:
                raise NotProven(f"{entries[role].file.name} is not as listed")
            name, path = Path(entries[role].found).name, self.folder / entries[role].file.name
            texts[role] = SourceText(name, path.read_bytes(), path)
        return Source(texts["study"], texts["poses"], manifest.given, self.columns)

    def require_equal(self, sources: Sequence[SourceEntry], own: Mapping[str, "_Own"]) -> None:
        """Require that the folder has copies of the user's own study and poses, equal to them byte by byte."""
        entries = {source.role: source.file for source in sources}
        for role, (name, content) in own.items():
            if role not in entries:
                self.faults.append(f"{name} cannot be compared: there is no sound {MANIFEST} with a copy of the {role}")
            elif FileEntry.of(entries[role].name, content) != entries[role]:
                differs = f"{name} differs from the copy in {entries[role].name}"
                self.faults.append(f"{differs}: the certificates are about other data")

    def compare(self, sources: Sequence[SourceEntry]) -> None:
        """Compare the copies of the sources with the files that the run read, where they are still there."""
        for source in sources:
            original, copy = self.folder / source.found, f"the copy in {source.file.name}"
            if not is_file(original):
                self.notes.append(f"{source.found:.200} is not there: {copy} is not compared with it.")
                continue
            try:
                same = (
                    original.stat().st_size == source.file.size and digest_of(_content(original)) == source.file.digest
                )
            except (InputError, OSError) as error:
                self.notes.append(f"{original.name} is not compared with {copy}: {error}.")
                continue
            if not same:
                changed = "it was changed after the run or is another file"
                again = f"Run gough certify again to certify {original.name}"
                self.notes.append(
                    f"{original.name} differs from {copy}: {changed}. The certificates are about the copy. {again}."
                )

    def found(self) -> list[str]:
        """All JSON files but questions, where no manifest says which there should be."""
        names = [path.name for path in sorted(self.folder.glob("*.json")) if path.name != MANIFEST]
        kinds = {name: _kind(self.folder / name) for name in names}
        if not {*kinds.values()} & (CERTIFICATES | QUESTIONS):
            return []
        asked = [name for name in names if kinds[name] in QUESTIONS]
        self.questions |= {name: self._question(name) for name in asked}
        for question in self.questions.values():
            self.premises += () if question is None else question_words(question)
        return [name for name in names if name not in asked]

    def judge(self, name: str) -> None:
        """Check one certificate, unless it differs from the one that is listed."""
        if name in self.spoilt:
            return
        path = self.folder / name
        if _kind(path) not in CERTIFICATES:
            self.faults.append(f"{name} is not a certificate: it is empty, damaged or something else")
            return
        try:
            certificate = load_chains(path)
            about = self._about(certificate)
            question = self.questions.get(about)
            if question is None:
                self.faults.append(f"{name} cannot be judged without the file that it is about")
            else:
                places = self.raw[about].poses.places if about in self.raw else ()
                self._note(name, about, certificate, check_chains(certificate, question, places))
        except InputError as error:
            self.faults.append(self._inside(error))

    def _note(self, name: str, about: str, certificate: ChainCertificate, verdict: Verdict) -> None:
        """Keep a verdict; the certificate must hold about the raw data too, where they are known."""
        question = self.questions[about]
        if verdict and about in self.underived:
            reason = f"it holds about {about}, which does not follow from the sources"
            verdict = replace(verdict, holds=False, reason=reason)
        if verdict and question is not None and about in self.raw:
            try:
                require_exhibited(certificate, question, self.raw[about])
            except NotProven as short:
                verdict = replace(
                    verdict, holds=False, reason=f"it holds about {about}, but not about the data: {short}"
                )
        self.verdicts[name], self.about[name] = verdict, about
        if verdict:
            self.proven.append(certificate)
        if certificate.more == 0 and len(certificate.chains) == 1:
            for unknown, (low, high) in verdict.intervals.items():  # none where the verdict is not a bound that holds
                known = self.intervals.get(unknown, Interval(-inf, inf))
                self.intervals[unknown] = Interval(max(low, known.lower), min(high, known.upper))

    def _about(self, certificate: ChainCertificate) -> str:
        """The file that a certificate is about: by its digest, else the first one about the same chains."""
        if not self.questions:  # no manifest lists any
            self.questions |= {path.name: self._question(path.name) for path in questions_in(self.folder)}
        known = {name: question for name, question in self.questions.items() if question is not None}
        return about(certificate, known)

    def _question(self, name: str) -> ChainQuestion | None:
        path = self.folder / name
        if not is_file(path):
            self.faults.append(f"{name} is missing")
            return None
        try:
            return load_question(path)
        except InputError as error:
            self.faults.append(self._inside(error))
            return None

    def _difference(self, file: FileEntry) -> str:
        """What is wrong with a listed file, or nothing."""
        path = self.folder / file.name
        if not is_file(path):
            return f"{file.name} is missing"
        if path.stat().st_size != file.size:
            return f"{file.name} has {path.stat().st_size} bytes, but {MANIFEST} lists {file.size}"
        try:
            same = digest_of(path.read_bytes()) == file.digest
        except OSError as error:
            return f"{file.name} cannot be read: {error.strerror}"
        return "" if same else f"{file.name} was changed: it has another digest than {MANIFEST} lists"

    def _inside(self, error: Exception) -> str:
        """A message without the folder's path."""
        return str(error).replace(f"{self.folder / 'x'}"[:-1], "")


def questions_in(folder: Path) -> list[Path]:
    """The files of a folder that certificates may be about."""
    return [path for path in sorted(folder.glob("*.json")) if _kind(path) in QUESTIONS]


def about(certificate: ChainCertificate, questions: Mapping[str, ChainQuestion]) -> str:
    """The name of the question that a certificate is about: by its digest, else the first about the same chains.

    Empty where none is about them.
    """
    for name, question in questions.items():
        if question.digest() == certificate.problem:
            return name
    same = [name for name, question in questions.items() if set(certificate.chains) <= set(question.chains)]
    return same[0] if same else ""


def _kind(path: Path) -> str:
    """What a file says it is; empty where it cannot be read."""
    try:
        return kind_of_file(path)
    except InputError:
        return ""


class _Own(NamedTuple):
    """A file of the user with which a copy is compared."""

    name: str
    content: bytes


def _own_files(study: Path) -> dict[str, _Own]:
    """The user's study and the poses that it names, by role."""
    content = _content(study)
    try:
        named = table_in(study_of(content), "poses").get("file")
    except NotProven as error:
        raise InputError(f"{study}: {error}") from error
    if not isinstance(named, str):
        raise InputError(f"{study} names no file of poses")
    poses = study.parent / named
    return {"study": _Own(study.name, content), "poses": _Own(poses.name, _content(poses))}


def _content(path: Path) -> bytes:
    """The bytes of a file of the user."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a name with the character NUL
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error
