"""Other layouts of a frozen dataset: one file each, all of them plain copies that say where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.export.layouts.base import Layout

LAYOUTS: Catalogue[type[Layout]] = Catalogue(
    "layout",
    {
        "embedded": "inpaintbench.export.layouts.embedded:Embedded",
        "webdataset": "inpaintbench.export.layouts.webdataset:Webdataset",
        "devil": "inpaintbench.export.layouts.devil:Devil",
        "devil_sets": "inpaintbench.export.layouts.devil:DevilSets",
        "editboard": "inpaintbench.export.layouts.editboard:Editboard",
        "fiftyone": "inpaintbench.export.layouts.fiftyone:Fiftyone",
        "reinpaint": "inpaintbench.export.layouts.reinpaint:Reinpaint",
    },
    base="inpaintbench.export.layouts.base:Layout",
)
