"""The requests that exist, the names that this server answers to, the pages that may send it something, from where, and how much.

Everything else that Gradio could serve is not found before Gradio sees it.
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
import socket
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from starlette.datastructures import Headers

# Limits on how much and how fast anybody may ask: token buckets in bounded memory, and bodies of bounded size.

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
# Buckets of a kind: some 2 MB, so that strangers with many addresses cannot fill the memory.
MOST_BUCKETS = 10_000


@dataclass(frozen=True)
class Rate:
    """A token bucket: ``burst`` requests at once, ``per_second`` of them in the long run."""

    per_second: float
    burst: float


@dataclass(frozen=True)
class Limits:
    """Limits on the requests of clients of one server."""

    answers: Rate = Rate(10, 30)
    """Requests of one rater: answers, skips, undos and asking for work."""
    files: Rate = Rate(50, 300)
    """Requests of one rater: everything else; a page with its assets is about 100 requests."""
    strangers: Rate = Rate(5, 20)
    """Requests of one client address: logging in, joining, and whatever comes without a session."""
    head_seconds: float = 10.0
    """For the head of a request to arrive, from the connection or from its first byte on a connection that is kept."""
    body_bytes: int = 65_536
    body_seconds: float = 10.0
    """For a body to arrive."""
    url_characters: int = 2_048
    headers: int = 64


class Buckets:
    """One token bucket a key; the keys used longest ago are forgotten. For one thread."""

    def __init__(self, rate: Rate, *, most: int = MOST_BUCKETS) -> None:
        self._rate = rate
        self._most = most
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._levels)

    def wait_seconds(self, key: str, *, now: float) -> float:
        """Take a token of ``key``; 0 when there was one, else the seconds until there is one.

        Args:
            key: who asks.
            now: seconds on a clock that never goes back.
        """
        level, before = self._levels.pop(key, (self._rate.burst, now))
        level = min(self._rate.burst, level + (now - before) * self._rate.per_second)
        granted = level >= 1
        self._levels[key] = (level - 1 if granted else level, now)
        while len(self._levels) > self._most:
            self._levels.popitem(last=False)
        return 0.0 if granted else (1 - level) / self._rate.per_second


def network_of(address: str) -> str:
    """The key of a client address: IPv4 as it is, IPv6 by its /64, which one client owns as a whole."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        return str(parsed.ipv4_mapped or ipaddress.ip_network((parsed, 64), strict=False))
    return str(parsed)


async def read_body(receive: Receive, *, limits: Limits) -> bytes | None:
    """The body of a request, or ``None`` once it grew larger than allowed, however it is sent.

    Raises:
        TimeoutError: it did not arrive in time.
        ConnectionError: the client went away.
    """
    async with asyncio.timeout(limits.body_seconds):
        body = b""
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ConnectionError("the client went away")
            body += bytes(message.get("body", b""))
            if len(body) > limits.body_bytes:
                return None
            if not message.get("more_body", False):
                return body


