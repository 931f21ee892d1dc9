"""The app's own routes: answers as JSON, proxies and the page's files, pages without Gradio, and sessions.

Handlers are sync: they run in a pool of threads. The gate has checked session, role, origin and size; who sends comes from the
session alone, never from what is sent.
"""

from __future__ import annotations

import hashlib
import json
import logging
import mimetypes
import re
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, FastAPI, Request
from markupsafe import Markup, escape
from starlette.datastructures import Headers
from starlette.requests import cookie_parser
from starlette.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from inpaintbench.annotate import player
from inpaintbench.annotate.desk.desk import Refused
from inpaintbench.annotate.journal import is_storable, texts_of
from inpaintbench.annotate.journal.accounts import SESSION_SECONDS
from inpaintbench.annotate.journal.database import JournalUnavailable
from inpaintbench.annotate.languages import SPEECH, Said, Speech
from inpaintbench.annotate.study import PROXIES, Study
from inpaintbench.errors import InputError
from inpaintbench.pages import render
from inpaintbench.pages.page import TOKENS, asset

if TYPE_CHECKING:
    from inpaintbench.annotate.app.allowed import Delivery
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal.accounts import People, Session


# Instead of the journal's own sentence, which names files and hosts of the server.
UNAVAILABLE = "the journal does not answer right now, nothing was stored; try again in a moment"


def refusal(status: int, sentence: str, *, as_page: bool) -> Response:
    """One sentence, as JSON for the page and programs or as a page for people."""
    speech = SPEECH.get()
    if not as_page:
        otherwise = Said("This did not work ({status}). Please load the page again.", status=status)
        return JSONResponse({"error": speech(sentence if speech.knows(sentence) else otherwise)}, status_code=status)
    # Translations are whole sentences.
    whole = sentence if speech.words.get(sentence) else sentence[:1].upper() + sentence[1:] + "."
    return sentence_page(Said("Sorry ({status})", status=status), whole, status=status)


def sentence_page(title: str, sentence: str = "", *, status: int = 200, form: bool = False) -> Response:
    """A page without Gradio's components: a title and a sentence; with ``form`` name and password to log in with.

    In English where the language of whoever asks lacks either.
    """
    tokens, speech = Markup(asset(TOKENS)), SPEECH.get()
    speech = speech if all(map(speech.knows, filter(None, (title, sentence)))) else Speech()
    html = render("annotate/app/sentence.html", title=title, sentence=sentence, form=form, tokens=tokens, _=speech)
    return HTMLResponse(html, status_code=status)


# Folder of modules, stylesheet and icon: plain files, none of them made by a build.
STATIC = Path(__file__).parent / "static"
# Where the app serves the player's own, below those of the page.
PLAYER_MODULES = "/static/player"
# The player's component comes after the box, and moves into it. No `${value}`: Gradio would draw the page anew with every value.
HTML = '<div id="rater-page"></div>@children'
CSS = player.BASICS
JS_ON_LOAD = """
const fail = (status) => Promise.reject(new Error(status));
const markup = () => fetch("/rater.html").then((answer) => (answer.ok ? answer.text() : fail(answer.status)));
const begin = () => Promise.all([import("/static/rater.js"), markup()]).then(([page, text]) => page.start(element, text), () => {
  element.querySelector("#rater-page").textContent = "The server does not answer. This page tries again by itself.";
  setTimeout(begin, 3000);
});
begin();
"""


def rater_markup(speech: Speech) -> str:
    """What the rater's page consists of, in a language."""

    def say(text: str) -> Markup:
        own = str(text if isinstance(text, Markup) else escape(speech(text)))
        return Markup(re.sub(r"\{([a-z]+)\}", r'<span data-text="\1"></span>', own))

    return render("annotate/app/rater.html", _=say)


HEAD = render(
    "annotate/app/rater_head.html",
    colours=Markup(asset(TOKENS) + asset("pages/static/player/colours.css")),
    modules=[
        *(f"/static/{path.name}" for path in sorted(STATIC.glob("*.js"))),
        *(f"{PLAYER_MODULES}/{path.name}" for path in sorted(player.STATIC.glob("*.js"))),
    ],
)


_KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
_LOG = logging.getLogger(__name__)
# Path, rater id, body, what the browser calls itself, and the client's address.
RaterApi = Callable[[str, str, bytes, str, str], Response]
# Others say that they are Chrome or Safari too.
_BROWSERS = {
    "Edge": r"Edg/(\d{1,5})", "Opera": r"OPR/(\d{1,5})", "Samsung": r"SamsungBrowser/(\d{1,5})",
    "Firefox": r"(?:Firefox|FxiOS)/(\d{1,5})", "Chrome": r"(?:Chrome|CriOS)/(\d{1,5})", "Safari": r"Version/(\d{1,5}).*Safari",
}  # fmt: skip
# Proxies are named by their content, so a cached one is never out of date.
_FOREVER = {"Cache-Control": "private, max-age=31536000, immutable"}


def browser_of(agent: str) -> str:
    """Name and main version, as ``Chrome 130``; nothing else of what a browser says of itself."""
    found = ((name, re.search(pattern, agent)) for name, pattern in _BROWSERS.items())
    return next((f"{name} {said[1]}" for name, said in found if said), "other")


def rater_api(
    desk: Desk, *, ended: Callable[[str, bool], object], agreeing: Callable[[str, str], AbstractContextManager[None]]
) -> RaterApi:
    """``POST /api/work|answers|skips|undos|steps``: path, rater, body, browser and address to a response.

    ``ended`` is told of a stranger whose part has ended, and whether they withdrew; ``agreeing`` is entered while
    somebody agrees to take part, with the address from which they do.

    No routes of FastAPI: its layers take several times as long as storing an answer.
    """
    taken: Mapping[str, Callable[[str, dict[str, Any]], dict[str, Any]]] = {
        "/api/work": desk.work, "/api/answers": desk.answer, "/api/skips": desk.skip, "/api/undos": desk.undo,
        "/api/steps": desk.step,
    }  # fmt: skip

    def respond(path: str, rater_id: str, body: bytes, agent: str, client: str) -> Response:
        try:
            fields = json_object(body)
            if isinstance(seen := fields.get("seen"), dict):
                seen.setdefault("browser", browser_of(agent))
                seen["language"] = SPEECH.get().language
            with agreeing(rater_id, client) if fields.get("step") == "consent" else nullcontext():
                reply = taken[path](rater_id, fields)
            if reply.get("work", reply)["status"] == "ended":
                ended(rater_id, fields.get("step") == "withdraw")
            return JSONResponse(SPEECH.get().all(reply))
        except (Refused, InputError, JournalUnavailable) as error:
            return told(error, as_page=False)
        except Exception:  # a fault of the program: the log has it whole, the rater one sentence
            _LOG.exception("a request of a rater failed")
            return refusal(500, "something went wrong here", as_page=False)

    return respond


def file_routes(study: Study, folder: Path, *, desk: Desk, where: Callable[[str], str] | None = None) -> APIRouter:
    """``GET /media/<proxy>``, ``/static/<file>``, ``/rater.html``, ``/favicon.ico`` and the way to ``/admin/``.

    Args:
        study: whose proxies are served, and nothing else of its folder.
        folder: of the study.
        desk: knows who may see what.
        where: tells where proxies are fetched; here by default.
    """
    router = APIRouter()
    page_files = static_files()
    markup = {language: rater_markup(speech) for language, speech in study.spoken.items()}
    proxy_of = {name: proxy.name for proxy in study.proxies.values() for name in (proxy.name, proxy.light)}

    @router.get("/media/{name}")
    def media(name: str, request: Request) -> Response:
        person = request.state.person
        known = name in proxy_of and (person.is_admin or desk.may_see(person.rater_id, proxy_of[name]))
        path = folder / PROXIES / name
        if known and where is not None:
            return RedirectResponse(where(name), status_code=307)
        if not known or not path.is_file():
            return refusal(404, "there is nothing here for you", as_page=False)
        kind = "video/mp4" if name.endswith(".mp4") else "image/png"
        # The name is a hash of the content. What the library would take instead is the time of the file.
        return FileResponse(path, media_type=kind, headers={**_FOREVER, "ETag": f'"{path.stem}"'})

    # No route for any path below: Gradio has files of its own in /static/js.
    @router.get("/static/{name}")
    def static(name: str, request: Request) -> Response:
        if name not in page_files:
            return refusal(404, "there is nothing here", as_page=False)
        content, kind, tag = page_files[name]
        headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=kind, headers=headers)

    @router.get("/static/player/{name}")
    def static_of_player(name: str, request: Request) -> Response:
        return static(f"player/{name}", request)

    @router.get("/rater.html")
    def rater() -> Response:
        return HTMLResponse(markup[SPEECH.get().language])

    @router.get("/favicon.ico")
    def icon() -> Response:
        content, kind, _ = page_files["icon.svg"]
        return Response(content, media_type=kind)

    @router.get("/admin")
    def admin() -> Response:
        return RedirectResponse("/admin/", status_code=303)

    return router


