"""The cards on top: what is stated, and what is not because too few items or chance stand against it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.eval.report.diagnosed import METHODS, decibels_of, paired_dataset
from tests.eval.report.hand_made import dataset, scores
from tests.eval.report.set_metrics import learned_metrics, results_with_sets

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report.findings import TOO_FEW, Finding, findings
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.pages.panels import plain

CORRECTED = PROTOCOLS.get("devil/corrected")
__all__ = ["learned_metrics"]
PSNR = Quantity("psnr", "hole")
LOW, HIGH = [f"{letter}1" for letter in "abcdef"], [f"{letter}1" for letter in "ghijkl"]
ITEMS = LOW + HIGH
SLICES = {"x-low": LOW, "x-high": HIGH}


def of(slices: dict[str, list[str]] | None = None, **methods: Callable[[int], float]) -> dict[str, Finding]:
    """The findings by their question; each method is a function of the place of an item."""
    chosen = SLICES if slices is None else slices
    items = list(dict.fromkeys(item for names in chosen.values() for item in names))
    values = {name: {item: value(ITEMS.index(item)) for item in items} for name, value in methods.items()}
    results = Results(dataset(chosen), scores(values), protocol=CORRECTED)
    return {one.question: one for one in findings(results, PSNR)}


def wave(place: int) -> float:
    return 0.1 * (place % 3)


def test_a_lead_beyond_chance_is_stated_and_one_within_it_names_both() -> None:
    best = of(good=lambda at: 30 + wave(at), bad=lambda at: 28.0)["Strongest method"]
    assert (plain(best.answer), best.told, best.basis) == ("good", True, "12 items of 12 sources")
    assert plain(best.detail).startswith("ahead by 2.0")
    assert "dB of bad, p < 0.001" in plain(best.detail)
    gaps = [1.5 if at % 3 else -2.2 for at in range(12)]
    best = of(good=lambda at: 30 + gaps[at], bad=lambda at: 30.0)["Strongest method"]
    assert plain(best.answer) == "good ≈ bad"
    assert "its lead over bad could be chance: p 0." in plain(best.detail)


def test_a_method_with_few_items_leaves_nobody_to_compare_with_and_nothing_is_best() -> None:
    values = {"whole": dict.fromkeys(ITEMS, 20.0), "begun": {ITEMS[0]: 33.0, ITEMS[1]: 33.0}}
    results = Results(dataset({"x-low": LOW, "x-high": HIGH}), scores(values), protocol=CORRECTED)
    best = {one.question: one for one in findings(results, PSNR)}["Strongest method"]
    assert (plain(best.answer), best.told) == ("Nobody to compare with", False)
    assert plain(best.detail) == "whole alone has a value for every item that any method has one for"
    assert results.best(results.everything, PSNR) == set()


def test_five_sources_tell_nothing_however_clear_it_looks() -> None:
    found = of({"x-low": LOW[:5], "x-high": HIGH[:5]}, good=lambda at: 30.0 - at, bad=lambda at: 3.0)
    assert found["Hardest slice"].answer == found["Strongest sensitivity"].answer == (TOO_FEW,)
    assert found["Hardest slice"].basis == "at most 5 items of 5 sources in a slice"
    assert plain(found["Strongest method"].answer) == "good"  # ten sources in all
    alone = of({"x-low": LOW[:5]}, good=lambda at: 30.0, bad=lambda at: 3.0)["Strongest method"]
    assert (plain(alone.answer), alone.told, alone.basis) == (TOO_FEW, False, "5 items of 5 sources")
    assert plain(alone.detail) == "telling anything from chance needs at least 6 sources"


def test_many_methods_on_few_sources_cannot_be_told_apart_and_the_reason_is_said() -> None:
    noise = np.random.default_rng(1).normal(size=(4, 6))
    many = {f"m{index}": lambda at, index=index: 30.0 - index / 8 + noise[index, at] for index in range(4)}
    best = of({"x": LOW}, **many)["Strongest method"]
    assert plain(best.answer).startswith("m0 ≈ m1 ≈ ")
    assert plain(best.answer).endswith(" …")
    assert "m1 and 2 more could be chance: p " in plain(best.detail)


def test_changes_and_slices_are_told_beside_everything_else_with_the_sizes_that_their_intervals_hold() -> None:
    found = of(one=lambda at: (30 if at < 6 else 20) + wave(at), two=lambda at: (20 if at < 6 else 19) + wave(at))
    hardest, sensitive = found["Hardest slice"], found["Strongest sensitivity"]
    assert (plain(hardest.answer), hardest.told) == ("X high", True)
    assert plain(hardest.detail).startswith("5.")
    assert "dB worse than the items outside of it, mean over methods, p < 0.001" in plain(hardest.detail)
    assert hardest.basis == sensitive.basis == "6 items of 6 sources, against 6 items of 6 sources"
    assert plain(sensitive.answer).startswith("one loses 9.")
    assert " to 10." in plain(sensitive.answer)
    found = of(one=lambda at: 20 + 5 * (at % 3), two=lambda at: 20 + 5 * (at % 3) + (at > 8))
    assert found["Hardest slice"].answer == found["Strongest sensitivity"].answer == ("No clear one",)
    assert "could be chance" in plain(found["Strongest sensitivity"].detail)


def test_a_change_between_slices_of_an_axis_is_what_its_pairs_tell() -> None:
    made, known = paired_dataset(), scores(decibels_of(METHODS))
    found = {one.question: one for one in findings(Results(made, known, protocol=CORRECTED), PSNR)}["Strongest sensitivity"]
    assert found.told
    assert plain(found.answer).startswith("temporal_median loses ")
    assert plain(found.detail).startswith("when path of the camera goes from still to fast, p ")
    assert found.basis == "6 pairs of 6 sources"
    level = scores({name: {row["item_id"]: 30.0 + at + wave(at * place) for place, row in enumerate(made.items)}
                    for at, name in enumerate(METHODS)})  # fmt: skip
    found = {one.question: one for one in findings(Results(made, level, protocol=CORRECTED), PSNR)}["Strongest sensitivity"]
    assert plain(found.answer) == "No clear one"
    assert re.search(r"could be chance: .* when (size of the hole|path of the camera) goes from ", plain(found.detail))


def test_a_slice_of_too_few_items_is_never_the_hardest() -> None:
    slices = {**SLICES, "tiny": [ITEMS[0], ITEMS[1]]}
    found = of(slices, one=lambda at: 1.0 if at < 2 else 30.0 if at < 6 else 2.0 + wave(at))
    assert plain(found["Hardest slice"].answer) != "Tiny"
    assert "Strongest method" not in found  # alone, a method has nobody to lead


def test_a_slice_that_is_harder_than_the_others_too_is_counted() -> None:
    slices = {**SLICES, "also": HIGH[:]}
    found = of(slices, one=lambda at: (30 if at < 6 else 20) + wave(at))["Hardest slice"]
    assert plain(found.detail).endswith("; so is 1 more slice")


@pytest.mark.usefixtures("learned_metrics")
def test_numbers_of_whole_sets_from_few_sources_tell_nothing() -> None:
    whole, fid = results_with_sets(), Quantity("fid", "frame")
    slices = tuple(replace(one, item_ids=one.item_ids[:2]) for one in whole.dataset.slices)
    items = tuple(row for row in whole.dataset.items if any(row["item_id"] in one.item_ids for one in slices))
    known = {row["item_id"] for row in items}
    few = Results(
        replace(whole.dataset, items=items, slices=slices), [one for one in whole.scores if one.item_id in known],
        protocol=whole.protocol, slice_scores=list(whole._slice_scores.values()),
    )  # fmt: skip
    *asked, _ = findings(few, fid)
    assert {one.told for one in asked} == {False}
    assert few.summary(few.slices[0], "good", fid)[5:8] == (None, None, None)


def test_every_card_says_what_it_rests_on() -> None:
    values = {"<one>": dict.fromkeys(ITEMS, 1.0), "two": dict.fromkeys(ITEMS, 2.0)}
    told = findings(Results(dataset(SLICES), scores(values), protocol=CORRECTED), PSNR)
    assert [one.question for one in told] == ["Strongest method", "Hardest slice", "Strongest sensitivity", "Measured"]
    assert all(one.basis for one in told)
    assert [one.basis for one in told].count("12 items of 12 sources") == 2  # of the best method and of what was measured
