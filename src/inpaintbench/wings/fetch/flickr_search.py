"""Results of Flickr's search, in order of upload, past the 4,000 after which Flickr repeats itself, and the best file of each."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from inpaintbench.errors import InputError, NetworkError
from inpaintbench.wings.fetch.flickr_client import FlickrClient

MOST_RESULTS = 4000
CROWDED = f"{MOST_RESULTS} or more videos of this search were uploaded in this second; Flickr lists no more of them"
_PER_PAGE = 500
_OPENED = datetime(2004, 1, 1, tzinfo=UTC)  # Flickr went public in February 2004


@dataclass(frozen=True)
class Window:
    """Moments of upload, both included, in seconds since 1970."""

    first: int
    last: int

    def halves(self) -> tuple[Window, Window]:
        """The two halves, without a gap or a common second."""
        middle = (self.first + self.last) // 2
        return Window(self.first, middle), Window(middle + 1, self.last)


@dataclass(frozen=True)
class Photo:
    """One result, as Flickr states it."""

    fields: Mapping[str, Any]
    uploaded: int
    """Seconds since 1970."""
    crowded: bool = False
    """More were uploaded in the same second than Flickr lists."""

    @property
    def order(self) -> tuple[int, int, str]:
        """Sorts by moment of upload, then by id as a number."""
        photo = str(self.fields["id"])
        return self.uploaded, len(photo), photo


def parse_uploaded(text: str) -> Window:
    """``2017:2019`` (years), ``2017-01-01:2019-06-30`` (days), either side left out, or one year or day; UTC, ends included.

    Raises:
        InputError: it is none of these, or ends before it begins.
    """
    begin, colon, end = text.strip().partition(":")
    if not colon:
        end = begin
    first = _span(begin, text)[0] if begin else _OPENED
    last = _span(end, text)[1] if end else datetime.fromtimestamp(time.time(), UTC)
    if first > last:
        raise InputError(f"uploaded {text!r} ends before it begins")
    return Window(int(first.timestamp()), int(last.timestamp()))


def _span(text: str, whole: str) -> tuple[datetime, datetime]:
    """First and last second of a year or a day."""
    try:
        if re.fullmatch(r"\d{4}", text):
            first = datetime(int(text), 1, 1, tzinfo=UTC)
            return first, datetime(int(text), 12, 31, 23, 59, 59, tzinfo=UTC)
        first = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise InputError(
            f"uploaded {whole!r} is neither years, such as 2017:2019, nor days, such as 2017-01-01:2019-06-30"
        ) from None
    return first, first + timedelta(days=1, seconds=-1)


def search(client: FlickrClient, parameters: Mapping[str, str], window: Window) -> Iterator[Photo]:
    """All results of ``flickr.photos.search`` with these parameters, each once, sorted by ``Photo.order``.

    A window with 4,000 results or more is halved until each part holds fewer. Lazy: windows are asked for as results are taken.

    Raises: what ``FlickrClient.ask`` raises.
    """
    first = _page(client, parameters, window, 1)
    crowded = _number(first, "total") >= MOST_RESULTS
    if crowded and window.first < window.last:
        for half in window.halves():
            yield from search(client, parameters, half)
        return
    results = {str(photo["id"]): photo for photo in _results(first)}
    for number in range(2, min(_number(first, "pages"), MOST_RESULTS // _PER_PAGE) + 1):
        results |= {str(photo["id"]): photo for photo in _results(_page(client, parameters, window, number))}
    photos = [Photo(photo, _uploaded(photo, window), crowded) for photo in results.values()]
    yield from sorted(photos, key=lambda photo: photo.order)


def _uploaded(photo: Mapping[str, Any], window: Window) -> int:
    # Results must stay within their window, or the order of the windows would not be that of the results.
    return min(max(_number(photo, "dateupload"), window.first), window.last)


def _page(client: FlickrClient, parameters: Mapping[str, str], window: Window, number: int) -> Mapping[str, Any]:
    asked = {
        **parameters, "min_upload_date": str(window.first), "max_upload_date": str(window.last),
        "sort": "date-posted-asc", "per_page": str(_PER_PAGE), "page": str(number),
    }  # fmt: skip
    page = client.ask("flickr.photos.search", asked).get("photos")
    if not isinstance(page, dict):
        raise NetworkError("Flickr's search result is not in the form that is known; run again later")
    return page


def _results(page: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [photo for photo in page.get("photo", ()) if photo.get("id") and photo.get("owner")]


def _number(page: Mapping[str, Any], name: str) -> int:
    text = str(page.get(name) or 0)  # Flickr writes the same number with and without quotes
    return int(text) if text.isdecimal() else 0


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
    files = [
        Rendition(str(size.get("label", "")), str(size["source"]), _pixels(size.get("width")), _pixels(size.get("height")))
        for size in sizes
        if size.get("media") == "video" and size.get("source") and not urlsplit(str(size["source"])).path.endswith(".swf")
    ]
    return sorted(files, key=lambda rendition: rendition.rank)


def _pixels(value: object) -> int:
    return int(value) if isinstance(value, int) or (isinstance(value, str) and value.isdecimal()) else 0
