"""One HTML page that shows what a mask generator makes, with what was measured on every mask."""

from inpaintbench.masks.gallery.panels import Panel, Tile
from inpaintbench.masks.gallery.write import write_gallery

__all__ = ["Panel", "Tile", "write_gallery"]
