"""The requests that exist, the names that this server answers to, the pages that may send it something, from where, and how much.

Everything else that Gradio could serve is not found before Gradio sees it. The headers of every answer too.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
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
    url_characters: int = 4_096
    """A signed link has about 1,500 of them."""
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


def parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """An address of IPv4 or IPv6; None for anything else, such as a name."""
    try:
        return ipaddress.ip_address(address)
    except ValueError:
        return None


def network_of(address: str, *, ipv4_bits: int = 32) -> str:
    """The key of a client address: IPv4 as it is or by fewer bits, IPv6 by its /64, which one client owns as a whole."""
    known = parsed(address)
    if known is None:
        return address
    plain = getattr(known, "ipv4_mapped", None) or known
    bits = ipv4_bits if isinstance(plain, ipaddress.IPv4Address) else 64
    return str(ipaddress.ip_network((plain, bits), strict=False).network_address) + f"/{bits}" * (bits < plain.max_prefixlen)


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
        if not self.trusts(peer):
            return peer
        hops = [hop.strip() for line in headers.getlist("x-forwarded-for") for hop in line.split(",")]
        if not 0 < len(hops) <= _MOST_HOPS:
            return peer
        for hop in reversed(hops):
            if parsed(hop) is None:
                return peer
            if not self.trusts(hop):
                return hop
        return hops[0]

    def scheme(self, headers: Headers, *, peer: str, scheme: str) -> str:
        """``http`` or ``https`` as the browser sees it; ``scheme`` is that of the connection."""
        said = headers.getlist("x-forwarded-proto")
        return said[0] if self.trusts(peer) and len(said) == 1 and said[0] in ("http", "https") else scheme

    def trusts(self, address: str) -> bool:
        """Return whether an address is that of a proxy in front."""
        known = parsed(address)
        plain = getattr(known, "ipv4_mapped", None) or known
        return plain is not None and any(plain in network for network in self._trusted)


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
    path: str
    """Pattern of the whole path, plain ASCII: nothing here needs percent signs."""
    who: Who
    kind: Kind
    of_gradio: bool = False
    query: bool = False
    """What stands behind the question mark is read; it is removed otherwise."""


# Files of Gradio's pages: hashed assets, the theme, and the script that its embedding loads.
_GRADIO_FILES = r"(?:assets/[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+|theme\.css|static/js/iframeResizer\.contentWindow\.min\.js)"

# Gradio's own API is closed but for the one route that the admin page's events use; they are made with `queue=False`.
RULES = (
    Rule("GET", r"/", Who.PERSON, "page", of_gradio=True),
    Rule("GET", rf"/{_GRADIO_FILES}", Who.PERSON, "file", of_gradio=True),
    Rule("GET", r"/rater\.html", Who.PERSON, "file"),
    Rule("POST", r"/api/(?:work|answers|skips|undos|steps)", Who.RATER, "api"),
    Rule("GET", r"/media/[0-9a-f]{32}\.(?:mp4|png)", Who.PERSON, "file"),
    Rule("GET", r"/static/(?:player/)?[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+", Who.PERSON, "file"),
    Rule("POST", r"/logout", Who.PERSON, "api"),
    Rule("GET", r"/join/[A-Za-z0-9_-]{1,200}", Who.ANYBODY, "plain"),
    Rule("GET", r"/enter", Who.ANYBODY, "plain", query=True),
    Rule("GET", r"/login", Who.ANYBODY, "plain"),
    Rule("POST", r"/login", Who.ANYBODY, "form"),
    Rule("GET", r"/favicon\.ico", Who.ANYBODY, "plain"),
    Rule("GET", r"/admin", Who.ADMIN, "plain"),
    Rule("GET", r"/admin/", Who.ADMIN, "page", of_gradio=True),
    Rule("GET", r"/admin/judgements\.csv", Who.ADMIN, "file"),
    Rule("GET", r"/admin/edit", Who.ADMIN, "plain", query=True),
    Rule("POST", r"/admin/edit", Who.ADMIN, "form"),
    Rule("GET", r"/admin/results", Who.ADMIN, "page"),
    Rule("GET", r"/admin/pictures/[0-9a-f]{32}\.jpg", Who.ADMIN, "file"),
    Rule("GET", rf"/admin/{_GRADIO_FILES}", Who.ADMIN, "file", of_gradio=True),
    Rule("POST", r"/admin/gradio_api/run/predict", Who.ADMIN, "api", of_gradio=True),
)


def rules_of(path: str) -> list[Rule]:
    """The rules of ``path``, at most one a method; none when there is no such page."""
    return [rule for rule in RULES if re.fullmatch(rule.path, path, re.ASCII)]


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
        name = match["name"].strip("[]") if match is not None else ""
        address, is_any = parsed(name), self.bound in _ANY_ADDRESS
        # An address in `Host` was typed by a person: rebinding needs a name.
        own = name in ("localhost", self.bound.lower()) or (is_any and name == socket.gethostname().lower())
        if address is not None:
            own = address.is_loopback or name == self.bound or is_any
        if match is None or not own:
            raise WrongHost(host)
        return f"{scheme}://{host}"


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


# The headers of every answer. Pages get a content security policy that allows their own inline scripts by hash.

# Scripts within a page; those with `src` are allowed by `'self'`.
_INLINE = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)
_ALWAYS = (
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), microphone=(), geolocation=(), payment=(), usb=(), display-capture=()"),
)
# Headers of Gradio and uvicorn that say what serves, open the server to other sites, or would weaken the policy.
# Times of files say in which order they were made, and with it which method is which.
_UNTOLD = (b"server", b"access-control-", b"content-security-policy", b"x-powered-by", b"last-modified")
# A year, as browsers' own lists ask for.
_HSTS = ("Strict-Transport-Security", "max-age=31536000")


@dataclass(frozen=True)
class Delivery:
    """How answers reach browsers."""

    secure: bool = False
    """Over TLS, here or at a proxy: browsers are told to come no other way."""
    embed: tuple[str, ...] = ()
    """Origins whose pages may show the app in a frame."""
    post_to: tuple[str, ...] = ()
    """Origins to which the page hands in a form, beside its own."""
    media_from: str = ""
    """Origin from which pages fetch what they play, beside their own."""

    @property
    def ancestors(self) -> str:
        """Sources of ``frame-ancestors``."""
        return " ".join(self.embed) or "'none'"

    @property
    def nothing(self) -> str:
        """Policy of everything but Gradio's pages: it loads and runs nothing."""
        return (
            "default-src 'none'; base-uri 'none'; form-action 'self'; "
            f"frame-ancestors {self.ancestors}; style-src 'unsafe-inline'"
        )

    def cookie(self, name: str, value: str, *, seconds: int) -> str:
        """``Set-Cookie`` of the session. In another site's frame browsers keep it apart for that site (``Partitioned``)."""
        same_site = "none" if self.embed else "lax"
        parts = [f"{name}={value}", "HttpOnly", f"Max-Age={seconds}", "Path=/", f"SameSite={same_site}"]
        return "; ".join([*parts, *["Secure"] * self.secure, *["Partitioned"] * bool(self.embed)])


