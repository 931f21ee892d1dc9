"""The page of `view` in Chromium and Firefox: any pair in two clicks, the address holds the whole view, axe finds nothing."""

from __future__ import annotations

import csv
import threading
from itertools import combinations
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from browser_checks import OpenPage, serious_findings
from tests.workbench.conftest import RUNS

from inpaintbench import video
from inpaintbench.types import Score
from inpaintbench.workbench.server import Server
from inpaintbench.workspace import Workspace

LOADED = "() => document.body.dataset.drawn !== undefined && document.querySelector('tr[data-item]')"
PLAYS = "() => document.querySelector('.comparison').dataset.loading === undefined && document.querySelector('.pane canvas')"
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
    page.locator("summary", has_text="Range").click()
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
    before = page.evaluate(SEEN)
    assert before["metric"] == "ssim"
    assert before["zoom"] == "3×"
    assert before["wipe"] == before["outline"] == "true"
    assert len(before["filters"]) == 4
    place = page.evaluate("location.hash")
    for letter in ("r", "q", "m", "b", "s", "t", "f", "o", "x", "i", "n", "k", "z", "h"):
        assert f"{letter}=" in place.replace("#", "&"), letter
    other = opened(browser, server, place)
    other.page.wait_for_function(PLAYS)
    other.page.wait_for_timeout(1500)
    assert other.page.evaluate(SEEN) == before
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


def test_unlike_runs_are_refused_on_the_page(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/of_other")
    tab.page.wait_for_selector("[data-refusal]:not([hidden])")
    assert "their scores cannot be compared" in tab.page.locator("[data-refusal]").inner_text()
    assert tab.page.locator("[data-leads] td").count() == 0
    tab.context.close()


def test_names_of_strangers_stay_words(browser: Any, server: Server) -> None:
    trick = "<img src=x onerror=\"document.title='broken in'\">"
    server.bench.notes.annotate("0/runs/a", {"name": trick, "note": trick, "tags": trick})
    tab = opened(browser, server, f"#r=0/runs/a&t={trick}&s={trick}&f=v|telea~{trick}")
    tab.page.wait_for_selector("[data-leads] td")
    assert trick in tab.page.locator("aside").inner_text()
    assert tab.page.locator("aside img, main img").count() == 0
    assert tab.page.title() == "inpaintbench view"
    server.bench.notes.annotate("0/runs/a", {"name": "", "note": "", "tags": ""})
    tab.context.close()


def test_a_dataset_offers_what_it_has_and_its_ticked_columns_are_those_that_show(browser: Any, paired_server: Server) -> None:
    tab = opened(browser, paired_server, "#d=0/data")
    tab.page.wait_for_function(LOADED)
    assert tab.page.locator("[data-order] option").all_inner_texts() == ["by chance", "by name", "by column"]
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
    labels = tmp_path / "labels.csv"
    labels.write_text(tab.page.evaluate("async () => (await fetch('/api/flags.csv')).text()"))
    assert labels.read_text() == f"subject,name,value\n{item},look_again,yes\n"
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

    drag((0.5, 0.5), (0.25, 0.5))
    drag((0.8, 0.5), (0.6, 0.3))
    place = page.evaluate("location.hash")
    page.locator("[data-action=copy]").hover()
    asked = dict(part.split("=") for part in unquote(place).removeprefix("#").split("&"))
    wipe, zoom = float(asked["k"].split("~")[1]), [float(one) for one in asked["z"].split("~")]
    assert wipe == pytest.approx(0.25, abs=0.02)
    assert zoom == [3, pytest.approx(0.6, abs=0.02), pytest.approx(0.6, abs=0.02)]
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
    assert "Gone: blank; new: navier_stokes; telea: radius_pixels 9, by default in a." in told
    assert "Δ telea · b" in [one.strip(" ↑↓") for one in page.locator(".rows thead th").all_inner_texts()]
    page.locator("aside input[value='0/runs/c']").click()
    _beyond(
        tab, "!document.querySelector('[data-against] button') && document.querySelectorAll('[data-leads] tbody tr').length === 6"
    )
    assert tab.complaints == []
    tab.context.close()


def _beyond(tab: OpenPage, words: str) -> None:
    tab.page.wait_for_function(f"() => {words}")


def test_the_table_plots_and_player_follow_the_mouse_and_keys(browser: Any, server: Server) -> None:
    tab = opened(browser, server, "#r=0/runs/a&r=0/runs/b")
    page = tab.page
    page.wait_for_function(LOADED)
    page.wait_for_selector("[data-leads] .base")  # what comes last and moves what is below it
    assert page.locator("tr[data-item]").count() == 3
    strip = page.locator(".strip").first
    box = strip.locator("canvas").bounding_box()
    page.mouse.move(box["x"] + 1, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + 20, steps=4)
    page.mouse.up()
    _beyond(tab, "document.querySelectorAll('[data-chips] .chip').length === 1")
    some = page.locator("tr[data-item]").count()
    assert 0 < some < 3
    assert page.locator("[data-count]").inner_text() == f"{some} of 3 items"
    page.locator("[data-chips] .chip").click()
    _beyond(tab, "document.querySelectorAll('tr[data-item]').length === 3")
    plot = page.locator("[data-scatter] canvas").bounding_box()
    page.mouse.move(plot["x"] + 50, plot["y"] + 10)
    page.mouse.down()
    page.mouse.move(plot["x"] + 0.6 * plot["width"], plot["y"] + plot["height"] - 30, steps=4)
    page.mouse.up()
    _beyond(tab, "document.querySelectorAll('[data-chips] .chip').length > 0")
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


def test_what_is_seen_is_given_as_table_figure_page_and_film(browser: Any, server: Server, tmp_path: Path) -> None:
    tab = opened(browser, server, "#r=0/runs/a&i=i1&s=low&b=telea")
    page = tab.page
    page.wait_for_function(PLAYS)
    page.evaluate("""() => {
      window.given = [];
      HTMLAnchorElement.prototype.click = function () { window.given.push([this.download, this.href]); };
    }""")
    found = {}
    for action, name in (("csv", "items.csv"), ("figure", "plot.svg"), ("page", "what-i-see.html"), ("film", "i1.mp4")):
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
        found[name] = bytes(numbers)
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
    told = page.evaluate("async () => (await import('/static/items/data.js')).csv([['=1+1', -3.5, NaN, null, 'a,b']])")
    assert told == '\'=1+1,-3.5,,,"a,b"\n'
    assert found["plot.svg"].startswith(b"<svg")
    assert found["plot.svg"].count(b"<path") > len(rows)
    text = found["what-i-see.html"].decode()
    for row in rows:
        assert row["item"] in text
    places = [int(one.get_attribute("data-item") or "") for one in page.locator("tr[data-item]").all()]
    lead = server.bench.leads({"runs": ["0/runs/a"]}, {"key": "psnr/hole", "base": "telea", "items": places})["rows"]
    assert "Less telea" in text
    assert f"{next(row['lead'] for row in lead if row['name'] == 'blank')['mean']:.2f}".replace("-", "") in text
    (tmp_path / "film.mp4").write_bytes(found["i1.mp4"])
    frames = video.read_frames(tmp_path / "film.mp4")
    assert frames.shape[0] == 3
    assert frames[:, 2:20, 4:60].max() > 150  # a name stands above the first film
    assert tab.complaints == []
    tab.context.close()


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
    tab.page.wait_for_selector("[data-leads] td")
    assert serious_findings(tab.page) == []
    assert (tab.complaints, tab.sticks_out()) == ([], 0)
    tab.context.close()
