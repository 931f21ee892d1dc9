"""Passwords and secrets: what is stored of them, and how they are compared."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from functools import cache

from inpaintbench.errors import InputError

# scrypt's n, r and p: 16 MiB of memory, some 50 ms.
_WORK = (2**14, 8, 1)
_BYTES = 32
_SHORTEST, _LONGEST = 8, 1000


def fresh_secret() -> str:
    """256 random bits as text that can stand in a URL."""
    return secrets.token_urlsafe(_BYTES)


def digest(secret: str) -> str:
    """What is stored of a secret of 256 random bits; nobody can guess those, so a plain hash is enough."""
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
    """Whether ``stored`` was made of ``password``; takes as long where nothing is stored."""
    _, n, r, p, salt, expected = (stored or _of_nobody()).split("$")
    found = _scrypt(password[:_LONGEST], salt=bytes.fromhex(salt), n=int(n), r=int(r), p=int(p))
    return hmac.compare_digest(found, bytes.fromhex(expected)) and stored is not None


@cache
def _of_nobody() -> str:
    return hash_password(fresh_secret())


def _scrypt(password: str, *, salt: bytes, n: int, r: int, p: int) -> bytes:
    # The same letter can be typed as one sign or as two; keyboards differ.
    plain = unicodedata.normalize("NFKC", password).encode("utf-8", "surrogatepass")
    return hashlib.scrypt(plain, salt=salt, n=n, r=r, p=p, maxmem=2**20 + 256 * n * r * p, dklen=_BYTES)
