"""Every kind of page of the site by axe-core, in light and dark; sorting and a narrow window go well with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser_checks import OpenPage, serious_findings
from methods_run import METHODS, PROTOCOL, run_methods
from tests.wings.leaderboard.made import submit, write_dataset

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.wings.leaderboard.pack import gather
from inpaintbench.wings.leaderboard.write import clips_of, write_site


@pytest.fixture(scope="module")
def site(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The front page of three methods of which nothing was measured again, with two items or so to look at."""
    board = gather(world / "submissions", root=world / "data", protocol=PROTOCOLS.get(PROTOCOL), trusted=True)
    clips = clips_of(board, root=world / "data", items=2)
    return write_site(tmp_path_factory.mktemp("pages") / "site", board, clips=clips)


def one_of_each_kind(front: Path) -> list[Path]:
    """The front page, that of the clips, a page of a slice and a page of a method: one from each folder below."""
    found: dict[Path, Path] = {}
    for path in sorted(front.parent.glob("*/*.html")):
        found.setdefault(path.parent, path)
    return [*sorted(front.parent.glob("*.html")), *found.values()]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(browser: Any, site: Path, scheme: str) -> None:
    pages = one_of_each_kind(site)
    assert site in pages
    assert len(pages) == 4
    for path in pages:
        tab = OpenPage(browser, path.as_uri(), color_scheme=scheme)
        assert serious_findings(tab.page, colours_only=scheme == "dark") == [], path.name
        assert (tab.complaints, tab.fetched(site.parent)) == ([], [])
        tab.context.close()


def test_after_sorting_in_a_narrow_window_all_is_still_well(browser: Any, site: Path) -> None:
    tab = OpenPage(browser, site.as_uri(), viewport={"width": 390, "height": 844})
    heads = tab.page.locator(".standings:visible th", has_text="SSIM")
    place = [words.startswith("SSIM") for words in tab.page.locator(".standings:visible thead th").all_inner_texts()].index(True)
    heads.locator("button").click()
    values = [
        float(row.locator(":scope > *").nth(place).get_attribute("data-value"))
        for row in tab.page.locator(".standings:visible tbody tr").all()
    ]
    assert len(values) == 3
    assert values == sorted(values, reverse=True)
    assert heads.get_attribute("aria-sort") == "descending"
    assert tab.sticks_out() <= 0
    assert tab.complaints == []
    tab.context.close()


def test_of_22_slices_those_that_tell_most_are_seen_whole_at_1280_pixels(browser: Any, tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", places=20)
    workspace = run_methods(tmp_path / "data", tmp_path / "run", metrics=["psnr", "ssim", "mse", "hole_sharpness"])
    for label in METHODS:
        submit(workspace, tmp_path / "data", label, tmp_path / "submissions" / f"{label}.zip")
    board = gather(tmp_path / "submissions", root=tmp_path / "data", protocol=PROTOCOLS.get(PROTOCOL), trusted=True)
    tab = OpenPage(browser, write_site(tmp_path / "site", board).as_uri(), viewport={"width": 1280, "height": 800})
    for name in ("matrix", "standings"):
        box = tab.page.locator(f".scroll:visible:has(> .{name})")
        assert box.evaluate("box => box.scrollWidth - box.clientWidth") == 0, name
    heads = tab.page.locator(".matrix:visible thead th:visible")
    assert heads.first.inner_text() == "Method"
    assert heads.nth(1).inner_text() == "All items"
    assert heads.count() == 7
    assert "the 5 of 22 slices in which places differ most" in tab.page.locator(".matrix:visible caption").inner_text()
    tab.page.locator("#slices summary:visible").click()
    tab.page.locator("#slices .picker[open] input:not(:checked)").first.check()
    assert heads.count() == 8
    shown = tab.page.locator(".standings:visible thead th:visible").all_inner_texts()
    assert [words.split()[0] for words in shown] == ["Method", "Mean", "PSNR", "SSIM", "MSE", "Sharpness"]
    assert (tab.complaints, tab.sticks_out()) == ([], 0)
    tab.context.close()


def test_on_paper_a_place_and_its_mean_stand_beside_each_other(browser: Any, site: Path) -> None:
    tab = OpenPage(browser, site.as_uri(), viewport={"width": 703, "height": 1000})
    tab.page.emulate_media(media="print")
    for cell in tab.page.locator(".standings:visible td.place", has=tab.page.locator("small")).all():
        text = "const text = new Range(); text.{}; return text.getBoundingClientRect().toJSON();"
        parts = ("selectNode(cell.firstChild)", "selectNode(cell.querySelector('small'))", "selectNodeContents(cell)")
        place, mean, whole = (cell.evaluate(f"(cell) => {{ {text.format(part)} }}") for part in parts)
        assert place["right"] <= mean["left"]
        assert abs(place["bottom"] - mean["bottom"]) < 2
        assert whole["height"] <= cell.bounding_box()["height"]
    tab.context.close()


def test_clips_of_two_methods_meet_under_a_wipe_and_one_that_brought_none_says_so(browser: Any, site: Path) -> None:
    tab = OpenPage(browser, site.as_uri())
    tab.page.get_by_role("link", name="Clips").click()
    figure = tab.page.locator(".exhibit:visible")
    figure.first.wait_for()
    assert figure.count() == 1
    assert tab.page.locator(".gallery .pane canvas").count() == 4  # truth, input, and two of three methods
    assert figure.locator(".absent").count() == 1
    tab.page.locator(".gallery .control.wipe").click()
    names = tab.page.locator(".gallery .pane:visible .name")
    over = tab.page.locator(".gallery .against")
    first, second = [label for label in over.locator("option").all_inner_texts() if label.startswith("over ")][1:3]
    over.select_option(label=second)
    assert f"{first.removeprefix('over ')} | {second.removeprefix('over ')}" in names.all_inner_texts()
    assert tab.complaints == []
    tab.context.close()
