"""Images of several cameras, processed with a progress bar."""

from pathlib import Path

from gough.cli.campaigns import running
from gough.cli.progress import images_shown
from gough.report import results_folder
from gough.studies.rig import RigStudy, measure_rig
from gough.vision import Rig


def run_rig(
    shots: Path, rig: Rig, table: Path | None, out: Path, *, readings: str, workers: int | None, cluster: str
) -> RigStudy:
    """Measure all images of a rig, and write the results."""
    with (
        results_folder(out) as results,
        images_shown("finding the targets", "placing the cameras") as shown,
        running(workers, cluster, out) as executor,
    ):
        study = measure_rig(
            shots,
            rig,
            table,
            readings_in=column_names(readings),
            executor=executor,
            ledger=out,
            on_start=shown.start,
            on_image=shown,
        )
        results.write(study.files)
    return study


def column_names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]
