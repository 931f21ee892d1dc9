"""A leaderboard says of places and of who is bold what all other pages say: their tests are run again with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.eval.comparing.test_one_gate import (
    FLICKER,
    PAGES_OF_OTHERS,
    Told,
    even,
    results_of,
    steady_of,
    test_a_reference_makes_nobody_lack_anything,
    test_an_item_that_nobody_has_a_value_of_unranks_nobody,
    test_one_item_is_not_forgiven,
    test_sets_of_few_sources_have_no_place_though_the_slice_has_many,
    test_sets_of_fewer_items_have_no_place,
    test_values_that_a_mean_leaves_out_bear_no_place,
    test_whoever_is_alone_is_bold_on_no_page,
    test_whoever_leaves_out_the_hard_half_has_no_place_on_any_page,
)

from inpaintbench.eval.results.quantity import Quantity
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Slice
from inpaintbench.wings.leaderboard.board import Board, Entry
from inpaintbench.wings.leaderboard.checking import Submission
from inpaintbench.wings.leaderboard.contents import Card, Header
from inpaintbench.wings.leaderboard.pages import _facts as front_facts
from inpaintbench.wings.leaderboard.tables import score_notes as board_notes
from inpaintbench.wings.leaderboard.tables import score_table as board_table

__all__ = [
    "test_a_reference_makes_nobody_lack_anything",
    "test_an_item_that_nobody_has_a_value_of_unranks_nobody",
    "test_one_item_is_not_forgiven",
    "test_sets_of_few_sources_have_no_place_though_the_slice_has_many",
    "test_sets_of_fewer_items_have_no_place",
    "test_values_that_a_mean_leaves_out_bear_no_place",
    "test_whoever_is_alone_is_bold_on_no_page",
    "test_whoever_leaves_out_the_hard_half_has_no_place_on_any_page",
]


def board_of(results: Results) -> Board:
    """The same scores as submissions."""
    of, entries = results.dataset, []
    for method in results.methods:
        header = Header(1, method, of.name, "0", results.protocol.name, results.fingerprint, {}, {}, {}, {}, {})
        if method in results.references:
            header = replace(header, reference=True)
        own = tuple(row for row in results.scores if row.method == method)
        sets = tuple(row for row in results.slice_scores if row.method == method)
        card = Card(method.capitalize(), (), {"summary": "A method."}, {})
        entries.append(
            Entry(method, Submission(Path(f"{method}.zip"), method * 16, header, card, own, sets, ()), {}, None, trusted=True)
        )
    return Board(of, results.protocol, entries)


def told_by_leaderboard(results: Results, part: Slice, quantity: Quantity) -> Told:
    cells = {row.entry.label: row.cells[quantity] for row in board_of(results).rows(part, quantity.region)}
    return Told({label: cell.place for label, cell in cells.items()}, {label for label, cell in cells.items() if cell.best})


@pytest.fixture(autouse=True)
def _leaderboard_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PAGES_OF_OTHERS, "leaderboard", told_by_leaderboard)


def test_whoever_is_alone_is_first_of_nobody() -> None:
    front = board_of(results_of({"honest": even(20.0), "picky": even(17.0, without="ghijkl")}))
    [place, *_] = [row.cells[1] for row in board_table(front, front.slices[0], "hole", up="").rows]
    assert (place.value, place.strong) == (1.0, False)
    assert [fact.term for fact in front_facts(front)] == []


def test_steadiness_gives_no_place_to_who_is_worse_by_the_primary_quantity() -> None:
    results = steady_of({"good": 30.0, "frozen": 25.0, "bad": 20.0}, {"good": 2.0, "frozen": 1.0, "bad": 3.0})
    part = results.slices[0]
    rows = board_of(results).rows(part, "hole")
    assert {row.entry.label: row.cells[FLICKER].place for row in rows} == {"good": 1, "frozen": None, "bad": 2}
    assert [row.mean for row in rows] == [1, 2, 3]  # by PSNR alone
    assert "Flicker" in " ".join(board_notes(board_of(results), part, "hole"))
