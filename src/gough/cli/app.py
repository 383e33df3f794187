"""The commands gathered, and what happens to errors."""

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

import gough
from gough.cli import (
    calibrate,
    camera,
    certify,
    check,
    demo,
    design,
    identify,
    mechanism,
    new,
    poses,
    reproduce,
    target,
)
from gough.core.errors import GoughError

app = typer.Typer(
    name="gough",
    help="Identify and calibrate parallel robots, with confidence regions or guaranteed bounds for the parameters.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
_START, _DYNAMICS, _GEOMETRY, _PROOF = "Start here", "Dynamics", "Geometry", "Papers and proofs"
app.command(rich_help_panel=_START)(demo.demo)
app.command(rich_help_panel=_START)(new.new)
app.command(rich_help_panel=_DYNAMICS)(mechanism.mechanism)
app.command(rich_help_panel=_DYNAMICS)(design.design)
app.command(rich_help_panel=_DYNAMICS)(identify.identify)
app.add_typer(poses.poses, name="poses", rich_help_panel=_GEOMETRY)
app.add_typer(target.target, name="target", rich_help_panel=_GEOMETRY)
app.add_typer(camera.camera, name="camera", rich_help_panel=_GEOMETRY)
app.command(rich_help_panel=_GEOMETRY)(calibrate.calibrate)
app.command(rich_help_panel=_GEOMETRY)(certify.certify)
app.command(rich_help_panel=_PROOF)(check.check)
app.command(rich_help_panel=_PROOF)(reproduce.reproduce)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback
    if wanted:
        typer.echo(f"gough {gough.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[  # noqa: FBT002 - how typer declares a flag
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None: ...


_INTERRUPTED = 130


def run(arguments: Sequence[str]) -> int:
    """The exit code of one call of the command line."""
    errors = Console(stderr=True, highlight=False)
    try:
        app(args=list(arguments))
    except SystemExit as ended:  # typer reports wrong usage itself, with exit code 2, and makes 130 of Ctrl-C
        if ended.code == _INTERRUPTED:
            errors.print("Stopped. Files are complete or were not written.")
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except (GoughError, OSError) as error:
        errors.print(Text.assemble(("Error: ", "bold red"), str(error)), soft_wrap=True)
        return 2
    return 0
