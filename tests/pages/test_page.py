"""A page carries all that it needs, runs nothing else, and escapes whatever comes from data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import altair
import pytest

from inpaintbench.pages import Cell, Column, Link, Row, Table, figure, method_styles, page, save_chart
from inpaintbench.pages.tables import simple

NASTY = "</script><b onclick=alert(1)>'\"&"
LIST = simple(["a"], [[NASTY]], label="b")
STYLES = method_styles(["telea", NASTY])


def chart() -> altair.Chart:
    rows = [{"method": name, "psnr": value} for name, value in (("telea", 30.0), (NASTY, 20.0))]
    return altair.Chart(altair.Data(values=rows)).mark_bar(color="var(--fill)").encode(x="method:N", y="psnr:Q")


def scores() -> Table:
    columns = (
        Column("Method", sorts=True, falling=False),
        Column("low", numeric=True, sorts=True, group="Camera motion"),
        Column("high", numeric=True, sorts=True, group="Camera motion"),
    )
    rows = [("telea", 3.0, 5.0), (NASTY, 20.0, 1.0)]
    made = [
        Row(
            (Cell(name, name, method=name), Cell(low, low, strong=low > 5), Cell(high, high, whisker=(0.5, 0.25, 0.75))), key=name
        )
        for name, low, high in rows
    ]
    last = Row((Cell("all"), Cell(99, 99.0), Cell(99, 99.0)), kind="total")
    return Table(columns, (*made, last), caption=NASTY, picks_columns=True, finds=True)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    text = page(
        "pages/templates/plain.html",
        title=NASTY,
        links=[Link("#scores", "Scores"), Link("#plot", "Plot")],
        styles=STYLES,
        data={"styles": {name: look._asdict() for name, look in STYLES.items()}, "nasty": NASTY},
        sections=[("scores", "Scores", "", [scores()]), ("plot", "Plot", "", [figure(chart(), label=NASTY), LIST])],
        subtitle=NASTY,
    )  # fmt: skip
    (tmp_path / "page.html").write_text(text)
    return tmp_path / "page.html"


def test_nothing_is_fetched_and_nothing_from_data_is_markup(made: Path, tmp_path: Path) -> None:
    text = made.read_text()
    assert "<b onclick" not in text
    assert set(re.findall(r"https?://[a-z0-9.]+", text)) == {"http://www.w3.org"}
    assert json.loads(re.search(r'id="page-data">(.*?)</script>', text)[1])["nasty"] == NASTY


def test_it_sorts_searches_hides_columns_and_keeps_what_is_chosen_in_the_address(made: Path, browser: Any) -> None:
    tab = browser.new_page(viewport={"width": 900, "height": 700})
    problems: list[str] = []
    tab.on("console", lambda message: problems.append(message.text))
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto(f"file://{made}#metric=psnr&at=plot")
    rows = "[...document.querySelectorAll('#scores tbody tr')].map(row => row.dataset.key ?? 'all')"
    assert tab.evaluate(rows) == ["telea", NASTY, "all"]
    tab.click("button.sort:has-text('low')")
    assert tab.evaluate(rows) == [NASTY, "telea", "all"]
    tab.click("button.sort:has-text('low')")
    assert tab.evaluate(rows) == ["telea", NASTY, "all"]
    assert tab.evaluate("page.get('metric')") == "psnr"
    tab.click("nav >> text=Scores")
    assert tab.evaluate("location.hash") == "#metric=psnr&at=scores&sort=table%3Alow%3Aup"
    tab.evaluate("page.set({ metric: null, sort: null })")
    assert tab.evaluate("location.hash") == "#scores"
    tab.fill("[aria-label='Find rows']", "TELEA")
    assert tab.evaluate("[...document.querySelectorAll('#scores tbody tr')].map(row => row.hidden)") == [False, True, True]
    tab.click("summary:has-text('Columns')")
    tab.click("label:has-text('high')")
    assert tab.locator("#scores thead tr:last-child th:visible").count() == 2
    assert tab.locator("#scores tr.groups th").get_attribute("colspan") == "1"
    mark = tab.locator(".plot path[role=graphics-symbol]").first
    mark.scroll_into_view_if_needed()
    mark.hover()
    assert "telea" in tab.locator(".tip").inner_text()
    assert problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_and_nothing_leaves_a_narrow_window(made: Path, browser: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    tab = browser.new_page(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    tab.goto(f"file://{made}")
    assert tab.evaluate("document.documentElement.scrollWidth") == 390
    found = [one for one in axe.Axe().run(tab).response["violations"] if one["impact"] in ("serious", "critical")]
    assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


METHODS = ("propainter", "temporal_median", "navier_stokes", "flow-guided-video-completion", "e2fgvi_hq")
METRICS = ("PSNR in the hole ↑", "Temporal difference in the hole ↓", "Sharpness in the hole", "Background scene motion high")
# Where print stands on A4 between the margins of the stylesheet: 186 mm.
PAPER = {"width": 703, "height": 1000}


def wide(columns: int) -> Table:
    heads = [Column(METRICS[place % len(METRICS)], numeric=place % 2 == 0, sorts=True, note="dB") for place in range(columns)]
    cells = [
        Cell("−0.011730" if place % 2 else "38.43", below="−0.011730 – 0.061900", whisker=(0.5, 0.2, 0.7), tags=("2",))
        for place in range(columns)
    ]
    return Table((Column("Method"), *heads), tuple(Row((Cell(name), *cells)) for name in METHODS), label=f"Of {columns}")


def lines_of(element: Any) -> int:
    """Number of lines that its text takes."""
    boxes = "(element) => { const text = new Range(); text.selectNodeContents(element); return [...text.getClientRects()]; }"
    return len({round(box["bottom"]) for box in element.evaluate(boxes)})


@pytest.mark.parametrize(("columns", "parts"), [(8, 1), (12, 1), (13, 2), (20, 2), (30, 3)])
def test_a_wide_table_is_readable_on_paper(columns: int, parts: int, tmp_path: Path, browser: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text(page("pages/templates/plain.html", title="a", subtitle="", sections=[("a", "A", "", [wide(columns)])]))
    tab = browser.new_page(viewport=PAPER)
    tab.goto(f"file://{path}")
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("table").count() == parts
    assert tab.locator("thead tr:last-child th:visible").count() == columns + parts
    for table in tab.locator("table").all():
        assert table.bounding_box()["width"] <= PAPER["width"]
        for name in table.locator("tbody th").all():
            assert name.bounding_box()["width"] >= 84
            assert lines_of(name) <= 2
    cells = "[...document.querySelectorAll('th, td')]"
    assert tab.evaluate(f"{cells}.filter(cell => cell.scrollWidth > cell.clientWidth + 1).map(cell => cell.innerText)") == []
    assert tab.evaluate(f"Math.min(...{cells}.map(cell => parseFloat(getComputedStyle(cell).fontSize)))") >= 7
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert (tab.locator("table").count(), tab.locator("thead tr:last-child th:visible").count()) == (1, columns + 1)


def test_code_between_backticks_is_escaped(tmp_path: Path) -> None:
    text = page("pages/templates/plain.html", title="a", sections=[("a", "A", "run `a <b>` now", [])], subtitle="")
    assert "run <code>a &lt;b&gt;</code> now" in text


@pytest.mark.parametrize("ending", ["svg", "pdf", "png", "json"])
def test_a_chart_is_saved_in_dark_ink_on_white(ending: str, tmp_path: Path) -> None:
    data = save_chart(chart(), tmp_path / f"plot.{ending}").read_bytes()
    assert data.startswith({"svg": b"<svg", "pdf": b"%PDF", "png": b"\x89PNG", "json": b"{"}[ending])
    if ending in ("svg", "json"):
        assert b"var(--" not in data
        assert b"#0072B2" in data


def test_pictures_of_one_page_share_no_identifier() -> None:
    clipped = altair.Chart(altair.Data(values=[{"x": 1, "y": 2}])).mark_point(clip=True).encode(x="x:Q", y="y:Q")
    one, other = figure(clipped, label="a"), figure(clipped.properties(width=99), label="b")
    identifiers = [set(re.findall(r'id="([^"]+)"', text)) for text in (one, other)]
    assert identifiers[0]
    assert not identifiers[0] & identifiers[1]
    assert one == figure(clipped, label="a")


def test_a_layer_without_marks_is_not_there_for_screen_readers() -> None:
    data = altair.InlineData(values=[{"x": 1, "few": False}])
    layers = [altair.Chart().transform_filter(f"{sign}datum.few").mark_point().encode(x="x:Q") for sign in ("", "!")]
    assert figure(altair.layer(*layers, data=data), label="a").count('aria-roledescription="symbol mark container"') == 1
