"""Who may enter a study from a platform: invented ids, ids of others, and what a withdrawal leaves."""

from __future__ import annotations

import contextlib
import csv
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from annotated_server import Answer, Served, answer_to, served
from crowds import CODES, write_crowd_study
from fastapi import FastAPI
from program import run_here
from signed_links import Keys, key_server
from starlette.responses import Response
from starlette.testclient import TestClient

from inpaintbench.annotate.app.server import arrival_routes, identifiers
from inpaintbench.annotate.app.signed import KeySet, KeysUnavailable
from inpaintbench.annotate.crowd import Crowd, platform_of
from inpaintbench.annotate.desk.desk import Desk, Refused
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People, Session
from inpaintbench.annotate.journal.participants import Participants
from inpaintbench.errors import InputError

PLACES = 60


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Served]]:
    """A study of 60 places behind a proxy that is trusted, of a platform without signatures."""
    folder = tmp_path_factory.mktemp("entry") / "study"
    write_crowd_study(folder, "https://platform.test", places=PLACES, subjects=40, right=2)
    with served(folder, trusted_proxies=["127.0.0.1"]) as server:
        yield folder, server


def come(server: Served, who: str, session: str, *, address: str = "198.51.100.7", token: str | None = None) -> Answer:
    link = f"/enter?PROLIFIC_PID={who}&STUDY_ID=study1&SESSION_ID={session}"
    return server.ask("GET", link, token=token, X_Forwarded_For=address)


def token_of(answer: Answer) -> str:
    assert answer.status == 303, answer
    return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]


def agree(server: Served, token: str, *, address: str = "198.51.100.7", answer: bool = True) -> Answer:
    return server.post("/api/steps", {"step": "consent", "answer": answer}, token=token, X_Forwarded_For=address)


def finish(server: Served, token: str) -> None:
    work = agree(server, token).json
    while work["status"] == "working":
        work = server.post("/api/answers", answer_to(work["queue"][0]), token=token).json["work"]
    assert work["crowd"]["outcome"] == "completed"


def payments(folder: Path, participant: str) -> dict[str, str]:
    run_here("annotate", "crowd", folder, "--csv", folder / "payments.csv")
    rows = list(csv.DictReader((folder / "payments.csv").read_text().splitlines()))
    (row,) = [row for row in rows if row["participant_id"] == participant]
    return row


def votes(folder: Path) -> int:
    table = folder / "votes.csv"
    table.unlink(missing_ok=True)
    run_here("annotate", "export", folder, "--out", table)
    return len(table.read_text().splitlines()) if table.exists() else 1  # as its header alone


def test_invented_ids_take_no_places_and_few_of_one_network_may_try(hall: tuple[Path, Served]) -> None:
    _, server = hall
    tried = 0
    for number in range(70):
        address = f"203.0.113.{number}"
        answer = agree(server, token_of(come(server, f"invented{number}", f"s{number}", address=address)), address=address)
        tried += answer.status == 200 and answer.json["status"] == "working"
        assert answer.status == 200 or (answer.status, "network" in answer.json["error"]) == (429, True)
    assert tried == 5  # of one /24; they are in their practice, so they have no place
    honest = agree(server, token_of(come(server, "honest", "own"))).json
    assert honest["status"] == "working"


def test_an_id_of_another_is_no_key(hall: tuple[Path, Served]) -> None:
    folder, server = hall
    own = token_of(come(server, "victim", "theirs"))
    finish(server, own)
    before, many = payments(folder, "victim"), votes(folder)
    assert (before["submission_id"], before["decision"], before["code"]) == ("theirs", "pay", CODES["completed"])
    for session in ("mine", "theirs"):
        taken = come(server, "victim", session)
        assert (taken.status, "set-cookie" in taken.headers) == (403, False)
        assert CODES["completed"].encode() not in taken.body
    # With the browser in which they worked they see their end again, whatever else the address says.
    again = token_of(come(server, "victim", "mine", token=own))
    assert server.post("/api/work", {}, token=again).json["crowd"]["code"] == CODES["completed"]
    assert (payments(folder, "victim"), votes(folder)) == (before, many)


