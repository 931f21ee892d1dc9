"""No answer is lost, none comes twice: networks, servers and sessions that fail, reloads, undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.annotate.app.browser.conftest import Tab
from tests.annotate.app.browser.standin import card
from tests.annotate.app.browser.test_browser_questions import form

Enter = Callable[..., Tab]


def pairs(proxies: dict[str, Any], count: int) -> list[dict[str, Any]]:
    return [card("sharp", form("pairwise", 2), proxies["pair" if n % 2 else "pair again"]) for n in range(count)]


def values(tab: Tab) -> list[str]:
    return [answer["given"]["better"] for answer in tab.desk.answers]


def test_a_page_that_does_not_come_whole_says_so_and_tries_again(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 1))
    tab.wait_for_card(0)
    tab.expected = ("503",)
    tab.page.route("**/rater.html", lambda route: route.fulfill(status=503), times=2)
    tab.page.reload()
    tab.page.get_by_text("The server does not answer. This page tries again by itself.").wait_for()
    tab.wait_for_card(0)
    assert sum(address.endswith("/rater.html") for address in tab.requests) == 4  # once whole, refused twice, and whole


def test_undo_brings_the_task_back_with_its_answer_marked(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 3))
    tab.wait_for_card(0)
    tab.press("u")
    tab.page.get_by_text("nothing to take back").wait_for()
    tab.press("3")
    tab.wait_for_card(1)
    tab.press("u")
    tab.wait_for_card(0)
    assert tab.page.locator("#rater-page .option.marked").get_attribute("data-value") == "place-1"
    tab.press("1")
    tab.wait_for_card(1)
    tab.press("1")
    tab.wait_for_card(2)
    tab.press("1")
    tab.page.get_by_text("All done").wait_for()
    tab.saved()
    tab.press("Backspace")
    tab.wait_for_card(2)
    tab.page.click("#rater-page .side.undo")
    tab.wait_for_card(1)
    assert [undo["undoes"] for undo in tab.desk.undos] == [tab.desk.answers[n]["submission_id"] for n in (0, 3, 2)]
    assert values(tab) == ["place-1", "place-0", "place-0", "place-0"]


def test_a_reload_goes_on_where_it_was(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 3))
    tab.wait_for_card(0)
    tab.press("1")
    tab.wait_for_card(1)
    tab.saved()
    tab.page.reload()
    tab.wait_for_card(1)
    assert tab.page.inner_text("#rater-page .count") == "1 / 3"
    assert len(tab.desk.answers) == 1


def test_answers_wait_for_the_network_and_come_once_and_in_order(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 4))
    tab.expected = ("ERR_INTERNET_DISCONNECTED",)
    tab.wait_for_card(0)
    tab.wait("page.stage.shelf.held.size === 2 && [...page.stage.shelf.held.values()].every((one) => one.state === 'ready')")
    tab.context.set_offline(True)
    tab.press("1")
    tab.wait_for_card(1)
    tab.press("3")
    tab.waiting(2)
    assert tab.page.get_by_text("There is no network").is_visible()
    assert tab.page.get_by_text("Answers kept in this browser, and sent once it is back: 2.").is_visible()
    assert not tab.desk.answers
    tab.context.set_offline(False)
    tab.wait_for_card(2)
    tab.press("2")
    tab.wait_for_card(3)
    tab.saved()
    assert values(tab) == ["place-0", "place-1", "tie"]
    assert len(set(tab.desk.received)) == len(tab.desk.received) == 3
    assert tab.page.inner_text("#rater-page .link") == "Saved"


def test_whoever_is_at_work_has_more_in_hand_than_the_next_task_when_the_network_goes(
    proxies: dict[str, Any], enter: Enter
) -> None:
    tab = enter(pairs(proxies, 12))
    tab.expected = ("ERR_INTERNET_DISCONNECTED",)
    tab.wait_for_card(0)
    tab.wait("page.stage.shelf.files.size === 2")
    assert tab.desk.room == 2  # somebody who only looks holds nothing up
    tab.press("1")
    tab.wait_for_card(1)
    tab.wait("page.queue.cards.length === 9 && page.stage.hasRoomAfter(page.queue.cards)")
    tab.saved()
    assert tab.desk.room == 10
    assert tab.ask("page.stage.shelf.held.size") <= 3  # the rest waits as files, and is not decoded
    tab.context.set_offline(True)
    for number in range(1, 11):
        tab.wait_for_card(number)
        tab.press("1")
    tab.page.get_by_text("There is no network").wait_for()
    tab.page.get_by_text("Answers kept in this browser, and sent once it is back: 10.").wait_for()
    tab.context.set_offline(False)
    tab.wait_for_card(11)
    tab.saved()
    assert [answer["lease_id"].split("-")[0] for answer in tab.desk.answers] == [str(number) for number in range(11)]


def test_files_for_later_stay_within_their_room(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 12))
    tab.wait_for_card(0)
    fetched = tab.page.evaluate(
        """async (urls) => {
          const { Shelf } = await import("/static/player/media.js");
          const shelf = new Shelf(document.createElement("div"));
          await shelf.fetch(urls.map((url) => ({ url })), 1);
          const few = shelf.files.size;
          await shelf.fetch(urls.map((url) => ({ url })), 50_000_000);
          const bytes = shelf.bytes;
          shelf.keep(new Set(), new Set(urls.slice(1)));
          return [few, shelf.files.size, bytes > shelf.bytes];
        }""",
        [proxies[name]["media"]["url"] for name in ("pair", "set", "clip")],
    )
    assert fetched == [1, 2, True]


def test_a_slow_line_gets_the_light_encoding_and_the_answer_says_so(proxies: dict[str, Any], enter: Enter) -> None:
    slow, light = [], proxies["pair again"]["media"]["url"]
    for number, (one, weighs) in enumerate(zip(pairs(proxies, 3), (10**12, 10**12, 1), strict=True)):
        media = {"url": f"{one['media']['url']}?{number}", "light": f"{light}?light{number}", "bytes": weighs}
        slow.append({**one, "media": {**one["media"], **media}})
    tab = enter(slow)
    for number in range(3):
        tab.wait_for_card(number)
        tab.press("1")
    tab.saved()
    # Of the first nobody knows how fast it comes; the third is no larger than a byte.
    assert [answer["seen"]["quality"] for answer in tab.desk.answers] == ["full", "light", "full"]
    asked = [url.partition("?")[2] for url in tab.requests if "/media/" in url]
    assert asked == ["0", "light1", "2"]


def test_a_server_that_is_gone_is_told_from_one_that_is_slow_and_is_asked_again_at_once(
    proxies: dict[str, Any], enter: Enter, server: Any
) -> None:
    tab = enter(pairs(proxies, 4), cuttable=True)
    tab.expected = ("ERR_FAILED", "503")
    tab.wait_for_card(0)
    tab.wait("page.stage.hasRoomAfter(page.queue.cards)")
    server.standin.delay = 1.5
    tab.press("1")
    tab.wait_for_card(1)
    tab.press("1")
    tab.page.get_by_text("You are quick").wait_for()
    server.standin.delay = 0.0
    tab.wait_for_card(2)
    tab.saved()
    tab.desk.cut = True
    tab.press("1")
    tab.wait_for_card(3)
    tab.page.get_by_role("button", name="Try now").wait_for()
    tab.press("1")
    tab.page.get_by_text("The server does not answer").wait_for()
    assert tab.page.get_by_text("There is no network").count() == 0
    tab.page.evaluate("clearTimeout(window.raterPage.page.outbox.timer)")  # it would be asked again by itself, later
    tab.desk.cut = False
    tab.page.locator("#rater-page .message").get_by_role("button", name="Try now").click()
    tab.page.get_by_text("All done").wait_for()
    tab.saved()
    assert len(tab.desk.answers) == 4


def test_a_stored_answer_whose_reply_was_lost_is_sent_again_under_its_id(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 3), desk={"lose_replies": 1})
    tab.expected = ("503",)
    tab.wait_for_card(0)
    tab.press("1")
    tab.wait_for_card(1)
    tab.saved()
    assert len(tab.desk.received) == 2
    assert len(set(tab.desk.received)) == len(tab.desk.answers) == 1


def test_unsent_answers_survive_closing_the_page(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 4), cuttable=True)
    tab.wait_for_card(0)
    tab.desk.cut = True
    tab.expected = ("ERR_FAILED", "503")
    tab.press("1")
    tab.wait_for_card(1)
    tab.press("3")
    tab.waiting(2)
    tab.page.close()
    assert not tab.desk.answers
    tab.desk.cut = False
    tab.open()
    tab.wait_for_card(2)
    tab.saved()
    assert values(tab) == ["place-0", "place-1"]


def test_signed_out_loses_nothing(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 3))
    tab.expected = ("401",)
    tab.wait_for_card(0)
    tab.desk.signed_out = True
    tab.press("3")
    tab.page.get_by_text("Please sign in again").wait_for()
    assert tab.page.inner_text("#rater-page .link") == "Signed out"
    tab.desk.signed_out = False
    tab.page.on("dialog", lambda dialog: dialog.accept())
    tab.page.goto(f"{tab.address}/join/{tab.name}")
    tab.wait_for_card(1)
    tab.saved()
    assert values(tab) == ["place-1"]


@pytest.mark.long
def test_another_rater_of_this_browser_does_not_send_what_the_first_left(
    proxies: dict[str, Any], enter: Enter, server: Any
) -> None:
    tab = enter(pairs(proxies, 3), cuttable=True, desk={"name": "First"})
    tab.expected = ("ERR_FAILED", "503")
    tab.wait_for_card(0)
    tab.desk.cut = True
    tab.press("1")
    tab.wait_for_card(1)
    tab.waiting(1)
    tab.page.close()
    first, desk = tab.name, tab.desk
    tab.name = enter(pairs(proxies, 3), desk={"name": "Second"}).name
    tab.desk = server.standin.desks[tab.name]
    tab.open()
    tab.wait_for_card(0)
    tab.press("2")
    tab.wait_for_card(1)
    tab.saved()
    assert values(tab) == ["tie"]
    assert not desk.received
    desk.cut = False
    tab.name, tab.desk = first, desk
    tab.page.close()
    tab.open()
    tab.wait_for_card(1)
    tab.saved()
    assert values(tab) == ["place-0"]


@pytest.mark.long
def test_what_waits_is_kept_when_another_link_is_opened_beside_it(proxies: dict[str, Any], enter: Enter, server: Any) -> None:
    tab = enter(pairs(proxies, 3), cuttable=True, desk={"name": "First"})
    tab.expected = ("ERR_FAILED", "403", "503")
    tab.wait_for_card(0)
    tab.desk.cut = True
    tab.press("1")
    tab.wait_for_card(1)
    tab.waiting(1)
    other = enter(pairs(proxies, 3), desk={"name": "Second"}).name
    beside = tab.context.new_page()
    beside.goto(f"{tab.address}/join/{other}")
    tab.desk.cut = False
    tab.page.evaluate("window.dispatchEvent(new Event('online'))")
    tab.page.get_by_text("Somebody else is signed in here").wait_for()
    assert not tab.desk.answers
    assert not server.standin.desks[other].answers
    tab.page.close()
    tab.open()
    tab.wait_for_card(1)
    tab.saved()
    assert values(tab) == ["place-0"]


def test_a_refused_answer_is_told_and_work_goes_on(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 3), desk={"refuse": [(409, "This was answered already."), (400, "Watch it first.")]})
    tab.expected = ("409", "400")
    tab.wait_for_card(0)
    tab.press("1")
    tab.page.get_by_text("That answer was not taken: This was answered already.").wait_for()
    tab.wait_for_card(1)
    tab.press("1")
    tab.page.get_by_text("Watch it first.").wait_for()
    tab.wait_for_card(2)
    tab.press("1")
    tab.wait_for_card(1)
    tab.press("3")
    tab.saved()
    assert values(tab) == ["place-0", "place-1"]


def test_waiting_paused_and_done_have_their_screens(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 2), desk={"forced_status": "waiting"})
    tab.page.get_by_text("Nothing to do at the moment").wait_for()
    tab.desk.forced_status = "paused"
    tab.page.get_by_text("Look now").click()
    tab.page.get_by_text("A short pause").wait_for()
    tab.desk.forced_status = None
    tab.page.get_by_text("Look now").click()
    tab.wait_for_card(0)
    tab.press("?")
    assert tab.page.get_by_role("dialog").is_visible()
    tab.press("1", "Escape")
    assert tab.page.get_by_role("dialog").count() == 0
    assert tab.ask("page.card.task") == "task-0"
    tab.press("1")
    tab.wait_for_card(1)
    tab.press("1")
    tab.page.get_by_text("All done").wait_for()


def test_the_page_asks_nobody_but_its_server(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 2))
    tab.wait_for_card(0)
    assert [url for url in tab.requests if not url.startswith((tab.address, "blob:", "data:"))] == []


def test_the_theme_is_remembered(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter(pairs(proxies, 2), color_scheme="dark")
    tab.wait_for_card(0)
    assert tab.ask("page.root.dataset.theme") == "dark"
    tab.page.click("#rater-page .plain.theme")
    assert tab.ask("page.root.dataset.theme") == "light"
    tab.page.reload()
    tab.wait_for_card(0)
    assert tab.ask("page.root.dataset.theme") == "light"


def test_two_raters_at_once_answer_for_themselves(proxies: dict[str, Any], enter: Enter) -> None:
    one, other = enter(pairs(proxies, 3)), enter(pairs(proxies, 3))
    for tab, key in ((one, "1"), (other, "3"), (one, "2")):
        tab.wait("page.card && clock.media && !page.stage.form.locked")
        tab.press(key)
    one.saved()
    other.saved()
    assert values(one) == ["place-0", "tie"]
    assert values(other) == ["place-1"]
