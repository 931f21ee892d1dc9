"""Methods that are really run on a dataset, and scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from inpaintbench import frozen
from inpaintbench.eval.scoring.predict import MethodSpec, predict
from inpaintbench.eval.scoring.run_folder import bind
from inpaintbench.eval.scoring.score import Predicted, score
from inpaintbench.executors.base import Rejection
from inpaintbench.executors.local import LocalExecutor
from inpaintbench.types import Prediction
from inpaintbench.workspace import Workspace

PROTOCOL, METRICS = "devil/corrected", ["psnr", "ssim"]
METHODS = {"telea": "telea", "ns": "navier_stokes", "smooth": "gaussian"}


def run_methods(
    root: Path, run: Path, methods: Mapping[str, str] = METHODS, *, metrics: Sequence[str] = METRICS, protocol: str = PROTOCOL
) -> Workspace:
    """Predictions and scores of real methods, by label."""
    dataset, workspace = frozen.load(root), Workspace(run)
    with LocalExecutor(workspace, workers=0) as executor:
        bind(workspace, root)
        given = []
        for label, leaf in methods.items():
            predict(executor, dataset, root=root, method=MethodSpec(label, leaf))
            given.append(predicted(workspace, label))
        score(executor, dataset, root=root, methods=given, protocol=protocol, metrics=metrics)
    return workspace


def predicted(workspace: Workspace, label: str) -> Predicted:
    step = f"predict.{label}"
    failures = {row.subject_id: row.reason for row in workspace.table("rejected", Rejection, step=step)}
    return Predicted(label, workspace.table("predictions", Prediction, step=step), failures)
