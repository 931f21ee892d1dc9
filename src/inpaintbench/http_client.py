"""HTTP client for addresses from strangers' lists: public addresses only, checked redirects, retries, errors by kind."""

from __future__ import annotations

import ipaddress
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import urlsplit, urlunsplit

import httpx2

import inpaintbench
from inpaintbench.errors import Gone, InputError, NetworkError, Rejected
from inpaintbench.lazily import lazily

tenacity = lazily("tenacity")  # brings asyncio, and a web server where one is installed

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Net = ipaddress.IPv4Network | ipaddress.IPv6Network
# Addresses at which clouds tell a machine about itself, its credentials among it: AWS, Azure, Google, Oracle, OpenStack and most
# others; AWS containers and pods; AWS, Google and Scaleway over IPv6; OpenStack over IPv6; Scaleway; Alibaba; Oracle's former
# one; Azure's wire server.
_METADATA = frozenset(map(ipaddress.ip_address, (
    "169.254.169.254", "169.254.170.2", "169.254.170.23", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42",
    "fe80::a9fe:a9fe", "169.254.42.42", "100.100.100.200", "192.0.0.192", "168.63.129.16",
)))  # fmt: skip
# RFC 6052: the last four bytes of these are an IPv4 address.
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_IPV4_BYTES = 4


class CheckedTransport(httpx2.HTTPTransport):
    """HTTP/1.1 transport that resolves each name once, checks every address, and connects to a checked one.

    A name that resolves differently the second time (DNS rebinding) gains nothing: there is no second time. Connections are not
    kept, so none that was opened and verified for one name is used for another name at the same address.
    """

    def __init__(self, limits: Limits) -> None:
        super().__init__(verify=_tls(), trust_env=False, limits=httpx2.Limits(max_connections=1, max_keepalive_connections=0))
        self._limits = limits

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send the request to the first address that accepts a connection.

        Raises:
            NotPublic: an address of the host is not a public one, and not allowed either.
            httpx2.ConnectError: the name does not resolve, or no address accepts a connection.
        """
        host = request.url.raw_host.decode("ascii")
        failure: httpx2.TransportError = httpx2.ConnectError(f"{host} has no address")
        for address in resolve(host, limits=self._limits):
            try:
                # For the fixed address; the `Host` header and the checked certificate stay those of the name.
                return super().handle_request(httpx2.Request(
                    request.method, request.url.copy_with(host=address), headers=request.headers, stream=request.stream,
                    extensions={**request.extensions, "sni_hostname": host.strip("[]")},
                ))  # fmt: skip
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
        raise failure


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    return httpx2.create_ssl_context()  # cached, since reading all certificates takes 20 ms


def resolve(host: str, *, limits: Limits) -> list[str]:
    """Resolve ``host`` to all of its addresses, in the resolver's order.

    Raises:
        NotPublic: one of them is not public, and ``limits`` do not allow it.
        httpx2.ConnectError: the name does not resolve.
    """
    try:
        answers = socket.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx2.ConnectError(f"the name {host!r} does not resolve") from error
    addresses = list(dict.fromkeys(str(answer[4][0]) for answer in answers))
    for address in addresses:
        if why := limits.why_not(host, address):
            raise NotPublic(why, host=host, address=address)
    return addresses


def non_public_reason(address: Address) -> str | None:
    """Reason why an address is not public, e.g. ``a loopback address``; None for public ones.

    IPv6 forms that embed an IPv4 address (mapped, NAT64, 6to4) are judged by that address.
    """
    embedded = _embedded_ipv4(address)
    if embedded is not None:
        return non_public_reason(embedded)
    kinds = {
        "an unspecified address": address.is_unspecified,
        "a loopback address": address.is_loopback,
        "a link-local address": address.is_link_local,
        "a site-local address": isinstance(address, ipaddress.IPv6Address) and address.is_site_local,
        "a multicast address": address.is_multicast,
        "a reserved address": address.is_reserved,
        "a private address": not address.is_global,
    }
    return next((kind for kind, holds in kinds.items() if holds), None)


def _net(text: str) -> Net:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError:
        raise InputError(f"{text!r} is not a net of addresses, such as 10.1.0.0/16 or fd12:3456::/32") from None


def _embedded_ipv4(address: Address) -> ipaddress.IPv4Address | None:
    if isinstance(address, ipaddress.IPv4Address):
        return None
    if address in _NAT64:
        return ipaddress.IPv4Address(address.packed[-_IPV4_BYTES:])
    return address.ipv4_mapped or address.sixtofour


# A server that sends nothing for so long is asked again.
_TIMEOUT_SECONDS = 60.0
# Between two tries, unless the server names a time itself.
_LONGEST_WAIT_SECONDS = 60.0
_MOST_REDIRECTS = 10
_GONE = (404, 410)
# Request timeout, too early, too many requests; like every 5xx they may be over in a moment.
_TRANSIENT = (408, 425, 429)
_REDIRECTS = (301, 302, 303, 307, 308)
_HOST = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]*[A-Za-z0-9_.])?|\[?[0-9A-Fa-f:.]+\]?")
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
    allow_hosts: tuple[str, ...] = ()
    """Names of hosts that may have such addresses."""
    allow_nets: tuple[str, ...] = ()
    """Nets of such addresses that may be asked, ``10.1.0.0/16``. Addresses of metadata are never asked."""
    contact: str = ""
    """An address at which the user can be reached, for the servers' logs; part of the User-Agent."""

    def __post_init__(self) -> None:
        if not (self.contact.isascii() and self.contact.isprintable()):
            raise InputError(f"the contact {self.contact!r} can stand in no header; use one line of plain ASCII")
        for name in self.allow_hosts:
            if not _HOST.fullmatch(name):
                raise InputError(
                    f"{name!r} is not the name of a host, such as media.example.org; leave out scheme, port and path"
                )
        for net in self.allow_nets:
            _net(net)

    def why_not(self, host: str, address: str) -> str | None:
        """Why ``address`` of ``host`` may not be asked, in a sentence; None where it may."""
        judged = ipaddress.ip_address(address)
        if isinstance(judged, ipaddress.IPv6Address) and judged.scope_id:  # without its zone
            judged = ipaddress.IPv6Address(str(judged).partition("%")[0])
        judged = _embedded_ipv4(judged) or judged  # where the connection ends
        subject = f"{host} ({address})" if host.strip("[]") != address else address
        if judged in _METADATA:
            return f"{subject} is where clouds tell their machines secrets; it is never asked"
        kind = non_public_reason(judged)
        named = host.strip("[]").rstrip(".").casefold() in {name.strip("[]").rstrip(".").casefold() for name in self.allow_hosts}
        if kind is None or self.allow_private or named or any(judged in _net(net) for net in self.allow_nets):
            return None
        return f"{subject} is {kind}; --allow-host, --allow-net or --allow-private fetches from your own network"


