"""Other layouts of a frozen dataset: one file each, all of them plain copies that say where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.export.layouts.base import Layout

LAYOUTS: Catalogue[type[Layout]] = Catalogue(
    "layout",
    {
        "embedded": "inpaintbench.export.layouts.shards:Embedded",
        "webdataset": "inpaintbench.export.layouts.shards:Webdataset",
        "devil": "inpaintbench.export.layouts.folders:Devil",
        "devil_sets": "inpaintbench.export.layouts.folders:DevilSets",
        "fiftyone": "inpaintbench.export.layouts.folders:Fiftyone",
    },
    base="inpaintbench.export.layouts.base:Layout",
)
