"""Frames come to CLIP's squares exactly as torchvision's transforms bring them, which the published code uses."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.passes.frame_vectors import (
    check_way,
    kept_rows,
    scaled_size,
    short_side_scaled,
    squares_by_pillow,
    squares_of_tensor,
)

torch = pytest.importorskip("torch")
pytest.importorskip("torchvision")

SIZES = [(512, 512), (224, 224), (480, 854), (333, 227), (225, 224), (90, 123), (30, 31), (229, 224)]


def noise(height: int, width: int, frames: int = 2) -> np.ndarray:
    return np.random.default_rng(height * width).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_the_way_of_pillow_is_clips_own(height: int, width: int) -> None:
    from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Resize

    published = Compose([Resize(224, interpolation=InterpolationMode.BICUBIC), CenterCrop(224)])
    frames = noise(height, width)
    expected = np.stack([np.asarray(published(Image.fromarray(frame))) for frame in frames])
    np.testing.assert_array_equal(squares_by_pillow(frames, side=224), expected)


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_the_way_of_tensors_is_that_of_vbench(height: int, width: int) -> None:
    from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Resize

    published = Compose([Resize(224, interpolation=InterpolationMode.BICUBIC, antialias=False), CenterCrop(224)])
    pictures = torch.from_numpy(noise(height, width)).permute(0, 3, 1, 2).float()
    found = squares_of_tensor(pictures / 255, side=224)
    torch.testing.assert_close(found, published(pictures) / 255, rtol=1e-5, atol=1e-5)
    if (height, width) == (480, 854):
        assert float(found.min()) < 0 < 1 < float(found.max())  # overshoot stays


@pytest.mark.parametrize(("height", "width"), [(512, 512), (480, 854), (333, 227)])
def test_scaling_alone_is_that_of_vbench_for_dino(height: int, width: int) -> None:
    from torchvision.transforms import Resize

    pictures = torch.from_numpy(noise(height, width)).permute(0, 3, 1, 2).float()
    found = short_side_scaled(pictures / 255, side=224, mode="bilinear")
    torch.testing.assert_close(found, Resize(224, antialias=False)(pictures) / 255, rtol=1e-5, atol=1e-5)


def test_of_portrait_frames_the_bottom_square_is_kept_or_everything() -> None:
    frames = noise(50, 30)
    np.testing.assert_array_equal(kept_rows(frames, portrait="bottom"), frames[:, 20:])
    assert kept_rows(frames, portrait="centre") is frames
    wide = noise(30, 50)
    assert kept_rows(wide, portrait="bottom") is wide


def test_the_longer_side_is_cut_to_a_whole_number() -> None:
    assert scaled_size(480, 854, side=224) == (224, 398)  # 398.53
    assert scaled_size(854, 480, side=224) == (398, 224)
    assert scaled_size(224, 225, side=224) == (224, 225)


def test_unknown_ways_suggest_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown preprocessing for CLIP 'tensors', did you mean 'tensor'"):
        check_way("tensors", "centre")
    with pytest.raises(UnknownNameError, match="unknown part of portrait frames 'center', did you mean 'centre'"):
        check_way("tensor", "center")
