"""A real HTTP server on this machine that can behave as badly as the ones outside."""

from __future__ import annotations

import re
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

_BLOCK = 1 << 14


@dataclass(frozen=True)
class Answer:
    """What the server says to one request."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: str | None = None
    ranges: bool = True
    """Whether `Range` is understood; it needs an ETag."""
    cut: int | None = None
    """Hang up after so many bytes of what was to be sent."""
    claimed_length: int | None = None
    """What `Content-Length` says instead of the truth."""
    stall_at: int | None = None
    """Fall silent after so many bytes, until the server ends."""
    endless: bool = False


@dataclass(frozen=True)
class Seen:
    """One request that came in."""

    method: str
    path: str
    headers: Message


class WebServer:
    """Answers each path from its list, one after the other; the last one stays.

    Use it as a context manager; ``url(path)`` is where it listens. With the path of a certificate and key it speaks HTTPS.
    """

    def __init__(self, certificate: Path | None = None) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"web": self}))
        self._server.daemon_threads = True
        self.scheme = "https" if certificate else "http"
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> WebServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def say(self, path: str, *answers: Answer) -> str:
        """Answer ``path`` like this from now on; its address."""
        self.answers[path] = list(answers)
        return self.url(path)

    def redirect(self, path: str, target: str, status: int = 302) -> str:
        return self.say(path, Answer(status=status, headers={"Location": target}))

    def asked(self, path: str) -> list[Seen]:
        return [request for request in self.seen if request.path.partition("?")[0] == path]

    def next_answer(self, path: str) -> Answer:
        waiting = self.answers.get(path, [Answer(status=404)])
        return waiting.pop(0) if len(waiting) > 1 else waiting[0]


class _Handler(BaseHTTPRequestHandler):
    web: WebServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._reply()

    def do_HEAD(self) -> None:
        self._reply()

    def log_message(self, *_: object) -> None:
        """Silent."""

    def _reply(self) -> None:
        self.close_connection = True
        self.web.seen.append(Seen(self.command, self.path, self.headers))
        answer = self.web.next_answer(self.path.partition("?")[0])
        status, body, headers = _ranged(answer, self.headers)
        self.send_response(status)
        for name, value in {**headers, **answer.headers}.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        if not answer.endless:
            self.send_header("Content-Length", str(len(body) if answer.claimed_length is None else answer.claimed_length))
        self.end_headers()
        if self.command == "GET":
            self._send(answer, body)

    def _send(self, answer: Answer, body: bytes) -> None:
        try:
            if answer.stall_at is not None:
                self.wfile.write(body[: answer.stall_at])
                self.web.closing.wait(30)
            while answer.endless and not self.web.closing.is_set():
                self.wfile.write(bytes(_BLOCK))
            self.wfile.write(body[: answer.cut])
        except OSError:  # the other side has hung up
            return


def _ranged(answer: Answer, asked: Message) -> tuple[int, bytes, dict[str, str]]:
    headers = {"ETag": answer.etag} if answer.etag else {}
    match = re.fullmatch(r"bytes=(\d+)-(\d*)", asked.get("Range", ""))
    same_file = asked.get("If-Range", answer.etag) == answer.etag
    if answer.status != 200 or not (match and answer.etag and answer.ranges and same_file):
        return answer.status, answer.body, headers
    begin, length = int(match[1]), len(answer.body)
    end = min(int(match[2]) + 1 if match[2] else length, length)
    if begin >= length:
        return 416, b"", {**headers, "Content-Range": f"bytes */{length}"}
    return 206, answer.body[begin:end], {**headers, "Content-Range": f"bytes {begin}-{end - 1}/{length}"}
