"""Whether scores are still those of the predictions that a run holds."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from inpaintbench.executors.base import Rejection
from inpaintbench.steps import predict_step, score_step
from inpaintbench.types import Dataset, Prediction, canonical_json
from inpaintbench.workspace import Workspace, write_atomically

NOT_RUN = "the method was not run on this item"


def digest(dataset: Dataset, *, predictions: Sequence[Prediction], failures: Mapping[str, str]) -> str:
    """SHA-256, hexadecimal, of what there is to score of one method: for each item its blob, or the reason why there is none."""
    blob_of = {row.item_id: row.blob for row in predictions}
    items = [row["item_id"] for row in dataset.items]
    found = {item: ["blob", blob_of[item]] if item in blob_of else ["failure", failures.get(item, NOT_RUN)] for item in items}
    return hashlib.sha256(canonical_json(found).encode()).hexdigest()


def remember(workspace: Workspace, scored: str, *, step: str) -> None:
    """Keep the digest ``scored`` beside the table of the step ``step`` that scored it."""
    write_atomically(_path(workspace, step), f"{scored}\n".encode())


def is_stale(workspace: Workspace, dataset: Dataset, *, protocol: str, method: str) -> bool:
    """Whether the predictions of a method are others than those that its scores under ``protocol`` were made of.

    False where nothing tells: scores from before digests were kept, and scores whose predictions are gone.
    """
    path = _path(workspace, score_step(protocol, method))
    step = predict_step(method)
    predictions = workspace.table("predictions", Prediction, step=step)
    failures = {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=step)}
    if not path.exists() or not (predictions or failures):
        return False
    return path.read_text().strip() != digest(dataset, predictions=predictions, failures=failures)


def _path(workspace: Workspace, step: str) -> Path:
    return workspace.path / "tables" / "scores" / f"{step}.sha256"
