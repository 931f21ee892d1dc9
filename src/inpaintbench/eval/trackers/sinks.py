"""One class for each tracker; the tracker is imported when something is logged, never before."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar

import numpy as np

from inpaintbench import video
from inpaintbench.catalogue import unknown_name
from inpaintbench.errors import InputError, MissingExtraError, UnknownNameError
from inpaintbench.eval.trackers.record import Record


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
    if name not in SINKS:
        raise UnknownNameError(unknown_name("tracker", name, list(SINKS)))
    chosen = SINKS[name]
    if not where.strip():
        raise InputError(f"{text!r} does not say where; give {name}:{chosen.target}")
    if any(find_spec(package) is None for package in chosen.packages):
        raise MissingExtraError(f"logging to {name}", name)
    return chosen(where)
