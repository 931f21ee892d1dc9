"""`eval report` and `eval list`, and both with predicting and scoring in one go, for the demo."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from inpaintbench import frozen
from inpaintbench.cli import console
from inpaintbench.cli.answers import AsJson, print_json, records
from inpaintbench.cli.evaluate_options import InDataset, ProtocolName, Run
from inpaintbench.cli.predicting import predict_all
from inpaintbench.cli.run_folder import bind, opened, scorable, scores_of
from inpaintbench.cli.scoring import score_all
from inpaintbench.compute import Compute
from inpaintbench.errors import VerifyError
from inpaintbench.eval.media import PredictionMedia
from inpaintbench.eval.methods import METHODS
from inpaintbench.eval.metrics import METRICS
from inpaintbench.eval.predict import MethodSpec
from inpaintbench.eval.protocols import PROTOCOLS, usual
from inpaintbench.eval.references import references_in
from inpaintbench.eval.report import write_report
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


def evaluate(root: Path, *, run: Path, methods: Sequence[MethodSpec], protocol: str, workers: int) -> Path:
    """Predict, score and report in one go; the path of the report."""
    dataset, workspace = frozen.load(root), Workspace(run)
    labels = [spec.label for spec in methods]
    with console.running(workspace, workers=workers) as executor:
        predict_all(executor, dataset, root, methods, full=False, seconds=3600.0)
        score_all(executor, dataset, root, labels, protocol, None, Compute())
    return _report(workspace, dataset, root, protocol, labels)


def verify_loadable(root: Path) -> None:
    """Load every config with decoding off, decode every cell with PyAV, and say so."""
    result = verify(root)
    if result.problems:
        raise VerifyError(f"{root} differs from its manifest: {result.problems[0]}")
    text = f"Verified: {result.files} files, {result.configs} configs loaded, {result.cells} cells decoded"
    console.out.print(text, markup=False)


def report(
    dataset: InDataset,
    run: Run,
    protocol: ProtocolName = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the report.", show_default="RUN/report")] = None,
    media: Annotated[
        int, typer.Option(min=0, help="Items with a video besides those of slices: the hardest and the most disagreed.")
    ] = 6,
    show: Annotated[
        list[str] | None,
        typer.Option(metavar="ITEM", help="An item with a video in any case; may be given again.", show_default="none"),
    ] = None,
) -> None:
    """Write the HTML report of a run, with CSV and JSON beside it; an older one in its place goes away.

    Example: inpaintbench eval report DATASET --run RUN --out report
    """
    loaded, workspace = scorable(dataset), opened(run)
    bind(workspace, dataset)
    with console.writing(workspace):
        page = _report(workspace, loaded, dataset, protocol or usual(loaded), None, out=out, media_items=media, show=show or ())
    console.out.print(f"Report: {page.resolve()}", markup=False)


def list_leaves(as_json: AsJson = False) -> None:
    """List methods, metrics and protocols.

    Example: inpaintbench eval list
    """
    methods = [(name, _sentence(METHODS.get(name))) for name in METHODS]
    leaves = [(name, METRICS.get(name)) for name in METRICS]
    metrics = [(name, leaf.unit, _better(leaf), _sentence(leaf)) for name, leaf in leaves]
    protocols = [(name, PROTOCOLS.get(name).metrics, PROTOCOLS.get(name).fingerprint) for name in PROTOCOLS]
    if as_json:
        print_json(
            {
                "methods": records(["name", "what"], methods),
                "metrics": records(["name", "unit", "better", "what"], metrics),
                "protocols": records(["name", "metrics", "fingerprint"], protocols),
            }
        )
        return
    console.print_table("Methods", ["name", "what it does"], methods)
    console.print_table("Metrics", ["name", "unit", "better", "what it is"], metrics)
    rows = [(name, ", ".join(names), fingerprint) for name, names, fingerprint in protocols]
    console.print_table("Protocols", ["name", "metrics", "fingerprint"], rows)


def _sentence(leaf: type) -> str:
    return " ".join((leaf.__doc__ or "").split("\n\n")[0].replace("``", "").split())


def _better(leaf: Any) -> str:
    if not leaf.ranked:
        return "not ranked"
    return "higher" if leaf.higher_is_better else "lower"
