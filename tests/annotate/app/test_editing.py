"""A study that is changed while people work: by HTTP over both databases, in Chromium, and through a killed server."""

from __future__ import annotations

import csv
import io
import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from annotated_server import EVIL, Answer, Served, answer_to, served
from crowds import platform, write_crowd_study
from studies_made import write_study

from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import People
from inpaintbench.annotate.study import Study

LABEL = "keep_reject"
ASKED = [{"leaf": LABEL, "must_watch": False}]


@dataclass
class Hall:
    """A served study, its journal, and tokens by name."""

    study: Study
    folder: Path
    url: str
    server: Served
    tokens: dict[str, str]

    def change(
        self, what: str, value: str | list[str], *, of: str = "", by: str = "boss", seen: int | None = None, **headers: str
    ) -> Answer:
        """Send the form of one thing, as it was drawn after ``seen`` changes: after all by default."""
        seen = self.seen(by) if seen is None else seen
        fields = {"what": what, "of": of, "seen": seen, "value": value}
        origin = {"Origin": f"http://127.0.0.1:{self.server.port}"}
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode(fields, doseq=True).encode()
        return self.server.ask("POST", "/admin/edit", token=self.tokens[by], body=body, **kind | origin | headers)

    def newcomer(self) -> str:
        """Name of a rater who has just entered."""
        name = f"rater {len(self.tokens)}"
        with Journal(self.url) as journal:
            people = People(journal)
            secret = people.invite(self.study.study_id, people.add(self.study.study_id, name).rater_id)
        self.tokens[name] = self.server.enter(secret)
        return name

    def seen(self, by: str) -> int:
        return int(re.findall(r'name="seen" value="(\d+)"', self.page(by))[0])

    def page(self, by: str = "boss", query: str = "") -> str:
        answer = self.server.ask("GET", f"/admin/edit{query}", token=self.tokens[by])
        assert answer.status == 200
        return unescape(answer.body.decode())

    def work(self, who: str) -> dict[str, Any]:
        found: dict[str, Any] = self.server.post("/api/work", {}, token=self.tokens[who]).json
        return found

    def answer(self, who: str, card: dict[str, Any], **changes: Any) -> Answer:
        sent = {**answer_to(card), "revision": card["revision"], **changes}
        return self.server.post("/api/answers", sent, token=self.tokens[who])

    def stored(self) -> list[dict[str, Any]]:
        with Journal(self.url) as journal:
            return [{"at": event.at, **event.body} for event in journal.events(self.study.study_id, kinds=("edit",))]


@contextmanager
def hall_of(folder: Path, study: Study, url: str, **options: Any) -> Iterator[Hall]:
    with Journal(url) as journal:
        journal.register(study.study_id, title=study.file.title)
        people = People(journal)
        roles = {"ada": "rater", "boss": "admin", "chief": "admin"}
        added = {name: people.add(study.study_id, name, role=role).rater_id for name, role in roles.items()}  # type: ignore[arg-type]
        secrets = {name: people.invite(study.study_id, of) for name, of in added.items()}
    with served(folder, database=url, **options) as server:
        yield Hall(study, folder, url, server, {name: server.enter(secret) for name, secret in secrets.items()})


def clips(folder: Path) -> Study:
    """Clips of which the first three are gold."""
    return write_study(folder, ASKED, subjects=40, gold=3, still=True, checks={"gold_share": 0.5, "repeat_share": 0.0})


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """One for the tests that leave it running."""
    folder = tmp_path_factory.mktemp("editing") / "study"
    with hall_of(folder, clips(folder), f"sqlite:///{folder}/journal.sqlite") as made:
        yield made


def said(answer: Answer) -> str:
    """The sentence on top of the page."""
    (sentence,) = re.findall(r'id="said" role="[a-z]+">([^<]*)<', answer.body.decode())
    return unescape(sentence)


