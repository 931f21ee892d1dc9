"""Videos of web sites by the addresses of their pages, through the package yt-dlp."""

from __future__ import annotations

import importlib
import io
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import httpx2

from inpaintbench.download import Limits, Received, forget, utc_now, without_query
from inpaintbench.errors import Gone, InpaintBenchError, MissingExtraError, NetworkError, Rejected
from inpaintbench.files import file_sha256
from inpaintbench.http_client import CheckedTransport, Visit, send_following_redirects
from inpaintbench.wings.fetch.base import Candidate, Fetched, Fetcher, Licence
from inpaintbench.wings.fetch.lists import listed

_GONE = (404, 410)
_NOWHERE = "/nowhere/ffmpeg"  # it would ask for addresses by itself
# One file: with sound where there is no other, since putting two streams together needs a further program. Only what yt-dlp asks
# for itself: addresses that a further program asks for cannot be judged.
_FORM = "/".join(f"{kind}[protocol{asked}]" for kind in ("best", "bestvideo") for asked in ("^=http", "=m3u8_native"))


class YtDlp(Fetcher):
    """The video of every page in a list, as yt-dlp finds it.

    The licence is what the site states, or the list where it states none; author and title are what the list states, or the site
    where it states none.

    Args:
        list: path of a list as for the leaf ``urls``, of page addresses.
        allow_private, allow_hosts, allow_nets: hosts of one's own network that are asked for licences again, as in ``Limits``.

    Raises:
        MissingExtraError: yt-dlp is not installed.
    """

    name = "yt_dlp"
    version = "1"
    reads_list = True
    media = "video"

    def __init__(
        self, *, list: str, allow_private: bool = False,  # noqa: A002 - what people say
        allow_hosts: Sequence[str] = (), allow_nets: Sequence[str] = (),
    ) -> None:  # fmt: skip
        _package()
        self._list = Path(list)
        self._limits = Limits(allow_private=allow_private, allow_hosts=tuple(allow_hosts), allow_nets=tuple(allow_nets))

    def candidates(self) -> Iterator[Candidate]:
        """Every page of the list; lines that hold no address are refused.

        Raises:
            InputError: the list cannot be read, or holds no address.
        """
        return listed(self._list, version=self.version)

    def fetch(self, candidate: Candidate, *, part: Path, limits: Limits) -> Fetched:
        """Download the page's video into one file."""
        # It goes on with what it finds without asking whether that is still the same file.
        forget(part)
        info = _extract(candidate.url, limits, part=part)
        made = Path(info["requested_downloads"][0]["filepath"]) if info.get("requested_downloads") else part
        if not made.is_file():
            raise Rejected(f"{without_query(candidate.url)} holds no video that can be had as one file")
        if made.stat().st_size > limits.most_bytes:
            raise Rejected(f"{without_query(candidate.url)} is larger than {limits.most_bytes} bytes")
        final = without_query(str(info.get("url") or info.get("webpage_url") or candidate.url))
        received = Received(final, None, 1, made.stat().st_size, file_sha256(made), None, None, utc_now())
        said = {"title": info.get("title"), "author": info.get("uploader") or info.get("channel") or info.get("creator")}
        words = {name: str(value) for name, value in said.items() if value}
        return Fetched(made, received, _licence(info, candidate), rendition=info.get("format"), **words)

    def licence_of(self, candidate: Candidate) -> Licence:
        """Present licence on the page."""
        return _licence(_extract(candidate.url, self._limits, part=None), candidate)


def _licence(info: dict[str, Any], candidate: Candidate) -> Licence:
    return Licence(info.get("license") or candidate.licence, candidate.licence_url, checked_at=utc_now())


def _package() -> Any:
    try:
        return importlib.import_module("yt_dlp")
    except ImportError as error:
        raise MissingExtraError("fetching videos of web sites", "sites") from error


class _Silent:
    """A logger that keeps the console free; what matters comes as an exception."""

    def debug(self, message: str) -> None:
        """Not shown."""

    warning = error = debug


def _extract(url: str, limits: Limits, *, part: Path | None) -> dict[str, Any]:
    """Metadata that yt-dlp reads from a page, with its video downloaded beside ``part`` where there is one."""
    yt_dlp = _package()
    shown, begun = without_query(url), time.monotonic()

    def check(progress: dict[str, Any]) -> None:
        size = max(progress.get("downloaded_bytes") or 0, progress.get("total_bytes") or 0)
        if size > limits.most_bytes:
            raise Rejected(f"{shown} is larger than {limits.most_bytes} bytes")
        if time.monotonic() - begun > limits.seconds:
            raise Rejected(f"{shown} takes longer than {limits.seconds:g} s")

    options = {
        "quiet": True, "no_warnings": True, "noprogress": True, "logger": _Silent(), "cachedir": False, "noplaylist": True,
        "playlist_items": "1", "format": _FORM, "outtmpl": {"default": f"{part}.%(ext)s"}, "retries": limits.tries - 1,
        "fragment_retries": limits.tries - 1, "extractor_retries": limits.tries - 1, "socket_timeout": 60, "proxy": "",
        "overwrites": True, "continuedl": False, "fixup": "never", "updatetime": False,
        "progress_hooks": [check], "allowed_extractors": ["default"], "enable_file_urls": False,
        "ffmpeg_location": _NOWHERE,
    }  # fmt: skip
    with checked_class(yt_dlp, limits)(options) as asked:
        try:
            info = asked.extract_info(url, download=part is not None)
        except InpaintBenchError:
            raise
        except (yt_dlp.utils.YoutubeDLError, yt_dlp.networking.exceptions.RequestError) as error:
            raise _meant(error, url, yt_dlp) from error
    if not info:
        raise Rejected(f"{shown} holds no video that yt-dlp finds")
    first = info["entries"][0] if info.get("entries") else info
    return dict(first)


