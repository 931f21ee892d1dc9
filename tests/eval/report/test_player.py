"""The page in a real browser, opened from the disk: nothing is fetched, and every tile shows the frame asked for."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from browser_checks import sticks_out, unfold
from tests.eval.report.hand_made import (
    FRAMES,
    SLICES,
    VALUES,
    FlatMedia,
    copied_slices,
    copied_values,
    dataset,
    read_bars,
    scores,
)
from tests.eval.report.set_metrics import features, learned_metrics, protocol, rows, set_score

from inpaintbench import video
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import ReportFiles, write_report

CORRECTED = PROTOCOLS.get("devil/corrected")
__all__ = ["learned_metrics"]
SHOWN = ".gallery .pane canvas:visible"
ROOM = ".gallery .comparison"
PLAYER = "document.querySelector('.gallery .comparison').player"


def make_report(folder: Path, *, inline_limit_bytes: int) -> ReportFiles:
    rows = [*scores(VALUES), *scores(VALUES, metric="ssim"), *scores(VALUES, region="frame")]
    return write_report(
        folder,
        title="Hand-made",
        dataset=dataset(SLICES, left_out={"water-low": "no labels"}),
        scores=rows,
        protocol=CORRECTED,
        media=FlatMedia(absent=["odd"]),
        inline_limit_bytes=inline_limit_bytes,
    )


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return make_report(tmp_path_factory.mktemp("a report") / "with spaces & signs", inline_limit_bytes=15_000_000)


def go_to(page: Any, frame: int) -> None:
    page.wait_for_function(f"() => {PLAYER}.clock.media")  # nothing seeks before
    page.evaluate(f"frame => {PLAYER}.clock.seek(frame)", frame)
    frame_shown(page, frame)


def frame_shown(page: Any, frame: int) -> None:
    """Until the players show a frame: a clock without media says 0 too."""
    there = "({ media, frame, wanted }) => media && frame === asked && wanted === null"
    page.wait_for_function(f"asked => ({there})({PLAYER}.clock)", arg=frame)


class Tab:
    """One page and everything it complained about or asked the network for."""

    def __init__(self, browser: Any, report: ReportFiles, **options: Any) -> None:
        settings = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce", **options}
        self.page = browser.new_context(**settings).new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(report.page.as_uri())

    def wait_for(self, frame: int) -> None:
        frame_shown(self.page, frame)

    def watch(self) -> None:
        """Bring the gallery into view, without its outlines."""
        self.page.locator("#gallery").scroll_into_view_if_needed()
        self.page.wait_for_function(f"() => {PLAYER}.clock.media")
        self.page.locator(f"{ROOM} .control.outline").click()
        self.wait_for(0)

    def fetched(self, report: ReportFiles) -> list[str]:
        """What was asked for that is neither in the page nor beside it."""
        own = (report.page.parent.as_uri() + "/", "data:", "blob:")
        return [url for url in self.requests if not url.startswith(own)]

    @property
    def frame(self) -> int:
        return int(self.page.evaluate(f"{PLAYER}.clock.frame"))


@pytest.fixture(scope="module")
def tab(browser: Any, report: ReportFiles) -> Tab:
    tab = Tab(browser, report)
    unfold(tab.page)
    tab.watch()
    return tab


def numbers_shown(tab: Tab, folder: Path) -> list[tuple[str, int, int]]:
    """What is drawn on each canvas: its name, the number in its upper half, the number in its lower half."""
    found = []
    for canvas in tab.page.locator(SHOWN).all():
        path = folder / "canvas.png"
        canvas.screenshot(path=path)
        picture = video.read_image(path)
        upper, lower = (read_bars(picture, row_share=share) for share in (0.2, 0.77))
        found.append((canvas.get_attribute("aria-label"), upper, lower))
    return found


def wait_until_drawn(tab: Tab, name: str, drawn: str) -> None:
    """Until a plot shows a metric in a region."""
    tab.page.locator(f"[data-plot={name}][data-drawn='{drawn}'] svg").first.wait_for(state="attached")


def check_frames(tab: Tab, folder: Path, frames: tuple[int, ...]) -> None:
    for frame in frames:
        go_to(tab.page, frame)
        assert numbers_shown(tab, folder) == [
            ("good", frame, frame),
            ("bad", frame, frame),
            ("Truth", frame, 0),
            ("Input", frame, 0),
        ]


def test_every_tile_shows_the_frame_asked_for(tab: Tab, tmp_path: Path) -> None:
    check_frames(tab, tmp_path, (0, 7, 19, 3))


def test_videos_beside_the_page_show_the_frame_asked_for(browser: Any, tmp_path: Path) -> None:
    """Browsers let no page read the pixels of such a video."""
    report = make_report(tmp_path / "out", inline_limit_bytes=1000)
    tab = Tab(browser, report)
    tab.watch()
    check_frames(tab, tmp_path, (0, 13))
    assert (tab.complaints, tab.fetched(report)) == ([], [])
    assert any(url.endswith("media/exhibit-0.mp4") for url in tab.requests)


def test_keys_step_and_hold_for_truth(tab: Tab, tmp_path: Path) -> None:
    go_to(tab.page, 5)
    tab.page.locator("body").press("ArrowRight")
    tab.wait_for(6)
    tab.page.locator("body").press("ArrowLeft")
    tab.page.locator("body").press("ArrowLeft")
    tab.wait_for(4)
    tab.page.keyboard.down("o")
    assert [lower for _, _, lower in numbers_shown(tab, tmp_path)] == [0, 0, 0, 0]
    tab.page.keyboard.up("o")
    assert [lower for _, _, lower in numbers_shown(tab, tmp_path)] == [4, 4, 0, 0]


def test_playing_goes_on_in_step_until_stopped(tab: Tab, tmp_path: Path) -> None:
    go_to(tab.page, 0)
    tab.page.locator("body").press(" ")
    tab.page.wait_for_function("() => " + PLAYER + ".clock.frame >= 4")
    tab.page.locator("body").press(" ")
    tab.page.wait_for_timeout(250)
    stopped = tab.frame
    tab.page.wait_for_timeout(250)
    assert tab.frame == stopped < FRAMES
    assert {upper for _, upper, _ in numbers_shown(tab, tmp_path)} == {stopped}


def test_the_error_view_is_black_where_a_result_equals_the_truth(tab: Tab, tmp_path: Path) -> None:
    go_to(tab.page, 6)
    tab.page.locator(f"{ROOM} .control.error").click()
    path = tmp_path / "canvas.png"
    tab.page.locator(SHOWN).first.screenshot(path=path)
    tab.page.locator(f"{ROOM} .control.error").click()
    picture = video.read_image(path)
    height, width = picture.shape[:2]
    assert picture[round(0.1 * height) : round(0.4 * height), 8 : width - 8].max() <= 4
    assert picture[round(0.65 * height) : round(0.88 * height)].max() >= 200


def test_the_outline_is_yellow_and_can_be_switched(tab: Tab, tmp_path: Path) -> None:
    def yellow() -> int:
        path = tmp_path / "canvas.png"
        tab.page.locator(SHOWN).first.screenshot(path=path)
        red, green, blue = video.read_image(path).astype(int).transpose(2, 0, 1)
        return int(((red > 200) & (green > 150) & (blue < 90)).sum())

    assert yellow() == 0
    tab.page.locator(f"{ROOM} .control.outline").click()
    assert yellow() > 200
    tab.page.locator(f"{ROOM} .control.outline").click()


def test_an_absent_prediction_is_said_and_other_items_open(tab: Tab, tmp_path: Path) -> None:
    tab.page.locator(".thumb").nth(1).click()
    absent = " ".join(tab.page.locator(".absent:visible").inner_text().split())
    assert absent == "odd no prediction: the program ended with status 3"
    tab.page.locator(".thumb").first.click()
    tab.page.locator(".thumb").nth(1).click()
    assert tab.page.locator(".exhibit:visible").get_attribute("id") == "exhibit-1"
    go_to(tab.page, 11)
    assert {upper for _, upper, _ in numbers_shown(tab, tmp_path)} == {11}
    tab.page.locator("body").press("ArrowUp")
    assert tab.page.locator(".exhibit:visible").get_attribute("id") == "exhibit-0"


def test_choices_of_metric_and_region_reach_the_whole_page(tab: Tab) -> None:
    tables = tab.page.locator(".scroll:visible:has(> .scores)")
    assert tables.get_attribute("data-metric") == "psnr"
    tab.page.locator("input[value=ssim]").check()
    assert (tables.get_attribute("data-metric"), tables.count()) == ("ssim", 1)
    assert tab.page.locator("input[value=frame]").is_disabled()
    tab.page.locator("input[value=psnr]").check()
    tab.page.locator("input[value=frame]").check()
    assert tables.get_attribute("data-region") == "frame"
    plot = tab.page.locator("[data-plot=difficulty][data-drawn='psnr/frame']")
    plot.locator("text=PSNR of the frame").wait_for(state="attached")
    tab.page.locator("input[value=hole]").check()


@pytest.mark.usefixtures("learned_metrics")
def test_a_metric_from_the_list_reaches_the_whole_page_and_keeps_the_region_in_mind(browser: Any, tmp_path: Path) -> None:
    names = ["psnr", "ssim", "mse", "lpips", "pvcs", "flicker", "pcons"]
    of = protocol([*names, "fid"])
    made = [one for name in names for region in ("hole", "frame") for one in rows(of, VALUES, name, region=region)]
    made += features(of, list(VALUES), list(VALUES["good"]), "fid")
    sets = [set_score(of, method, "motion-low", 7.5, n=9, d=4) for method in VALUES]
    report = write_report(
        tmp_path / "out", title="Many", dataset=dataset(SLICES), scores=made, slice_scores=sets, protocol=of,
        media=FlatMedia(frames=2), gallery_items_per_slice=0, further_items=0,
    )  # fmt: skip
    tab = Tab(browser, report, viewport={"width": 390, "height": 844})
    tables, list_of_metrics = tab.page.locator(".scroll:visible:has(> .scores)"), tab.page.locator("select[name=metric]")
    improvement = tab.page.locator("[data-plot=sensitivity]")
    assert (tables.get_attribute("data-metric"), tables.get_attribute("data-region")) == ("psnr", "hole")
    list_of_metrics.select_option("lpips")
    assert (tables.get_attribute("data-metric"), tables.count()) == ("lpips", 1)
    wait_until_drawn(tab, "sensitivity", "lpips/hole")
    assert [one for one in improvement.locator("svg text").all_text_contents() if " in the hole" in one] == ["LPIPS in the hole"]
    list_of_metrics.select_option("fid")
    assert (tables.get_attribute("data-metric"), tables.get_attribute("data-region")) == ("fid", "frame")
    assert tables.locator("tr[data-key=good] .below").nth(1).text_content().startswith("N = 9, d = 4")
    assert tab.page.locator("input[value=hole]").is_disabled()
    list_of_metrics.select_option("mse")
    assert (tables.get_attribute("data-metric"), tables.get_attribute("data-region")) == ("mse", "hole")
    assert sticks_out(tab.page) == 0
    assert tab.complaints == []


def test_tables_sort_by_a_slice_and_back(tab: Tab) -> None:
    table = tab.page.locator(".scores:visible")

    def order() -> list[str]:
        return [row.get_attribute("data-key") for row in table.locator("tbody tr").all()]

    slices = table.locator("th[data-key='motion-high'] button")
    slices.click()
    assert order() == ["good", "bad", "odd"]
    slices.click()
    assert order() == ["bad", "good", "odd"]  # what has no value comes last in any order
    table.get_by_role("button", name="Method").click()
    assert order() == ["bad", "good", "odd"]
    table.locator("th[data-key='motion-low'] button").click()
    assert order() == ["odd", "good", "bad"]


def test_columns_of_slices_can_be_left_out(tab: Tab) -> None:
    table = tab.page.locator(".scores:visible")
    tab.page.locator("#scores summary:visible").click()
    box = tab.page.locator("#scores .picker[open]").get_by_label("Motion: high")
    box.uncheck()
    assert not table.locator("th[data-key='motion-high']").is_visible()
    assert table.locator("tr.groups th").get_attribute("colspan") == "1"
    box.check()
    assert table.locator("th[data-key='motion-high']").is_visible()
    tab.page.keyboard.press("Escape")


def test_a_value_in_the_table_opens_an_item_of_its_slice(tab: Tab) -> None:
    night = tab.page.locator(".scores:visible th[data-key=night]").evaluate("head => head.cellIndex")
    tab.page.locator(".scores:visible tr[data-key=good] > *").nth(night).click()
    assert tab.page.locator(".exhibit:visible").get_attribute("id") == "exhibit-2"
    assert tab.page.locator(".thumb[aria-current=true]").get_attribute("data-slice") == "night"


@pytest.mark.parametrize("width", [390, 900, 1280, 1440])
def test_nothing_sticks_out(tab: Tab, width: int) -> None:
    tab.page.set_viewport_size({"width": width, "height": 900})
    assert sticks_out(tab.page) == 0


def test_nothing_is_fetched_and_nothing_goes_wrong(tab: Tab, report: ReportFiles) -> None:
    """Last of those that share a page, so that it covers everything they did."""
    assert (tab.complaints, tab.fetched(report)) == ([], [])


@pytest.mark.parametrize("width", [800, 1300, 1920])
def test_long_intervals_and_labels_are_readable_at_any_width(browser: Any, tmp_path: Path, width: int) -> None:
    names = [f"background-{word}" for word in ("brushed_metal", "saturated_colour", "wood")]
    slices = copied_slices({f"{name}{number}": ["a1", "b1", "c1"] for name in names for number in range(6)})
    values: dict[str, dict[str, float | None]] = {
        f"method_{number}": {"a1": 0.123456, "b1": 0.234567, "c1": None if number else 0.3} for number in range(5)
    }
    rows = scores(copied_values(values), metric="mse", region="frame")
    made = write_report(
        tmp_path / "out", title="Wide", dataset=dataset(slices, frames=1), scores=rows, protocol=CORRECTED,
        media=FlatMedia(frames=1, with_hole=False), gallery_items_per_slice=0, further_items=0,
    )  # fmt: skip
    tab = Tab(browser, made, viewport={"width": width, "height": 900})
    unfold(tab.page)
    assert sticks_out(tab.page) == 0
    boxes = tab.page.evaluate(
        """() => [...document.querySelectorAll('.scores tbody td')].map((cell) => {
          const inner = cell.getBoundingClientRect();
          const words = cell.querySelector('small:not(.below)').getBoundingClientRect();
          const whisker = cell.querySelector('.whisker').getBoundingClientRect();
          const counts = cell.querySelector('.below')?.getBoundingClientRect();
          return { words: words.height, below: whisker.top - words.bottom, right: inner.right - words.right,
                   counts: counts ? counts.height : 0, counted: Boolean(counts) };
        })"""
    )
    assert len(boxes) == 5 * 19
    assert sum(box["counted"] for box in boxes) == 4 * 19
    for box in boxes:
        assert box["words"] <= 20
        assert box["below"] >= 0
        assert box["right"] >= 0
        assert box["counts"] <= 20
    wait_until_drawn(tab, "difficulty", "mse/frame")
    plot = tab.page.locator("[data-plot=difficulty]")
    labels = plot.locator(".role-axis-label text", has_text="Background")
    assert labels.count() == 18
    assert not any("…" in words for words in labels.all_text_contents())
    frame = plot.locator("svg").bounding_box()
    for label in labels.all():
        box = label.bounding_box()
        assert frame["y"] <= box["y"]
        assert box["y"] + box["height"] <= frame["y"] + frame["height"]
        assert frame["x"] <= box["x"]
        assert box["x"] + box["width"] <= frame["x"] + frame["width"] + 1
    assert tab.page.locator("#sensitivity").count() == 0
    assert not tab.complaints


def test_without_scripts_all_tables_and_videos_are_there(browser: Any, report: ReportFiles) -> None:
    page = Tab(browser, report, java_script_enabled=False).page
    assert page.locator(".scores:visible").count() == 3
    assert page.locator("video:visible").count() == 4
    assert page.locator(".player-room:visible, canvas:visible, .choices:visible, [data-plot]:visible").count() == 0
    page.locator("#difficulty summary").first.click()
    page.locator("#difficulty details details summary").first.click()
    assert page.locator("#difficulty td:visible", has_text="20.00").count() > 0


def test_the_page_plays_by_itself_once_in_view_and_follows_the_dark_theme(browser: Any, report: ReportFiles) -> None:
    tab = Tab(browser, report, reduced_motion="no-preference", color_scheme="dark")
    red = re.findall(r"\d+", tab.page.evaluate("getComputedStyle(document.body).backgroundColor"))[0]
    assert int(red) < 40
    tab.page.locator(ROOM).scroll_into_view_if_needed()
    tab.page.wait_for_function("() => " + PLAYER + ".clock.frame >= 2")


def test_a_still_picture_without_a_hole_has_no_player_and_no_outline(browser: Any, tmp_path: Path) -> None:
    rows = scores(VALUES, region="frame")
    media = FlatMedia(frames=1, with_hole=False)
    made = write_report(
        tmp_path / "stills", title="Stills", dataset=dataset(SLICES, frames=1), scores=rows, protocol=CORRECTED, media=media
    )
    tab = Tab(browser, made)
    tab.page.locator("#gallery").scroll_into_view_if_needed()
    tab.wait_for(0)
    for absent in (".line", ".control.play", ".control.outline", ".control.slow"):
        assert not tab.page.locator(f"{ROOM} {absent}").is_visible()
    for present in ("error", "zoom", "original"):
        assert tab.page.locator(f"{ROOM} .control.{present}").is_visible()
    assert "per second" not in tab.page.locator(".facts-line:visible").inner_text()
    assert not re.search(r"(?<!no-)\bhole\b", tab.page.locator("#gallery").inner_text())
    tab.page.locator("body").press("h")  # a key for what is not there
    picture = f"document.querySelector('{ROOM} .pane canvas').toDataURL()"
    before = tab.page.evaluate(picture)
    tab.page.locator(f"{ROOM} .control.zoom").click()
    tab.page.wait_for_function(f"before => {picture} !== before", arg=before)
    assert not tab.complaints
