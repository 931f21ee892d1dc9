"""XPSNR against what FFmpeg's filter prints, and the same without its first frame's fault."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import xpsnr
from inpaintbench.eval.metrics.xpsnr import Xpsnr, clip_decibels, frame_decibels, weighted_error, weights_of
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Frames
from inpaintbench.view import ItemView

Clip = list[np.ndarray]
FFMPEG, CORRECTED = (dict(PROTOCOLS.get(f"removal/{name}").metrics["xpsnr"]) for name in ("as-published", "paired"))


@pytest.fixture(scope="module")
def clips() -> tuple[Clip, Clip]:
    """Luma of original and copy, four frames of 432x240."""
    y, x = np.mgrid[:240, :432]
    waves = [127.5 + 60 * np.sin(2 * np.pi * (x + 2 * t) / 48) + 40 * np.cos(2 * np.pi * (y - t) / 37) for t in range(4)]
    ripple = [6 * np.sin(2 * np.pi * x / 9 + t) * np.cos(2 * np.pi * y / 7) for t in range(4)]
    return (
        [np.rint(wave).astype(np.uint8) for wave in waves],
        [np.rint(wave + more).astype(np.uint8) for wave, more in zip(waves, ripple, strict=True)],
    )


def rgb(clip: Clip) -> Frames:
    return np.repeat(np.stack(clip)[..., None], 3, axis=-1)


def measured(truth: Clip, ours: Clip, constants: Any, *, fps: float = 25.0, regions: tuple[str, ...] = ("frame",)) -> Any:
    metric = Xpsnr(**constants, regions=regions, band_radius_pixels=4)
    hole = np.zeros((len(truth), *truth[0].shape), np.bool_)
    hole[:, 100:140, 100:160] = True
    view = ItemView.of_arrays(truth=rgb(truth), composite=rgb(ours), hole=hole, fps=fps)
    return metric.measure(view.declaring(metric.name, metric.parts))


@pytest.mark.parametrize(
    ("fps", "frames", "clip"),
    [
        (25, [41.4296646, 31.3160322, 31.2700408, 31.2247363], 32.9135841),
        (50, [41.4296646, 41.6262349, 27.2140726, 27.2014728], 31.7005319),
    ],
)
def test_equals_what_ffmpeg_prints(clips: tuple[Clip, Clip], fps: float, frames: list[float], clip: float) -> None:
    true, ours = clips
    weights = weights_of(true, frames_per_second=fps, begin="black")
    errors = [
        weighted_error(np.square(one.astype(np.int32) - other), weight)
        for one, other, weight in zip(true, ours, weights, strict=True)
    ]
    assert [frame_decibels(error, 432 * 240) for error in errors] == pytest.approx(frames, abs=5e-8)
    assert measured(true, ours, FFMPEG, fps=fps)["frame"].value == pytest.approx(clip, abs=5e-8)


def test_the_roles_of_the_two_clips_differ_and_equal_ones_are_infinite_or_at_the_ceiling(clips: tuple[Clip, Clip]) -> None:
    true, ours = clips
    assert measured(ours, true, FFMPEG)["frame"].value == pytest.approx(33.9464216, abs=5e-8)
    assert measured(true, true, FFMPEG)["frame"].value == math.inf
    assert measured(true, true, CORRECTED)["frame"].value == 58.92


@pytest.mark.parametrize(("fps", "order"), [(31, 1), (31.99, 1), (32, 2)])
def test_from_32_frames_a_second_on_the_change_of_the_change_counts(clips: tuple[Clip, Clip], fps: float, order: int) -> None:
    """As in FFmpeg's filter, which takes whole frames a second."""
    slow, fast = (weights_of(clips[0], frames_per_second=known, begin="black") for known in (25, 50))
    assert not np.array_equal(slow, fast)
    assert np.array_equal(weights_of(clips[0], frames_per_second=fps, begin="black"), (slow, fast)[order - 1])


