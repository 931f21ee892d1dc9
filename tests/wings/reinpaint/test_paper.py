"""The published numbers: laid out as printed, and their arithmetic. Tables 1, 2, 3 and 5 are spelled out here."""

from __future__ import annotations

import csv
import io

import pytest
from tests.wings.reinpaint.paper_tables import TABLE_4, TABLE_5

from inpaintbench.wings.reinpaint.grid import FIRSTS, METHODS, Cell, as_csv, as_long_csv, as_markdown, published, tables_of

TABLE_1 = """
.0586 .3183 .2860  .0649 .3254 .2910  .0590 .3177 .2823  .0555 .3139 .2758  .0491 .3093 .2817
.1714 .3705 .2635  .1832 .3832 .2790  .1683 .3654 .2552  .1650 .3608 .2384  .1464 .3464 .2581
.2735 .4288 .2435  .2859 .4394 .2668  .2620 .4148 .2326  .2643 .4144 .2089  .2352 .3909 .2415
"""
TABLE_2 = """
.2189 .2860 .3471  .2231 .2910 .3540  .2161 .2823 .3433  .2101 .2758 .3359  .2161 .2817 .3416
.2113 .2635 .3100  .2252 .2790 .3274  .2037 .2552 .3015  .1874 .2384 .2835  .2071 .2581 .3028
.2026 .2435 .2789  .2258 .2668 .3051  .1926 .2326 .2678  .1702 .2089 .2429  .2025 .2415 .2759
"""
TABLE_3_LAMA_BY_LAMA = (26.0836, 0.8804, 0.1321, 28.4181, 0.9129, 0.1042, 28.6547, 0.9279, 0.0833)


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def test_tables_1_to_3_are_parts_of_tables_6_to_14() -> None:
    made = {table.name: table for table in tables_of(published())}
    for name, text in (("table_1", TABLE_1), ("table_2", TABLE_2)):
        table = made[name]
        assert [value for _, values in table.rows for value in values] == numbers(text), name
        assert [names for names, _ in table.rows] == [(first, method) for first in FIRSTS for method in METHODS]
    rows = dict(made["table_3"].rows)
    assert rows["LaMa", "LaMa"] == TABLE_3_LAMA_BY_LAMA
    assert [head for head, _ in made["table_1"].columns] == [
        "0-to-1",
        "0-to-2",
        "1-to-2",
    ]
    assert [head for head, _ in made["table_3"].columns][3:6] == ["20-40% PSNR", "20-40% SSIM", "20-40% LPIPS"]
    full = [name for name in made if name.startswith("full_")]
    assert len(full) == 9
    assert all(len(made[name].rows) == 15 and len(made[name].columns) == 9 for name in full)


def test_original_first_does_not_depend_on_the_second_pass() -> None:
    grid = published()
    for first in FIRSTS:
        for method in METHODS:
            for submetric in grid.submetrics:
                found = {
                    grid.values.get(Cell(second, ratio, first, method, "0-1", submetric))
                    for second in grid.seconds
                    for ratio in grid.ratios
                }
                assert len(found) == 1


def test_the_block_that_contradicts_its_neighbours_is_found() -> None:
    """With F2 = LaMa, 20-40 % and P 40 %, two of five PSNR lie 1 dB above the line through P 20 % and 60 %."""
    grid, off = published(), []
    for method in METHODS:
        low, middle, high = (
            float(grid.values.get(Cell("LaMa", ratio, "20-40%", method, "1-2", "psnr")) or 0) for ratio in ("20%", "40%", "60%")
        )
        if middle - (low + high) / 2 > 0.2:
            off.append(method)
    assert off == ["DeepFillv2", "LaMa"]


def test_the_selection_frequencies_of_table_5_are_shares_of_100_pictures() -> None:
    for rows in TABLE_5.values():
        assert tuple(rows) == METHODS
        for column in ("musiq_chosen", "par_chosen", "ours_chosen"):
            assert sum(getattr(row, column) for row in rows.values()) == 100
        # 100 people x 100 rows, printed to 0.01 %.
        assert sum(row.people_chosen for row in rows.values()) == pytest.approx(100, abs=0.01)
        people = max(rows, key=lambda name: rows[name].people_chosen)
        assert people == max(rows, key=lambda name: rows[name].ours_chosen) == min(rows, key=lambda name: rows[name].ours)
    assert [max(rows, key=lambda name: rows[name].par_chosen) for rows in TABLE_5.values()] == ["DeepFillv2"] * 3


def test_table_5_repeats_the_fixed_ratio_of_40_percent() -> None:
    grid = published()
    for first, rows in TABLE_5.items():
        for method, row in rows.items():
            fixed = grid.values.get(Cell("StableDiffusion", "40%", first, method, "1-2", "lpips"))
            assert row.ours == pytest.approx(fixed, abs=0.00031)


def test_the_truth_scores_worse_than_one_method_and_noise_hardly_worse_than_the_truth() -> None:
    margins = {
        name: [round(TABLE_4[name][first] - TABLE_4["natural"][first], 4) for first in FIRSTS] for name in ("blend", "noise")
    }
    assert margins == {"blend": [0.0021, 0.0034, 0.0075], "noise": [0.0022, 0.0030, 0.0004]}
    assert all(TABLE_5[first]["StableDiffusion"].ours < TABLE_4["natural"][first] for first in FIRSTS)


OBJECTIVE_NAMES = ("0-to-1", "0-to-2", "1-to-2")


def test_files_hold_every_number_and_mark_the_best() -> None:
    table = tables_of(published())[0]
    read = list(csv.reader(io.StringIO(as_csv(table))))
    assert read[0] == ["first_masks", "method", *OBJECTIVE_NAMES, *(f"{name}: bold" for name in OBJECTIVE_NAMES)]
    assert read[4] == ["0-20%", "StableDiffusion", "0.0555", "0.3139", "0.2758", "", "", "bold"]
    text = as_markdown(table)
    assert "| Bold: the best mean of its block, as printed; of numbers without items no test" in text
    assert "| 0-20% | StableDiffusion | 0.0555 | 0.3139 | **0.2758** |" in text
    assert "| 0-20% | LaMa | **0.0491** | **0.3093** | 0.2817 |" in text
    assert len(as_long_csv(published()).splitlines()) == 1 + 1215
