"""Scores handed to experiment trackers: one shape for all of them, and a sink for each.

A tracker is imported when something is logged, never before.
"""

from __future__ import annotations

import json
import math
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import inpaintbench
from inpaintbench import frozen, video
from inpaintbench.catalogue import known_name
from inpaintbench.errors import InputError, MissingExtraError
from inpaintbench.eval.scoring.parts import everything
from inpaintbench.files import write_atomically
from inpaintbench.types import Dataset

if TYPE_CHECKING:
    import pandas as pd

    from inpaintbench.eval.report.write import ReportFiles

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
    media = []
    for index, shown in enumerate(report.videos):
        if shown.item_id not in secret:
            path = scratch / f"exhibit-{index}.mp4"
            write_atomically(path, shown.data)
            media.append(Media(shown.item_id, path, f"{shown.item_id}: {', '.join(shown.channels)}"))
    files = (report.summary, report.data) if secret else (report.page, report.summary, report.data)
    config = {
        "dataset": told["dataset"], "manifest_sha256": told["dataset_sha256"], "protocol": told["protocol"],
        "fingerprint": told["fingerprint"], "items": told["items"], "sources": told["sources"],
        "inpaintbench": inpaintbench.__version__,
    }  # fmt: skip
    whole = everything(dataset).name
    for method in told["methods"]:
        means = {}
        for row in told["summary"]:
            value = row["mean"]
            if row["method"] == method and isinstance(value, int | float) and math.isfinite(value):
                part = ALL_ITEMS if row["slice"] == whole else row["slice"]
                means[f"{row['metric']}/{row['region']}/{part}"] = float(value)
        own = scores.loc[scores["method"] == method, ["item_id", "metric", "region", "value", "reason"]]
        setting = {"method": method, "reference": method in told["references"], **config}
        yield Record(told["dataset"], method, means, own.head(MOST_ROWS), tuple(media), files, setting)


def held_back(dataset: Dataset) -> frozenset[str]:
    """Ids of the items whose truth nobody else may see."""
    splits = set((dataset.facts.get("truth_of") or {}).get("splits", ()))
    return frozenset(row["item_id"] for row in dataset.items if frozen.is_held_back(row) or row.get("split") in splits)


class Sink(ABC):
    """A tracker, and where in it methods are logged: each as a run of its own."""

    name: ClassVar[str]
    target: ClassVar[str]
    """What the part after the colon names."""
    packages: ClassVar[tuple[str, ...]]

    def __init__(self, where: str) -> None:
        self.where = where

    @abstractmethod
    def log(self, record: Record) -> None:
        """Log one method."""


class Wandb(Sink):
    """Weights & Biases: without a network unless WANDB_MODE says otherwise; `wandb sync` uploads later."""

    name, target, packages = "wandb", "PROJECT", ("wandb",)

    def log(self, record: Record) -> None:
        """A run of the project, grouped by dataset."""
        import wandb

        mode = os.environ.get("WANDB_MODE", "offline")
        run = wandb.init(
            project=self.where, name=record.method, group=record.project, config=dict(record.config), mode=mode,
            reinit="finish_previous",
        )  # fmt: skip
        run.log({
            **record.summary,
            "scores": wandb.Table(dataframe=record.table),
            **{f"media/{one.item_id}": wandb.Video(str(one.path), caption=one.caption, format="mp4") for one in record.media},
        })  # fmt: skip
        artifact = wandb.Artifact("report", type="report")
        for path in record.files:
            artifact.add_file(str(path))
        run.log_artifact(artifact)
        run.finish()


class Trackio(Sink):
    """Trackio: a database on this machine."""

    name, target, packages = "trackio", "PROJECT", ("trackio",)

    def log(self, record: Record) -> None:
        """A run of the project."""
        import trackio

        trackio.init(project=self.where, name=record.method, group=record.project, config=dict(record.config))
        trackio.log({
            **record.summary,
            "scores": trackio.Table(dataframe=record.table),
            **{f"media/{one.item_id}": trackio.Video(str(one.path), caption=one.caption) for one in record.media},
        })  # fmt: skip
        trackio.finish()


class Mlflow(Sink):
    """MLflow: where MLFLOW_TRACKING_URI says, by default its own database in this folder."""

    name, target, packages = "mlflow", "EXPERIMENT", ("mlflow",)

    def log(self, record: Record) -> None:
        """A run of the experiment."""
        import mlflow

        mlflow.set_experiment(self.where)
        with mlflow.start_run(run_name=record.method):
            mlflow.log_params(dict(record.config))
            mlflow.log_metrics(dict(record.summary))
            mlflow.log_table(record.table, "scores.json")
            for media in record.media:
                mlflow.log_artifact(str(media.path), f"media/{media.item_id}")
            for path in record.files:
                mlflow.log_artifact(str(path))


class Tensorboard(Sink):
    """TensorBoard: a folder of event files. Videos would become GIFs there, so three frames of each are logged as pictures."""

    name, target, packages = "tensorboard", "FOLDER", ("tensorboard", "torch")

    def log(self, record: Record) -> None:
        """A folder in the folder."""
        from torch.utils.tensorboard import SummaryWriter

        with SummaryWriter(str(Path(self.where) / record.method)) as writer:
            for name, value in record.summary.items():
                writer.add_scalar(name, value)
            setting = [*record.config.items(), *record.summary.items()]
            writer.add_text("setting", "\n".join(["| name | value |", "|---|---|", *(f"| {a} | {b} |" for a, b in setting)]))
            for media in record.media:
                frames = video.read_frames(media.path)
                for place in np.unique(np.linspace(0, len(frames) - 1, 3).round().astype(int)):
                    writer.add_image(f"media/{media.item_id}", frames[place], int(place), dataformats="HWC")


SINKS: dict[str, type[Sink]] = {sink.name: sink for sink in (Wandb, Trackio, Mlflow, Tensorboard)}


def sink(text: str) -> Sink:
    """The sink of ``NAME:WHERE``, such as ``wandb:PROJECT``.

    Raises:
        UnknownNameError: there is no such sink. InputError: it does not say where. MissingExtraError: it is not installed.
    """
    name, _, where = text.partition(":")
    chosen = SINKS[known_name("tracker", name, SINKS)]
    if not where.strip():
        raise InputError(f"{text!r} does not say where; give {name}:{chosen.target}")
    if any(find_spec(package) is None for package in chosen.packages):
        raise MissingExtraError(f"logging to {name}", name)
    return chosen(where)
