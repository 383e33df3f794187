"""Certificates in files: the verdict on one file or a folder, with the data that its statement is about."""

from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Any

from gough.checker import Verdict, check, check_chains, load, load_chains, load_question
from gough.checker.chain_files import CERTIFICATES, EQUATIONS, OLD_MEASUREMENTS
from gough.checker.folders import DERIVED, NO_SOURCES, FolderVerdict, about, check_folder, questions_in
from gough.checker.linear import NotProven
from gough.checker.manifest import KIND, MANIFEST, digest_of, load_manifest
from gough.checker.raw import question_words
from gough.checker.raw_data import RawTable
from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rational import as_double
from gough.core.sealed import kind_of_file
from gough.core.text import command_line
from gough.data import read_problem, read_table
from gough.data.pose_files import binary_columns
from gough.noise import Bounded
from gough.problem import LinearProblem


@dataclass(frozen=True)
class FileVerdict:
    """The verdict on one certificate file. It is true (`if verdict:`) if the certificate holds."""

    certificate: Path
    problem: Path
    """The file that the certificate is about."""
    verdict: Verdict
    premises: tuple[str, ...]
    """Data, bounds and prior that the statement is about, in sentences."""

    def __bool__(self) -> bool:
        return self.verdict.holds

    @property
    def lines(self) -> tuple[str, ...]:
        """The verdict as text, line by line."""
        return (*self.premises, *str(self.verdict).splitlines())

    def to_dict(self) -> dict[str, Any]:
        """The verdict as plain data."""
        files = {"certificate": str(self.certificate), "problem": str(self.problem)}
        return {**files, **asdict(self.verdict), "premises": self.premises}


def check_path(path: Path, problem: Path | None = None, study: Path | None = None) -> FileVerdict | FolderVerdict:
    """Verify a certificate, or all certificates of a folder; see `check_file` and `gough.checker.check_folder`.

    Raises:
        InputError: there is nothing to check, or a file cannot be read.
    """
    if not path.is_dir():
        return check_file(path, problem, study)
    if problem is not None:
        raise InputError(f"the certificates of a folder are about files in it: leave out {problem}")
    return check_folder(path, study, binary_columns)


_PARTS = {
    KIND: "a manifest of certificates",
    OLD_MEASUREMENTS: "the file of measurements that certificates are about",
    EQUATIONS: "the file of equations that certificates are about",
}
"""Files of gough certify that state nothing to check by themselves."""


def check_file(certificate: Path, problem: Path | None = None, study: Path | None = None) -> FileVerdict:
    """Verify one certificate in exact rational arithmetic.

    Args:
        certificate: The file.
        problem: The problem that it is about (.npz, .json or .csv); for chains by default the file beside it.
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
    if kind in CERTIFICATES:
        listed = problem is None and _is_listed(certificate)
        if study is not None and not listed:
            raise InputError(f"{certificate} has no manifest beside it that lists it: leave out --study")
        return _from_sources(certificate, study) if listed else _from_question(certificate, problem)
    if problem is None:
        raise InputError(f"state the problem that {certificate} is about: an .npz or .json file, or a .csv table")
    if study is not None:
        raise InputError("--study belongs to certificates of gough certify: leave it out")
    is_table = problem.suffix.lower() == ".csv"
    read = (read_table if is_table else read_problem)(problem)
    premises = _linear_premises(read, problem, is_table=is_table)
    return FileVerdict(certificate, problem, check(load(certificate), read), tuple(premises))


def _is_listed(certificate: Path) -> bool:
    place = certificate.with_name(MANIFEST)
    return place.is_file() and certificate.name in load_manifest(place).names


def _from_sources(certificate: Path, study: Path | None) -> FileVerdict:
    """One certificate of a folder with a manifest."""
    checked = check_folder(certificate.parent, study, binary_columns, only=certificate.name)
    question = certificate.with_name(checked.about.get(certificate.name, MANIFEST))
    verdict = checked.verdicts.get(certificate.name)
    if verdict is None or checked.faults:
        kind = "certificate" if verdict is None else verdict.kind
        statement = () if verdict is None else verdict.statement
        checked_files = "its manifest, the sources and the question"
        verdict = Verdict(
            holds=False,
            reason="; ".join(checked.faults),
            kind=kind,
            statement=statement,
            rows=(),
            checked=checked_files,
        )
    premises = (*checked.premises, *checked.notes, *([DERIVED] if checked.from_sources and checked else []))
    return FileVerdict(certificate, question, verdict, premises)


def _from_question(certificate: Path, problem: Path | None) -> FileVerdict:
    """A certificate about chains, and the file it is about, by default one beside it."""
    chains = load_chains(certificate)
    if problem is None:
        beside = {path.name: load_question(path) for path in questions_in(certificate.parent)}
        name = about(chains, beside)
        if not name:
            raise InputError(f"there is no file of equations of its chains beside {certificate}: state it")
        problem = certificate.with_name(name)
    question = load_question(problem)
    premises = (*question_words(question), NO_SOURCES)
    return FileVerdict(certificate, problem, check_chains(chains, question), premises)


def _linear_premises(problem: LinearProblem, path: Path, *, is_table: bool) -> list[str]:
    """The problem's file, bounds and prior."""
    content = path.read_bytes()
    names, prior = problem.unknowns.names, problem.unknowns.bounds
    file = f"{path.name} ({digest_of(content)[:19]}…, {len(content)} bytes)"
    lines = [f"Problem: {file}, {problem.n_rows} rows, {len(names)} unknowns."]
    if isinstance(problem.noise, Bounded):
        radius, regressor = problem.noise.radius, problem.noise.regressor
        known = "" if regressor is None else f"; entries of W are known to ± {_range(regressor)}"
        lines.append(f"Bounds: |y − W θ| ≤ {_range(radius)}{known}.")
        sides = zip(names, prior.lower.tolist(), prior.upper.tolist(), strict=True)
        bounded = [f"{name} in [{low!r}, {high!r}]" for name, low, high in sides if abs(low) < inf or abs(high) < inf]
        lines.append(f"Prior: {', '.join(bounded) or 'none'}.")
    return [*lines, _decimals(content)] if is_table else lines


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
