"""A limit on calls in an hour that all processes of all hosts on one file system keep together."""

from __future__ import annotations

import hashlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from inpaintbench.errors import InputError, NetworkError
from inpaintbench.models.weights import cache_folder

_LOCK_SECONDS = 60.0
_MOST_AHEAD_SECONDS = 3600.0
_MOST_BURST = 30


def bucket_path(service: str, key: str) -> Path:
    """Return where the bucket of one key of one service lies, in the cache's folder ``rates``.

    The name tells nothing of the key.
    """
    return cache_folder("rates") / f"{service}-{hashlib.sha256(key.encode()).hexdigest()[:16]}.sqlite"


class TokenBucket:
    """At most ``per_hour`` calls in any hour, whoever makes them, as long as all use the file at ``path``.

    Every caller reserves the next free moment in one SQLite transaction and then sleeps until it, so callers are served in the
    order in which they came and nobody polls (generic cell rate algorithm: one stored number, the time at which the next call
    would be due if calls were evenly spaced). A burst may run ahead of that by ``burst`` calls; the spacing is widened so that
    a burst and the hour after it still hold no more than ``per_hour``.

    Args:
        path: the SQLite file; folders are made.
        per_hour: calls in an hour, at least 1.
        burst: calls without waiting after a rest; by default a tenth of ``per_hour``, at most 30.
        clock: seconds since 1970, shared by all hosts.
        sleep: waits that many seconds.

    Raises:
        InputError: the numbers make no sense, or the file cannot be used.
    """

    def __init__(
        self, path: Path, *, per_hour: int = 3600, burst: int | None = None,
        clock: Callable[[], float] = time.time, sleep: Callable[[float], None] = time.sleep,
    ) -> None:  # fmt: skip
        if per_hour < 1:
            raise InputError(f"{per_hour} calls an hour are too few; give at least 1")
        burst = min(_MOST_BURST, max(1, per_hour // 10)) if burst is None else burst
        if not 1 <= burst <= max(1, per_hour - 1):
            raise InputError(f"a burst of {burst} calls does not fit {per_hour} an hour; give 1 to {max(1, per_hour - 1)}")
        self._path = path
        self._spacing_seconds = 3600.0 / max(1, per_hour - burst)
        self._slack_seconds = (burst - 1) * self._spacing_seconds
        self._clock = clock
        self._sleep = sleep

    def take(self, *, patience_seconds: float = float("inf")) -> float:
        """Wait for the turn of one call.

        Args:
            patience_seconds: nothing is reserved where the turn lies further ahead.

        Returns:
            Seconds waited.

        Raises:
            NetworkError: the turn lies further ahead than ``patience_seconds``.
            InputError: the file cannot be used.
        """
        with self._state() as state:
            now = self._clock()
            due = self._due(state.due, now)
            wait = max(0.0, due - self._slack_seconds - now)
            if wait > patience_seconds:
                raise NetworkError(f"no call is free for another {wait:.0f} seconds; run again after that")
            state.due = due + self._spacing_seconds
        if wait > 0:
            self._sleep(wait)
        return wait

    def pause(self, seconds: float) -> None:
        """Let nobody begin a call for ``seconds`` (at most an hour), and no burst after that.

        Raises:
            InputError: the file cannot be used.
        """
        with self._state() as state:
            now = self._clock()
            resume = now + min(max(0.0, seconds), _MOST_AHEAD_SECONDS) + self._slack_seconds
            state.due = max(self._due(state.due, now), resume)

    def _due(self, stored: float, now: float) -> float:
        # A clock that was set back must not stop everybody for longer than the hour that the limit is about.
        return min(max(stored, now), now + _MOST_AHEAD_SECONDS + self._slack_seconds)

    @contextmanager
    def _state(self) -> Iterator[_State]:
        """The stored number under an exclusive lock; written back unless the block raises."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("CREATE TABLE IF NOT EXISTS bucket (id INTEGER PRIMARY KEY CHECK (id = 1), due REAL NOT NULL)")
                row = connection.execute("SELECT due FROM bucket").fetchone()
                state = _State(float(row[0]) if row else 0.0)
                yield state
                connection.execute("INSERT OR REPLACE INTO bucket VALUES (1, ?)", (state.due,))
                connection.execute("COMMIT")
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"the shared count of calls in {str(self._path)!r} cannot be used ({error}); delete the file, or name another "
                "folder in INPAINTBENCH_CACHE"
            ) from error


@dataclass
class _State:
    due: float
