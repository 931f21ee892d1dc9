"""Admins are told which method is which when the study has its answers, or when they may see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from annotated_server import Served, answer_to, served
from studies_made import write_study

from inpaintbench.annotate.app.tables import View
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.study import Study

METHODS = ("navier_stokes", "propainter")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Study, Path, Served, dict[str, str]]]:
    """A study of two methods with a rater, an admin, and an admin who may see the names; their tokens by name."""
    folder = tmp_path_factory.mktemp("blinding") / "study"
    made = write_study(folder, [{"leaf": "pairwise", "raters_per_task": 1}], subjects=3, methods=METHODS, still=True)
    with Journal(folder / "journal.sqlite") as journal:
        journal.register(made.study_id, title=made.file.title)
        people = People(journal)
        roles = {"ada": "rater", "boss": "admin", "chief": "unblinded"}
        added = {name: people.add(made.study_id, name, role=role).rater_id for name, role in roles.items()}
        with served(folder) as server:
            yield made, folder, server, {name: server.enter(people.invite(made.study_id, of)) for name, of in added.items()}


def told(server: Served, token: str, submission_id: str) -> str:
    """Everything that an admin is sent: the results, the download, and what each event of the page gives."""
    pages = [server.ask("GET", path, token=token).body for path in ("/admin/", "/admin/results", "/admin/judgements.csv")]
    for number in range(24):  # more than there are
        for data in ([], [submission_id], ["", ""]):
            call = {"fn_index": number, "data": data, "session_hash": "abc"}
            pages.append(server.post("/admin/gradio_api/run/predict", call, token=token).body)
    return b"\n".join(pages).decode()


def answer(server: Served, token: str) -> str:
    """Submission id of an answer."""
    card = server.post("/api/work", {}, token=token).json["queue"][0]
    sent = answer_to(card, given={"better": "place-0"})
    assert server.post("/api/answers", sent, token=token).status == 200
    return str(sent["submission_id"])


def test_names_of_methods_are_told_at_the_end_or_to_those_who_may_see_them(
    world: tuple[Study, Path, Served, dict[str, str]],
) -> None:
    study, folder, server, tokens = world
    submission_id = answer(server, tokens["ada"])
    blind, seeing = (told(server, tokens[name], submission_id) for name in ("boss", "chief"))
    assert not any(name in blind for name in METHODS)
    assert re.search("method [AB]", blind)
    assert "Until then methods are called by letters." in blind
    assert "Until then methods" not in seeing
    assert all(name in seeing for name in METHODS)
    while server.post("/api/work", {}, token=tokens["ada"]).json["queue"]:
        answer(server, tokens["ada"])
    with Journal(folder / "journal.sqlite") as journal:
        assert Desk(study, journal).done()
    ended = told(server, tokens["boss"], submission_id)
    assert all(name in ended for name in METHODS)


def test_both_kinds_of_admins_watch_and_do_not_answer(world: tuple[Study, Path, Served, dict[str, str]]) -> None:
    _, _, server, tokens = world
    for name in ("boss", "chief"):
        assert server.post("/api/work", {}, token=tokens[name]).status == 403
        assert server.ask("GET", "/", token=tokens[name]).status == 303
        assert server.ask("GET", "/admin/", token=tokens[name]).status == 200
    assert server.ask("GET", "/admin/", token=tokens["ada"]).status == 403


def test_letters_are_the_same_in_tasks_answers_pictures_and_the_overview(
    world: tuple[Study, Path, Served, dict[str, str]],
) -> None:
    study, folder, server, tokens = world
    if server.post("/api/work", {}, token=tokens["ada"]).json["queue"]:  # the tests before answered all there is
        answer(server, tokens["ada"])
    blind, plain = View(study, letters=True), View(study, letters=False)
    called = {"method A", "method B"}
    assert {name for task in blind.study.tasks for name in task.candidates} == called
    assert {tile.candidate for proxy in blind.study.proxies.values() for tile in proxy.tiles if tile.candidate} <= called
    with Journal(folder / "journal.sqlite") as journal:
        desk = Desk(study, journal)
        votes, seen = desk.all_answers().votes, blind.standing(desk.all_answers()).votes
        overview = blind.overview(desk.overview())
    letter_of = {
        name: letter for vote, of in zip(votes, seen, strict=True) for name, letter in zip(vote.shown, of.shown, strict=True)
    }
    assert set(letter_of) == set(METHODS)
    assert set(letter_of.values()) == called
    assert [letter_of.get(vote.choice, vote.choice) for vote in votes] == [of.choice for of in seen]
    assert {name for row in overview["raters"] for name in row["first_places"]} <= called
    assert plain.study is study
    assert plain.vote(votes[0]) is votes[0]
