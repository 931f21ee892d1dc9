"""Inpainting again over the executor: values, resumption, and that neither order nor workers matter."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.wings.reinpaint.again_world import METHODS, World

from inpaintbench import frozen, video
from inpaintbench.errors import InputError, UnknownNameError
from inpaintbench.eval.metrics.psnr import decibels
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import CEILING_DECIBELS
from inpaintbench.eval.results.tables import Results
from inpaintbench.eval.scoring.predict import MethodSpec
from inpaintbench.eval.scoring.run_folder import is_stale
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Score
from inpaintbench.view import composite
from inpaintbench.wings.reinpaint.engine import FILLS
from inpaintbench.wings.reinpaint.rows import store, with_variants
from inpaintbench.wings.reinpaint.setting import Patches, Setting, setting_of
from inpaintbench.wings.reinpaint.step import First, inpaint_again_all, natural
from inpaintbench.workspace import Workspace

AS_PUBLISHED = PROTOCOLS.get("reinpaint/as-published")
CORRECTED = PROTOCOLS.get("reinpaint/corrected")
TELEA = MethodSpec("telea", "telea")
SETTING = setting_of(CORRECTED, second=TELEA, masks=3, patches=None, submetrics=["psnr", "ssim"])
Found = dict[tuple[str, str], list[Score]]


def measure(world: World, firsts: list[First], *settings: Setting, workers: int = 0) -> Found:
    with LocalExecutor(Workspace(world.run), workers=workers) as executor:
        return inpaint_again_all(
            executor, world.dataset, root=world.root, firsts=firsts, settings=settings or (SETTING,),
            protocol=CORRECTED.name, fingerprint=CORRECTED.fingerprint,
        )  # fmt: skip


def values(rows: list[Score], metric: str) -> list[float | None]:
    return [row.value for row in rows if row.metric == metric]


def test_d_is_the_mean_over_the_published_second_masks(world: World) -> None:
    found = measure(world, world.firsts())
    leaf_rows = {(name, row.item_id, row.metric): row for (name, _), rows in found.items() for row in rows}
    assert len(leaf_rows) == len(METHODS) * len(world.dataset.items) * 3 * 2
    import cv2

    blob_of = {first.label: first.predictions for first in world.firsts()}
    blobs = Workspace(world.run).blobs
    row = world.dataset.items[0]
    truth, hole = frozen.truth_and_hole(world.root, row)
    first = composite(truth, hole, video.read_frames(blobs.path(blob_of["telea"][row["item_id"]].blob)))[0]
    expected = []
    for name in row["second_hole_file_names"]:
        second = video.read_hole(world.root / name)[0] & ~hole[0]
        shown = first.copy()
        shown[second] = 0
        again = cv2.inpaint(shown, second.astype(np.uint8), 3.0, cv2.INPAINT_TELEA)
        expected.append(decibels(float(np.mean((again.astype(float) - first) ** 2)) / 255**2, data_range=1.0))
    d = leaf_rows["telea", row["item_id"], "reinpaint_psnr"]
    assert d.value == pytest.approx(np.mean(expected))
    assert d.details["values"] == pytest.approx(expected)
    assert d.details["first_area"] == pytest.approx(hole.mean())
    assert 0 < d.details["second_area"] < 1 - hole.mean()
    assert d.fingerprint == CORRECTED.fingerprint + SETTING.mark


@pytest.mark.long
def test_neither_order_nor_workers_matter_and_nothing_is_done_twice(world: World, tmp_path: Path) -> None:
    one = measure(world, [*world.firsts(), natural()])
    ledgers = {path.name: path.read_bytes() for path in (world.run / "ledger").glob("reinpaint.*")}
    assert len(ledgers) == 3
    assert measure(world, [natural(), *world.firsts()[::-1]]) == one
    assert {path.name: path.read_bytes() for path in (world.run / "ledger").glob("reinpaint.*")} == ledgers
    fresh = world._replace(run=tmp_path / "fresh")
    Workspace(fresh.run)
    (fresh.run / "blobs").mkdir(exist_ok=True)
    for blob in (world.run / "blobs").rglob("*.png"):
        target = fresh.run / blob.relative_to(world.run)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(blob.read_bytes())
    assert measure(fresh, [world.firsts()[1], natural(), world.firsts()[0]], workers=8) == one


@pytest.mark.long
def test_what_a_killed_run_leaves_is_gone_on_with(world: World) -> None:
    exemplar = replace(SETTING, second=MethodSpec("exemplar", "exemplar"))
    shuffled = world._replace(dataset=replace(world.dataset, items=world.dataset.items[::-1]))
    whole = measure(world, [natural()], exemplar)
    [ledger] = (world.run / "ledger").glob(f"reinpaint.{exemplar.key}.natural*")
    lines = ledger.read_bytes().splitlines(keepends=True)
    assert len(lines) >= len(world.dataset.items)
    ledger.write_bytes(lines[0] + lines[1][: len(lines[1]) // 2])  # killed in the middle of writing the second
    again = measure(shuffled, [natural()], exemplar, workers=2)
    assert {key: sorted(rows, key=repr) for key, rows in again.items()} == {
        key: sorted(rows, key=repr) for key, rows in whole.items()
    }
    assert any(row.value for row in whole["natural", exemplar.key])


def test_the_truth_is_natural_and_a_perfect_first_result(world: World) -> None:
    drawn = replace(SETTING, patches=Patches(ratio=0.0, size_pixels=8))
    found = measure(world, [natural(), *map(First.of_fill, ("blend", "noise"))], SETTING, drawn)
    rows = found["natural", SETTING.key]
    # A fill from another picture is less consistent with its surroundings than the truth, on every item.
    blended = values(found["blend", SETTING.key], "reinpaint_psnr")
    pairs = zip(values(rows, "reinpaint_psnr"), blended, strict=True)
    assert all(float(one or 0) > float(other or 0) for one, other in pairs)
    assert set(values(rows, "psnr")) == {CEILING_DECIBELS}
    assert set(values(rows, "ssim")) == {1.0}
    # Nothing differs between truth and first result, so both objectives with the second one are one.
    assert values(rows, "reinpaint_psnr") == values(rows, "reinpaint_original_psnr")
    for name in FILLS:
        assert values(found[name, drawn.key], "reinpaint_psnr") == pytest.approx([CEILING_DECIBELS] * len(world.dataset.items))
        assert set(values(found[name, drawn.key], "reinpaint_ssim")) == {1.0}
    for name in ("blend", "noise"):
        assert max(float(value or 0) for value in values(found[name, SETTING.key], "psnr")) < 45


def test_drawn_masks_are_common_to_all_methods(world: World) -> None:
    drawn = replace(SETTING, patches=Patches(ratio=(0.2, 0.6), size_pixels=8, seed=5), objectives=("1-2",))
    found = measure(world, [*world.firsts(), natural()], drawn)
    areas = [[row.details["second_area"] for row in rows if row.metric == "reinpaint_psnr"] for rows in found.values()]
    assert areas[0] == areas[1] == areas[2]
    assert len(set(areas[0])) == len(world.dataset.items)
    other = replace(drawn, patches=Patches(ratio=(0.2, 0.6), size_pixels=8, seed=6))
    assert other.key != drawn.key
    [rows] = measure(world, [natural()], other).values()
    assert [row.details["second_area"] for row in rows if row.metric == "reinpaint_psnr"] != areas[0]


def test_normal_masks_are_first_holes_of_other_items(world: World) -> None:
    normal = replace(SETTING, masks=2, normal=True, objectives=("1-2",))
    [rows] = measure(world, [natural()], normal).values()
    assert all(row.details["masks"] == 2 and 0 < row.details["second_area"] < 0.7 for row in rows)


def test_scores_stand_in_a_report_with_what_follows_from_them(world: World) -> None:
    found = measure(world, [*world.firsts(), natural()])
    base = found["natural", SETTING.key]
    made = [(first, with_variants(found[first.label, SETTING.key], base, CORRECTED)) for first in world.firsts()]
    workspace = Workspace(world.run)
    assert store(workspace, world.dataset, made, protocol=CORRECTED) == []
    scores = workspace.table("scores", Score)
    results = Results(world.dataset, scores, protocol=CORRECTED)
    assert {quantity.metric for quantity in results.quantities} >= {
        "psnr", "reinpaint_psnr", "reinpaint_known_psnr", "reinpaint_excess_ssim", "reinpaint_original_ssim",
    }  # fmt: skip
    of = {(row.method, row.item_id, row.metric): row for row in scores}
    for row in base:
        if row.metric == "reinpaint_ssim":
            d, more, known = (of["telea", row.item_id, name] for name in _variants("ssim"))
            assert more.value == pytest.approx(float(d.value or 0) - float(row.value or 0))
            assert known.value == pytest.approx(1 - (1 - float(d.value or 0)) / (1 - d.details["first_area"]))
            assert "values" not in known.details
    assert not is_stale(workspace, world.dataset, protocol=CORRECTED.name, method="telea")
    published = with_variants(found["telea", SETTING.key], [], AS_PUBLISHED)
    assert {row.metric for row in published} == {
        "psnr", "ssim", "reinpaint_psnr", "reinpaint_ssim", "reinpaint_original_psnr", "reinpaint_original_ssim",
    }  # fmt: skip


def _variants(name: str) -> list[str]:
    return [f"reinpaint_{name}", f"reinpaint_excess_{name}", f"reinpaint_known_{name}"]


def test_scores_of_another_setting_leave_the_table_and_not_the_ledger(world: World) -> None:
    workspace, (telea, blank) = Workspace(world.run), world.firsts()
    other = replace(SETTING, masks=1)
    found = measure(world, [telea, blank], SETTING, other)
    both = [(first, found[first.label, SETTING.key]) for first in (telea, blank)]
    store(workspace, world.dataset, both, protocol=CORRECTED)
    assert store(workspace, world.dataset, [(telea, found["telea", other.key])], protocol=CORRECTED) == ["blank"]
    assert {row.fingerprint for row in workspace.table("scores", Score)} == {CORRECTED.fingerprint + other.mark}
    assert {row.method for row in workspace.table("reinpaint", Score)} == {"telea", "blank"}


def test_what_is_missing_has_rows_with_reasons(world: World) -> None:
    row = world.dataset.items[0]
    telea = world.firsts()[0]
    kept = {key: value for key, value in telea.predictions.items() if key != row["item_id"]}
    lost = replace(telea, predictions=kept, failures={row["item_id"]: "ran out of memory"})
    broken = MethodSpec("broken", "command", {"command": "false"})
    found = measure(world, [lost], SETTING, replace(SETTING, second=broken))
    first = [one for one in found["telea", SETTING.key] if one.item_id == row["item_id"]]
    assert len(first) == 6
    assert all(one.value is None and one.reason == "ran out of memory" for one in first)
    rows = found["telea", replace(SETTING, second=broken).key]
    assert len(rows) == 6 * len(world.dataset.items)
    assert all(one.value is None and one.reason for one in rows)


def test_what_cannot_be_measured_is_told_before_any_work(world: World) -> None:
    with pytest.raises(InputError, match="publishes 3 second masks for an item, not 10; use --masks 3"):
        measure(world, [natural()], replace(SETTING, masks=10))
    with pytest.raises(InputError, match="K is 0"):
        measure(world, [natural()], replace(SETTING, masks=0))
    with pytest.raises(InputError, match="two first methods are called 'natural'"):
        measure(world, [natural(), natural()])
    with pytest.raises(InputError, match="method 'blank' cannot inpaint a result again"):
        setting_of(CORRECTED, second=MethodSpec("blank", "blank"), masks=1, patches=None)
    with pytest.raises(InputError, match=r"sub-metrics \['fid'\] are not among psnr, ssim, lpips"):
        setting_of(CORRECTED, second=TELEA, masks=1, patches=None, submetrics=["fid"])
    with pytest.raises(InputError, match="'devil/corrected' does not inpaint again"):
        setting_of(PROTOCOLS.get("devil/corrected"), second=TELEA, masks=1, patches=None)
    with pytest.raises(UnknownNameError, match="did you mean 'telea'"):
        setting_of(CORRECTED, second=MethodSpec("telae", "telae"), masks=1, patches=None)
    with pytest.raises(InputError, match="name of a synthetic fill"):
        First.of_method("blend", [])
    with pytest.raises(UnknownNameError, match="unknown synthetic fill 'blen'"):
        First.of_fill("blen")


def test_a_setting_survives_being_stored_and_every_constant_counts() -> None:
    drawn = replace(SETTING, patches=Patches())
    assert Setting.of(json.loads(json.dumps(drawn.plain()))).plain() == drawn.plain()
    others = [
        SETTING, replace(drawn, masks=4), replace(drawn, composited=False), replace(drawn, patches=Patches(seed=1)),
        replace(drawn, second=MethodSpec("telea", "telea", {"radius_pixels": 5.0})), replace(drawn, objectives=("1-2",)),
    ]  # fmt: skip
    assert len({one.key for one in (drawn, *others)}) == 7
