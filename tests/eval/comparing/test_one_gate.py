"""One gate for every page: who may have a place, who is bold, whose numbers enter means over methods."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

import pytest
from tests.eval.report.hand_made import COUNTING, dataset, score

from inpaintbench.eval.analysis import write
from inpaintbench.eval.analysis.means import best as best_of_analysis
from inpaintbench.eval.analysis.means import means_of, over_methods
from inpaintbench.eval.analysis.means import places as places_of_analysis
from inpaintbench.eval.analysis.write import difficulty_figure
from inpaintbench.eval.comparing.ranking import RunStandings, ranked_quantities
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.report.findings import SENSITIVITY, findings
from inpaintbench.eval.report.slice_tables import rank_tables
from inpaintbench.eval.report.tables import score_table
from inpaintbench.eval.report.two_methods import compare
from inpaintbench.eval.report.write import summary_rows
from inpaintbench.eval.results.cautions import cautions
from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.slices import pair_slices
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Slice, SliceScore

CORRECTED = PROTOCOLS.get("devil/corrected")
PSNR, KID = Quantity("psnr", "hole"), Quantity("kid", "frame")
LETTERS = "abcdefghijkl"
LOW, HIGH = ([f"{letter}{place}" for letter in LETTERS] for place in (1, 2))
DATA = dataset({"x-low": LOW, "x-high": HIGH})

Values = Mapping[str, Mapping[str, float | None]]


def even(level: float, *, without: str = "") -> dict[str, float | None]:
    """A value for each item, the first sources' far easier; none for the sources in ``without``."""
    return {
        item: None if item[0] in without else level + (20.0 if item[0] < "g" else 0.0) + at / 10
        for at, item in enumerate(LOW + HIGH)
    }


def results_of(values: Values, *, protocol: Protocol = CORRECTED, references: tuple[str, ...] = ()) -> Results:
    rows = [
        replace(score(method, item, value), protocol=protocol.name, fingerprint=protocol.fingerprint)
        for method, by_item in values.items() for item, value in by_item.items()
    ]  # fmt: skip
    return Results(DATA, rows, protocol=protocol, references=references)


def of_sets(items: Mapping[str, tuple[float, str]]) -> Results:
    """Method -> value of each set, and the letters of the sources whose items are in it."""
    rows, sets = [], []
    for method, (value, letters) in items.items():
        for item in LOW + HIGH:
            there = "f" if item[0] in letters else None
            row = score(method, item, None, metric="kid", region="frame")
            rows.append(replace(row, reason=None if there else "lost", features=there, truth_features=there))
        for name in ("x-low", "x-high", "all items"):
            n = len(letters) * (2 if name == "all items" else 1)
            details = {"n": 20 * n, "d": 2048, "items": n, "missing": 0}
            sets.append(
                SliceScore(
                    method, name, "kid", "frame", CORRECTED.name, CORRECTED.fingerprint, value, None, None, None, None, details
                )
            )
    return Results(DATA, rows, protocol=CORRECTED, slice_scores=sets)


class Told(NamedTuple):
    """What one page says of a column: places, and who is bold."""

    places: dict[str, int | None]
    best: set[str]


PAGES_OF_OTHERS: dict[str, Callable[[Results, Slice, Quantity], Told]] = {}
"""Page -> what it says of one slice: those that wings make, in their tests."""


