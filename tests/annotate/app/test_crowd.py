"""People of a platform, from its link to its completion page, in Chromium and by the fifty."""

from __future__ import annotations

import contextlib
import csv
import operator
import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from annotated_server import Served, answer_to, certificate_in, served
from crowds import CODES, Platform, platform, prepare_honey_study, write_crowd_study
from program import run_here

from inpaintbench.annotate.desk.state import State
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.screening.base import proposals
from inpaintbench.annotate.study import Study

if TYPE_CHECKING:
    from playwright.sync_api import Page

PATIENCE_MS = 30_000


@dataclass
class Hall:
    """A crowd study with its server and the platform that sends people."""

    study: Study
    folder: Path
    server: Served
    platform: Platform

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def enter(self, participant: str, session: str = "", *, token: str | None = None) -> str:
        """Follow the platform's link, in a browser that may have a session; the session's token."""
        link = self.platform.link("", participant, session)
        answer = self.server.ask("GET", link, token=token)
        assert (answer.status, answer.headers["location"]) == (303, "/"), answer
        return answer.headers["set-cookie"].partition("=")[2].partition(";")[0]


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    """One place for each of the fast tests' people, and more."""
    folder = tmp_path_factory.mktemp("hall") / "study"
    with platform() as imitation:
        study = write_crowd_study(folder, imitation.origin, places=40)
        with served(folder) as server:
            yield Hall(study, folder, server, imitation)


@pytest.fixture
def page(browser: Any) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    yield context.new_page()
    context.close()


def press(page: Page, value: str) -> None:
    page.locator(f'#rater-page .option[data-value="{value}"][aria-disabled="false"]').click()


def test_a_stranger_comes_agrees_practises_works_and_returns_with_the_code(hall: Hall, page: Page) -> None:
    engine = page.context.browser.browser_type.name
    page.goto(hall.platform.link(hall.origin, f"{engine}-1"))
    assert page.url == f"{hall.origin}/"  # no identifier stays in the address
    page.get_by_text("You may stop at any time").wait_for()
    assert not any(code in page.content() for code in CODES.values())
    page.reload()
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("Practice: 0 / 1").wait_for()
    press(page, "keep")
    page.get_by_text("That is right.").wait_for()
    page.get_by_text("Nothing is wrong with it.").wait_for()
    page.get_by_text("Now comes a test, without comments. Its tasks: 2").wait_for()
    page.keyboard.press("Enter")
    page.get_by_text("Test: 0 / 2").wait_for()
    for number in range(5):
        page.wait_for_function(f"window.raterPage.page.work.progress.answered === {number + 1}")
        press(page, "keep")
    page.get_by_text(CODES["completed"]).wait_for()
    page.get_by_role("button", name=re.compile("Go back now")).click()
    page.get_by_text("Submission received").wait_for()
    assert hall.platform.came_back[f"{engine}-1"] == [CODES["completed"]]
    # Coming again, with another session too, is the end page and no new work.
    page.goto(hall.platform.link(hall.origin, f"{engine}-1", "another"))
    page.get_by_text(CODES["completed"]).wait_for()
    answers = answers_of(hall, f"{engine}-1")
    name = {"chromium": "Chrome", "firefox": "Firefox"}[engine]
    assert [row["seen"]["browser"].split()[0] for row in answers] == [name] * 6
    assert min(row["seen"]["width"] for row in answers) >= 120
    assert all(row["seen"]["pixel_ratio"] == 1 and not row["seen"]["portrait"] for row in answers)


def answers_of(hall: Hall, participant: str) -> list[dict[str, Any]]:
    from inpaintbench.annotate.journal.participants import Participants

    with Journal(hall.folder / "journal.sqlite") as journal:
        people = Participants(journal).all(hall.study.study_id)
        (who,) = [rater for rater, person in people.items() if person.arrival.participant == participant]
        return [event.body for event in journal.events(hall.study.study_id) if event.kind == "answer" and event.rater_id == who]


def test_who_withdraws_is_deleted_and_cannot_come_again(hall: Hall, page: Page) -> None:
    who = f"{page.context.browser.browser_type.name}-2"
    page.goto(hall.platform.link(hall.origin, who))
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Begin").click()
    page.locator("#rater-page .option").first.wait_for()
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Withdraw, and delete what names me").click()
    page.get_by_role("button", name="Yes, withdraw").click()
    page.get_by_text("What named you is deleted").wait_for()
    assert hall.server.ask("GET", hall.platform.link("", who)).status == 403
    everything = b"".join(path.read_bytes() for path in hall.folder.glob("journal.sqlite*"))
    assert who.encode() not in everything


