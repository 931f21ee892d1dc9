from __future__ import annotations

import dataclasses
import math

import pytest
from tests.eval.report.hand_made import (
    COUNTING,
    FINGERPRINT,
    SLICES,
    VALUES,
    copied_slices,
    copied_values,
    counting,
    dataset,
    score,
    scores,
)

from inpaintbench.errors import InputError
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import notes
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.slices import group_slices, in_reading_order, pair_slices, split_level
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Slice

AS_PUBLISHED = PROTOCOLS.get("devil/as-published")
CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR = Quantity("psnr", "hole")


@pytest.fixture
def results() -> Results:
    return Results(dataset(SLICES), scores(VALUES), protocol=CORRECTED)


@pytest.fixture
def claiming() -> Results:
    """The same with six sources at least in every slice."""
    return Results(dataset(copied_slices(SLICES)), scores(copied_values(VALUES)), protocol=CORRECTED)


def test_means_and_counts_of_a_slice(results: Results) -> None:
    low, high, night = results.slices
    assert results.summary(low, "good", PSNR).mean == 30
    assert results.summary(high, "bad", PSNR).mean == 15
    assert results.summary(night, "good", PSNR)[:5] == (25, 2, 0, 0, 2)
    assert results.summary(results.everything, "good", PSNR).mean == 25
    odd = results.summary(results.everything, "odd", PSNR)
    assert (odd.mean, odd.n, odd.n_infinite, odd.n_missing) == (math.inf, 2, 2, 2)
    left_out = Results(dataset(SLICES), counting(scores(VALUES)), protocol=COUNTING)
    odd = left_out.summary(left_out.everything, "odd", PSNR)
    assert (odd.mean, odd.n, odd.n_infinite, odd.n_missing) == (None, 0, 2, 2)


def test_the_slice_of_all_items_is_not_told_twice() -> None:
    with_all = Results(dataset({"all": ["a1", "b1", "a2", "c1"], **SLICES}), scores(VALUES), protocol=CORRECTED)
    assert [one.name for one in with_all.slices] == list(SLICES)
    alone = Results(dataset({"all": ["a1", "b1", "a2", "c1"]}), scores(VALUES), protocol=CORRECTED)
    assert [one.name for one in alone.slices] == ["all"]


def test_intervals_are_over_sources_and_take_six(results: Results, claiming: Results) -> None:
    both_from_a = Slice("pair", "", ("a1", "a2"))
    assert results.summary(both_from_a, "good", PSNR).interval_low is None
    assert results.summary(results.slices[0], "good", PSNR).interval_low is None
    found = claiming.summary(claiming.slices[0], "good", PSNR)
    assert (found.mean, found.n_clusters) == (30, 7)
    assert found.interval_low is not None
    assert found.interval_low < 30


def test_what_a_benchmark_never_splits_is_one_source() -> None:
    """Impressions of one finger are files of their own, and no independent evidence."""
    made = dataset({"s": ["a1", "b1", "c1", "d1"]})
    groups = {"a1": "finger 1", "b1": "finger 1", "c1": "finger 2", "d1": None}
    items = tuple({**row, "attributes": {"split_group": groups[row["item_id"]]}} for row in made.items)
    values = {"m": {"a1": 1.0, "b1": 2.0, "c1": 3.0, "d1": 4.0}}
    results = Results(dataclasses.replace(made, items=items), scores(values), protocol=CORRECTED)
    assert results.sources == {"a1": "finger 1", "b1": "finger 1", "c1": "finger 2", "d1": "d"}
    assert results.summary(results.everything, "m", PSNR).n_clusters == 3
    one_finger = Slice("pair", "", ("a1", "b1"))
    assert results.summary(one_finger, "m", PSNR).interval_low is None


def test_slices_outside_pairs_are_grouped_by_attribute() -> None:
    names = ("class-arch", "x-high", "moisture-dry", "class-left_loop", "x-low", "night", "strength-0-30", "lone-low", "-odd")
    groups = group_slices([Slice(name, "", ("a1",)) for name in names])
    assert [(group.attribute, group.values) for group in groups] == [
        ("class", ("arch", "left_loop")),
        ("moisture", ("dry",)),
        ("night", (None,)),
        ("strength", ("0-30",)),
        ("lone", ("low",)),
        ("-odd", (None,)),
    ]
    assert [one.name for one in groups[0].slices] == ["class-arch", "class-left_loop"]


def test_infinite_means_are_best_and_missing_ones_have_no_place(claiming: Results) -> None:
    low, high, _ = claiming.slices
    assert claiming.ranking(low, PSNR) == [("odd", 1), ("good", 2), ("bad", 3)]
    assert claiming.ranking(high, PSNR) == [("good", 1), ("bad", 2), ("odd", None)]


