"""Signed links of Prolific: a JSON Web Token in the address, checked with the keys that the platform publishes."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import jwt

from inpaintbench.errors import InpaintBenchError, InputError
from inpaintbench.files import read_text

# Parameter of the address that holds the token.
TOKEN = "prolific_token"
_LOG = logging.getLogger(__name__)
# Prolific asks to fetch its keys anew daily at least. A key that is not known is asked for once a minute at most, so that nobody
# makes this server ask more often by naming keys that there are not; while none is known, sooner.
_KEPT_SECONDS, _RETRY_SECONDS, _AGAIN_SECONDS = 86_400.0, 60.0, 5.0
_FETCH_SECONDS = 10.0
# Clocks are not exact.
_LEEWAY_SECONDS = 60.0


class KeysUnavailable(InpaintBenchError):
    """The key set cannot be read now."""


class KeySet:
    """Public keys by their id, of a JSON Web Key Set in a file or at an address; for any number of threads.

    Where it cannot be fetched anew the keys that are known go on being used.
    """

    def __init__(self, source: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._source, self._clock, self._lock = source, clock, threading.Lock()
        self._keys: Mapping[str, jwt.PyJWK] = {}
        self._asked = float("-inf")

    def key(self, name: str) -> jwt.PyJWK:
        """The key of that id.

        Raises:
            InputError: there is none.
            KeysUnavailable: no keys could be read so far.
        """
        known = name in self._keys
        # Those who have a key at hand do not wait for others who fetch it anew; the others wait for a fetch that is under way.
        if (not known or self._clock() - self._asked >= _KEPT_SECONDS) and self._taken(wait=not known):
            try:
                lasts = _KEPT_SECONDS if name in self._keys else _RETRY_SECONDS if self._keys else _AGAIN_SECONDS
                if self._clock() - self._asked >= lasts:
                    self.fetch()
            except KeysUnavailable as error:
                _LOG.warning("%s", error)
            finally:
                self._lock.release()
        if not self._keys:
            raise KeysUnavailable("the platform's keys cannot be had right now; reload this page in a minute")
        if name not in self._keys:
            raise InputError("this link is signed with a key that the platform does not name")
        return self._keys[name]

    def _taken(self, *, wait: bool) -> bool:
        return self._lock.acquire(timeout=_FETCH_SECONDS) if wait else self._lock.acquire(blocking=False)

    def fetch(self) -> None:
        """Read the keys.

        Raises:
            KeysUnavailable: no such file, no answer, or no key set.
        """
        self._asked = self._clock()
        try:
            if urlsplit(self._source).scheme in ("http", "https"):
                answer = httpx2.get(self._source, timeout=_FETCH_SECONDS)
                answer.raise_for_status()
                text = answer.text
            else:
                text = read_text(Path(self._source))
            self._keys = {str(key.key_id): key for key in jwt.PyJWKSet.from_json(text).keys}
        except (OSError, ValueError, httpx2.HTTPError, jwt.PyJWTError) as error:
            raise KeysUnavailable(f"the key set {self._source!r} cannot be read: {error}") from error


def check(token: str, given: Mapping[str, str], keys: KeySet, *, origin: str) -> None:
    """Check that the platform vouches for the identifiers of an address.

    Args:
        token: of the address.
        given: parameters of the address and their values; the token's claim ``prolific`` has to hold each.
        keys: of the platform.
        origin: of this server as browsers see it, or its host alone: whom the token was made for.

    Raises:
        InputError: it does not, or no longer.
        KeysUnavailable: nobody can tell now.
    """
    try:
        key = keys.key(str(jwt.get_unverified_header(token).get("kid")))
        rules: Any = {"require": ["exp", "aud"], "verify_aud": False}
        claims = jwt.decode(token, key, algorithms=["RS256"], leeway=_LEEWAY_SECONDS, options=rules)
    except jwt.ExpiredSignatureError as error:
        raise InputError("this link is too old; open the study from the platform's own page again") from error
    except jwt.PyJWTError as error:
        raise InputError("this link is not signed by the platform; open the study from the platform's own page") from error
    audience = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if origin.lower() not in [_origin_of(str(one), like=origin) for one in audience]:
        raise InputError("this link was signed for another address; whoever runs the study must mend it on the platform")
    said = claims.get("prolific")
    if not isinstance(said, Mapping) or any(said.get(name) != value for name, value in given.items()):
        raise InputError("this link was signed for somebody else; open the study from the platform's own page")


def _origin_of(audience: str, *, like: str) -> str:
    """``https://name`` of an address, or of a name without a scheme."""
    parts = urlsplit(audience if "://" in audience else f"{urlsplit(like).scheme}://{audience}")
    return f"{parts.scheme}://{parts.netloc}".lower()
