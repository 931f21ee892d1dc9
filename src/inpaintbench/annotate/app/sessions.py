"""Sessions in browsers: the cookie, invitation links, logging in and out.

Every join and login makes a session of its own, so a cookie that somebody planted beforehand is worth nothing.
"""

from __future__ import annotations

import re
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response

from inpaintbench.annotate.app.routes import login_page, refusal
from inpaintbench.annotate.journal.accounts import SESSION_SECONDS

if TYPE_CHECKING:
    from inpaintbench.annotate.app.headers import Delivery
    from inpaintbench.annotate.journal.accounts import People, Session
    from inpaintbench.annotate.study import Study

COOKIE = "inpaintbench_session"
# Looser than the tokens that are made, so that their length may change while old sessions live.
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}", re.ASCII)
# Characters of a name or password in the login form: hashing takes longer with longer passwords.
_FIELD_CHARACTERS = 200
# Passwords checked at once: each takes 16 MiB and 50 ms.
_PASSWORDS_AT_ONCE = 2


def token_of(headers: Headers) -> str | None:
    """The session token that the browser sends, if it looks like one."""
    token = cookie_parser(headers.get("cookie", "")).get(COOKIE, "")
    return token if _TOKEN.fullmatch(token) else None


def session_routes(study: Study, *, people: People, delivery: Delivery) -> APIRouter:
    """``/join/<secret>``, ``/login`` and ``/logout``; all redirects have fixed targets."""
    router = APIRouter()
    title = study.file.title
    # A password costs memory and time on purpose; strangers must not use up the threads with it.
    checking = threading.Semaphore(_PASSWORDS_AT_ONCE)

    @router.get("/join/{secret}")
    def join(secret: str) -> Response:
        session = people.enter_by_secret(secret, at=time.time(), study_id=study.study_id)
        if session is None:
            return refusal(403, "this invitation is not valid, or a newer one took its place; ask for a new link", as_page=True)
        return opened(session, delivery)

    @router.get("/login")
    def login_form() -> Response:
        return login_page(title)

    @router.post("/login")
    def login(request: Request) -> Response:
        fields = _form_fields(request.state.body)
        if fields is None:
            return login_page(title, sentence="Please fill in both fields.", status=400)
        with checking:
            session = people.enter_by_password(study.study_id, *fields, at=time.time())
        if session is None:
            return login_page(title, sentence="Name and password do not match.", status=403)
        return opened(session, delivery)

    @router.post("/logout")
    def logout(request: Request) -> Response:
        token = token_of(request.headers)
        if token is not None:
            people.leave(token)
        response = JSONResponse({"left": True})
        response.headers.append("set-cookie", delivery.cookie(COOKIE, "", seconds=0))
        return response

    return router


def opened(session: Session, delivery: Delivery) -> Response:
    """The way to the page of whoever entered, with their cookie."""
    response = RedirectResponse("/admin/" if session.person.is_admin else "/", status_code=303)
    response.headers.append("set-cookie", delivery.cookie(COOKIE, session.token, seconds=int(SESSION_SECONDS)))
    return response


def _form_fields(body: bytes) -> tuple[str, str] | None:
    """Name and password of a login form, or ``None`` where one is missing, doubled or too long."""
    try:
        fields = parse_qs(body.decode(), max_num_fields=8, errors="strict")
    except ValueError:
        return None
    name, password = fields.get("name", []), fields.get("password", [])
    if len(name) != 1 or len(password) != 1 or max(len(name[0]), len(password[0])) > _FIELD_CHARACTERS:
        return None
    return name[0].strip(), password[0]
