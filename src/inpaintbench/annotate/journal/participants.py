"""People whom a platform sends: one rater a person however often they come, and everything about them that can be erased.

What the platform says of somebody lies in the table ``participants`` and in no event.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, select, update

from inpaintbench.annotate.journal import Journal, study_lock
from inpaintbench.annotate.journal.accounts import Session, enter, fresh_secret, known, of_rater
from inpaintbench.annotate.journal.database import Transaction
from inpaintbench.annotate.journal.schema import (
    events,
    failures,
    invitations,
    participants,
    raters,
    sessions,
    study_keys,
    words,
)

# Somebody who is called so has no other name any more.
_PSEUDONYM = re.compile(r"P\d{4,}")
# Columns of a participant that say who they are.
_PERSONAL = ("rater_id", "platform", "participant", "session", "study", "submit_to", "arrived_at", "network")


@dataclass(frozen=True)
class Arrival:
    """Identifiers that a platform's link brings."""

    platform: str
    participant: str
    session: str = ""
    """Of this taking; what is paid or refused."""
    study: str = ""
    submit_to: str = ""
    """Address that takes what was done, where the platform names one."""


@dataclass(frozen=True)
class Participant:
    """Somebody whom a platform sent."""

    rater_id: str
    name: str
    """Pseudonym."""
    arrival: Arrival
    """The newest one."""
    arrived_at: float
    """Seconds since 1970; of the first."""


@dataclass(frozen=True)
class Erased:
    """How many things that were said of somebody are gone."""

    name: str
    """Pseudonym that is left."""
    participants: int
    words: int
    """Free words of their answers and skips."""
    links: int
    """Invitations and sessions."""


