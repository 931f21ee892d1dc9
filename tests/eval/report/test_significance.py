from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.eval.report.hand_made import SLICES, VALUES, dataset, score, scores
from tests.eval.report.reading import cell
from tests.eval.report.set_metrics import learned_metrics, results_with_sets

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.findings import Leads, leads
from inpaintbench.eval.report.page import parts_of, render
from inpaintbench.eval.report.write import report_json
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.values.permutation import paired
from inpaintbench.pages import Cell

CORRECTED = PROTOCOLS.get("devil/corrected")
__all__ = ["learned_metrics"]
PSNR = Quantity("psnr", "hole")


def results_of(sources: str, *, gap: float = 1.0) -> Results:
    items = [f"{source}{index}" for source in sources for index in (1, 2)]
    base = {item: 20.0 + place % 5 for place, item in enumerate(items)}
    values = {
        "worst": {item: value - gap for item, value in base.items()},
        "best": {item: value + gap + 0.01 * place for place, (item, value) in enumerate(base.items())},
        "even": {item: value + (0.5 if place % 4 < 2 else -0.5) for place, (item, value) in enumerate(base.items())},
    }
    return Results(dataset({"s": items}), scores(values), protocol=CORRECTED)


def lead(results: Results) -> Leads:
    """What the page says of the only metric."""
    [found] = leads(results)
    return found


def matrix(results: Results) -> dict[tuple[str, str], Cell]:
    """(row, column) -> cell."""
    table = lead(results).matrix
    assert table is not None
    return {(row.key, column.key): cell(table, row.key, column.key) for row in table.rows for column in table.columns[1:]}


def test_the_better_of_a_pair_carries_its_p() -> None:
    found = matrix(results_of("abcdefghijkl"))
    assert str(found["best", "worst"].below).startswith("▲ better, p ")
    assert str(found["worst", "best"].below).startswith("▼ worse, p ")
    assert str(found["best", "even"].below).startswith("▲ better, p ")
    assert (found["best", "worst"].strong, found["worst", "best"].strong) == (True, False)
    assert (found["even", "worst"].text, found["worst", "even"].text) == ("+1.00", "−1.00")
    assert len(found) == 9
    assert lead(results_of("abcdefghijkl")).note == "24 items of 12 sources with finite values of both methods."
    assert str(found["best", "worst"].title).startswith("best less worst: +2.12 dB; p ")
    assert str(found["best", "worst"].title).endswith("; 24 items of 12 sources")


def test_it_is_the_test_of_all_items_by_source() -> None:
    results = results_of("abcdefg")
    values = {method: [results.value(method, item, PSNR) for item in results.sources] for method in results.methods}
    assert results.pair_tests(PSNR) == paired(values, list(results.sources.values()), higher_is_better=True, seed=0)
    data = json.loads(report_json(results, [], title="T"))["significance"]
    assert len(data) == 3
    assert {"metric", "region", "one", "other", "difference", "p", "p_holm", "n", "n_sources", "least_p", "reason",
            "n_infinite", "interval_low", "interval_high", "p_corrected"} == set(data[0])  # fmt: skip


def test_too_few_sources_are_said() -> None:
    few = lead(Results(dataset(SLICES), scores(VALUES), protocol=CORRECTED))
    assert "3 sources: an interval, rank or lead needs at least 6" in few.note
    assert few.matrix is None
    six = results_of("abcdef", gap=0.1)
    assert not any(one.strong or "▲" in str(one.below) for one in matrix(six).values())
    assert str(matrix(six)["best", "even"].below).startswith("not told apart, p")


def test_one_method_has_no_section() -> None:
    results = Results(dataset({"s": ["a1", "b1"]}), scores({"m": {"a1": 1.0, "b1": 2.0}}), protocol=CORRECTED)
    assert leads(results) == []
    assert 'id="significance"' not in render(parts_of(results, [], title="One"), [])


@pytest.mark.usefixtures("learned_metrics")
def test_numbers_of_sets_are_not_tested() -> None:
    results = results_with_sets()
    assert results.pair_tests(Quantity("fid", "frame")) == []
    [fid] = [one for one in leads(results) if one.quantity.of_sets]
    assert fid.matrix is None
    assert "cannot be tested item by item" in fid.note
    assert "where there is no interval, nothing tells a lead from chance" in fid.note


def test_items_weigh_as_in_the_means() -> None:
    by_frames = CORRECTED.model_copy(update={"averaging": "all_frames"})
    items = [f"{source}1" for source in "abcdefgh"]
    scores_of = [
        replace(score("one" if lead else "two", item, lead * (9.0 if at == 0 else 1.0)), protocol=by_frames.name,
                fingerprint=by_frames.fingerprint, details={"frames": 92 if at == 0 else 1})
        for lead in (1, 0) for at, item in enumerate(items)
    ]  # fmt: skip
    results = Results(dataset({"s": items}), scores_of, protocol=by_frames)
    [test] = results.pair_tests(PSNR)
    means = [results.summary(results.everything, method, PSNR).mean for method in ("one", "two")]
    assert test.difference == pytest.approx(means[0] - means[1]) == pytest.approx((92 * 9 + 7) / 99)
    assert "Items weigh by their frames, as in the means." in lead(results).note


def test_items_left_out_for_an_infinite_value_are_told() -> None:
    items = [f"{source}1" for source in "abcdefgh"]
    values = {"a": {item: 20.0 + at for at, item in enumerate(items)}, "b": dict.fromkeys(items, 10.0)}
    values["a"][items[0]] = float("inf")
    results = Results(dataset({"s": items}), scores(values), protocol=CORRECTED)
    [test] = results.pair_tests(PSNR)
    assert (test.n, test.n_infinite) == (7, 1)
    assert "1 item of a pair left out for an infinite value." in lead(results).note
