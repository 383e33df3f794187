"""Reports: tables, figures and pages about estimates, for any robot."""

from typing import TYPE_CHECKING

from gough.core.first_use import on_first_use as _on_first_use
from gough.report.base.drawing import Drawing
from gough.report.base.folder import empty_folder, require_ours, results_folder, write_folder
from gough.report.base.page import Page, Section, Verdict
from gough.report.identification.documents import documents, report_on, to_html
from gough.report.identification.repeated import RepeatedReport
from gough.report.identification.report import Report

if TYPE_CHECKING:
    from gough.report.writing import write_report

__all__ = [
    "Drawing",
    "Page",
    "RepeatedReport",
    "Report",
    "Section",
    "Verdict",
    "documents",
    "empty_folder",
    "report_on",
    "require_ours",
    "results_folder",
    "to_html",
    "write_folder",
    "write_report",
]

if not TYPE_CHECKING:  # or else type checkers would accept any name
    __getattr__, __dir__ = _on_first_use(globals(), {"write_report": "gough.report.writing"})
