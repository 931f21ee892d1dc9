"""What `doctor` looks for on behalf of `curation fetch`."""

from __future__ import annotations

# Name of a package, the extra that brings it, and what for.
YT_DLP = ("yt-dlp", "sites", "`curation fetch site`")
FLICKRAPI = ("flickrapi", "flickr", "`curation fetch flickr`")
# Variables of the environment, and what for.
FLICKR_KEY = (("FLICKR_API_KEY", "FLICKR_API_SECRET"), "`curation fetch flickr`")
