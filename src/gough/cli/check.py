"""`gough check`: re-verify certificates in exact arithmetic."""

import json
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.checker import Verdict, check_chains, load, load_chains, load_question
from gough.checker import check as checked
from gough.checker.chain_files import CERTIFICATES, EQUATIONS, OLD_MEASUREMENTS, kind_of_file
from gough.checker.folders import NO_SOURCES, FolderVerdict, about, check_folder, questions_in
from gough.checker.linear import NotProven
from gough.checker.manifest import KIND, MANIFEST, digest_of, load_manifest
from gough.checker.raw import question_words
from gough.checker.raw_data import RawTable
from gough.checker.words import summary
from gough.cli.terminal import answer, command_line, say
from gough.core.arrays import Array
from gough.core.errors import InputError
from gough.core.rational import as_double
from gough.data import read_problem, read_table
from gough.data.pose_files import binary_columns
from gough.noise import Bounded
from gough.problem import LinearProblem


def check(
    certificate: Annotated[
        Path, typer.Argument(help="Certificate (.json), or a folder of certificates written by gough certify.")
    ],
    problem: Annotated[
        Path | None,
        typer.Argument(
            help="Problem that it is about (.npz or .csv); default for legs and chains: the file beside it."
        ),
    ] = None,
    *,
    study: Annotated[
        Path | None,
        typer.Option(help="Your own study file (TOML): it and its poses must equal the copies in the folder."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON and nothing else.")] = False,
) -> None:
    """Verify certificates again in exact rational arithmetic.

    For folders and certificates of gough certify, the intervals are also derived again from the copies of study and
    poses.

    Exit codes: 0, everything holds; 1, a certificate does not hold, or a file of a folder is missing, changed,
    unreadable or not listed in its manifest; 2, there is nothing to check or a given file cannot be read.
    """
    if certificate.is_dir():
        if problem is not None:
            raise InputError(f"the certificates of a folder speak about files in it: leave out {problem}")
        found = check_folder(certificate, study, binary_columns)
        _report_folder(found, as_json=as_json)
        if not found:
            raise typer.Exit(1)
        return
    verdict, about, premises = _judged(certificate, problem, study)
    if as_json:
        told = {**_data(certificate, about, verdict), "premises": premises}
        answer(json.dumps(told, ensure_ascii=False, indent=1))
    else:
        say(*premises, *str(verdict).splitlines())
    if not verdict.holds:
        raise typer.Exit(1)


_PARTS = {
    KIND: "a manifest of certificates",
    OLD_MEASUREMENTS: "the file of measurements that certificates are about",
    EQUATIONS: "the file of equations that certificates are about",
}
"""Files of gough certify that state nothing to check by themselves."""


def _judged(certificate: Path, problem: Path | None, study: Path | None) -> tuple[Verdict, Path, list[str]]:
    """The verdict on one certificate, the file it speaks about, and what its statement is about."""
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
        raise InputError(f"say which problem {certificate} speaks about: an .npz file, or a .csv table")
    if study is not None:
        raise InputError("--study belongs to certificates of gough certify: leave it out")
    is_table = problem.suffix.lower() == ".csv"
    read = (read_table if is_table else read_problem)(problem)
    return checked(load(certificate), read), problem, _linear_premises(read, problem, is_table=is_table)


def _is_listed(certificate: Path) -> bool:
    place = certificate.with_name(MANIFEST)
    return place.is_file() and certificate.name in load_manifest(place).names


def _from_sources(certificate: Path, study: Path | None) -> tuple[Verdict, Path, list[str]]:
    """One certificate of a folder with a manifest."""
    found = check_folder(certificate.parent, study, binary_columns, only=certificate.name)
    question = certificate.with_name(found.about.get(certificate.name, MANIFEST))
    verdict = found.verdicts.get(certificate.name)
    if verdict is None or found.faults:
        kind = "certificate" if verdict is None else verdict.kind
        statement = () if verdict is None else verdict.statement
        checked_files = "its manifest, the sources and the question"
        verdict = Verdict(
            holds=False, reason="; ".join(found.faults), kind=kind, statement=statement, rows=(), checked=checked_files
        )
    derived = [_DERIVED] if found.from_sources and found else []
    return verdict, question, [*found.premises, *found.notes, *derived]


def _from_question(certificate: Path, problem: Path | None) -> tuple[Verdict, Path, list[str]]:
    """A certificate about chains and the file it speaks about, by default one beside it."""
    chains = load_chains(certificate)
    if problem is None:
        beside = {path.name: load_question(path) for path in questions_in(certificate.parent)}
        name = about(chains, beside)
        if not name:
            raise InputError(f"there is no file of equations of its chains beside {certificate}: say where it is")
        problem = certificate.with_name(name)
    question = load_question(problem)
    return check_chains(chains, question), problem, [*question_words(question), NO_SOURCES]


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
    many = f"{rounded} of {len(numbers)} decimals are no doubles"
    return f"The statement is about the doubles nearest to the decimals of the table: {many}."


_DERIVED = (
    "Derived from the sources in exact arithmetic: the question contains every stated interval, and what is exhibited "
    "lies within them."
)


def _report_folder(found: FolderVerdict, *, as_json: bool) -> None:
    """All certificates about legs or chains in a folder, one line each."""
    if not as_json:
        say(*_folder_in_words(found))
        return
    told: dict[str, Any] = {"holds": found.holds, "n_certificates": found.n_certificates, "faults": found.faults}
    told |= {"premises": found.premises, "notes": found.notes, "from_sources": found.from_sources}
    place, verdicts = found.folder, found.verdicts.items()
    told["certificates"] = [_data(place / name, place / found.about[name], verdict) for name, verdict in verdicts]
    answer(json.dumps(told, ensure_ascii=False, indent=1))


_WHOLE = "Where a statement ends with …, gough check CERTIFICATE.json prints all of it."


def _folder_in_words(found: FolderVerdict) -> list[str]:
    lines = [*found.premises, ""] if found.premises else []
    for name, verdict in found.verdicts.items():
        states = summary(verdict.statement)
        holds = "holds by itself" if found.faults else "holds"
        lines.append(f"{holds}  {name}: {states}" if verdict else f"DOES NOT HOLD  {name}: {verdict.reason}")
    lines += [f"DOES NOT HOLD  {fault}" for fault in found.faults]
    lines += [_WHOLE] if any(summary(verdict.statement).endswith("…") for verdict in found.verdicts.values()) else []
    lines += [*found.notes, *([_DERIVED] if found.from_sources and found else [])]
    good = sum(map(bool, found.verdicts.values()))
    if not found.faults:
        return [*lines, f"{good} of {found.n_certificates} certificates hold."]
    alone = f"By themselves, {good} of {found.n_certificates} certificates hold."
    many = f"{len(found.faults)} files are" if len(found.faults) > 1 else "1 file is"
    faulty = f"{many} missing, changed, unreadable, not listed or not derived"
    return [*lines, f"The folder does not hold: {faulty}. {alone}"]


def _data(certificate: Path, problem: Path, verdict: Verdict) -> dict[str, Any]:
    return {"certificate": str(certificate), "problem": str(problem), **asdict(verdict)}
