"""Protocols that measure at a size, with a hole or under a mean of their own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image
from scipy import ndimage
from scoring_probes import HEIGHT, NAME, WIDTH, install, predictions, write_items
from skimage.metrics import structural_similarity

from inpaintbench import video
from inpaintbench.errors import MediaError
from inpaintbench.eval.adapters.fitting import measured_view
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.eval.values.statistics import summarise
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.regions import dilate_by_cross
from inpaintbench.types import Frames, Hole, Score
from inpaintbench.video import bicubic, nearest
from inpaintbench.view import ItemView
from inpaintbench.workspace import Workspace

LEGACY = PROTOCOLS.get("e2fgvi-legacy")
SMALL = (40, 30)


def noise(seed: int, *, frames: int = 3) -> Frames:
    return np.random.default_rng(seed).integers(0, 256, (frames, HEIGHT, WIDTH, 3), dtype=np.uint8)


def square(frames: int = 3) -> Hole:
    hole = np.zeros((frames, HEIGHT, WIDTH), bool)
    hole[:, 12:30, 20:45] = True
    return hole


def resized(frames: Frames) -> Frames:
    """As the released code does: Pillow's default for pictures."""
    return np.stack([np.asarray(Image.fromarray(frame).resize(SMALL)) for frame in frames])


def grown(hole: Hole) -> Hole:
    """At the small size, as the released code does."""
    small = [np.asarray(Image.fromarray(frame).resize(SMALL, Image.Resampling.NEAREST)) for frame in hole]
    cross = ndimage.generate_binary_structure(2, 1)
    return np.stack([ndimage.binary_dilation(frame, cross, iterations=4) for frame in small])


def test_frames_and_holes_come_to_the_size_as_pillow_brings_them() -> None:
    np.testing.assert_array_equal(bicubic(noise(0), height=SMALL[1], width=SMALL[0]), resized(noise(0)))
    np.testing.assert_array_equal(dilate_by_cross(nearest(square(), height=SMALL[1], width=SMALL[0]), times=4), grown(square()))
    same = noise(1)
    assert bicubic(same, height=HEIGHT, width=WIDTH) is same


def test_a_grown_hole_stays_in_the_frame() -> None:
    hole = np.zeros((1, 5, 9), bool)
    hole[0, 0, 0] = True
    expected = np.add.outer(np.arange(5), np.arange(9)) <= 3
    np.testing.assert_array_equal(dilate_by_cross(hole, times=3)[0], expected)
    assert dilate_by_cross(hole, times=0) is hole


@pytest.mark.parametrize("full_frames", [False, True])
def test_what_is_measured_is_the_published_composite(full_frames: bool) -> None:
    """A fill kept on black must not darken its border; what was painted around the hole counts where it was kept."""
    truth, hole, fill = noise(0), square(), noise(1)
    stored = fill if full_frames else np.where(hole[..., None], fill, 0).astype(np.uint8)
    view = measured_view(
        ItemView.of_arrays(truth=truth, hole=hole, prediction=stored), size=SMALL, hole_dilations=4, full_frames=full_frames
    )
    made = resized(fill if full_frames else np.where(hole[..., None], fill, truth))
    small_hole = grown(hole)
    np.testing.assert_array_equal(view.truth, resized(truth))
    np.testing.assert_array_equal(view.hole, small_hole)
    np.testing.assert_array_equal(view.composite, np.where(small_hole[..., None], made, resized(truth)))
    assert (view.width, view.height, view.frames) == (*SMALL, 3)


def test_opencv_shrinks_without_the_reach_of_pillow() -> None:
    """ProPainter's truth is another than that of the codes before it; without a filter only frames of the size are measured."""
    truth, hole = noise(0), square()
    view = ItemView.of_arrays(truth=truth, hole=hole, prediction=noise(1))
    made = measured_view(view, size=SMALL, hole_dilations=0, full_frames=True, resample="opencv-linear")
    expected = np.stack([cv2.resize(frame, SMALL, interpolation=cv2.INTER_LINEAR) for frame in truth])
    np.testing.assert_array_equal(made.truth, expected)
    assert np.abs(expected.astype(int) - resized(truth)).mean() > 10
    with pytest.raises(MediaError, match=f"frames of {WIDTH}x{HEIGHT} are not 40x30, which the protocol measures"):
        measured_view(view, size=SMALL, hole_dilations=0, full_frames=True, resample="none")
    same = measured_view(view, size=(WIDTH, HEIGHT), hole_dilations=0, full_frames=True, resample="none")
    np.testing.assert_array_equal(same.truth, truth)


