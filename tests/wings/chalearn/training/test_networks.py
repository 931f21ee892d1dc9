"""The networks against their descriptions."""

from __future__ import annotations

import re
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image

from inpaintbench.wings.chalearn.training.networks import NETWORKS, frames_of_patches, halved, patch_examples, patches_of
from inpaintbench.wings.chalearn.training.train import losses_csv, losses_svg

torch = pytest.importorskip("torch", reason="PyTorch is not installed")


def count(name: str, width: int) -> int:
    return sum(part.numel() for part in NETWORKS[name].build(width).parameters())


def normalised(*layers: tuple[int, int, int]) -> int:
    """Parameters of convolutions (side, channels in, channels out) with batch normalisation."""
    return sum(side * side * before * after + 2 * after for side, before, after in layers)


def test_the_networks_have_the_published_layers() -> None:
    three = lambda *channels: [(3, *pair) for pair in pairwise(channels)]  # noqa: E731
    frame = normalised(*three(3, 64, 64, 128, 128, 256, 256, 512, 256, 256, 128)) + 9 * 128 * 3 + 3
    assert count("frame_autoencoder", 64) == frame
    residual = normalised((9, 3, 32), (3, 32, 64), (3, 64, 128), *[(3, 128, 128)] * 10, (3, 128, 64), (3, 64, 32), (9, 32, 1))
    assert count("residual_encoder", 32) == residual
    assert count("patch_autoencoder", 32) < count("frame_autoencoder", 64) / 4, "the second baseline is lighter"


def test_a_challenge_print_is_worked_on_at_138_by_200() -> None:
    assert halved(Image.new("L", (275, 400))).size == (138, 200)
    made = NETWORKS["residual_encoder"].build(2).eval()
    with torch.inference_mode():
        levels = made(torch.rand(1, 3, 200, 138))
    assert levels.shape == (1, 1, 200, 138)
    assert 0 <= levels.min() <= levels.max() <= 255


@pytest.mark.parametrize(("frames", "rows", "columns", "channels"), [(1, 1, 1, 3), (3, 2, 4, 3), (2, 3, 1, 1)])
def test_frames_come_back_from_their_patches(frames: int, rows: int, columns: int, channels: int) -> None:
    whole = np.random.default_rng(0).integers(0, 256, (frames, 32 * rows, 32 * columns, channels), dtype=np.uint8)
    patches = patches_of(whole)
    number = 0
    for frame in range(frames):
        for top in range(0, 32 * rows, 32):
            for left in range(0, 32 * columns, 32):
                np.testing.assert_array_equal(patches[number], whole[frame, top : top + 32, left : left + 32])
                number += 1
    assert len(patches) == number
    back = frames_of_patches(patches, frames=frames, height=32 * rows, width=32 * columns)
    np.testing.assert_array_equal(back, whole)


def test_one_painted_pixel_makes_a_patch_one_with_text() -> None:
    hole = np.zeros((2, 64, 64), np.bool_)
    hole[1, 40, 5] = True
    frames = np.zeros((2, 64, 64, 3), np.uint8)
    *_, text = patch_examples(frames, frames, hole)
    assert list(np.flatnonzero(text)) == [6]


def test_the_curve_is_a_picture_of_the_losses() -> None:
    losses = [10.0 ** (-step / 500) for step in range(1000)]
    assert losses_csv(losses[:2]) == f"step,loss\n1,1\n2,{10 ** (-1 / 500):.9g}\n".encode()
    drawn = losses_svg(losses, name="a <network>").decode()
    assert "a &lt;network&gt;" in drawn
    line = max(re.findall(r' d="M([^"]*)"', drawn), key=len)
    points = [tuple(map(float, point.split(","))) for point in line.split("L")]
    assert len(points) == 200
    # Straight on a logarithmic scale, and falling: y grows downwards.
    steps = np.diff(np.array(points), axis=0)
    assert np.allclose(steps, steps[0], atol=0.03)
    assert (steps > 0).all()
    for few in ([0.5], [0.0, 0.0]):
        assert losses_svg(few, name="n").startswith(b"<svg")
