"""`check`: the verdict on certificates, as objects, in a file or in a folder, with the data that they are about."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, overload

from gough import checker
from gough.answers import Answer
from gough.checker import Certificate, ChainCertificate, Verdict, check_chains, load, load_chains, load_question
from gough.checker.chain_files import CERTIFICATES, EQUATIONS, OLD_MEASUREMENTS
from gough.checker.chain_questions import question_of
from gough.checker.folders import DERIVED, NO_SOURCES, FolderVerdict, about, check_folder, questions_in
from gough.checker.height_folders import check_height_folder, check_own, height_files
from gough.checker.height_proofs import KIND as HEIGHTS
from gough.checker.height_proofs import load_heights
from gough.checker.linear import NotProven
from gough.checker.manifest import KIND, MANIFEST, SOURCES, digest_of, load_manifest
from gough.checker.raw import question_words
from gough.checker.raw_data import RawTable
from gough.closure import CertificateFile, Certification
from gough.core.arguments import as_path, instance, refused, verb
from gough.core.arrays import Array
from gough.core.errors import InputError, require
from gough.core.progress import OnProgress, Progress
from gough.core.rational import as_double
from gough.core.sealed import kind_of_file
from gough.core.text import command_line, visible
from gough.data import read_problem, read_table
from gough.data.pose_files import binary_columns
from gough.noise import Bounded
from gough.problem import LinearProblem
from gough.region import Interval
from gough.report.certification import certificate_files

if TYPE_CHECKING:
    from gough.core.tables import Table


@dataclass(frozen=True)
class FileVerdict(Answer):
    """The verdict on one certificate file. It is true (`if verdict:`) if the certificate holds.

    Names, intervals and table are those of the verdict on the certificate.
    """

    certificate: Path
    problem: Path | None
    """The file that the certificate is about; None where it was given as an object."""
    verdict: Verdict
    premises: tuple[str, ...]
    """Data, bounds and prior that the statement is about, in sentences."""

    def __bool__(self) -> bool:
        return self.verdict.holds

    @property
    def holds(self) -> bool:
        """Whether the certificate holds."""
        return self.verdict.holds

    @property
    def names(self) -> tuple[str, ...]:
        return self.verdict.names

    def __getitem__(self, name: str) -> float:
        return self.verdict[name]

    def interval(self, name: str, level: float | None = None) -> Interval:
        return self.verdict.interval(name, level)

    def table(self) -> "Table":
        return self.verdict.table()

    def headlines(self) -> tuple[str, ...]:
        return (*self.premises, *self.verdict.headlines())

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict as text, line by line."""
        return (*self.premises, *str(self.verdict).splitlines())

    def __str__(self) -> str:
        return "\n".join(map(visible, self.lines))

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        files = {"certificate": str(self.certificate), "problem": "" if self.problem is None else str(self.problem)}
        return {**files, **self.verdict.to_dict(), "premises": list(self.premises)}


@overload
def check(
    certificate: Certificate | ChainCertificate | CertificateFile, problem: Any, *, study: None = None
) -> Verdict: ...
@overload
def check(
    certificate: str | Path | Certification,
    problem: Any = None,
    *,
    study: str | Path | None = None,
    on_progress: Callable[[Progress], object] = ...,
) -> FileVerdict | FolderVerdict: ...
@verb()
def check(
    certificate: Any,
    problem: Any = None,
    *,
    study: str | Path | None = None,
    on_progress: OnProgress = lambda _: None,
) -> Verdict | FileVerdict | FolderVerdict:
    """Verify certificates again, in exact rational arithmetic.

    ==========================================  =====================================  ===================
    certificate                                 problem                                answer
    ==========================================  =====================================  ===================
    what `certify` returned                     none                                   `FolderVerdict`
    a folder that `gough certify` wrote         none                                   `FolderVerdict`
    a file of one certificate about chains      none, or the file that it is about     `FileVerdict`
    a file of another certificate               its problem, or a file of it           `FileVerdict`
    one of the `files` of a `Certification`     the `Certification`                    `Verdict`
    a `Certificate`                             its `LinearProblem`, or a file of it   `Verdict`
    a `ChainCertificate`                        its `ChainQuestion`, or a file of it   `Verdict`
    ==========================================  =====================================  ===================

    For certificates of `certify`, the intervals are also derived again from the copies of study and poses, where the
    poses were read from files. An answer is true (`if gough.check(...):`) if all holds. `gough.checker.check` checks a
    `Certificate` without importing anything but the checker.

    Args:
        certificate: What to check.
        problem: What it is about, where the certificate does not say.
        study: Your own study file: it and its poses must equal the copies beside the certificates.
        on_progress: Called with a `Progress` before each certificate of a folder.

    Raises:
        InputError: there is nothing to check, a file cannot be read, or the problem is missing.
        AssumptionError: the problem does not state bounds.
    """
    own = None if study is None else as_path(study, "study")
    if isinstance(certificate, str | Path):
        return _check_path(Path(certificate), problem, own, on_progress)
    if isinstance(certificate, Certification):
        require(problem is None, "an answer of certify states what it is about: leave out the problem")
        return _check_written(certificate, own)
    require(own is None, "study belongs to files and answers of certify: leave it out")
    if isinstance(certificate, CertificateFile):
        return _check_one(certificate, problem)
    if isinstance(certificate, ChainCertificate):
        question = load_question(problem) if isinstance(problem, str | Path) else problem
        how = "gough.checker.load_question(path), or take it from the questions of the answer of certify"
        return check_chains(certificate, _question(question, how))
    expected = "a path, a certificate, or what certify returned"
    instance(certificate, "certificate", Certificate, expected, 'gough.check("results-certified")')
    read = _read_problem(Path(problem)) if isinstance(problem, str | Path) else problem
    return checker.check(certificate, instance(read, "problem", LinearProblem, *_LINEAR))


