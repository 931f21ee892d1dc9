"""Every metric of the catalogue, built by the constants of a protocol, and items that it can measure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from of_wings import is_of_a_wing

from inpaintbench import regions
from inpaintbench.compute import Compute, Shared
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.types import Frames, Hole, Prompts
from inpaintbench.view import ItemView, composite

RANDOM = Compute(device="cpu", random_weights=3)
"""Made-up parameters: what holds must hold for any."""
HEIGHT, WIDTH = 72, 90
"""Holds a patch of PCons and the search around it; no width that is a multiple of a vector register."""
_SMALL: Mapping[str, Mapping[str, Any]] = {
    "success_rate": {"network": "tiny"},
    "clip_similarity": {"network": "tiny"},
    "cmmd": {"network": "tiny"},
    "clip_score": {"network": "tiny"},
    "clip_neighbours": {"network": "tiny"},
    "background_consistency": {"network": "tiny"},
    "aesthetic_quality": {"network": "tiny-768"},
    "subject_consistency": {"network": "dino-vit-b-16", "side_pixels": 32},
    "niqe": {"block_pixels": 24},
}
"""Constants of networks of the same classes that take no seconds; ``tiny_networks.add_tiny_clip`` makes the names known."""


_B32: Mapping[str, Any] = {"network": "ViT-B/32", "preprocess": "pillow", "portrait": "centre"}
OF_NO_PROTOCOL: Mapping[str, Mapping[str, Any]] = {
    "dssim": {
        "data_range": 1.0, "sigma": 1.5, "taps": 11, "window_pixels": 11, "k1": 0.01, "k2": 0.03, "ddof": 0,
    },
    "ff_alpha": {
        "flow": "farneback", "mask": "luma_at_most", "mask_level": 5, "least_valid_share": 0.7, "empty": "leave_out",
    },
    "ff_beta": {
        "flow": "farneback", "mask": "luma_at_most", "mask_level": 5, "least_valid_share": 0.7, "least_motion_pixels": 0.5,
    },
    "semantic_score": {"empty": "leave_out"},
    "success_rate": {**_B32, "tie": 0.5},
    "clip_similarity": _B32,
    "subject_consistency": {"network": "dino-vit-b-16", "side_pixels": 224, "gif": False, "least_cosine": 0.0},
    "background_consistency": {**_B32, "gif": False, "least_cosine": 0.0},
    "aesthetic_quality": {**_B32, "network": "ViT-L/14", "divisor": 10.0, "gif": False},
    "imaging_quality": {"head": "spaq", "preprocess": "longer", "antialias": True, "divisor": 100.0, "gif": False},
}  # fmt: skip
"""Usual constants of metrics that only protocols of wings have: without those they are tried all the same."""


def measured_here(name: str) -> bool:
    """Whether one look at a prediction gives its value; scores of re-inpainting come from a command of their own."""
    return not METRICS.get(name).command


def runs_network(name: str) -> bool:
    """Whether it takes trained parameters under the constants of ``constants_of``."""
    return bool(METRICS.get(name).weights_of(_published(name)))


def constants_of(name: str) -> dict[str, Any]:
    """Those of a corrected protocol where one has the metric, else of the first that has it."""
    return {**_published(name), **_SMALL.get(name, {})}


def _published(name: str) -> Mapping[str, Any]:
    having = [found for found in map(PROTOCOLS.get, PROTOCOLS) if name in found.metrics]
    corrected = [found for found in having if found.name.endswith("/corrected")]
    return dict((corrected or having)[0].metrics[name]) if having else OF_NO_PROTOCOL[name]


def of_a_wing(name: str) -> bool:
    """Whether a wing brings it, whose own tests say what is expected of it."""
    return is_of_a_wing(METRICS, name)


def built(name: str) -> Any:
    """The metric, for frame, hole and band, or for the regions of an object where it answers for none of them."""
    some = regions.REGIONS if set(regions.REGIONS) & set(METRICS.get(name).answers) else regions.OBJECT_REGIONS
    return METRICS.get(name)(regions=some, band_radius_pixels=4, **constants_of(name))


def moving_picture(frames: int, *, height: int = HEIGHT, width: int = WIDTH, seed: int = 0) -> Frames:
    """A smooth random texture that slides by a pixel a frame, ``uint8[T, H, W, 3]``, levels 40 to 215."""
    grain = np.random.default_rng(seed).random((height, width + frames, 3)).astype(np.float32)
    smooth = cv2.GaussianBlur(grain, (0, 0), 2.0)
    texture = np.clip(127.5 + 700 * (smooth - 0.5), 40, 215).astype(np.uint8)
    return np.stack([texture[:, at : at + width] for at in range(frames)])


def wandering_hole(frames: int, *, height: int = HEIGHT, width: int = WIDTH) -> Hole:
    """A third of the frame, drifting to the right, ``bool[T, H, W]``."""
    hole = np.zeros((frames, height, width), np.bool_)
    for at, frame in enumerate(hole):
        frame[height // 5 : 4 * height // 5, 12 + at : 12 + at + width // 2] = True
    return hole


def noisy(frames: Frames, *, levels: int, seed: int = 1) -> Frames:
    noise = np.random.default_rng(seed).integers(-levels, levels + 1, frames.shape)
    return np.clip(frames + noise, 0, 255).astype(np.uint8)


def view_of(truth: Frames, hole: Hole, prediction: Frames, *, shared: Shared | None = None) -> ItemView:
    """An item with all parts that a metric may need but joints, which no metric compares by pixels.

    The left of the hole is a side effect, where the input is another than the truth; the object lies outside the hole.
    """
    effect = hole.copy()
    effect[:, :, 12 + hole.shape[2] // 4 :] = False
    parts: dict[str, npt.NDArray[Any]] = {
        "truth": truth, "hole": hole, "prediction": prediction, "composite": composite(truth, hole, prediction),
        "object_mask": ~hole, "effect_mask": effect, "input": np.where(effect[..., None], 255 - truth // 2, truth),
    }  # fmt: skip
    prompts = Prompts(source="a red car", target="a blue car")
    frames, height, width = truth.shape[:3]
    return ItemView(
        item_id="item", frames=frames, height=height, width=width, fps=25.0,
        parts={**{part: (lambda held=held: held) for part, held in parts.items()}, "prompts": lambda: prompts},
        shared=shared or Shared(compute=RANDOM),
    )  # fmt: skip


def measured(metric: Any, view: ItemView) -> dict[str, Any]:
    """Region -> measurement."""
    found: dict[str, Any] = metric.measure(view.declaring(metric.name, metric.parts))
    return found