def test_a_changed_text_is_read_from_the_next_task_on_and_answers_say_which_they_were_given_under(hall: Hall) -> None:
    who = hall.newcomer()
    before = hall.study.form(hall.study.tasks[0]).instruction
    first, second = hall.work(who)["queue"]
    assert hall.answer(who, first).status == 200
    answer = hall.change("instruction", "Keep what is sharp.\r\nReject the rest.", of=LABEL)
    assert (answer.status, said(answer)[:6]) == (200, "Saved.")
    later = hall.work(who)["queue"]
    assert later[0]["lease_id"] == second["lease_id"]
    assert later[0]["question"]["form"]["instruction"] == "Keep what is sharp.\nReject the rest."
    assert hall.answer(who, second).status == 200  # as it stood on the screen, with the old text
    assert hall.answer(who, later[1]).status == 200
    exported = hall.server.ask("GET", "/admin/judgements.csv", token=hall.tokens["boss"]).body.decode()
    rows = list(csv.DictReader(io.StringIO(exported)))
    number, edit = next((place, one) for place, one in enumerate(hall.stored(), 1) if one["what"] == "instruction")
    assert [int(row["revision"]) for row in rows if row["rater"] == who] == [number - 1, number - 1, number]
    with Journal(hall.url) as journal:
        names = People(journal).names(hall.study.study_id)
    assert (names[edit["by"]], edit["before"], edit["after"]) == ("boss", before, "Keep what is sharp.\nReject the rest.")
    report = hall.server.ask("GET", "/admin/results", token=hall.tokens["boss"]).body.decode()
    assert f"instruction changed after {sum(int(row['revision']) < number for row in rows)} answers" in report
    assert "Keep what is sharp." in report
    assert "boss" in hall.page()


def test_the_second_of_two_admins_gets_a_sentence_and_keeps_what_they_wrote(hall: Hall) -> None:
    seen, before = hall.seen("chief"), len(hall.stored())
    assert hall.change("welcome", "From the boss.", seen=seen).status == 200
    assert hall.change("title", "Another thing", of=LABEL, by="chief", seen=seen).status == 200
    late = hall.change("welcome", f"From the chief {EVIL}", by="chief", seen=seen)
    page = unescape(late.body.decode())
    assert (late.status, said(late)) == (
        409, "Boss changed this meanwhile; what you wrote stands below, and saving it again takes its place."
    )  # fmt: skip
    assert f"From the chief {EVIL}" in page
    assert EVIL not in late.body.decode()
    assert "From the boss." in page
    assert [edit["after"] for edit in hall.stored()[before:]] == ["From the boss.", "Another thing"]
    assert hall.change("welcome", "From the chief", by="chief").status == 200
    again = hall.change("welcome", "From the chief", by="chief", seen=0)
    assert (again.status, said(again)) == (200, "Nothing changed: it was so already.")


def test_what_earlier_answers_rest_on_is_refused_in_one_sentence(hall: Hall) -> None:
    before = hall.stored()
    for what, of, value, sentence in (
        ("leaf", LABEL, "pairwise", "answers given before would mean something else"),
        ("raters_per_task", LABEL, "9", "answers given before would mean something else"),
        ("instruction", "other", "x", "the study has no instruction of 'other'"),
        ("instruction", LABEL, " ", "it cannot be empty"),
        ("instruction", LABEL, "x" * 5001, "at most 5,000 are kept"),
        ("places", "", "7", "the study has no places"),
        ("gold", hall.study.tasks[0].task_id, "maybe", "is no answer to this question"),
        ("paused", "", "perhaps", "paused or it is not"),
    ):
        refused = hall.change(what, value, of=of)
        assert refused.status == 400
        assert sentence in said(refused).replace("The", "the")
        assert said(refused).count(".") == 1
    assert hall.stored() == before


def test_only_admins_change_a_study_and_only_from_its_own_page(hall: Hall) -> None:
    before = hall.stored()
    assert hall.change("welcome", "x", by=hall.newcomer(), seen=0).status == 403
    assert hall.change("welcome", "x", Origin="https://example.org").status == 403
    assert hall.change("welcome", "x", Sec_Fetch_Site="cross-site").status == 403
    assert hall.change("welcome", "x", Origin="").status == 403
    nobody = hall.server.ask("POST", "/admin/edit", body=b"what=paused", Content_Type="application/x-www-form-urlencoded")
    assert (nobody.status, b"<p>You are not logged in" in nobody.body) == (401, True)
    assert hall.stored() == before


