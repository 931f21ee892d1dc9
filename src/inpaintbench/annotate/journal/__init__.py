"""The journal of human work: an append-only table of events, who may write to it, and its backups.

SQLite or PostgreSQL through SQLAlchemy Core.
"""

from __future__ import annotations

import hashlib
import json
import math
import secrets
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, get_args

import orjson
from sqlalchemy import URL, Insert, Row, bindparam, delete, func, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from inpaintbench.annotate.journal.database import Database, RuleBroken, Transaction
from inpaintbench.annotate.journal.engines import check, parse_url, seal, snapshot, written_whole
from inpaintbench.annotate.journal.schema import CONTENTS, events, migrate, snapshots, studies, words
from inpaintbench.annotate.records import Event, Kind
from inpaintbench.errors import InpaintBenchError, InputError, WorkspaceError
from inpaintbench.types import canonical_json

_KINDS = frozenset(get_args(Kind))
# Kind -> field of the body -> the unique column that keeps it from coming twice.
_ID_FIELDS: Mapping[str, Mapping[str, str]] = {
    "answer": {"submission_id": "submission_id", "lease_id": "closed_lease_id"},
    "skip": {"submission_id": "submission_id", "lease_id": "closed_lease_id"},
    "undo": {"submission_id": "submission_id", "undoes": "undoes"},
}
# Characters of an id; those of this program have less than 40, imported ones may be longer.
_ID_LIMIT = 200
_OF_STUDY = select(events.c.seq, events.c.at, events.c.kind, events.c.rater_id, events.c.body).where(
    events.c.study_id == bindparam("of_study")
)
_AFTER = _OF_STUDY.where(events.c.seq > bindparam("after")).order_by(events.c.seq)
_SUBMITTED = _OF_STUDY.where(events.c.submission_id == bindparam("submission_id"))
_LAST = select(func.max(events.c.seq)).where(events.c.study_id == bindparam("of_study"))
# One above the highest stored. No other transaction of the study runs between this and the commit, so numbers grow in the order
# of commits: whoever sees a number has seen, or can see, all below it. A sequence of the database would hand out numbers before
# commits, which can come in another order.
_NEXT = func.coalesce(_LAST.scalar_subquery(), 0) + 1
# Ends the names of free words in what was given; the words of a skip are its `text`.
_FREE = "_text"
# In a stored body: part -> hash of the words that lie apart.
_WORDS = "words"
# Submissions whose words are asked for by name; of more, those of the whole study are read.
_FEW = 200
# By whether the database is PostgreSQL; a SQLite of some age cannot return what it inserts.
_APPEND: Mapping[bool, Insert] = {
    True: postgresql.insert(events).values(seq=_NEXT).on_conflict_do_nothing().returning(events.c.seq),
    False: sqlite.insert(events).values(seq=_NEXT).on_conflict_do_nothing(),
}


class AlreadyThere(InpaintBenchError):
    """The journal holds something that may be there only once.

    Attributes:
        field: ``submission_id``, ``lease_id`` (answered or skipped before) or ``undoes`` (undone before).
    """

    def __init__(self, field: str, value: str) -> None:
        whats = {"submission_id": "submission", "lease_id": "an answer or a skip of lease", "undoes": "an undo of submission"}
        super().__init__(f"the journal already holds {whats[field]} {value!r}")
        self.field = field


