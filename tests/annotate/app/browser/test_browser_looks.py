"""The page on a laptop, a large screen and a phone, light and dark. INPAINTBENCH_SCREENSHOTS names a folder for pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.annotate.app.browser.conftest import Tab
from tests.annotate.app.browser.standin import card
from tests.annotate.app.browser.test_browser_questions import form

Enter = Callable[..., Tab]
SIZES = {"laptop": (1280, 720), "large": (1920, 1080), "phone": (390, 844)}
INSIDE = """() => {
  const pane = "#rater-page .pane:not([hidden]) canvas";
  const all = [...document.querySelectorAll(`#rater-page .option, ${pane}, #rater-page .control:not([hidden])`)];
  return all.filter((one) => one.getClientRects().length).map((one) => {
    const box = one.getBoundingClientRect();
    const inside = box.left >= 0 && box.top >= 0 && box.right <= innerWidth + 0.5 && box.bottom <= innerHeight + 0.5;
    return inside && box.width > 20 && box.height > 15 && one.scrollWidth <= one.clientWidth + 1;
  });
}"""


COLOUR = """(name) => {
    const probe = document.querySelector("#rater-page").appendChild(document.createElement("i"));
    probe.style.color = `var(--${name})`;
    const colour = getComputedStyle(probe).color;
    probe.remove();
    return colour;
}"""
"""What a variable comes to where the page uses it."""


@pytest.mark.parametrize("size", SIZES)
def test_everything_is_on_the_screen_without_scrolling(size: str, proxies: dict[str, Any], enter: Enter) -> None:
    clip = {**proxies["clip"], "outline": None}
    questions = {
        "pairwise": card("sharp", form("pairwise", 2, both_bad=True), proxies["pair"]),
        "best_of": card("best", form("best_of", 4), proxies["set"], leaf="best_of", candidates=4),
        "scene_motion": card("water", form("scene_motion", 0), clip, leaf="scene_motion", candidates=0),
    }
    width, height = SIZES[size]
    phone = {"has_touch": True, "is_mobile": True, "device_scale_factor": 2} if size == "phone" else {}
    tab = enter(list(questions.values()), viewport={"width": width, "height": height}, color_scheme="light", **phone)
    for number, name in enumerate(questions):
        tab.wait_for_card(number)
        for theme in ("light", "dark"):
            tab.page.emulate_media(color_scheme=theme)
            tab.wait(f"page.root.dataset.theme === '{theme}'")
            keep_picture(tab, f"{name}-{size}-{theme}")
        inside = tab.page.evaluate(INSIDE)
        assert len(inside) > 8
        assert all(inside)
        assert tab.page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        tab.press("1", "s", "1") if name == "scene_motion" else tab.press("1")
    tab.saved()


@pytest.mark.long
def test_a_phone_is_used_by_touch(proxies: dict[str, Any], enter: Enter) -> None:
    cards = [card("sharp", form("pairwise", 2), proxies["pair"])] * 2
    tab = enter(cards, viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    tab.wait_for_card(0)
    box = tab.page.locator("#rater-page .pane canvas").first.bounding_box()
    for _ in range(2):
        tab.page.touchscreen.tap(box["x"] + 30, box["y"] + 30)
    tab.wait("page.stage.view.zoom.factor > 1")
    low = tab.page.locator("#rater-page .option").first.bounding_box()
    assert low["height"] >= 48
    assert low["y"] > 844 * 0.7
    shown = "[...document.querySelectorAll('#rater-page .pane:not([hidden])')].map((one) => one.dataset.role)"
    tab.press("z")
    assert tab.page.evaluate(shown) == ["candidate", "candidate"]
    tab.page.locator("#rater-page .tab", has_text="Original").tap()
    assert tab.page.evaluate(shown) == ["original"]
    tab.press("t")
    assert tab.page.evaluate(shown) == ["input"]
    swipe(tab, -150)
    assert tab.page.evaluate(shown) == ["input"]
    swipe(tab, 150)
    swipe(tab, 150)
    assert tab.page.evaluate(shown) == ["candidate", "candidate"]
    # Browsers swallow a tap that comes right after a stroke, and on a busy machine a tap may last as long as a long press.
    for _ in range(5):
        tab.page.wait_for_timeout(500)
        if tab.ask("page.card.task") == "task-0":
            tab.page.tap('#rater-page .option[data-value="place-1"]')
    tab.wait_for_card(1)
    tab.saved()
    assert [answer["given"] for answer in tab.desk.answers] == [{"better": "place-1"}]


@pytest.mark.parametrize("size", ["laptop", "phone"])
def test_the_first_screen_speaks_of_keys_only_where_they_are_shown(size: str, proxies: dict[str, Any], enter: Enter) -> None:
    width, height = SIZES[size]
    asked = [card("sharp", form("pairwise", 2), proxies["pair"])]
    tab = enter(asked, viewport={"width": width, "height": height}, desk={"welcome": "Thank you for helping."})
    tab.page.get_by_text("Begin").wait_for()
    keep_picture(tab, f"welcome-{size}")
    assert tab.page.get_by_text("Hands on the keyboard").is_visible() == (size == "laptop")
    assert tab.page.get_by_text("Tap an answer").is_visible() == (size == "phone")
    tab.page.get_by_text("Begin").click()
    tab.wait_for_card(0)
    assert tab.page.locator("#rater-page .option kbd").first.is_visible() == (size == "laptop")


def test_an_instruction_that_does_not_fit_has_a_button_that_shows_all_of_it(proxies: dict[str, Any], enter: Enter) -> None:
    short, long = (card("sharp", form("pairwise", 2), proxies["pair"]) for _ in range(2))
    long["question"]["form"]["instruction"] = "Which film is steadier from one frame to the next? " * 8
    tab = enter([short, long], viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    cut = "[...document.querySelectorAll('#rater-page .question p')].some((note) => note.scrollHeight > note.clientHeight + 1)"
    more = tab.page.locator("#rater-page .question .more")
    tab.wait_for_card(0)
    assert not tab.page.evaluate(cut)
    assert not more.is_visible()
    tab.press("1")
    tab.wait_for_card(1)
    more.wait_for()
    assert tab.page.evaluate(cut)
    keep_picture(tab, "instruction-cut")
    more.tap()
    assert (more.locator("span:visible").inner_text(), more.get_attribute("aria-expanded")) == ("Show less", "true")
    assert not tab.page.evaluate(cut)
    keep_picture(tab, "instruction-whole")
    more.tap()
    assert tab.page.evaluate(cut)
    assert (more.locator("span:visible").inner_text(), more.get_attribute("aria-keyshortcuts")) == ("Read all", "i")
    tab.press("i")
    assert not tab.page.evaluate(cut)
    tab.press("i")
    assert tab.page.evaluate(cut)


def test_where_there_is_no_keyboard_no_word_is_of_keys_until_one_is_pressed(proxies: dict[str, Any], enter: Enter) -> None:
    asked = [card("sharp", form("pairwise", 2), proxies["pair"], must_watch=True) for _ in range(2)]
    asked[0]["previous"] = {"better": "place-1"}
    tablet = {"viewport": {"width": 1024, "height": 768}, "has_touch": True, "is_mobile": True}
    tab = enter(asked, desk={"welcome": "Thank you for helping."}, **tablet)
    tab.page.get_by_text("Tap an answer").wait_for()
    assert not tab.page.get_by_text("Hands on the keyboard").is_visible()
    tab.page.get_by_text("Begin").tap()
    tab.page.get_by_text("Tap it to keep it").wait_for()
    tab.page.locator("#rater-page .control.play").tap()
    tab.page.get_by_text("Tap ▶").wait_for()
    assert tab.page.locator("#rater-page kbd:visible").count() == 0
    tab.page.locator("#rater-page .plain.help").tap()
    dialog = tab.page.get_by_role("dialog")
    assert dialog.get_by_text("Slow motion").filter(visible=True).count() + dialog.locator("kbd:visible").count() == 0
    assert dialog.locator(".icon").count() >= 10
    keep_picture(tab, "help-touch")
    dialog.get_by_role("button", name="Close").tap()
    tab.press("i")
    assert tab.page.locator("#rater-page .option kbd").first.is_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out_from_their_ground(theme: str, proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([card("sharp", form("pairwise", 2), proxies["pair"])], color_scheme=theme)
    tab.wait_for_card(0)
    names = ["ink", "soft", "surround", "panel", "raise", "accent", "on-accent", "chosen", "warn", "warn-ground"]
    colours = {name: tab.page.evaluate(COLOUR, name) for name in names}
    pairs = [("ink", "surround"), ("ink", "panel"), ("ink", "raise"), ("soft", "surround"), ("soft", "panel"), ("soft", "raise")]
    pairs += [
        ("on-accent", "accent"),
        ("accent", "panel"),
        ("ink", "chosen"),
        ("accent", "chosen"),
        ("warn", "warn-ground"),
        ("warn", "panel"),
    ]
    weak = [(one, other) for one, other in pairs if contrast(colours[one], colours[other]) < 4.5]
    assert weak == []


def test_assistive_programs_hear_names_and_keys(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([card("sharp", form("pairwise", 2), proxies["pair"])])
    tab.wait_for_card(0)
    assert tab.page.get_by_role("radiogroup", name="Which is better?").get_by_role("radio").count() == 3
    assert tab.page.get_by_role("slider", name="Frame").count() == 1
    assert tab.page.get_by_role("progressbar", name="Answered").get_attribute("aria-valuenow") == "0"
    named = "one.getAttribute('aria-label') || one.textContent.trim()"
    assert tab.page.evaluate(f"[...document.querySelectorAll('#rater-page button')].every((one) => {named})")
    tab.page.locator('#rater-page .option[data-value="tie"]').focus()
    tab.press("Tab", "Enter")
    tab.page.get_by_text("All done").wait_for()
    tab.saved()
    assert tab.desk.answers[0]["given"] == {"better": "place-1"}


def swipe(tab: Tab, right: int) -> None:
    """A quick stroke over the first player."""
    box = tab.page.locator("#rater-page .pane:not([hidden]) canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    wire = tab.context.new_cdp_session(tab.page)
    for kind, at in (("touchStart", x), ("touchMove", x + right / 2), ("touchMove", x + right), ("touchEnd", None)):
        wire.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [] if at is None else [{"x": at, "y": y}]})
    tab.page.wait_for_timeout(50)


@pytest.mark.parametrize("size", ["laptop", "large"])
def test_references_are_large_enough_to_see_something(size: str, proxies: dict[str, Any], enter: Enter) -> None:
    width, height = SIZES[size]
    tab = enter([card("sharp", form("pairwise", 2), proxies["pair"])], viewport={"width": width, "height": height})
    tab.wait_for_card(0)
    boxes = [one.bounding_box() for one in tab.page.locator("#rater-page .reference canvas").all()]
    assert len(boxes) == 2
    assert all(box["width"] >= 240 for box in boxes)


def keep_picture(tab: Tab, name: str) -> None:
    folder = os.environ.get("INPAINTBENCH_SCREENSHOTS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        tab.page.screenshot(path=str(Path(folder) / f"{name}.png"))


def contrast(one: str, other: str) -> float:
    """Of two ``rgb(r, g, b)`` colours, as WCAG defines it."""
    lights = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lights[0] + 0.05) / (lights[1] + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