def test_with_too_few_sources_for_places_methods_stand_by_their_means() -> None:
    crashed, part, good, bad = "a crashed", "b of few items", "good", "bad"
    items = ["a1", "a2", "b1", "b2"]
    values = {bad: dict.fromkeys(items, 10.0), good: dict.fromkeys(items, 20.0), part: {"a1": 30.0}, crashed: {"a1": None}}
    results = Results(dataset({"s": items}), scores(values), protocol=CORRECTED)
    assert results.ranking(results.everything, PSNR) == [(good, None), (bad, None), (part, None), (crashed, None)]
    lower = Results(dataset({"s": items}), scores(values, metric="mse"), protocol=CORRECTED)
    assert [method for method, _ in lower.ranking(lower.everything, Quantity("mse", "hole"))] == [bad, good, part, crashed]


def test_ties_share_a_place_and_lower_is_better_for_errors() -> None:
    items = [f"{source}1" for source in "abcdefgh"]  # six sources and three methods could tell nobody from the best
    values = {name: dict.fromkeys(items, value) for name, value in (("one", 0.2), ("two", 0.1), ("three", 0.1))}
    results = Results(dataset({"s": items}), scores(values, metric="mse"), protocol=CORRECTED)
    assert results.ranking(results.slices[0], Quantity("mse", "hole")) == [("two", 1), ("three", 1), ("one", 3)]


def test_difficulty_is_the_mean_over_methods_with_their_standard_error(results: Results, claiming: Results) -> None:
    low, high, _ = results.slices
    assert results.difficulty(low, PSNR).mean == 20  # of 30 and 10; the infinite mean is not one
    assert results.difficulty(low, PSNR).standard_error is None
    assert claiming.difficulty(claiming.slices[0], PSNR).standard_error == pytest.approx(math.sqrt(200) / math.sqrt(2))
    assert results.difficulty(high, PSNR).n == 2


def test_relative_improvement(results: Results) -> None:
    (pair,) = pair_slices(results.slices)
    assert results.improvement(pair, "good", PSNR) == pytest.approx(-1 / 3)
    assert results.improvement(pair, "bad", PSNR) == pytest.approx(0.5)
    assert results.improvement(pair, "odd", PSNR) is None


def test_relative_improvement_is_negated_where_lower_is_better() -> None:
    values = {"one": {"a1": 0.1, "b1": 0.2}}
    results = Results(dataset({"x-low": ["a1"], "x-high": ["b1"]}), scores(values, metric="mse"), protocol=CORRECTED)
    assert results.improvement(pair_slices(results.slices)[0], "one", Quantity("mse", "hole")) == pytest.approx(-1)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("camera_motion-low", ("camera_motion", "low")),
        ("fast-water-high", ("fast-water", "high")),
        ("night", ("night", None)),
        ("below-zero", ("below-zero", None)),
        ("-low", ("-low", None)),
    ],
)
def test_levels_are_read_from_names(name: str, expected: tuple[str, str | None]) -> None:
    assert split_level(name) == expected


def test_pairs_need_both_levels_and_come_low_first() -> None:
    slices = [Slice(name, "", ("a1",)) for name in ("x-high", "lone-low", "night", "x-low")]
    assert [one.name for one in in_reading_order(slices)] == ["x-low", "x-high", "lone-low", "night"]


def test_the_hole_comes_first_and_metrics_in_the_order_of_the_protocol() -> None:
    rows = [
        *scores({"m": {"a1": 1.0}}, metric="mse", region="frame"),
        *scores({"m": {"a1": 1.0}}, region="frame"),
        *scores({"m": {"a1": 1.0}}, region="hole"),
    ]
    results = Results(dataset({"s": ["a1"]}), rows, protocol=CORRECTED)
    assert results.quantities == (("psnr", "hole"), ("psnr", "frame"), ("mse", "frame"))


def test_failures_name_method_item_and_reason_and_gather_metrics() -> None:
    rows = [*scores({"m": {"a1": 1.0, "b1": None}}), *scores({"m": {"a1": 1.0, "b1": None}}, metric="ssim")]
    rows += scores({"other": {"a1": 2.0}})
    failures = Results(dataset({"s": ["a1", "b1"]}), rows, protocol=CORRECTED).failures()
    both = (Quantity("psnr", "hole"), Quantity("ssim", "hole"))
    assert failures == (
        ("m", "b1", "the program ended with status 3", both),
        ("other", "a1", "not scored", (Quantity("ssim", "hole"),)),
        ("other", "b1", "not scored", both),
    )


def test_a_slice_without_items_is_no_row() -> None:
    results = Results(dataset({"s": ["a1"], "empty": []}), scores({"m": {"a1": 1.0}}), protocol=CORRECTED)
    assert [one.name for one in results.slices] == ["s"]