class Participants:
    """Those of all studies of a journal. Every method raises ``JournalUnavailable`` when the database does not answer."""

    def __init__(self, journal: Journal) -> None:
        self._database = journal.database

    def arrive(
        self, study_id: str, arrival: Arrival, *, at: float, signed: bool = False, browser_of: str = "", over: bool = False,
        holds: Callable[[str], bool] = lambda _: True,
    ) -> Session | None:  # fmt: skip
        """A session for whoever came: the same rater whatever their session at the platform; None once they have withdrawn.

        Who came before is known by the browser, or as long as their part lasts by the platform's signature or the same session of
        the platform; an id alone opens nothing. The study's secret is made by the first arrival.

        Args:
            study_id: of the study.
            arrival: what the link says.
            at: seconds since 1970.
            signed: the platform vouches for the link.
            browser_of: rater whose session the browser has.
            over: the part of whoever it is has ended: then their session at the platform stays what it is.
            holds: tells of a rater whether they are at work, or owed something; whoever is not gives up their session at the
                platform to the next who comes with it.

        Raises:
            Closed: the secret was deleted.
            Unproven: somebody else may have come with this id before.
            Taken: somebody else holds this session of the platform, which is one person's.
        """
        newest = {"session": arrival.session, "study": arrival.study, "submit_to": arrival.submit_to}

        def holding() -> frozenset[str]:
            with self._database.reading() as transaction:
                came = transaction.rows(select(participants.c.rater_id).where(_of_session(study_id, arrival)))
            return frozenset(row.rater_id for row in came if holds(row.rater_id))

        with self._knowing(study_id, holding) as (transaction, held):
            secret = _secret(transaction, study_id)
            if secret is None:
                secret = fresh_secret()
                transaction.insert(study_keys, {"study_id": study_id, "secret": secret})
            row = _row_of(transaction, study_id, arrival)
            if row is not None and row.rater_id is None:
                return None
            key = _hidden(secret, f"{arrival.platform}\0{arrival.participant}")
            if row is not None:
                rater_id = str(row.rater_id)
                mine = (participants.c.study_id == study_id) & (participants.c.external_key == key)
                proven = (signed and not over) or browser_of == rater_id
                if not proven and (over or not row.session or row.session != arrival.session):
                    raise Unproven
                if proven and not over:
                    _take_session(transaction, study_id, arrival, key, held=held)
                    transaction.change(update(participants).where(mine).values(**newest))
            else:
                _take_session(transaction, study_id, arrival, key, held=held)
                rater_id, name = secrets.token_hex(8), _pseudonym(transaction, study_id)
                ours = {"study_id": study_id, "rater_id": rater_id}
                called = {"name": name, "name_key": name.casefold(), "role": "rater", "created_at": at}
                transaction.insert(raters, {**ours, **called})
                said = {"platform": arrival.platform, "participant": arrival.participant, **newest, "arrived_at": at}
                transaction.insert(participants, {**ours, "external_key": key, **said})
            return enter(transaction, select(raters).where(of_rater(raters, study_id, rater_id)), at=at)

    def rater_of(self, study_id: str, arrival: Arrival) -> str | None:
        """The rater whom somebody is, with whatever session; empty for who withdrew, None where they never came."""
        with self._database.reading() as transaction:
            row = _row_of(transaction, study_id, arrival)
        return None if row is None else row.rater_id or ""

    def works_from(self, study_id: str, rater_id: str, network: str) -> None:
        """Keep a keyed hash of the network from which somebody agrees to take part; of the first, where one is kept."""
        with self._database.writing(study_lock(study_id)) as transaction:
            if (secret := _secret(transaction, study_id)) is not None:
                mine = of_rater(participants, study_id, rater_id) & participants.c.network.is_(None)
                transaction.change(update(participants).where(mine).values(network=_hidden(secret, f"network\0{network}")))

    def neighbours(self, study_id: str, rater_id: str) -> frozenset[str] | None:
        """Other raters of the network from which this one works; None where nothing is kept of theirs."""
        known = select(participants.c.rater_id, participants.c.network)
        with self._database.reading() as transaction:
            rows = transaction.rows(known.where(participants.c.study_id == study_id, participants.c.network.is_not(None)))
        mine = {row.network for row in rows if row.rater_id == rater_id}
        return frozenset(row.rater_id for row in rows if row.network in mine) - {rater_id} if mine else None

    def forget_networks(self, study_id: str, *, besides: Callable[[], frozenset[str]] = frozenset) -> None:
        """Keep nothing of where raters came from, ``besides`` these and whoever agrees while it is asked."""
        known = (participants.c.study_id == study_id) & participants.c.network.is_not(None)
        with self._knowing(study_id, besides) as (transaction, stay):
            gone = {row.rater_id for row in transaction.rows(select(participants.c.rater_id).where(known))} - stay
            for rater_id in gone:
                transaction.change(update(participants).where(of_rater(participants, study_id, rater_id)).values(network=None))

    def agreed(self, study_id: str, arrival: Arrival) -> bool:
        """Return whether somebody agreed to take part in a study; of who withdrew from it nothing else is known than that.

        Raises:
            Closed: what links people to the study is deleted.
        """
        with self._database.reading() as transaction:
            row = _row_of(transaction, study_id, arrival)
            if row is None or row.rater_id is None:
                return row is not None
            theirs = select(events.c.body).where(of_rater(events, study_id, row.rater_id), events.c.kind == "consent")
            return any(json.loads(event.body)["answer"] for event in transaction.rows(theirs))

    def all(self, study_id: str) -> dict[str, Participant]:
        """Rater id -> participant, in the order in which they came; without those who are erased."""
        return self._read(participants.c.study_id == study_id)

    def _read(self, which: ColumnElement[bool]) -> dict[str, Participant]:
        both = (raters.c.study_id == participants.c.study_id) & (raters.c.rater_id == participants.c.rater_id)
        query = select(participants, raters.c.name).join(raters, both).where(which)
        with self._database.reading() as transaction:
            rows = transaction.rows(query.order_by(participants.c.arrived_at, participants.c.external_key))
        told: dict[str, Participant] = {}
        for row in rows:
            newest = Arrival(row.platform, row.participant, row.session, row.study, row.submit_to)
            told[row.rater_id] = Participant(row.rater_id, row.name, newest, row.arrived_at)
        return told

    def of(self, study_id: str, rater_id: str) -> Participant | None:
        """The participant behind a rater; None for those who were invited."""
        return self._read(of_rater(participants, study_id, rater_id)).get(rater_id)

    def erase(self, study_id: str, rater_id: str, *, keep_payment: bool = False) -> Erased:
        """Erase everything that is said of a rater, and shut them out. Their answers stay, under the random id.

        With ``keep_payment`` the platform's record stays too, for whoever has yet to pay or refuse them.

        In SQLite what is erased is overwritten, in the write-ahead log too. PostgreSQL overwrites it when it next needs the room.

        Raises:
            InputError: no such rater.
        """
        with self._overwriting(), self._database.writing(study_lock(study_id)) as transaction:
            row = known(transaction, study_id, rater_id)
            theirs = select(events.c.submission_id).where(
                of_rater(events, study_id, rater_id), events.c.submission_id.is_not(None)
            )
            said = transaction.change(delete(words).where(words.c.study_id == study_id, words.c.submission_id.in_(theirs)))
            links = sum(
                transaction.change(delete(table).where(of_rater(table, study_id, rater_id))) for table in (invitations, sessions)
            )
            transaction.change(delete(failures).where(failures.c.study_id == study_id, failures.c.name_key == row.name_key))
            gone = ("network",) if keep_payment else _PERSONAL
            platform_said = update(participants).where(of_rater(participants, study_id, rater_id))
            count = transaction.change(platform_said.values(dict.fromkeys(gone)))
            name = row.name if count or _PSEUDONYM.fullmatch(row.name) else _pseudonym(transaction, study_id)
            nameless = {"name": name, "name_key": name.casefold(), "password": None}
            revoked = {"revoked_at": row.revoked_at or row.created_at}
            transaction.change(update(raters).where(of_rater(raters, study_id, rater_id)).values(**nameless, **revoked))
        return Erased(name, 0 if keep_payment else count, said, links)

    def forget(self, study_id: str) -> int:
        """Delete what links answers to people of platforms, with the key: nobody can come, or come back, any more.

        Return how many people it was about.
        """
        with self._overwriting(), self._database.writing(study_lock(study_id)) as transaction:
            theirs = participants.c.study_id == study_id
            linked = select(func.count()).select_from(participants).where(theirs, participants.c.rater_id.is_not(None))
            count = int(transaction.rows(linked)[0][0])
            transaction.change(delete(participants).where(theirs))
            transaction.change(delete(study_keys).where(study_keys.c.study_id == study_id))
            transaction.insert(study_keys, {"study_id": study_id, "secret": ""})
        return count

    @contextmanager
    def _knowing(self, study_id: str, told: Callable[[], frozenset[str]]) -> Iterator[tuple[Transaction, frozenset[str]]]:
        """A transaction that writes, with the raters that ``told`` gives and all who answered about consent since it was asked.

        It is asked before the study is locked: the desk locks itself first and then the study.
        """
        with self._database.reading() as transaction:
            seen = transaction.rows(select(func.max(events.c.seq)).where(events.c.study_id == study_id))[0][0] or 0
        known = told()
        with self._database.writing(study_lock(study_id)) as transaction:
            since = (events.c.study_id == study_id) & (events.c.seq > seen) & (events.c.kind == "consent")
            yield transaction, known.union(row.rater_id for row in transaction.rows(select(events.c.rater_id).where(since)))

    @contextmanager
    def _overwriting(self) -> Iterator[None]:
        """At the end, an interrupt's too, bring the write-ahead log into the file, where deleted rows are zeros, and cut it."""
        try:
            yield
        finally:
            if self._database.path:
                with self._database.reading() as transaction:
                    transaction.connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")