_LINEAR = ("the LinearProblem that the certificate is about", "gough.data.read_problem(path)")


def _question(value: Any, how: str) -> Any:
    """What a certificate about chains is about: a question, or a problem that asks one."""
    try:
        return question_of(value)
    except AttributeError as error:
        raise refused("problem", value, "the ChainQuestion that the certificate is about", how) from error


def _check_path(path: Path, problem: Any, study: Path | None, on_progress: OnProgress) -> FileVerdict | FolderVerdict:
    """Verify a certificate, or all certificates of a folder."""
    require("\0" not in str(path), "a path has no character NUL")
    if not path.is_dir():
        return check_file(path, problem, study)
    require(problem is None, "the certificates of a folder are about files in it: leave out the problem")
    if heights := height_files(path):
        return check_height_folder(heights, study)
    return check_folder(path, study, binary_columns, on_progress=on_progress)


def _check_written(answer: Certification, study: Path | None, only: str | None = None) -> FolderVerdict:
    """Verify what `certify` returned by the files that a report of it would have."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, content in certificate_files(answer, folder).items():
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        return replace(check_folder(folder, study, binary_columns, only=only), folder=Path("certificates"))


def _check_one(file: CertificateFile, answer: Any) -> Verdict:
    """Verify one of the certificates that `certify` returned."""
    how = "gough.check(file, answer) with the answer of certify that has this file"
    instance(answer, "problem", Certification, "the Certification that the certificate is from", how)
    known = any(each.name == file.name and each.text == file.text for each in answer.files)
    require(known, f"the answer of certify has no such certificate {file.name}: write {how}")
    return _one_verdict(_check_written(answer, None, file.name), file.name)


_PARTS = {
    KIND: "a manifest of certificates",
    OLD_MEASUREMENTS: "the file of measurements that certificates are about",
    EQUATIONS: "the file of equations that certificates are about",
}
"""Files of gough certify that state nothing to check by themselves."""


def check_file(certificate: Path, problem: Any = None, study: Path | None = None) -> FileVerdict:
    """Verify one certificate in exact rational arithmetic.

    Args:
        certificate: The file.
        problem: The problem that it is about, or its file (.npz, .json or .csv); for chains by default the file beside
            it.
        study: Your own study file: it and its poses must equal the copies beside the certificate.

    Raises:
        InputError: the file is not a certificate, or it cannot be read, or the problem is not given.
    """
    kind = kind_of_file(certificate)
    if certificate.suffix.lower() == ".toml":
        raise InputError(
            f"{certificate} is a study, not a certificate: give the folder that gough certify wrote for it"
        )
    if kind in _PARTS:
        folder = command_line("gough", "check", certificate.parent)
        raise InputError(f"{certificate} is {_PARTS[kind]}, not a certificate: check its folder by {folder}")
    if kind == HEIGHTS:
        return _check_heights(certificate, problem, study)
    if kind in CERTIFICATES:
        listed = problem is None and _is_listed(certificate)
        if study is not None and not listed:
            raise InputError(f"{certificate} has no manifest beside it that lists it: leave out --study")
        return _from_sources(certificate, study) if listed else _from_question(certificate, problem)
    if problem is None:
        raise InputError(f"state the problem that {certificate} is about: an .npz or .json file, or a .csv table")
    if study is not None:
        raise InputError("--study belongs to certificates of gough certify: leave it out")
    if not isinstance(problem, str | Path):
        read = instance(problem, "problem", LinearProblem, *_LINEAR)
        return FileVerdict(certificate, None, checker.check(load(certificate), read), _bounds_and_prior(read))
    path = Path(problem)
    read = _read_problem(path)
    return FileVerdict(certificate, path, checker.check(load(certificate), read), _linear_premises(read, path))


def _check_heights(certificate: Path, problem: Any, study: Path | None) -> FileVerdict:
    """A certificate of probed heights: about the copies beside it, or about a printer.cfg."""
    require(problem is None or isinstance(problem, str | Path), "give the printer.cfg that the certificate is about")
    found = load_heights(certificate)
    if problem is None:
        checked = check_height_folder([certificate], study)
        sources = certificate.with_name(SOURCES)
        return FileVerdict(certificate, sources, _one_verdict(checked, certificate.name), checked.premises)
    require(study is None, "give the printer.cfg once: leave out --study")
    path = Path(problem)
    return FileVerdict(certificate, path, check_own(found, path), ())


def _read_problem(path: Path) -> LinearProblem:
    return (read_table if path.suffix.lower() == ".csv" else read_problem)(path)


def _is_listed(certificate: Path) -> bool:
    place = certificate.with_name(MANIFEST)
    return place.is_file() and certificate.name in load_manifest(place).names


def _from_sources(certificate: Path, study: Path | None) -> FileVerdict:
    """One certificate of a folder with a manifest."""
    checked = check_folder(certificate.parent, study, binary_columns, only=certificate.name)
    question = certificate.with_name(checked.about.get(certificate.name, MANIFEST))
    premises = (*checked.premises, *checked.notes, *([DERIVED] if checked.from_sources and checked else []))
    return FileVerdict(certificate, question, _one_verdict(checked, certificate.name), premises)


def _one_verdict(found: FolderVerdict, name: str) -> Verdict:
    """The verdict on one certificate, which does not hold if what it rests on does not."""
    verdict = found.verdicts.get(name)
    if verdict is not None and not found.faults:
        return verdict
    return Verdict(
        holds=False,
        reason="; ".join(found.faults),
        kind="certificate" if verdict is None else verdict.kind,
        statement=() if verdict is None else verdict.statement,
        rows=(),
        checked="its manifest, the sources and the question",
    )


def _from_question(certificate: Path, problem: Any) -> FileVerdict:
    """A certificate about chains, and the file or the question it is about, by default a file beside it."""
    chains = load_chains(certificate)
    if problem is not None and not isinstance(problem, str | Path):
        asked = _question(problem, "gough.checker.load_question(path)")
        return FileVerdict(certificate, None, check_chains(chains, asked), (*question_words(asked), NO_SOURCES))
    if problem is None:
        beside = {path.name: load_question(path) for path in questions_in(certificate.parent)}
        name = about(chains, beside)
        if not name:
            raise InputError(f"there is no file of equations of its chains beside {certificate}: state it")
        problem = certificate.with_name(name)
    question = load_question(problem)
    premises = (*question_words(question), NO_SOURCES)
    return FileVerdict(certificate, Path(problem), check_chains(chains, question), premises)


def _linear_premises(problem: LinearProblem, path: Path) -> tuple[str, ...]:
    """The problem's file, bounds and prior."""
    content = path.read_bytes()
    file = f"{path.name} ({digest_of(content)[:19]}…, {len(content)} bytes)"
    first = f"Problem: {file}, {problem.n_rows} rows, {len(problem.unknowns)} unknowns."
    decimals = (_decimals(content),) if path.suffix.lower() == ".csv" else ()
    return (first, *_bounds_and_prior(problem), *decimals)


