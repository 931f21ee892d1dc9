"""Source leaves: where footage comes from."""

from inpaintbench.catalogue import Catalogue

SOURCES = Catalogue(
    "source",
    {
        "embedded": "inpaintbench.curation.sources.embedded:EmbeddedSources",
        "folder": "inpaintbench.curation.sources.folder:FolderSource",
    },
)
