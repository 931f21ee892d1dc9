"""What the reader chooses, kept in the address, for screen and paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser_checks import OpenPage, unfold
from playwright.sync_api import expect
from tests.eval.report.hand_made import dataset, scores
from tests.eval.report.report_of_items import ITEMS, METHODS, SLICES, make_report

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import ReportFiles
from inpaintbench.eval.report.page import parts_of, render
from inpaintbench.eval.results.tables import Results

CORRECTED = PROTOCOLS.get("devil/corrected")
LONG, SECOND, THIRD = METHODS
PLOTS = ("difficulty", "sensitivity", "scatter")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return make_report(tmp_path_factory.mktemp("choices") / "a report")


@pytest.fixture
def open_page(browser: Any, report: ReportFiles) -> Iterator[Callable[..., OpenPage]]:
    """Opens the report at a place in its address, and in the end asks that nothing was said on the console."""
    tabs: list[tuple[OpenPage, list[str]]] = []

    def opened(place: str = "", *, folded: bool = False, **settings: Any) -> OpenPage:
        tab = OpenPage(browser, "about:blank", **settings)
        said: list[str] = []
        tab.page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
        tab.page.goto(report.page.as_uri() + place)
        if not folded:
            unfold(tab.page)
        tabs.append((tab, said))
        return tab

    yield opened
    for tab, said in tabs:
        assert (tab.complaints, said) == ([], [])
        tab.context.close()


def chosen(page: Any) -> dict[str, str]:
    """What the address tells."""
    return {name: values[0] for name, values in parse_qs(urlsplit(page.evaluate("location.href")).fragment).items()}


def look(page: Any) -> dict[str, Any]:
    """What a reader sees of all that can be chosen."""
    scores = page.locator(".scroll:visible:has(> .scores)")
    return {
        "scores": (scores.get_attribute("data-metric"), scores.get_attribute("data-region")),
        "methods": [row.get_attribute("data-key") for row in scores.locator("tbody tr:visible").all()],
        "item": page.locator(".exhibit:visible").get_attribute("data-item"),
        "order": page.locator("[name=order]").input_value(),
        "count": page.locator(".shown-count").inner_text(),
        "first": page.locator("#items tr[data-item]").first.inner_text(),
    }


@pytest.mark.long
def test_a_copied_address_opens_the_same_view(open_page: Callable[..., OpenPage]) -> None:
    page = open_page().page
    assert urlsplit(page.evaluate("location.href")).fragment == ""
    page.locator("input[value=ssim]").check()
    page.locator(".picker summary", has_text="Methods").click()
    page.locator(".bar .picker label", has_text=SECOND).locator("input").uncheck()
    page.keyboard.press("Escape")
    page.locator(".thumb").last.click()
    page.locator("#items [name=slice]").select_option(label="night")
    page.locator("#items [name=attribute]").select_option(label="Hole fraction")
    page.locator("[name=low]").fill("0.03")
    page.locator("[name=order]").select_option("disagreed")
    page.locator("[name=text]").fill("1")
    told = chosen(page)
    assert {"metric", "methods", "item", "slice", "of", "attribute", "low", "order", "find"} == set(told)
    seen = look(page)
    assert seen["scores"] == ("ssim", "hole")
    assert seen["methods"] == [LONG, THIRD]  # who lacks a value comes last
    assert 0 < int(seen["count"].split()[0]) < len(SLICES["night"])
    again = open_page(f"#{urlsplit(page.evaluate('location.href')).fragment}").page
    assert look(again) == seen
    assert chosen(again) == told


def test_the_region_and_a_part_of_the_page_stand_in_the_address_too(open_page: Callable[..., OpenPage]) -> None:
    page = open_page("#region=frame&at=difficulty", folded=True).page
    assert look(page)["scores"] == ("psnr", "frame")
    place = "document.getElementById('difficulty').getBoundingClientRect()"
    page.wait_for_function(f"() => {place}.top >= 0 && {place}.top < innerHeight / 2 && {place}.height > 300")
    page.locator("input[value=hole]").check()
    assert chosen(page) == {} or "region" not in chosen(page)


@pytest.mark.parametrize(
    "place", ["#metric=nonsense&region=moon&methods=nobody&item=none&order=x&of=99", "#failures", "#exhibit-1"]
)
def test_an_address_of_another_time_still_opens_the_page(open_page: Callable[..., OpenPage], place: str) -> None:
    page = open_page(place).page
    seen = look(page)
    assert seen["scores"] == ("psnr", "hole")
    assert sorted(seen["methods"]) == sorted(METHODS)
    assert (page.locator(".exhibit:visible").get_attribute("id") == "exhibit-1") == (place == "#exhibit-1")


def test_an_address_put_into_an_open_page_is_followed(open_page: Callable[..., OpenPage]) -> None:
    page = open_page(f"#metric=ssim&methods={SECOND},{THIRD}&find=a1&order=best").page
    page.evaluate(f"location.hash = '#methods={LONG}&item=h2'")
    page.wait_for_function("() => document.querySelector('.exhibit.open').dataset.item === 'h2'")
    seen = look(page)
    assert (seen["scores"], seen["methods"], seen["order"]) == (("psnr", "hole"), [LONG], "worst")
    assert seen["count"].startswith("36 of")
    assert page.locator(".picker summary", has_text="Methods").inner_text() == "Methods: 1 of 3"


def test_methods_that_are_not_wanted_are_nowhere(open_page: Callable[..., OpenPage]) -> None:
    page = open_page(f"#methods={SECOND},{THIRD}").page
    assert page.locator(".picker summary", has_text="Methods").inner_text() == "Methods: 2 of 3"
    page.locator("[data-plot=scatter] svg").wait_for(state="attached")
    for part in ("scores", "gallery", "items", "ranks", "significance", "scatter", "failures"):
        text = page.locator(f"#{part}").inner_text()
        assert SECOND in text or part in ("failures",)
        assert LONG not in text, part
    matrix = page.locator("table.pairs:visible")
    assert matrix.locator("tbody tr:visible").count() == 2
    assert matrix.locator("thead th:visible").count() == 3
    assert matrix.locator("tbody tr:visible td:visible").count() == 4
    assert page.locator(".gallery .pane:visible").count() == 4  # truth, input and two methods
    for name in PLOTS:
        told = page.locator(f"[data-plot={name}] [aria-roledescription][aria-label]").evaluate_all(
            "marks => marks.map(mark => mark.getAttribute('aria-label'))"
        )
        assert any(SECOND in words for words in told), name
        assert not any(LONG in words for words in told), name
    page.locator(".picker summary", has_text="Methods").click()
    page.locator(".bar .picker label", has_text=LONG).locator("input").check()
    assert chosen(page) == {}
    assert LONG in page.locator("#scores").inner_text()


def test_nothing_is_blank_on_paper(open_page: Callable[..., OpenPage], tmp_path: Path) -> None:
    tab = open_page(folded=True, color_scheme="dark")
    page = tab.page
    page.locator("[data-plot=scatter] svg").wait_for(state="attached")
    page.emulate_media(media="print")
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    for name in PLOTS:
        svg = page.locator(f"[data-plot={name}] svg").first
        assert svg.is_visible(), name
        assert svg.locator("[aria-roledescription][aria-label]").count() > 3, name
    assert page.locator("main details:not([open], .picker, .beside, .frame-values)").count() == 0
    assert page.locator("details[open] table:visible").count() > 2
    assert page.locator(".bar:visible, .controls:visible, .filters:visible, .picker:visible, button.copy:visible").count() == 0
    ground, ink = (page.evaluate(f"getComputedStyle(document.body).{one}") for one in ("backgroundColor", "color"))
    assert (ground, ink) == ("rgb(255, 255, 255)", "rgb(0, 0, 0)")
    assert page.locator(".scores:visible tbody tr:visible").count() == 3
    page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert (tmp_path / "report.pdf").stat().st_size > 50_000
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")
    assert page.locator("main details[open]").count() == 0


LETTERS = """() => {
  const sizes = {};
  const words = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (words.nextNode()) {
    const around = words.currentNode.parentElement;
    const text = words.currentNode.textContent.trim();
    if (!text || !around.getClientRects().length || around.closest("svg, h1, h2, .visually-hidden, .answer")) continue;
    sizes[getComputedStyle(around).fontSize] = `${around.closest("[class]").className}: ${text}`;
  }
  return sizes;
}"""


def test_paper_has_no_controls_and_text_of_like_sizes(open_page: Callable[..., OpenPage]) -> None:
    page = open_page().page
    page.locator("[data-plot=scatter] svg").wait_for(state="attached")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".strip:visible, .frame-values:visible").count() == 0
    for one in page.locator("main select:visible").all():
        style = one.evaluate("one => [getComputedStyle(one).appearance, getComputedStyle(one).borderTopWidth]")
        assert style == ["none", "0px"]
    folded = page.locator("details.beside")
    assert folded.all_inner_texts() == ["Constants of the protocol: in report.json", "Dataset and versions: in dataset.json"]
    sizes = page.evaluate(LETTERS)
    assert {size: where for size, where in sizes.items() if not 7 <= float(size.removesuffix("px")) <= 12} == {}
    row = page.locator("#items tr[data-item]").first
    assert len({one.evaluate("one => getComputedStyle(one).fontSize") for one in row.locator(".from, td.n").all()}) == 1


@pytest.fixture(scope="module")
def five_pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of five pairs of slices, of six sources each, with intervals in every cell."""
    items = [f"{letter}1" for letter in "abcdef"]
    attributes = ("camera_motion", "bg_scene_motion", "size", "pose", "displacement")
    slices = {f"{attribute}-{level}": items for attribute in attributes for level in ("low", "high")}
    values = {name: {item: 10.25 + 5 * at + rise for at, item in enumerate(items)} for rise, name in enumerate((LONG, SECOND))}
    results = Results(dataset(slices), scores(values), protocol=CORRECTED)
    path = tmp_path_factory.mktemp("pairs") / "page.html"
    path.write_text(render(parts_of(results, [], title="T"), []))
    return path


