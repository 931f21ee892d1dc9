"""`curation fetch flickr`."""

from __future__ import annotations

from typing import Annotated

import typer

from inpaintbench.cli import fetching
from inpaintbench.cli.console import InShard, MaxFailures, Memory, Ray, RetryRejected, Running

_NAMED = "such as CC-BY-2.0, or CC-BY for all versions"
Licences = Annotated[
    list[str] | None,
    typer.Option(
        "--licence",
        help=f"Only videos of this licence, {_NAMED}. May be given again.",
        show_default="BY, BY-SA, CC0, PDM and US government works",
    ),
]
Uploaded = Annotated[
    str, typer.Option(metavar="FROM:TO", help="Years (2017:2019) or days (2017-01-01:2019-06-30); one side may be left out.")
]


def flickr(
    out: fetching.Out,
    query: Annotated[str, typer.Option(help="Words in title, description or tags.")] = "",
    user: Annotated[list[str] | None, typer.Option("--user", "--users", help="User name or NSID. May be given again.")] = None,
    uploaded: Uploaded = "",
    licence: Licences = None,
    tag: Annotated[list[str] | None, typer.Option(help="That a video must have. May be given again.")] = None,
    orientation: Annotated[str, typer.Option(help="landscape, portrait or square.", show_default="any")] = "",
    minimum_width: Annotated[int, typer.Option(min=0, help="In pixels.")] = 0,
    minimum_height: Annotated[int, typer.Option(min=0, help="In pixels.")] = 0,
    most: Annotated[int | None, typer.Option(min=1, help="Videos, the first uploaded.", show_default="all")] = None,
    per_hour: Annotated[int, typer.Option(min=1, help="Questions to Flickr, by all processes with your key.")] = 3600,
    label: Annotated[str, typer.Option(help="Tells this search apart from others in the workspace.")] = "",
    allow_private: fetching.AllowPrivate = False,
    most_megabytes: fetching.MostMegabytes = 4000.0,
    seconds: fetching.Seconds = 1800.0,
    contact: fetching.Contact = "",
    workers: Annotated[int, typer.Option(min=0, help="Worker processes; 0 = in this process, for debugging.")] = 1,
    max_failures: MaxFailures = None,
    retry_rejected: RetryRejected = False,
    ray: Ray = None,
    memory: Memory = None,
    shard: InShard = None,
) -> None:
    """Fetch the videos that a search on Flickr finds; needs FLICKR_API_KEY and FLICKR_API_SECRET (extra "flickr").

    Example: inpaintbench curation fetch flickr --query harbour --uploaded 2017:2019 --most 50 --out WORKSPACE
    """
    constants = {
        "query": query, "users": user or [], "uploaded": uploaded, "licences": licence or [], "tags": tag or [],
        "orientation": orientation, "minimum_width": minimum_width, "minimum_height": minimum_height, "most": most,
        "per_hour": per_hour,
    }  # fmt: skip
    limits = fetching.limits_of(most_megabytes=most_megabytes, seconds=seconds, allow_private=allow_private, contact=contact)
    running = Running(workers, max_failures, retry_rejected, ray, memory)
    # The leaf keeps to the licences itself: it knows Flickr's own names for them, and what may be passed on where none is named.
    fetching.run("flickr", constants, out, limits=limits, licences=None, label=label, running=running, shard=shard)
