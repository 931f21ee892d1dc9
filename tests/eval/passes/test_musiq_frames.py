"""Frames come to MUSIQ as torchvision's transforms bring them."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_networks import RANDOM

from inpaintbench.compute import Shared
from inpaintbench.errors import UnknownNameError
from inpaintbench.eval.metrics.musiq import ImagingQuality, brought_to_size, musiq, musiq_scores, target_size
from inpaintbench.models.torch_networks import running

torch = pytest.importorskip("torch")

SIZES = [(540, 600), (512, 530), (300, 400), (561, 580)]


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("antialias", [True, False])
def test_frames_are_scaled_as_published(height: int, width: int, antialias: bool) -> None:
    transforms = pytest.importorskip("torchvision.transforms")
    pictures = torch.rand(1, 3, height, width, generator=torch.Generator().manual_seed(0))
    for preprocess, side in (
        ("longer", max(height, width)),
        ("shorter", min(height, width)),
        ("shorter_centercrop", min(height, width)),
    ):
        expected = pictures
        if side > 512:
            size = (int(512.0 / side * height), int(512.0 / side * width))
            expected = transforms.Resize(size, antialias=antialias)(255 * pictures) / 255
            if preprocess == "shorter_centercrop":
                expected = transforms.CenterCrop(512)(expected)
        found = brought_to_size(pictures, preprocess=preprocess, antialias=antialias)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert brought_to_size(pictures, preprocess="none", antialias=antialias) is pictures


def test_cutting_to_whole_numbers_gives_511_for_some_sizes() -> None:
    short = [side for side in range(513, 4097) if target_size(100, side, preprocess="longer")[1] == 511]
    assert len(short) == 470
    assert {561, 644, 725} <= set(short)
    assert not {720, 1080, 1920} & set(short)
    assert target_size(512, 300, preprocess="longer") == (512, 300)


def test_every_frame_has_its_score_and_it_is_found_once() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (2, 40, 64, 3), dtype=np.uint8)
    shared = Shared(compute=RANDOM)
    found = musiq_scores(frames, shared, head="spaq", preprocess="longer", antialias=True)
    with running(RANDOM):
        pictures = torch.from_numpy(frames).permute(0, 3, 1, 2).float() / 255
        expected = [float(musiq("spaq", RANDOM)(one[None])) for one in pictures]
    assert found == pytest.approx(expected, rel=1e-4)
    assert found[0] != found[1]
    assert musiq_scores(frames, shared, head="spaq", preprocess="longer", antialias=True) == found


def test_unknown_preprocessing_suggests_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="unknown preprocessing for MUSIQ 'short', did you mean 'shorter'"):
        ImagingQuality(
            head="spaq", preprocess="short", antialias=True, divisor=100.0, gif=False, regions=("frame",), band_radius_pixels=8
        )