def test_the_scores_of_five_pairs_of_slices_are_seen_whole_at_1360_pixels(browser: Any, five_pairs: Path) -> None:
    tab = OpenPage(browser, five_pairs.as_uri(), viewport={"width": 1360, "height": 900})
    box = tab.page.locator(".scroll:visible:has(> .scores)")
    assert box.locator("tbody tr").first.locator("td small:visible").count() == 11
    assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0
    tab.context.close()


def test_on_a_phone_all_of_the_bar_and_the_scatter_are_seen(open_page: Callable[..., OpenPage]) -> None:
    tab = open_page(viewport={"width": 390, "height": 844})
    page = tab.page
    page.locator("[data-plot=scatter] svg").wait_for(state="attached")
    picker = page.locator(".bar .picker")
    picker.locator("summary").click()
    links = page.locator(".bar nav a").all()
    assert len(links) > 5
    for part in (*links, picker.locator("summary"), *picker.locator("label").all()):
        box = part.bounding_box()
        assert 0 <= box["x"] < box["x"] + box["width"] <= 390
        middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
        assert part.evaluate("(part, [x, y]) => part.contains(document.elementFromPoint(x, y))", middle)  # not cut, not covered
    plot = page.locator("[data-plot=scatter]")
    assert plot.evaluate("plot => plot.scrollWidth - plot.clientWidth") <= 0
    assert "gradient" in page.locator("[data-plot=difficulty]").evaluate("plot => getComputedStyle(plot).backgroundImage")
    assert tab.sticks_out() <= 0


