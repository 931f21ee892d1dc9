"""`eval report`, and that with predicting and scoring in one go, for the demo."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.console import Running
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Run
from inpaintbench.cli.options import option
from inpaintbench.cli.predicting import predict_all
from inpaintbench.cli.run_folder import bind, opened, scorable, scores_of
from inpaintbench.compute import Compute
from inpaintbench.errors import VerifyError
from inpaintbench.eval.media import PredictionMedia
from inpaintbench.eval.predict import MethodSpec
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.references import references_in
from inpaintbench.eval.report import write_report
from inpaintbench.eval.score_run import score_all
from inpaintbench.export.verify import verify
from inpaintbench.types import Dataset, Prediction
from inpaintbench.workspace import Workspace

DEMO_METHODS = tuple(MethodSpec(name, name) for name in ("blank", "telea", "temporal_median", "affine_propagation"))


def _report(
    workspace: Workspace,
    dataset: Dataset,
    root: Path,
    protocol: str,
    methods: Sequence[str] | None,
    *,
    out: Path | None = None,
    media_items: int = 6,
    show: Sequence[str] = (),
) -> Path:
    chosen = PROTOCOLS.get(protocol)
    rows, compared = scores_of(workspace, dataset, root, protocol, methods=methods)
    media = PredictionMedia(root, dataset, workspace.blobs, workspace.table("predictions", Prediction), resize=chosen.resize)
    folder = out or workspace.path / "report"
    if (before := _reported(folder)) not in (None, protocol):
        console.warn(f"replaces the report under {before}; --out keeps both")
    return write_report(
        folder, title=dataset.name, dataset=dataset, scores=rows, slice_scores=compared, references=references_in(workspace),
        protocol=chosen, media=media,
        further_items=media_items, asked_items=show,
    ).page  # fmt: skip


def _reported(folder: Path) -> str | None:
    """The protocol of the report in ``folder``; None without one."""
    try:
        return str(json.loads((folder / "report.json").read_text())["protocol"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def evaluate(root: Path, *, run: Path, methods: Sequence[MethodSpec], protocol: str, running: Running) -> Path:
    """Predict, score and report in one go; the path of the report."""
    dataset, workspace = frozen.load(root), Workspace(run)
    labels = [spec.label for spec in methods]
    with running.on(workspace) as executor:
        predict_all(executor, dataset, root, methods, full=False, seconds=3600.0)
        score_all(executor, dataset, root, labels, protocol, None, Compute())
    return _report(workspace, dataset, root, protocol, labels)


def verify_loadable(root: Path) -> None:
    """Load every config with decoding off, decode every cell with PyAV, and say so."""
    result = verify(root)
    if result.problems:
        raise VerifyError(f"{root} differs from its manifest: {result.problems[0]}")
    text = f"Verified: {result.files} files, {result.configs} configs loaded, {result.cells} cells decoded"
    console.say(text)


def report(
    dataset: InDataset,
    run: Run,
    protocol: ProtocolName = None,
    out: Annotated[Path | None, option("Folder for the report.", default="RUN/report")] = None,
    media: Annotated[int, option("Items with a video besides those of slices: the hardest and the most disagreed.", min=0)] = 6,
    show: Annotated[
        list[str] | None, option("An item with a video in any case; may be given again.", default="none", metavar="ITEM")
    ] = None,
) -> None:
    """Write the HTML report of a run. CSV and JSON lie beside it; an older one in its place goes away.

    Example: inpaintbench eval report DATASET --run RUN --out report
    """
    loaded, workspace = scorable(dataset), opened(run)
    bind(workspace, dataset)
    with console.writing(workspace):
        page = _report(workspace, loaded, dataset, protocol or usual(loaded), None, out=out, media_items=media, show=show or ())
    console.say(f"Report: {page.resolve()}")
