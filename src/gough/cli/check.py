"""`gough check`: re-verify certificates in exact arithmetic."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.certify import Verdict, check_chain, check_leg, load, load_chain, load_equations, load_leg, load_question
from gough.certify import check as checked
from gough.certify.chain_files import CHAIN, equations_name
from gough.certify.folders import MEASUREMENTS, FolderVerdict, check_folder
from gough.certify.leg_files import CERTIFICATE, kind_of_file
from gough.cli.terminal import answer, say
from gough.core.errors import InputError
from gough.data import read_problem, read_table


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
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON and nothing else.")] = False,
) -> None:
    """Verify certificates again in exact rational arithmetic.

    Exit codes: 0, everything holds; 1, a certificate does not hold, or a file of a folder is missing, changed,
    unreadable or not listed in its manifest; 2, there is nothing to check or a given file cannot be read.
    """
    if certificate.is_dir():
        _check_folder(certificate, problem, as_json=as_json)
        return
    kind = kind_of_file(certificate)
    if kind in {CERTIFICATE, CHAIN}:
        verdict, problem = _about_machine(certificate, kind, problem, {})
    else:
        if problem is None:
            raise InputError(f"say which problem {certificate} speaks about: an .npz file, or a .csv table")
        read = read_table if problem.suffix.lower() == ".csv" else read_problem
        verdict = checked(load(certificate), read(problem))
    if as_json:
        answer(json.dumps(_data(certificate, problem, verdict), ensure_ascii=False, indent=1))
    else:
        say(*_in_words(verdict))
    if not verdict.holds:
        raise typer.Exit(1)


def _check_folder(folder: Path, problem: Path | None, *, as_json: bool) -> None:
    """All certificates about legs or chains in a folder, one line each."""
    if problem is not None:
        raise InputError(f"the certificates of a folder speak about files in it: leave out {problem}")
    found = check_folder(folder)
    if as_json:
        certificates = [_data(folder / name, folder / found.about[name], v) for name, v in found.verdicts.items()]
        told = {
            "holds": found.holds,
            "n_certificates": found.n_certificates,
            "faults": found.faults,
            "notes": found.notes,
            "certificates": certificates,
        }
        answer(json.dumps(told, ensure_ascii=False, indent=1))
    else:
        say(*_folder_in_words(found))
    if not found:
        raise typer.Exit(1)


def _folder_in_words(found: FolderVerdict) -> list[str]:
    lines = []
    for name, verdict in found.verdicts.items():
        shown = 2 if verdict.statement and verdict.statement[0].endswith(":") else 1
        states = f"{' '.join(verdict.statement[:shown])}{' …' if len(verdict.statement) > shown else ''}"
        said = f"holds  {name}: {states}" if verdict else f"DOES NOT HOLD  {name}: {verdict.reason}"
        lines.append(said)
    lines += [f"DOES NOT HOLD  {fault}" for fault in found.faults]
    good = sum(map(bool, found.verdicts.values()))
    lines += found.notes
    lines.append(f"{good} of {found.n_certificates} certificates hold.")
    if found.faults:
        many = f"{len(found.faults)} files are" if len(found.faults) > 1 else "1 file is"
        lines.append(f"The folder does not hold: {many} missing, changed, unreadable or not listed.")
    return lines


def _about_machine(file: Path, kind: str, problem: Path | None, known: dict[Path, Any]) -> tuple[Verdict, Path]:
    """The verdict on a certificate about legs or a chain, and the file it speaks about, by default beside it."""
    if kind == CERTIFICATE:
        place = problem or file.with_name(MEASUREMENTS)
        question = known[place] if place in known else known.setdefault(place, load_question(place))
        return check_leg(load_leg(file), question), place
    certificate = load_chain(file)
    place = problem or file.with_name(equations_name(certificate.chain))
    equations = known[place] if place in known else known.setdefault(place, load_equations(place))
    return check_chain(certificate, equations), place


def _data(certificate: Path, problem: Path, verdict: Verdict) -> dict[str, Any]:
    return {"certificate": str(certificate), "problem": str(problem), **asdict(verdict)}


def _in_words(verdict: Verdict) -> list[str]:
    judged = "The certificate holds" if verdict.holds else "The certificate does not hold"
    states = [f"  {line}" for line in verdict.statement]
    return [f"{verdict.kind} states:", *states, f"Checked: {verdict.checked}.", f"{judged}: {verdict.reason}."]