class ServerGone(Gone):
    """HTTP 404 or 410, in ``http_status``; ``tries`` counts the requests made."""

    http_status = 0
    tries = 1


class ServerRefused(Rejected):
    """Any other final HTTP status than 2xx, in ``http_status``; ``tries`` counts the requests made."""

    http_status = 0
    tries = 1


class NotPublic(Rejected):
    """``host`` has an ``address`` that is not public and that the limits do not allow."""

    def __init__(self, reason: str, *, host: str, address: str) -> None:
        super().__init__(reason)
        self.host, self.address = host, address


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

    def head() -> int:
        # Some servers know no HEAD, or forbid it; a GET of one byte asks them the same.
        for method, own in (("HEAD", {}), ("GET", {"Range": "bytes=0-0"})):
            with open_response(visit, method, own) as (response, _):
                unknown_method = method == "HEAD" and response.status_code in (400, 403, 405, 501)
                if not unknown_method and response.status_code != 416:  # 416: the file is there, and empty
                    raise_for_status(visit, response)
                if not unknown_method:
                    break
        return int(response.status_code)

    return retry(visit, head)


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
        result: Result = tries(counted)
        return result
    except TransientError as error:
        times = "once" if visit.tries == 1 else f"{visit.tries} times"
        raise NetworkError(f"{visit.shown} could not be fetched, tried {times}: {error}") from error
    except (ServerGone, ServerRefused) as error:
        error.tries = visit.tries
        raise


def _wait(state: Any) -> float:
    error = state.outcome.exception() if state.outcome else None
    retry_after = error.wait_seconds if isinstance(error, TransientError) else None
    # Without jitter, many clients that were turned away together would come back together.
    jitter: float = tenacity.wait_random_exponential(multiplier=1, max=_LONGEST_WAIT_SECONDS)(state)
    return jitter if retry_after is None else retry_after + min(jitter, 1.0)


@contextmanager
def open_response(visit: Visit, method: str, headers: Mapping[str, str]) -> Iterator[tuple[httpx2.Response, str]]:
    """Streamed response after redirects, and its address; failures of the transport are raised as ``TransientError``."""
    agent = f"inpaintbench/{inpaintbench.__version__}" + (f" ({visit.limits.contact})" if visit.limits.contact else "")
    # Length and hash are those of the file, so that nothing may be compressed in transfer.
    common = {"User-Agent": agent, "Accept": "*/*", "Accept-Encoding": "identity", **headers}
    # No proxies from the environment: a proxy resolves names itself, and the addresses could not be judged.
    transport = CheckedTransport(visit.limits)
    with httpx2.Client(transport=transport, trust_env=False, follow_redirects=False) as client:
        try:
            response, url = send_following_redirects(client, visit, method, common)
            try:
                yield response, url
            finally:
                response.close()
        except httpx2.TransportError as error:
            silent = isinstance(error, httpx2.TimeoutException)
            told = "the server does not answer" if silent else str(error).rstrip(".") or type(error).__name__
            raise TransientError(told) from error
        except httpx2.DecodingError as error:
            raise TransientError("the body is damaged") from error


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
        # A number of seconds or an HTTP date, where the server names a time.
        named, wait = response.headers.get("retry-after", "").strip(), None
        if named.isascii() and named.isdigit():
            wait = float(named)
        elif moment := date(named):
            wait = max(0.0, (moment - datetime.now(UTC)).total_seconds())
        raise TransientError(f"HTTP {status}", wait_seconds=wait)
    if not 200 <= status < 300:
        refused = ServerRefused(f"{visit.shown} is refused by its server (HTTP {status})")
        refused.http_status = status
        raise refused


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