def test_on_a_phone_the_pictures_must_be_large_enough(hall: Hall, browser: Any) -> None:
    """On a phone in landscape players were 40 pixels wide, and nothing noticed."""
    if browser.browser_type.name == "firefox":
        pytest.skip("its driver has no fingers")
    context = browser.new_context(viewport={"width": 640, "height": 260}, has_touch=True)
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(hall.platform.link(hall.origin, "person-3"))
    # Text has the whole page, from its beginning to its buttons.
    page.get_by_role("button", name="I agree").wait_for()
    shown = page.evaluate(
        "() => { const box = document.querySelector('.message').getBoundingClientRect(); const first = "
        "document.querySelector('.message h2').getBoundingClientRect(); return [box.bottom, first.top - box.top]; }"
    )
    assert shown[0] >= 250
    assert shown[1] >= 0
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("The pictures are too small to judge").wait_for()
    page.get_by_text("Please turn your phone").wait_for()
    page.keyboard.press("1")
    assert page.evaluate("window.raterPage.page.outbox.size") == 0
    page.set_viewport_size({"width": 390, "height": 740})
    page.get_by_text("The pictures are too small to judge").wait_for(state="hidden")
    page.get_by_role("button", name="Stop", exact=True).click()
    page.get_by_role("button", name="Stop and return my place").click()
    page.get_by_text("Please return your place").wait_for()
    context.close()


def test_a_server_refuses_what_was_seen_too_small_and_addresses_that_are_none(hall: Hall) -> None:
    token = hall.enter("person-4")
    work = hall.server.post("/api/steps", {"step": "consent", "answer": True}, token=token).json
    seen = {
        "width": 40, "scale": 0.2, "pixel_ratio": 3.0, "zoom": 1.0, "full_screen": False, "portrait": False,
        "browser": "Chrome 130", "hidden_seconds": 0.0, "frame_source": "callback",
    }  # fmt: skip
    small = hall.server.post("/api/answers", answer_to(work["queue"][0], seen=seen), token=token)
    assert (small.status, "too small" in small.json["error"]) == (400, True)
    agent = {**seen, "width": 400, "browser": "Mozilla/5.0 (X11; Linux) unique"}
    assert hall.server.post("/api/answers", answer_to(work["queue"][0], seen=agent), token=token).status == 400
    assert hall.server.post("/api/answers", answer_to(work["queue"][0], seen={**seen, "width": 400}), token=token).status == 200
    for query in ("", "?STUDY_ID=1", "?PROLIFIC_PID=a&PROLIFIC_PID=b", "?PROLIFIC_PID=%3Cscript%3E", "?PROLIFIC_PID=a%00"):
        refused = hall.server.ask("GET", f"/enter{query}")
        assert refused.status == 400
        assert b"<script>" not in refused.body
    assert hall.server.post("/api/steps", {"step": "consent"}, token="x" * 43).status == 401


