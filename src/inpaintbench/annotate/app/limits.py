"""Limits on how much and how fast anybody may ask: token buckets in bounded memory, and bodies of bounded size."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

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
