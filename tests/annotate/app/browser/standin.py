"""A server that speaks to the rater's page as the real one does, from memory: tests say what it answers and see what it got."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse, RedirectResponse, Response

from inpaintbench.annotate.app import routes as pages
from inpaintbench.annotate.app.allowed import page_policy
from inpaintbench.annotate.desk.cards import SKIP_REASONS
from inpaintbench.annotate.languages import Speech, best, shipped, words_of
from inpaintbench.annotate.player import STATIC as PLAYER_STATIC
from inpaintbench.annotate.player import ComparisonPlayer

COOKIE = "rater"
PLAYER = ComparisonPlayer(modules=pages.PLAYER_MODULES, keys=False)
PAGE = f"""<!doctype html><html lang="en"><head><title>Study</title>{pages.HEAD}{PLAYER.head}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>#here {{ {pages.CSS} }} #player {{ {PLAYER.css_template} }}</style></head>
<body><div id="here">{pages.HTML.replace("@children", f'<div id="player">{PLAYER.html_template}</div>')}</div>
<script>(() => {{
  const element = document.getElementById("player"), props = {json.dumps(PLAYER.props)}, watch = () => undefined;
  {PLAYER.js_on_load}
}})();
(() => {{ const element = document.getElementById("here"); {pages.JS_ON_LOAD} }})();</script></body></html>"""
"""The rater's page without Gradio around it, which takes seconds to come: the real server's tests have it."""


@dataclass
class Desk:
    """One rater's study."""

    cards: list[dict[str, Any]]
    """Without ``lease_id``; in the order they are handed out."""
    title: str = "Which method fills holes best?"
    welcome: str = ""
    name: str = "Rater"
    status_after: str = "done"
    said: dict[int, str] = field(default_factory=dict)
    """Number of a card -> what the measurement said, after its answer."""
    answers: list[dict[str, Any]] = field(default_factory=list)
    skips: list[dict[str, Any]] = field(default_factory=list)
    undos: list[dict[str, Any]] = field(default_factory=list)
    received: list[str] = field(default_factory=list)
    """Submission ids of all posts, also those that came twice."""
    refuse: list[tuple[int, str]] = field(default_factory=list)
    """Statuses and sentences for the next posts of answers."""
    lose_replies: int = 0
    """So many next answers are stored, but the reply is a 503."""
    signed_out: bool = False
    cut: bool = False
    """Nothing of the rater's arrives. A cuttable tab drops its requests; one that Chromium let through all the same, as it does
    with those that are under way when a page is closed, gets a 503."""
    forced_status: str | None = None
    room: int = 2
    """Cards at once, as the page last said; the real desk gives a quarter of what is left at most."""
    done: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Number of a card -> route and submission."""
    previous: dict[int, dict[str, Any]] = field(default_factory=dict)
    generation: dict[int, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def work(self) -> dict[str, Any]:
        waiting = [n for n in range(len(self.cards)) if n not in self.done]
        waiting.sort(key=lambda n: n not in self.previous)
        queue = [] if self.forced_status else [self._card(n) for n in waiting[: self.room]]
        order = list(self.done.values())
        status = self.forced_status or ("working" if queue else self.status_after)
        return {
            "study": {"study_id": "standin", "title": self.title, "welcome": self.welcome},
            "rater": {"rater_id": self.name, "name": self.name},
            "status": status,
            "message": "",
            "progress": {
                "answered": len(self.answers_standing()),
                "total": len(self.cards),
                "pace": "7.2 s each" if self.done else "",
                "undoable": order[-1][1] if order else None,
            },
            "queue": queue,
        }

    def answers_standing(self) -> list[str]:
        return [submission for route, submission in self.done.values() if route == "answers"]

    def _card(self, number: int) -> dict[str, Any]:
        card = {
            "suggestion": None,
            "previous": self.previous.get(number),
            "skip_reasons": [dict(one) for one in SKIP_REASONS],
            "must_watch": False,
            "outline": None,
        }
        lease = f"{number}-{self.generation.get(number, 0)}-{self.name}"
        return {**card, **self.cards[number], "lease_id": lease, "task": f"task-{number}"}

    def take(self, route: str, fields: dict[str, Any]) -> Response:
        with self.lock:
            if self.cut:
                return JSONResponse({"error": "cut off"}, status_code=503)
            if self.signed_out:
                return JSONResponse({"error": "Please sign in."}, status_code=401)
            if not fields.get("lease_id", self.name).endswith(self.name):
                return JSONResponse({"error": "This is not yours."}, status_code=403)
            submission = fields["submission_id"]
            duplicate = submission in self.received
            self.received.append(submission)
            if route == "answers" and self.refuse and not duplicate:
                status, sentence = self.refuse.pop(0)
                if status == 409:
                    self.done[int(fields["lease_id"].split("-")[0])] = ("elsewhere", submission)
                return JSONResponse({"error": sentence}, status_code=status)
            suggestion = None
            if not duplicate:
                suggestion = self._store(route, fields)
            if route == "answers" and self.lose_replies:
                self.lose_replies -= 1
                return JSONResponse({"error": "too busy"}, status_code=503)
            return JSONResponse({"stored": True, "duplicate": duplicate, "suggestion": suggestion, "work": self.work()})

    def _store(self, route: str, fields: dict[str, Any]) -> dict[str, str] | None:
        if route == "undos":
            self.undos.append(fields)
            number = next(n for n, (_, submission) in self.done.items() if submission == fields["undoes"])
            del self.done[number]
            self.generation[number] = self.generation.get(number, 0) + 1
            given = next((one["given"] for one in self.answers if one["submission_id"] == fields["undoes"]), {})
            self.previous[number] = given
            return None
        (self.answers if route == "answers" else self.skips).append(fields)
        number = int(fields["lease_id"].split("-")[0])
        self.done[number] = (route, fields["submission_id"])
        self.previous.pop(number, None)
        part = self.cards[number]["question"]["form"]["parts"][0]["name"]
        return {"part": part, "value": self.said[number]} if number in self.said else None


class Standin:
    """The server: desks by rater."""

    def __init__(self, media: Path) -> None:
        self.media = media
        self.desks: dict[str, Desk] = {}
        self.delay = 0.0
        self.app = FastAPI()
        self._pages()
        self._answers()
        self._files()

    def _desk(self, request: Request) -> Desk:
        return self.desks[request.cookies[COOKIE]]

    def _pages(self) -> None:
        app = self.app

        @app.get("/")
        def page() -> Response:
            return HTMLResponse(PAGE, headers={"Content-Security-Policy": page_policy(PAGE.encode())})

        @app.get("/rater.html")
        def markup(request: Request) -> Response:
            language = best(request.headers.get("accept-language", ""), shipped())
            return HTMLResponse(pages.rater_markup(Speech(language, words_of(language))))

        @app.get("/join/{name}")
        def join(name: str) -> Response:
            response = RedirectResponse("/", status_code=303)
            response.set_cookie(COOKIE, name, httponly=True, samesite="strict")
            return response

        @app.get("/login")
        def login() -> Response:
            return HTMLResponse("<!doctype html><title>Sign in</title><h1>Sign in</h1>")

        @app.post("/logout")
        def logout() -> Response:
            return JSONResponse({})

    def _answers(self) -> None:
        app = self.app

        @app.post("/api/work")
        async def work(request: Request) -> Response:
            desk, fields = self._desk(request), await request.json()
            if desk.signed_out:
                return JSONResponse({"error": "Please sign in."}, status_code=401)
            if desk.cut:
                return JSONResponse({"error": "cut off"}, status_code=503)
            desk.room = fields.get("ahead", desk.room)
            return JSONResponse(desk.work())

        @app.post("/api/{route}")
        async def post(route: str, request: Request) -> Response:
            if request.headers.get("x-inpaintbench") != "1" or request.headers.get("content-type") != "application/json":
                return JSONResponse({"error": "headers are missing"}, status_code=400)
            time.sleep(self.delay)
            return self._desk(request).take(route, await request.json())

    def _files(self) -> None:
        app = self.app

        @app.get("/media/{name}")
        def media(name: str) -> Response:
            return FileResponse(self.media / name, headers={"Cache-Control": "private, immutable, max-age=31536000"})

        @app.get("/static/player/{name}")
        def player(name: str) -> Response:
            return FileResponse(PLAYER_STATIC / name, headers={"Cache-Control": "no-cache"})

        @app.get("/static/{name}")
        def static(name: str) -> Response:
            return FileResponse(pages.STATIC / name, headers={"Cache-Control": "no-cache"})


@contextmanager
def running(app: FastAPI) -> Iterator[str]:
    """The address of a server in a thread of this process."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


def card(
    question: str, form: Mapping[str, Any], proxy: Mapping[str, Any], *, leaf: str = "pairwise", **fields: Any
) -> dict[str, Any]:
    """A card: candidates first, then, where the proxy has tiles left, the original and the masked input."""
    shown = fields.pop("candidates", 2)
    players = []
    for number, tile in enumerate(proxy["tiles"]):
        if shown == 0 and number == 0:
            player = {"role": "clip", "place": None, "label": "Clip"}
        elif number < shown:
            player = {"role": "candidate", "place": number, "label": "ABCDEFGHI"[number]}
        else:
            role = "input" if number == max(shown, 1) + 1 else "original"
            player = {"role": role, "place": None, "label": "Input" if role == "input" else "Original"}
        players.append({**player, **tile})
    return {
        "question": {"name": question, "leaf": leaf, "form": dict(form)},
        "media": proxy["media"],
        "players": players,
        "outline": proxy["outline"],
        **fields,
    }


def as_json(form: Any) -> dict[str, Any]:
    """A form of the real questions."""
    return asdict(form) if not hasattr(form, "json") else form.json()
