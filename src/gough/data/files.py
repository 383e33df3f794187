"""Recordings as files: CSV, Parquet, MATLAB `.mat` and `.npz`."""

from collections.abc import Mapping
from pathlib import Path

from gough.data.recording import Recording


def read_recording(
    path: str | Path,
    *,
    columns: Mapping[str, str] | None = None,
    units: Mapping[str, str] | None = None,
    time: str | None = "time",
    rate: float | None = None,
    missing: str = "refuse",
) -> Recording:
    """The recording in a file."""
    raise NotImplementedError


def write_recording(path: str | Path, recording: Recording, *, overwrite: bool = False) -> None:
    """Write a recording."""
    raise NotImplementedError
