"""One request to a server of the user's: a POST, asked again while the server is busy."""

from __future__ import annotations

import time
import urllib.error
import urllib.parse
import urllib.request

from inpaintbench.errors import InputError, Unavailable

# Statuses of a server that is busy or starting; it is asked again, with pauses that double from the first.
_BUSY, _TRIES, _FIRST_PAUSE_SECONDS = (429, 502, 503, 504), 5, 1.0
# What is read of a refusal.
_REFUSAL_BYTES = 500


def is_address(text: str) -> bool:
    """Return whether a text is the address of a server, ``http://`` or ``https://``."""
    parts = urllib.parse.urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def checked_address(url: str) -> str:
    """``url`` where it is the address of a server, else ``InputError``."""
    if not is_address(url):
        raise InputError(f"{url!r} is no address of a server; give http://HOST:PORT/PATH")
    return url


def posted(url: str, body: bytes, *, content_type: str, seconds: float) -> bytes:
    """The answer to a POST.

    Args:
        url: where.
        body: of the request.
        content_type: of the body.
        seconds: how long an answer may take.

    Raises:
        Unavailable: the server cannot be reached, or refuses.
    """
    for attempt in range(1, _TRIES + 1):
        try:
            request = urllib.request.Request(url, data=body, headers={"Content-Type": content_type})
            with urllib.request.urlopen(request, timeout=seconds) as response:
                answer: bytes = response.read()
                return answer
        except urllib.error.HTTPError as error:
            if error.code not in _BUSY or attempt == _TRIES:
                words = " ".join(error.read(_REFUSAL_BYTES).decode(errors="replace").split())
                raise Unavailable(f"{url} answered {error.code}{f': {words}' if words else ''}") from error
            time.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise Unavailable(f"{url} cannot be asked: {reason}") from error
    raise AssertionError("every try ends")
