"""DreamSim of a small network, against the released code's arithmetic said again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from every_metric import RANDOM, moving_picture, noisy
from tiny_networks import shaken

from inpaintbench.compute import Shared
from inpaintbench.eval.metrics import dino as module
from inpaintbench.eval.metrics.dino import DreamSim
from inpaintbench.models.torch_networks import running
from inpaintbench.view import ItemView

torch = pytest.importorskip("torch")


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> Any:
    from inpaintbench.models.dino_layers import Dino

    small = shaken(lambda: Dino(width=24, layers=1, heads=3, patch_pixels=16, grid=14))
    monkeypatch.setattr(module, "dreamsim", lambda compute: small)
    return small


def measured(truth: np.ndarray, prediction: np.ndarray, hole: np.ndarray, regions: tuple[str, ...] = ("frame", "hole")) -> Any:
    metric = DreamSim(branch="dino-vit-b-16", regions=regions, band_radius_pixels=8)
    view = ItemView.of_arrays(truth=truth, composite=prediction, hole=hole, object_mask=hole, shared=Shared(compute=RANDOM))
    return metric.measure(view.declaring(metric.name, metric.parts))


def released(network: Callable[[Any], Any], one: np.ndarray, other: np.ndarray) -> float:
    """The distance of two pictures ``uint8[H, W, 3]``: torchvision's transforms, mean and norm of a transposed batch of one."""
    transforms = pytest.importorskip("torchvision.transforms")
    from PIL import Image

    squash = transforms.Resize((224, 224), interpolation=transforms.InterpolationMode.BICUBIC)
    ready = transforms.Compose(
        [squash, transforms.ToTensor(), transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))]
    )
    embedded = []
    for picture in (one, other):
        with running(RANDOM):  # one thread: more of them wait for each other on a busy machine
            vector = network.raw_class_token(ready(Image.fromarray(picture))[None])  # type: ignore[attr-defined]
        vector = (vector.T - torch.mean(vector, dim=1)).T
        embedded.append((vector.T / torch.norm(vector, dim=1)).T)
    return float(1 - torch.nn.functional.cosine_similarity(*embedded, dim=-1))


def test_frames_and_boxes_as_the_released_code_has_them(network: Any) -> None:
    truth = moving_picture(3, height=60, width=90)
    prediction, hole = noisy(truth, levels=60), np.zeros(truth.shape[:3], np.bool_)
    hole[0, 10:40, 20:70] = hole[2, 5:9, 80:90] = True
    found = measured(truth, prediction, hole)
    whole = [released(network, *pair) for pair in zip(truth, prediction, strict=True)]
    boxes = [released(network, *(np.ascontiguousarray(clip[at][box]) for clip in (truth, prediction))) for at, box in (
        (0, np.s_[10:40, 20:70]), (2, np.s_[5:9, 80:90]),
    )]  # fmt: skip
    assert found["frame"].value == pytest.approx(np.mean(whole), abs=2e-6)
    assert found["hole"].value == pytest.approx(np.mean(boxes), abs=2e-6)
    assert (found["frame"].details, found["hole"].details) == ({"frames": 3}, {"frames": 2})
    assert measured(truth, prediction, hole, ("object",))["object"].value == found["hole"].value
    assert float(np.mean(whole)) > 1e-3


def test_equal_frames_are_at_0_and_no_hole_has_a_reason(network: Any) -> None:
    truth = moving_picture(2, height=40, width=50)
    found = measured(truth, truth.copy(), np.zeros(truth.shape[:3], np.bool_))
    assert found["frame"].value == 0
    assert found["hole"].value is None
    assert found["hole"].reason == "no frame has a pixel of the region 'hole'"