class Journal:
    """The events of studies in one database, which is made or migrated when it is opened. A context manager.

    Args:
        url: a path or ``sqlite:///PATH``, or ``postgresql://user:password@host:port/database``.

    Raises:
        InputError: the URL or the file cannot be used, or its schema is newer than this program.
        JournalUnavailable: the database does not answer.
    """

    def __init__(self, url: str | Path | URL) -> None:
        self.database = Database(url)
        try:
            migrate(self.database)
        except BaseException:  # an interrupt, too: nobody else can close it
            self.database.close()
            raise

    def __repr__(self) -> str:
        return f"Journal({self.database.name!r})"

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self.database.close()

    def register(self, study_id: str, *, title: str) -> None:
        """Make a study known; a second time only its title changes.

        Raises:
            InputError: an empty or strange id or title.
            JournalUnavailable: the database does not answer.
        """
        values = {"study_id": _id(study_id, name="study_id"), "title": _text(title, name="title")}
        with self.database.writing(study_lock(study_id)) as transaction:
            if not transaction.insert(studies, {**values, "registered_at": time.time()}):
                transaction.change(update(studies).where(studies.c.study_id == study_id).values(title=title))

    def studies(self) -> dict[str, str]:
        """Id -> title of every study, in the order in which they came."""
        with self.database.reading() as transaction:
            return {row.study_id: row.title for row in transaction.rows(select(studies).order_by(studies.c.registered_at))}

    def events(
        self, study_id: str, *, after: int = 0, most: int | None = None, kinds: Sequence[Kind] | None = None
    ) -> list[Event]:
        """The events with a ``seq`` above ``after``, in order; the first ``most`` of them, or those of some kinds.

        Raises:
            JournalUnavailable: the database does not answer.
        """
        with self.database.reading() as transaction:
            asked = _AFTER if kinds is None else _AFTER.where(events.c.kind.in_(kinds))
            rows = transaction.rows(asked.limit(most), {"of_study": study_id, "after": after})
            return _events(transaction, study_id, rows)

    def said(self, study_id: str) -> dict[str, dict[str, str]]:
        """Submission id -> part (of what was given, or ``text`` of a skip) -> the words that were not erased.

        Raises:
            JournalUnavailable: the database does not answer.
        """
        found: dict[str, dict[str, str]] = {}
        with self.database.reading() as transaction:
            for row in transaction.rows(select(words).where(words.c.study_id == study_id)):
                found.setdefault(row.submission_id, {})[row.part] = row.text
        return found

    def snapshot(self, study_id: str) -> bytes | None:
        """The newest snapshot of a study's state, as it was kept; None without one.

        Raises:
            JournalUnavailable: the database does not answer.
        """
        with self.database.reading() as transaction:
            rows = transaction.rows(select(snapshots.c.state).where(snapshots.c.study_id == study_id))
        return bytes(rows[0].state) if rows else None

    def keep_snapshot(self, study_id: str, state: bytes, *, seq: int) -> None:
        """Keep the state after event ``seq`` in place of the last one.

        Raises:
            JournalUnavailable: the database does not answer.
        """
        with self.database.writing(study_lock(study_id)) as transaction:
            transaction.change(delete(snapshots).where(snapshots.c.study_id == study_id))
            transaction.change(snapshots.insert(), {"study_id": study_id, "seq": seq, "state": state})

    @contextmanager
    def writing(self, study_id: str) -> Iterator[Writer]:
        """A transaction in which nobody else writes events of this study; commits at the end, rolls back on an exception.

        Once it has ended without an exception, its events are on disk.

        Raises:
            JournalUnavailable: the database does not answer, or other processes wrote for 30 s.
            RuntimeError: this thread is in such a transaction already.
        """
        with self.database.writing(study_lock(study_id)) as transaction:
            writer = Writer(transaction, study_id)
            yield writer
            writer.send()


