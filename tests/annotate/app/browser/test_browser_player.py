"""All players show the same frame, always; and what each control does to the picture."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from browser_checks import repainted
from tests.annotate.app.browser.barcodes import COLOURS
from tests.annotate.app.browser.conftest import Tab
from tests.annotate.app.browser.standin import card
from tests.annotate.app.browser.test_browser_questions import form

Enter = Callable[..., Tab]
READ = """
window.BITS = 8;
window.readBars = (span) => {
  const small = Object.assign(document.createElement("canvas"), {width: 320, height: 180});
  const pen = small.getContext("2d", {willReadFrequently: true});
  return [...document.querySelectorAll("#rater-page .pane:not([hidden]) canvas")].map((canvas) => {
    pen.drawImage(canvas, 0, 0, 320, 180);
    const row = pen.getImageData(0, 20, 320, 1).data;
    let number = 0;
    for (let bit = 0; bit < BITS; bit += 1) if (row[4 * Math.floor((bit + 0.5) * 320 * span / BITS)] > 128) number += 1 << bit;
    return number;
  });
};
"""
COLOUR = """(place) => {
  const canvas = document.querySelectorAll("#rater-page .pane:not([hidden]) canvas")[place];
  const pen = canvas.getContext("2d");
  return [...pen.getImageData(Math.floor(canvas.width * %s), Math.floor(canvas.height * %s), 1, 1).data].slice(0, 3);
}"""


def pair(proxies: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return card("sharp", form("pairwise", 2), proxies["pair"], **fields)


def spin() -> None:
    while True:
        sum(range(10_000))


@contextmanager
def busy_cores() -> Iterator[None]:
    busy = [multiprocessing.get_context("spawn").Process(target=spin, daemon=True) for _ in range(os.cpu_count() or 2)]
    for process in busy:
        process.start()
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.join()


def colour(tab: Tab, place: int, *, x: float = 0.8, y: float = 0.75) -> tuple[int, ...]:
    return tuple(tab.page.evaluate(COLOUR % (x, y), place))


def is_near(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return all(abs(a - b) < 30 for a, b in zip(one, other, strict=True))


def bars(tab: Tab, *, seconds: float, span: float) -> list[list[int]]:
    """What all players show, at every repaint."""
    seen: list[list[int]] = tab.page.evaluate(
        """([span, milliseconds]) => new Promise((resolve) => {
          const seen = []; const until = performance.now() + milliseconds;
          const look = () => {
            seen.push(readBars(span));
            performance.now() < until ? requestAnimationFrame(look) : resolve(seen);
          };
          requestAnimationFrame(look);
        })""",
        [span, seconds * 1000],
    )
    return seen


@pytest.mark.long
def test_players_never_show_different_frames_while_all_cores_are_busy(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    tab.page.evaluate(READ)
    with busy_cores():
        seen = bars(tab, seconds=4, span=0.5)
        box = tab.page.locator("#rater-page .pane canvas").first.bounding_box()
        tab.page.mouse.move(box["x"] + 1, box["y"] + 1)
        tab.page.evaluate("window.raterPage.page.stage.view.zoomTo(2)")
        zoomed = bars(tab, seconds=2, span=1.0)
    assert len(seen) > 20
    assert len(zoomed) > 10
    assert all(len(numbers) == 4 for numbers in seen + zoomed)
    assert [numbers for numbers in seen + zoomed if len(set(numbers)) > 1] == []
    assert len({numbers[0] for numbers in seen}) > 15
    assert max(numbers[0] for numbers in seen + zoomed) <= 44


def test_thirty_steps_are_exact_and_go_round(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    tab.page.evaluate(READ)
    tab.press(" ")
    tab.page.evaluate("window.raterPage.page.stage.clock.seek(5)")
    tab.wait("clock.frame === 5 && clock.wanted === null")
    for number in range(6, 31):
        tab.press("ArrowRight" if number % 2 else ".")
        tab.wait("clock.wanted === null && !clock.chasing")
        assert set(tab.page.evaluate("readBars(0.5)")) == {number}
    for number in (29, 28, 27):
        tab.press("ArrowLeft" if number % 2 else ",")
        tab.wait("clock.wanted === null && !clock.chasing")
        assert set(tab.page.evaluate("readBars(0.5)")) == {number}
    tab.page.evaluate("window.raterPage.page.stage.clock.seek(44)")
    tab.wait("clock.frame === 44 && clock.wanted === null")
    tab.press("ArrowRight")
    tab.wait("clock.frame === 0 && clock.wanted === null")
    assert set(tab.page.evaluate("readBars(0.5)")) == {0}
    assert "1 / 45" in tab.page.inner_text("#rater-page .time")
    for _ in range(3):
        tab.press("ArrowLeft")
    tab.wait("clock.frame === 42 && clock.wanted === null")


SEEKS_LATE = """() => {
  const { video } = window.raterPage.page.stage.clock.media;
  const of = (name) => Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, name);
  const [time, seeking] = ["currentTime", "seeking"].map(of);
  let late = false;
  const set = (value) => { late = true; setTimeout(() => { late = false; time.set.call(video, value); }, 900); };
  Object.defineProperty(video, "currentTime", { get: () => time.get.call(video), set });
  Object.defineProperty(video, "seeking", { get: () => late || seeking.get.call(video) });
}"""


def test_a_step_is_over_when_its_frame_is_there_however_long_a_busy_browser_seeks(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    tab.page.evaluate(READ)
    tab.press(" ")
    tab.page.evaluate("window.raterPage.page.stage.clock.seek(5)")
    tab.wait("clock.frame === 5 && clock.wanted === null")
    tab.page.evaluate(SEEKS_LATE)
    tab.press("ArrowRight")
    tab.wait("clock.wanted === null && !clock.chasing")
    assert set(tab.page.evaluate("[...readBars(0.5), window.raterPage.page.stage.clock.frame]")) == {6}


def test_a_click_on_the_line_goes_there(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    tab.page.evaluate(READ)
    box = tab.page.locator("#rater-page .line").bounding_box()
    tab.page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    tab.wait("clock.frame === 22 && clock.wanted === null && !clock.playing")
    assert set(tab.page.evaluate("readBars(0.5)")) == {22}
    assert tab.page.input_value("#rater-page .line") == "23"


def test_flip_and_original_hold_while_the_key_is_down(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    assert is_near(colour(tab, 0), COLOURS[0])
    assert is_near(colour(tab, 1), COLOURS[1])
    tab.page.keyboard.down("f")
    assert is_near(colour(tab, 0), COLOURS[1])
    assert is_near(colour(tab, 1), COLOURS[0])
    assert tab.page.locator("#rater-page .pane .name").first.inner_text() == "B"
    tab.page.keyboard.up("f")
    assert is_near(colour(tab, 0), COLOURS[0])
    button = tab.page.locator("#rater-page .control.original").bounding_box()
    tab.page.mouse.move(button["x"] + 9, button["y"] + 9)
    tab.page.mouse.down()
    assert is_near(colour(tab, 0), COLOURS[2])
    assert is_near(colour(tab, 1), COLOURS[2])
    tab.page.mouse.up()
    assert is_near(colour(tab, 1), COLOURS[1])


def test_wipe_follows_the_pointer(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    tab.press("w")
    box = tab.page.locator("#rater-page .pane canvas").first.bounding_box()
    tab.page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 20)
    tab.wait("Math.abs(page.stage.view.wipeAt - 0.3) < 0.02")
    repainted(tab.page)
    assert is_near(colour(tab, 0, x=0.1), COLOURS[0])
    assert is_near(colour(tab, 0, x=0.5), COLOURS[1])
    tab.page.mouse.move(box["x"] + 0.9 * box["width"], box["y"] + 20)
    repainted(tab.page)
    assert is_near(colour(tab, 0, x=0.5), COLOURS[0])
    assert tab.page.locator("#rater-page .pane:not([hidden])").count() == 3
    tab.press("w")
    assert tab.page.locator("#rater-page .pane:not([hidden])").count() == 4


def test_the_outline_is_seen_on_white_and_on_black(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([card("opinion", form("mean_opinion", 1), proxies["plain"], leaf="mean_opinion", candidates=1)])
    tab.wait_for_card(0)
    line = 102 / 180
    for _ in range(100):  # the first frame is painted some time after the card is there
        if is_near(colour(tab, 0, x=0.4, y=line), (255, 255, 255)):
            break
        tab.page.wait_for_timeout(100)
    assert is_near(colour(tab, 0, x=0.4, y=line), (255, 255, 255))
    assert is_near(colour(tab, 0, x=0.6, y=line), (0, 0, 0))
    tab.press("h")
    on_white, on_black = colour(tab, 0, x=0.4, y=line), colour(tab, 0, x=0.6, y=line)
    assert on_white[2] < 120
    assert on_black[0] > 130
    rim = [colour(tab, 0, x=0.4, y=(100 - away) / 180) for away in (0.5, 1, 1.5, 2)]
    assert min(sum(one) for one in rim) < 250
    assert is_near(colour(tab, 0, x=0.4, y=0.3), (255, 255, 255))
    tab.press("h")
    assert is_near(colour(tab, 0, x=0.4, y=line), (255, 255, 255))


def test_zoom_follows_the_pointer_on_all_players(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    first = tab.page.locator("#rater-page .pane canvas").first.bounding_box()
    tab.page.mouse.move(first["x"] + 0.5 * first["width"], first["y"] + first["height"] - 1)
    tab.press("z")
    repainted(tab.page)
    assert all(is_near(colour(tab, place, x=0.1, y=0.1), COLOURS[place]) for place in range(4))
    tab.page.mouse.wheel(0, -400)
    tab.wait("page.stage.view.zoom.factor > 3")
    tab.press("z")
    assert tab.ask("page.stage.view.zoom.factor") == 1


def test_speed_and_loop(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    rates = []
    for key in ("m", "m", "m", "+", "-", "-"):
        tab.press(key)
        rates.append(tab.ask("clock.media.video.playbackRate"))
    assert rates == [0.5, 0.25, 1, 1.25, 1, 0.75]
    tab.press("+", "l")
    tab.wait("clock.media.video.ended && clock.frame === 44")
    tab.press(" ")
    tab.wait("clock.playing")


def test_where_a_clip_begins_anew_its_frames_do_too(proxies: dict[str, Any], enter: Enter) -> None:
    """And wherever it is paused, the number is that of the picture."""
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)
    tab.page.evaluate(READ)
    tab.wait("clock.watched.plays > 1.2 && clock.frame < 20")
    for _ in range(4):
        tab.press(" ")
        tab.wait("!clock.playing && clock.wanted === null && !clock.chasing")
        tab.page.wait_for_timeout(200)  # a busy machine presents the last frame a little after the pause
        assert len(set(tab.page.evaluate("[...readBars(0.5), window.raterPage.page.stage.clock.frame]"))) == 1
        tab.press(" ")
        tab.wait("clock.playing && clock.watched.last")
    assert tab.ask("clock.watched.plays") < 10


def test_a_clip_that_was_not_shown_is_not_counted(proxies: dict[str, Any], enter: Enter) -> None:
    """A jump over frames leaves them unseen."""
    tab = enter([pair(proxies, must_watch=True)])
    tab.wait_for_card(0, opened=False)
    tab.press(" ")
    tab.page.evaluate("window.raterPage.page.stage.clock.seek(40)")
    tab.wait("clock.frame === 40 && clock.wanted === null")
    assert tab.ask("clock.watched.seen[39]") == 0
    assert tab.ask("clock.watched.seen[40]") == 1
    assert tab.ask("page.stage.form.locked")


PLAYED = """async ([fps, frames, shown]) => {
  const { Watched } = await import("/static/player/watched.js");
  const watched = new Watched(frames, fps);
  for (const [frame, now] of shown) {
    if (frame === null) watched.interrupt();
    else watched.present(frame, now, { playing: true, speed: 1 });
  }
  const { count, dropped, stuttered, plays, complete } = watched;
  return { count, dropped, stuttered, plays, complete };
}"""


def test_what_was_watched_is_counted_exactly(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies)])
    tab.wait_for_card(0)

    def watched(*shown: tuple[int | None, float], fps: float = 25.0, frames: int = 30) -> dict[str, Any]:
        return dict(tab.page.evaluate(PLAYED, [fps, frames, shown]))

    smooth = [(n, 40.0 * n) for n in range(30)]
    whole = {"count": 30, "dropped": 0, "stuttered": False, "plays": 0.97, "complete": True}
    assert watched(*smooth) == whole
    # Two frames left out within 120 ms were played; the three of a hole of 160 ms were not.
    assert watched(*(one for one in smooth if one[0] not in (10, 11))) == {**whole, "dropped": 2, "stuttered": True}
    hole = watched(*(one for one in smooth if one[0] not in (10, 11, 12)))
    assert hole == {**whole, "count": 27, "dropped": 3, "stuttered": True, "complete": False}
    assert watched(*(one for one in smooth if one[0] != 10)) == {**whole, "dropped": 1}
    # A late frame is a stutter though none was left out; a pause that the rater made is not.
    late = [(n, 40.0 * n + (170 if n > 12 else 0)) for n in range(30)]
    assert watched(*late) == {**whole, "stuttered": True}
    assert watched(*smooth[:12], (None, 0), *((n, at + 5000) for n, at in smooth[12:])) == {**whole, "plays": 0.93}


def test_a_page_that_hangs_is_stored_with_the_answer(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies), pair(proxies)])
    tab.wait_for_card(0)
    tab.wait("clock.playing && clock.frame > 2 && clock.frame < 15")
    tab.page.evaluate("const until = performance.now() + 500; while (performance.now() < until);")
    tab.wait("clock.watched.longestGap >= 400")
    tab.press("1")
    tab.wait_for_card(1)
    tab.saved()
    stored = tab.desk.answers[0]
    assert stored["stuttered"]
    assert stored["dropped_frames"] >= 5


def test_seconds_in_a_hidden_tab_do_not_count(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies), pair(proxies)])
    tab.wait_for_card(0)
    hide = "(hidden) => { Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden }); %s }"
    hide %= "document.dispatchEvent(new Event('visibilitychange'));"
    tab.page.evaluate(hide, True)
    before = tab.ask("page.stage.stopwatch.milliseconds")
    tab.page.wait_for_timeout(1500)
    assert tab.ask("page.stage.stopwatch.milliseconds") == before
    tab.page.evaluate(hide, False)
    tab.wait(f"page.stage.stopwatch.milliseconds > {before}")
    whole = tab.ask("performance.now() - page.stage.stopwatch.since")
    tab.press("1")
    tab.wait_for_card(1)
    tab.saved()
    assert tab.desk.answers[0]["seconds"] * 1000 < before + whole + 1500


@pytest.mark.long
def test_browsers_without_frame_callbacks_play_and_step_too(proxies: dict[str, Any], enter: Enter) -> None:
    tab = enter([pair(proxies, must_watch=True)])
    tab.page.add_init_script("delete HTMLVideoElement.prototype.requestVideoFrameCallback; delete window.OffscreenCanvas;")
    tab.page.reload()
    tab.wait_for_card(0)
    tab.page.evaluate(READ)
    tab.press(" ")
    tab.page.evaluate("window.raterPage.page.stage.clock.seek(20)")
    tab.wait("clock.frame === 20 && clock.wanted === null")
    tab.press("ArrowRight")
    tab.wait("clock.frame === 21 && clock.wanted === null")
    assert set(tab.page.evaluate("readBars(0.5)")) == {21}
