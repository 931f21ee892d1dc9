"""Everything that a person looks at is drawn here: one set of templates, one stylesheet, one specification of plots.

Rooms hand over plain data (texts, numbers, ``Table``, charts) and the name of a template of theirs that extends
``pages/templates/base.html``; markup is written in templates alone, and Jinja2 escapes what comes from data.
"""

from inpaintbench.pages.colours import MethodStyle, method_styles
from inpaintbench.pages.page import Media, data_uri, page, render
from inpaintbench.pages.panels import Link, Method, Sentence, Tagged, Tile
from inpaintbench.pages.plots import figure, save_chart
from inpaintbench.pages.tables import Cell, Column, Row, Table

__all__ = [
    "Cell",
    "Column",
    "Link",
    "Media",
    "Method",
    "MethodStyle",
    "Row",
    "Sentence",
    "Table",
    "Tagged",
    "Tile",
    "data_uri",
    "figure",
    "method_styles",
    "page",
    "render",
    "save_chart",
]
