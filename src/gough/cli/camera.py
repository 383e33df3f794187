"""`gough camera`: calibrate a camera from images of a target, and convert camera files."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from gough.cli.options import (
    AsJson,
    Cluster,
    Images,
    ReadingColumns,
    ResultsFolder,
    SizeSigma,
    TableFile,
    TargetFile,
    Workers,
)
from gough.cli.progress import parts_shown
from gough.cli.rigs import run_rig
from gough.cli.terminal import say, show_results
from gough.core.errors import InputError
from gough.core.files import new_file
from gough.core.units import factor_between
from gough.report import empty_folder, results_folder
from gough.studies.live import PAGE, Shooting, shoot
from gough.studies.rig import described_rig
from gough.studies.vision import calibrate_from
from gough.vision import DotTarget, anchored, image_files, read_target
from gough.vision.camera_formats import FORMATS, read_any_camera, write_any_camera
from gough.vision.frames import frames, with_stills
from gough.vision.guidance import Guide
from gough.vision.lens_models import LENSES, LensFinding
from gough.vision.targets import AnyTarget

camera = typer.Typer(
    no_args_is_help=True,
    help="Calibrate a camera from images of a target, place several cameras, guide the shooting of images, or convert "
    "camera files.",
)
_ANCHOR = re.compile(r"^\s*(\d+)\s*-\s*(\d+)\s*=\s*([\d.]+)\s*(\w*)\s*$")


@camera.callback()
def _group() -> None: ...


@camera.command()
def calibrate(
    images: Images,
    description: TargetFile = Path("target.toml"),
    out: ResultsFolder = Path("camera"),
    *,
    anchor: Annotated[
        str | None, typer.Option(help='Measured distance between two dots of the printed target, e.g. "0-6=254.1 mm".')
    ] = None,
    rigid: Annotated[bool, typer.Option("--rigid", help="Keep the dots where the description places them.")] = False,
    lens: Annotated[
        str | None, typer.Option(help=f"Model of the lens: {', '.join(LENSES)}. Default: chosen by held-out images.")
    ] = None,
    terms: Annotated[
        str | None, typer.Option(help="Distortion coefficients to estimate, such as k1,k2, instead of a lens model.")
    ] = None,
    response: Annotated[
        float | None,
        typer.Option(
            min=0.1, max=10, help="Exponent γ: levels are light^(1/γ). Default: as the edges of the dots show it."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Calibrate a camera from images of one target, tilted in all directions. Writes camera.toml and a report.

    Exits with 1 if the images show that the lens model is inadequate.
    """
    sheet = read_target(description)
    with results_folder(out) as results, parts_shown("reading") as on_progress, TemporaryDirectory() as place:
        files = with_stills(image_files(images), Path(place))
        found = calibrate_from(
            files,
            sheet if anchor is None else _anchored(sheet, anchor),
            terms=None if terms is None else tuple(part.strip() for part in terms.split(",") if part.strip()),
            lens=lens,
            release=not rigid,
            response=response,
            on_progress=on_progress,
        )
        results.write(found.files)
    name = "camera.json" if as_json else ""
    show_results(out, found.files, json=name, text=str(found.calibrated), places={"Camera": "camera.toml"})
    choice = found.calibrated.choice
    if choice is not None and choice.finding is LensFinding.INADEQUATE:
        raise typer.Exit(1)


@camera.command()
def rig(
    shots: Annotated[Path, typer.Argument(help="Folder that has a folder of images for each camera, named after it.")],
    cameras: Annotated[
        list[str],
        typer.Option(
            "--camera", help="NAME=FILE: camera file of gough camera calibrate; once for each camera of the rig."
        ),
    ],
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            help="NAME=FILE: target on the platform, a target file or the file of a camera that was calibrated with "
            "it. Default: the target of the camera files.",
        ),
    ] = None,
    base: Annotated[
        list[str] | None, typer.Option(help="NAME=FILE: target fixed to the base; the first one is the world's frame.")
    ] = None,
    *,
    moving: Annotated[
        list[str] | None, typer.Option(help="Name of a camera that may be elsewhere in each frame; needs --base.")
    ] = None,
    table: TableFile = None,
    out: ResultsFolder = Path("rig"),
    size_sigma: SizeSigma = 0.0,
    readings: ReadingColumns = "",
    workers: Workers = None,
    cluster: Cluster = "",
    as_json: AsJson = False,
) -> None:
    """Find where several cameras and targets are to one another, and fuse their poses. Writes rig.toml and poses.csv.

    Images of one frame have the same name in all folders (shots/left/c007.png, shots/right/c007.png), or are named by
    the columns left, right, … of --table. Exits with 1 if the images contradict one another or a camera file.
    Results are kept in the folder as they come: the same command resumes, and reads only new or changed images.
    """
    described = described_rig(cameras, targets or (), base or (), moving or (), size_sigma)
    study = run_rig(shots, described, table, out, readings=readings, workers=workers, cluster=cluster)
    name = "rig.json" if as_json else ""
    places = {"Rig": "rig.toml", "Poses": "poses.csv"}
    show_results(out, study.files, json=name, text=str(study), places=places)
    if study.is_contradicted:
        raise typer.Exit(1)


