"""Who took part in another study of ours is not taken, and whoever is here already stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from crowds import write_crowd_study
from fastapi import FastAPI
from starlette.testclient import TestClient

from inpaintbench.annotate.app.serve import _took_part
from inpaintbench.annotate.app.server import arrival_routes
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People, Session
from inpaintbench.annotate.journal.engines import note, place
from inpaintbench.annotate.journal.participants import Arrival, Participants
from inpaintbench.annotate.study import Study, parse_study
from inpaintbench.errors import InputError

LINK = "/enter?PROLIFIC_PID={0}&SESSION_ID=s{0}&STUDY_ID=t"


class World:
    """Study ``new``, which excludes the people of study ``old``; nobody is asked anything."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.old = write_crowd_study(folder / "old", "http://x", test=0)
        self.new = write_crowd_study(folder / "new", "http://x", test=0, subjects=21, exclude_studies=[str(folder / "old")])
        self.old_journal, self.new_journal = (Journal(folder / name / "journal.sqlite") for name in ("old", "new"))
        for journal, study in ((self.old_journal, self.old), (self.new_journal, self.new)):
            journal.register(study.study_id, title="S")

    def come_to_old(self, who: str, *, agree: bool) -> str:
        session = Participants(self.old_journal).arrive(self.old.study_id, Arrival("link", who), at=1.0)
        assert session is not None
        desk = Desk(self.old, self.old_journal)
        desk.arrive(session.person.rater_id)
        desk.step(session.person.rater_id, {"step": "consent", "answer": agree})
        return session.person.rater_id

    def status(self, who: str, *, study: Study | None = None) -> tuple[int, str]:
        asked = study or self.new
        crowd = asked.file.crowd
        assert crowd is not None

        def opened(_session: Session) -> object:
            from starlette.responses import Response

            return Response(status_code=204)

        with _took_part(asked, self.new_journal, place(None, self.folder / "new")) as took_part:
            app = FastAPI()
            people = Participants(self.new_journal)
            desk = Desk(asked, self.new_journal)
            routes = arrival_routes(
                asked, crowd, participants=people, desk=desk, people=People(self.new_journal), opened=opened, took_part=took_part  # type: ignore[arg-type]
            )  # fmt: skip
            app.include_router(routes)
            answer = TestClient(app).get(LINK.format(who))
        return answer.status_code, answer.text


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made = World(tmp_path)
    yield made
    made.old_journal.close()
    made.new_journal.close()


def test_who_agreed_elsewhere_is_refused_and_leaves_no_trace(world: World) -> None:
    world.come_to_old("ann", agree=True)
    world.come_to_old("ben", agree=False)
    status, text = world.status("ann")
    assert status == 403
    assert "You took part in another study of ours" in text
    assert Participants(world.new_journal).all(world.new.study_id) == {}
    assert not world.new_journal.events(world.new.study_id)
    assert world.status("ben")[0] == world.status("cleo")[0] == 204


def test_who_withdrew_there_took_part_and_who_is_here_stays(world: World) -> None:
    assert world.status("dan")[0] == 204
    rater = world.come_to_old("dan", agree=True)
    assert world.status("dan")[0] == 204  # began here before
    other = world.come_to_old("eve", agree=True)
    people = Participants(world.old_journal)
    people.erase(world.old.study_id, other)
    people.erase(world.old.study_id, rater)
    assert world.status("eve")[0] == 403


def test_studies_in_one_journal_know_each_other_too(world: World) -> None:
    note(world.folder / "old", place(world.folder / "new" / "journal.sqlite", world.folder))
    world.new_journal.register(world.old.study_id, title="S")
    world.old_journal.close()
    world.old_journal = Journal(world.folder / "new" / "journal.sqlite")
    world.come_to_old("ann", agree=True)
    assert world.status("ann")[0] == 403


def test_a_closed_study_can_exclude_nobody_and_says_so_at_the_start(world: World) -> None:
    world.come_to_old("ann", agree=True)
    Participants(world.old_journal).forget(world.old.study_id)
    with pytest.raises(InputError, match="which was closed: nobody can tell any more who took part"):
        world.status("ann")


def test_an_excluded_study_must_be_prepared(tmp_path: Path) -> None:
    (tmp_path / "consent.md").write_text("We store your answers.", encoding="utf-16")
    fields = {
        "title": "T", "subjects": {"workspace": "W"}, "questions": [{"leaf": "keep_reject"}],
        "crowd": {"consent": "consent.md", "exclude_studies": ["old"]},
    }  # fmt: skip
    with pytest.raises(InputError, match=r"crowd.exclude_studies names '.*old', which is no prepared study \(no study.json\)"):
        parse_study(fields, where="study.toml", folder=tmp_path)
    write_crowd_study(tmp_path / "old", "http://x", test=0)
    file = parse_study(fields, where="study.toml", folder=tmp_path)
    assert file.crowd is not None
    assert file.crowd.consent_text == "We store your answers."
    assert file.crowd.exclude_studies == (str(tmp_path / "old"),)