def page_policy(html: bytes, delivery: Delivery = Delivery()) -> str:
    """The content security policy of a Gradio page. Gradio compiles templates (``unsafe-eval``) and styles elements."""
    hashes = [base64.b64encode(hashlib.sha256(script).digest()).decode() for script in _INLINE.findall(html)]
    scripts = " ".join(f"'sha256-{digest}'" for digest in dict.fromkeys(hashes))
    forms, sources = (
        " ".join(["'self'", *more]) for more in (delivery.post_to, [delivery.media_from] * bool(delivery.media_from))
    )
    return (
        f"default-src 'none'; script-src 'self' 'unsafe-eval' {scripts}; style-src 'self' 'unsafe-inline'; "
        f"img-src 'self' data:; media-src 'self' blob:; connect-src {sources}; "
        f"base-uri 'self'; form-action {forms}; frame-ancestors {delivery.ancestors}"
    )


def guarded(send: Send, rule: Rule | None, *, delivery: Delivery) -> Send:
    """A ``send`` that adds the headers; it holds pages back until their scripts are known."""
    held: list[Message] = []

    async def add(message: Message) -> None:
        is_page = bool(held)
        if message["type"] == "http.response.start":
            is_page = rule is not None and rule.kind == "page" and message["status"] == 200
            given = [(name.lower(), value) for name, value in message.get("headers", [])]
            # With `no-referrer` browsers send `Origin: null` with forms. The addresses of pages with forms hold no secret.
            referrer = "same-origin" if rule is not None and rule.path in ("/login", "/admin/edit") else "no-referrer"
            added = [*_ALWAYS, ("Content-Security-Policy", delivery.nothing), ("Referrer-Policy", referrer)]
            added += [("X-Frame-Options", "DENY")] * (not delivery.embed) + [_HSTS] * delivery.secure
            dropped: tuple[bytes, ...] = _UNTOLD
            if rule is not None and rule.of_gradio and rule.kind == "file" and message["status"] == 200:
                # Gradio's tags are made of file times; the names of its files are hashes already.
                dropped = (*_UNTOLD, b"cache-control", b"etag")
                added.append(("Cache-Control", "private, max-age=86400"))
            elif rule is None or rule.kind != "file" or b"cache-control" not in dict(given):
                dropped = (*_UNTOLD, b"cache-control")
                added.append(("Cache-Control", "no-store"))
            message["headers"] = [header for header in given if not header[0].startswith(dropped)]
            message["headers"] += [(name.lower().encode(), value.encode()) for name, value in added]
        if not is_page:
            await send(message)
            return
        held.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            policy = page_policy(b"".join(part.get("body", b"") for part in held), delivery)
            headers = [header for header in held[0]["headers"] if header[0] != b"content-security-policy"]
            held[0]["headers"] = [*headers, (b"content-security-policy", policy.encode())]
            for part in held:
                await send(part)

    return add
