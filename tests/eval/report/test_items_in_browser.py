"""The browser of items, wipe, plots and keys in a real browser, opened from the disk; axe-core in light and dark."""

from __future__ import annotations

import base64
import csv
import io
import math
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browser_checks import OpenPage, first_look, repainted, serious_findings, unfold
from tests.eval.report.hand_made import read_bars
from tests.eval.report.report_of_items import FRAMES, ITEMS, METHODS, SLICES, data, make_report, psnr
from tests.eval.report.test_player import PLAYER, ROOM, go_to

from inpaintbench import video
from inpaintbench.eval.report import ReportFiles

Values = dict[str, list[float]]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return make_report(tmp_path_factory.mktemp("items") / "a report")


@pytest.fixture(scope="module")
def opened(browser: Any, report: ReportFiles) -> OpenPage:
    found = OpenPage(browser, report.page.as_uri())
    unfold(found.page)
    return found


@pytest.fixture
def page(opened: OpenPage) -> Any:
    """The shared page with all items."""
    opened.page.locator("#items button[type=reset]").click()
    return opened.page


def known(item: str) -> list[float]:
    """Infinite ones too."""
    return [value for method in METHODS if (value := psnr(method, item)) is not None]


def spread(item: str) -> float:
    return math.inf if math.inf in known(item) else statistics.stdev(known(item))


def ids(page: Any) -> list[str]:
    return list(page.locator("#items tr[data-item] .item button").all_inner_texts())


def told(page: Any) -> str:
    return str(page.locator("[data-live=items]").text_content())


def test_orders_put_the_worst_and_the_most_disagreed_first(page: Any) -> None:
    by_mean = sorted(ITEMS, key=lambda item: statistics.fmean(known(item)))
    shown = len(ids(page))  # the rows in sight, and some around them
    assert ids(page) == by_mean[:shown]
    assert shown >= 20
    page.locator("[name=order]").select_option("best")
    assert ids(page) == by_mean[::-1][:shown]
    page.locator("[name=order]").select_option("disagreed")
    assert ids(page) == sorted(ITEMS, key=lambda item: -spread(item))[:shown]
    page.locator("[name=order]").select_option("dataset")
    assert ids(page) == ITEMS[:shown]


def test_columns_sort_both_ways_and_missing_values_come_last(page: Any) -> None:
    head = page.locator("#items .rows thead th:has-text('third')")
    head.get_by_role("button").click()
    expected = sorted((item for item in ITEMS if psnr("third", item) is not None), key=lambda item: -(psnr("third", item) or 0))
    assert ids(page) == [*expected, ITEMS[4]]
    assert page.locator("#items .rows th:has-text('third')").get_attribute("aria-sort") == "descending"
    page.locator("#items .rows th:has-text('third') button").click()
    assert ids(page) == [*expected[::-1], ITEMS[4]]
    assert page.locator("#items .rows th[aria-sort=ascending]").count() == 1
    page.locator("#items .rows th:has-text('second') button").click()
    assert ids(page)[0] == ITEMS[9]  # infinite


def test_filters_narrow_items_and_tell_their_means(page: Any) -> None:
    page.locator("[name=slice]").select_option(label="night")
    night = SLICES["night"]
    assert sorted(ids(page)) == sorted(night)
    page.locator("[name=attribute]").first.select_option(label="Hole fraction")
    page.locator("[name=low]").fill("0.03")
    page.locator("[name=high]").fill("0.06")
    fractions = {row["item_id"]: row["attributes"]["hole.hole_fraction"] for row in data().items}
    kept = [item for item in night if fractions[item] is not None and 0.03 <= fractions[item] <= 0.06]
    assert 0 < len(kept) < len(night)
    assert sorted(ids(page)) == sorted(kept)
    mean = statistics.fmean(psnr(METHODS[0], item) or 0 for item in kept)
    assert told(page).startswith(f"{len(kept)} of 36 items; mean PSNR: {METHODS[0]} {mean:.2f} dB")
    assert f"{mean:.2f} dB" in page.locator(".shown-means").inner_text()
    assert "not the published scores" in page.locator(".shown-means").inner_text()
    page.locator("[name=low]").fill("9")
    assert "No item passes these filters." in page.locator("#items .rows tbody").inner_text()


