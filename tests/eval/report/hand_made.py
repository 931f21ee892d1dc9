"""Hand-made scores and pictures with known answers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.protocols.base import mean_of_decibels
from inpaintbench.types import Dataset, Frames, Hole, Score, Slice

CORRECTED = PROTOCOLS.get("devil/corrected")
FINGERPRINT = CORRECTED.fingerprint
COUNTING = CORRECTED.model_copy(update={"metrics": {**CORRECTED.metrics, "psnr": mean_of_decibels("count")}})
"""Leaves infinite values out of means, as some published protocols do."""
FRAMES, HEIGHT, WIDTH, BITS = 20, 96, 160, 5


def dataset(slices: Mapping[str, Sequence[str]], *, left_out: Mapping[str, str] | None = None, frames: int = FRAMES) -> Dataset:
    """Items named in ``slices``; two items share a source: ``a1`` and ``a2`` come from ``a``."""
    item_ids = dict.fromkeys(item_id for ids in slices.values() for item_id in ids) or {"a1": None}
    rows = tuple(
        {
            "item_id": item_id,
            "clip_id": f"clip-{item_id}",
            "source_id": item_id[0],
            "frames": frames,
            "width": WIDTH,
            "height": HEIGHT,
            "fps": 10.0,
        }
        for item_id in item_ids
    )
    return Dataset(
        name="hand-made",
        recipe={"seed": 0},
        items=rows,
        slices=tuple(Slice(name, f"rule of {name}", tuple(ids)) for name, ids in slices.items()),
        left_out=left_out or {},
        files={},
        versions={"inpaintbench": "0"},
    )


def score(method: str, item_id: str, value: float | None, *, metric: str = "psnr", region: str = "hole") -> Score:
    reason = "the program ended with status 3" if value is None else None
    return Score(method, item_id, metric, region, CORRECTED.name, FINGERPRINT, value, reason)


def scores(values: Mapping[str, Mapping[str, float | None]], *, metric: str = "psnr", region: str = "hole") -> list[Score]:
    """Method -> item -> value."""
    return [
        score(method, item_id, value, metric=metric, region=region)
        for method, by_item in values.items()
        for item_id, value in by_item.items()
    ]


def counting(rows: Sequence[Score]) -> list[Score]:
    """The same scores under ``COUNTING``."""
    return [replace(row, fingerprint=COUNTING.fingerprint) for row in rows]


# Two attributes of which one is a pair, three methods. Means: good 30 and 20, bad 10 and 15, odd infinite and missing.
SLICES = {"motion-low": ["a1", "b1"], "motion-high": ["a2", "c1"], "night": ["a1", "c1"]}
VALUES = {
    "good": {"a1": 28.0, "b1": 32.0, "a2": 18.0, "c1": 22.0},
    "bad": {"a1": 10.0, "b1": 10.0, "a2": 10.0, "c1": 20.0},
    "odd": {"a1": math.inf, "b1": math.inf, "a2": None, "c1": None},
}


def copied(item_ids: Sequence[str]) -> list[str]:
    """The items and a copy of each from five further sources: enough for claims about whatever they say together."""
    return [f"{copy}{item_id}" for copy in ("", *"23456") for item_id in item_ids]


def copied_slices(slices: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """``slices`` with the ``copied`` items."""
    return {name: copied(item_ids) for name, item_ids in slices.items()}


def copied_values(values: Mapping[str, Mapping[str, float | None]]) -> dict[str, dict[str, float | None]]:
    """``values`` with those of the ``copied`` items, so that every mean stays what it is."""
    return {
        method: {name: value for item_id, value in by_item.items() for name in copied([item_id])}
        for method, by_item in values.items()
    }


class FlatMedia:
    """Frames that tell their number: five bars, black or white, in the upper half of the truth and the lower of a result.

    The hole is the lower half but for a margin, so the bars of a result are seen only where its own pixels are laid.
    """

    def __init__(self, *, frames: int = FRAMES, with_hole: bool = True, absent: Sequence[str] = ()) -> None:
        self.count, self.with_hole, self.absent = frames, with_hole, absent

    def frames(self, item_id: str, channel: str) -> Frames | None:
        if channel in self.absent:
            return None
        frames = np.full((self.count, HEIGHT, WIDTH, 3), (90, 120, 60), np.uint8)
        for index in range(self.count):
            draw_bars(frames[index, 4:40], index)
            if channel not in ("truth", "input"):
                draw_bars(frames[index, 60:88], index)
        if channel == "input":
            frames[self._hole()] = 0
        return frames

    def hole(self, item_id: str) -> Hole | None:
        return self._hole() if self.with_hole else None

    def _hole(self) -> Hole:
        hole = np.zeros((self.count, HEIGHT, WIDTH), np.bool_)
        hole[:, 56:92, 4:156] = True
        return hole


def draw_bars(rows: Frames, number: int) -> None:
    width = WIDTH // BITS
    for bit in range(BITS):
        rows[:, bit * width + 4 : (bit + 1) * width - 4] = 255 * (number >> bit & 1)


def read_bars(picture: Frames, *, row_share: float) -> int:
    """The number drawn at a height of a picture of any size."""
    line = picture[round(row_share * len(picture))].mean(axis=-1)
    middles = [round((bit + 0.5) / BITS * len(line)) for bit in range(BITS)]
    return sum(int(line[middle] > 127) << bit for bit, middle in enumerate(middles))