def test_a_known_answer_grades_what_comes_after_it(hall: Hall) -> None:
    ada, bob = hall.newcomer(), hall.newcomer()
    gold = {task.task_id for task in hall.study.tasks if task.gold}

    def graded() -> tuple[int, int]:
        counted = re.findall(r"(\d+) of (\d+) answers? right so far", hall.page())
        return sum(int(part) for part, _ in counted), sum(int(whole) for _, whole in counted)

    for _ in range(4):
        assert hall.answer(ada, hall.work(ada)["queue"][0]).status == 200
    before = graded()
    assert before[0] == before[1] > 0
    for task_id in gold:
        assert hall.change("gold", "reject", of=task_id).status == 200
    assert graded() == before
    for _ in range(4):
        assert hall.answer(bob, hall.work(bob)["queue"][0]).status == 200
    after = graded()
    assert after[0] == before[0]
    assert after[1] > before[1]
    asked = hall.page(query="?find=subject")
    free = [of for of in re.findall(r'name="of" value="([0-9a-f]+)"', asked) if of not in gold]
    assert free
    assert said(hall.change("gold", "keep", of=free[0]))[:6] == "Saved."
    with Journal(hall.url) as journal:
        had = {event.body["task_id"] for event in journal.events(hall.study.study_id, kinds=("lease",))}
    refused = hall.change("gold", "keep", of=next(one for one in had if one not in gold | {free[0]}))
    assert (refused.status, "take their vote away" in said(refused)) == (400, True)


def test_a_pause_lets_people_finish_and_tells_who_comes(hall: Hall) -> None:
    ada, bob = hall.newcomer(), hall.newcomer()
    queue = hall.work(ada)["queue"]
    assert hall.change("paused", "yes").status == 200
    page = hall.server.ask("GET", "/admin/edit", token=hall.tokens["boss"]).body.decode()
    assert "The study is paused" in page
    work = hall.work(ada)
    assert (work["status"], len(work["queue"])) == ("working", len(queue))
    for card in queue:
        reply = hall.answer(ada, card)
        assert reply.status == 200
    assert (reply.json["work"]["status"], reply.json["work"]["queue"]) == ("paused", [])
    arrived = hall.work(bob)
    assert (arrived["status"], arrived["queue"]) == ("paused", [])
    assert arrived["message"].startswith("The study is paused")
    assert hall.change("paused", "no").status == 200
    assert hall.work(bob)["status"] == hall.work(ada)["status"] == "working"


@pytest.mark.long
def test_changes_outlive_a_killed_server_and_others_know_them_at_once(tmp_path: Path, journal_url: str) -> None:
    folder = tmp_path / "study"
    study = clips(folder)
    with hall_of(folder, study, journal_url) as hall, served(folder, database=journal_url) as other:
        for number in range(5):
            assert hall.change("welcome", f"Text {number}").status == 200
        assert hall.change("title", "Told there", of=LABEL).status == 200
        card = other.post("/api/work", {}, token=hall.tokens["ada"]).json["queue"][0]
        assert (card["question"]["form"]["title"], card["revision"]) == ("Told there", 6)
        assert hall.change("gold", "reject", of=study.tasks[0].task_id).status == 200
        assert hall.change("paused", "yes").status == 200
        os.kill(hall.server.process.pid, signal.SIGKILL)
        hall.server.process.wait(timeout=30)
        stored = hall.stored()
        assert [edit["after"] for edit in stored] == [*(f"Text {number}" for number in range(5)), "Told there", "reject", "yes"]
        hall.server = other
        assert hall.answer("ada", card).status == 200
    with served(folder, database=journal_url) as server:
        hall.server = server
        assert hall.page().count("The study is paused") == 1
        assert hall.work(hall.newcomer())["status"] == "paused"
        assert hall.work("ada")["study"]["welcome"] == "Text 4"
        assert hall.seen("boss") == 8
        assert hall.stored() == stored


