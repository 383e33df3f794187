"""`gough camera`: calibrate a camera from images of a target."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from gough.cli.options import AsJson, Images, ResultsFolder, TargetFile
from gough.cli.progress import progress_bar
from gough.cli.terminal import say, show_results
from gough.core.errors import InputError
from gough.core.units import factor_between
from gough.report import empty_folder, results_folder
from gough.studies.live import PAGE, Shooting, shoot
from gough.studies.vision import calibrate_from
from gough.vision import DotTarget, anchored, image_files, read_target
from gough.vision.frames import frames, with_stills
from gough.vision.guidance import Guide
from gough.vision.targets import AnyTarget

camera = typer.Typer(no_args_is_help=True, help="Calibrate a camera from images of a target.")
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
    terms: Annotated[str, typer.Option(help="Distortion coefficients to estimate.")] = "k1,k2,p1,p2",
    as_json: AsJson = False,
) -> None:
    """Calibrate a camera from images of one target, tilted in all directions. Writes camera.toml and a report."""
    sheet = read_target(description)
    with results_folder(out) as results, progress_bar() as progress, TemporaryDirectory() as place:
        files = with_stills(image_files(images), Path(place))
        task = progress.add_task("finding the target", total=len(files))
        found = calibrate_from(
            files,
            sheet if anchor is None else _anchored(sheet, anchor),
            terms=tuple(part.strip() for part in terms.split(",") if part.strip()),
            release=not rigid,
            on_image=lambda done: progress.update(task, completed=done),
        )
        results.write(found.files)
    name = "camera.json" if as_json else ""
    show_results(out, found.files, json=name, text=str(found.calibrated), places={"Camera": "camera.toml"})


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
        say(f"{count} frames were not saved: {reason}.")
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
