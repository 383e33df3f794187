"""Options that several commands share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gough.studies.mechanism_file import Stated

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON and nothing else.")]
StudyFolder = Annotated[
    Path | None,
    typer.Option(help="Folder for the results, instead of the study's: new, empty or from an earlier run."),
]
ResultsFolder = Annotated[Path, typer.Option(help="Folder for the results: new, empty or from an earlier run.")]
Images = Annotated[list[Path], typer.Argument(help="Images of the target, or folders that contain them.")]
Actuated = Annotated[
    str,
    typer.Option(
        help="Actuated coordinates of a URDF, SDF or MJCF file, with commas between them.", show_default=False
    ),
]
PlatformBody = Annotated[
    str, typer.Option("--platform", help="Body of a URDF, SDF or MJCF file that is the platform.", show_default=False)
]
Pose = Annotated[
    str,
    typer.Option(
        help="Coordinates of this platform: some of x, y, z, roll, pitch, yaw, or coordinates of joints.",
        show_default=False,
    ),
]
Home = Annotated[
    str,
    typer.Option(help="Values of these coordinates inside the workspace, such as '0, 0, 400 mm'.", show_default=False),
]
Fixed = Annotated[
    str,
    typer.Option(
        help="Joints of the file to hold still, such as the spin of a rod between two ball joints.", show_default=False
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Number of parallel processes (default 1); with --cluster slurm, of jobs at a time."),
]
Cluster = Annotated[
    str,
    typer.Option(
        metavar="ADDRESS",
        help="Run on a cluster: the address of a Dask scheduler (tcp://host:8786) or its scheduler file, 'dask' for "
        "one on this machine, or 'slurm:partition=NAME,time=MINUTES'.",
        show_default=False,
    ),
]
TableFile = Annotated[
    Path | None,
    typer.Option(help='The robot\'s readings: CSV file with the columns image, configuration, run, "l1 \\[mm]", …'),
]
SizeSigma = Annotated[
    float,
    typer.Option(help="Relative standard deviation of the target's size, e.g. 0.0001 for 0.02 mm in 200 mm."),
]
ReadingColumns = Annotated[
    str, typer.Option(help="Columns of the table with the readings, in the order of the legs, e.g. leg1,leg2.")
]
TargetFile = Annotated[Path, typer.Option("--target", help="Description of the target (TOML).")]


def stated_beside_file(actuated: str, platform: str, pose: str, home: str, fixed: str) -> "Stated":
    """Actuators and platform of a file of another program, from the options of a command."""
    from gough.studies.mechanism_file import Stated  # noqa: PLC0415 - start-up time

    lists = [tuple(word.strip() for word in text.split(",") if word.strip()) for text in (actuated, pose, home, fixed)]
    return Stated(lists[0], platform, lists[1], tuple(_number_or_text(word) for word in lists[2]), lists[3])


def _number_or_text(word: str) -> float | str:
    try:
        return float(word)
    except ValueError:
        return word
