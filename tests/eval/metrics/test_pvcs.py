"""PVCS: what is made of the distances of windows, and what is never looked at."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import i3d_reference as reference
import numpy as np
import pytest

pytest.importorskip("torch")

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.i3d import Pvcs
from inpaintbench.models import i3d, weights
from inpaintbench.models.torch_networks import network
from inpaintbench.view import ItemView

COMPUTE = Compute(device="cpu", random_weights=3)
DEVIL: dict[str, Any] = {
    "window_frames": 10, "stride_frames": 1, "input_low": 0.0, "input_high": 1.0, "batch_norm": "eval",
}  # fmt: skip


def metric(regions: tuple[str, ...] = ("frame", "hole", "band"), **constants: Any) -> Pvcs:
    return Pvcs(regions=regions, band_radius_pixels=8, **{**DEVIL, **constants})


def views(*noises: int, compute: Compute = COMPUTE, frames: int = 11) -> list[ItemView]:
    """A clip of noise with a square hole, filled with other noise of so many grey levels."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 256, (frames, 34, 44, 3), dtype=np.uint8)
    hole = np.zeros(truth.shape[:3], np.bool_)
    hole[:, 5:20, 8:24] = True
    change = rng.uniform(-1, 1, truth.shape)
    fills = [np.clip(truth + level * change, 0, 255).astype(np.uint8) for level in noises]
    shared = Shared(compute=compute)
    return [ItemView.of_arrays(truth=truth, hole=hole, prediction=fill, shared=shared) for fill in fills]


def test_is_the_mean_over_windows_of_the_sum_over_layers() -> None:
    [view] = views(200)
    state = network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS).state_dict()
    windows = [reference.distance(view.truth[first : first + 10], view.composite[first : first + 10], state) for first in (0, 1)]
    [(region, found)] = metric().measure(view).items()
    assert region == "frame"
    assert found.value == pytest.approx(np.sum(windows) / 2, rel=1e-4)
    assert found.details["windows"] == 2
    assert list(found.details["layers"]) == list(reference.LAYERS)
    assert list(found.details["layers"].values()) == pytest.approx(np.mean(windows, axis=0), rel=1e-4)


def test_methods_together_are_methods_alone_and_worse_with_noise() -> None:
    together = [one["frame"].value for one in metric().measure_together(views(0, 20, 200))]
    assert together[0] == 0
    assert together == sorted(together, key=float)
    assert len(set(together)) == 3
    for level, value in zip((0, 20, 200), together, strict=True):
        assert metric().measure(views(level)[0])["frame"].value == pytest.approx(value, rel=1e-5)


def test_known_pixels_of_the_prediction_do_not_matter() -> None:
    [view] = views(100)
    parts = {"truth": view.truth, "hole": view.hole}
    vandalised = np.where(view.hole[..., None], view.prediction, 255 - view.truth)
    other = ItemView.of_arrays(**parts, prediction=vandalised, shared=Shared(compute=COMPUTE))
    assert metric().measure(other) == metric().measure(view)


def test_a_perfect_copy_needs_no_network(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_weights(monkeypatch, tmp_path)
    [found] = metric().measure_together(views(0, compute=Compute(device="cpu")))
    assert found["frame"].value == 0
    assert found["frame"].details["windows"] == 2


def test_without_weights_it_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    without_weights(monkeypatch, tmp_path)
    with pytest.raises(NotMeasurable, match=r"weights missing: .*models fetch i3d-rgb-imagenet"):
        metric().measure(views(9, compute=Compute(device="cpu"))[0])


def test_windows_that_do_not_fit_are_left_out() -> None:
    [found] = metric(window_frames=4, stride_frames=3).measure_together(views(50, frames=9))
    assert found["frame"].details["windows"] == 2
    [found] = metric().measure_together(views(50, frames=3))
    assert found["frame"].details["windows"] == 1


def test_a_single_frame_is_no_clip() -> None:
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        metric().measure_together(views(50, frames=1))
    assert metric().measure_together(views(50, frames=2))[0]["frame"].details["windows"] == 1


def test_half_precision_is_near() -> None:
    [exact], [near] = (
        metric().measure_together(views(200, frames=10, compute=Compute(device="cpu", random_weights=3, precision=precision)))
        for precision in ("fp32", "bf16")
    )
    assert near["frame"].value == pytest.approx(exact["frame"].value, rel=0.02)
    assert near["frame"].value != exact["frame"].value


def test_it_answers_for_the_frame_alone() -> None:
    assert metric().regions == ("frame",)
    none = metric(("hole", "band"))
    assert none.regions == ()
    assert none.measure_together(views(9)) == [{}]


def test_reduces_to_the_mean_and_names_its_weights() -> None:
    assert metric().reduce([0.25, 0.5]) == 0.375
    assert metric().reduce([]) is None
    assert [weights.named(name).file for name in Pvcs.weights_of(DEVIL)] == ["rgb_imagenet.pt"]


def without_weights(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.delenv("INPAINTBENCH_WEIGHTS", raising=False)
    monkeypatch.setenv("INPAINTBENCH_CACHE", str(folder))
