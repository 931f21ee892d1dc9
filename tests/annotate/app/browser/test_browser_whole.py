"""The rater's page in front of the real server, desk and journal: what is answered on the screen is what the journal holds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from annotate_load import Served, invite_many
from ports import free_port
from studies_made import FRAMES, write_study
from tests.annotate.app.browser.conftest import Tab

from inpaintbench.annotate.desk.state import votes
from inpaintbench.annotate.journal import Journal
from inpaintbench.annotate.records import Event
from inpaintbench.annotate.study import Study

QUESTIONS: list[dict[str, Any]] = [
    {"leaf": "scene_motion", "raters_per_task": 3, "must_watch": False},
    {"leaf": "camera_motion", "raters_per_task": 1, "must_watch": False},
    {"leaf": "keep_reject", "raters_per_task": 3},
    {"leaf": "pairwise", "raters_per_task": 3, "must_watch": False, "constants": {"both_bad": True}},
    {"leaf": "best_of", "raters_per_task": 3, "must_watch": False},
    {"leaf": "mean_opinion", "raters_per_task": 3, "must_watch": False},
]
METHODS = ("deep", "flow", "patch")
SUBJECTS = 3
CUT = ("ERR_INTERNET_DISCONNECTED", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE", "ERR_FAILED")


class Whole:
    """A study, its server and raters who have not begun."""

    def __init__(self, study: Study, server: Served, secrets: list[str]) -> None:
        self.study, self.server, self.secrets = study, server, secrets

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.port}"

    def events(self, kind: str) -> list[Event]:
        with Journal(self.server.folder / "journal.sqlite") as journal:
            return [event for event in journal.events(self.study.study_id) if event.kind == kind]

    def answers_of(self, shown: list[dict[str, Any]]) -> list[Event]:
        """The journal's answers to what was ``shown``, in order; exactly one each."""
        wanted = [one["lease"] for one in shown]
        found = [event for event in self.events("answer") if event.body["lease_id"] in wanted]
        assert sorted(event.body["lease_id"] for event in found) == sorted(wanted)
        return sorted(found, key=lambda event: wanted.index(event.body["lease_id"]))


@pytest.fixture(scope="module")
def whole(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Whole]:  # one for each engine, whose tasks end
    folder: Path = tmp_path_factory.mktemp("whole") / "study"
    made = write_study(folder, QUESTIONS, subjects=SUBJECTS, methods=METHODS, proxies=2)
    secrets = invite_many(folder, 7)
    server = Served(folder, free_port())
    try:
        server.start()
        yield Whole(made, server, secrets)
    finally:
        server.stop()


@pytest.fixture
def sit_down(browser: Any, whole: Whole) -> Iterator[Callable[..., Tab]]:
    """A new rater's page; at the end no page may have complained."""
    tabs: list[Tab] = []

    def open_tab() -> Tab:
        tabs.append(Tab(browser, whole.address, None, whole.secrets.pop(), {}))
        tabs[-1].context.set_default_timeout(30_000)
        return tabs[-1]

    yield open_tab
    complaints = [text for tab in tabs for text in tab.complaints if not any(one in text for one in tab.expected)]
    for tab in tabs:
        tab.context.close()
    assert complaints == []


def ready(tab: Tab, *, after: str | None = None) -> dict[str, Any]:
    """Wait for a card that may be answered, other than the one leased as ``after``."""
    tab.wait(f"page.card && page.card.lease_id !== {json.dumps(after)} && clock.media && !page.stage.form.locked", seconds=30)
    card: dict[str, Any] = tab.ask("page.card")
    return card


def give(tab: Tab, card: dict[str, Any], *, by: str, turn: int = 0) -> dict[str, Any]:
    """Answer every part of a card; which option is chosen changes with ``turn``."""
    given: dict[str, str] = {}
    for part in card["question"]["form"]["parts"]:
        if part["when"] is not None and given.get(part["when"][0]) != part["when"][1]:
            continue
        tab.wait(f"page.stage.form.active?.name === {part['name']!r}")
        options = [one for one in part["options"] if one["value"] != part["text_with"]]
        option = options[turn % len(options)]
        if by == "mouse":
            tab.click(option["value"])
        else:
            tab.press(option["key"])
        given[part["name"]] = option["value"]
    return {"lease": card["lease_id"], "leaf": card["question"]["leaf"], "given": given, "by": by, "players": card["players"]}


def answer_some(tab: Tab, count: int, *, after: str | None = None) -> list[dict[str, Any]]:
    given: list[dict[str, Any]] = []
    for turn in range(count):
        card = ready(tab, after=after)
        given.append(give(tab, card, by="keyboard", turn=turn))
        after = card["lease_id"]
    return given


def meant(one: dict[str, Any], shown: list[str]) -> str:
    """What the first part of an answer says, worked out from the order of candidates."""
    value = next(iter(one["given"].values()))
    return shown[int(value.removeprefix("place-"))] if value.startswith("place-") else value