def test_fingerprints_are_not_mixed() -> None:
    rows = scores({"m": {"a1": 1.0, "b1": 2.0}})
    rows[1] = dataclasses.replace(rows[1], protocol="devil/as-published", fingerprint="0123456789ab")
    with pytest.raises(InputError, match=rf"devil/corrected \({CORRECTED.fingerprint}\).*devil/as-published \(0123456789ab\)"):
        Results(dataset({"s": ["a1", "b1"]}), rows, protocol=CORRECTED)


def test_scores_of_another_protocol_than_the_one_given_are_refused() -> None:
    with pytest.raises(InputError, match=r"devil/corrected .*devil/as-published"):
        Results(dataset({"s": ["a1"]}), scores({"m": {"a1": 1.0}}), protocol=AS_PUBLISHED)


def test_scores_that_cannot_be_reported() -> None:
    with pytest.raises(InputError, match="no scores"):
        Results(dataset({"s": ["a1"]}), [], protocol=CORRECTED)
    with pytest.raises(InputError, match="item 'z9', which is not in the dataset"):
        Results(dataset({"s": ["a1"]}), [score("m", "z9", 1.0)], protocol=CORRECTED)
    with pytest.raises(InputError, match=r"two different scores of m on item 'a1': psnr \(hole\): 1.0 and 2.0"):
        Results(dataset({"s": ["a1"]}), [score("m", "a1", 1.0), score("m", "a1", 2.0)], protocol=CORRECTED)
    with pytest.raises(InputError, match="has no metric 'niqe', only psnr"):
        Results(dataset({"s": ["a1"]}), [score("m", "a1", 1.0, metric="niqe")], protocol=CORRECTED)


def test_the_same_score_twice_is_one_score() -> None:
    results = Results(dataset({"s": ["a1"]}), [score("m", "a1", 1.0)] * 2, protocol=CORRECTED)
    assert results.summary(results.slices[0], "m", PSNR).n == 1


@pytest.mark.parametrize("mark", ["", "+bf16", "+tf32"])
def test_random_weights_are_refused_and_other_marks_are_not(mark: str) -> None:
    rows = [dataclasses.replace(one, fingerprint=FINGERPRINT + mark) for one in scores({"m": {"a1": 1.0}})]
    assert Results(dataset({"s": ["a1"]}), rows, protocol=CORRECTED).fingerprint == FINGERPRINT + mark
    made_up = [dataclasses.replace(one, fingerprint=f"{one.fingerprint}+random-weights-3") for one in rows]
    with pytest.raises(InputError, match="made with random weights, which say nothing of a method"):
        Results(dataset({"s": ["a1"]}), made_up, protocol=CORRECTED)


def test_scores_in_different_precision_are_not_mixed() -> None:
    rows = scores({"m": {"a1": 1.0, "b1": 2.0}})
    rows[1] = dataclasses.replace(rows[1], fingerprint=f"{FINGERPRINT}+bf16")
    with pytest.raises(InputError, match=rf"\({FINGERPRINT}\) and devil/corrected \({FINGERPRINT}\+bf16\) cannot stand in one"):
        Results(dataset({"s": ["a1", "b1"]}), rows, protocol=CORRECTED)


def test_what_nobody_was_measured_on_is_told_apart_from_failures() -> None:
    rows = scores({"m": {"a1": 1.0, "b1": None}, "other": {"a1": 1.0, "b1": 2.0}})
    values = {method: dict.fromkeys(("a1", "b1")) for method in ("m", "other")}
    lost = [dataclasses.replace(one, reason="weights missing") for one in scores(values, metric="ssim", region="frame")]
    lost[0] = dataclasses.replace(lost[0], reason="the program ended with status 3")  # the reason of most counts
    results = Results(dataset({"s": ["a1", "b1"]}), rows + lost, protocol=CORRECTED)
    assert results.quantities == (PSNR,)
    assert results.unmeasured == {("ssim", "frame"): "weights missing"}
    assert [failure.item_id for failure in results.failures()] == ["b1"]


def test_where_nothing_at_all_was_measured_everything_stays_in_the_tables() -> None:
    results = Results(dataset({"s": ["a1"]}), scores({"m": {"a1": None}}), protocol=CORRECTED)
    assert results.quantities == (PSNR,)
    assert results.unmeasured == {}


def test_where_a_protocol_counts_frames_long_items_count_more() -> None:
    by_frames = CORRECTED.model_copy(update={"averaging": "all_frames"})
    frames = {"a1": 3, "b1": 1}
    rows = [
        dataclasses.replace(one, fingerprint=by_frames.fingerprint, details={"frames": frames[one.item_id]})
        for one in scores({"m": {"a1": 10.0, "b1": 20.0}})
    ]
    results = Results(dataset({"s": ["a1", "b1"]}), rows, protocol=by_frames)
    assert results.summary(results.everything, "m", PSNR).mean == 12.5
    assert "<dt>Mean</dt><dd><p>Every frame of every item counts the same." in notes.reading_notes(results)
