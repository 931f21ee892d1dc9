"""One question to a server over HTTP: redirects followed by hand, tried again where that can help, refusals told apart."""

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

_SILENCE_SECONDS = 60.0  # a server that says nothing for so long is asked again
_LONGEST_WAIT_SECONDS = 60.0  # between two tries, unless the server says otherwise
_MOST_REDIRECTS = 10
_GONE = (404, 410)
_PASSING = (408, 425, 429)  # with every 5xx: what may be better in a moment
_REDIRECTS = (301, 302, 303, 307, 308)
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Limits:
    """What a download may cost and where it may go."""

    most_bytes: int = 4 << 30
    seconds: float = 1800.0
    """For one file, with all tries and the waiting between them."""
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
    """The server says that there is nothing (any more); ``http_status`` is what it said."""

    http_status = 0
    tries = 1


class ServerRefused(Rejected):
    """The server does not give it; ``http_status`` is what it said."""

    http_status = 0
    tries = 1


class Passing(Exception):
    """Worth another try, after ``wait_seconds`` where the server named a time."""

    def __init__(self, reason: str, *, wait_seconds: float | None = None) -> None:
        super().__init__(reason)
        self.wait_seconds = wait_seconds


@dataclass
class Visit:
    """One download: what is asked for, and when it must be over."""

    url: str
    limits: Limits
    headers: Mapping[str, str]
    tries: int = 0
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.limits.seconds

    @property
    def shown(self) -> str:
        """What errors call it."""
        return without_query(self.url)


def ask(url: str, *, limits: Limits, headers: Mapping[str, str] = {}) -> int:
    """The HTTP status that ``url`` is answered with, without its contents. Raises what ``download`` raises."""
    visit = Visit(url, limits, headers)
    return with_tries(visit, lambda: _head(visit))


def _head(visit: Visit) -> int:
    for method, more in (("HEAD", {}), ("GET", {"Range": "bytes=0-0"})):
        with answer(visit, method, more) as (response, _):
            unknown_method = method == "HEAD" and response.status_code in (400, 403, 405, 501)
            if not unknown_method and response.status_code != 416:
                refuse_errors(visit, response)
            if not unknown_method:
                break
    return int(response.status_code)


def with_tries(visit: Visit, attempt: Callable[[], Answer]) -> Answer:
    """Call ``attempt`` until it does not raise ``Passing``, as often and as long as the limits allow.

    Raises:
        NetworkError: it did at every try, or the server asks to wait for longer than there is time.
    """
    tries = tenacity.Retrying(
        retry=tenacity.retry_if_exception_type(Passing),
        stop=tenacity.stop_after_attempt(visit.limits.tries) | tenacity.stop_before_delay(visit.limits.seconds),
        wait=_wait,
        reraise=True,
    )

    def counted() -> Answer:
        visit.tries += 1
        return attempt()

    try:
        return tries(counted)
    except Passing as error:
        times = "once" if visit.tries == 1 else f"{visit.tries} times"
        raise NetworkError(f"{visit.shown} could not be fetched, tried {times}: {error}") from error
    except (ServerGone, ServerRefused) as error:
        error.tries = visit.tries
        raise


def _wait(state: tenacity.RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    told = error.wait_seconds if isinstance(error, Passing) else None
    # Many programs that were turned away together shall not come back together.
    jitter = tenacity.wait_random_exponential(multiplier=1, max=_LONGEST_WAIT_SECONDS)(state)
    return jitter if told is None else told + min(jitter, 1.0)


@contextmanager
def answer(visit: Visit, method: str, more: Mapping[str, str]) -> Iterator[tuple[httpx2.Response, str]]:
    """The streamed answer after redirects, and the address that gave it; what goes wrong in between is ``Passing``."""
    agent = f"inpaintbench/{inpaintbench.__version__}" + (f" ({visit.limits.contact})" if visit.limits.contact else "")
    # Length and hash are those of the file, so nothing may be compressed on the way.
    common = {"User-Agent": agent, "Accept": "*/*", "Accept-Encoding": "identity", **more}
    # No proxies from the environment: a proxy resolves names itself, and the addresses could not be judged.
    transport = CheckedTransport(allow_private=visit.limits.allow_private)
    with httpx2.Client(transport=transport, trust_env=False, follow_redirects=False) as client:
        try:
            response, url = followed(client, visit, method, common)
            try:
                yield response, url
            finally:
                response.close()
        except httpx2.TransportError as error:
            raise Passing(_told(error)) from error
        except httpx2.DecodingError as error:
            raise Passing("the body is damaged") from error


def _told(error: httpx2.TransportError) -> str:
    timed_out = isinstance(error, httpx2.TimeoutException)
    return "the server does not answer" if timed_out else str(error).rstrip(".") or type(error).__name__


def followed(
    client: httpx2.Client, visit: Visit, method: str, common: Mapping[str, str], *, body: bytes | None = None
) -> tuple[httpx2.Response, str]:
    """The streamed answer after redirects, whatever its status, and the address that gave it.

    Args:
        client: that follows no redirects itself.
        visit: what is asked for; its headers go to the host of its address alone.
        method: of HTTP.
        common: headers for every host.
        body: to be sent; dropped, as browsers do, where a redirect asks for another page.

    Raises:
        Rejected: an address of the way is not of an allowed kind, or there are too many.
        httpx2.TransportError: no answer.
    """
    url = first = _parsed(visit.url, visit)
    for _ in range(_MOST_REDIRECTS + 1):
        own = {**common, **visit.headers} if _origin(url) == _origin(first) else common
        timeout = min(_SILENCE_SECONDS, max(0.1, visit.deadline - time.monotonic()))
        response = client.send(client.build_request(method, url, headers=own, content=body, timeout=timeout), stream=True)
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
    led = f"{visit.shown} redirects to {without_query(str(url))!r}, which" if base else f"{visit.shown!r}"
    if url.scheme not in visit.limits.schemes:
        raise Rejected(f"{led} is not one of the allowed kinds of address: {', '.join(visit.limits.schemes)}")
    if not url.host:
        raise Rejected(f"{led} names no host")
    return url


def _origin(url: httpx2.URL) -> tuple[str, str, int | None]:
    return url.scheme, url.host, url.port


def refuse_errors(visit: Visit, response: httpx2.Response) -> None:
    """Raise what an answer other than 2xx means."""
    status = int(response.status_code)
    if status in _GONE:
        gone = ServerGone(f"{visit.shown} is not there (HTTP {status})")
        gone.http_status = status
        raise gone
    if status in _PASSING or status >= 500:
        raise Passing(f"HTTP {status}", wait_seconds=_retry_after(response))
    if not 200 <= status < 300:
        refused = ServerRefused(f"{visit.shown} is refused by its server (HTTP {status})")
        refused.http_status = status
        raise refused


def _retry_after(response: httpx2.Response) -> float | None:
    """Seconds, from a number or an HTTP date; None where the server names no time."""
    told = response.headers.get("retry-after", "").strip()
    if told.isascii() and told.isdigit():
        return float(told)
    at = date(told)
    return max(0.0, (at - datetime.now(UTC)).total_seconds()) if at else None


def date(text: str) -> datetime | None:
    """An HTTP date; None for anything else."""
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError):
        return None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def without_query(url: str) -> str:
    """What may stand in tables and errors: without query, fragment, user and password."""
    try:
        parts = urlsplit(url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
    except ValueError:
        return re.sub(r"//[^/]*@", "//", re.split(r"[?#]", url)[0])