@pytest.mark.long
def test_all_six_questions_by_keyboard_and_by_mouse(whole: Whole, sit_down: Callable[..., Tab]) -> None:
    tab = sit_down()
    done: list[dict[str, Any]] = []
    seen: Counter[str] = Counter()
    while True:
        tab.wait("(page.card && clock.media && !page.stage.form.locked) || page.work?.status === 'done'", seconds=30)
        if tab.ask("page.work.status === 'done' && !page.card"):
            break
        card = ready(tab, after=done[-1]["lease"] if done else None)
        leaf = card["question"]["leaf"]
        done.append(give(tab, card, by="keyboard" if seen[leaf] % 2 == 0 else "mouse", turn=seen[leaf]))
        seen[leaf] += 1
        tab.wait(f"page.card?.lease_id !== {card['lease_id']!r} && (page.card || !page.outbox.size)", seconds=30)
    assert {(one["leaf"], one["by"]) for one in done} == {(q["leaf"], by) for q in QUESTIONS for by in ("keyboard", "mouse")}
    shown_by_lease = {event.body["lease_id"]: event.body["shown"] for event in whole.events("lease")}
    leases = {event.body["lease_id"]: event for event in whole.events("lease")}
    events = whole.answers_of(done)
    for one, event in zip(done, events, strict=True):
        shown = shown_by_lease[one["lease"]]
        assert event.body["given"] == one["given"]
        assert event.body["choice"] == meant(one, shown)
        proxy = whole.study.proxies[whole.study.task_of[event.body["task_id"]].proxy]
        left_of = {tile.candidate: tile.x for tile in proxy.tiles if tile.role == "candidate"}
        assert [player["x"] for player in one["players"] if player["role"] == "candidate"] == [left_of[name] for name in shown]
        assert 0 < event.body["seconds"] <= event.at - leases[one["lease"]].at + 1
        assert event.body["watched_frames"] == FRAMES if one["leaf"] == "keep_reject" else event.body["watched_frames"] >= 1
        assert event.body["plays"] >= 0
    sides = Counter((name, side) for e in events for side, name in enumerate(_pair(whole, e, shown_by_lease)))
    assert sum(sides.values()) == 2 * SUBJECTS * len(METHODS)
    assert all(abs(sides[name, 0] - sides[name, 1]) <= 2 for name in METHODS), sides


def _pair(whole: Whole, event: Event, shown: dict[str, list[str]]) -> list[str]:
    found = shown[event.body["lease_id"]]
    return found if whole.study.task_of[event.body["task_id"]].question == "pairwise" else []


@pytest.mark.long
def test_undo_and_reload(whole: Whole, sit_down: Callable[..., Tab]) -> None:
    tab = sit_down()
    given = answer_some(tab, 2)
    tab.saved()
    shown = ready(tab, after=given[-1]["lease"])["lease_id"]
    tab.page.reload()
    assert ready(tab)["lease_id"] == shown
    tab.press("u")
    again = ready(tab, after=shown)
    assert again["previous"] == given[1]["given"]
    assert tab.page.locator("#rater-page .option.marked").count() == 1
    redone = give(tab, again, by="mouse", turn=2)
    tab.saved()
    assert ready(tab, after=again["lease_id"])["lease_id"] == shown
    first, second = whole.answers_of(given)
    (third,) = whole.answers_of([redone])
    assert third.body["task_id"] == second.body["task_id"]
    assert second.body["submission_id"] in [event.body["undoes"] for event in whole.events("undo")]
    with Journal(whole.server.folder / "journal.sqlite") as journal:
        standing = {vote.submission_id for vote in votes(whole.study, journal.events(whole.study.study_id))}
    assert {first.body["submission_id"], third.body["submission_id"]} <= standing
    assert second.body["submission_id"] not in standing


@pytest.mark.long
def test_two_raters_at_once(whole: Whole, sit_down: Callable[..., Tab]) -> None:
    one, other = sit_down(), sit_down()
    after: dict[Tab, str | None] = {one: None, other: None}
    given: dict[Tab, list[dict[str, Any]]] = {one: [], other: []}
    for turn in range(5):
        for tab in (one, other):
            card = ready(tab, after=after[tab])
            after[tab] = card["lease_id"]
            given[tab].append(give(tab, card, by="keyboard", turn=turn))
    one.saved()
    other.saved()
    raters = [{event.rater_id for event in whole.answers_of(given[tab])} for tab in (one, other)]
    assert [len(found) for found in raters] == [1, 1]
    assert raters[0] != raters[1]
    answered = Counter(event.body["task_id"] for event in whole.events("answer"))
    undone = Counter(event.body["task_id"] for event in whole.events("undo"))
    for task, count in (answered - undone).items():
        assert count <= whole.study.spec_of[whole.study.task_of[task].question].raters_per_task


@pytest.mark.long
def test_a_dropped_network_and_a_killed_server_lose_and_double_nothing(whole: Whole, sit_down: Callable[..., Tab]) -> None:
    tab = sit_down()
    tab.expected = CUT
    given = answer_some(tab, 1)
    media_are_there = "page.queue.cards.length && [...page.stage.shelf.held.values()].every((one) => one.state === 'ready')"
    for cut, mend in (
        (lambda: tab.context.set_offline(True), lambda: tab.context.set_offline(False)),
        (whole.server.kill, whole.server.start),
    ):
        tab.saved()
        ready(tab, after=given[-1]["lease"])
        tab.wait(media_are_there, seconds=30)
        cut()
        given += answer_some(tab, 2, after=given[-1]["lease"])
        tab.page.get_by_text("Answers waiting for the network: 2").wait_for()
        assert len(whole.answers_of(given[:-2])) == len(given) - 2
        mend()
        tab.wait("page.outbox.size === 0", seconds=60)
        given += answer_some(tab, 1, after=given[-1]["lease"])
    tab.saved()
    events = whole.answers_of(given)
    assert [event.body["given"] for event in events] == [one["given"] for one in given]
    assert sorted(events, key=lambda event: event.seq) == events
    assert len({event.body["submission_id"] for event in events}) == len(given)
