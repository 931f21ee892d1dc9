"""Small metrics whose calls leave marks, protocols and items for them: for tests of how scoring is organised."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from inpaintbench import video
from inpaintbench.errors import NotMeasurable
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.metrics.base import Comparison, Features, Measurement
from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import Protocol
from inpaintbench.models import weights
from inpaintbench.types import Dataset, Frames, Prediction, Slice
from inpaintbench.view import ItemView
from inpaintbench.workspace import Blobs

FRAMES, HEIGHT, WIDTH = 6, 48, 64
NAME = "probe"


class Probe:
    """What all of them have; ``marks`` is a folder, one file there for each call."""

    name = "probe"
    version = "1"
    unit = ""
    higher_is_better = True
    decimals = 3
    needs: tuple[str, ...] = ("truth", "composite", "hole")

    def __init__(self, *, regions: tuple[str, ...], band_radius_pixels: int, marks: str) -> None:
        self.regions, self.band_radius_pixels, self.marks = regions, band_radius_pixels, Path(marks)

    def mark(self, what: str) -> None:
        (self.marks / f"{what} {time.time_ns()}").touch()

    def reduce(self, measurements: Sequence[float]) -> float | None:
        return float(np.mean(measurements)) if measurements else None


class Alone(Probe):
    """The mean error, method by method."""

    name = "probe_alone"

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        self.mark(f"alone {view.item_id}")
        error = float(np.abs(view.truth.astype(int) - view.composite).mean())
        return {region: Measurement(error, details={"frames": view.frames}) for region in self.regions}


class Together(Probe):
    """The mean level above that of the truth, which is found out once an item and kept."""

    name = "probe_together"

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        self.mark(f"together {views[0].item_id} {len(views)}")
        return [
            {region: Measurement(float(view.composite.mean()) - self.level(view)) for region in self.regions} for view in views
        ]

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        return self.measure_together([view])[0]

    def level(self, view: ItemView) -> float:
        return float(view.shared.stored(view.truth, "probe level", partial(self.found, view))[0])

    def found(self, view: ItemView) -> np.ndarray:
        self.mark(f"truth {view.item_id}")
        return np.array([view.truth.mean()], np.float32)


class Picky(Probe):
    """Refuses whatever holds a white composite, at once with all that are measured with it."""

    name = "probe_picky"

    def measure_together(self, views: Sequence[ItemView]) -> list[dict[str, Measurement]]:
        if any((view.composite[view.hole] == 255).all() for view in views):
            raise NotMeasurable("a hole is white")
        return [{region: Measurement(1.0) for region in self.regions} for _ in views]


class Sets(Probe):
    """Mean colours of frames, compared between sets by the squared distance of their means."""

    name = "probe_sets"

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        self.mark(f"sets {view.item_id}")
        if (view.composite[view.hole] == 0).all():
            raise NotMeasurable("a hole is black")
        made = Features(*(frames.mean(axis=(1, 2), dtype=np.float64) for frames in (view.composite, view.truth)))
        return {region: Measurement(None, None, {"frames": view.frames}, made) for region in self.regions}

    def compare(self, sets: Sequence[Features], clusters: Sequence[str]) -> Comparison:
        self.mark("compare")
        if len(sets) == 1:
            raise NotMeasurable("one item is no set")
        one, other = (np.concatenate(part).mean(axis=0) for part in zip(*sets, strict=True))
        n, d = sum(len(part.prediction) for part in sets), sets[0].prediction.shape[1]
        return Comparison(float(((one - other) ** 2).sum()), details={"n": n, "d": d, "sources": len(set(clusters))})


class Weighted(Probe):
    """1 where the weights ``probe-weights`` are at hand."""

    name = "probe_weighted"

    @staticmethod
    def weights_of(constants: Mapping[str, Any]) -> tuple[str, ...]:
        assert "marks" in constants
        return ("probe-weights",)

    def measure(self, view: ItemView) -> dict[str, Measurement]:
        self.mark(f"weighted {view.item_id}")
        weights.path_of("probe-weights")
        return {region: Measurement(1.0) for region in self.regions}


LEAVES = {leaf.name: leaf for leaf in (Alone, Together, Picky, Sets, Weighted)}
PROTOCOL: Protocol | None = None


def install(monkeypatch: pytest.MonkeyPatch, marks: Path, *metrics: str, **fields: Any) -> Protocol:
    """A protocol ``probe`` of some of the metrics here, in the catalogues until the test ends."""
    marks.mkdir(exist_ok=True)
    found = {name: f"scoring_probes:{leaf.__name__}" for name, leaf in LEAVES.items()}
    monkeypatch.setattr(METRICS, "_addresses", METRICS.addresses() | found)
    monkeypatch.setattr(PROTOCOLS, "_addresses", PROTOCOLS.addresses() | {NAME: "scoring_probes:PROTOCOL"})
    constants = {name: {"marks": str(marks)} if name in LEAVES else {} for name in metrics}
    regions = fields.setdefault("regions", ("frame",))
    made = Protocol(name=NAME, metrics=constants, band_radius_pixels=2, primary=(metrics[0], regions[0]), **fields)
    monkeypatch.setattr("scoring_probes.PROTOCOL", made)
    return made


def calls(marks: Path, what: str) -> int:
    """How often something was done."""
    return len(list(marks.glob(f"{what}*")))


def write_items(folder: Path, *, count: int = 2, slices: Sequence[Slice] = (), frames: Sequence[int] = ()) -> Dataset:
    """A frozen dataset: noise that gets brighter from item to item, with a square hole; every two items share a source."""
    folder.mkdir(exist_ok=True)
    rows = []
    for place in range(count):
        length = frames[place] if frames else FRAMES
        noise = np.random.default_rng(place).integers(0, min(100 + 20 * place, 256), (length, HEIGHT, WIDTH, 3), dtype=np.uint8)
        hole = np.zeros(noise.shape[:3], bool)
        hole[:, 10:30, 20:50] = True
        video.write_lossless(folder / f"truth {place}.mp4", noise, fps=25.0)
        video.write_hole(folder / f"hole {place}.mp4", hole, fps=25.0)
        yuv, rgb = video.decoded_hashes(folder / f"truth {place}.mp4")
        rows.append({
            "item_id": f"item {place}", "truth_file_name": f"truth {place}.mp4", "hole_file_name": f"hole {place}.mp4",
            "fps": 25.0, "frames": length, "height": HEIGHT, "width": WIDTH, "truth_yuv_sha256": yuv, "truth_rgb_sha256": rgb,
            "hole_sha256": "same", "input_sha256": None, "fill": 0, "hole_is_given": True, "split": "test",
            "source_id": f"source {place // 2}",
        })  # fmt: skip
    return Dataset("probes", {}, tuple(rows), tuple(slices), {}, {}, {})


def predictions(blobs: Blobs, dataset: Dataset, method: str, *, level: int, full_frames: bool = False) -> list[Prediction]:
    """One of each item: every pixel at one level."""
    made = []
    for row in dataset.items:
        frames: Frames = np.full((row["frames"], row["height"], row["width"], 3), level, np.uint8)
        blob, _ = blobs.put(".mp4", partial(video.write_lossless, frames=frames, fps=25.0))
        made.append(Prediction(method, "1", row["item_id"], blob, full_frames, 0))
    return made
