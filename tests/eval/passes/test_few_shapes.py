"""How many shapes convolutions see, and how many bytes travel, over many items with holes of all sizes and places."""

from __future__ import annotations

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

pytest.importorskip("torch")
import torch
from few_shapes_probes import Convolutions, as_on_card, views

from inpaintbench.compute import Compute
from inpaintbench.eval.metrics.base import Metric
from inpaintbench.eval.passes import changed_windows
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.models import torch_networks

ITEMS, FRAMES = 32, 10
NETWORKS = ("pvcs", "vfid", "lpips")


def metrics(*names: str) -> list[Metric]:
    return PROTOCOLS.get("devil/as-published").build_metrics(names)


@pytest.mark.parametrize("count", [4, pytest.param(ITEMS, marks=pytest.mark.long)])
@pytest.mark.parametrize("batch_bytes", [None, 4 << 30])
def test_convolutions_see_at_most_64_sizes_whatever_the_holes(count: int, batch_bytes: int | None) -> None:
    """On the processor, and with the convolutions and batches of a card."""
    seen = Convolutions()
    with seen, as_on_card() if batch_bytes else nullcontext():
        for item in views(Compute(device="cpu", random_weights=3, few_shapes=True, batch_bytes=batch_bytes), count=count):
            for metric in metrics(*NETWORKS):
                metric.measure_together(item)
    assert seen.calls > 100 * count
    assert len(seen.sizes) <= 64 - 8  # of the network of FID, which sees whole frames of one size


@pytest.mark.long
def test_exact_boxes_see_several_times_as_many() -> None:
    """Or the test above would not say much."""
    seen = Convolutions()
    with seen:
        for item in views(Compute(device="cpu", random_weights=3), count=8):
            for metric in metrics(*NETWORKS):
                metric.measure_together(item)
    assert len(seen.sizes) > 64


@pytest.mark.long
def test_a_clip_travels_once_for_all_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    changed = changed_windows.changed_box
    monkeypatch.setattr(changed_windows, "changed_box", lambda *pair: looked.append(1) or changed(*pair))
    for item in views(Compute(device="cpu", random_weights=3, batch_bytes=1 << 30), count=2, methods=2):
        torch_networks.UPLOADS.clear()
        looked.clear()
        for metric in metrics(*NETWORKS, "fid"):
            metric.measure_together(item)
        clips = 3 * item[0].truth.nbytes
        assert sum(size >= item[0].truth.nbytes for size in torch_networks.UPLOADS) == 3
        assert clips <= sum(torch_networks.UPLOADS) <= 1.2 * clips
        assert len(torch_networks.UPLOADS) <= 3 + FRAMES
        assert len(looked) == 2 * FRAMES


def test_frames_that_are_read_only_are_not_copied_on_the_processor() -> None:
    frames = np.zeros((2, 4, 5, 3), np.uint8)
    frames.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensor = torch_networks.on_device(frames, torch.device("cpu"))
    assert tensor.data_ptr() == frames.ctypes.data


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 100])
def test_copies_go_through_two_buffers_that_stay(size: int) -> None:
    stage = torch_networks.Stage(torch.device("cpu"), buffer_bytes=8)
    buffers = [buffer.data_ptr() for buffer in stage.buffers]
    given = torch.arange(size, dtype=torch.float32).reshape(-1, 1)
    copied = stage.to_device(given)
    assert torch.equal(copied, given)
    assert not size or copied.data_ptr() != given.data_ptr()
    assert [buffer.data_ptr() for buffer in stage.buffers] == buffers
