"""DINO of frames: what goes in, and once for all that ask."""

from __future__ import annotations

import numpy as np
import pytest
from tiny_networks import RANDOM

from inpaintbench.compute import Shared
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics.dino import dino_vectors
from inpaintbench.models.dino import dino
from inpaintbench.models.torch_networks import running
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch")


def test_frames_are_scaled_normalised_and_not_cropped() -> None:
    transforms = pytest.importorskip("torchvision.transforms")
    frames = np.random.default_rng(0).integers(0, 256, (2, 70, 101, 3), dtype=np.uint8)
    view = ItemView.of_arrays(prediction=frames, shared=Shared(compute=RANDOM))
    found = dino_vectors(view, side_pixels=32)
    published = transforms.Compose(
        [
            transforms.Resize(32, antialias=False),
            transforms.Lambda(lambda pictures: pictures / 255.0),
            transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
        ]
    )
    with running(RANDOM):
        expected = dino(RANDOM)(published(torch.from_numpy(frames).permute(0, 3, 1, 2).float())).double()
    torch.testing.assert_close(torch.from_numpy(found), torch.nn.functional.normalize(expected), rtol=1e-4, atol=1e-6)
    assert dino_vectors(view, side_pixels=32) is found


def test_a_strip_is_no_picture() -> None:
    frames = np.zeros((1, 1, 2000, 3), np.uint8)
    with pytest.raises(NotMeasurable, match="frames of 2000x1 are too long for their width for DINO"):
        dino_vectors(ItemView.of_arrays(prediction=frames, shared=Shared(compute=RANDOM)), side_pixels=224)
