"""Other layouts of a frozen dataset: one file each, all of them plain copies that say where they come from."""

from inpaintbench.catalogue import Catalogue

LAYOUTS = Catalogue(
    "layout",
    {
        "embedded": "inpaintbench.export.layouts.embedded:Embedded",
        "webdataset": "inpaintbench.export.layouts.webdataset:Webdataset",
        "devil": "inpaintbench.export.layouts.devil:Devil",
        "devil_sets": "inpaintbench.export.layouts.devil:DevilSets",
        "chalearn": "inpaintbench.export.layouts.chalearn:Chalearn",
        "editboard": "inpaintbench.export.layouts.editboard:Editboard",
        "reinpaint": "inpaintbench.export.layouts.reinpaint:Reinpaint",
    },
)