@pytest.mark.long
def test_fifty_people_of_whom_some_leave_and_some_cheat(tmp_path: Path, chromium: Any) -> None:
    """24 honest, 4 of them in Chromium; 6 do not agree, 8 leave half way, 6 fail the test, 6 click `reject` at everything."""
    checks = {"gold_share": 0.5, "repeat_share": 0.0, "window": 3, "least_accuracy": 0.7}
    folder = tmp_path / "study"
    with platform() as imitation:
        study = write_crowd_study(
            folder, imitation.origin, training=1, test=2, right=2, gold=40, subjects=480, raters_per_task=2, checks=checks,
            tasks_per_person=20, places=50, places_a_network=0,
        )  # fmt: skip
        with served(folder) as server:
            hall = Hall(study, folder, server, imitation)
            kinds = ["honest"] * 20 + ["declines"] * 6 + ["leaves"] * 8 + ["fails the test"] * 6 + ["rejects"] * 6
            with ThreadPoolExecutor(8) as pool:
                ends = list(pool.map(lambda one: take_part(hall, f"pid{one[0]:02}", one[1]), enumerate(kinds)))
            for number in range(4):
                in_chromium(hall, chromium, f"pid9{number}")
            outcomes = Counter(zip(kinds, ends, strict=True))
            assert outcomes == {
                ("honest", "completed"): 20, ("declines", "declined"): 6, ("leaves", ""): 8,
                ("fails the test", "screened_out"): 6, ("rejects", "failed_checks"): 6,
            }  # fmt: skip
        table = tmp_path / "payments.csv"
        run_here("annotate", "crowd", folder, "--csv", table)
        rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == 50
    assert Counter((row["state"], row["decision"], row["code"]) for row in rows) == {
        ("completed", "pay", CODES["completed"]): 24, ("declined", "none", ""): 6, ("working", "wait", ""): 8,
        ("screened out", "pay screening", CODES["screened_out"]): 6, ("failed checks", "refuse", CODES["failed_checks"]): 6,
    }  # fmt: skip
    assert all(len(row["message"]) >= 100 for row in rows if row["decision"] == "refuse")
    with_browsers = {f"pid9{number}" for number in range(4)}
    assert {row["participant_id"] for row in rows} == {f"pid{number:02}" for number in range(46)} | with_browsers
    assert imitation.came_back == {participant: [CODES["completed"]] for participant in with_browsers}
    with Journal(folder / "journal.sqlite") as journal:
        events = journal.events(study.study_id)
    leases = {event.body["lease_id"]: event.body["purpose"] for event in events if event.kind == "lease"}
    ordinary = [event for event in events if event.kind == "answer" and leases[event.body["lease_id"]] == "vote"]
    assert len(ordinary) >= 24 * 20
    assert max(Counter(event.body["task_id"] for event in ordinary).values()) <= 2


def take_part(hall: Hall, participant: str, kind: str) -> str:
    """A person who is a program; the outcome, empty where they leave without one. They come twice: one person all the same."""
    token = hall.enter(participant)
    work = hall.server.post("/api/steps", {"step": "consent", "answer": kind != "declines"}, token=token).json
    answered = 0
    while work["status"] in ("working", "rereading"):
        if kind == "leaves" and answered == 4:
            return ""
        if work["status"] == "rereading":
            work = hall.server.post("/api/steps", {"step": "reread"}, token=token).json
            continue
        if answered == 3:
            token = hall.enter(participant, session=f"second-{participant}", token=token)
        stage = work["crowd"]["stage"]
        rejects = (kind == "fails the test" and stage == "testing") or (kind == "rejects" and stage == "working")
        work = hall.server.post(
            "/api/answers", answer_to(work["queue"][0], given=judged(work["queue"][0], rejects)), token=token
        ).json["work"]
        answered += 1
    return str(work["crowd"]["outcome"])


def judged(card: dict[str, Any], rejects: bool) -> dict[str, str]:
    """Keep, or reject for the first reason."""
    if not rejects:
        return {"verdict": "keep"}
    parts = card["question"]["form"]["parts"]
    return {"verdict": "reject", parts[1]["name"]: parts[1]["options"][0]["value"]}


