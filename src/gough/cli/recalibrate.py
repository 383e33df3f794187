"""`gough recalibrate`: find what changed since a calibration, from a few poses of another day."""

from pathlib import Path
from typing import Annotated

import typer

from gough.cli.options import AsJson, StudyFolder
from gough.cli.progress import working
from gough.cli.terminal import show_results
from gough.geometry.days import LEVEL
from gough.report import results_folder
from gough.studies.recalibration import Recalibration


def recalibrate(
    calibrated: Annotated[
        Path, typer.Argument(help="Study that gough calibrate has run, its folder of results, or a geometry.toml.")
    ],
    poses: Annotated[Path, typer.Option(help="Poses of the day, 6 to 12: CSV, Parquet, .mat or .npz.")],
    validation: Annotated[
        Path | None, typer.Option(help="Other poses of the day, to test the result.", show_default=False)
    ] = None,
    out: StudyFolder = None,
    *,
    level: Annotated[
        float, typer.Option(min=1e-6, max=0.5, help="Probability with which a true explanation is rejected.")
    ] = LEVEL,
    as_json: AsJson = False,
) -> None:
    """Find what changed since a calibration, with the fewest unknowns that explain a few poses of another day.

    Compared are: nothing, the zero or the gain of one chain, the zeros of all chains, the instrument's frame, the
    target's frame, and both frames. The result is a geometry.toml of the day. Exits with 1 if none of them explains
    the poses.
    """
    asked = Recalibration.read(calibrated)
    folder = out or asked.folder
    with results_folder(folder) as results, working("comparing what may have changed") as now:
        answer = asked.recalibrate(poses, validation, level)
        now("drawing the report")
        files = asked.files(answer, poses)
        results.write(files)
    places = {"Geometry": "geometry.toml"} if answer.is_explained else {}
    show_results(folder, files, json="recalibration.json" if as_json else "", text=str(answer), places=places)
    if not answer.is_explained:
        raise typer.Exit(1)
