"""The page of masks: what it says equals what was measured, whatever names hold, and it works in a real browser."""

from __future__ import annotations

import base64
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from scipy import ndimage
from skimage import data

from inpaintbench.errors import InputError, MaskShapeError
from inpaintbench.masks.gallery import Panel, Tile, histogram, histogram_counts, panels, scale_end, write_gallery
from inpaintbench.masks.gallery import tile_page as facts
from inpaintbench.masks.generators.base import Drawn
from inpaintbench.types import Joint

NASTY = '<script>alert("x")</script>&'
SIDE = 64


class Tree(HTMLParser):
    """Tags with their attributes and the text of the whole page; void and paired tags must balance."""

    VOID = frozenset({"meta", "link", "input", "br", "wbr"})

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"] and self.open[-1:] != ["script"]:
            self.text.append(data)

    def of_class(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for _, attributes in self.tags if name in (attributes.get("class") or "").split()]


def photograph(side: int = SIDE) -> np.ndarray:
    return np.ascontiguousarray(data.astronaut()[: side * 4 : 4, 128 : 128 + side * 4 : 4])


def squares(*corners: tuple[int, int, int], frames: int = 1, side: int = SIDE) -> np.ndarray:
    hole = np.zeros((frames, side, side), bool)
    for row, column, size in corners:
        hole[:, row : row + size, column : column + size] = True
    return hole


def still(*corners: tuple[int, int, int], facts: dict[str, Any] | None = None, **changes: Any) -> Tile:
    return Tile(photograph()[None], Drawn(squares(*corners), facts or {}), **changes)


def moving_clip(frames: int = 20) -> Tile:
    """A square of 16 pixels that moves one pixel a frame and is gone in the last frame."""
    hole = np.stack([squares((8, frame, 16))[0] for frame in range(frames)])
    hole[-1] = False
    return Tile(np.repeat(photograph()[None], frames, axis=0), Drawn(hole))


