"""A report of many small items with attributes, for the tests of its browser of items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from tests.eval.report.hand_made import FlatMedia, dataset, scores

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.report import ReportFiles, write_report
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Dataset, Score

CORRECTED = PROTOCOLS.get("devil/corrected")
FRAMES = 12
SOURCES = "abcdefghijkl"
ITEMS = [f"{source}{number}" for source in SOURCES for number in (1, 2, 3)]
METHODS = ("the_first_method_with_a_long_name", "second", "third")
SLICES = {"motion-low": ITEMS[:18], "motion-high": ITEMS[18:], "night": ITEMS[::5]}


def value(method: str, place: int, *, metric: str) -> float | None:
    """A made-up score; one is infinite and one is missing."""
    if (method, place) == ("third", 4):
        return None
    if (method, place) == ("second", 9) and metric == "psnr":
        return math.inf
    high = 20 + 3 * math.sin(0.7 * place + 2 * METHODS.index(method)) + 0.2 * place + 2 * METHODS.index(method)
    return high if metric == "psnr" else high / 40


def psnr(method: str, item_id: str) -> float | None:
    return value(method, ITEMS.index(item_id), metric="psnr")


def values(metric: str) -> Mapping[str, Mapping[str, float | None]]:
    return {method: {item: value(method, place, metric=metric) for place, item in enumerate(ITEMS)} for method in METHODS}


def data() -> Dataset:
    """Numbers, words, facts that no list can offer, and the addresses of all sources but one."""
    made = dataset(SLICES, frames=FRAMES)
    rows = []
    for row in made.items:
        place = ITEMS.index(row["item_id"])
        facts = {
            "hole.hole_fraction": None if place == 7 else round(0.01 * (place % 9) + 0.02, 3),
            "weather": ["rain, heavy", '=so-called "sun"', None][place % 3],
            "same": 5,
            "joints": [{"x": 1}],
        }
        uri = None if place == 7 else f"file:///footage/{row['source_id']}%20%26%20%3Ci%3Ewoods%2C%20%C3%A9t%C3%A9.mp4"
        rows.append({**row, "attributes": facts, "source_uri": uri})
    by_name = {row["item_id"]: row for row in rows}
    return replace(made, items=tuple(by_name[item] for item in ITEMS))


def rows() -> list[Score]:
    return [*scores(values("psnr")), *scores(values("ssim"), metric="ssim"), *scores(values("psnr"), region="frame")]


def results() -> Results:
    return Results(data(), rows(), protocol=CORRECTED)


def make_report(folder: Path) -> ReportFiles:
    return write_report(
        folder, title="Many items", dataset=data(), scores=rows(), protocol=CORRECTED,
        media=FlatMedia(frames=FRAMES), further_items=2, asked_items=["h2"],
    )  # fmt: skip
