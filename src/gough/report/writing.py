"""The report of any answer, written to a folder in one call."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gough.answers import Answer
from gough.closure import Certification, CertifiedPrinter
from gough.core.arguments import as_path, instance, verb
from gough.core.errors import require
from gough.designs.excitation import Design
from gough.designs.poses import Selection
from gough.dynamics import Identified, IdentifiedRepeats
from gough.geometry import Calibrated, CalibratedPrinter, Recalibrated
from gough.geometry.instruments import CalibratedByInstruments
from gough.report.base.folder import results_folder
from gough.report.base.page import Page, Section, bullets
from gough.report.calibration.day import recalibration_documents
from gough.report.calibration.instruments import instrument_documents
from gough.report.calibration.page import calibration_documents, printer_documents
from gough.report.certification import certification_documents, certified_printer_documents
from gough.report.design.page import design_documents
from gough.report.identification.documents import documents, report_on
from gough.report.poses.page import selection_documents
from gough.report.poses.words import summary

_MAKERS: dict[type, tuple[str, Callable[[str, Any, Path], dict[str, bytes]]]] = {
    Identified: ("Identification of the {}", lambda title, found, _: documents(report_on(title, (), found))),
    IdentifiedRepeats: ("Identification of the {}", lambda title, found, _: documents(report_on(title, (), found))),
    Calibrated: ("Calibration of the {}", lambda title, found, _: calibration_documents(title, (), found)),
    CalibratedPrinter: ("Calibration of the {}", lambda title, found, _: printer_documents(title, (), found)),
    Recalibrated: ("What changed on the {}", lambda title, found, _: recalibration_documents(title, (), found)),
    CalibratedByInstruments: (
        "Calibration of the {}",
        lambda title, found, _: instrument_documents(title, (), found),
    ),
    Certification: (
        "Certification of the {}",
        lambda title, found, folder: certification_documents(title, (), found, folder),
    ),
    CertifiedPrinter: ("Certification of the {}", lambda title, found, _: certified_printer_documents(title, found)),
    Design: (
        "A trajectory for the identification of the {}",
        lambda title, found, _: {"design.json": _line(found.to_json()), **design_documents(title, (), found)},
    ),
    Selection: (
        "Poses for the calibration of the {}",
        lambda title, found, _: {
            "selection.json": _line(json.dumps(summary(found), ensure_ascii=False, indent=1, allow_nan=False)),
            **selection_documents(title, (), found),
        },
    ),
}


@verb()
@np.errstate(all="ignore")
def write_report(answer: Answer, folder: str | Path, *, title: str = "") -> Path:
    """Write the page, figures and JSON of an answer to a folder, and return the path of the page, report.html.

    These are the files that the commands write, without the trajectory of a design (`Design.write`) and the table of
    chosen poses (`write_poses(path, selection.poses)`).

    Args:
        answer: What `estimate`, `identify`, `calibrate`, `certify`, `check`, `design` or `choose_poses` returned.
        folder: A new or empty folder, or one with an earlier report; other files are never overwritten.
        title: Title of the page; it names the robot by default.

    Raises:
        InputError: the answer is of another kind, or the folder holds files that gough did not write.
    """
    place, title = as_path(folder, "folder"), instance(title, "title", str, "a text")
    if type(answer) in _MAKERS:
        usual, make = _MAKERS[type(answer)]
        of: Any = answer.problem if isinstance(answer, Design | Selection) else answer
        robot = getattr(of, "robot" if hasattr(of, "robot") else "model")
        title = title or usual.format(robot if isinstance(robot, str) else robot.name)
    else:
        known = ", ".join(kind.__name__ for kind in _MAKERS)
        is_answer = isinstance(answer, Answer)
        require(is_answer, f"there is no report of {type(answer).__name__}; there are reports of {known}")
        title, make = title or type(answer).__name__, _table_documents
    with results_folder(place) as results:
        results.write(make(title, answer, place))
    return place / "report.html"


def _table_documents(title: str, answer: Answer, _: Path) -> dict[str, bytes]:
    """The table of an answer that has no figures, with headlines and remarks."""
    section = Section("Result", (answer.table(), bullets(*answer.remarks())))
    page = Page(title, tuple(answer.headlines()), sections=(section,))
    return {"report.html": page.html().encode(), "answer.json": _line(answer.to_json())}


def _line(text: str) -> bytes:
    return f"{text}\n".encode()