def pages(results: Results, quantity: Quantity, name: str) -> dict[str, Told]:
    """What each page says of one slice."""
    part = next(one for one in results.slices if one.name == name)
    means, found = means_of(results), {}
    measure = means.measure(quantity.metric)
    standings = RunStandings(results, part, [quantity]).standings
    [row] = [row for table in rank_tables(results) for row in table.rows]
    [listed] = [ranked for lists in row.slices for ranked in lists if ranked.rule == part.rule]
    table = score_table(results, quantity)
    at = [column.key for column in table.columns].index(name)
    strong = {row.key for row in table.rows if row.cells[at].strong}
    csv_places = {
        (row["slice"], row["method"]): int(row["place"]) if row["place"] else None
        for row in csv.DictReader(io.StringIO(write.table_1_csv(means).decode()))
    }
    section = re.search(rf"## X, {name[2:]}\n(.*?)(?=\n## |\Z)", write.table_1_markdown(means).decode(), re.DOTALL)
    bold = {line.split(" | ")[0].removeprefix("| ") for line in section[1].splitlines() if "**" in line} if section else set()
    summary = {
        row["method"]: row["place"]
        for row in summary_rows(results) if (row["slice"], row["metric"]) == (name, quantity.metric)
    }  # fmt: skip
    found["report"] = Told(results.places(part, quantity), results.best(part, quantity))
    found["summary and score table"] = Told(summary, strong)
    found["ranks"] = Told(
        dict.fromkeys(results.references) | {one.method: one.place for one in listed.entries},
        {one.method for one in listed.entries if one.first},
    )
    found["analysis"] = Told(places_of_analysis(means, name, measure), best_of_analysis(means, name, measure))
    found["table 1"] = Told({method: csv_places[name, method] for method in results.methods}, bold)
    found["rank"] = Told({one.method: one.places[0] for one in standings}, results.best(part, quantity))
    return found | {page: told(results, part, quantity) for page, told in PAGES_OF_OTHERS.items()}


def same_everywhere(results: Results, quantity: Quantity = PSNR, *, name: str = "x-low") -> Told:
    """What all pages say."""
    found = pages(results, quantity, name)
    assert {page: told for page, told in found.items() if told != found["report"]} == {}
    return found["report"]


@pytest.mark.parametrize("name", ["x-low", "x-high"])
def test_whoever_leaves_out_the_hard_half_has_no_place_on_any_page(name: str) -> None:
    results = results_of({"honest": even(20.0), "worse": even(19.0), "picky": even(17.0, without="ghijkl")})
    told = same_everywhere(results, name=name)
    assert told == Told({"honest": 1, "worse": 2, "picky": None}, {"honest"})
    part = pair_slices(results.slices)[0].low
    assert results.level(part, "picky", PSNR) > results.level(part, "honest", PSNR)  # what it would have won by


def test_whoever_is_alone_is_bold_on_no_page() -> None:
    told = same_everywhere(results_of({"honest": even(20.0), "picky": even(17.0, without="ghijkl")}))
    assert told == Told({"honest": 1, "picky": None}, set())
    alone = results_of({"honest": even(20.0), "floor": even(10.0)}, references=("floor",))
    assert same_everywhere(alone) == Told({"honest": 1, "floor": None}, set())


def test_one_item_is_not_forgiven() -> None:
    """Equal methods, of which two lack the hardest item of many: neither gains by that."""
    values = even(20.0)
    hardest = min(LOW, key=lambda item: values[item] or 0.0)
    told = same_everywhere(results_of({"whole": values, "one": values | {hardest: None}, "two": values | {hardest: None}}))
    assert told == Told({"whole": 1, "one": None, "two": None}, set())


def test_an_item_that_nobody_has_a_value_of_unranks_nobody() -> None:
    told = same_everywhere(results_of({"a": even(20.0, without="a"), "b": even(19.0, without="a")}))
    assert told == Told({"a": 1, "b": 2}, {"a"})


def test_a_reference_makes_nobody_lack_anything() -> None:
    values = {"a": even(20.0, without="a"), "b": even(19.0, without="a"), "floor": even(30.0)}
    told = same_everywhere(results_of(values, references=("floor",)))
    assert told == Told({"a": 1, "b": 2, "floor": None}, {"a"})


def test_sets_of_fewer_items_have_no_place() -> None:
    results = of_sets({"honest": (5.0, LETTERS), "worse": (6.0, LETTERS), "thin": (1.0, "ab")})
    assert same_everywhere(results, KID) == Told({"honest": 1, "worse": 1, "thin": None}, {"honest", "worse"})
    part = results.slices[0]
    assert results.summary(part, "thin", KID).n_clusters == 2
    [row] = compare(results, "honest", "thin", quantities=[KID], slices=[part])
    assert (row.better, row.difference, row.n_sources) == (0, None, 2)
    assert row.reason == "the sets are of different items (12 and 2)"
    [row] = compare(results, "honest", "worse", quantities=[KID], slices=[part])
    assert (row.better, row.difference, row.n_sources) == (0, -1.0, 12)  # of sets, whose lead nothing tests


