"""How far a lower precision is from float32."""

from __future__ import annotations

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")
from scoring_probes import predictions, write_items

from inpaintbench import video
from inpaintbench.compute import Compute
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.scoring import precision
from inpaintbench.eval.scoring.precision import Difference, close_enough, differences, from_float32
from inpaintbench.types import Dataset, Prediction
from inpaintbench.view import ItemView, composite
from inpaintbench.workspace import Workspace

PROTOCOL = "devil/corrected"
BF16 = Compute(device="cpu", precision="bf16", random_weights=3)


def measured(tmp_path: Path, dataset: Dataset, *metrics: str, compute: Compute = BF16, lost: str = "") -> list[Difference]:
    workspace = Workspace(tmp_path / "run")
    made = [row for row in predictions(workspace.blobs, dataset, "dark", level=10) if row.item_id != lost]
    before = sorted((tmp_path / "run").rglob("*"))
    found = from_float32(
        dataset, root=tmp_path / "data", predictions=made, blobs=workspace.blobs, protocol=PROTOCOL, metrics=metrics,
        compute=compute, folder=tmp_path / "scratch",
    )  # fmt: skip
    assert sorted((tmp_path / "run").rglob("*")) == before
    shutil.rmtree(tmp_path / "scratch", ignore_errors=True)
    return found


def directly(tmp_path: Path, dataset: Dataset, name: str, item: str, compute: Compute) -> Any:
    """What the metric says of the item's first frames, without any scoring around it."""
    row = next(row for row in dataset.items if row["item_id"] == item)
    truth, hole = (
        read(tmp_path / "data" / row[f"{part}_file_name"])[: precision.FRAMES]
        for part, read in (("truth", video.read_frames), ("hole", video.read_hole))
    )
    made = composite(truth, hole, np.full_like(truth, 10))
    view = ItemView.of_arrays(truth=truth, hole=hole, composite=made)
    view.shared.compute = compute
    protocol = PROTOCOLS.get(PROTOCOL)
    leaf = METRICS.get(name)(regions=protocol.regions, band_radius_pixels=protocol.band_radius_pixels, **protocol.metrics[name])
    return leaf.measure(view)


def test_is_the_largest_difference_over_items_and_regions_of_their_first_frames(tmp_path: Path) -> None:
    dataset = write_items(tmp_path / "data", count=4, frames=[6, 14, 6, 6])
    [lpips, vfid] = measured(tmp_path, dataset, "psnr", "lpips", "vfid", lost="item 0")
    assert (lpips.metric, lpips.items, lpips.of_vectors) == ("lpips", 2, False)
    pairs = [
        [directly(tmp_path, dataset, "lpips", item, one) for one in (BF16, replace(BF16, precision="fp32"))]
        for item in ("item 1", "item 2")
    ]
    apart = [(abs(near[region].value - one.value), one.value) for near, exact in pairs for region, one in exact.items()]
    assert lpips.largest == pytest.approx(max(gap for gap, _ in apart))
    assert lpips.relative == pytest.approx(max(gap / value for gap, value in apart))
    assert 1e-5 < lpips.relative < 0.2
    assert (vfid.metric, vfid.items, vfid.of_vectors) == ("vfid", 2, True)
    assert vfid.relative is not None
    assert 1e-5 < vfid.relative < 0.2


def test_float32_differs_from_itself_by_nothing_and_what_runs_no_network_is_left_out(tmp_path: Path) -> None:
    dataset = write_items(tmp_path / "data", count=1)
    [lpips] = measured(tmp_path, dataset, "psnr", "lpips", compute=replace(BF16, precision="fp32"))
    assert (lpips.largest, lpips.relative, lpips.items) == (0.0, 0.0, 1)
    assert measured(tmp_path, dataset, "psnr", "ssim") == []
    assert measured(tmp_path, dataset, "lpips", lost="item 0") == []


def test_without_weights_there_is_nothing_to_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", str(tmp_path / "nowhere"))
    dataset = write_items(tmp_path / "data", count=1)
    assert measured(tmp_path, dataset, "lpips", compute=Compute(device="cpu", precision="bf16")) == []


def test_a_copy_of_the_truth_decides_nothing(tmp_path: Path) -> None:
    """It is 0 from the truth in any format."""
    dataset = write_items(tmp_path / "data", count=1)
    truth, blobs = tmp_path / "data" / dataset.items[0]["truth_file_name"], Workspace(tmp_path / "run").blobs
    copy = Prediction("copy", "1", "item 0", blobs.put(".mp4", partial(shutil.copyfile, truth))[0], True, 0)
    found = from_float32(
        dataset, root=tmp_path / "data", predictions=[copy], blobs=blobs, protocol=PROTOCOL, metrics=["lpips"], compute=BF16,
        folder=tmp_path / "scratch",
    )  # fmt: skip
    assert found == [Difference("lpips", 0.0, None, 1, False)]
    assert not close_enough(found)


def test_shares_of_nothing_and_infinite_numbers() -> None:
    def of(near: float, exact: float) -> Difference:
        return differences({"one": [np.array([[near]])]}, {"one": [np.array([[exact]])]})[0]

    assert of(0.5, 0.0) == Difference("one", 0.5, None, 1, False)
    assert of(0.0, 0.0) == Difference("one", 0.0, None, 1, False)
    assert differences({"one": [np.array([[0.0], [2.0]])]}, {"one": [np.array([[0.0], [2.0]])]})[0].relative == 0.0
    assert of(np.inf, np.inf) == Difference("one", 0.0, 0.0, 1, False)
    vectors = {"one": [np.array([[3.0, 4.0], [0.0, 10.0]])]}
    assert differences({"one": [np.array([[3.0, 4.0], [6.0, 18.0]])]}, vectors) == [Difference("one", 10.0, 1.0, 1, True)]
    assert differences({"one": []}, {"one": [np.zeros((1, 1))]}) == []