@pytest.mark.parametrize("name", PLOTS)
def test_plots_are_saved_in_ink_on_white_with_a_legend(open_page: Callable[..., OpenPage], name: str) -> None:
    page = open_page(f"#methods={SECOND},{THIRD}", color_scheme="dark").page
    buttons = page.locator(f"#{name} .copies")
    if not buttons.is_visible():  # it is folded
        page.locator(f"#{name} > details > summary").click()
    with page.expect_download() as saved:
        buttons.get_by_role("button", name="SVG").click()
    drawn = Path(saved.value.path()).read_text()
    assert saved.value.suggested_filename == f"{name}.svg"
    texts = re.findall(r"<text[^>]*>([^<]+)</text>", drawn)
    assert {SECOND, THIRD} <= set(texts)
    assert LONG not in texts
    assert "var(--" not in drawn


def test_a_plot_and_a_table_are_printed_alone_on_sheets_of_their_size(open_page: Callable[..., OpenPage]) -> None:
    page = open_page(color_scheme="dark").page
    page.evaluate("window.print = () => {}")  # the dialog, which nobody would close
    page.locator("#difficulty .copies").get_by_role("button", name="PDF").click()
    page.locator(".alone-here svg").wait_for(state="attached")
    sheet = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type\s*/Page\b", sheet)) == 1
    assert page.locator(".alone-here").count() == 0  # the page is as it was
    page.locator(".copies:visible button.alone").first.click()
    page.emulate_media(media="print")
    assert page.locator("table.scores:visible").count() == 1
    assert not page.locator("#scores h2").is_visible()


def test_of_many_methods_further_metrics_are_opened_when_they_are_chosen(browser: Any, tmp_path: Path) -> None:
    methods = [f"<b>m</b>{place:02}" for place in range(14)]
    values = {method: {item: 20.0 + at + place for place, item in enumerate(ITEMS)} for at, method in enumerate(methods)}
    rows = [*scores(values), *scores(values, metric="ssim")]
    many = Results(dataset(SLICES), rows, protocol=CORRECTED)
    page = tmp_path / "many.html"
    page.write_text(render(parts_of(many, [], title="Many"), []), encoding="utf-8")
    packed = "#scores script, #significance script"
    tab = OpenPage(browser, page.as_uri())
    assert tab.page.locator(packed).count() == 2
    assert tab.page.locator("#scores table").count() == 1
    tab.page.goto(f"{page.as_uri()}#metric=ssim&methods={','.join(methods[:3])}")
    shown = tab.page.locator("#scores table:visible tbody tr:visible th")
    expect(shown).to_have_text(methods[2::-1])
    tab.page.locator("#scores button.sort:visible").last.click()
    tab.page.locator("#scores button.sort:visible").last.click()
    expect(shown).to_have_text(methods[:3])
    tab.page.reload()
    unfold(tab.page)
    expect(shown).to_have_text(methods[:3])
    assert tab.page.locator("#significance table.pairs:visible tbody tr:visible").count() == 3
    assert tab.page.locator(packed).count() == 0
    tab.page.get_by_label("PSNR").first.check(force=True)
    tab.page.get_by_label("SSIM").first.check(force=True)
    expect(shown).to_have_text(methods[:3])
    assert (tab.complaints, tab.page.locator("main b:text-is('m')").count()) == ([], 0)
    tab.context.close()
