"""One database behind the journal: SQLite or PostgreSQL, the same transactions and the same errors with both."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from sqlalchemy import URL, Connection, CursorResult, Executable, Row, Table, exc, select, text
from sqlalchemy.dialects import postgresql, sqlite

from inpaintbench.annotate.journal.engines import name_of, open_postgres, open_sqlite, parse_url
from inpaintbench.errors import InpaintBenchError

# Threads of one process take turns, in the order in which they asked.


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
            with self._guard:
                if (me, ticket) in self._waiting:
                    self._waiting.remove((me, ticket))
                else:
                    self._pass_on()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        with self._guard:
            self._pass_on()

    def _pass_on(self) -> None:
        self._owner = None
        if self._waiting:
            self._owner, ticket = self._waiting.popleft()
            ticket.release()


@cache
def turns_for(place: str, lock: str) -> FairLock:
    """The one queue of this process for a lock of a database, however often the database is opened."""
    return FairLock(f"{place} {lock}".strip())


# Rows of a portion: a few MB, whatever the size of the journal.
_ROWS_AT_ONCE = 2000
# How PostgreSQL's codes of broken constraints begin.
_RULE_BROKEN = "23"


class JournalUnavailable(InpaintBenchError):
    """The database does not answer for now. Nothing was stored, unless the connection broke in the commit: send it again."""


class RuleBroken(InpaintBenchError):
    """A rule of the tables stands against a change: a missing row that is referred to, or an event that would be changed."""


class Transaction:
    """An open transaction. What drivers raise becomes ``RuleBroken`` or ``JournalUnavailable``."""

    def __init__(self, connection: Connection, *, name: str) -> None:
        self.connection, self.name = connection, name
        self.is_postgres = connection.dialect.name == "postgresql"

    def rows(self, statement: Executable, values: Mapping[str, Any] | None = None) -> Sequence[Row[Any]]:
        """Rows of a query."""
        with _translated(self.name):
            return self.connection.execute(statement, values or {}).all()

    def change(self, statement: Executable, values: Mapping[str, Any] | None = None) -> int:
        """Run a statement that gives no rows; the number of rows it touched."""
        with _translated(self.name):
            done = self.connection.execute(statement, values or {})
            assert isinstance(done, CursorResult)
            return done.rowcount

    def insert(self, table: Table, values: Mapping[str, Any]) -> bool:
        """Insert one row. False where a unique column stands against it; the transaction goes on then, in PostgreSQL too."""
        make = postgresql.insert if self.is_postgres else sqlite.insert
        return self.change(make(table).on_conflict_do_nothing(), values) == 1

    def insert_all(self, table: Table, rows: list[dict[str, Any]]) -> None:
        """Insert many rows, all of them new; their columns hold texts and numbers."""
        if self.is_postgres:
            # One short statement however many rows there are: the driver reads statements letter by letter.
            self.change(_insert_from_json(table), {"rows": json.dumps(rows)})
            return
        with _translated(self.name):
            self.connection.execute(table.insert(), rows)

    def portions(self, table: Table) -> Iterator[list[dict[str, Any]]]:
        """All rows of a table, some thousand at a time."""
        with _translated(self.name):
            rows = self.connection.execution_options(yield_per=_ROWS_AT_ONCE).execute(select(table))
            for portion in rows.mappings().partitions():
                yield [dict(row) for row in portion]


class Database:
    """Connections to one database; safe for many threads, and for several processes.

    Args:
        url: a path or ``sqlite:///PATH`` (made when it is not there), or ``postgresql://user:password@host:port/database``
            with, if wanted, ``?sslmode=disable|prefer|require|verify-full``.

    Raises:
        InputError: the URL or the file cannot be used.
        MissingExtraError: the driver of PostgreSQL is not installed.
    """

    def __init__(self, url: str | Path | URL) -> None:
        parsed = parse_url(url)
        self.path = Path(parsed.database or "") if parsed.get_backend_name() == "sqlite" else None
        """The file of SQLite; None for PostgreSQL."""
        self.name = name_of(parsed)
        """Name in messages; without user and password."""
        self._engine = open_sqlite(self.path) if self.path else open_postgres(parsed)

    def __repr__(self) -> str:
        return f"Database({self.name!r})"

    def close(self) -> None:
        """Close all connections that nobody uses."""
        self._engine.dispose()

    @contextmanager
    def reading(self, *, one_moment: bool = False) -> Iterator[Transaction]:
        """For queries that change nothing; with ``one_moment`` all of them see the same state.

        Raises:
            JournalUnavailable: the database does not answer.
        """
        with self._connected() as connection:
            if one_moment:
                self._run(connection, "BEGIN" if self.path else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            yield Transaction(connection, name=self.name)

    @contextmanager
    def writing(self, lock: str) -> Iterator[Transaction]:
        """A transaction that no other one of the same ``lock`` overlaps; commits at the end, rolls back on an exception.

        Raises:
            JournalUnavailable: the database does not answer, or other processes held the lock for 30 s.
            RuntimeError: this thread is in such a transaction already.
        """
        # Threads wait here and not in the database, where each would hold a connection, or poll.
        with turns_for(self.name, "" if self.path else lock), self._connected() as connection:
            # READ COMMITTED, and statements of their own: each one after the lock sees what was committed until it was free.
            advisory = f"BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock({lock_number(lock)})"
            self._run(connection, "BEGIN IMMEDIATE" if self.path else advisory)
            yield Transaction(connection, name=self.name)
            self._run(connection, "COMMIT")

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        with _translated(self.name):
            connection = self._engine.connect()
        try:
            yield connection
        finally:
            try:  # roll back what is open; on a broken connection there is nothing to roll back
                connection.close()
            except (exc.SQLAlchemyError, OSError):
                connection.invalidate()
                connection.close()

    def _run(self, connection: Connection, statement: str) -> None:
        with _translated(self.name):
            connection.exec_driver_sql(statement)


@cache
def _insert_from_json(table: Table) -> Executable:
    columns = ", ".join(f'"{column.name}"' for column in table.columns)
    # Names are those of our own tables, and values are bound.
    return text(
        f"INSERT INTO {table.name} ({columns}) "  # nosec B608
        f"SELECT {columns} FROM json_populate_recordset(CAST(NULL AS {table.name}), CAST(:rows AS json))"
    )


def lock_number(lock: str) -> int:
    """The signed 64-bit number by which PostgreSQL knows a lock."""
    return int.from_bytes(hashlib.sha256(f"inpaintbench {lock}".encode()).digest()[:8], "big", signed=True)


@contextmanager
def _translated(name: str) -> Iterator[None]:
    try:
        yield
    except (exc.DBAPIError, exc.PendingRollbackError, exc.TimeoutError, OSError) as error:
        cause = (isinstance(error, exc.DBAPIError) and error.orig) or error
        first = cause.args[0] if cause.args else cause
        # pg8000 gives the fields of the server's message: C is its code, M its text.
        fields = first if isinstance(first, dict) else {"M": first}
        said = f"journal {name!r} cannot be used: {str(fields.get('M')).partition(chr(10))[0]}"
        if isinstance(error, exc.IntegrityError) or str(fields.get("C")).startswith(_RULE_BROKEN):
            raise RuleBroken(said) from error
        raise JournalUnavailable(said) from error
