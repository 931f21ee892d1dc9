"""The tables of the ChaLearn challenges, ranked again from what they print."""

from __future__ import annotations

import math

import numpy as np
import pytest

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.comparing.ranking import Standing, decimal
from inpaintbench.wings.chalearn.published import PrintedTable, chalearn_joints, chalearn_table, chalearn_tables


def printed_places(table: PrintedTable) -> dict[str, tuple[int, ...] | None]:
    return {row.name: row.places for row in table.rows}


def printed_means(table: PrintedTable) -> dict[str, str | None]:
    return {row.name: row.mean_place for row in table.rows}


def places_of(found: list[Standing]) -> dict[str, tuple[int | None, ...]]:
    return {one.method: one.places for one in found}


def means_of(table: PrintedTable, found: list[Standing]) -> dict[str, str]:
    return {one.method: decimal(one.mean, how=table.mean_places) for one in found if one.mean is not None}


def test_table_10_comes_from_its_values() -> None:
    table = chalearn_table(10)
    found = table.from_values(as_printed=True)
    assert places_of(found) == printed_places(table)
    assert sum(map(len, places_of(found).values())) == 33
    assert means_of(table, found) == printed_means(table)
    assert [one.method for one in found] == [row.name for row in table.rows]


def test_table_8_comes_from_its_values_in_the_direction_as_printed_but_for_two_swapped_ranks() -> None:
    table = chalearn_table(8)
    found = table.from_values(as_printed=True)
    assert means_of(table, found) == printed_means(table)
    printed = printed_places(table)
    wrong = {name for name, places in places_of(found).items() if places != printed[name]}
    assert wrong == {"anubhap93", "ucs"}
    assert (places_of(found)["anubhap93"], printed["anubhap93"]) == ((4, 4, 5), (6, 4, 5))
    assert (places_of(found)["ucs"], printed["ucs"]) == ((6, 7, 1), (4, 7, 1))
    # From the ranks as printed, these two means do not follow.
    of_places = means_of(table, table.from_places())
    assert {name for name, mean in of_places.items() if mean != printed_means(table)[name]} == {"anubhap93", "ucs"}


def test_table_8_with_less_dissimilarity_better() -> None:
    table = chalearn_table(8)
    assert means_of(table, table.from_values(as_printed=False)) == {
        "hcilab": "1.0", "arnavkj95": "2.0", "dhkim": "3.0", "anubhap93": "4.0", "mcahny01": "5.6", "baseline2": "5.6",
        "ucs": "7.0", "yangchris11": "7.6",
    }  # fmt: skip


@pytest.mark.parametrize("number", [4, 9])
def test_tables_4_and_9_come_from_their_printed_ranks_because_their_values_tie(number: int) -> None:
    table = chalearn_table(number)
    assert means_of(table, table.from_places()) == printed_means(table)
    assert [one.method for one in table.from_places()] == [row.name for row in table.rows]
    errors = [row.values[0] for row in table.rows]
    assert len(set(errors)) < len(errors), "MSE ties as printed"
    assert [row.places[0] for row in table.rows if row.places].count(1) == 1, "but not in the ranks"
    assert means_of(table, table.from_values(as_printed=True)) != printed_means(table)


def test_table_4_is_rounded_and_the_others_are_truncated() -> None:
    assert decimal({one.method: one.mean for one in chalearn_table(4).from_places()}["Inception"], how="truncated") == "1.6"
    assert {number: table.mean_places for number, table in chalearn_tables().items() if number != 3} == {
        4: "rounded", 8: "truncated", 9: "truncated", 10: "truncated", 11: "truncated",
    }  # fmt: skip


def test_table_9_with_less_dissimilarity_better_swaps_second_and_third() -> None:
    table = chalearn_table(9)
    # The direction is turned in the printed ranks, which know more digits than the values.
    turned = {row.name: (*row.places[:2], 7 - row.places[2]) for row in table.rows if row.places}
    means = {name: sum(places) / 3 for name, places in turned.items()}
    assert {name: round(mean, 2) for name, mean in means.items()} == {
        "SanghyunWoo": 1.0, "ucs": 2.33, "hcilab": 2.67, "arnavkj95": 4.33, "anubhap93": 4.67, "baseline2": 6.0,
    }  # fmt: skip
    corrected = places_of(table.from_values(as_printed=False))
    assert [corrected[name][2] for name in ("SanghyunWoo", "ucs", "hcilab")] == [1, 2, 3]


