"""An S3 server on this machine, moto's, that counts what it is asked for and fails as often as it is told to."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any
from urllib.request import Request, urlopen

from moto.server import DomainDispatcherApplication, create_backend_app
from werkzeug.serving import WSGIRequestHandler, make_server

# Refusals as servers word them; Ceph's says no more than the code.
_REFUSALS = {
    "skewed": ("403 Forbidden", b"<Error><Code>RequestTimeTooSkewed</Code><Message>too large a difference</Message></Error>"),
    "key": ("403 Forbidden", b"<Error><Code>InvalidAccessKeyId</Code><Message>no such key</Message></Error>"),
    "secret": ("403 Forbidden", b"<Error><Code>SignatureDoesNotMatch</Code><Message>another signature</Message></Error>"),
    "lost": ("404 Not Found", b"<Error><Code>NoSuchUpload</Code><Message>it may have been completed</Message></Error>"),
    "taken": ("412 Precondition Failed", b"<Error><Code>PreconditionFailed</Code></Error>"),
}
KEY, SECRET = "AKIATESTONLY0000HUSH", "hush-hush/secret+of+the+tests=="


@dataclass
class ObjectServer:
    """What it has been asked for, and how it fails.

    Attributes:
        address: of its door, ``http://127.0.0.1:PORT``.
        asked: method and path of every request, since it was last cleared.
        sent: bytes of bodies of answers.
        every: which requests fail: every third, say; 0 = none does.
        kinds: how they fail, by turns: by status, late, cut off in the middle, as signed at another time than the server's or
            with keys that it does not know, as of an upload in parts that is over, or as nothing may be written over.
        ahead: its clock is by so many seconds ahead of the machine's.
        writes_over: it does so though it is asked not to, as older servers do.
    """

    address: str
    asked: list[tuple[str, str]] = field(default_factory=list)
    sent: int = 0
    every: int = 0
    kinds: tuple[str, ...] = ("500", "503", "late", "cut")
    ahead: int = 0
    writes_over: bool = False
    faults: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def environment(self) -> dict[str, str]:
        """What a program has to be told to find it, as the drivers' usual chain reads it."""
        return {
            "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_ENDPOINT_URL": self.address,
            "AWS_DEFAULT_REGION": "us-east-1", "AWS_REGION": "us-east-1", "AWS_ALLOW_HTTP": "true",
        }  # fmt: skip

    def answer(self, application: Callable[..., Any], environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        if path.startswith("/moto-api"):
            answer: Iterable[bytes] = application(environ, start)
            return answer
        with self._lock:
            self.asked.append((environ["REQUEST_METHOD"], path))
            is_faulty = self.every and len(self.asked) % self.every == 0
            fault = self.kinds[self.faults % len(self.kinds)] if is_faulty else ""
            self.faults += bool(fault)
        if fault in ("500", "503"):
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            start(f"{fault} Fault", [("Content-Type", "application/xml"), ("Content-Length", "0")])
            return [b""]
        if fault in _REFUSALS:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            status, body = _REFUSALS[fault]
            start(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))])
            return [body]
        if self.writes_over:
            environ.pop("HTTP_IF_NONE_MATCH", None)
        if fault == "late":
            time.sleep(0.5)

        def started(status: str, headers: list[tuple[str, str]], *rest: Any) -> Any:
            return start(status, [(name, self._moved(name, value)) for name, value in headers], *rest)

        body = b"".join(application(environ, started))
        with self._lock:
            self.sent += len(body)
        return _half(body) if fault == "cut" and len(body) > 1 else [body]

    def _moved(self, name: str, value: str) -> str:
        if name.lower() not in ("date", "last-modified"):
            return value
        return format_datetime(parsedate_to_datetime(value) + timedelta(seconds=self.ahead), usegmt=True)


def _half(body: bytes) -> Iterator[bytes]:
    yield body[: len(body) // 2]
    raise ConnectionAbortedError("the test cuts the answer off")


class _Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_: Any, **__: Any) -> None:
        pass

    def run_wsgi(self) -> None:
        try:
            super().run_wsgi()
        except ConnectionAbortedError:
            self.close_connection = True


@contextmanager
def object_server(*buckets: str) -> Iterator[ObjectServer]:
    """A server with these buckets while the block runs."""
    application = DomainDispatcherApplication(create_backend_app)
    server: Any = None

    def answering(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        return made.answer(application, environ, start)

    server = make_server("127.0.0.1", 0, answering, threaded=True, request_handler=_Quiet)
    made = ObjectServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        import boto3

        own = {"aws_access_key_id": KEY, "aws_secret_access_key": SECRET, "region_name": "us-east-1"}
        client = boto3.client("s3", endpoint_url=made.address, **own)
        for bucket in buckets:
            client.create_bucket(Bucket=bucket)
        made.asked.clear()
        yield made
    finally:
        urlopen(Request(f"{made.address}/moto-api/reset", method="POST")).close()  # buckets are the process's
        server.shutdown()
        thread.join()
        server.server_close()