def test_places_go_down_to_what_is_taken_and_a_paused_study_takes_nobody(tmp_path: Path) -> None:
    with platform() as imitation:
        study = write_crowd_study(tmp_path / "study", imitation.origin, training=0, test=0, places=3)
        with hall_of(tmp_path / "study", study, f"sqlite:///{tmp_path}/journal.sqlite") as hall:

            def comes(who: str) -> dict[str, Any]:
                arrived = hall.server.ask("GET", imitation.link("", who, ""))
                hall.tokens[who] = arrived.headers["set-cookie"].partition("=")[2].partition(";")[0]
                agreed = {"step": "consent", "answer": True}
                found: dict[str, Any] = hall.server.post("/api/steps", agreed, token=hall.tokens[who]).json
                return found

            hands = {who: comes(who) for who in ("one", "two")}
            refused = hall.change("places", "1")
            assert (refused.status, said(refused)) == (400, "2 places are taken, and nobody is sent away: there cannot be fewer.")
            assert hall.change("places", "2").status == 200
            assert comes("three")["crowd"]["outcome"] == "no_more_tasks"
            assert hall.change("places", "3").status == 200
            assert hall.change("paused", "yes").status == 200
            no = hall.server.ask("GET", imitation.link("", "four", ""))
            assert (no.status, b"This study is paused" in no.body, "set-cookie" in no.headers) == (503, True, False)
            for card in hands["one"]["queue"]:
                work = hall.answer("one", card).json["work"]
            assert (work["status"], work["crowd"]["stage"]) == ("paused", "working")
            assert hall.change("paused", "no").status == 200
            assert hall.work("one")["status"] == "working"
            assert comes("four")["status"] == "working"


def test_methods_have_letters_in_the_form_too(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    names = ("navier_stokes", "propainter")
    study = write_study(folder, [{"leaf": "pairwise"}], subjects=3, methods=names, still=True)
    with hall_of(folder, study, f"sqlite:///{tmp_path}/journal.sqlite") as hall:
        page = hall.page(query="?find=subject")
        (first, *_) = re.findall(r'name="of" value="([0-9a-f]{16,})"', page)
        saved = hall.change("gold", "method A", of=first)
        assert saved.status == 200
        assert {edit["after"] for edit in hall.stored()} < set(names)
        assert not any(name in page + saved.body.decode() + hall.page() for name in names)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_admin_changes_a_study_in_the_browser(tmp_path: Path, browser: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    study = write_study(tmp_path / "study", ASKED, subjects=12, gold=3, still=True)
    context = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    context.set_default_timeout(30_000)
    with hall_of(tmp_path / "study", study, f"sqlite:///{tmp_path}/journal.sqlite") as hall:
        origin = f"http://127.0.0.1:{hall.server.port}"
        context.add_cookies([{"name": "inpaintbench_session", "value": hall.tokens["boss"], "url": origin}])
        page, complaints = context.new_page(), []
        page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
        page.goto(f"{origin}/admin/")
        page.get_by_role("link", name="Change the study").click()
        page.get_by_label(f"Instruction of {LABEL}").fill("Keep what is sharp.\n\nReject the rest.")
        page.locator("form", has=page.get_by_label(f"Instruction of {LABEL}")).get_by_role("button").click()
        assert page.get_by_role("status").inner_text().startswith("Saved.")
        assert hall.change("welcome", "From elsewhere", by="chief").status == 200
        page.get_by_label("Welcome").fill("Mine")
        page.locator("form", has=page.get_by_label("Welcome")).get_by_role("button").click()
        assert page.get_by_role("alert").inner_text().startswith("Chief changed this meanwhile")
        assert page.get_by_label("Welcome").input_value() == "Mine"
        grave = [one for one in axe.Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in grave] == []
        assert page.evaluate("document.documentElement.scrollWidth") <= 390  # less where a scroll bar takes its place
        page.get_by_label("Another item").fill("subject00007")
        page.get_by_role("button", name="Find").click()
        page.locator("summary", has_text="subject00007").click()
        page.locator("details[open]").get_by_label("Reject").check()
        page.locator("details[open]").get_by_role("button", name="Save").click()
        assert page.get_by_role("status").inner_text().startswith("Saved.")
        page.get_by_role("button", name="Pause the study").click()
        assert page.get_by_role("heading", name="The study is paused").is_visible()
        assert [(edit["what"], edit["after"]) for edit in hall.stored()] == [
            ("instruction", "Keep what is sharp.\n\nReject the rest."), ("welcome", "From elsewhere"), ("gold", "reject"),
            ("paused", "yes"),
        ]  # fmt: skip
        assert [one for one in complaints if "409" not in one] == []
    context.close()
