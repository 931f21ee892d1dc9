"""uvicorn, as this app runs it: small headers, no log of addresses, and an end that cleans up."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from inpaintbench.annotate.app.security import Gate

# Bytes of all headers of a request; browsers send about 1,000 here.
HEADER_BYTES = 16_384
# Connections at once; beyond them requests are answered with 503, so that memory stays bounded.
MOST_CONNECTIONS = 1_000
# A rater looks at a clip for longer than uvicorn's own 5 s, and a new connection costs the answer's latency.
IDLE_SECONDS = 75


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


def run(app: Gate, listening: socket.socket, *, tls: tuple[Path, Path] | None, started: Callable[[], None]) -> None:
    """Serve ``app`` until SIGINT or SIGTERM.

    Args:
        app: what is served.
        listening: a bound socket.
        tls: certificate chain and key, PEM; checked before.
        started: called once, when the server answers.
    """
    config = uvicorn.Config(
        app,
        http="h11",
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
