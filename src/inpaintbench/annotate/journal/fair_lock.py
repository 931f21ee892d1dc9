"""Threads of one process take turns, in the order in which they asked."""

from __future__ import annotations

import threading
from collections import deque
from functools import cache
from types import TracebackType


class FairLock:
    """A lock that is handed on in the order of asking; Python's own may let one thread take it again and again."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._guard = threading.Lock()
        self._owner: int | None = None
        self._waiting: deque[tuple[int, threading.Lock]] = deque()

    def __enter__(self) -> None:
        me, ticket = threading.get_ident(), threading.Lock()
        with self._guard:
            if self._owner == me:
                raise RuntimeError(f"this thread is writing to {self._name!r} already; end that transaction before the next")
            if self._owner is None:
                self._owner = me
                return
            ticket.acquire()
            self._waiting.append((me, ticket))
        try:
            ticket.acquire()
        except BaseException:  # an interrupt while waiting
            self._give_up(me, ticket)
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._guard:
            self._pass_on()

    def _pass_on(self) -> None:
        self._owner = None
        if self._waiting:
            self._owner, ticket = self._waiting.popleft()
            ticket.release()

    def _give_up(self, me: int, ticket: threading.Lock) -> None:
        with self._guard:
            if (me, ticket) in self._waiting:
                self._waiting.remove((me, ticket))
            else:
                self._pass_on()


@cache
def turns_for(place: str, lock: str) -> FairLock:
    """The one queue of this process for a lock of a database, however often the database is opened."""
    return FairLock(f"{place} {lock}".strip())
