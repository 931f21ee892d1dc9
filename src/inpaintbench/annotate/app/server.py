"""The app: its own routes, Gradio's pages behind them, the gate in front of everything, and uvicorn as it runs them."""

from __future__ import annotations

import asyncio
import resource
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import gradio as gr
import uvicorn
from fastapi import APIRouter, FastAPI, Request
from starlette.responses import Response

from inpaintbench.annotate import crowd as crowds
from inpaintbench.annotate.app import routes, tables
from inpaintbench.annotate.app.admin import admin_page, admin_routes
from inpaintbench.annotate.app.allowed import Buckets, Delivery, Forwarded, Limits, Origins, Rate, network_of
from inpaintbench.annotate.app.connections import IDLE_SECONDS, MOST_CONNECTIONS, protocol
from inpaintbench.annotate.app.editing import editing_routes
from inpaintbench.annotate.app.routes import (
    answer_errors,
    file_routes,
    opened,
    rater_api,
    refusal,
    sentence_page,
    session_routes,
    token_of,
)
from inpaintbench.annotate.app.security import Gate
from inpaintbench.annotate.app.signed import TOKEN, KeySet, KeysUnavailable, check
from inpaintbench.annotate.desk.desk import Desk, Refused
from inpaintbench.annotate.journal.accounts import Names, People
from inpaintbench.annotate.journal.participants import Arrival, Closed, Participant, Participants, Taken, Unproven
from inpaintbench.annotate.media import where_of
from inpaintbench.annotate.player import ComparisonPlayer
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.journal.accounts import Session
    from inpaintbench.annotate.languages import Speech
    from inpaintbench.annotate.study import Study


# Strangers whom a platform sends: the one open address, and the way back with a completion code.
#
# ``GET /enter?...`` is the only address whose query is read. It answers with a redirect, so that identifiers stay neither in
# the address bar nor in a referrer.

# Of all strangers together: each arrival is a transaction.
_ARRIVALS = Rate(50, 200)
_PREVIEW = "Accept the task to begin."
_TAKEN = (
    "somebody else came with this session of the platform before; open the study from the platform's own page, or write to "
    "whoever runs the study"
)
_TOOK_PART = (
    "you took part in another study of ours, and this one needs people who have not; nothing is stored of you. Please return "
    "your place where you found the study"
)
_HELD = (
    "this study is paused for a while, and nothing is stored of you; come again with the same link later, or return your place "
    "where you found the study"
)
_UNPROVEN = (
    "somebody came with this id before; go on in the browser in which you began, where your code is too, or write to whoever "
    "runs the study"
)
# Bits of an IPv4 address that people of one network share, such as those of a house or a company.
_IPV4_BITS = 24
# Parameters of an address; platforms send three or four.
_MOST_PARAMETERS = 16


def arrival_routes(
    study: Study, crowd: crowds.Crowd, *, participants: Participants, desk: Desk, people: People,
    opened: Callable[[Session], Response], took_part: Callable[[Arrival], bool] = lambda _: False,
) -> APIRouter:  # fmt: skip
    """``GET /enter``.

    Args:
        study: whose strangers come.
        crowd: what the study says of them.
        participants: who has come.
        desk: told of arrivals.
        people: know whose session a browser has.
        opened: makes the answer that carries a session.
        took_part: tells who took part in a study whose people are not taken here.
    """
    router, platform = APIRouter(), crowds.platform_of(crowd)
    everybody, keys = Buckets(_ARRIVALS), KeySet(crowd.keys)

    @router.get("/enter")
    def enter(request: Request) -> Response:
        def no(status: int, sentence: str) -> Response:
            return refusal(status, sentence, as_page=True)

        try:
            given = identifiers(request.url.query, platform, mturk=crowd.platform == "mturk")
            if given is None:
                return sentence_page(study.file.title, desk.study.file.welcome or _PREVIEW)
            if crowd.signed:
                check_link(request, given, platform, keys)
            if crowd.study_id and given.get("study") != crowd.study_id:
                return no(403, "this link is of another study of the platform")
            if everybody.wait_seconds("", now=time.monotonic()):  # after that: invented ids keep nobody out
                return no(429, "too many people come at once; reload this page in a moment")
            arrival = Arrival(crowd.platform, **given)
            rater_id = participants.rater_of(study.study_id, arrival)
            if rater_id is None and desk.paused():
                return no(503, _HELD)
            if rater_id is None and took_part(arrival):
                return no(403, _TOOK_PART)
            token = token_of(request.headers)
            person = people.who(token, at=time.time()) if token is not None else None
            session = participants.arrive(
                study.study_id, arrival, at=time.time(), signed=crowd.signed,
                browser_of=person.rater_id if person is not None and person.study_id == study.study_id else "",
                over=bool(rater_id) and desk.is_over(str(rater_id)),
                holds=lambda other: desk.is_owed(other) or other in desk.at_work(),
            )  # fmt: skip
        except InputError as error:
            return no(400, str(error))
        except KeysUnavailable as error:
            return no(503, str(error))
        except Closed:
            return no(403, "this study is closed and takes nobody any more")
        except Unproven:
            return no(403, _UNPROVEN)
        except Taken:
            return no(403, _TAKEN)
        if session is None:
            return no(403, "you have withdrawn from this study")
        desk.arrive(session.person.rater_id)
        return opened(session)

    return router


