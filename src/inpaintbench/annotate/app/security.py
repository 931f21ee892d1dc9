"""The gate: an ASGI middleware in front of everything that refuses what the app does not need.

In this order: sizes of address and headers, host, path and method, session, rate, role, origin, body. What passes carries the
person in ``request.state.person`` and the body in ``request.state.body``, has no query string and no forwarding headers.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from inpaintbench.annotate.app.allowed import (
    Buckets,
    Forwarded,
    Limits,
    Origins,
    Receive,
    Rule,
    Send,
    Who,
    WrongHost,
    is_own,
    network_of,
    read_body,
    replayed,
    rules_of,
)
from inpaintbench.annotate.app.headers import Delivery, guarded
from inpaintbench.annotate.app.routes import UNAVAILABLE, RaterApi, refusal, token_of
from inpaintbench.annotate.journal.database import JournalUnavailable

if TYPE_CHECKING:
    from inpaintbench.annotate.journal.accounts import People, Person

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
# How long, and how many sessions are known without asking the database.
REMEMBERED_SECONDS, MOST_REMEMBERED = 1.0, 4096
# So many raters are served at once: enough to share a transaction, few enough that who stores is not kept from the processor.
_AT_ONCE = 10
# Pages of other sites cannot send it without asking first, which is never granted.
PURPOSE_HEADER = "x-inpaintbench"
# Headers by which proxies override address, host, path or method; nothing behind the gate may believe them.
_DROPPED = (b"forwarded", b"x-forwarded-", b"x-real-ip", b"x-original-", b"x-rewrite-", b"x-http-method", b"x-direct-url")


@dataclass(eq=False)
class Refusal(Exception):
    """A request that goes no further: a status and one sentence."""

    status: int
    sentence: str
    retry_after_seconds: float = 0.0
    allow: str = ""


class KnownSessions:
    """Cache of who was behind a token a moment ago: asking the database at every request would cost as much as storing the
    answer.

    Somebody who is shut out elsewhere is so after ``REMEMBERED_SECONDS`` at the latest.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[Person, float]] = {}

    def who(self, token: str) -> Person | None:
        """The person, where they were looked up lately."""
        known = self._known.get(token)
        return known[0] if known is not None and known[1] > time.monotonic() else None

    def remember(self, token: str, person: Person | None) -> None:
        """Keep what the database said; that it knows nobody is not kept."""
        if len(self._known) >= MOST_REMEMBERED:
            self._known.clear()
        if person is not None:
            self._known[token] = (person, time.monotonic() + REMEMBERED_SECONDS)

    def forget(self, token: str | None) -> None:
        """At once, for those who leave."""
        if token is not None:
            self._known.pop(token, None)


