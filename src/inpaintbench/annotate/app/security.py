"""The gate: an ASGI middleware in front of everything that refuses what the app does not need.

In this order: sizes of address and headers, host, path and method, session, rate, role, origin, body. What passes carries the
person in ``request.state.person``, the body in ``request.state.body`` and the client's address in ``request.state.client``, has
no query string and no forwarding headers.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse, Response

from inpaintbench.annotate import languages
from inpaintbench.annotate.app import allowed
from inpaintbench.annotate.app.routes import UNAVAILABLE, RaterApi, refusal, token_of
from inpaintbench.annotate.journal.database import JournalUnavailable

if TYPE_CHECKING:
    from inpaintbench.annotate.journal.accounts import People, Person


Scope = MutableMapping[str, Any]
App = Callable[[Scope, allowed.Receive, allowed.Send], Awaitable[None]]
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
    """A request that goes no further: a status, one sentence, and headers that explain it."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)


class Gate:
    """See the module."""

    def __init__(
        self, app: App, *, api: RaterApi, people: People, study_id: str, origins: allowed.Origins, limits: allowed.Limits,
        forwarded: allowed.Forwarded, delivery: allowed.Delivery, spoken: Callable[[], Mapping[str, languages.Speech]],
    ) -> None:  # fmt: skip
        self._spoken = spoken
        self._app, self._api, self._people, self._study_id = app, api, people, study_id
        self._origins, self._limits, self._forwarded, self._delivery = origins, limits, forwarded, delivery
        self._buckets = {"answers": allowed.Buckets(limits.answers), "files": allowed.Buckets(limits.files)}
        self._strangers = allowed.Buckets(limits.strangers)
        # Who was behind a token, and until when that is believed: asking the database at every request would cost as much as
        # storing the answer. Somebody who is shut out elsewhere is so after `REMEMBERED_SECONDS` at the latest.
        self._known: dict[str, tuple[Person, float]] = {}
        # First come, first served. As many as may wait for each other and then be stored together.
        self._desk = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="desk")

    async def __call__(self, scope: Scope, receive: allowed.Receive, send: allowed.Send) -> None:
        """Let the request through or answer it."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        rule: allowed.Rule | None = None
        response: Response | None = None
        try:
            headers = Headers(scope=scope)
            spoken = self._spoken()
            languages.SPEECH.set(spoken[languages.best(headers.get("accept-language", ""), spoken)])
            peer = scope["client"][0] if scope.get("client") else ""
            origin = self._origin(scope, headers, scheme=self._forwarded.scheme(headers, peer=peer, scheme=scope["scheme"]))
            rule = self._rule(scope)
            client = self._forwarded.client(headers, peer=peer)
            person = await self._person(rule, headers, client=client)
            body = b""
            if person is None and rule.who is not allowed.Who.ANYBODY:
                response = _to_login(rule)
            else:
                body = await self._body(rule, headers, receive, origin=origin)
                if scope["path"] == "/logout":
                    self._known.pop(token_of(headers) or "", None)
                if person is not None and person.is_admin and scope["path"] == "/":
                    response = RedirectResponse("/admin/", status_code=303)
        except Refusal as no:
            response = refusal(no.status, no.sentence, as_page=rule is not None and rule.kind in ("page", "plain", "form"))
            # What is left of the body is not read, so the connection cannot be used again.
            response.headers.update({**no.headers, "Connection": "close"})
        except ConnectionError:
            return
        send = allowed.guarded(send, rule, delivery=self._delivery)
        if response is None and rule is not None and rule.who is allowed.Who.RATER and person is not None:
            loop, agent = asyncio.get_running_loop(), headers.get("user-agent", "")
            asked = (scope["path"], person.rater_id, body, agent, client)
            response = await loop.run_in_executor(self._desk, copy_context().run, self._api, *asked)
        if response is not None:
            await response(scope, receive, send)
            return
        assert rule is not None
        # The request without what the app has no use for, with what the gate found out.
        dropped = (*_DROPPED, b"accept-encoding") if rule.kind == "page" else _DROPPED
        kept = [(name, value) for name, value in scope["headers"] if not name.startswith(dropped)]
        if any(name == b"range" and b"," in value for name, value in kept):
            kept = [(name, value) for name, value in kept if name != b"range"]
        query = scope["query_string"] if rule.query else b""
        state = {**scope.get("state", {}), "person": person, "body": body, "client": client}
        cleaned = {**scope, "headers": kept, "query_string": query, "scheme": origin.partition(":")[0], "state": state}
        await self._app(cleaned, allowed.replayed(body, receive), send)

    def _origin(self, scope: Scope, headers: Headers, *, scheme: str) -> str:
        """The origin that the browser sees, of a request of a bearable size."""
        if len(scope["raw_path"]) + len(scope["query_string"]) > self._limits.url_characters:
            raise Refusal(414, "the address is too long")
        if len(headers) > self._limits.headers:
            raise Refusal(431, "too many headers")
        try:
            return self._origins.of(headers, scheme=scheme)
        except allowed.WrongHost as error:
            raise Refusal(400, "this server goes by another name") from error

    def _rule(self, scope: Scope) -> allowed.Rule:
        """The rule of the request; a path with a percent sign has none."""
        rules = [] if b"%" in scope["raw_path"] else allowed.rules_of(scope["path"])
        if not rules:
            raise Refusal(404, "there is nothing here")
        for rule in rules:
            if rule.method == scope["method"]:
                return rule
        raise Refusal(405, "this cannot be done here", {"Allow": ", ".join(rule.method for rule in rules)})

    async def _person(self, rule: allowed.Rule, headers: Headers, *, client: str) -> Person | None:
        """Who asks, when they may, and not too often; None for strangers, or whom this study does not know."""
        token, person = token_of(headers), None
        if rule.who is not allowed.Who.ANYBODY and token is not None:
            person, until = self._known.get(token, (None, 0.0))
            if until <= time.monotonic():
                try:
                    person = await run_in_threadpool(self._people.who, token, at=time.time())
                except JournalUnavailable as error:
                    raise Refusal(503, UNAVAILABLE, {"Retry-After": "1"}) from error
                if len(self._known) >= MOST_REMEMBERED:
                    self._known.clear()
                if person is not None:
                    self._known[token] = (person, time.monotonic() + REMEMBERED_SECONDS)
        if person is None or person.study_id != self._study_id:
            person, wait = None, self._strangers.wait_seconds(allowed.network_of(client), now=time.monotonic())
        else:
            bucket = self._buckets["answers" if rule.kind == "api" and not rule.of_gradio else "files"]
            wait = bucket.wait_seconds(person.rater_id, now=time.monotonic())
        if wait:
            raise Refusal(429, "too many requests; wait a moment", {"Retry-After": str(math.ceil(wait))})
        if person is not None and rule.who is allowed.Who.ADMIN and not person.is_admin:
            raise Refusal(403, "this page is for admins")
        if person is not None and rule.who is allowed.Who.RATER and person.is_admin:
            raise Refusal(403, "admins do not answer; open the invitation of a rater for that, in another browser")
        return person

    async def _body(self, rule: allowed.Rule, headers: Headers, receive: allowed.Receive, *, origin: str) -> bytes:
        if rule.method == "GET":
            if headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
                raise Refusal(400, "a question has no body")
            return b""
        wanted = "application/x-www-form-urlencoded" if rule.kind == "form" else "application/json"
        if headers.get("content-type", "").partition(";")[0].strip().lower() != wanted:
            raise Refusal(415, f"this needs the content type {wanted}")
        if not allowed.is_own(headers, origin=origin, must_tell=rule.kind == "form" or rule.of_gradio):
            raise Refusal(403, "this request comes from another site")
        if rule.kind == "api" and not rule.of_gradio and headers.get(PURPOSE_HEADER) != "1":
            raise Refusal(403, "this request does not come from the app")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length[:12]) > self._limits.body_bytes:
            raise Refusal(413, "too much was sent")
        try:
            body = await allowed.read_body(receive, limits=self._limits)
        except TimeoutError as error:
            raise Refusal(408, "what was sent did not arrive in time") from error
        if body is None:
            raise Refusal(413, "too much was sent")
        return body


def _to_login(rule: allowed.Rule) -> Response:
    if rule.kind in ("page", "plain"):
        return RedirectResponse("/login", status_code=303)
    sentence = "you are not logged in, or your invitation has ended; open your invitation link again"
    response = refusal(401, sentence, as_page=rule.kind == "form")
    if rule.method == "POST":
        response.headers["Connection"] = "close"
    return response
