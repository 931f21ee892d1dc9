"""A Flickr of one's own: a local HTTP server that speaks the shapes of its REST interface, and can misbehave on purpose.

Shapes follow answers of the real service: licences are spelt ``license``, numbers come with or without quotes, a licence history
begins with the licence at the upload, a search gives at most 4,000 results and repeats its last page beyond them.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import threading
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

KEY = "0123456789abcdef0123456789abcdef"
SECRET = "fedcba9876543210"
MOST_RESULTS = 4000
CC = "https://creativecommons.org/"
LICENCES: dict[int, tuple[str, str]] = {
    0: ("All Rights Reserved", "https://www.flickrhelp.com/hc/en-us/articles/10710266545556"),
    1: ("CC BY-NC-SA 2.0", f"{CC}licenses/by-nc-sa/2.0/"),
    2: ("CC BY-NC 2.0", f"{CC}licenses/by-nc/2.0/"),
    3: ("CC BY-NC-ND 2.0", f"{CC}licenses/by-nc-nd/2.0/"),
    4: ("CC BY 2.0", f"{CC}licenses/by/2.0/"),
    5: ("CC BY-SA 2.0", f"{CC}licenses/by-sa/2.0/"),
    6: ("CC BY-ND 2.0", f"{CC}licenses/by-nd/2.0/"),
    7: ("No known copyright restrictions", "https://www.flickr.com/commons/usage/"),
    8: ("United States Government Work", "https://www.usa.gov/government-copyright"),
    9: ("Public Domain Dedication (CC0)", f"{CC}publicdomain/zero/1.0/"),
    10: ("Public Domain Mark", f"{CC}publicdomain/mark/1.0/"),
    11: ("CC BY 4.0", f"{CC}licenses/by/4.0/"),
    12: ("CC BY-SA 4.0", f"{CC}licenses/by-sa/4.0/"),
    13: ("CC BY-ND 4.0", f"{CC}licenses/by-nd/4.0/"),
    14: ("CC BY-NC 4.0", f"{CC}licenses/by-nc/4.0/"),
    15: ("CC BY-NC-SA 4.0", f"{CC}licenses/by-nc-sa/4.0/"),
    16: ("CC BY-NC-ND 4.0", f"{CC}licenses/by-nc-nd/4.0/"),
}


@dataclass
class Video:
    """One video on the server."""

    photo_id: str
    files: dict[str, Path | bytes] = field(default_factory=dict)
    """Label of a rendition, such as ``HD MP4`` -> what is served; bytes for things that are no videos."""
    width: int = 1920
    height: int = 1080
    sizes: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    """Label -> stated width and height; those of the video by default."""
    owner: str = "11111111@N01"
    owner_name: str = "walker"
    title: str = "scenic"
    tags: str = "nature water"
    licence: int = 4
    uploaded: int = 1_500_000_000
    history: list[tuple[int, int, int | None]] = field(default_factory=list)
    """(moment, old licence, new licence or None for the licence at the upload)."""
    states_size: bool = True
    """Whether the search states its size."""
    media: str = "video"
    hidden: bool = False
    gone: bool = False


@dataclass
class Trouble:
    """What the server does in place of answering."""

    status: int = 200
    body: bytes | None = None
    """None = the whole request, echoed."""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    """Only so many bytes of the body are sent, though all are announced."""
    stall_seconds: float = 0.0
    """Before anything is sent."""


def fail(code: int, message: str) -> bytes:
    """What Flickr says with status 200 when it refuses."""
    return json.dumps({"stat": "fail", "code": code, "message": message}).encode()


class FlickrServer:
    """Use as a context manager; nothing is asked of any other machine.

    Args:
        videos: what there is to be found.
        honest_total: whether a search tells how many there are beyond 4,000.
        users: further user names -> NSIDs; owners of videos are known anyway.
    """

    def __init__(self, videos: Sequence[Video] = (), *, honest_total: bool = True, users: dict[str, str] | None = None) -> None:
        self.videos = {video.photo_id: video for video in videos}
        self.users = {video.owner_name: video.owner for video in videos} | (users or {})
        self.honest_total = honest_total
        self.calls: Counter[str] = Counter()
        """Method, or path of a file -> requests."""
        self.searches: list[dict[str, str]] = []
        self.agents: set[str] = set()
        self.ranges: list[str] = []
        self._nonces: set[str] = set()
        self._troubles: dict[tuple[str, str], list[Trouble]] = {}
        self._lock = threading.Lock()
        self._http = _Http(self)

    def __enter__(self) -> FlickrServer:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.server_close()

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def endpoint(self) -> str:
        return f"{self.root}/services/rest/"

    def set_environment(self, target: Any, *, cache: Path) -> None:
        """Point a monkeypatch or an environment mapping at this server; ``cache`` keeps the count of calls of this test apart."""
        put = target.setenv if hasattr(target, "setenv") else target.__setitem__
        put("FLICKR_API_KEY", KEY)
        put("FLICKR_API_SECRET", SECRET)
        put("INPAINTBENCH_FLICKR_ENDPOINT", self.endpoint)
        put("INPAINTBENCH_CACHE", str(cache))

    def trouble(self, where: str, *troubles: Trouble, photo: str = "") -> None:
        """The next requests of a method, or of a file (its path), for any photo or one, go wrong like this, one after another."""
        self._troubles.setdefault((where, photo), []).extend(troubles)

    def next_trouble(self, where: str, photo: str) -> Trouble | None:
        with self._lock:
            self.calls[where] += 1
            for key in ((where, photo), (where, "")):
                if self._troubles.get(key):
                    return self._troubles[key].pop(0)
        return None

    def etag(self, body: bytes) -> str:
        return f'"{hashlib.sha256(body).hexdigest()[:16]}"'

    def file_path(self, photo_id: str, label: str) -> str:
        return f"/videos/{photo_id}/{re.sub('[^a-z0-9]+', '-', label.lower())}.mp4"

    def signature_fault(self, authorization: str, body: dict[str, str]) -> bytes | None:
        """What is wrong with a request's signature (RFC 5849, 3.4), if anything."""
        given = {name: unquote(value) for name, value in re.findall(r'(\w+)="([^"]*)"', authorization)}
        if not authorization.startswith("OAuth ") or "oauth_signature" not in given:
            return fail(97, "Missing signature")
        if given.get("oauth_consumer_key") != KEY:
            return fail(100, "Invalid API Key (Key has invalid format)")
        with self._lock:
            repeated = given["oauth_nonce"] in self._nonces
            self._nonces.add(given["oauth_nonce"])
        pairs = {**body, **{name: value for name, value in given.items() if name not in ("oauth_signature", "realm")}}
        joined = "&".join(sorted(f"{quote(name, safe='~')}={quote(value, safe='~')}" for name, value in pairs.items()))
        base = f"POST&{quote(self.endpoint, safe='~')}&{quote(joined, safe='~')}"
        right = b64encode(hmac.digest(f"{SECRET}&".encode(), base.encode(), "sha1")).decode()
        return fail(96, "Invalid signature") if repeated or right != given["oauth_signature"] else None

    # One function for each method; each returns an answer or a refusal.

    def answer(self, method: str, asked: dict[str, str]) -> dict[str, Any] | bytes:
        known = {
            "flickr.photos.search": self._search,
            "flickr.photos.licenses.getInfo": self._licences,
            "flickr.people.findByUsername": self._user,
            "flickr.photos.getSizes": self._sizes,
            "flickr.photos.getInfo": self._info,
            "flickr.photos.licenses.getLicenseHistory": self._history,
        }
        if method not in known:
            return fail(112, f'Method "{method}" not found')
        if "photo_id" in asked:
            video = self.videos.get(asked["photo_id"])
            if video is None or video.gone:
                return fail(1, "Photo not found")
            if video.hidden:
                return fail(2, "Permission denied")
        return known[method](asked)

    def _licences(self, _: dict[str, str]) -> dict[str, Any]:
        return {"licenses": {"license": [{"id": i, "name": name, "url": url} for i, (name, url) in LICENCES.items()]}}

    def _user(self, asked: dict[str, str]) -> dict[str, Any] | bytes:
        nsid = self.users.get(asked["username"])
        if nsid is None:
            return fail(1, "User not found")
        return {"user": {"id": nsid, "nsid": nsid, "username": {"_content": asked["username"]}}}

    def _search(self, asked: dict[str, str]) -> dict[str, Any] | bytes:
        self.searches.append(asked)
        words, tags = asked.get("text", "").casefold().split(), [tag for tag in asked.get("tags", "").split(",") if tag]
        if not (words or tags or asked.get("user_id")):
            return fail(3, "Parameterless searches have been disabled. Please use flickr.photos.getRecent instead.")
        licences = {int(text) for text in asked.get("license", "").split(",") if text}
        found = [
            video
            for video in self.videos.values()
            if not video.hidden
            and (not asked.get("user_id") or video.owner == asked["user_id"])
            and (not licences or video.licence in licences or video.licence not in LICENCES)
            and int(asked.get("min_upload_date", 0)) <= video.uploaded <= int(asked.get("max_upload_date", 1 << 40))
            and all(word in f"{video.title} {video.tags}".casefold() for word in words)
            and all(tag in video.tags.split() for tag in tags)
        ]
        # Within a second the real order is unknown; here it is not that of the ids.
        found.sort(key=lambda video: (video.uploaded, hashlib.sha256(video.photo_id.encode()).digest()))
        per_page, page = min(int(asked.get("per_page", 100)), 500), int(asked.get("page", 1))
        listed = found[:MOST_RESULTS]
        total = len(found) if self.honest_total else len(listed)
        last = max(1, -(-len(listed) // per_page))
        begin = (min(page, last) - 1) * per_page
        photos = [_photo(video) for video in listed[begin : begin + per_page]]
        pages = -(-total // per_page)
        return {"photos": {"page": page, "pages": pages, "perpage": per_page, "total": str(total), "photo": photos}}

    def _sizes(self, asked: dict[str, str]) -> dict[str, Any]:
        video = self.videos[asked["photo_id"]]
        poster = {"label": "Large", "width": 1024, "height": 576, "source": f"{self.root}/poster.jpg", "media": "photo"}
        flash = {
            "label": "Video Player",
            "width": 640,
            "height": 360,
            "source": f"{self.root}/player.swf?photo=1",
            "media": "video",
        }
        files = []
        for place, label in enumerate(video.files):
            width, height = video.sizes.get(label, (video.width, video.height))
            stated = (str(width), str(height)) if place % 2 else (width, height)
            source = self.root + self.file_path(video.photo_id, label)
            files.append({"label": label, "width": stated[0], "height": stated[1], "source": source, "media": "video"})
        return {"sizes": {"canblog": 0, "canprint": 0, "candownload": 1, "size": [poster, flash, *files]}}

    def _info(self, asked: dict[str, str]) -> dict[str, Any]:
        video = self.videos[asked["photo_id"]]
        owner = {"nsid": video.owner, "username": video.owner_name, "realname": ""}
        return {
            "photo": {
                "id": video.photo_id, "license": str(video.licence), "owner": owner, "title": {"_content": video.title},
                "dateuploaded": str(video.uploaded), "secret": "ab12", "media": video.media,
                "tags": {"tag": [{"id": f"1-{tag}", "raw": tag, "_content": tag} for tag in video.tags.split()]},
                **({"video": {"ready": 1, "width": str(video.width), "height": str(video.height)}} if video.states_size else {}),
            }
        }  # fmt: skip

    def _history(self, asked: dict[str, str]) -> dict[str, Any]:
        video = self.videos[asked["photo_id"]]
        rows = []
        for moment, old, new in video.history or [(video.uploaded, video.licence, None)]:
            new_name, new_url = LICENCES[new] if new is not None else ("", "")
            rows.append({
                "date_change": moment, "old_license": LICENCES[old][0], "old_license_url": LICENCES[old][1],
                "new_license": new_name, "new_license_url": new_url,
            })  # fmt: skip
        return {"license_history": rows}


def _photo(video: Video) -> dict[str, Any]:
    fields = {
        "id": video.photo_id, "owner": video.owner, "secret": "ab12", "server": "65535", "farm": 66, "title": video.title,
        "ispublic": 1, "license": str(video.licence), "dateupload": str(video.uploaded), "ownername": video.owner_name,
        "tags": video.tags, "media": "video", "media_status": "ready",
    }  # fmt: skip
    return fields | ({"o_width": str(video.width), "o_height": str(video.height)} if video.states_size else {})


class _Http(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, flickr: FlickrServer) -> None:
        self.flickr = flickr
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Http

    def log_message(self, *_: object) -> None:
        pass

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        asked = dict(parse_qsl(raw.decode(), keep_blank_values=True))
        self.server.flickr.agents.add(self.headers.get("User-Agent", ""))
        method = asked.get("method", "")
        trouble = self.server.flickr.next_trouble(method, asked.get("photo_id", ""))
        if trouble is not None:
            return self._misbehave(trouble, raw)
        flickr = self.server.flickr
        answer = flickr.signature_fault(self.headers.get("Authorization", ""), asked) or flickr.answer(method, asked)
        body = answer if isinstance(answer, bytes) else json.dumps({**answer, "stat": "ok"}).encode()
        return self._send(200, body, {"Content-Type": "application/json"})

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        trouble = self.server.flickr.next_trouble(path, "")
        if trouble is not None:
            return self._misbehave(trouble, b"")
        for video in self.server.flickr.videos.values():
            for label, file in video.files.items():
                if path == self.server.flickr.file_path(video.photo_id, label) and not video.gone:
                    return self._send_file(file.read_bytes() if isinstance(file, Path) else file)
        return self._send(404, b"<html>not here</html>", {"Content-Type": "text/html"})

    def _send_file(self, body: bytes) -> None:
        kind = "text/html; charset=utf-8" if body.startswith(b"<") else "video/mp4"
        etag = self.server.flickr.etag(body)
        headers = {"Content-Type": kind, "ETag": etag, "Accept-Ranges": "bytes"}
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        if asked and self.headers.get("If-Range") in (None, etag) and int(asked[1]) < len(body):
            self.server.flickr.ranges.append(asked[0])
            headers["Content-Range"] = f"bytes {asked[1]}-{len(body) - 1}/{len(body)}"
            return self._send(206, body[int(asked[1]) :], headers)
        return self._send(200, body, headers)

    def _misbehave(self, trouble: Trouble, raw: bytes) -> None:
        body = trouble.body if trouble.body is not None else f"{self.requestline}\n{self.headers}\n".encode() + raw
        time.sleep(trouble.stall_seconds)
        self._send(trouble.status, body, {"Content-Type": "text/plain", **trouble.headers}, cut=trouble.cut)

    def _send(self, status: int, body: bytes, headers: dict[str, str], *, cut: int | None = None) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.close_connection = True
