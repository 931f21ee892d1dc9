from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.eval.report.hand_made import dataset
from tests.eval.report.reading import cell
from tests.eval.report.set_metrics import ITEMS, SLICES, features, learned_metrics, protocol, rows, set_score

from inpaintbench.eval.analysis.means import means_of
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.report.cautions import Suspect, caution_sentences, cautions, suspects
from inpaintbench.eval.report.findings import findings
from inpaintbench.eval.report.labels import metric_label
from inpaintbench.eval.report.quantity import Quantity
from inpaintbench.eval.report.rank_table import rank_tables
from inpaintbench.eval.report.records import report_json
from inpaintbench.eval.report.score_table import score_table
from inpaintbench.eval.report.significance import leads
from inpaintbench.eval.report.tables import Results

__all__ = ["learned_metrics"]
pytestmark = pytest.mark.usefixtures("learned_metrics")
PCONS = Quantity("pcons", "hole")
METHODS = ("sharp", "good", "fair", "flat")


def results_of(
    *, pcons: tuple[float, ...], sharpness: bool = True, metrics: tuple[str, ...] = ("psnr", "lpips", "fid")
) -> Results:
    """``flat`` is last by all other metrics but the flicker, where it is first."""
    of = protocol([*metrics, "pcons", "flicker", "hole_sharpness"])
    numbers = {"psnr": (30, 29, 28, 20), "lpips": (0.1, 0.2, 0.3, 0.4), "flicker": (4, 3, 2, 1), "pcons": pcons}
    if sharpness:
        numbers["hole_sharpness"] = (0.9, 0.8, 0.7, 0.125)
    scores = [
        one
        for metric, values in numbers.items()
        if metric in of.metrics
        for one in rows(
            of, {name: dict.fromkeys(ITEMS, float(value)) for name, value in zip(METHODS, values, strict=True)}, metric
        )
    ]
    found = []
    if "fid" in metrics:
        scores += features(of, METHODS, ITEMS, "fid")
        found = [set_score(of, name, "all items", value, n=9, d=4) for name, value in zip(METHODS, (1, 2, 4, 3), strict=True)]
    return Results(dataset(SLICES), scores, protocol=of, slice_scores=found)


def test_a_flat_fill_on_top_by_pcons_is_flagged_with_its_sharpness() -> None:
    results = results_of(pcons=(30, 31, 29, 50))
    found, *in_slices = suspects(results, PCONS)
    assert [(one.method, one.slice, one.mean_place) for one in in_slices] == [("flat", "x-low", 4), ("flat", "x-high", 4)]
    assert found == Suspect("flat", "pcons", "hole", 1, pytest.approx(11 / 3), ("psnr", "lpips", "fid"), 0.125)  # type: ignore[arg-type]
    words = caution_sentences(results, PCONS)[0]
    assert "is number 1 by PCons, but 3.7 on average by PSNR, LPIPS, FID" in words
    assert "Gradients inside its holes are 0.12 times as strong" in words
    assert "The ranks are as far apart in x-low, x-high." in words
    assert words in cautions(results, PCONS)
    assert json.loads(report_json(results, [], title="T"))["steadiness_caution"][0]["method"] == "flat"


@pytest.mark.parametrize("metric", ["flicker", "warp_error", "temporal_difference"])
def test_other_metrics_of_steadiness_are_no_better_judges(metric: str) -> None:
    of = protocol(["psnr", "lpips", metric])
    numbers = {"psnr": (30, 29, 28, 20), "lpips": (0.1, 0.2, 0.3, 0.4), metric: (4, 3, 2, 1)}
    scores = [
        one
        for name, values in numbers.items()
        for one in rows(of, {key: dict.fromkeys(ITEMS, float(value)) for key, value in zip(METHODS, values, strict=True)}, name)
    ]
    results, quantity = Results(dataset(SLICES), scores, protocol=of), Quantity(metric, "hole")
    assert [(one.method, one.metric, one.place, one.mean_place) for one in suspects(results, quantity)[:1]] == [
        ("flat", metric, 1, 4)
    ]
    [words] = caution_sentences(results, quantity)
    assert words.startswith(f"flat is number 1 by {metric_label(metric)}, but 4.0 on average by PSNR, LPIPS: ")
    assert "PCons" not in words