def test_the_filter_is_part_of_the_fingerprint_where_it_does_something() -> None:
    assert probe(size=SMALL, resample="opencv-linear").fingerprint != probe(size=SMALL).fingerprint
    assert probe(size=SMALL, resample="pillow-bicubic").fingerprint == probe(size=SMALL).fingerprint
    with pytest.raises(ValueError, match="resample 'opencv-linear' does nothing without a size"):
        probe(resample="opencv-linear")


def test_methods_of_one_item_share_the_resized_truth() -> None:
    truth, hole = noise(0), square()
    first = ItemView.of_arrays(truth=truth, hole=hole, prediction=noise(1))
    second = ItemView.of_arrays(truth=truth, hole=hole, prediction=noise(2), shared=first.shared)
    one, other = (measured_view(view, size=SMALL, hole_dilations=0, full_frames=False) for view in (first, second))
    assert one.truth is other.truth
    assert (one.composite != other.composite).any()


def probe(**changes: object) -> Protocol:
    fields = {"name": "p", "metrics": {"psnr": {"data_range": 1.0, "infinite": "count"}}, "regions": ("frame",)}
    return Protocol.model_validate({**fields, "band_radius_pixels": 8, "primary": ("psnr", "frame"), **changes})


@pytest.mark.parametrize(
    "changes", [{"size": SMALL}, {"size": (30, 40)}, {"hole_dilations": 1}, {"averaging": "all_frames"}, {"known_from": "input"}]
)
def test_each_is_part_of_the_fingerprint_once_it_is_said(changes: dict[str, object]) -> None:
    assert probe(**changes).fingerprint != probe().fingerprint
    assert probe(size=None, hole_dilations=0, averaging="frames_then_items", missing={}).fingerprint == probe().fingerprint


