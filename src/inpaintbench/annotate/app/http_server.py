"""uvicorn, as this app runs it: small headers, no log of addresses, and an end that cleans up."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from inpaintbench.annotate.app.allowed import network_of

if TYPE_CHECKING:
    from inpaintbench.annotate.app.security import Gate

# Bytes of all headers of a request; browsers send about 1,000 here.
HEADER_BYTES = 16_384
# Connections at once; beyond them requests are answered with 503, so that memory stays bounded.
MOST_CONNECTIONS = 1_000
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


class _Protocol(H11Protocol):
    """uvicorn's protocol with a time limit for heads. Without, a thousand half-sent ones keep everybody out."""

    waiting: Waiting
    head_seconds: float

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._network = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # the next head has begun already
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        super().connection_lost(exc)

    def close_unheard(self) -> None:
        """End a connection that has asked for nothing."""
        self._heard()
        self.transport.abort()

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


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, *, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._tell_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on SIGINT and SIGTERM. uvicorn raises them again at the end, which would leave temporary files behind."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, old in before.items():
                signal.signal(number, old)


def run(
    app: Gate,
    listening: socket.socket,
    *,
    tls: tuple[Path, Path] | None,
    head_seconds: float,
    started: Callable[[], None],
) -> None:
    """Serve ``app`` until SIGINT or SIGTERM.

    Args:
        app: what is served.
        listening: a bound socket.
        tls: certificate chain and key, PEM; checked before.
        head_seconds: for the head of a request to arrive.
        started: called once, when the server answers.
    """
    config = uvicorn.Config(
        app,
        http=type("Protocol", (_Protocol,), {"waiting": Waiting(), "head_seconds": head_seconds}),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="warning",
        access_log=False,  # invitation links are secrets
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEADER_BYTES,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=1,
        ssl_certfile=None if tls is None else str(tls[0]),
        ssl_keyfile=None if tls is None else str(tls[1]),
    )
    asyncio.run(_Server(config, started=started).serve(sockets=[listening]))
