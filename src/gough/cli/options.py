"""Options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
StudyFolder = Annotated[
    Path | None,
    typer.Option(help="Folder for the results, instead of the study's: new, empty or from an earlier run."),
]
ResultsFolder = Annotated[Path, typer.Option(help="Folder for the results: new, empty or from an earlier run.")]
Images = Annotated[list[Path], typer.Argument(help="Images of the target, or folders that contain them.")]
TargetFile = Annotated[Path, typer.Option("--target", help="Description of the target (TOML).")]