def test_table_11_cannot_be_reproduced() -> None:
    """Taken literally the values give other ranks: the row of the baseline contradicts its own numbers."""
    table = chalearn_table(11)
    found = table.from_values(as_printed=True)
    assert {one.method: round(float(one.mean or 0), 2) for one in found} == {
        "CVxTz": 1.0, "rgsl888": 2.67, "hcilab": 3.67, "sukeshadigav": 3.67, "baseline": 4.0,
    }  # fmt: skip
    assert printed_means(table) == {
        "CVxTz": "1.0", "rgsl888": "2.3", "hcilab": "3.3", "sukeshadigav": "3.3", "baseline": "5.0",
    }  # fmt: skip
    literal, printed = places_of(found), printed_places(table)
    assert {name: (literal[name], printed[name]) for name in literal if literal[name] != printed[name]} == {
        "rgsl888": ((2, 2, 4), (2, 2, 3)),
        "hcilab": ((3, 3, 5), (3, 3, 4)),
        "sukeshadigav": ((5, 4, 2), (4, 4, 2)),
        "baseline": ((4, 5, 3), (5, 5, 5)),
    }
    # Only the baseline's MSE and SSIM are at odds: without that row ranks and values agree.
    assert means_of(table, table.from_places()) == printed_means(table)
    others = table.model_copy(update={"rows": tuple(row for row in table.rows if row.name != "baseline")})
    assert places_of(others.from_values(as_printed=True)) == printed_places(others)
    # Its SSIM is another participant's of the validation.
    of_validation = {row.name: row.values[2] for row in chalearn_table(10).rows}
    assert {row.name: row.values[2] for row in table.rows}["baseline"] == of_validation["sukeshadigav"] == "0.8234"


def test_table_3_ranks_the_three_baselines() -> None:
    table = chalearn_table(3)
    found = table.from_values(as_printed=False)
    assert places_of(found) == {"context encoder": (1, 1, 1), "multi-scale": (2, 2, 1), "semantic": (3, 3, 3)}
    assert table.from_places() == []


def jensen_gaps(table: PrintedTable) -> dict[str, float]:
    """Participant -> mean PSNR less ``10 log10(1 / mean MSE)`` in dB; nothing for a table without both.

    By Jensen's inequality no true pair of means is below 0: the mean of decibels is at least the decibels of the mean. The
    printed MSE is taken at the upper end of what rounds to it, so that a true row never fails.
    """
    if not {"mse", "psnr"} <= set(table.metrics):
        return {}
    error, ratio = table.metrics.index("mse"), table.metrics.index("psnr")
    return {row.name: _upper(row.values[ratio]) + 10 * math.log10(_upper(row.values[error])) for row in table.rows}


def _upper(printed: str) -> float:
    """The largest number that is printed so."""
    return float(printed) + 0.5 * 10.0 ** -len(printed.partition(".")[2])


def test_every_printed_row_passes_jensen() -> None:
    gaps = {(number, name): gap for number, table in chalearn_tables().items() for name, gap in jensen_gaps(table).items()}
    assert len(gaps) == 8 + 6 + 11 + 5
    assert min(gaps.values()) >= 0
    assert jensen_gaps(chalearn_table(4)) == jensen_gaps(chalearn_table(3)) == {}
    # Even without the benefit of rounding.
    for number in (8, 9, 10, 11):
        for row in chalearn_table(number).rows:
            assert float(row.values[1]) >= 10 * math.log10(1 / float(row.values[0])), (number, row.name)


def test_a_row_that_no_pictures_can_give_fails_jensen() -> None:
    table = chalearn_table(10)
    first = table.rows[0].model_copy(update={"values": ("0.0191", "17.0", "0.8426")})
    assert jensen_gaps(table.model_copy(update={"rows": (first, *table.rows[1:])}))["CVxTz"] < 0


def test_table_7_contradicts_table_4() -> None:
    joints = chalearn_joints()
    assert {name: len(row) for name, row in joints.items()} == {"UNLU": 14, "Inception": 14}
    means = {name: np.mean(list(row.values())) for name, row in joints.items()}
    printed = {row.name: float(row.values[2]) for row in chalearn_table(4).rows}
    assert means == pytest.approx({"UNLU": 0.119, "Inception": 0.382}, abs=5e-4)
    assert printed == {"UNLU": 0.1489, "Inception": 0.1495}


def test_an_unknown_table_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="unknown table of the challenge '5'"):
        chalearn_table(5)
