"""D over arrays: its identities, and values against sums written out here."""

from __future__ import annotations

import math

import numpy as np
import pytest
from skimage import data
from skimage.metrics import peak_signal_noise_ratio, structural_similarity

from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import InputError
from inpaintbench.eval.methods.base import Method
from inpaintbench.eval.methods.each_frame import Telea
from inpaintbench.eval.metrics.base import Measurement
from inpaintbench.eval.protocols.base import SSIM_VARIANTS, mean_of_decibels
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView, composite
from inpaintbench.wings.reinpaint import engine
from inpaintbench.wings.reinpaint.setting import Patches, patch_mask, second_hole

METRICS = {"psnr": mean_of_decibels("count"), "ssim": SSIM_VARIANTS["uniform_7"]}
LPIPS = {"lpips": {"net": "alex", "version": "0.1"}}
SIZE = 96


def picture() -> Frames:
    return np.ascontiguousarray(data.coffee()[None, 150 : 150 + SIZE, 200 : 200 + SIZE])


def square() -> Hole:
    hole = np.zeros((1, SIZE, SIZE), bool)
    hole[:, 30:60, 20:70] = True
    return hole


def holes(ratio: float = 0.4, count: int = 3) -> list[Hole]:
    patches = Patches(ratio=ratio, size_pixels=16)
    drawn = [patch_mask(patches, item_id="a", number=k, frames=1, height=SIZE, width=SIZE) for k in range(count)]
    return [second_hole(one, square()) for one in drawn]


class Truth(Method):
    """A second method that knows the answer."""

    name, version, needs, divisor = "truth", "1", ("input", "hole"), 1

    def __init__(self, answer: Frames, *, elsewhere: int = 0) -> None:
        self.answer, self.elsewhere = answer, elsewhere

    def inpaint(self, view: ItemView) -> Frames:
        changed = (self.answer.astype(int) + self.elsewhere).clip(0, 255).astype(np.uint8)
        return composite(changed, view.hole, self.answer)


def d(leaf: object, first: Frames, seconds: list[Hole], *, composited: bool) -> dict[str, Measurement]:
    made = [engine.inpaint_again(leaf, first, hole, fill=0, composited=composited) for hole in seconds]
    return {name: engine.mean_over_masks(found) for name, found in engine.distances(first, made, metrics=METRICS).items()}


@pytest.mark.parametrize("composited", [True, False])
def test_a_second_method_that_repeats_the_first_result_is_perfectly_consistent(composited: bool) -> None:
    found = d(Truth(picture()), picture(), holes(), composited=composited)
    assert found["psnr"].value == math.inf
    assert found["ssim"].value == 1.0
    assert engine.excess(math.inf, math.inf) == 0.0


@pytest.mark.parametrize("leaf", [Telea(), Truth(picture(), elsewhere=9)])
def test_nothing_hidden_leaves_nothing_to_differ_when_composited(leaf: object) -> None:
    found = d(leaf, picture(), holes(ratio=0.0), composited=True)
    assert found["psnr"].value == math.inf
    assert found["ssim"].value == 1.0


def test_pixels_outside_the_second_hole_count_unless_composited() -> None:
    vandal = Truth(picture(), elsewhere=9)
    kept = engine.inpaint_again(vandal, picture(), holes()[0], fill=0, composited=False)
    made = engine.inpaint_again(vandal, picture(), holes()[0], fill=0, composited=True)
    assert (made == picture()).all()
    assert (kept[~holes()[0]] != picture()[~holes()[0]]).mean() > 0.9
    assert float(d(vandal, picture(), holes(), composited=False)["ssim"].value or 0) < 1.0


@pytest.mark.parametrize("composited", [True, False])
def test_the_first_fill_is_never_hidden_again(composited: bool) -> None:
    rng = np.random.default_rng(0)
    first = composite(picture(), square(), rng.integers(0, 256, picture().shape, dtype=np.uint8))
    for hole in holes(0.6):
        made = engine.inpaint_again(Telea(), first, hole, fill=0, composited=composited)
        assert (made[square()] == first[square()]).all()


def test_a_constant_picture_is_repeated_by_any_smooth_method() -> None:
    class Mean(Truth):
        def inpaint(self, view: ItemView) -> Frames:
            known = view.input[~view.hole].mean(axis=0)
            return composite(view.input, view.hole, np.broadcast_to(np.rint(known).astype(np.uint8), view.input.shape).copy())

    flat = np.full_like(picture(), 77)
    assert d(Mean(flat), flat, holes(), composited=True)["psnr"].value == math.inf


def test_the_hidden_pixels_are_not_shown_to_the_second_method() -> None:
    hole = holes()[0]
    scrambled = composite(picture(), hole, 255 - picture())
    one, other = (engine.inpaint_again(Telea(), first, hole, fill=9, composited=False) for first in (picture(), scrambled))
    assert (one == other).all()


