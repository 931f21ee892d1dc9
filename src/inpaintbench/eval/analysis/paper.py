"""The numbers that DEVIL, CVPR 2022, published, as data."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple

from inpaintbench.eval.analysis.means import Cell, Means, Measure
from inpaintbench.eval.report.labels import place_label

_FILE = "devil_paper.toml"


class PrintedRanking(NamedTuple):
    """One column of the printed Table 2."""

    metric: str
    slice: str
    methods: tuple[str, ...]
    """From best to worst."""


def published_means() -> Means:
    """The paper's Table 1: ten slices, seven methods, five metrics.

    Numbers of the four columns that contradict their own printed means are there and marked as doubtful. LPIPS is as printed and
    carries its caution: the network behind it had random parameters.
    """
    data = _data()
    doubtful = {(entry["slice"], entry["metric"]) for entry in data["doubtful"]}
    measures = tuple(
        Measure(key=entry.pop("name"), label=f"{entry.pop('label')} {place_label(entry['region'])}", **entry)
        for entry in map(dict, data["metrics"])
    )
    cells = {
        (name, method, measure.key): Cell(
            value, n=data["items_per_slice"], doubtful=(name, measure.key) in doubtful
        )
        for name, rows in data["table_1"].items()
        for method in data["methods"]
        for measure, value in zip(measures, rows[method], strict=True)
    }  # fmt: skip
    return Means(
        title=data["title"],
        origin=f"{data['source']}.",
        methods=tuple(data["methods"]),
        slices=tuple(data["table_1"]),
        measures=measures,
        cells=cells,
        labels=data["attributes"],
        notes=tuple(data["notes"]),
    )


def printed_means() -> dict[tuple[str, str], float]:
    """The rows "Mean" of the printed Table 1: (slice, metric) -> the mean over methods, rounded as printed."""
    data = _data()
    metrics = [entry["name"] for entry in data["metrics"]]
    return {
        (name, metric): value
        for name, rows in data["table_1"].items()
        for metric, value in zip(metrics, rows["mean"], strict=True)
    }


def printed_rankings() -> list[PrintedRanking]:
    """The eight columns of the printed Table 2."""
    return [PrintedRanking(entry["metric"], entry["slice"], tuple(entry["methods"])) for entry in _data()["table_2"]]


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8"))
