"""`gough check`: verify certificates in exact rational arithmetic."""

import json
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.progress import parts_shown
from gough.cli.terminal import answer, say
from gough.studies.checking import check as check_files
from gough.studies.verified import check_by_both


def check(
    certificate: Annotated[
        Path, typer.Argument(help="Certificate (.json), or a folder of certificates written by gough certify.")
    ],
    problem: Annotated[
        Path | None,
        typer.Argument(
            help="Problem that it is about (.npz, .json or .csv); default for legs and chains: the file beside it."
        ),
    ] = None,
    *,
    study: Annotated[
        Path | None,
        typer.Option(help="Your own study file (TOML): it and its poses must equal the copies in the folder."),
    ] = None,
    verified: Annotated[
        bool, typer.Option(help="Ask the checker that is proven in Coq (gough-proof-check) too; see docs/trust.md.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the verdict as JSON and nothing else.")] = False,
) -> None:
    """Verify certificates again in exact rational arithmetic.

    For folders and certificates of gough certify, the intervals are also derived again from the copies of study and
    poses.

    What the study asks for and no certificate states is listed as NOT CERTIFIED.

    Exit codes: 0, every certificate and file holds; 1, a certificate does not hold, or a file of a folder is missing,
    changed, unreadable or not listed in its manifest; 2, there is nothing to check or a given file cannot be read.
    """
    with parts_shown("reading") as on_progress:
        found = (check_by_both if verified else check_files)(certificate, problem, study=study, on_progress=on_progress)
    if as_json:
        answer(json.dumps(found.to_dict(), ensure_ascii=False, indent=1))
    else:
        say(*found.lines, wrap=True)
    if not found:
        raise typer.Exit(1)
