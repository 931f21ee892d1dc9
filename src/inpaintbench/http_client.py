"""HTTP client for addresses from strangers' lists: checked redirects, retries, errors by kind (gone, refused, transient)."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx2
import tenacity

import inpaintbench
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected
from inpaintbench.http_transport import CheckedTransport

# A server that sends nothing for so long is asked again.
_TIMEOUT_SECONDS = 60.0
# Between two tries, unless the server names a time itself.
_LONGEST_WAIT_SECONDS = 60.0
_MOST_REDIRECTS = 10
_GONE = (404, 410)
# Request timeout, too early, too many requests; like every 5xx they may be over in a moment.
_TRANSIENT = (408, 425, 429)
_REDIRECTS = (301, 302, 303, 307, 308)
Result = TypeVar("Result")


@dataclass(frozen=True)
class Limits:
    """Limits of a download: bytes, time, tries, and the addresses that it may reach."""

    most_bytes: int = 4 << 30
    seconds: float = 1800.0
    """Time for one file, with all tries and the waiting between them."""
    tries: int = 4
    schemes: tuple[str, ...] = ("https", "http")
    allow_private: bool = False
    """Also loopback, private and link-local addresses: for one's own network."""
    contact: str = ""
    """An address at which the user can be reached, for the servers' logs; part of the User-Agent."""

    def __post_init__(self) -> None:
        if not (self.contact.isascii() and self.contact.isprintable()):
            raise InputError(f"the contact {self.contact!r} can stand in no header; use one line of plain ASCII")


class ServerGone(Gone):
    """HTTP 404 or 410, in ``http_status``; ``tries`` counts the requests made."""

    http_status = 0
    tries = 1


class ServerRefused(Rejected):
    """Any other final HTTP status than 2xx, in ``http_status``; ``tries`` counts the requests made."""

    http_status = 0
    tries = 1


class TransientError(Exception):
    """An error worth another try, after ``wait_seconds`` where the server named a time."""

    def __init__(self, reason: str, *, wait_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.wait_seconds = wait_seconds


@dataclass
class Visit:
    """State of one download: its address, headers, deadline (monotonic clock, seconds) and number of tries."""

    url: str
    limits: Limits
    headers: Mapping[str, str]
    tries: int = 0
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.seconds

    @property
    def shown(self) -> str:
        """Address as errors show it, without its query."""
        return without_query(self.url)


def ask(url: str, *, limits: Limits, headers: Mapping[str, str] = {}) -> int:
    """Request the HTTP status of ``url`` without its contents. Raises what ``download`` raises."""
    visit = Visit(url, limits, headers)
    return retry(visit, lambda: _head(visit))


def _head(visit: Visit) -> int:
    # Some servers know no HEAD, or forbid it; a GET of one byte asks them the same.
    for method, headers in (("HEAD", {}), ("GET", {"Range": "bytes=0-0"})):
        with open_response(visit, method, headers) as (response, _):
            unknown_method = method == "HEAD" and response.status_code in (400, 403, 405, 501)
            if not unknown_method and response.status_code != 416:  # 416: the file is there, and empty
                raise_for_status(visit, response)
            if not unknown_method:
                break
    return int(response.status_code)


def retry(visit: Visit, attempt: Callable[[], Result]) -> Result:
    """Call ``attempt`` until it does not raise ``TransientError``, as often and as long as the limits allow.

    Raises:
        NetworkError: every try failed, or the server asks to wait beyond the time limit.
    """
    tries = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(TransientError),
        stop=tenacity.stop_after_attempt(visit.limits.tries) | tenacity.stop_before_delay(visit.limits.seconds),
        wait=_wait,
        reraise=True,
    )

    def counted() -> Result:
        visit.tries += 1
        return attempt()

    try:
        return tries(counted)
    except TransientError as error:
        times = "once" if visit.tries == 1 else f"{visit.tries} times"
        raise NetworkError(f"{visit.shown} could not be fetched, tried {times}: {error}") from error
    except (ServerGone, ServerRefused) as error:
        error.tries = visit.tries
        raise


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    retry_after = error.wait_seconds if isinstance(error, TransientError) else None
    # Without jitter, many clients that were turned away together would come back together.
    jitter = tenacity.wait_random_exponential(multiplier=1, max=_LONGEST_WAIT_SECONDS)(state)
    return jitter if retry_after is None else retry_after + min(jitter, 1.0)


