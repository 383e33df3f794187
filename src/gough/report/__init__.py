"""Reports: tables, figures and pages about estimates, for any robot."""

from gough.report.documents import documents, report_on, to_html
from gough.report.drawing import Drawing
from gough.report.folder import require_ours, write_folder
from gough.report.page import Section, page
from gough.report.repeated import RepeatedReport
from gough.report.report import Report

__all__ = [
    "Drawing",
    "RepeatedReport",
    "Report",
    "Section",
    "documents",
    "page",
    "report_on",
    "require_ours",
    "to_html",
    "write_folder",
]
