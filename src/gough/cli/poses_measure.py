"""`gough poses measure`: poses of a target from images, with covariances."""

from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from gough.cli.progress import progress_bar
from gough.cli.terminal import answer, console, say
from gough.core.errors import require
from gough.report import results_folder
from gough.studies.vision_poses import PoseStudy, measure_from
from gough.vision import image_files, read_camera, read_target

_SHOWN = 12


def measure(
    images: Annotated[list[Path], typer.Argument(help="Images of the target, or folders that contain them.")],
    camera: Annotated[Path, typer.Option(help="Camera file written by gough camera calibrate.")],
    description: Annotated[
        Path | None, typer.Option("--target", help="Description of the target; default: the one in the camera file.")
    ] = None,
    table: Annotated[
        Path | None,
        typer.Option(help="The robot's readings: CSV file with the columns image, configuration, run, l1, l2, …"),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the results: new, empty or from an earlier run.")] = Path(
        "measured"
    ),
    *,
    jobs: Annotated[int, typer.Option(min=1, help="Number of parallel processes.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")] = False,
) -> None:
    """Measure poses from images: poses.csv for gough calibrate, repeatability, and reasons for rejected images.

    Images of one configuration are recognized by their names (c017-r03-i05.png: configuration 17, run 3) or by
    --table.
    """
    lens, calibrated_with = read_camera(camera)
    sheet = calibrated_with if description is None else read_target(description)
    require(sheet is not None, f"{camera} does not say which target: add --target target.toml")
    assert sheet is not None
    files = image_files(images)
    workers = ProcessPoolExecutor(jobs) if jobs > 1 else nullcontext()
    with results_folder(out) as results, progress_bar() as progress, workers as executor:
        task = progress.add_task("measuring", total=len(files))
        found = measure_from(
            files, sheet, lens, table, executor=executor, on_image=lambda done: progress.update(task, completed=done)
        )
        results.write(found.files)
    if as_json:
        answer(found.files["poses.json"].decode())
        return
    say(*_account(found))
    console().print(f"\nPoses: {out / 'poses.csv'}", style="bold", soft_wrap=True)
    console().print(f"Report: {out / 'report.html'}", style="bold", soft_wrap=True)


def _account(found: PoseStudy) -> list[str]:
    images = found.images
    sigma = np.median([pose.sigma for pose in images.measured], axis=0)
    noise = float(np.median([pose.noise for pose in images.measured]))
    total = len(images) + len(images.rejected)
    axes = ", ".join(f"{1e6 * s:.1f}" for s in sigma[:3])
    turns = ", ".join(f"{np.degrees(s):.4f}" for s in sigma[3:])
    lines = [
        f"{len(images)} of {total} images give a pose; centroids are good to {noise:.4f} px.",
        f"Typical standard deviations: {axes} µm in x, y, z; {turns}° about them.",
    ]
    if found.repeatability is not None:
        lines += ["", "Repeatability in m and rad:", *str(found.repeatability).split("\n")]
    if images.rejected:
        lines += ["", "No pose:", *(f"  {name}: {why}" for name, why in images.rejected[:_SHOWN])]
        if len(images.rejected) > _SHOWN:
            lines.append(f"  … and {len(images.rejected) - _SHOWN} more, in the report")
    return lines
