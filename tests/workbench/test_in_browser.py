"""The page of `view` in Chromium and Firefox: any pair in two clicks, the address holds the whole view, axe finds nothing."""

from __future__ import annotations

import csv
import json
import re
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, unquote

import cv2
import numpy as np
import pytest
from browser_checks import OpenPage, comes_to, serious_findings, sheets
from playwright.sync_api import Error as PlaywrightError
from program import run_here
from tests.workbench.conftest import RUNS

from inpaintbench import video
from inpaintbench.pages.colours import method_styles
from inpaintbench.pages.page import render
from inpaintbench.types import Score
from inpaintbench.workbench import diagnosing
from inpaintbench.workbench.server import Server
from inpaintbench.workspace import Workspace

LOADED = "() => document.body.dataset.drawn !== undefined && document.querySelector('tr[data-item]')"
PLAYS = "() => document.querySelector('.comparison').dataset.loading === undefined && document.querySelector('.pane canvas')"
ANY = "() => new URLSearchParams(location.hash.slice(1)).getAll('f').find((one) => one.startsWith('any~'))"
# What a reader has set, read off the page.
SEEN = """() => {
  const all = (query, of) => [...document.querySelectorAll(query)].map(of);
  const bar = document.querySelector('[data-bar]').elements;
  return {
    runs: all('aside input:checked', (one) => one.value), metric: bar.metric.value, region: bar.region.value,
    methods: all('[data-leads] tbody tr:not(.off) th', (one) => one.innerText.trim().split(/\\s{2,}|\\n|compare|base/)[0]),
    base: all('.base[aria-pressed=true]', (one) => one.closest('tr').rowIndex), slice: bar.slice.value, text: bar.text.value,
    filters: all('[data-chips] .chip', (one) => one.textContent),
    sort: all('th[aria-sort]', (one) => one.getAttribute('aria-sort')),
    columns: all('.rows thead th', (one) => one.textContent), item: document.querySelector('[data-opened]').textContent,
    axes: all('[data-axis]', (one) => one.value), rows: all('tr[data-item]', (one) => one.dataset.item),
    frame: document.querySelector('.time').textContent,
    wipe: document.querySelector('.control.wipe').getAttribute('aria-pressed'),
    over: document.querySelector('select.against').selectedOptions[0]?.textContent,
    manner: all('[data-manner][aria-pressed=true]', (one) => one.dataset.manner),
    zoom: document.querySelector('.control.zoom').dataset.value,
    tiles: all('.pane:not([hidden]) .name', (one) => one.textContent),
    outline: document.querySelector('.control.outline').getAttribute('aria-pressed'),
  };
}"""


def opened(browser: Any, server: Server, place: str = "", **settings: Any) -> OpenPage:
    tab = OpenPage(browser, f"http://127.0.0.1:{server.server_port}/{place}", **settings)
    tab.page.wait_for_selector("aside li")
    return tab


def test_any_pair_of_six_runs_takes_two_clicks(browser: Any, server: Server) -> None:
    tab = opened(browser, server)
    for one, other in combinations(RUNS, 2):
        tab.page.goto(f"http://127.0.0.1:{server.server_port}/")
        tab.page.wait_for_selector("aside li")
        for name in (one, other):
            tab.page.locator(f"aside input[value='0/runs/{name}']").click()
        tab.page.wait_for_function(
            f"() => [...document.querySelectorAll('.rows thead th')].some((one) => one.textContent.includes('telea · {other}'))"
        )
        heads = tab.page.locator(".rows thead th").all_inner_texts()
        assert {f"telea · {one}", f"telea · {other}"} <= {head.strip(" ↑↓") for head in heads}
        tab.page.locator("[data-leads] th", has_text=f"telea · {other}").wait_for()  # no question is under way
    assert tab.complaints == []
    tab.context.close()


def test_a_copied_address_restores_the_view_elsewhere(browser: Any, server: Server) -> None:
    tab = opened(browser, server)
    page = tab.page
    for name in ("a", "b"):
        page.locator(f"aside input[value='0/runs/{name}']").click()
    page.wait_for_function(LOADED)
    page.locator("[data-bar] [name=metric]").select_option("ssim")
    page.locator("[data-bar] [name=region]").select_option("frame")
    page.locator("[data-bar] [name=slice]").select_option("low")
    page.locator("[data-bar] [name=text]").fill("film")
    page.wait_for_selector("[data-leads] .base")
    page.locator("[data-leads] tr", has_text="blank").locator("input").uncheck()
    page.wait_for_timeout(400)
    page.locator("[data-leads] .base").first.click()
    page.locator("summary", has_text="Filter").click()
    page.locator("[name=of]").select_option("v|navier_stokes")
    page.locator("[name=low]").fill("-1")
    page.locator("[data-action=range]").click()
    page.locator(".rows thead th button", has_text="Item").click()
    page.locator("[data-axis=x]").select_option("s|psnr/hole|navier_stokes")
    page.locator("tr[data-item]").first.click()
    page.wait_for_function(PLAYS)
    page.wait_for_timeout(600)
    page.keyboard.press("ArrowRight")
    for key in ("h", "z", "w"):
        page.keyboard.press(key)
    box = page.locator(".pane canvas").first.bounding_box()
    page.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 0.6 * box["height"])
    page.wait_for_timeout(700)
    page.keyboard.press("e")
    page.wait_for_function("() => [...document.querySelectorAll('.pane .name')].some((one) => one.textContent.includes('×4'))")
    page.wait_for_function(PLAYS)
    page.locator("select.against").select_option(label="over navier_stokes ×4 from truth")
    page.wait_for_timeout(700)
    before = page.evaluate(SEEN)
    assert "×4 from truth | navier_stokes ×4" in before["tiles"][0]
    assert before["metric"] == "ssim"
    assert before["zoom"] == "3×"
    assert before["wipe"] == before["outline"] == "true"
    assert len(before["filters"]) == 4
    place = page.evaluate("location.hash")
    for letter in ("r", "q", "m", "b", "s", "t", "f", "o", "x", "i", "n", "k", "a", "z", "h"):
        assert f"{letter}=" in place.replace("#", "&"), letter
    other = opened(browser, server, place)
    other.page.wait_for_function(PLAYS)
    assert comes_to(other.page, SEEN, before) == before
    assert (tab.complaints, other.complaints) == ([], [])
    tab.context.close()
    other.context.close()


def test_an_effect_filters_to_its_axis_and_shows_its_pair_in_step(browser: Any, paired_server: Server) -> None:
    tab = opened(browser, paired_server, "#r=0/run&f=a|frames~0~9&o=item")
    page = tab.page
    page.wait_for_function(LOADED)
    page.locator("[data-effects] summary").first.click()
    effect = page.locator(".effect .chip")
    effect.wait_for()
    assert effect.inner_text().startswith("Size of the hole")
    assert page.locator(".effect .forest").count() == 2
    effect.click()
    page.wait_for_function(PLAYS)
    assert "axis.size~low~high" in unquote(page.evaluate("location.hash"))
    assert page.locator("[data-chips]").inner_text().startswith("Axis: size: low, high")
    names = page.locator(".pane .name").all_inner_texts()
    assert {"telea", "telea (high)", "truth", "truth (high)"} <= set(names)
    first = page.locator("[data-opened]").inner_text()
    page.keyboard.press("j")
    page.wait_for_function(f"() => document.querySelector('[data-opened]').textContent !== '{first}'")
    page.wait_for_function(PLAYS)
    page.wait_for_function("() => [...document.querySelectorAll('.pane .name')].some((one) => one.textContent.includes(' ('))")
    page.locator(".effect .chip[aria-pressed=true]").click()
    page.wait_for_function("() => document.querySelector('.look').hidden")
    assert "axis.size~" not in unquote(page.evaluate("location.hash"))
    assert tab.complaints == []
    tab.context.close()


