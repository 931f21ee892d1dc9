"""Still photographs that need no download: those of the scikit-image wheel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.curation.sources.photographs import PHOTOGRAPHS
from inpaintbench.types import content_id


class EmbeddedPhotographs(SourceLeaf):
    """The colour photographs of the scikit-image wheel that state a free licence, as they are."""

    name = "embedded_photographs"
    version = "1"

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a photograph, in name order."""
        for name, photograph in sorted(PHOTOGRAPHS.items()):
            if photograph.licence:
                yield Footage(
                    name=name,
                    uri=f"embedded:{name}",
                    origin=self.name,
                    content=content_id(self.version, photograph.sha256),
                    payload={"path": quote(str(photograph.path()))},
                    **photograph.credits(),
                )

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:  # noqa: ARG002 - nothing to make
        """The file in the installed wheel."""
        return unquote(payload["path"])
