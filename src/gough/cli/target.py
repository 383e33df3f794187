"""`gough target`: design targets for a camera, print them at true size, and render images of them."""

import json
import re
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from gough.cli.options import AsJson, TargetFile
from gough.cli.progress import progress_bar
from gough.cli.terminal import answer, say
from gough.core.errors import InputError, require
from gough.core.files import new_file
from gough.core.units import factor_between
from gough.vision import Conditions, DotTarget, design_target, read_target, to_pdf, to_png, to_svg, write_target
from gough.vision.target_drawing import MARGIN, page_of
from gough.vision.targets import AnyTarget, target_id

target = typer.Typer(no_args_is_help=True, help="Design and print targets for a camera, or render images of them.")
_SIZE = re.compile(r"^\s*(\d+(?:\.\d*)?)\s*[x×]\s*(\d+(?:\.\d*)?)\s*(\w*)\s*$")


@target.command()
def design(
    size: Annotated[str, typer.Option(help="Width and height, e.g. 200x200 (mm) or 8x8in.")] = "200x200",
    out: Annotated[Path, typer.Option(help="Description of the target (TOML), read by the other commands.")] = Path(
        "target.toml"
    ),
    pdf: Annotated[Path | None, typer.Option(help="Also write a PDF, to print at 100 %.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Also write an SVG, to print or to cut.")] = None,
    png: Annotated[Path | None, typer.Option(help="Also write a PNG, to print or to show on a screen.")] = None,
    *,
    paper: Annotated[
        str | None, typer.Option(help="Paper: A4, Letter, A3, Tabloid, A2; default: the first that fits.")
    ] = None,
    dots: Annotated[int, typer.Option(min=17, help="Number of dots.")] = 45,
    radius: Annotated[float | None, typer.Option(help="Radius of the dots, mm; default: 1/40 of the sheet.")] = None,
    dpi: Annotated[int, typer.Option(help="Resolution of the PNG.")] = 600,
    dark: Annotated[bool, typer.Option("--dark-dots", help="Black dots on white, which need less ink.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the layout.")] = 0,
    as_json: AsJson = False,
) -> None:
    """Design a target whose diagonals can be identified from any view, and draw it at true size with rulers."""
    wanted = [path for path in (out, pdf, svg, png) if path is not None]
    _require_new(wanted)
    width, height = _size(size)
    made = design_target(
        width, height, radius=None if radius is None else radius / 1000, dots=dots, bright=not dark, seed=seed
    )
    name, _, lost = page_of(made, paper)
    drawings = _drawn(made, pdf, svg, png, dpi, paper)
    write_target(out, made)
    _write(drawings)
    if as_json:
        ratios = made.cross_ratios.tolist()
        data = {
            "files": [str(p) for p in wanted],
            "id": target_id(made),
            "paper": name,
            "dots": dots,
            "radius": made.radius,
            "cross_ratios": ratios,
        }
        answer(json.dumps(data, ensure_ascii=False, indent=1))
        return
    of = f"{2000 * made.radius:.3g} mm on {width * 1000:g} × {height * 1000:g} mm"
    say(f"Target {target_id(made)}: {dots} dots of {of}.")
    say(f"Cross-ratios of its diagonals' ends: {', '.join(f'{r:.3f}' for r in made.cross_ratios)}.")
    say(f"Wrote {', '.join(str(path) for path in wanted)}.")
    if pdf or svg or png:
        say(f"The page is {name}, with margins of {1000 * MARGIN:g} mm.")
        if lost > 0:
            say(f"The margins take {1000 * lost:.1f} mm of the black ground at the left and right; the dots are whole.")
        say("Print at 100 %, glue it on something flat, and measure its rulers: all measured lengths depend on them.")


@target.command()
def draw(
    description: Annotated[Path, typer.Argument(help="Description of the target or board (TOML).")],
    pdf: Annotated[Path | None, typer.Option(help="Write a PDF, to print at 100 %.")] = None,
    svg: Annotated[Path | None, typer.Option(help="Write an SVG, to print or to cut.")] = None,
    png: Annotated[Path | None, typer.Option(help="Write a PNG, to print or to show on a screen.")] = None,
    *,
    paper: Annotated[
        str | None, typer.Option(help="Paper: A4, Letter, A3, Tabloid, A2; default: the first that fits.")
    ] = None,
    dpi: Annotated[int, typer.Option(help="Resolution of the PNG.")] = 600,
) -> None:
    """Draw a target or board of any kind at true size, with rulers and its id."""
    sheet = read_target(description)
    wanted = [path for path in (pdf, svg, png) if path is not None]
    require(bool(wanted), "state where to draw it: --pdf target.pdf, --svg target.svg or --png target.png")
    _require_new(wanted)
    _write(_drawn(sheet, pdf, svg, png, dpi, paper))
    say(f"Wrote {', '.join(str(path) for path in wanted)}: target {target_id(sheet)}, {page_of(sheet, paper)[0]}.")
    say("Print at 100 %, glue it on something flat, and measure its rulers: all measured lengths depend on them.")


