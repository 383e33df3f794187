"""The tables of docs/real-data.md."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "real-data.md"
_LINES = [line.strip().strip("|").split("|") for line in PAGE.read_text(encoding="utf-8").splitlines() if "|" in line]
ROWS = {cells[0].strip(): [cell.strip() for cell in cells[1:]] for cells in _LINES}
"""Cells by the head of their row."""


def printed(row):
    """The numbers of a row."""
    return [float(re.match(r"[\d.]+", cell)[0]) for cell in ROWS[row]]