def test_scores_are_those_of_the_small_frames(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks = tmp_path / "marks"
    install(monkeypatch, marks, "mse", size=SMALL, hole_dilations=4, regions=("frame", "hole"))
    items = write_items(tmp_path / "data", count=1)
    workspace = Workspace(tmp_path / "run")
    methods = [
        Predicted(name, predictions(workspace.blobs, items, name, level=200, full_frames=full))
        for name, full in (("fills", False), ("paints", True))
    ]
    with LocalExecutor(workspace, workers=0) as executor:
        rows = score(executor, items, root=tmp_path / "data", methods=methods, protocol=NAME)
    truth = video.read_frames(tmp_path / "data" / "truth 0.mp4")
    hole = np.zeros(truth.shape[:3], bool)
    hole[:, 10:30, 20:50] = True
    for name, painted in (("fills", np.where(hole[..., None], 200, truth)), ("paints", np.full_like(truth, 200))):
        error = ((resized(truth).astype(float) - resized(painted.astype(np.uint8))) / 255) ** 2
        inside = grown(hole)
        values = {row.region: row.value for row in rows[name].records}
        assert values["hole"] == pytest.approx(error[inside].mean(), rel=1e-6)
        assert values["frame"] == pytest.approx(np.where(inside[..., None], error, 0).mean(), rel=1e-6)


def test_an_all_frames_mean_is_the_mean_over_all_frames() -> None:
    """Of eight clips from seven sources."""
    clips = [[30.0, 32.0, 31.5], [20.0], [25.0, 26.0], [21.0], [22.0, 29.0], [24.0], [23.5], [28.0, 27.0, 26.5, 20.0]]
    sources = list("abbcdefg")
    protocol = probe(averaging="all_frames")
    weights = [protocol.weight("psnr", {"frames": len(clip)}) for clip in clips]
    means = [float(np.mean(clip)) for clip in clips]
    found = summarise(means, clusters=sources, weights=weights)
    assert found.mean == pytest.approx(np.mean(np.concatenate(clips)))
    assert found.mean != pytest.approx(np.mean(means))
    assert summarise(means, clusters=sources, weights=[2] * 8) == summarise(means, clusters=sources)
    assert found.interval_low is not None
    assert found.interval_low <= found.mean <= found.interval_high
    frames = [(source, value) for source, clip in zip(sources, clips, strict=True) for value in clip]
    without = [np.mean([value for source, value in frames if source != name]) for name in "abcdefg"]
    assert found.standard_error == pytest.approx(np.sqrt(6 / 7 * np.sum((without - np.mean(without)) ** 2)))


def test_weights_follow_values_through_missing_and_infinite_ones() -> None:
    found = summarise([1.0, None, np.inf, 4.0], clusters="abcd", weights=[1, 50, 50, 3], infinite="count")
    assert (found.mean, found.n, found.n_missing, found.n_infinite) == (pytest.approx(13 / 4), 2, 1, 1)
    assert summarise([1.0, np.inf], clusters="ab", weights=[1, 2], infinite="keep").mean == np.inf
    assert summarise([None], clusters="a", weights=[3]).mean is None


@pytest.mark.parametrize(
    ("details", "infinite", "weight"),
    [
        ({"frames": 9}, "count", 9),
        ({"frames": 9, "infinite_frames": 2}, "count", 7),
        ({"frames": 9, "infinite_frames": 9}, "count", 9),
        ({"frames": 9, "infinite_frames": 2}, "keep", 9),
        ({"pairs": 8, "infinite_pairs": 3}, "count", 5),
        ({}, "count", 1),
    ],
)
def test_an_item_weighs_as_many_frames_as_are_in_its_value(details: dict[str, int], infinite: str, weight: int) -> None:
    metrics = {"psnr": {"data_range": 1.0, "infinite": infinite}}
    assert probe(averaging="all_frames", metrics=metrics).weight("psnr", details) == weight
    assert probe(metrics=metrics).weight("psnr", details) == 1


def mean_over_frames(rows: Sequence[Score], protocol: Protocol) -> float | None:
    weights = [protocol.weight(row.metric, row.details) for row in rows]
    return summarise([row.value for row in rows], clusters=["a"] * len(rows), weights=weights).mean


def test_e2fgvi_numbers_equal_those_of_its_formulas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At 432x240 with its window, over clips of different lengths: against scikit-image and plain NumPy."""
    items = write_items(tmp_path / "data", count=2, frames=(3, 1))
    protocol = LEGACY.model_copy(update={"name": NAME, "metrics": {name: LEGACY.metrics[name] for name in ("psnr", "ssim")}})
    install(monkeypatch, tmp_path / "marks", "psnr")
    monkeypatch.setattr("scoring_probes.PROTOCOL", protocol)
    workspace = Workspace(tmp_path / "run")
    made = predictions(workspace.blobs, items, "fills", level=120)
    with LocalExecutor(workspace, workers=0) as executor:
        outcomes = score(executor, items, root=tmp_path / "data", methods=[Predicted("fills", made)], protocol=NAME)
    found = outcomes["fills"].records
    ratios, similarities = [], []
    for place in range(2):
        for frame in video.read_frames(tmp_path / "data" / f"truth {place}.mp4"):
            hole = np.zeros(frame.shape[:2], np.uint8)
            hole[10:30, 20:50] = 255
            filled = np.where(hole[..., None] > 0, np.uint8(120), frame)
            truth, fill = (np.asarray(Image.fromarray(one).resize((432, 240))) for one in (frame, filled))
            mask = np.asarray(Image.fromarray(hole).resize((432, 240), Image.Resampling.NEAREST)) > 0
            mask = ndimage.binary_dilation(mask, ndimage.generate_binary_structure(2, 1), iterations=4)[..., None]
            made_up = np.where(mask, fill, truth).astype(np.float64)
            ratios.append(20 * np.log10(255 / np.sqrt(np.mean((truth - made_up) ** 2))))
            similarities.append(structural_similarity(truth.astype(float), made_up, data_range=255, channel_axis=2, win_size=65))
    for metric, values in (("psnr", ratios), ("ssim", similarities)):
        mean = mean_over_frames([row for row in found if row.metric == metric], protocol)
        assert mean == pytest.approx(np.mean(values), rel=1e-6)
