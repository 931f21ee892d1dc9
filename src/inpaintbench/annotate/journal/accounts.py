"""People who may take part in a study: raters and admins, their invitations, passwords and sessions.

Everything lies in the journal's database, so that several servers know the same people; of secrets only hashes lie there.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, get_args

from sqlalchemy import ColumnElement, Row, Select, Table, delete, select, update

from inpaintbench.annotate.journal import Journal, study_lock
from inpaintbench.annotate.journal.database import RuleBroken, Transaction
from inpaintbench.annotate.journal.schema import failures, invitations, raters, sessions
from inpaintbench.errors import InputError

# Names, passwords and secrets of raters: how they are stored and compared, and when a name is locked out.
#
# No name is locked out for good: wrong passwords are counted by name, and forgotten after a while.

# scrypt's n, r and p: 16 MiB of memory, some 50 ms.
_WORK = (2**14, 8, 1)
# Bytes of secrets and of password hashes: 256 bits cannot be guessed.
_BYTES = 32
# Characters of a password: eight as NIST SP 800-63B asks for, and an end to the time that hashing takes.
_SHORTEST, _LONGEST = 8, 1000


def fresh_secret() -> str:
    """256 random bits as text that can stand in a URL."""
    return secrets.token_urlsafe(_BYTES)


def digest(secret: str) -> str:
    """SHA-256 of a secret of 256 random bits, as stored; nobody can guess those, so a plain hash is enough."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def hash_password(password: str) -> str:
    """``scrypt$n$r$p$salt$hash`` of a password, with a new salt.

    Raises:
        InputError: shorter than 8 characters or longer than 1000. The sentence does not show it.
    """
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise InputError(f"a password must have {_SHORTEST} to {_LONGEST} characters, this one has {len(password)}")
    salt = secrets.token_bytes(16)
    n, r, p = _WORK
    return f"scrypt${n}${r}${p}${salt.hex()}${_scrypt(password, salt=salt, n=n, r=r, p=p).hex()}"


def password_is(password: str, *, stored: str | None) -> bool:
    """Return whether ``stored`` was made of ``password``; takes as long where nothing is stored."""
    _, n, r, p, salt, expected = (stored or _of_nobody()).split("$")
    computed = _scrypt(password[:_LONGEST], salt=bytes.fromhex(salt), n=int(n), r=int(r), p=int(p))
    return hmac.compare_digest(computed, bytes.fromhex(expected)) and stored is not None


@cache
def _of_nobody() -> str:
    return hash_password(fresh_secret())


def _scrypt(password: str, *, salt: bytes, n: int, r: int, p: int) -> bytes:
    # The same letter can be typed as one sign or as two; keyboards differ.
    plain = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(plain, salt=salt, n=n, r=r, p=p, maxmem=2**20 + 256 * n * r * p, dklen=_BYTES)


# Characters of a name, which is shown in tables.
_NAME_LIMIT = 80


def clean_name(name: str) -> str:
    """A name as it is stored and shown.

    Raises:
        InputError: empty, longer than 80 characters, or with characters that cannot be printed.
    """
    cleaned = unicodedata.normalize("NFC", name).strip()
    if not 0 < len(cleaned) <= _NAME_LIMIT or not cleaned.isprintable():
        raise InputError(f"a name must be 1 to {_NAME_LIMIT} printable characters, not {name[: _NAME_LIMIT + 1]!r}")
    return cleaned


def name_key(name: str) -> str:
    """Key of a name, equal for names that people would take for the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


# Wrong passwords for one name within `LOCK_SECONDS`; then no password is tried for that name for as long.
FAILURES_ALLOWED = 10
LOCK_SECONDS = 15 * 60.0


def is_locked(transaction: Transaction, study_id: str, key: str, *, at: float) -> bool:
    """Return whether so many wrong passwords were sent for a name that none is tried now."""
    theirs = select(failures.c.at).where(failures.c.study_id == study_id, failures.c.name_key == key)
    latest = [row.at for row in transaction.rows(theirs.order_by(failures.c.at.desc()).limit(FAILURES_ALLOWED))]
    if len(latest) < FAILURES_ALLOWED or latest[0] - latest[-1] > LOCK_SECONDS:
        return False
    return bool(at - latest[0] < LOCK_SECONDS)


# `unblinded`: an admin who is told the methods' names before the study ends.
Role = Literal["rater", "admin", "unblinded"]
_ADMINS: frozenset[Role] = frozenset({"admin", "unblinded"})
# After so long somebody has to enter again.
SESSION_SECONDS = 30 * 86400.0
_OF_RATER = (raters.c.study_id == sessions.c.study_id) & (raters.c.rater_id == sessions.c.rater_id)


@dataclass(frozen=True)
class Rater:
    """Somebody who was added to a study."""

    rater_id: str
    """Random; tells nothing of the name."""
    name: str
    role: Role
    created_at: float
    """Seconds since 1970."""
    revoked: bool

    @property
    def is_admin(self) -> bool:
        """Watches and does not answer."""
        return self.role in _ADMINS


@dataclass(frozen=True)
class Person:
    """Sender of a request."""

    rater_id: str
    name: str
    role: Role
    study_id: str

    @property
    def is_admin(self) -> bool:
        """Watches and does not answer."""
        return self.role in _ADMINS

    @property
    def sees_methods(self) -> bool:
        """Is told the methods' names before the study ends."""
        return self.role == "unblinded"


