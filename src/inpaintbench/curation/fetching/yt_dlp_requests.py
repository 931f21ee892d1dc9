"""How yt-dlp asks servers here: every address, also of redirects, is judged before it is connected to."""

from __future__ import annotations

import importlib
import io
from typing import Any

import httpx2

from inpaintbench.errors import Rejected
from inpaintbench.http_client import CheckedTransport, Limits, Visit, send_following_redirects

_OWN = ("authorization", "cookie")  # headers that no other host than the one asked for may see
_KNOWN_EXTENSIONS = ("cookiejar", "timeout", "legacy_ssl", "keep_header_casing")


def checked_class(yt_dlp: Any, limits: Limits) -> Any:
    """The class ``YoutubeDL`` with one way to ask servers, within ``limits``: through ``CheckedTransport``."""
    handler = _handler_class(limits)

    class Checked(yt_dlp.YoutubeDL):  # type: ignore[misc]  # the package has no types
        def build_request_director(self, _: Any, preferences: Any = None) -> Any:
            return super().build_request_director([handler], preferences)

    return Checked


def _handler_class(limits: Limits) -> Any:
    networking: Any = importlib.import_module("yt_dlp.networking.common")
    exceptions: Any = importlib.import_module("yt_dlp.networking.exceptions")

    class CheckedRH(networking.RequestHandler):  # type: ignore[misc]
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
            told = body.response
            response = networking.Response(io.BufferedReader(body), url, told.headers, told.status_code, told.reason_phrase)
            if told.status_code >= 300:
                raise exceptions.HTTPError(response)
            return response

    return CheckedRH


def _opened(request: Any, headers: dict[str, str], cookies: Any, limits: Limits) -> tuple[_Body, str]:
    own = {name: value for name, value in headers.items() if name.lower() in _OWN}
    common = {name: value for name, value in headers.items() if name not in own}
    data = request.data if request.data is None or isinstance(request.data, bytes) else b"".join(request.data)
    transport = CheckedTransport(allow_private=limits.allow_private)
    client = httpx2.Client(transport=transport, trust_env=False, follow_redirects=False, cookies=cookies)
    try:
        response, url = send_following_redirects(client, Visit(request.url, limits, own), request.method, common, body=data)
    except BaseException:
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
