"""Reports: tables, figures and pages about estimates, for any robot."""

from gough.report.base.drawing import Drawing
from gough.report.base.folder import empty_folder, require_ours, results_folder, write_folder
from gough.report.base.page import Page, Section, Verdict
from gough.report.identification.documents import documents, report_on, to_html
from gough.report.identification.repeated import RepeatedReport
from gough.report.identification.report import Report
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
