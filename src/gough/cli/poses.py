"""`gough poses`: choose the poses of a calibration, or measure them from images."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from gough.cli.campaigns import running
from gough.cli.options import (
    AsJson,
    Cluster,
    Images,
    ReadingColumns,
    ResultsFolder,
    SizeSigma,
    StudyFolder,
    TableFile,
    Workers,
)
from gough.cli.progress import images_shown, starts_shown, working
from gough.cli.rigs import column_names, run_rig
from gough.cli.terminal import show_results
from gough.core.errors import require
from gough.report import results_folder
from gough.report.poses.words import account
from gough.studies.pose_selection import CONFIGURATIONS, PoseSelectionStudy
from gough.studies.vision import measure_from
from gough.vision import image_files, read_camera, read_rig, read_target
from gough.vision.frames import with_stills

_DEFAULT = "select"


class _SelectByDefault(TyperGroup):
    """`gough poses study.toml` means `gough poses select study.toml`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


poses = typer.Typer(
    cls=_SelectByDefault,
    no_args_is_help=True,
    help="Choose the poses of a calibration, or measure them from images. `gough poses study.toml --count 16` is short "
    "for `gough poses select study.toml --count 16`; see gough poses select --help.",
)


@poses.callback()
def _group() -> None: ...


@poses.command(_DEFAULT)
def select(
    study: Annotated[
        Path, typer.Argument(help="Study file (TOML) with the tables \\[robot], \\[noise] and \\[selection].")
    ],
    *,
    count: Annotated[int | None, typer.Option(min=1, help="Number of poses; default: twice the minimum.")] = None,
    target: Annotated[
        str | None,
        typer.Option(help='Required accuracy of predicted positions, e.g. "0.05 mm": finds the number of poses.'),
    ] = None,
    criterion: Annotated[
        str | None, typer.Option(help="Criterion: D, A, E or pose (accuracy of predicted positions).")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Random seed.")] = None,
    out: StudyFolder = None,
    workers: Workers = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Choose the configurations to measure; Ctrl-C keeps the best so far. Exits with 1 if the target cannot be met.

    Finished starts are kept in the folder of the results: the same command continues a search that was stopped.
    """
    asked = PoseSelectionStudy.read(study, count=count, target=target, criterion=criterion, seed=seed)
    folder = out or asked.folder
    with results_folder(folder) as results:
        with starts_shown("drawing candidates") as on_progress, running(workers, cluster, folder) as executor:
            chosen = asked.choose(on_progress, executor=executor, ledger=folder)
        with working("drawing the report"):
            files = asked.files(chosen)
        results.write(files)
    text = "\n".join((*asked.notes, *asked.premises, account(chosen.selection, chosen.rivals, chosen.curve)))
    name = "selection.json" if as_json else ""
    show_results(folder, files, json=name, text=text, places={"Configurations": CONFIGURATIONS})
    if chosen.curve is not None and chosen.curve.selection is None:
        raise typer.Exit(1)


@poses.command()
def measure(
    images: Images,
    camera: Annotated[Path | None, typer.Option(help="Camera file written by gough camera calibrate.")] = None,
    description: Annotated[
        Path | None, typer.Option("--target", help="Description of the target; default: the one in the camera file.")
    ] = None,
    table: TableFile = None,
    out: ResultsFolder = Path("measured"),
    *,
    rig: Annotated[
        Path | None,
        typer.Option(help="Rig file written by gough camera rig, instead of --camera: poses from several cameras."),
    ] = None,
    bound: Annotated[
        float | None,
        typer.Option(help="Largest error of a centroid in pixels: adds guaranteed half-widths of poses, h1 … h6."),
    ] = None,
    size_sigma: SizeSigma = 0.0,
    readings: ReadingColumns = "",
    workers: Workers = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Measure poses from images: poses.csv for gough calibrate, an error budget, and reasons for rejected images.

    Images of one configuration are recognized by their names (c017-r03-i05.png: configuration 17, run 3) or by
    --table. Every image is tested against the calibration of the camera; exits with 1 if the images contradict it.
    Results are kept in the folder as they come: the same command resumes, and measures only new or changed images.
    With --rig, the one folder given has a folder of images for each camera, as for gough camera rig.
    """
    name, places = "poses.json" if as_json else "", {"Poses": "poses.csv"}
    if rig is not None:
        _require_rig_alone(images, camera, description, bound, size_sigma)
        study = run_rig(images[0], read_rig(rig), table, out, readings=readings, workers=workers, cluster=cluster)
        show_results(out, study.files, json=name, text=str(study), places=places)
        if study.is_contradicted:
            raise typer.Exit(1)
        return
    require(camera is not None, "state the camera with --camera camera.toml, or several cameras with --rig rig.toml")
    assert camera is not None
    lens, calibrated_with = read_camera(camera)
    sheet = calibrated_with if description is None else read_target(description)
    require(sheet is not None, f"{camera} does not say which target: add --target target.toml")
    assert sheet is not None
    with (
        results_folder(out) as results,
        images_shown("measuring", "comparing the poses") as shown,
        running(workers, cluster, out) as executor,
        TemporaryDirectory() as place,
    ):
        files = with_stills(image_files(images), Path(place))
        shown.start(len(files))
        found = measure_from(
            files,
            sheet,
            lens,
            table,
            bound=bound,
            size_sigma=size_sigma,
            readings_in=column_names(readings),
            executor=executor,
            ledger=out,
            on_image=shown,
        )
        results.write(found.files)
    show_results(out, found.files, json=name, text=str(found), places=places)
    if found.is_contradicted:
        raise typer.Exit(1)


def _require_rig_alone(
    images: list[Path], camera: Path | None, description: Path | None, bound: float | None, size_sigma: float
) -> None:
    """Refuse what a rig file already states, and bounds, which are proven for one camera only."""
    require(camera is None, "state --camera or --rig, not both: a rig file has the cameras")
    require(description is None, "state --target or --rig, not both: a rig file has the targets")
    require(size_sigma == 0, "a rig file has the uncertainty of sizes: state --size-sigma with gough camera rig")
    require(
        bound is None,
        "--bound is proven for one camera, whose frame is exact; places of a rig are estimates without bounds. "
        "Measure each camera's images with --camera and --bound",
    )
    one = len(images) == 1 and images[0].is_dir()
    require(one, "with --rig, give one folder that has a folder of images for each camera")
