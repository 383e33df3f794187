"""`gough calibrate`: calibrate a robot or a delta printer, and write a report."""

from pathlib import Path
from typing import Annotated, Any

import typer

from gough.cli.options import AsJson, StudyFolder
from gough.cli.progress import working
from gough.cli.terminal import show_results
from gough.report import results_folder
from gough.studies.instruments import calibration_study


def calibrate(
    study: Annotated[
        Path, typer.Argument(help="Study file (TOML), or the printer.cfg of a printer that Klipper has calibrated.")
    ],
    out: StudyFolder = None,
    *,
    as_json: AsJson = False,
) -> None:
    """Calibrate a robot's geometry from measured poses or by any instruments.

    Exits with 1 if the residuals exceed the stated noise, or if the blueprint shows that the data are read wrong, such
    as legs in another order.
    """
    asked: Any = calibration_study(study)
    folder = out or asked.folder
    with results_folder(folder) as results, working("calibrating") as now:
        answer = asked.calibrate()
        now("drawing the report")
        files = asked.files(answer)
        results.write(files)
    text = "\n".join((*asked.notes, str(answer)))
    show_results(folder, files, json="calibration.json" if as_json else "", text=text)
    if answer.refuted:
        raise typer.Exit(1)