def test_words_and_text_filter_too(page: Any) -> None:
    page.locator("[name=attribute]").first.select_option(label="Weather")
    assert page.locator("[name=word] option").all_inner_texts() == ["any", '=so-called "sun"', "rain, heavy", "without"]
    page.locator("[name=word]").select_option(label="without")
    assert told(page).startswith("12 of 36 items")
    page.locator("#items button[type=reset]").click()
    page.locator("[name=text]").fill("K")
    assert {"k1", "k2", "k3"} <= set(ids(page))
    page.locator("[name=text]").fill("C & <I>woods, ÉTÉ")
    assert sorted(ids(page)) == ["c1", "c3"]  # c2 does not say where it comes from
    assert page.locator("#items .rows .from").first.inner_text() == "c & <i>woods, été.mp4"
    page.locator("#items .item button").first.click()
    assert "c & <i>woods, été.mp4" in page.locator(".item-panel .facts").inner_text()
    page.locator(".item-panel .close").click()


def test_scrolling_comes_to_every_item(page: Any) -> None:
    page.locator("[name=order]").select_option("dataset")
    page.set_viewport_size({"width": 1280, "height": 600})
    rows = page.locator("#items .rows")
    page.wait_for_function(f"() => document.querySelectorAll('#items tr[data-item]').length < {len(ITEMS)}")
    assert rows.locator("table").get_attribute("aria-rowcount") == str(len(ITEMS) + 1)
    seen = ids(page)
    assert len(seen) < len(ITEMS)
    rows.evaluate("rows => rows.scrollTo(0, rows.scrollHeight)")
    page.wait_for_function("id => [...document.querySelectorAll('#items .item button')].at(-1).textContent === id", arg=ITEMS[-1])
    assert list(dict.fromkeys([*seen, *ids(page)])) == ITEMS
    rows.evaluate("rows => rows.scrollTo(0, 0)")
    page.wait_for_function("id => document.querySelector('#items .item button').textContent === id", arg=ITEMS[0])
    page.set_viewport_size({"width": 1280, "height": 900})


