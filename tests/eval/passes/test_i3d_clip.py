"""I3D over whole clips: against an independent network."""

from __future__ import annotations

from dataclasses import replace

import i3d_reference as reference
import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.passes.i3d_clip import Constants, i3d_clip
from inpaintbench.models import i3d
from inpaintbench.models.torch_networks import network
from inpaintbench.types import Frames

COMPUTE = Compute(device="cpu", random_weights=3)
GROWN = replace(COMPUTE, few_shapes=True)

# Of the length of a vector: processors sum float32 in other orders, and norms over batches enlarge that (1.05e-5 on one).
CLOSE = 3e-5


def clips(frames: int = 13, height: int = 34, width: int = 44) -> tuple[Frames, list[Frames]]:
    """A clip; itself, with a wandering hole filled in two ways from the third frame on, and something else altogether."""
    rng = np.random.default_rng(0)
    truth, one, other = rng.integers(0, 256, (3, frames, height, width, 3), dtype=np.uint8)
    filled = [truth.copy(), truth.copy()]
    for index in range(2, frames):
        for fill, source in zip(filled, (one, other), strict=True):
            fill[index, index : index + 9, :5] = source[index, index : index + 9, :5]
    return truth, [truth.copy(), *filled, one]


def expected(clip: Frames, *, train: bool = False, low: float = 0.0) -> np.ndarray:
    state = network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS).state_dict()
    x = torch.from_numpy(clip).permute(3, 0, 1, 2)[None] / 255 * (1 - low) + low
    found: np.ndarray = reference.features(state, x, train=train)["Mixed_5c"].mean(dim=(0, 2, 3, 4)).numpy()
    return found


@pytest.mark.parametrize("compute", [COMPUTE, pytest.param(GROWN, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("batch_norm", "low"), [("eval", 0.0), pytest.param("eval", -1.0, marks=pytest.mark.long), ("train", 0.0)]
)
def test_a_vector_is_that_of_the_whole_network(batch_norm: i3d.BatchNorm, low: float, compute: Compute) -> None:
    truth, composites = clips()
    found = i3d_clip(truth, composites, Constants(low, 1.0, batch_norm), Shared(compute=compute))
    options = {"train": batch_norm == "train", "low": low}
    reference.assert_close(found.truth, expected(truth, **options), CLOSE)
    for one, composite in zip(found.composites, composites, strict=True):
        reference.assert_close(one, expected(composite, **options), CLOSE)
    assert (found.composites[0] == found.truth).all()


@pytest.mark.parametrize("frames", [1, 4])
def test_short_clips(frames: int) -> None:
    truth, composites = clips(frames)
    found = i3d_clip(truth, composites[-1:], Constants(0.0, 1.0, "eval"), Shared(compute=COMPUTE))
    reference.assert_close(found.composites[0], expected(composites[-1]), CLOSE)


@pytest.mark.parametrize("batch_norm", ["eval", "train"])
def test_a_known_truth_changes_nothing(batch_norm: i3d.BatchNorm) -> None:
    truth, composites = clips()
    constants = Constants(0.0, 1.0, batch_norm)
    both = i3d_clip(truth, composites[:3], constants, Shared(compute=COMPUTE))
    for chosen in ([0, 1, 2], [2]):
        known = i3d_clip(truth, [composites[index] for index in chosen], constants, Shared(compute=COMPUTE), truth=both.truth)
        reference.assert_close(known.composites, both.composites[chosen], CLOSE)


def test_what_is_known_moves_not_even_the_last_digit() -> None:
    """Which of several items with one truth comes first depends on how workers share them."""
    truth, composites = clips(6, 160, 224)
    constants = Constants(-1.0, 1.0, "eval")
    fresh = i3d_clip(truth, composites[1:2], constants, Shared(compute=COMPUTE))
    known = i3d_clip(truth, composites[1:2], constants, Shared(compute=COMPUTE), truth=fresh.truth)
    assert (known.composites == fresh.composites).all()


@pytest.mark.parametrize("compute", [COMPUTE, GROWN])
def test_pieces_in_time_do_not_matter(compute: Compute) -> None:
    truth, composites = clips()
    one_frame_at_a_time, at_once = (
        i3d_clip(truth, composites[1:3], Constants(0.0, 1.0, "eval"), Shared(compute=replace(compute, batch_bytes=size)))
        for size in (1, 1 << 40)
    )
    reference.assert_close(one_frame_at_a_time.truth, at_once.truth, CLOSE)
    reference.assert_close(one_frame_at_a_time.composites, at_once.composites, CLOSE)
