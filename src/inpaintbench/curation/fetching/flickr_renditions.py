"""Which of the files that Flickr makes of a video is the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

ORIGINAL = "Video Original"
# Height in pixels of renditions whose size Flickr leaves out; equal areas keep this order.
_USUAL_HEIGHTS = {"1080p": 1080, "HD MP4": 720, "720p": 720, "Site MP4": 360, "360p": 360, "Mobile MP4": 270, "288p": 288}
_ORDER = (ORIGINAL, *_USUAL_HEIGHTS)


@dataclass(frozen=True)
class Rendition:
    """One file of a video. All but the original were encoded again by Flickr."""

    label: str
    url: str
    width: int
    """In pixels; 0 = not stated."""
    height: int

    @property
    def text(self) -> str:
        """``HD MP4 1920x1080``, or the label alone."""
        return f"{self.label} {self.width}x{self.height}" if self.width and self.height else self.label

    @property
    def rank(self) -> tuple[bool, float, int]:
        """Sorts the best first: the original, then by pixels in a frame, then by how usual the label is."""
        usual = _USUAL_HEIGHTS.get(self.label, 0)
        area = self.width * self.height or usual * usual * 16 / 9
        place = _ORDER.index(self.label) if self.label in _ORDER else len(_ORDER)
        return self.label != ORIGINAL, -area, place


def renditions(answer: Mapping[str, Any]) -> list[Rendition]:
    """The video files in an answer of ``flickr.photos.getSizes``, the best first; no posters, no Flash player."""
    sizes = (answer.get("sizes") or {}).get("size") or []
    found = [
        Rendition(str(size.get("label", "")), str(size["source"]), _pixels(size.get("width")), _pixels(size.get("height")))
        for size in sizes
        if size.get("media") == "video" and size.get("source") and not urlsplit(str(size["source"])).path.endswith(".swf")
    ]
    return sorted(found, key=lambda rendition: rendition.rank)


def _pixels(value: object) -> int:
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else 0
