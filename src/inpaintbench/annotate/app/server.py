"""The app: its own routes, Gradio's pages behind them, the gate in front of everything, and uvicorn as it runs them."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import gradio as gr
import h11
import uvicorn
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from inpaintbench.annotate import crowd as crowds
from inpaintbench.annotate.app import routes, tables
from inpaintbench.annotate.app.admin import admin_page, admin_routes
from inpaintbench.annotate.app.allowed import Buckets, Delivery, Forwarded, Limits, Origins, Rate, network_of
from inpaintbench.annotate.app.routes import answer_errors, file_routes, opened, rater_api, refusal, sentence_page, session_routes
from inpaintbench.annotate.app.security import Gate
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal.accounts import Names, People
from inpaintbench.annotate.journal.participants import Arrival, Closed, Participant, Participants
from inpaintbench.annotate.player import ComparisonPlayer
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import Session
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
    study: Study, crowd: crowds.Crowd, *, participants: Participants, desk: Desk, opened: Callable[[Session], Response],
    took_part: Callable[[Arrival], bool] = lambda _: False,
) -> APIRouter:  # fmt: skip
    """``GET /enter``.

    Args:
        study: whose strangers come.
        crowd: what the study says of them.
        participants: who has come.
        desk: told of arrivals.
        opened: makes the answer that carries a session.
        took_part: tells who took part in a study whose people are not taken here.
    """
    router, platform = APIRouter(), crowds.platform_of(crowd)
    everybody = Buckets(_ARRIVALS)

    @router.get("/enter")
    def enter(request: Request) -> Response:
        def no(status: int, sentence: str) -> Response:
            return refusal(status, sentence, as_page=True)

        if everybody.wait_seconds("", now=time.monotonic()):
            return no(429, "too many people come at once; reload this page in a moment")
        try:
            given = identifiers(request.url.query, platform, mturk=crowd.platform == "mturk")
            if given is None:
                return sentence_page(study.file.title, study.file.welcome or "Accept the task to begin.")
            arrival = Arrival(crowd.platform, **given)
            if not participants.has_come(study.study_id, arrival) and took_part(arrival):
                return no(403, _TOOK_PART)
            session = participants.arrive(study.study_id, arrival, at=time.time())
        except InputError as error:
            return no(400, str(error))
        except Closed:
            return no(403, "this study is closed and takes nobody any more")
        if session is None:
            return no(403, "you have withdrawn from this study")
        desk.arrive(session.person.rater_id)
        return opened(session)

    return router


def identifiers(query: str, platform: crowds.Platform, *, mturk: bool = False) -> dict[str, str] | None:
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
    if mturk and said.get("assignmentId") == [crowds.MTURK_PREVIEW]:
        return None
    found: dict[str, str] = {}
    for field, name in (("participant", platform.participant), ("session", platform.session), ("study", platform.study)):
        values = said.get(name, []) if name else []
        if len(values) > 1 or (not values and field == "participant"):
            times = "is missing" if not values else "is there more than once"
            raise InputError(f"{name} {times} in this address; open the study from the platform's own page")
        if values and crowds.PLACEHOLDER.match(values[0]):
            raise InputError(f"{name} was not filled in by the platform; whoever runs the study must mend its address there")
        if values and not crowds.IDENTIFIER.fullmatch(values[0]):
            raise InputError(f"{name} is no identifier; open the study from the platform's own page")
        found |= {field: "".join(values)} if name else {}
    if mturk:
        hosts = said.get("turkSubmitTo", [])
        if len(hosts) != 1 or hosts[0].rstrip("/") not in crowds.MTURK_HOSTS:
            raise InputError("this address does not come from the platform: turkSubmitTo is no address of it")
        found["submit_to"] = hosts[0].rstrip("/")
    return found


def way_back(crowd: crowds.Crowd, participant: Participant | None, outcome: crowds.Outcome) -> dict[str, Any]:
    """Code of an outcome and how to take it to the platform: ``back`` is an address, ``post`` a form; each may be missing."""
    code = crowd.code(outcome)
    if participant is None or not code:
        return {"code": code}
    arrival = participant.arrival
    if crowd.platform == "mturk":
        fields = {"assignmentId": arrival.session, "code": code}
        return {"code": code, "post": {"action": f"{arrival.submit_to}/mturk/externalSubmit", "fields": fields}}
    back = crowds.platform_of(crowd).back
    for name, value in (
        ("code", code),
        ("participant", arrival.participant),
        ("session", arrival.session),
        ("study", arrival.study),
    ):
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

    def back(rater_id: str, outcome: crowds.Outcome) -> Mapping[str, Any]:
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


# Bytes of all headers of a request; browsers send about 1,000 here.
HEADER_BYTES = 16_384
# Connections at once; beyond them requests are answered with 503, so that memory stays bounded.
MOST_CONNECTIONS = 1_000
# A rater looks at a clip for longer than uvicorn's own 5 s, and a new connection costs the answer's latency.
IDLE_SECONDS = 75
# Connections of one client network whose head is still on its way, once they are older than `GRACE_SECONDS`; beyond it the
# oldest goes. Browsers send theirs at once.
MOST_WAITING = 32
GRACE_SECONDS = 1.0


class Waiting:
    """Connections whose head has not arrived, by client network, the oldest first. For one thread."""

    def __init__(self) -> None:
        self._since: defaultdict[str, OrderedDict[_Protocol, float]] = defaultdict(OrderedDict)

    def add(self, connection: _Protocol, network: str) -> None:
        """One more; where these are too many the oldest are closed, once their time of grace is over."""
        mine = self._since[network]
        mine[connection] = time.monotonic()
        if len(mine) > MOST_WAITING:
            connection.loop.call_later(GRACE_SECONDS, self._thin, network)

    def _thin(self, network: str) -> None:
        mine: Mapping[_Protocol, float] = self._since.get(network, {})
        latest = time.monotonic() - GRACE_SECONDS
        late = [one for one, since in mine.items() if since <= latest]
        for one in late[: max(0, len(mine) - MOST_WAITING)]:
            one.close_unheard()

    def remove(self, connection: _Protocol, network: str) -> None:
        """Its head is there, or it is gone."""
        mine = self._since.get(network)
        if mine is not None:
            mine.pop(connection, None)
            if not mine:
                del self._since[network]


class _Protocol(H11Protocol):
    """uvicorn's protocol with a time limit for heads. Without, a thousand half-sent ones keep everybody out."""

    waiting: Waiting
    head_seconds: float

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._deadline: asyncio.TimerHandle | None = None
        self._network = ""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._network = network_of(self.client[0]) if self.client else ""
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.trailing_data[0]:  # the next head has begun already
            self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        self._heard()
        super().connection_lost(exc)

    def close_unheard(self) -> None:
        """End a connection that has asked for nothing."""
        self._heard()
        self.transport.abort()

    def _look(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self._wait()
        else:
            self._heard()

    def _wait(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_seconds, self.close_unheard)
            self.waiting.add(self, self._network)

    def _heard(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
            self.waiting.remove(self, self._network)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, *, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._tell_started = started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._tell_started()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on SIGINT and SIGTERM. uvicorn raises them again at the end, which would leave temporary files behind."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, old in before.items():
                signal.signal(number, old)


def run(
    app: Gate, listening: socket.socket, *, tls: tuple[Path, Path] | None, head_seconds: float, started: Callable[[], None],
) -> None:  # fmt: skip
    """Serve ``app`` until SIGINT or SIGTERM.

    Args:
        app: what is served.
        listening: a bound socket.
        tls: certificate chain and key, PEM; checked before.
        head_seconds: for the head of a request to arrive.
        started: called once, when the server answers.
    """
    config = uvicorn.Config(
        app,
        http=type("Protocol", (_Protocol,), {"waiting": Waiting(), "head_seconds": head_seconds}),
        ws="none",
        loop="asyncio",
        lifespan="on",
        log_level="warning",
        access_log=False,  # invitation links are secrets
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=HEADER_BYTES,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=1,
        ssl_certfile=None if tls is None else str(tls[0]),
        ssl_keyfile=None if tls is None else str(tls[1]),
    )
    asyncio.run(_Server(config, started=started).serve(sockets=[listening]))