@camera.command()
def convert(
    source: Annotated[
        Path, typer.Argument(help="Camera file of gough, OpenCV, ROS (camera_info) or Kalibr (camchain).")
    ],
    out: Annotated[Path, typer.Argument(help="File to write: new.")],
    *,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help=f"Format to write: {', '.join(FORMATS)}. Default: gough for .toml, opencv for .xml."
        ),
    ] = None,
    size: Annotated[
        str | None, typer.Option(help="Width and height of the images where the file does not state them: 1024x768.")
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the camera in a Kalibr camchain.")] = "cam0",
) -> None:
    """Convert a camera file between gough, OpenCV, ROS and Kalibr. A lens that the format cannot represent is refused.

    Only gough's format has the covariance, the noise and the response of the calibration.
    """
    suffix = out.suffix.lower()
    form = form or {".toml": "gough", ".xml": "opencv"}.get(suffix)
    if form is None:
        raise InputError(f"{out} may be of several formats: add --format with one of {', '.join(FORMATS)}")
    lens = read_any_camera(source, size=None if size is None else _size(size), name=name)
    text = write_any_camera(lens, form, xml=suffix == ".xml")
    with new_file(out) as file:
        file.write(text.encode())
    say(f"Wrote {out} ({form}).")
    if form != "gough" and (lens.covariance is not None or lens.response != 1):
        say(f"The covariance, noise and response of the calibration are not in it: keep {source}.")


def _size(text: str) -> tuple[int, int]:
    found = re.match(r"^\s*(\d+)\s*[x×,]\s*(\d+)\s*$", text)
    if found is None:
        raise InputError(f"a size is width and height in pixels, such as 1024x768; not '{text}'")
    return int(found[1]), int(found[2])


@camera.command()
def live(
    source: Annotated[
        str, typer.Argument(help="Number of a camera (0 for the first), a video, a stream, or a folder that grows.")
    ] = "0",
    description: TargetFile = Path("target.toml"),
    out: Annotated[Path, typer.Option(help="Folder for the saved images: new or empty.")] = Path("shots"),
    *,
    goal: Annotated[
        float,
        typer.Option(min=0.001, help="Standard deviation of image points by the camera's errors to reach, pixels."),
    ] = 0.05,
    most: Annotated[int, typer.Option(min=4, help="Largest number of images to save.")] = 40,
    seconds: Annotated[float | None, typer.Option(min=0, help="Stop after this time.")] = None,
) -> None:
    """Guide the shooting of a calibration: which view is missing, and whether frames are sharp and still.

    Useful frames are saved; live.html in the same folder shows the last frame with the outline of the next view.
    Ends when the goal is reached, and exits with 1 if it is not.
    """
    sheet = read_target(description)
    with empty_folder(out):
        say(f"Open {out / PAGE} in a browser to see the camera's image; Ctrl-C ends.")
        shooting = Shooting(out, Guide(sheet, (640, 480), goal), say)
        try:
            shoot(frames(source, seconds=seconds, is_done=lambda: shooting.is_done), shooting, most)
        except KeyboardInterrupt:
            say("Ended.")
        (out / PAGE).unlink(missing_ok=True)
    for reason, count in sorted(shooting.reasons.items(), key=lambda entry: -entry[1]):
        say(f"{count} {'frame was' if count == 1 else 'frames were'} not saved: {reason}.")
    say(f"Saved {len(shooting.saved)} images in {out}; predicted error of the camera {shooting.guide.error:.3f} px.")
    if not shooting.is_done:
        say(f"The goal of {goal:g} px is not reached: go on with another folder, and calibrate with both.")
        raise typer.Exit(1)
    say(f"The goal is reached. Calibrate: gough camera calibrate {out} --target {description}")


def _anchored(sheet: AnyTarget, text: str) -> DotTarget:
    found = _ANCHOR.match(text)
    if found is None:
        raise InputError(f"an anchor is two dots and their distance, such as 0-6=254.1 mm; not '{text}'")
    if not isinstance(sheet, DotTarget):
        raise InputError("an anchor stretches targets that gough designs; describe the true size of other ones")
    return anchored(sheet, int(found[1]), int(found[2]), float(found[3]) * factor_between(found[4] or "mm", "m"))
