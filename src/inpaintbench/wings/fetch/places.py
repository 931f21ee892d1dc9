"""What `build devil` asks for where its footage is not a folder of one's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from inpaintbench.cli.build.places import Place
from inpaintbench.cli.options import bundle, read_option
from inpaintbench.download import Limits
from inpaintbench.errors import UsageError
from inpaintbench.executors.base import Executor
from inpaintbench.recipes.options import read_size
from inpaintbench.recipes.stages import SourceSpec
from inpaintbench.wings.fetch import FETCHERS
from inpaintbench.wings.fetch.commands import FlickrLicences, Ids, Most, OwnNetwork, Query, Uploaded
from inpaintbench.wings.fetch.flickr_client import connect
from inpaintbench.wings.fetch.lists import read_ids
from inpaintbench.wings.fetch.step import fetch


@dataclass(frozen=True)
class WhatIsFetched(Place):
    """What `curation fetch` brought into the workspace."""

    def source(self, out: Path) -> SourceSpec:
        """Everything that was fetched."""
        return SourceSpec("fetched", {"workspace": str(out)})


@dataclass(frozen=True)
class FlickrSearch(Place):
    """The search of Flickr: what is asked for, and how.

    Args:
        users: User name or NSID. May be given again.
        least (WxH): Smallest pictures.
        contact: How servers' owners can reach you; sent along with every question.
    """

    panel: ClassVar[str | None] = "Flickr"

    query: Query = ""
    users: list[str] | None = None
    ids: Ids = None
    uploaded: Uploaded = ""
    licence: FlickrLicences = None
    most: Most = None
    least: str = "1920x1080"
    contact: str = ""
    network: Annotated[OwnNetwork, bundle(OwnNetwork, panel="Flickr")] = OwnNetwork()  # noqa: RUF009 - it is frozen

    @property
    def asked(self) -> list[str]:
        """The options of the search that were given."""
        return [name for name in ("query", "users", "ids", "uploaded", "licence", "most") if getattr(self, name)]

    @property
    def least_size(self) -> tuple[int, int]:
        """Of the pictures that are searched for."""
        return read_option(read_size, self.least)

    def check(self) -> None:
        """Flickr has no list of everything."""
        if not (self.query or self.users or self.ids):
            raise UsageError("--source flickr needs --query WORDS, --users NAME or --ids FILE")

    def source(self, out: Path) -> SourceSpec:
        """What was fetched from Flickr."""
        return SourceSpec("fetched", {"workspace": str(out), "fetcher": "flickr"})

    def fetching(self) -> Callable[[Executor], object]:
        """The step that fetches; what is wrong with the question or the key is told first."""
        width, height = self.least_size
        question: dict[str, Any] = {
            "query": self.query, "users": self.users or [], "uploaded": self.uploaded, "licences": self.licence or [],
            "orientation": "landscape", "most": self.most, "minimum_width": width, "minimum_height": height,
            **({"ids": list(read_ids(self.ids))} if self.ids else {}),
        }  # fmt: skip
        FETCHERS.get("flickr")(**question)
        connect()
        limits = Limits(contact=self.contact, **self.network.allowed)
        return partial(fetch, leaf_name="flickr", constants=question, limits=limits)
