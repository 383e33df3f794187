"""Images of several cameras, processed with a progress bar."""

from pathlib import Path

from gough.cli.campaigns import running
from gough.cli.progress import progress_bar
from gough.report import results_folder
from gough.studies.rig import RigStudy, measure_rig
from gough.vision import Rig


def run_rig(
    shots: Path, rig: Rig, table: Path | None, out: Path, *, readings: str, workers: int | None, cluster: str
) -> RigStudy:
    """Measure all images of a rig, and write the results."""
    with (
        results_folder(out) as results,
        progress_bar() as progress,
        running(workers, cluster, out) as executor,
    ):
        task = progress.add_task("finding the targets", total=None)

        def show(done: int) -> None:
            progress.update(task, completed=done)

        study = measure_rig(
            shots,
            rig,
            table,
            readings_in=column_names(readings),
            executor=executor,
            ledger=out,
            on_start=lambda total: progress.update(task, total=total),
            on_image=show,
        )
        results.write(study.files)
    return study


def column_names(text: str) -> list[str]:
    """Names between commas."""
    return [name.strip() for name in text.split(",") if name.strip()]
