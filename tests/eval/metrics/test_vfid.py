"""VFID and VFID of windows: which vectors are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import i3d_reference as reference
import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from inpaintbench.compute import Compute, Shared, as_stored
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.base import Features
from inpaintbench.eval.metrics.i3d import Vfid, VfidClips
from inpaintbench.eval.passes import i3d_clip, i3d_windows
from inpaintbench.models import i3d, weights
from inpaintbench.models.torch_networks import network
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

COMPUTE = Compute(device="cpu", random_weights=3)
CONSTANTS: dict[str, Any] = {
    "regions": ("frame", "hole"), "band_radius_pixels": 8, "input_low": 0.0, "input_high": 1.0, "batch_norm": "eval", "ddof": 1,
}  # fmt: skip


def clip_metric() -> Vfid:
    return Vfid(**CONSTANTS, levels="exact")


def window_metric() -> VfidClips:
    return VfidClips(**CONSTANTS, window_frames=10, stride_frames=1)


def views(folder: Path | None = None) -> list[ItemView]:
    rng = np.random.default_rng(0)
    truth, *fills = rng.integers(0, 256, (3, 11, 34, 44, 3), dtype=np.uint8)
    hole = np.zeros(truth.shape[:3], np.bool_)
    hole[:, 5:20, 8:24] = True
    shared = Shared(compute=COMPUTE, folder=folder)
    return [ItemView.of_arrays(truth=truth, hole=hole, prediction=fill, shared=shared) for fill in fills]


def expected(frames: Frames) -> np.ndarray:
    state = network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS).state_dict()
    layer = reference.features(state, torch.from_numpy(frames).permute(3, 0, 1, 2)[None] / 255)["Mixed_5c"]
    found: np.ndarray = layer.mean(dim=(2, 3, 4)).numpy()
    return found


@pytest.mark.long
def test_vectors_of_whole_clips() -> None:
    some = views()
    for view, found in zip(some, clip_metric().measure_together(some), strict=True):
        [(region, one)] = found.items()
        assert region == "frame"
        assert one.details == {"vectors": 1}
        assert one.value is None
        assert one.reason is None
        assert one.features is not None
        reference.assert_close(one.features.prediction, expected(view.composite), 1e-5)
        reference.assert_close(one.features.truth, expected(view.truth), 1e-5)
        assert one.features.prediction.dtype == one.features.truth.dtype == np.float32


def test_vectors_of_windows() -> None:
    some = views()
    for view, found in zip(some, window_metric().measure_together(some), strict=True):
        features = found["frame"].features
        assert features is not None
        assert features.prediction.shape == features.truth.shape == (2, 1024)
        reference.assert_close(features.prediction[1:], expected(view.composite[1:]), 1e-5)
        reference.assert_close(features.truth[:1], expected(view.truth[:10]), 1e-5)


@pytest.mark.parametrize("metric", [clip_metric(), window_metric()])
def test_the_truth_is_stored_and_used_again(metric: Vfid | VfidClips, tmp_path: Path) -> None:
    first, second = views(tmp_path)
    [one] = metric.measure_together([first])
    [kept] = tmp_path.rglob("*.npy")
    stored = np.load(kept)
    features = one["frame"].features
    assert features is not None
    assert (stored == features.truth.reshape(stored.shape)).all()
    # What lies there is what counts: other methods are compared with the very same vectors.
    kept.write_bytes(as_stored(stored + 1))
    again = metric.measure(views(tmp_path)[1])["frame"].features
    alone = metric.measure(second)["frame"].features
    assert again is not None
    assert alone is not None
    assert (again.truth == features.truth + 1).all()
    reference.assert_close(again.prediction, alone.prediction, 1e-5)


@pytest.mark.parametrize("metric", [clip_metric(), window_metric()])
def test_perfect_copies_have_exactly_the_kept_vectors_beside_other_methods_too(metric: Vfid | VfidClips, tmp_path: Path) -> None:
    first, second = views(tmp_path)
    copy = ItemView.of_arrays(truth=first.truth, hole=first.hole, prediction=first.truth, shared=first.shared)
    metric.measure(first)
    [kept] = tmp_path.rglob("*.npy")
    kept.write_bytes(as_stored(np.load(kept) + 1))  # as if made in other batches, and so a little different
    fresh = Shared(compute=COMPUTE, folder=tmp_path)
    again = [
        ItemView.of_arrays(truth=view.truth, hole=view.hole, prediction=view.prediction, shared=fresh)
        for view in (copy, first, second)
    ]
    for chosen in (again, again[:2], again[:1]):
        features = metric.measure_together(chosen)[0]["frame"].features
        assert features is not None
        assert (features.prediction == np.load(kept)).all()
        assert (features.truth == features.prediction).all()


@pytest.mark.parametrize("metric", [clip_metric(), window_metric()])
def test_kept_vectors_of_another_version_of_the_pass_are_not_used(
    metric: Vfid | VfidClips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metric.measure(views(tmp_path)[0])
    monkeypatch.setattr(i3d_clip, "VERSION", "other")
    monkeypatch.setattr(i3d_windows, "VERSION", "other")
    metric.measure(views(tmp_path)[0])
    assert len(list(tmp_path.rglob("*.npy"))) == 2


def test_windows_of_perfect_copies_need_no_network_where_the_truth_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = views(tmp_path)
    window_metric().measure(first)
    monkeypatch.delattr(i3d_windows, "i3d")
    shared = Shared(compute=COMPUTE, folder=tmp_path)
    copy = ItemView.of_arrays(truth=first.truth, hole=first.hole, prediction=first.truth, shared=shared)
    assert window_metric().measure(copy)["frame"].details == {"vectors": 2}


@pytest.mark.parametrize("metric", [clip_metric(), window_metric()])
def test_a_single_frame_is_no_clip(metric: Vfid | VfidClips) -> None:
    picture = np.zeros((1, 34, 44, 3), np.uint8)
    with pytest.raises(NotMeasurable, match="one frame has no next frame"):
        metric.measure(ItemView.of_arrays(truth=picture, composite=picture + 1, shared=Shared(compute=COMPUTE)))


@pytest.mark.parametrize("metric", [clip_metric(), window_metric()])
def test_sets_are_compared_by_their_frechet_distance(metric: Vfid | VfidClips) -> None:
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(2, 2, 6)).astype(np.float32) for _ in range(4)]
    shifted = metric.compare([Features(truth + 1, truth) for truth, _ in sets], ["a", "b", "c", "d"])
    assert shifted.value == pytest.approx(6, rel=1e-5)
    assert shifted.details["n"] == 8
    assert shifted.details["d"] == 6
    # In one direction: (m1 - m2)^2 + (s1 - s2)^2 with the spread of n - 1.
    one, other = np.array([[0.0], [2]], np.float32), np.array([[1.0], [7]], np.float32)
    assert metric.compare([Features(one, other)], ["a"]).value == pytest.approx(9 + (6 - 2) ** 2 / 2, rel=1e-6)


@pytest.mark.parametrize("metric", [clip_metric(), window_metric()])
def test_states_its_facts(metric: Vfid | VfidClips) -> None:
    assert metric.regions == ("frame",)
    assert not metric.higher_is_better
    assert metric.reduce([]) is None
    assert weights.named(metric.weights_of({})[0]).used_by == ("pvcs", "vfid", "vfid_clips", "second_moment")
