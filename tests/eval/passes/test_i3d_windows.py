"""I3D over windows: against an independent network that looks at each window wholly and alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import i3d_reference as reference
import numpy as np
import pytest

pytest.importorskip("torch")
import torch

from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.passes.i3d_windows import LAYERS, Constants, Windows, i3d_windows
from inpaintbench.models import i3d
from inpaintbench.models.torch_networks import network
from inpaintbench.types import Frames, Hole
from inpaintbench.view import ItemView

COMPUTE = Compute(device="cpu", random_weights=3)
GROWN = replace(COMPUTE, few_shapes=True)
DEVIL = Constants(window_frames=10, stride_frames=1, input_low=0.0, input_high=1.0, batch_norm="eval")


@pytest.fixture(scope="module")
def state() -> dict[str, torch.Tensor]:
    torch.set_num_threads(1)
    state: dict[str, torch.Tensor] = network(i3d.build, COMPUTE, weights_name=i3d.WEIGHTS).state_dict()
    return state


def noise(seed: int, *, frames: int = 11, height: int = 34, width: int = 44) -> Frames:
    return np.random.default_rng(seed).integers(0, 256, (frames, height, width, 3), dtype=np.uint8)


def hole_of(paint: Callable[[Hole, int], None], *, frames: int = 11, height: int = 34, width: int = 44) -> Hole:
    hole = np.zeros((frames, height, width), np.bool_)
    for index in range(frames):
        paint(hole[index], index)
    return hole


def measured(
    truth: Frames, hole: Hole, predictions: list[Frames], constants: Constants = DEVIL, *, compute: Compute = COMPUTE
) -> list[Windows]:
    shared = Shared(compute=compute)
    return i3d_windows(
        [ItemView.of_arrays(truth=truth, hole=hole, prediction=one, shared=shared) for one in predictions], constants
    )


def corner(row: slice, column: slice) -> Callable[[Any, int], None]:
    def paint(hole: Any, index: int) -> None:
        hole[row, column] = True

    return paint


def moving(hole: Any, index: int) -> None:
    hole[10 + index : 14 + index, 3 * index : 3 * index + 9] = True


def sometimes(hole: Any, index: int) -> None:
    hole[11:13, 17:18] = index == 1


PLACES = {
    "top left": corner(slice(0, 5), slice(0, 9)),
    "bottom right": corner(slice(-3, None), slice(-4, None)),
    "left edge": corner(slice(15, 18), slice(0, 2)),
    "bottom edge": corner(slice(-1, None), slice(12, 20)),
    "moving": moving,
    "one frame": sometimes,
    "everywhere": corner(slice(None), slice(None)),
}


@pytest.mark.parametrize("compute", [COMPUTE, pytest.param(GROWN, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    ("place", "height", "width"),
    [*((place, 43, 69) for place in PLACES), ("bottom right", 32, 64), ("left edge", 20, 420)],
)
def test_a_window_is_that_of_the_whole_network(
    place: str, height: int, width: int, compute: Compute, state: dict[str, torch.Tensor]
) -> None:
    size = {"height": height, "width": width, "frames": 11}
    truth, prediction, hole = noise(0, **size), noise(1, **size), hole_of(PLACES[place], **size)
    view = ItemView.of_arrays(truth=truth, hole=hole, prediction=prediction, shared=Shared(compute=compute))
    [found] = i3d_windows([view], DEVIL)
    assert found.distances.shape == (4, 2)
    expected = reference.distance(truth[1:], view.composite[1:], state)
    np.testing.assert_allclose(found.distances[:, 1], expected, rtol=1e-4, atol=1e-7)
    deep = reference.features(state, torch.from_numpy(view.composite[1:]).permute(3, 0, 1, 2)[None] / 255)["Mixed_5c"]
    reference.assert_close(found.vectors[1], deep.mean(dim=(0, 2, 3, 4)), 1e-5)


def test_the_distance_of_a_window_is_of_order_one(state: dict[str, torch.Tensor]) -> None:
    """Or nothing else here would mean much."""
    everywhere = hole_of(PLACES["everywhere"])
    [found] = measured(noise(0), everywhere, [noise(1) // 3])
    assert (found.distances > 1e-3).all()
    assert 0.05 < found.vectors.mean() < 20


def test_methods_do_not_matter_to_each_other() -> None:
    truth, hole = noise(0), hole_of(moving)
    predictions = [noise(1), truth, noise(2), np.full_like(truth, 7)]
    together = measured(truth, hole, predictions)
    for prediction, one in zip(predictions, together, strict=True):
        [alone] = measured(truth, hole, [prediction])
        np.testing.assert_allclose(alone.distances, one.distances, rtol=1e-4)
        np.testing.assert_allclose(alone.distances.sum(axis=0), one.distances.sum(axis=0), rtol=1e-5)
        reference.assert_close(alone.vectors, one.vectors, 1e-5)
    assert not together[1].distances.any()
    assert (together[1].vectors == together[1].truth_vectors).all()


def test_batches_do_not_matter() -> None:
    truth, hole = noise(0, frames=13), hole_of(moving, frames=13)
    one, all_at_once = (
        measured(truth, hole, [noise(1, frames=13)], compute=Compute(device="cpu", random_weights=3, batch_bytes=size))[0]
        for size in (1, 1 << 40)
    )
    np.testing.assert_allclose(one.distances.sum(axis=0), all_at_once.distances.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(one.distances, all_at_once.distances, rtol=1e-4)
    reference.assert_close(one.vectors, all_at_once.vectors, 1e-5)
    reference.assert_close(one.truth_vectors, all_at_once.truth_vectors, 1e-5)


@pytest.mark.parametrize(("window", "stride"), [(10, 3), (7, 2), (16, 5), (3, 4), (1, 1)])
def test_other_windows(window: int, stride: int, state: dict[str, torch.Tensor]) -> None:
    frames, hole = noise(0, frames=17, height=20, width=33), hole_of(moving, frames=17, height=20, width=33)
    view = ItemView.of_arrays(truth=frames, hole=hole, prediction=255 - frames, shared=Shared(compute=COMPUTE))
    [found] = i3d_windows([view], Constants(window, stride, -1.0, 1.0, "eval"))
    starts = range(0, 17 - window + 1, stride)
    assert found.distances.shape == (4, len(starts))
    assert found.vectors.shape == found.truth_vectors.shape == (len(starts), i3d.LENGTH)
    last = frames[starts[-1] : starts[-1] + window]
    clip = torch.from_numpy(last).permute(3, 0, 1, 2)[None] / 127.5 - 1
    expected = reference.features(state, clip)["Mixed_5c"].mean(dim=(0, 2, 3, 4))
    reference.assert_close(found.truth_vectors[-1], expected, 1e-5)


def test_short_clips_repeat_their_own_last_frame() -> None:
    truth, hole, prediction = (part(7) for part in (lambda n: noise(0, frames=n), lambda n: hole_of(moving, frames=n),
                                                    lambda n: noise(1, frames=n)))  # fmt: skip
    [short] = measured(truth, hole, [prediction])
    longer = [np.concatenate([part, part[[-1] * 3]]) for part in (truth, hole, prediction)]
    [repeated] = measured(longer[0], longer[1], [longer[2]])
    assert short.distances.shape == (4, 1)
    assert (short.distances == repeated.distances).all()


def test_statistics_of_each_window_itself(state: dict[str, torch.Tensor]) -> None:
    truth, hole, prediction = noise(0, frames=11), hole_of(moving, frames=11), noise(1, frames=11)
    view = ItemView.of_arrays(truth=truth, hole=hole, prediction=prediction, shared=Shared(compute=COMPUTE))
    [found] = i3d_windows([view], Constants(10, 1, 0.0, 1.0, "train"))
    expected = reference.distance(truth[1:], view.composite[1:], state, train=True)
    np.testing.assert_allclose(found.distances[:, 1], expected, rtol=1e-4)


def test_is_symmetric() -> None:
    everywhere = hole_of(PLACES["everywhere"])
    [one], [other] = measured(noise(0), everywhere, [noise(1)]), measured(noise(1), everywhere, [noise(0)])
    np.testing.assert_allclose(one.distances, other.distances, rtol=1e-4)
    reference.assert_close(one.vectors, other.truth_vectors, 1e-5)


def test_is_made_once_for_the_same_frames_only() -> None:
    truth, hole, shared = noise(0), hole_of(moving), Shared(compute=COMPUTE)
    view = ItemView.of_arrays(truth=truth, hole=hole, prediction=noise(1), shared=shared)
    other = ItemView.of_arrays(truth=truth, hole=hole, prediction=noise(2), shared=shared)
    assert i3d_windows([view], DEVIL) is i3d_windows([view.declaring("a", ("truth", "composite"))], DEVIL)
    assert (i3d_windows([other], DEVIL)[0].distances != i3d_windows([view], DEVIL)[0].distances).all()


def test_the_layers_are_those_of_the_paper() -> None:
    assert LAYERS == reference.LAYERS