def test_a_session_of_the_platform_is_one_persons(hall: tuple[Path, Served]) -> None:
    """The second id that comes with it, or moves to it, is refused, and nothing of the first changes."""
    folder, server = hall
    own = token_of(come(server, "first", "shared"))
    finish(server, own)
    before, many = payments(folder, "first"), votes(folder)
    other = token_of(come(server, "mover", "movers"))
    for refused in (come(server, "twofold", "shared"), come(server, "mover", "shared", token=other)):
        assert (refused.status, "set-cookie" in refused.headers) == (403, False)
        assert b"Somebody else came with this session of the platform" in refused.body
    assert (payments(folder, "first"), payments(folder, "mover")["submission_id"], votes(folder)) == (before, "movers", many)
    assert b"twofold" not in b"".join(path.read_bytes() for path in folder.glob("journal.sqlite*"))


def test_a_session_that_nobody_works_with_is_the_next_ones(hall: tuple[Path, Served]) -> None:
    """Of whoever only looked, did not agree, or stopped; with an invented id nobody shuts out the person whose session it is."""
    folder, server = hall
    for number, steps in enumerate(([], [{"step": "consent", "answer": False}], [{"step": "consent"}, {"step": "leave"}])):
        before = token_of(come(server, f"before{number}", f"handed{number}"))
        for step in steps:
            assert server.post("/api/steps", step, token=before, X_Forwarded_For=f"192.0.2.{number}").status == 200
        own = token_of(come(server, f"after{number}", f"handed{number}"))
        finish(server, own)
        assert come(server, f"before{number}", f"handed{number}", token=before).status == (403 if number == 0 else 303)
        assert payments(folder, f"after{number}")["submission_id"] == f"handed{number}"
        assert come(server, f"third{number}", f"handed{number}").status == 403


def test_networks_are_kept_of_those_alone_who_work(hall: tuple[Path, Served]) -> None:
    folder, server = hall

    def kept() -> set[str]:
        with contextlib.closing(sqlite3.connect(folder / "journal.sqlite")) as journal:
            return {row[0] for row in journal.execute("SELECT participant FROM participants WHERE network IS NOT NULL")}

    before = kept()
    tokens = {who: token_of(come(server, who, f"of-{who}")) for who in ("looks", "declines", "works")}
    assert kept() == before
    agree(server, tokens["declines"], answer=False)
    agree(server, tokens["works"])
    assert kept() == before | {"works"}
    finish(server, tokens["works"])
    assert kept() == before


def test_withdrawing_after_the_end_is_asked_twice_and_keeps_the_payment_alone(hall: tuple[Path, Served]) -> None:
    folder, server = hall
    own = token_of(come(server, "leaver", "leavers"))
    many = votes(folder)
    finish(server, own)
    assert votes(folder) > many
    assert server.post("/api/steps", {"step": "withdraw"}, token=own).status == 409
    assert votes(folder) > many
    end = server.post("/api/steps", {"step": "withdraw", "sure": True}, token=own)
    assert (end.status, end.json["crowd"]["outcome"], end.json["crowd"]["code"]) == (200, "completed", CODES["completed"])
    assert votes(folder) == many
    row = payments(folder, "leaver")
    assert (row["submission_id"], row["decision"], row["code"]) == ("leavers", "pay", CODES["completed"])
    assert come(server, "leaver", "leavers", token=own).status == 403
    run_here("annotate", "withdraw", folder, row["person"], "--paid")
    assert b"leaver" not in b"".join(path.read_bytes() for path in folder.glob("journal.sqlite*"))


# Signed links, and both databases.


@pytest.fixture(scope="module")
def keys() -> Iterator[Keys]:
    """A server of a key set, as the platform has one."""
    with key_server() as made:
        yield made


