"""The protocols of people and of decaptioning (ChaLearn LAP 2018, tracks 1 and 2) against formulas written out here."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter
from scoring_probes import FRAMES, HEIGHT, WIDTH, predictions, write_items
from worlds import pan_clip

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.models import weights
from inpaintbench.types import Dataset, Frames
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

NAMES = ("humans/as-published", "humans/corrected", "decaption/as-published", "decaption/corrected")


def dssim(truth: np.ndarray, other: np.ndarray) -> float:
    """One frame in 0..1 as scikit-image measured it in 2018: thirteen taps, and a window of eleven."""
    smooth = [gaussian_filter(one, (1.5, 1.5, 0), truncate=4) for one in (truth, other, truth**2, other**2, truth * other)]
    ux, uy, xx, yy, xy = smooth
    factor = 121 / 120
    upper = (2 * ux * uy + 1e-4) * (2 * factor * (xy - ux * uy) + 9e-4)
    lower = (ux**2 + uy**2 + 1e-4) * (factor * (xx - ux**2 + yy - uy**2) + 9e-4)
    return float((1 - (upper / lower)[5:-5, 5:-5].mean()) / 2)


def published(truth: Frames, prediction: Frames) -> dict[str, float]:
    """The three numbers of one clip: means over its frames."""
    pairs = [(one / 255, other / 255) for one, other in zip(truth, prediction, strict=True)]
    errors = [float(((one - other) ** 2).mean()) for one, other in pairs]
    return {
        "mse": float(np.mean(errors)),
        "psnr": float(np.mean([10 * math.log10(1 / error) for error in errors])),
        "dssim": float(np.mean([dssim(*pair) for pair in pairs])),
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_listed_protocol_bears_its_name_and_builds_its_metrics(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    assert protocol.name == name
    assert [metric.name for metric in protocol.build_metrics()] == list(protocol.metrics)
    assert len(protocol.fingerprint) == 12
    pose = "wnjd" in protocol.metrics
    assert pose == name.startswith("humans")
    assert protocol.weights_of() == (["keypoint-rcnn"] if pose else [])
    assert all(weights.named(one).file for one in protocol.weights_of())


def test_a_benchmark_is_scored_with_the_corrected_protocol_of_its_recipe() -> None:
    for recipe in ("humans", "decaption", "fingerprint"):
        assert usual(Dataset("d", {"recipe": recipe}, (), (), {}, {}, {})) == f"{recipe}/corrected"


def test_decaption_as_published_is_the_formula_of_its_scorer() -> None:
    truth = pan_clip("coffee", pixels_per_frame=1, frames=3, width=40, height=32)
    noise = np.random.default_rng(0).integers(-30, 31, truth.shape)
    prediction = np.clip(truth + noise, 0, 255).astype(np.uint8)
    view = ItemView.of_arrays(truth=truth, hole=np.ones(truth.shape[:3], np.bool_), prediction=prediction)
    metrics = PROTOCOLS.get("decaption/as-published").build_metrics()
    assert {one.name: one.measure(view)["frame"].value for one in metrics} == pytest.approx(
        published(truth, prediction), rel=1e-6
    )


@pytest.mark.parametrize("track", ["humans", "decaption"])
def test_what_differs_between_the_two_protocols_of_a_track(track: str) -> None:
    old, new = PROTOCOLS.get(f"{track}/as-published"), PROTOCOLS.get(f"{track}/corrected")
    differences = {
        (metric, constant): (value, new.metrics[metric][constant])
        for metric, constants in old.metrics.items()
        for constant, value in constants.items()
        if new.metrics[metric][constant] != value
    }
    expected: dict[tuple[str, str], tuple[object, object]] = {("dssim", "taps"): (13, 11), ("dssim", "ddof"): (1, 0)}
    expected |= (
        {("wnjd", "reference"): ("annotation", "estimate"), ("wnjd", "missing_joints"): ("leave_out", "diagonal")}
        if track == "humans"
        else {("psnr", "averaged"): ("decibels", "errors"), ("psnr", "ceiling_decibels"): (None, 58.92)}
    )
    assert differences == expected
    assert (old.regions, new.regions) == (("frame",), ("frame", "hole"))
    assert (old.composite, new.composite) == (False, track == "humans")
    assert dict(old.missing) == dict(new.missing) == {}


def test_clips_of_unequal_length_and_missing_ones_are_skipped(tmp_path: Path) -> None:
    items = write_items(tmp_path / "data", count=3)
    workspace = Workspace(tmp_path / "run")
    rows = predictions(workspace.blobs, items, "m", level=90)
    cut_items = replace(items, items=tuple({**row, "frames": FRAMES - 1} for row in items.items))
    short = predictions(workspace.blobs, cut_items, "m", level=90)
    given = Predicted("m", [rows[0], short[1]], {rows[2].item_id: "the program failed"})
    with LocalExecutor(workspace, workers=0) as executor:
        found = score(executor, items, root=tmp_path / "data", methods=[given], protocol="decaption/as-published")["m"].records
    values = {(row.item_id, row.metric): (row.value, row.reason) for row in found}
    assert len(values) == 9
    for metric in ("mse", "psnr", "dssim"):
        whole, cut, missing = (values[row.item_id, metric] for row in rows)
        assert whole[0] is not None
        assert cut == (None, f"the prediction of item {rows[1].item_id!r} is {FRAMES - 1} frames, the item is {FRAMES} frames")
        assert missing == (None, "the program failed")


def test_a_pose_that_cannot_be_estimated_is_a_reason_and_costs_no_other_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without weights; items of this world have no labelled joints either, and neither is a number."""
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(tmp_path / "nothing"))
    items = write_items(tmp_path / "data", count=1, frames=(1,))
    workspace = Workspace(tmp_path / "run")
    given = Predicted("m", predictions(workspace.blobs, items, "m", level=90))
    with LocalExecutor(workspace, workers=0) as executor:
        found = score(executor, items, root=tmp_path / "data", methods=[given], protocol="humans/corrected")["m"].records
    rows = {(row.metric, row.region): row for row in found}
    assert set(rows) == {(metric, region) for metric in ("mse", "dssim") for region in ("frame", "hole")} | {("wnjd", "frame")}
    assert rows["wnjd", "frame"].value is None
    assert "weights missing" in str(rows["wnjd", "frame"].reason)
    assert all(row.value is not None for key, row in rows.items() if key[0] != "wnjd")
    assert min(HEIGHT, WIDTH) > 11


def test_an_unknown_protocol_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'humans/corrected'"):
        PROTOCOLS.get("humans/correct")
