"""`gough camera`: calibrate a camera from images of a target, and convert camera files."""

import re
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.options import AsJson, Images, ResultsFolder, TargetFile
from gough.cli.progress import progress_bar
from gough.cli.terminal import say, show_results
from gough.core.errors import InputError
from gough.core.files import new_file
from gough.core.units import factor_between
from gough.report import results_folder
from gough.studies.vision import calibrate_from
from gough.vision import DotTarget, anchored, image_files, read_target
from gough.vision.camera_formats import FORMATS, read_any_camera, write_any_camera
from gough.vision.lens_models import LENSES, LensFinding
from gough.vision.targets import AnyTarget

camera = typer.Typer(no_args_is_help=True, help="Calibrate a camera, or convert camera files.")
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
    as_json: AsJson = False,
) -> None:
    """Calibrate a camera from images of one target, tilted in all directions. Writes camera.toml and a report.

    Exits with 1 if the images show that the lens model is inadequate.
    """
    sheet = read_target(description)
    files = image_files(images)
    with results_folder(out) as results, progress_bar() as progress:
        task = progress.add_task("finding the target", total=len(files))
        found = calibrate_from(
            files,
            sheet if anchor is None else _anchored(sheet, anchor),
            terms=None if terms is None else tuple(part.strip() for part in terms.split(",") if part.strip()),
            lens=lens,
            release=not rigid,
            on_image=lambda done: progress.update(task, completed=done),
        )
        results.write(found.files)
    name = "camera.json" if as_json else ""
    show_results(out, found.files, json=name, text=str(found.calibrated), places={"Camera": "camera.toml"})
    choice = found.calibrated.choice
    if choice is not None and choice.finding is LensFinding.INADEQUATE:
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

    Only gough's format has the covariance and the noise of the calibration.
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
    if form != "gough" and lens.covariance is not None:
        say(f"The covariance and noise of the calibration are not in it: keep {source}.")


def _size(text: str) -> tuple[int, int]:
    found = re.match(r"^\s*(\d+)\s*[x×,]\s*(\d+)\s*$", text)
    if found is None:
        raise InputError(f"a size is width and height in pixels, such as 1024x768; not '{text}'")
    return int(found[1]), int(found[2])


def _anchored(sheet: AnyTarget, text: str) -> DotTarget:
    found = _ANCHOR.match(text)
    if found is None:
        raise InputError(f"an anchor is two dots and their distance, such as 0-6=254.1 mm; not '{text}'")
    if not isinstance(sheet, DotTarget):
        raise InputError("an anchor stretches targets that gough designs; describe the true size of other ones")
    return anchored(sheet, int(found[1]), int(found[2]), float(found[3]) * factor_between(found[4] or "mm", "m"))