def test_sets_of_few_sources_have_no_place_though_the_slice_has_many() -> None:
    results = of_sets({"a": (5.0, "abcde"), "b": (6.0, "abcde")})
    assert same_everywhere(results, KID) == Told({"a": None, "b": None}, set())
    [row] = compare(results, "a", "b", quantities=[KID], slices=results.slices[:1])
    assert row.better == 0
    more = of_sets({"a": (5.0, "abcdef"), "b": (6.0, "abcdef")})
    assert same_everywhere(more, KID) == Told({"a": 1, "b": 1}, {"a", "b"})  # without intervals nothing tells them apart


def test_values_that_a_mean_leaves_out_bear_no_place() -> None:
    """Under a protocol that counts infinite values, a mean of one source is one of one source."""
    exact = {item: math.inf if item[0] > "a" else 60.0 for item in LOW + HIGH}
    results = results_of({"exact": exact, "good": even(20.0), "bad": even(10.0)}, protocol=COUNTING)
    assert same_everywhere(results) == Told({"exact": None, "good": 1, "bad": 2}, {"good"})
    assert "no place for exact by psnr, whose mean rests on 1 source: an interval, rank or lead needs at least 6" in [
        *RunStandings(results, results.everything, [PSNR]).remarks()
    ]
    whole = results_of({"exact": dict.fromkeys(exact, math.inf), "good": even(20.0)}, protocol=COUNTING)
    assert same_everywhere(whole) == Told({"exact": 1, "good": 2}, {"exact"})


def test_what_is_measured_on_few_sources_enters_no_mean_over_methods_and_no_filled_bar() -> None:
    results = results_of({"a": even(20.0), "b": even(16.0), "thin": even(40.0, without=LETTERS[2:])})
    [pair], means = pair_slices(results.slices), means_of(results)
    levels = [results.level(pair.low, method, PSNR) for method in "ab"]
    spread = results.difficulty(pair.low, PSNR)
    assert (spread.mean, spread.n) == (pytest.approx(sum(levels) / 2), 2)
    assert spread.standard_error == pytest.approx(abs(levels[0] - levels[1]) / 2)
    assert results.few(pair.low, PSNR) is None
    of_analysis = over_methods(means, "x-low", means.measure("psnr"))
    assert of_analysis[:3] == tuple(spread)
    assert of_analysis.reason == "1 of 3 methods of fewer items and left out (thin)"
    assert [results.unfit_change(pair, method, PSNR) for method in results.methods] == [
        None, None, "it lacks 10 items that others have",
    ]  # fmt: skip
    few = results_of({"a": even(20.0, without=LETTERS[2:]), "b": even(16.0, without=LETTERS[2:])})
    assert few.difficulty(pair.low, PSNR).standard_error is None
    assert few.few(pair.low, PSNR) == "2 sources: an interval, rank or lead needs at least 6"
    drawn = json.dumps(difficulty_figure(means_of(few)).to_dict())
    assert "Hollow: fewer than 6 sources" in drawn
    assert "Hollow" not in json.dumps(difficulty_figure(means).to_dict())


def test_findings_rest_on_who_can_be_compared() -> None:
    """A method of few sources takes no sources from the others' findings, and its own change is the largest of nobody."""
    values = {"a": even(20.0), "b": even(16.0), "picky": {item: value for item, value in even(40.0).items() if item[0] < "g"}}
    values["picky"] |= dict.fromkeys(LOW[:6], 500.0)
    found = {one.question: one for one in findings(results_of(values), PSNR)}
    alone = {one.question: one for one in findings(results_of({name: values[name] for name in "ab"}), PSNR)}
    for question in ("Hardest slice", SENSITIVITY):
        assert found[question] == alone[question]
    assert found["Strongest method"].answer == alone["Strongest method"].answer
    each = results_of({"a": even(20.0, without="a"), "b": even(16.0, without="b")})
    [best] = [one for one in findings(each, PSNR) if one.question == "Strongest method"]
    assert (best.answer, best.told) == (("Nobody to compare with",), False)
    assert best.detail == ("each method lacks items that others have, so that no two means are of the same items",)