@dataclass(frozen=True)
class Session:
    """Somebody has entered; the token goes into their cookie and is stored nowhere."""

    token: str
    person: Person

    def __repr__(self) -> str:
        return f"Session(person={self.person!r})"


class People:
    """The people of all studies of a journal; ``clock`` gives seconds since 1970, for what takes no ``at``.

    Every method raises ``JournalUnavailable`` when the database does not answer.
    """

    def __init__(self, journal: Journal, *, clock: Callable[[], float] = time.time) -> None:
        self._database, self._clock = journal.database, clock

    def add(self, study_id: str, name: str, *, role: Role = "rater") -> Rater:
        """Add somebody to a registered study.

        Raises:
            InputError: the name is taken (case does not count), empty, longer than 80 characters or not printable; the study is
                not registered; an unknown role.
        """
        if role not in get_args(Role):
            raise InputError(f"unknown role {role!r}; known are {', '.join(get_args(Role))}")
        shown = clean_name(name)
        rater = Rater(secrets.token_hex(8), shown, role, self._clock(), revoked=False)
        row = {"rater_id": rater.rater_id, "name": shown, "role": role, "created_at": rater.created_at}
        with self._database.writing(study_lock(study_id)) as transaction:
            try:
                if not transaction.insert(raters, {"study_id": study_id, "name_key": name_key(shown), **row}):
                    raise InputError(f"somebody called {shown!r} is in this study already; choose another name")
            except RuleBroken as error:
                raise InputError(f"study {study_id!r} is not in this journal; register it first") from error
        return rater

    def raters(self, study_id: str) -> list[Rater]:
        """Everybody who was added, admins and revoked ones too, in the order of adding."""
        everybody = select(raters).where(raters.c.study_id == study_id).order_by(raters.c.created_at, raters.c.rater_id)
        with self._database.reading() as transaction:
            return [
                Rater(row.rater_id, row.name, row.role, row.created_at, revoked=row.revoked_at is not None)
                for row in transaction.rows(everybody)
            ]

    def names(self, study_id: str) -> dict[str, str]:
        """Rater id -> name of everybody who was added."""
        return {rater.rater_id: rater.name for rater in self.raters(study_id)}

    def invite(self, study_id: str, rater_id: str) -> str:
        """A new secret for an invitation link; older ones of this rater are good no longer, sessions stay.

        Raises:
            InputError: no such rater, or revoked.
        """
        secret, now = fresh_secret(), self._clock()
        with self._database.writing(study_lock(study_id)) as transaction:
            _active(transaction, study_id, rater_id)
            _revoke(transaction, invitations, study_id, rater_id, at=now)
            row = {"secret_sha256": digest(secret), "study_id": study_id, "rater_id": rater_id, "created_at": now}
            transaction.insert(invitations, row)
        return secret

    def revoke(self, study_id: str, rater_id: str) -> None:
        """Shut somebody out for good: invitations, password and sessions end. Their answers stay.

        Raises:
            InputError: no such rater.
        """
        now = self._clock()
        with self._database.writing(study_lock(study_id)) as transaction:
            known(transaction, study_id, rater_id)
            for table in (raters, invitations):
                _revoke(transaction, table, study_id, rater_id, at=now)
            _end_sessions(transaction, study_id, rater_id)

    def set_password(self, study_id: str, rater_id: str, password: str) -> None:
        """Give a password, in place of an older one; sessions end.

        Raises:
            InputError: no such rater, revoked, or a password shorter than 8 or longer than 1000 characters.
        """
        stored = hash_password(password)
        with self._database.writing(study_lock(study_id)) as transaction:
            _active(transaction, study_id, rater_id)
            transaction.change(update(raters).where(of_rater(raters, study_id, rater_id)).values(password=stored))
            _end_sessions(transaction, study_id, rater_id)

    def enter_by_secret(self, secret: str, *, at: float, study_id: str) -> Session | None:
        """A session for the holder of an invitation's secret; None where it is unknown, revoked or of another study."""
        hashed = digest(secret)
        valid = select(invitations).where(
            invitations.c.secret_sha256 == hashed, invitations.c.study_id == study_id, invitations.c.revoked_at.is_(None)
        )
        # Looked up before a writer's turn is taken: guesses hold nobody up.
        with self._database.reading() as transaction:
            known = transaction.rows(valid)
        if not known or not hmac.compare_digest(known[0].secret_sha256, hashed):
            return None
        with self._database.writing(study_lock(study_id)) as transaction:
            if not transaction.rows(valid):
                return None
            return enter(transaction, select(raters).where(of_rater(raters, study_id, known[0].rater_id)), at=at)

    def enter_by_password(self, study_id: str, name: str, password: str, *, at: float) -> Session | None:
        """A session for the holder of a name and its password; None where they do not fit or the name is locked out.

        Names that nobody has take as long, and are locked out like others.
        """
        try:
            key = name_key(clean_name(name))
        except InputError:
            password_is(password, stored=None)
            return None
        with self._database.writing(study_lock(study_id)) as transaction:
            if is_locked(transaction, study_id, key, at=at):
                return None
            # An attempt counts as failed before it is checked: then a hundred at once are ten tries as well.
            transaction.change(delete(failures).where(failures.c.at < at - 2 * LOCK_SECONDS))
            row = {"failure_id": secrets.token_hex(16), "study_id": study_id, "name_key": key, "at": at}
            transaction.insert(failures, row)
        theirs = select(raters).where(raters.c.study_id == study_id, raters.c.name_key == key)
        with self._database.reading() as transaction:
            rows = transaction.rows(theirs)
        stored = rows[0].password if rows else None
        if not password_is(password, stored=stored):
            return None
        with self._database.writing(study_lock(study_id)) as transaction:
            transaction.change(delete(failures).where(failures.c.study_id == study_id, failures.c.name_key == key))
            return enter(transaction, theirs.where(raters.c.password == stored), at=at)

    def locked_out(self, study_id: str, name: str, *, at: float) -> bool:
        """Return whether so many wrong passwords were sent for a name that none is tried now."""
        try:
            key = name_key(clean_name(name))
        except InputError:
            return False
        with self._database.reading() as transaction:
            return is_locked(transaction, study_id, key, at=at)

    def who(self, token: str, *, at: float) -> Person | None:
        """Whose session a token is; None where it is unknown, over, ended, or its rater revoked."""
        hashed = digest(token)
        owner = select(raters, sessions.c.token_sha256).join(sessions, _OF_RATER)
        good = owner.where(sessions.c.token_sha256 == hashed, sessions.c.expires_at > at, raters.c.revoked_at.is_(None))
        with self._database.reading() as transaction:
            rows = transaction.rows(good)
        return _person(rows[0]) if rows and hmac.compare_digest(rows[0].token_sha256, hashed) else None

    def leave(self, token: str) -> None:
        """End a session; nothing happens where there is none."""
        theirs = sessions.c.token_sha256 == digest(token)
        with self._database.reading() as transaction:
            rows = transaction.rows(select(sessions.c.study_id).where(theirs))
        if rows:
            with self._database.writing(study_lock(rows[0].study_id)) as transaction:
                transaction.change(delete(sessions).where(theirs))