def test_values_are_those_of_scikit_image() -> None:
    first, seconds = picture(), [engine.inpaint_again(Telea(), picture(), hole, fill=0, composited=True) for hole in holes()]
    found = engine.distances(first, seconds, metrics=METRICS)
    for place, second in enumerate(seconds):
        assert found["psnr"][place].value == pytest.approx(peak_signal_noise_ratio(first[0], second[0]), abs=1e-9)
        likeness = structural_similarity(first[0], second[0], channel_axis=2)
        assert found["ssim"][place].value == pytest.approx(likeness, abs=1e-6)
    mean = engine.mean_over_masks(found["psnr"])
    assert mean.value == pytest.approx(np.mean([one.value for one in found["psnr"]]))
    assert mean.details["masks"] == 3
    assert mean.details["values"] == [one.value for one in found["psnr"]]


def test_the_mean_over_masks_is_linear() -> None:
    seconds = [engine.inpaint_again(Telea(), picture(), hole, fill=0, composited=True) for hole in holes(count=6)]
    values = engine.distances(picture(), seconds, metrics=METRICS)["ssim"]
    parts = [engine.mean_over_masks(part).value for part in (values[:2], values[2:], values)]
    assert parts[2] == pytest.approx((2 * float(parts[0] or 0) + 4 * float(parts[1] or 0)) / 6)


def test_of_clips_the_mean_over_frames_is_taken() -> None:
    clip = np.concatenate([picture(), picture()[:, ::-1], picture()[:, :, ::-1]])
    hole = np.repeat(holes()[0], 3, axis=0)
    made = engine.inpaint_again(Telea(), clip, hole, fill=0, composited=True)
    alone = [engine.distances(clip[t : t + 1], [made[t : t + 1]], metrics=METRICS)["psnr"][0].value for t in range(3)]
    assert engine.distances(clip, [made], metrics=METRICS)["psnr"][0].value == pytest.approx(np.mean(alone))


def test_lpips_of_many_at_once_is_that_of_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("torchvision")
    shared = Shared(compute=Compute(device="cpu", random_weights=1))
    seconds = [engine.inpaint_again(Telea(), picture(), hole, fill=0, composited=True) for hole in holes()]
    together = engine.distances(picture(), seconds, metrics=LPIPS, shared=shared)["lpips"]
    alone = [engine.distances(picture(), [one], metrics=LPIPS, shared=shared)["lpips"][0].value for one in seconds]
    assert [one.value for one in together] == pytest.approx(alone, rel=1e-5)
    assert all(value > 0 for value in alone if value is not None)
    monkeypatch.setenv("INPAINTBENCH_WEIGHTS", "/nonexistent")
    monkeypatch.setenv("INPAINTBENCH_CACHE", "/nonexistent")
    [lost] = engine.distances(picture(), seconds[:1], metrics=LPIPS)["lpips"]
    assert lost.value is None
    assert "inpaintbench models" in str(lost.reason)
    assert engine.mean_over_masks([Measurement(1.0), lost]) == Measurement(None, lost.reason)


def test_without_masks_there_is_no_value() -> None:
    assert engine.mean_over_masks([]).value is None


def test_infinite_masks_are_left_out_and_counted() -> None:
    found = engine.mean_over_masks([Measurement(30.0), Measurement(math.inf), Measurement(34.0)])
    assert (found.value, found.details["infinite_masks"]) == (32.0, 1)
    assert found.details["values"] == [30.0, None, 34.0]


def test_over_the_known_area_the_same_errors_score_the_same() -> None:
    """An error on every hidden pixel gives one value whatever the first hole took away."""
    ratio, error = 0.4, 0.02
    for area in (0.0, 0.1, 0.5):
        hidden = ratio * (1 - area)
        squares = hidden * error**2
        assert engine.per_known_area("lpips", hidden * error, area) == pytest.approx(ratio * error)
        assert engine.per_known_area("ssim", 1 - hidden * error, area) == pytest.approx(1 - ratio * error)
        found = engine.per_known_area("psnr", 10 * math.log10(1 / squares), area)
        assert found == pytest.approx(10 * math.log10(1 / (ratio * error**2)))
    assert engine.per_known_area("psnr", math.inf, 0.3) == math.inf
    assert engine.per_known_area("lpips", 0.3, 1.0) is None


def test_the_excess_is_over_what_the_truth_has() -> None:
    assert engine.excess(0.3, 0.25) == pytest.approx(0.05)
    assert engine.excess(0.25, 0.25) == 0.0
    assert engine.excess(math.inf, 30.0) == math.inf
    assert engine.excess(30.0, math.inf) is None


def test_a_second_method_has_to_keep_the_size() -> None:
    half = Truth(picture())
    half.inpaint = lambda view: view.input[:, ::2]  # type: ignore[method-assign]
    with pytest.raises(InputError, match="gave uint8"):
        engine.inpaint_again(half, picture(), holes()[0], fill=0, composited=False)
