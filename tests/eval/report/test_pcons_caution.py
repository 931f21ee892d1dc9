from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.eval.report.hand_made import dataset
from tests.eval.report.reading import cell
from tests.eval.report.set_metrics import ITEMS, SLICES, features, learned_metrics, protocol, rows, set_score

from inpaintbench.eval.analysis.means import means_of
from inpaintbench.eval.analysis.write import write_analysis
from inpaintbench.eval.report.findings import findings, leads
from inpaintbench.eval.report.slice_tables import rank_tables
from inpaintbench.eval.report.tables import score_table
from inpaintbench.eval.report.write import report_json
from inpaintbench.eval.results.cautions import caution_sentences, cautions
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results

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


def test_a_flat_fill_on_top_by_pcons_has_no_place_and_is_told_with_its_sharpness() -> None:
    results = results_of(pcons=(30, 31, 29, 50))
    assert results.places(results.everything, PCONS) == {"sharp": 1, "good": None, "fair": 2, "flat": None}
    assert results.places(results.everything, Quantity("psnr", "hole")) == dict(zip(METHODS, (1, 2, 3, 4), strict=True))
    words = caution_sentences(results, PCONS)
    assert words[1] == (
        "flat has no place by PCons in the hole (all items, x-low, x-high): damage can better it, and sharp, which it would "
        "pass, is better by the primary quantity."
    )
    assert "sharpness inside the hole (1 = that of the truth): sharp 0.90, good 0.80, fair 0.70, flat 0.12." in words[-1]
    assert words[1] in cautions(results, PCONS)
    told = json.loads(report_json(results, [], title="T"))
    assert {one["method"] for one in told["contradictions"] if one["metric"] == "pcons"} == {"good", "flat"}
    assert set(told["diagnostic"]) == {"pcons"}


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
