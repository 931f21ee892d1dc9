"""Every type of question is answered by keyboard and by mouse, and what is sent is what was chosen."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from tests.annotate.app.browser.conftest import Tab
from tests.annotate.app.browser.standin import card

from inpaintbench.annotate.questions import QUESTIONS

Enter = Callable[..., Tab]
UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


def form(leaf: str, candidates: int, **constants: Any) -> dict[str, Any]:
    return QUESTIONS.get(leaf)(**constants).form(candidates=candidates).json()


def cards(proxies: dict[str, Any]) -> list[dict[str, Any]]:
    clip = {**proxies["clip"], "outline": None}
    return [
        card("sharp", form("pairwise", 2, both_bad=True), proxies["pair"]),
        card("best", form("best_of", 4), proxies["set"], leaf="best_of", candidates=4),
        card("water", form("scene_motion", 0), clip, leaf="scene_motion", candidates=0),
        card("keep", form("keep_reject", 0), clip, leaf="keep_reject", candidates=0),
        card("camera", form("camera_motion", 0), clip, leaf="camera_motion", candidates=0),
        card("opinion", form("mean_opinion", 1), proxies["picture"], leaf="mean_opinion", candidates=1),
    ]


CHOSEN = [["place-1"], ["place-2"], ["25", "0"], ["reject", "overlay"], ["high"], ["4"]]


@pytest.mark.parametrize("by", ["keyboard", "mouse"])
def test_every_type_of_question_is_answered(by: str, proxies: dict[str, Any], enter: Enter) -> None:
    questions = cards(proxies)
    tab = enter(questions)
    for number, values in enumerate(CHOSEN):
        tab.wait_for_card(number)
        parts = {part["name"]: part for part in questions[number]["question"]["form"]["parts"]}
        for name, value in zip(parts, values, strict=True):
            tab.wait(f"page.stage.form.active?.name === {name!r}")
            if by == "mouse":
                tab.click(value)
            else:
                tab.press(next(option["key"] for option in parts[name]["options"] if option["value"] == value))
    tab.page.get_by_text("All done").wait_for()
    tab.saved()
    given = [list(answer["given"].values()) for answer in tab.desk.answers]
    assert given == CHOSEN
    assert all(UUID4.fullmatch(answer["submission_id"]) for answer in tab.desk.answers)
    assert [answer["lease_id"] for answer in tab.desk.answers] == [f"{number}-0-Rater" for number in range(6)]
    assert all(0 < answer["seconds"] < 20 for answer in tab.desk.answers)
    assert tab.desk.answers[-1]["watched_frames"] == 1


def test_other_asks_for_words_and_keys_stay_in_the_field(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([cards(proxies)[3]] * 2)
    tab.wait_for_card(0)
    reasons = cards(proxies)[3]["question"]["form"]["parts"][1]["options"]
    tab.press("2", next(option["key"] for option in reasons if option["value"] == "other"))
    tab.page.wait_for_selector("#rater-page input.words")
    tab.press("Enter")
    assert tab.ask("page.card.task") == "task-0"
    tab.page.keyboard.type("u s 1 too dark?")
    tab.press("Enter")
    tab.wait_for_card(1)
    tab.saved()
    assert tab.desk.answers[0]["given"] == {"verdict": "reject", "reason": "other", "reason_text": "u s 1 too dark?"}
    assert not tab.desk.undos
    assert not tab.desk.skips


def test_an_earlier_part_is_changed_by_a_click_or_by_undo(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([cards(proxies)[3]] * 2)
    tab.wait_for_card(0)
    tab.press("2")
    tab.page.click("#rater-page .chip >> nth=0")
    tab.wait("page.stage.form.active.name === 'verdict'")
    tab.press("2", "u")
    tab.wait("page.stage.form.active.name === 'verdict'")
    tab.press("1")
    tab.wait_for_card(1)
    tab.saved()
    assert [answer["given"] for answer in tab.desk.answers] == [{"verdict": "keep"}]


def test_modifiers_repeats_and_unknown_keys_answer_nothing(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([cards(proxies)[0]] * 3)
    tab.wait_for_card(0)
    tab.press("Control+1", "Alt+1", "Meta+1", "9", "Enter")
    tab.page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '1', code: 'Digit1', repeat: true, bubbles: true}))"
    )
    assert tab.ask("page.card.task") == "task-0"
    tab.page.keyboard.down("1")
    tab.wait_for_card(1)
    tab.page.keyboard.down("1")
    tab.page.keyboard.down("1")
    tab.page.keyboard.up("1")
    tab.saved()
    assert tab.ask("page.card.task") == "task-1"
    assert len(tab.desk.answers) == 1


def test_digits_work_where_the_keyboard_prints_others_unshifted(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([cards(proxies)[0]] * 2)
    tab.wait_for_card(0)
    tab.page.evaluate(
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: '\\u00e9', code: 'Digit2', bubbles: true}))"
    )
    tab.wait_for_card(1)
    tab.saved()
    assert tab.desk.answers[0]["given"] == {"better": "tie"}


def test_a_prefilled_answer_is_marked_and_enter_takes_it(proxies: dict[str, Any], enter: Enter) -> None:
    prefilled = {**cards(proxies)[2], "suggestion": {"part": "water", "value": "50", "mode": "prefill"}}
    tab = enter([prefilled, cards(proxies)[2]])
    tab.wait_for_card(0)
    marked = tab.page.locator("#rater-page .option.marked")
    assert marked.get_attribute("data-value") == "50"
    assert marked.get_attribute("aria-checked") == "true"
    assert "measured" in marked.inner_text()
    tab.press("Enter", "1")
    tab.wait_for_card(1)
    tab.saved()
    assert tab.desk.answers[0]["given"] == {"water": "50", "other": "0"}
    assert tab.page.locator("#rater-page .option.marked").count() == 0


def test_a_measurement_is_told_after_the_answer(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([cards(proxies)[2]] * 2, desk={"said": {0: "75"}})
    tab.wait_for_card(0)
    assert "measurement" not in tab.page.inner_text("#rater-page")
    tab.press("1", "1")
    tab.page.get_by_text("the measurement said: 75 %").wait_for()
    assert tab.desk.answers[0]["given"]["water"] == "0"


def test_skip_asks_why_and_can_be_left(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([cards(proxies)[0]] * 4)
    tab.wait_for_card(0)
    tab.press("s", "Escape", "s", "2")
    tab.wait_for_card(1)
    tab.page.click("#rater-page .side.skip")
    tab.click("broken")
    tab.wait_for_card(2)
    tab.press("s", "4")
    tab.page.keyboard.type("half of it is missing")
    tab.press("Enter")
    tab.wait_for_card(3)
    tab.saved()
    assert [(one["reason"], one["text"]) for one in tab.desk.skips] == [
        ("unclear", ""),
        ("broken", ""),
        ("other", "half of it is missing"),
    ]
    assert not tab.desk.answers


def test_answers_open_once_every_frame_was_shown(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([{**cards(proxies)[0], "must_watch": True}] * 2)
    tab.wait_for_card(0, opened=False)
    tab.press("1")
    tab.page.click('#rater-page .option[data-value="place-0"]', force=True)
    assert tab.ask("page.card.task") == "task-0"
    assert tab.page.locator("#rater-page .option[aria-disabled='true']").count() == 4
    assert "Watch to the end" in tab.page.inner_text("#rater-page .gate")
    tab.press(" ")
    tab.page.wait_for_timeout(300)
    assert tab.ask("page.stage.form.locked")
    assert "Press space" in tab.page.inner_text("#rater-page .gate")
    tab.press(" ")
    tab.wait_for_card(0)
    assert tab.ask("clock.watched.count") == 45
    tab.press("1")
    tab.wait_for_card(1, opened=False)
    assert tab.ask("page.stage.form.locked")
    tab.saved()
    assert tab.desk.answers[0]["watched_frames"] == 45


def test_names_and_words_of_a_study_stay_text(proxies: dict[str, Any], enter: Enter) -> None:
    evil = '<img src=x onerror="window.broken=1"><script>window.broken=1</script>${window.broken=1}{{7*7}}'
    spoilt = cards(proxies)[0]
    words = spoilt["question"]["form"]
    words["title"] = words["instruction"] = words["parts"][0]["prompt"] = words["parts"][0]["options"][0]["label"] = evil
    spoilt["players"][0]["label"] = spoilt["prompt"] = evil
    spoilt["skip_reasons"] = [{"value": "broken", "label": evil, "key": "1"}]
    tab = enter([spoilt] * 2, desk={"title": evil, "name": evil, "welcome": evil})
    tab.page.get_by_text("Begin").wait_for()
    assert tab.page.locator("#rater-page .message p").first.inner_text() == evil
    tab.press("Enter")
    tab.wait_for_card(0)
    tab.press("s")
    assert tab.page.locator("#rater-page .option .label").first.inner_text() == evil
    assert tab.page.locator("#rater-page .title").inner_text() == evil
    assert tab.page.locator("#rater-page .pane .name").first.text_content() == evil
    assert tab.page.locator("#rater-page .quote").text_content() == evil
    assert tab.ask("window.broken") is None
    assert tab.page.locator("#rater-page img").count() == 0


def test_the_words_of_a_task_are_quoted_and_can_be_selected(proxies: dict[str, Any], enter: Enter) -> None:
    words = "Replace the boat with a red canoe.\nKeep the waves."
    tab = enter([{**cards(proxies)[0], "prompt": words}, {**cards(proxies)[0], "prompt": "long " * 400}, cards(proxies)[0]])
    tab.wait_for_card(0)
    quote = tab.page.locator("#rater-page .quote")
    assert quote.text_content() == words
    assert '"' in quote.evaluate("(one) => getComputedStyle(one, '::before').content")
    box = quote.bounding_box()
    tab.page.mouse.move(box["x"] + 40, box["y"] + 12)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 12, steps=5)
    tab.page.mouse.up()
    assert "red canoe" in tab.page.evaluate("String(getSelection())")
    tab.press("1")
    tab.wait_for_card(1)
    assert quote.bounding_box()["height"] < 90
    assert quote.evaluate("(one) => one.scrollHeight > one.clientHeight")
    tab.press("1")
    tab.wait_for_card(2)
    assert not quote.is_visible()
    tab.saved()


def test_hands_are_counted_and_scripts_told_from_them(proxies: dict[str, Any], enter: Enter) -> None:
    clip = {**proxies["clip"], "outline": None}
    tab = enter([card(f"keep{number}", form("keep_reject", 0), clip, leaf="keep_reject", candidates=0) for number in range(3)])
    keep = tab.page.locator('[data-value="keep"]')
    for number, press in enumerate((lambda: tab.press("1"), keep.click, lambda: keep.evaluate("node => node.click()"))):
        tab.wait_for_card(number)
        if number == 2:
            tab.page.locator(".honey").evaluate("node => node.click()")
        press()
    tab.page.get_by_text("All done").wait_for()
    tab.saved()
    names = ("keys", "presses", "scripted", "trapped")
    assert [[answer["seen"].get(name, 0) for name in names] for answer in tab.desk.answers] == [
        [1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1],
    ]  # fmt: skip
    assert all(answer["seen"]["driven"] for answer in tab.desk.answers)  # by the driver of these tests
    honey = tab.page.locator(".honey")
    assert honey.get_attribute("aria-hidden") == "true"
    assert honey.evaluate("node => [node.tabIndex, node.offsetWidth, node.offsetHeight]") == [-1, 1, 1]