def test_the_csv_holds_what_is_shown(page: Any, tmp_path: Path) -> None:
    page.locator("[name=slice]").select_option(label="night")
    with page.expect_download() as download:
        page.locator("[data-action=csv]").click()
    assert download.value.suggested_filename == "items.csv"
    download.value.save_as(tmp_path / "items.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "items.csv").read_text())))
    assert sorted(row["item_id"] for row in rows) == sorted(SLICES["night"])
    by_id = {row["item_id"]: row for row in rows}
    weather = {row["item_id"]: row["attributes"]["weather"] or "" for row in data().items}
    for item, row in by_id.items():
        assert row["weather"] == weather[item].replace("=", "'=")  # no formula for a spreadsheet
        assert row["source_name"] == ("" if item == ITEMS[7] else f"{item[0]} & <i>woods, été.mp4")
        assert float(row[f"psnr/hole/{METHODS[0]}"]) == pytest.approx(psnr(METHODS[0], item), rel=1e-5)
        assert "night" in row["slices"].split(";")


def ranks(values: Sequence[float]) -> list[float]:
    return [sum(other < value for other in values) + (sum(other == value for other in values) + 1) / 2 for value in values]


def test_rho_is_spearmans_and_a_dot_chooses_its_item(page: Any) -> None:
    fractions = {row["item_id"]: row["attributes"]["hole.hole_fraction"] for row in data().items}
    shown = page.locator("table.rho tbody tr").all_inner_texts()
    assert len(shown) == 3
    for method, words in zip(METHODS, shown, strict=True):
        known = [item for item in ITEMS if fractions[item] is not None and psnr(method, item) is not None]
        expected = np.corrcoef(ranks([fractions[item] for item in known]), ranks([psnr(method, item) or 0 for item in known]))[
            0, 1
        ]
        number, n = words.split()[-2:]
        assert float(number.replace("−", "-")) == pytest.approx(expected, abs=0.0051)
        assert int(n) == len(known)
    page.locator("#scatter").scroll_into_view_if_needed()
    dot = page.locator(f"[data-plot=scatter] [aria-label^='{ITEMS[5]}, {METHODS[0]}']")
    dot.wait_for(state="attached")
    dot.dispatch_event("click")
    assert ITEMS[5] in page.locator(".item-panel h3").inner_text()
    assert f"{psnr(METHODS[0], ITEMS[5]):.2f}" in page.locator(".item-panel tbody tr").first.inner_text()


def test_the_values_of_an_item_claim_no_more_than_the_table(page: Any) -> None:
    """A reference is never the best, and of few sources nothing is."""
    usual = {"bold": True, "contenders": 3}
    set_facts = """({ bold, contenders }) => {
      Object.assign(page.items.items, { bold });
      page.items.items.methods.forEach((one, place) => { one.reference = place >= contenders; });
    }"""
    words, best = "Every value of the item", "; the best of a row is bold"
    page.locator("[name=text]").fill("a3")
    [first, second, third] = [f"{psnr(method, 'a3') or 0:.2f}" for method in METHODS]
    assert first > third > second
    # So many methods compete; those after them are references.
    for facts, bold, caption in (
        ({}, [first], words + best + "."),
        ({"bold": False}, [], words + "."),
        ({"contenders": 2}, [first], words + best + "."),
        ({"contenders": 1}, [], words + best + "."),
    ):
        page.evaluate(set_facts, {**usual, **facts})
        page.locator("#items .item button").click()
        assert page.locator(".item-panel tbody tr:first-child td b").all_inner_texts() == bold
        assert page.locator("#items .rows td.n b").all_inner_texts() == bold
        assert page.locator(".item-panel caption").inner_text() == caption
    page.evaluate(set_facts, usual)
    page.locator(".item-panel .close").click()


def test_an_item_without_a_video_says_how_to_see_it_and_others_play(page: Any, report: ReportFiles) -> None:
    page.locator("[name=text]").fill("h2")
    page.locator("#items .item button").click()
    page.locator(".item-panel a.show").click()
    assert "Asked for" in page.locator(".exhibit:visible figcaption").inner_text()
    page.locator("[name=text]").fill("")
    hidden = page.locator("#items tr[data-item]:not(:has(.plays)) .item button").first
    name = hidden.inner_text()
    hidden.click()
    assert f"--show {name}" in page.locator(".item-panel").inner_text()
    page.locator(".item-panel .close").click()
    assert page.evaluate("document.activeElement.textContent") == name


def test_the_wipe_shows_any_two_pictures_at_the_frame(page: Any, tmp_path: Path) -> None:
    page.locator("#gallery").scroll_into_view_if_needed()
    page.locator(f"{ROOM} .control.outline").click()
    page.locator(f"{ROOM} .control.wipe").click()
    canvas = page.locator(f"{ROOM} .pane.main canvas").first

    def bars(row_share: float) -> int:
        repainted(page)
        data_url = canvas.evaluate("canvas => canvas.toDataURL('image/png')")
        (tmp_path / "wipe.png").write_bytes(base64.b64decode(data_url.split(",")[1]))
        return read_bars(video.read_image(tmp_path / "wipe.png"), row_share=row_share)

    def wipe_at() -> float:
        return float(page.evaluate(f"{PLAYER}.view.wipeAt"))

    go_to(page, 11)  # bars 1, 2 and 4 of five: 11 = 0b01011
    for _ in range(10):
        page.keyboard.press("]")
    assert wipe_at() == 1
    assert (bars(0.2), bars(0.77)) == (11, 11)  # the result alone
    for _ in range(20):
        page.keyboard.press("[")
    assert wipe_at() == 0
    assert (bars(0.2), bars(0.77)) == (11, 0)  # the truth has no bars in its lower half
    for _ in range(8):
        page.keyboard.press("]")
    assert bars(0.77) == 11 & 0b00011  # the right part is the truth's: no bar there
    assert page.evaluate(f"{PLAYER}.clock.frame") == 11
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    page.mouse.up()
    assert abs(wipe_at() - 0.8) <= 0.02
    page.locator(f"{ROOM} .against").select_option(label="over Input")
    assert page.locator(f"{ROOM} .pane.main .name").first.inner_text().endswith(" | Input")
    page.locator(f"{ROOM} .control.wipe").click()
    assert page.locator(f"{ROOM} .against").is_hidden()
    page.locator(f"{ROOM} .control.outline").click()


def test_a_close_up_follows_the_hole_until_it_is_dragged(page: Any) -> None:
    page.locator("#gallery").scroll_into_view_if_needed()
    canvas = page.locator(f"{ROOM} .pane.main canvas").first
    page.keyboard.press("z")
    middle = page.evaluate(f"{PLAYER}.view.window.y * (1 - 1 / 3) + 1 / 6")
    assert middle == pytest.approx(page.evaluate(f"Math.min({PLAYER}.view.card.centres[0][1], 1 - 1 / 6)"), abs=0.01)
    box = canvas.bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + 60)
    page.mouse.up()
    assert page.evaluate(f"{PLAYER}.view.window.y * (1 - 1 / 3) + 1 / 6") < middle
    page.keyboard.press("z")


