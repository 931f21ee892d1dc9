"""One HTML page that says what raters answered, how far they agree and what follows from it."""

from inpaintbench.annotate.report.page import write_report
from inpaintbench.annotate.report.records import ReportVote

__all__ = ["ReportVote", "write_report"]
