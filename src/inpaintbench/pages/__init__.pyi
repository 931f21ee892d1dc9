from .colours import MethodStyle, method_styles
from .page import Media, data_uri, page, render
from .panels import Link, Method, Sentence, Tagged, Tile
from .plots import figure, save_chart
from .tables import Cell, Column, Row, Table

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