def json_object(body: bytes) -> dict[str, Any]:
    """The fields of ``body``; what they may be is the desk's to check.

    Raises:
        InputError: no JSON, no object, a number that JSON does not know (NaN), nested too deeply, a text that cannot be stored.
    """
    try:
        fields = json.loads(body, parse_constant=int)  # no number can be made of NaN and Infinity: a ValueError
        storable = all(map(is_storable, texts_of(fields)))
    except (ValueError, RecursionError) as error:
        raise InputError("what was sent is not JSON") from error
    if not storable:
        raise InputError("what was sent holds characters that cannot be stored (NUL, or half of a surrogate pair)")
    if not isinstance(fields, dict):
        raise InputError("what was sent is no JSON object")
    return fields


def static_files() -> Mapping[str, tuple[bytes, str, str]]:
    """Files of the rater's page: name -> content, media type, entity tag; those of the player as ``player/name``. Read once, so a
    changed disk changes nothing."""
    package = files("inpaintbench")
    table = {}
    for prefix, folder in (("", package / "annotate/app/static"), ("player/", package / "pages/static/player")):
        for entry in folder.iterdir():
            if entry.is_file() and not entry.name.startswith((".", "_")):
                content = entry.read_bytes()
                suffix = Path(entry.name).suffix
                kind = _KINDS.get(suffix) or mimetypes.guess_type(entry.name)[0] or "application/octet-stream"
                table[prefix + entry.name] = (content, kind, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    return table


def answer_errors(app: FastAPI) -> None:
    """Turn the errors that handlers may raise into one sentence and a status."""
    for kind in (Refused, InputError, JournalUnavailable):

        @app.exception_handler(kind)
        def answer(request: Request, error: Exception) -> Response:
            return told(error, as_page=request.method == "GET")


def told(error: Exception, *, as_page: bool) -> Response:
    """One sentence and a status for an expected error."""
    if isinstance(error, JournalUnavailable):
        _LOG.warning("%s", error)
        response = refusal(503, UNAVAILABLE, as_page=as_page)
        response.headers["Retry-After"] = "1"
        return response
    return refusal(*((error.status, error.said) if isinstance(error, Refused) else (400, str(error))), as_page=as_page)


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
        return sentence_page(title, form=True)

    @router.post("/login")
    def login(request: Request) -> Response:
        try:
            fields = parse_qs(request.state.body.decode(), max_num_fields=8, errors="strict")
        except ValueError:
            fields = {}
        given = [*fields.get("name", []), *fields.get("password", [])]
        if len(fields.get("name", [])) != 1 or len(given) != 2 or max(map(len, given)) > _FIELD_CHARACTERS:
            return sentence_page(title, "Please fill in both fields.", status=400, form=True)
        with checking:
            session = people.enter_by_password(study.study_id, given[0].strip(), given[1], at=time.time())
        if session is None:
            return sentence_page(title, "Name and password do not match.", status=403, form=True)
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
