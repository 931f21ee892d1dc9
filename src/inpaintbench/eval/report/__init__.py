"""One HTML page that shows where methods fail, with its tables as CSV and JSON beside it."""

from inpaintbench.lazily import names_of_stub

# What stands in tables of a report is asked for by commands that draw nothing.
__all__ = names_of_stub(__name__, __file__)
