"""One request to a server of the user's: a POST, asked again while the server is busy."""

from __future__ import annotations

import http.client
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from html.parser import HTMLParser

from inpaintbench.errors import InputError, Unavailable

# Statuses of a server that is busy or starting; it is asked again, with pauses that double from the first.
_BUSY, _TRIES, _FIRST_PAUSE_SECONDS = (429, 502, 503, 504), 5, 1.0
# What is read of a refusal, and what of it a reason quotes.
_REFUSAL_BYTES, _QUOTED_LETTERS = 1 << 16, 100


def is_address(text: str) -> bool:
    """Return whether a text is the address of a server, ``http://`` or ``https://``."""
    parts = urllib.parse.urlsplit(text)
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def checked_address(url: str) -> str:
    """``url`` where it is the address of a server, else ``InputError``."""
    if not is_address(url):
        raise InputError(f"{url!r} is no address of a server; give http://HOST:PORT/PATH")
    return url


class Refused(Unavailable):
    """A server refused."""

    page: str = ""
    """What it answered."""


def first_words(page: str) -> str:
    """The first words of an answer that is a text, or of a page of HTML as it is read."""
    text = page
    if re.match(r"\s*<(!doctype|html|head|body|title|h1|p)\b", page, re.IGNORECASE):
        reader = _Read()
        reader.feed(page)
        reader.close()
        text = " ".join(reader.body).strip() or " ".join(reader.title)
    words = " ".join(text.split())
    cut = words[:_QUOTED_LETTERS]
    return words if words == cut else f"{cut.rpartition(' ')[0] or cut} ..."


class _Read(HTMLParser):
    """The text of a page; what its title says, its body says again."""

    def __init__(self) -> None:
        super().__init__()
        self._within: list[str] = []
        self.body: list[str] = []
        self.title: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - named by the base class
        if tag in ("head", "style", "script", "title"):
            self._within.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in self._within:
            del self._within[self._within.index(tag) :]

    def handle_data(self, data: str) -> None:
        if not self._within:
            self.body.append(data)
        elif self._within[-1] == "title":
            self.title.append(data)


def posted(url: str, body: bytes, *, content_type: str, seconds: float) -> bytes:
    """The answer to a POST.

    Args:
        url: where.
        body: of the request.
        content_type: of the body.
        seconds: how long an answer may take.

    Raises:
        Unavailable: the server cannot be reached, refuses, or its answer breaks off.
    """
    for attempt in range(1, _TRIES + 1):
        try:
            request = urllib.request.Request(url, data=body, headers={"Content-Type": content_type})
            # Of `checked_address`: http or https, so no file is opened.
            with urllib.request.urlopen(request, timeout=seconds) as response:  # nosec B310
                answer: bytes = response.read()
                return answer
        except urllib.error.HTTPError as error:
            if error.code not in _BUSY or attempt == _TRIES:
                page = error.read(_REFUSAL_BYTES).decode(errors="replace")
                words = first_words(page) or error.reason
                refusal = Refused(f"{url} answered {error.code}{f': {words}' if words else ''}")
                refusal.page = page
                raise refusal from error
            time.sleep(_FIRST_PAUSE_SECONDS * 2 ** (attempt - 1))
        except OSError as error:
            reason = getattr(error, "reason", error)
            raise Unavailable(f"{url} cannot be asked: {reason}") from error
        except http.client.HTTPException as error:
            raise Unavailable(f"the answer of {url} broke off or is no HTTP: {error}") from error
    raise AssertionError("every try ends")
