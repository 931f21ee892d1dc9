"""A metric by which doing nothing is as good as a method says so, in report and analysis."""

from __future__ import annotations

import json

import pytest
from tests.eval.report.hand_made import dataset, scores

from inpaintbench.eval.analysis.means import means_of
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.write import report_json
from inpaintbench.eval.results.cautions import LEAST_EFFECT, cautions, floor_sentences, untold
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results

CORRECTED = PROTOCOLS.get("devil/corrected")
ITEMS = [f"{source}{take}" for source in "abcdefg" for take in (1, 2)]
FLOOR = {item: 10.0 + place for place, item in enumerate(ITEMS)}
SPREAD = 4.183300132670378  # standard deviation of 14 whole numbers in a row
PSNR = Quantity("psnr", "hole")


def results_of(metric: str = "psnr", **leads: float) -> Results:
    """Methods whose values are those of ``blank`` and so many of its standard deviations more."""
    values = {"blank": FLOOR, **{name: {item: FLOOR[item] + lead * SPREAD for item in ITEMS} for name, lead in leads.items()}}
    return Results(dataset({"s": ITEMS}), scores(values, metric=metric), protocol=CORRECTED, references=["blank"])


@pytest.mark.parametrize(
    ("metric", "lead", "alike", "below"),
    [
        ("psnr", LEAST_EFFECT + 0.01, (), ()),
        ("psnr", LEAST_EFFECT - 0.01, ("one",), ()),
        ("psnr", 0.0, ("one",), ()),
        ("psnr", -LEAST_EFFECT + 0.01, ("one",), ()),
        ("psnr", -LEAST_EFFECT - 0.01, (), ("one",)),
        ("mse", -LEAST_EFFECT - 0.01, (), ()),  # less is better
        ("mse", LEAST_EFFECT + 0.01, (), ("one",)),
    ],
)
def test_the_bound_is_where_it_is_said_to_be(metric: str, lead: float, alike: tuple[str], below: tuple[str]) -> None:
    found = untold(results_of(metric, one=lead), Quantity(metric, "hole"))
    assert [(one.floor, one.alike, one.below) for one in found] == ([("blank", alike, below)] if alike or below else [])


def test_report_and_analysis_say_it_in_one_sentence() -> None:
    results = results_of(close=0.001, far=2.0, worse=-1.0)
    [words] = floor_sentences(results, PSNR)
    assert words == (
        "PSNR in the hole cannot be read alone: close scores like blank, which fills nothing (means less than 0.2 standard "
        "deviations of blank’s items apart); blank scores better than worse."
    )
    assert words in cautions(results, PSNR)
    assert words in means_of(results).notes
    [entry] = json.loads(report_json(results, [], title="T"))["floor_caution"]
    assert (entry["metric"], entry["alike"], entry["below"]) == ("psnr", ["close"], ["worse"])


def test_nothing_is_said_without_a_floor_or_where_all_are_told() -> None:
    assert floor_sentences(results_of(far=2.0), PSNR) == []
    values = {"one": FLOOR, "other": FLOOR}
    assert floor_sentences(Results(dataset({"s": ITEMS}), scores(values), protocol=CORRECTED, references=["blank"]), PSNR) == []
