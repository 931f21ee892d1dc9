"""What a tracker is given of one method: numbers, a table, the report's small videos, files and the setting."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import inpaintbench
from inpaintbench import frozen
from inpaintbench.eval.report.write import ReportFiles
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.files import write_atomically
from inpaintbench.types import Dataset

if TYPE_CHECKING:
    import pandas as pd

# Trackers cut or refuse longer tables.
MOST_ROWS = 50_000
# A tracker's names have slashes between their parts and no spaces.
ALL_ITEMS = "all"


@dataclass(frozen=True)
class Media:
    """A small video of the report, all of its tiles in one picture."""

    item_id: str
    path: Path
    caption: str


@dataclass(frozen=True)
class Record:
    """One method of a report."""

    project: str
    """Name of the dataset."""
    method: str
    summary: Mapping[str, float]
    """``METRIC/REGION/SLICE`` -> mean; what is missing or infinite is left out, since trackers draw curves of numbers."""
    table: pd.DataFrame
    """A row for each item and quantity: item_id, metric, region, value, reason; at most ``MOST_ROWS``."""
    media: tuple[Media, ...]
    files: tuple[Path, ...]
    config: Mapping[str, Any]


def records(report: ReportFiles, dataset: Dataset, *, scratch: Path) -> Iterator[Record]:
    """Each method of a report that was just written.

    Truths that a challenge holds back never leave: neither videos of their items nor the page, which holds those videos.

    Args:
        report: where it was written.
        dataset: that was scored.
        scratch: a folder for videos, which has to live until the records were logged.
    """
    import pandas as pd

    told = json.loads(report.data.read_text())
    scores = pd.read_csv(report.scores)
    secret = held_back(dataset)
    media = tuple(_media(report, secret, scratch))
    files = (report.summary, report.data) if secret else (report.page, report.summary, report.data)
    config = {
        "dataset": told["dataset"], "manifest_sha256": told["dataset_sha256"], "protocol": told["protocol"],
        "fingerprint": told["fingerprint"], "items": told["items"], "sources": told["sources"],
        "inpaintbench": inpaintbench.__version__,
    }  # fmt: skip
    for method in told["methods"]:
        own = scores.loc[scores["method"] == method, ["item_id", "metric", "region", "value", "reason"]]
        means = _means(told["summary"], method, whole=everything(dataset).name)
        setting = {"method": method, "reference": method in told["references"], **config}
        yield Record(told["dataset"], method, means, own.head(MOST_ROWS), media, files, setting)


def held_back(dataset: Dataset) -> frozenset[str]:
    """Ids of the items whose truth nobody else may see."""
    splits = set((dataset.facts.get("truth_of") or {}).get("splits", ()))
    return frozenset(row["item_id"] for row in dataset.items if frozen.is_held_back(row) or row.get("split") in splits)


def _media(report: ReportFiles, secret: frozenset[str], scratch: Path) -> Iterator[Media]:
    for index, shown in enumerate(report.videos):
        if shown.item_id not in secret:
            path = scratch / f"exhibit-{index}.mp4"
            write_atomically(path, shown.data)
            yield Media(shown.item_id, path, f"{shown.item_id}: {', '.join(shown.channels)}")


def _means(summary: list[dict[str, Any]], method: str, *, whole: str) -> dict[str, float]:
    means = {}
    for row in summary:
        value = row["mean"]
        if row["method"] == method and isinstance(value, int | float) and math.isfinite(value):
            part = ALL_ITEMS if row["slice"] == whole else row["slice"]
            means[f"{row['metric']}/{row['region']}/{part}"] = float(value)
    return means
