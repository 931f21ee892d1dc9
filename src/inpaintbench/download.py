"""One file from a network to a path: resumed, limited in bytes and time, hashed on the way, tried again where that can help."""

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
from inpaintbench.http_client import Limits, Passing, Visit, answer, ask, date, refuse_errors, with_tries, without_query

__all__ = ["Limits", "Received", "ask", "download", "forget", "safe_name", "utc_now", "without_query"]

_HASHED_BYTES = 1 << 22
_CLOCK = timedelta(seconds=60)  # RFC 9110, 8.8.2.2: a time of change this near to the answer's does not identify a file
_LONGEST_NAME = 100
_RANGE = re.compile(r"bytes (?:(\d+)-\d+|\*)/(\d+|\*)")


@dataclass(frozen=True)
class Received:
    """What came of a download."""

    final_url: str
    """After redirects, without its query."""
    http_status: int | None
    """None where it came by another way than HTTP."""
    tries: int
    bytes: int
    sha256: str
    etag: str | None
    media_type: str | None
    retrieved_at: str
    """UTC, ISO 8601."""


@dataclass(frozen=True)
class _File:
    """What upstream says of the file whose beginning lies in the part file."""

    validator: str | None = None
    """ETag or time of change that identifies its bytes; None where nothing does, so that it cannot be resumed."""
    length: int | None = None
    etag: str | None = None
    media_type: str | None = None


def download(url: str, part: Path, *, limits: Limits, headers: Mapping[str, str] = {}) -> Received:
    """Bring ``url`` to ``part``, going on from what lies there, and sync it to disk.

    ``<part>.json`` holds what identifies the file upstream. Both stay when the process ends early, so that the next call asks
    for the rest only (``Range`` with ``If-Range``); they are begun anew when upstream has another file by then.

    Args:
        url: what to fetch; its query and password are in no error.
        part: where the file goes.
        limits: on bytes, time, tries, schemes and addresses.
        headers: for the host of ``url`` alone, not for hosts that it redirects to.

    Raises:
        Gone: the server says so (HTTP 404 or 410).
        Rejected: refused by the server, or by the limits, schemes and addresses.
        NetworkError: no answer, an overloaded server, or a body cut short, at every try.
        OSError: it cannot be written.
    """
    visit = Visit(url, limits, headers)
    part.parent.mkdir(parents=True, exist_ok=True)
    return with_tries(visit, lambda: _attempt(visit, part))


def _attempt(visit: Visit, part: Path) -> Received:
    """Fetch what is missing of the file, once."""
    had, known = _left_by_earlier_tries(part)
    more = {"Range": f"bytes={had}-", "If-Range": known.validator} if had and known.validator else {}
    digest = hashlib.sha256()
    with answer(visit, "GET", more) as (response, url):
        if response.status_code == 416 and more:
            if _begin_and_length(response)[1] != had:
                _begin_anew(part, None)
                raise Passing("the server no longer has what was begun")
        else:
            refuse_errors(visit, response)
            if response.status_code == 206:
                _check_continued(response, part, had=had if more else None, known=known)
            else:
                had, known = 0, _described(response)
                _begin_anew(part, known)
        _hash_begun(part, digest, had)
        size = had if response.status_code == 416 else _stream(visit, response, part, digest, had=had, length=known.length)
        if known.length is not None and size != known.length:
            raise Passing(f"the body was cut short: {size} of {known.length} bytes")
        return Received(
            final_url=without_query(url), http_status=int(response.status_code), tries=visit.tries, bytes=size,
            sha256=digest.hexdigest(), etag=known.etag, media_type=known.media_type, retrieved_at=utc_now(),
        )  # fmt: skip


def _left_by_earlier_tries(part: Path) -> tuple[int, _File]:
    try:
        known = _File(**json.loads(_sidecar(part).read_text()))
        return part.stat().st_size, known
    except (OSError, ValueError, TypeError):  # never begun, or torn by a crash
        return 0, _File()


def _begin_anew(part: Path, known: _File | None) -> None:
    """Forget what was begun; the part file goes first, so that its bytes are never taken for those of another file."""
    part.unlink(missing_ok=True)
    _sidecar(part).unlink(missing_ok=True)
    if known is not None:
        _sidecar(part).write_text(json.dumps(asdict(known)))


def _check_continued(response: httpx2.Response, part: Path, *, had: int | None, known: _File) -> None:
    """Begin anew unless the answer goes on exactly where the part file ends."""
    begin, length = _begin_and_length(response)
    etag = response.headers.get("etag", known.validator)
    other_file = (known.validator or "").startswith('"') and etag != known.validator
    if begin != had or length not in (None, known.length) or other_file or _is_encoded(response):
        _begin_anew(part, None)
        raise Passing("the server sent another part of the file than was asked for")


def _described(response: httpx2.Response) -> _File:
    etag, media_type = response.headers.get("etag"), _media_type(response)
    if _is_encoded(response):  # though asked not to: the length is that of the packed bytes, and a rest cannot be unpacked
        return _File(None, None, etag, media_type)
    told = response.headers.get("content-length", "")
    return _File(_validator(response), int(told) if told.isascii() and told.isdigit() else None, etag, media_type)


def _validator(response: httpx2.Response) -> str | None:
    etag = response.headers.get("etag", "")
    if etag.startswith('"'):  # not a weak one, which promises no equal bytes
        return str(etag)
    changed, now = date(response.headers.get("last-modified", "")), date(response.headers.get("date", ""))
    return str(response.headers["last-modified"]) if changed and now and now - changed >= _CLOCK else None


def _hash_begun(part: Path, digest: hashlib._Hash, had: int) -> None:
    if had:
        with part.open("rb") as file:
            while block := file.read(_HASHED_BYTES):
                digest.update(block)


def _stream(visit: Visit, response: httpx2.Response, part: Path, digest: hashlib._Hash, *, had: int, length: int | None) -> int:
    """Append the body to the part file; how long the file is then."""
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
    """First byte and whole length that `Content-Range` states."""
    match = _RANGE.fullmatch(response.headers.get("content-range", "").strip())
    if match is None:
        return None, None
    begin, length = match.groups()
    return int(begin) if begin else None, None if length == "*" else int(length)


def _media_type(response: httpx2.Response) -> str | None:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower() or None


def _sidecar(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def forget(part: Path) -> None:
    """Remove a part file with everything beside it that bears its name."""
    for path in part.parent.glob(f"{glob_escape(part.name)}*"):
        path.unlink(missing_ok=True)


def safe_name(text: str) -> str:
    """``text`` as a file name of plain letters, digits, ``.``, ``_`` and ``-``; different texts stay different."""
    kept = re.sub(r"[^A-Za-z0-9._-]+", "_", text).strip("._-")[:_LONGEST_NAME]
    if kept and kept == text:
        return kept
    return f"{kept or 'unnamed'}-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def utc_now() -> str:
    """The time as tables hold it: UTC, ISO 8601, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