@pytest.mark.parametrize("fps", [25, 50])
def test_corrected_the_first_frames_weigh_like_the_others(clips: tuple[Clip, Clip], fps: float) -> None:
    published = weights_of(clips[0], frames_per_second=fps, begin="black")
    mended = weights_of(clips[0], frames_per_second=fps, begin="next")
    order = 2 if fps >= 32 else 1
    for at in range(4):
        assert np.array_equal(published[at], mended[at]) == (at >= order)
        assert mended[at].mean() == pytest.approx(mended[-1].mean(), rel=0.02)
    assert published[0].mean() < 0.2 * mended[0].mean()


def test_two_frames_have_one_change_however_fast_they_are(clips: tuple[Clip, Clip]) -> None:
    slow, fast = (weights_of(clips[0][:2], frames_per_second=fps, begin="next") for fps in (25, 50))
    assert np.array_equal(slow, fast)


def test_where_all_blocks_weigh_the_same_it_is_psnr_and_a_constant() -> None:
    still = [np.full((64, 96), 90, np.uint8)] * 3
    rng = np.random.default_rng(0)
    apart = []
    for amplitude in (10, 40):
        ours = [np.clip(frame + rng.integers(-amplitude, amplitude, frame.shape), 0, 255).astype(np.uint8) for frame in still]
        roots = np.mean([np.sqrt(np.square(one.astype(float) - 90).mean()) for one in ours])
        apart.append(measured(still, ours, CORRECTED)["frame"].value - 20 * math.log10(255 / roots))
    assert apart[0] == pytest.approx(apart[1], abs=1e-3)


def test_a_region_counts_its_own_pixels_with_the_weights_of_the_frame(clips: tuple[Clip, Clip]) -> None:
    true, ours = clips
    spoilt = [frame.copy() for frame in true]
    for frame, other in zip(spoilt, ours, strict=True):
        frame[100:140, 100:160] = other[100:140, 100:160]
    found = measured(true, spoilt, CORRECTED, regions=("frame", "hole"))
    assert found["frame"].value - found["hole"].value == pytest.approx(10 * math.log10(240 * 432 / (40 * 60)), abs=1e-3)
    outside = [np.where(frame == other, 255 - frame, frame).astype(np.uint8) for frame, other in zip(spoilt, true, strict=True)]
    for frame, other in zip(outside, spoilt, strict=True):
        frame[100:140, 100:160] = other[100:140, 100:160]
    assert measured(true, outside, CORRECTED, regions=("hole",))["hole"].value == found["hole"].value


def test_small_errors_are_a_mean_of_decibels_as_published(clips: tuple[Clip, Clip]) -> None:
    assert clip_decibels([0, 1], [100, 100], mean_of_small=True) == math.inf
    pooled = clip_decibels([0, 1], [100, 100], mean_of_small=False)
    assert pooled == pytest.approx(20 * math.log10(255 / 0.05))
    assert clip_decibels([4, 1], [100, 100], mean_of_small=True) == clip_decibels([4, 1], [100, 100], mean_of_small=False)


def test_what_cannot_be_measured_has_a_reason(clips: tuple[Clip, Clip], monkeypatch: pytest.MonkeyPatch) -> None:
    true, ours = clips
    with pytest.raises(NotMeasurable, match="one frame"):
        measured(true[:1], ours[:1], CORRECTED)
    assert measured(true[:1], ours[:1], FFMPEG)["frame"].value == pytest.approx(41.4296646, abs=5e-8)
    fewest = [Xpsnr(**constants, regions=("frame",), band_radius_pixels=8).fewest_frames for constants in (CORRECTED, FFMPEG)]
    assert fewest == [2, 1]  # pictures go without the one and not without the other
    monkeypatch.setattr(xpsnr, "MOST_PIXELS", 1000)
    with pytest.raises(NotMeasurable, match="432x240 are larger"):
        measured(true, ours, CORRECTED)


@pytest.mark.parametrize("size", [(1, 1), (16, 24), (9, 200), (200, 9)])
@pytest.mark.parametrize("fps", [25, 50])
def test_frames_of_any_size_have_a_value(size: tuple[int, int], fps: float) -> None:
    rng = np.random.default_rng(1)
    true, ours = ([rng.integers(0, 256, size, dtype=np.uint8) for _ in range(2)] for _ in range(2))
    for constants in (FFMPEG, CORRECTED):
        assert math.isfinite(measured(true, ours, constants, fps=fps)["frame"].value)
