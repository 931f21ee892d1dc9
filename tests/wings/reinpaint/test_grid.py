"""What a table of means leaves out is said in it."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest
from tests.eval.report.hand_made import dataset

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.values.permutation import BOLD
from inpaintbench.types import Score
from inpaintbench.wings.reinpaint.grid import grid_of, write_grid
from inpaintbench.wings.reinpaint.rows import summary
from inpaintbench.wings.reinpaint.setting import Patches, setting_of
from inpaintbench.wings.reinpaint.step import First

AS_PUBLISHED = PROTOCOLS.get("reinpaint/as-published")
VALUES = {"exact": {"a1": math.inf, "b1": 30.0}, "spoilt": {"a1": 40.0, "b1": 30.0}}


def test_infinite_values_that_are_in_no_mean_are_counted(tmp_path: Path) -> None:
    setting = setting_of(
        AS_PUBLISHED, second=MethodSpec("telea", "telea"), masks=1, patches=Patches(ratio=0.4), submetrics=["psnr"]
    )
    found = {
        (method, setting.key): [
            Score(method, item, "reinpaint_psnr", "frame", AS_PUBLISHED.name, AS_PUBLISHED.fingerprint, value, None)
            for item, value in by_item.items()
        ]
        for method, by_item in VALUES.items()
    }
    grid = grid_of(found, {("telea", "40%"): setting}, dataset({"s": ["a1", "b1"]}))
    page = write_grid(tmp_path, grid).read_text()
    assert "1 infinite value is in no mean" in page
    with (tmp_path / "grid.csv").open(newline="") as file:
        rows = {row["method"]: row for row in csv.DictReader(file) if row["objective"] == "1-2"}
    assert {method: (row["value"], row["n_infinite"]) for method, row in rows.items()} == {
        "exact": ("30.0", "1"), "spoilt": ("35.0", "0")
    }  # fmt: skip
    without = {key: [row for row in rows if row.method == "spoilt"] for key, rows in found.items() if key[0] == "spoilt"}
    kept = write_grid(tmp_path / "kept", grid_of(without, {("telea", "40%"): setting}, dataset({"s": ["a1", "b1"]})))
    assert "infinite" not in kept.read_text()


@pytest.mark.parametrize(("sources", "told"), [("abcde", ["–", "–"]), ("abcdef", ["100%", "0%"])])
def test_who_is_best_on_most_items_is_told_from_six_sources_on(sources: str, told: list[str]) -> None:
    items = [f"{source}1" for source in sources]
    rows = [
        (
            First(method),
            [
                Score(method, item, "reinpaint_psnr", "frame", AS_PUBLISHED.name, AS_PUBLISHED.fingerprint, db, None)
                for item in items
            ],
        )
        for method, db in {"better": 40.0, "worse": 30.0}.items()
    ]
    ((heads, lines, title),) = summary(dataset({"s": items}), rows, title="")
    assert title.startswith("D with PSNR of the frame (higher is better)")
    assert [line[heads.index("best on")] for line in lines] == told
    assert [line[heads.index("D")] for line in lines] == ["40.0000", "30.0000"]
    ((heads, lines, _),) = summary(dataset({"s": items}), rows, title="", references=["better"])
    assert [line[heads.index("method")] for line in lines] == ["better (reference)", "worse"]
    assert [line[heads.index("best on")] for line in lines] == ["–", told[0]]


def test_a_reference_is_never_bold(tmp_path: Path) -> None:
    setting = setting_of(
        AS_PUBLISHED, second=MethodSpec("telea", "telea"), masks=1, patches=Patches(ratio=0.4), submetrics=["psnr"]
    )
    items = [f"{source}1" for source in "abcdefgh"]
    found = {
        (method, setting.key): [
            Score(method, item, "reinpaint_psnr", "frame", AS_PUBLISHED.name, AS_PUBLISHED.fingerprint, db, None)
            for item in items
        ]
        for method, db in {"floor": 40.0, "better": 30.0, "worse": 20.0}.items()
    }
    made = {
        references: write_grid(
            tmp_path, grid_of(found, {("telea", "40%"): setting}, dataset({"s": items}), references=references)
        ).read_text()
        for references in ((), ("floor",))
    }
    assert ("**40.0000**" in made[()], "**30.0000**" in made[()]) == (True, False)
    assert ("**40.0000**" in made["floor",], "**30.0000**" in made["floor",]) == (False, True)
    assert f"| {BOLD.replace('its column', 'its block')} |" in made[()]
    with (tmp_path / "table_1.csv").open(newline="") as file:
        assert [row["1-to-2: bold"] for row in csv.DictReader(file)] == ["bold", "", ""]
    assert "floor (reference)" in made["floor",]
    assert "Every number is of the frame." in made["floor",]


def test_where_lpips_has_no_weights_its_twins_stand_in_its_tables(tmp_path: Path) -> None:
    setting = setting_of(AS_PUBLISHED, second=MethodSpec("telea", "telea"), masks=1, patches=Patches(ratio=0.4))
    numbers = {"psnr": 30.0, "ssim": 0.9, "lpips": None}

    def grid(lpips: float | None) -> list[str]:
        rows = [
            Score("m", item, f"reinpaint_{name}", "frame", AS_PUBLISHED.name, AS_PUBLISHED.fingerprint, value, None)
            for item in ("a1", "b1")
            for name, value in {**numbers, "lpips": lpips}.items()
        ]
        made = grid_of({("m", setting.key): rows}, {("telea", "40%"): setting}, dataset({"s": ["a1", "b1"]}))
        folder = tmp_path / str(lpips)
        page = write_grid(folder, made).read_text()
        assert ("LPIPS is not measured: in its place in Tables 1 and 2 stand PSNR and SSIM." in page) == (lpips is None)
        assert ("D with PSNR by second masks, second method telea (as Table 2)" in page) == (lpips is None)
        return sorted(path.stem for path in folder.glob("table_*.csv"))

    twins = [f"table_{number}_{name}" for number in (1, 2) for name in ("psnr", "ssim")]
    assert grid(None) == sorted([*twins, "table_3"])
    assert grid(0.2) == ["table_1", "table_2", "table_3"]
    with (tmp_path / "None" / "table_2_psnr.csv").open(newline="") as file:
        assert [row["40%"] for row in csv.DictReader(file)] == ["30.0"]