class Writer:
    """The events of one study inside a write transaction."""

    def __init__(self, transaction: Transaction, study_id: str) -> None:
        self._transaction, self._study_id = transaction, study_id
        self._put: list[dict[str, Any]] = []
        self._said: list[dict[str, Any]] = []

    def events(self, *, after: int = 0) -> list[Event]:
        """As ``Journal.events``, with what this transaction added."""
        self.send()
        rows = self._transaction.rows(_AFTER, {"of_study": self._study_id, "after": after})
        return _events(self._transaction, self._study_id, rows)

    def submitted(self, submission_id: str) -> Event | None:
        """The event that was stored for a submission."""
        self.send()
        rows = self._transaction.rows(_SUBMITTED, {"of_study": self._study_id, "submission_id": submission_id})
        return _events(self._transaction, self._study_id, rows)[0] if rows else None

    def append(self, kind: Kind, rater_id: str, body: Mapping[str, Any], *, at: float) -> Event:
        """Add an event.

        Raises:
            AlreadyThere: its submission, its lease or what it undoes is there; the transaction can go on.
            InputError: an unknown kind, a missing id, a body that is no plain data, or a study that was never registered.
            JournalUnavailable: the database does not answer.
        """
        self.send()
        row, said = self._row(kind, rater_id, body, at=at)
        try:
            seq = self._insert(row)
        except RuleBroken as error:
            raise InputError(f"study {self._study_id!r} is not in this journal; register it first") from error
        if seq is None:
            raise self._conflict(row)
        if said:
            self._transaction.insert_all(words, said)
        return Event(seq=seq, at=row["at"], kind=kind, rater_id=rater_id, body=_whole(json.loads(row["body"]), said))

    def put(self, kind: Kind, rater_id: str, body: Mapping[str, Any], *, at: float, seq: int) -> Event:
        """As ``append``, for who has read all events in this transaction: those that are put go to the database together.

        Args:
            kind: of the event.
            rater_id: whose it is.
            body: plain data.
            at: seconds since 1970.
            seq: one above the last event of the study, put ones included.

        Raises:
            InputError: as for ``append``. What is there already fails the transaction when they are sent.
        """
        row, said = self._row(kind, rater_id, body, at=at)
        self._put.append({**row, "seq": seq})
        self._said += said
        return Event(seq=seq, at=row["at"], kind=kind, rater_id=rater_id, body=_whole(json.loads(row["body"]), said))

    def send(self) -> None:
        """Send what was put; at the end of a transaction this happens by itself.

        Raises:
            RuleBroken: something of it is there already; the transaction is lost.
            JournalUnavailable: the database does not answer.
        """
        if self._put:
            rows, self._put = self._put, []
            self._transaction.insert_all(events, rows)
        if self._said:
            said, self._said = self._said, []
            self._transaction.insert_all(words, said)

    def _row(
        self, kind: Kind, rater_id: str, body: Mapping[str, Any], *, at: float
    ) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The row of the event, and those of its free words, which lie apart because they may have to be erased."""
        if kind not in _KINDS:
            raise InputError(f"unknown kind of event {kind!r}; known are {', '.join(sorted(_KINDS))}")
        if not math.isfinite(at):
            raise InputError(f"the time of an event must be a number, not {at}")
        columns = {"submission_id": None, "closed_lease_id": None, "undoes": None}
        ids = {column: _id(body.get(field), name=field) for field, column in _ID_FIELDS.get(kind, {}).items()}
        event = {"study_id": self._study_id, "at": float(at), "kind": kind, "rater_id": _id(rater_id, name="rater_id")}
        kept, said = _apart(body) if ids.get("submission_id") else (body, {})
        try:
            for value in texts_of(kept):
                _text(value, name="the body of an event")
            row = {**event, "body": canonical_json(kept), **columns, **ids}
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"the body of an event must be plain data with finite numbers: {error}") from error
        ours = {"study_id": self._study_id, "submission_id": ids.get("submission_id")}
        return row, [{**ours, "part": part, **spoken} for part, spoken in said.items()]

    def _insert(self, row: Mapping[str, Any]) -> int | None:
        """The number of the event; None where a unique column stands against it."""
        if self._transaction.is_postgres:
            rows = self._transaction.rows(_APPEND[True], {**row, "of_study": self._study_id})
            return rows[0][0] if rows else None
        if not self._transaction.change(_APPEND[False], {**row, "of_study": self._study_id}):
            return None
        last: int = self._transaction.rows(_LAST, {"of_study": self._study_id})[0][0]
        return last

    def _conflict(self, row: Mapping[str, Any]) -> InpaintBenchError:
        for field, column in _ID_FIELDS.get(row["kind"], {}).items():
            same = _OF_STUDY.where(events.c[column] == bindparam("value"))
            if self._transaction.rows(same, {"of_study": self._study_id, "value": row[column]}):
                return AlreadyThere(field, row[column])
        return InpaintBenchError(f"a program that takes no lock writes to study {self._study_id!r}; stop it")


def study_lock(study_id: str) -> str:
    """The lock under which a study is written."""
    return f"study {study_id}"


def _events(transaction: Transaction, study_id: str, rows: Sequence[Row[Any]]) -> list[Event]:
    """The events of rows, with the free words that were not erased."""
    bodies = [orjson.loads(row[-1]) for row in rows]
    if spoken := [body for body in bodies if _WORDS in body]:
        said: dict[str, list[Mapping[str, Any]]] = {}
        theirs = select(words).where(words.c.study_id == study_id)
        if len(spoken) <= _FEW:
            theirs = theirs.where(words.c.submission_id.in_([body["submission_id"] for body in spoken]))
        for row in transaction.rows(theirs):
            said.setdefault(row.submission_id, []).append({"part": row.part, "text": row.text})
        for body in spoken:
            _whole(body, said.get(body["submission_id"], ()))
    return [Event._make((*row[:4], body)) for row, body in zip(rows, bodies, strict=True)]


def _apart(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, dict[str, str]]]:
    """A body without its free words, and these by part: salt and text. The body keeps a salted hash of each."""
    given = body.get("given", {})
    said = {part: text for part, text in given.items() if part.endswith(_FREE) and isinstance(text, str) and text}
    if isinstance(body.get("text"), str) and body["text"]:
        said["text"] = body["text"]
    if not said:
        return body, {}
    for spoken in said.values():
        _text(spoken, name="the body of an event")
    rows = {part: {"salt": secrets.token_hex(16), "text": text} for part, text in said.items()}
    kept = {
        **body,
        _WORDS: {part: hashlib.sha256((row["salt"] + row["text"]).encode()).hexdigest() for part, row in rows.items()},
    }
    if "text" in body:
        kept["text"] = ""
    if given:
        kept["given"] = {part: "" if part in said else value for part, value in given.items()}
    return kept, rows


def _whole(body: dict[str, Any], said: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A stored body with its words where they belong; words that were erased are empty."""
    body.pop(_WORDS, None)
    for row in said:
        if row["part"] == "text":
            body["text"] = row["text"]
        else:
            body["given"][row["part"]] = row["text"]
    return body


