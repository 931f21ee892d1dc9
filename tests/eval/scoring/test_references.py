"""A reference method is shown on every page and in every file, and competes in none."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from tests.eval.report.hand_made import FlatMedia, dataset, score

from inpaintbench.eval.analysis.means import means_of, over_methods, places
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.findings import leads_of
from inpaintbench.eval.report.gallery import add_standouts, choose_items
from inpaintbench.eval.report.plots import difficulty_rows, sensitivity_rows
from inpaintbench.eval.report.write import write_report
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.slices import pair_slices
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.run_folder import REFERENCE, references_in, remember
from inpaintbench.types import Dataset, Score
from inpaintbench.workspace import Workspace

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR = Quantity("psnr", "frame")
LETTERS = "abcdefgh"
SLICES = {f"x-{level}": [f"{letter}{place}" for letter in LETTERS] for place, level in enumerate(("low", "high"), 1)}
ITEMS = [item for items in SLICES.values() for item in items]


def value(method: str, item: str) -> float:
    """Two methods that differ most on h1 and are worst on a1; a floor that is best by far, most of all on b2."""
    at = LETTERS.index(item[0])
    if method == "blank":
        return 90.0 if item == "b2" else 60.0 - 3 * at
    return (
        20.0 + at + 2 * (item[1] == "2") + (0.5 + 0.1 * at if method == "good" else 0.0) + 3 * (method == "good" and item == "h1")
    )


def world() -> tuple[Dataset, list[Score]]:
    rows = [score(method, item, value(method, item), region="frame") for method in ("blank", "good", "fair") for item in ITEMS]
    return dataset(SLICES, frames=2), rows


@pytest.fixture
def results() -> Results:
    return Results(*world(), protocol=CORRECTED, references={"blank", "nobody"})


def read_csv(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_blank_alone_is_a_reference_of_the_catalogue() -> None:
    assert [name for name in METHODS if METHODS.get(name).reference] == ["blank"]


def test_a_run_remembers_its_references(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "run")
    assert references_in(workspace) == frozenset()
    for label in ("blank", "mine.v2"):
        remember(workspace, label, REFERENCE, True)
    remember(workspace, "other", REFERENCE, False)
    assert references_in(workspace) == {"blank", "mine.v2"}
    remember(workspace, "blank", REFERENCE, False)
    assert references_in(workspace) == {"mine.v2"}


def test_it_is_in_no_rank_mean_test_or_choice(results: Results) -> None:
    everything = results.everything
    assert (results.methods, results.contenders, results.references) == (("good", "fair", "blank"), ("good", "fair"), ("blank",))
    assert results.places(everything, PSNR) == {"good": 1, "fair": 2, "blank": None}
    assert results.ranking(everything, PSNR) == [("good", 1), ("fair", 2)]
    assert results.best(everything, PSNR) == {"good"}
    own = [results.summary(everything, method, PSNR).mean for method in ("good", "fair")]
    assert results.difficulty(everything, PSNR).mean == pytest.approx(sum(one for one in own if one is not None) / 2)
    [test] = results.pair_tests(PSNR)
    assert {test.one, test.other} == {"good", "fair"}
    assert test.p_holm == test.p
    assert set(leads_of(results, PSNR)) == {("good", "fair"), ("fair", "good")}
    chosen = choose_items(results, PSNR, per_slice=1)
    assert chosen[0].item_id == "h1"
    labels = {label: one.item_id for one in add_standouts(results, chosen, PSNR, count=2) for label in one.labels}
    assert (labels["Hardest 1"], labels["Most disagreed 1"]) == ("a1", "h1")


def test_plots_draw_it_as_a_dashed_line_that_makes_no_scale(results: Results) -> None:
    of, rows = world()
    alone = Results(of, [row for row in rows if row.method != "blank"], protocol=CORRECTED)
    drawn = difficulty_rows(results)
    lines = [row for row in drawn if row["kind"] == "reference"]
    assert [row["told"].partition(" ")[0] for row in lines] == ["blank", "blank"]
    top = max(row["value"] for row in lines)
    assert top == min(row["value"] for row in lines) < 40  # it lies far above, so its line is at the edge, with its value
    assert lines[0]["text"].startswith("blank 49.5")
    assert lines[0]["text"].endswith("↑")
    rest = [row for row in drawn if row["kind"] != "reference"]
    assert rest == difficulty_rows(alone)
    assert max(row["value"] for row in rest) < top
    sensitive = sensitivity_rows(results)
    assert [row["method"] for row in sensitive if row["kind"] == "bar"] == ["good", "fair"] * len(pair_slices(results.slices))
    assert any(row["kind"] == "reference" and row["text"].startswith("blank") for row in sensitive)


def test_the_report_marks_it(tmp_path: Path) -> None:
    of, rows = world()
    made = write_report(
        tmp_path / "out", title="T", dataset=of, scores=rows, protocol=CORRECTED, media=FlatMedia(frames=2), references=["blank"]
    )
    page, data = made.page.read_text(), json.loads(made.data.read_text())
    assert "2 methods beside 1 reference on 16 items" in page
    assert data["references"] == ["blank"]
    summary = read_csv(made.summary.read_text())
    assert {row["place"] for row in summary if row["reference"] == "True"} == {""}
    assert {row["method"] for row in summary if row["reference"] == "True"} == {"blank"}
    tables = page[page.index('id="scores"') : page.index('id="gallery"')]
    rows = re.findall(r'<tr class="(\w*)" data-key="(\w+)"|<tr data-key="(\w+)"', tables)
    assert rows == [("", "", "good"), ("", "", "fair"), ("floor", "blank", "")]
    heads = re.findall(r'<th scope="row".*?</th>', tables)
    assert ['class="reference"' in head for head in heads] == [False, False, True]
    shares = [float(share) for share in re.findall(r'<u style="left:([\d.]+)%"', tables)]
    assert all(4 <= share <= 96 for share in shares)
    assert "blank" not in page[page.index('<table class="ranks"') : page.index('id="difficulty"')]
    pairs = page[page.index('<table class="pairs"') :]
    assert 'title="blank"' not in pairs[: pairs.index("</table>")]
    tiles = re.findall(r'title="blank".*?</div>', page[page.index('id="gallery"') : page.index('id="ranks"')], flags=re.S)
    assert tiles
    assert not any("<b>" in tile for tile in tiles)
    drawn = json.loads(re.search(r'id="page-data">(.*?)</script>', page)[1])  # type: ignore[index]
    assert (drawn["references"], [one["reference"] for one in drawn["items"]["methods"]]) == (["blank"], [False, False, True])


def test_a_report_of_references_alone_is_still_a_page(tmp_path: Path) -> None:
    of, rows = world()
    own = [row for row in rows if row.method == "blank"]
    made = write_report(
        tmp_path / "out", title="T", dataset=of, scores=own, protocol=CORRECTED, media=FlatMedia(frames=2), references=["blank"]
    )
    assert "0 methods beside 1 reference" in made.page.read_text()
    write_analysis(tmp_path / "analysis", means_of(Results(of, own, protocol=CORRECTED, references=["blank"])))


def test_the_analysis_lists_it_last_and_leaves_it_out(results: Results, tmp_path: Path) -> None:
    means = means_of(results)
    [measure] = means.measures
    assert places(means, "x-low", measure) == {"good": 1, "fair": 2, "blank": None}
    own = [means.cell("x-low", method, measure).mean for method in ("good", "fair")]
    assert over_methods(means, "x-low", measure).mean == pytest.approx(sum(one for one in own if one is not None) / 2)
    made = write_analysis(tmp_path / "out", means)
    texts = {path.name: path.read_text() for path in (made.page, *made.tables, *made.figures)}
    rows = [line.split("|")[1].strip() for line in texts["table_1.md"].splitlines() if line.startswith("| ")]
    assert rows[:6] == ["Method", "---", "good", "fair", "*Mean*", "blank (reference)"]
    assert {row["method"] for row in read_csv(texts["table_2.csv"])} == {"good", "fair"}
    for name in ("figure_3.svg", "figure_4.svg", "improvement-attribute-x.svg"):
        assert "stroke-dasharray" in texts[name]
        assert "dashed: blank" in re.sub(r"<.*?>", "", texts[name])
