"""Numbers of whole slices on the page and in the files beside it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest
from tests.eval.report.hand_made import FlatMedia, dataset
from tests.eval.report.reading import cell
from tests.eval.report.set_metrics import (
    ITEMS,
    SLICES,
    WARNING,
    features,
    learned_metrics,
    protocol,
    results_with_sets,
    set_score,
)

from inpaintbench.eval.analysis.means import means_of
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.report.findings import findings
from inpaintbench.eval.report.gallery import choose_items, make_exhibits
from inpaintbench.eval.report.page import default_quantity, parts_of, render
from inpaintbench.eval.report.plots import difficulty_rows
from inpaintbench.eval.report.tables import score_table
from inpaintbench.eval.report.write import report_json, summary_csv
from inpaintbench.eval.results.cautions import cautions, set_sizes, set_warning
from inpaintbench.eval.results.quantity import Quantity, metric_label
from inpaintbench.eval.results.slices import pair_slices
from inpaintbench.eval.results.tables import Results

__all__ = ["learned_metrics"]
pytestmark = pytest.mark.usefixtures("learned_metrics")
FID, PSNR = Quantity("fid", "frame"), Quantity("psnr", "hole")


def test_each_number_has_its_sizes_beside_it_and_its_warning_in_its_note() -> None:
    table = score_table(results_with_sets(), FID)
    good, bad = (cell(table, method, "x-low") for method in ("good", "bad"))
    assert (good.text, good.strong, good.note, good.below) == ("10.000", True, "9.000 – 11.000", "N = 2, d = 1024")
    assert WARNING in good.title
    assert bad.below == "N = 2, d = 1024 · n 11 · 1 missing"
    lost = cell(table, "bad", "x-high")
    assert lost.text == "–"
    assert "only one item has features" in lost.title
    assert "N =" not in str(lost.below)
    everything = cell(table, "bad", "all items")
    assert "N = 4000, d = 1024" in str(everything.below)
    assert everything.note == ""  # no interval
    assert "One number for all items of a slice together" in str(table.caption)


def test_small_sets_are_warned_of_once_above_their_table() -> None:
    results = results_with_sets()
    assert [len(cautions(results, quantity)) for quantity in (FID, PSNR)] == [1, 0]
    [sentence] = cautions(results, FID)
    assert sentence.startswith("FID of the frame: 3 of 5 numbers come from small sets and are biased")
    assert sentence.endswith(f"The smallest: {WARNING}.")
    assert set_warning(results_with_sets(), PSNR) == ""


def test_ranks_difficulty_improvement_and_findings_know_numbers_of_slices() -> None:
    results = results_with_sets()
    low, high = results.slices
    assert results.ranking(low, FID) == [("good", 1), ("bad", 2)]
    assert results.ranking(high, FID) == [("good", 1), ("bad", None)]
    assert (results.difficulty(low, FID).mean, results.difficulty(high, FID).n) == (15, 1)
    [pair] = pair_slices(results.slices)
    assert results.improvement(pair, "good", FID) == 0.5
    rows = [row for row in difficulty_rows(results) if row["metric"] == "fid"]
    assert [row["value"] for row in rows if row["kind"] in ("mean", "few")] == [15, 5]
    assert [row["value"] for row in rows if row.get("method") == "good"] == [10, 5]
    asked = ["Strongest method", "Measured"]  # one number for many items is not told from chance
    assert [one.question for one in findings(results, FID)] == asked
    assert results.failures() == ()


def test_a_standard_error_stands_where_there_is_no_interval() -> None:
    of = protocol(["fid"])
    one = set_score(of, "m", "x-low", 10.0, interval=False, n=9, d=4, items=12, missing=0)
    results = Results(
        dataset(SLICES),
        features(of, ["m"], ITEMS, "fid"),
        protocol=of,
        slice_scores=[type(one)(**{**vars(one), "standard_error": 2.0})],
    )
    assert cell(score_table(results, FID), "m", "x-low").note == "± 2.000"


def test_sets_that_were_not_compared_say_how_they_can_be() -> None:
    of = protocol(["fid"])
    results = Results(dataset(SLICES), features(of, ["m"], ITEMS, "fid"), protocol=of)
    title = cell(score_table(results, FID), "m", "all items").title
    assert "its sets were not compared; run `inpaintbench eval run --for scores` again" in title
    assert set_sizes(results.slice_score(results.everything, "m", FID)) == (None, None)


def test_items_are_never_chosen_by_a_number_that_they_do_not_have() -> None:
    results = results_with_sets()
    assert results.quantities[0] == FID
    assert default_quantity(results) == PSNR
    of = protocol(["fid"])
    alone = Results(dataset(SLICES), features(of, ["m"], ITEMS, "fid"), protocol=of)
    assert default_quantity(alone) == FID
    assert [choice.item_id for choice in choose_items(alone, FID, per_slice=1)] == ["a1", "c1"]
    assert 'id="page-data"' in render(parts_of(alone, [], title="Sets alone"), [])


def test_tiles_show_no_number_of_a_whole_slice() -> None:
    results = results_with_sets()
    choices = choose_items(results, PSNR, per_slice=1)[:1]
    media = FlatMedia(frames=3)
    [(exhibit, _)] = make_exhibits(choices, media, methods=results.methods, rates=dict.fromkeys(ITEMS, 10.0))
    [figure] = parts_of(results, [exhibit], title="Sets")["figures"]
    assert list(figure["sheet"]["values"].values()) == [{PSNR.key: "30.00 dB"}, {PSNR.key: "20.00 dB"}]


def test_files_carry_sizes() -> None:
    results = results_with_sets()
    found = list(csv.DictReader(io.StringIO(summary_csv(results).decode())))
    by_key = {(row["slice"], row["method"], row["metric"]): row for row in found}
    row = by_key["x-low", "good", "fid"]
    assert [row[name] for name in ("mean", "standard_error", "n", "n_vectors", "dimension")] == ["10.0", "0.5", "12", "2", "1024"]
    assert row["reason"] == WARNING
    assert [by_key["x-low", "good", "psnr"][name] for name in ("n_vectors", "dimension")] == ["", ""]
    data = json.loads(report_json(results, [], title="Sets"))
    assert next(one for one in data["summary"] if one["metric"] == "fid")["dimension"] == 1024


def test_metrics_are_called_as_people_write_them() -> None:
    names = ("u_ids", "p_ids", "lpips", "ssim_gaussian_11", "temporal_difference", "warp_error")
    assert [metric_label(name) for name in names] == [
        "U-IDS", "P-IDS", "LPIPS", "SSIM gaussian 11", "Temporal difference", "Warping error"
    ]  # fmt: skip


def test_an_analysis_says_how_large_the_sets_are_and_what_small_ones_do(tmp_path: Path) -> None:
    means = means_of(results_with_sets())
    fid = means.measure("fid")
    cell = means.cell("x-low", "good", fid)
    assert (cell.n_vectors, cell.dimension, cell.warning) == (2, 1024, WARNING)
    assert means.cell("x-high", "bad", fid).warning is None
    made = write_analysis(tmp_path / "a", means)
    texts = {path.name: path.read_text() for path in (made.page, *made.tables, *made.figures)}
    found = list(csv.DictReader(io.StringIO(texts["table_1.csv"])))
    assert [(row["n_vectors"], row["dimension"], row["warning"]) for row in found[:2]] == [("2", "1024", WARNING)] * 2
    assert "| FID of the frame ↓, exploratory ‡ |" in texts["table_1.md"]
    assert "**10.000** ‡" in texts["table_1.md"]
    assert "FID of the frame ‡: N = 2, d = 1024." in texts["table_1.md"]
    assert '<p class="note">FID of the frame ‡: N = 2, d = 1024.</p>' in texts["analysis.html"]
    assert "| FID of the frame, exploratory ‡ |" in texts["improvement.md"]
    for name in ("analysis.html", "table_1.md", "table_2.md", "improvement.md"):
        assert (
            f"3 of 3 numbers from small sets and biased, so slices of unequal N do not compare; the smallest: {WARNING}"
            in texts[name]
        )
    assert "from small sets" in re.sub(r"<.*?>", " ", texts["figure_3.svg"])
