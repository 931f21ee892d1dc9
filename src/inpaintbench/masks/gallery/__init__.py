"""One HTML page that shows what a mask generator makes, with what was measured on every mask or degradation."""

from inpaintbench.masks.gallery.page import write_gallery
from inpaintbench.masks.gallery.panels import Panel, Tile, quantity_of

__all__ = ["Panel", "Tile", "quantity_of", "write_gallery"]
