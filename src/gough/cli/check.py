"""`gough check`: re-verify a certificate in exact arithmetic."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gough.certify import Verdict, load
from gough.certify import check as checked
from gough.data import read_problem, read_table


def check(
    certificate: Annotated[Path, typer.Argument(help="The certificate, a .json file.")],
    problem: Annotated[Path, typer.Argument(help="The problem it speaks about: an .npz file, or a .csv table.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON.")] = False,
) -> None:
    """Re-verify a certificate in exact arithmetic, trusting no method. Exit code 1 if it does not hold."""
    read = read_table if problem.suffix.lower() == ".csv" else read_problem
    verdict = checked(load(certificate), read(problem))
    if as_json:
        files = {"certificate": str(certificate), "problem": str(problem)}
        typer.echo(json.dumps({**files, **asdict(verdict)}, ensure_ascii=False, indent=1))
    else:
        typer.echo(_in_words(verdict))
    if not verdict.holds:
        raise typer.Exit(1)


def _in_words(verdict: Verdict) -> str:
    answer = "The certificate holds" if verdict.holds else "The certificate does not hold"
    states = [f"  {line}" for line in verdict.statement]
    return "\n".join(
        [f"{verdict.kind} states:", *states, f"Checked: {verdict.checked}.", f"{answer}: {verdict.reason}."]
    )
