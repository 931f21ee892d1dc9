"""Where the files of sources lie: kept out of tables, told to the steps that open them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from inpaintbench.curation.sources.base import Footage
from inpaintbench.curation.sources.folder import unquote_bytes
from inpaintbench.types import Plain, Source
from inpaintbench.workspace import Blobs


def located(sources: Sequence[Source], footage: Sequence[Footage]) -> dict[str, Plain]:
    """Where each source's file lies: payload for the steps that open it."""
    paths = {piece.uri: piece.payload.get("path") for piece in footage}
    return {source.source_id: {"blob": source.blob, "path": paths.get(source.uri)} for source in sources}


def open_path(where: Plain, blobs: Blobs) -> str:
    """The path of a source's file, from what ``located`` says of it."""
    return str(blobs.path(where["blob"])) if where["blob"] else os.fsdecode(unquote_bytes(where["path"]))