def in_chromium(hall: Hall, browser: Any, participant: str) -> None:
    """An honest person with a browser, until the platform has them back."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(hall.platform.link(hall.origin, participant))
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Begin").click()
    for number in range(100):
        page.wait_for_function(
            "number => { const page = window.raterPage.page; return page.onward || page.work.status === 'ended' ||"
            " (page.work.progress.answered === number && page.card && !page.stage.form.locked); }", arg=number
        )  # fmt: skip
        if page.evaluate("window.raterPage.page.work.status === 'ended'"):
            break
        if page.evaluate("Boolean(window.raterPage.page.onward)"):
            page.keyboard.press("Enter")
            page.wait_for_function("window.raterPage.page.card")
        press(page, "keep")
    page.get_by_role("button", name=re.compile("Go back now")).click()
    page.get_by_text("Submission received").wait_for()
    context.close()


@pytest.mark.long
def test_a_worker_of_mturk_hands_in_a_form_from_a_frame(tmp_path: Path, browser: Any) -> None:
    folder = tmp_path / "study"
    write_crowd_study(folder, "https://unused.test", platform="mturk", training=0, test=0, gold=0, tasks_per_person=1, link={})
    certificate, key = certificate_in(tmp_path)
    with contextlib.ExitStack() as stack:
        imitation = stack.enter_context(platform()).origin.replace("127.0.0.1", "localhost")  # another site than the study's
        server = stack.enter_context(served(folder, certificate=str(certificate), key=str(key), embed=[imitation]))
        context = browser.new_context(ignore_https_errors=True, viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        posted: list[str] = []

        def taken(route: Any) -> None:
            posted.append(route.request.post_data)
            route.fulfill(body="<h1>Handed in</h1>", content_type="text/html")

        context.route("https://www.mturk.com/mturk/externalSubmit", taken)
        page = context.new_page()
        link = f"https://127.0.0.1:{server.port}/enter?workerId=A1WORKER&assignmentId=ASSIGNED1&hitId=HIT1&turkSubmitTo=https://www.mturk.com"
        page.goto(f"{imitation}/task?page={quote(link, safe='')}")
        frame = page.frame_locator("iframe")
        # The driver of Firefox clicks beside what lies in a frame of another site.
        is_firefox = browser.browser_type.name == "firefox"
        click = operator.methodcaller(*(("dispatch_event", "click") if is_firefox else ("click",)))
        click(frame.get_by_role("button", name="I agree"))
        click(frame.get_by_role("button", name="Begin"))
        click(frame.locator('#rater-page .option[data-value="keep"][aria-disabled="false"]'))
        frame.get_by_text(CODES["completed"]).wait_for()
        click(frame.get_by_role("button", name=re.compile("Go back now")))
        frame.get_by_text("Handed in").wait_for()
        context.close()
    assert posted == [
        None if is_firefox else f"assignmentId=ASSIGNED1&code={CODES['completed']}"
    ]  # nor does it say what is posted


# Pixels of the first picture of each pane that are as a tick and as a cross are.
MARKS = """() => [...document.querySelectorAll("#rater-page .pane:not([hidden]) canvas")].slice(0, 2).map((canvas) => {
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const [tick, cross] = [[0, 1], [1, 0]].map(([weak, strong]) => {
    let many = 0;
    for (let at = 0; at < pixels.length; at += 4)
      many += pixels[at + weak] < 40 && pixels[at + strong] > 90 && pixels[at + 2] < 40;
    return many;
  });
  return tick > 20 * cross + 20;
})"""


def test_who_looks_follows_the_pictures_and_who_reads_the_page_alone_is_proposed(browser: Any, tmp_path: Path) -> None:
    """Both know every known answer, and their browsers do not say that a program drives them."""
    study = prepare_honey_study(tmp_path, screening={"signs_of_a_program": {"regular": 0}})
    with served(tmp_path / "study") as server, Journal(tmp_path / "study" / "journal.sqlite") as journal:
        for name in ("person", "program"):
            context = browser.new_context(viewport={"width": 1280, "height": 800})
            context.add_init_script("Object.defineProperty(Navigator.prototype, 'webdriver', {get: () => false})")
            page = context.new_page()
            page.set_default_timeout(PATIENCE_MS)
            page.goto(Platform("").link(f"http://127.0.0.1:{server.port}", name))
            page.get_by_role("button", name="I agree").click()
            ready = "page?.card && page.card.lease_id !== lease && page.stage.stopwatch && !page.stage.form.locked"
            ready = f"lease => {{ const page = window.raterPage?.page; return page?.work?.status === 'ended' || ({ready}); }}"
            lease = ""
            while True:
                page.wait_for_function(ready, arg=lease)
                if page.evaluate("window.raterPage.page.work.status") == "ended":
                    break
                lease = page.evaluate("window.raterPage.page.card.lease_id")
                leases = [event.body for event in journal.events(study.study_id) if event.kind == "lease"]
                (given,) = [body for body in leases if body["lease_id"] == lease]
                task, asked = study.task_of[given["task_id"]], page.evaluate(MARKS)
                known = [name for name in given["shown"] if task.gold and name != "decoy"]
                place = asked.index(True) if name == "person" and any(asked) else given["shown"].index(known[0]) if known else 0
                page.keyboard.press("13"[place])  # 2 says that they are hard to distinguish
            context.close()
        state = State(study)
        state.fold(journal.events(study.study_id))
    (found,) = proposals(study, state.votes(excluded=True))
    assert (found.reason, found.alone) == ("2 of 2 answers are not what the pictures asked for", False)
    first, second = state.raters
    assert (found.rater_id, state.excluded(first), state.excluded(second)) == (second, None, None)
    assert all(all(state.rater(who).gold) for who in (first, second))
    assert not [vote for vote in state.votes() if study.task_of[vote.task_id].use]
