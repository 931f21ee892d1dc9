"""Footage from a network: Flickr, sites that yt-dlp knows, datasets of the Hub, lists of addresses; and whose it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.wings.fetch.base import Fetcher


# Name of a package, the extra that brings it, and what for.
YT_DLP = ("yt-dlp", "sites", "`curation fetch site`")
FLICKRAPI = ("flickrapi", "flickr", "`curation fetch flickr`")
# Variables of the environment, and what for.
FLICKR_KEY = (("FLICKR_API_KEY", "FLICKR_API_SECRET"), "`curation fetch flickr`")


FETCHERS: Catalogue[type[Fetcher]] = Catalogue(
    "fetcher",
    {
        "flickr": "inpaintbench.wings.fetch.flickr:Flickr",
        "urls": "inpaintbench.wings.fetch.lists:UrlList",
        "hf_dataset": "inpaintbench.wings.fetch.hf_dataset:HuggingFaceDataset",
        "yt_dlp": "inpaintbench.wings.fetch.yt_dlp:YtDlp",
    },
    base="inpaintbench.wings.fetch.base:Fetcher",
)
JOINS: Mapping[str, Mapping[str, str]] = {
    "command of curation": {
        "fetch": "inpaintbench.wings.fetch.commands:fetch_app",
        "recheck": "inpaintbench.wings.fetch.commands:recheck",
        "attribution": "inpaintbench.wings.fetch.commands:attribution",
    },
    "place of footage": {
        "flickr": "inpaintbench.wings.fetch.commands:FlickrSearch",
        "fetched": "inpaintbench.wings.fetch.commands:WhatIsFetched",
    },
    "source": {"fetched": "inpaintbench.wings.fetch.source:FetchedSource"},
    "kind of leaf": {"fetcher": "inpaintbench.wings.fetch:FETCHERS"},
    "optional package": {
        "yt_dlp": "inpaintbench.wings.fetch:YT_DLP",
        "flickrapi": "inpaintbench.wings.fetch:FLICKRAPI",
    },
    "key": {"Flickr": "inpaintbench.wings.fetch:FLICKR_KEY"},
    "contract": {"fetcher": "inpaintbench.wings.fetch.contract:CHECKS"},
}
