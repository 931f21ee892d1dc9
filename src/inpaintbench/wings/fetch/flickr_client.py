"""Questions to Flickr's REST interface: signed, counted, tried again, and with the key in no text that leaves here.

Environment:
    FLICKR_API_KEY, FLICKR_API_SECRET: the user's own; kept in memory alone.
    INPAINTBENCH_FLICKR_ENDPOINT: another address that speaks the same interface (a mirror, a test's server).

The only file that knows the package ``flickrapi``.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import inpaintbench
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MissingExtraError, NetworkError, UnknownNameError
from inpaintbench.http_client import date
from inpaintbench.lazily import lazily
from inpaintbench.models.weights import cache_folder

tenacity = lazily("tenacity")

ENDPOINT = "https://api.flickr.com/services/rest/"
NOT_FOUND, PERMISSION_DENIED, NOT_LOGGED_IN = 1, 2, 99
_KEY_CODES = (96, 97, 98, 100)
_PASSING_CODES = (0, 105)  # "not currently available"; the search has a code of its own for it
_SEARCH_DOWN = 10
_TIMEOUT_SECONDS = 60.0
_TRIES = 5
_PATIENCE_SECONDS = 900.0
_LONGEST_TEXT = 200
_LOGGERS = ("flickrapi", "requests_oauthlib", "oauthlib", "requests", "urllib3")


class ApiError(InputError):
    """Flickr refuses a question for good."""

    def __init__(self, sentence: str, code: int) -> None:
        super().__init__(sentence)
        self.code = code
        """Flickr's error code; those below 90 mean something else for each method."""


class _Passing(NetworkError):
    """A failure that may be over in a moment, so that the question is asked again."""


