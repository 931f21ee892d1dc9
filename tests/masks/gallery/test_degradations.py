"""The page of a generator that degrades whole pictures: no hole, input first, the change measured."""

from __future__ import annotations

import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from inpaintbench.errors import InputError
from inpaintbench.masks.gallery import Panel, Tile, panels, quantity_of, write_gallery
from inpaintbench.masks.gallery import tile_page as facts
from inpaintbench.masks.gallery.panels import AREA, CHANGE
from inpaintbench.masks.generators.base import Drawn

SIDE = 32


def levels(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def grey(seed: int = 0) -> np.ndarray:
    return np.repeat(levels(1, SIDE, SIDE, 1, seed=seed), 3, axis=3)


def degraded(truth: np.ndarray, seen: np.ndarray, *, facts: dict[str, Any] | None = None, caption: str = "") -> Tile:
    return Tile(truth, Drawn(None, facts or {}, input=seen), caption=caption)


def flat(*colour: int) -> np.ndarray:
    return np.full((1, SIDE, SIDE, 3), colour, np.uint8)


def masked() -> Tile:
    hole = np.zeros((1, SIDE, SIDE), bool)
    hole[:, :8] = True
    return Tile(grey(), Drawn(hole))


def page_of(folder: Path, *shown: Panel) -> str:
    made = write_gallery(folder / "gallery.html", title="Try", panels=shown, generator="worn", version="3", seed=7)
    return made.read_text(encoding="utf-8")


def text_of(html: str) -> str:
    """Words between tags, without style and script."""
    bare = re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


@settings(max_examples=30)
@given(seed=st.integers(0, 99), frames=st.integers(1, 3))
def test_the_change_of_colours_is_the_root_mean_square(seed: int, frames: int) -> None:
    truth, seen = levels(frames, 5, 7, 3, seed=seed), levels(frames, 5, 7, 3, seed=seed + 100)
    found = panels.measure_tile(degraded(truth, seen))
    expected = [np.sqrt((((one / 255) - (other / 255)) ** 2).mean()) for one, other in zip(truth, seen, strict=True)]
    assert found.quantity is CHANGE
    assert found.values == pytest.approx(expected)
    assert found.value == pytest.approx(np.mean(expected))
    assert found.strongest_frame == int(np.argmax(expected))
    assert (found.components, found.union, found.opacity) == (None, None, None)


def test_a_grey_truth_is_compared_in_grey() -> None:
    """Red, green and blue that make the grey of the truth change nothing that is measured."""
    truth, seen = grey(), levels(1, SIDE, SIDE, 3, seed=5)
    expected = np.sqrt(np.mean((np.round(seen @ [0.299, 0.587, 0.114]) / 255 - truth[..., 0] / 255) ** 2))
    assert panels.measure_tile(degraded(truth, seen)).value == pytest.approx(expected, abs=2e-5)
    assert panels.measure_tile(degraded(flat(76, 76, 76), flat(255, 0, 0))).value == 0
    assert panels.measure_tile(degraded(flat(0, 0, 0), flat(255, 255, 255))).value == 1
    assert panels.measure_tile(degraded(flat(255, 0, 0), flat(0, 0, 0))).value == pytest.approx(np.sqrt(1 / 3))


def test_the_quantity_follows_the_tiles() -> None:
    bare = degraded(grey(), grey(1))
    assert quantity_of([Panel("p", {}, [])]) is AREA
    assert quantity_of([Panel("p", {}, [masked()]), Panel("q", {}, [])]) is AREA
    assert quantity_of([Panel("p", {}, []), Panel("q", {}, [bare, bare])]) is CHANGE


def test_a_page_never_mixes_both(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be shown on one page"):
        page_of(tmp_path, Panel("p", {}, [masked()]), Panel("q", {}, [degraded(grey(), grey(1))]))
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    small = np.zeros((1, 8, 8, 3), np.uint8)
    for words, tile in (
        ("tile 1 of 'p' has neither a hole nor an input", Tile(grey(), Drawn(None))),
        ("the input of tile 1 of 'p' is uint8\\(1, 8, 8, 3\\), its truth uint8\\(1, 32, 32, 3\\)", degraded(grey(), small)),
        ("the input of tile 1 of 'p' is float64", degraded(grey(), grey() / 255)),
    ):
        with pytest.raises(InputError, match=words):
            page_of(tmp_path, Panel("p", {}, [tile]))


def test_words_of_the_page_speak_of_degradations(tmp_path: Path) -> None:
    tiles = [degraded(flat(0, 0, 0), flat(n, n, n), caption="whorl") for n in (51, 102)]
    html = page_of(
        tmp_path, Panel("a", {"n": 1}, tiles, refusals=("too small",)), Panel("b", {"n": 2}, tiles[:1]), Panel("c", {}, [])
    )
    text = text_of(html)
    assert "worn version 3 · seed 7 · 3 degradations in 3 panels · 32×32 · still images" in text
    assert "Panel n n mean change change, 0 to 40 % a 1 2 30.0 % b 2 1 20.0 % c – 0 –" in text
    assert "mean 30.0 % min 20.0 % max 40.0 % n 2" in text
    assert "1 degradation refused: too small" in text
    assert "No degradation to show." in text
    assert "Change is the root mean square difference" in text
    assert 'aria-label="Degradation 2, whorl: change 40.0 %"' in html
    assert 'aria-label="Changes of 2 degradations: each dot leads to its degradation"' in html
    assert html.count('href="#degradation-1-2"') == 2
    assert not re.search(r"\b(masks?|parts?|areas?|holes?|outline)\b", text, re.IGNORECASE)


def test_only_input_and_truth_can_be_looked_at_input_first(tmp_path: Path) -> None:
    html = page_of(tmp_path, Panel("p", {}, [degraded(grey(), grey(1))]))
    views = re.findall(r'name="view" id="view-(\w+)" value="\w+" autocomplete="off"( checked)?>', html)
    assert views == [("input", " checked"), ("truth", "")]
    assert html.count('class="layer ') == 2


def test_the_generators_own_change_is_not_said_twice(tmp_path: Path) -> None:
    facts = [{"change_rms": 51 / 255, "kind": "oak"}, {"change_rms": 0.3, "kind": "oak"}]
    html = page_of(tmp_path, Panel("p", {}, [degraded(flat(0, 0, 0), flat(51, 51, 51), facts=fact) for fact in facts]))
    first, second = html.split('<figure class="tile')[1:]
    assert "rms" not in first
    assert "0.3</li>" in second
    assert html.count("oak</li>") == 1


def test_clips_show_their_change_over_time(tmp_path: Path) -> None:
    truth = np.zeros((9, SIDE, SIDE, 3), np.uint8)
    seen = truth + np.arange(0, 90, 10, dtype=np.uint8)[:, None, None, None]
    tile = degraded(truth, seen)
    html = page_of(tmp_path, Panel("p", {}, [tile]))
    assert "change over 9 frames, 0.0 – 31.4 %" in html
    assert "<span>change over time</span> 0.0 – 31.4 %" in html
    assert 'aria-label="frames 0, 2, 3, 5, 6, 8 of 9"' in html
    drawn = panels.draw(tile, 8, panels.FORMS[0])
    assert (drawn.hole, drawn.outline, drawn.over_time) == (None, None, None)


def test_parameters_of_many_effects_are_folded_one_chip_each(tmp_path: Path) -> None:
    effects = [{"name": "blur", "radius_pixels": 2.125}, {"name": "rotation", "degrees": -3.0, "region": [1, 2, 3, 4]}]
    facts = {"effects": effects, "order": ["blur", "rotation"], "spots": list(range(99))}
    html = page_of(tmp_path, Panel("p", {}, [degraded(grey(), grey(1), facts=facts)]))
    shown, folded = html.split('<figure class="tile')[1].split("<details>")
    assert text_of(shown).endswith("order blur, rotation spots 99 values")
    assert "2 more effects/ blur radius_pixels 2.125 effects/ rotation degrees −3, region [1, 2, 3, 4]" in text_of(folded)


def test_lists_of_words_show_what_fits() -> None:
    words = ["lines", "brightness", "rotation", "resolution", "contrast"]
    assert facts.value_text(words) == "lines, brightness, rotation, resolution, contrast"
    assert facts.value_text(words * 3) == f"{', '.join(words)}, lines, brightness and 8 more"
    assert facts.value_text(["a" * 100, "b"]) == "2 values"
    assert facts.value_text(dict.fromkeys(words, words)) == "5 entries"
    assert facts.value_text({}) == "none"


@given(words=st.lists(st.text("abcdef", min_size=1, max_size=30), min_size=1, max_size=40))
def test_lists_of_words_count_all(words: list[str]) -> None:
    found = facts.value_text(words)
    more = re.search(r" and (\d+) more$", found)
    assert len(found.removesuffix(more[0] if more else "").split(", ")) + (int(more[1]) if more else 0) == len(words)


# In a browser

RED, BLUE = (200, 0, 0), (0, 0, 200)


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    effects = [{"name": f"effect_{index}", "degrees": 0.5, "region": [1.5] * 4} for index in range(8)]
    facts = {"order": ["effect_with_a_long_name"] * 12, "effects": effects, "numbers": [0.123456] * 50}
    tiles = [degraded(flat(*RED), flat(*BLUE), facts=facts, caption="right loop " * 4)] * 3
    shown = [Panel(f"strength {n}", {"strength": n}, tiles) for n in (1, 2)]
    return write_gallery(tmp_path_factory.mktemp("worn") / "gallery.html", title="Try", panels=shown, generator="w", version="1")


def middle(page: Any) -> np.ndarray:
    with Image.open(io.BytesIO(page.locator("#degradation-1-1 .picture").screenshot())) as image:
        return np.asarray(image.convert("RGB"))[image.height // 2, image.width // 2].astype(int)


@pytest.mark.parametrize("script", [True, False])
def test_input_and_truth_are_switched(browser: Any, gallery: Path, script: bool) -> None:
    page = browser.new_context(java_script_enabled=script).new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(gallery.as_uri())
    assert np.abs(middle(page) - BLUE).max() <= 12
    for key, name, colour in (("2", "truth", RED), ("1", "input", BLUE)):
        if script:
            page.keyboard.press("3")  # no third view
            page.keyboard.press(key)
        else:
            page.get_by_role("radio", name=name).check(force=True)
        assert page.locator(f"#view-{name}").is_checked()
        assert np.abs(middle(page) - colour).max() <= 12
    assert complaints == []


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_is_wider_than_the_window(browser: Any, gallery: Path, width: int) -> None:
    page = browser.new_context(viewport={"width": width, "height": 720}).new_page()
    page.goto(gallery.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    outside = """width => [...document.querySelectorAll('.tile, .tile *, .about *, h1, .subtitle, .bar *')]
        .filter(one => !one.closest('nav') && one.getClientRects().length && one.getBoundingClientRect().right > width + 1)
        .map(one => one.outerHTML.slice(0, 80))"""
    assert page.evaluate(outside, width) == []
