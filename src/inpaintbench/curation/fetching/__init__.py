"""Fetcher leaves: where footage can be had over a network, and how one piece of it is brought here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inpaintbench.catalogue import Catalogue

if TYPE_CHECKING:
    from inpaintbench.curation.fetching.base import Fetcher

FETCHERS: Catalogue[type[Fetcher]] = Catalogue(
    "fetcher",
    {
        "flickr": "inpaintbench.curation.fetching.flickr:Flickr",
        "urls": "inpaintbench.curation.fetching.urls:UrlList",
        "hf_dataset": "inpaintbench.curation.fetching.hf_dataset:HuggingFaceDataset",
        "yt_dlp": "inpaintbench.curation.fetching.yt_dlp:YtDlp",
    },
    base="inpaintbench.curation.fetching.base:Fetcher",
)
