"""`gough check`: re-verify certificates in exact arithmetic."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from gough.certify import Verdict, check_chain, check_leg, load, load_chain, load_equations, load_leg, load_question
from gough.certify import check as checked
from gough.certify.chain_files import CHAIN, equations_name
from gough.certify.leg_files import CERTIFICATE, kind_of_file
from gough.core.errors import InputError
from gough.data import read_problem, read_table

MEASUREMENTS = "measurements.json"


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
    """Verify a certificate again in exact rational arithmetic. Exits with 1 if it does not hold."""
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
        typer.echo(json.dumps(_data(certificate, problem, verdict), ensure_ascii=False, indent=1))
    else:
        typer.echo(_in_words(verdict))
    if not verdict.holds:
        raise typer.Exit(1)


def _check_folder(folder: Path, problem: Path | None, *, as_json: bool) -> None:
    """All certificates about legs or chains in a folder, one line each."""
    kinds = {file: kind_of_file(file) for file in sorted(folder.glob("*.json"))}
    files = [file for file, kind in kinds.items() if kind in {CERTIFICATE, CHAIN}]
    if not files:
        words = "holds no certificates about legs or chains"
        raise InputError(f"{folder} {words}: give the folder that gough certify wrote them to")
    known: dict[Path, Any] = {}
    verdicts, problems, unreadable = {}, {}, []
    for file in files:
        try:
            verdicts[file], problems[file] = _about_machine(file, kinds[file], problem, known)
        except InputError as error:  # the others are judged all the same
            unreadable.append(str(error))
            continue
        if not as_json:
            lines = verdicts[file].statement
            shown = 2 if lines and lines[0].endswith(":") else 1
            states = f"{' '.join(lines[:shown])}{' …' if len(lines) > shown else ''}"
            said = states if verdicts[file].holds else verdicts[file].reason
            typer.echo(f"{'holds' if verdicts[file].holds else 'DOES NOT HOLD'}  {file.name}: {said}")
    if as_json:
        typer.echo(
            json.dumps([_data(file, problems[file], v) for file, v in verdicts.items()], ensure_ascii=False, indent=1)
        )
    failed = sum(not verdict.holds for verdict in verdicts.values())
    if not as_json:
        typer.echo(f"{len(verdicts) - failed} of {len(files)} certificates hold.")
    if unreadable:
        words = f"{len(unreadable)} of {len(files)} cannot be judged; get the original files, or certify again"
        raise InputError("\n".join([f"{words}:", *unreadable]))
    if failed:
        raise typer.Exit(1)


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


def _in_words(verdict: Verdict) -> str:
    answer = "The certificate holds" if verdict.holds else "The certificate does not hold"
    states = [f"  {line}" for line in verdict.statement]
    return "\n".join(
        [f"{verdict.kind} states:", *states, f"Checked: {verdict.checked}.", f"{answer}: {verdict.reason}."]
    )
