"""LPIPS of parts of frames against a plain one: torchvision's trunk on whole frames, one at a time, with gradients on."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from inpaintbench import regions
from inpaintbench.compute import Compute, Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.lpips import Values, lpips_frames
from inpaintbench.models.lpips_networks import lpips
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch")
models = pytest.importorskip("torchvision.models")

MADE_UP = Compute(device="cpu", random_weights=3)
MODELS = {"alex": "alexnet", "vgg": "vgg16", "squeeze": "squeezenet1_1"}
TAPS = {"alex": [1, 4, 7, 9, 11], "vgg": [3, 8, 15, 22, 29], "squeeze": [1, 4, 7, 9, 10, 11, 12]}
HOLES = {
    "middle": (slice(30, 41), slice(50, 64)),
    "corner": (slice(0, 9), slice(0, 12)),
    "far corner": (slice(-7, None), slice(-10, None)),
    "last pixel": (slice(-1, None), slice(-1, None)),
    "edge": (slice(40, 50), slice(-3, None)),
    "one pixel": (slice(33, 34), slice(47, 48)),
    "everything": (slice(None), slice(None)),
}


@pytest.mark.parametrize("place", HOLES)
@pytest.mark.parametrize(("net", "height", "width"), [("alex", 97, 131), ("squeeze", 94, 118), ("vgg", 75, 93)])
def test_parts_of_frames_give_what_whole_frames_give(net: str, height: int, width: int, place: str) -> None:
    truth, hole, fill = item(height=height, width=width, frames=1, place=place)
    expected = plain(net, truth, hole, fill)
    assert_close(measured(net, truth, hole, [fill])[0], expected)


@pytest.mark.parametrize(("net", "least"), [("alex", 31), ("squeeze", 17), ("vgg", 16)])
def test_the_smallest_frames_are_measured_and_smaller_ones_are_not(net: str, least: int) -> None:
    truth, hole, fill = item(height=least, width=least, frames=1, place="corner")
    assert_close(measured(net, truth, hole, [fill])[0], plain(net, truth, hole, fill))
    with pytest.raises(NotMeasurable, match=f"frames of {least}x{least - 1} are too small .* '{net}'"):
        measured(net, truth[:, 1:], hole[:, 1:], [fill[:, 1:]])


def test_methods_together_give_what_each_gives_alone() -> None:
    truth, hole, fill = item(height=97, width=131, frames=3, place="middle")
    half = np.where((np.arange(131) < 56)[:, None], truth, fill)
    fills = [fill, truth, half, 255 - fill]
    together = measured("alex", truth, hole, fills)
    for one, found in zip(fills, together, strict=True):
        assert_close(found, plain("alex", truth, hole, one))
    assert together[1]["frame"] == together[1]["hole"] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("frames_at_once", [2, 5, 100])
def test_the_size_of_batches_does_not_matter(frames_at_once: int) -> None:
    truth, hole, fill = item(height=97, width=131, frames=5, place="middle")
    hole[1], hole[3] = False, np.roll(hole[3], 20, axis=1)
    one_by_one = measured("alex", truth, hole, [fill])[0]
    assert_close(measured("alex", truth, hole, [fill], frames_at_once=frames_at_once)[0], one_by_one)
    assert [len(one_by_one[region]) for region in regions.REGIONS] == [5, 4, 4]
    assert one_by_one["frame"][1] == 0


def test_a_second_metric_of_the_same_methods_costs_nothing_and_of_others_is_measured() -> None:
    truth, hole, fill = item(height=97, width=131, frames=1, place="middle")
    views = views_of(truth, hole, [fill, 255 - fill])

    def found(*places: int) -> list[Values]:
        return lpips_frames([views[place] for place in places], net="alex", regions=regions.REGIONS, band_radius_pixels=4)

    both = found(0, 1)
    assert found(0, 1) is both
    assert found(1) == both[1:]
    assert found(1) != found(0)


def test_low_precision_is_near() -> None:
    truth, hole, fill = item(height=97, width=131, frames=1, place="middle")
    low = Compute(device="cpu", random_weights=3, precision="bf16")
    exact, rounded = measured("alex", truth, hole, [fill])[0], measured("alex", truth, hole, [fill], compute=low)[0]
    assert rounded["frame"] != exact["frame"]
    assert rounded["frame"] == pytest.approx(exact["frame"], rel=0.02)
    assert rounded["hole"] == pytest.approx(exact["hole"], rel=0.02)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA here")
def test_cuda_gives_what_the_processor_gives() -> None:
    truth, hole, fill = item(height=97, width=131, frames=5, place="middle")
    cuda = Compute(device="cuda", random_weights=3)
    found, expected = (measured("alex", truth, hole, [fill], compute=compute)[0] for compute in (cuda, MADE_UP))
    for region in regions.REGIONS:
        assert found[region] == pytest.approx(expected[region], rel=1e-4)


def item(*, height: int, width: int, frames: int, place: str) -> tuple[Frames, Hole, Frames]:
    """Smooth truth, hole, and noise to fill it with."""
    rng = np.random.default_rng(0)
    waves = 128 + 90 * np.sin(np.arange(height)[:, None, None] / 7 + np.arange(width)[:, None] / 11 + np.arange(3))
    truth = np.stack([np.roll(waves, 3 * index, axis=1) for index in range(frames)]).astype(np.uint8)
    hole = np.zeros((frames, height, width), np.bool_)
    hole[:, *HOLES[place]] = True
    return truth, hole, rng.integers(0, 256, truth.shape, dtype=np.uint8)


def views_of(truth: Frames, hole: Hole, fills: list[Frames], compute: Compute = MADE_UP) -> list[ItemView]:
    shared = Shared(compute=compute)
    return [ItemView.of_arrays(truth=truth, hole=hole, prediction=fill, shared=shared) for fill in fills]


def measured(
    net: str,
    truth: Frames,
    hole: Hole,
    fills: list[Frames],
    compute: Compute = MADE_UP,
    frames_at_once: int | None = None,
) -> list[Values]:
    views = views_of(truth, hole, fills, compute)
    return lpips_frames(views, net=net, regions=regions.REGIONS, band_radius_pixels=4, frames_at_once=frames_at_once)


@lru_cache(maxsize=1)
def trunk(net: str) -> Any:
    with torch.device("meta"):  # does not draw the classifier
        features = getattr(models, MODELS[net])(weights=None).features[: TAPS[net][-1] + 1]
    features = features.to_empty(device="cpu")
    features.load_state_dict(lpips(net, MADE_UP).trunk.state_dict())
    return features.eval()


def plain(net: str, truth: Frames, hole: Hole, fill: Frames) -> Values:
    """Whole frames one at a time; in hole and band the enlarged map at their pixels."""
    composite = np.where(hole[..., None], fill, truth)
    found: Values = {region: [] for region in regions.REGIONS}
    for one, other, missing in zip(composite, truth, hole, strict=True):
        maps = [
            ((a - b) ** 2 * head.reshape(1, -1, 1, 1)).sum(1, keepdim=True).detach()
            for a, b, head in zip(plain_layers(net, one), plain_layers(net, other), lpips(net, MADE_UP).heads, strict=True)
        ]
        found["frame"].append(sum(float(part.mean()) for part in maps))
        enlarging = torch.nn.Upsample(size=missing.shape, mode="bilinear", align_corners=False)
        enlarged = sum(enlarging(part)[0, 0].numpy().astype(np.float64) for part in maps)
        for region in ("hole", "band"):
            pixels = regions.select(missing[None], region, band_radius=4)[0]
            if pixels.any():
                found[region].append(float(enlarged[pixels].mean()))
    return found


def plain_layers(net: str, frame: np.ndarray) -> list[Any]:
    activations = torch.from_numpy(frame.transpose(2, 0, 1).copy())[None].float() / 255 * 2 - 1
    shift, scale = torch.tensor([-0.030, -0.088, -0.188]), torch.tensor([0.458, 0.448, 0.450])
    activations, layers = (activations - shift.reshape(1, 3, 1, 1)) / scale.reshape(1, 3, 1, 1), []
    for index, module in enumerate(trunk(net)):
        activations = module(activations)
        if index in TAPS[net]:
            layers.append(activations / (activations.pow(2).sum(1, keepdim=True).sqrt() + 1e-10))
    return layers


def assert_close(found: Values, expected: Values) -> None:
    for region in regions.REGIONS:
        assert found[region] == pytest.approx(expected[region], rel=1e-5, abs=1e-12)
