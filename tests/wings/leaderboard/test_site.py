"""The site in a real browser, opened from the disk: nothing is fetched, nothing of a submission runs, keys are enough."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from methods_run import PROTOCOL
from tests.wings.leaderboard.made import COUNT, card, spoilt, submit
from tests.wings.leaderboard.test_submission import in_header

from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.wings.leaderboard.pack import Sample, gather
from inpaintbench.wings.leaderboard.write import write_site
from inpaintbench.workbench.server import Bench
from inpaintbench.workspace import Workspace

EVIL = "</title><script>document.title='run'</script><img src=x onerror=document.title='run'>"


@pytest.fixture(scope="module")
def site(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three methods, of which one tries to run something, and a file that is left out."""
    folder = tmp_path_factory.mktemp("a site") / "with spaces & signs"
    submissions = folder / "submissions"
    for label in ("telea", "ns"):
        submissions.mkdir(parents=True, exist_ok=True)
        (submissions / f"{label}.zip").write_bytes((world / "submissions" / f"{label}.zip").read_bytes())
    evil = card("<script>1</script>", **{"An algorithm of 2004": EVIL, "A. Submitter": "<img src=x onerror=alert(1)>"})
    submit(Workspace(world / "run", create=False), world / "data", "smooth", submissions / "smooth.zip", described=evil)
    (submissions / "<img src=x onerror=alert(1)>.zip").write_bytes(b"nothing")
    sample = Sample(items=1, seed=1, workers=0)
    board = gather(submissions, root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), sample=sample, trusted=True)
    return write_site(folder / "site", board)


