"""Videos of Flickr, found by its search or named by their ids."""

from __future__ import annotations

import heapq
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from inpaintbench.download import Limits, Received, download, utc_now
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected
from inpaintbench.ranges import AtLeastOne, Whole
from inpaintbench.types import content_id
from inpaintbench.wings.fetch import flickr_client as flickr
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher, Licence, not_allowed
from inpaintbench.wings.fetch.flickr_client import ApiError, FlickrClient, FlickrLicence, licence, permits
from inpaintbench.wings.fetch.lists import IS_ID

MOST_RESULTS = 4000
CROWDED = f"{MOST_RESULTS} or more videos of this search were uploaded in this second; Flickr lists no more of them"
_PER_PAGE = 500
_OPENED = datetime(2004, 1, 1, tzinfo=UTC)  # Flickr went public in February 2004


@dataclass(frozen=True)
class Window:
    """Moments of upload, both included, in seconds since 1970."""

    first: int
    last: int


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
    asked = {
        **parameters, "min_upload_date": str(window.first), "max_upload_date": str(window.last),
        "sort": "date-posted-asc", "per_page": str(_PER_PAGE),
    }  # fmt: skip
    results: dict[str, Mapping[str, Any]] = {}
    number, pages, crowded = 1, 1, False
    while number <= pages:
        page = client.ask("flickr.photos.search", {**asked, "page": str(number)}).get("photos")
        if not isinstance(page, dict):
            raise NetworkError("Flickr's search result is not in the form that is known; run again later")
        if number == 1:
            pages, crowded = min(_number(page, "pages"), MOST_RESULTS // _PER_PAGE), _number(page, "total") >= MOST_RESULTS
        if crowded and window.first < window.last:
            middle = (window.first + window.last) // 2
            for half in (Window(window.first, middle), Window(middle + 1, window.last)):
                yield from search(client, parameters, half)
            return
        results |= {str(photo["id"]): photo for photo in page.get("photo", ()) if photo.get("id") and photo.get("owner")}
        number += 1
    # Results must stay within their window, or the order of the windows would not be that of the results.
    moments = {name: min(max(_number(photo, "dateupload"), window.first), window.last) for name, photo in results.items()}
    yield from sorted((Photo(photo, moments[name], crowded) for name, photo in results.items()), key=lambda photo: photo.order)


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


def renditions(answer: Mapping[str, Any]) -> list[Rendition]:
    """The video files in an answer of ``flickr.photos.getSizes``, the best first; no posters, no Flash player."""
    sizes = (answer.get("sizes") or {}).get("size") or []
    files = [
        Rendition(str(size.get("label", "")), str(size["source"]), _number(size, "width"), _number(size, "height"))
        for size in sizes
        if size.get("media") == "video" and size.get("source") and not urlsplit(str(size["source"])).path.endswith(".swf")
    ]

    def rank(one: Rendition) -> tuple[bool, float, int]:
        """The original first, then by pixels in a frame, then by how usual the label is."""
        usual = _USUAL_HEIGHTS.get(one.label, 0)
        area = one.width * one.height or usual * usual * 16 / 9
        return one.label != ORIGINAL, -area, _ORDER.index(one.label) if one.label in _ORDER else len(_ORDER)

    return sorted(files, key=rank)


ORIENTATIONS = ("landscape", "portrait", "square")
_EXTRAS = "license,owner_name,date_upload,tags,original_format,o_dims,url_o,media"


@dataclass(frozen=True)
class Found:
    """One video that was asked for."""

    candidate: Candidate
    status: str
    """``there``; ``gone``; ``not public``; ``no video``; ``other licence`` or ``other size`` than asked for; ``no id``."""


class Flickr(Fetcher):
    """Videos that Flickr's search finds, in order of upload, or that their ids name, with the history of their licences.

    The key comes from ``FLICKR_API_KEY`` and ``FLICKR_API_SECRET``, another endpoint from ``INPAINTBENCH_FLICKR_ENDPOINT``.

    Args:
        query: free text, looked for in titles, descriptions and tags.
        users: NSIDs (``12345678@N00``) or user names; one search each.
        uploaded: ``2017:2019``, ``2017-01-01:2019-06-30``, ``2018``; either side of the colon may be left out.
        licences: names such as ``CC-BY-2.0``, ``CC-BY`` (every version) or ``Attribution License``; none given = all that allow
            changed copies to be passed on for any purpose: BY, BY-SA, CC0, PDM and works of the US government.
        tags: all of which a video must have.
        orientation: ``landscape``, ``portrait`` or ``square``; empty = any.
        minimum_width: in pixels.
        minimum_height: in pixels.
        most: videos, the first uploaded; None = all.
        ids: of single videos, instead of a search; what is gone, not public, smaller or under another licence than asked for is a
            row with its reason.
        per_hour: questions to Flickr, by all processes that use the same key; Flickr allows 3,600.

    Raises:
        InputError: constants that make no sense.
    """

    name = "flickr"
    version = "1"
    media = "video"

    def __init__(
        self, *, query: str = "", users: Sequence[str] = (), uploaded: str = "", licences: Sequence[str] = (),
        tags: Sequence[str] = (), orientation: str = "", minimum_width: Whole = 0, minimum_height: Whole = 0,
        most: Whole | None = None, per_hour: AtLeastOne = 3600, ids: Sequence[str] = (),
    ) -> None:  # fmt: skip
        if orientation and orientation not in ORIENTATIONS:
            raise InputError(f"orientation {orientation!r} is none of {', '.join(ORIENTATIONS)}")
        searched = {"query": query.strip(), "users": users, "tags": tags, "uploaded": uploaded}
        if ids and (other := [name for name, value in searched.items() if value]):
            raise InputError(f"ids name single videos, and {other[0]} is of a search; give one of the two")
        if not (query.strip() or users or tags or ids):
            raise InputError("Flickr has no list of everything; give a query, users, tags or ids")
        if most is not None and most < 1:
            raise InputError(f"most {most} asks for no video; give at least 1")
        self._query, self._users, self._tags, self._uploaded = query.strip(), tuple(users), tuple(tags), uploaded
        self._licences, self._orientation, self._minimum = tuple(licences), orientation, (minimum_width, minimum_height)
        self._most, self._per_hour, self._ids = most, per_hour, tuple(ids)
        parse_uploaded(uploaded)

    def candidates(self) -> Iterator[Candidate]:
        """Every video found, once, by moment of upload and id; or every id, in their order.

        Raises: as ``Fetcher.candidates`` says; InputError also for a licence that Flickr states but does not list.
        """
        return (found.candidate for found in self.found())

    def found(self) -> Iterator[Found]:
        """The candidates, each with what became of it. Raises what ``candidates`` raises."""
        client = flickr.connect(per_hour=self._per_hour)
        if self._ids:
            client.licences.ids(self._licences)  # a misspelt name is told before hundreds of questions
            return (self._named(client, photo) for photo in dict.fromkeys(self._ids[: self._most]))
        return (Found(candidate, "there") for candidate in islice(self._wanted(client), self._most))

    def _named(self, client: FlickrClient, photo: str) -> Found:
        """One video by its id."""
        nowhere = Candidate(name=photo, url=f"https://www.flickr.com/photo.gne?id={photo}", content=content_id(photo))
        if not IS_ID.fullmatch(photo):
            refused = f"{photo!r} is not an id of Flickr's, such as 40678437973"
            return Found(replace(nowhere, url="", refused=refused), "no id")
        try:
            fields = client.ask("flickr.photos.getInfo", {"photo_id": photo}).get("photo") or {}
        except ApiError as error:
            if error.code == flickr.NOT_FOUND:
                return Found(nowhere, "gone")  # fetching keeps a tombstone
            if error.code in (flickr.PERMISSION_DENIED, flickr.NOT_LOGGED_IN):
                return Found(replace(nowhere, refused=f"photo {photo} is not public: {error}"), "not public")
            raise
        try:
            stated = client.licences.of(fields.get("license"), photo=photo)
        except InputError as error:  # one that Flickr does not list; the other videos go on
            return Found(replace(nowhere, refused=str(error)), "other licence")
        size = _size(fields.get("video") or {}) or self._asked_size(client, photo)
        # In the form of a search's result, so that both give the same candidate.
        owner, tags = fields.get("owner") or {}, (fields.get("tags") or {}).get("tag") or []
        as_listed = {
            "id": photo, "owner": str(owner.get("nsid") or ""), "ownername": owner.get("username"), "title": fields.get("title"),
            "secret": fields.get("secret"), "tags": " ".join(str(tag.get("_content", "")) for tag in tags),
        }  # fmt: skip
        candidate = _candidate(Photo(as_listed, _number(fields, "dateuploaded")), stated, size)
        if fields.get("media", "video") != "video":
            return Found(replace(candidate, refused=f"{photo} is a picture, not a video"), "no video")
        if not permits(stated, self._licences):
            return Found(replace(candidate, refused=not_allowed(stated.name)), "other licence")
        if size is not None and not self._fits(*size):
            least = "x".join(map(str, self._minimum)) if any(self._minimum) else "any size"
            wanted = f"{self._orientation or 'any orientation'} of {least} or more"
            return Found(replace(candidate, refused=f"it is {size[0]}x{size[1]}, not {wanted}"), "other size")
        return Found(candidate, "there")

    def _wanted(self, client: FlickrClient) -> Iterator[Candidate]:
        seen: set[str] = set()
        window = parse_uploaded(self._uploaded)
        common = {"media": "videos", "license": ",".join(client.licences.ids(self._licences)), "extras": _EXTRAS}
        if self._query:
            common["text"] = self._query
        if self._tags:
            common |= {"tags": ",".join(self._tags), "tag_mode": "all"}
        owners = dict.fromkeys(_nsid(client, user) for user in self._users)
        each = [{**common, "user_id": owner} for owner in owners] or [common]
        for photo in heapq.merge(*[search(client, parameters, window) for parameters in each], key=lambda photo: photo.order):
            fields = photo.fields
            name = str(fields["id"])
            if name in seen or fields.get("media", "video") != "video" or fields.get("media_status", "ready") != "ready":
                continue
            seen.add(name)
            stated = client.licences.of(fields.get("license"), photo=name)
            if not permits(stated, self._licences):
                continue
            size = _size(fields) or self._asked_size(client, name)
            if size is None or self._fits(*size):
                yield _candidate(photo, stated, size)

    def _asked_size(self, client: FlickrClient, photo: str) -> tuple[int, int] | None:
        """Width and height in pixels of the best rendition, where a rule needs it and the search did not say; None = unknown."""
        if not self._orientation and self._minimum == (0, 0):
            return None
        try:
            offered = renditions(client.ask("flickr.photos.getSizes", {"photo_id": photo}))
        except ApiError:  # gone or hidden since the search: fetching finds out and keeps a tombstone
            return None
        return next(((rendition.width, rendition.height) for rendition in offered if rendition.width and rendition.height), None)

    def _fits(self, width: int, height: int) -> bool:
        shape = "landscape" if width > height else "portrait" if height > width else "square"
        return self._orientation in ("", shape) and width >= self._minimum[0] and height >= self._minimum[1]

    def fetch(self, candidate: Candidate, *, part: Path, limits: Limits) -> Fetched:
        """Bring the best rendition that can be had (see ``flickr_renditions``) after asking for the licence once more.

        Raises: as ``Fetcher.fetch`` says; Rejected also when the licence is no longer among those asked for.
        """
        client, photo = flickr.connect(per_hour=self._per_hour, contact=limits.contact), candidate.name
        with _refusals(photo):
            offered = renditions(client.ask("flickr.photos.getSizes", {"photo_id": photo}))
            latest, changes = _history(client, photo)
        now = latest or licence(candidate.licence or "", candidate.licence_url)
        if now.name != candidate.licence and not permits(now, self._licences):
            raise Rejected(f"photo {photo} is now under {now.name}, which is not among the licences asked for")
        path, received, rendition = _first_that_comes(photo, offered, part=part, limits=limits)
        return Fetched(path, received, Licence(now.name, now.url, changes, utc_now()), rendition.text)

    def licence_of(self, candidate: Candidate) -> Licence:
        """The licence that Flickr states now, with its history. Raises what ``fetch`` raises."""
        client, photo = flickr.connect(per_hour=self._per_hour), candidate.name
        with _refusals(photo):
            stated = client.ask("flickr.photos.getInfo", {"photo_id": photo}).get("photo", {}).get("license")
            now = client.licences.of(stated, photo=photo)
            return Licence(now.name, now.url, _history(client, photo)[1], utc_now())


def _first_that_comes(
    photo: str, offered: Sequence[Rendition], *, part: Path, limits: Limits
) -> tuple[Path, Received, Rendition]:
    """Try the renditions in turn: Flickr lists originals that it gives to their owners only."""
    refused: Rejected | None = None
    for rendition in offered:
        path = part.with_name(f"{part.name}.{re.sub('[^a-z0-9]+', '-', rendition.label.lower())}")
        try:
            received = download(rendition.url, path, limits=limits)
        except Gone:
            continue
        except Rejected as error:
            refused = refused or error
            continue
        if not (received.media_type or "").startswith("text/"):
            return path, received, rendition
        path.unlink()  # the page of the player in place of a file
    if refused:
        raise refused
    if offered:
        raise Gone(f"none of the {len(offered)} files that Flickr lists for video {photo} is there any longer")
    raise Rejected(f"Flickr offers no file of video {photo} to people other than its owner")


@contextmanager
def _refusals(photo: str) -> Iterator[None]:
    """Turn what Flickr says of one photo into what ``Fetcher.fetch`` may raise."""
    try:
        yield
    except ApiError as error:
        if error.code == flickr.NOT_FOUND:
            raise Gone(f"photo {photo} is no longer on Flickr") from None
        if error.code in (flickr.PERMISSION_DENIED, flickr.NOT_LOGGED_IN):
            raise Rejected(f"photo {photo} is not public: {error}") from None
        raise NetworkError(str(error)) from None


def _history(client: FlickrClient, photo: str) -> tuple[FlickrLicence | None, tuple[Mapping[str, Any], ...]]:
    """The licence after the last change (None where Flickr keeps no history), and every change.

    A first entry whose new licence is empty is the licence at the upload, not a change.
    """
    answer = client.ask("flickr.photos.licenses.getLicenseHistory", {"photo_id": photo}).get("license_history") or []
    rows: list[Mapping[str, Any]] = [answer] if isinstance(answer, dict) else answer
    latest, changes = None, []
    for row in sorted(rows, key=lambda row: int(row.get("date_change") or 0)):
        old, new = (licence(str(row.get(f"{age}_license") or ""), row.get(f"{age}_license_url")) for age in ("old", "new"))
        latest = new if new.title else old
        changes.append({"at": _iso(int(row.get("date_change") or 0)), "old": old.name or None, "new": new.name or None})
    return latest, tuple(changes)


def _nsid(client: FlickrClient, user: str) -> str:
    if re.fullmatch(r"\d+@N\d+", user):
        return user
    try:
        return str(client.ask("flickr.people.findByUsername", {"username": user}).get("user", {})["nsid"])
    except ApiError as error:
        if error.code != flickr.NOT_FOUND:
            raise
        raise InputError(f"Flickr knows no user {user!r}; give the user name or an NSID such as 12345678@N00") from None


def _size(fields: Mapping[str, Any]) -> tuple[int, int] | None:
    for width, height in (("o_width", "o_height"), ("width_o", "height_o"), ("width", "height")):
        if fields.get(width) and fields.get(height):
            return int(fields[width]), int(fields[height])
    return None


def _candidate(photo: Photo, stated: FlickrLicence, size: tuple[int, int] | None) -> Candidate:
    fields = photo.fields
    name, owner = str(fields["id"]), str(fields["owner"])
    title = fields.get("title")
    details: dict[str, Any] = {"uploaded": _iso(photo.uploaded), "owner": owner, "tags": str(fields.get("tags") or "")}
    if size:
        details |= {"listed_width": size[0], "listed_height": size[1]}
    if photo.crowded:
        details["listing"] = CROWDED
    page = f"https://www.flickr.com/photos/{owner}/{name}/"
    return Candidate(
        name=name, url=page, content=content_id(name, photo.uploaded, fields.get("secret")), licence=stated.name,
        licence_url=stated.url, author=str(fields.get("ownername") or owner), page_url=page,
        title=str(title.get("_content", "") if isinstance(title, dict) else title or "") or None, details=details,
    )  # fmt: skip


def _iso(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