def _row_of(transaction: Transaction, study_id: str, arrival: Arrival) -> Row[Any] | None:
    """The row of a person; None where they never came."""
    secret = _secret(transaction, study_id)
    if secret is None:
        return None
    key = _hidden(secret, f"{arrival.platform}\0{arrival.participant}")
    mine = (participants.c.study_id == study_id) & (participants.c.external_key == key)
    rows = transaction.rows(select(participants).where(mine))
    return rows[0] if rows else None


def _of_session(study_id: str, arrival: Arrival) -> ColumnElement[bool]:
    """The rows of those who came with a session of the platform; none where the link says nothing of sessions."""
    said = (participants.c.platform == arrival.platform) & (participants.c.session == arrival.session)
    return (participants.c.study_id == study_id) & said & (participants.c.session != "")


def _take_session(transaction: Transaction, study_id: str, arrival: Arrival, key: str, *, held: frozenset[str]) -> None:
    """Take a session at the platform from whoever has it without use; raise ``Taken`` where one of ``held`` has it."""
    others = _of_session(study_id, arrival) & (participants.c.external_key != key)
    if held.intersection(row.rater_id for row in transaction.rows(select(participants.c.rater_id).where(others))):
        raise Taken
    transaction.change(update(participants).where(others).values(session=""))


def _secret(transaction: Transaction, study_id: str) -> str | None:
    """The study's secret; None where nobody came yet."""
    rows = transaction.rows(select(study_keys.c.secret).where(study_keys.c.study_id == study_id))
    if rows and not rows[0].secret:
        raise Closed
    return str(rows[0].secret) if rows else None


def _hidden(secret: str, said: str) -> str:
    return hmac.new(secret.encode(), said.encode(), hashlib.sha256).hexdigest()


class Closed(Exception):
    """The study takes nobody any more."""


class Unproven(Exception):
    """Somebody came with this id before, and nothing shows that it was the same person."""


class Taken(Exception):
    """Somebody else holds this session of the platform."""


def _pseudonym(transaction: Transaction, study_id: str) -> str:
    """``P0007``: a name that nobody has."""
    count = transaction.rows(select(func.count()).select_from(raters).where(raters.c.study_id == study_id))[0][0]
    while True:
        count += 1
        name = f"P{count:04d}"
        if not transaction.rows(select(raters).where(raters.c.study_id == study_id, raters.c.name_key == name.casefold())):
            return name
