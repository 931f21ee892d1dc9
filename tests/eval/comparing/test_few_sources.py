"""Whatever is said beside a mean: nothing with five sources, all of it with six, on every page and in every file."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.eval.report.hand_made import FlatMedia, dataset, score

import inpaintbench
from inpaintbench.eval.analysis.means import means_of
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.slice_tables import rank_tables, ranks_lead
from inpaintbench.eval.report.two_methods import compare, csv_bytes, markdown, text_rows
from inpaintbench.eval.report.write import write_report
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Dataset, Score, Slice

CORRECTED = PROTOCOLS.get("devil/corrected")
METHODS = {"good": 30.0, "fair": 25.0, "bad": 20.0}
WORDS = "5 sources: an interval, rank or lead needs at least 6"


def world(sources: int) -> tuple[Dataset, list[Score]]:
    """Two items a source, one in each slice of a pair; every item tells the methods apart."""
    letters = "abcdefgh"[:sources]
    slices = {f"x-{level}": [f"{letter}{place}" for letter in letters] for place, level in enumerate(("low", "high"), 1)}
    rows = [
        score(method, item, value + 0.1 * at + 2 * place, metric=metric, region=region)
        for region in ("hole", "frame") for metric in ("psnr", "ssim") for method, value in METHODS.items()
        for place, items in enumerate(slices.values()) for at, item in enumerate(items)
    ]  # fmt: skip
    return dataset(slices, frames=2), rows


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def told(rows: list[dict[str, str]], *columns: str) -> set[str]:
    """What stands in some columns, wherever it stands."""
    return {row[column] for row in rows for column in columns}


@pytest.mark.parametrize("sources", [5, 6])
def test_the_report(sources: int, tmp_path: Path) -> None:
    of, rows = world(sources)
    made = write_report(tmp_path / "out", title="T", dataset=of, scores=rows, protocol=CORRECTED, media=FlatMedia(frames=2))
    page, data = made.page.read_text(), json.loads(made.data.read_text())
    summary, few = read_csv(made.summary.read_text()), sources == 5
    assert (told(summary, "standard_error", "interval_low", "interval_high", "interval", "place") == {""}) == few
    assert (told(summary, "reason") == {WORDS}) == few
    assert {row["mean"] for row in summary if row["slice"] == "x-low"} != {""}
    tables = page[page.index('id="scores"') : page.index('id="gallery"')]
    assert ("<b>" not in tables) == (not re.search(r"class=\"[^\"]*\bbest\b", tables)) == few
    assert (re.search(r"<small>[\d.]+ – [\d.]+</small>", tables) is None) == few
    tiles = page[page.index('id="gallery"') : page.index('id="ranks"')]
    assert re.search(r'class="value"[^>]*><b>', tiles) is None  # one item tells nobody from anybody
    ranks = page[page.index('id="ranks"') : page.index('id="difficulty"')]
    assert (ranks.count("Nothing is ranked: no slice has the 6 sources that a rank needs.") == 1) == ("<li" not in ranks) == few
    assert "not ranked" not in ranks.replace("sources: not ranked", "")
    assert ('<table class="pairs"' not in page) == few
    assert all(test["p"] is None and test["interval_low"] is None for test in data["significance"]) == few
    assert ({one["standard_error"] for one in data["difficulty"]} == {None}) == few
    assert (f"The items come from {WORDS}" in page) == few
    assert page.count("Hollow points: fewer than 6 sources") == 2 * few  # difficulty, sensitivity
    drawn = json.loads(re.search(r'id="page-data">(.*?)</script>', page)[1])  # type: ignore[index]
    assert drawn["items"]["bold"] != few
    assert {row["kind"] for row in drawn["rows"]["difficulty"]} == ({"few", "few method"} if few else {"mean", "method"})
    assert {row["kind"] for row in drawn["rows"]["sensitivity"]} == {"few" if few else "bar"}
    cards = re.findall(r'<p class="answer( untold)?">', page[page.index('class="cards"') : page.index('id="scores"')])
    assert (cards.count("") == 4) == few  # what was measured, of four quantities


def test_slices_of_few_sources_are_named_once_and_fill_no_rows_of_the_rank_tables() -> None:
    of, rows = world(6)
    few = Slice("few", "x = 3", tuple(of.slices[0].item_ids[:2]))
    low, high = (
        Slice(f"y-{one.name[2:]}", one.rule, tuple(one.item_ids[:size])) for one, size in zip(of.slices, (6, 2), strict=True)
    )
    results = Results(replace(of, slices=(*of.slices, low, high, few)), rows, protocol=CORRECTED)
    assert ranks_lead(results).endswith(" 2 slices of fewer than 6 sources: not ranked.")
    tables = rank_tables(results)
    assert [table.region for table in tables] == ["hole", "frame"]
    assert [len(table.titles) for table in tables] == [2, 2]
    for table in tables:
        assert [(row.attribute, row.paired) for row in table.rows] == [("X", True), ("Y", True)]
        x, y = ([{ranked.reason for ranked in part} for part in row.slices] for row in table.rows)
        assert x == [{""}, {""}]
        assert y == [{""}, {"2 sources: an interval, rank or lead needs at least 6"}]
        assert [ranked.entries for ranked in table.rows[1].slices[1]] == [(), ()]


@pytest.mark.parametrize("sources", [5, 6])
def test_the_analysis(sources: int, tmp_path: Path) -> None:
    of, rows = world(sources)
    made = write_analysis(tmp_path / "out", means_of(Results(of, rows, protocol=CORRECTED)))
    texts, few = {path.name: path.read_text() for path in (made.page, *made.tables, *made.figures)}, sources == 5
    assert (told(read_csv(texts["table_1.csv"]), "standard_error", "place") == {""}) == few
    assert (told(read_csv(texts["table_2.csv"]), "place") == {""}) == few
    for name in ("figure_3.csv", "figure_4.csv"):
        assert (told(read_csv(texts[name]), "standard_error") == {""}) == few
    assert ("**" not in texts["table_1.md"]) == few
    assert ("<b>" not in texts["analysis.html"]) == few
    for name in ("figure_3.svg", "figure_4.svg", "improvement-attribute-x.svg", "improvement-metric-psnr.svg"):
        assert ("Hollow: fewer than 6 sources" in re.sub(r"\s+", " ", re.sub(r"<.*?>", " ", texts[name]))) == few
        assert ('aria-roledescription="point"' in texts[name]) == few  # hollow ones, where bars and dots are else
    assert ("Means alone, unranked, of the slices of few sources" in texts["table_1.md"]) == few


@pytest.mark.parametrize("sources", [5, 6])
def test_the_comparison_of_two_methods(sources: int) -> None:
    results = Results(*world(sources), protocol=CORRECTED)
    rows = compare(results, "good", "bad", quantities=results.quantities, slices=[results.everything, *results.slices])
    few = sources == 5
    assert all(row.interval_low is None and row.p is None for row in rows) == few
    assert (told(read_csv(csv_bytes(rows, one="good", other="bad").decode()), "interval_low", "p") == {""}) == few
    # Corrected over the slices, six sources tell nothing; over all items alone they do.
    whole = compare(results, "good", "bad", quantities=results.quantities, slices=[results.everything])
    assert ({row.better for row in whole} == {0}) == few
    assert ("*" not in "".join(cell for row in text_rows(whole)[0] for cell in row)) == few
    assert (told(read_csv(csv_bytes(whole, one="good", other="bad").decode()), "better") == {""}) == few
    assert (WORDS in markdown(rows, one="good", other="bad", results=results)) == few


def test_no_other_number_of_sources_decides() -> None:
    """A second threshold would let one surface claim what another does not."""
    root = Path(inpaintbench.__file__).parent
    deciding = re.compile(r"(n_sources|n_clusters|FEWEST_SOURCES|len\(set\((sources|clusters)\)\))\s*(<|>|<=|>=|==)\s*[2-9A-Z]")
    found = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in sorted((root / "eval").rglob("*.py")) for line in path.read_text().splitlines() if deciding.search(line)
    ]  # fmt: skip
    assert [
        line for line in found if "MOST_ENUMERATED_SOURCES" not in line
    ] == []  # how many signs are enumerated decides nothing