class Tab:
    """One page and everything it complained about or asked the network for."""

    def __init__(self, browser: Any, **options: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def column(self, heading: str) -> list[str]:
        """The values of a column of the table that is shown."""
        index = self.page.locator(".standings:visible thead th").all_inner_texts()
        place = next(number for number, words in enumerate(index) if words.startswith(heading))
        return [row.locator(":scope > *").nth(place).get_attribute("data-value") for row in self.rows()]

    def rows(self) -> list[Any]:
        return list(self.page.locator(".standings:visible tbody tr").all())

    def methods(self) -> list[str]:
        return list(self.page.locator(".standings:visible tbody th .below").all_inner_texts())


@pytest.fixture
def tab(browser: Any, site: Path) -> Iterator[Tab]:
    """Everything that a page says or asks for is looked at when the test ends."""
    opened = Tab(browser)
    opened.page.goto(site.as_uri())
    yield opened
    own = site.parent.as_uri() + "/"
    assert opened.complaints == []
    assert [url for url in opened.requests if not url.startswith((own, "data:"))] == []
    assert opened.page.title() != "run"
    opened.context.close()


def test_columns_sort_by_click_and_by_key(tab: Tab) -> None:
    psnr = tab.page.locator(".standings:visible th", has_text="PSNR")
    assert tab.page.locator(".standings:visible th[aria-sort=ascending]").all_inner_texts()[0].startswith("Mean place")
    psnr.locator("button").click()
    falling = [float(value) for value in tab.column("PSNR")]
    assert falling == sorted(falling, reverse=True)
    assert psnr.get_attribute("aria-sort") == "descending"
    assert tab.page.locator(".standings:visible th[aria-sort=ascending]").count() == 0
    psnr.locator("button").focus()
    tab.page.keyboard.press("Enter")
    assert [float(value) for value in tab.column("PSNR")] == falling[::-1]
    assert psnr.get_attribute("aria-sort") == "ascending"
    assert tab.page.locator("[role=status]").inner_text() == "Sorted by PSNR in the hole ↑, smallest first"
    tab.page.keyboard.press("Space")
    assert psnr.get_attribute("aria-sort") == "descending"


def test_a_region_is_chosen_by_key_and_stays_chosen_in_other_slices(tab: Tab) -> None:
    assert tab.page.locator(".standings:visible").count() == 1
    before = tab.column("PSNR")
    tab.page.locator("input[value=hole]").focus()
    tab.page.keyboard.press("ArrowRight")
    assert tab.page.locator(".standings:visible caption").inner_text() == "All items, boundary band: 12 items, 3 submissions"
    assert tab.column("PSNR") != before
    tab.page.locator("nav.side a", has_text="high").click()
    assert tab.page.locator("h1").inner_text().split() == ["Hole", "size", "high"]
    assert tab.page.locator(".standings:visible caption").inner_text() == "hole_size-high, boundary band: 6 items, 3 submissions"
    assert tab.page.locator("nav.side [aria-current=page]").inner_text().split() == ["Hole", "size", "high", "items:", "6"]


def test_every_link_leads_to_a_page_and_nothing_of_a_card_runs(tab: Tab, site: Path) -> None:
    links = {link.get_attribute("href") for link in tab.page.locator("a").all()}
    for link in links:
        assert (site.parent / str(link).partition("#")[0]).is_file() or str(link).startswith("#"), link
    tab.page.get_by_role("link", name="<script>1</script>").first.click()
    assert tab.page.locator("h1").inner_text() == "<script>1</script>"
    assert tab.page.locator(".authors").inner_text() == "<img src=x onerror=alert(1)>, B. Submitter"
    assert EVIL in tab.page.locator(".described").inner_text()
    link = tab.page.get_by_role("link", name="Code")
    assert link.get_attribute("href") == "https://example.org/code?a=1&b=2"
    assert link.get_attribute("target") == "_blank", "a Space lies in a frame, which other sites refuse to lie in"
    assert "noopener" in str(link.get_attribute("rel"))
    assert tab.page.locator("script:not([type])").count() == 3
    assert tab.page.locator("img").count() == 0


def test_what_was_left_out_and_what_was_measured_again_is_told(tab: Tab) -> None:
    assert "<img src=x onerror=alert(1)>.zip" in tab.page.locator("#left-out").inner_text()
    checked = tab.page.locator(".standings:visible th .tag")
    assert sorted(checked.all_inner_texts()) == ["not verified", f"verified on 1 of {COUNT}", f"verified on 1 of {COUNT}"]


ASKED = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)];
    return {
        language: document.documentElement.lang,
        heads: all("h1").length,
        main: all("main").length,
        ids: all("[id]").map((one) => one.id),
        nameless: all("a, button").filter((one) => !one.innerText.trim() && one.offsetParent).length,
        captions: all("table.standings, table.matrix").filter((one) => !one.caption).length,
        scopes: all(".standings th, .matrix th").filter((one) => !one.scope).length,
        unreachable: all(".scroll").filter((one) => one.scrollWidth > one.clientWidth + 1 && one.tabIndex < 0).length,
        levels: all("h1, h2, h3").map((one) => Number(one.tagName[1])),
        ground: getComputedStyle(document.body).backgroundColor,
        inks: all("main p, .below, caption, .side .n, nav a").map((one) => getComputedStyle(one).color),
    };
}"""


def luminance(colour: str) -> float:
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_screen_readers_and_weak_eyes_can_use_every_page(browser: Any, site: Path, scheme: str) -> None:
    tab = Tab(browser, color_scheme=scheme)
    for path in sorted(site.parent.rglob("*.html")):
        tab.page.goto(path.as_uri())
        found = tab.page.evaluate(ASKED)
        assert (found["language"], found["heads"], found["main"]) == ("en", 1, 1)
        assert len(set(found["ids"])) == len(found["ids"])
        assert [found[kind] for kind in ("nameless", "captions", "scopes", "unreachable")] == [0, 0, 0, 0], path.name
        assert all(after <= max(before, 1) + 1 for before, after in zip(found["levels"], found["levels"][1:], strict=False))
        ground = luminance(found["ground"])
        assert (ground < 0.1) == (scheme == "dark")
        for ink in set(found["inks"]):
            light, dark = sorted((luminance(ink), ground), reverse=True)
            assert (light + 0.05) / (dark + 0.05) >= 4.5, (path.name, ink)
    assert tab.complaints == []
    tab.context.close()


def test_the_first_stop_of_the_tab_key_leads_to_the_table_and_focus_is_seen(tab: Tab) -> None:
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("document.activeElement.innerText") == "To the content"
    tab.page.keyboard.press("Enter")
    assert tab.page.evaluate("document.activeElement.id") == "top"
    tab.page.locator(".standings:visible button.sort").first.focus()
    tab.page.keyboard.press("Tab")
    assert tab.page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_narrow_screens_scroll_tables_not_pages(browser: Any, site: Path) -> None:
    tab = Tab(browser, viewport={"width": 390, "height": 800})
    for path in sorted(site.parent.rglob("*.html")):
        tab.page.goto(path.as_uri())
        assert tab.page.evaluate("document.documentElement.scrollWidth") <= 390, path.name
    tab.context.close()


def test_without_scripts_every_region_is_there(browser: Any, site: Path) -> None:
    tab = Tab(browser, java_script_enabled=False)
    tab.page.goto(site.as_uri())
    assert tab.page.locator(".standings:visible").count() == 3
    assert tab.page.locator(".segmented:visible").count() == 0
    tab.context.close()


def test_equal_submissions_give_equal_bytes_and_nothing_else_is_overwritten(world: Path, tmp_path: Path) -> None:
    board = gather(world / "submissions", root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), trusted=True)
    pages = [write_site(tmp_path / name, board) for name in ("one", "other", "one")]
    one, other = ({path.name: path.read_bytes() for path in page.parent.rglob("*.*")} for page in pages[:2])
    assert one == other
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "other"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match="holds something else than a leaderboard; choose another folder"):
        write_site(tmp_path / "mine", board)
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"


def test_what_methods_took_stands_beside_their_scores(world: Path, tmp_path: Path) -> None:
    told = {
        "items": 12, "seconds_a_frame": 0.25, "peak_mebibytes": 3072, "card_mebibytes": 5000, "machine": "4 cores, <Card>",
        "ceiling_low": 30.25, "ceiling_high": 33.5, "known_low": 20.25, "known_high": 20.25, "task": ["Works at 432x240 & back."],
    }  # fmt: skip
    (tmp_path / "in").mkdir()
    spoilt(world / "submissions" / "telea.zip", tmp_path / "in" / "telea.zip", in_header(effort=told))
    without = spoilt(world / "submissions" / "ns.zip", tmp_path / "in" / "ns.zip", in_header(effort={}))
    assert without.exists()
    board = gather(tmp_path / "in", root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), trusted=True)
    front = write_site(tmp_path / "site", board)
    page = front.read_text()
    for words in ("Seconds a frame", "0.250", "3.0 GiB", "4.9 GiB on cards", "4 cores, &lt;Card&gt;", "lossy, at most 33.5 dB",
                  "known pixels 20.2 dB"):  # fmt: skip
        assert words in page, words
    own = next(path.read_text() for path in (front.parent / "methods").iterdir() if "432x240" in path.read_text())
    assert "Works at 432x240 &amp; back." in own
    assert "keep 30.2 to 33.5 dB, a ceiling on its scores" in own
    assert "it gives known pixels 20.2 dB from the input" in own
    found = json.loads((front.parent / "leaderboard.json").read_text())
    assert {one["method"]: one["effort"] for one in found["submissions"]} == {"telea": told, "ns": {}}


def test_view_opens_its_rows_in_a_table(site: Path, tmp_path: Path) -> None:
    bench = Bench([site.parent], tmp_path)
    (thing,) = [one for one in bench.things() if one.kind == "leaderboard"]
    joined = bench.joined({"board": [thing.key]})
    told = json.loads(site.with_name("leaderboard.json").read_text())
    assert joined.title == told["title"]
    facts = {fact.name: fact.values for fact in joined.facts}
    rows = {(row["method"], row["slice"], row["region"]) for row in told["scores"]}
    assert len(joined.ids) == len(rows)
    for row in told["scores"]:
        place = joined.ids.index(f"{row['method']} · {row['slice']} · {row['region']}")
        if row["metric"] in facts:
            assert facts[row["metric"]][place] == (None if row["mean"] is None else float(row["mean"]))
    (site.parent / "leaderboard.json").rename(tmp_path / "kept.json")
    (site.parent / "leaderboard.json").write_text("{")
    with pytest.raises(InputError, match="is no leaderboard"):
        bench.joined({"board": [thing.key]})
    (tmp_path / "kept.json").replace(site.parent / "leaderboard.json")