def test_two_levels_of_an_axis_leave_what_is_said_of_effects_as_it_is(browser: Any, paired_server: Server) -> None:
    told = []
    for state, shown in (("", "16 items"), ("&f=a|axis.size~low~", "8 of 16 items")):
        tab = opened(browser, paired_server, f"#r=0/run&u=1{state}")
        tab.page.locator(".effect").wait_for()
        assert tab.page.locator("[data-count]").inner_text() == shown
        told.append(tab.page.locator("[data-effectrows]").inner_text())
        assert tab.complaints == []
        tab.context.close()
    assert told[0] == told[1]
    assert "comparisons on 16 items" in told[0]


def test_a_range_of_scores_takes_the_claims_away(browser: Any, paired_server: Server) -> None:
    tab = opened(browser, paired_server, "#r=0/run&b=telea&u=1&f=a|frames~0~9")
    page, leads = tab.page, tab.page.locator("[data-leads]")
    page.wait_for_function("() => / to /.test(document.querySelector('[data-leads] tbody')?.innerText)")
    page.evaluate("location.hash += '&f=d|navier_stokes~-99~99'")
    for place in ("leads", "effectrows"):
        page.wait_for_function(f"() => document.querySelector('[data-{place}]').innerText.includes('chosen by the scores')")
    assert " to " not in leads.locator("tbody").inner_text()
    assert tab.complaints == []
    tab.context.close()


