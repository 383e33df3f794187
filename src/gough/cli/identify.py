"""`gough identify`: identify a robot from recordings, and write a report."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.options import AsJson, StudyFolder
from gough.cli.progress import steps_shown
from gough.cli.terminal import console, say, show_results
from gough.report import results_folder
from gough.report.identification.terminal import show
from gough.studies import IdentificationStudy


def identify(
    study: Annotated[Path, typer.Argument(help="Study file (TOML); gough new writes one.")],
    out: StudyFolder = None,
    *,
    complete: Annotated[
        bool, typer.Option("--complete", help="Use every method of the default, however long it takes.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Identify a robot from recordings. Exits with 1 if the data refute the stated error bound or the model.

    The model is refuted if it is not adequate, or if the parameters are not physically possible.

    Of many parameters, methods that the study does not ask for are left out where they would take more than three
    times as long as the statistical ones; the answer lists them. Methods that it states in [methods] are always used.
    """
    asked = IdentificationStudy.read(study)
    folder = out or asked.folder
    with results_folder(folder) as results, steps_shown() as on_step:
        identified = asked.identify(on_step, complete=complete)
        on_step.write()
        files = asked.files(identified)
        results.write(files)
    if not as_json:
        say(*asked.notes)
        show(console(), identified)
    show_results(folder, files, json="estimate.json" if as_json else "", text="")
    if identified.is_refuted:
        raise typer.Exit(1)
