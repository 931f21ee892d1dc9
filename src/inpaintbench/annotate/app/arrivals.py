"""Strangers whom a platform sends: the one open address, and the way back with a completion code.

``GET /enter?...`` is the only address whose query is read. It answers with a redirect, so that identifiers stay neither in the
address bar nor in a referrer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from fastapi import APIRouter, Request
from starlette.responses import Response

from inpaintbench.annotate.app.limits import Buckets, Rate
from inpaintbench.annotate.app.pages import refusal, sentence_page
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
from inpaintbench.annotate.journal.participants import Arrival, Closed, Participant
from inpaintbench.errors import InputError

if TYPE_CHECKING:
    from inpaintbench.annotate.desk.desk import Desk
    from inpaintbench.annotate.journal.accounts import Session
    from inpaintbench.annotate.journal.participants import Participants
    from inpaintbench.annotate.study import Study

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