def check_link(request: Request, given: Mapping[str, str], platform: crowds.Platform, keys: KeySet) -> None:
    """Check that the platform signed the identifiers of an address, for this server.

    Raises:
        InputError: it did not.
        KeysUnavailable: its keys cannot be had now.
    """
    names = {"participant": platform.participant, "session": platform.session, "study": platform.study}
    said = {names[field]: value for field, value in given.items()}
    tokens = [value for name, value in parse_qsl(request.url.query) if name == TOKEN]
    check("".join(tokens), said, keys, origin=f"{request.url.scheme}://{request.url.netloc}")


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
        form = platform.person if field == "participant" else platform.other
        if values and not form.fullmatch(values[0]):
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
    knows_networks: bool = True,
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
        knows_networks: the addresses of clients are theirs, and not those of a proxy.

    Raises:
        InputError: ``public_origin`` is no origin.
    """
    people, participants, crowd = People(journal), Participants(journal), study.file.crowd

    def back(rater_id: str, outcome: crowds.Outcome) -> Mapping[str, Any]:
        return {} if crowd is None else way_back(crowd, participants.of(study.study_id, rater_id), outcome)

    def ended(rater_id: str, withdrew: bool) -> None:
        if withdrew:
            participants.erase(study.study_id, rater_id, keep_payment=desk.is_owed(rater_id))
        with one_agrees:
            participants.forget_networks(study.study_id, besides=desk.at_work)

    @contextmanager
    def agreeing(rater_id: str, client: str) -> Iterator[None]:
        with one_agrees:
            try:
                participants.works_from(study.study_id, rater_id, network_of(client, ipv4_bits=_IPV4_BITS))
                yield
            except Closed as error:
                raise Refused(403, "This study is closed and takes nobody any more.") from error
            finally:
                participants.forget_networks(study.study_id, besides=desk.at_work)

    limited = crowd is not None and not crowd.signed and crowd.places_a_network > 0 and knows_networks
    neighbours = partial(participants.neighbours, study.study_id) if limited else lambda _rater_id: frozenset[str]()
    names, one_agrees = Names(people, study.study_id), threading.Lock()
    desk = Desk(study, journal, name_of=names, way_back=back, neighbours=neighbours)
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    answer_errors(app)
    app.include_router(session_routes(study, people=people, delivery=delivery))
    if crowd is not None:
        enter = partial(opened, delivery=delivery)
        arrivals = arrival_routes(
            study, crowd, participants=participants, desk=desk, people=people, opened=enter, took_part=took_part
        )  # fmt: skip
        app.include_router(arrivals)
    app.include_router(file_routes(study, folder, desk=desk, where=where_of(study)))
    app.include_router(admin_routes(study, folder, desk=desk, journal=journal, people=people))
    app.include_router(editing_routes(desk=desk, people=people))
    _mount(app, admin_page(study, desk=desk, people=people), folder, path="/admin", head=tables.HEAD)
    _mount(app, rater_page(study), folder, path="/", head=routes.HEAD)
    origins = Origins(bound=bound, public=public_origin)

    def spoken() -> dict[str, Speech]:
        """Languages that have every text of the study as it is now."""
        return {name: speech for name, speech in desk.study.spoken.items() if name in study.spoken}

    api = rater_api(desk, ended=ended, agreeing=agreeing if limited else lambda *_: nullcontext())
    return Gate(
        app, api=api, people=people, study_id=study.study_id, origins=origins, limits=limits,
        forwarded=forwarded or Forwarded(), delivery=delivery, spoken=spoken,
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


_HOUR = 3600.0


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
    # Nothing is queued here, and Gradio would look a thousand times a second whether anything is.
    page._queue.sleep_when_free = page._queue.progress_update_sleep_when_free = _HOUR


# Bytes of all headers of a request; browsers send about 1,000 here.
HEADER_BYTES = 16_384


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
    is_proxy: Callable[[str], bool] = lambda _: False,
) -> None:  # fmt: skip
    """Serve ``app`` until SIGINT or SIGTERM.

    Args:
        app: what is served.
        listening: a bound socket.
        tls: certificate chain and key, PEM; checked before.
        head_seconds: for the head of a request to arrive.
        started: called once, when the server answers.
        is_proxy: tells whether an address is that of a proxy in front.
    """
    # Files that browsers load are open too, and 1,024 is what systems give.
    most, hardest = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * MOST_CONNECTIONS if hardest == resource.RLIM_INFINITY else min(hardest, 4 * MOST_CONNECTIONS)
    if 0 <= most < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hardest))
    config = uvicorn.Config(
        app,
        http=protocol(head_seconds=head_seconds, is_proxy=is_proxy),
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
