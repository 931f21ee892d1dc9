"""Fingerprints and response curves in a browser: an effect shows its clips, by mouse and by keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from browser_checks import OpenPage, first_look, serious_findings, sticks_out
from tests.eval.report.diagnosed import METHODS, diagnosis_of, paired_results
from tests.eval.report.hand_made import FlatMedia
from tests.eval.report.test_headline import PROOFS
from tests.eval.report.test_player import Tab

from inpaintbench.eval.report import ReportFiles, effects, page, write
from inpaintbench.eval.report.write import write_report

MARKS = "[data-plot=fingerprint] button.mark"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReportFiles]:
    results = paired_results()
    with pytest.MonkeyPatch.context() as patch:
        for module in (effects, page, write):
            patch.setattr(module, "diagnose", diagnosis_of)
        yield write_report(
            tmp_path_factory.mktemp("effects") / "report", title="Hand-made", dataset=results.dataset, scores=results.scores,
            protocol=results.protocol, media=FlatMedia(),
        )  # fmt: skip


@pytest.fixture(scope="module")
def tab(browser: Any, report: ReportFiles) -> Tab:
    found = Tab(browser, report)
    found.page.wait_for_selector(MARKS)
    return found


def captions(tab: Tab) -> list[str]:
    return [" ".join(words.split()) for words in tab.page.locator(".proofs figcaption").all_inner_texts()]


def mark(words: str) -> str:
    return f'{MARKS}[aria-label^="{words}"]'


def drawn_anew(page: Any, width: int) -> None:
    """The fingerprint in a window of another size."""
    page.locator(MARKS).first.evaluate("one => { one.dataset.before = ''; }")
    page.set_viewport_size({"width": width, "height": 844})
    page.locator("[data-before]").wait_for(state="detached")


def test_a_click_on_an_effect_shows_the_clips_that_differ_in_it_alone(tab: Tab) -> None:
    assert captions(tab)[1].startswith("path of the camera fast:")
    tab.page.locator(mark("telea, Size of the hole")).click()
    low, high = captions(tab)
    assert low.startswith("Size of the hole low: ")
    assert high.endswith("left truth, right telea")
    # A click plays the pair that was chosen, and not those before.
    tab.page.locator(".proofs canvas").first.click()
    tab.page.wait_for_function("() => document.querySelector('.proofs video')?.currentTime > 0.2")
    pressed = tab.page.locator(f"{MARKS}[aria-pressed=true]")
    assert [one.get_attribute("aria-label")[:23] for one in pressed.all()] == ["telea, Size of the hole"]


def test_on_paper_the_clips_of_the_finding_lie_over_nothing(tab: Tab) -> None:
    tab.page.emulate_media(media="print")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    boxes = [
        one.bounding_box() for one in tab.page.locator(".proof .pane:visible, .proof figcaption, .headline ~ * h2:visible").all()
    ]
    assert len(boxes) > 6
    for one, other in combinations(boxes, 2):
        beside = one["x"] + one["width"] <= other["x"] + 1 or other["x"] + other["width"] <= one["x"] + 1
        assert beside or one["y"] + one["height"] <= other["y"] + 1 or other["y"] + other["height"] <= one["y"] + 1
    tab.page.evaluate("dispatchEvent(new Event('afterprint'))")
    tab.page.emulate_media(media="screen")


def test_a_difference_shows_both_methods_on_them(tab: Tab) -> None:
    tab.page.locator(".fingerprints details:visible summary").first.click()
    button = tab.page.locator("button.effect[data-method=telea][data-other=temporal_median]:visible").first
    assert "".join(button.inner_text().split()).startswith("Againsttelea,temporal_medianloses")
    button.click()
    assert re.search(r"left telea ?, right temporal_median$", captions(tab)[0])
    assert " and " in captions(tab)[0]


def test_arrows_go_from_effect_to_effect_and_enter_shows_one(tab: Tab) -> None:
    first = tab.page.locator(MARKS).first
    assert tab.page.locator(f"{MARKS}[tabindex='0']").count() == 1
    first.focus()
    for key in ("ArrowRight", "ArrowDown"):
        tab.page.keyboard.press(key)
    focused = tab.page.evaluate("document.activeElement.getAttribute('aria-label')")
    assert focused.startswith("temporal_median, Path of the camera, still → slow: −3.00 dB, interval −3.64 to −2.36 dB")
    tab.page.keyboard.press("Enter")
    assert captions(tab)[1].startswith("Path of the camera slow:")
    assert captions(tab)[1].endswith("right temporal_median")


def test_effects_of_slices_and_of_attributes_lead_to_what_shows_them(tab: Tab) -> None:
    tab.page.locator(mark("telea, Share of the hole")).click()
    tab.page.wait_for_function("() => Math.abs(document.getElementById('response').getBoundingClientRect().top) < 200")
    dot = tab.page.locator('[data-plot=response] path[aria-label*="-fast, "]').first
    item = dot.get_attribute("aria-label").split(",")[0]
    dot.click(force=True)
    chosen = " ".join(tab.page.locator(".item-panel h3").inner_text().split())
    assert chosen.startswith("Item ")
    assert tab.page.locator(".item-panel").is_visible()
    assert item[0] in "abcdef"


def test_metric_and_methods_reach_the_figures(tab: Tab) -> None:
    tab.page.evaluate("page.set({ metric: 'mse', methods: 'telea,temporal_median' }); page.tell('state')")
    tab.page.wait_for_selector("[data-plot=fingerprint][data-drawn='mse/hole']")
    tab.page.wait_for_selector("[data-plot=response][data-drawn='mse/hole']")
    tab.page.wait_for_function("() => document.querySelectorAll('[data-plot=fingerprint] button.mark').length === 10")
    # Worse stays to the left: more of the squared error lies there.
    middles = "marks => marks.map((one) => [parseFloat(one.querySelector('.middle').style.left), one.innerText])"
    found = tab.page.locator(MARKS).evaluate_all(middles)
    values = [float(text.split()[-1].replace("−", "-").replace("+", "")) for _, text in sorted(found)]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) > 3
    tab.page.evaluate("page.set({ metric: null, methods: null }); page.tell('state')")
    tab.page.wait_for_function("() => document.querySelectorAll('[data-plot=fingerprint] button.mark').length === 15")


def test_with_a_finding_and_its_figure_the_page_is_short_when_it_opens(browser: Any, report: ReportFiles) -> None:
    tab = OpenPage(browser, report.page.as_uri(), viewport={"width": 1280, "height": 800})
    tab.page.wait_for_selector(MARKS)
    high, controls = first_look(tab.page)
    assert high <= 5
    assert controls <= 120
    finding, figure, table = (tab.page.locator(one).first.bounding_box()["y"] for one in (".headline", MARKS, ".scores:visible"))
    assert finding < figure < 800, "the finding and its figure are on the first screen"
    assert figure < table < 4 * 800
    assert tab.complaints == []
    tab.context.close()


def test_on_a_phone_methods_stand_below_one_another_and_nothing_sticks_out(tab: Tab) -> None:
    drawn_anew(tab.page, 390)
    lefts = [box["x"] for one in tab.page.locator(MARKS).all() if (box := one.bounding_box())]
    assert max(lefts) - min(lefts) < 2
    assert sticks_out(tab.page) == 0
    place = "document.querySelector('[data-plot=fingerprint]')"
    assert tab.page.evaluate(f"{place}.scrollWidth") <= tab.page.evaluate(f"{place}.clientWidth")


def test_without_a_finding_the_page_says_so_and_shows_the_surest_pair_as_what_could_be_chance(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = (*METHODS, "biharmonic", "exemplar", "lama", "navier_stokes", "stable_diffusion")
    results = paired_results(names)
    for module in (effects, page, write):
        monkeypatch.setattr(module, "diagnose", lambda results: diagnosis_of(results, told=False))
    monkeypatch.setattr(effects, "effects", lambda *_: [])
    files = write_report(
        tmp_path / "report", title="Nothing", dataset=results.dataset, scores=results.scores, protocol=results.protocol,
        media=FlatMedia(frames=2),
    )  # fmt: skip
    tab = OpenPage(browser, files.page.as_uri(), color_scheme="dark")
    tab.page.wait_for_selector(f"{MARKS}[aria-pressed=true]")
    assert tab.page.locator(".headline .kicker").inner_text() == "No finding"
    assert tab.page.locator(".headline .sentence").inner_text().startswith("None of these 40 effects is more than")
    tab.page.wait_for_function(PROOFS)
    assert "could be chance" in tab.page.locator(f"{MARKS}[aria-pressed=true]").get_attribute("aria-label")
    assert tab.page.locator(".effects:visible").count() == 0
    assert serious_findings(tab.page, colours_only=False) == []
    # Eight methods have room side by side, in as many rows as they need.
    place = "document.querySelector('[data-plot=fingerprint]')"
    for width in (1280, 390):
        drawn_anew(tab.page, width)
        assert tab.page.evaluate(f"{place}.scrollWidth - {place}.clientWidth") <= 0, width
        assert tab.sticks_out() <= 0
    assert tab.complaints == []
    tab.context.close()


def test_nothing_went_wrong(tab: Tab, report: ReportFiles) -> None:
    assert (tab.complaints, tab.fetched(report)) == ([], [])


def test_long_labels_are_broken_and_not_cut_on_a_phone(browser: Any, report: ReportFiles) -> None:
    phone = browser.new_page(viewport={"width": 390, "height": 844})
    phone.goto(report.page.as_uri())
    phone.wait_for_selector(MARKS)
    words = "Agreement of the mask with what is missing of the object"
    phone.evaluate(
        """words => {
          for (const row of page.data.rows.fingerprint) row.line = row.line?.replace('Size of the hole', words);
          page.data.lines = page.data.lines.map((line) => line.replace('Size of the hole', words));
          page.tell('resized');
        }""",
        words,
    )
    shown = phone.locator(".effect-line > span", has_text=words)
    assert shown.count() == 1
    assert shown.evaluate("one => one.scrollWidth <= one.clientWidth && one.getBoundingClientRect().left >= 0")
    phone.close()