def replayed(body: bytes, receive: Receive) -> Receive:
    """A ``receive`` that gives ``body`` first."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return pending.pop() if pending else await receive()

    return again


# Client behind a proxy: its address and scheme, believed where a proxy that the owner named says them, and nowhere else.

# Proxies in a row, at most; longer lists are somebody's attempt.
_MOST_HOPS = 10


class Forwarded:
    """Reader of ``X-Forwarded-For`` and ``X-Forwarded-Proto``.

    Args:
        trusted: addresses and networks of the proxies in front, such as ``127.0.0.1`` or ``10.0.0.0/8``; with none, nothing
            that a request claims is believed.

    Raises:
        InputError: one is neither an address nor a network.
    """

    def __init__(self, trusted: Sequence[str] = ()) -> None:
        try:
            self._trusted = [ipaddress.ip_network(network.strip()) for network in trusted]
        except ValueError as error:
            raise InputError(f"a trusted proxy is an address or a network, such as 127.0.0.1 or 10.0.0.0/8: {error}") from error

    def client(self, headers: Headers, *, peer: str) -> str:
        """Address of whoever asks: from the right, the first one that is no trusted proxy.

        The left of the list is whatever the client wrote. A list that is malformed or too long counts as none.
        """
        if not self._trusts(peer):
            return peer
        hops = [hop.strip() for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]
        if not 0 < len(hops) <= _MOST_HOPS:
            return peer
        for hop in reversed(hops):
            if not _is_address(hop):
                return peer
            if not self._trusts(hop):
                return hop
        return hops[0]

    def scheme(self, headers: Headers, *, peer: str, scheme: str) -> str:
        """``http`` or ``https`` as the browser sees it; ``scheme`` is that of the connection."""
        said = headers.getlist("x-forwarded-proto")
        return said[0] if self._trusts(peer) and len(said) == 1 and said[0] in ("http", "https") else scheme

    def _trusts(self, address: str) -> bool:
        if not _is_address(address):
            return False
        parsed = ipaddress.ip_address(address)
        plain = getattr(parsed, "ipv4_mapped", None) or parsed
        return any(plain in network for network in self._trusted)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


# A Gradio page; JSON; the login form; a file; a page or redirect without Gradio.
Kind = Literal["page", "api", "form", "file", "plain"]


class Who(Enum):
    """Whom a request is open to."""

    ANYBODY = "anybody"
    RATER = "raters alone"
    PERSON = "raters and admins"
    ADMIN = "admins"


@dataclass(frozen=True)
class Rule:
    """One kind of request."""

    method: Literal["GET", "POST"]
    path: re.Pattern[str]
    """Pattern of the whole path, plain ASCII: nothing here needs percent signs."""
    who: Who
    kind: Kind
    of_gradio: bool = False
    query: bool = False
    """What stands behind the question mark is read; it is removed otherwise."""


def _rule(
    method: Literal["GET", "POST"], path: str, who: Who, kind: Kind, *, of_gradio: bool = False, query: bool = False
) -> Rule:
    return Rule(method, re.compile(path, re.ASCII), who, kind, of_gradio, query)


# Files of Gradio's pages: hashed assets, the theme, and the script that its embedding loads.
_GRADIO_FILES = r"(?:assets/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+|theme\.css|static/js/iframeResizer\.contentWindow\.min\.js)"

# Gradio's own API is closed but for the one route that the admin page's events use; they are made with `queue=False`.
RULES = (
    _rule("GET", r"/", Who.PERSON, "page", of_gradio=True),
    _rule("GET", rf"/{_GRADIO_FILES}", Who.PERSON, "file", of_gradio=True),
    _rule("POST", r"/api/(?:work|answers|skips|undos|steps)", Who.RATER, "api"),
    _rule("GET", r"/media/[0-9a-f]{32}\.(?:mp4|png)", Who.PERSON, "file"),
    _rule("GET", r"/static/(?:player/)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+", Who.PERSON, "file"),
    _rule("POST", r"/logout", Who.PERSON, "api"),
    _rule("GET", r"/join/[A-Za-z0-9_-]{1,200}", Who.ANYBODY, "plain"),
    _rule("GET", r"/enter", Who.ANYBODY, "plain", query=True),
    _rule("GET", r"/login", Who.ANYBODY, "plain"),
    _rule("POST", r"/login", Who.ANYBODY, "form"),
    _rule("GET", r"/favicon\.ico", Who.ANYBODY, "plain"),
    _rule("GET", r"/admin", Who.ADMIN, "plain"),
    _rule("GET", r"/admin/", Who.ADMIN, "page", of_gradio=True),
    _rule("GET", r"/admin/judgements\.csv", Who.ADMIN, "file"),
    _rule("GET", r"/admin/results", Who.ADMIN, "page"),
    _rule("GET", r"/admin/pictures/[0-9a-f]{32}\.jpg", Who.ADMIN, "file"),
    _rule("GET", rf"/admin/{_GRADIO_FILES}", Who.ADMIN, "file", of_gradio=True),
    _rule("POST", r"/admin/gradio_api/run/predict", Who.ADMIN, "api", of_gradio=True),
)


def rules_of(path: str) -> list[Rule]:
    """The rules of ``path``, at most one a method; none when there is no such page."""
    return [rule for rule in RULES if rule.path.fullmatch(path)]


# Header `Host`: a name, an IPv4 address or an IPv6 address in brackets, and a port.
_HOST = re.compile(r"(?P<name>[A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>\d{1,5}))?", re.ASCII)
# Hosts to bind to that stand for all addresses of the machine.
_ANY_ADDRESS = ("0.0.0.0", "::", "")


class WrongHost(Exception):
    """The request was meant for another server, as after DNS rebinding."""


@dataclass(frozen=True)
class Origins:
    """The server's own names."""

    bound: str = "127.0.0.1"
    """Host that the socket is bound to."""
    public: str | None = None
    """``https://name[:port]`` as browsers see it, where something in front of the server ends TLS."""

    def __post_init__(self) -> None:
        if self.public is not None:
            parts = urlsplit(self.public)
            if parts.scheme not in ("http", "https") or not parts.hostname or self.public != f"{parts.scheme}://{parts.netloc}":
                raise InputError(f"{self.public!r} is no origin; write it as https://name or https://name:port")

    def of(self, headers: Headers, *, scheme: str) -> str:
        """The origin that the browser sees.

        Args:
            headers: of the request.
            scheme: of the connection to this server.

        Raises:
            WrongHost: no ``Host``, or none of the server's names.
        """
        host = headers.get("host", "").lower()
        if self.public is not None and host == urlsplit(self.public).netloc.lower():
            return self.public.lower()
        match = _HOST.fullmatch(host)
        if match is None or not self._answers_to(match["name"].strip("[]")):
            raise WrongHost(host)
        return f"{scheme}://{host}"

    def _answers_to(self, name: str) -> bool:
        try:
            address = ipaddress.ip_address(name)
        except ValueError:
            machine = (socket.gethostname().lower(),) if self.bound in _ANY_ADDRESS else ()
            return name in ("localhost", self.bound.lower(), *machine)
        # An address in `Host` was typed by a person: rebinding needs a name.
        return address.is_loopback or name == self.bound or self.bound in _ANY_ADDRESS


def is_own(headers: Headers, *, origin: str, must_tell: bool) -> bool:
    """Return whether a page of this very server sends the request.

    Args:
        headers: of the request.
        origin: of this server.
        must_tell: whether a request that says nothing of its origin is refused; programs say nothing, browsers do.
    """
    site, source = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None and site not in ("same-origin", "none"):
        return False
    if source is not None and source.lower() != origin:
        return False
    return source is not None or not must_tell