def test_a_name_too_long_for_one_line_goes_on_in_a_second(page: Any) -> None:
    name = page.locator(f"{ROOM} .pane.main .name").first
    assert name.inner_text() == METHODS[0]
    assert name.evaluate("one => one.scrollWidth <= one.clientWidth && one.scrollHeight <= one.clientHeight + 1")


def test_the_plot_over_time_seeks_and_tells_the_values_of_the_frame(page: Any) -> None:
    traces = page.locator(".traces")
    traces.scroll_into_view_if_needed()
    box = traces.locator("canvas").bounding_box()
    page.mouse.click(box["x"] + box["width"] * 8 / (FRAMES - 1), box["y"] + box["height"] / 2)
    page.wait_for_function(f"() => {PLAYER}.clock.frame === 8")
    readout = traces.locator(".curves-told").inner_text()
    assert readout.startswith("Frame 9 · PSNR in the hole (dB)")
    traces.locator(".frame-values summary").click()
    row = traces.locator(".frame-values tbody tr").nth(8).inner_text().split()
    assert row[0] == "9"
    assert row[1] in readout
    page.locator("input[value=ssim]").check()
    assert traces.locator("select").input_value() == "ssim/hole"
    page.locator("input[value=psnr]").check()
    page.locator("input[value=frame]").check()
    assert traces.locator("select").input_value() == "error"
    assert "no values by frame" in traces.locator(".trace-note").inner_text()
    traces.locator("select").select_option("ssim/hole")
    assert "SSIM" in traces.locator(".curves-told").inner_text()
    assert traces.locator(".trace-note").inner_text() == ""
    page.locator("input[value=hole]").check()
    traces.locator(".frame-values summary").click()


def test_keys_are_listed_and_reach_everything(page: Any) -> None:
    page.locator("body").press("?")
    assert "wipe" in page.locator(f"{ROOM} .control.wipe").get_attribute("aria-label").lower()
    assert page.locator(".keys-dialog").is_visible()
    page.keyboard.press("Escape")
    assert page.locator(".keys-dialog").is_hidden()
    page.evaluate("document.querySelector('#items .filters select').focus()")
    reached = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.className || document.activeElement.name || ''"))
    assert {"sort", "order", "slice"} <= {word for name in reached for word in name.split()}