@dataclass(frozen=True)
class Redaction:
    """Takes secrets out of texts, and out of log records as a filter of loggers."""

    secrets: tuple[str, ...] = field(repr=False)

    def clean(self, text: str) -> str:
        """``text`` with ``***`` for each secret, as it is or percent-encoded, and for OAuth signatures."""
        for secret in self.secrets:
            text = text.replace(secret, "***").replace(quote(secret, safe=""), "***")
        return re.sub(r'(oauth_signature=)["\w%+/=-]+', r"\1***", text)

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite a log record; keeps every record."""
        record.msg, record.args = self.clean(record.getMessage()), ()
        if record.exc_info:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
            record.exc_info = None
        if record.exc_text:  # also what the filter of another client has formatted, which knows other secrets
            record.exc_text = self.clean(record.exc_text)
        return True

    def install(self) -> None:
        """Quieten the loggers of the libraries beneath, and filter every one of them in case somebody turns them up again."""
        for name in _LOGGERS:
            # flickrapi logs the whole body of a refusal as an error; the exceptions here say what matters of it.
            logging.getLogger(name).setLevel(logging.CRITICAL if name == "flickrapi" else logging.WARNING)
        for name in list(logging.root.manager.loggerDict):
            if name.split(".")[0] in _LOGGERS:
                logging.getLogger(name).addFilter(self)  # equal ones are kept once; filters of a logger do not reach its children


def connect(*, per_hour: int = 3600, contact: str = "") -> FlickrClient:
    """A client for the key in the environment, one a process.

    Raises:
        InputError: no key or secret is set, or the endpoint is no address.
        MissingExtraError: flickrapi is not installed.
    """
    given = {name: os.environ.get(name, "").strip() for name in ("FLICKR_API_KEY", "FLICKR_API_SECRET")}
    if missing := [name for name, text in given.items() if not text]:
        raise InputError(
            f"{' and '.join(missing)} not set; ask Flickr for a key of your own, then "
            "`export FLICKR_API_KEY=... FLICKR_API_SECRET=...`"
        )
    endpoint = os.environ.get("INPAINTBENCH_FLICKR_ENDPOINT") or ENDPOINT
    if not re.match(r"https?://[^/\s@]+", endpoint):
        raise InputError(f"INPAINTBENCH_FLICKR_ENDPOINT is {endpoint!r}, not an address like {ENDPOINT}")
    return _client_of(*given.values(), endpoint, per_hour, contact, os.getpid())


@lru_cache(maxsize=2)
def _client_of(key: str, secret: str, endpoint: str, per_hour: int, contact: str, process: int) -> FlickrClient:  # noqa: ARG001
    # The process number keeps a forked child from sharing its parent's connection.
    bucket = TokenBucket(bucket_path("flickr", key), per_hour=per_hour)
    return FlickrClient(key, secret, bucket=bucket, endpoint=endpoint, contact=contact)


class FlickrClient:
    """Asks Flickr one question at a time.

    Args:
        key: of the Flickr app; appears in no text, log or error.
        secret: of the key; signs every request and is never sent.
        bucket: asked before every request; after a Retry-After, nobody who shares it asks until then.
        endpoint: the REST address; redirects are not followed.
        contact: where the user can be reached, for the User-Agent.
        timeout_seconds: without a byte from the server.
        tries: of one question, the first included.
        sleep: waits before another try; 1, 2, 4, 8 seconds unless the server says when.

    Raises:
        MissingExtraError: flickrapi is not installed.
    """

    def __init__(
        self, key: str, secret: str, *, bucket: TokenBucket, endpoint: str = ENDPOINT, contact: str = "",
        timeout_seconds: float = _TIMEOUT_SECONDS, tries: int = _TRIES, sleep: Callable[[float], None] | None = None,
    ) -> None:  # fmt: skip
        try:
            import flickrapi
            import requests
        except ImportError:
            raise MissingExtraError("fetching from Flickr", "flickr") from None
        self._redaction, self._bucket, self._endpoint = Redaction((key, secret)), bucket, endpoint
        self._tries, self._sleep = tries, tenacity.nap.sleep if sleep is None else sleep
        self._api = flickrapi.FlickrAPI(key, secret, format="json", store_token=False, timeout=timeout_seconds)
        self._api.REST_URL = endpoint
        session = requests.Session()  # flickrapi's own is shared by the whole process
        session.trust_env = False
        session.max_redirects = 0
        session.headers["User-Agent"] = f"inpaintbench/{inpaintbench.__version__}" + (f" ({contact})" if contact else "")
        # Status and Retry-After of the last answer: flickrapi's exceptions carry neither as data.
        self._last: tuple[int, str | None] | None = None

        def keep(response: Any, *_: Any, **__: Any) -> None:
            self._last = (int(response.status_code), response.headers.get("Retry-After"))

        session.hooks["response"].append(keep)
        self._api.flickr_oauth.session = session
        self._redaction.install()

    def __repr__(self) -> str:
        return f"FlickrClient({self._endpoint!r})"

    @cached_property
    def licences(self) -> FlickrLicences:
        """The table of licences, asked for once.

        Raises: what ``ask`` raises.
        """
        answer = self.ask("flickr.photos.licenses.getInfo", {})
        try:
            return FlickrLicences(answer)
        except (KeyError, TypeError, AttributeError):
            raise NetworkError("Flickr's table of licences is not in the form that is known; run again later") from None

    def ask(self, method: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        """Flickr's answer to ``method``.

        Raises:
            ApiError: Flickr refuses the question itself (``code`` says why).
            NetworkError: no usable answer at any try, or no call is free for a long time.
        """
        retrying = tenacity.Retrying(
            retry=tenacity.retry_if_exception_type(_Passing), stop=tenacity.stop_after_attempt(self._tries),
            wait=self._wait, sleep=self._sleep, reraise=True,
        )  # fmt: skip
        try:
            answer: dict[str, Any] = retrying(self._attempt, method, parameters)
            return answer
        except _Passing as error:
            raise NetworkError(f"{error}, at each of {self._tries} tries") from None

    def _wait(self, state: Any) -> float:
        """Seconds before the next try: as the last answer asks, by a number or a date (RFC 9110, 10.2.3), else more each time."""
        text = self._last[1] if self._last else None
        moment = None if text is None or text.strip().isdecimal() else date(text)
        if text is None or (moment is None and not text.strip().isdecimal()):
            return float(2 ** (state.attempt_number - 1))
        seconds = max(0.0, (moment - datetime.now(UTC)).total_seconds()) if moment else float(text)
        self._bucket.pause(seconds)  # the next try waits in the bucket, with everybody else
        return 0.0

    def _attempt(self, method: str, parameters: Mapping[str, str]) -> dict[str, Any]:
        import flickrapi
        import requests

        self._bucket.take(patience_seconds=_PATIENCE_SECONDS)
        self._last = None
        try:
            body = bytes(self._api.do_flickr_call(method, **parameters))
        except requests.TooManyRedirects:
            raise NetworkError(f"Flickr answers {method} with a redirect, and none is followed") from None
        except requests.RequestException as error:
            raise _Passing(f"no whole answer from Flickr to {method} ({type(error).__name__})") from None
        except flickrapi.FlickrError:
            status = self._last[0] if self._last else 0
            passing = status in (408, 429) or status >= 500
            raise (_Passing if passing else NetworkError)(f"Flickr answers {method} with HTTP status {status}") from None
        try:
            answer = json.loads(self._redaction.clean(body.decode()))
            stat = answer["stat"]
        except (ValueError, KeyError, TypeError):
            raise _Passing(f"what Flickr answers to {method} is not JSON as it is known") from None
        if stat == "ok":
            return dict(answer)
        code = int(answer.get("code") or 0) if str(answer.get("code", "")).isdecimal() else 0
        said = " ".join(self._redaction.clean(str(answer.get("message", ""))).split())[:_LONGEST_TEXT]
        sentence = f"Flickr refuses {method}: {said or 'no reason given'} (error {code})"
        if code in _PASSING_CODES or (code == _SEARCH_DOWN and method == "flickr.photos.search"):
            raise _Passing(sentence)
        if code in _KEY_CODES:
            sentence += "; check FLICKR_API_KEY and FLICKR_API_SECRET"
        raise ApiError(sentence, code)


ALL_RIGHTS_RESERVED = "all-rights-reserved"
_BY_ADDRESS = (
    (r"creativecommons\.org/publicdomain/zero/([0-9.]+)", "CC0-{}"),
    (r"creativecommons\.org/publicdomain/mark/([0-9.]+)", "PDM-{}"),
    (r"flickr\.com/commons/usage", "no-known-copyright"),
    (r"usa\.gov/", "US-Gov"),
)
# What Flickr called its licences of version 2.0 until it added version 4.0.
_FORMER_TITLES = {
    "CC-BY-2.0": "Attribution License",
    "CC-BY-SA-2.0": "Attribution-ShareAlike License",
    "CC-BY-ND-2.0": "Attribution-NoDerivs License",
    "CC-BY-NC-2.0": "Attribution-NonCommercial License",
    "CC-BY-NC-SA-2.0": "Attribution-NonCommercial-ShareAlike License",
    "CC-BY-NC-ND-2.0": "Attribution-NonCommercial-NoDerivs License",
}
# Cutting and scaling adapts a work, which ND forbids, and NC binds everybody downstream; both must be asked for by name.
_REDISTRIBUTABLE = re.compile(r"CC-BY-[0-9.]+|CC-BY-SA-[0-9.]+|CC0-[0-9.]+|PDM-[0-9.]+|US-Gov")


@dataclass(frozen=True)
class FlickrLicence:
    """One licence as Flickr states it."""

    name: str
    """Ours, after SPDX where it has one: ``CC-BY-2.0``, ``CC0-1.0``, ``PDM-1.0``, ``US-Gov``, ``no-known-copyright`` or
    ``all-rights-reserved``; Flickr's title for what is none of them."""
    title: str
    """Flickr's, such as ``CC BY 2.0``."""
    url: str | None


