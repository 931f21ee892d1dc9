"""The page of an analysis by axe-core, in light and dark, in a narrow window."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser_checks import OpenPage, serious_findings
from tests.eval.analysis.test_analysis_tables import two_slices as means

from inpaintbench.eval.analysis.write import write_analysis

# Texts of names, as broken by `wbr`, that stand on several lines.
BROKEN = """(names) => names.flatMap((name) => [...name.childNodes]).filter((part) => {
  const text = new Range(); text.selectNode(part);
  return new Set([...text.getClientRects()].map((box) => Math.round(box.bottom))).size > 1;
}).map((part) => part.textContent)"""


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [write_analysis(tmp_path_factory.mktemp("pages") / "analysis", means()).page]


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_is_fetched(pages: list[Path], browser: Any, scheme: str) -> None:
    for path in pages:
        tab = OpenPage(browser, path.as_uri(), color_scheme=scheme, viewport={"width": 390, "height": 844})
        assert serious_findings(tab.page, colours_only=scheme == "dark") == [], path.name
        assert (tab.complaints, tab.fetched(path.parent), tab.sticks_out()) == ([], [], 0)
        tab.context.close()


def analysis_of(pages: list[Path], browser: Any, place: str = "", **settings: Any) -> OpenPage:
    return OpenPage(browser, pages[0].as_uri() + place, **settings)


def rows_of(tab: OpenPage, table: int = 0) -> list[str]:
    """Heads of the rows that are seen."""
    return [row.inner_text().strip() for row in tab.page.locator("#table-1 table").nth(table).locator("tbody th:visible").all()]


def test_an_analysis_sorts_and_its_address_opens_the_same_view(pages: list[Path], browser: Any) -> None:
    tab = analysis_of(pages, browser)
    table = tab.page.locator("#table-1 table").first
    methods = [row.get_attribute("data-method") for row in table.locator("tr[data-method]").all()]
    head = table.locator("thead button").nth(1)
    head.click()
    head.click()
    seen, other = rows_of(tab), rows_of(tab, 1)
    values = [row.locator("td").first.get_attribute("data-value") for row in table.locator("tbody tr:not(.total, .floor)").all()]
    known = [float(value) for value in values if value is not None]
    assert known in (sorted(known), sorted(known, reverse=True))
    tab.page.locator("summary", has_text="Methods").click()
    tab.page.locator(".picker label", has_text=methods[0]).locator("input").uncheck()
    assert methods[0] not in rows_of(tab)
    place = tab.page.evaluate("location.hash")
    assert "sort=" in place
    assert "methods=" in place
    again = analysis_of(pages, browser, place)
    assert rows_of(again) == [name for name in seen if name.split()[0] != methods[0]]
    assert rows_of(again, 1) == [name for name in other if name.split()[0] != methods[0]]
    assert again.page.evaluate("location.hash") == place
    for one in (tab, again):
        assert one.complaints == []
        one.context.close()


def test_an_analysis_begins_with_its_table(pages: list[Path], browser: Any) -> None:
    tab = analysis_of(pages, browser, viewport={"width": 1280, "height": 800})
    assert tab.page.locator("#table-1 table").first.bounding_box()["y"] < 500
    assert tab.page.locator("section").nth(1).get_attribute("id") == "table-1"
    tab.page.locator("#table-1 a[href='#notes']").click()
    assert tab.page.locator("#notes p").count() > 0
    tab.context.close()


def test_only_the_best_are_bold(pages: list[Path], browser: Any) -> None:
    tab = analysis_of(pages, browser)
    weights = tab.page.locator("#table-1 tr.total > *").evaluate_all(
        "(cells) => cells.map(cell => getComputedStyle(cell).fontWeight)"
    )
    assert set(weights) == {"450"}
    tab.context.close()


def test_names_break_after_underscores_alone_in_a_narrow_window(pages: list[Path], browser: Any) -> None:
    for path in pages:
        tab = OpenPage(browser, path.as_uri(), viewport={"width": 390, "height": 844})
        broken = tab.page.locator(".method .name").evaluate_all(BROKEN)
        assert broken == [], path.name
        tab.context.close()
