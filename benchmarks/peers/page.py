"""The figures of rivals as tables: in the terminal, and between two marks of docs/benchmarks.md."""

import json
import re
from pathlib import Path
from typing import Any

from gough.core.tables import table

PAGE = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- begin: benchmarks/peers -->", "<!-- end: benchmarks/peers -->"
TITLES = {
    "arm-white": "Open chain, white noise",
    "arm-filtered": "Open chain, noise filtered at 20 Hz",
    "arm-slow": "Open chain, noise filtered at 4 Hz",
    "arm-mistakes": "Open chain, mistakes in the recording",
    "five-bar-white": "Closed chain, white noise",
    "five-bar-slow": "Closed chain, noise filtered at 4 Hz",
    "hexapod": "Geometry of a hexapod",
    "camera": "Camera from corners of a board",
    "bounded": "Bounded errors, four parameters",
    "bounded-wrong-row": "Bounded errors, one wrong row",
    "leg": "Leg of a hexapod within tolerances",
    "leg-wrong-pose": "Leg of a hexapod, one wrong pose",
}
COLUMNS = {
    "coverage": ("coverage of 95 %", lambda x: f"{100 * x:.1f} %"),
    "bias": ("bias", lambda x: f"{x:.2f}"),
    "held_out": ("held-out error", lambda x: f"{100 * x:.3f} %"),
    "undetermined_as_numbers": ("undetermined as numbers", str),
    "inside": ("truth inside", lambda x: f"{100 * x:.0f} %"),
    "width": ("width", lambda x: f"{x:.4g}"),
    "possible_values_lost": ("possible values lost", str),
    "says_wrong": ("says that something is wrong", lambda x: f"{100 * x:.0f} %"),
    "named": ("names it", lambda x: f"{100 * x:.0f} %"),
    "complaints_when_clean": ("complaints about clean data", str),
    "seconds": ("processor time", lambda x: f"{x:.3g} s"),
    "recordings": ("recordings", str),
}


_MEAN = 10
"""Recordings from which on a mean error over its standard error says something."""


def rows_of(results: list[dict[str, Any]]) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of one task; columns that nobody has are left out."""
    used = [key for key in COLUMNS if any(key in each["figures"] for each in results)]
    rows = []
    for each in results:
        figures = each["figures"]
        few = figures.get("recordings", 0) < _MEAN
        cells = [
            COLUMNS[key][1](figures[key]) if key in figures and not (few and key == "bias") else "—" for key in used
        ]
        rows.append([_name(each), *cells])
    return ["", *(COLUMNS[key][0] for key in used)], rows


def _name(result: dict[str, Any]) -> str:
    packages = [f"{name} {number}" for name, number in result["versions"].items() if name != "python"]
    return packages[0] if packages else result["rival"]


def _by_task(results: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    names = dict.fromkeys(each["task"] for each in results)
    return {name: [each for each in results if each["task"] == name] for name in names}


def figures_in_words(results: list[dict[str, Any]]) -> str:
    """The figures for a terminal."""
    parts = []
    for name, own in _by_task(results).items():
        heads, rows = rows_of(own)
        parts.append(f"{name}: {TITLES[name]}\n{table(heads, rows, 'l' + 'r' * (len(heads) - 1))}")
        parts += [f"  {line}" for line in _remarks(own)]
    return "\n".join(parts)


def _remarks(results: list[dict[str, Any]]) -> list[str]:
    found = []
    for each in results:
        figures = each["figures"]
        if each.get("reason"):
            found.append(f"{_name(each)}: {each['reason']}.")
        if figures.get("failed"):
            found.append(
                f"{_name(each)}: {figures['failed']} of {figures['recordings']} recordings without an answer "
                f"({'; '.join(figures['reasons'])})."
            )
        if each.get("note"):
            found.append(f"{_name(each)} {each['note']}.")
    return found


def markdown(results: list[dict[str, Any]]) -> str:
    """The part of the page between its marks."""
    parts = []
    for name, own in _by_task(results).items():
        heads, rows = rows_of(own)
        parts += [f"### {TITLES[name]}", "", f"Task `{name}`.", ""]
        parts += [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
        parts += [*(f"| {' | '.join(row)} |" for row in rows), ""]
        remarks = _remarks(own)
        parts += [*(f"- {remark}" for remark in remarks), ""] if remarks else []
        mistakes = [each for each in own if "by_mistake" in each["figures"]]
        if mistakes:
            kinds = list(mistakes[0]["figures"]["by_mistake"])
            parts += [f"| mistake | {' | '.join(_name(each) for each in mistakes)} |", f"|---|{'---|' * len(mistakes)}"]
            for kind in kinds:
                cells = [", ".join(each["figures"]["by_mistake"][kind]) or "—" for each in mistakes]
                parts.append(f"| {kind} | {' | '.join(cells)} |")
            parts.append("")
        parts += ["Calls:", "", *(f"- {_name(each)}: `{each['call']}`" for each in own if each["call"]), ""]
    return "\n".join(parts).strip()


def write_page(results: list[dict[str, Any]]) -> None:
    """Replace the part of docs/benchmarks.md between its marks."""
    text = PAGE.read_text(encoding="utf-8")
    pattern = re.compile(f"{re.escape(BEGIN)}.*{re.escape(END)}", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: f"{BEGIN}\n{markdown(results)}\n{END}", text), encoding="utf-8")


def read_results(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
