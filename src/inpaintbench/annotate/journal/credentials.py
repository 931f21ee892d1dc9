"""Names, passwords and secrets of raters: how they are stored and compared, and when a name is locked out.

No name is locked out for good: wrong passwords are counted by name, and forgotten after a while.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from functools import cache

from sqlalchemy import delete, select

from inpaintbench.annotate.journal.database import Transaction
from inpaintbench.annotate.journal.schema import failures
from inpaintbench.errors import InputError

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


def may_try(transaction: Transaction, study_id: str, key: str, *, at: float) -> bool:
    """Count an attempt as failed before it is checked: then a hundred at once are ten tries as well."""
    if is_locked(transaction, study_id, key, at=at):
        return False
    transaction.change(delete(failures).where(failures.c.at < at - 2 * LOCK_SECONDS))
    row = {"failure_id": secrets.token_hex(16), "study_id": study_id, "name_key": key, "at": at}
    transaction.insert(failures, row)
    return True


def forget_failures(transaction: Transaction, study_id: str, key: str) -> None:
    """The right password was given."""
    transaction.change(delete(failures).where(failures.c.study_id == study_id, failures.c.name_key == key))
