"""The admin's page: how far the study is, who does what, what was judged, invitations. Its handlers check the role themselves."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import cv2
import gradio as gr
import numpy as np
from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from inpaintbench import video
from inpaintbench.annotate.app import routes, tables
from inpaintbench.annotate.app.routes import refusal, token_of
from inpaintbench.annotate.app.tables import Views
from inpaintbench.annotate.desk.cards import media_of, outline_of, players_of
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.outcomes.judgements import export_judgements
from inpaintbench.annotate.player import ComparisonPlayer, Shown
from inpaintbench.annotate.preparing.pictures import laid
from inpaintbench.annotate.report.material import events_read, material_of
from inpaintbench.annotate.report.page import render
from inpaintbench.annotate.study import PROXIES, Study
from inpaintbench.errors import InputError
from inpaintbench.pages.words import moment

if TYPE_CHECKING:
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import Person
    from inpaintbench.annotate.records import Vote
    from inpaintbench.annotate.study import Proxy, StudyTask


# Answers that the list offers: the newest of those asked for.
MOST = 200
_EVERYBODY = ""


def shown_of(study: Study, vote: Vote) -> Shown:
    """The players as the rater saw them, with names that they did not see; what they chose has a tick."""
    task = study.task_of[vote.task_id]
    proxy = study.proxies[task.proxy]
    players = players_of(proxy, vote.sides)
    for player in players:
        if player["place"] is not None and vote.candidates:
            method = vote.sides[player["place"]]
            player["label"] = f"{player['label']}  {method}{'  ✓' if vote.choice == method else ''}"
    return Shown(media=media_of(proxy), players=players, outline=outline_of(proxy))


_ACTS = {
    "exclude answer": "Exclude this answer",
    "include answer": "Include it again",
    "exclude rater": "Exclude its rater",
    "include rater": "Include the rater again",
}


def review_tab(page: gr.Blocks, study: Study, *, room: AdminRoom, quiet: dict[str, Any]) -> None:
    """Draw the tab where an answer is seen beside the players as its rater saw them, and join its components to ``room``."""

    # Gradio looks for the request among the parameters of a function, and of no other callable.
    def stepping(steps: int) -> Callable[..., Any]:
        def step(answer: str | None, rater: str, question: str, request: gr.Request) -> Any:
            return room.step(steps, answer, rater, question, request)

        return step

    def deciding(what: str) -> Callable[..., Any]:
        def decide(answer: str | None, reason: str, request: gr.Request) -> Any:
            return gr.update(value=room.decide(what, answer, reason, request), visible=True)

        return decide

    with gr.Column(elem_classes=["deck", "people"]):
        with gr.Row(elem_classes="acts"):
            rater = gr.Dropdown(
                label="Rater", choices=[("Everybody", _EVERYBODY)], value=_EVERYBODY, elem_id="whose", min_width=140
            )
            questions = [("Every question", ""), *((label, label) for label in study.spec_of)]
            question = gr.Dropdown(label="Question", choices=questions, value="", elem_id="which", min_width=140)
        with gr.Row(elem_classes="acts"):
            answer = gr.Dropdown(
                label="Answer", choices=[], value=None, allow_custom_value=True, elem_id="answer", min_width=240, scale=4
            )
            back, on = (gr.Button(text, min_width=90) for text in ("Newer", "Older"))
    player = ComparisonPlayer(modules=routes.PLAYER_MODULES, height=420, elem_id="judged", min_width=0)
    facts = gr.HTML(elem_classes="tables", elem_id="facts", apply_default_css=False)
    with gr.Column(elem_classes=["deck", "people"]):
        reason = gr.Textbox(label="Why (stands in the journal and in the report)", max_lines=1, elem_id="reason")
        with gr.Row(elem_classes="acts"):
            buttons = {what: gr.Button(text, min_width=150, elem_id=what.replace(" ", "-")) for what, text in _ACTS.items()}
        decided = gr.Textbox(interactive=False, elem_id="decided", container=False, show_label=False, lines=1, visible=False)
    listed = [rater, answer]
    for event in (page.load, rater.change, question.change, answer.focus):
        event(room.offer, [rater, question], listed, **quiet)
    answer.change(room.look, answer, [player, facts], **quiet)
    for button, steps in ((back, -1), (on, 1)):
        button.click(stepping(steps), [answer, rater, question], answer, **quiet)
    for what, button in buttons.items():
        done = button.click(deciding(what), [answer, reason], decided, **quiet)
        done.then(room.look, answer, [player, facts], **quiet)


# Widest picture of a task, pixels: a thumbnail on a dense screen.
_WIDTH = 720
# Pictures that are kept, some 50 kB each.
_KEPT = 256


@lru_cache(maxsize=_KEPT)
def middle_picture(path: Path, proxy: Proxy) -> bytes:
    """Candidates side by side, in the order of their names (or the clip), in the middle of a proxy's time, as JPEG."""
    if video.is_image(path):
        sheet = video.read_image(path)
    else:
        sheet = next(islice((frame for frame, _ in video.upright_frames(path)), proxy.frames // 2, None))
    sheet = laid(sheet, proxy.tiles)
    tiles = sorted((tile for tile in proxy.tiles if tile.candidate is not None), key=lambda tile: tile.candidate or "")
    parts = [sheet[tile.y : tile.y + tile.height, tile.x : tile.x + tile.width] for tile in tiles or proxy.tiles[:1]]
    picture = np.concatenate(parts, axis=1)
    height, width = picture.shape[:2]
    if width > _WIDTH:
        picture = np.asarray(
            cv2.resize(picture, (_WIDTH, round(height * _WIDTH / width)), interpolation=cv2.INTER_AREA), np.uint8
        )
    _, encoded = cv2.imencode(".jpg", picture[:, :, ::-1])
    return encoded.tobytes()


# Seconds between two drawings of the page, and answers and skips that it lists.
REFRESH_SECONDS = 10
NEWEST = 20
# Longest name in the box; the journal refuses longer ones too.
_NAME_CHARACTERS = 80


class AdminRoom:
    """Actions of the page's components. Every method asks first whether an admin of this study calls it."""

    def __init__(self, study: Study, *, desk: Desk, people: People) -> None:
        self._study, self._desk, self._people = study, desk, people
        self._views = Views(desk)

    def refresh(self, request: gr.Request) -> tuple[Any, ...]:
        """Summary, coverage, raters, newest answers, notes, and the names to choose from."""
        view = self._views.of(self._admin(request))
        overview = self._desk.overview()
        people = self._people.raters(self._study.study_id)
        choices = [(person.name, person.rater_id) for person in people if not person.revoked]
        return (
            tables.summary(overview, letters=view.letters),
            tables.coverage(overview),
            tables.raters(people, overview),
            tables.newest(view, self._desk.newest(NEWEST), people),
            tables.notes(self._study, overview),
            gr.update(choices=choices),
        )

    def add(self, name: str, request: gr.Request) -> tuple[str, str]:
        """A new rater and their invitation link."""
        self._admin(request)
        wanted = str(name or "").strip()
        if not 0 < len(wanted) <= _NAME_CHARACTERS:
            return f"A name has 1 to {_NAME_CHARACTERS} characters.", ""
        try:
            rater = self._people.add(self._study.study_id, wanted)
        except InputError as error:
            return str(error), ""
        return f"{wanted} may join. Send the link below; it is shown only now.", self._link(rater.rater_id, request)

    def invite(self, rater_id: str, request: gr.Request) -> tuple[str, str]:
        """A new invitation link, which ends the older ones."""
        self._admin(request)
        if not self._knows(rater_id):
            return "Choose a rater first.", ""
        return "Send the link below; older links of this rater no longer work.", self._link(rater_id, request)

    def revoke(self, rater_id: str, request: gr.Request) -> tuple[str, str]:
        """Shut a rater out; their answers stay."""
        person = self._admin(request)
        if not self._knows(rater_id):
            return "Choose a rater first.", ""
        if rater_id == person.rater_id:
            return "You cannot shut yourself out.", ""
        self._people.revoke(self._study.study_id, rater_id)
        return "Shut out at once; the answers given so far stay. They can come back under another name only.", ""

    def resume(self, rater_id: str, request: gr.Request) -> tuple[str, str]:
        """Let a paused rater go on."""
        self._admin(request)
        if not self._knows(rater_id):
            return "Choose a rater first.", ""
        self._desk.resume(rater_id)
        return "They may go on; only check tasks from now on count for the pause.", ""

    def offer(self, rater_id: str, question: str, request: gr.Request) -> tuple[Any, Any]:
        """The raters to choose from, and the answers of one or all, newest first."""
        self._admin(request)
        raters = self._people.raters(self._study.study_id)
        names, choices = {rater.rater_id: rater.name for rater in raters}, []
        for vote in self._votes(rater_id, question):
            task, called = self._study.task_of[vote.task_id], names.get(vote.rater_id, vote.rater_id)
            line = f"{moment(vote.at)} · {called} · {vote.question} · {task.caption or task.subject_id}"
            choices.append((line, vote.submission_id))
        people = [("Everybody", _EVERYBODY), *((rater.name, rater.rater_id) for rater in raters if not rater.is_admin)]
        return gr.update(choices=people), gr.update(choices=choices)

    def look(self, submission_id: str | None, request: gr.Request) -> tuple[Shown | None, str]:
        """Players and facts of an answer."""
        view = self._views.of(self._admin(request))
        vote = self._desk.vote(submission_id) if submission_id else None
        if vote is None:
            return None, tables.drawn("Choose an answer to see what was judged.")
        called = self._people.names(self._study.study_id).get(vote.rater_id, vote.rater_id)
        about = [of for of in self._desk.exclusions() if of.rater_id == vote.rater_id]
        why = next((of for of in about if of.submission in (None, vote.submission_id)), None)
        seen = view.vote(vote)
        return shown_of(view.study, seen), tables.judged(view.study, seen, called, why)

    def step(self, steps: int, submission_id: str | None, rater_id: str, question: str, request: gr.Request) -> Any:
        """The next or the last answer of the list; its first where none is chosen."""
        self._admin(request)
        listed = [vote.submission_id for vote in self._votes(rater_id, question)]
        if not listed:
            return gr.update()
        at = listed.index(submission_id) + steps if submission_id in listed else 0
        return listed[min(max(at, 0), len(listed) - 1)]

    def decide(self, what: str, submission_id: str | None, reason: str, request: gr.Request) -> str:
        """Exclude or include an answer, or all of its rater's; a sentence that says so."""
        admin = self._admin(request).rater_id
        vote = self._desk.vote(submission_id) if submission_id else None
        if vote is None:
            return "Choose an answer first."
        which = None if what.endswith("rater") else vote.submission_id
        excludes = what.startswith("exclude")
        act = self._desk.exclude if excludes else self._desk.include
        try:
            changed = act(vote.rater_id, submission_id=which, reason=str(reason or ""), by=admin)
        except InputError as error:
            return f"{str(error)[:1].upper()}{str(error)[1:]}."
        if not changed:
            return "Nothing changed: it was so already."
        subject = "This answer" if which else "Everything of this rater"
        return f"{subject} {'counts for nothing now' if excludes else 'counts again'}. It stays in the journal."

    def _votes(self, rater_id: str, question: str) -> list[Vote]:
        sent = self._desk.newest(MOST, rater_id=rater_id or None, question=question or None, kind="answer")
        return [row.vote for row in sent if row.vote is not None]

    def _admin(self, request: gr.Request) -> Person:
        token = token_of(_asked(request).headers)
        person = None if token is None else self._people.who(token, at=time.time())
        if person is None or not person.is_admin or person.study_id != self._study.study_id:
            raise PermissionError("for admins of this study alone")
        return person

    def _knows(self, rater_id: Any) -> bool:
        return any(rater.rater_id == rater_id for rater in self._people.raters(self._study.study_id))

    def _link(self, rater_id: str, request: gr.Request) -> str:
        secret = self._people.invite(self._study.study_id, rater_id)
        # The gate has checked the host and set the scheme that browsers see.
        address = _asked(request).url
        return f"{address.scheme}://{address.netloc}/join/{secret}"


def _asked(request: gr.Request) -> Request:
    if request.request is None:
        raise PermissionError("for browsers alone")
    return request.request


def admin_page(study: Study, *, desk: Desk, people: People) -> gr.Blocks:
    """The page, of Gradio's own components."""
    room = AdminRoom(study, desk=desk, people=people)
    quiet: dict[str, Any] = {"queue": False, "api_visibility": "private", "show_progress": "hidden"}
    page: gr.Blocks
    with gr.Blocks(title=f"{study.file.title} - admin", analytics_enabled=False, fill_width=True) as page:
        summary = gr.HTML(elem_classes="summary", elem_id="summary", apply_default_css=False)
        with gr.Tabs(elem_id="parts"):
            with gr.Tab("Study"):
                coverage = gr.HTML(elem_classes="tables", apply_default_css=False)
                raters = gr.HTML(elem_classes="tables", elem_id="raters", apply_default_css=False)
                with gr.Row(elem_classes="people"):
                    with gr.Column(elem_classes="deck", min_width=300):
                        gr.HTML(tables.drawn("Somebody new"), apply_default_css=False)
                        with gr.Row(elem_classes="acts"):
                            name = gr.Textbox(
                                label="Name of a new rater", max_lines=1, max_length=_NAME_CHARACTERS, elem_id="name", scale=2
                            )
                            add = gr.Button("Add and invite", variant="primary", elem_id="add", min_width=140)
                    with gr.Column(elem_classes="deck", scale=2, min_width=340):
                        gr.HTML(tables.drawn("Somebody who is here"), apply_default_css=False)
                        with gr.Row(elem_classes="acts"):
                            chosen = gr.Dropdown(
                                label="Rater", choices=[], value=None, allow_custom_value=True, elem_id="chosen", scale=2,
                                min_width=160,
                            )  # fmt: skip
                            buttons = [gr.Button(text, elem_id=which, min_width=100) for which, text in _BUTTONS.items()]
                said = gr.Textbox(interactive=False, elem_id="said", container=False, show_label=False, lines=1, visible=False)
                link = gr.Textbox(label="Invitation link", interactive=False, buttons=["copy"], elem_id="link", visible=False)
                newest = gr.HTML(elem_classes="tables", elem_id="newest", apply_default_css=False)
            with gr.Tab("Answers", elem_id="answers"):
                review_tab(page, study, room=room, quiet=quiet)
            with gr.Tab("Notes"):
                notes = gr.HTML(elem_classes="tables", elem_id="notes", apply_default_css=False)
        shown = [summary, coverage, raters, newest, notes, chosen]
        for event in (page.load, gr.Timer(REFRESH_SECONDS).tick):
            event(room.refresh, None, shown, **quiet)
        acts = [(add, room.add, name), *zip(buttons, (room.invite, room.resume, room.revoke), [chosen] * 3, strict=True)]
        for button, act, given in acts:
            button.click(_told(act), given, [said, link], **quiet).then(room.refresh, None, shown, **quiet)
    return page


def _told(act: Callable[[str, gr.Request], tuple[str, str]]) -> Callable[[str, gr.Request], tuple[Any, Any]]:
    """``act`` for two boxes that are there only while they have something to say."""

    def shown(given: str, request: gr.Request) -> tuple[Any, Any]:
        sentence, link = act(given, request)
        return gr.update(value=sentence, visible=bool(sentence)), gr.update(value=link, visible=bool(link))

    return shown


_BUTTONS = {"invite": "New invitation link", "resume": "End the pause", "revoke": "Shut out"}


def admin_routes(study: Study, folder: Path, *, desk: Desk, journal: Journal, people: People) -> APIRouter:
    """``GET /admin/judgements.csv``: the answers that stand, with the raters' names; ``/admin/results``: the report of this
    moment; ``/admin/pictures/<proxy>.jpg``: what candidates look like in the middle of a proxy."""
    router = APIRouter(prefix="/admin")
    views = Views(desk)
    pictures = {Path(name).stem: name for name in study.proxies}
    # With letters for methods or without -> the number of the last event, and the report, which is worked out when somebody asks
    # and there are other events. Intervals are resampled, which takes a while: two who ask at once wait for one.
    made: dict[bool, tuple[int, str]] = {}
    working = threading.Lock()

    def picture_of(task: StudyTask) -> str:
        return f"/admin/pictures/{Path(task.proxy).stem}.jpg"

    @router.get("/results")
    def page(request: Request) -> Response:
        view = views.of(request.state.person)
        with working:
            last = desk.state().last_seq
            if made.get(view.letters, (-1, ""))[0] != last:
                standing, overview = view.standing(desk.all_answers()), view.overview(desk.overview())
                events, names = events_read(journal, study.study_id), people.names(study.study_id)
                material = material_of(view.study, standing, events, overview=overview, names=names, picture_of=picture_of)
                made[view.letters] = (last, render(material, downloads=()))
            return HTMLResponse(made[view.letters][1])

    @router.get("/pictures/{name}")
    def picture(name: str, request: Request) -> Response:
        proxy = pictures.get(name.removesuffix(".jpg"))
        if proxy is None or not (folder / PROXIES / proxy).is_file():
            return refusal(404, "there is nothing here", as_page=False)
        seen = views.of(request.state.person).study
        content = middle_picture(folder / PROXIES / proxy, seen.proxies[proxy])
        return Response(content, media_type="image/jpeg", headers={"Cache-Control": "private, no-store"})

    @router.get("/judgements.csv")
    def judgements(request: Request) -> Response:
        view = views.of(request.state.person)
        names = people.names(study.study_id)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "judgements.csv"
            export_judgements(view.study, view.standing(desk.all_answers()).votes, path, names=names)
            content = path.read_bytes()
        headers = {"Content-Disposition": 'attachment; filename="judgements.csv"'}
        return Response(content, media_type="text/csv; charset=utf-8", headers=headers)

    return router
