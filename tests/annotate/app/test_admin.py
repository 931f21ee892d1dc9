from __future__ import annotations

import csv
import io
import time
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import cv2
import numpy as np
import pytest
from annotated_server import EVIL, answer_to

from inpaintbench.annotate.app import tables
from inpaintbench.annotate.app.admin import middle_picture
from inpaintbench.annotate.app.security import REMEMBERED_SECONDS
from inpaintbench.annotate.desk.desk import Desk
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.journal.accounts import Names
from inpaintbench.annotate.study import PROXIES

if TYPE_CHECKING:
    from conftest import Room
    from playwright.sync_api import BrowserContext, Page

PATIENCE_MS = 30_000


@pytest.fixture
def context(browser: Any) -> Iterator[BrowserContext]:
    made = browser.new_context(viewport={"width": 1280, "height": 900})
    made.set_default_timeout(PATIENCE_MS)
    yield made
    made.close()


def opened(room: Room, context: BrowserContext, who: str, path: str) -> tuple[Page, list[str], list[str]]:
    """A page of somebody who is logged in; what it complains of; what it asks for."""
    origin = f"http://127.0.0.1:{room.server.port}"
    context.add_cookies([{"name": "inpaintbench_session", "value": room.tokens[who], "url": origin}])
    page = context.new_page()
    complaints: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(f"{request.method} {request.url}"))
    page.goto(origin + path)
    return page, complaints, asked


def evil_skip(room: Room) -> str:
    """A rater whose name is HTML skips a task with words that are HTML."""
    who = EVIL[:60]
    card = room.server.post("/api/work", {}, token=room.tokens[who]).json["queue"][0]
    skip = {"submission_id": str(uuid.uuid4()), "lease_id": card["lease_id"], "reason": "other", "text": EVIL}
    assert room.server.post("/api/skips", skip, token=room.tokens[who]).status == 200
    return who


