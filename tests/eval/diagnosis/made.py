"""Datasets of pairs and of measured attributes whose scores have known effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tests.eval.report.hand_made import dataset, scores

from inpaintbench.eval.protocols import PROTOCOLS
from inpaintbench.eval.results.tables import Results
from inpaintbench.types import Dataset, Plain

CORRECTED = PROTOCOLS.get("devil/corrected")
CAMERA, SIZE, POSE = "camera_motion_per_frame", "hole.hole_fraction", "hole.pose_change"
AXES = [
    {"name": "size", "levels": ["low", "high"], "property": "size of the hole", "truth": "the clip"},
    {"name": "speed", "levels": ["one", "two", "four"], "property": "speed", "truth": "the frames"},
]
Attributes = dict[str, dict[str, float | str]]


def with_attributes(
    attributes: Attributes, *, axes: Sequence[Plain] = (), slices: Mapping[str, Sequence[str]] | None = None
) -> Dataset:
    """Items in the order of their ids; the source of an item is what stands before the first dash."""
    made = dataset(slices or {"all": list(attributes)})
    rows = tuple(
        {**row, "item_id": item_id, "source_id": item_id.partition("-")[0], "attributes": attributes[item_id]}
        for row, item_id in zip([made.items[0]] * len(attributes), sorted(attributes), strict=True)
    )
    return replace(made, items=rows, facts={"axes": list(axes)} if axes else {})


def paired_items(films: int = 12, clips: int = 2) -> Attributes:
    """Clips of films with a base item, a larger hole, and two further speeds; sizes are measured too, as builds do."""
    items: Attributes = {}
    for film in range(films):
        for clip in range(clips):
            name = f"f{film:02}-{clip}"
            base = {"axis.size": "low", "pair.size": f"s{name}", "axis.speed": "one", "pair.speed": f"v{name}", SIZE: 0.02}
            items[f"{name}-base"] = {**base}
            items[f"{name}-size"] = {"axis.size": "high", "pair.size": f"s{name}", SIZE: 0.08}
            for level in ("two", "four"):
                items[f"{name}-{level}"] = {"axis.speed": level, "pair.speed": f"v{name}", SIZE: 0.02}
    return items


def measured_items(rng: np.random.Generator, films: int = 14, items: int = 5) -> Attributes:
    """Items whose camera is that of their film and whose holes differ."""
    cameras = rng.uniform(0, 0.02, films)
    return {
        f"f{film:02}-{item}": {
            CAMERA: float(cameras[film] + rng.uniform(0, 0.002)),
            SIZE: float(np.exp(rng.uniform(np.log(0.01), np.log(0.2)))),
            POSE: float(rng.uniform(0, 0.4)),
        }
        for film in range(films)
        for item in range(items)
    }


def column(attributes: Attributes, name: str) -> npt.NDArray[np.float64]:
    return np.array([float(attributes[item][name]) for item in sorted(attributes)])


def standardised(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray((values - values.mean()) / values.std())


def skewed(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """As the regression takes sizes and motions."""
    return standardised(np.log(values + np.median(values)))


def noise(rng: np.random.Generator, attributes: Attributes, methods: Sequence[str]) -> dict[str, npt.NDArray[np.float64]]:
    """Scores that depend on nothing: a part of each film, that of a method on it, and parts of each clip and item."""
    items = sorted(attributes)
    film = {name: rng.normal(scale=2) for name in sorted({item.partition("-")[0] for item in items})}
    clip = {name: rng.normal(scale=2) for name in sorted({item.rpartition("-")[0] for item in items})}
    level = np.array([30 + film[item.partition("-")[0]] + clip[item.rpartition("-")[0]] for item in items])
    return {method: level + rng.normal(scale=0.5, size=len(items)) for method in methods}


def results_of(made: Dataset, values: Mapping[str, npt.NDArray[np.float64]]) -> Results:
    items = [str(row["item_id"]) for row in made.items]
    given = {method: dict(zip(items, map(float, own), strict=True)) for method, own in values.items()}
    return Results(made, scores(given), protocol=CORRECTED)
