"""Download of one file over HTTP: resumable, limited in bytes and time, hashed while streaming, with retries."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from glob import escape as glob_escape
from pathlib import Path
from time import monotonic

import httpx2

from inpaintbench.errors import Rejected
from inpaintbench.http_client import (
    Limits,
    TransientError,
    Visit,
    ask,
    date,
    open_response,
    raise_for_status,
    retry,
    without_query,
)

__all__ = ["Limits", "Received", "ask", "download", "forget", "safe_name", "utc_now", "without_query"]

_HASH_BLOCK_BYTES = 1 << 22
# RFC 9110, 8.8.2.2: a `Last-Modified` this close to the response's `Date` does not identify a file.
_STRONG_AGE = timedelta(seconds=60)
# Leaves room, within the 255 bytes of a file name, for a hash and suffixes such as `.part.json`.
_LONGEST_NAME = 100
# `Content-Range`: first byte and whole length.
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


@dataclass(frozen=True)
class Received:
    """Facts of a completed download."""

    final_url: str
    """Address after redirects, without its query."""
    http_status: int | None
    """None where the file was not transferred over HTTP."""
    tries: int
    bytes: int
    sha256: str
    etag: str | None
    media_type: str | None
    retrieved_at: str
    """UTC, ISO 8601."""


@dataclass(frozen=True)
class _RemoteFile:
    """Headers of the remote file that the part file is the beginning of."""

    validator: str | None = None
    """Strong ETag or ``Last-Modified``; None where neither identifies the bytes, so that the download cannot be resumed."""
    length: int | None = None
    etag: str | None = None
    media_type: str | None = None


def download(url: str, part: Path, *, limits: Limits, headers: Mapping[str, str] = {}) -> Received:
    """Download ``url`` to ``part``, resuming from the bytes that lie there, and sync the file to disk.

    ``<part>.json`` holds the headers that identify the remote file. Both stay when the process ends early, so that the next call
    requests only the remaining bytes (``Range`` with ``If-Range``); both are replaced when the remote file has changed.

    Args:
        url: address; its query and password appear in no error.
        part: path of the file.
        limits: on bytes, time, tries, schemes and addresses.
        headers: sent to the host of ``url`` alone, not to hosts that it redirects to.

    Raises:
        Gone: HTTP 404 or 410.
        Rejected: refused by the server, or by the limits, schemes and addresses.
        NetworkError: no response, an overloaded server, or a body cut short, at every try.
        OSError: the file cannot be written.
    """
    visit = Visit(url, limits, headers)
    part.parent.mkdir(parents=True, exist_ok=True)
    return retry(visit, lambda: _attempt(visit, part))


def _attempt(visit: Visit, part: Path) -> Received:
    """Request the missing bytes of the file, once."""
    try:
        known = _RemoteFile(**json.loads(_sidecar(part).read_text()))
        had = part.stat().st_size
    except (OSError, ValueError, TypeError):  # never begun, or torn by a crash
        had, known = 0, _RemoteFile()
    range_headers = {"Range": f"bytes={had}-", "If-Range": known.validator} if had and known.validator else {}
    digest = hashlib.sha256()
    with open_response(visit, "GET", range_headers) as (response, url):
        if response.status_code == 416 and range_headers:  # range not satisfiable: there are no bytes beyond those we have
            if _begin_and_length(response)[1] != had:
                _restart(part, None)
                raise TransientError("the server no longer has what was begun")
        else:
            raise_for_status(visit, response)
            if response.status_code == 206:
                begin, length = _begin_and_length(response)
                etag = response.headers.get("etag", known.validator)
                has_changed = (known.validator or "").startswith('"') and etag != known.validator
                asked = had if range_headers else None
                if begin != asked or length not in (None, known.length) or has_changed or _is_encoded(response):
                    _restart(part, None)
                    raise TransientError("the server sent another part of the file than was asked for")
            else:
                had, known = 0, _remote_file(response)
                _restart(part, known)
        if had:
            with part.open("rb") as file:
                while block := file.read(_HASH_BLOCK_BYTES):
                    digest.update(block)
        size = had if response.status_code == 416 else _stream(visit, response, part, digest, had=had, length=known.length)
        if known.length is not None and size != known.length:
            raise TransientError(f"the body was cut short: {size} of {known.length} bytes")
        return Received(
            final_url=without_query(url), http_status=int(response.status_code), tries=visit.tries, bytes=size,
            sha256=digest.hexdigest(), etag=known.etag, media_type=known.media_type, retrieved_at=utc_now(),
        )  # fmt: skip


def _restart(part: Path, known: _RemoteFile | None) -> None:
    """Discard the part file, then its sidecar: in this order its bytes are never taken for those of another file."""
    part.unlink(missing_ok=True)
    _sidecar(part).unlink(missing_ok=True)
    if known is not None:
        _sidecar(part).write_text(json.dumps(asdict(known)))


def _remote_file(response: httpx2.Response) -> _RemoteFile:
    etag = response.headers.get("etag", "")
    media_type = response.headers.get("content-type", "").partition(";")[0].strip().lower() or None
    # A server that compresses in spite of `identity`: the length is that of the compressed bytes, whose middle cannot be decoded.
    if _is_encoded(response):
        return _RemoteFile(None, None, etag or None, media_type)
    validator = str(etag) if etag.startswith('"') else None  # a weak one (`W/"..."`) does not promise equal bytes
    changed, now = date(response.headers.get("last-modified", "")), date(response.headers.get("date", ""))
    if validator is None and changed and now and now - changed >= _STRONG_AGE:
        validator = str(response.headers["last-modified"])
    length = response.headers.get("content-length", "")
    return _RemoteFile(validator, int(length) if length.isascii() and length.isdigit() else None, etag or None, media_type)


def _stream(visit: Visit, response: httpx2.Response, part: Path, digest: hashlib._Hash, *, had: int, length: int | None) -> int:
    """Append the body to the part file; return the size of the file, bytes."""
    size, limits = had, visit.limits
    _check_size(visit, length or 0)
    chunks = response.iter_bytes() if _is_encoded(response) else response.iter_raw()
    with part.open("ab") as file:
        for chunk in chunks:
            size += len(chunk)
            _check_size(visit, size)
            if monotonic() > visit.deadline:
                raise Rejected(f"{visit.shown} takes longer than {limits.seconds:g} s")
            file.write(chunk)
            digest.update(chunk)
        file.flush()
        os.fsync(file.fileno())
    return size


def _check_size(visit: Visit, size: int) -> None:
    if size > visit.limits.most_bytes:
        raise Rejected(f"{visit.shown} is larger than {visit.limits.most_bytes} bytes")


def _is_encoded(response: httpx2.Response) -> bool:
    return response.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity")


def _begin_and_length(response: httpx2.Response) -> tuple[int | None, int | None]:
    """First byte and whole length of the file, from ``Content-Range``; None where unknown."""
    match = _RANGE.fullmatch(response.headers.get("content-range", "").strip())
    if match is None:
        return None, None
    begin, length = match.groups()
    return int(begin) if begin else None, None if length == "*" else int(length)


def _sidecar(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def forget(part: Path) -> None:
    """Remove a part file and all files whose names begin with its name."""
    for path in part.parent.glob(f"{glob_escape(part.name)}*"):
        path.unlink(missing_ok=True)


def safe_name(text: str) -> str:
    """File name for ``text`` of ASCII letters, digits, ``.``, ``_`` and ``-``; a hash keeps a changed one unique."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._-")[:_LONGEST_NAME]
    if name and name == text:
        return name
    return f"{name or 'unnamed'}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def utc_now() -> str:
    """Current time as tables hold it: UTC, ISO 8601, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
