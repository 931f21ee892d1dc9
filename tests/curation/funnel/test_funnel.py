"""The pages: what they say, that they say it safely, and that they need nothing from elsewhere."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from selection_world import EVIL, RULES, fill

from inpaintbench.curation.facts import Facts, LicenceCheck
from inpaintbench.curation.funnel import plots, write_funnel, write_what_if
from inpaintbench.curation.funnel.stages import efforts, failures, funnel_words, grouped, licence_counts, stages
from inpaintbench.curation.judging import select_clips, stored_selection, what_if
from inpaintbench.curation.rules import parse_rules
from inpaintbench.curation.why import find_clip, trail
from inpaintbench.types import Clip, Item, Source
from inpaintbench.workspace import Workspace


def text_of(html: str) -> str:
    """Words between tags."""
    bare = re.sub(r"<(style|script)\b.*?</\1>", "", html, flags=re.DOTALL).replace("<wbr>", "")
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", bare)).split())


def marks_of(svg: str) -> list[str]:
    """What the marks of a plot say."""
    return [unescape(words) for words in re.findall(r'aria-label="([^"]*)" role="graphics-symbol"', svg)]


def words_in(svg: str) -> list[str]:
    """What is written in a plot: the ticks of its axes, then thresholds, then ends that are cut off."""
    return [unescape(words) for words in re.findall(r"<text[^>]*>([^<]+)<", svg)]


def page_of(workspace: Workspace, folder: Path) -> str:
    return write_funnel(workspace, folder / "page.html").read_text(encoding="utf-8")


def test_the_stages_count_sources_and_clips(workspace: Workspace) -> None:
    fill(workspace)
    found = stages(workspace, stored_selection(workspace, Facts.of_workspace(workspace)))
    assert [(one.name, one.unit, one.count) for one in found] == [
        ("candidates", "source", 9), ("obtained", "source", 6), ("probed", "source", 5), ("cut into clips", "source", 6),
        ("clips", "clip", 12), ("kept", "clip", 3), ("in items", "clip", 1),
    ]  # fmt: skip
    assert found[1].lost == (("gone: HTTP N", 3),)
    assert found[2].lost == (("not one of N frames decodes", 4),)
    assert found[5].waiting == 2
    assert found[5].lost[0] == (RULES[0].label, 6)


def test_one_line_tells_the_whole_funnel(workspace: Workspace) -> None:
    fill(workspace)
    words = funnel_words(workspace, stored_selection(workspace, Facts.of_workspace(workspace)))
    assert words.startswith("Funnel: 9 sources found, 6 cut into 12 clips, 3 kept, 7 dropped (6 by ")


def test_refusals_that_differ_in_numbers_and_names_are_one_group() -> None:
    rows = [
        ("cut", "b%20.mp4", "frame 3 of 'x' is bad"),
        ("cut", "a", "frame 14 of 'y y' is bad"),
        ("probe", "a", "frame 3 is bad"),
    ]
    first, second = grouped(rows)
    assert (first.reason, first.count, first.examples) == ("frame N of … is bad", 2, ("b .mp4", "a"))
    assert (second.step, second.reason) == ("probe", "frame 3 is bad")


def test_failures_of_steps_and_of_downloads(workspace: Workspace) -> None:
    assert [(one.step, one.count) for one in failures(fill(workspace))] == [("probe", 4), ("fetch.listing", 3)]


def test_times_come_from_the_ledger_with_and_without_them(workspace: Workspace) -> None:
    steps, slowest = efforts(fill(workspace), slowest=3)
    assert [(one.step, one.tasks, one.timed, one.total_seconds) for one in steps] == [
        ("measure.cut_score", 12, 11, 27.5), ("old", 1, 0, 0.0),
    ]  # fmt: skip
    assert (steps[0].median_seconds, steps[0].largest_seconds, steps[0].peak_mebibytes) == (2.5, 5.0, 110.0)
    assert [(one.subject_id, one.seconds) for one in slowest] == [("c10", 5.0), ("c09", 4.5), ("c08", 4.0)]


def test_licences_with_what_is_kept(workspace: Workspace) -> None:
    fill(workspace)
    rows = licence_counts(workspace, stored_selection(workspace, Facts.of_workspace(workspace)))
    assert [(one.licence, one.sources, one.authors, one.clips, one.kept) for one in rows] == [
        (None, 2, 1, 4, 1), (EVIL, 2, 1, 4, 1), ("CC0", 2, 1, 4, 1),
    ]  # fmt: skip


def test_licences_tell_what_upstream_says_since(workspace: Workspace) -> None:
    fill(workspace)
    checks = [
        LicenceCheck(f"video {n}.mp4", "folder", status, None, "CC0", now, None, checked_at="2026-01-02T03:04:05Z")
        for n, status, now in ((0, "changed", EVIL), (3, "gone", None), (1, "same", EVIL))
    ]
    workspace.write_table("licence_checks", "recheck.folder", checks, LicenceCheck)
    rows = licence_counts(workspace, stored_selection(workspace, Facts.of_workspace(workspace)))
    assert {one.licence: one.since for one in rows} == {
        "CC0": ((f"changed to {EVIL}", 1), ("gone", 1)), EVIL: (), None: (),
    }  # fmt: skip
    html = write_funnel(workspace, workspace.path / "funnel.html").read_text()
    assert "1 changed to &lt;script&gt;" in html
    assert EVIL not in html
    check = trail(workspace, find_clip(workspace, "c00")).check
    assert check is not None
    assert check.status == "changed"


PAIRS = st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(0, 3)), min_size=1, max_size=40)


@given(PAIRS, st.lists(st.floats(-10, 10, allow_subnormal=False), max_size=2))
def test_every_clip_is_in_one_column(pairs: list[tuple[float, int]], bounds: list[float]) -> None:
    values, of = np.array([value for value, _ in pairs]), np.array([state for _, state in pairs])
    low, high = plots.axis_range(values, bounds)
    counts = plots.bin_counts(values, of, low=low, high=high)
    assert [int(row.sum()) for row in counts] == [int((of == state).sum()) for state in range(4)]
    assert all(low < bound < high for bound in bounds)


@pytest.mark.parametrize(("values", "bounds"), [([0.0], []), ([1e6, -1e6, 3.0], [0.0, -10.0]), ([2.0, 2.0, 2.5], [2.0])])
def test_every_threshold_and_column_is_drawn(values: list[float], bounds: list[float]) -> None:
    svg = plots.histogram(np.array(values), np.zeros(len(values), int), bounds=bounds, unit="u", name="n")
    assert sum(words.startswith("threshold ") for words in marks_of(svg)) == len(bounds)
    assert sum(int(n) for words in marks_of(svg) for n in re.findall(r": ([0-9]+) kept", words)) == len(values)
    assert "nan" not in svg.lower()


def test_a_long_tail_does_not_squeeze_the_rest() -> None:
    low, high = plots.axis_range(np.array([*np.linspace(0, 1, 500), 1000.0]), [])
    assert (low, high) == (0, pytest.approx(1.97, abs=0.05))


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.0, 1.0, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-0.08, 0.65, ["0.0", "0.2", "0.4", "0.6"]),
        (-1500.0, 4100.0, ["−1,000", "0", "1,000", "2,000", "3,000", "4,000"]),
    ],
)
def test_ticks_are_round_numbers(low: float, high: float, expected: list[str]) -> None:
    svg = plots.histogram(np.array([low, high]), np.zeros(2, int), bounds=[], unit="u", name="n")
    assert words_in(svg)[: len(expected)] == expected


def test_both_sides_of_a_threshold_at_the_end_can_be_seen() -> None:
    values = np.array([0.3, 0.5, 0.9])
    low, high = plots.axis_range(values, [0.3])
    assert low == pytest.approx(0.3 - 0.08 * 0.6)
    assert high == 0.9
    svg = plots.histogram(values, np.zeros(3, int), bounds=[0.3], unit="u", name="n")
    line = re.findall(r'<line aria-label="threshold 0.3"[^>]*translate\(([^,]*),', svg)
    assert [float(x) > 20 for x in line] == [True]


def test_counts_and_cut_off_tails_are_told_at_the_axes() -> None:
    values = np.array([*np.linspace(0, 1, 1200), 1000.0])
    svg = plots.histogram(values, np.zeros(len(values), int), bounds=[], unit="u", name="n")
    tallest = max(int(n.replace(",", "")) for words in marks_of(svg) for n in re.findall(r": ([0-9,]+) kept", words))
    *ticks, least, most, end = words_in(svg)
    assert (least, most) == ("0", str(tallest))
    assert end.startswith("≥ 1.9")
    assert ticks == ["0.0", "0.5", "1.0", "1.5"]


def test_a_rule_has_only_its_own_drops_in_its_colour() -> None:
    kept, waiting = np.array([True, False, False, False]), np.array([False, True, False, False])
    assert plots.states(kept, waiting).tolist() == [0, 1, 2, 2]
    assert plots.states(kept, waiting, by_own_rule=np.array([False, False, True, False])).tolist() == [0, 1, 2, 3]


def test_the_legend_tells_what_is_to_be_seen(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    legend = "kept waiting for an answer dropped threshold"
    assert legend in text_of(page_of(workspace, tmp_path))
    select_clips(workspace, RULES[:2])
    html = page_of(workspace, tmp_path)
    assert "waiting for an answer" not in html
    assert "dropped by a rule on it dropped by another rule threshold" in text_of(html)


def test_colours_and_missing_values_of_the_distributions(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    html = write_what_if(workspace, what_if(workspace, parse_rules("cut_score <= 0.9")), tmp_path / "w.html").read_text()
    drawn = html[html.index("<svg") : html.index('id="gained"')]
    told = " ".join(marks_of(drawn))
    # Of 11 clips with a cut score only the last is above; crispness drops two more, and people five.
    assert told.count("1 dropped by another rule") > 0
    assert re.findall(r"([0-9]+) dropped(?! by)", told) == ["1"]
    assert "1 clip without a value" in text_of(drawn)


def test_whole_units_are_told(workspace: Workspace, tmp_path: Path) -> None:
    unit = "0..1, part of the differences between neighbours that a box blur takes away"
    column = Facts.of_workspace(fill(workspace)).of("crispness")
    assert unit in plots.distribution(column, np.zeros(12, int), bounds=[], unit=unit, name="n").told


def test_pictures_lead_to_the_clips_wherever_the_page_lies(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    folder = tmp_path / "pages of mine" / "deep"
    html = write_funnel(workspace, folder / "page.html").read_text()
    links = {unescape(link) for link in re.findall(r'<a class="picture[^>]*href="([^"]*)"', html)}
    blobs = {row.blob for row in workspace.table("clips", Clip)}
    assert {(folder / unquote(link)).resolve().name for link in links} <= blobs
    assert all((folder / unquote(link)).is_file() for link in links)
    assert len(links) >= 10
    assert unescape(html).count(f"inpaintbench curation why {workspace.path} c00") >= 1
    ids = set(re.findall(r'<code class="id">([^<]*)</code>', html))
    assert ids <= {clip.clip_id[:10] for clip in workspace.table("clips", Clip)}
    assert len(ids) == len(links)


def test_the_numbers_add_up_for_a_reader(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    workspace.write_table("items", "pair", [], Item)
    late = [Source(f"late{n}", f"late {n}.mp4", "f" * 64, 1, "folder", "CC0", None) for n in range(2)]
    workspace.write_table("sources", "find.more", late, Source)
    html = page_of(workspace, tmp_path)
    text = text_of(html)
    assert "6 of 8 sources cut · 12 clips" in text
    assert "7 clips dropped, and a clip can have several reasons: calm" in text
    stages_drawn = re.findall(r'<li class="stage">.*?</li>', html)
    assert "in items" in stages_drawn[-1]
    assert "<i " not in stages_drawn[-1]
    assert text.count("From here on clips") == 1
    licences = text[text.index("Of the 6 sources that became clips.") :]
    assert "CC0 2 33 %" in licences


def test_the_page_says_what_happened(workspace: Workspace, tmp_path: Path) -> None:
    text = text_of(page_of(fill(workspace), tmp_path))
    assert "6 sources · 12 clips · 3 kept (25 %) · 2 waiting" in text
    assert "2 clips waiting for an answer · 7 clips dropped, and a clip can have several reasons: calm" in text
    assert f"calm {EVIL} cut_score <= 0.5" in text
    assert "cut_score 0.5833 is above 0.5" in text
    assert "cut_score has no value: too dark 1" in text
    assert "folder/video 2.mp4:10" in text
    assert "crispness >= 0.25" in text
    assert "not one of N frames decodes 4" in text
    assert "none stated 2 33 %" in text
    assert "Slowest items Item Step seconds peak MiB folder/video 5.mp4:0 measure.cut_score 5 110" in text
    assert "all rules together 6" in text


def test_pages_are_safe_and_need_no_network(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    shown = write_what_if(workspace, what_if(workspace, parse_rules("cut_score <= 0.9 and kind != plain")), tmp_path / "w.html")
    for html in (page_of(workspace, tmp_path), shown.read_text()):
        assert EVIL not in html
        assert "script-src 'sha256-" in unescape(html)
        assert not re.search(r"(?:src|href)=\"(?!#|data:|workspace/blobs/)", html)
        assert "url(http" not in html
        assert EVIL in unescape(html.replace("<wbr>", ""))


def test_the_same_workspace_gives_the_same_bytes(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    assert page_of(workspace, tmp_path) == page_of(workspace, tmp_path)


def test_a_page_of_nothing(workspace: Workspace, tmp_path: Path) -> None:
    text = text_of(page_of(workspace, tmp_path))
    for words in ("0 sources · 0 clips · 0 kept (–)", "No rule has been applied yet", "No answers of people",
                  "Nothing is measured yet", "No step has run yet", "Nothing was refused",
                  "There are no sources yet"):  # fmt: skip
        assert words in text


def test_a_lost_picture_is_said(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    shutil.rmtree(workspace.path / "blobs")
    assert "no picture" in text_of(page_of(workspace, tmp_path))


def test_the_what_if_sheet_shows_gained_and_lost(workspace: Workspace, tmp_path: Path) -> None:
    fill(workspace)
    change = what_if(workspace, parse_rules("cut_score >= 0.2 or missing"))
    text = text_of(write_what_if(workspace, change, tmp_path / "sheet.html", shown=1).read_text())
    assert "What if cut_score >= 0.2 or missing?" in text
    assert f"kept now 3 25 % of 12 kept then {int(change.then.kept.sum())}" in text
    assert f"Attribute Rule now Rule then cut_score {RULES[0].label} cut_score >= 0.2 or missing 2 other rules stay." in text
    assert "Lost 2 clips, nearest to the threshold that drops them first" in text
    assert "cut_score 0.1667 is below 0.2 folder/video 1.mp4:0 c02" in text
    assert "more, further from the threshold" in text


def test_a_browser_shows_it_whole_on_wide_and_narrow_screens(workspace: Workspace, tmp_path: Path, browser: Any) -> None:
    page_of(fill(workspace), tmp_path)
    said: list[str] = []
    for width in (1280, 400):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.on("console", lambda message: said.append(message.text))
        page.on("request", lambda request: said.append(request.url) if request.url.startswith("http") else None)
        page.goto((tmp_path / "page.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == width
        assert page.evaluate("[...document.querySelectorAll('.looks .picture')].every(p => !p.checkVisibility())")
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") == width
        # Where they do not fit, the row of links scrolls.
        links = page.evaluate(
            "[...document.querySelectorAll('nav a')].map(a => { a.focus(); return a.getBoundingClientRect().right })"
        )
        assert max(links) <= width
        assert page.evaluate("document.querySelectorAll('.up a[href=\"#top\"]').length") == len(links)
        boxes = page.evaluate("[...document.querySelectorAll('.picture')].map(p => p.getBoundingClientRect().height)")
        assert len(boxes) > 10
        assert min(boxes) > 40
    assert said == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(workspace: Workspace, tmp_path: Path, browser: Any, scheme: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    fill(workspace)
    pages = [
        write_funnel(workspace, tmp_path / "funnel.html"),
        write_what_if(workspace, what_if(workspace, parse_rules("cut_score >= 0.2 or missing")), tmp_path / "what_if.html"),
    ]
    page = browser.new_context(color_scheme=scheme, bypass_csp=True).new_page()
    for path in pages:
        page.goto(path.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
        found = axe.Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
