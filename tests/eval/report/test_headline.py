"""The sentence on top of the page and the clips beside it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.eval.report.hand_made import FlatMedia, dataset, read_bars, scores
from tests.eval.report.test_player import Tab

from inpaintbench import video
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import ReportFiles, write_report
from inpaintbench.eval.report.effects import headline
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages.panels import plain

CORRECTED = PROTOCOLS.get("devil/corrected")
LOW, HIGH = [f"{letter}1" for letter in "abcdef"], [f"{letter}1" for letter in "ghijkl"]
SLICES = {"camera_motion-low": LOW, "camera_motion-high": HIGH}
# Means 35.3 and 20.3; nearest to them are c1, whose 36 is nearer than 34, and j1.
FALLS = dict(zip(LOW, (34.0, 34.0, 36.0, 36.0, 36.0, 36.0), strict=True)) | dict(
    zip(HIGH, (18.0, 22.0, 22.0, 20.0, 20.0, 20.0), strict=True)
)
STEADY = dict.fromkeys([*LOW, *HIGH], 25.0)

# Of each clip the truth and the result, as soon as they are drawn.
PROOFS = "() => document.querySelectorAll('.proof .comparison:not([data-loading]) canvas').length === 4"


def results_of(values: dict[str, dict[str, float]], slices: dict[str, list[str]]) -> Results:
    return Results(dataset(slices), scores(values), protocol=CORRECTED)


def test_the_largest_change_beyond_chance_is_told_and_shown_on_the_items_nearest_to_the_means() -> None:
    finding = headline(results_of({"falls": FALLS, "steady": STEADY}, SLICES), Quantity("psnr", "hole"))
    assert finding is not None
    assert re.fullmatch(
        r"falls loses 1[1-4]\.\d\d to 1[6-9]\.\d\d dB when camera motion goes from low to high", plain(finding.sentence)
    )
    assert finding.kicker == "Finding"
    assert finding.reasons.startswith("PSNR in the hole: 35.33 dB over 6 items of 6 sources where it is low, 20.33 dB over")
    assert "the protocol’s primary quantity" in finding.reasons
    assert "hold for all 8 comparisons by it together" in finding.reasons  # two changes, two slices, a lead, the label
    assert [(proof.item_id, proof.method) for proof in finding.proofs] == [("c1", "falls"), ("j1", "falls")]
    assert finding.proofs[0].caption == "camera motion low: 36.00 dB on this clip"


def test_it_is_shown_on_items_of_one_exact_hole_and_of_one_clip_where_there_are_any() -> None:
    # a1 and h1 are of one hole and of other clips; b1 and g1 of one hole and one clip, though h1 is nearer to the mean.
    shared = {"a1": ("one", "near"), "h1": ("one", "far"), "b1": ("two", "same"), "g1": ("two", "same")}
    whole = dataset(SLICES)
    rows = []
    for row in whole.items:
        hole, clip = shared.get(row["item_id"], (row["item_id"], row["item_id"]))
        rows.append({**row, "object_mask_sha256": hole, "clip_id": clip})
    results = Results(replace(whole, items=tuple(rows)), scores({"falls": FALLS, "steady": STEADY}), protocol=CORRECTED)
    finding = headline(results, Quantity("psnr", "hole"))
    assert finding is not None
    assert [proof.item_id for proof in finding.proofs] == ["b1", "g1"]
    assert finding.reasons.endswith("The clips are those nearest to the two means, of those that share their hole.")


@pytest.mark.parametrize("share", [5, 6], ids=["too few sources", "by chance"])
def test_nothing_is_told_of_too_few_sources_or_by_chance(share: int) -> None:
    slices = {name: ids[:share] for name, ids in SLICES.items()}
    noisy = {item_id: value + 40 * (at % 2) for at, (item_id, value) in enumerate(FALLS.items())}
    values = noisy if share == 6 else FALLS
    named = [item_id for ids in slices.values() for item_id in ids]
    given = {"falls": {item_id: values[item_id] for item_id in named}}
    assert headline(results_of(given, slices), Quantity("psnr", "hole")) is None


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    return write_report(
        tmp_path_factory.mktemp("headline") / "report",
        title="Hand-made",
        dataset=dataset(SLICES),
        scores=scores({"falls": FALLS, "steady": STEADY}),
        protocol=CORRECTED,
        media=FlatMedia(),
    )


def test_the_clips_play_beside_the_sentence_and_the_gallery_opens_on_the_second(
    browser: Any, report: ReportFiles, tmp_path: Path
) -> None:
    tab = Tab(browser, report)
    sentence = tab.page.locator(".headline .sentence").inner_text().split()
    assert " ".join(sentence).startswith("falls loses 1")
    assert tab.page.locator(".exhibit.open").get_attribute("data-item") == "j1"
    tab.page.wait_for_function(PROOFS)
    proofs = tab.page.locator(".proof canvas")
    # Who asks for less motion sees the first frame, and plays it by a click.
    path = tmp_path / "proof.png"
    proofs.nth(1).screenshot(path=path)
    assert read_bars(video.read_image(path), row_share=0.77) == 0
    proofs.first.click()
    tab.page.wait_for_function("() => document.querySelector('.proof video').currentTime > 0.2")
    assert tab.page.evaluate("[...document.querySelectorAll('.proof')][1].querySelector('video')?.paused ?? true")
    # The gallery is not disturbed, and neither is the page.
    tab.watch()
    assert (tab.frame, tab.complaints, tab.fetched(report)) == (0, [], [])


def test_on_paper_the_clips_are_stills(browser: Any, report: ReportFiles, tmp_path: Path) -> None:
    tab = Tab(browser, report)
    tab.page.wait_for_function(PROOFS)
    tab.page.emulate_media(media="print")
    tab.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    proofs = tab.page.locator(".proof canvas:visible")
    assert proofs.count() == 4
    proofs.first.screenshot(path=tmp_path / "still.png")
    assert video.read_image(tmp_path / "still.png").std() > 5
    assert tab.page.locator(".proof figcaption:visible").count() == 2


def test_the_clips_play_by_themselves_where_motion_is_welcome(browser: Any, report: ReportFiles) -> None:
    tab = Tab(browser, report, reduced_motion="no-preference")
    tab.page.wait_for_function(
        "() => [...document.querySelectorAll('.proof')].every((one) => one.querySelector('video')?.currentTime > 0.2)"
    )
    assert tab.complaints == []


def test_on_a_phone_a_long_name_above_a_clip_is_seen_whole(browser: Any, tmp_path: Path) -> None:
    named = {"falls_when_the_camera_moves_much": FALLS, "steady": STEADY}
    made = write_report(
        tmp_path / "report", title="Hand-made", dataset=dataset(SLICES), scores=scores(named), protocol=CORRECTED,
        media=FlatMedia(),
    )  # fmt: skip
    tab = Tab(browser, made, viewport={"width": 390, "height": 844})
    tab.page.wait_for_selector(".proof .caption .name")
    heights = "captions => captions.map((one) => [one.clientHeight, one.querySelector('.name').scrollHeight])"
    found = tab.page.locator(".proof .caption").evaluate_all(heights)
    assert max(name for _, name in found) > 24  # two lines
    assert [(room, name) for room, name in found if name > room] == []