def _meant(error: Exception, url: str, yt_dlp: Any) -> InpaintBenchError:
    """Error of ours for a failure of yt-dlp, whose causes are chained in more than one way."""
    shown = without_query(url)
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, InpaintBenchError):
            return cause
        status = getattr(cause, "status", None)
        if isinstance(cause, yt_dlp.networking.exceptions.HTTPError):
            if status in _GONE:
                return Gone(f"{shown} is not there (HTTP {status})")
            passing = status in (408, 429) or int(status or 0) >= 500
            text = f"{shown} could not be fetched (HTTP {status})"
            return NetworkError(text) if passing else Rejected(text)
    if any(isinstance(cause, yt_dlp.networking.exceptions.TransportError) for cause in causes):
        return NetworkError(f"{shown} could not be fetched: the server does not answer")
    reason = str(error).replace("ERROR: ", "").splitlines()[0] if str(error) else type(error).__name__
    return Rejected(f"{shown} could not be fetched: {_without_queries(reason.split('; please report')[0], url)}")


def _without_queries(text: str, url: str) -> str:
    """Words of yt-dlp without what may be secret in ``url`` and in other addresses, of which it also makes names of videos."""
    query = urlsplit(url).query
    for secret in (query, unquote(query)):
        text = text.replace(secret, "") if secret else text
    text = re.sub(r"[a-z][a-z0-9+.-]*://[^\s'\"]+", lambda match: without_query(match[0]), text, flags=re.IGNORECASE)
    return re.sub(r"[?#][^\s'\"]*", "", text)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting = [error]
    while waiting:
        failure = waiting.pop(0)
        if failure is None or id(failure) in seen:
            continue
        seen.add(id(failure))
        yield failure
        told = getattr(failure, "exc_info", None)
        waiting += [failure.__cause__, getattr(failure, "cause", None), told[1] if told else None, failure.__context__]


_OWN = ("authorization", "cookie")  # headers that no other host than the one asked for may see
_KNOWN_EXTENSIONS = ("cookiejar", "timeout", "legacy_ssl", "keep_header_casing")


def checked_class(yt_dlp: Any, limits: Limits) -> Any:
    """The class ``YoutubeDL`` with one way to ask servers, within ``limits``: through ``CheckedTransport``."""
    networking: Any = importlib.import_module("yt_dlp.networking.common")
    exceptions: Any = importlib.import_module("yt_dlp.networking.exceptions")

    class CheckedRH(networking.RequestHandler):  # type: ignore[misc]  # the package has no types
        _SUPPORTED_URL_SCHEMES = limits.schemes
        _SUPPORTED_PROXY_SCHEMES = None

        def _check_extensions(self, extensions: dict[str, Any]) -> None:
            super()._check_extensions(extensions)
            for name in _KNOWN_EXTENSIONS:
                extensions.pop(name, None)

        def _send(self, request: Any) -> Any:
            headers = {"Accept-Encoding": "identity", **self._get_headers(request)}
            try:
                body, url = _opened(request, headers, self._get_cookiejar(request), limits)
            except httpx2.TransportError as error:
                raise exceptions.TransportError(cause=error) from error
            except Rejected as error:  # others than its own kind yt-dlp counts as faults of the handler
                raise exceptions.RequestError(cause=error) from error
            answer = body.response
            response = networking.Response(io.BufferedReader(body), url, answer.headers, answer.status_code, answer.reason_phrase)
            if answer.status_code >= 300:
                raise exceptions.HTTPError(response)
            return response

    class Checked(yt_dlp.YoutubeDL):  # type: ignore[misc]
        def build_request_director(self, _: Any, preferences: Any = None) -> Any:
            return super().build_request_director([CheckedRH], preferences)

    return Checked


def _opened(request: Any, headers: dict[str, str], cookies: Any, limits: Limits) -> tuple[_Body, str]:
    own = {name: value for name, value in headers.items() if name.lower() in _OWN}
    common = {name: value for name, value in headers.items() if name not in own}
    data = request.data if request.data is None or isinstance(request.data, bytes) else b"".join(request.data)
    transport = CheckedTransport(limits)
    client = httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, cookies=cookies)
    try:
        response, url = send_following_redirects(client, Visit(request.url, limits, own), request.method, common, body=data)
    except BaseException:  # an interrupt, too: nobody else can close it
        client.close()
        raise
    return _Body(client, response), url


class _Body(io.RawIOBase):
    """The body of an answer as a file; closing it ends the connection."""

    def __init__(self, client: httpx2.Client, response: httpx2.Response) -> None:
        self.response, self._client = response, client
        self._chunks, self._rest = response.iter_bytes(), memoryview(b"")

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Bytes that were put into ``buffer``; 0 at the end."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count], self._rest = self._rest[:count], self._rest[count:]
        return count

    def close(self) -> None:
        """Hang up."""
        if not self.closed:
            self.response.close()
            self._client.close()
        super().close()
