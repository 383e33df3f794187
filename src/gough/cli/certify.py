"""`gough certify`: a study in, proofs with certificates and a report out."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.progress import steps_shown
from gough.cli.terminal import answer, command_line, console, say, tell
from gough.report import results_folder
from gough.report.certification import certification_documents
from gough.studies.calibration import CalibrationStudy


def certify(
    study: Annotated[
        Path, typer.Argument(help="Study file (TOML); its table \\[certify] or \\[noise] gives the intervals.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results, instead of the study's: new, empty or from an earlier run."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Prove whether any geometry fits the measured poses within their intervals. Exits with 1 if none does."""
    asked = CalibrationStudy.read(study)
    folder = out or asked.folder.with_name(f"{asked.folder.name}-certified")
    with results_folder(folder) as results, steps_shown() as on_step:
        found = asked.certify(on_step)
        title = asked.table.output.title or f"Certification of {study.name}"
        files = certification_documents(title, asked.premises, found, folder)
        results.write(files)
    if as_json:
        answer(files["certification.json"].decode())
    else:
        say(*asked.notes, *asked.premises)
        tell(str(found))
        console().print(f"\nReport: {folder / 'report.html'}", style="bold", soft_wrap=True)
        say(f"Check the proofs again: {command_line('gough', 'check', folder / 'certificates')}")
    if found.refuted:
        raise typer.Exit(1)
