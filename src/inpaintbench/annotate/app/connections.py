"""Connections of the server: heads that have to arrive in time, and idle ones that make room for others."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

import h11
from starlette.datastructures import Headers
from uvicorn.protocols.http.h11_impl import H11Protocol

from inpaintbench.annotate.app.allowed import network_of
from inpaintbench.annotate.app.routes import token_of

# Connections at once; beyond them requests are answered with 503, so that memory stays bounded. From `CROWDED` on those that have
# been idle longest are closed, so many at once; browsers open another when they need one.
MOST_CONNECTIONS, CROWDED, ROOM = 1_000, 900, 25
# Open connections of one client network and of one person before their idle ones are closed. A browser holds six; behind one
# address of a university are many people, whose requests under way are never cut.
MOST_OF_NETWORK, MOST_OF_PERSON = 128, 16
# A rater looks at a clip for longer than uvicorn's own 5 s, and a new connection costs the answer's latency.
IDLE_SECONDS = 75
# Connections of one client network whose head is still on its way, once they are older than `GRACE_SECONDS`; beyond it the
# oldest goes. Browsers send theirs at once.
MOST_WAITING = 32
GRACE_SECONDS = 1.0


class Waiting:
    """Connections whose head has not arrived, by client network, the oldest first. For one thread."""

    def __init__(self) -> None:
        self._since: defaultdict[str, OrderedDict[_Protocol, float]] = defaultdict(OrderedDict)

    def add(self, connection: _Protocol, network: str) -> None:
        """One more; where these are too many the oldest are closed, once their time of grace is over."""
        mine = self._since[network]
        mine[connection] = time.monotonic()
        if len(mine) > MOST_WAITING:
            connection.loop.call_later(GRACE_SECONDS, self._thin, network)

    def _thin(self, network: str) -> None:
        mine: Mapping[_Protocol, float] = self._since.get(network, {})
        latest = time.monotonic() - GRACE_SECONDS
        late = [one for one, since in mine.items() if since <= latest]
        for one in late[: max(0, len(mine) - MOST_WAITING)]:
            one.close_unheard()

    def remove(self, connection: _Protocol, network: str) -> None:
        """Its head is there, or it is gone."""
        mine = self._since.get(network)
        if mine is not None:
            mine.pop(connection, None)
            if not mine:
                del self._since[network]


class Open:
    """Open connections by client network and person, and since when which are idle, the longest first. For one thread.

    Connections of proxies are other people's, and are closed where there are too many of all alone.
    """

    def __init__(self, is_proxy: Callable[[str], bool] = lambda _: False) -> None:
        self._is_proxy = is_proxy
        self._idle: OrderedDict[_Protocol, None] = OrderedDict()
        # Their first head is on its way: they are idle only where there are too many of all.
        self._fresh: OrderedDict[_Protocol, None] = OrderedDict()
        self._many: Counter[tuple[str, str]] = Counter()
        self._total = 0

    def add(self, connection: _Protocol, address: str, network: str) -> None:
        """One more, of a client's address and its network."""
        self._total += 1
        if not self._is_proxy(address):
            self.own(connection, "network", network, most=MOST_OF_NETWORK)
        if self._total > CROWDED and (silent := self._idle or self._fresh):
            self._make_room(silent)
        self._fresh[connection] = None

    def _make_room(self, silent: Iterable[_Protocol]) -> None:
        """Close some that ask for nothing, of the largest network the first; several at once, since looking takes its time."""
        of_network: defaultdict[str, deque[_Protocol]] = defaultdict(deque)
        for one in silent:
            of_network[one.owners.get("network", "")].append(one)
        largest = [(-self._many["network", name], name) for name in of_network]
        heapify(largest)
        for _ in range(min(ROOM, sum(map(len, of_network.values())))):
            many, name = heappop(largest)
            of_network[name].popleft().close_unheard(at_once=False)
            if of_network[name]:
                heappush(largest, (many + 1, name))

    def own(self, connection: _Protocol, kind: str, name: str, *, most: int) -> None:
        """It is of that network or person from now on; where these have too many their idle ones are closed."""
        before = connection.owners.get(kind, "")
        if name != before:
            self._leave(kind, before)
            connection.owners[kind] = name
            self._many[kind, name] += 1
        while self._many[kind, name] > most and self._close_idle(kind, name, self._idle):
            pass

    def rest(self, connection: _Protocol) -> None:
        """It asks for nothing from now on."""
        self._fresh.pop(connection, None)
        self._idle[connection] = None

    def work(self, connection: _Protocol) -> None:
        """It asks for something."""
        self._fresh.pop(connection, None)
        self._idle.pop(connection, None)

    def remove(self, connection: _Protocol) -> None:
        """It is gone."""
        self.work(connection)
        self._total -= 1
        for kind in list(connection.owners):
            self._leave(kind, connection.owners.pop(kind))

    def _leave(self, kind: str, name: str) -> None:
        self._many[kind, name] -= 1
        if self._many[kind, name] <= 0:
            del self._many[kind, name]

    def _close_idle(self, kind: str, name: str, silent: Iterable[_Protocol]) -> bool:
        """Close the first of theirs among those that ask for nothing; False where there is none."""
        for one in silent:
            if one.owners.get(kind, "") == name:
                one.close_unheard(at_once=False)
                return True
        return False


class _Protocol(H11Protocol):
    """uvicorn's protocol with a time limit for heads, and with idle connections that make room.

    Without, a thousand half-sent heads, or idle connections, keep everybody out.
    """

    waiting: Waiting
    open: Open
    head_seconds: float

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._network = ""
        self.owners: dict[str, str] = {}
        self._counted = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        self._network, self._counted = network_of(address), True
        self._wait()
        self.open.add(self, address, self._network)

    def data_received(self, data: bytes) -> None:
        before = self.scope
        super().data_received(data)
        self._look()
        if self.scope is not before:
            self.open.work(self)
            person = token_of(Headers(raw=self.headers))
            if person is not None and self.owners:  # on a proxy's connection everybody takes turns
                self.open.own(self, "person", person, most=MOST_OF_PERSON)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # the next head has begun already
            self._look()
        if self._counted and self.conn.their_state is h11.IDLE:
            self.open.rest(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        self._gone()
        super().connection_lost(exc)

    def close_unheard(self, *, at_once: bool = True) -> None:
        """End a connection that asks for nothing; else what it was told before still goes out."""
        self._heard()
        self._gone()
        if at_once or not self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _gone(self) -> None:
        if self._counted:
            self._counted = False
            self.open.remove(self)

    def _look(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._heard()

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self.close_unheard)
            self.waiting.add(self, self._network)

    def _heard(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            self.waiting.remove(self, self._network)


def protocol(*, head_seconds: float, is_proxy: Callable[[str], bool]) -> type[H11Protocol]:
    """uvicorn's protocol as this server speaks it.

    Args:
        head_seconds: for the head of a request to arrive.
        is_proxy: tells whether an address is that of a proxy in front.
    """
    told = {"waiting": Waiting(), "open": Open(is_proxy), "head_seconds": head_seconds}
    return type("Protocol", (_Protocol,), told)