def test_what_people_wrote_is_shown_and_never_run(room: Room, context: BrowserContext) -> None:
    who = evil_skip(room)
    page, complaints, asked = opened(room, context, "root", "/admin/")
    page.wait_for_selector("#newest td")
    assert page.locator("#summary h1").inner_text() == room.study.file.title
    assert who in page.locator("#raters tbody").inner_text()
    assert EVIL in page.locator("#newest tbody").inner_text()
    page.wait_for_timeout(500)
    assert page.title() != "owned"
    assert page.locator("img[src=x]").count() == 0
    assert complaints == []
    origin = f"http://127.0.0.1:{room.server.port}/"
    assert [one for one in asked if not one.partition(" ")[2].startswith(origin)] == []
    calls = {one.replace(origin, "/") for one in asked if "gradio_api" in one or one.startswith("POST")}
    assert calls == {"POST /admin/gradio_api/run/predict"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_on_the_admins_page(room: Room, browser: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    evil_skip(room)
    narrow = browser.new_context(viewport={"width": 390, "height": 844}, color_scheme=scheme)
    page, _, _ = opened(room, narrow, "root", "/admin/")
    page.wait_for_selector("#newest td")
    grave = [one for one in axe.Axe().run(page).response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in grave] == []
    # Firefox has a scroll bar beside the page.
    assert page.evaluate("[document.documentElement.scrollWidth, innerWidth]") in ([390, 390], [378, 390])
    cards, coverage = page.locator("#summary .cards").bounding_box(), page.locator(".block.tables").first.bounding_box()
    assert (cards["x"], cards["width"]) == (coverage["x"], coverage["width"])
    last = page.locator("#summary .card").last.bounding_box()
    assert last["x"] + last["width"] == pytest.approx(cards["x"] + cards["width"], abs=2)  # no hole beside it
    narrow.close()


@pytest.mark.parametrize(("n", "words"), [(0, "raters at work"), (1, "rater at work"), (2, "raters at work")])
def test_raters_at_work_are_counted_in_words_that_fit(n: int, words: str) -> None:
    work, gone = ({"answered": 1, "paused": False, "at_work": here} for here in (True, False))
    overview = {
        "study": {"title": "S"}, "done": False, "why": "", "questions": [], "raters": [*[work] * n, *[gone] * 29],
        "votes_last_hour": 0, "taken_out": [], "reported_broken": [],
    }  # fmt: skip
    assert f"<dt>{words}</dt><dd>{n}</dd>" in tables.summary(overview)


def test_the_raters_page_needs_no_call_of_gradio_and_breaks_no_policy(room: Room, context: BrowserContext) -> None:
    page, complaints, asked = opened(room, context, "bob", "/")
    page.wait_for_selector("#inpaintbench :text-is('ada'), #inpaintbench :text-is('bob')")
    page.wait_for_timeout(500)
    assert page.title() != "owned"
    assert page.locator("img[src=x]").count() == 0
    assert complaints == []
    origin = f"http://127.0.0.1:{room.server.port}/"
    assert [one for one in asked if not one.partition(" ")[2].startswith((origin, "blob:"))] == []
    assert not any("gradio_api" in one for one in asked)
    assert {one.replace(origin, "/") for one in asked if one.startswith("POST")} <= {"POST /api/work"}


def test_the_policy_stops_scripts_that_are_not_the_pages_own(room: Room, context: BrowserContext) -> None:
    page, complaints, _ = opened(room, context, "root", "/admin/")
    page.wait_for_selector("#newest h2")
    page.evaluate("""() => {
        const script = document.createElement("script"); script.textContent = "document.title = 'owned'";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", "<img src=x onerror=\\"document.title='owned'\\">");
        const far = document.createElement("script"); far.src = "https://example.org/x.js"; document.body.append(far);
    }""")
    page.wait_for_timeout(500)
    assert page.title() != "owned"
    if page.context.browser.browser_type.name == "chromium":  # the driver of Firefox does not pass them on
        assert sum("Content Security Policy" in one for one in complaints) >= 3


def test_an_admin_invites_and_shuts_out(room: Room, context: BrowserContext) -> None:
    page, _, _ = opened(room, context, "root", "/admin/")
    page.wait_for_selector("#raters td")
    name = f"<i>new</i> {uuid.uuid4().hex[:6]}"
    page.fill("#name input, #name textarea", name)
    page.click("#add")
    page.wait_for_function("() => (document.querySelector('#link input, #link textarea') || {}).value")
    link = page.input_value("#link input, #link textarea")
    origin = f"http://127.0.0.1:{room.server.port}"
    assert link.startswith(f"{origin}/join/")
    token = room.server.enter(link.rpartition("/")[2])
    assert room.server.post("/api/work", {}, token=token).json["rater"]["name"] == name
    page.wait_for_function("name => document.querySelector('#raters').innerText.includes(name)", arg=name)
    page.click("#chosen input")
    page.get_by_role("option", name=name).click()
    page.click("#revoke")
    page.wait_for_function("() => document.querySelector('#said input, #said textarea').value.startsWith('Shut out')")
    time.sleep(REMEMBERED_SECONDS)
    assert room.server.post("/api/work", {}, token=token).status == 401


@pytest.mark.parametrize("data", [["no such rater"], [None], [["a"]], [{"x": 1}], [7], [], ["x"] * 9])
def test_forged_values_of_the_admins_buttons_change_nothing(room: Room, data: list[Any]) -> None:
    before = room.people.raters(room.study.study_id)
    for number in range(12):
        answer = room.server.post(
            "/admin/gradio_api/run/predict", {"fn_index": number, "data": data, "session_hash": "abc"}, token=room.tokens["root"]
        )
        assert b"Traceback" not in answer.body
        assert str(room.folder).encode() not in answer.body
    after = [one for one in room.people.raters(room.study.study_id) if one.name not in ("no such rater", "x", "7")]
    assert [one for one in after if one.revoked] == [one for one in before if one.revoked]


def test_the_download_holds_the_answers_that_stand(room: Room) -> None:
    card = room.server.post("/api/work", {}, token=room.tokens["bob"]).json["queue"][0]
    answer = answer_to(card)
    assert room.server.post("/api/answers", answer, token=room.tokens["bob"]).status == 200
    let_count(room, room.raters["bob"], answer)
    download = room.server.ask("GET", "/admin/judgements.csv", token=room.tokens["root"])
    assert download.headers["content-disposition"] == 'attachment; filename="judgements.csv"'
    rows = list(csv.DictReader(io.StringIO(download.body.decode())))
    assert [(row["rater"], row["choice"]) for row in rows if row["submission_id"] == answer["submission_id"]] == [("bob", "keep")]


def answered(room: Room, who: str) -> str:
    """Submission id of another answer of somebody, which counts."""
    card = room.server.post("/api/work", {}, token=room.tokens[who]).json["queue"][0]
    answer = answer_to(card)
    assert room.server.post("/api/answers", answer, token=room.tokens[who]).status == 200
    let_count(room, room.raters[who], answer)
    return str(answer["submission_id"])


def let_count(room: Room, rater_id: str, answer: dict[str, Any]) -> None:
    """Include an answer that came faster than its clip lasts."""
    with Journal(room.folder / "journal.sqlite") as journal:
        Desk(room.study, journal).include(rater_id, submission_id=answer["submission_id"], reason="tests are quick")


def excluded(room: Room, submission_id: str) -> list[tuple[str, str]]:
    with Journal(room.folder / "journal.sqlite") as journal:
        found = Desk(room.study, journal).exclusions()
    return [(exclusion.reason, exclusion.by) for exclusion in found if exclusion.submission == submission_id]


def test_what_was_judged_is_seen_and_an_answer_excluded_and_included(room: Room, context: BrowserContext) -> None:
    first, last = answered(room, "dora"), answered(room, "dora")
    page, complaints, asked = opened(room, context, "root", "/admin/")
    page.wait_for_selector("#newest td")
    page.get_by_role("tab", name="Answers").click()
    page.locator("#whose input").click()
    page.get_by_role("option", name="dora").click()
    page.get_by_role("button", name="Older").click()
    facts = page.locator("#facts")
    facts.get_by_text("dora").wait_for()
    page.wait_for_selector("#judged .pane canvas")
    page.wait_for_function("document.querySelector('#judged .comparison').player.clock.media")
    decided = page.locator("#decided textarea, #decided input")
    page.click("#exclude-answer")
    decided.wait_for()
    page.wait_for_function("document.querySelector('#decided textarea, #decided input').value.startsWith('Say why')")
    assert excluded(room, last) == []
    page.locator("#reason textarea, #reason input").fill("the clip did not play")
    page.click("#exclude-answer")
    facts.get_by_text("the clip did not play").wait_for()
    assert excluded(room, last) == [("the clip did not play", room.raters["root"])]
    assert excluded(room, first) == []
    page.click("#include-answer")
    page.wait_for_function("document.querySelector('#decided textarea, #decided input').value.includes('counts again')")
    assert excluded(room, last) == []
    page.get_by_role("button", name="Older").click()
    facts.get_by_text("dora").wait_for()
    page.click("#exclude-rater")
    page.wait_for_function("document.querySelector('#decided textarea, #decided input').value.startsWith('Everything of this')")
    with Journal(room.folder / "journal.sqlite") as journal:
        desk = Desk(room.study, journal)
        assert room.raters["dora"] in {exclusion.rater_id for exclusion in desk.exclusions() if exclusion.submission is None}
        assert desk.include(room.raters["dora"], reason="a test")
    assert complaints == []
    calls = {one.partition(" ")[2].partition(str(room.server.port))[2] for one in asked if one.startswith("POST")}
    assert calls == {"/admin/gradio_api/run/predict"}


def test_what_raters_wrote_stands_in_one_list(room: Room, context: BrowserContext) -> None:
    evil_skip(room)
    page, complaints, _ = opened(room, context, "root", "/admin/")
    page.wait_for_selector("#newest td")
    page.get_by_role("tab", name="Notes").click()
    page.wait_for_selector("#notes th")
    assert EVIL in page.locator("#notes tbody").inner_text()
    assert page.locator("img[src=x]").count() == 0
    assert complaints == []


def test_results_of_the_moment_are_a_page_for_admins(room: Room, context: BrowserContext) -> None:
    answered(room, "carl")
    page, complaints, _ = opened(room, context, "root", "/admin/results")
    for words in ("Coverage", "Krippendorff", "carl"):
        page.get_by_text(words).first.wait_for()
    before = page.locator("dl.cards, .cards").first.inner_text()
    answered(room, "carl")
    page.reload()
    assert page.locator("dl.cards, .cards").first.inner_text() != before
    assert page.title() != "owned"
    assert complaints == []


def test_a_picture_of_a_task_holds_its_candidates_side_by_side(room: Room) -> None:
    name, proxy = next(iter(room.study.proxies.items()))
    wanted = [tile for tile in proxy.tiles if tile.candidate is not None] or list(proxy.tiles[:1])
    answer = room.server.ask("GET", f"/admin/pictures/{name.partition('.')[0]}.jpg", token=room.tokens["root"])
    assert (answer.status, answer.headers["content-type"]) == (200, "image/jpeg")
    made = middle_picture(room.folder / PROXIES / name, proxy)
    picture = cv2.imdecode(np.frombuffer(made, np.uint8), cv2.IMREAD_COLOR)
    width, height = sum(tile.width for tile in wanted), wanted[0].height
    shrunk = min(1.0, 720 / width)
    assert picture.shape[:2] == (round(height * shrunk), round(width * shrunk))
    assert made[:2] == b"\xff\xd8"
    assert room.server.ask("GET", f"/admin/pictures/{'0' * 32}.jpg", token=room.tokens["root"]).status == 404


def test_a_name_in_the_download_is_no_formula(room: Room) -> None:
    name = f"=1+1 {uuid.uuid4().hex[:6]}"
    rater = room.people.add(room.study.study_id, name)
    token = room.server.enter(room.people.invite(room.study.study_id, rater.rater_id))
    card = room.server.post("/api/work", {}, token=token).json["queue"][0]
    answer = answer_to(card)
    assert room.server.post("/api/answers", answer, token=token).status == 200
    let_count(room, rater.rater_id, answer)
    download = room.server.ask("GET", "/admin/judgements.csv", token=room.tokens["root"]).body.decode()
    cells = [cell for row in csv.reader(io.StringIO(download)) for cell in row]
    assert f"'{name}" in cells
    assert [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))] == []


def test_the_newest_answers_follow_the_journal(room: Room) -> None:
    with Journal(room.folder / "journal.sqlite") as journal:
        desk = Desk(room.study, journal)
        desk.newest(5)
        card = room.server.post("/api/work", {}, token=room.tokens["carl"]).json["queue"][0]
        answer = answer_to(card)
        assert room.server.post("/api/answers", answer, token=room.tokens["carl"]).status == 200
        (sent,) = desk.newest(1)
        assert sent.vote is not None
        assert sent.vote.submission_id == answer["submission_id"]
        undo = {"submission_id": str(uuid.uuid4()), "undoes": answer["submission_id"]}
        assert room.server.post("/api/undos", undo, token=room.tokens["carl"]).status == 200
        assert sent not in desk.newest(500)


def test_names_are_looked_up_once_and_strangers_keep_their_id(room: Room) -> None:
    names = Names(room.people, room.study.study_id)
    assert names(room.raters["ada"]) == "ada"
    assert names("imported-1") == "imported-1"
    late = room.people.add(room.study.study_id, f"late {uuid.uuid4().hex[:6]}")
    assert names(late.rater_id) == late.name
