"""Source leaves: where footage comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.curation.sources.base import SourceLeaf

SOURCES: Catalogue[type[SourceLeaf]] = Catalogue(
    "source",
    {
        "embedded": "inpaintbench.curation.sources.embedded:EmbeddedSources",
        "embedded_photographs": "inpaintbench.curation.sources.virtual_camera:EmbeddedPhotographs",
        "drawn_people": "inpaintbench.curation.sources.drawn_people:DrawnPeople",
        "edit_clips": "inpaintbench.curation.sources.edit_folders:EditClips",
        "embedded_edits": "inpaintbench.curation.sources.embedded_edits:EmbeddedEdits",
        "rendered_removal": "inpaintbench.curation.sources.rendered_removal:RenderedRemoval",
        "removal_folders": "inpaintbench.curation.sources.removal_folders:RemovalFolders",
        "embedded_benchmark": "inpaintbench.curation.sources.rendered_removal:EmbeddedBenchmark",
        "folder": "inpaintbench.curation.sources.folder:FolderSource",
    },
    base="inpaintbench.curation.sources.base:SourceLeaf",
)