def of_rater(table: Table, study_id: str, rater_id: str) -> ColumnElement[bool]:
    """The rows of one rater."""
    return (table.c.study_id == study_id) & (table.c.rater_id == rater_id)


def known(transaction: Transaction, study_id: str, rater_id: str) -> Row[Any]:
    """The row of a rater.

    Raises:
        InputError: there is none.
    """
    rows = transaction.rows(select(raters).where(of_rater(raters, study_id, rater_id)))
    if not rows:
        raise InputError(f"study {study_id!r} has no rater {rater_id!r}; add them first")
    return rows[0]


def _active(transaction: Transaction, study_id: str, rater_id: str) -> None:
    row = known(transaction, study_id, rater_id)
    if row.revoked_at is not None:
        raise InputError(f"{row.name!r} was revoked; add them again under another name")


def _revoke(transaction: Transaction, table: Table, study_id: str, rater_id: str, *, at: float) -> None:
    """Revoke a rater or their invitations; what was revoked before stays so since then."""
    standing = of_rater(table, study_id, rater_id) & table.c.revoked_at.is_(None)
    transaction.change(update(table).where(standing).values(revoked_at=at))


def _end_sessions(transaction: Transaction, study_id: str, rater_id: str) -> None:
    transaction.change(delete(sessions).where(of_rater(sessions, study_id, rater_id)))


def enter(transaction: Transaction, rater: Select[Any], *, at: float) -> Session | None:
    """A new session for the one rater whom a query gives; revoking takes the same lock, so it cannot come in between."""
    rows = transaction.rows(rater.where(raters.c.revoked_at.is_(None)))
    if not rows:
        return None
    token, row = fresh_secret(), rows[0]
    transaction.change(delete(sessions).where(sessions.c.expires_at <= at))
    ids = {"token_sha256": digest(token), "study_id": row.study_id, "rater_id": row.rater_id}
    transaction.insert(sessions, {**ids, "created_at": at, "expires_at": at + SESSION_SECONDS})
    return Session(token, _person(row))


def _person(row: Row[Any]) -> Person:
    return Person(row.rater_id, row.name, row.role, row.study_id)


class Names:
    """Rater id -> name; names never change, so each is looked up once. Raters of imported answers keep their id."""

    def __init__(self, people: People, study_id: str) -> None:
        self._people = people
        self._study_id = study_id
        self._known: dict[str, str] = {}

    def __call__(self, rater_id: str) -> str:
        """The name, or the id of somebody who was never added."""
        if rater_id not in self._known:
            self._known = {**self._known, rater_id: rater_id} | self._people.names(self._study_id)
        return self._known[rater_id]
