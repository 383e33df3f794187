"""`gough look`: list channels, rates, gaps and jitter of a file of recordings."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.options import AsJson
from gough.cli.progress import working
from gough.cli.terminal import answer, say, tell
from gough.data.overview import overview
from gough.data.pose_columns import words


def look(
    file: Annotated[
        Path,
        typer.Argument(
            help="Recording or measured poses: CSV, Parquet, .mat, .npz, .h5, a rosbag2 folder, .mcap, .db3, .bag, "
            ".mf4, .tdms or .c3d."
        ),
    ],
    *,
    heads: Annotated[
        str,
        typer.Option(
            help="Names of the columns of a text file without any, such as 'name, x \\[mm], y \\[mm], z \\[mm]'."
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List the channels of a recording or a table of measured poses, and propose the tables of a study.

    Recordings: rates, gaps, jitter, repeated times, and a [data] table. Poses and points of an instrument: which
    columns they are, and the tables of a calibration.
    """
    with working("reading"):
        found = overview(file, [name.strip() for name in heads.split(",")] if heads else ())
    if as_json:
        data = {**asdict(found), "file": found.path, "proposal": found.proposal}
        del data["path"]
        answer(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False))
        return
    tell(f"{found}\n")
    if found.targets:
        tell(f"{words(found.targets)}\n")
        say("Proposed tables of a calibration; add [robot], and check what is unknown and what is not:", "")
        say(*found.calibration.split("\n"))
        if not found.is_recording:
            return
        say("")
    say("Proposed tables of a study; check which channel is which coordinate of your robot:", "")
    say(*found.proposal.split("\n"))