FLICKER = Quantity("flicker", "hole")


def steady_of(psnr: Mapping[str, float], flicker: Mapping[str, float], *, protocol: Protocol = CORRECTED) -> Results:
    """Methods of constant leads: those of PSNR and of flicker."""
    rows = [
        replace(score(method, item, value, metric=metric), protocol=protocol.name, fingerprint=protocol.fingerprint)
        for metric, of in (("psnr", psnr), ("flicker", flicker))
        for method, lead in of.items()
        for item, value in ((item, lead + (even(0.0)[item] or 0.0) / 100) for item in LOW + HIGH)
    ]
    return Results(DATA, rows, protocol=protocol)


def test_steadiness_gives_no_place_to_who_is_worse_by_the_primary_quantity_on_any_page() -> None:
    results = steady_of({"good": 30.0, "frozen": 25.0, "bad": 20.0}, {"good": 2.0, "frozen": 1.0, "bad": 3.0})
    part, means = results.slices[0], means_of(results)
    places, best = {"good": 1, "frozen": None, "bad": 2}, {"good"}
    assert (results.places(part, FLICKER), results.best(part, FLICKER)) == (places, best)
    measure = means.measure("flicker")
    assert (places_of_analysis(means, "x-low", measure), best_of_analysis(means, "x-low", measure)) == (places, best)
    table = score_table(results, FLICKER)
    assert {row.key for row in table.rows if any(cell.strong for cell in row.cells)} == best
    assert "Flicker in the hole is diagnostic: an error that stays the same is steady" in table.foot
    standings = {one.method: one for one in RunStandings(results, part, [PSNR, FLICKER]).standings}
    assert (standings["frozen"].places, standings["frozen"].place) == ((2, None), None)
    assert ranked_quantities(results, None, None) == [PSNR]
    assert ranked_quantities(results, ["flicker"], None) == [FLICKER]
    why = "damage can better it, and good, which it would pass, is better by the primary quantity"
    assert f"no place for frozen by flicker: {why}" in [*RunStandings(results, part, [FLICKER]).remarks()]
    stars = {row.metric: row.better for row in compare(results, "frozen", "good", quantities=[PSNR, FLICKER], slices=[part])}
    assert stars == {"psnr": -1, "flicker": 0}
    strongest = {one.question: one for one in findings(results, FLICKER)}["Strongest method"]
    assert "frozen" not in str(strongest.answer)


def test_steadiness_ranks_methods_that_the_primary_quantity_does_not_tell_apart() -> None:
    results = steady_of({"calm": 30.0, "restless": 30.0}, {"calm": 1.0, "restless": 2.0})
    assert results.places(results.slices[0], FLICKER) == {"calm": 1, "restless": 2}
    assert results.best(results.slices[0], FLICKER) == {"calm"}


def test_without_a_primary_quantity_that_damage_cannot_better_steadiness_ranks_nobody() -> None:
    own = CORRECTED.model_copy(update={"primary": ("flicker", "hole")})
    results = steady_of({"calm": 30.0, "restless": 30.0}, {"calm": 1.0, "restless": 2.0}, protocol=own)
    assert set(results.places(results.slices[0], FLICKER).values()) == {None}
    assert "Nobody has a place by it" in score_table(results, FLICKER).foot
    alone = Results(DATA, [row for row in results.scores if row.metric == "flicker"], protocol=own)
    assert alone.best(alone.slices[0], FLICKER) == set()


def test_published_tables_keep_places_by_steadiness_with_the_note() -> None:
    own = CORRECTED.model_copy(update={"follows": "a publication"})
    results = steady_of({"good": 30.0, "frozen": 25.0}, {"good": 2.0, "frozen": 1.0}, protocol=own)
    assert results.places(results.slices[0], FLICKER) == {"good": 2, "frozen": 1}
    assert "Places are as they were published." in score_table(results, FLICKER).foot
    assert any("good, which it would pass, is better by the primary quantity" in one for one in cautions(results, FLICKER))
