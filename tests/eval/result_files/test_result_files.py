"""Scores for others: the fields that their readers ask for, and nothing that they would misread."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from tests.eval.report.hand_made import COUNTING, SLICES, copied_slices, copied_values, dataset, scores

from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.result_files import eval_yaml, every_eval_ever, lacks, results_yaml, tasks_of
from inpaintbench.eval.results.tables import Results

CORRECTED = PROTOCOLS.get("devil/corrected")
VALUES = {"good": {"a1": 28.0, "b1": 32.0, "a2": 18.0, "c1": 22.0}, "bad": {"a1": 10.0, "b1": 10.0, "a2": 10.0, "c1": 20.0}}


@pytest.fixture(scope="module")
def results() -> Results:
    given = dataset(copied_slices(SLICES))
    for row in given.items:
        row["split"] = "test"  # type: ignore[index]
    values: Any = copied_values(VALUES)
    rows = [*scores(values), *scores(values, metric="mse"), *scores(values, metric="ssim")]
    return Results(given, rows, protocol=CORRECTED)


def test_every_eval_ever_has_direction_interval_and_all_slices(results: Results) -> None:
    told = json.loads(
        every_eval_ever(
            results, "good", organisation="A lab", relationship="third_party", repository="owner/waves", timestamp=1_767_323_045
        )
    )
    assert told["schema_version"] == "0.3.0"
    assert told["source_metadata"]["evaluator_relationship"] == "third_party"
    found = {(one["evaluation_name"], one["metric_config"]["metric_id"]): one for one in told["evaluation_results"]}
    assert len(found) == 3 * 4
    psnr = found["devil/corrected, motion-low, hole", "inpaintbench/psnr/hole"]
    assert psnr["metric_config"]["lower_is_better"] is False
    assert (psnr["metric_config"]["metric_name"], psnr["metric_config"]["metric_unit"]) == ("PSNR in the hole", "dB")
    assert psnr["score_details"]["score"] == pytest.approx(30)
    # What the schema asks for beside: both bounds, words where there are none, and what kind of model it is.
    assert (psnr["metric_config"]["min_score"], psnr["metric_config"]["max_score"]) == (0, "Infinity")
    assert found["devil/corrected, motion-low, hole", "inpaintbench/ssim/hole"]["metric_config"]["max_score"] == 1
    assert psnr["source_data"] == {"dataset_name": "hand-made", "source_type": "hf_dataset", "hf_repo": "owner/waves"}
    assert told["retrieved_timestamp"] == "1767323045"
    assert told["model_info"]["additional_details"] == {"deployment_type": "self_deployed", "model_availability": "unknown"}
    uncertainty = psnr["score_details"]["uncertainty"]
    assert uncertainty["num_samples"] == 12
    interval = uncertainty["confidence_interval"]
    assert interval["lower"] < 30 < interval["upper"]
    assert interval["confidence_level"] == 0.95
    assert found["devil/corrected, motion-low, hole", "inpaintbench/mse/hole"]["metric_config"]["lower_is_better"] is True
    with pytest.raises(InputError, match="a relationship is one of first_party, third_party"):
        every_eval_ever(results, "good", organisation="", relationship="friend", repository=None, timestamp=0)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'nobody' has no mean"):
        every_eval_ever(results, "nobody", organisation="", relationship="other", repository=None, timestamp=0)


def with_values(psnr: dict[str, float | None]) -> Results:
    given = dataset(copied_slices(SLICES))
    rows = [*scores(copied_values({"picky": psnr})), *scores(copied_values({"picky": VALUES["good"]}), metric="ssim")]
    return Results(given, rows, protocol=CORRECTED)


def test_a_value_over_some_of_the_items_is_no_number_for_the_hub() -> None:
    easy = {item: value for item, value in VALUES["good"].items() if item != "a2"}
    for found in (with_values({**easy, "a2": None}), with_values(easy)):
        # An item on which the metric cannot be measured is one that the method has other values of.
        assert lacks(found, "picky") == {}
    without = Results(dataset(copied_slices(SLICES)), scores(copied_values({"picky": easy})), protocol=CORRECTED)
    n = len(without.everything.item_ids)
    reason = f"it has no value of {n // 4} of {n} items"
    assert lacks(without, "picky")["psnr_hole"] == reason
    with pytest.raises(InputError, match=reason):
        results_yaml(without, "picky", repository="owner/waves", revision=None, date="2026-01-02")


def test_a_mean_that_leaves_infinite_values_out_is_none_either() -> None:
    rows = scores(copied_values({"half": {**VALUES["good"], "a1": math.inf}}))
    rows = [replace(row, fingerprint=COUNTING.fingerprint) for row in rows]
    found = Results(dataset(copied_slices(SLICES)), rows, protocol=COUNTING)
    assert lacks(found, "half")["psnr_hole"] == "its mean leaves 6 infinite values of 24 items out"


def test_files_for_the_hub_are_read_by_its_library_and_hold_metrics_alone_of_which_more_is_better(results: Results) -> None:
    assert [task.name for task in tasks_of(results.dataset, CORRECTED)] == ["psnr_hole", "ssim_hole"]
    told = yaml.safe_load(eval_yaml(results.dataset, CORRECTED, description='Where methods "fail": 100 %'))
    assert told["tasks"][0] == {"id": "psnr_hole", "config": "all", "split": "test"}
    assert told["description"] == 'Where methods "fail": 100 %'
    data = results_yaml(results, "good", repository="owner/waves", revision="0123abcd", date="2026-01-02")
    entries = parse_eval_result_entries(yaml.safe_load(data))
    assert [(entry.dataset_id, entry.task_id, entry.value, entry.dataset_revision, entry.date) for entry in entries] == [
        ("owner/waves", "psnr_hole", pytest.approx(25.0), "0123abcd", "2026-01-02"),
        ("owner/waves", "ssim_hole", pytest.approx(25.0), "0123abcd", "2026-01-02"),
    ]
    assert "fingerprint" in str(entries[0].notes)
    with pytest.raises(InputError, match="'nobody' has no number for the Hub of psnr_hole: it has no value of 24 of 24 items"):
        results_yaml(results, "nobody", repository="owner/waves", revision=None, date="2026-01-02")