def test_beside_the_films_names_are_whole_and_few_films_take_few_words(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b&b=navier_stokes&i=")
    page = tab.page
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function(LOADED)
    page.locator("tr[data-item]").first.click()
    page.wait_for_function(PLAYS)
    page.locator(".leads [title*=sources]").first.wait_for()
    assert page.locator(".leads [title*=sources]").first.inner_text() == "too few films"
    label = page.locator(".leads tbody label", has_text="navier_stokes")
    assert label.bounding_box()["height"] < 30, "a name without a space is on one line"
    assert max(row.bounding_box()["height"] for row in page.locator(".leads tbody tr").all()) < 80
    assert tab.complaints == []
    tab.context.close()


def test_words_of_a_strip_are_chosen_one_after_the_other(browser: Any, paired_server: Server) -> None:
    tab = opened(browser, paired_server, "#r=0/run")
    page = tab.page
    page.wait_for_function(LOADED)
    strip = page.locator(".strip", has_text="Axis: size").locator("canvas")
    box = strip.bounding_box()
    for share, left in ((0.25, "8 of 16 items"), (0.75, "16 items"), (0.75, "8 of 16 items"), (0.25, "16 items")):
        strip.click(position={"x": share * box["width"], "y": 10})
        page.wait_for_function(f"() => document.querySelector('[data-count]').textContent === '{left}'")
    assert tab.complaints == []
    tab.context.close()


def test_back_undoes_one_thing_after_the_other(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a")
    page = tab.page
    states = [page.evaluate("location.hash")]
    for click in (
        lambda: page.locator("tr[data-item]").first.locator("td").nth(1).click(),
        lambda: page.keyboard.press("j"),
        lambda: page.keyboard.press("e"),
        lambda: page.locator("select[name=metric], [name=metric]").first.select_option(index=1),
    ):
        page.wait_for_timeout(600)  # what follows sooner is the same step
        click()
        _beyond(tab, f"location.hash !== {json.dumps(states[-1])}")
        page.wait_for_timeout(300)
        states.append(page.evaluate("location.hash"))
    for state in states[-2::-1]:
        page.go_back()
        _beyond(tab, f"location.hash.replace(/&n=1/, '') === {json.dumps(state)}.replace(/&n=1/, '')")
    assert tab.complaints == []
    tab.context.close()


def test_unlike_runs_are_refused_on_the_page(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/of_other")
    tab.page.wait_for_selector("[data-refusal]:not([hidden])")
    assert "their scores cannot be compared" in tab.page.locator("[data-refusal]").inner_text()
    assert tab.page.locator("[data-leads] td").count() == 0
    tab.context.close()


def test_marks_of_an_axis_are_told_apart_where_values_are_close(browser: Any, server: Server) -> None:
    tab = OpenPage(browser, "about:blank")
    tab.page.add_init_script(
        "window.drawn = new Set(); const fill = CanvasRenderingContext2D.prototype.fillText;"
        "CanvasRenderingContext2D.prototype.fillText = function (text, ...at) { drawn.add(text); fill.call(this, text, ...at); }"
    )
    tab.page.goto(f"http://127.0.0.1:{server.server_port}/#r=0/runs/a")
    tab.page.wait_for_function("() => drawn.size > 9")
    assert {"10.02", "10.06", "10.09", "10.12", "10.15"} <= set(tab.page.evaluate("[...drawn]"))
    tab.context.close()


def test_a_note_that_is_refused_says_why_and_stays(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a")
    tab.page.wait_for_selector("[data-leads] tbody td")
    tab.page.locator("aside .edit").first.click()
    form = tab.page.locator(".notes:popover-open")
    form.locator("[name=note]").fill("a" * 10_000)
    before = form.bounding_box()["height"]
    form.locator("button").first.click()
    form.and_(tab.page.locator("[data-refused*='texts of at most']")).wait_for()
    assert form.bounding_box()["height"] > before + 12  # a line of text more
    assert len(form.locator("[name=note]").input_value()) == 10_000
    assert server.bench.notes.read()["things"] == {}
    tab.context.close()


def test_names_of_strangers_stay_words(browser: Any, server: Server) -> None:
    trick = "<img src=x onerror=\"document.title='broken in'\">"
    server.bench.notes.annotate("0/runs/a", {"name": trick, "note": trick, "tags": trick})
    tab = opened(browser, server, f"#r=0/runs/a&t={trick}&s={trick}&f=v|telea~{trick}")
    tab.page.wait_for_selector("[data-leads] tbody td")
    assert trick in tab.page.locator("aside").inner_text()
    assert tab.page.locator("aside img, main img").count() == 0
    assert tab.page.title() == "inpaintbench view"
    server.bench.notes.annotate("0/runs/a", {"name": "", "note": "", "tags": ""})
    tab.context.close()


def test_a_dataset_offers_what_it_has_and_its_ticked_columns_are_those_that_show(browser: Any, paired_server: Server) -> None:
    tab = opened(browser, paired_server, "#d=0/data")
    tab.page.wait_for_function(LOADED)
    assert tab.page.locator("[data-order] option").all_inner_texts() == ["at random", "by name", "by column"]
    offered = tab.page.locator("[data-axis=y] option").evaluate_all("(all) => all.map((one) => one.value)")
    assert tab.page.locator("[data-axis=y]").input_value() in offered
    assert not {"mean", "spread", "|chosen"} & {*offered}
    ticked = tab.page.locator("[data-columns] :checked").evaluate_all("(all) => all.map((one) => one.parentNode.textContent)")
    assert ticked == tab.page.locator(".rows thead th:not(:first-child)").all_inner_texts() != []
    tab.page.locator("tr[data-item]").first.click()
    tab.page.wait_for_function(PLAYS)
    known = tab.page.locator("[data-facts] dt").evaluate_all("(all) => all.map((one) => one.textContent)")
    assert "Axis: size" in known
    assert "Item" not in known
    assert tab.page.locator("[data-identifiers] dd").first.text_content() == tab.page.locator("[data-from]").inner_text()
    tab.page.keyboard.press("g")
    assert tab.page.locator(".pictures button").first.inner_text().startswith("film")
    tab.context.close()


def test_a_dataset_is_looked_at_and_flagged(browser: Any, server: Server, tmp_path: Path) -> None:
    tab = opened(browser, server)
    tab.page.locator("button.open[data-key='0/waves']").click()
    tab.page.wait_for_function(LOADED)
    tab.page.locator("tr[data-item]").nth(1).click()
    tab.page.wait_for_function(PLAYS)
    tab.page.keyboard.press("w")
    assert tab.page.locator(".pane .name").all_inner_texts() == ["input | truth", "truth", "hole"]
    tab.page.keyboard.press("x")
    tab.page.wait_for_function("() => document.querySelector('[data-flags]').textContent !== ''")
    item = tab.page.locator("[data-from]").inner_text()
    assert server.bench.notes.read()["flags"] == [{"subject": item, "name": "look_again", "value": "yes"}]
    clip = f"c{item.removeprefix('i')}"
    labels = tmp_path / "labels.csv"
    labels.write_text(tab.page.evaluate("async () => (await fetch('/api/flags.csv')).text()"))
    assert labels.read_text() == f"subject,name,value\n{clip},look_again,yes\n"
    assert tab.page.locator("tr[data-item]:has(.tag.flagged)").count() == 1
    tab.page.locator("[name=flagged]").click()
    assert tab.page.locator("tr[data-item]").count() == 1
    tab.page.keyboard.press("g")
    card = tab.page.locator(".pictures button").first
    assert (card.inner_text().split()[2], card.get_attribute("title")) == ("flagged", item)
    tab.page.keyboard.press("x")
    tab.page.wait_for_function("() => document.querySelectorAll('.pictures button').length === 0")
    assert server.bench.notes.read()["flags"] == []
    tab.context.close()


def test_what_is_set_by_dragging_stays_on_the_way_to_the_button(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&i=i1")
    page = tab.page
    page.wait_for_function(PLAYS)
    page.keyboard.press("w")
    page.keyboard.press("z")
    box = page.locator(".pane canvas").first.bounding_box()

    def drag(start: tuple[float, float], end: tuple[float, float]) -> None:
        for press, (x, y) in ((page.mouse.down, start), (page.mouse.up, end)):
            page.mouse.move(box["x"] + x * box["width"], box["y"] + y * box["height"], steps=3)
            press()

    def zoomed() -> list[float]:
        return [float(one) for one in _letter(page, "z").split("~")]

    drag((0.5, 0.5), (0.25, 0.5))
    _beyond(tab, "location.hash.includes('z=3') && !location.hash.includes('z=3%7E')")  # it keeps to the hole
    drag((0.8, 0.5), (0.79, 0.49))
    _beyond(tab, "location.hash.includes('z=3%7E')")
    before = zoomed()
    drag((0.8, 0.5), (0.6, 0.3))
    place = page.evaluate("location.hash")
    page.locator("[data-action=copy]").hover()
    assert float(_letter(page, "a")) == pytest.approx(0.25, abs=0.02)
    assert zoomed() == [3, *(pytest.approx(min(one + 0.1, 1), abs=0.02) for one in before[1:])]
    page.evaluate(
        "() => Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    page.locator("[data-action=copy]").click()
    page.locator("[data-live]", has_text="The link is copied").wait_for()
    assert page.evaluate("window.copied").endswith(place)
    page.keyboard.press("?")
    for look, keys in ((False, False), (False, True), (True, True)):
        assert (page.locator(".look").is_hidden(), page.locator("[data-help]").is_hidden()) == (look, keys)
        page.keyboard.press("Escape")
    assert tab.complaints == []
    tab.context.close()


def test_two_runs_are_held_against_each_other_by_method(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b")
    page = tab.page
    page.wait_for_function(LOADED)
    page.locator("[data-against] button", has_text="b less a").click()
    lead = page.locator("[data-leads] tr", has_text="telea · b").locator("td").nth(1)
    page.locator("[data-leads] thead th", has_text="b less a").wait_for()
    assert lead.inner_text() != ""
    assert page.locator("[data-leads] tr", has_text="navier_stokes").locator("td").nth(1).inner_text() == ""
    told = page.locator("[data-against] span").inner_text()
    assert "Gone: blank; new: navier_stokes; telea: radius_pixels 9, 3.0 (the default) in a." in told
    assert "Δ telea · b" in [one.strip(" ↑↓") for one in page.locator(".rows thead th").all_inner_texts()]
    page.locator("tr[data-item]").first.click()
    page.wait_for_function(PLAYS)
    assert page.locator("[data-basis]").is_hidden()
    page.locator("[data-manner=difference]").click()
    for base in ("blank", "telea · b"):
        page.locator("[data-basis]").select_option(base)
        _beyond(tab, f"[...document.querySelectorAll('.pane .name')].some((one) => one.textContent.endsWith('×4 from {base}'))")
        assert f"g={quote_plus(base)}" in page.evaluate("location.hash")
    page.locator("[data-action=close]").first.click()
    page.locator("aside input[value='0/runs/c']").click()
    _beyond(
        tab, "!document.querySelector('[data-against] button') && document.querySelectorAll('[data-leads] tbody tr').length === 6"
    )
    assert tab.complaints == []
    tab.context.close()


def _letter(page: Any, name: str) -> str:
    return str(page.evaluate("(name) => new URLSearchParams(location.hash.slice(1)).get(name) ?? ''", name))


def test_a_base_stays_when_a_run_is_ticked_and_goes_with_its_own(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&b=telea&o=d|blank~up&f=v|telea~0~99")
    page = tab.page
    page.wait_for_function(LOADED)
    page.locator("aside input[value='0/runs/b']").click()
    page.locator("[data-leads] thead th", has_text="less telea · a").wait_for()
    _beyond(tab, "location.hash.includes('telea+%C2%B7+a')")
    assert (_letter(page, "b"), _letter(page, "f"), _letter(page, "o")) == ("telea · a", "v|telea · a~0~99", "d|blank~up")
    assert "telea · a: 0.00 to 99.00" in page.locator("[data-chips]").inner_text()
    assert page.locator(".rows th[aria-sort=ascending]").inner_text().startswith("Δ blank")
    page.locator("[data-leads] tr", has_text="telea · a").locator("input").uncheck()  # hidden, and still what others are less
    page.locator("[data-leads] thead th", has_text="less telea · a").wait_for()
    _beyond(tab, "!document.querySelector('.rows thead').textContent.includes('Δ telea · a')")
    assert _letter(page, "b") == "telea · a"
    page.locator("aside input[value='0/runs/a']").click()
    page.locator("[data-leads] thead th", has_text="Difference").wait_for()
    _beyond(tab, "document.querySelectorAll('[data-leads] tbody tr').length === 2")
    assert [_letter(page, name) for name in "bof"] == ["", "", ""]
    assert page.locator("[data-order]").input_value() == "worst"
    assert tab.complaints == []
    tab.context.close()


def test_a_box_over_several_methods_filters_both_ways(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a")
    page = tab.page
    page.wait_for_function(LOADED)
    page.wait_for_selector("[data-leads] .base")
    for low, kept in ((0.6, ["any"]), (0.12, [])):  # a flat one is meant across alone
        page.locator("[data-scatter]").scroll_into_view_if_needed()
        plot = page.locator("[data-scatter] canvas").bounding_box()
        page.mouse.move(plot["x"] + 2, plot["y"] + 0.1 * plot["height"])
        page.mouse.down()
        page.mouse.move(plot["x"] + plot["width"] - 2, plot["y"] + low * plot["height"], steps=4)
        page.mouse.up()
        keys = "() => new URLSearchParams(location.hash.slice(1)).getAll('f').map((one) => one.split('~')[0])"
        page.wait_for_function(f"() => ({keys})().length === {1 + len(kept)}")
        assert page.evaluate(keys)[1:] == kept
        if kept:
            assert "of any method" in page.locator("[data-chips]").inner_text()
            low_end, high_end = map(float, page.evaluate(ANY).split("~")[1:])
            joined = server.bench.joined({"runs": ["0/runs/a"]})
            columns = [joined.values["psnr/hole", name] for name in ("telea", "blank")]
            passing = [str(at) for at in range(3) if any(low_end <= one[at] <= high_end for one in columns)]
            rows = page.locator("tr[data-item]").evaluate_all("(all) => all.map((one) => one.dataset.item)")
            assert sorted(rows) == passing
    assert tab.complaints == []
    tab.context.close()


def test_items_are_found_by_name_and_id_together(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a")
    tab.page.wait_for_function(LOADED)
    for text, count in (("film 1.mp4 i1", 1), ("i1  film 1", 1), ("film i", 3), ("1.mp4 i2", 0)):
        tab.page.locator("[data-bar] [name=text]").fill(text)
        tab.page.wait_for_function(f"() => document.querySelectorAll('tr[data-item]').length === {count}")
    tab.context.close()


def test_the_curve_over_time_has_the_colours_of_now(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&i=i1&n=1")
    page = tab.page
    page.wait_for_function(PLAYS)
    page.wait_for_selector(".curves-plot")
    look = "() => document.querySelector('.curves-plot').toDataURL()"
    light = page.evaluate(look)
    page.locator("[data-action=scheme]").click()
    dark = page.evaluate(look)
    assert dark != light
    page.locator("[data-action=scheme]").click()
    assert page.evaluate(look) == light
    if browser.browser_type.name == "firefox":
        return  # its driver changes no colour scheme of the system
    page.evaluate("document.documentElement.style.colorScheme = ''")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"(dark) => ({look})() === dark", arg=dark)
    tab.context.close()


def test_paper_is_light_whole_and_as_wide_as_it_is(browser: Any, server: Server) -> None:
    if browser.browser_type.name == "firefox":
        pytest.skip("its driver emulates no paper")
    place = "#r=0/runs/a&r=0/runs/b&r=0/runs/c&r=0/runs/d&b=blank&i=i1&n=1"
    tab = opened(browser, server, place, color_scheme="dark", viewport={"width": 1280, "height": 500})
    page = tab.page
    page.wait_for_function(PLAYS)
    page.wait_for_selector("[data-leads] tbody td")
    page.evaluate("""async () => {
      const { Table } = await import('/static/items/table.js');
      const { Items } = await import('/static/items/data.js');
      const ids = Array.from({ length: 90 }, (_, at) => `id${at}.`);
      const facts = [{ key: 'size', label: 'Heldhole', numeric: true, values: ids.map((_, at) => at / 7) }];
      const none = { facts, values: {}, slices: [], methods: [], quantities: [], styles: {} };
      const many = document.createElement('div');
      many.id = 'many';
      many.style.height = '300px';
      document.body.append(many);
      window.many = new Table(many, { open() {}, sort() {} });
      const items = Items.listed({ ids, names: ids, sources: ids, ...none, kind: '' });
      items.choose('', [], '');
      const order = Int32Array.from(ids.keys());
      const show = () => window.many.show(
        { items, order, columns: ['a|size'], by: 'item', falling: false, item: null, looks: {} });
      show();
      matchMedia('print').addEventListener('change', show);
    }""")
    assert page.locator("#many tr[data-item]").count() < 60
    for landscape in (False, True):
        printed = [text for text in sheets(page.pdf(format="A4", landscape=landscape)) if re.search(r"id\d+\.", text)]
        assert len(printed) > 1
        assert set(re.findall(r"id\d+\.", "".join(printed))) == {f"id{at}." for at in range(90)}
        assert all("Heldhole" in text for text in printed)
    assert page.locator("#many tr[data-item]").count() < 60
    bright = "() => getComputedStyle(document.body).color.match(/[0-9]+/g).every((one) => Number(one) < 90)"
    assert not page.evaluate(bright)
    page.set_viewport_size({"width": 980, "height": 700})  # A4 across, whose table is the widest
    page.emulate_media(media="print", color_scheme="dark")
    page.wait_for_function("() => document.querySelectorAll('#many tr[data-item]').length === 90")
    assert page.evaluate(bright)
    assert tab.sticks_out() == 0
    assert page.locator(".rows .dot").first.evaluate("(one) => getComputedStyle(one).printColorAdjust") == "exact"
    assert page.locator("[data-action=copy]").is_hidden()
    page.emulate_media(media="screen")
    page.wait_for_function("() => document.querySelectorAll('#many tr[data-item]').length < 60")
    tab.context.close()


def test_what_is_hidden_on_the_screen_is_on_no_paper(browser: Any, server: Server) -> None:
    if browser.browser_type.name == "firefox":
        pytest.skip("its driver emulates no paper")
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b&m=blank&m=navier_stokes&i=i1&n=1&z=3~1~1&a=0.4")
    page = tab.page
    page.wait_for_function(PLAYS)
    page.wait_for_selector("[data-leads] tr.off")
    page.wait_for_selector(".pane.main[hidden]", state="attached")
    page.emulate_media(media="print")
    assert page.locator("[data-leads] tr.off").first.is_hidden()
    assert page.locator(".pane.main[hidden]").is_hidden()
    assert page.locator(".pane.main:not([hidden])").is_visible()
    tab.context.close()


def test_a_wipe_names_what_it_lies_over_once(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b&i=i1&n=1&a=0.5")
    page = tab.page
    page.wait_for_function(PLAYS)
    _beyond(tab, "document.querySelector('select.against').options.length === 6")
    words = page.locator("select.against option").all_inner_texts()
    assert words[0] == "over truth"
    assert len({*words}) == len(words)
    page.locator("select.against").select_option(label="over blank")
    _beyond(tab, "document.querySelector('.pane .name').title.includes('blank')")
    names = page.locator(".pane.main .name").all_inner_texts()
    assert sorted(names) == ["blank", "navier_stokes | blank", "telea · a | blank", "telea · b | blank"]
    tab.context.close()


def test_zoom_keeps_to_the_hole_until_it_is_dragged(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&i=i1&n=1")
    page = tab.page
    page.wait_for_function(PLAYS)
    page.keyboard.press("z")
    _beyond(tab, "location.hash.includes('z=3')")
    assert _letter(page, "z") == "3"
    told = server.bench.shown({"runs": ["0/runs/a"], "item": ["i1"]})
    x, y = told["centres"][0]
    assert (x, y) != (0.5, 0.5)
    other = opened(browser, server, page.evaluate("location.hash"))
    other.page.wait_for_function(PLAYS)
    # Pixels: Firefox writes a tag of the page into its PNG.
    look = """() => {
      const { width, height } = document.querySelector('.pane canvas');
      return String(document.querySelector('.pane canvas').getContext('2d').getImageData(0, 0, width, height).data);
    }"""
    assert comes_to(other.page, look, page.evaluate(look))
    place = [min(max((share - 1 / 6) / (2 / 3), 0), 1) for share in (x, y)]
    third = opened(browser, server, f"#r=0/runs/a&i=i1&n=1&z=3~{place[0]}~{place[1]}")
    third.page.wait_for_function(PLAYS)
    assert comes_to(third.page, look, page.evaluate(look))
    for one in (tab, other, third):
        one.context.close()


def test_buttons_have_words_and_menus_stay_on_the_page(browser: Any, server: Server) -> None:
    for width in (1280, 390):
        tab = opened(browser, server, "#r=0/runs/a&i=i1", viewport={"width": width, "height": 844})
        page = tab.page
        page.wait_for_function(PLAYS)
        for button in page.locator(".control:visible").all():
            word = button.locator(".word").inner_text()
            assert (button.get_attribute("aria-label") or "").startswith(word)
            assert word in (button.get_attribute("data-tip") or "")
        for name in ("Filter", "Columns"):
            page.locator("summary", has_text=name).click()
            box = page.locator("details[open].menu > div").bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
        assert tab.sticks_out() == 0
        tab.context.close()
    names = "(all) => all.every((one) => one.checkVisibility() && one.scrollWidth <= one.clientWidth + 1)"
    tab = opened(browser, server, "#r=0/runs/a", viewport={"width": 390, "height": 844})
    tab.page.wait_for_function(LOADED)
    assert tab.page.locator(".rows .item :is(button, .from)").evaluate_all(names)
    tab.page.evaluate("() => Object.defineProperty(navigator, 'clipboard', {value: {writeText: async () => undefined}})")
    tab.page.locator("[data-action=copy]").click()
    tab.page.locator("[data-live]", has_text="it opens on this machine alone").wait_for()
    tab.context.close()


def _beyond(tab: OpenPage, words: str) -> None:
    tab.page.wait_for_function(f"() => {words}")


def _drag(tab: OpenPage, plot: Any, over: Callable[[float, float], tuple[tuple[float, float], tuple[float, float]]]) -> None:
    """Drag over a plot until a filter stands: on a busy machine the page still moves below the pointer at first."""
    chips = tab.page.locator("[data-chips] .chip")
    for _ in range(4):
        box = plot.bounding_box()
        (x, y), (to_x, to_y) = over(box["width"], box["height"])
        tab.page.mouse.move(box["x"] + x, box["y"] + y)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + to_x, box["y"] + to_y, steps=4)
        tab.page.mouse.up()
        with suppress(PlaywrightError):
            chips.first.wait_for(timeout=8000)
            return
    raise AssertionError("no filter stands after four drags")


def test_the_table_plots_and_player_follow_the_mouse_and_keys(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b")
    page = tab.page
    page.wait_for_function(LOADED)
    page.wait_for_selector("[data-leads] .base")  # what comes last and moves what is below it
    assert page.locator("tr[data-item]").count() == 3
    strip = page.locator(".strip").first
    _drag(tab, strip.locator("canvas"), lambda width, height: ((1, 20), (0.4 * width, 20)))
    assert page.locator("[data-chips] .chip").count() == 1
    some = page.locator("tr[data-item]").count()
    assert 0 < some < 3
    assert page.locator("[data-count]").inner_text() == f"{some} of 3 items"
    page.locator("[data-chips] .chip").click()
    _beyond(tab, "document.querySelectorAll('tr[data-item]').length === 3")
    _drag(tab, page.locator("[data-scatter] canvas"), lambda width, height: ((50, 10), (0.6 * width, height - 30)))
    page.locator("[data-chips] .chip").last.click()
    _beyond(tab, "document.querySelectorAll('tr[data-item]').length === 3")
    for how in ("ascending", "descending"):
        page.locator(".rows thead th button", has_text="Item").click()
        assert page.locator(".rows thead th").first.get_attribute("aria-sort") == how
    assert [one.get_attribute("data-item") for one in page.locator("tr[data-item]").all()] == ["2", "1", "0"]
    page.locator(".rows thead th button", has_text="Spread").click()
    sides = "(all) => all.map((one) => one.getBoundingClientRect().left - one.closest('.rows').getBoundingClientRect().left)"
    assert page.locator("tr[data-item] td:first-child").evaluate_all(sides) == [1, 1, 1]
    page.locator(".rows thead th button", has_text="blank").click()  # a PSNR: the least is the worst
    assert page.locator(".rows thead th", has_text="blank").get_attribute("aria-sort") == "ascending"
    page.locator(".rows thead th button", has_text="Item").click()
    page.locator(".rows thead th button", has_text="Item").click()
    page.locator("tr[data-item]").first.click()
    page.wait_for_function(PLAYS)
    page.keyboard.press(" ")
    _beyond(tab, "location.hash.includes('&n=')")
    at = int(page.evaluate("new URLSearchParams(location.hash.slice(1)).get('n')"))
    page.keyboard.press("ArrowRight")
    _beyond(tab, f"location.hash.includes('&n={at % 3 + 1}')")  # a frame that was stepped to can be sent at once
    page.keyboard.down("f")
    assert page.locator(".control.flip").get_attribute("aria-pressed") in ("true", None)
    page.keyboard.up("f")
    page.keyboard.press("e")
    _beyond(tab, "location.hash.includes('&k=error')")
    page.keyboard.press("j")
    _beyond(tab, "!location.hash.includes('i=i2')")
    page.wait_for_function(PLAYS)
    page.keyboard.press("Escape")
    _beyond(tab, "document.querySelector('.look').hidden")
    assert tab.complaints == []
    tab.context.close()


def test_response_curves_have_lines_in_the_colours_of_methods(browser: Any, paired_server: Server) -> None:
    curve = {"fact": "size", "label": "Size", "at": [0.1, 0.4], "mean": [30.0, 20.0], "low": [29.0, 19.0], "high": [31.0, 21.0]}
    styles = method_styles(["telea", "navier_stokes"])
    plots = diagnosing.plots([{**curve, "method": name} for name in styles], 2)
    tab = opened(browser, paired_server, "#r=0/run")
    tab.page.wait_for_function(LOADED)
    html = render("workbench/static/effects.html", plots=plots, styles=styles, rows=[], chosen="", without=[], still=False)
    tab.page.route("**/api/diagnosis?*", lambda route: route.fulfill(body=html))
    tab.page.locator("[data-effects] summary").first.click()
    lines = tab.page.locator(".response-plot polyline")
    lines.first.wait_for(state="attached")
    colours = {one.evaluate("(one) => getComputedStyle(one).stroke") for one in lines.all()}
    assert len(colours - {"none"}) == lines.count() == 2
    tab.context.close()


def test_the_open_film_is_that_of_the_run_as_it_is_now(chromium: Any, pairs: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(pairs, tmp_path / "pairs"))
    listening = Server([folder])
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        tab = opened(chromium, listening, "#r=0/run&i=i0high&n=2")
        told, asked = tab.page.locator(".curves-told"), 0

        def going_on(route: Any) -> None:  # as where a step of the run goes on
            nonlocal asked
            asked += 1
            route.fulfill(json=route.fetch().json() | {"running": [asked]})

        tab.page.route("**/api/things", going_on)
        tab.page.wait_for_function(PLAYS)
        _beyond(tab, "document.querySelector('.curves-told').textContent.startsWith('Frame 2')")
        before = told.inner_text()
        tab.page.evaluate("window.first = document.querySelector('.pane canvas')")
        with tab.page.expect_response("**/api/sheet?*"):
            pass
        tab.page.wait_for_timeout(300)
        assert told.inner_text() == before
        assert tab.page.evaluate("window.first === document.querySelector('.pane canvas')"), "the same film plays on"
        words = ("--method", "telea,radius_pixels=21", "--workers", "0")
        done = run_here("eval", "run", folder / "data", "--run", folder / "run", *words)
        assert done.returncode == 0, done.stderr
        _beyond(tab, f"document.querySelector('.curves-told').textContent !== {json.dumps(before)}")
        tab.page.wait_for_function(PLAYS)
        _beyond(tab, "document.querySelector('.curves-told').textContent.startsWith('Frame 2')")
        assert not tab.page.evaluate("window.first === document.querySelector('.pane canvas')")
        assert tab.complaints == []
        tab.context.close()
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def test_a_wave_in_a_name_parts_nothing(browser: Any, server: Server) -> None:
    server.bench.notes.annotate("run 0/runs/b", {"name": "Monday~v2%7E", "note": "", "tags": ""})
    try:
        tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b")
        page = tab.page
        page.wait_for_function(LOADED)
        page.locator(".rows thead th button", has_text="telea · Monday~v2%7E").click()
        page.locator("summary", has_text="Filter").click()
        page.locator("[name=of]").select_option("v|telea · Monday~v2%7E")
        page.locator("[name=low]").fill("-1")
        page.locator("[data-action=range]").click()
        page.locator("[data-chips] .chip", has_text="Monday~v2%7E: -1").or_(
            page.locator("[data-chips] .chip", has_text="Monday~v2%7E: −1")
        ).wait_for()
        assert page.locator(".rows th[aria-sort=ascending]").inner_text().startswith("telea · Monday~v2%7E")
        other = opened(browser, server, page.evaluate("location.hash"))
        other.page.wait_for_function(LOADED)
        for query in ("[data-chips]", ".rows thead"):
            assert other.page.locator(query).inner_text() == page.locator(query).inner_text()
        assert (tab.complaints, other.complaints) == ([], [])
        tab.context.close()
        other.context.close()
    finally:
        server.bench.notes.annotate("run 0/runs/b", {"name": "", "note": "", "tags": ""})


def test_an_infinite_value_counts_and_a_missing_one_does_not(browser: Any, server: Server) -> None:
    tab = opened(browser, server)
    values = {"psnr/hole|a": ["inf", 30, "inf", 25], "psnr/hole|b": [20, 28, "inf", None]}
    head = {
        "ids": [*"0123"], "names": [*"0123"], "sources": [*"0123"], "facts": [], "slices": [], "values": values, "kind": "study",
        "methods": [{"name": "a"}, {"name": "b"}], "styles": {"a": {}, "b": {}}, "default": "psnr/hole",
        "quantities": [{"key": "psnr/hole", "higher": True, "ranked": True}],
    }  # fmt: skip
    told = tab.page.evaluate(
        """async (head) => {
          const { Items } = await import('/static/items/data.js');
          const items = Items.listed(head);
          items.choose('psnr/hole', ['a', 'b'], '');
          const column = (name) => [...items.column(name).column].map((one) => String(Math.round(one * 10) / 10));
          const order = (by, falling) => [...items.sorted(Int32Array.of(0, 1, 2, 3), by, falling)];
          return [...['mean', 'worst', 'spread', 'odd'].map(column), order('mean', false), order('spread', true)];
        }""",
        head,
    )
    mean, worst, spread, odd, from_worst, most_disagreed = told
    assert mean == ["Infinity", "29", "Infinity", "25"]
    assert worst == ["20", "28", "Infinity", "25"]
    assert spread == ["Infinity", "1.4", "0", "NaN"]
    assert (odd[0], odd[2], odd[3]) == ("Infinity", "NaN", "NaN")
    assert from_worst == [3, 1, 0, 2]
    assert most_disagreed == [0, 1, 2, 3]
    tab.context.close()


def test_a_method_of_two_runs_counts_once_in_the_mean(browser: Any, server: Server) -> None:
    tab = opened(browser, server)
    values = {"psnr/hole|m · a": [10, "inf", 12], "psnr/hole|m · b": [20, 30, 12], "psnr/hole|n": [30, 30, 12]}
    head = {
        "ids": [*"012"], "names": [*"012"], "sources": [*"012"], "facts": [], "slices": [], "kind": "run", "default": "psnr/hole",
        "values": values | {"psnr/hole|n · b": [None] * 3}, "styles": {name: {} for name in ("m · a", "m · b", "n", "n · b")},
        "methods": [{"name": name, "label": name[0]} for name in ("m · a", "m · b", "n", "n · b")],  # the last is not scored yet
        "quantities": [{"key": "psnr/hole", "higher": True, "ranked": True}],
    }  # fmt: skip
    told = tab.page.evaluate(
        """async (head) => {
          const { Items } = await import('/static/items/data.js');
          const items = Items.listed(head);
          items.choose('psnr/hole', head.methods.map(({ name }) => name), '');
          return ['mean', 'spread'].map((name) => [...items.column(name).column].map(String));
        }""",
        head,
    )
    assert told == [["22.5", "Infinity", "12"], ["10", "Infinity", "0"]]
    tab.context.close()


def test_an_address_that_says_nonsense_is_clamped_or_told(browser: Any, server: Server) -> None:
    for state, zoom, frame in (
        ("z=abc&n=abc&a=abc", "", ""),
        ("z=1e9~7~-7&n=1e9&a=9", "16×", "3 / 3"),
        ("z=0.1&n=-5", "", "1 / 3"),
    ):
        tab = opened(browser, server, f"#r=0/runs/a&i=i1&{state}")
        tab.page.wait_for_function(PLAYS)
        _beyond(tab, f"document.querySelector('.control.zoom').dataset.value === '{zoom}'")
        _beyond(tab, f"document.querySelector('.time').textContent.startsWith('{frame}')")
        if zoom:
            _beyond(tab, "new URLSearchParams(location.hash.slice(1)).get('z') === '16~1~0'")
        assert tab.complaints == []
        tab.context.close()
    tab = opened(browser, server, "#r=0/runs/a&i=nothing")
    tab.page.locator("[data-live]", has_text="There is no item nothing here").wait_for()
    assert _letter(tab.page, "i") == ""
    for key in "xed":
        tab.page.evaluate("document.querySelector('[data-live]').replaceChildren()")
        tab.page.keyboard.press(key)
        tab.page.locator("[data-live]", has_text="Open an item first").wait_for()
    assert "k=" not in tab.page.evaluate("location.hash")
    assert tab.complaints == []
    tab.context.close()


def test_the_order_by_a_column_is_offered_of_the_one_that_is_sorted_by(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a")
    page = tab.page
    page.wait_for_function(LOADED)
    by_column = page.locator("[data-order] option[value=column]")
    offered = "document.querySelector('[data-order] option[value=column]').hidden"
    assert page.evaluate(offered)
    page.locator(".rows thead th button", has_text="blank").click()
    assert (page.evaluate(offered), by_column.text_content()) == (False, "by blank")
    assert page.locator("[data-order]").input_value() == "column"
    page.locator("[data-order]").select_option("worst")
    page.wait_for_function("() => document.querySelector('.rows th[aria-sort=ascending]')?.textContent.startsWith('Mean')")
    assert page.evaluate(offered)
    assert tab.complaints == []
    tab.context.close()


def test_the_tip_of_a_point_says_the_words_of_its_axes(browser: Any, paired_server: Server) -> None:
    for axes in ("x=v|telea&y=a|axis.size", "x=a|axis.size&y=v|telea"):
        tab = opened(browser, paired_server, f"#r=0/run&{axes}")
        page = tab.page
        page.wait_for_function(LOADED)
        page.wait_for_selector("[data-leads] .base")
        plot = page.locator("[data-scatter] canvas")
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        told = ""
        for place in range(4000):
            page.mouse.move(box["x"] + (place % 80) / 80 * box["width"], box["y"] + (place // 80) / 50 * box["height"])
            if told := page.evaluate("(document.querySelector('.tip:not([hidden])') ?? {}).textContent ?? ''"):
                break
        assert re.search(r": (\d+\.\d+, (low|high)|(low|high), \d+\.\d+)$", told), told
        tab.context.close()


def test_items_are_filtered_by_the_words_of_any_fact_and_by_source(browser: Any, paired_server: Server) -> None:
    tab = opened(browser, paired_server, "#r=0/run")
    page = tab.page
    page.wait_for_function(LOADED)
    for key, words, left in (("a|axis.size", ["low"], "8 of 16 items"), ("source", ["s0", "s3"], "2 of 16 items")):
        page.locator("summary", has_text="Filter").click()
        page.locator("[name=of]").select_option(key)
        assert page.locator("[name=low]").is_hidden()
        page.locator("[name=words]").select_option(words)
        page.locator("[data-action=range]").click()
        _beyond(tab, f"document.querySelector('[data-count]').textContent === '{left}'")
    assert [one.removesuffix(" ×") for one in page.locator("[data-chips] .chip").all_inner_texts()[:2]] == [
        "Axis: size: low",
        "Source: s0, s3",
    ]
    other = opened(browser, paired_server, page.evaluate("location.hash"))
    _beyond(other, "document.querySelector('[data-count]').textContent === '2 of 16 items'")
    other.page.locator(".strip-name", has_text="Axis: size").press("Enter")  # what is dragged over is reached by keys too
    _beyond(other, "document.activeElement.name === 'of' && document.querySelector('[name=words]').selectedOptions.length === 1")
    assert other.page.locator("[name=of]").input_value() == "a|axis.size"
    other.page.locator("[name=words]").select_option([])
    other.page.locator("[data-action=range]").click()
    _beyond(other, "document.querySelector('[data-count]').textContent === '4 of 16 items'")
    assert (tab.complaints, other.complaints) == ([], [])
    tab.context.close()
    other.context.close()


def test_the_tab_of_a_reference_stands_in_the_address(browser: Any, server: Server) -> None:
    narrow = {"viewport": {"width": 390, "height": 300}}
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b&i=i1&n=1", **narrow)
    tab.page.wait_for_function(PLAYS)
    tab.page.locator(".tab", has_text="truth").click()
    _beyond(tab, "location.hash.endsWith('&tab=truth')")
    other = opened(browser, server, tab.page.evaluate("location.hash"), **narrow)
    other.page.wait_for_function(PLAYS)
    _beyond(other, "document.querySelector('.tab[aria-pressed=true]').textContent === 'truth'")
    assert other.page.locator(".pane:not([hidden]) .name").all_inner_texts() == ["truth"]
    other.page.keyboard.press("t")
    other.page.keyboard.press("t")
    _beyond(other, "!location.hash.includes('tab=')")
    assert (tab.complaints, other.complaints) == ([], [])
    tab.context.close()
    other.context.close()
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b&i=i1&n=1", viewport={"width": 1280, "height": 700})
    tab.page.wait_for_function(PLAYS)
    _beyond(tab, "document.querySelectorAll('.pane:not([hidden])').length === 6")  # a wide window shows them all
    tab.context.close()


def test_pictures_say_whose_they_are(browser: Any, server: Server) -> None:
    joined = server.bench.joined({"runs": ["0/runs/a"]})
    for order in ("worst", "v|telea~up"):
        tab = opened(browser, server, f"#r=0/runs/a&v=grid&o={order}")
        tab.page.wait_for_selector(".pictures button")
        for card in tab.page.locator(".pictures button").all():
            item = joined.ids.index(card.get_attribute("title") or "")
            worst = min(("telea", "blank"), key=lambda name, item=item: joined.values["psnr/hole", name][item])
            # A reference competes with nobody.
            pictured = (
                "telea" if order != "worst" or any(one.reference and one.name == worst for one in joined.methods) else worst
            )
            assert card.locator(".pictured").inner_text() == pictured
            assert f"methods={pictured}" in (card.locator("img").get_attribute("src") or "")
            assert joined.ids[item] in card.inner_text()
            assert "Spread " in card.inner_text() or len([one for one in joined.methods if not one.reference]) < 2
        assert tab.complaints == []
        tab.context.close()


def test_one_skips_to_the_items_by_the_first_key(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a")
    tab.page.wait_for_function(LOADED)
    tab.page.wait_for_selector("[data-leads] .base")
    for grid in (False, True):
        skip = tab.page.locator(".skip")
        assert skip.bounding_box()["width"] < 30
        skip.focus()
        assert skip.bounding_box()["width"] > 40
        tab.page.keyboard.press("Enter")
        assert tab.page.evaluate("document.activeElement.closest('[data-table]') !== null")
        assert tab.page.evaluate("document.activeElement.closest('.pictures') !== null") == grid
        tab.page.keyboard.press("g")
    assert tab.page.locator("button, a, input").first.get_attribute("class") == "skip"
    tab.context.close()


def test_the_keys_of_pictures_difference_copy_and_flag(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b&i=i1")
    page = tab.page
    page.wait_for_function(LOADED)
    page.wait_for_function(PLAYS)
    for on in (True, False):
        page.keyboard.press("g")
        assert page.locator("[data-action=grid]").get_attribute("aria-pressed") == str(on).lower()
        assert (page.locator(".pictures").is_visible(), page.locator(".rows").is_visible()) == (on, not on)
    for on in (True, False):
        page.keyboard.press("d")
        page.wait_for_function(PLAYS)
        assert page.locator("[data-manner=difference]").get_attribute("aria-pressed") == str(on).lower()
        assert ("&k=difference" in page.evaluate("location.hash")) == on
    page.evaluate(
        "() => Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => { window.copied = text; }}})"
    )
    page.keyboard.press("c")
    page.locator("[data-live]", has_text="The link is copied").wait_for()
    assert page.evaluate("window.copied === location.href")
    for flags in ([{"subject": "i1", "name": "look_again", "value": "yes"}], []):
        page.keyboard.press("x")
        page.wait_for_function(
            f"() => (document.querySelector('[data-flags]').textContent !== '') === {str(bool(flags)).lower()}"
        )
        assert server.bench.notes.read()["flags"] == flags
    page.locator("[data-bar] [name=text]").focus()
    page.keyboard.type("gdcx")  # in a field they are letters
    assert page.locator(".rows").is_visible()
    assert server.bench.notes.read()["flags"] == []
    assert tab.complaints == []
    tab.context.close()


def test_on_a_phone_the_column_that_rows_are_sorted_by_is_in_sight(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b&o=spread~down", viewport={"width": 390, "height": 844})
    page = tab.page
    page.wait_for_function(LOADED)
    inside = """() => {
      const place = (one) => document.querySelector(one).getBoundingClientRect();
      const [head, box] = [place('.rows thead th:not([aria-sort=none])'), place('.rows')];
      return head.left >= box.left && head.right <= box.right + 1;
    }"""
    page.wait_for_function(inside)
    page.locator("[data-order]").select_option("worst")
    page.wait_for_function("() => document.querySelector('.rows th[aria-sort=ascending]')?.textContent.startsWith('Mean')")
    page.wait_for_function(inside)
    tab.context.close()


def test_missing_kinds_are_no_points_and_ranges_are_numbers(browser: Any, server: Server, paired_server: Server) -> None:
    """A run of the pairs has no item without a level; one is taken away, and the axis has its two kinds alone."""
    tab = opened(browser, paired_server, "#r=0/run&x=a|axis.size")
    page = tab.page
    page.wait_for_function(LOADED)
    ends = """async () => {
      const { Scatter } = await import('/static/items/charts.js');
      const node = document.createElement('div');
      document.body.append(node);
      const plot = new Scatter(node, { choose() {}, open() {} });
      const words = { numeric: false, words: ['high', 'low'], column: Uint16Array.of(0, 1, 65535), label: 'Level' };
      const scores = { numeric: true, column: Float32Array.of(1, 2, 3), label: 'PSNR' };
      const look = { colour: '--fill' };
      const left = Int32Array.of(0, 1, 2);
      plot.show({ names: [] }, [{ x: words, y: scores, name: 'one', look }], left, 2, { x: 'Level', y: 'PSNR' });
      return [plot.across, [...plot.series[0].xs]];
    }"""
    across, places = page.evaluate(ends)
    assert across == [-0.5, 1.5]
    assert places[:2] == [0, 1]
    assert places[2] != places[2]
    page.locator("summary", has_text="Filter").click()
    assert page.locator("[name=of] option[value='d|telea']").is_disabled()
    page.locator("[name=low]").press_sequentially("abc")
    assert page.locator("[name=low]").input_value() == ""
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.name") != "low"
    assert tab.complaints == []
    tab.context.close()


def test_a_click_on_an_item_shows_its_films_on_a_phone(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a", viewport={"width": 390, "height": 800}, color_scheme="dark")
    page = tab.page
    page.wait_for_function(LOADED)
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.locator("[data-action=scheme]").click()
    assert page.evaluate("document.documentElement.style.colorScheme") == ("light" if dark else "dark")
    page.locator("tr[data-item]").first.click()
    page.wait_for_function(PLAYS)
    top = page.locator(".look-head").bounding_box()["y"]
    assert 0 <= top < 400
    other = opened(browser, server, page.evaluate("location.hash"), viewport={"width": 390, "height": 800})  # so does its link
    other.page.wait_for_function(PLAYS)
    other.page.wait_for_selector("[data-leads] tbody td")
    inside = "(({ y }) => y >= 0 && y < 400)(document.querySelector('.look-head').getBoundingClientRect())"
    assert comes_to(other.page, inside, True)
    assert (tab.complaints, other.complaints) == ([], [])
    tab.context.close()
    other.context.close()


def given(tab: OpenPage, action: str, name: str) -> bytes:
    """The file called ``name`` that an entry of the menu gives, which no browser is asked to save."""
    page = tab.page
    page.evaluate("""() => {
      window.given = [];
      HTMLAnchorElement.prototype.click = function () { window.given.push([this.download, this.href]); };
    }""")
    page.locator("[data-menu=export] > summary").click()
    page.locator(f"[data-action={action}]").click()
    _beyond(tab, f"window.given.some(([name]) => name === '{name}')")
    numbers = page.evaluate(
        """async (wanted) => {
          const [, address] = window.given.find(([name]) => name === wanted);
          return [...new Uint8Array(await (await fetch(address)).arrayBuffer())];
        }""",
        name,
    )
    return bytes(numbers)


def test_effects_and_histograms_stand_in_the_page_that_is_sent(browser: Any, paired_server: Server, tmp_path: Path) -> None:
    tab = opened(browser, paired_server, "#r=0/run&u=1&b=telea&f=a|axis.size~low~")
    tab.page.locator(".effect").first.wait_for()
    (tmp_path / "seen.html").write_bytes(given(tab, "page", "what-i-see.html"))
    sent = OpenPage(browser, (tmp_path / "seen.html").as_uri())
    for part in (".effect", ".strip:not(.response) .strip-name", ".strip:not(.response) .strip-value"):
        seen = tab.page.locator(part).all_inner_texts()
        assert seen
        assert sent.page.locator(part).all_inner_texts() == seen
    assert sent.page.locator(".strip-plot rect.left").count() < sent.page.locator(".strip-plot rect.all").count()
    assert ": 8 items, " in sent.page.locator(".strip-plot").first.get_attribute("aria-label")
    assert sent.page.locator("button.chip, [data-effect]").count() == 0  # nothing there filters
    assert sent.complaints == tab.complaints == []
    tab.context.close()
    sent.context.close()


def test_what_is_seen_is_given_as_table_figure_page_and_film(browser: Any, server: Server, tmp_path: Path) -> None:
    tab = opened(browser, server, "#r=0/runs/a&i=i1&n=2&s=low&b=telea")
    page = tab.page
    page.wait_for_function(PLAYS)
    found = {}
    shots = ("frame", "film-1-i1-telea-blank-frame-2.png"), ("film", "film-1-i1-telea-blank.mp4")
    _beyond(tab, "document.querySelector('.time').textContent.startsWith('2 / 3')")
    page.keyboard.press("w")
    _beyond(tab, "location.hash.includes('a=0.5')")
    for action, name in (("csv", "items.csv"), ("figure", "plot.svg"), ("page", "what-i-see.html"), *shots):
        found[name] = given(tab, action, name)
    rows = list(csv.DictReader(found["items.csv"].decode().splitlines()))
    shown = page.locator("tr[data-item]").all_inner_texts()
    assert len(rows) == len(shown) < 3
    known = {
        (row.item_id, row.method): row.value
        for row in Workspace(server.bench.folders.place("0/runs/a"), create=False).table("scores", Score)
        if (row.metric, row.region) == ("psnr", "hole")
    }
    for row in rows:
        for method in ("telea", "blank"):
            assert float(row[f"psnr/hole {method}"]) == pytest.approx(known[row["item"], method], rel=1e-6)
    told = page.evaluate("async () => (await import('/static/items/numbers.js')).csv([['=1+1', -3.5, NaN, null, 'a,b']])")
    assert told == '\'=1+1,-3.5,,,"a,b"\n'
    assert found["plot.svg"].startswith(b"<svg")
    assert found["plot.svg"].count(b"<path") > len(rows)
    text = found["what-i-see.html"].decode()
    for row in rows:
        assert row["item"] in text
    assert "Less telea" in text
    assert "too few films" in text  # as on the screen
    (tmp_path / "film.mp4").write_bytes(found["film-1-i1-telea-blank.mp4"])
    frames = video.read_frames(tmp_path / "film.mp4")
    assert frames.shape[0] == 3
    assert frames[:, 2:20, 4:60].max() > 150  # a name stands above the first film
    picture = cv2.imdecode(np.frombuffer(found["film-1-i1-telea-blank-frame-2.png"], np.uint8), cv2.IMREAD_COLOR)
    assert picture.shape[0] > 4 * frames.shape[1]  # so large that names have room
    assert picture[2:20, 4:60].max() > 150
    assert (picture[:, :, 0] == 255).sum(axis=0).max() > picture.shape[0] / 3  # the line of the wipe
    assert tab.complaints == []
    tab.context.close()
    (tmp_path / "seen.html").write_text(text)
    sent = OpenPage(browser, (tmp_path / "seen.html").as_uri())
    sent.page.wait_for_function(PLAYS)
    _beyond(sent, "document.querySelector('.time').textContent.startsWith('2 / 3')")
    assert sent.page.locator(".control.wipe").get_attribute("aria-pressed") == "true"
    assert sent.page.locator(".pane:not([hidden]) .name").first.inner_text() == "telea | blank"
    sent.page.keyboard.press("z")
    _beyond(sent, "document.querySelector('.control.zoom').dataset.value === '3×'")
    sent.page.keyboard.press("ArrowRight")
    _beyond(sent, "document.querySelector('.time').textContent.startsWith('3 / 3')")
    assert (sent.complaints, sent.fetched(tmp_path)) == ([], [])
    sent.context.close()


def test_a_page_shows_its_films_to_who_has_the_token(browser: Any, world: Path, tmp_path: Path) -> None:
    board = tmp_path / "board"
    board.mkdir()
    video.write_browser(board / "film.mp4", iter(np.zeros((3, 32, 48, 3), np.uint8)), fps=25.0)
    (board / "index.html").write_text('<!doctype html><video src="film.mp4" muted preload="auto"></video>')
    listening = Server([tmp_path], host="0.0.0.0")
    thread = threading.Thread(target=listening.serve_forever, daemon=True)
    thread.start()
    try:
        tab = OpenPage(browser, listening.address().replace("0.0.0.0", "127.0.0.1"))
        tab.page.wait_for_selector("aside li")
        with tab.context.expect_page() as popup:
            tab.page.locator("aside .thing a").click()
        popup.value.wait_for_function("() => document.querySelector('video')?.readyState >= 2")
        assert listening.token not in popup.value.url
        assert popup.value.evaluate("async () => fetch('/api/things').then((one) => one.status, () => 'refused')") == "refused"
        tab.context.close()
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()


def test_firefox_opens_a_pair_and_plays_it(firefox: Any, server: Server) -> None:
    """The shortest way through, in the fast lane too; all flows are run in both engines."""
    tab = opened(firefox, server)
    for name in ("a", "d"):
        tab.page.locator(f"aside input[value='0/runs/{name}']").click()
    tab.page.locator("[data-leads] th", has_text="telea · d").wait_for()
    tab.page.locator("tr[data-item]").first.click()
    tab.page.wait_for_function(PLAYS)
    tab.page.keyboard.press("ArrowRight")
    _beyond(tab, "location.hash.includes('&n=')")
    assert tab.complaints == []
    tab.context.close()


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390)])
def test_axe_finds_nothing_serious(browser: Any, server: Server, scheme: str, width: int) -> None:
    tab = opened(browser, server, "#r=0/runs/a&b=telea&i=i0&n=1", color_scheme=scheme, viewport={"width": width, "height": 844})
    tab.page.wait_for_function(PLAYS)
    tab.page.wait_for_selector("[data-leads] tbody td")
    assert serious_findings(tab.page) == []
    assert (tab.complaints, tab.sticks_out()) == ([], 0)
    tab.context.close()