@contextmanager
def open_response(visit: Visit, method: str, headers: Mapping[str, str]) -> Iterator[tuple[httpx2.Response, str]]:
    """Streamed response after redirects, and its address; failures of the transport are raised as ``TransientError``."""
    agent = f"inpaintbench/{inpaintbench.__version__}" + (f" ({visit.limits.contact})" if visit.limits.contact else "")
    # Length and hash are those of the file, so that nothing may be compressed in transfer.
    common = {"User-Agent": agent, "Accept": "*/*", "Accept-Encoding": "identity", **headers}
    # No proxies from the environment: a proxy resolves names itself, and the addresses could not be judged.
    transport = CheckedTransport(allow_private=visit.limits.allow_private)
    with httpx2.Client(transport=transport, trust_env=False, follow_redirects=False) as client:
        try:
            response, url = send_following_redirects(client, visit, method, common)
            try:
                yield response, url
            finally:
                response.close()
        except httpx2.TransportError as error:
            raise TransientError(_message(error)) from error
        except httpx2.DecodingError as error:
            raise TransientError("the body is damaged") from error


def _message(error: httpx2.TransportError) -> str:
    timed_out = isinstance(error, httpx2.TimeoutException)
    return "the server does not answer" if timed_out else str(error).rstrip(".") or type(error).__name__


def send_following_redirects(
    client: httpx2.Client, visit: Visit, method: str, common: Mapping[str, str], *, body: bytes | None = None
) -> tuple[httpx2.Response, str]:
    """Send a request and follow redirects; return the streamed response, whatever its status, and its address.

    Args:
        client: one that follows no redirects itself.
        visit: the download; its headers are sent to the host of its address alone.
        method: HTTP method.
        common: headers for every host.
        body: of the request; dropped, as browsers do, where a redirect turns the method into GET.

    Raises:
        Rejected: the scheme or host of a redirect is not allowed, or there are too many redirects.
        httpx2.TransportError: no response.
    """
    url = first = _parsed(visit.url, visit)
    for _ in range(_MOST_REDIRECTS + 1):
        # Keys and cookies in the visit's headers are for its own origin: a redirect must not carry them elsewhere.
        headers = {**common, **visit.headers} if _origin(url) == _origin(first) else common
        timeout = min(_TIMEOUT_SECONDS, max(0.1, visit.deadline - time.monotonic()))
        response = client.send(client.build_request(method, url, headers=headers, content=body, timeout=timeout), stream=True)
        if response.status_code not in _REDIRECTS or "location" not in response.headers:
            return response, str(url)
        response.close()
        if response.status_code == 303 or (method == "POST" and response.status_code in (301, 302)):
            method, body = "HEAD" if method == "HEAD" else "GET", None
        url = _parsed(response.headers["location"], visit, base=url)
    raise Rejected(f"{visit.shown} redirects more than {_MOST_REDIRECTS} times")


def _parsed(text: str, visit: Visit, *, base: httpx2.URL | None = None) -> httpx2.URL:
    try:
        url = base.join(text) if base else httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError, TypeError) as error:
        raise Rejected(f"{without_query(text)!r} is not an address") from error
    subject = f"{visit.shown} redirects to {without_query(str(url))!r}, which" if base else f"{visit.shown!r}"
    if url.scheme not in visit.limits.schemes:
        raise Rejected(f"{subject} is not one of the allowed kinds of address: {', '.join(visit.limits.schemes)}")
    if not url.host:
        raise Rejected(f"{subject} names no host")
    return url


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def raise_for_status(visit: Visit, response: httpx2.Response) -> None:
    """Raise the error of a status other than 2xx: ``ServerGone``, ``TransientError`` or ``ServerRefused``."""
    status = int(response.status_code)
    if status in _GONE:
        gone = ServerGone(f"{visit.shown} is not there (HTTP {status})")
        gone.http_status = status
        raise gone
    if status in _TRANSIENT or status >= 500:
        raise TransientError(f"HTTP {status}", wait_seconds=_retry_after(response))
    if not 200 <= status < 300:
        refused = ServerRefused(f"{visit.shown} is refused by its server (HTTP {status})")
        refused.http_status = status
        raise refused


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds to wait by ``Retry-After``, a number or an HTTP date; None where the server names no time."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value)
    moment = date(value)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment else None


def date(text: str) -> datetime | None:
    """Parse an HTTP date; None for anything else."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def without_query(url: str) -> str:
    """Address for tables and errors: without query, fragment, user and password."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return re.sub(r"//[^/]*@", "//", re.split(r"[?#]", url)[0])
