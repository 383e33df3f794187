"""`gough export`: write an identified or calibrated model for a controller or a simulator."""

import json as json_text
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.options import AsJson
from gough.cli.progress import working
from gough.cli.terminal import answer, say
from gough.core.errors import require
from gough.export import RobotModel
from gough.export.c_source import identifier
from gough.export.exporting import FORMS, require_form
from gough.export.exporting import export as exported
from gough.export.model import merged
from gough.report import results_folder
from gough.studies.geometry_file import read_geometry

_BUILD = "build/*"
"""What the user's compiler makes beside the exported files."""


def export(
    results: Annotated[
        list[Path],
        typer.Argument(
            help="Folder of gough identify, calibrate or demo, or a geometry.toml; two join dynamics and geometry."
        ),
    ],
    to: Annotated[str, typer.Option("--to", help=f"Form: {', '.join(FORMS)}.")] = "c",
    out: Annotated[
        Path | None,
        typer.Option(help="Folder for the files: new, empty or from an earlier run; by default NAME-FORM."),
    ] = None,
    *,
    name: Annotated[
        str, typer.Option(help="Prefix of functions and files; by default the robot's name.", show_default=False)
    ] = "",
    method: Annotated[
        str, typer.Option(help="Method whose estimate is exported; the recommended one by default.", show_default=False)
    ] = "",
    bodies: Annotated[
        str,
        typer.Option(
            help="For mjcf and urdf: 'nominal' takes what the data do not determine from the robot's description; else "
            "from bodies that can exist, if the study has \\[physical].",
            show_default=False,
        ),
    ] = "",
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Write the files without reading them back.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write an identified or calibrated model for a controller or a simulator.

    The files are read back by the other program, such as the C compiler, and its results are compared with those of
    gough at random states before anything is written.
    """
    model = merged(
        [
            RobotModel.of_geometry(read_geometry(place)) if place.suffix == ".toml" else RobotModel.read(place)
            for place in results
        ]
    )
    if method:
        model = model.with_method(method)
    name = name or identifier(model.name)
    require_form(to)
    folder = out or Path(f"{name}-{to}")
    inside = any(folder.resolve() == place.resolve() for place in results)
    require(not inside, f"'{folder}' is the folder of the results: give another one by --out")
    what = f"writing {to}" if no_verify else f"writing {to} and comparing it with gough"
    with results_folder(folder, besides=(_BUILD,)) as written, working(what):
        done = exported(model, to, name=name, verify=not no_verify, bodies=bodies)
        written.write(done.files)
    if as_json:
        checked = {each.what: {"error": each.error, "tolerance": each.tolerance} for each in done.comparisons}
        summary = {"folder": str(folder), "files": sorted(done.files), "verified": checked, "notes": list(done.notes)}
        answer(json_text.dumps(summary, ensure_ascii=False, indent=1))
        return
    say(*done.notes, *map(str, done.comparisons))
    if not done.comparisons:
        say("Nothing was verified: no other program has read these files.")
    if model.dynamics is not None and model.dynamics.is_refuted:
        say(f"Careful: {model.dynamics.headline or 'the data refute the model.'}")
    say(f"{folder}: {', '.join(sorted(done.files))}")
