"""The app: its own routes, Gradio's pages behind them, and the gate in front of everything."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import gradio as gr
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from inpaintbench.annotate.app import routes, tables
from inpaintbench.annotate.app.admin import admin_page, admin_routes
from inpaintbench.annotate.app.allowed import Buckets, Forwarded, Limits, Origins, Rate
from inpaintbench.annotate.app.headers import Delivery
from inpaintbench.annotate.app.routes import answer_errors, file_routes, opened, rater_api, refusal, sentence_page, session_routes
from inpaintbench.annotate.app.security import Gate
from inpaintbench.annotate.crowd import (
    IDENTIFIER,
    MTURK_HOSTS,
    MTURK_PREVIEW,
    PLACEHOLDER,
    Crowd,
    Outcome,
    Platform,
    platform_of,
)
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal.accounts import Names, People
from inpaintbench.annotate.journal.participants import Arrival, Closed, Participant, Participants
from inpaintbench.annotate.player import ComparisonPlayer
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from inpaintbench.annotate.crowd import Outcome
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import Session
    from inpaintbench.annotate.journal.participants import Participants
    from inpaintbench.annotate.study import Study

# Strangers whom a platform sends: the one open address, and the way back with a completion code.
#
# ``GET /enter?...`` is the only address whose query is read. It answers with a redirect, so that identifiers stay neither in
# the address bar nor in a referrer.

# Of all strangers together: each arrival is a transaction.
_ARRIVALS = Rate(50, 200)
_TOOK_PART = (
    "you took part in another study of ours, and this one needs people who have not; nothing is stored of you. Please return "
    "your place where you found the study"
)
# Parameters of an address; platforms send three or four.
_MOST_PARAMETERS = 16


def arrival_routes(
    study: Study,
    crowd: Crowd,
    *,
    participants: Participants,
    desk: Desk,
    opened: Callable[[Session], Response],
    took_part: Callable[[Arrival], bool] = lambda _: False,
) -> APIRouter:
    """``GET /enter``.

    Args:
        study: whose strangers come.
        crowd: what the study says of them.
        participants: who has come.
        desk: told of arrivals.
        opened: makes the answer that carries a session.
        took_part: tells who took part in a study whose people are not taken here.
    """
    router, platform = APIRouter(), platform_of(crowd)
    everybody = Buckets(_ARRIVALS)

    @router.get("/enter")
    def enter(request: Request) -> Response:
        if everybody.wait_seconds("", now=time.monotonic()):
            return refusal(429, "too many people come at once; reload this page in a moment", as_page=True)
        try:
            given = identifiers(request.url.query, platform, mturk=crowd.platform == "mturk")
        except InputError as error:
            return refusal(400, str(error), as_page=True)
        if given is None:
            return sentence_page(study.file.title, study.file.welcome or "Accept the task to begin.")
        try:
            arrival = Arrival(crowd.platform, **given)
            if not participants.has_come(study.study_id, arrival) and took_part(arrival):
                return refusal(403, _TOOK_PART, as_page=True)
            session = participants.arrive(study.study_id, arrival, at=time.time())
        except Closed:
            return refusal(403, "this study is closed and takes nobody any more", as_page=True)
        if session is None:
            return refusal(403, "you have withdrawn from this study", as_page=True)
        desk.arrive(session.person.rater_id)
        return opened(session)

    return router


def identifiers(query: str, platform: Platform, *, mturk: bool = False) -> dict[str, str] | None:
    """The fields of an ``Arrival`` in a query; None for a preview, which starts nothing.

    Raises:
        InputError: an identifier is missing, doubled, malformed, or a placeholder that the platform did not fill in.
    """
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError as error:
        raise InputError("this address holds too much") from error
    said: dict[str, list[str]] = {}
    for name, value in pairs:
        said.setdefault(name, []).append(value)
    if mturk and said.get("assignmentId") == [MTURK_PREVIEW]:
        return None
    names = {"participant": platform.participant, "session": platform.session, "study": platform.study}
    found = {field: _identifier(said, name, needed=field == "participant") for field, name in names.items() if name}
    if mturk:
        hosts = said.get("turkSubmitTo", [])
        if len(hosts) != 1 or hosts[0].rstrip("/") not in MTURK_HOSTS:
            raise InputError("this address does not come from the platform: turkSubmitTo is no address of it")
        found["submit_to"] = hosts[0].rstrip("/")
    return found


def _identifier(said: Mapping[str, list[str]], name: str, *, needed: bool) -> str:
    values = said.get(name, [])
    if not values and not needed:
        return ""
    if len(values) != 1:
        times = "is missing" if not values else "is there more than once"
        raise InputError(f"{name} {times} in this address; open the study from the platform's own page")
    if PLACEHOLDER.match(values[0]):
        raise InputError(f"{name} was not filled in by the platform; whoever runs the study must mend its address there")
    if not IDENTIFIER.fullmatch(values[0]):
        raise InputError(f"{name} is no identifier; open the study from the platform's own page")
    return values[0]


def way_back(crowd: Crowd, participant: Participant | None, outcome: Outcome) -> dict[str, Any]:
    """Code of an outcome and how to take it to the platform: ``back`` is an address, ``post`` a form; each may be missing."""
    code = crowd.code(outcome)
    if participant is None or not code:
        return {"code": code}
    arrival = participant.arrival
    if crowd.platform == "mturk":
        fields = {"assignmentId": arrival.session, "code": code}
        return {"code": code, "post": {"action": f"{arrival.submit_to}/mturk/externalSubmit", "fields": fields}}
    back = platform_of(crowd).back
    places = {"code": code, "participant": arrival.participant, "session": arrival.session, "study": arrival.study}
    for name, value in places.items():
        back = back.replace(f"{{{name}}}", value)
    return {"code": code, "back": back} if back else {"code": code}


def make_app(
    study: Study,
    folder: Path,
    *,
    journal: Journal,
    took_part: Callable[[Arrival], bool] = lambda _: False,
    public_origin: str | None = None,
    delivery: Delivery = Delivery(),  # noqa: B008 - frozen
    forwarded: Forwarded | None = None,
    bound: str = "127.0.0.1",
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Gate:
    """The whole app of a study.

    Args:
        study: prepared.
        folder: of the study; absolute, since the server runs elsewhere.
        journal: holds answers, raters and admins.
        took_part: tells who took part in a study whose people are not taken here.
        public_origin: ``https://name[:port]`` as browsers see it, where something in front of the server ends TLS.
        delivery: whether browsers come over TLS alone, and which pages may frame the app.
        forwarded: knows the proxies in front; none are believed by default.
        bound: host that the socket is bound to; the server answers to this name.
        limits: how fast and how much anybody may ask.

    Raises:
        InputError: ``public_origin`` is no origin.
    """
    people, participants, crowd = People(journal), Participants(journal), study.file.crowd

    def back(rater_id: str, outcome: Outcome) -> Mapping[str, Any]:
        return {} if crowd is None else way_back(crowd, participants.of(study.study_id, rater_id), outcome)

    desk = Desk(study, journal, name_of=Names(people, study.study_id), way_back=back)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    answer_errors(app)
    app.include_router(session_routes(study, people=people, delivery=delivery))
    if crowd is not None:
        enter = partial(opened, delivery=delivery)
        arrivals = arrival_routes(study, crowd, participants=participants, desk=desk, opened=enter, took_part=took_part)
        app.include_router(arrivals)
    app.include_router(file_routes(study, folder, desk=desk))
    app.include_router(admin_routes(study, folder, desk=desk, journal=journal, people=people))
    _mount(app, admin_page(study, desk=desk, people=people), folder, path="/admin", head=tables.HEAD)
    _mount(app, rater_page(study), folder, path="/", head=routes.HEAD)
    origins = Origins(bound=bound, public=public_origin)
    api = rater_api(desk, erase=partial(participants.erase, study.study_id))
    return Gate(
        app, api=api, people=people, study_id=study.study_id, origins=origins, limits=limits,
        forwarded=forwarded or Forwarded(), delivery=delivery,
    )  # fmt: skip


def rater_page(study: Study) -> gr.Blocks:
    """The player as a component, and one element around it, which the page's own script fills."""
    page: gr.Blocks
    with (
        gr.Blocks(title=study.file.title, analytics_enabled=False, fill_width=True, fill_height=True) as page,
        gr.HTML(
            "",
            html_template=routes.HTML,
            css_template=routes.CSS,
            js_on_load=routes.JS_ON_LOAD,
            apply_default_css=False,
            elem_id="inpaintbench",
        ),
    ):
        ComparisonPlayer(modules=routes.PLAYER_MODULES, keys=False)
    return page


def _mount(app: FastAPI, page: gr.Blocks, folder: Path, *, path: str, head: str) -> None:
    def user(request: Request) -> str | None:
        person = request.state.person
        return person.rater_id if person is not None and (path == "/" or person.is_admin) else None

    gr.mount_gradio_app(
        app,
        page,
        path=path,
        auth_dependency=user,
        ssr_mode=False,
        run_history=False,
        footer_links=[],
        show_error=False,
        allowed_paths=[],
        blocked_paths=[str(folder)],
        enable_monitoring=False,
        mcp_server=False,
        pwa=False,
        max_file_size=1,
        theme=gr.themes.Base(font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]),
        head=head,
    )
