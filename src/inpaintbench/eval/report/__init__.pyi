from .gallery import Media
from .write import ReportFiles, write_report

__all__ = ["Media", "ReportFiles", "write_report"]