class Door:
    """``/enter`` and the steps of a study in either database; ``ask`` comes from an address."""

    def __init__(self, journal: Journal, folder: Path, **crowd: Any) -> None:
        self.study = write_crowd_study(folder, "https://platform.test", subjects=40, right=2, **crowd)
        journal.register(self.study.study_id, title="S")
        settings = self.study.file.crowd
        assert settings is not None
        self.participants, people = Participants(journal), People(journal)
        self.desk = Desk(self.study, journal, neighbours=partial(self.participants.neighbours, self.study.study_id))
        self.app = FastAPI()

        def entered(session: Session) -> Response:
            return Response(status_code=204, headers={"rater": session.person.rater_id, "token": session.token})

        self.app.include_router(arrival_routes(
            self.study, settings, participants=self.participants, desk=self.desk, people=people, opened=entered
        ))  # fmt: skip

    def ask(self, query: str, *, address: str = "198.51.100.7", token: str = "") -> Any:
        async def from_there(scope: Any, receive: Any, send: Any) -> None:
            await self.app({**scope, "state": {"client": address}}, receive, send)

        cookies = {"inpaintbench_session": token} if token else {}
        return TestClient(from_there, base_url="https://study.test", cookies=cookies).get(f"/enter?{query}")

    def came(self) -> dict[str, str]:
        return {of.arrival.participant: of.arrival.session for of in self.participants.all(self.study.study_id).values()}


SIGNED = {"platform": "prolific", "signed": True, "study_id": "6" * 24, "link": {}}


def identity(number: int, *, session: int = 0, study: str = "6" * 24) -> dict[str, str]:
    return {"PROLIFIC_PID": f"{number:024x}", "STUDY_ID": study, "SESSION_ID": f"{session or number:024x}"}


def test_invented_ids_take_no_place_of_a_signed_study(journal: Journal, tmp_path: Path, keys: Keys) -> None:
    door = Door(journal, tmp_path / "study", keys=keys.address, **SIGNED)
    for number in range(200):
        assert door.ask(urlencode(identity(number))).status_code == 400
    assert door.came() == {}
    own = identity(7)
    assert door.ask(keys.link(own)).status_code == 204
    assert door.came() == {own["PROLIFIC_PID"]: own["SESSION_ID"]}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"aud": "https://elsewhere.test/enter"}, "another address"),
        ({"exp": time.time() - 3600}, "too old"),
        ({"prolific": identity(8)}, "somebody else"),
        ({"prolific": {**identity(7), "SESSION_ID": "f" * 24}}, "somebody else"),
        ({"prolific": "nothing"}, "somebody else"),
        ({"exp": None}, "not signed by the platform"),
        ({"aud": None}, "not signed by the platform"),
        ({"kid": "unknown"}, "a key that the platform does not name"),
        ({"alg": "none"}, "not signed by the platform"),
        ({"alg": "HS256"}, "not signed by the platform"),
        ({"by": "another key"}, "not signed by the platform"),
    ],
)
def test_what_the_platform_did_not_sign_opens_nothing(tmp_path: Path, keys: Keys, changes: dict[str, Any], why: str) -> None:
    with Journal(tmp_path / "journal.sqlite") as journal:
        door = Door(journal, tmp_path / "study", keys=keys.address, **SIGNED)
        refused = door.ask(keys.link(identity(7), **changes))
        assert (refused.status_code, why in refused.text) == (400, True), refused.text
        other = identity(7, study="5" * 24)
        assert door.ask(keys.link(other)).status_code == 403  # signed, for another study
        assert door.came() == {}
        for audience in ("https://study.test/enter?PROLIFIC_PID=x", "study.test", ["other.test", "https://study.test"]):
            assert door.ask(keys.link(identity(7), aud=audience)).status_code == 204


def test_a_signed_person_comes_back_with_another_session_until_the_end(journal: Journal, tmp_path: Path, keys: Keys) -> None:
    door = Door(journal, tmp_path / "study", keys=keys.address, **SIGNED, training=0, test=0)
    came = door.ask(keys.link(identity(7)))
    rater_id, token = came.headers["rater"], came.headers["token"]
    assert door.ask(keys.link(identity(7, session=70))).headers["rater"] == rater_id
    assert door.came() == {f"{7:024x}": f"{70:024x}"}
    door.desk.step(rater_id, {"step": "consent"})
    door.desk.step(rater_id, {"step": "leave"})
    for session in (70, 71):  # whoever has the whole link has not the browser
        refused = door.ask(keys.link(identity(7, session=session)))
        assert (refused.status_code, "go on in the browser in which you began" in refused.text) == (403, True)
        assert door.ask(keys.link(identity(7, session=session)), token=token).headers["rater"] == rater_id
    assert door.came() == {f"{7:024x}": f"{70:024x}"}