def test_facts_are_copied(opened: OpenPage, page: Any) -> None:
    opened.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator("button.copy[data-copy=fact-3]").click()
    page.wait_for_function("() => document.querySelector('[data-live=page]').textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == page.locator("#fact-3").inner_text()


def test_long_names_break_after_underscores_only(browser: Any, report: ReportFiles) -> None:
    narrow = OpenPage(browser, report.page.as_uri(), viewport={"width": 390, "height": 844})
    unfold(narrow.page)
    assert narrow.sticks_out() <= 0
    lines = narrow.page.evaluate(
        """() => [...document.querySelectorAll(
            '.gallery .caption .name, .ranks li :is(span, b), .scores:not([hidden]) thead .name')]
          .filter((name) => name.offsetParent).map((name) => {
            const range = document.createRange();
            const tops = new Map();
            for (const node of [...name.childNodes].filter((one) => one.nodeType === 3)) {
              range.selectNodeContents(node);
              tops.set(node.textContent, range.getClientRects().length);
            }
            return [...tops.values()];
          })"""
    )
    assert len(lines) > 8
    assert all(count == 1 for parts in lines for count in parts)  # no part between two underscores lies on two lines
    narrow.context.close()


def test_nothing_went_wrong_and_nothing_was_fetched(opened: OpenPage, report: ReportFiles) -> None:
    """Last of those that share a page, so that it covers everything they did."""
    assert opened.complaints == []
    assert opened.fetched(report.page.parent) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, report: ReportFiles, scheme: str) -> None:
    tab = OpenPage(browser, report.page.as_uri(), color_scheme=scheme)
    unfold(tab.page)
    tab.page.locator("#items .item button").first.click()
    if scheme == "light":
        tab.page.locator(f"{ROOM} .control.wipe").click()
    assert serious_findings(tab.page, colours_only=scheme == "dark") == []
    assert tab.complaints == []
    tab.context.close()


@pytest.mark.long
def test_links_to_the_parts_are_there_at_every_width(browser: Any, report: ReportFiles) -> None:
    tab = OpenPage(browser, report.page.as_uri())
    links = tab.page.locator(".bar nav a")
    addresses = [link.get_attribute("href") for link in links.all()]
    assert len(addresses) > 5
    for width in (1280, 900, 390):
        tab.page.set_viewport_size({"width": width, "height": 844})
        assert tab.sticks_out() <= 0
        links.first.focus()
        for address in addresses:
            if address != addresses[0]:
                tab.page.keyboard.press("Tab")
            assert tab.page.evaluate("document.activeElement.hash") == address
            box = tab.page.locator(":focus").bounding_box()
            assert 0 <= box["x"] < box["x"] + box["width"] <= width
        tab.page.keyboard.press("Enter")
        tab.page.wait_for_function("() => document.querySelector('.bar nav [aria-current]')?.hash === '#provenance'")
        bar = tab.page.locator(".bar").bounding_box()["height"]
        assert tab.page.locator("#provenance").bounding_box()["y"] >= bar - 1  # not under the bar
        tab.page.evaluate("scrollTo(0, 0)")
    assert serious_findings(tab.page) == []
    assert tab.complaints == []
    tab.context.close()


def test_without_scripts_the_first_items_are_there(browser: Any, report: ReportFiles) -> None:
    tab = OpenPage(browser, report.page.as_uri(), java_script_enabled=False)
    tab.page.locator("#items summary").first.click()
    assert tab.page.locator("table.items tbody tr:visible").count() == len(ITEMS)
    assert tab.page.locator(".filters:visible, .pager:visible, .player-room:visible, button.copy:visible").count() == 0
    tab.context.close()


def test_what_is_read_first_is_short_and_the_rest_is_one_click_away(browser: Any, report: ReportFiles) -> None:
    tab = OpenPage(browser, report.page.as_uri(), viewport={"width": 1280, "height": 800})
    tab.page.locator("[data-plot=difficulty] svg").wait_for(state="attached")
    high, controls = first_look(tab.page)
    assert high <= 5
    assert controls <= 120
    whole = "parts => parts.filter((one) => !one.querySelector(':scope > .part')).map((one) => one.id)"
    assert tab.page.locator("section:visible").evaluate_all(whole) == ["", "scores", "gallery"]
    for link in tab.page.locator(".bar nav a").all():
        link.click()
        address = str(link.get_attribute("href"))
        part = tab.page.locator(f"{address} > details.part")
        assert part.count() == 0 or part.evaluate("one => one.open"), address
    tab.context.close()
