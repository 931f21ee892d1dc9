"""One HTML page that says what raters answered, how far they agree and what follows from it."""

from inpaintbench.annotate.report.records import ReportVote
from inpaintbench.annotate.report.write import write_report

__all__ = ["ReportVote", "write_report"]
