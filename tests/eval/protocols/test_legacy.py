"""The constants of protocols that are there to reproduce published numbers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scoring_probes import NAME, predictions, write_items

from inpaintbench.compute import Compute
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.parts import ALL_ITEMS
from inpaintbench.eval.scoring.score import Predicted, compare_sets, score
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.workspace import Workspace

LAMA = PROTOCOLS.get("lama")
LEGACY = PROTOCOLS.get("e2fgvi-legacy")


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every metric that they name."""
    own = {
        "vfid": "inpaintbench.eval.metrics.i3d:Vfid",
        "fid": "inpaintbench.eval.metrics.inception:Fid",
        "lpips": "inpaintbench.eval.metrics.lpips:Lpips",
        "lama_f1": "inpaintbench.eval.metrics.inception:LamaF1",
    }
    monkeypatch.setattr(METRICS, "_addresses", own | METRICS.addresses())


@pytest.mark.parametrize("protocol", [LEGACY, LAMA])
def test_every_constant_is_said_and_whole_frames_are_answered(protocol: Protocol) -> None:
    metrics = protocol.build_metrics()
    assert [metric.name for metric in metrics] == list(protocol.metrics)
    assert all(metric.regions == ("frame",) for metric in metrics)


def test_no_two_protocols_share_a_fingerprint() -> None:
    found = {name: PROTOCOLS.get(name).fingerprint for name in PROTOCOLS} | {one.name: one.fingerprint for one in (LEGACY, LAMA)}
    assert len(set(found.values())) == len(found) >= 6


def test_e2fgvi_measures_small_frames_with_grown_holes_and_means_over_frames() -> None:
    assert (LEGACY.size, LEGACY.hole_dilations, LEGACY.averaging) == ((432, 240), 4, "all_frames")
    ssim = LEGACY.metrics["ssim"]
    assert (ssim["window"], ssim["window_pixels"], ssim["data_range"], ssim["ddof"]) == ("uniform", 65, 1.0, 1)
    assert LEGACY.metrics["vfid"] == {"input_low": 0.0, "input_high": 1.0, "batch_norm": "train", "ddof": 1, "levels": "exact"}
    assert LEGACY.infinite_rule("psnr") == "keep"


def test_lama_measures_published_frames_with_a_gaussian_window() -> None:
    assert (LAMA.size, LAMA.hole_dilations, LAMA.averaging) == (None, 0, "all_frames")
    ssim = LAMA.metrics["ssim"]
    assert (ssim["window"], ssim["window_pixels"], ssim["sigma"], ssim["padding"], ssim["ddof"]) == (
        "gaussian",
        11,
        1.5,
        "zero",
        0,
    )
    assert LAMA.metrics["lpips"]["net"] == "vgg"
    assert LAMA.metrics["fid"] == {"resize": "bilinear", "side_pixels": 299, "ddof": 1}
    both = LAMA.metrics["lpips"] | LAMA.metrics["fid"]
    assert {name: LAMA.metrics["lama_f1"][name] for name in both} == both


def test_their_weights_are_those_of_their_networks() -> None:
    assert len(LEGACY.weights_of()) == 1
    assert len(LAMA.weights_of()) == 2
    assert LAMA.weights_of(["ssim"]) == []


@pytest.mark.parametrize("protocol", [LEGACY, LAMA])
def test_files_come_out_as_rows_and_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: Protocol) -> None:
    """With made-up parameters: every metric of every item, and those of sets for all items, which agree with one another."""
    monkeypatch.setattr(PROTOCOLS, "_addresses", PROTOCOLS.addresses() | {NAME: "scoring_probes:PROTOCOL"})
    smaller = {"size": (80, 70)} if protocol.size else {}  # quicker, and still larger than the window of its SSIM
    installed = protocol.model_copy(update={"name": NAME, **smaller})
    monkeypatch.setattr("scoring_probes.PROTOCOL", installed)
    items = write_items(tmp_path / "data", count=2, frames=(2, 1) if protocol is LAMA else (4, 3))
    workspace = Workspace(tmp_path / "run")
    methods = [
        Predicted(name, predictions(workspace.blobs, items, name, level=level)) for name, level in (("dark", 40), ("bright", 200))
    ]
    compute = Compute(random_weights=1, device="cpu")
    with LocalExecutor(workspace, workers=0) as executor:
        rows = score(executor, items, root=tmp_path / "data", methods=methods, protocol=NAME, compute=compute)
        sets = compare_sets(executor, items, protocol=NAME, methods=["dark", "bright"])
    for method in ("dark", "bright"):
        found = rows[method].records
        assert {row.reason for row in found} == {None}
        assert len(found) == 2 * len(protocol.metrics)
        assert {row.fingerprint for row in found} == {f"{installed.fingerprint}+random-weights-1"}
        compared = {row.metric: row for row in sets[method].records}
        assert all(row.value is not None and row.slice == ALL_ITEMS for row in compared.values())
        if protocol is LAMA:
            of = compared["lama_f1"].details
            distances = {row.item_id: row for row in found if row.metric == "lpips"}
            weights = [protocol.weight("lpips", row.details) for row in distances.values()]
            mean = np.average([row.value for row in distances.values()], weights=weights)
            assert weights == [2, 1]
            assert of["lpips"] == pytest.approx(mean, rel=1e-6)
            assert of["fid"] == pytest.approx(compared["fid"].value, rel=1e-6)
        else:
            assert (compared["vfid"].details["n"], compared["vfid"].details["d"]) == (2, 1024)
