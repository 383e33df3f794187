"""`gough identify`: a study in, tables and a report out."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.progress import steps_shown
from gough.cli.terminal import answer, console
from gough.report import documents, report_on, results_folder
from gough.report.identification.shown import show
from gough.studies import IdentificationStudy


def identify(
    study: Annotated[Path, typer.Argument(help="Study file (TOML); gough new writes one.")],
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the results, instead of the study's: new, empty or from an earlier run."),
    ] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Identify a robot from recordings. Exits with 1 if the data refute the stated error bound or the model.

    The model is refuted if the verdict is that it is not adequate.
    """
    asked = IdentificationStudy.read(study)
    folder = out or asked.folder
    with results_folder(folder) as results, steps_shown() as on_step:
        identified = asked.identify(on_step)
        files = documents(report_on(asked.title, (asked.about,), identified))
        results.write(files)
    if as_json:
        answer(files["estimate.json"].decode())
    else:
        show(console(), identified)
        console().print(f"\nReport: {folder / 'report.html'}", style="bold", soft_wrap=True)
    if identified.is_refuted:
        raise typer.Exit(1)
