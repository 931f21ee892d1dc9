"""Measure, draw and write the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from inpaintbench.masks.gallery.page import Shown, render
from inpaintbench.masks.gallery.panels import Panel, check_panels, measure_tile, quantity_of
from inpaintbench.masks.gallery.pictures import draw_all
from inpaintbench.workspace import write_atomically


def write_gallery(
    path: Path | str, *, title: str, panels: Sequence[Panel], generator: str, version: str, seed: int | None = None
) -> Path:
    """Write one HTML file that shows every tile of every panel with what was measured on it, and give its path.

    The file needs nothing beside it: pictures are inside, at most 400 pixels wide and high. The same arguments give the same
    bytes.

    Args:
        path: of the file; its folder is made.
        title: heading of the page.
        panels: settings to compare, in order; parameters that all share are shown once.
        generator: name of the leaf.
        version: of the leaf.
        seed: that the masks were drawn with, to be printed.

    Raises:
        InputError: no tile at all, tiles with and without a hole, or arrays that do not fit each other.
        MaskShapeError: a hole does not fit its truth.
    """
    check_panels(panels)
    tiles = [tile for panel in panels for tile in panel.tiles]
    measured = [measure_tile(tile) for tile in tiles]
    pictures = draw_all(tiles, [one.strongest_frame for one in measured])
    quantity, shown, start = quantity_of(panels), [], 0
    for number, panel in enumerate(panels, 1):
        stop = start + len(panel.tiles)
        shown.append(Shown(panel, measured[start:stop], pictures[start:stop], number, quantity))
        start = stop
    page = render(shown, title=title, generator=generator, version=version, seed=seed)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(target, page.encode("utf-8", "replace"))
    return target