def licence(title: str, url: str | None) -> FlickrLicence:
    """The licence of that title and address; the address decides its name, since Flickr has changed its titles."""
    title = " ".join(title.split())
    return FlickrLicence(_licence_name(title, url or ""), title, url or None)


def _licence_name(title: str, url: str) -> str:
    if match := re.search(r"creativecommons\.org/licenses/(by(?:-[a-z]{2})*)/([0-9.]+)", url):
        return f"CC-{match[1].upper()}-{match[2]}"
    for pattern, name in _BY_ADDRESS:
        if match := re.search(pattern, url):
            return name.format(*match.groups())
    return ALL_RIGHTS_RESERVED if _letters(title) == "allrightsreserved" else title


def permits(stated: FlickrLicence, asked: Sequence[str]) -> bool:
    """Return whether a licence is among those asked for.

    Args:
        stated: what Flickr states.
        asked: names (``CC-BY-2.0``, or ``CC-BY`` for every version) or titles (``CC BY 2.0``, ``Attribution License``), in any
            spelling; empty for all that allow changed copies to be passed on for any purpose: BY, BY-SA, CC0, PDM, US-Gov.
    """
    if not asked:
        return _REDISTRIBUTABLE.fullmatch(stated.name) is not None
    spellings = {stated.name, stated.title, re.sub(r"-[0-9.]+$", "", stated.name), _FORMER_TITLES.get(stated.name, stated.name)}
    return not {_letters(text) for text in spellings}.isdisjoint(_letters(text) for text in asked)


def _letters(text: str) -> str:
    return re.sub(r"licen[cs]e|[^a-z0-9.]", "", text.casefold())


class FlickrLicences:
    """The table that ``flickr.photos.licenses.getInfo`` gives; ids are Flickr's own and never assumed.

    Args:
        answer: of that method, ``{"licenses": {"license": [{"id", "name", "url"}]}}``.
    """

    def __init__(self, answer: Mapping[str, Any]) -> None:
        rows: Iterable[Mapping[str, Any]] = answer["licenses"]["license"]
        self._by_id = {str(row["id"]): licence(str(row["name"]), row.get("url")) for row in rows}

    def of(self, licence_id: object, *, photo: str) -> FlickrLicence:
        """The licence with Flickr's id ``licence_id``, which stands at ``photo``.

        Raises:
            InputError: the table has no such id.
        """
        stated = self._by_id.get(str(licence_id))
        if stated is None:
            known = ", ".join(sorted(self._by_id, key=lambda text: (len(text), text)))
            raise InputError(f"Flickr states licence id {licence_id!r} for photo {photo}, but lists only the ids {known}")
        return stated

    def ids(self, asked: Sequence[str]) -> list[str]:
        """Flickr's ids of the licences that ``permits`` lets through, in the table's order.

        Raises:
            UnknownNameError: a name asked for fits no licence; the text suggests the nearest.
        """
        for text in asked:
            if not any(permits(known, [text]) for known in self._by_id.values()):
                raise UnknownNameError(unknown_name("licence", text, sorted({known.name for known in self._by_id.values()})))
        return [licence_id for licence_id, known in self._by_id.items() if permits(known, asked)]


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