def test_an_id_alone_opens_nothing_and_few_of_a_network_are_at_work(journal: Journal, tmp_path: Path) -> None:
    door = Door(journal, tmp_path / "study", places=60, training=0, test=0)
    own = door.ask("PROLIFIC_PID=ann&SESSION_ID=one")
    for query in ("PROLIFIC_PID=ann&SESSION_ID=two", "PROLIFIC_PID=ann"):
        assert door.ask(query).status_code == 403
    assert door.ask("PROLIFIC_PID=ann&SESSION_ID=one").headers["rater"] == own.headers["rater"]
    assert door.came() == {"ann": "one"}
    assert door.ask("PROLIFIC_PID=ann&SESSION_ID=two", token=own.headers["token"]).status_code == 204
    assert door.came() == {"ann": "two"}
    at_work = Counter[str]()
    for number in range(12):
        for network in ("203.0.113", "2001:db8:1:2:"):
            address = f"{network}{'.' if '.' in network else ':'}{number}"
            who = door.ask(f"PROLIFIC_PID=p{network[0]}{number}&SESSION_ID=s{network[0]}{number}", address=address).headers[
                "rater"
            ]
            with contextlib.suppress(Refused):
                door.participants.works_from(door.study.study_id, who, network)
                at_work[network] += door.desk.step(who, {"step": "consent"})["status"] == "working"
    assert at_work == {"203.0.113": 5, "2001:db8:1:2:": 5}
    door.participants.forget_networks(door.study.study_id, besides=lambda: door.desk.at_work() - {who})
    assert door.participants.neighbours(door.study.study_id, who) is None
    with pytest.raises(Refused, match="Many people of your network"):  # nobody can tell from where they come
        door.desk.step(who, {"step": "consent"})


def test_a_link_without_sessions_is_known_by_the_browser_alone(tmp_path: Path) -> None:
    link = {"participant": "PROLIFIC_PID", "back": ""}
    with Journal(tmp_path / "journal.sqlite") as journal:
        door = Door(journal, tmp_path / "study", link=link)
        own = door.ask("PROLIFIC_PID=ann")
        assert door.ask("PROLIFIC_PID=ann").status_code == 403
        assert door.ask("PROLIFIC_PID=ann", token=own.headers["token"]).headers["rater"] == own.headers["rater"]


def test_keys_are_kept_renewed_and_asked_for_seldom(keys: Keys, tmp_path: Path) -> None:
    now = [0.0]
    known = KeySet(keys.address, clock=lambda: now[0])
    before = keys.asked
    for _ in range(50):
        known.key("one")
    for number in range(50):
        with pytest.raises(InputError, match="does not name"):
            known.key(f"invented {number}")
    assert keys.asked - before == 1
    now[0] = 61
    with pytest.raises(InputError):
        known.key("invented")
    now[0] += 86_401
    known.key("one")
    assert keys.asked - before == 3
    known._source = "http://127.0.0.1:9/nobody"
    now[0] += 86_401
    known.key("one")  # what is known goes on being used
    file = tmp_path / "keys.json"
    with pytest.raises(KeysUnavailable):
        KeySet(str(file)).key("one")
    file.write_text(keys.text)
    KeySet(str(file)).key("one")


@pytest.mark.parametrize(
    ("platform", "query", "good"),
    [
        ("prolific", "PROLIFIC_PID=5f0e8b7c2d1a4e6f9b3c7d21", True),
        ("prolific", "PROLIFIC_PID=test", False),
        ("prolific", "PROLIFIC_PID=5f0e8b7c2d1a4e6f9b3c7d21&SESSION_ID=x", False),
        ("connect", "participantId=A1B2", True),
    ],
)
def test_ids_have_the_form_of_their_platform(platform: Any, query: str, good: bool) -> None:
    known = platform_of(Crowd(platform=platform))
    if good:
        assert identifiers(query, known)
    else:
        with pytest.raises(InputError, match="is no identifier"):
            identifiers(query, known)


def test_signed_links_need_the_id_of_the_study_and_prolific() -> None:
    for fields in ({"signed": True}, {"signed": True, "study_id": "6" * 24, "platform": "mturk"}):
        with pytest.raises(ValueError, match="signed links are those of Prolific, and need study_id"):
            Crowd(**fields)
