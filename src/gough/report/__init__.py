"""Reports: tables, figures and pages about estimates, for any robot."""

from gough.report.documents import documents, to_html
from gough.report.drawing import Drawing
from gough.report.folder import require_ours, write_folder
from gough.report.page import Section, page
from gough.report.report import Report

__all__ = ["Drawing", "Report", "Section", "documents", "page", "require_ours", "to_html", "write_folder"]
