"""The app: its own routes, Gradio's pages behind them, and the gate in front of everything."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gradio as gr
from fastapi import FastAPI, Request

from inpaintbench.annotate.app import pages, tables
from inpaintbench.annotate.app.admin import admin_page, admin_routes
from inpaintbench.annotate.app.allowed import Origins
from inpaintbench.annotate.app.arrivals import arrival_routes, way_back
from inpaintbench.annotate.app.forwarded import Forwarded
from inpaintbench.annotate.app.headers import Delivery
from inpaintbench.annotate.app.limits import Limits
from inpaintbench.annotate.app.routes import answer_errors, file_routes, rater_api
from inpaintbench.annotate.app.security import Gate
from inpaintbench.annotate.app.sessions import opened, session_routes
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal.accounts import Names, People
from inpaintbench.annotate.journal.participants import Arrival, Participants
from inpaintbench.annotate.player import ComparisonPlayer

if TYPE_CHECKING:
    from inpaintbench.annotate.crowd import Outcome
    from inpaintbench.annotate.journal import Journal
    from inpaintbench.annotate.study import Study


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
    _mount(app, rater_page(study), folder, path="/", head=pages.HEAD)
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
            html_template=pages.HTML,
            css_template=pages.CSS,
            js_on_load=pages.JS_ON_LOAD,
            apply_default_css=False,
            elem_id="inpaintbench",
        ),
    ):
        ComparisonPlayer(modules=pages.PLAYER_MODULES, keys=False)
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
