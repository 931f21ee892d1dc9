"""One HTML page that shows where methods fail, with its tables as CSV and JSON beside it."""

from inpaintbench.eval.report.gallery import Media
from inpaintbench.eval.report.write import ReportFiles, write_report

__all__ = ["Media", "ReportFiles", "write_report"]