def test_what_was_not_measured_is_not_said() -> None:
    found, *_ = suspects(results_of(pcons=(30, 31, 29, 50), sharpness=False), PCONS)
    assert found.sharpness is None
    assert "Gradients" not in " ".join(caution_sentences(results_of(pcons=(30, 31, 29, 50), sharpness=False), PCONS))


@pytest.mark.parametrize("pcons", [(50, 31, 29, 30), (50, 49, 29, 30)])
def test_ranks_that_agree_are_not_flagged(pcons: tuple[float, ...]) -> None:
    assert suspects(results_of(pcons=pcons), PCONS) == []


def test_two_places_are_enough_and_less_are_not() -> None:
    found = suspects(results_of(pcons=(50, 30, 29, 40), metrics=("psnr",)), PCONS)
    assert [(one.method, one.slice) for one in found] == [("flat", name) for name in ("all items", "x-low", "x-high")]
    found = suspects(results_of(pcons=(50, 30, 29, 40), metrics=("psnr", "lpips", "fid")), PCONS)
    assert "all items" not in [one.slice for one in found]  # 3.67 against 2


def test_only_pcons_is_judged_and_only_against_something_else() -> None:
    results = results_of(pcons=(30, 31, 29, 50))
    assert suspects(results, Quantity("psnr", "hole")) == []
    assert suspects(results_of(pcons=(30, 31, 29, 50), metrics=()), PCONS) == []


def test_a_slice_is_judged_though_all_items_together_are_not_suspicious() -> None:
    of = protocol(["psnr", "pcons"])
    # In x-low "d" is last by PSNR and first by PCons; in x-high it leads by both.
    low = {"psnr": (40, 30, 20, 10), "pcons": (10, 20, 30, 40)}
    high = {"psnr": (10, 20, 30, 90), "pcons": (10, 20, 30, 40)}
    scores = [
        one
        for metric in ("psnr", "pcons")
        for at, name in enumerate("abcd")
        for one in rows(of, {name: {i: float((low if i in SLICES["x-low"] else high)[metric][at]) for i in ITEMS}}, metric)
    ]
    results = Results(dataset(SLICES), scores, protocol=of)
    assert [(one.method, one.slice) for one in suspects(results, PCONS)] == [("d", "x-low")]
    assert "is number 1 by PCons in the slice x-low, but 4.0 on average by PSNR" in caution_sentences(results, PCONS)[0]


def test_an_analysis_repeats_the_caution_beside_the_sharpness_of_every_method() -> None:
    notes = means_of(results_of(pcons=(30, 31, 29, 50))).notes
    assert any(note.startswith("flat is number 1 by PCons, but 3.7 on average") for note in notes)
    assert any("sharp 0.90, good 0.80, fair 0.70, flat 0.12." in note for note in notes)
    quiet = means_of(results_of(pcons=(50, 49, 29, 30), sharpness=False)).notes
    assert not any("PCons" in note for note in quiet)


def test_sharpness_is_shown_and_ranks_nobody(tmp_path: Path) -> None:
    results, sharpness = results_of(pcons=(30, 31, 29, 50)), Quantity("hole_sharpness", "hole")
    assert set(results.places(results.everything, sharpness).values()) == {None}
    assert results.best(results.everything, sharpness) == set()
    assert [one.question for one in findings(results, sharpness)] == ["Measured"]
    assert results.pair_tests(sharpness) == []
    assert not any("Sharpness" in title for table in rank_tables(results) for title in table.titles)
    assert sharpness not in [lead.quantity for lead in leads(results)]
    table = score_table(results, sharpness)
    assert cell(table, "flat", "all items").text == "0.125"
    assert not any(one.strong for row in table.rows for one in row.cells)
    assert "not ranked" in str(table.caption)
    assert "hole_sharpness" not in {
        one["metric"] for one in json.loads(report_json(results, [], title="T"))["relative_improvement"]
    }
    means = means_of(results)
    write_analysis(tmp_path / "a", means)
    texts = {path.name: path.read_text() for path in (tmp_path / "a").iterdir() if path.suffix != ".pdf"}
    assert "Sharpness in the hole |" in texts["table_1.md"]
    assert "| 0.125 |" in texts["table_1.md"]
    assert "**0.9" not in texts["table_1.md"]
    assert not any("\nhole_sharpness" in texts[name] for name in ("table_2.csv", "improvement.csv"))
    assert "Sharpness" not in texts["improvement.md"].split("## ", 1)[1]
    assert "improvement-metric-hole_sharpness.svg" not in texts
