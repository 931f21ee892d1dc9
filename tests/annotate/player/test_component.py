"""The player as a component of anybody's Gradio app, in Chromium: the example, and an app that listens to it."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gr = pytest.importorskip("gradio", reason="gradio is not installed")

from tests.annotate.app.browser.barcodes import barcode  # noqa: E402

from inpaintbench import video  # noqa: E402
from inpaintbench.annotate.player import STATIC, ComparisonPlayer  # noqa: E402

EXAMPLE = Path(__file__).parents[3] / "examples" / "compare_videos.py"
FRAMES = 40
# Numbers of the frames that the players of a component show, at every repaint of a second.
SEEN = """(root) => new Promise((resolve) => {
  const small = Object.assign(document.createElement("canvas"), {width: 320, height: 180});
  const pen = small.getContext("2d", {willReadFrequently: true});
  const number = (canvas) => {
    pen.drawImage(canvas, 0, 0, 320, 180);
    const row = pen.getImageData(0, 20, 320, 1).data;
    return [...Array(8).keys()].reduce((sum, bit) => sum + (row[4 * (20 * bit + 10)] > 128 ? 1 << bit : 0), 0);
  };
  const seen = [], until = performance.now() + 1000;
  const look = () => {
    seen.push([...document.querySelectorAll(`${root} .pane:not([hidden]) canvas`)].map(number));
    performance.now() < until ? requestAnimationFrame(look) : resolve(seen);
  };
  requestAnimationFrame(look);
})"""


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Clips whose frames carry their number as bars, of three colours."""
    folder = tmp_path_factory.mktemp("clips")
    for hue, name in enumerate(("ours", "theirs", "truth")):
        pictures = np.stack([barcode(number, hue=hue) for number in range(FRAMES)])
        video.write_browser(folder / f"{name}.mp4", pictures, fps=30.0, crf=12)
    return {path.stem: path for path in sorted(folder.glob("*.mp4"))}


@pytest.fixture(scope="module", autouse=True)
def quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Gradio calls nobody, and puts its files into a folder of the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("GRADIO_ANALYTICS_ENABLED", "GRADIO_SHARE", "GRADIO_RUN_HISTORY"):
            patch.setenv(name, "False")
        patch.setenv("GRADIO_TEMP_DIR", str(tmp_path_factory.mktemp("gradio")))
        yield


class Tab:
    def __init__(self, browser: Any, app: gr.Blocks, **options: Any) -> None:
        app.launch(prevent_thread_lock=True, quiet=True, server_name="127.0.0.1", server_port=None)
        self.app = app
        self.context = browser.new_context(**{"viewport": {"width": 1100, "height": 900}, **options})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.goto(app.local_url)
        self.page.wait_for_selector(".comparison .pane canvas")

    def close(self) -> None:
        self.context.close()
        self.app.close(verbose=False)


def test_the_example_plays_frame_by_frame_the_same_in_three_lines(
    clips: dict[str, Path], browser: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [str(EXAMPLE), str(clips["ours"]), str(clips["theirs"])])
    tab = Tab(browser, runpy.run_path(str(EXAMPLE))["app"])
    try:
        assert tab.page.locator(".pane .name").all_inner_texts() == ["A", "B"]
        tab.page.wait_for_function("document.querySelector('.comparison').player.clock.playing")
        seen = tab.page.evaluate(SEEN, ".comparison")
        assert [pair for pair in seen if len(set(pair)) > 1] == []
        assert len({pair[0] for pair in seen}) > 10
        tab.page.hover(".comparison canvas")
        tab.page.keyboard.press(" ")
        tab.page.wait_for_function("!document.querySelector('.comparison').player.clock.playing")
        before = tab.page.evaluate(SEEN, ".comparison")[-1][0]
        tab.page.keyboard.press("ArrowRight")
        tab.page.wait_for_function(
            "(frame) => document.querySelector('.comparison').player.clock.frame === frame", arg=(before + 1) % FRAMES
        )
        assert set(tab.page.evaluate(SEEN, ".comparison")[-1]) == {(before + 1) % FRAMES}
        assert tab.complaints == []
    finally:
        tab.close()


def listening(clips: dict[str, Path]) -> gr.Blocks:
    """Two players: one whose choices and frames are told to Python, which changes what it shows; one that chooses nothing."""
    app: gr.Blocks
    with gr.Blocks(title="Listening") as app:
        first = ComparisonPlayer(
            {"ours": clips["ours"], "theirs": clips["theirs"], "truth": clips["truth"]},
            original="truth",
            choose=True,
            elem_id="first",
        )
        ComparisonPlayer([clips["ours"], clips["truth"]], elem_id="second", height=300)
        chosen, watched, counted = (gr.Textbox(label=name, elem_id=name) for name in ("chosen", "watched", "counted"))
        gr.Textbox(label="notes", elem_id="notes")
        count, swap, wrong = (gr.Button(name, elem_id=name) for name in ("count", "swap", "wrong"))

        def picked(event: gr.SelectData) -> str:
            return f"{event.index} {event.value}"

        first.select(picked, None, chosen)
        first.watched(lambda: "every frame", None, watched)
        count.click(lambda facts: f"{facts['watched_frames']} of {facts['frames']}, {facts['complete']}", first, counted)
        swap.click(lambda: {"truth": str(clips["truth"]), "ours": str(clips["ours"])}, None, first)
        wrong.click(lambda: {"truth": str(clips["truth"]), "ours": str(clips["ours"].parent / "missing.mp4")}, None, first)
    return app


@pytest.mark.long
def test_an_app_hears_what_was_watched_and_chosen_and_changes_what_is_shown(clips: dict[str, Path], browser: Any) -> None:
    tab = Tab(browser, listening(clips))
    page = tab.page
    try:
        page.wait_for_function("document.querySelector('#watched textarea').value === 'every frame'", timeout=15_000)
        page.click("#count")
        page.wait_for_function(f"document.querySelector('#counted textarea').value === '{FRAMES} of {FRAMES}, True'")
        # Keys are those of the player under the pointer, and of no text field.
        page.hover("#first canvas")
        page.keyboard.press("2")
        page.wait_for_function("document.querySelector('#chosen textarea').value === '1 theirs'")
        page.locator("#first .pane .name").first.click()
        page.wait_for_function("document.querySelector('#chosen textarea').value === '0 ours'")
        wiping = "[...document.querySelectorAll('.comparison')].map((box) => box.player.view.wiping)"
        page.hover("#second canvas")
        page.keyboard.press("w")
        assert page.evaluate(wiping) == [False, True]
        page.focus("#notes textarea")
        page.hover("#second canvas")
        page.keyboard.type("w2")
        assert page.input_value("#notes textarea") == "w2"
        assert page.evaluate(wiping) == [False, True]
        assert page.locator("#second .comparison").bounding_box()["height"] == 300
        page.click("#swap")
        page.wait_for_function("document.querySelectorAll('#first .pane').length === 2")
        assert page.locator("#first .pane .name").all_inner_texts() == ["ours", "truth"]
        assert tab.complaints == []
        page.click("#wrong")
        page.get_by_text("missing.mp4").first.wait_for()
        assert page.locator("#first .pane").count() == 2
    finally:
        tab.close()


def test_styles_hold_nothing_that_gradios_templates_would_take_for_theirs() -> None:
    player = ComparisonPlayer()
    for sign in ("{{", "`", "\\"):
        assert sign not in player.css_template
    assert player.css_template.count("${") == 1
    assert "watched" in player.js_on_load
    assert (STATIC / "gradio.js").is_file()