def _require_new(wanted: list[Path]) -> None:
    for path in wanted:
        require(not path.exists(), f"{path} exists; give another name")


def _drawn(  # noqa: PLR0917 - one file of each kind
    sheet: AnyTarget, pdf: Path | None, svg: Path | None, png: Path | None, dpi: int, paper: str | None
) -> dict[Path, bytes]:
    drawings = {} if pdf is None else {pdf: to_pdf(sheet, paper)}
    drawings |= {} if svg is None else {svg: to_svg(sheet, paper)}
    return drawings | ({} if png is None else {png: to_png(sheet, dpi, paper)})


def _write(drawings: dict[Path, bytes]) -> None:
    for path, content in drawings.items():
        with new_file(path) as file:
            file.write(content)


@target.command()
def render(
    out: Annotated[Path, typer.Argument(help="Folder for the images: new or empty.")],
    description: TargetFile = Path("target.toml"),
    count: Annotated[int, typer.Option(min=1, help="Number of poses.")] = 20,
    *,
    size: Annotated[str, typer.Option(help="Image size, pixels.")] = "1024x768",
    focal: Annotated[float, typer.Option(help="Focal length, pixels.")] = 900.0,
    distortion: Annotated[
        str, typer.Option(help="Distortion coefficients k1, k2, p1, p2, k3 as in OpenCV.")
    ] = "-0.12,0.03",
    tilt: Annotated[float, typer.Option(help="Typical tilt of the target, degrees.")] = 20.0,
    repeats: Annotated[int, typer.Option(min=1, help="Images of each pose.")] = 1,
    noise: Annotated[
        float, typer.Option(min=0, help="Standard deviation of the pixel noise, gray levels of 255.")
    ] = 2.0,
    blur: Annotated[float, typer.Option(min=0, help="Standard deviation of the lens blur, pixels.")] = 0.7,
    vignetting: Annotated[float, typer.Option(min=0, max=0.9, help="Fraction of light lost in the corners.")] = 0.2,
    gamma: Annotated[
        float, typer.Option(min=0.1, max=10, help="Exponent γ of the response: levels are light^(1/γ).")
    ] = 1.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of poses and noise.")] = 1,
) -> None:
    """Render images of a target, with the true poses in truth.csv and the true camera in camera-truth.toml."""
    from gough.studies.vision import RandomViews, write_views  # noqa: PLC0415 - start-up time

    sheet = _drawable(read_target(description))
    width, height = (round(v) for v in _numbers(size))
    k = _distortion(distortion)
    made = Conditions(noise=noise, blur=blur, vignetting=vignetting, gamma=gamma)
    views = RandomViews((width, height), focal, k, np.radians(tilt), count, repeats, seed)
    with progress_bar() as progress:
        task = progress.add_task("rendering", total=count * repeats)
        names = write_views(out, sheet, views, made, lambda: progress.advance(task))
    say(f"Wrote {len(names)} images, truth.csv and camera-truth.toml to {out}.")


def _size(text: str) -> tuple[float, float]:
    """Width and height in m."""
    found = _SIZE.match(text)
    if found is None:
        raise InputError(f"a size is such as 200x200, in mm, or 8x8in; not '{text}'")
    factor = factor_between(found[3] or "mm", "m")
    return float(found[1]) * factor, float(found[2]) * factor


def _numbers(text: str) -> tuple[float, float]:
    found = _SIZE.match(text)
    if found is None or found[3]:
        raise InputError(f"the size of an image is such as 1024x768, in pixels; not '{text}'")
    return float(found[1]), float(found[2])


def _distortion(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise InputError(f"distortion is up to five numbers with commas, such as -0.12,0.03; not '{text}'") from error


def _drawable(sheet: AnyTarget) -> DotTarget:
    require(isinstance(sheet, DotTarget), "images are rendered of targets that gough designs")
    assert isinstance(sheet, DotTarget)
    return sheet