def _bounds_and_prior(problem: LinearProblem) -> tuple[str, ...]:
    """Bounds and prior of a problem, in sentences."""
    names, prior, lines = problem.unknowns.names, problem.unknowns.bounds, list[str]()
    if isinstance(problem.noise, Bounded):
        radius, regressor = problem.noise.radius, problem.noise.regressor
        known = "" if regressor is None else f"; entries of W are known to ± {_range(regressor)}"
        lines.append(f"Bounds: |y − W θ| ≤ {_range(radius)}{known}.")
        sides = zip(names, prior.lower.tolist(), prior.upper.tolist(), strict=True)
        bounded = [f"{name} in [{low!r}, {high!r}]" for name, low, high in sides if abs(low) < inf or abs(high) < inf]
        lines.append(f"Prior: {', '.join(bounded) or 'none'}.")
    return tuple(lines)


def _range(values: Array) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low!r}" if low == high else f"{low!r} … {high!r}"


def _decimals(content: bytes) -> str:
    """How far the doubles of a table are the decimals that it states."""
    try:
        table = RawTable.of_csv(content)
        numbers = [x for place in range(len(table.heads)) for x in table.numbers(place)]
    except NotProven:
        return "The statement is about the doubles that the numbers of the table were read as."
    rounded = sum(as_double(x) is None for x in numbers)
    if not rounded:
        return f"The {len(numbers)} decimals of the table are doubles without rounding."
    many = f"{rounded} of {len(numbers)} decimals are not doubles"
    return f"The statement is about the doubles nearest to the decimals of the table: {many}."
