"""Colour photographs that lie in the scikit-image wheel and are large enough to be filmed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from inpaintbench.curation.sources.base import Footage, SourceLeaf
from inpaintbench.files import file_sha256
from inpaintbench.types import content_id


@dataclass(frozen=True)
class Photograph:
    """A colour photograph in the scikit-image wheel, with what scikit-image's documentation says about its origin."""

    name: str
    file: str
    width: int
    height: int
    focus: tuple[float, float]
    """Centre of what it shows, (x, y) as shares of width and height."""
    licence: str | None
    author: str | None
    page_url: str | None = None

    def path(self) -> Path:
        """The file in the installed wheel."""
        return Path(str(files("skimage") / "data" / self.file))

    @cached_property
    def sha256(self) -> str:
        """Digest of the file, hexadecimal."""
        return file_sha256(self.path())

    def credits(self) -> dict[str, Any]:
        """Licence, author and page, as fields of ``Footage``."""
        return {"licence": self.licence, "author": self.author, "page_url": self.page_url}

    def footage(
        self, leaf: SourceLeaf, name: str, payload: Mapping[str, Any], *, content: Sequence[Any], place: str = "", **facts: Any
    ) -> Footage:
        """Footage that a leaf makes of it.

        Args:
            leaf: the source leaf.
            name: of the footage.
            payload: what the leaf makes it of.
            content: changes with it, beside the leaf's version and the photograph.
            place: that its address begins with; the name of the leaf unless it is given.
            facts: ``known`` and ``data``.
        """
        return Footage(
            name=name, uri=f"{place or leaf.name}:{name}", origin=leaf.name,
            content=content_id(leaf.version, self.sha256, *content), payload=payload, **self.credits(), **facts,
        )  # fmt: skip


PHOTOGRAPHS: dict[str, Photograph] = {
    photograph.name: photograph
    for photograph in (
        Photograph("coffee", "coffee.png", 600, 400, (0.48, 0.42), "CC0", "Rachel Michetti"),
        Photograph("rocket", "rocket.jpg", 640, 427, (0.5, 0.6), "public domain", "SpaceX",
                   "https://www.flickr.com/photos/spacexphotos/16511594820/in/photostream/"),
        Photograph("motorcycle", "motorcycle_left.png", 741, 500, (0.52, 0.5), None, None),
        Photograph("hubble", "hubble_deep_field.jpg", 1000, 872, (0.5, 0.5), "public domain", "NASA",
                   "http://hubblesite.org/newscenter/archive/releases/2012/37/image/a/"),
        Photograph("chelsea", "chelsea.png", 451, 300, (0.5, 0.45), "CC0", "Stefan van der Walt"),
        Photograph("astronaut", "astronaut.png", 512, 512, (0.45, 0.3), "public domain", None, "https://flic.kr/p/r9qvLn"),
        Photograph("retina", "retina.jpg", 1411, 1411, (0.42, 0.5), "CC0-1.0", None,
                   "https://commons.wikimedia.org/wiki/File:Fundus_photograph_of_normal_left_eye.jpg"),
        Photograph("tissue", "ihc.png", 512, 512, (0.5, 0.4), "no known copyright restrictions",
                   "Center for Microscopy And Molecular Imaging"),
    )
}  # fmt: skip


class EmbeddedPhotographs(SourceLeaf):
    """The colour photographs of the scikit-image wheel that state a free licence, as they are."""

    name = "embedded_photographs"
    version = "1"

    def footage(self) -> Iterator[Footage]:
        """One piece of footage a photograph, in name order."""
        for name, photograph in sorted(PHOTOGRAPHS.items()):
            if photograph.licence:
                payload = {"path": quote(str(photograph.path()))}
                yield photograph.footage(self, name, payload, content=(), place="embedded")

    def obtain(self, payload: Mapping[str, Any], scratch: str) -> str:  # noqa: ARG002 - nothing to make
        """The file in the installed wheel."""
        return unquote(payload["path"])
