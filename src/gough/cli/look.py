"""`gough look`: list channels, rates, gaps and jitter of a file of recordings."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from gough.cli.options import AsJson
from gough.cli.terminal import answer, say, tell
from gough.data.overview import overview


def look(
    file: Annotated[
        Path,
        typer.Argument(
            help="Recording: CSV, Parquet, .mat, .npz, .h5, a rosbag2 folder, .mcap, .db3, .bag, .mf4, .tdms or .c3d."
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """List the channels of a recording: rates, gaps, jitter, repeated times, and a [data] table for a study."""
    found = overview(file)
    if as_json:
        data = {"file": found.path, "groups": [asdict(group) for group in found.groups], "proposal": found.proposal}
        answer(json.dumps(data, ensure_ascii=False, indent=1, allow_nan=False))
        return
    tell(f"{found}\n")
    say("Proposed tables of a study; check which channel is which coordinate of your robot:", "")
    say(*found.proposal.split("\n"))