def overlay() -> Tile:
    alpha = np.zeros((1, SIDE, SIDE), np.uint8)
    alpha[:, 32:48] = 51
    colour = np.full((1, SIDE, SIDE, 3), 255, np.uint8)
    return Tile(photograph()[None], Drawn(alpha > 0, {}, alpha, colour), input=photograph()[None] // 2)


def page_of(folder: Path, *shown: Panel, **changes: Any) -> str:
    options = {"title": "Try", "generator": "squares", "version": "3", "seed": 7} | changes
    return write_gallery(folder / "gallery.html", panels=shown, **options).read_text(encoding="utf-8")


def tiles_of(html: str) -> list[str]:
    """What the page holds of each tile; of the last one, all that follows."""
    return html.split('<figure class="tile')[1:]


def test_numbers_on_the_page_are_those_of_the_holes(tmp_path: Path) -> None:
    """Area and parts against numpy and scipy."""
    tiles = [still((0, 0, 16), (30, 30, 10)), still((5, 5, 40)), moving_clip()]
    tree = Tree(page_of(tmp_path, Panel("all", {}, tiles)))
    labels = [attributes["aria-label"] for attributes in tree.of_class("picture")]
    for number, (tile, label) in enumerate(zip(tiles, labels, strict=True), 1):
        hole = tile.drawn.hole
        _, parts = ndimage.label(hole[hole.sum(axis=(1, 2)).argmax()], structure=np.ones((3, 3)))
        words = f"{parts} part{'s' if parts > 1 else ''}"
        assert label == f"Mask {number}: area {hole.mean() * 100:.1f} %, {words}"
    areas = [tile.drawn.hole.mean() * 100 for tile in tiles]
    text = " ".join(" ".join(tree.text).split())
    for name, value in (("mean", np.mean(areas)), ("min", min(areas)), ("max", max(areas))):
        assert f"{name} {value:.1f} %" in text


def test_corners_that_touch_are_one_part() -> None:
    assert panels.measure_tile(still((0, 0, 8), (8, 8, 8))).components == 1
    assert panels.measure_tile(still()).components == 0


def test_clips_are_measured_over_time() -> None:
    found = panels.measure_tile(moving_clip(20))
    assert found.value == pytest.approx(19 / 20 * 256 / 4096)
    assert (min(found.values), max(found.values)) == (0, 256 / 4096)
    assert found.union == 16 * (16 + 18) / 4096
    assert found.strongest_frame == 0
    assert found.opacity is None


def test_opacity_is_measured_inside_the_overlay() -> None:
    assert panels.measure_tile(overlay()).opacity == pytest.approx(0.2)


def test_every_tile_and_panel_has_its_anchor_and_links_find_them(tmp_path: Path) -> None:
    tree = Tree(page_of(tmp_path, Panel("one", {}, [still((0, 0, 9))] * 3), Panel("two", {}, [still((0, 0, 20))])))
    ids = [attributes["id"] for _, attributes in tree.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert {"panel-1", "panel-2", "mask-1-1", "mask-1-2", "mask-1-3", "mask-2-1"} <= set(ids)
    links = [attributes["href"] for tag, attributes in tree.tags if tag == "a"]
    assert links.count("#mask-1-2") == 2  # the dot of the histogram, and the number
    assert {link.removeprefix("#") for link in links if link} <= set(ids)


def test_parameters_that_all_share_are_in_the_heading_and_others_in_the_table(tmp_path: Path) -> None:
    shown = [Panel(f"panel {n}", {"margin": 100, "count": n}, [still((0, 0, 9))]) for n in (3, 5)]
    text = " ".join("".join(Tree(page_of(tmp_path, *shown)).text).split())
    assert "squares version 3 · seed 7 · 2 masks in 2 panels · 64×64 · still images" in text
    assert text.count("margin 100") == 1
    assert re.search(r"Panelcountnmean areaarea, 0 to \d+ %parts ?panel 3 ?3", text)


def test_facts_that_only_repeat_what_is_shown_are_left_out(tmp_path: Path) -> None:
    area = 81 / 4096
    facts = [{"area_fraction": area, "ratio": 0.5}, {"area_fraction": area + 0.01, "ratio": 0.25}]
    html = page_of(tmp_path, Panel("p", {"ratio": 0.5}, [still((0, 0, 9), facts=fact) for fact in facts]))
    first, second = tiles_of(html)
    assert "fraction" not in first
    assert "ratio" not in first
    assert "0.02978" in second
    assert "0.25" in second


def test_shared_facts_that_repeat_what_is_shown_are_left_out(tmp_path: Path) -> None:
    facts = {"area_fraction": 81 / SIDE**2, "sequence": "11", "polarity": "white_is_hole", "objects": []}
    tiles = [still((0, 0, 9), facts=facts), still((9, 9, 9), facts=facts)]
    html = page_of(tmp_path, Panel("p", {"sequence": 11, "polarity": "detect"}, tiles))
    assert "area_<wbr>fraction" not in html
    assert html.count("<span>sequence</span> 11") == 1
    assert html.count("<span>polarity</span> white_is_hole") == 1
    assert "<span>objects</span> none" in html


def test_facts_that_every_mask_shares_are_said_once_and_many_are_folded(tmp_path: Path) -> None:
    facts = [{"family": "Serif", **{f"own_{index}": number + index for index in range(9)}} for number in (1, 100)]
    html = page_of(tmp_path, Panel("p", {}, [still((0, 0, 9), facts=fact) for fact in facts]))
    assert html.count("Serif</li>") == 1
    assert html.index("Serif") < html.index('<figure class="tile')
    assert html.count("<summary>3 more</summary>") == 2
    assert "108</li>" in html.split("<details>")[2]


def test_masks_outside_their_bin_are_counted(tmp_path: Path) -> None:
    """The bin is half open: an area equal to the lower bound is outside, one equal to the upper bound inside."""
    quarter, sixteenth = still((0, 0, 32)), still((0, 0, 16))
    bins = [(0.0625, 0.25), (0.0, 0.25)]
    html = page_of(tmp_path, *(Panel(str(bounds), {}, [quarter, sixteenth], area_bounds=bounds) for bounds in bins))
    text = "".join(Tree(html).text)
    assert "1 of 2 masks outside the bin 6.25 – 25 %" in text
    assert "all inside the bin 0 – 25 %" in text


def test_everything_from_data_is_escaped(tmp_path: Path) -> None:
    tile = still((0, 0, 9), facts={NASTY: NASTY, "list": [NASTY]}, caption=NASTY, joints=(Joint(0, NASTY, NASTY, 3, 4),))
    shown = [Panel(NASTY, {NASTY: NASTY, "b": n}, [tile], refusals=(NASTY,)) for n in (1, 2)]
    html = page_of(tmp_path, *shown, title=NASTY, generator=NASTY, version=NASTY)
    assert "<script>alert" not in html
    tree = Tree(html)
    assert [tag for tag, _ in tree.tags].count("script") == 3  # the page's own
    assert "".join(tree.text).count(NASTY) > 10


def test_refusals_are_said(tmp_path: Path) -> None:
    reasons = ("too small", "too small", "no joints")
    html = page_of(tmp_path, Panel("one", {}, [still((0, 0, 9))], refusals=reasons), Panel("none", {}, [], refusals=reasons[2:]))
    text = "".join(Tree(html).text)
    assert "3 masks refused: too small; no joints" in text
    assert "1 mask refused: no joints" in text
    assert "No mask to show." in text


def test_the_same_arguments_give_the_same_bytes_and_equal_pictures_are_stored_once(tmp_path: Path) -> None:
    one = page_of(tmp_path, Panel("p", {}, [still((0, 0, 9))]))
    three = page_of(tmp_path, Panel("p", {}, [still((0, 0, 9))] * 3))
    assert page_of(tmp_path, Panel("p", {}, [still((0, 0, 9))])) == one
    assert three.count("image/webp") == one.count("image/webp") == 1


def test_nothing_outside_the_file_is_named(tmp_path: Path) -> None:
    html = page_of(tmp_path, Panel("p", {}, [still((0, 0, 9)), moving_clip(), overlay()]))
    names = re.sub(r'"http://www.w3.org/[0-9a-z/]*"', "", html)  # of SVG
    assert not re.search(r"https?:|src=|url\((?!data:)", names)


def pixels_of(picture: bytes, mode: str) -> np.ndarray:
    with Image.open(io.BytesIO(picture)) as image:
        return np.asarray(image.convert(mode))


def test_small_pictures_hold_the_hole_exactly() -> None:
    tile = still((3, 5, 17))
    drawn = panels.draw(tile, 0, panels.FORMS[0])
    assert np.array_equal(pixels_of(drawn.hole, "LA")[..., 1] == 255, tile.drawn.hole[0])
    outline = pixels_of(drawn.outline, "LA")[..., 1] > 0
    around = ndimage.binary_dilation(tile.drawn.hole[0], np.ones((5, 5))) & ~tile.drawn.hole[0]
    assert np.array_equal(outline, around)
    assert np.abs(pixels_of(drawn.truth, "RGB").astype(int) - tile.truth[0]).mean() < 8


def test_an_overlay_is_drawn_with_its_opacity_and_its_input() -> None:
    tile = overlay()
    drawn = panels.draw(tile, 0, panels.FORMS[0])
    assert drawn.input is not None
    assert tile.drawn.alpha is not None
    assert np.array_equal(pixels_of(drawn.hole, "LA")[..., 1], tile.drawn.alpha[0])
    assert pixels_of(drawn.input, "RGB").mean() == pytest.approx((tile.truth // 2).mean(), abs=3)


def test_the_input_of_an_overlay_is_painted_where_none_is_given() -> None:
    tile = overlay()
    drawn = panels.draw(Tile(tile.truth, tile.drawn), 0, panels.FORMS[0])
    expected = np.where(tile.drawn.hole[0][..., None], 0.8 * tile.truth[0] + 0.2 * 255, tile.truth[0])
    assert drawn.input is not None
    assert np.abs(pixels_of(drawn.input, "RGB") - expected).mean() < 8


def test_frames_of_a_clip_lie_side_by_side_and_hole_counts_are_bright() -> None:
    drawn = panels.draw(moving_clip(20), 7, panels.FORMS[0])
    assert drawn.shown == (0, 4, 7, 11, 15, 19)
    assert pixels_of(drawn.truth, "RGB").shape == (SIDE, SIDE * 6, 3)
    holes = pixels_of(drawn.hole, "LA")[..., 1].reshape(SIDE, 6, SIDE).transpose(1, 0, 2) == 255
    assert np.array_equal(holes, moving_clip(20).drawn.hole[list(drawn.shown)])
    assert drawn.over_time is not None
    bright = pixels_of(drawn.over_time, "L").astype(int)
    assert bright[16, 18] > bright[16, 30] > bright[50, 50]


@given(frames=st.integers(1, 300), share=st.floats(0, 1))
def test_the_frame_with_the_largest_hole_is_always_shown(frames: int, share: float) -> None:
    largest = min(frames - 1, int(share * frames))
    shown = panels.frames_to_show(frames, largest)
    assert largest in shown
    assert list(shown) == sorted(set(shown))
    assert len(shown) == min(frames, panels.FRAMES_SHOWN)
    assert 0 <= shown[0] <= shown[-1] < frames


def test_pictures_get_smaller_until_the_page_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = [Tile(np.ascontiguousarray(data.astronaut())[None], Drawn(squares((9, 9, 99), side=512)))]
    whole = panels.draw_all(tiles, [0])[0]
    assert max(pixels_of(whole.truth, "RGB").shape) == 400
    monkeypatch.setattr(panels, "PAGE_BYTES", len(whole.truth))
    smaller = panels.draw_all(tiles, [0])[0]
    assert len(smaller.truth) + len(smaller.hole) + len(smaller.outline) <= len(whole.truth)
    monkeypatch.setattr(panels, "PAGE_BYTES", 1)
    assert max(pixels_of(panels.draw_all(tiles, [0])[0].truth, "RGB").shape) == 192


def test_an_area_at_an_edge_counts_in_the_step_above() -> None:
    assert histogram_counts([0.3, 0.375], end=0.4) == [0] * 15 + [1, 0, 0, 1, 0]


@settings(max_examples=40)
@given(areas=st.lists(st.floats(0, 1), max_size=30), high=st.one_of(st.none(), st.floats(0.01, 1)))
def test_a_histogram_counts_every_area_once(areas: list[float], high: float | None) -> None:
    bounds = None if high is None else (0.0, high)
    end = scale_end(areas, [bounds])
    counts = histogram_counts(areas, end=end)
    assert sum(counts) == len(areas)
    expected, _ = np.histogram(areas, bins=20, range=(0, end))
    steps = np.array(areas) / end * 20
    at_edges = int(np.count_nonzero(np.abs(steps - np.round(steps)) < 1e-6))
    assert np.abs(np.cumsum(counts) - np.cumsum(expected)).max(initial=0) <= at_edges


@pytest.mark.parametrize("bounds", [None, (0.1, 0.3)])
def test_a_histogram_tells_its_columns_and_leads_to_every_tile(bounds: tuple[float, float] | None) -> None:
    areas = [0.0, 0.121, 0.125, 0.29, 0.4]
    links = [f"mask-{index}" for index in range(len(areas))]
    tree = Tree(histogram(areas, bounds=bounds, end=0.4, links=links, title=NASTY, axis=NASTY))
    assert [attributes["href"] for tag, attributes in tree.tags if tag == "a"] == [f"#{link}" for link in links]
    told = [attributes.get("aria-label") for _, attributes in tree.tags if attributes.get("role") == "graphics-symbol"]
    assert [words for words in told if words and words.isdecimal()] == ["1", "2", "1", "1"]
    assert ("the bin: 10 – 30 %" in told) == (bounds is not None)
    assert "mean 18.7 %" in told
    assert told[-5:] == ["0.0 %", "12.1 %", "12.5 %", "29.0 %", "40.0 %"]


def test_values_are_short_texts() -> None:
    values = [True, None, 0.14285714, -2.5, 12, "thin", [0.2, 0.4], ["eye", "ear"], [[1, 2, 3]], list(range(50)), {"a": 1}]
    assert [facts.value_text(value) for value in values] == [
        "yes", "none", "0.1429", "−2.5", "12", "thin", "[0.2, 0.4]", "eye, ear", "1 value", "50 values", "a 1",
    ]  # fmt: skip
    assert (facts.percent(0.00123), facts.percent(0), facts.percent(1)) == ("0.12 %", "0.0 %", "100.0 %")


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    good, small = still((0, 0, 9)), np.zeros((1, 8, 8, 3), np.uint8)
    hole, alpha = squares((0, 0, 9)), np.zeros((1, SIDE, SIDE), np.uint8)
    bad: list[tuple[type[Exception], str, list[Panel]]] = [
        (InputError, "at least one mask", []),
        (InputError, "at least one mask", [Panel("p", {}, [])]),
        (
            InputError,
            "^no mask could be made: small; far; and 1 more reason$",
            [
                Panel("p", {}, [], refusals=("small", "small")),
                Panel("q", {}, [], refusals=("far", "old")),
            ],
        ),
        (InputError, r"0\.4\.\.0\.2 of 'p' are no bin", [Panel("p", {}, [good], area_bounds=(0.4, 0.2))]),
        (InputError, "are no bin", [Panel("p", {}, [good], area_bounds=(float("nan"), 0.2))]),
        (InputError, "not frames", [Panel("p", {}, [Tile(photograph(), good.drawn)])]),
        (MaskShapeError, "tile 2 of 'p'", [Panel("p", {}, [good, Tile(small, good.drawn)])]),
        (InputError, "input of tile 1", [Panel("p", {}, [still((0, 0, 9), input=small)])]),
        (InputError, "needs colours", [Panel("p", {}, [Tile(good.truth, Drawn(hole, {}, alpha))])]),
        (InputError, "opacity of tile 1", [Panel("p", {}, [Tile(good.truth, Drawn(hole, {}, alpha[:, :8]))])]),
    ]
    for error, words, shown in bad:
        with pytest.raises(error, match=words):
            page_of(tmp_path, *shown)
    assert not list(tmp_path.iterdir())


# In a browser


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Red pictures, so that truth, black and white are told apart by colour."""
    red = np.full((1, SIDE, SIDE, 3), (200, 0, 0), np.uint8)
    facts = {"kind": "square", "a_very_long_name_of_a_fact_that_must_not_widen_the_page_at_all": 0.5}
    hole = Drawn(squares((16, 16, 32)), facts)
    joint = Joint(0, "knee", "left", 4.0, 4.0)
    long = "panel_with_a_very_long_name_" * 4
    green = red[..., ::-1].copy()
    clip = moving_clip()
    stills = [Tile(red, hole, caption="red " * 20, joints=(joint,)), Tile(red, hole, input=green)]
    shown = [Panel("stills", {long: long, "b": 1}, stills, area_bounds=(0.2, 0.4)), Panel(long, {"b": 2}, [clip] * 5)]
    folder = tmp_path_factory.mktemp("a gallery") / "with spaces & signs"
    return write_gallery(folder / "gallery.html", title="Try", panels=shown, generator="squares", version="1")


class Tab:
    """One page and everything it complained about or asked for."""

    def __init__(self, browser: Any, gallery: Path, **options: Any) -> None:
        self.page = browser.new_context(**{"viewport": {"width": 1280, "height": 720}, **options}).new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(gallery.as_uri())

    def colours(self, tile: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """RGB of a tile's known pixels and of the middle of its hole, as shown."""
        png = self.page.locator(f"#{tile} .picture").screenshot()
        shown = pixels_of(png, "RGB").astype(int)
        height, width = shown.shape[:2]
        return tuple(shown[height // 8, width // 2].tolist()), tuple(shown[height // 2, width // 2].tolist())


def near(colour: tuple[int, ...], expected: tuple[int, int, int]) -> bool:
    return max(abs(one - other) for one, other in zip(colour, expected, strict=True)) <= 12


RED, BLUE, BLACK, WHITE = (200, 0, 0), (0, 0, 200), (0, 0, 0), (255, 255, 255)
TINTED = (218, 68, 0)  # 32 % of (255, 212, 0) over red


@pytest.mark.parametrize("by", ["key", "button"])
def test_views_are_switched_for_all_tiles(browser: Any, gallery: Path, by: str) -> None:
    tab = Tab(browser, gallery)
    views = {"1": ("input", RED, BLACK, BLUE), "3": ("hole", BLACK, WHITE, BLACK), "2": ("outline", RED, TINTED, RED)}
    for key, (name, known, hole, own_known) in views.items():
        if by == "key":
            tab.page.keyboard.press(key)
        else:
            tab.page.get_by_role("radio", name=name).check(force=True)
        assert tab.page.locator(f"#view-{name}").is_checked()
        shown_known, shown_hole = tab.colours("mask-1-1")
        assert near(shown_known, known)
        assert near(shown_hole, hole)
        assert near(tab.colours("mask-1-2")[0], own_known)
    assert tab.complaints == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_wider_than_the_window_and_nothing_is_fetched(browser: Any, gallery: Path, width: int, scheme: str) -> None:
    tab = Tab(browser, gallery, viewport={"width": width, "height": 720}, color_scheme=scheme)
    assert tab.page.evaluate("document.documentElement.scrollWidth") == width
    outside = """width => [...document.querySelectorAll('.tile, .tile *, .about *, h1, .subtitle, .bar *')]
        .filter(one => !one.closest('nav') && one.getClientRects().length && one.getBoundingClientRect().right > width + 1)
        .map(one => one.outerHTML.slice(0, 80))"""
    assert tab.page.evaluate(outside, width) == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert tab.complaints == []
    ground = tab.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert ground == {"light": "rgb(255, 255, 255)", "dark": "rgb(15, 18, 22)"}[scheme]


def test_joints_are_switched(browser: Any, gallery: Path) -> None:
    tab = Tab(browser, gallery)
    joints = tab.page.locator(".joints")
    assert joints.count() == 1
    assert joints.is_visible()
    tab.page.keyboard.press("j")
    assert not joints.is_visible()


def test_a_small_frame_is_shown_large_and_clips_play(browser: Any, gallery: Path) -> None:
    """The hole of the clip starts at the left and moves right by a pixel a frame."""
    tab = Tab(browser, gallery)
    tab.page.keyboard.press("3")
    place = "getComputedStyle(document.querySelector('#mask-2-1 .picture')).getPropertyValue('--at')"
    assert float(tab.page.evaluate(place)) == 0
    button = tab.page.get_by_role("button", name="Frame 15").first
    button.hover()
    assert float(tab.page.evaluate(place)) == pytest.approx(0.8)
    picture = pixels_of(tab.page.locator("#mask-2-1 .picture").screenshot(), "L")
    left, right = (np.flatnonzero(picture[picture.shape[0] // 4] > 128)[[0, -1]] + [0, 1]) / picture.shape[1]
    assert (left, right) == pytest.approx((15 / SIDE, 31 / SIDE), abs=0.02)
    tab.page.mouse.move(0, 0)
    tab.page.keyboard.press("Space")
    assert tab.page.locator("#play").is_checked()
    seen = set()
    while len(seen) < 3:  # for ever, would it stand still
        tab.page.wait_for_timeout(50)
        seen.add(round(float(tab.page.evaluate(place)), 3))
    assert seen <= {0, 0.2, 0.4, 0.6, 0.8, 1}
    assert tab.complaints == []


def test_what_is_chosen_is_in_the_address(browser: Any, gallery: Path) -> None:
    tab = Tab(browser, gallery)
    tab.page.keyboard.press("3")
    tab.page.keyboard.press("j")
    tab.page.locator("#mask-1-2 .number").click()
    address = tab.page.evaluate("location.href")  # ``page.url`` lags behind
    assert address.endswith("#view=hole&joints=no&at=mask-1-2")
    tab.page.goto("about:blank")
    tab.page.goto(address)
    assert tab.page.locator("#view-hole").is_checked()
    assert not tab.page.locator("#joints").is_checked()
    assert tab.page.locator(".tile.here").get_attribute("id") == "mask-1-2"
    tab.page.keyboard.press("2")
    tab.page.keyboard.press("j")
    assert tab.page.evaluate("location.href").endswith("#mask-1-2")  # what the page opens with is not told
    tab.page.goto(gallery.as_uri())
    tab.page.locator(".plot a").nth(1).click()
    assert tab.page.locator(".tile.here").get_attribute("id") == "mask-1-2"
    assert tab.complaints == []


def test_the_page_reads_and_switches_without_scripts(browser: Any, gallery: Path) -> None:
    tab = Tab(browser, gallery, java_script_enabled=False)
    tab.page.get_by_role("radio", name="hole").check(force=True)
    assert near(tab.colours("mask-1-1")[1], WHITE)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, gallery: Path, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tab = Tab(browser, gallery, color_scheme=scheme, bypass_csp=True)
    found = axe.Axe().run(tab.page).response["violations"]
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []


def test_pictures_in_the_page_decode(gallery: Path) -> None:
    found = re.findall(r"url\(data:image/(?:png|webp);base64,([^)]*)\)", gallery.read_text())
    assert len(found) == 8  # two photographs, a clip, its holes over time, two holes and their outlines
    for text in found:
        assert pixels_of(base64.b64decode(text), "RGB").shape[0] == SIDE


def test_the_file_is_written_where_asked(gallery: Path) -> None:
    assert [path.name for path in gallery.parent.iterdir()] == ["gallery.html"]