class Gate:
    """See the module."""

    def __init__(
        self, app: App, *, api: RaterApi, people: People, study_id: str, origins: Origins, limits: Limits,
        forwarded: Forwarded, delivery: Delivery,
    ) -> None:  # fmt: skip
        self._app = app
        self._api = api
        self._people = people
        self._study_id = study_id
        self._origins = origins
        self._limits = limits
        self._forwarded = forwarded
        self._delivery = delivery
        self._buckets = {"answers": Buckets(limits.answers), "files": Buckets(limits.files)}
        self._strangers = Buckets(limits.strangers)
        self._sessions = KnownSessions()
        # First come, first served. As many as may wait for each other and then be stored together.
        self._desk = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="desk")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through or answer it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        rule: Rule | None = None
        try:
            headers = Headers(scope=scope)
            self._check_sizes(scope, headers)
            peer = scope["client"][0] if scope.get("client") else ""
            origin = self._own_origin(headers, scheme=self._forwarded.scheme(headers, peer=peer, scheme=scope["scheme"]))
            rule = _rule_of(scope)
            person = await self._person(rule, headers)
            self._check_rate(rule, person, client=self._forwarded.client(headers, peer=peer))
            if person is None and rule.who is not Who.ANYBODY:
                await self._to_login(rule, scope, receive, self._guarded(send, rule))
                return
            _check_role(rule, person)
            body = await self._body(rule, headers, receive, origin=origin)
            if scope["path"] == "/logout":
                self._sessions.forget(token_of(headers))
            if person is not None and person.is_admin and scope["path"] == "/":
                await RedirectResponse("/admin/", status_code=303)(scope, receive, self._guarded(send, rule))
                return
        except Refusal as no:
            response = refusal(no.status, no.sentence, as_page=rule is not None and rule.kind in ("page", "plain", "form"))
            _explain(response, no)
            await response(scope, receive, self._guarded(send, rule))
            return
        except ConnectionError:
            return
        if rule.who is Who.RATER and scope["path"].startswith("/api/") and person is not None:
            loop = asyncio.get_running_loop()
            response = await loop.run_in_executor(self._desk, self._api, scope["path"], person.rater_id, body)
            await response(scope, receive, self._guarded(send, rule))
            return
        scope = _cleaned(scope, rule, person, body, origin=origin)
        await self._app(scope, replayed(body, receive), self._guarded(send, rule))

    def _guarded(self, send: Send, rule: Rule | None) -> Send:
        return guarded(send, rule, delivery=self._delivery)

    def _check_sizes(self, scope: Scope, headers: Headers) -> None:
        if len(scope["raw_path"]) + len(scope["query_string"]) > self._limits.url_characters:
            raise Refusal(414, "the address is too long")
        if len(headers) > self._limits.headers:
            raise Refusal(431, "too many headers")

    def _own_origin(self, headers: Headers, *, scheme: str) -> str:
        try:
            return self._origins.of(headers, scheme=scheme)
        except WrongHost as error:
            raise Refusal(400, "this server goes by another name") from error

    async def _person(self, rule: Rule, headers: Headers) -> Person | None:
        token = token_of(headers)
        if rule.who is Who.ANYBODY or token is None:
            return None
        person = self._sessions.who(token)
        if person is None:
            try:
                person = await run_in_threadpool(self._people.who, token, at=time.time())
            except JournalUnavailable as error:
                raise Refusal(503, UNAVAILABLE, retry_after_seconds=1) from error
            self._sessions.remember(token, person)
        return person if person is not None and person.study_id == self._study_id else None

    def _check_rate(self, rule: Rule, person: Person | None, *, client: str) -> None:
        if person is None:
            wait = self._strangers.wait_seconds(network_of(client), now=time.monotonic())
        else:
            bucket = self._buckets["answers" if rule.kind == "api" and not rule.of_gradio else "files"]
            wait = bucket.wait_seconds(person.rater_id, now=time.monotonic())
        if wait:
            raise Refusal(429, "too many requests; wait a moment", retry_after_seconds=wait)

    async def _to_login(self, rule: Rule, scope: Scope, receive: Receive, send: Send) -> None:
        sentence = "you are not logged in, or your invitation has ended; open your invitation link again"
        response: Response = refusal(401, sentence, as_page=False)
        if rule.kind in ("page", "plain"):
            response = RedirectResponse("/login", status_code=303)
        elif rule.method == "POST":
            response.headers["Connection"] = "close"
        await response(scope, receive, send)

    async def _body(self, rule: Rule, headers: Headers, receive: Receive, *, origin: str) -> bytes:
        if rule.method == "GET":
            if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
                raise Refusal(400, "a question has no body")
            return b""
        wanted = "application/x-www-form-urlencoded" if rule.kind == "form" else "application/json"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
            raise Refusal(415, f"this needs the content type {wanted}")
        if not is_own(headers, origin=origin, must_tell=rule.kind == "form" or rule.of_gradio):
            raise Refusal(403, "this request comes from another site")
        if rule.kind == "api" and not rule.of_gradio and headers.get(PURPOSE_HEADER) != "1":
            raise Refusal(403, "this request does not come from the app")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > self._limits.body_bytes:
            raise Refusal(413, "too much was sent")
        try:
            body = await read_body(receive, limits=self._limits)
        except TimeoutError as error:
            raise Refusal(408, "what was sent did not arrive in time") from error
        if body is None:
            raise Refusal(413, "too much was sent")
        return body


def _rule_of(scope: Scope) -> Rule:
    """The rule of the request; a path with a percent sign has none."""
    rules = [] if b"%" in scope["raw_path"] else rules_of(scope["path"])
    if not rules:
        raise Refusal(404, "there is nothing here")
    for rule in rules:
        if rule.method == scope["method"]:
            return rule
    raise Refusal(405, "this cannot be done here", allow=", ".join(rule.method for rule in rules))


def _check_role(rule: Rule, person: Person | None) -> None:
    if rule.who is Who.ADMIN and (person is None or not person.is_admin):
        raise Refusal(403, "this page is for admins")
    if rule.who is Who.RATER and (person is None or person.is_admin):
        raise Refusal(403, "admins do not answer; open the invitation of a rater for that, in another browser")


def _explain(response: Response, no: Refusal) -> None:
    if no.retry_after_seconds:
        response.headers["Retry-After"] = str(math.ceil(no.retry_after_seconds))
    if no.allow:
        response.headers["Allow"] = no.allow
    # What is left of the body is not read, so the connection cannot be used again.
    response.headers["Connection"] = "close"


def _cleaned(scope: Scope, rule: Rule, person: Person | None, body: bytes, *, origin: str) -> Scope:
    """The request without what the app has no use for, with what the gate found out."""
    dropped = (*_DROPPED, b"accept-encoding") if rule.kind == "page" else _DROPPED
    headers = [(name, value) for name, value in scope["headers"] if not name.startswith(dropped)]
    if any(name == b"range" and b"," in value for name, value in headers):
        headers = [(name, value) for name, value in headers if name != b"range"]
    state = {**scope.get("state", {}), "person": person, "body": body}
    return {
        **scope,
        "headers": headers,
        "query_string": scope["query_string"] if rule.query else b"",
        "scheme": origin.partition(":")[0],
        "state": state,
    }
