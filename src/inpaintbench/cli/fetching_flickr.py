"""`curation fetch flickr`."""

from __future__ import annotations

from typing import Annotated

from inpaintbench.cli import fetching
from inpaintbench.cli.console import InShard, OutWorkspace
from inpaintbench.cli.fetching import Downloads, OneAtATime
from inpaintbench.cli.options import option

Licences = Annotated[
    list[str] | None,
    option(
        "Only videos of this licence, such as CC-BY-2.0, or CC-BY for all versions. May be given again.",
        "--licence", default="BY, BY-SA, CC0, PDM and US government works",
    ),
]  # fmt: skip
Query = Annotated[str, option("Words in title, description or tags.")]
Uploaded = Annotated[
    str, option("Years (2017:2019) or days (2017-01-01:2019-06-30); one side may be left out.", metavar="FROM:TO")
]
Most = Annotated[int | None, option("Videos, the first uploaded.", default="all", min=1)]


def flickr(
    out: OutWorkspace,
    query: Query = "",
    user: Annotated[list[str] | None, option("User name or NSID. May be given again.", "--user", "--users")] = None,
    uploaded: Uploaded = "",
    licence: Licences = None,
    tag: Annotated[list[str] | None, option("That a video must have. May be given again.")] = None,
    orientation: Annotated[str, option("landscape, portrait or square.", default="any")] = "",
    minimum_width: Annotated[int, option("In pixels.", min=0)] = 0,
    minimum_height: Annotated[int, option("In pixels.", min=0)] = 0,
    most: Most = None,
    per_hour: Annotated[int, option("Questions to Flickr, by all processes with your key.", min=1)] = 3600,
    label: Annotated[str, option("Tells this search apart from others in the workspace.")] = "",
    downloads: fetching.Limited = Downloads(),
    running: fetching.Fetching = OneAtATime(),
    shard: InShard = None,
) -> None:
    """Fetch the videos that a search on Flickr finds.

    It needs FLICKR_API_KEY and FLICKR_API_SECRET, and the extra "flickr".

    Example: inpaintbench curation fetch flickr --query harbour --uploaded 2017:2019 --most 50 --out WORKSPACE
    """
    constants = {
        "query": query, "users": user or [], "uploaded": uploaded, "licences": licence or [], "tags": tag or [],
        "orientation": orientation, "minimum_width": minimum_width, "minimum_height": minimum_height, "most": most,
        "per_hour": per_hour,
    }  # fmt: skip
    # The leaf keeps to the licences itself: it knows Flickr's own names for them, and what may be passed on where none is named.
    fetching.run("flickr", constants, out, limits=downloads.limits, licences=None, label=label, running=running, shard=shard)
