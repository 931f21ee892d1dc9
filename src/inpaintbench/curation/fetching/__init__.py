"""Fetcher leaves: where footage can be had over a network, and how one piece of it is brought here."""

from inpaintbench.catalogue import Catalogue

FETCHERS = Catalogue(
    "fetcher",
    {
        "flickr": "inpaintbench.curation.fetching.flickr:Flickr",
        "urls": "inpaintbench.curation.fetching.urls:UrlList",
        "hf_dataset": "inpaintbench.curation.fetching.hf_dataset:HuggingFaceDataset",
        "yt_dlp": "inpaintbench.curation.fetching.yt_dlp:YtDlp",
    },
)