def _id(value: object, *, name: str) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _ID_LIMIT or not value.isprintable():
        raise InputError(f"{name} must be 1 to {_ID_LIMIT} printable characters, not {str(value)[:40]!r}")
    return value


def _text(value: str, *, name: str) -> str:
    if not is_storable(value):
        raise InputError(f"{name} holds characters that cannot be stored: {value[:40]!r}")
    return value


def is_storable(text: str) -> bool:
    """Return whether a text holds neither NUL nor half of a surrogate pair.

    PostgreSQL keeps neither, so SQLite must not take them.
    """
    return "\x00" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)


def texts_of(value: object) -> Iterator[str]:
    """Every text in plain data, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from texts_of(key)
            yield from texts_of(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)


def backup(journal: Journal, target: Path, *, replace: bool = False) -> None:
    """Write everything committed so far to one SQLite file, while others go on writing; its owner alone may read it.

    The file holds the state of one moment and was checked; it appears under its name when it is complete.

    Raises:
        InputError: ``target`` exists and is not to be replaced, or is a database in use.
        WorkspaceError: the journal is damaged, or the file cannot be written.
        JournalUnavailable: the database does not answer.
    """
    source = journal.database
    if source.path:
        snapshot(source.path, target, replace=replace)
        return
    with written_whole(target, replace=replace) as temporary:
        with Journal(temporary) as copy, source.reading(one_moment=True) as read, copy.database.writing("backup") as write:
            _copy_all(read, write)
        seal(temporary)


def restore(path: Path, url: str | Path | URL, *, study_id: str | None = None) -> None:
    """Put everything of a backup into an empty database, in one transaction; the backup is not changed.

    With ``study_id`` a backup without that study is refused.

    Raises:
        InputError: no backup there, not of the study, or the database is not empty.
        WorkspaceError: the backup is damaged.
        JournalUnavailable: the database does not answer.
    """
    if not path.is_file():
        raise InputError(f"there is no backup {str(path)!r}")
    try:
        with closing(sqlite3.connect(path)) as connection:
            check(connection, name=str(path))
            is_journal = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'").fetchone()
    except sqlite3.Error as error:
        raise WorkspaceError(f"backup {str(path)!r} cannot be read: {error}") from error
    if not is_journal:
        raise InputError(f"{str(path)!r} is no backup of a journal")
    if parse_url(url) == parse_url(path):
        raise InputError(f"{str(path)!r} cannot be restored into itself; name another database")
    # A backup of an older version is migrated, and that is no reason to change it.
    with tempfile.TemporaryDirectory(prefix="inpaintbench-restore-") as folder:
        snapshot(path, Path(folder) / "journal.sqlite")
        with Journal(Path(folder) / "journal.sqlite") as old:
            held = old.studies()
        if study_id is not None and study_id not in held:
            others = ", ".join(map(repr, held.values())) or "none"
            raise InputError(f"backup {str(path)!r} does not hold this study; the studies in it: {others}")
        with (
            Journal(Path(folder) / "journal.sqlite") as old, Journal(url) as new,
            old.database.reading() as read, new.database.writing("restore") as write,
        ):  # fmt: skip
            if write.is_postgres:
                # Writers of studies hold locks of their own; nothing is written before its study is there.
                write.change(text("LOCK TABLE studies IN SHARE ROW EXCLUSIVE MODE"))
            for table in CONTENTS:
                if rows := write.rows(select(func.count()).select_from(table))[0][0]:
                    name = new.database.name
                    raise InputError(f"database {name!r} is not empty ({table.name}: {rows} rows); restore into a new one")
            _copy_all(read, write)


def _copy_all(read: Transaction, write: Transaction) -> None:
    for table in CONTENTS:
        for portion in read.portions(table):
            write.insert_all(table, portion)


__all__ = ["AlreadyThere", "Journal", "Writer"]
