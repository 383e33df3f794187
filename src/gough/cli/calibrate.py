"""`gough calibrate`: a study or a printer's configuration in, the calibrated geometry and a report out."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.terminal import answer, console, say, tell
from gough.report import results_folder
from gough.report.calibration.page import calibration_documents, printer_documents
from gough.studies.calibration import CalibrationStudy


def calibrate(
    study: Annotated[
        Path, typer.Argument(help="Study file (TOML), or the printer.cfg of a printer that Klipper has calibrated.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results, instead of the study's: new, empty or from an earlier run."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Calibrate a robot's geometry from measured poses. Exits with 1 if the residuals exceed the stated noise."""
    asked = CalibrationStudy.read(study)
    folder = out or asked.folder
    lead = (asked.about,)
    with results_folder(folder) as results:
        if asked.table.printer is not None:
            printed = asked.calibrate_printer()
            files, account, refuted = printer_documents(asked.title, lead, printed), str(printed), False
        else:
            found = asked.calibrate()
            files, account, refuted = calibration_documents(asked.title, lead, found), str(found), found.refuted
        results.write(files)
    if as_json:
        answer(files["calibration.json"].decode())
    else:
        say(*asked.notes)
        tell(account)
        console().print(f"\nReport: {folder / 'report.html'}", style="bold", soft_wrap=True)
    if refuted:
        raise typer.Exit(1)
